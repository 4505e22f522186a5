"""Jokers that keep their number, unless they were exchanged (`no`). Source: docs/rules.md, section 2.5.

A joker on the table is one more tile of its number, of any colour, that has to be used. An exchange makes it one more
free joker, and a tile that it stands for has to be laid from the rack.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement, product

from engine.faces import COLOURS_OF_A_DECK, JOKER_CODE
from engine.jokers import FaceExchange
from engine.melds import read
from engine.rulesets import RuleSet
from engine.solver.attempt import Attempt, attempt
from engine.solver.bound import BoundFinish, Meaning, TableJoker, code_of
from engine.solver.choices import Choices
from engine.solver.patience import Patience
from engine.solver.problem import Position, Terms
from engine.solver.rebuild import MeldDraft
from engine.solver.solution import Solution
from engine.solver.witnesses import Candidates, Wish, shared_out
from engine.state import MeldKind
from engine.tiles import MAX_NUMBER

_COLOURS = range(COLOURS_OF_A_DECK)


def solve_numbered(rules: RuleSet, position: Position, patience: Patience) -> Solution:
    """The best move where jokers on the table keep their numbers."""
    return _Numbered(rules, position, patience).solve()


@dataclass
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


class _Numbered(Choices):
    def may_go(self, joker: TableJoker) -> bool:
        return any(self.position.held[face] for face in joker.options)

    def meanings(self, number: int, jokers: Sequence[TableJoker]) -> list[Meaning]:
        return _meanings(number, tuple(joker.options for joker in jokers))

    def search_with(self, free: Sequence[TableJoker]) -> None:
        for given in product(*(joker.options for joker in free)):
            if not self.patience.ended:
                self._exchange(free, given)

    def _exchange(self, exchanged: Sequence[TableJoker], given: Sequence[int]) -> None:
        """Look for something better than the best with these jokers exchanged for these tiles."""
        if any(self.position.held[face] < given.count(face) for face in given):
            return
        kept = self.kept_without(exchanged)
        choices = {number: (jokers, self.meanings(number, jokers)) for number, jokers in kept.items()}
        exchanges = tuple(
            FaceExchange(joker.meld, joker.place, face) for joker, face in zip(exchanged, given, strict=True)
        )
        finish = _Finish(self.position.board, choices, exchanges=exchanges)
        needed = {face: given.count(face) for face in given}
        terms = Terms(self.position.held[JOKER_CODE] + len(exchanged), finish.ways, needed)
        found = attempt(self.position, terms, len(exchanged), self.patience, self.bound, finish, dive=self.best is None)
        if self.judged(found) is None:
            return
        wishes = [
            Wish(faces=tuple(code_of(colour, joker.number) for colour in _COLOURS))
            for jokers in kept.values()
            for joker in jokers
        ]
        candidates = Candidates(self.position, terms, (), self.patience)
        for parts in shared_out(wishes):
            if self.patience.ends():
                return
            demands = [candidates.granting(tuple(part)) for part in parts]
            self.search_plan(terms, demands, len(exchanged), finish)

    def is_legal(self, found: Attempt) -> bool:
        return all(read(codes, kind) is not None for codes, kind in found.board)


@lru_cache(maxsize=1 << 12)
def _meanings(number: int, options: tuple[tuple[int, ...], ...]) -> list[Meaning]:
    """All ways to give jokers to colours, each as near to their options, what they were, as can be."""
    return [
        _assigned([code_of(colour, number) for colour in colours], options)
        for colours in combinations_with_replacement(_COLOURS, len(options))
    ]


def _assigned(faces: list[int], options: Sequence[tuple[int, ...]]) -> Meaning:
    left = list(faces)
    chosen: dict[int, int] = {}
    for index, known in enumerate(options):
        own = next((face for face in left if face in known), None)
        if own is not None:
            chosen[index] = own
            left.remove(own)
    return tuple(chosen[index] if index in chosen else left.pop() for index in range(len(options)))
