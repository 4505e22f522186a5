"""The turn's clock: the same end on every node, once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.actions import Draw, Play, Timeout
from engine.rulesets import PT
from engine.state import PublicState, Seat, TableMeld
from node.simulation import commits
from protocol.messages import SignedAction
from protocol.session import Session
from tests.simulation.attack import AttackedTable

RULES = replace(PT, turn_seconds=30)


def idle(_session: Session, _now_s: float) -> None:
    """A player who does nothing."""


def slow_table(seed: int = 3) -> AttackedTable:
    """A table where one player, the `liar`, lets its time run out; it stands at the start of that turn."""
    table = AttackedTable(3, seed, RULES)
    table.nodes[table.liar].player = idle
    table.play_until(table.liar_is_to_act)
    return table


def rack_sizes(state: PublicState) -> list[int]:
    return [len(seat.rack) for seat in state.seats]


def states_after(table: AttackedTable, height: int) -> list[PublicState]:
    """The state of every node once the entry of this height and its draw are committed."""
    reached: dict[int, PublicState] = {}

    def all_there() -> bool:
        for index, node in enumerate(table.nodes):
            state = node.session.state
            assert state is not None
            if node.session.height == height:
                reached.setdefault(index, state)
        return len(reached) == len(table.nodes)

    table.play_until(all_there)
    return [reached[index] for index in sorted(reached)]


def test_a_turn_limit_passed_with_tiles_moved_restores_the_board_and_costs_three_tiles_once() -> None:
    table = slow_table()
    slow = table.nodes[table.liar].session
    before, seat = slow.state, slow.seat
    assert before is not None
    assert seat is not None
    slot, tile = next(iter(slow.own_tiles().items()))
    slow.draft = Play(seat, (*before.board, TableMeld((tile,))), ((slot, tile),))
    began_s, height = table.now_s, slow.height

    after = states_after(table, height + 2)

    assert len(set(after)) == 1, "every node alike"
    expected = rack_sizes(before)
    expected[seat] += 3
    assert rack_sizes(after[0]) == expected
    assert after[0].board == before.board
    assert after[0].stock.left == before.stock.left - 3
    assert after[0].turn == (seat + 1) % 3
    assert RULES.turn_seconds <= table.now_s - began_s <= RULES.turn_seconds + 1.5
    for node in table.nodes:
        timeouts = [event for event in commits(node) if isinstance(event.action, Timeout)]
        assert [event.height for event in timeouts] == [height], "once"
    table.play_until(table.all_finished)


def test_a_turn_limit_passed_with_nothing_moved_costs_one_tile() -> None:
    table = slow_table()
    slow = table.nodes[table.liar].session
    before, seat = slow.state, slow.seat
    assert before is not None
    assert seat is not None
    after = states_after(table, slow.height + 2)
    assert len(set(after)) == 1
    expected = rack_sizes(before)
    expected[seat] += 1
    assert rack_sizes(after[0]) == expected
    assert not any(isinstance(event.action, Timeout) for node in table.nodes for event in commits(node))


def test_nobody_but_the_clock_ends_a_turn() -> None:
    table = slow_table()
    height, began_s = table.nodes[0].session.height, table.now_s
    table.play_until(lambda: table.nodes[0].session.height > height)
    assert table.now_s - began_s >= RULES.turn_seconds - 0.6


@pytest.mark.parametrize("late_s", [-0.03, -0.015, -0.008, -0.004, -0.001, 0.0, 0.004])
@pytest.mark.parametrize("seed", [3, 4, 5])
def test_a_move_at_the_last_moment_is_in_for_everybody_or_out_for_everybody(late_s: float, seed: int) -> None:
    """The actor's node is modified: it sends its draw around the very end of its clock."""
    table = slow_table(seed)
    slow = table.nodes[table.liar].session
    game = slow.game
    assert game is not None
    assert slow.seat is not None
    assert slow.clock.end_s is not None
    slow.draft = Play(slow.seat, (), ())  # not a legal play: its own node sends nothing at the end
    frame = table.signed(SignedAction(game.height, game.head, Draw(slow.seat), b"", b"")).raw
    height = game.height
    table.at(slow.clock.end_s + late_s, lambda: table.say(frame))
    after = states_after(table, height + 2)
    assert len(set(after)) == 1
    entries = {node.session.log[height].entry for node in table.nodes}
    assert len(entries) == 1


def test_the_clock_stands_while_a_draw_is_under_way() -> None:
    table = AttackedTable(3, 9, RULES)
    shown: set[tuple[int, float | None]] = set()
    for now_s in table.steps():
        session = table.nodes[0].session
        if session.height > 12:
            break
        if session.state is not None and session.state.call is not None:
            shown.add((session.height, session.remaining_s(now_s)))
    heights = [height for height, _left in shown]
    assert len(heights) == len(set(heights)) > 3, "one value for each call"


def test_without_a_turn_limit_nothing_ends_a_turn() -> None:
    table = AttackedTable(2, 3, replace(PT, turn_seconds=0))
    table.nodes[table.liar].player = idle
    table.play_until(table.liar_is_to_act)
    height, until_s = table.nodes[0].session.height, table.now_s + 3600
    assert table.nodes[0].session.remaining_s(table.now_s) is None
    table.play_until(lambda: table.now_s > until_s)
    assert [node.session.height for node in table.nodes] == [height, height]


def test_the_own_player_is_told_that_its_time_is_up() -> None:
    table = slow_table()
    slow = table.nodes[table.liar].session
    assert slow.clock.end_s is not None
    assert slow.may_act(slow.clock.end_s - 0.01)
    assert not slow.may_act(slow.clock.end_s)
    assert slow.seat == Seat(slow.seat or 0)
