"""Faces as small numbers, so that melds are short byte strings: quick to compare, to count and to remember.

A *code* is 0 for a joker, else 13 * colour + number: 1 to 52 for tiles (red, blue, black, yellow), 53 to 104 for cards
(spades, hearts, diamonds, clubs). Neighbours of one colour have neighbouring codes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

from engine.tiles import JOKER, MAX_NUMBER, SUITS, TILE_COLOURS, Tile, deck_faces, parse_tile

JOKER_CODE: Final = 0
_COLOURS: Final = TILE_COLOURS + SUITS
TILES_BY_CODE: Final = (JOKER, *(Tile(colour, number) for colour in _COLOURS for number in range(1, MAX_NUMBER + 1)))
_CODES: Final = {tile: code for code, tile in enumerate(TILES_BY_CODE)}
_CODES_BY_TEXT: Final = {str(tile): code for code, tile in enumerate(TILES_BY_CODE)}

NUMBERS: Final = bytes(tile.number for tile in TILES_BY_CODE)  # by code; 0 for a joker
COLOUR_INDEXES: Final = bytes([0, *((code - 1) // MAX_NUMBER for code in range(1, len(TILES_BY_CODE)))])  # by code
COLOURS_OF_A_DECK: Final = 4


@cache
def deck_codes(deck: str, jokers: int) -> bytes:
    """The code of every tile of a deck, by tile id."""
    return codes_of(deck_faces(deck, jokers))


def codes_of(tiles: Iterable[Tile]) -> bytes:
    """The codes of faces, in order."""
    return bytes([_CODES[tile] for tile in tiles])


def codes_in(texts: Sequence[str]) -> bytes:
    """The codes of faces in text form, in order. Raises `ValueError` with the first text that names none."""
    try:
        return bytes([_CODES_BY_TEXT[text] for text in texts])
    except KeyError:
        return codes_of(map(parse_tile, texts))


def tiles_of(codes: Iterable[int]) -> tuple[Tile, ...]:
    """The faces of codes, in order."""
    return tuple(TILES_BY_CODE[code] for code in codes)


def text_of(codes: Iterable[int]) -> str:
    """The faces in text form, separated by blanks."""
    return " ".join(texts_of(codes))


def texts_of(codes: Iterable[int]) -> tuple[str, ...]:
    """Each face in text form."""
    return tuple(str(TILES_BY_CODE[code]) for code in codes)
