"""From the path of a search to melds: which tile lies where, and where the jokers go that no meld needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from engine.board import Layout
from engine.faces import COLOURS_OF_A_DECK, JOKER_CODE, NUMBERS
from engine.melds import MAX_GROUP, MIN_SIZE
from engine.solver.search import Node, Problem
from engine.solver.tables import GROUP_BASE, STATES, joker_counts
from engine.state import MeldKind
from engine.tiles import MAX_NUMBER

_COLOURS: Final = range(COLOURS_OF_A_DECK)

Said = tuple[bytes, MeldKind | None]  # a meld of a layout


@dataclass(slots=True)
class Run:
    """A run in the making: its lowest face and the codes so far, 0 where a joker lies."""

    first: int
    codes: list[int]

    def lead(self, jokers: int) -> None:
        """Put jokers before the first tile."""
        self.first -= jokers
        self.codes[:0] = [JOKER_CODE] * jokers

    @property
    def has_number(self) -> bool:
        return any(self.codes)


@dataclass(slots=True)
class Melds:
    """Melds in the making. `used` counts the tiles in use by face, jokers aside."""

    runs: list[Run] = field(default_factory=list)
    groups: list[tuple[int, list[int]]] = field(default_factory=list)  # number, codes with jokers last
    used: dict[int, int] = field(default_factory=dict)


def rebuild(problem: Problem, goal: Node, before: Layout) -> Melds:
    """The melds of a solution, without the jokers that it does not need; much as they lie in `before` if they can."""
    path: list[Node] = []
    node: Node | None = goal
    while node is not None and node.number:
        path.append(node)
        node = node.parent
    path.reverse()
    melds = Melds()
    lying = {codes for codes, _kind in before}
    open_runs: list[tuple[list[Run], list[Run], list[Run]]] = [([], [], []) for _colour in _COLOURS]
    old_groups = _groups_by_number(before)
    for node in path:
        number = node.number
        tiles, _must = problem.stages[number - 1][node.stage].cells
        grouped = (*divmod(node.groups[0], GROUP_BASE), *divmod(node.groups[1], GROUP_BASE))
        spare = node.spent
        leading: list[Run] = []
        for colour in _COLOURS:
            after = STATES[node.state >> 8 * colour & 255]
            own = tiles[colour] - grouped[colour]
            real = min(sum(after), own)
            code = colour * MAX_NUMBER + number
            if real + grouped[colour]:
                melds.used[code] = real + grouped[colour]
            new, open_runs[colour], closed = _continue(open_runs[colour], after, code, sum(after) - real, lying)
            melds.runs += closed
            leading += [run for run in new if len(run.codes) > 2]
            spare -= sum(after) - real + sum(len(run.codes) - 1 for run in new)
        in_groups = _jokers_in_groups(grouped, spare, bool(leading))
        for _joker in range(spare - in_groups):
            leading.sort(key=lambda run: NUMBERS[run.first])
            leading[-1].lead(1)
        if any(grouped):
            melds.groups += _groups(number, grouped, in_groups, old_groups.get(number, []))
    for ones, twos, longs in open_runs:
        assert not ones + twos, "the last number leaves no short run"
        melds.runs += longs
    melds.runs = [piece for run in melds.runs for piece in _cut(run, lying)]
    return melds


def _jokers_in_groups(grouped: Sequence[int], jokers: int, others: bool) -> int:
    """How many of the jokers at a number lie in groups: all, unless they may lead `others`, then as many as fit."""
    fitting = joker_counts(tuple(grouped), jokers, spend=True)
    assert others or jokers in fitting
    return fitting[-1]


_OpenRuns = tuple[list[Run], list[Run], list[Run]]  # of one, two, more tiles


def _continue(
    runs: _OpenRuns, after: tuple[int, int, int], code: int, jokers: int, lying: set[bytes]
) -> tuple[list[Run], _OpenRuns, list[Run]]:
    """A colour's runs after the tile `code`, a joker for it in `jokers` of them: the new ones, all open ones, and those
    that ended before. New runs that need no further tile to be two or three long begin with jokers.
    """
    ones, twos, longs = runs
    going_on = min(len(longs), sum(after) - len(ones) - len(twos))
    longs.sort(key=lambda run: bytes(run.codes) in lying)
    longs, closed = longs[:going_on], longs[going_on:]
    new = [Run(code, []) for _run in range(sum(after) - len(ones) - len(twos) - going_on)]
    taking = [*ones, *twos, *longs, *new]
    taking.sort(key=lambda run: not run.has_number)
    for index, run in enumerate(taking):
        run.codes.append(JOKER_CODE if index < jokers else code)
    lone, led = new[: after[0]], new[after[0] :]
    pairs = after[1] - len(ones)
    for run in led[:pairs]:
        run.lead(1)
    for run in led[pairs:]:
        run.lead(2)
    return new, (lone, [*ones, *led[:pairs]], [*twos, *longs, *led[pairs:]]), closed


def _cut(run: Run, lying: set[bytes]) -> Iterable[Run]:
    """A long run in pieces, if a piece lay on the table as it is."""
    size = len(run.codes)
    for start in range(size - MIN_SIZE + 1):
        if 0 < start < MIN_SIZE:
            continue
        for end in range(size, start + MIN_SIZE - 1, -1):
            if end < size < end + MIN_SIZE or end - start == size:
                continue
            if bytes(run.codes[start:end]) in lying:
                pieces = [
                    Run(run.first + low, run.codes[low:high]) for low, high in ((0, start), (end, size)) if low < high
                ]
                if all(piece.has_number for piece in pieces):
                    yield Run(run.first + start, run.codes[start:end])
                    for piece in pieces:
                        yield from _cut(piece, lying)
                    return
    yield run


def _groups_by_number(before: Layout) -> dict[int, list[bytes]]:
    found: dict[int, list[bytes]] = {}
    for codes, _kind in before:
        numbered = codes.replace(b"\0", b"")
        if len({NUMBERS[code] for code in numbered}) == 1:
            found.setdefault(NUMBERS[numbered[0]], []).append(codes)
    return found


def _groups(number: int, used: Sequence[int], jokers: int, old: Sequence[bytes]) -> list[tuple[int, list[int]]]:
    """Groups of `used` tiles of each colour and all `jokers`, old ones among them as they lay if possible."""
    left = list(used)
    many = next(
        many for many in range(max(used), sum(used) + 1) if MIN_SIZE * many <= sum(used) + jokers <= MAX_GROUP * many
    )
    groups = []
    for codes in old:
        colours = [(code - 1) // MAX_NUMBER for code in codes if code]
        rest = list(left)
        for colour in colours:
            rest[colour] -= 1
        spare = jokers - codes.count(JOKER_CODE)
        if spare >= 0 and min(rest) >= 0 and _divisible(rest, spare, many - 1):
            groups.append((number, list(codes)))
            left, jokers, many = rest, spare, many - 1
    dealt: list[list[int]] = [[] for _group in range(many)]
    turn = 0
    for colour in _COLOURS:
        for _tile in range(left[colour]):
            dealt[turn % many].append(colour * MAX_NUMBER + number)
            turn += 1
    for _joker in range(jokers):
        min(dealt, key=len).append(JOKER_CODE)
    return [*groups, *((number, codes) for codes in dealt)]


def _divisible(used: Sequence[int], jokers: int, many: int) -> bool:
    tiles = sum(used)
    return max(used) <= many <= tiles and MIN_SIZE * many <= tiles + jokers <= MAX_GROUP * many


# Jokers that no meld needs


def park(melds: Melds, jokers: int) -> int:
    """Put jokers wherever there is room; how many found none."""
    while jokers and _park_one(melds):
        jokers -= 1
    while jokers > 1 and _split_group(melds):
        jokers -= 2
    while jokers and _park_one(melds):
        jokers -= 1
    return jokers


def _park_one(melds: Melds) -> bool:
    for _number, codes in melds.groups:
        if len(codes) < MAX_GROUP:
            codes.append(JOKER_CODE)
            return True
    for run in melds.runs:
        if NUMBERS[run.first] + len(run.codes) <= MAX_NUMBER:
            run.codes.append(JOKER_CODE)
            return True
        if NUMBERS[run.first] > 1:
            run.lead(1)
            return True
    for run in melds.runs:  # from 1 to 13
        if any(run.codes[:MIN_SIZE]) and any(run.codes[MIN_SIZE:]):
            melds.runs.append(Run(run.first + MIN_SIZE, run.codes[MIN_SIZE:]))
            run.codes[MIN_SIZE:] = [JOKER_CODE]
            return True
    return False


def _split_group(melds: Melds) -> bool:
    """Make two groups of three of a group of four and two jokers."""
    for number, codes in melds.groups:
        numbered = [code for code in codes if code]
        if len(codes) == MAX_GROUP and len(numbered) > 1:
            codes.remove(numbered[-1])
            melds.groups.append((number, [numbered[-1], JOKER_CODE, JOKER_CODE]))
            return True
    return False


def layout_after(melds: Melds, before: Layout) -> Layout:
    """The melds as a board: those of `before` that stay first, as and where they lay, then the others.

    Melds that would change without any laid tile among them stay too. Source: docs/rules.md, section 2.6.
    """
    new: list[Said] = [(bytes(run.codes), MeldKind.RUN) for run in melds.runs]
    new += [(bytes(codes), MeldKind.GROUP) for _number, codes in melds.groups]
    left: dict[bytes, list[Said]] = {}
    for meld in new:
        left.setdefault(meld_key(*meld), []).append(meld)
    stays, gone = [], []
    for index, meld_before in enumerate(before):
        same = left.get(meld_key(*meld_before))
        if same:
            same.pop()
            stays.append(index)
        else:
            gone.append(index)
    changed: list[Said] = []
    for cluster in _clusters([(before[index], index) for index in gone], list(chain.from_iterable(left.values()))):
        if sum(len(before[index][0]) for index in cluster.olds) == sum(len(codes) for codes, _kind in cluster.news):
            stays += cluster.olds
        else:
            changed += cluster.news
    return tuple([before[index] for index in sorted(stays)] + sorted(changed, key=_place))


@dataclass(slots=True)
class _Cluster:
    """Melds that hang together by the faces they share: those of the board before by their index, and new ones."""

    faces: set[int]
    olds: list[int]
    news: list[Said]


def _clusters(olds: Sequence[tuple[Said, int]], news: Sequence[Said]) -> list[_Cluster]:
    single = [_Cluster(set(codes), [index], []) for (codes, _kind), index in olds]
    single += [_Cluster(set(meld[0]), [], [meld]) for meld in news]
    clusters: list[_Cluster] = []
    for merged in single:
        apart = []
        for cluster in clusters:
            if cluster.faces.isdisjoint(merged.faces):
                apart.append(cluster)
            else:
                merged.faces |= cluster.faces
                merged.olds += cluster.olds
                merged.news += cluster.news
        clusters = [*apart, merged]
    return clusters


def meld_key(codes: bytes, kind: MeldKind | None) -> bytes:
    """The same for melds that differ in nothing but the order of a group."""
    return b"R" + codes if kind is MeldKind.RUN else b"G" + bytes(sorted(codes))


def _place(meld: Said) -> tuple[bool, int]:
    codes, kind = meld
    return kind is MeldKind.GROUP, codes.replace(b"\0", b"")[0]
