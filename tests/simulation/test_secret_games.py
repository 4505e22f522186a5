"""Whole games with the secret deal between real sessions."""

from __future__ import annotations

import pytest

from engine.rulesets import ES, PT, RuleSet
from engine.state import Phase
from node.simulation import SimulatedTable, finished
from protocol.dealing.secret_deal import secret_dealer
from protocol.outputs import RecordKind


@pytest.mark.parametrize(("rules", "seats", "seed"), [(PT, 2, 1), (PT, 3, 2), (PT, 4, 3), (ES, 6, 4)])
def test_a_whole_game_ends_alike_on_every_node(rules: RuleSet, seats: int, seed: int) -> None:
    table = SimulatedTable(rules, seats, seed, secret_dealer)
    table.run()
    assert table.refusals() == []
    sessions = [node.session for node in table.nodes]
    assert {session.state for session in sessions} == {sessions[0].state}
    logs = [[committed.entry for committed in session.log] for session in sessions]
    assert all(log == logs[0] for log in logs)
    state = sessions[0].state
    assert state is not None
    assert state.phase is Phase.OVER
    assert all(not state.hidden_slots(seat) for session in sessions if (seat := session.seat) is not None)
    _no_secret_was_sent(table)


def _no_secret_was_sent(table: SimulatedTable) -> None:
    """x and q of no node are in any message, entry, or in another node's journal."""
    said = b"".join(
        record.data for node in table.nodes for record in node.journal if record.kind is not RecordKind.SECRET
    )
    for node in table.nodes:
        secrets = [record.data for record in node.journal if record.kind is RecordKind.SECRET]
        assert [len(secret) for secret in secrets] == [96, 0], "nothing is left at the end"
        for secret in filter(None, secrets):
            assert secret[:32] not in said
            assert secret[32:64] not in said
            assert secret[64:] in said, "the coin is shown, so the search would find a secret"


def test_nodes_killed_at_any_message_of_the_deal_say_the_same_again() -> None:
    """Before, between and after the parts of the start, the racks and some draws."""
    table = SimulatedTable(PT, 2, 6, secret_dealer)
    crashes = 0
    for count, _now_s in enumerate(table.steps()):
        if all(not node.down and finished(node.session) for node in table.nodes):
            break
        index = count // 9 % 2
        if count % 9 == 8 and crashes < 25 and table.nodes[index].session.game is not None:
            table.crash(index)
            table.restart(index)
            crashes += 1
    assert crashes == 25
    assert table.refusals() == []
    table.summary()
