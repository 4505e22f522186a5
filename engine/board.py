"""Melds in play: how the melds of a board are read, which of them changed, and which tiles came or went.

A *layout* is a board on faces: the codes of each meld in table order and the kind the player said, if any.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from engine.actions import Exchange, Play
from engine.faces import JOKER_CODE
from engine.melds import Meld, read
from engine.state import MeldKind, Seat, Slot, TableMeld
from engine.tiles import TileId

Layout = tuple[tuple[bytes, MeldKind | None], ...]


def layout_of(board: Iterable[TableMeld], codes: bytes) -> Layout:
    """The board on faces; `codes` are those of the deck, by tile id. All ids must be in the deck."""
    return tuple((bytes([codes[tile] for tile in meld.tiles]), meld.kind) for meld in board)


def read_layout(layout: Layout, before: Sequence[Meld | None] = ()) -> tuple[Meld | None, ...]:
    """Each meld as it is read, None where there is none.

    A meld that can be read both ways and of which nothing is said stays what it was among `before`.
    Source: docs/rules.md, section 2.1.
    """
    return tuple(_read_on(codes, declared, before) for codes, declared in layout)


def _read_on(codes: bytes, declared: MeldKind | None, before: Sequence[Meld | None]) -> Meld | None:
    if declared is None and codes.count(JOKER_CODE) > 1 and before:
        numbered = codes.replace(b"\0", b"")
        for old in before:
            if old is not None and old.numbered == numbered and len(old.jokers) > 1:
                kept = read(codes, old.kind)
                if kept is not None:
                    return kept
    return read(codes, declared)


def tiles_on(board: Iterable[TableMeld]) -> list[TileId]:
    """The ids on a board, in table order."""
    return [tile for meld in board for tile in meld.tiles]


def changed(before: Sequence[Meld | None], after: Sequence[Meld | None]) -> tuple[list[int], list[int]]:
    """The indexes of the melds of `before` that are gone, and of those of `after` that are new.

    Equal melds are interchangeable. A meld that reads as none always counts as changed.
    """
    left = Counter(meld.key for meld in after if meld is not None)
    gone = []
    for index, meld in enumerate(before):
        if meld is not None and left[meld.key] > 0:
            left[meld.key] -= 1
        else:
            gone.append(index)
    new = []
    for index, meld in enumerate(after):
        if meld is None or left[meld.key] > 0:
            new.append(index)
            if meld is not None:
                left[meld.key] -= 1
    return gone, new


def difference(more: Iterable[int], less: Iterable[int]) -> bytes:
    """The codes of `more` beyond those of `less`, ascending."""
    return bytes(sorted((Counter(more) - Counter(less)).elements()))


def fits(part: bytes, whole: bytes) -> bool:
    """Whether each code is in `whole` at least as often as in `part`."""
    return all(whole.count(code) >= part.count(code) for code in part)


def draft_play(
    seat: Seat,
    rack: Mapping[Slot, TileId],
    melds: Iterable[TableMeld],
    opening: Sequence[TableMeld] = (),
    exchanges: Sequence[Exchange] = (),
) -> Play:
    """The play that a draft stands for: its melds without the empty ones; own tiles that lie in them are laid."""
    board = tuple(meld for meld in melds if meld.tiles)
    lying = set(tiles_on(board))
    laid = tuple((slot, tile) for slot, tile in sorted(rack.items()) if tile in lying)
    return Play(seat, board, laid, tuple(opening), tuple(exchanges))
