"""What there is to place, as a search: counts of faces, tiles that are of no use, the stages of all numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cache, cached_property
from operator import add, mul, sub
from struct import Struct
from typing import Final

from engine.board import Layout
from engine.faces import COLOUR_INDEXES, COLOURS_OF_A_DECK, JOKER_CODE, NUMBERS
from engine.melds import read
from engine.solver.groups import MOST, Together, partners
from engine.solver.search import Problem, Stage
from engine.solver.solution import Objective
from engine.solver.tables import CELL_BITS, JOINT_SCALE, Counting, tables
from engine.state import MeldKind
from engine.tiles import MAX_NUMBER

FACES: Final = COLOURS_OF_A_DECK * MAX_NUMBER + 1
_COLOURS: Final = range(COLOURS_OF_A_DECK)
FIRSTS: Final = range(1, FACES, MAX_NUMBER)  # the 1 of each colour
_BITS: Final = [0, *(1 << code for code in range(1, FACES))]  # by face, none for a joker
_ONE_COLOUR: Final = (1 << MAX_NUMBER) - 1
_STARTS: Final = sum((1 << MAX_NUMBER - 2) - 1 << first for first in FIRSTS)  # where a run of three may begin
_MUST, _NEXT1, _NEXT2, _AHEAD, _BEHIND, _JOINTS, _PASSED, _SHOWN = range(CELL_BITS, CELL_BITS * 9, CELL_BITS)
_LANES: Final = Struct(f"<{FACES}Q")  # a number for each face, packed into one great one
_LANE_BITS: Final = 64


def _lanes(numbers: Sequence[int]) -> int:
    """A number for each face as one number, so that all are worked on at once."""
    return int.from_bytes(_LANES.pack(*numbers), "little")


_NOT_LAST: Final = _lanes([(1 << _LANE_BITS) - 1 if 0 < number < MAX_NUMBER else 0 for number in NUMBERS[:FACES]])
_RESTS: Final = tuple(  # of a packed cell, as lanes: how many numbers follow, and, if jokers are spent, come before
    _lanes(
        [
            min(2, MAX_NUMBER - number) << _AHEAD | spend * (number - 1) << _BEHIND if number else 0
            for number in NUMBERS[:FACES]
        ]
    )
    for spend in (False, True)
)
_USUAL: Final = 2  # tiles of a face in play, without bound jokers
NONE: Final = (0,) * COLOURS_OF_A_DECK

Ways = Mapping[int, Sequence[tuple[int, ...]]]  # number: ways to give bound jokers to the colours


def counts(codes: bytes) -> list[int]:
    """How often each code occurs."""
    found = [0] * FACES
    for code in codes:
        found[code] += 1
    return found


def usable(tiles: Sequence[int], jokers: int, bound: Iterable[int] = ()) -> list[int]:
    """The tiles of each face without those that fit in no meld, whatever else is left out. Jokers are kept.

    `jokers` are free; bound ones may stand for the faces `bound`.
    """
    left = list(tiles)
    meant = sum(1 << code for code in bound)
    while jokers < 2:
        present = meant | sum([bit for bit, count in zip(_BITS, left, strict=True) if count])
        useless = present & ~(_in_runs(present, jokers) | _in_groups(present, jokers))
        if not useless:
            break
        meant &= ~useless
        for code in range(1, FACES):
            if useless >> code & 1:
                left[code] = 0
    return left


def _in_runs(present: int, jokers: int) -> int:
    """The faces (bits) in a window of three that has at most `jokers` gaps."""
    one, two, three = present, present >> 1, present >> 2
    starts = ((one & two) | (two & three) | (one & three) if jokers else one & two & three) & _STARTS
    return starts | starts << 1 | starts << 2


def _in_groups(present: int, jokers: int) -> int:
    """The faces (bits) whose number is there in three colours less `jokers`."""
    one, two, three, four = (present >> first & _ONE_COLOUR for first in FIRSTS)
    if jokers:
        found = (one & two) | (three & four) | ((one | two) & (three | four))
    else:
        found = (one & two & (three | four)) | (three & four & (one | two))
    return sum(found << first for first in FIRSTS)


def weights_of(objective: Objective) -> list[int]:
    """What a tile left on the rack costs, by its number; first, of a joker."""
    match objective:
        case Objective.TILES:
            return [1] * (MAX_NUMBER + 1)
        case Objective.LEAST_DISRUPTION:
            return [JOINT_SCALE] * (MAX_NUMBER + 1)
        case Objective.VALUE:
            return list(range(MAX_NUMBER + 1))
        case Objective.TILES_THEN_VALUE:
            return [1024 + number for number in range(MAX_NUMBER + 1)]
        case Objective.VALUE_THEN_TILES:
            return [64 * number + 1 for number in range(MAX_NUMBER + 1)]


@cache
def _costs_of(objective: Objective) -> tuple[int, ...]:
    """What a tile left on the rack costs, by its face."""
    weights = weights_of(objective)
    return tuple(weights[number] for number in NUMBERS[:FACES])


@dataclass(frozen=True, slots=True)
class Terms:
    """What a search may and must do, beyond the counts of the position.

    `jokers` are free. `ways`: jokers that are bound, by their number. `needed`: more tiles of a face have to be laid.
    `passed`, `shown`: faces, see `tables.Cell`; `together`: by number, see `groups`.
    """

    jokers: int
    ways: Ways = field(default_factory=dict)
    needed: Mapping[int, int] = field(default_factory=dict)
    passed: frozenset[int] = frozenset()
    shown: frozenset[int] = frozenset()
    together: Mapping[int, Together] = field(default_factory=dict)

    @property
    def bound_faces(self) -> list[int]:
        """The faces that bound jokers may stand for."""
        return [
            colour * MAX_NUMBER + number
            for number, ways in self.ways.items()
            for colour in _COLOURS
            if any(way[colour] for way in ways)
        ]


class Position:
    """A board and a rack as searches see them. `lying` and `tiles` count by face what is on the board, and there is."""

    def __init__(self, board: Layout, rack: bytes, objective: Objective) -> None:
        self.board = board
        self.lying = counts(b"".join([codes for codes, _kind in board]))
        self.held = counts(rack)
        self.tiles = list(map(add, self.lying, self.held))
        self.objective = objective
        self.weights = weights_of(objective)
        self._costs = _costs_of(objective)
        self.joker_weight = self.weights[JOKER_CODE]
        self.joints = [0] * FACES
        self.olds: dict[int, tuple[int, ...]] = {}
        self.counting = Counting.TILES
        if objective is Objective.LEAST_DISRUPTION:
            self.counting = Counting.JOINTS
            self._count_joints()

    def _count_joints(self) -> None:
        """The joints of the board: of runs by the higher face, jokers like tiles, of groups by their number."""
        olds: dict[int, list[int]] = {}
        for codes, kind in self.board:
            meld = read(codes, kind)
            assert meld is not None, "only a legal board can be solved"
            numbered = meld.numbered
            if meld.kind is MeldKind.RUN:
                first = numbered[0] - codes.index(numbered[0])
                for code in range(first + 1, first + len(codes)):
                    self.joints[code] += 1
            else:
                mask = sum(1 << COLOUR_INDEXES[code] for code in numbered)
                olds.setdefault(NUMBERS[numbered[0]], []).append(mask)
        self.olds = {number: tuple(sorted(masks)) for number, masks in olds.items()}

    def with_objective(self, objective: Objective) -> Position:
        """The same for another objective."""
        other = Position(self.board, b"", objective)
        other.held, other.tiles = self.held, self.tiles
        return other

    def narrowed(self, terms: Terms) -> Position:
        """The same without the tiles that fit in no meld under these terms."""
        tiles = usable(self.tiles, terms.jokers, terms.bound_faces)
        if tiles == self.tiles:
            return self
        other = copy(self)
        other.tiles = tiles
        return other

    @cached_property
    def rack_cost(self) -> int:
        """What it costs to lay nothing."""
        return self._cost(self.held)

    def _cost(self, tiles: Iterable[int]) -> int:
        return sum(map(mul, self._costs, tiles))

    def problem(self, terms: Terms, *, spend: bool = False) -> Problem:
        """The search for all tiles under these terms. `spend`: all free jokers are placed in it."""
        stages = Stages(self, terms, spend=spend).of_all()
        left_out = self._cost(map(sub, map(add, self.lying, self.held), self.tiles))
        weights = self.weights[1:] if self.counting is Counting.TILES else [1] * MAX_NUMBER
        return Problem(terms.jokers, stages, weights, spend, left_out, plain=not (terms.jokers or self.olds))


class Stages:
    """The stages of a position under some terms; `spend`: all free jokers are placed in them."""

    def __init__(self, position: Position, terms: Terms, *, spend: bool) -> None:
        self._position = position
        self._terms = terms
        self._spend = spend
        self._cells = self._packed()
        self._tables = tables(terms.jokers, _USUAL, spend, position.counting)
        self._partners = partners(terms.jokers, spend)

    def _packed(self) -> list[int]:
        """By face what a search has to know of it (see `tables.Cell`), without the jokers that may be bound to it."""
        position, terms = self._position, self._terms
        must = position.lying
        if terms.needed:
            must = [lying + terms.needed.get(code, 0) for code, lying in enumerate(must)]
        most = position.tiles
        if terms.ways:
            most = list(most)
            for number, ways in terms.ways.items():
                for colour in _COLOURS:
                    most[colour * MAX_NUMBER + number] += max([way[colour] for way in ways])
        next1 = _lanes(most) >> _LANE_BITS & _NOT_LAST  # of the next number of the colour
        next2 = next1 >> _LANE_BITS & _NOT_LAST
        packed = _lanes(position.tiles) | _lanes(must) << _MUST | next1 << _NEXT1 | next2 << _NEXT2
        packed |= _lanes(position.joints) << _JOINTS | _RESTS[self._spend]
        cells = list(_LANES.unpack(packed.to_bytes(_LANES.size, "little")))
        for code in terms.passed:
            cells[code] |= 1 << _PASSED
        for code in terms.shown:
            cells[code] |= 1 << _SHOWN
        return cells

    def of_all(self) -> list[Sequence[Stage]]:
        """The stages of every number, one for each way to give bound jokers to colours."""
        ways, olds, together = self._terms.ways, self._position.olds, self._terms.together
        tiles, cells, joining = self._position.tiles, self._cells, self._partners
        rows, pairs = self._tables.rows, self._tables.pairs
        stages: list[Sequence[Stage]] = []
        for number in range(1, MAX_NUMBER + 1):
            if number in ways:
                stages.append([self.stage(number, way) for way in ways[number]])
            elif number in olds or number in together:
                stages.append((self.stage(number),))
            else:
                one, two, three, four = cells[number::MAX_NUMBER]
                options = pairs, rows[one], rows[two], rows[three], rows[four]
                stages.append((Stage(options, joining, tiles[number::MAX_NUMBER]),))
        return stages

    def stage(
        self,
        number: int,
        way: tuple[int, ...] = NONE,
        taken: tuple[int, ...] = NONE,
        bound_taken: tuple[int, ...] = NONE,
    ) -> Stage:
        """A number, if bound jokers are `way`, and some tiles and bound jokers are taken for melds asked for."""
        position, terms = self._position, self._terms
        tiles, cells = position.tiles[number::MAX_NUMBER], self._cells[number::MAX_NUMBER]
        known, joining = self._tables, self._partners
        if way is not NONE or taken is not NONE:
            for colour, (bound, all_taken, bound_too) in enumerate(zip(way, taken, bound_taken, strict=True)):
                needed = cells[colour] >> _MUST & (1 << CELL_BITS) - 1
                must = max(0, needed + bound_too - all_taken) + bound - bound_too
                tiles[colour] += bound - all_taken
                cells[colour] += bound - all_taken + (must - needed << _MUST)
            if max(tiles) > _USUAL:
                known = tables(terms.jokers, min(max(tiles), MOST), self._spend, position.counting)
        one, two, three, four = cells
        options = known.pairs, known.rows[one], known.rows[two], known.rows[three], known.rows[four]
        olds, together = position.olds.get(number, ()), terms.together.get(number, ())
        if olds or together:
            joining = partners(terms.jokers, self._spend, olds, together)
        return Stage(options, joining, tiles, way, olds, together, taken, bound_taken)
