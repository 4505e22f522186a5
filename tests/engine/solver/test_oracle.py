"""The oracles agree with each other and with what is known, so that the solver may be measured by them."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from engine.board import Layout
from engine.faces import codes_of, text_of
from engine.positions import layout, parse_board
from engine.rulesets import FI, NO, PT, JokerMove, RuleSet
from engine.tiles import parse_tiles
from tests.engine.solver.oracle import TooManyError, boards_of, melds_of, openings, playable, value_of
from tests.engine.solver.puzzles import Puzzle, adversarial, large, puzzle_of, rules_named, small

pytest.importorskip("highspy", reason="HiGHS has no wheel for this kind of machine")

from tests.engine.solver import oracle_flow, oracle_sets
from tests.engine.solver.oracle_flow import Weights, best_opening
from tests.engine.solver.puzzles_on_file import OnFile, puzzles_on_file

FREE = replace(PT, joker_move=JokerMove.FREE)
TILES, VALUE = Weights(1, 0), Weights(0, 1)
WEIGHTS = (TILES, VALUE, Weights(1024, 1), Weights(1, 64))


def best_of(weights: Weights, found: tuple[int, int] | None) -> int:
    assert found is not None
    return weights.tile * found[0] + weights.point * found[1]


def by_brute_force(puzzle: Puzzle, weights: Weights) -> int | None:
    try:
        laid = playable(puzzle.rules, puzzle.board, puzzle.rack, at_most=2_000)
    except TooManyError:
        return None
    return max(best_of(weights, (len(codes), value_of(codes))) for codes in laid)


def test_all_melds_of_a_deck_are_listed_once() -> None:
    for jokers, runs in ((0, 264), (2, 7348)):
        melds = list(melds_of(Counter([*range(1, 53), *([0] * jokers)])))
        assert len(set(melds)) == len(melds)
        assert sum(kind.value == "run" for _codes, kind in melds) == runs


@pytest.mark.parametrize(
    ("rules", "board", "rack", "most"),
    [
        (PT, "R3 R4 J", "R6", "R6"),  # the run grows
        (PT, "R3 R4 J", "B5 K5", ""),  # the joker is R5 and nothing else
        (FREE, "R3 R4 J", "R2 B5 K5", "B5 R2 K5"),
        (PT, "R3 R4 J", "R5 B5 K5", "B5 K5 R5"),  # R5 frees the joker
        (FI, "R3 R4 J", "R5 B5 K5", "B5 K5 R5"),
        (PT, "R3 R4 J", "R5", "R5"),  # and it may stay in its own run
        (FI, "R3 R4 J", "R5", ""),  # not where a whole old meld lies
        (NO, "R3 R4 J", "B5 K5 R5", "B5 K5 R5"),
        (NO, "R3 R4 J R6", "R5 B1 K1", "B1 K1 R5"),  # exchanged: anything
        (NO, "R3 R4 R5 J", "B6 K6", "B6 K6"),  # taken away as a 6
        (NO, "R3 R4 R5 J", "B7 K7", ""),
        (PT, "group: R5 B5 J", "K5", "K5"),  # either missing colour frees it, or it is the other one
        (PT, "R1 R2 R3", "K9", ""),
    ],
)
def test_brute_force_finds_what_a_person_sees(rules: RuleSet, board: str, rack: str, most: str) -> None:
    laid = playable(rules, layout(parse_board(board)), codes_of(parse_tiles(rack)))
    best = max(laid, key=len)
    assert sorted(text_of(best).split()) == sorted(most.split())


def test_brute_force_finds_every_board_of_a_rack_once() -> None:
    boards = boards_of((), codes_of(parse_tiles("R3 R4 R5 R6 B5 K5")))
    found = {text_of(laid): len(layouts) for laid, layouts in boards.items()}
    assert found == {"": 1, "R3 R4 R5": 1, "R4 R5 R6": 1, "R3 R4 R5 R6": 1, "R5 B5 K5": 1}


def test_too_many_boards_are_not_listed() -> None:
    with pytest.raises(TooManyError):
        boards_of((), bytes([*range(1, 53)]), at_most=100)


def test_a_position_survives_its_text() -> None:
    for seed in range(50):
        puzzle = adversarial(random.Random(seed), rules_named("no", 4))
        assert puzzle_of(str(puzzle)) == puzzle


@pytest.mark.parametrize(("name", "jokers"), [("free", 0), ("free", 2), ("free", 4), ("no", 4)])
def test_the_flow_program_agrees_with_brute_force(name: str, jokers: int) -> None:
    told = 0
    for seed in range(32):
        puzzle = small(random.Random(seed), rules_named(name, jokers), board=11, rack=4)
        weights = WEIGHTS[seed % len(WEIGHTS)]
        best = by_brute_force(puzzle, weights)
        if best is not None:
            told += 1
            found = oracle_flow.best_turn(puzzle.rules, puzzle.board, puzzle.rack, weights)
            assert best_of(weights, found) == best, str(puzzle)
    assert told > 20


@pytest.mark.parametrize("name", ["pt", "fi"])
def test_the_set_program_agrees_with_brute_force(name: str) -> None:
    told = 0
    for seed in range(100):
        puzzle = small(random.Random(seed), rules_named(name, 2), board=11, rack=4)
        if not any(0 in codes for codes, _kind in puzzle.board):
            continue
        weights = WEIGHTS[seed % len(WEIGHTS)]
        best = by_brute_force(puzzle, weights)
        if best is not None:
            told += 1
            found = oracle_sets.best_turn(puzzle.rules, puzzle.board, puzzle.rack, weights)
            assert best_of(weights, found) == best, str(puzzle)
    assert told > 30


def test_melds_of_jokers_alone_are_no_melds() -> None:
    rack = codes_of(parse_tiles("J J J"))
    assert oracle_flow.best_turn(rules_named("free", 4), (), rack, TILES) == (0, 0)
    board = layout(parse_board("R5 J J | B5 J K5"))
    rules = rules_named("no", 4)
    assert set(playable(rules, board, b"")) == {b""}
    assert oracle_flow.best_turn(rules, board, codes_of(parse_tiles("R9")), TILES) == (0, 0)


def test_both_forms_of_the_flow_program_agree() -> None:
    for seed in range(10):
        make = (large, adversarial)[seed % 2]
        puzzle = make(random.Random(seed), rules_named("free", 2))
        weights = WEIGHTS[seed % len(WEIGHTS)]
        found = [
            oracle_flow.best_turn(puzzle.rules, puzzle.board, puzzle.rack, weights, careful=careful)
            for careful in (False, True)
        ]
        assert best_of(weights, found[0]) == best_of(weights, found[1]), str(puzzle)


def test_the_flow_program_agrees_with_brute_force_on_openings() -> None:
    for seed in range(100):
        rack = small(random.Random(seed), rules_named("free", 4), board=5, rack=8).rack
        weights, minimum = WEIGHTS[seed % len(WEIGHTS)], (1, 10, 20, 30)[seed // 4 % 4]
        able = [best_of(weights, each) for each in openings(rack) if each[1] >= minimum]
        found = best_opening(rack, minimum, weights)
        assert (None if found is None else best_of(weights, found)) == max(able, default=None), text_of(rack)


on_file = pytest.mark.parametrize("puzzle", puzzles_on_file()[::3], ids=lambda puzzle: puzzle.name)


@on_file
def test_the_flow_program_finds_the_known_optima(puzzle: OnFile) -> None:
    def best(weights: Weights) -> tuple[int, int] | None:
        return oracle_flow.best_turn(FREE, puzzle.board, puzzle.rack, weights)

    known = puzzle.optimal
    assert best_of(TILES, best(TILES)) == known["max_tiles"]
    assert best_of(VALUE, best(VALUE)) == known["max_value_joker0"]
    assert best(Weights(1024, 1)) == (known["max_tiles"], known["value_at_max_tiles_joker0"])
    opening = best_opening(puzzle.rack, 1, VALUE)
    assert (0 if opening is None else opening[1]) == known["initial_meld_max_value"]
    most = best_opening(puzzle.rack, 30, TILES)
    assert (0 if most is None else most[0]) == known["initial_meld_max_tiles"]


@pytest.mark.parametrize("name", ["p09", "p10", "p21", "p22"])
def test_the_set_program_finds_the_known_optima_of_locked_jokers(name: str) -> None:
    puzzle = next(each for each in puzzles_on_file() if each.name == name)
    found = oracle_sets.best_turn(PT, puzzle.board, puzzle.rack, TILES)
    assert best_of(TILES, found) == puzzle.optimal["max_tiles_locked"] < puzzle.optimal["max_tiles"]


def test_the_set_program_says_what_it_cannot_do() -> None:
    board: Layout = layout(parse_board("R5 J R7 | B5 J B7 | K5 J K7"))
    for rules in (replace(PT, jokers=4), NO):
        with pytest.raises(ValueError, match="not for the set program"):
            oracle_sets.best_turn(rules, board, b"\1", TILES)
