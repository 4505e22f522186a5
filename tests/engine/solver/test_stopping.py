"""A search that is stopped: it ends at once, with a legal board, and says that it proves nothing."""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from types import FrameType
from typing import Any, Final

import pytest

from engine.legality import Turn, judge_turn
from engine.melds import read
from engine.solver import Objective, solve, solve_opening
from tests.engine.solver.puzzles import Puzzle, adversarial, large, puzzle_of, rules_named
from tests.engine.solver.puzzles_on_file import puzzles_on_file

_MOST_LINES: Final = 60_000  # some 3 ms

_HARD: Final = (  # the rules refuse the first answers, so that melds are asked for one by one, out of long lists
    "fi-2 / K5 K6 K7 K8 | R13 K13 Y13 | K5 K6 K7 K8 | R12 K12 Y12 | R6 R7 R8 R9 | R6 R7 R8 R9 | B5 B6 B7 B8 B9 | "
    "R11 B11 K11 | K2 K3 J J | B5 B6 B7 B8 B9 | R12 K12 Y12 | R13 K13 Y13 | R11 B11 K11 / R2 R2 R3 R4 R5 R5 R10 R10 B1 "
    "B2 B3 B3 B4 B10 B10 B12 B13 K1 K2 K4 K9 K10 Y1 Y1 Y4 Y4 Y6 Y6 Y7 Y8 Y9 Y10 Y11",
    "fi-2 / R3 R4 R5 R6 | R3 B3 K3 Y3 | B5 B6 B7 B8 B9 B10 B11 B12 | B13 K13 J J | R7 R8 R9 R10 R11 R12 | "
    "K1 K2 K3 K4 K5 | R4 B4 K4 Y4 | B8 K8 Y8 | B5 K5 Y5 / R1 R1 R6 R10 R11 R13 B1 B3 B6 B7 B10 B12 K7 K8 K9 Y4 Y5 Y6 "
    "Y8 Y10 Y12 Y13",
)
_HOPELESS: Final = (  # nothing can be laid
    "free-2 / R11 Y11 J | B13 K13 Y13 | B3 K3 Y3 | R8 K8 Y8 | R9 R10 R11 R12 | K10 J K12 K13 | Y9 Y10 Y11 | B7 K7 Y7 | "
    "B6 B7 B8 B9 B10 | R4 B4 K4 | R5 B5 Y5 | B2 K2 Y2 | R7 R8 R9 | B9 B10 B11 B12 B13 | K6 K7 K8 | Y6 Y7 Y8 Y9 | "
    "R4 K4 Y4 | R5 K5 Y5 | R6 B6 Y6 | R1 B1 Y1 | R2 B2 K2 Y2 | R3 B3 K3 Y3 | B1 K1 Y1 / B12"
)


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


@dataclass
class CountingPatience(Patience):
    """Counts the lines of code that are run from one asking to the next, and after the last; in loops each time."""

    lines: int = 0
    most: int = 0

    def __call__(self) -> bool:
        self.most, self.lines = max(self.most, self.lines), 0
        return super().__call__()

    def count(self, _frame: FrameType, event: str, _arg: object) -> Any:
        self.lines += event == "line"
        return self.count


def lines_without_asking(puzzle: Puzzle, objective: Objective, last: int) -> tuple[int, bool]:
    """The most lines between two askings or after the last, and whether the search was stopped."""
    patience = CountingPatience(last)
    traced = sys.gettrace()
    sys.settrace(patience.count)
    try:
        found = solve(puzzle.rules, puzzle.board, puzzle.rack, objective, stop=patience)
    finally:
        sys.settrace(traced)
    return max(patience.most, patience.lines), not found.proven


@pytest.mark.parametrize("objective", [Objective.TILES, Objective.LEAST_DISRUPTION])
@pytest.mark.parametrize("name", ["free", "pt", "fi", "no"])
def test_little_is_done_without_asking_and_after_the_stop(name: str, objective: Objective) -> None:
    rules = rules_named(name, 4 if name in ("free", "no") else 2)
    puzzles = [(large, adversarial)[seed % 2](random.Random(seed), rules, rack=40) for seed in range(6)]
    puzzles += map(puzzle_of, _HARD if name == "fi" else [_HOPELESS] if name == "free" else [])
    stopped = 0
    for puzzle in puzzles:
        for last in (0, 1, 3, 10, 30, 100, 200):
            solve(puzzle.rules, puzzle.board, puzzle.rack, objective, stop=Patience(last))  # fills the tables
            lines, early = lines_without_asking(puzzle, objective, last)
            assert lines < _MOST_LINES, (puzzle, last)
            stopped += early
    assert stopped > 10


def test_a_search_with_little_patience_lays_something() -> None:
    laid = [
        len(solve(rules_named("free", 2), puzzle.board, puzzle.rack, stop=Patience(0)).laid)
        for puzzle in puzzles_on_file()
        if puzzle.optimal["max_tiles"] > 2
    ]
    assert sum(many > 0 for many in laid) > len(laid) * 3 / 4


def test_a_stopped_opening_is_none() -> None:
    assert solve_opening(rules_named("pt", 2), bytes([10, 11, 12, 13, 20, 21, 22, 0]), 30, stop=lambda: True) is None
