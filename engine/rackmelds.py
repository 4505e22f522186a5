"""Melds that can be made of a rack alone, and what can be added to melds that lie: nothing on the table is moved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from engine.actions import Play
from engine.board import Layout, difference
from engine.faces import COLOUR_INDEXES, COLOURS_OF_A_DECK, JOKER_CODE, NUMBERS, deck_codes
from engine.melds import MAX_GROUP, MIN_SIZE, Meld, read
from engine.state import MeldKind, PublicState, Seat, Slot, TableMeld
from engine.tiles import MAX_NUMBER, TileId

_MAX_STEPS = 4000  # of a search for melds; keeps a choice far below 50 ms
_LONGEST_RUN = 5  # longer runs are made of shorter ones


@dataclass(frozen=True, slots=True)
class Extension:
    """A board whose first melds are the old ones, some with tiles added, and the rest new. `left` stays on the rack."""

    board: Layout
    left: bytes


def extension(
    board: Layout,
    rack: bytes,
    melds: Sequence[Meld],
    *,
    lay_off: bool = True,
    jokers: bool = True,
    runs_first: bool = False,
) -> Extension:
    """The board with new melds of the rack, and single tiles added for as long as one fits.

    Jokers are added only if `jokers`, and nothing else is left.
    """
    lying = [*board, *((meld.codes, meld.kind) for meld in melds)]
    left = difference(rack, b"".join(meld.codes for meld in melds))
    order: Sequence[int] = range(len(lying))
    if runs_first:
        order = sorted(order, key=lambda index: lying[index][1] is MeldKind.GROUP)
    while lay_off:
        code = _lay_off_one(lying, order, left.replace(b"\0", b""))
        if code is None and jokers and left and not left.strip(b"\0"):
            code = _lay_off_one(lying, order, left[:1])
        if code is None:
            break
        left = left.replace(bytes([code]), b"", 1)
    return Extension(tuple(lying), left)


def _lay_off_one(lying: list[tuple[bytes, MeldKind | None]], order: Sequence[int], wanted: bytes) -> int | None:
    """Add the first tile that fits to the first meld where one does; its code."""
    for index in order:
        codes, kind = lying[index]
        for code in dict.fromkeys(wanted):
            tile = bytes([code])
            longer = [codes + tile, tile + codes] if kind is MeldKind.RUN else [codes + tile]
            for new in longer:
                if read(new, kind) is not None:
                    lying[index] = (new, kind)
                    return code
    return None


def extension_play(state: PublicState, seat: Seat, tiles: Mapping[Slot, TileId], board: Layout) -> Play:
    """The play on tile ids that extends the table to `board`; `tiles` are the seat's whole rack."""
    codes = deck_codes(state.rules.deck, state.rules.jokers)
    own: dict[int, list[tuple[Slot, TileId]]] = {}
    for slot, tile in sorted(tiles.items(), reverse=True):
        own.setdefault(codes[tile], []).append((slot, tile))
    laid: list[tuple[Slot, TileId]] = []

    def take(faces: bytes) -> tuple[TileId, ...]:
        taken = [own[code].pop() for code in faces]
        laid.extend(taken)
        return tuple(tile for _slot, tile in taken)

    old = len(state.board)
    new = [TableMeld(take(faces), kind) for faces, kind in board[old:]]
    longer = []
    for meld, (faces, kind) in zip(state.board, board, strict=False):
        start = faces.index(bytes([codes[tile] for tile in meld.tiles]))
        before, after = faces[:start], faces[start + len(meld.tiles) :]
        longer.append(TableMeld((*take(before), *meld.tiles, *take(after)), kind))
    return Play(seat, (*longer, *new), tuple(sorted(laid)))


def find_melds(counts: Mapping[int, int], minimum: int = 0) -> list[Meld]:
    """Melds that can lie side by side, made of `counts` of each face: many tiles, worth at least `minimum`.

    The search goes through the faces in order and tries each meld that uses the next one, or leaves it. It is exact on
    ordinary racks and gives up after a fixed number of steps on very large ones. Empty if `minimum` is out of reach.
    """
    candidates: dict[int, list[Meld]] = {}
    for meld in candidate_melds(counts):
        candidates.setdefault(min(meld.numbered), []).append(meld)
    for melds in candidates.values():
        melds.sort(key=lambda meld: (-len(meld.numbered), len(meld.jokers), -meld.points, meld.codes))
    faces = sorted(candidates)
    best: tuple[int, int, list[Meld]] = (0, 0, [])
    steps = 0

    def search(index: int, left: Counter[int], chosen: list[Meld], laid: int, points: int) -> None:
        nonlocal best, steps
        steps += 1
        if points >= minimum and (laid, points) > best[:2]:
            best = (laid, points, list(chosen))
        if index == len(faces) or steps > _MAX_STEPS:
            return
        if left[faces[index]]:
            for meld in candidates[faces[index]]:
                need = Counter(meld.codes)
                if all(left[code] >= count for code, count in need.items()):
                    left.subtract(need)
                    chosen.append(meld)
                    search(index, left, chosen, laid + len(meld.numbered), points + meld.points)
                    chosen.pop()
                    left.update(need)
        search(index + 1, left, chosen, laid, points)

    search(0, Counter(counts), [], 0, 0)
    return best[2]


def candidate_melds(counts: Mapping[int, int]) -> Iterator[Meld]:
    """Every group, and every run of 3 to 5 tiles, that can be made of `counts` of each face."""
    jokers = counts.get(JOKER_CODE, 0)
    held = sorted(code for code, count in counts.items() if count and code != JOKER_CODE)
    for number in range(1, MAX_NUMBER + 1):
        same = [code for code in held if NUMBERS[code] == number]
        for size in range(1, COLOURS_OF_A_DECK + 1):
            for chosen in combinations(same, size):
                for extra in range(max(0, MIN_SIZE - size), min(jokers, MAX_GROUP - size) + 1):
                    yield from _meld(bytes(chosen) + bytes(extra), MeldKind.GROUP)
    for colour in sorted({COLOUR_INDEXES[code] for code in held}):
        first = colour * MAX_NUMBER + 1
        row = bytes([code if counts.get(code) else JOKER_CODE for code in range(first, first + MAX_NUMBER)])
        for size in range(MIN_SIZE, _LONGEST_RUN + 1):
            for place in range(MAX_NUMBER - size + 1):
                codes = row[place : place + size]
                if codes.count(JOKER_CODE) <= jokers:
                    yield from _meld(codes, MeldKind.RUN)


def _meld(codes: bytes, kind: MeldKind) -> Iterator[Meld]:
    meld = read(codes, kind)
    if meld is not None:
        yield meld
