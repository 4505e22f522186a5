"""What there is to place, as a search: counts of faces, tiles that are of no use, the stages of all numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.faces import COLOURS_OF_A_DECK
from engine.solver.search import Problem, Stage
from engine.solver.solution import Objective
from engine.solver.tables import Cell, Counting, partners, tables
from engine.tiles import MAX_NUMBER

FACES: Final = COLOURS_OF_A_DECK * MAX_NUMBER + 1
_COLOURS: Final = range(COLOURS_OF_A_DECK)
_STARTS: Final = (1 << MAX_NUMBER - 2) - 1  # where a run of three may begin


def counts(codes: bytes) -> list[int]:
    """How often each code occurs."""
    found = [0] * FACES
    for code in codes:
        found[code] += 1
    return found


def usable(tiles: Sequence[int], jokers: int) -> list[int]:
    """The tiles of each face without those that fit in no meld, whatever else is left out. Jokers are kept."""
    left = list(tiles)
    while jokers < 2:
        present = [
            sum(1 << number for number in range(MAX_NUMBER) if left[1 + colour * MAX_NUMBER + number])
            for colour in _COLOURS
        ]
        useless = [
            present[colour] & ~(_in_runs(present[colour], jokers) | _in_groups(present, jokers)) for colour in _COLOURS
        ]
        if not any(useless):
            break
        for colour in _COLOURS:
            for number in range(MAX_NUMBER):
                if useless[colour] >> number & 1:
                    left[1 + colour * MAX_NUMBER + number] = 0
    return left


def _in_runs(present: int, jokers: int) -> int:
    """The numbers (bits) in a window of three that has at most `jokers` gaps."""
    one, two, three = present, present >> 1, present >> 2
    starts = (one & two | two & three | one & three if jokers else one & two & three) & _STARTS
    return starts | starts << 1 | starts << 2


def _in_groups(present: Sequence[int], jokers: int) -> int:
    """The numbers (bits) that are there in three colours less `jokers`."""
    one, two, three, four = present
    if jokers:
        return one & two | three & four | (one | two) & (three | four)
    return one & two & (three | four) | three & four & (one | two)


def weights_of(objective: Objective) -> list[int]:
    """What a tile left on the rack costs, by its number; first, of a joker."""
    match objective:
        case Objective.TILES | Objective.LEAST_DISRUPTION:
            return [1] * (MAX_NUMBER + 1)
        case Objective.VALUE:
            return list(range(MAX_NUMBER + 1))
        case Objective.TILES_THEN_VALUE:
            return [1024 + number for number in range(MAX_NUMBER + 1)]
        case Objective.VALUE_THEN_TILES:
            return [64 * number + 1 for number in range(MAX_NUMBER + 1)]


def problem_of(
    tiles: Sequence[int],
    must: Sequence[int],
    jokers: int,
    weights: Sequence[int],
    *,
    spend: bool = False,
    counting: Counting = Counting.TILES,
) -> Problem:
    """The search for `tiles` of each face, of which `must` have to be used. `spend`: all jokers are placed in it."""
    shared = tables(jokers, spend=spend, counting=counting)
    joining = partners(jokers, spend=spend)
    stages = []
    for number in range(1, MAX_NUMBER + 1):
        ahead = min(2, MAX_NUMBER - number)
        behind = number - 1 if spend else 0
        codes = range(number, FACES, MAX_NUMBER)
        one, two, three, four = (
            shared.row(
                Cell(
                    tiles[code],
                    must[code],
                    tiles[code + 1] if ahead else 0,
                    tiles[code + 2] if ahead > 1 else 0,
                    ahead,
                    behind,
                )
            )
            for code in codes
        )
        cells = tuple(tiles[code] for code in codes), tuple(must[code] for code in codes)
        stages.append((Stage((one, two, three, four), joining, cells),))
    return Problem(shared, stages, weights[1:], spend)
