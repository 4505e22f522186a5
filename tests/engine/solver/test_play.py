"""Solutions as plays on tile ids: the engine takes each of them, under every joker rule."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from engine.actions import DeclareRummikub
from engine.board import layout_of, tiles_on
from engine.faces import codes_of, deck_codes, tiles_of
from engine.melds import read
from engine.plays import empties_rack
from engine.positions import ACTOR, Position, Said, parse_board, tile_position
from engine.rules import apply, faults
from engine.rulesets import FI, NO, PT, RULE_SETS, JokerMove, RuleSet
from engine.solver import Objective, play_of, solve, solve_opening
from engine.tiles import parse_tiles
from tests.engine.solver.puzzles import adversarial, large, rules_named, small
from tests.engine.solver.puzzles_on_file import OnFile, puzzles_on_file


def position_of(rules: RuleSet, board: str, rack: str, *, opened: bool = True) -> Position:
    return tile_position(rules, parse_board(board), parse_tiles(rack), opened=opened)


def on_faces(position: Position) -> tuple[tuple[bytes, object], ...]:
    return layout_of(position.state.board, deck_codes("tiles", position.state.rules.jokers))


def rack_of(position: Position) -> bytes:
    return codes_of(position.state.faces[tile] for tile in position.rack.values())


@pytest.mark.parametrize("name", ["pt", "fi", "no"])
@pytest.mark.parametrize("objective", list(Objective))
def test_the_engine_takes_every_solution(name: str, objective: Objective) -> None:
    rules = rules_named(name, 4 if name == "no" else 2)
    taken = 0
    for seed in range(8):
        for make in (small, large, adversarial):
            puzzle = make(random.Random(seed), rules)
            said: list[Said] = [(tiles_of(codes), kind) for codes, kind in puzzle.board]
            position = tile_position(rules, said, tiles_of(puzzle.rack))
            found = solve(rules, puzzle.board, puzzle.rack, objective)
            if found.laid:
                play = play_of(position.state, ACTOR, position.rack, found)
                assert faults(position.state, play) == (), str(puzzle)
                wins = empties_rack(position.state, play)
                apply(position.state, DeclareRummikub(play) if wins else play)
                taken += 1
    assert taken > 8


@pytest.mark.parametrize("puzzle", puzzles_on_file(), ids=lambda puzzle: puzzle.name)
def test_the_most_tiles_on_file_are_laid_in_a_legal_play(puzzle: OnFile) -> None:
    said: list[Said] = [(tiles_of(codes), kind) for codes, kind in puzzle.board]
    for rules, most in ((PT, "max_tiles_locked"), (replace(PT, joker_move=JokerMove.FREE), "max_tiles")):
        position = tile_position(rules, said, tiles_of(puzzle.rack))
        found = solve(rules, puzzle.board, puzzle.rack)
        assert len(found.laid) == puzzle.optimal[most]
        if found.laid:
            assert faults(position.state, play_of(position.state, ACTOR, position.rack, found)) == ()


def test_melds_that_stay_keep_their_place_and_their_tiles() -> None:
    position = position_of(PT, "R5 R6 R7 R8 | K1 K2 K3 | R5 B5 K5", "B8 K8")
    found = solve(PT, layout_of(position.state.board, deck_codes("tiles", 2)), rack_of(position))
    play = play_of(position.state, ACTOR, position.rack, found)
    assert play.board[:2] == position.state.board[1:]
    assert set(tiles_on(play.board)) == {*tiles_on(position.state.board), *position.rack.values()}


def test_nothing_to_lay_leaves_the_board_as_it_is() -> None:
    position = position_of(PT, "R1 R2 R3 R4 R5 R6", "B9 K1")
    board = layout_of(position.state.board, deck_codes("tiles", 2))
    found = solve(PT, board, rack_of(position))
    assert (found.board, found.laid, found.proven) == (board, b"", True)


def test_an_opening_is_laid_beside_the_table() -> None:
    position = position_of(PT, "R4 R5 R6", "K10 B10 R10 R7", opened=False)
    found = solve_opening(PT, rack_of(position), 30)
    assert found is not None
    play = play_of(position.state, ACTOR, position.rack, found)
    assert play.board[0] == position.state.board[0]
    assert faults(position.state, play) == ()


def test_a_first_turn_that_also_rearranges_says_what_its_opening_was() -> None:
    position = position_of(PT, "R4 R5 R6 R7 R8 R9", "K11 K12 K13 R7 R6", opened=False)
    found = solve(PT, layout_of(position.state.board, deck_codes("tiles", 2)), rack_of(position))
    play = play_of(position.state, ACTOR, position.rack, found)
    assert len(play.laid) == 5
    assert faults(position.state, play) == ()


def test_an_exchange_of_a_joker_is_announced() -> None:
    position = position_of(NO, "R7 B7 J", "Y7 K1 K2")
    found = solve(NO, layout_of(position.state.board, deck_codes("tiles", 4)), rack_of(position))
    assert [(exchange.meld, exchange.position) for exchange in found.exchanges] == [(0, 2)]
    assert faults(position.state, play_of(position.state, ACTOR, position.rack, found)) == ()


@pytest.mark.parametrize(
    ("rules", "board", "rack", "laid"),
    [
        # a joker is freed by its tile, and goes anywhere; in `fi` only where no old meld lies complete
        (PT, "J R6 R7", "R5 K1", 1),
        (FI, "J R6 R7", "R5 K1", 0),
        (FI, "R3 R4 J R6", "R5 K5 K6", 3),
        (PT, "R4 R5 R6 J", "Y9 B9", 0),
        (NO, "R4 R5 R6 J", "K8 K9", 2),
        (NO, "R4 R5 R6 J", "K9 K10", 0),
        # the twin of a meld lies beside it, so the other one may take the joker
        (FI, "R3 R4 J R6 | B1 B2 B3", "R5 B1 B2 B3", 4),
        # two jokers of one group are freed by two tiles, not by one
        (PT, "R13 J J", "B13 K1 K2", 3),
        (PT, "group: R5 J J | K1 K2 K3", "B5 K7 K8 Y8 Y9", 3),
        (PT, "group: R5 J J | K1 K2 K3", "B5 Y5 K7 K8 Y8 Y9", 6),
    ],
)
def test_how_many_tiles_a_joker_rule_allows(rules: RuleSet, board: str, rack: str, laid: int) -> None:
    position = position_of(rules, board, rack)
    found = solve(rules, layout_of(position.state.board, deck_codes("tiles", rules.jokers)), rack_of(position))
    assert len(found.laid) == laid
    if laid:
        assert faults(position.state, play_of(position.state, ACTOR, position.rack, found)) == ()


def test_openings_are_worth_what_they_say() -> None:
    worth = []
    for seed in range(15):
        for name in ("pt", "no"):
            rules = RULE_SETS[name]
            puzzle = large(random.Random(seed), rules)
            found = solve_opening(rules, puzzle.rack, rules.opening_min)
            if found is not None:
                points = [meld.points for codes, kind in found.board if (meld := read(codes, kind)) is not None]
                assert sum(points) == found.value >= rules.opening_min
                worth.append(found.value)
    assert worth
