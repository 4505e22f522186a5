"""The flow program: the best turn of any size as a small whole-number program, for free jokers and for those of `no`.

Theory of operation. No meld is listed. For each colour and number so many runs start; a run of length 1 or 2 must go on
to the next number, one of 3 or more may. For each number there is one variable for each of the five groups (four of
three colours, one of all four). A face holds as many real tiles and jokers as runs and groups pass it.

With up to two jokers that is all, as no meld can be of jokers alone. With more, runs that hold no real tile yet are
counted apart and may not end, and every group has a colour in which it holds a real tile.

`no`: at each number lie at least as many jokers as were bound to it on the board and are not exchanged; an exchange
needs a tile that is laid.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations

from engine.board import Layout, read_layout
from engine.faces import JOKER_CODE, NUMBERS
from engine.rulesets import JokerMove, RuleSet
from engine.tiles import MAX_NUMBER
from tests.engine.solver.mip import Program, Terms

_GROUPS = (*combinations(range(4), 3), tuple(range(4)))
_SURE = 2  # jokers that can form no meld by themselves


@dataclass(frozen=True, slots=True)
class Weights:
    """What laying is worth: so much for each tile, and so much for each point of its number."""

    tile: int
    point: int


def best_turn(
    rules: RuleSet, board: Layout, rack: bytes, weights: Weights, *, careful: bool = False
) -> tuple[int, int] | None:
    """Tiles and value (a joker 0) of the best turn of a seat that has opened. None: HiGHS finds nothing legal.

    `careful`: the form for many jokers also where it is not needed.
    """
    must = Counter(code for codes, _kind in board for code in codes)
    flow = _Flow(must, Counter(rack), weights, careful=careful)
    own_jokers = flow.program.variable(rack.count(JOKER_CODE), weights.tile)
    lying = [(cell.jokers, 1) for cell in flow.cells.values()]
    flow.program.row(must[JOKER_CODE], [*lying, (own_jokers, -1)], must[JOKER_CODE])
    if rules.joker_move is JokerMove.SAME_NUMBER:
        flow.bind_numbers(board)
    elif rules.joker_move is not JokerMove.FREE and must[JOKER_CODE]:
        raise ValueError("jokers that must be replaced are the set program's business")
    found = flow.program.solve()
    if found is None:
        return None
    laid = {code: found[cell.laid] for code, cell in flow.cells.items() if cell.laid is not None}
    tiles = sum(laid.values()) + (0 if own_jokers is None else found[own_jokers])
    return tiles, sum(NUMBERS[code] * count for code, count in laid.items())


def best_opening(rack: bytes, minimum: int, weights: Weights) -> tuple[int, int] | None:
    """Tiles and points of the best melds of a rack alone, jokers as what they stand for. None: not worth `minimum`."""
    flow = _Flow(Counter(), Counter(rack), weights, joker_weights=weights)
    flow.program.row(0, [(cell.jokers, 1) for cell in flow.cells.values()], rack.count(JOKER_CODE))
    held = [(one, NUMBERS[code]) for code, cell in flow.cells.items() for one in (cell.laid, cell.jokers)]
    flow.program.row(minimum, held)
    found = flow.program.solve()
    if found is None:
        return None
    numbers = [points for one, points in held if one is not None for _ in range(found[one])]
    return len(numbers), sum(numbers)


@dataclass(slots=True)
class _Cell:
    """One face: how many tiles it can hold, variables for those laid and for jokers, and what passes it."""

    must: int
    room: int
    laid: int | None
    jokers: int | None
    runs: Terms = field(default_factory=list)
    groups: Terms = field(default_factory=list)
    all_jokers: Terms = field(default_factory=list)  # runs that are all jokers, this tile included
    first_real: Terms = field(default_factory=list)  # runs whose first real tile is here
    proofs: Terms = field(default_factory=list)  # groups whose real tile is here


class _Flow:
    """The program for tiles that must lie (`must`) and tiles that may (`own`). Jokers are for the caller to count."""

    def __init__(
        self,
        must: Counter[int],
        own: Counter[int],
        weights: Weights,
        *,
        joker_weights: Weights = Weights(0, 0),
        careful: bool = False,
    ) -> None:
        self.program = Program()
        self.cells: dict[int, _Cell] = {}
        jokers = must[JOKER_CODE] + own[JOKER_CODE]
        self._careful = careful or jokers > _SURE
        for code in range(1, 4 * MAX_NUMBER + 1):
            number, room = NUMBERS[code], must[code] + own[code] + jokers
            if room:
                laid = self.program.variable(own[code], weights.tile + weights.point * number)
                joker = self.program.variable(jokers, joker_weights.tile + joker_weights.point * number)
                self.cells[code] = _Cell(must[code], room, laid, joker)
        for first in range(1, 4 * MAX_NUMBER, MAX_NUMBER):
            codes = [*range(first, first + MAX_NUMBER)]
            if self._careful:
                self._careful_runs(codes)
            else:
                self._runs(codes)
        for number in range(1, MAX_NUMBER + 1):
            self._groups_of(number)
        for cell in self.cells.values():
            self._balance(cell)

    def _new(self, *codes: int) -> int | None:
        """Something that passes all these faces."""
        return self.program.variable(min(self.cells[code].room if code in self.cells else 0 for code in codes))

    def _runs(self, codes: list[int]) -> None:
        starts = {code: self._new(code, code + 1, code + 2) for code in codes[:-2]}
        goes_on = {code: self._new(code) for code in codes[3:]}
        for code in codes:
            if code in self.cells:
                passing = [starts.get(code), starts.get(code - 1), starts.get(code - 2), goes_on.get(code)]
                self.cells[code].runs = [(one, 1) for one in passing]
        for code, longer in goes_on.items():
            self.program.row(0, [(starts.get(code - 3), 1), (goes_on.get(code - 1), 1), (longer, -1)])

    def _careful_runs(self, codes: list[int]) -> None:
        """A run is *blank* while it is all jokers; at its first real tile it becomes one that may end."""
        starts = {code: self._new(code) for code in codes}
        blank = [{code: self._new(code) for code in codes} for _length in range(3)]  # of 1, 2, 3 or more here
        turns = [{code: self._new(code) for code in codes} for _length in range(3)]  # was blank, of 1, 2, 3 or more
        goes_on = {code: self._new(code) for code in codes}
        lasting = {code: self._new(code) for code in codes}  # blank of 3 or more, and was that before

        def ones(code: int) -> Terms:
            return [(starts.get(code), 1)]

        def twos(code: int) -> Terms:
            return [*ones(code - 1), (turns[0].get(code), 1)]

        def threes(code: int) -> Terms:
            return [*twos(code - 1), (turns[1].get(code), 1), (turns[2].get(code), 1), (goes_on.get(code), 1)]

        row = self.program.row
        for code in codes:
            row(0, [(goes_on[code], -1), *(threes(code - 1) if code > codes[0] else ())])
            if code in self.cells:
                cell = self.cells[code]
                cell.all_jokers = [(length[code], 1) for length in blank]
                cell.first_real = [*ones(code), *((length[code], 1) for length in turns)]
                cell.runs = [*cell.all_jokers, *ones(code), *twos(code), *threes(code)]
            else:
                row(0, [*twos(code), *threes(code)], 0)
        for code in (*codes, codes[-1] + 1):
            before = [length.get(code - 1) for length in blank]
            row(0, [(before[0], 1), (turns[0].get(code), -1), (blank[1].get(code), -1)], 0)
            row(0, [(before[1], 1), (turns[1].get(code), -1), (blank[2].get(code), -1), (lasting.get(code), 1)], 0)
            row(0, [(before[2], 1), (turns[2].get(code), -1), (lasting.get(code), -1)], 0)
        row(0, [*ones(codes[-1]), *twos(codes[-1])], 0)

    def _groups_of(self, number: int) -> None:
        for colours in _GROUPS:
            codes = [colour * MAX_NUMBER + number for colour in colours]
            group = self._new(*codes)
            if group is None:
                continue
            for code in codes:
                self.cells[code].groups.append((group, 1))
            if self._careful:
                proofs = {code: self._new(code) for code in codes}
                self.program.row(0, [(group, -1), *((proof, 1) for proof in proofs.values())], 0)
                for code, proof in proofs.items():
                    self.cells[code].proofs.append((proof, 1))

    def _balance(self, cell: _Cell) -> None:
        """As many real tiles and jokers as pass; where it matters, which of them are in runs and which in groups."""
        row = self.program.row
        row(cell.must, [*cell.runs, *cell.groups, (cell.laid, -1), (cell.jokers, -1)], cell.must)
        if self._careful:
            in_groups = self.program.variable(cell.room)  # jokers
            row(0, [(cell.jokers, 1), (in_groups, -1), *((one, -factor) for one, factor in cell.all_jokers)])
            real_in_runs = [*cell.runs, (cell.jokers, -1), (in_groups, 1)]
            row(0, [*real_in_runs, *((one, -factor) for one, factor in cell.first_real)])
            row(0, [*cell.groups, (in_groups, -1), *((one, -factor) for one, factor in cell.proofs)])

    def bind_numbers(self, board: Layout) -> None:
        """Jokers of the board keep their number unless a laid tile is exchanged for one (`no`)."""
        bound: Counter[int] = Counter()
        exchanged: dict[int, Terms] = {}
        given: dict[int, Terms] = {}
        for meld in read_layout(board):
            assert meld is not None
            for options in meld.jokers:
                number = NUMBERS[options[0]]
                bound[number] += 1
                takes = {code: self.program.variable(1) for code in options}
                self.program.row(-1, [(take, -1) for take in takes.values()])
                for code, take in takes.items():
                    exchanged.setdefault(number, []).append((take, 1))
                    given.setdefault(code, []).append((take, -1))
        for number, count in bound.items():
            cells = [self.cells[colour * MAX_NUMBER + number] for colour in range(4)]
            self.program.row(count, [*((cell.jokers, 1) for cell in cells), *exchanged[number]])
        for code, taken in given.items():
            self.program.row(0, [(self.cells[code].laid, 1), *taken])
