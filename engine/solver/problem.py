"""What there is to place, as a search: counts of faces, tiles that are of no use, the stages of all numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from operator import add, sub
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
_FIRSTS: Final = range(1, FACES, MAX_NUMBER)  # the 1 of each colour
_ONE_COLOUR: Final = (1 << MAX_NUMBER) - 1
_STARTS: Final = sum((1 << MAX_NUMBER - 2) - 1 << first for first in _FIRSTS)  # where a run of three may begin
_MUST, _NEXT1, _NEXT2, _AHEAD, _BEHIND, _JOINTS, _PASSED, _SHOWN = range(CELL_BITS, CELL_BITS * 9, CELL_BITS)
_USUAL: Final = 2  # tiles of a face in play, without bound jokers
NONE: Final = (0,) * COLOURS_OF_A_DECK
_ORDINARY: Final = (NONE,)

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
        present = meant
        for code in range(1, FACES):
            if left[code]:
                present |= 1 << code
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
    one, two, three, four = (present >> first & _ONE_COLOUR for first in _FIRSTS)
    if jokers:
        found = (one & two) | (three & four) | ((one | two) & (three | four))
    else:
        found = (one & two & (three | four)) | (three & four & (one | two))
    return sum(found << first for first in _FIRSTS)


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
        self.lying = counts(b"".join(codes for codes, _kind in board))
        self.held = counts(rack)
        self.tiles = [one + other for one, other in zip(self.lying, self.held, strict=True)]
        self.objective = objective
        self.weights = weights_of(objective)
        self.joker_weight = self.weights[JOKER_CODE]
        self.joints = [0] * FACES
        self.olds: dict[int, tuple[int, ...]] = {}
        self.counting = Counting.TILES
        if objective is Objective.LEAST_DISRUPTION:
            self.counting = Counting.JOINTS
            self._count_joints()
        self._plain: dict[tuple[int, bool], list[Sequence[Stage]]] = {}

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
        other.tiles, other._plain = tiles, {}
        return other

    @property
    def rack_cost(self) -> int:
        """What it costs to lay nothing."""
        return self._cost(self.held)

    def _cost(self, tiles: Iterable[int]) -> int:
        return sum([self.weights[number] * count for number, count in zip(NUMBERS, tiles, strict=False) if count])

    def problem(self, terms: Terms, *, spend: bool = False) -> Problem:
        """The search for all tiles under these terms. `spend`: all free jokers are placed in it."""
        stages = list(self._plain_stages(terms.jokers, spend))
        touched = {NUMBERS[code] for code in (*terms.needed, *terms.passed, *terms.shown)} | set(terms.together)
        for number in terms.ways:
            touched |= {number, max(1, number - 1), max(1, number - 2)}  # how many tiles come next is part of a stage
        for number in touched:
            stages[number - 1] = self.stages(terms, number, spend)
        left_out = self._cost(map(sub, map(add, self.lying, self.held), self.tiles))
        weights = self.weights[1:] if self.counting is Counting.TILES else [1] * MAX_NUMBER
        return Problem(terms.jokers, stages, weights, spend, left_out)

    def _plain_stages(self, jokers: int, spend: bool) -> list[Sequence[Stage]]:
        key = jokers, spend
        if key not in self._plain:
            self._plain[key] = self._stages_of_all(jokers, spend)
        return self._plain[key]

    def _stages_of_all(self, jokers: int, spend: bool) -> list[Sequence[Stage]]:
        """The stages of all numbers where nothing is asked for: `stage` in one pass."""
        pair = tables(jokers, _USUAL, spend, self.counting).rows
        next1 = [*self.tiles[1:], 0]
        for last in range(MAX_NUMBER, FACES, MAX_NUMBER):
            next1[last] = 0
        next2 = [*next1[1:], 0]
        for last in range(MAX_NUMBER, FACES, MAX_NUMBER):
            next2[last] = 0
        cells = [
            there | must << _MUST | one << _NEXT1 | two << _NEXT2 | joints << _JOINTS
            for there, must, one, two, joints in zip(self.tiles, self.lying, next1, next2, self.joints, strict=True)
        ]
        common = partners(jokers, spend)
        stages: list[Sequence[Stage]] = []
        for number in range(1, MAX_NUMBER + 1):
            rest = min(2, MAX_NUMBER - number) << _AHEAD | (number - 1 if spend else 0) << _BEHIND
            one, two, three, four = cells[number::MAX_NUMBER]
            rows = pair(one | rest, two | rest), pair(three | rest, four | rest)
            olds = self.olds.get(number, ())
            joining = partners(jokers, spend, olds) if olds else common
            stages.append((Stage(rows, joining, self.tiles[number::MAX_NUMBER], olds=olds),))
        return stages

    def stages(self, terms: Terms, number: int, spend: bool) -> Sequence[Stage]:
        """The stages of a number: one for each way to give bound jokers to colours."""
        return [self.stage(terms, number, spend, way) for way in terms.ways.get(number, _ORDINARY)]

    def stage(
        self,
        terms: Terms,
        number: int,
        spend: bool = False,
        way: tuple[int, ...] = NONE,
        taken: tuple[int, ...] = NONE,
        bound_taken: tuple[int, ...] = NONE,
    ) -> Stage:
        """A number, if bound jokers are `way`, and some tiles and bound jokers are taken for melds asked for."""
        ahead = min(2, MAX_NUMBER - number)
        behind = number - 1 if spend else 0
        tiles = self.tiles
        cells = []
        may = []
        for colour in _COLOURS:
            code = colour * MAX_NUMBER + number
            there = tiles[code] + way[colour] - taken[colour]
            needed = self.lying[code] + terms.needed.get(code, 0) + bound_taken[colour] - taken[colour]
            must = max(0, needed) + way[colour] - bound_taken[colour]
            may.append(there)
            next1 = tiles[code + 1] + _most_bound(terms, code + 1) if ahead else 0
            next2 = tiles[code + 2] + _most_bound(terms, code + 2) if ahead > 1 else 0
            cell = there | must << _MUST | next1 << _NEXT1 | next2 << _NEXT2 | ahead << _AHEAD | behind << _BEHIND
            cell |= self.joints[code] << _JOINTS | (code in terms.passed) << _PASSED | (code in terms.shown) << _SHOWN
            cells.append(cell)
        olds = self.olds.get(number, ())
        together = terms.together.get(number, ())
        joining = partners(terms.jokers, spend, olds, together)
        shared = tables(terms.jokers, min(max(_USUAL, *may), MOST), spend, self.counting)
        one, two, three, four = cells
        rows = shared.rows(one, two), shared.rows(three, four)
        return Stage(rows, joining, may, way, olds, together, taken, bound_taken)


def _most_bound(terms: Terms, code: int) -> int:
    """How many bound jokers may stand for this face."""
    ways = terms.ways.get(NUMBERS[code])
    return max(way[COLOUR_INDEXES[code]] for way in ways) if ways else 0
