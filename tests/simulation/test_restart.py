"""A node that is killed and started again continues the game where it was, with the very words it had signed."""

from __future__ import annotations

import pytest

from engine.rulesets import PT, RULE_SETS
from node.simulation import SimulatedTable
from protocol.outputs import RecordKind
from tests.simulation.crashes import play_with_crashes


@pytest.mark.parametrize("seed", range(4))
def test_crashes_at_any_moment_lose_nothing(seed: int) -> None:
    table, crashes = play_with_crashes(2 + seed % 3, seed, away_s=2.0, every=97 + seed)
    assert crashes > 10
    assert table.refusals() == [], "no node said anything that contradicts what it had said before"
    assert len({node.session.state for node in table.nodes}) == 1
    table.summary()


def test_all_nodes_killed_at_once_continue() -> None:
    table = SimulatedTable(PT, 3, 5)
    for _now_s in table.steps():
        if table.nodes[0].session.height >= 25:
            break
    heights = [node.session.height for node in table.nodes]
    for index in range(3):
        table.crash(index)
    for index in range(3):
        table.restart(index)
        assert table.nodes[index].session.height == heights[index]
    table.run()
    assert table.refusals() == []


def test_a_node_killed_in_its_own_turn_has_the_rest_of_its_time() -> None:
    table = SimulatedTable(PT, 3, 8)
    for _now_s in table.steps():
        session = table.nodes[1].session
        if session.may_act(table.now_s) and session.height > 15:
            break
    before, tiles = session.state, session.own_tiles()
    left_s = session.remaining_s(table.now_s)
    assert left_s is not None
    table.crash(1)
    table.at(table.now_s + 5.0, lambda: table.restart(1))
    for _now_s in table.steps():
        if not table.nodes[1].down:
            break
    session = table.nodes[1].session
    assert session.state == before
    assert session.own_tiles() == tiles
    again_s = session.remaining_s(table.now_s)
    assert again_s == pytest.approx(left_s - 5.0, abs=0.1)
    assert session.may_act(table.now_s)
    table.run()


def test_what_is_sent_was_stored_before() -> None:
    """Every own vote, proposal, action and part on the wire is in the journal, in the order it was signed."""
    table = SimulatedTable(PT, 2, 4)
    table.run()
    for node in table.nodes:
        kinds = [record.kind for record in node.journal]
        assert kinds[0] is RecordKind.DRAFT
        assert kinds[1] is RecordKind.SECRET
        assert RecordKind.LOCK in kinds
        committed = [record.height for record in node.journal if record.kind is RecordKind.COMMITTED]
        assert committed == list(range(len(node.session.log)))


def test_seed_10_all_prevotes_before_the_entry_after_a_restart() -> None:
    """A node killed between its prevote and its precommit got all prevotes back before the entry they name."""
    table, crashes = play_with_crashes(4, 10, away_s=0.5, every=71, rules=RULE_SETS["no"])
    assert crashes > 10
    assert table.refusals() == []
    table.summary()
