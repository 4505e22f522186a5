"""Which melds a joker rule may ask for: those that witness that a joker was freed, that take a freed joker, that hold a
bound one and a number.

What is asked for is one or more `Wish`es; a meld may grant several of them. All ways to share the wishes out among
melds are looked at, and for each meld every candidate that cannot be cut into a smaller one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from engine.faces import COLOUR_INDEXES, COLOURS_OF_A_DECK, NUMBERS
from engine.melds import MAX_GROUP, MIN_SIZE
from engine.solver.patience import Patience
from engine.solver.planned import Candidate, Lies, Place
from engine.solver.problem import Position, Terms
from engine.state import MeldKind
from engine.tiles import MAX_NUMBER

_COLOURS: Final = range(COLOURS_OF_A_DECK)


@dataclass(frozen=True, slots=True)
class Witness:
    """A real tile of `face` takes the place of a joker of meld `meld` of the old table, beside one of `besides`."""

    meld: int
    kind: MeldKind
    face: int
    besides: tuple[int, ...]

    @property
    def shown(self) -> tuple[int, ...]:
        """The faces that have to be in a run."""
        return (self.face, *self.besides) if self.kind is MeldKind.RUN else ()

    @property
    def passed(self) -> range:
        """The faces to which a run has to come from the one before."""
        if self.kind is not MeldKind.RUN:
            return range(0)
        (beside,) = self.besides
        return range(min(self.face, beside) + 1, max(self.face, beside) + 1)


@dataclass(frozen=True, slots=True)
class Wish:
    """What a meld has to grant: a witness (of one tile beside), room for a freed joker, or a bound joker of one of
    `faces` beside a tile with a number; to hold all of the old meld `old`.

    A meld with a freed joker holds no old meld but, if it has to, `old`, of which there are enough others then.
    """

    witness: Witness | None = None
    freed: bool = False
    faces: tuple[int, ...] = ()
    old: bytes = b""


def shared_out(wishes: Sequence[Wish]) -> Iterator[list[list[Wish]]]:
    """All ways to have the wishes granted by different melds, as far as the witnesses agree."""
    for parts in _partitions(list(wishes)):
        if _agree(parts):
            yield parts


def _partitions(wishes: list[Wish]) -> Iterator[list[list[Wish]]]:
    if not wishes:
        yield []
        return
    first, *rest = wishes
    for parts in _partitions(rest):
        yield [[first], *parts]
        for index, part in enumerate(parts):
            yield [*parts[:index], [first, *part], *parts[index + 1 :]]


def _agree(parts: Sequence[Sequence[Wish]]) -> bool:
    """Whether no tile takes two places, and none of the old table lies in two melds or is meant for two."""
    seen: dict[tuple[int, int], int] = {}  # old meld and tile beside: new meld
    for index, part in enumerate(parts):
        witnesses = [wish.witness for wish in part if wish.witness is not None]
        faces = {witness.face for witness in witnesses}
        origins: dict[int, int] = {}
        for witness in witnesses:
            (beside,) = witness.besides
            if origins.setdefault(beside, witness.meld) != witness.meld:
                return False
            if seen.setdefault((witness.meld, beside), index) != index:
                return False
        if len(faces) < len(witnesses) or sum(bool(wish.old) for wish in part) > 1:
            return False
    return True


class Candidates:
    """The melds that may grant wishes in one position. `old` are the melds that a new one must not hold.

    When `patience` ends, some are missing.
    """

    def __init__(self, position: Position, terms: Terms, old: Sequence[bytes], patience: Patience) -> None:
        self._patience = patience
        self._tiles = position.tiles
        self._jokers = terms.jokers
        self._old = [sorted(codes) for codes in old]
        self._known: dict[tuple[Wish, ...], list[Candidate]] = {}
        self._bound: dict[int, bool] = {}
        for number, ways in terms.ways.items():
            for colour in _COLOURS:
                self._bound[colour * MAX_NUMBER + number] = any(way[colour] for way in ways)

    def granting(self, wishes: tuple[Wish, ...]) -> list[Candidate]:
        """All melds that grant these wishes together and cannot be cut into one that does and others."""
        if wishes not in self._known:
            self._known[wishes] = self._granting(wishes)
        return self._known[wishes]

    def _granting(self, wishes: Sequence[Wish]) -> list[Candidate]:
        tiles = {face for wish in wishes if wish.witness for face in (wish.witness.face, *wish.witness.besides)}
        kinds = {wish.witness.kind for wish in wishes if wish.witness is not None}
        freed = sum(wish.freed for wish in wishes)
        olds = [wish.old for wish in wishes if wish.old]
        tiles |= {face for old in olds for face in old if face}
        found: dict[Candidate, None] = {}
        for faces in product(*(wish.faces for wish in wishes if wish.faces)):
            fixed: dict[int, Lies] = dict.fromkeys(tiles, Lies.TILE)
            fixed.update(dict.fromkeys(faces, Lies.BOUND))
            if len(fixed) < len(tiles) + len(faces):
                continue
            if kinds != {MeldKind.GROUP}:
                found.update(dict.fromkeys(self._runs(fixed, freed)))
            if kinds != {MeldKind.RUN}:
                found.update(dict.fromkeys(self._groups(fixed, freed)))
        return [
            candidate
            for candidate in found
            if all(_holds(candidate.codes, old) for old in olds) and (not freed or self._is_new(candidate.codes, olds))
        ]

    def _is_new(self, codes: bytes, allowed: Sequence[bytes]) -> bool:
        spared = [sorted(old) for old in allowed]
        return not any(_holds(codes, old) for old in self._old if old not in spared)

    def _choices(self, face: int, fixed: Mapping[int, Lies]) -> list[Place]:
        if face in fixed:
            return [(face, fixed[face])]
        choices = []
        if self._tiles[face]:
            choices.append((face, Lies.TILE))
        if self._jokers:
            choices.append((face, Lies.FREE))
        if self._bound.get(face):
            choices.append((face, Lies.BOUND))
        return choices

    def _runs(self, fixed: Mapping[int, Lies], freed: int) -> Iterator[Candidate]:
        colours = {COLOUR_INDEXES[face] for face in fixed} or set(_COLOURS)
        if len(colours) > 1 and fixed:
            return
        for colour in colours:
            low, high = colour * MAX_NUMBER + 1, (colour + 1) * MAX_NUMBER
            for first in range(low, min([*fixed, high - MIN_SIZE + 1]) + 1):
                yield from self._runs_from(first, high, fixed, freed)

    def _runs_from(self, first: int, high: int, fixed: Mapping[int, Lies], freed: int) -> Iterator[Candidate]:
        end = max(fixed, default=first)

        def extend(places: tuple[Place, ...], free: int) -> Iterator[Candidate]:
            face = first + len(places)
            if len(places) >= MIN_SIZE and face > end and free >= freed and _is_minimal(places, fixed, freed):
                yield Candidate(MeldKind.RUN, places)
            if face > high or _can_end(places, fixed, freed, free, end) or self._patience.ends():
                return
            for place in self._choices(face, fixed):
                if free + (place[1] is Lies.FREE) <= self._jokers:
                    yield from extend((*places, place), free + (place[1] is Lies.FREE))

        return extend((), 0)

    def _groups(self, fixed: Mapping[int, Lies], freed: int) -> Iterator[Candidate]:
        numbers = {NUMBERS[face] for face in fixed} or set(range(1, MAX_NUMBER + 1))
        if len(numbers) > 1 and fixed:
            return
        for number in numbers:
            faces = range(number, COLOURS_OF_A_DECK * MAX_NUMBER + 1, MAX_NUMBER)
            options: list[list[Place | None]] = []
            for face in faces:
                choices: list[Place | None] = [
                    place for place in self._choices(face, fixed) if place[1] is not Lies.FREE
                ]
                options.append(choices if face in fixed else [None, *choices])
            for chosen in product(*options):
                places = tuple(place for place in chosen if place is not None)
                if self._patience.ends():
                    return
                if not any(lies is Lies.TILE for _face, lies in places):
                    continue
                for free in range(freed, min(self._jokers, MAX_GROUP - len(places)) + 1):
                    if len(places) + free >= MIN_SIZE:
                        yield Candidate(MeldKind.GROUP, places + ((0, Lies.FREE),) * free)


def _holds(codes: Iterable[int], old: Sequence[int]) -> bool:
    left = list(codes)
    for code in old:
        if code not in left:
            return False
        left.remove(code)
    return True


def _core(places: Sequence[Place], fixed: Mapping[int, Lies], freed: int) -> tuple[int, int]:
    """From where to where a run is needed: the faces asked for, and all free jokers if one is asked for."""
    needed = [index for index, (face, lies) in enumerate(places) if face in fixed or (freed and lies is Lies.FREE)]
    return (min(needed), max(needed)) if needed else (0, len(places) - 1)


def _is_minimal(places: Sequence[Place], fixed: Mapping[int, Lies], freed: int) -> bool:
    """Whether no run can be cut off at an end, so that both pieces are runs and the other has all that is needed."""
    low, high = _core(places, fixed, freed)
    size = len(places)

    def cuts(at: int) -> bool:
        pieces = places[:at], places[at:]
        return all(len(piece) >= MIN_SIZE and any(lies is Lies.TILE for _face, lies in piece) for piece in pieces)

    if not any(lies is Lies.TILE for _face, lies in places):
        return False
    return not any(cuts(at) for at in (*range(MIN_SIZE, low + 1), *range(high + 1, size - MIN_SIZE + 1)))


def _can_end(places: Sequence[Place], fixed: Mapping[int, Lies], freed: int, free: int, end: int) -> bool:
    """Whether a longer run could be cut here for sure: all that is needed lies well before."""
    if not places or free < freed or places[0][0] + len(places) <= end:
        return False
    _low, high = _core(places, fixed, freed)
    return len(places) - high > 2 * MIN_SIZE
