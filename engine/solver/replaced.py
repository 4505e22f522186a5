"""Jokers that give way only to the tile they stand for (`pt`, `fi`). Source: docs/rules.md, section 2.4.

Each joker on the table is *kept*, one more tile of its face that has to be used, or *freed*, one more free joker for
which a real tile has to lie in one meld with a numbered tile of its old meld (its *witness*).

What a freed joker asks for is first put to the search as far as it goes without following single melds: a run has to
pass between the tile and the nearest numbered tile of the old meld. That can be too little (two jokers with one
witness, jokers side by side) and says nothing of where a freed joker may go in `fi`. So the rules judge each answer,
and only if they refuse it, the melds in question are asked for one by one (`witnesses`). Where there is a choice of
witnesses, a search that asks for none goes first: it may find that no other is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from engine.board import Layout, fits
from engine.faces import COLOUR_INDEXES, JOKER_CODE, NUMBERS
from engine.jokers import joker_faults
from engine.melds import read
from engine.rulesets import FreedJokerPlace, RuleSet
from engine.solver.attempt import Attempt, Finish, attempt
from engine.solver.bound import BoundFinish, Meaning, Protected, TableJoker, meanings
from engine.solver.choices import Choices
from engine.solver.groups import Together
from engine.solver.patience import Patience
from engine.solver.problem import Position, Terms
from engine.solver.rebuild import MeldDraft, park
from engine.solver.solution import Solution
from engine.solver.witnesses import Candidates, Wish, Witness, shared_out
from engine.state import MeldKind

_FEW = 2  # so many jokers make no meld by themselves


def solve_replaced(rules: RuleSet, position: Position, patience: Patience) -> Solution:
    """The best move where jokers on the table are locked."""
    return _Replaced(rules, position, patience).solve()


@dataclass
class _Finish(BoundFinish):
    """Bound jokers, and real tiles where a freed joker needs its witness."""

    witnesses: Sequence[Witness] = ()
    new_set: bool = False

    def settle(self, melds: list[MeldDraft]) -> None:
        protected: Protected = set()
        for witness in self.witnesses:
            _secure(melds, witness, protected)
        self.hide(melds, protected)

    def park(self, melds: list[MeldDraft], jokers: int) -> int:
        if self.new_set:
            jokers = park(melds, jokers, lambda draft: self._would_be_new(draft, melds))
        return park(melds, jokers)

    def _would_be_new(self, draft: MeldDraft, melds: Sequence[MeldDraft]) -> bool:
        longer = bytes([*draft.codes, JOKER_CODE])
        inside = [codes for codes, _kind in self.board if fits(codes, longer)]
        others = [bytes(other.codes) for other in melds if other is not draft]
        return all(sum(fits(codes, other) for other in others) >= _copies(codes, self.board) for codes in inside)


def _copies(codes: bytes, board: Layout) -> int:
    """How many melds of the board have these very faces."""
    return sum(sorted(codes) == sorted(other) for other, _kind in board)


def _secure(melds: Sequence[MeldDraft], witness: Witness, protected: Protected) -> None:
    """Have real tiles lie where the witness needs them, if a free joker lies there and the tile elsewhere."""
    for draft in melds:
        place = draft.place_of(witness.face)
        besides = [draft.place_of(beside) for beside in witness.besides]
        beside = next((at for at in besides if at is not None), None)
        if place is None or beside is None or (id(draft), place) in protected:
            continue
        if all(draft.codes[at] or _swap_in(melds, draft, at, protected) for at in (place, beside)):
            protected |= {(id(draft), place), (id(draft), beside)}
            return


def _swap_in(melds: Sequence[MeldDraft], draft: MeldDraft, place: int, protected: Protected) -> bool:
    code = draft.first + place
    for other in melds:
        if code in other.codes and other is not draft and not other.fixed:
            at = other.codes.index(code)
            if (id(other), at) not in protected:
                other.codes[at], draft.codes[place] = JOKER_CODE, code
                return True
    return False


class _Replaced(Choices):
    def __init__(self, rules: RuleSet, position: Position, patience: Patience) -> None:
        super().__init__(rules, position, patience)
        self._new_set = rules.freed_joker_place is FreedJokerPlace.NEW_SET
        self._before = [read(codes, kind) for codes, kind in position.board]
        self._candidates: dict[object, Candidates] = {}

    def may_go(self, joker: TableJoker) -> bool:
        return any(self.position.tiles[face] for face in joker.options)

    def meanings(self, number: int, jokers: Sequence[TableJoker]) -> list[Meaning]:
        return meanings(jokers)

    def search_with(self, free: Sequence[TableJoker]) -> None:
        ways = list(_unlike(self._nearest(joker) for joker in free))
        floor = None
        if len(ways) > 1:
            unasked = self._attempt_unasked(free)
            if unasked is None:
                return
            floor = unasked.cost
        for witnesses in ways:
            refused = None if self.reached(floor or 0) else self._attempt(free, witnesses)
            if refused is not None:
                self._insist(free, refused, refused.cost if floor is None else floor)
                return

    def _attempt_unasked(self, freed: Sequence[TableJoker]) -> Attempt | None:
        """One search in which no witness is asked for; its answer, if the rules refuse it."""
        kept = self.kept_without(freed)
        choices = {number: (jokers, meanings(jokers)) for number, jokers in kept.items()}
        finish = _Finish(self.position.board, choices, new_set=self._new_set)
        return self._searched(Terms(self.position.held[JOKER_CODE] + len(freed), finish.ways), len(freed), finish)

    def _attempt(self, freed: Sequence[TableJoker], witnesses: Sequence[Witness]) -> Attempt | None:
        """One search; its answer, if the rules refuse it."""
        finish, needed = self._finish(freed, witnesses), self._needed(witnesses)
        if finish is None or needed is None:
            return None
        together: dict[int, Together] = {}
        for witness in witnesses:
            if witness.kind is MeldKind.GROUP:
                beside = sum(1 << COLOUR_INDEXES[beside] for beside in witness.besides)
                number = NUMBERS[witness.face]
                together[number] = (*together.get(number, ()), (COLOUR_INDEXES[witness.face], beside))
        few = self.position.tiles[JOKER_CODE] <= _FEW
        terms = Terms(
            self.position.held[JOKER_CODE] + len(freed),
            finish.ways,
            needed,
            frozenset(face for witness in witnesses for face in witness.passed),
            frozenset(face for witness in witnesses for face in witness.shown if few or face == witness.face),
            together,
        )
        return self._searched(terms, len(freed), finish)

    def _searched(self, terms: Terms, freed: int, finish: Finish) -> Attempt | None:
        found = attempt(self.position, terms, freed, self.patience, self.bound, finish, dive=self.best is None)
        return self.judged(found)

    def is_legal(self, found: Attempt) -> bool:
        after = [read(codes, kind) for codes, kind in found.board]
        return None not in after and not joker_faults(self.rules, self._before, after, found.laid, ())

    def _finish(self, freed: Sequence[TableJoker], witnesses: Sequence[Witness]) -> _Finish | None:
        """How the kept jokers go with it; None if what they stand for is taken."""
        barred = [(joker.meld, witness.face) for joker, witness in zip(freed, witnesses, strict=True)]
        if len(set(barred)) < len(barred):
            return None
        choices = {number: (jokers, meanings(jokers, barred)) for number, jokers in self.kept_without(freed).items()}
        if not all(found for _jokers, found in choices.values()):
            return None
        return _Finish(self.position.board, choices, witnesses=witnesses, new_set=self._new_set)

    def _needed(self, witnesses: Sequence[Witness]) -> dict[int, int] | None:
        """The tiles to be laid so that each witness has its own; None if there are not so many."""
        faces = [witness.face for witness in witnesses]
        if any(self.position.tiles[face] < faces.count(face) for face in faces):
            return None
        return {face: max(0, faces.count(face) - self.position.lying[face]) for face in faces}

    def _nearest(self, joker: TableJoker) -> list[Witness]:
        """The least that the search may be asked for: the nearest tiles of a run, any tile of a group."""
        if joker.kind is MeldKind.GROUP:
            return [
                Witness(joker.meld, joker.kind, face, tuple(joker.numbered))
                for face in joker.options
                if self.position.tiles[face]
            ]
        (face,) = joker.options
        lower = [code for code in joker.numbered if code < face]
        higher = [code for code in joker.numbered if code > face]
        nearest = [*lower[-1:], *higher[:1]] if self.position.tiles[face] else []
        return [Witness(joker.meld, joker.kind, face, (beside,)) for beside in nearest]

    def _every(self, joker: TableJoker) -> list[Witness]:
        """All witnesses of one tile beside."""
        return [
            Witness(joker.meld, joker.kind, face, (beside,))
            for face in joker.options
            if self.position.tiles[face]
            for beside in joker.numbered
        ]

    def _insist(self, freed: Sequence[TableJoker], refused: Attempt, floor: int) -> None:
        """Look for something better than the best, with all that matters asked for meld by meld."""
        kept = [joker for joker in self.jokers if joker not in freed]
        while True:
            holding = [Wish(faces=joker.options) for joker in kept] if _has_none(refused.board) else []
            again = None
            for witnesses in _unlike(self._every(joker) for joker in freed):
                again = self._ask(freed, witnesses, holding, floor) or again
            if holding or again is None or not _has_none(again.board):
                return
            refused = again

    def _candidates_for(self, terms: Terms) -> Candidates:
        key = terms.jokers, tuple((number, tuple(ways)) for number, ways in terms.ways.items())
        if key not in self._candidates:
            old = [codes for codes, _kind in self.position.board]
            self._candidates[key] = Candidates(self.position, terms, old, self.patience)
        return self._candidates[key]

    def _ask(
        self, freed: Sequence[TableJoker], witnesses: Sequence[Witness], holding: Sequence[Wish], floor: int
    ) -> Attempt | None:
        """Searches for all ways to share out what is asked for; an answer that the rules refuse.

        No way costs less than `floor`.
        """
        finish, needed = self._finish(freed, witnesses), self._needed(witnesses)
        if finish is None or needed is None:
            return None
        terms = Terms(self.position.held[JOKER_CODE] + len(freed), finish.ways, needed)
        candidates = self._candidates_for(terms)
        wishes = [*(Wish(witness) for witness in witnesses), *holding]
        refused = None
        for places in self._places_for(freed) if finish.new_set else [[]]:
            for parts in shared_out([*wishes, *places]):
                if self.patience.ends() or self.reached(floor):
                    return refused
                demands = [candidates.granting(tuple(part)) for part in parts]
                refused = self.search_plan(terms, demands, len(freed), finish) or refused
        return refused

    def _places_for(self, freed: Sequence[TableJoker]) -> Iterator[list[Wish]]:
        """New melds for freed jokers; one of them may hold an old meld, if that lies elsewhere as often as before."""
        if not freed:
            yield []
            return
        others = [Wish(freed=True) for _joker in freed[1:]]
        yield [Wish(freed=True), *others]
        for old in sorted({codes for codes, _kind in self.position.board}):
            copies = _copies(old, self.position.board)
            if all(self.position.tiles[code] > copies for code in old if code):
                yield [Wish(freed=True, old=old), *others, *[Wish(old=old)] * copies]


def _unlike(choices: Iterable[Sequence[Witness]]) -> Iterator[tuple[Witness, ...]]:
    """One witness for each joker, but only once for jokers of one meld that change places."""
    seen = set()
    for witnesses in product(*choices):
        key = tuple(sorted((witness.meld, witness.face, witness.besides) for witness in witnesses))
        if key not in seen:
            seen.add(key)
            yield witnesses


def _has_none(board: Layout) -> bool:
    """Whether something on the board is no meld: jokers alone."""
    return any(read(codes, kind) is None for codes, kind in board)
