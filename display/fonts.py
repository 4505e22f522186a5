"""Fonts of the screens: PT Sans Narrow, hinted by hand for small sizes, from the package `fontpkg-pt-sans-narrow`.

Its licence is the SIL Open Font License 1.1. It has all letters of the languages of `words`; what a name has besides
is shown as the nearest letter, or as a question mark.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Final, NamedTuple

from PIL import ImageFont

_PACKAGE: Final = "fontpkg_pt_sans_narrow"
_FILE: Final = "PT_Sans-Narrow-Web-{}.ttf"
_NO_GLYPH: Final = "\uffff"
_STAND_IN: Final = "?"


class Ink(NamedTuple):
    """Where the pixels of a text are, from the point on the base line where it begins."""

    left: int
    top: int
    right: int
    bottom: int


@dataclass(frozen=True, slots=True)
class Face:
    """The font in one size, as it is drawn in a mode: letters of `1` are fitted to whole pixels, also in width."""

    font: ImageFont.FreeTypeFont
    mode: str

    def ink(self, text: str) -> Ink:
        """The pixels that the text covers."""
        return _ink(self.font, self.mode, text)

    def width(self, text: str) -> int:
        """From the first to behind the last pixel."""
        ink = self.ink(text)
        return ink.right - ink.left

    @property
    def cap_height(self) -> int:
        """Pixels from the base line to the top of a capital letter."""
        return -self.ink("H").top


@lru_cache(4096)  # a clock asks for the same texts each second
def _ink(font: ImageFont.FreeTypeFont, mode: str, text: str) -> Ink:
    return Ink(*map(round, font.getbbox(text, mode, anchor="ls")))


@cache
def face(size: int, mode: str, bold: bool = True) -> Face:
    """The font with `size` pixels to the em; capital letters are about 0.7 of it high."""
    return Face(_font(size, bold), mode)


@cache
def _font(size: int, bold: bool) -> ImageFont.FreeTypeFont:
    file = resources.files(_PACKAGE) / "files" / _FILE.format("Bold" if bold else "Regular")
    with resources.as_file(file) as path:
        return ImageFont.truetype(str(path), size, layout_engine=ImageFont.Layout.BASIC)


@cache
def has_glyph(letter: str) -> bool:
    """Whether the font can show it."""
    font = _font(20, True)
    return bytes(font.getmask(letter)) != bytes(font.getmask(_NO_GLYPH))


def printable(text: str) -> str:
    """The text as it can be shown: one line, no control characters, unknown letters replaced."""
    text = " ".join(unicodedata.normalize("NFC", text).split())
    return "".join(_shown(letter) for letter in text)


@cache
def _shown(letter: str) -> str:
    if letter == " " or has_glyph(letter):
        return letter
    if unicodedata.category(letter)[0] in "CM":
        return ""
    base = unicodedata.normalize("NFKD", letter)[0]
    return base if base != letter and has_glyph(base) else _STAND_IN
