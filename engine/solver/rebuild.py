"""From the path of a search to melds: which tile lies where, and where the jokers go that no meld needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from engine.board import Layout
from engine.faces import COLOURS_OF_A_DECK, JOKER_CODE, NUMBERS
from engine.melds import MAX_GROUP, MIN_SIZE
from engine.solver.groups import BASE, joker_counts, joker_shares, shared_out
from engine.solver.search import Node, Stage
from engine.solver.tables import STATES
from engine.state import MeldKind
from engine.tiles import MAX_NUMBER

_COLOURS: Final = range(COLOURS_OF_A_DECK)


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
    return b"R" + codes if kind is MeldKind.RUN else b"G" + bytes(sorted(codes))


@dataclass(slots=True)
class Rebuilt:
    """The melds of a solution. `used` counts the tiles in use by face, no jokers."""

    melds: list[MeldDraft] = field(default_factory=list)
    used: dict[int, int] = field(default_factory=dict)


def path_to(goal: Node) -> list[tuple[Node, Stage]]:
    """The nodes from number 1 on, with their stages."""
    path = []
    node: Node | None = goal
    while node is not None and node.stage is not None:
        path.append((node, node.stage))
        node = node.parent
    return path[::-1]


def rebuild(path: Sequence[tuple[Node, Stage]], before: Layout) -> Rebuilt:
    """The melds of a solution, without the jokers that it does not need; as they lie in `before` where they can.

    In `before` the tile that a bound joker stands for is in its place.
    """
    rebuilt = Rebuilt()
    lying = {codes for codes, _kind in before}
    open_runs: list[_OpenRuns] = [([], [], []) for _colour in _COLOURS]
    for node, stage in path:
        use = (*divmod(node.groups[0], BASE), *divmod(node.groups[1], BASE))
        spare = node.spent
        led: list[MeldDraft] = []
        for colour in _COLOURS:
            after = STATES[node.state >> 8 * colour & 255]
            real = min(sum(after), stage.tiles[colour] - use[colour])
            code = colour * MAX_NUMBER + node.number
            if real + use[colour] + stage.taken[colour] > stage.bound[colour]:
                rebuilt.used[code] = real + use[colour] + stage.taken[colour] - stage.bound[colour]
            new, open_runs[colour], closed = _continue(open_runs[colour], after, code, sum(after) - real, lying)
            rebuilt.melds += closed
            led += [run for run in new if len(run.codes) > 2]
            spare -= sum(after) - real + sum(len(run.codes) - 1 for run in new)
        in_groups = _jokers_in_groups(use, spare, bool(led))
        for _joker in range(spare - in_groups):
            max(led, key=lambda run: run.lowest).lead(1)
        rebuilt.melds += _groups(node.number, use, in_groups, stage)
        rebuilt.melds += [
            MeldDraft(kind, list(codes), _first_face(codes) if kind is MeldKind.RUN else 0, fixed=True)
            for codes, kind in stage.melds
        ]
    for ones, twos, longs in open_runs:
        assert not ones + twos, "the last number leaves no short run"
        rebuilt.melds += longs
    rebuilt.melds = [piece for meld in rebuilt.melds for piece in _cut(meld, lying)]
    return rebuilt


def _first_face(codes: bytes) -> int:
    numbered = codes.replace(b"\0", b"")
    return numbered[0] - codes.index(numbered[0])


def _jokers_in_groups(use: Sequence[int], jokers: int, others: bool) -> int:
    """How many of the jokers at a number lie in groups: all, unless they may lead `others`, then as many as fit."""
    fitting = joker_counts(tuple(use), jokers, spend=True)
    assert others or jokers in fitting
    return fitting[-1]


_OpenRuns = tuple[list[MeldDraft], list[MeldDraft], list[MeldDraft]]  # of one, two, more tiles


def _continue(
    runs: _OpenRuns, after: tuple[int, int, int], code: int, jokers: int, lying: set[bytes]
) -> tuple[list[MeldDraft], _OpenRuns, list[MeldDraft]]:
    """A colour's runs after the tile `code`, a joker for it in `jokers` of them: the new ones, all open ones, and those
    that ended before. New runs that need no further tile to be two or three long begin with jokers.
    """
    ones, twos, longs = runs
    going_on = min(len(longs), sum(after) - len(ones) - len(twos))
    if going_on < len(longs):
        longs.sort(key=lambda run: bytes(run.codes) in lying)
    longs, closed = longs[:going_on], longs[going_on:]
    new = [MeldDraft(MeldKind.RUN, [], code) for _run in range(sum(after) - len(ones) - len(twos) - going_on)]
    taking = [*ones, *twos, *longs, *new]
    for index, run in enumerate(taking):  # jokers first, where there are tiles already
        run.codes.append(JOKER_CODE if index < jokers else code)
    lone, led = new[: after[0]], new[after[0] :]
    pairs = after[1] - len(ones)
    for run in led[:pairs]:
        run.lead(1)
    for run in led[pairs:]:
        run.lead(2)
    return new, (lone, [*ones, *led[:pairs]], [*twos, *longs, *led[pairs:]]), closed


def _groups(number: int, use: tuple[int, ...], jokers: int, stage: Stage) -> Iterable[MeldDraft]:
    groups = shared_out(use, jokers, stage.olds, stage.together)
    assert groups is not None, "the search looks at uses that make groups only"
    for mask, share in zip(groups, joker_shares(groups, jokers), strict=True):
        tiles = [colour * MAX_NUMBER + number for colour in _COLOURS if mask >> colour & 1]
        yield MeldDraft(MeldKind.GROUP, tiles + [JOKER_CODE] * share)


def _cut(meld: MeldDraft, lying: set[bytes]) -> Iterable[MeldDraft]:
    """A long run in pieces, if a piece lay on the table as it is."""
    size = len(meld.codes)
    if meld.kind is MeldKind.RUN and not meld.fixed:
        for low in (0, *range(MIN_SIZE, size - MIN_SIZE + 1)):
            for high in (size, *range(size - MIN_SIZE, low + MIN_SIZE - 1, -1)):
                if high - low < size and bytes(meld.codes[low:high]) in lying:
                    pieces = [
                        MeldDraft(MeldKind.RUN, meld.codes[start:end], meld.first + start)
                        for start, end in ((0, low), (low, high), (high, size))
                        if start < end
                    ]
                    if all(piece.numbered for piece in pieces):
                        for piece in pieces:
                            yield from _cut(piece, lying)
                        return
    yield meld


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
