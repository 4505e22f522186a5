"""Tiles: faces, their text form, and which face each tile number of a deck has.

A *face* (`Tile`) is what is printed on a tile; two tiles with one face are interchangeable. A *tile id* (`TileId`)
names one physical tile of a deck, so nothing is lost when two tiles look alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Final, NewType

TileId = NewType("TileId", int)


class Colour(Enum):
    """A colour of tiles or a suit of cards; the value is its letter in text form."""

    RED = "R"
    BLUE = "B"
    BLACK = "K"
    YELLOW = "Y"
    SPADES = "S"
    HEARTS = "H"
    DIAMONDS = "D"
    CLUBS = "C"


TILE_COLOURS: Final = (Colour.RED, Colour.BLUE, Colour.BLACK, Colour.YELLOW)
SUITS: Final = (Colour.SPADES, Colour.HEARTS, Colour.DIAMONDS, Colour.CLUBS)
MIN_NUMBER: Final = 1
MAX_NUMBER: Final = 13
_CARD_RANKS: Final = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")


@dataclass(frozen=True, slots=True, order=False)
class Tile:
    """The face of a tile or card: a colour and a number 1 to 13, or a joker (no colour, number 0)."""

    colour: Colour | None
    number: int

    @property
    def is_joker(self) -> bool:
        return self.colour is None

    def __str__(self) -> str:
        """The text form: `R5`, `K13`, `J`; cards `S7`, `HQ`."""
        if self.colour is None:
            return "J"
        if self.colour in SUITS:
            return f"{self.colour.value}{_CARD_RANKS[self.number - 1]}"
        return f"{self.colour.value}{self.number}"


JOKER: Final = Tile(None, 0)


@cache
def _faces_by_text() -> dict[str, Tile]:
    colours = TILE_COLOURS + SUITS
    faces = [Tile(colour, number) for colour in colours for number in range(MIN_NUMBER, MAX_NUMBER + 1)]
    return {str(tile): tile for tile in (*faces, JOKER)}


def parse_tile(text: str) -> Tile:
    """The face written as `text`. Raises `ValueError` with the text if it names none."""
    try:
        return _faces_by_text()[text.strip().upper()]
    except KeyError:
        raise ValueError(f"no such tile: {text!r} (expected for example R5, K13, J, or S7, HQ for cards)") from None


def parse_tiles(text: str) -> tuple[Tile, ...]:
    """The faces in `text`, separated by blanks or commas, in order."""
    return tuple(parse_tile(part) for part in text.replace(",", " ").split())


@cache
def deck_faces(deck: str, jokers: int) -> tuple[Tile, ...]:
    """The faces of a deck by tile id (index = `TileId`).

    `deck` is `tiles` (four colours, 1 to 13, each twice) or `cards` (one pack of 52); the jokers come last.
    """
    if deck == "tiles":
        numbered = [Tile(c, n) for c in TILE_COLOURS for n in range(1, 14) for _copy in range(2)]
    elif deck == "cards":
        numbered = [Tile(c, n) for c in SUITS for n in range(1, 14)]
    else:
        raise ValueError(f"no such deck: {deck!r}")
    return (*numbered, *(JOKER for _ in range(jokers)))
