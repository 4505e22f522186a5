"""From the path of a search to melds: which tile lies where, and where the jokers go that no meld needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from engine.board import Layout
from engine.faces import COLOURS_OF_A_DECK, JOKER_CODE, NUMBERS
from engine.melds import MAX_GROUP, MIN_SIZE
from engine.solver.groups import BASE, joker_counts, joker_shares, shared_out
from engine.solver.problem import FACES
from engine.solver.search import Node, Stage
from engine.solver.tables import PLACES, STATES
from engine.state import MeldKind
from engine.tiles import MAX_NUMBER

_COLOURS: Final = range(COLOURS_OF_A_DECK)
_USES: Final = tuple((use // BASE, use % BASE) for use in range(BASE * BASE))
_STATE_BYTES: Final = 8
_BASES: Final = tuple(  # by mask of colours
    [colour * MAX_NUMBER for colour in _COLOURS if mask >> colour & 1] for mask in range(1 << COLOURS_OF_A_DECK)
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
        if self.kind is MeldKind.GROUP:
            return self.codes.index(code) if code in self.codes else None
        place = code - self.first
        return place if 0 <= place < len(self.codes) else None


def meld_key(codes: bytes, kind: MeldKind | None) -> bytes:
    """The same for melds that differ in nothing but the order of a group."""
    return codes if kind is MeldKind.RUN else b"G" + bytes(sorted(codes))


@dataclass(slots=True)
class Rebuilt:
    """The melds of a solution. `used` counts the tiles in use by code; of jokers it says nothing."""

    melds: list[MeldDraft] = field(default_factory=list)
    used: list[int] = field(default_factory=lambda: [0] * FACES)


def rebuild(path: Sequence[Node], before: Layout) -> Rebuilt:
    """The melds of a solution, without the jokers that it does not need; as they lie in `before` where they can.

    In `before` the tile that a bound joker stands for is in its place.
    """
    rebuilt = Rebuilt()
    melds, used = rebuilt.melds, rebuilt.used
    lying = [codes for codes, kind in before if kind is MeldKind.RUN]
    open_runs: list[list[MeldDraft]] = [[], [], [], []]  # of each colour, those of one tile first, those of two next
    old_states = bytes(_STATE_BYTES)
    for number, after, _jokers, _parent, stage, (use01, use23), spent in path:
        states, use = after.to_bytes(_STATE_BYTES, "little"), _USES[use01] + _USES[use23]
        code = number - MAX_NUMBER
        spare = spent
        led: list[MeldDraft] = []
        for runs, many, old, new, tiles in zip(open_runs, use, old_states, states, stage.tiles, strict=False):
            code += MAX_NUMBER
            if not (old or new):
                used[code] = many
                continue
            places = PLACES[new]
            if places < len(runs):
                _end_some(runs, len(runs) - places, STATES[old][2], lying, melds)
            jokers = places + many - tiles
            if jokers > 0:
                spare -= jokers
                used[code] = tiles
                for run in runs:
                    run.codes.append(JOKER_CODE if jokers > 0 else code)
                    jokers -= 1
            else:
                used[code] = places + many
                for run in runs:
                    run.codes.append(code)
            if places > len(runs):
                begun = [MeldDraft(MeldKind.RUN, [code], code) for _run in range(places - len(runs))]
                runs[:0] = begun
                if STATES[new][0] < len(begun):
                    spare -= _lead(begun, STATES[new], STATES[old][0])
                    led += [run for run in begun if len(run.codes) >= MIN_SIZE]
                    runs.sort(key=_length)
        old_states = states
        in_groups = _jokers_in_groups(use, spare) if led else spare
        if use01 or use23:
            melds += _groups(number, use, in_groups, stage)
        for _joker in range(spare - in_groups):
            max(led, key=lambda run: run.lowest).lead(1)
        if stage.melds:
            melds += [_fixed(codes, kind) for codes, kind in stage.melds]
        for colour in _COLOURS if any(stage.bound) or any(stage.taken) else ():
            used[colour * MAX_NUMBER + number] += stage.taken[colour] - stage.bound[colour]
    for left in open_runs:
        melds += left
    rebuilt.melds = _cut(melds, lying)
    return rebuilt


def _fixed(codes: bytes, kind: MeldKind) -> MeldDraft:
    return MeldDraft(kind, list(codes), _first_face(codes) if kind is MeldKind.RUN else 0, fixed=True)


def _jokers_in_groups(use: Sequence[int], jokers: int) -> int:
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


def _groups(number: int, use: tuple[int, ...], jokers: int, stage: Stage) -> Iterable[MeldDraft]:
    groups = shared_out(use, jokers, stage.olds, stage.together)
    assert groups is not None, "the search looks at uses that make groups only"
    shares = joker_shares(groups, jokers) if jokers else (0,) * len(groups)
    return [
        MeldDraft(MeldKind.GROUP, [base + number for base in _BASES[mask]] + [JOKER_CODE] * share)
        for mask, share in zip(groups, shares, strict=True)
    ]


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
                    MeldDraft(MeldKind.RUN, meld.codes[start:end], meld.first + start)
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
        if meld.kind is MeldKind.RUN:
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
        if meld.kind is MeldKind.GROUP:
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
            melds.append(MeldDraft(MeldKind.RUN, meld.codes[MIN_SIZE:], meld.first + MIN_SIZE))
            meld.codes[MIN_SIZE:] = [JOKER_CODE]
            return True
    return False


def _split_group(melds: list[MeldDraft]) -> bool:
    """Make two groups of three of a group of four and two jokers."""
    for meld in melds:
        if meld.kind is MeldKind.GROUP and len(meld.codes) == MAX_GROUP and meld.numbered > 1:
            tile = next(code for code in reversed(meld.codes) if code)
            meld.codes.remove(tile)
            melds.append(MeldDraft(MeldKind.GROUP, [tile, JOKER_CODE, JOKER_CODE]))
            return True
    return False
