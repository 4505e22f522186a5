"""A search that is stopped: it ends at once, with a legal board, and says that it proves nothing."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

from engine.legality import Turn, judge_turn
from engine.melds import read
from engine.solver import solve, solve_opening
from tests.engine.solver.puzzles import adversarial, large, rules_named
from tests.engine.solver.puzzles_on_file import puzzles_on_file


@dataclass
class Patience:
    """Stops from the asking number `last` on."""

    last: int
    asked: int = 0

    def __call__(self) -> bool:
        self.asked += 1
        return self.asked > self.last


@pytest.mark.parametrize("name", ["free", "pt", "fi", "no"])
@pytest.mark.parametrize("last", [0, 1, 4, 20])
def test_a_stopped_search_gives_a_legal_board(name: str, last: int) -> None:
    stopped = 0
    for seed in range(6):
        for make in (large, adversarial):
            puzzle = make(random.Random(seed), rules_named(name, 4 if name == "no" else 2))
            patience = Patience(last)
            found = solve(puzzle.rules, puzzle.board, puzzle.rack, stop=patience)
            best = solve(puzzle.rules, puzzle.board, puzzle.rack)
            assert patience.asked <= last + 1, "asked again after it was told to stop"
            assert len(found.laid) <= len(best.laid)
            assert found.proven == (patience.asked <= last)
            stopped += not found.proven
            if found.laid:
                turn = Turn(True, puzzle.board, found.board, found.laid, (), found.exchanges)
                assert judge_turn(puzzle.rules, turn).faults == ()
            else:
                assert all(read(codes, kind) is not None for codes, kind in found.board)
                assert found.board == puzzle.board
    assert stopped or last == 20


def test_a_search_with_little_patience_lays_something() -> None:
    laid = [
        len(solve(rules_named("free", 2), puzzle.board, puzzle.rack, stop=Patience(0)).laid)
        for puzzle in puzzles_on_file()
        if puzzle.optimal["max_tiles"] > 2
    ]
    assert sum(many > 0 for many in laid) > len(laid) * 3 / 4


def test_a_stopped_opening_is_none() -> None:
    assert solve_opening(rules_named("pt", 2), bytes([10, 11, 12, 13, 20, 21, 22, 0]), 30, stop=lambda: True) is None
