"""A game begins for all who signed its genesis, or for nobody, whoever dies at that moment."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.rulesets import ES
from node.simulation import SimulatedTable


@pytest.mark.parametrize("seed", range(20))
def test_the_first_to_begin_dies_at_once_and_no_second_genesis_is_signed(seed: int) -> None:
    table = SimulatedTable(replace(ES, hand=3), 3, seed)
    died = False
    for now_s in table.steps():
        begun = [index for index, node in enumerate(table.nodes) if node.session.game is not None]
        if begun and not died:
            died = True
            table.crash(begun[0])
            table.at(now_s + 0.02 + seed % 3, lambda index=begun[0]: table.restart(index))  # type: ignore[misc]
        if died and all(not node.down and node.session.height > 3 for node in table.nodes):
            break
        assert now_s < 60, f"heights {[node.session.height for node in table.nodes]}"
    assert len({repr(node.session.genesis) for node in table.nodes}) == 1
