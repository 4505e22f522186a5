"""Positions out of plain text: a state in which seat 0 is to act, with the tiles behind its slots.

A board in text form has its melds between bars, `R4 R5 R6 | run: J B2 B3`; the kind is said only where it matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.actions import Exchange, Play
from engine.board import Layout, draft_play, tiles_on
from engine.faces import codes_of
from engine.melds import read_meld
from engine.rulesets import RuleSet
from engine.state import MeldKind, Phase, PublicState, Seat, SeatState, Slot, Stock, TableMeld
from engine.tiles import Tile, TileId, parse_tile, parse_tiles

Said = tuple[tuple[Tile, ...], MeldKind | None]  # a meld and what was said of it

ACTOR = Seat(0)
_FIRST_RACK, _FIRST_OPEN, _FIRST_OTHER = 1000, 2000, 3000  # slot numbers that no stock reaches


def parse_board(text: str) -> tuple[Said, ...]:
    """The melds in a text, in order. Raises `ValueError` with the word that is none."""
    return tuple(_parse_meld(part) for part in text.split("|") if part.strip())


def _parse_meld(text: str) -> Said:
    kind, colon, tiles = text.rpartition(":")
    if not colon:
        return parse_tiles(text), None
    try:
        return parse_tiles(tiles), MeldKind(kind.strip().lower())
    except ValueError:
        raise ValueError(f"cannot read {text.strip()!r}: expected for example run: J R5 R6, or group: R5 J J") from None


def said(sets: Iterable[Sequence[str]]) -> tuple[Said, ...]:
    """Melds given as lists of tiles in text form, of which nothing was said."""
    return tuple((tuple(parse_tile(text) for text in texts), None) for texts in sets)


def layout(melds: Iterable[Said]) -> Layout:
    """The melds on faces."""
    return tuple((codes_of(tiles), kind) for tiles, kind in melds)


class TileBox:
    """Gives out the tile ids of a deck by face, each once."""

    def __init__(self, rules: RuleSet) -> None:
        self._free: dict[Tile, list[TileId]] = {}
        for tile, face in enumerate(rules.faces):
            self._free.setdefault(face, []).append(TileId(tile))

    def take(self, face: Tile) -> TileId:
        """The next tile of this face. Raises `ValueError` if the deck has no more."""
        if not self._free.get(face):
            raise ValueError(f"the game has no more {face}")
        return self._free[face].pop(0)

    def board(self, melds: Iterable[Said]) -> tuple[TableMeld, ...]:
        """Melds as they lie on a table, each with its reading."""
        board = []
        for tiles, kind in melds:
            meld = read_meld(tiles, kind)
            board.append(TableMeld(tuple(self.take(tile) for tile in tiles), None if meld is None else meld.kind))
        return tuple(board)


@dataclass(frozen=True, slots=True)
class Position:
    """A state in which seat 0 is to act. `tiles` are those behind its rack, and of stock and discard pile if known."""

    state: PublicState
    rack: Mapping[Slot, TileId]
    tiles: Mapping[Slot, TileId]

    def place(self, melds: Iterable[Said]) -> tuple[TableMeld, ...]:
        """Melds as ids: tiles of the table first, then of the rack, then ones from nowhere."""
        faces = self.state.faces
        supply = [*tiles_on(self.state.board), *self.rack.values()]
        supply += [TileId(tile) for tile in range(len(faces)) if tile not in supply]
        return tuple(TableMeld(_pick(faces, tiles, supply), kind) for tiles, kind in melds)

    def play(
        self,
        melds: Iterable[Said],
        opening: Iterable[Said] = (),
        exchanges: Iterable[tuple[int, int, Tile]] = (),
    ) -> Play:
        """The play that leaves the board like this; exchanges are (meld, position, tile)."""
        board = self.place(melds)
        faces = self.state.faces
        lying = tiles_on(board)
        own = [tile for tile in self.rack.values() if tile in lying]
        spare = [*own, *(tile for tile in lying if tile not in own)]
        spare += [TileId(tile) for tile in range(len(faces)) if tile not in spare]
        given = [Exchange(meld, position, _pick(faces, (tile,), [*spare])[0]) for meld, position, tile in exchanges]
        first = tuple(TableMeld(_pick(faces, tiles, spare), kind) for tiles, kind in opening)
        return draft_play(ACTOR, self.rack, board, first, given)

    def texts(self, board: Iterable[TableMeld]) -> list[list[str]]:
        """The melds as lists of tiles in text form."""
        return [[str(self.state.faces[tile]) for tile in meld.tiles] for meld in board]


def _pick(faces: Sequence[Tile], wanted: Iterable[Tile], supply: list[TileId]) -> tuple[TileId, ...]:
    """Take tiles of these faces out of `supply`. Raises `ValueError` if one is missing."""
    picked = []
    for face in wanted:
        tile = next((tile for tile in supply if faces[tile] == face), None)
        if tile is None:
            raise ValueError(f"there is no {face} left to take")
        supply.remove(tile)
        picked.append(tile)
    return tuple(picked)


def tile_position(
    rules: RuleSet,
    before: Iterable[Said],
    rack: Iterable[Tile],
    *,
    opened: bool = True,
    seats: int = 2,
    pool: int = 20,
    passes: int = 0,
) -> Position:
    """A position of a tile game. Raises `ValueError` if the deck has not so many tiles of a face."""
    box = TileBox(rules)
    board = box.board(before)
    own = {Slot(0, _FIRST_RACK + index): box.take(tile) for index, tile in enumerate(rack)}
    others = tuple(SeatState(rack=(Slot(0, _FIRST_OTHER + seat),)) for seat in range(1, seats))
    state = PublicState(
        rules=rules,
        game=0,
        phase=Phase.PLAY,
        seats=(SeatState(rack=tuple(own), opened=opened), *others),
        stock=Stock(0, 0, pool),
        starter=ACTOR,
        board=board,
        known=tuple((Slot(0, _FIRST_OPEN + index), tile) for index, tile in enumerate(tiles_on(board))),
        passes=passes,
    )
    return Position(state, own, own)


def card_position(
    rules: RuleSet, table: Iterable[Said], hand: Iterable[Tile], stock: Iterable[Tile], discard: Iterable[Tile]
) -> Position:
    """A position of `es` in which no card was taken yet. `stock` next card first, `discard` top card last."""
    box = TileBox(rules)
    board = box.board(table)
    own = {Slot(0, _FIRST_RACK + index): box.take(tile) for index, tile in enumerate(hand)}
    pile = {Slot(0, _FIRST_OPEN + index): box.take(tile) for index, tile in enumerate(discard)}
    hidden = {Slot(0, index): box.take(tile) for index, tile in enumerate(stock)}
    on_board = {Slot(0, _FIRST_OPEN + len(pile) + index): tile for index, tile in enumerate(tiles_on(board))}
    state = PublicState(
        rules=rules,
        game=0,
        phase=Phase.PLAY,
        seats=(SeatState(rack=tuple(own)), SeatState(rack=(Slot(0, _FIRST_OTHER),))),
        stock=Stock(0, 0, len(hidden)),
        starter=ACTOR,
        board=board,
        discard=tuple(pile),
        known=tuple(sorted({**pile, **on_board}.items())),
    )
    return Position(state, own, {**own, **pile, **hidden})
