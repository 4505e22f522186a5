"""`solve`: the best move of a seat that has opened."""

from __future__ import annotations

from functools import partial

from engine.board import Layout
from engine.faces import JOKER_CODE
from engine.melds import read
from engine.rulesets import JokerMove, RuleSet
from engine.solver.attempt import attempt, laid_nothing, worth_finding
from engine.solver.numbered import solve_numbered
from engine.solver.patience import Patience
from engine.solver.problem import Position, Terms, usable
from engine.solver.replaced import solve_replaced
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

    `board` must be legal and `rack` holds the codes of all its tiles. Nothing can be laid: the board as it is.
    """
    position = Position(tuple([(codes, kind or _kind(codes)) for codes, kind in board]), rack, objective)
    position.tiles = usable(position.tiles, position.tiles[JOKER_CODE])
    if position.tiles == position.lying:
        return laid_nothing(position, proven=True)
    patience = Patience(stop)
    if free_jokers or rules.joker_move is JokerMove.FREE or not position.lying[JOKER_CODE]:
        return _solve_free(position, patience)
    if rules.joker_move is JokerMove.SAME_NUMBER:
        return solve_numbered(rules, position, patience)
    return solve_replaced(rules, position, patience)


def _kind(codes: bytes) -> MeldKind:
    meld = read(codes)
    assert meld is not None, "only a legal board can be solved"
    return meld.kind


def _solve_free(position: Position, patience: Patience) -> Solution:
    terms, limit = Terms(position.tiles[JOKER_CODE]), worth_finding(position)
    build = partial(position.problem, terms)  # with all the tiles that are of use
    best = attempt(position, terms, position.lying[JOKER_CODE], patience, limit, build=build, dive=True)
    proven = not patience.ended
    return laid_nothing(position, proven=proven) if best is None else best.solution(proven=proven)
