"""The set program: the best turn where a joker on the board gives way only to the tile it stands for (`pt`, `fi`).

Theory of operation. One variable for each meld that the tiles can form, with each joker in its place, so that what a
joker stands for is known; a face holds what lies on the board and what is laid. For each joker on the board, two at
most, one *reason* is chosen why it may lie as it does: *kept* as a face, or *freed* by a real tile of a face beside a
numbered tile of the old meld. A reason demands a meld that serves it, and two reasons that no one meld can serve at
once demand two melds (by the theorem of Hall: enough for each, and two for both together). Written from docs/rules.md,
sections 1 and 2.4.

`fi`: a freed joker lies in a *fresh* meld: of each old meld that is complete inside it there are enough other melds
that hold it complete.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from engine.board import Layout, fits, read_layout
from engine.faces import JOKER_CODE, NUMBERS
from engine.melds import Meld, read
from engine.rulesets import FreedJokerPlace, JokerMove, RuleSet
from engine.state import MeldKind
from tests.engine.solver.mip import Program, Terms
from tests.engine.solver.oracle import melds_of
from tests.engine.solver.oracle_flow import Weights

MOST_JOKERS = 2  # on the board
_LONGEST = 5  # a longer run can be cut into runs of 3 to 5, none of which is all jokers


@dataclass(frozen=True, slots=True)
class _Reason:
    """Why a joker of old meld `meld` may lie as it does: it stands for `face`, or was freed if there is a `beside`."""

    meld: int
    face: int
    beside: int | None = None


def best_turn(
    rules: RuleSet, board: Layout, rack: bytes, weights: Weights, limit_s: float | None = None
) -> tuple[int, int] | None:
    """Tiles and value (a joker 0) of the best turn of a seat that has opened. None: HiGHS finds nothing legal.

    Raises `ValueError` for more than two jokers on the board and for other rules, `TimeoutError`.
    """
    sets = _Sets(rules, board, rack, weights)
    found = sets.program.solve(limit_s)
    if found is None:
        return None
    laid = {code: found[variable] for code, variable in sets.laid.items() if variable is not None}
    return sum(laid.values()), sum(NUMBERS[code] * count for code, count in laid.items())


def _reasons(old: Meld, index: int, options: Sequence[int]) -> Iterator[_Reason]:
    for face in options:
        yield _Reason(index, face)
        yield from (_Reason(index, face, beside) for beside in old.numbered)


class _Sets:
    """The program."""

    def __init__(self, rules: RuleSet, board: Layout, rack: bytes, weights: Weights) -> None:
        self._olds = [meld for meld in read_layout(board) if meld is not None]
        jokers = [(index, options) for index, old in enumerate(self._olds) for options in old.jokers]
        if rules.joker_move is not JokerMove.REPLACED or len(jokers) > MOST_JOKERS:
            raise ValueError("not for the set program")
        self.program = Program()
        self._new_set = rules.freed_joker_place is FreedJokerPlace.NEW_SET
        reasons = [tuple(_reasons(self._olds[index], index, options)) for index, options in jokers]
        must, own = Counter(code for codes, _kind in board for code in codes), Counter(rack)
        self.laid = {
            code: self.program.variable(count, weights.tile + weights.point * NUMBERS[code])
            for code, count in own.items()
        }
        self._lie(must, own, _needed_runs(reasons))
        self._choices = [{reason: self.program.variable(1) for reason in each} for each in reasons]
        for choices in self._choices:
            self.program.row(1, [(choice, 1) for choice in choices.values()], 1)
            for reason, choice in choices.items():
                self._demand(1, self._serving(reason), choice)
        if self._new_set and jokers:
            self._free_into_new_sets()
        if len(jokers) == MOST_JOKERS:
            for first, second in product(*reasons):
                self._demand_both(first, second)

    def _lie(self, must: Counter[int], own: Counter[int], needed: Callable[[bytes], bool]) -> None:
        there = must + own
        holding: dict[int, Terms] = {code: [(self.laid.get(code), -1)] for code in there}
        self._lying: list[tuple[Meld, int | None]] = []
        for codes, kind in melds_of(there):
            if kind is MeldKind.GROUP or len(codes) <= _LONGEST or self._new_set or needed(codes):
                meld = read(codes, kind)
                assert meld is not None
                need = Counter(codes)
                copies = self.program.variable(min(there[code] // count for code, count in need.items()))
                self._lying.append((meld, copies))
                for code, count in need.items():
                    holding[code].append((copies, count))
        for code, terms in holding.items():
            self.program.row(must[code], terms, must[code])

    def _melds(self, wanted: Callable[[Meld], int]) -> Terms:
        """Lying melds, each times what `wanted` says."""
        return [(copies, count) for meld, copies in self._lying if (count := int(wanted(meld)))]

    def _serving(self, reason: _Reason) -> Terms:
        if reason.beside is None:
            return self._melds(lambda meld: _places(meld, reason.face))
        return self._melds(lambda meld: _frees(meld, reason))

    def _demand(self, count: int, terms: Terms, *choices: int | None) -> None:
        """At least `count` in all if all these choices are made."""
        spare = count * (len(choices) - 1)
        self.program.row(-spare, [*terms, *((choice, -count) for choice in choices)])

    def _demand_both(self, first: _Reason, second: _Reason) -> None:
        choices = self._choices[0][first], self._choices[1][second]
        if first.meld == second.meld and first.face == second.face:
            self.program.row(-1, [(choice, -1) for choice in choices])
        elif first.beside is None and second.beside is None:
            if first.face == second.face:
                self._demand(2, self._melds(lambda meld: _places(meld, first.face) > 0), *choices)
            else:
                self._demand(2, self._melds(lambda meld: _places(meld, first.face, second.face)), *choices)
        elif first.beside is None or second.beside is None:
            return
        elif first.beside == second.beside and first.meld == second.meld:
            self._demand(1, self._melds(lambda meld: _frees(meld, first) and _frees(meld, second)), *choices)
        elif first.beside == second.beside or first.face == second.face:
            self._demand(2, self._melds(lambda meld: _frees(meld, first) or _frees(meld, second)), *choices)

    def _free_into_new_sets(self) -> None:
        freed = [[choice for reason, choice in each.items() if reason.beside is not None] for each in self._choices]
        fresh = self._fresh()
        places: Terms = [(one, len(meld.jokers)) for meld, one in fresh]
        self.program.row(0, [*places, *((choice, -1) for each in freed for choice in each)])
        if len(self._choices) < MOST_JOKERS:
            return
        for choices, other in zip(self._choices, reversed(freed), strict=True):
            for reason, choice in choices.items():
                if reason.beside is None:  # the kept joker and the freed one lie in two places
                    elsewhere = [(one, len(meld.jokers) - _places(meld, reason.face)) for meld, one in fresh]
                    both = [*self._serving(reason), *elsewhere, (choice, -2), *((one, -2) for one in other)]
                    self.program.row(-2, both)

    def _fresh(self) -> list[tuple[Meld, int | None]]:
        """Melds with jokers, once for each copy that may lie, with a variable that is 1 only if that copy is fresh."""
        distinct = Counter(bytes(sorted(old.codes)) for old in self._olds)
        holding = {old: [(copies, 1) for meld, copies in self._lying if fits(old, meld.codes)] for old in distinct}
        found = []
        for meld, copies in self._lying:
            if meld.jokers:
                fresh = [self.program.variable(1) for _copy in range(2)]
                self.program.row(0, [(copies, 1), *((one, -1) for one in fresh)])
                for old, count in distinct.items():
                    if fits(old, meld.codes):
                        for one in fresh:
                            self.program.row(0, [*holding[old], (one, -count - 1)])
                found += [(meld, one) for one in fresh]
        return found


def _needed_runs(reasons: Sequence[Sequence[_Reason]]) -> Callable[[bytes], bool]:
    """Which long runs frees a joker that shorter ones would not: what is 3 or more beyond its tiles can be cut off."""
    hulls = {(reason.beside, reason.face) for each in reasons for reason in each if reason.beside is not None}
    spans = {(min(hull), max(hull)) for hull in hulls}
    spans |= {(min(low, other), max(high, end)) for low, high in spans for other, end in spans}

    def needed(codes: bytes) -> bool:
        numbered = next(place for place, code in enumerate(codes) if code != JOKER_CODE)
        first = codes[numbered] - numbered
        last = first + len(codes) - 1
        return any(first <= low <= first + 2 and last - 2 <= high <= last for low, high in spans)

    return needed


def _places(meld: Meld, *faces: int) -> int:
    """How many jokers of the meld may stand for one of these faces."""
    return sum(any(face in options for face in faces) for options in meld.jokers)


def _frees(meld: Meld, reason: _Reason) -> bool:
    return reason.face in meld.codes and reason.beside is not None and reason.beside in meld.codes
