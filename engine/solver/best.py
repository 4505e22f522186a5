"""`solve`: the best move of a seat that has opened."""

from __future__ import annotations

from collections.abc import Sequence

from engine.board import Layout, read_layout
from engine.faces import JOKER_CODE, NUMBERS
from engine.rulesets import RuleSet
from engine.solver.problem import FACES, counts, problem_of, usable, weights_of
from engine.solver.rebuild import Melds, layout_after, park, rebuild
from engine.solver.search import search
from engine.solver.solution import Objective, Solution, Stop
from engine.state import MeldKind


def solve(
    rules: RuleSet,
    board: Layout,
    rack: bytes,
    objective: Objective = Objective.TILES,
    *,
    free_jokers: bool = False,
    stop: Stop | None = None,
) -> Solution:
    """The best move of a seat that has opened, under the joker rule of `rules` (`free_jokers`: under none).

    `board` must be legal and `rack` its codes; jokers of a meld that can be read in two ways need its kind.
    """
    board = tuple((codes, kind or _kind(codes)) for codes, kind in board)
    return _solve_free(board, rack, objective, stop)


def _kind(codes: bytes) -> MeldKind:
    (meld,) = read_layout(((codes, None),))
    assert meld is not None, "only a legal board can be solved"
    return meld.kind


def _solve_free(board: Layout, rack: bytes, objective: Objective, stop: Stop | None) -> Solution:
    lying = counts(b"".join(codes for codes, _kind in board))
    held = counts(rack)
    tiles = [one + other for one, other in zip(lying, held, strict=True)]
    jokers = tiles[JOKER_CODE]
    tiles = usable(tiles, jokers)
    if tiles == lying:
        return Solution(board, b"", 0, proven=True)
    weight = weights_of(objective)[JOKER_CODE]
    problem = problem_of(tiles, lying, jokers, weights_of(objective))
    found = search(problem, stop)
    if found.node is None:
        return Solution(board, b"", 0, found.proven)
    melds = rebuild(problem, found.node, board)
    left = park(melds, jokers - found.node.jokers)
    if left and (melds.runs or melds.groups):
        assert left == 1
        spending = problem_of(tiles, lying, jokers, weights_of(objective), spend=True)
        if held[JOKER_CODE]:
            spending.bound = found.cost + weight
        other = search(spending, stop)
        if other.node is not None:
            melds, left = rebuild(spending, other.node, board), 0
            left = park(melds, 0)
        else:
            assert other.proven or held[JOKER_CODE]
        if not other.proven:
            return Solution(board, b"", 0, False)
    return solution_of(board, melds, lying, jokers - left - lying[JOKER_CODE], proven=found.proven)


def solution_of(board: Layout, melds: Melds, lying: Sequence[int], laid_jokers: int, *, proven: bool) -> Solution:
    """The melds as an answer."""
    laid = bytes(laid_jokers) + bytes(
        code for code in range(1, FACES) for _tile in range(melds.used.get(code, 0) - lying[code])
    )
    if not laid:
        return Solution(board, b"", 0, proven)
    return Solution(layout_after(melds, board), laid, sum(NUMBERS[code] for code in laid), proven)
