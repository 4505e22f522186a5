"""Seats that go away: the table waits, counts down, goes on without them, or takes them back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from engine.rulesets import ES, PT, RuleSet
from engine.state import CallName, Phase, Seat
from node.autoplay import act_by_bot
from node.simulation import SimulatedNode, SimulatedTable, finished
from protocol.codec import encode
from protocol.consensus.absence import CONTACT_S, COUNTDOWN_S, Cause
from protocol.envelope import seal
from protocol.events import EntryCommitted
from protocol.messages import CatchUp, RemoveEntry
from tests.simulation.removal import game_of, in_call, play_on, play_until, removal, seat_node, staying


def after_turns(table: SimulatedTable, turns: int) -> None:
    def reached() -> bool:
        if not in_call(table, None):
            return False
        state = staying(table)[0].state
        return state is not None and state.turn_number >= turns

    play_until(table, reached)


def removals(table: SimulatedTable, index: int) -> list[EntryCommitted]:
    events = table.nodes[index].events
    return [event for event in events if isinstance(event, EntryCommitted) and event.kind == "remove"]


@pytest.mark.parametrize(("rules", "seats"), [(PT, 3), (ES, 5)], ids=["pt", "es"])
def test_the_table_goes_on_without_who_is_gone_after_the_countdown(rules: RuleSet, seats: int) -> None:
    table = SimulatedTable(rules, seats, 2)
    after_turns(table, 4)
    gone = seat_node(table, 1)
    table.crash(gone)
    left_s = table.now_s
    play_until(table, lambda: all(session.absences() for session in staying(table)))
    assert table.now_s - left_s < CONTACT_S + 1.5, "everybody knows whom they wait for"
    assert all(a.cause is Cause.SILENT for session in staying(table) for a in session.absences())
    play_until(table, lambda: len(staying(table)[0].game.seats_in_game()) == seats - 1)  # type: ignore[union-attr]
    assert COUNTDOWN_S < table.now_s - left_s < COUNTDOWN_S + 20
    for _now_s in play_on(table):
        pass
    assert table.refusals() == []
    assert len({session.game.head for session in staying(table) if session.game is not None}) == 1


def test_who_comes_back_in_time_plays_on() -> None:
    table = SimulatedTable(ES, 4, 3)
    after_turns(table, 4)
    gone = seat_node(table, 2)
    table.crash(gone)
    play_until(table, lambda: all(session.absences() for session in staying(table)))
    back_s = table.now_s + 20
    table.at(back_s, lambda: table.restart(gone))
    play_until(table, lambda: table.now_s > back_s + 2 and len(staying(table)) == 4)
    assert not any(session.absences() for session in staying(table))
    table.run()
    assert table.refusals() == []
    assert not removals(table, gone)


def test_who_comes_back_too_late_is_told_and_follows() -> None:
    table = SimulatedTable(ES, 4, 4)
    after_turns(table, 3)
    gone = seat_node(table, 0)
    table.crash(gone)
    play_until(table, lambda: staying(table)[0].game.seats_in_game() == (1, 2, 3))  # type: ignore[union-attr]
    table.restart(gone)
    play_until(table, lambda: bool(removals(table, gone)))
    assert table.nodes[gone].session.seat is None
    table.run()
    assert finished(table.nodes[gone].session)
    assert table.refusals() == []


def test_two_seats_cannot_go_on_alone() -> None:
    table = SimulatedTable(ES, 2, 5)
    after_turns(table, 3)
    gone = seat_node(table, 1)
    table.crash(gone)
    until_s = table.now_s + 300
    play_until(table, lambda: table.now_s > until_s)
    (session,) = staying(table)
    assert session.game is not None
    assert session.game.seats_in_game() == (0, 1)
    table.restart(gone)
    table.run()
    assert table.refusals() == []


def test_the_actors_clock_stands_still_while_somebody_is_away_but_not_for_ever() -> None:
    """Rule 12: at most half the limit or 30 s in one turn."""
    table = SimulatedTable(PT, 3, 6)
    after_turns(table, 2)
    for node in table.nodes:
        node.player = lambda session, now_s: None
    after_s = table.now_s
    state = staying(table)[0].state
    assert state is not None
    away = seat_node(table, (state.turn + 1) % 3)
    ends_s = table.nodes[seat_node(table, state.turn)].session.clock.end_s
    assert ends_s is not None
    table.crash(away)
    back_s = after_s + CONTACT_S + 10
    table.at(back_s, lambda: table.restart(away))
    play_until(table, lambda: table.now_s > back_s + 3)
    later_s = table.nodes[seat_node(table, state.turn)].session.clock.end_s
    assert later_s is not None
    assert 8 < later_s - ends_s < 13
    table.crash(away)
    play_until(table, lambda: table.now_s > back_s + 50)
    latest_s = table.nodes[seat_node(table, state.turn)].session.clock.end_s
    if latest_s is not None:
        assert latest_s - ends_s <= 30.001


def test_a_game_ends_with_a_loss_for_who_was_removed() -> None:
    table = SimulatedTable(PT, 4, 7)
    after_turns(table, 5)
    table.crash(seat_node(table, 3))
    for _now_s in play_on(table):
        pass
    state = staying(table)[0].state
    assert state is not None
    assert state.phase is Phase.OVER
    assert state.result is not None
    assert Seat(3) not in state.result.winners
    assert state.result.scores[3] < 0
    assert sum(state.result.scores) == 0


def test_two_histories_that_one_liar_has_signed_void_the_game_and_name_it() -> None:
    """The split that no rule prevents (R4): the liar goes on with each of two seats that do not hear each other."""
    table = SimulatedTable(ES, 3, 8)
    after_turns(table, 3)
    one, liar, other = staying(table)
    table.crash(seat_node(table, 1))
    for session, gone in ((one, 2), (other, 0)):
        pair = sorted((session, liar), key=lambda each: each.seat or 0)
        committed = removal(pair, (gone,), None)
        body = CatchUp((encode(committed),))
        session.receive(liar.signer.node_id, seal(liar.signer, session.table, body).raw, table.now_s)
        assert session.void is None
    for session in (one, other):
        table.carry_out(next(i for i, node in enumerate(table.nodes) if node.session is session))
    until_s = table.now_s + 5
    play_until(table, lambda: table.now_s > until_s)
    for session in (one, other):
        assert session.void is not None
        assert session.void.culprits == (liar.signer.node_id,)
        assert [found.node for found in session.evidence] == [liar.signer.node_id]
        assert not session.may_act(table.now_s)


@pytest.mark.parametrize("seed", range(4))
def test_the_way_back_when_some_have_signed_to_go_on_and_then_all_are_here(seed: int) -> None:
    """Rule 17: without it nobody could vote any more (W6L)."""
    table = SimulatedTable(ES, 4, seed)
    after_turns(table, 3)
    gone = seat_node(table, 3)
    table.crash(gone)

    def signed() -> list[bool]:
        drivers = [session._driver for session in staying(table)]
        return [driver is not None and driver.left_rounds for driver in drivers]

    play_until(table, lambda: any(signed()))
    late = next((session for session, left in zip(staying(table), signed(), strict=True) if not left), None)
    assert late is not None, "they sign one after the other"
    other = next(index for index, node in enumerate(table.nodes) if node.session is late)
    table.crash(other)
    back_s = table.now_s + 3
    for index in (gone, other):
        table.at(back_s, lambda index=index: table.restart(index))  # type: ignore[misc] # the index of now
    play_until(table, lambda: table.now_s > back_s + 20)
    assert len(staying(table)) == 4, "nobody was removed"
    table.run()
    assert table.refusals() == []


def wishes(table: SimulatedTable, node: SimulatedNode) -> Callable[[], None]:
    def event() -> None:
        node.session.wish_next_game(table.now_s)
        table.carry_out(table.nodes.index(node))

    return event


def test_who_was_removed_sits_down_again_for_the_next_game() -> None:
    table = SimulatedTable(replace(ES, rounds=2), 3, 9)
    after_turns(table, 3)
    gone = seat_node(table, 1)
    table.crash(gone)
    play_until(table, lambda: staying(table)[0].game.seats_in_game() == (0, 2))  # type: ignore[union-attr]
    table.restart(gone)
    for node in table.nodes:
        node.player = lambda session, now_s: None if session.may_wish() else act_by_bot(session, now_s)
    play_until(table, lambda: all(node.session.may_wish() for node in table.nodes))
    for wait_s, node in ((0, table.nodes[gone]), *((1, session) for session in table.nodes)):
        table.at(table.now_s + wait_s, wishes(table, node))
    table.run()
    states = [node.session.state for node in table.nodes]
    assert all(state is not None and state.game == 1 and state.seats[1].in_game for state in states)
    assert table.nodes[gone].session.seat == 1
    assert table.refusals() == []


def test_a_removal_names_the_complete_answers_to_a_draw() -> None:
    """Rule 13: the drawer keeps the tile that the lost seat had still given it."""
    table = SimulatedTable(ES, 4, 11)
    after_turns(table, 2)

    def answered() -> bool:
        calls = [session.game.call for session in staying(table) if session.game is not None]
        open_calls = [call for call in calls if call is not None and call.call.name is CallName.DRAW]
        return len(open_calls) == 4 and open_calls[0].call.seat != 3 and any(call.complete for call in open_calls)

    play_until(table, answered)
    drawer = game_of(table, 0).call.call.seat  # type: ignore[union-attr]
    assert drawer is not None
    held = len(game_of(table, 0).state.seats[drawer].rack)
    table.crash(seat_node(table, 3))
    play_until(table, lambda: in_call(table, CallName.REDEAL))
    log = staying(table)[0].log
    removal_entry = log[-1].entry.content
    assert isinstance(removal_entry, RemoveEntry)
    assert removal_entry.answers is not None
    assert len(game_of(table, 0).state.seats[drawer].rack) == held + 1
    for _now_s in play_on(table):
        pass
    assert table.refusals() == []
