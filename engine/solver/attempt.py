"""One search with all that follows: melds out of it, bound jokers in their places, jokers that are left over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress
from operator import gt
from typing import Protocol

from engine.board import Layout
from engine.faces import JOKER_CODE, NUMBERS
from engine.jokers import FaceExchange
from engine.solver.arrange import layout_after
from engine.solver.patience import Patience
from engine.solver.problem import FACES, Position, Terms
from engine.solver.rebuild import MeldDraft, Rebuilt, park, rebuild
from engine.solver.search import BareNode, Problem, path_to, search
from engine.solver.solution import Solution


@dataclass(slots=True)
class Attempt:
    """The cheapest board under some terms, and its cost; not yet judged by the rules about jokers."""

    cost: int
    board: Layout
    laid: bytes
    exchanges: tuple[FaceExchange, ...] = ()

    def solution(self, *, proven: bool) -> Solution:
        value = sum([NUMBERS[code] for code in self.laid])
        return Solution(self.board, self.laid, value, proven, self.exchanges if self.laid else ())


def worth_finding(position: Position) -> int | None:
    """What a move that lays something costs less than; None if jokers could be laid at no gain."""
    return None if position.held[JOKER_CODE] else position.rack_cost


def laid_nothing(position: Position, *, proven: bool) -> Solution:
    """The board as it is."""
    return Solution(position.board, b"", 0, proven)


class Finish:
    """What a joker rule adds to the melds of a search. Here: nothing, all jokers are free."""

    exchanges: tuple[FaceExchange, ...] = ()  # what has to be announced

    def before(self, path: Sequence[BareNode], board: Layout) -> Layout:
        """The old board with bound jokers as the tiles they stand for."""
        return board

    def settle(self, melds: list[MeldDraft]) -> None:
        """Put bound jokers in their places."""

    def park(self, melds: list[MeldDraft], jokers: int) -> int:
        """Put jokers that no meld needs somewhere; how many found no room."""
        return park(melds, jokers)


_FREE = Finish()


class Build(Protocol):
    """Makes a search."""

    def __call__(self, *, spend: bool) -> Problem: ...


def attempt(
    position: Position,
    terms: Terms,
    table_jokers: int,
    patience: Patience,
    bound: int | None = None,
    finish: Finish = _FREE,
    build: Build | None = None,
    *,
    dive: bool = False,
) -> Attempt | None:
    """The cheapest board under `terms` that costs less than `bound`.

    `table_jokers` of the free jokers come from the table and have to be used. `build` makes the search, if it is not
    simply that of the terms, for all jokers placed in it or not. `dive`: see `search`.
    """
    if build is None:
        build = partial(position.narrowed(terms).problem, terms)

    def rebuilt_from(goal: BareNode) -> Rebuilt:
        path = path_to(goal)
        rebuilt = rebuild(path, finish.before(path, position.board))
        finish.settle(rebuilt.melds)
        return rebuilt

    found = search(build(spend=False), patience, bound, dive=dive)
    if found.goal is None:
        return None
    rebuilt, cost = rebuilt_from(found.goal), found.cost
    left = finish.park(rebuilt.melds, terms.jokers - found.goal[2])
    if left and rebuilt.melds and not patience.ended:
        # One joker beside nothing but groups of four: all are used up in the search, or one stays on the rack.
        may_stay = table_jokers < terms.jokers
        limits = [limit for limit in (bound, cost + position.joker_weight if may_stay else None) if limit is not None]
        spent = search(build(spend=True), patience, min(limits, default=None))
        if spent.goal is not None:
            rebuilt, left, cost = rebuilt_from(spent.goal), 0, spent.cost
        elif may_stay and (bound is None or cost + position.joker_weight < bound):
            cost += position.joker_weight
        else:
            return None
    elif left > terms.jokers - table_jokers:
        return None
    laid = bytes(terms.jokers - table_jokers - left) + _laid(rebuilt, position.lying)
    return Attempt(cost, layout_after(rebuilt.melds, position.board), laid, finish.exchanges)


def _laid(rebuilt: Rebuilt, lying: Sequence[int]) -> bytes:
    """The codes of the rack tiles that were laid, jokers aside."""
    used = rebuilt.used
    more = compress(range(FACES), map(gt, used, lying))
    return bytes([code for code in more for _tile in range(used[code] - lying[code])])
