"""What any player may ask of the table: whoever's turn it is, it comes next, and for everybody alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from engine.actions import Action, Leave, Remove
from engine.rulesets import ES, PT, RuleSet
from engine.state import CallName, EndedBy, PublicState, Seat
from node.autoplay import act_by_bot
from node.simulation import SimulatedTable, commits, finished
from protocol.audit.audit import audit
from protocol.dealing.open_deal import open_dealer
from protocol.dealing.secret_deal import SecretDealer, secret_dealer
from protocol.envelope import open_envelope
from protocol.errors import LocalProtocolError
from protocol.game import DealerMaker
from protocol.gamefile import game_file_of
from protocol.messages import Prevote, Request, RequestKind
from protocol.outputs import RecordKind
from protocol.session import Session
from tests.simulation.attack import AttackedTable
from tests.simulation.removal import game_of, in_call, play_on, play_until, seat_node, staying


def idle(_session: Session, _now_s: float) -> None:
    """A player who does nothing."""


def state_of(session: Session) -> PublicState:
    assert session.state is not None
    return session.state


def table_at(turns: int, rules: RuleSet = PT, seats: int = 3, seed: int = 3) -> SimulatedTable:
    """A table of bots after so many turns, with somebody to act."""
    table = SimulatedTable(rules, seats, seed)
    play_until(table, lambda: in_call(table, None) and state_of(staying(table)[0]).turn_number >= turns)
    return table


def nobody_acts(table: SimulatedTable) -> None:
    for node in table.nodes:
        node.player = idle


def bots_act(table: SimulatedTable) -> None:
    for node in table.nodes:
        node.player, node.thinks_at = act_by_bot, None


def session_at(table: SimulatedTable, seat: int) -> Session:
    return table.nodes[seat_node(table, seat)].session


def ask(table: SimulatedTable, seat: int, kind: RequestKind) -> None:
    session_at(table, seat).ask(kind, table.now_s)
    table.carry_out(seat_node(table, seat))


def heights(table: SimulatedTable) -> list[int]:
    return [session.height for session in staying(table)]


def done(table: SimulatedTable, kind: type[Action]) -> Callable[[], bool]:
    """Whether all that run have committed such an action."""
    return lambda: all(node.down or any(isinstance(e.action, kind) for e in commits(node)) for node in table.nodes)


def play_out(table: SimulatedTable) -> None:
    for _now_s in play_on(table):
        pass
    assert len({session.game.head for session in staying(table) if session.game is not None}) == 1


# Leave


@pytest.mark.parametrize("make_dealer", [secret_dealer, open_dealer], ids=["secret", "open"])
@pytest.mark.parametrize(("rules", "own_turn"), [(PT, True), (PT, False), (ES, False)])
def test_who_leaves_has_lost_and_the_others_play_on(rules: RuleSet, own_turn: bool, make_dealer: DealerMaker) -> None:
    table = SimulatedTable(rules, 3, 5, make_dealer)
    play_until(table, lambda: in_call(table, None) and state_of(staying(table)[0]).turn_number >= 4)
    before = state_of(staying(table)[0])
    leaver = before.turn if own_turn else Seat((before.turn + 1) % 3)
    asked_s = table.now_s
    ask(table, leaver, RequestKind.LEAVE)
    play_until(table, done(table, Leave))
    assert table.now_s - asked_s < 3
    sessions = staying(table)
    assert len(sessions) == 2
    state = state_of(sessions[0])
    assert state.call is not None
    assert state.call.name is CallName.REDEAL
    assert state.turn != leaver
    assert session_at(table, leaver).seat is None
    assert session_at(table, leaver).own_tiles() == {}
    play_out(table)
    assert table.refusals() == []
    result = state_of(sessions[0]).result
    assert result is not None
    assert leaver not in result.winners
    report = audit(game_file_of(sessions[0].log, ()))
    assert report.entries["request"] == 1
    assert report.redeals == 1


def test_the_leavers_keys_are_gone_when_its_leave_is_agreed() -> None:
    table = SimulatedTable(PT, 3, 6, secret_dealer)
    play_until(table, lambda: in_call(table, None))
    ask(table, 0, RequestKind.LEAVE)
    play_until(table, done(table, Leave))
    dealer = game_of(table, 0).dealer
    assert isinstance(dealer, SecretDealer)
    assert dealer.secret() == b""


def test_at_two_seats_who_stays_has_won() -> None:
    table = table_at(4, seats=2)
    ask(table, 0, RequestKind.LEAVE)
    play_until(table, lambda: all(finished(node.session) for node in table.nodes))
    state = state_of(session_at(table, 1))
    assert state.result is not None
    assert state.result.winners == (Seat(1),)
    assert state.result.ended_by is EndedBy.LAST_SEAT
    assert table.refusals() == []


def test_leaving_waits_for_the_open_call() -> None:
    table = table_at(2)
    play_until(table, lambda: in_call(table, CallName.DRAW))
    drawn = heights(table)[0]
    ask(table, 0, RequestKind.LEAVE)
    play_until(table, done(table, Leave))
    granted = [event.height for event in commits(table.nodes[0]) if isinstance(event.action, Leave)]
    assert granted[0] > drawn
    play_out(table)
    assert table.refusals() == []


def between_games(seats: int) -> SimulatedTable:
    """A table that has played the first of two games."""
    table = SimulatedTable(replace(ES, rounds=2), seats, 8)
    play_until(table, lambda: bool(staying(table)) and all(game_of(table, seat).between_games for seat in range(seats)))
    return table


def test_between_two_games_leaving_opens_no_call_and_the_rest_play_the_next_game() -> None:
    table = between_games(3)
    table.nodes[seat_node(table, 1)].player = idle
    ask(table, 1, RequestKind.LEAVE)
    play_until(table, done(table, Leave))
    play_until(table, lambda: all(state_of(session).game == 1 for session in staying(table)))
    assert game_of(table, 0).seats_in_game() == (0, 2)
    play_out(table)
    assert table.refusals() == []


def test_between_two_games_the_first_proposer_may_leave_and_sit_down_again() -> None:
    table = between_games(2)
    ask(table, 0, RequestKind.LEAVE)
    play_until(table, done(table, Leave))
    play_until(table, lambda: all(state_of(session).game == 1 for session in staying(table)))
    assert game_of(table, 1).seats_in_game() == (0, 1)
    play_out(table)
    assert table.refusals() == []


def test_two_leave_at_once_and_one_is_removed() -> None:
    table = table_at(3, ES, 5)
    ask(table, 1, RequestKind.LEAVE)
    ask(table, 3, RequestKind.LEAVE)
    play_until(table, lambda: len(staying(table)) == 3 and in_call(table, None))
    table.crash(seat_node(table, 2))
    play_until(table, lambda: len(game_of(table, 0).seats_in_game()) == 2)
    play_out(table)
    assert state_of(session_at(table, 0)).stock.epoch == 3
    assert table.refusals() == []


def has_prevoted(table: SimulatedTable, index: int) -> bool:
    """Whether a node has written down a prevote for an entry at its present height."""
    node = table.nodes[index]
    own = [r for r in node.journal if r.kind is RecordKind.OWN and r.height == node.session.height]
    bodies = [open_envelope(record.data).body for record in own]
    return any(isinstance(body, Prevote) and body.entry is not None for body in bodies)


def has_precommitted(table: SimulatedTable, index: int) -> bool:
    node = table.nodes[index]
    return any(r.kind is RecordKind.LOCK and r.height == node.session.height for r in node.journal)


@pytest.mark.parametrize("voted", [has_prevoted, has_precommitted])
@pytest.mark.parametrize("back", [False, True])
def test_a_leaver_killed_after_its_vote_is_out_of_the_game_all_the_same(
    voted: Callable[[SimulatedTable, int], bool], back: bool
) -> None:
    table = table_at(4, ES, 4)
    nobody_acts(table)
    leaver = seat_node(table, 1)
    ask(table, 1, RequestKind.LEAVE)
    play_until(table, lambda: voted(table, leaver))
    table.crash(leaver)
    bots_act(table)
    if back:
        table.at(table.now_s + 10, lambda: table.restart(leaver))
    play_until(table, lambda: game_of(table, 0).seats_in_game() == (0, 2, 3))
    play_out(table)
    assert table.refusals() == []


def test_a_leaver_killed_before_its_vote_is_waited_for_and_then_removed() -> None:
    table = table_at(4, ES, 4)
    nobody_acts(table)
    ask(table, 1, RequestKind.LEAVE)
    play_until(table, lambda: bool(game_of(table, 0).requests()))
    table.crash(seat_node(table, 1))
    bots_act(table)
    asked_s = table.now_s
    play_until(table, lambda: game_of(table, 0).seats_in_game() == (0, 2, 3))
    assert table.now_s - asked_s > 60
    play_until(table, done(table, Remove))
    play_out(table)
    assert table.refusals() == []


# What cannot be asked


def test_nobody_asks_in_the_name_of_another_or_for_another_moment() -> None:
    table = AttackedTable(3, 3)
    table.play_until(table.another_is_to_act)
    game = table.honest()[0].game
    assert game is not None
    table.say(table.signed(Request(game.height, bytes(32), RequestKind.LEAVE)).raw)
    table.say(table.signed(Request(game.height - 1, game.head, RequestKind.LEAVE)).raw)
    table.play_until(lambda: table.now_s > 0 and game.height > 12)
    assert len(game.seats_in_game()) == 3


def test_who_is_not_in_the_game_asks_nothing() -> None:
    table = table_at(3)
    ask(table, 0, RequestKind.LEAVE)
    play_until(table, done(table, Leave))
    session = session_at(table, 0)
    assert not session.may_ask(RequestKind.LEAVE)
    with pytest.raises(LocalProtocolError, match="no seat"):
        session.ask(RequestKind.LEAVE, table.now_s)


def test_an_action_in_the_way_of_a_request_is_signed_anew() -> None:
    """A player who ends the turn in the moment in which somebody leaves need not do it again."""
    table = table_at(4, ES, 4)
    state = state_of(staying(table)[0])
    nobody_acts(table)
    ask(table, (state.turn + 1) % 4, RequestKind.LEAVE)
    play_until(table, lambda: session_at(table, state.turn).round == 1)
    act_by_bot(session_at(table, state.turn), table.now_s)
    table.carry_out(seat_node(table, state.turn))
    height = heights(table)[0]
    play_until(table, lambda: min(heights(table)) >= height + 4)
    kinds = {event.kind for event in commits(table.nodes[0]) if event.height >= height}
    assert {"request", "action"} <= kinds
    assert not any(event.kind == "timeout" for event in commits(table.nodes[0]))
