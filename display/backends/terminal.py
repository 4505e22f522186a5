"""A panel in the terminal, live: half blocks where it is wide enough, else braille with eight dots to a character."""

from __future__ import annotations

import os
import sys
from typing import Final, TextIO

from PIL import Image

from display.backends.base import DeviceError

_ENTER: Final = "\x1b[?1049h\x1b[?25l\x1b[2J"  # other screen, no cursor, empty
_LEAVE: Final = "\x1b[0m\x1b[?25h\x1b[?1049l"
_HOME: Final = "\x1b[H"
_RESET: Final = "\x1b[0m"
_LINE_END: Final = "\x1b[K\r\n"
_BRAILLE: Final = 0x2800
_DOTS: Final = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3))  # column, row of each bit
_GREY: Final = 232  # the first of 24 greys of the 256 colours
_THRESHOLD: Final = 110  # what braille takes for lit


class TerminalPanel:
    """Draws over the whole terminal until it is closed, and then gives it back as it was."""

    def __init__(
        self,
        size: tuple[int, int] = (128, 64),
        mode: str = "1",
        *,
        out: TextIO | None = None,
        columns: int | None = None,
    ) -> None:
        self.size = size
        self.mode = mode
        self._out = out or sys.stdout
        self._columns = columns
        self._picture: Image.Image | None = None
        self._lit = True
        self._closed = False
        self._write(_ENTER)

    def show(self, picture: Image.Image) -> None:
        self._picture = picture
        if self._lit:
            self._write(_HOME + self._drawn(picture))

    def contrast(self, level: int) -> None:
        """A terminal has none."""

    def light(self, on: bool) -> None:
        self._lit = on
        picture = self._picture if on else None
        self._write(_HOME + self._drawn(picture or Image.new(self.mode, self.size)))

    def probe(self) -> None:
        """It is there as long as writing works."""

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            try:
                self._write(_LEAVE)
            except DeviceError:
                return  # a terminal that is gone needs nothing back

    def _write(self, text: str) -> None:
        try:
            self._out.write(text)
            self._out.flush()
        except (OSError, ValueError) as error:
            raise DeviceError(f"cannot write to the terminal: {error}") from error

    def _drawn(self, picture: Image.Image) -> str:
        lines = half_blocks(picture) if self._wide_enough() else braille(picture)
        return _LINE_END.join(lines) + _RESET

    def _wide_enough(self) -> bool:
        if self._columns is not None:
            return self._columns >= self.size[0]
        try:
            return os.get_terminal_size(self._out.fileno()).columns >= self.size[0]
        except (OSError, ValueError):
            return False


def half_blocks(picture: Image.Image) -> list[str]:
    """Lines of characters with two pixels each, above each other, in greys of 256 colours."""
    grey = picture.convert("L")
    width, height = grey.size
    pixels = grey.tobytes()
    lines = []
    for top in range(0, height, 2):
        line, before = "", None
        for upper, lower in zip(pixels[top * width :][:width], pixels[(top + 1) * width :][:width], strict=True):
            colours = (_GREY + upper * 23 // 255, _GREY + lower * 23 // 255)
            line += ("" if colours == before else f"\x1b[38;5;{colours[0]};48;5;{colours[1]}m") + "▀"
            before = colours
        lines.append(line + _RESET)
    return lines


def braille(picture: Image.Image) -> list[str]:
    """Lines of characters with two by four pixels each, lit or not."""
    grey = picture.convert("L")
    width, height = grey.size
    pixels = grey.tobytes()

    def cell(left: int, top: int) -> str:
        lit = (pixels[(top + y) * width + left + x] >= _THRESHOLD for x, y in _DOTS)
        return chr(_BRAILLE + sum(1 << bit for bit, on in enumerate(lit) if on))

    return ["".join(cell(left, top) for left in range(0, width, 2)) for top in range(0, height, 4)]
