"""The solver finds the best move: against oracles that share nothing with it, and on positions with known optima."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from engine.rulesets import PT, JokerMove
from engine.solver import Objective, solve, solve_opening
from tests.engine.solver.oracle import TooManyError, joints_kept, most_joints, value_of
from tests.engine.solver.puzzles import adversarial, large, puzzle_of, rules_named, small
from tests.engine.solver.puzzles_on_file import OnFile, puzzles_on_file

pytest.importorskip("highspy", reason="HiGHS has no wheel for this kind of machine")

from tests.engine.solver.campaign import GAMES, tried
from tests.engine.solver.compare import best_by_oracle, differences

FREE = replace(PT, joker_move=JokerMove.FREE)
EVERY_OBJECTIVE = list(Objective)


@pytest.mark.parametrize("start", range(6), ids=lambda start: f"{GAMES[start][0]}-{GAMES[start][1]}")
def test_no_move_is_better_than_the_one_found(start: int) -> None:
    for seed in range(start, 15 * len(GAMES), len(GAMES)):
        assert tried(seed).differences == ()


@pytest.mark.parametrize("name", ["pt", "fi", "no"])
@pytest.mark.parametrize("objective", [Objective.TILES, Objective.VALUE])
def test_no_move_is_better_with_four_jokers_on_the_board(name: str, objective: Objective) -> None:
    told = 0
    for seed in range(40):
        puzzle = small(random.Random(seed), rules_named(name, 4), board=11, rack=3)
        if sum(codes.count(0) for codes, _kind in puzzle.board) > 2:
            best = best_by_oracle(puzzle, objective, small=True)
            told += best is not None
            assert list(differences(puzzle, objective, best)) == []
    assert told


@pytest.mark.parametrize("puzzle", puzzles_on_file(), ids=lambda puzzle: puzzle.name)
def test_the_known_optima_are_found(puzzle: OnFile) -> None:
    known = puzzle.optimal
    by_objective = {each: solve(PT, puzzle.board, puzzle.rack, each, free_jokers=True) for each in Objective}
    assert all(found.proven and found.value == value_of(found.laid) for found in by_objective.values())
    most = {
        Objective.TILES,
        Objective.TILES_THEN_VALUE,
        Objective.LEAST_DISRUPTION,
    }
    assert {len(by_objective[each].laid) for each in most} == {known["max_tiles"]}
    assert by_objective[Objective.TILES_THEN_VALUE].value == known["value_at_max_tiles_joker0"]
    assert by_objective[Objective.VALUE].value == known["max_value_joker0"]
    assert by_objective[Objective.VALUE_THEN_TILES].value == known["max_value_joker0"]
    assert len(solve(PT, puzzle.board, puzzle.rack).laid) == known["max_tiles_locked"]


@pytest.mark.parametrize("puzzle", puzzles_on_file(), ids=lambda puzzle: puzzle.name)
def test_the_known_openings_are_found(puzzle: OnFile) -> None:
    dearest = solve_opening(PT, puzzle.rack, 1, Objective.VALUE)
    assert (0 if dearest is None else dearest.value) == puzzle.optimal["initial_meld_max_value"]
    most = solve_opening(PT, puzzle.rack, 30, Objective.TILES)
    assert (0 if most is None else len(most.laid)) == puzzle.optimal["initial_meld_max_tiles"]


def test_no_move_of_as_many_tiles_disturbs_the_board_less() -> None:
    told = 0
    for seed in range(160):
        puzzle = small(random.Random(seed), rules_named("free", 0), board=15)
        try:
            most = most_joints(puzzle.rules, puzzle.board, puzzle.rack, at_most=300)
        except TooManyError:
            continue
        told += 1
        found = solve(puzzle.rules, puzzle.board, puzzle.rack, Objective.LEAST_DISRUPTION)
        assert joints_kept(puzzle.board, found.board) == most, str(puzzle)
    assert told > 120


@pytest.mark.parametrize(
    "text",
    [
        "free-0 / run: K5 K6 K7 K8 K9 | run: B6 B7 B8 B9 B10 | run: K8 K9 K10 / B5 K10",
        "free-0 / run: Y11 Y12 Y13 | run: Y9 Y10 Y11 Y12 Y13 / K12 K13 Y8",
        "free-0 / run: Y7 Y8 Y9 Y10 Y11 | run: Y7 Y8 Y9 | run: Y10 Y11 Y12 | run: B7 B8 B9 B10 / B11 Y12",
        "free-0 / run: B7 B8 B9 B10 B11 | run: B6 B7 B8 | group: B9 K9 Y9 / B6 K12 Y7",
        "free-0 / run: K4 K5 K6 | run: B1 B2 B3 B4 | run: K5 K6 K7 K8 | run: B1 B2 B3 / B5 B6 K3 K8",
    ],
)
def test_a_long_run_is_not_cut_where_it_may_stay(text: str) -> None:
    puzzle = puzzle_of(text)
    found = solve(puzzle.rules, puzzle.board, puzzle.rack, Objective.LEAST_DISRUPTION)
    assert joints_kept(puzzle.board, found.board) == most_joints(puzzle.rules, puzzle.board, puzzle.rack)


def test_free_jokers_are_those_of_a_rule_set_without_a_rule_for_them() -> None:
    for seed in range(20):
        for make in (large, adversarial):
            puzzle = make(random.Random(seed), rules_named("pt", 2))
            one = solve(puzzle.rules, puzzle.board, puzzle.rack, Objective.TILES_THEN_VALUE, free_jokers=True)
            other = solve(FREE, puzzle.board, puzzle.rack, Objective.TILES_THEN_VALUE)
            assert (len(one.laid), one.value) == (len(other.laid), other.value), str(puzzle)
