"""Moves in words: the steps lead from board to board, and twenty moves as they are told (`hints.txt`)."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from engine.board import Layout, difference
from engine.faces import codes_of
from engine.positions import layout, parse_board
from engine.rulesets import RULE_SETS, RuleSet
from engine.solver import Objective, Step, sentence, solve, steps_of
from engine.solver.steps import StepKind
from engine.state import MeldKind
from engine.tiles import parse_tiles
from tests.engine.solver.puzzles import adversarial, large, rules_named, small
from tests.engine.solver.puzzles_on_file import OnFile, puzzles_on_file


@dataclass(frozen=True)
class Hint:
    rules: RuleSet
    before: Layout
    rack: bytes
    after: Layout
    sentences: list[str]


def hints() -> list[Hint]:
    found = []
    for text in (Path(__file__).parent / "hints.txt").read_text(encoding="utf-8").split("\n\n"):
        lines = text.strip().splitlines()
        told = dict(line.split(": ", 1) for line in lines if not line.startswith("- "))
        found.append(
            Hint(
                RULE_SETS[told["rules"]],
                layout(parse_board(told["before"])),
                bytes(sorted(codes_of(parse_tiles(told["rack"])))),
                layout(parse_board(told["after"])),
                [line[2:] for line in lines if line.startswith("- ")],
            )
        )
    return found


def laid_between(before: Layout, after: Layout) -> bytes:
    return difference(b"".join(codes for codes, _kind in after), b"".join(codes for codes, _kind in before))


@pytest.mark.parametrize("hint", hints(), ids=lambda hint: " ".join(hint.sentences)[:40])
def test_a_move_is_told_in_these_words(hint: Hint) -> None:
    steps = steps_of(hint.before, hint.after, laid_between(hint.before, hint.after))
    assert [sentence(step) for step in steps] == hint.sentences


def test_twenty_moves_are_told_and_every_kind_of_step_is_among_them() -> None:
    assert len(hints()) == 20
    kinds = {step.kind for hint in hints() for step in steps_of(hint.before, hint.after, laid_between(*boards(hint)))}
    assert kinds >= {StepKind.LAY, StepKind.ADD, StepKind.TAKE, StepKind.MOVE, StepKind.SWAP}


def boards(hint: Hint) -> tuple[Layout, Layout]:
    return hint.before, hint.after


@pytest.mark.parametrize("hint", hints(), ids=lambda hint: " ".join(hint.sentences)[:40])
def test_the_moves_told_are_the_best_ones(hint: Hint) -> None:
    found = solve(hint.rules, hint.before, hint.rack, Objective.LEAST_DISRUPTION)
    assert len(found.laid) == len(laid_between(hint.before, hint.after))


def carried_out(before: Layout, steps: tuple[Step, ...], rack: bytes) -> list[bytes]:
    """What lies on the table after the steps, each done with what lies there then; of equal tiles any one moves."""
    table = [codes for codes, _kind in before]
    left = Counter(rack)

    def take(codes: bytes) -> Counter[int]:
        found = next(other for other in table if sorted(other) == sorted(codes))
        table.remove(found)
        return Counter(found)

    for step in steps:
        moved = Counter(step.tiles)
        within = step.target is not None and len(step.result[0]) == len(step.target[0])
        if step.source is None:
            assert moved <= left
            left -= moved
        elif not within or step.kind is StepKind.SWAP:
            rest = take(step.source[0])
            assert moved <= rest
            table.append(bytes((rest - moved).elements()))
        made = Counter[int]() if step.target is None else take(step.target[0])
        if step.kind is StepKind.SWAP:
            made -= Counter([0])
            table.append(bytes([0]))
        if not within or step.kind is StepKind.SWAP:
            made += moved
        assert made == Counter(step.result[0]), step
        table.append(step.result[0])
    assert not left
    return [codes for codes in table if codes]


def check(before: Layout, after: Layout, laid: bytes) -> set[StepKind]:
    steps = steps_of(before, after, laid)
    assert Counter(bytes(sorted(codes)) for codes in carried_out(before, steps, laid)) == Counter(
        bytes(sorted(codes)) for codes, _kind in after
    )
    results = {step.result[0] for step in steps}
    for codes, kind in after:
        if kind is MeldKind.RUN and any(sorted(codes) == sorted(other) for other in results):
            assert codes in results, "a run lies in order in the end"
    assert all(sentence(step).endswith(".") for step in steps)
    return {step.kind for step in steps}


@pytest.mark.parametrize("name", ["pt", "fi", "no"])
def test_the_steps_make_the_new_board_of_the_old_one(name: str) -> None:
    rules = rules_named(name, 4 if name == "no" else 2)
    kinds = set()
    for seed in range(24):
        for make in (small, large, adversarial):
            puzzle = make(random.Random(seed), rules)
            found = solve(rules, puzzle.board, puzzle.rack, free_jokers=seed % 3 == 0)
            kinds |= check(puzzle.board, found.board, found.laid)
    assert kinds == set(StepKind)


@pytest.mark.parametrize("puzzle", puzzles_on_file(), ids=lambda puzzle: puzzle.name)
def test_the_steps_of_moves_on_file_make_the_new_board(puzzle: OnFile) -> None:
    rules = RULE_SETS["pt"]
    for objective in (Objective.TILES, Objective.LEAST_DISRUPTION):
        found = solve(rules, puzzle.board, puzzle.rack, objective)
        check(puzzle.board, found.board, found.laid)


def test_nothing_to_do_takes_no_step() -> None:
    board = layout(parse_board("R4 R5 R6 | B7 K7 Y7"))
    assert steps_of(board, board, b"") == ()


def test_a_joker_that_changes_ends_of_its_run_moves_in_one_step() -> None:
    before, after = layout(parse_board("R5 R6 R7 J")), layout(parse_board("J R5 R6 R7 R8"))
    told = [sentence(step) for step in steps_of(before, after, laid_between(before, after))]
    assert told == [
        "Move the joker within the run R5 R6 R7 J, so that it reads J R5 R6 R7.",
        "Add R8 from your rack to the run J R5 R6 R7.",
    ]
