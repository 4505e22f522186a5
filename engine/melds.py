"""Reading a meld: is it a group or a run, what is it worth, what may each joker in it stand for.

A meld is read from its faces in table order; in a run the place of a joker decides what it stands for, in a group the
order does not matter. Source: docs/rules.md, section 2.1. Cards (`es`) are read by the same rules, ace low.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import combinations, permutations
from typing import Final

from engine.faces import COLOUR_INDEXES, COLOURS_OF_A_DECK, JOKER_CODE, NUMBERS, codes_of, text_of, tiles_of
from engine.state import MeldKind
from engine.tiles import MAX_NUMBER, Tile

MIN_SIZE: Final = 3
MAX_GROUP: Final = 4
_REMEMBERED: Final = 1 << 16
_MOST_JOKERS: Final = 4  # of any deck


@dataclass(frozen=True, slots=True)
class Meld:
    """A legal meld as it is read. `codes` are its faces in table order, see `faces`.

    `jokers` holds for each joker, from left to right, the codes of the faces it may stand for, ascending. `key` is the
    same for melds that differ in nothing the rules look at (the order within a group).
    """

    kind: MeldKind
    codes: bytes
    points: int
    jokers: tuple[tuple[int, ...], ...]
    key: bytes = field(compare=False)

    @property
    def stands_for(self) -> tuple[tuple[Tile, ...], ...]:
        """For each joker, from left to right, the faces it may stand for."""
        return tuple(tiles_of(options) for options in self.jokers)

    @property
    def by_place(self) -> tuple[tuple[Tile, ...], ...]:
        """For each place the faces that its joker may stand for, empty where a numbered tile lies."""
        jokers = iter(self.stands_for)
        return tuple(next(jokers) if code == JOKER_CODE else () for code in self.codes)

    @property
    def numbered(self) -> bytes:
        """The codes that are not jokers, in table order."""
        return self.codes.replace(b"\0", b"")


def read_meld(tiles: Sequence[Tile], declared: MeldKind | None = None) -> Meld | None:
    """The meld that `tiles` form, None if they form none; `declared` is how the player means it."""
    return read(codes_of(tiles), declared)


@lru_cache(maxsize=_REMEMBERED)
def read(codes: bytes, declared: MeldKind | None = None) -> Meld | None:
    """The meld that faces form, None if they form none (or none of the declared kind).

    Nothing declared: the only possible reading; else the one worth more; if equal, the group.
    """
    group = _as_group(codes) if declared is not MeldKind.RUN else None
    run = _as_run(codes) if declared is not MeldKind.GROUP else None
    if group is None or run is None:
        return group or run
    return run if run.points > group.points else group


def _as_group(codes: bytes) -> Meld | None:
    numbered = codes.replace(b"\0", b"")
    if not MIN_SIZE <= len(codes) <= MAX_GROUP or not numbered:
        return None
    number = NUMBERS[numbered[0]]
    colours = {COLOUR_INDEXES[code] for code in numbered}
    if len(colours) < len(numbered) or any(NUMBERS[code] != number for code in numbered):
        return None
    first = min(colours) - min(colours) % COLOURS_OF_A_DECK  # tiles and cards are never in one deck
    missing = tuple(
        colour * MAX_NUMBER + number for colour in range(first, first + COLOURS_OF_A_DECK) if colour not in colours
    )
    jokers = (missing,) * (len(codes) - len(numbered))
    return Meld(MeldKind.GROUP, codes, number * len(codes), jokers, b"G" + bytes(sorted(codes)))


def _as_run(codes: bytes) -> Meld | None:
    size = len(codes)
    numbered = codes.replace(b"\0", b"")
    if not MIN_SIZE <= size <= MAX_NUMBER or not numbered:
        return None
    first = numbered[0] - codes.index(numbered[0])  # code of the first place
    lowest = NUMBERS[numbered[0]] - codes.index(numbered[0])
    if lowest < 1 or lowest + size - 1 > MAX_NUMBER:
        return None
    if any(code not in (JOKER_CODE, first + place) for place, code in enumerate(codes)):
        return None
    jokers = tuple((first + place,) for place, code in enumerate(codes) if code == JOKER_CODE)
    points = (2 * lowest + size - 1) * size // 2
    return Meld(MeldKind.RUN, codes, points, jokers, b"R" + codes)


@cache
def _legal_codes() -> frozenset[bytes]:
    """The codes of every legal meld of tiles: runs with jokers in place, groups in any order."""
    found = set()
    for colour in range(COLOURS_OF_A_DECK):
        for size in range(MIN_SIZE, MAX_NUMBER + 1):
            for lowest in range(1, MAX_NUMBER - size + 2):
                first = colour * MAX_NUMBER + lowest
                for jokers in range(min(size - 1, _MOST_JOKERS) + 1):
                    for places in combinations(range(size), jokers):
                        found.add(bytes(JOKER_CODE if at in places else first + at for at in range(size)))
    for number in range(1, MAX_NUMBER + 1):
        faces = range(number, COLOURS_OF_A_DECK * MAX_NUMBER + 1, MAX_NUMBER)
        for size in range(1, MAX_GROUP + 1):
            for chosen in combinations(faces, size):
                for jokers in range(max(0, MIN_SIZE - size), MAX_GROUP - size + 1):
                    found |= set(map(bytes, permutations((*chosen, *[JOKER_CODE] * jokers))))
    return frozenset(found)


def all_legal(melds: Iterable[bytes]) -> bool:
    """Whether each of these codes forms a group or a run of tiles, read in any way: `read` of a board at once."""
    return _legal_codes().issuperset(melds)


def why_no_meld(codes: bytes, declared: MeldKind | None = None) -> str:
    """One sentence for a person: what keeps these faces from being a meld. Only for faces that form none."""
    shown = text_of(codes)
    numbered = codes.replace(b"\0", b"")
    numbers = {NUMBERS[code] for code in numbered}
    colours = {COLOUR_INDEXES[code] for code in numbered}
    if not codes:
        return "There is an empty place where a group or a run should be."
    if len(codes) < MIN_SIZE:
        return f"{shown}: a group or a run needs at least three tiles."
    if not numbered:
        return f"{shown}: jokers alone are no group and no run, at least one tile must have a number."
    if len(numbers) == 1 and len(numbered) > 1 and declared is not MeldKind.RUN:
        if len(colours) < len(numbered):
            return f"{shown}: in a group every colour may be there only once."
        return f"{shown}: a group has three or four tiles."
    if len(colours) == 1 and len(numbers) == len(numbered) and declared is not MeldKind.GROUP:
        return _why_no_run(codes, shown)
    if declared is MeldKind.GROUP:
        return f"{shown}: in a group all tiles have the same number and different colours."
    if declared is MeldKind.RUN:
        return f"{shown}: in a run all tiles have the same colour and the numbers follow one another."
    return f"{shown}: this is no group (one number, different colours) and no run (one colour, numbers in a row)."


def _why_no_run(codes: bytes, shown: str) -> str:
    first = next(place for place, code in enumerate(codes) if code != JOKER_CODE)
    lowest = NUMBERS[codes[first]] - first
    if all(code in (JOKER_CODE, codes[first] - first + place) for place, code in enumerate(codes)):
        if lowest < 1:
            return f"{shown}: the joker would be lower than 1, and 1 is the lowest."
        return f"{shown}: the joker would be higher than 13, and 13 is the highest."
    return f"{shown}: in a run the numbers follow one another without a gap, and 13 is the end."
