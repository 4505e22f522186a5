"""A move of the solver beside what an oracle says, and put through the engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from engine.actions import DeclareRummikub
from engine.errors import IllegalMove
from engine.faces import JOKER_CODE, tiles_of
from engine.legality import Turn, judge_turn
from engine.melds import read
from engine.plays import empties_rack
from engine.positions import ACTOR, tile_position
from engine.rules import apply
from engine.rulesets import JokerMove
from engine.solver import Objective, Solution, play_of, solve, solve_opening
from engine.state import MeldKind
from tests.engine.solver import oracle_flow, oracle_sets
from tests.engine.solver.oracle import TooManyError, joints_kept, most_joints, playable, value_of
from tests.engine.solver.oracle_flow import Weights
from tests.engine.solver.puzzles import Puzzle

WEIGHTS = {
    Objective.TILES: Weights(1, 0),
    Objective.VALUE: Weights(0, 1),
    Objective.TILES_THEN_VALUE: Weights(1024, 1),
    Objective.VALUE_THEN_TILES: Weights(1, 64),
    Objective.LEAST_DISRUPTION: Weights(1, 0),
}


@dataclass(frozen=True, slots=True)
class Difference:
    """What is wrong with the solver's move of a position."""

    puzzle: Puzzle
    objective: Objective
    what: str

    def __str__(self) -> str:
        return f"{self.what}\n  --objective {self.objective.value} --replay '{self.puzzle}'"


def best_by_oracle(puzzle: Puzzle, objective: Objective, *, small: bool, limit_s: float = 3.0) -> int | None:
    """The weight of the best turn, None if no oracle can tell. `small`: by brute force."""
    weights, rules = WEIGHTS[objective], puzzle.rules
    if small:
        try:
            laid = playable(rules, puzzle.board, puzzle.rack)
        except TooManyError:
            return None
        return max(weights.tile * len(codes) + weights.point * value_of(codes) for codes in laid)
    jokers = sum(codes.count(JOKER_CODE) for codes, _kind in puzzle.board)
    if rules.joker_move is JokerMove.REPLACED and jokers:
        if jokers > oracle_sets.MOST_JOKERS:
            return None
        try:
            found = oracle_sets.best_turn(rules, puzzle.board, puzzle.rack, weights, limit_s)
        except TimeoutError:
            return None
    else:
        if not jokers:
            rules = replace(rules, joker_move=JokerMove.FREE)
        found = oracle_flow.best_turn(rules, puzzle.board, puzzle.rack, weights)
    if found is None:
        raise RuntimeError(f"HiGHS finds no turn, not even none: {puzzle}")
    tiles, value = found
    return weights.tile * tiles + weights.point * value


def differences(puzzle: Puzzle, objective: Objective, best: int | None) -> Iterator[Difference]:
    """Everything that is wrong with the solver's answer; `best` is the weight that it must have."""
    solution = solve(puzzle.rules, puzzle.board, puzzle.rack, objective)
    weights = WEIGHTS[objective]
    got = weights.tile * len(solution.laid) + weights.point * value_of(solution.laid)
    wrong = list(faults_of(puzzle, solution))
    if not solution.proven:
        wrong.append("not proven")
    if best is not None and got != best:
        wrong.append(f"the oracle has {best}, the solver {got}")
    for what in wrong:
        yield Difference(puzzle, objective, f"{what}: {solution}")


def disruption(puzzle: Puzzle) -> Iterator[Difference]:
    """Whether a small board without jokers is disturbed more than need be."""
    try:
        most = most_joints(puzzle.rules, puzzle.board, puzzle.rack)
    except TooManyError:
        return
    found = solve(puzzle.rules, puzzle.board, puzzle.rack, Objective.LEAST_DISRUPTION)
    kept = joints_kept(puzzle.board, found.board)
    if kept != most:
        yield Difference(
            puzzle, Objective.LEAST_DISRUPTION, f"{most} joints can stay, the solver keeps {kept}: {found}"
        )


def faults_of(puzzle: Puzzle, solution: Solution) -> Iterator[str]:
    """Why the move is none: by its own words, by the judge on faces, and by `apply` on tile ids."""
    before = Counter(code for codes, _kind in puzzle.board for code in codes)
    after = Counter(code for codes, _kind in solution.board for code in codes)
    if after - before != Counter(solution.laid) or before - after:
        yield "the board is not the old one and what was laid"
    if Counter(solution.laid) - Counter(puzzle.rack) or bytes(sorted(solution.laid)) != solution.laid:
        yield "what was laid is not from the rack, or not in order"
    if solution.value != value_of(solution.laid):
        yield f"the value is {value_of(solution.laid)}"
    if any(kind is None or read(codes, kind) is None for codes, kind in solution.board):
        yield "not all are melds of the kind told"
        return
    if not solution.laid:
        if Counter(solution.board) != Counter(puzzle.board):
            yield "nothing was laid, and yet the board is another"
        return
    turn = Turn(True, puzzle.board, solution.board, solution.laid, exchanges=solution.exchanges)
    for fault in judge_turn(puzzle.rules, turn).faults:
        yield f"{fault.code}: {fault.sentence}"
    position = tile_position(
        puzzle.rules, [(tiles_of(codes), kind) for codes, kind in puzzle.board], tiles_of(puzzle.rack)
    )
    play = play_of(position.state, ACTOR, position.rack, solution)
    try:
        apply(position.state, DeclareRummikub(play) if empties_rack(position.state, play) else play)
    except IllegalMove as refused:
        yield f"as a play: {[fault.code for fault in refused.faults]}"


def opening_differences(puzzle: Puzzle, minimum: int, objective: Objective) -> Iterator[Difference]:
    """Everything that is wrong with the opening that the solver finds on the rack."""
    weights = WEIGHTS[objective]
    best = oracle_flow.best_opening(puzzle.rack, minimum, weights)
    rules = replace(puzzle.rules, opening_min=minimum)
    found = solve_opening(rules, puzzle.rack, minimum, objective)
    if found is None or best is None:
        if found is not None or best is not None:
            yield Difference(puzzle, objective, f"opening with {minimum}: the oracle has {best}, the solver {found}")
        return
    wrong = []
    points = 0
    for codes, kind in found.board:
        meld = read(codes, kind)
        points += 0 if meld is None else meld.points
        if meld is None or (kind is MeldKind.RUN and codes.find(JOKER_CODE) < 0 and bytes(sorted(codes)) != codes):
            wrong.append("not all are melds of the kind told")
    if points != found.value or points < minimum:
        wrong.append(f"the melds are worth {points}")
    if Counter(code for codes, _kind in found.board for code in codes) != Counter(found.laid):
        wrong.append("the melds are not what was laid")
    if judge_turn(rules, Turn(False, puzzle.board, (*puzzle.board, *found.board), found.laid)).faults:
        wrong.append("the judge refuses it")
    got = weights.tile * len(found.laid) + weights.point * points
    if got != weights.tile * best[0] + weights.point * best[1]:
        wrong.append(f"the oracle has {best}, the solver {(len(found.laid), points)}")
    for what in wrong:
        yield Difference(puzzle, objective, f"opening with {minimum}: {what}: {found}")
