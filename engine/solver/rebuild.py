"""From the path of a search to melds: which tile lies where, and where the jokers go that no meld needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Final

from engine.board import Layout
from engine.faces import COLOURS_OF_A_DECK, JOKER_CODE, NUMBERS
from engine.melds import MAX_GROUP, MIN_SIZE
from engine.solver.groups import BASE, Together, joker_counts, joker_shares, shared_out
from engine.solver.problem import FIRSTS
from engine.solver.search import BareNode, Stage
from engine.solver.tables import PLACES, STATES
from engine.state import MeldKind
from engine.tiles import MAX_NUMBER

_RUN: Final = MeldKind.RUN  # at hand, as an enum's members are slow to get
_GROUP: Final = MeldKind.GROUP
_COLOURS: Final = range(COLOURS_OF_A_DECK)
_USES: Final = tuple(bytes(divmod(use, BASE)) for use in range(BASE * BASE))
_OPEN_RUNS: Final = (1 << 8 * COLOURS_OF_A_DECK) - 1  # the bits of a state that say which runs are open
_CODES: Final = tuple(  # of a group, by the mask of its colours and by number
    tuple(
        bytes(colour * MAX_NUMBER + number for colour in _COLOURS if mask >> colour & 1)
        for number in range(MAX_NUMBER + 1)
    )
    for mask in range(1 << COLOURS_OF_A_DECK)
)


@dataclass(slots=True, eq=False)
class MeldDraft:
    """A meld in the making: codes, 0 where a joker lies. `first`: of a run, the face of its first place.

    `bound` are the faces of bound jokers by place; a `fixed` meld was asked for as it is.
    """

    kind: MeldKind
    codes: list[int]
    first: int = 0
    fixed: bool = False
    bound: dict[int, int] = field(default_factory=dict)

    @property
    def lowest(self) -> int:
        return NUMBERS[self.first]

    @property
    def key(self) -> bytes:
        return meld_key(bytes(self.codes), self.kind)

    @property
    def numbered(self) -> int:
        """How many tiles are no jokers."""
        return len(self.codes) - self.codes.count(JOKER_CODE)

    def lead(self, jokers: int) -> None:
        """Put jokers before the first place of a run."""
        self.first -= jokers
        self.codes[:0] = [JOKER_CODE] * jokers
        self.bound = {place + jokers: face for place, face in self.bound.items()}

    def place_of(self, code: int) -> int | None:
        """Where this face lies, or a joker for it: of a group, only the tile itself."""
        if self.kind is _GROUP:
            return self.codes.index(code) if code in self.codes else None
        place = code - self.first
        return place if 0 <= place < len(self.codes) else None


def meld_key(codes: bytes, kind: MeldKind | None) -> bytes:
    """The same for melds that differ in nothing but the order of a group."""
    return codes if kind is _RUN else b"G" + bytes(sorted(codes))


@dataclass(slots=True)
class Rebuilt:
    """The melds of a solution. `used` counts the tiles in use by code; of jokers it says nothing."""

    used: list[int]
    melds: list[MeldDraft] = field(default_factory=list)


def rebuild(path: Sequence[BareNode], before: Layout) -> Rebuilt:
    """The melds of a solution, without the jokers that it does not need; as they lie in `before` where they can.

    In `before` the tile that a bound joker stands for is in its place.
    """
    lying = [codes for codes, kind in before if kind is _RUN]
    _numbers, afters, _jokers, _parents, stages, groups, spent = zip(*path, strict=True)
    states = b"".join([(after & _OPEN_RUNS).to_bytes(COLOURS_OF_A_DECK, "little") for after in afters])
    uses = b"".join([_USES[use01] + _USES[use23] for use01, use23 in groups])
    places = states.translate(PLACES)
    rebuilt = Rebuilt(_sums(places, uses))
    melds, used = rebuilt.melds, rebuilt.used
    left = _Left(list(spent))
    for colour, first in enumerate(FIRSTS):
        own = slice(colour, None, COLOURS_OF_A_DECK)
        if any(spent) or max(places[own]) > 1:
            tiles = [stage.tiles[colour] for stage in stages]
            melds += _runs(first, states[own], uses[own], tiles, left, used, lying)
        else:
            melds += _single_runs(first, places[own])
    for number, (stage, jokers) in enumerate(zip(stages, left.jokers, strict=True), 1):
        use, led = uses[COLOURS_OF_A_DECK * (number - 1) :][:COLOURS_OF_A_DECK], left.led.get(number, ())
        in_groups = _jokers_in_groups(use, jokers) if led else jokers
        if any(use):
            melds += _groups(number, use, in_groups, stage)
        for _joker in range(jokers - in_groups):
            max(led, key=lambda run: run.lowest).lead(1)
        if stage.melds or stage.bound != stage.taken:
            melds += [_fixed(codes, kind) for codes, kind in stage.melds]
            for colour in _COLOURS:
                used[colour * MAX_NUMBER + number] += stage.taken[colour] - stage.bound[colour]
    rebuilt.melds = _cut(melds, lying)
    return rebuilt


def _sums(places: bytes, uses: bytes) -> list[int]:
    """By face how many tiles are in runs and in groups together. Both go by number, and by colour within."""
    whole = int.from_bytes(places, "little") + int.from_bytes(uses, "little")
    sums = whole.to_bytes(len(places), "little")
    found = [0]
    for colour in _COLOURS:
        found += sums[colour::COLOURS_OF_A_DECK]
    return found


@dataclass(slots=True)
class _Left:
    """How many jokers have no place yet, from number 1 on; and by number, which runs begin there behind two jokers."""

    jokers: list[int]
    led: dict[int, list[MeldDraft]] = field(default_factory=dict)


def _single_runs(first: int, places: bytes) -> Iterable[MeldDraft]:
    """The runs of one colour, its faces from `first` on, where there is one at a time and no joker in any."""
    runs = []
    start = places.find(1)
    while start >= 0:
        end = places.find(0, start)
        end = MAX_NUMBER if end < 0 else end
        runs.append(MeldDraft(_RUN, list(range(first + start, first + end)), first + start))
        start = places.find(1, end)
    return runs


def _runs(
    first: int,
    states: bytes,
    in_groups: bytes,
    tiles: Iterable[int],
    left: _Left,
    used: list[int],
    lying: Sequence[bytes],
) -> Iterable[MeldDraft]:
    """The runs of one colour, its faces from `first` on. Jokers in them are taken off `left` and `used`."""
    ended: list[MeldDraft] = []
    runs: list[MeldDraft] = []  # open ones: those of one tile first, those of two next
    old = 0
    for index, (new, elsewhere, there) in enumerate(zip(states, in_groups, tiles, strict=True)):
        if not (old or new):
            continue
        code, places = first + index, PLACES[new]
        if places < len(runs):
            _end_some(runs, len(runs) - places, STATES[old][2], lying, ended)
        jokers = max(0, places + elsewhere - there)
        used[code] -= jokers
        left.jokers[index] -= jokers
        for run in runs:
            run.codes.append(JOKER_CODE if jokers > 0 else code)
            jokers -= 1
        if places > len(runs):
            begun = [MeldDraft(_RUN, [code], code) for _run in range(places - len(runs))]
            runs[:0] = begun
            if STATES[new][0] < len(begun):
                left.jokers[index] -= _lead(begun, STATES[new], STATES[old][0])
                left.led.setdefault(index + 1, []).extend(run for run in begun if len(run.codes) >= MIN_SIZE)
                runs.sort(key=_length)
        old = new
    return ended + runs


def _fixed(codes: bytes, kind: MeldKind) -> MeldDraft:
    return MeldDraft(kind, list(codes), _first_face(codes) if kind is _RUN else 0, fixed=True)


def _jokers_in_groups(use: bytes, jokers: int) -> int:
    """How many of the jokers at a number lie in groups, if some may lead a run: as many as fit."""
    return joker_counts(tuple(use), jokers, spend=True)[-1]


def _length(run: MeldDraft) -> int:
    return min(MIN_SIZE, len(run.codes))


def _end_some(runs: list[MeldDraft], many: int, longs: int, lying: Sequence[bytes], ended: list[MeldDraft]) -> None:
    """End so many of the long runs, those at the end of the list: first those that lay on the table."""
    if many < longs:
        runs[-longs:] = sorted(runs[-longs:], key=lambda run: bytes(run.codes) in lying)
    ended += runs[-many:]
    del runs[-many:]


def _lead(begun: Sequence[MeldDraft], after: tuple[int, int, int], ones: int) -> int:
    """Put jokers before new runs, so that they are one, two, or three long as the state says; how many that takes."""
    pairs = after[1] - ones
    for index, run in enumerate(begun[after[0] :]):
        run.lead(1 if index < pairs else 2)
    return sum(len(run.codes) - 1 for run in begun)


def _groups(number: int, use: bytes, jokers: int, stage: Stage) -> Iterable[MeldDraft]:
    return [
        MeldDraft(_GROUP, [*codes[number], *bytes(share)])
        for codes, share in _shapes(use, jokers, stage.olds, stage.together)
    ]


@lru_cache(maxsize=1 << 14)
def _shapes(
    use: bytes, jokers: int, olds: tuple[int, ...], together: Together
) -> tuple[tuple[tuple[bytes, ...], int], ...]:
    """The groups of a number: the codes of each by the number, and its jokers."""
    groups = shared_out(tuple(use), jokers, olds, together)
    assert groups is not None, "the search looks at uses that make groups only"
    return tuple(zip((_CODES[mask] for mask in groups), joker_shares(groups, jokers), strict=True))


def _cut(melds: list[MeldDraft], lying: Sequence[bytes]) -> list[MeldDraft]:
    """The melds, long runs in pieces where a piece lay on the table as it is and no neighbours there are parted."""
    left = [meld for meld in melds if len(meld.codes) >= 2 * MIN_SIZE and not meld.fixed]
    if not any(_cuts(meld, lying) for meld in left):
        return melds
    found = [meld for meld in melds if meld not in left]
    spare = _more_joints(melds, lying)
    while left:
        meld = left.pop()
        for cuts in _cuts(meld, lying):
            if all(spare[meld.first + at] > 0 for at in cuts):
                for at in cuts:
                    spare[meld.first + at] -= 1
                left += [
                    MeldDraft(_RUN, meld.codes[start:end], meld.first + start)
                    for start, end in pairwise([0, *cuts, len(meld.codes)])
                ]
                break
        else:
            found.append(meld)
    return found


def _cuts(meld: MeldDraft, lying: Sequence[bytes]) -> list[list[int]]:
    """Where a run may be cut so that one piece is a run that lay on the table, for each such run."""
    codes, size = bytes(meld.codes), len(meld.codes)
    found = []
    for old in lying:
        low = codes.find(old)
        high = low + len(old)
        if low >= 0 and low not in (1, 2) and size - high not in (1, 2) and len(old) < size:
            cuts = [at for at in (low, high) if 0 < at < size]
            if all(any(codes[start:end]) for start, end in pairwise([0, *cuts, size])):
                found.append(cuts)
    return found


def _more_joints(melds: Sequence[MeldDraft], lying: Sequence[bytes]) -> list[int]:
    """By face how many more runs come there from the face before than did on the table."""
    more = [0] * (COLOURS_OF_A_DECK * MAX_NUMBER + 1)
    for codes in lying:
        first = _first_face(codes)
        for face in range(first + 1, first + len(codes)):
            more[face] -= 1
    for meld in melds:
        if meld.kind is _RUN:
            for face in range(meld.first + 1, meld.first + len(meld.codes)):
                more[face] += 1
    return more


def _first_face(codes: bytes) -> int:
    numbered = codes.replace(b"\0", b"")
    return numbered[0] - codes.index(numbered[0])


# Jokers that no meld needs


Room = Callable[[MeldDraft], bool]  # whether a joker may be added to a meld


def park(melds: list[MeldDraft], jokers: int, room: Room = lambda _meld: True) -> int:
    """Put jokers wherever there is room; how many found none."""
    while jokers and _park_one(melds, room):
        jokers -= 1
    while jokers > 1 and _split_group(melds):
        jokers -= 2
    while jokers and _park_one(melds, room):
        jokers -= 1
    return jokers


def _park_one(melds: list[MeldDraft], room: Room) -> bool:
    for meld in melds:
        if not room(meld):
            continue
        if meld.kind is _GROUP:
            if len(meld.codes) < MAX_GROUP:
                meld.codes.append(JOKER_CODE)
                return True
        elif meld.lowest + len(meld.codes) <= MAX_NUMBER:
            meld.codes.append(JOKER_CODE)
            return True
        elif meld.lowest > 1:
            meld.lead(1)
            return True
        elif any(meld.codes[:MIN_SIZE]) and any(meld.codes[MIN_SIZE:]):  # from 1 to 13
            melds.append(MeldDraft(_RUN, meld.codes[MIN_SIZE:], meld.first + MIN_SIZE))
            meld.codes[MIN_SIZE:] = [JOKER_CODE]
            return True
    return False


def _split_group(melds: list[MeldDraft]) -> bool:
    """Make two groups of three of a group of four and two jokers."""
    for meld in melds:
        if meld.kind is _GROUP and len(meld.codes) == MAX_GROUP and meld.numbered > 1:
            tile = next(code for code in reversed(meld.codes) if code)
            meld.codes.remove(tile)
            melds.append(MeldDraft(_GROUP, [tile, JOKER_CODE, JOKER_CODE]))
            return True
    return False
