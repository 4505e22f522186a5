"""One search with all that follows: melds out of it, bound jokers in their places, jokers that are left over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from engine.board import Layout
from engine.faces import JOKER_CODE, NUMBERS
from engine.jokers import FaceExchange
from engine.solver.arrange import layout_after
from engine.solver.problem import FACES, Position, Terms
from engine.solver.rebuild import MeldDraft, Rebuilt, park, rebuild
from engine.solver.search import Node, search
from engine.solver.solution import Solution, Stop


@dataclass(slots=True)
class Attempt:
    """The cheapest board under some terms, and its cost; not yet judged by the rules about jokers."""

    position: Position
    cost: int
    board: Layout
    laid: bytes
    proven: bool
    exchanges: tuple[FaceExchange, ...] = field(default=())

    def solution(self) -> Solution:
        if not self.laid:
            return laid_nothing(self.position, proven=self.proven)
        value = sum(NUMBERS[code] for code in self.laid)
        return Solution(self.board, self.laid, value, self.proven, self.exchanges)


def laid_nothing(position: Position, *, proven: bool = True) -> Solution:
    """The board as it is."""
    return Solution(position.board, b"", 0, proven)


class Finish:
    """What a joker rule adds to a search: see `locked`. Here: all jokers are free."""

    def before(self, position: Position, goal: Node) -> Layout:
        """The board with bound jokers as the tiles they stand for."""
        return position.board

    def settle(self, rebuilt: Rebuilt) -> None:
        """Put bound jokers in their places."""

    def park(self, melds: list[MeldDraft], jokers: int) -> int:
        """Put jokers that no meld needs somewhere; how many found no room."""
        return park(melds, jokers)


def try_terms(
    position: Position,
    terms: Terms,
    table_jokers: int,
    stop: Stop | None,
    bound: int | None = None,
    finish: Finish | None = None,
) -> Attempt | bool:
    """The cheapest board under `terms` that costs less than `bound`.

    `table_jokers` of the free jokers come from the table and have to be used. No board: whether that is proven.
    """
    finish = finish or Finish()
    found = search(position.problem(terms), stop, bound)
    if found.node is None:
        return found.proven
    rebuilt = rebuild(found.node, finish.before(position, found.node))
    finish.settle(rebuilt)
    left = finish.park(rebuilt.melds, terms.jokers - found.node.jokers)
    cost, proven = found.cost, found.proven
    if left and rebuilt.melds:
        # Only a joker alone beside groups of four finds no room: use it up in the search, or leave it on the rack.
        alternative = cost + position.joker_weight if table_jokers < terms.jokers else bound
        spent = search(position.problem(terms, spend=True), stop, alternative)
        proven = proven and spent.proven
        if spent.node is not None:
            rebuilt = rebuild(spent.node, finish.before(position, spent.node))
            finish.settle(rebuilt)
            left, cost = 0, spent.cost
        elif table_jokers < terms.jokers:
            cost += position.joker_weight
            if bound is not None and cost >= bound:
                return proven
        else:
            return proven
    laid = bytes(terms.jokers - table_jokers - left) + bytes(_laid(rebuilt, position.lying))
    return Attempt(position, cost, layout_after(rebuilt.melds, position.board), laid, proven)


def _laid(rebuilt: Rebuilt, lying: Sequence[int]) -> Iterable[int]:
    """The codes of the rack tiles that were laid, jokers aside."""
    bound: dict[int, int] = {}
    for number, stage in enumerate(rebuilt.stages, 1):
        for colour, many in enumerate(stage.stand_ins):
            bound[13 * colour + number] = many
    for code in range(1, FACES):
        yield from [code] * (rebuilt.used.get(code, 0) - bound.get(code, 0) - lying[code])
