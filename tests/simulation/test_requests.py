"""What any player may ask of the table: whoever's turn it is, it comes next, and for everybody alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from engine.actions import Action, Extend, Leave, LongPause, Pause, Play, Remove, Resume, TakeBack
from engine.bots import choose
from engine.errors import IllegalMove
from engine.requests import PAUSES
from engine.rulesets import ES, PT, RuleSet
from engine.state import CallName, EndedBy, Paused, PublicState, Seat
from node.autoplay import act_by_bot
from node.simulation import SimulatedTable, commits, finished
from protocol.audit.audit import audit
from protocol.dealing.open_deal import open_dealer
from protocol.dealing.secret_deal import SecretDealer, secret_dealer
from protocol.envelope import open_envelope
from protocol.errors import LocalProtocolError
from protocol.game import DealerMaker, request_action
from protocol.gamefile import game_file_of
from protocol.messages import Prevote, Request, RequestEntry, RequestKind
from protocol.outputs import RecordKind
from protocol.session import Session
from tests.simulation.attack import AttackedTable
from tests.simulation.removal import game_of, in_call, play_on, play_until, seat_node, staying


def idle(_session: Session, _now_s: float) -> None:
    """A player who does nothing."""


def state_of(session: Session) -> PublicState:
    assert session.state is not None
    return session.state


def table_at(
    turns: int, rules: RuleSet = PT, seats: int = 3, seed: int = 3, make_dealer: DealerMaker = open_dealer
) -> SimulatedTable:
    """A table of bots after so many turns, with somebody to act."""
    table = SimulatedTable(rules, seats, seed, make_dealer)
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


def calm(table: SimulatedTable) -> bool:
    """All that run stand at one height in its first round."""
    return len(set(heights(table))) == 1 and all(session.round == 0 for session in staying(table))


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
    play_until(table, lambda: sum(s.game is not None and s.game.between_games for s in staying(table)) == seats)
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


# Pause, more time, taking back


def committed(table: SimulatedTable, kind: type[Action], count: int = 1) -> Callable[[], bool]:
    """Whether all that run have committed so many of these actions and nothing is under way."""
    return lambda: (
        calm(table)
        and all(node.down or sum(isinstance(e.action, kind) for e in commits(node)) >= count for node in table.nodes)
    )


def left_s(table: SimulatedTable) -> list[float]:
    """What is left of the turn's time by each clock."""
    return [left for s in staying(table) if (left := s.remaining_s(table.now_s)) is not None]


def later(table: SimulatedTable, seconds: float) -> None:
    until_s = table.now_s + seconds
    play_until(table, lambda: table.now_s >= until_s)


def waiting_table(turns: int = 3, rules: RuleSet = PT, seats: int = 3, seed: int = 3) -> SimulatedTable:
    table = table_at(turns, rules, seats, seed)
    nobody_acts(table)
    return table


def test_a_pause_stops_the_clocks_for_a_minute_and_then_the_turn_has_the_rest() -> None:
    table = waiting_table()
    turn = state_of(staying(table)[0]).turn
    ask(table, (turn + 1) % 3, RequestKind.PAUSE)
    play_until(table, committed(table, Pause))
    left, paused_s = left_s(table), table.now_s
    assert min(left) > 50
    assert not session_at(table, turn).may_act(table.now_s)
    later(table, 30)
    assert left_s(table) == left
    play_until(table, committed(table, Resume))
    assert 59 < table.now_s - paused_s < 63
    assert left_s(table) == pytest.approx(left, abs=1)
    assert session_at(table, turn).may_act(table.now_s)
    bots_act(table)
    play_out(table)
    assert table.refusals() == []


def test_anybody_ends_a_pause_at_once() -> None:
    table = waiting_table()
    turn = state_of(staying(table)[0]).turn
    ask(table, turn, RequestKind.PAUSE)
    play_until(table, committed(table, Pause))
    paused_s = table.now_s
    ask(table, (turn + 1) % 3, RequestKind.RESUME)
    play_until(table, committed(table, Resume))
    assert table.now_s - paused_s < 2


def test_a_longer_pause_takes_everybodys_consent_and_lasts() -> None:
    table = waiting_table()
    ask(table, 0, RequestKind.PAUSE)
    play_until(table, committed(table, Pause))
    ask(table, 0, RequestKind.LONG_PAUSE)
    ask(table, 1, RequestKind.LONG_PAUSE)
    later(table, 5)
    assert state_of(session_at(table, 0)).paused is Paused.MINUTE, "one has not agreed"
    assert session_at(table, 2).consents_awaited() == (RequestKind.LONG_PAUSE,)
    ask(table, 2, RequestKind.LONG_PAUSE)
    play_until(table, committed(table, LongPause))
    later(table, 600)
    assert state_of(session_at(table, 0)).paused is Paused.LONG
    ask(table, 2, RequestKind.RESUME)
    play_until(table, committed(table, Resume))
    bots_act(table)
    play_out(table)
    report = audit(game_file_of(staying(table)[0].log, ()))
    assert report.entries["request"] == 3


def test_a_minute_of_pause_is_not_made_longer_by_asking_again() -> None:
    table = waiting_table()
    for count in range(1, PAUSES + 1):
        ask(table, 0, RequestKind.PAUSE)
        play_until(table, committed(table, Pause, count))
        assert not session_at(table, 0).may_ask(RequestKind.PAUSE)
        ask(table, 1, RequestKind.RESUME)
        play_until(table, committed(table, Resume, count))
    with pytest.raises(IllegalMove, match="NO-PAUSE-LEFT"):
        ask(table, 0, RequestKind.PAUSE)
    assert min(left_s(table)) > 40, "the turn has lost no time by it"


def test_a_pause_asked_for_while_tiles_are_drawn_comes_after_it() -> None:
    table = table_at(2)
    play_until(table, lambda: in_call(table, CallName.DRAW))
    nobody_acts(table)
    ask(table, 0, RequestKind.PAUSE)
    play_until(table, committed(table, Pause))
    assert all(state_of(session).call is None for session in staying(table))
    assert table.refusals() == []


def test_more_time_is_one_more_limit_for_the_own_turn() -> None:
    table = waiting_table()
    turn = state_of(staying(table)[0]).turn
    before = left_s(table)
    with pytest.raises(IllegalMove, match="NOT-YOUR-TURN"):
        ask(table, (turn + 1) % 3, RequestKind.EXTEND)
    ask(table, turn, RequestKind.EXTEND)
    play_until(table, committed(table, Extend))
    assert left_s(table) == pytest.approx([left + PT.turn_seconds for left in before], abs=2)
    assert not session_at(table, turn).may_ask(RequestKind.EXTEND)
    bots_act(table)
    play_out(table)
    assert table.refusals() == []


def test_more_time_asked_for_as_the_time_runs_out_is_given_to_all_clocks_or_none() -> None:
    for moment_s in (-0.02, -0.005, 0.0, 0.01):
        table = waiting_table()
        turn = state_of(staying(table)[0]).turn
        session = session_at(table, turn)
        assert session.clock.end_s is not None
        session.draft = Play(turn, (), ())  # not a legal play: its own node does nothing at the end
        height = session.height
        table.at(session.clock.end_s + moment_s, lambda table=table, turn=turn: ask(table, turn, RequestKind.EXTEND))  # type: ignore[misc]
        play_until(table, lambda table=table, height=height: min(heights(table)) > height)  # type: ignore[misc]
        entries = {node.session.log[height].entry for node in table.nodes}
        assert len(entries) == 1


def after_a_play(make_dealer: DealerMaker = open_dealer) -> SimulatedTable:
    """A table at which a turn has just ended with tiles laid, and nobody acts."""
    table = table_at(3, make_dealer=make_dealer)
    play_until(table, lambda: in_call(table, None) and state_of(staying(table)[0]).undo is not None)
    nobody_acts(table)
    return table


@pytest.mark.parametrize("make_dealer", [secret_dealer, open_dealer], ids=["secret", "open"])
def test_a_turn_is_taken_back_when_all_agree_and_played_anew(make_dealer: DealerMaker) -> None:
    table = after_a_play(make_dealer)
    sessions = staying(table)
    undo = state_of(sessions[0]).undo
    assert undo is not None
    for seat in range(2):
        ask(table, seat, RequestKind.TAKE_BACK)
    later(table, 3)
    assert state_of(sessions[0]).undo == undo, "one has not agreed, and the turn goes on"
    assert all(session.round == 0 for session in sessions)
    ask(table, 2, RequestKind.TAKE_BACK)
    play_until(table, committed(table, TakeBack))
    assert state_of(sessions[0]).turn == undo.turn
    assert state_of(sessions[0]).board == undo.board
    assert min(left_s(table)) > PT.turn_seconds - 3
    bots_act(table)
    play_out(table)
    assert table.refusals() == []
    audit(game_file_of(sessions[0].log, ()))


def test_bots_agree_to_a_turn_taken_back_but_only_if_its_player_asks() -> None:
    table = after_a_play()
    undo = state_of(staying(table)[0]).undo
    assert undo is not None
    ask(table, (undo.turn + 1) % 3, RequestKind.TAKE_BACK)
    later(table, 2)
    assert session_at(table, (undo.turn + 2) % 3).consents_awaited() == ()
    for seat in range(3):
        table.nodes[seat_node(table, seat)].player = act_by_bot
    table.nodes[seat_node(table, state_of(staying(table)[0]).turn)].player = agree
    ask(table, undo.turn, RequestKind.TAKE_BACK)
    play_until(table, done(table, TakeBack))


def agree(session: Session, now_s: float) -> None:
    """A player who agrees to everything, and does nothing else."""
    for kind in session.consents_awaited():
        session.ask(kind, now_s)


def test_a_pause_gives_time_to_agree_on_taking_back() -> None:
    table = after_a_play()
    ask(table, 0, RequestKind.PAUSE)
    play_until(table, committed(table, Pause))
    for seat in range(3):
        ask(table, seat, RequestKind.TAKE_BACK)
    play_until(table, committed(table, TakeBack))
    assert state_of(session_at(table, 0)).paused is Paused.MINUTE
    play_until(table, committed(table, Resume))
    bots_act(table)
    play_out(table)


def test_after_the_next_move_nothing_is_taken_back() -> None:
    table = after_a_play()
    undo = state_of(staying(table)[0]).undo
    assert undo is not None
    ask(table, undo.turn, RequestKind.TAKE_BACK)
    bots = table.nodes[seat_node(table, state_of(staying(table)[0]).turn)]
    bots.player = act_alone
    bots.thinks_at = None
    height = heights(table)[0]
    table.carry_out(table.nodes.index(bots))
    play_until(table, lambda: min(heights(table)) > height + 1)
    assert not session_at(table, undo.turn).asks()
    assert not done(table, TakeBack)()


def act_alone(session: Session, now_s: float) -> None:
    """A bot that agrees to nothing."""
    if not session.may_act(now_s):
        return
    assert session.state is not None
    assert session.seat is not None
    session.act(choose(session.seat, session.state, session.own_tiles()), now_s)


@pytest.mark.parametrize("kind", [RequestKind.PAUSE, RequestKind.EXTEND])
@pytest.mark.parametrize("away_s", [0.0, 8.0])
def test_who_asks_and_is_killed_comes_back_to_the_same_game(kind: RequestKind, away_s: float) -> None:
    table = waiting_table()
    turn = state_of(staying(table)[0]).turn
    ask(table, turn, kind)
    if away_s:
        play_until(table, lambda: has_prevoted(table, seat_node(table, turn)))
    table.crash(seat_node(table, turn))
    later(table, away_s)
    table.restart(seat_node(table, turn))
    bots_act(table)
    play_until(table, lambda: len(staying(table)) == 3 and done(table, request_action(kind, turn).__class__)())
    play_out(table)
    assert table.refusals() == []


def test_who_is_removed_during_a_pause_ends_it() -> None:
    table = waiting_table(rules=ES, seats=4)
    for node in table.nodes:
        node.player = go_on
    ask(table, 0, RequestKind.PAUSE)
    play_until(table, committed(table, Pause))
    for seat in range(4):
        ask(table, seat, RequestKind.LONG_PAUSE)
    play_until(table, committed(table, LongPause))
    table.crash(seat_node(table, 3))
    play_until(table, done(table, Remove))
    assert state_of(session_at(table, 0)).paused is None
    bots_act(table)
    play_out(table)


def go_on(session: Session, now_s: float) -> None:
    """A player who goes on without who is gone, and does nothing else."""
    session.go_on_without(session.may_go_on_without(now_s), now_s)


# What cannot be asked


def test_a_request_that_the_rules_refuse_or_for_another_moment_changes_nothing() -> None:
    table = AttackedTable(3, 3)
    table.play_until(table.another_is_to_act)
    game = table.honest()[0].game
    assert game is not None
    height, liar = game.height, table.liar_seat()
    assert liar is not None
    for kind in (RequestKind.RESUME, RequestKind.LONG_PAUSE, RequestKind.EXTEND):
        table.say(table.signed(Request(height, game.head, kind)).raw)
    table.say(table.signed(Request(height, bytes(32), RequestKind.LEAVE)).raw)
    table.play_until(lambda: game.height > height + 4)
    assert all(session.log[height].entry == table.honest()[0].log[height].entry for session in table.honest())
    assert len(game.seats_in_game()) == 3
    assert [reason for reason in table.reasons(0) if reason.startswith("request ")] == [
        "request resume: NOT-PAUSED: The game is not paused, or until somebody goes on.",
        "request long-pause: NOT-PAUSED: The game is not paused, or for long already.",
        "request extend: NOT-YOUR-TURN: It is not your turn.",
    ]


@pytest.mark.parametrize("which", ["alone", "twice", "another's kind", "out of order"])
def test_an_entry_without_everybodys_consent_is_refused(which: str) -> None:
    table = after_a_play()
    game = game_of(table, 0)
    asked = [session_at(table, seat)._seal(game.request(RequestKind.TAKE_BACK)).raw for seat in range(3)]
    assert game.entry(RequestEntry(tuple(asked))) is not None
    other = session_at(table, 2)._seal(game.request(RequestKind.PAUSE)).raw
    wrong = {
        "alone": asked[:1],
        "twice": [asked[0], asked[1], asked[1]],
        "another's kind": [*asked[:2], other],
        "out of order": [asked[1], asked[0], asked[2]],
    }
    assert game.entry(RequestEntry(tuple(wrong[which]))) is None


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

    def kinds() -> list[str]:
        return [event.kind for event in commits(table.nodes[0]) if event.height >= height]

    play_until(table, lambda: {"request", "action"} <= set(kinds()))
    assert kinds() == ["request", "answers", "action"]
