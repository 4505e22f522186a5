"""What may follow a state at one number, worked out once and shared by all positions.

A *cell* is what the search has to know of one colour at one number. Its options depend on little else than a few small
counts, so they repeat: equal options are kept once and named by a small number, and what two colours can do together is
kept by the pair of these numbers. See the package's docstring for the theory.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from enum import Enum
from functools import cache
from itertools import combinations_with_replacement
from typing import Final, NamedTuple

from engine.solver.groups import BASE

_MOST_PAIRS: Final = 6000  # that are remembered, some megabytes; then the oldest are forgotten
PAIR_SHIFT: Final = 20  # between the numbers of the options of two colours in a key of `Pairs`

# Open runs of one colour by length (1, 2, and 3 or more), each state a small number below 256.
_MAX_OPEN: Final = 8
STATES: Final = tuple(
    (one, two, long)
    for total in range(_MAX_OPEN)
    for one in range(total + 1)
    for two in range(total + 1 - one)
    for long in (total - one - two,)
)
PLACES: Final = bytes(map(sum, STATES)).ljust(256, b"\0")  # by state: the runs that have a place at this number
STATE_IDS: Final = {state: index for index, state in enumerate(STATES)}

assert len(STATES) <= 256
assert STATES[0] == (0, 0, 0)


class Counting(Enum):
    """What the cost of an option is made of."""

    TILES = "tiles"  # tiles left out
    JOINTS = "joints"  # the same times `JOINT_SCALE`, and joints broken
    PLACES = "places"  # tiles left out, places in runs, how much lower leading jokers are; in steps of `PLACES_SCALE`


JOINT_SCALE: Final = 256  # a tile laid is worth more than all joints on a board
PLACES_SCALE: Final = 256


CELL_BITS: Final = 4  # of each field of a cell, when packed into one number


class Cell(NamedTuple):
    """One colour at one number.

    `tiles` may be used, `must` of them have to be. `next1`, `next2`: tiles at the next two numbers. `ahead`: how many
    numbers follow (2 = two or more). `behind`: how many come before, where that matters. `joints`: runs of the present
    board that lead here from the number before (only where broken joints cost something). `passed`: a run has to come
    from the number before. `shown`: a tile, not a free joker, has to be in a run here.
    """

    tiles: int
    must: int
    next1: int
    next2: int
    ahead: int
    behind: int = 0
    joints: int = 0
    passed: int = 0
    shown: int = 0

    @staticmethod
    def unpacked(key: int) -> Cell:
        """The cell whose fields are packed into one number, from the lowest bits."""
        return Cell(*(key >> CELL_BITS * place & (1 << CELL_BITS) - 1 for place in range(len(Cell._fields))))


Option = tuple[int, int, int, int]  # cost, jokers, jokers that the short runs will need at least, next state
Options = tuple[tuple[Option, ...], ...]  # by the number of tiles that go to groups
# The use of two colours for groups, see `groups.BASE`, jokers that the short runs will need, the next state.
Way = tuple[int, int, int]
Ways = tuple[Way, ...]
Pair = tuple[tuple[int, tuple[Ways, ...]], ...]  # by cost, the least first, and number of jokers


class Row(dict[int, int]):
    """Of one cell: from the state before to the number of its options."""

    def __init__(self, tables: Tables, cell: Cell) -> None:
        self._tables = tables
        self._cell = cell

    def __missing__(self, state: int) -> int:
        options = self[state] = self._tables.interned(self._cell, state)
        return options


class Rows(dict[int, Row]):
    """The rows by packed cell."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def __missing__(self, key: int) -> Row:
        row = self[key] = Row(self._tables, Cell.unpacked(key))
        return row


class Pairs(OrderedDict[int, Pair]):
    """What two colours can do together, by the numbers of their options, the first one `PAIR_SHIFT` higher."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def __missing__(self, key: int) -> Pair:
        if len(self) >= _MOST_PAIRS:
            self.popitem(last=False)
        pair = self[key] = self._tables.joined(key >> PAIR_SHIFT, key & (1 << PAIR_SHIFT) - 1)
        return pair


class Tables:
    """The tables for one number of free jokers: `rows` of one colour, `pairs` of two.

    `most` is the greatest number of tiles of one colour that can go to groups of a number. `spend`: every way to use
    jokers is listed; otherwise only those in which they are needed.
    """

    def __init__(self, jokers: int, most: int, spend: bool, counting: Counting) -> None:
        self.jokers = jokers
        self.most = most
        self.rows = Rows(self)
        self.pairs = Pairs(self)
        self._spend = spend
        self._counting = counting
        self._ids: dict[Options, int] = {}
        self._flat: list[list[tuple[int, int, int, int, int]]] = []  # by the number of options: groups, and an option
        self._ways: dict[Way, Way] = {}  # equal ones are one object: less memory, and what is used often is at hand

    def interned(self, cell: Cell, state: int) -> int:
        """The number of the options of a cell after a state."""
        options = tuple(tuple(self._options_of(cell, state, groups)) for groups in range(self.most + 1))
        number = self._ids.get(options)
        if number is None:
            number = self._ids[options] = len(self._flat)
            self._flat.append([(many, *option) for many, found in enumerate(options) for option in found])
        return number

    def _options_of(self, cell: Cell, state: int, groups: int) -> list[Option]:
        if groups > cell.tiles:
            return []
        one, two, long = STATES[state]
        own = cell.tiles - groups
        short = one + two
        least = max(short, cell.must - groups, min(own, short + long))
        most = own + self.jokers if self._spend or cell.next1 else max(least, own)
        options = []
        for runs in range(least, most + 1):
            going_on = min(long, runs - short)
            new = runs - short - going_on
            if new > own:
                break
            if (cell.passed and runs == new) or (cell.shown and not min(own, runs)):
                continue
            for led in self._leading_jokers(cell, new):
                ones, twos = led.count(0), one + led.count(1)
                jokers = max(0, runs - own) + sum(led)
                need = max(0, ones + twos - cell.next1) + max(0, ones - cell.next2)
                after = STATE_IDS.get((ones, twos, runs - ones - twos))
                fits = twos == ones == 0 if not cell.ahead else cell.ahead > 1 or not ones
                if fits and jokers + need <= self.jokers and after is not None:
                    options.append((self._cost(cell, own, runs, runs - new, led), jokers, need, after))
        return options

    def _leading_jokers(self, cell: Cell, new: int) -> Iterable[tuple[int, ...]]:
        """How many jokers may come before the first tile of each of `new` runs; where none need to, none does."""
        if not self._spend:
            return ((2 - cell.ahead,) * new,)
        return combinations_with_replacement(range(min(cell.behind, self.jokers) + 1), new)

    def _cost(self, cell: Cell, own: int, runs: int, continued: int, led: tuple[int, ...]) -> int:
        left_out = max(0, own - runs)
        match self._counting:
            case Counting.TILES:
                return left_out
            case Counting.JOINTS:
                return left_out * JOINT_SCALE + max(0, cell.joints - continued)
            case Counting.PLACES:
                lower = sum(jokers * (jokers + 1) // 2 for jokers in led)
                return (left_out * PLACES_SCALE + runs + sum(led)) * PLACES_SCALE + lower

    def joined(self, first: int, second: int) -> Pair:
        """What two colours can do together, by the numbers of their options."""
        found: dict[int, list[list[Way]]] = {}  # by cost and jokers
        others, shared = self._flat[second], self._ways.setdefault
        for one, cost, jokers, need, after in self._flat[first]:
            left = self.jokers - jokers - need
            for two, cost2, jokers2, need2, after2 in others:
                if jokers2 + need2 <= left:
                    by_jokers = found.get(cost + cost2)
                    if by_jokers is None:
                        by_jokers = found[cost + cost2] = [[] for _count in range(self.jokers + 1)]
                    way = BASE * one + two, need + need2, after | after2 << 8
                    by_jokers[jokers + jokers2].append(shared(way, way))
        return tuple([(cost, tuple([tuple(sorted(ways)) for ways in found[cost]])) for cost in sorted(found)])


def every_option(pair: Pair) -> Iterator[tuple[int, int, int, int, int]]:
    """One after the other: use, cost, jokers, jokers that the short runs will need, next state."""
    for cost, by_jokers in pair:
        for jokers, ways in enumerate(by_jokers):
            for use, need, after in ways:
                yield use, cost, jokers, need, after


@cache
def tables(jokers: int, most: int, spend: bool, counting: Counting) -> Tables:
    """The tables for so many free jokers, kept as long as the process lives; see `Tables`."""
    return Tables(jokers, most, spend, counting)
