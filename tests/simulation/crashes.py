"""Whole games in which nodes are killed at random moments and started again from their journals."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Final

from engine.rulesets import PT, RuleSet
from node.simulation import SimulatedTable, finished

_HAND: Final = 7
_MOST: Final = 25  # each start replays the whole log


def play_with_crashes(
    seats: int, seed: int, *, away_s: float, every: int, rules: RuleSet = PT
) -> tuple[SimulatedTable, int]:
    """A whole game; a random node is killed every so many events, at most `_MOST` times, and is back after `away_s`."""
    table = SimulatedTable(replace(rules, hand=_HAND), seats, seed)
    rng = random.Random(seed)
    crashes = 0
    for count, _now_s in enumerate(table.steps()):
        if all(not node.down and finished(node.session) for node in table.nodes):
            return table, crashes
        if count % every == every - 1 and crashes < _MOST:
            index = rng.randrange(seats)
            node = table.nodes[index]
            if node.session.game is not None and not any(node.down for node in table.nodes):
                table.crash(index)
                crashes += 1
                table.at(table.now_s + away_s, lambda index=index: table.restart(index))  # type: ignore[misc]
    raise AssertionError("the queue ran dry")
