"""Jokers that keep their number, unless they were exchanged (`no`). Source: docs/rules.md, section 2.5.

A joker on the table is one more tile of its number, of any colour, that has to be used. An exchange makes it one more
free joker, and a tile that it stands for has to be laid from the rack. All sets of exchanges are searched, few first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations, combinations_with_replacement, product

from engine.faces import COLOURS_OF_A_DECK, JOKER_CODE
from engine.jokers import FaceExchange
from engine.melds import read
from engine.rulesets import RuleSet
from engine.solver.attempt import Attempt, attempt, laid_nothing
from engine.solver.bound import BoundFinish, Meaning, TableJoker, code_of, table_jokers
from engine.solver.planned import Plan
from engine.solver.problem import Position, Terms
from engine.solver.rebuild import MeldDraft
from engine.solver.search import search
from engine.solver.solution import Solution, Stop
from engine.solver.witnesses import Candidates, Wish, shared_out
from engine.state import MeldKind
from engine.tiles import MAX_NUMBER

_COLOURS = range(COLOURS_OF_A_DECK)


def solve_numbered(rules: RuleSet, position: Position, stop: Stop | None) -> Solution:
    """The best move where jokers on the table keep their numbers."""
    return _Numbered(rules, position, stop).solve()


@dataclass(slots=True)
class _Finish(BoundFinish):
    def settle(self, melds: list[MeldDraft]) -> None:
        self.hide(melds, set())
        for draft in melds:
            if not draft.numbered:
                _lend_a_number(draft, melds)


def _lend_a_number(alone: MeldDraft, melds: Sequence[MeldDraft]) -> None:
    """Have a joker of a meld of jokers alone change places with a tile of its number, if one can be spared."""
    run = alone.kind is MeldKind.RUN
    for place in range(len(alone.codes)):
        face = alone.first + place if run else next(iter(alone.bound.values()))
        number = (face - 1) % MAX_NUMBER + 1
        for other in melds:
            if other.numbered > 1 and not other.fixed:
                for at, code in enumerate(other.codes):
                    if code and (code - 1) % MAX_NUMBER + 1 == number:
                        other.codes[at], alone.codes[place] = JOKER_CODE, code
                        alone.first = code - place if run else 0
                        return


@dataclass(slots=True)
class _Numbered:
    rules: RuleSet
    position: Position
    stop: Stop | None
    jokers: list[TableJoker] = field(init=False)
    best: Attempt | None = None
    proven: bool = True

    def __post_init__(self) -> None:
        self.jokers = table_jokers(self.position.board)

    @property
    def _bound(self) -> int | None:
        return None if self.best is None else self.best.cost

    def solve(self) -> Solution:
        self._try((), ())
        floor = 0
        if self.proven and self._bound:
            found = search(self.position.problem(Terms(self.position.tiles[JOKER_CODE])), self.stop, self._bound)
            self.proven = found.proven
            floor = found.cost if found.goal is not None else self._bound
        tried = set()
        for many in range(1, len(self.jokers) + 1):
            for exchanged in combinations(self.jokers, many):
                for given in product(*(joker.options for joker in exchanged)):
                    same = tuple(sorted((joker.number, face) for joker, face in zip(exchanged, given, strict=True)))
                    if same not in tried and self.proven and self._bound is not None and self._bound > floor:
                        tried.add(same)
                        self._try(exchanged, given)
        if self.best is None:
            return laid_nothing(self.position, proven=self.proven)
        self.best.proven = self.proven
        return self.best.solution()

    def _try(self, exchanged: Sequence[TableJoker], given: Sequence[int]) -> None:
        """Look for something better than the best with these jokers exchanged for these tiles."""
        if any(self.position.held[face] < given.count(face) for face in given):
            return
        kept: dict[int, list[TableJoker]] = {}
        for joker in self.jokers:
            if joker not in exchanged:
                kept.setdefault(joker.number, []).append(joker)
        choices = {number: (jokers, _meanings(number, jokers)) for number, jokers in kept.items()}
        finish = _Finish(self.position.board, choices)
        needed = {face: given.count(face) for face in given}
        terms = Terms(self.position.held[JOKER_CODE] + len(exchanged), finish.ways, needed)
        exchanges = tuple(
            FaceExchange(joker.meld, joker.place, face) for joker, face in zip(exchanged, given, strict=True)
        )
        found = attempt(self.position, terms, len(exchanged), self.stop, self._bound, finish)
        if self._accept(found, exchanges) or not self.proven:
            return
        wishes = [
            Wish(faces=tuple(code_of(colour, joker.number) for colour in _COLOURS))
            for jokers in kept.values()
            for joker in jokers
        ]
        candidates = Candidates(self.position, terms, ())
        for parts in shared_out(wishes):
            plan = Plan(self.position, terms, [candidates.granting(tuple(part)) for part in parts])
            if plan.possible and self.proven:
                found = attempt(self.position, terms, len(exchanged), self.stop, self._bound, finish, plan.problem)
                self._accept(found, exchanges)

    def _accept(self, found: Attempt | bool, exchanges: tuple[FaceExchange, ...]) -> bool:
        """Take a board as the best. False: it holds jokers alone, which are no meld."""
        if not isinstance(found, Attempt):
            self.proven = self.proven and found
            return True
        self.proven = self.proven and found.proven
        if any(read(codes, kind) is None for codes, kind in found.board):
            return False
        found.exchanges = exchanges
        self.best = found
        return True


def _meanings(number: int, jokers: Sequence[TableJoker]) -> list[Meaning]:
    """All ways to give the jokers of a number to colours, each as near to what they were as can be."""
    return [
        _assigned([code_of(colour, number) for colour in colours], jokers)
        for colours in combinations_with_replacement(_COLOURS, len(jokers))
    ]


def _assigned(faces: list[int], jokers: Sequence[TableJoker]) -> Meaning:
    left = list(faces)
    chosen: dict[int, int] = {}
    for index, joker in enumerate(jokers):
        own = next((face for face in left if face in joker.options), None)
        if own is not None:
            chosen[index] = own
            left.remove(own)
    return tuple(chosen[index] if index in chosen else left.pop() for index in range(len(jokers)))
