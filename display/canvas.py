"""Drawing by measured text: the largest size that fits, names shortened so that they still tell people apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Final, NamedTuple

from PIL import Image, ImageDraw

from display.fonts import Face, face, printable

_INK: Final = 255
_DIM: Final = 150  # of a grey panel, for what is not said first
_ELLIPSIS: Final = "…"
_SMALLEST: Final = 10  # below this, letters with accents run together

MARGIN_X: Final = 2  # kept free on each side, and
MARGIN_Y: Final = 1  # so much above and below, so that care may move the picture


class Form(Enum):
    """What a panel has room for."""

    LOW = (128, 32)
    TALL = (128, 64)
    WIDE = (256, 64)


def form_of(size: tuple[int, int]) -> Form:
    """The largest form that the size holds; ValueError if it holds none."""
    for form in (Form.WIDE, Form.TALL, Form.LOW):
        if size[0] >= form.value[0] and size[1] >= form.value[1]:
            return form
    raise ValueError(f"a panel of {size[0]}x{size[1]} pixels holds no screen")


class Box(NamedTuple):
    """A part of the picture; `right` and `bottom` are the first pixels outside."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        return self.right - self.left

    @property
    def height(self) -> int:
        return self.bottom - self.top

    def split_x(self, at: int, gap: int = 0) -> tuple[Box, Box]:
        """What is left of the column `at`, and right of it after a gap."""
        return self._replace(right=at), self._replace(left=at + gap)

    def split_y(self, at: int, gap: int = 0) -> tuple[Box, Box]:
        """What is above the row `at`, and below it after a gap."""
        return self._replace(bottom=at), self._replace(top=at + gap)

    def grid(self, columns: int, rows: int, gap: int = 2) -> list[Box]:
        """Equal cells, column by column."""
        width = (self.width - gap * (columns - 1)) / columns
        lefts = [self.left + round(column * (width + gap)) for column in range(columns)]
        tops = [self.top + round(row * self.height / rows) for row in range(rows + 1)]
        return [Box(left, tops[row], left + int(width), tops[row + 1]) for left in lefts for row in range(rows)]


class Canvas:
    """A picture in the making. `mode`: `1` for panels that know only on and off, `L` for grey ones."""

    def __init__(self, form: Form, mode: str, inverse: bool = False) -> None:
        self.form = form
        self.mode = mode
        self.inverse = inverse
        self.paper, self.ink = (_INK, 0) if inverse else (0, _INK)
        self.dim = self.ink if mode == "1" else abs(self.paper - _DIM)
        self._image = Image.new("L", form.value, self.paper)
        self.draw = ImageDraw.Draw(self._image)
        self.draw.fontmode = mode

    @property
    def area(self) -> Box:
        """All but the margins."""
        width, height = self.form.value
        return Box(MARGIN_X, MARGIN_Y, width - MARGIN_X, height - MARGIN_Y)

    def image(self) -> Image.Image:
        """The finished picture."""
        return self._image.convert(self.mode, dither=Image.Dither.NONE)

    def fill(self, box: Box, colour: int | None = None) -> None:
        """Fills a box, with ink unless told otherwise."""
        if box.width > 0 and box.height > 0:
            self.draw.rectangle(
                (box.left, box.top, box.right - 1, box.bottom - 1), self.ink if colour is None else colour
            )

    def face(self, size: int, bold: bool = True) -> Face:
        """The font as it is drawn here."""
        return face(size, self.mode, bold)

    def put(
        self,
        text: str,
        style: Face,
        x: int,
        baseline: int,
        colour: int | None = None,
        align: str = "l",
        like: str | None = None,
    ) -> None:
        """Writes text whose ink begins (`l`), has its middle (`m`) or ends (`r`) at column `x`.

        `like` is placed there instead, and the text begins where it would: so a clock's digits stay where they are.
        """
        ink = style.ink(like or text)
        start = {"l": x - ink.left, "m": x - (ink.left + ink.right) // 2, "r": x - ink.right}[align]
        self.draw.text((start, baseline), text, self.ink if colour is None else colour, font=style.font, anchor="ls")

    def line(
        self,
        box: Box,
        text: str,
        largest: int,
        *,
        bold: bool = True,
        colour: int | None = None,
        align: str = "l",
        like: str | None = None,
        easy: int = _SMALLEST,
        shorter: Sequence[str] = (),
    ) -> None:
        """Writes one line as large as the box allows, in its middle.

        In a size below `easy` it is not written whole but shortened, or one of `shorter` in its place. `like` is
        measured in place of the text, for one that changes and must not move.
        """
        text = printable(text)
        candidates = [text, *map(printable, shorter)] if shorter else list(_shorter(text))
        size, found = self._easiest([like] if like else candidates, box, range(largest, easy - 1, -1), bold)
        style = self.face(size, bold)
        text = text if like else shortened(found, box.width, style)
        ink = style.ink(like or text)
        baseline = box.top + round((box.height - (ink.bottom - ink.top)) / 2 - ink.top)
        self.put(text, style, _anchor_x(box, align), baseline, colour, align, like)

    def _easiest(self, candidates: Sequence[str], box: Box, sizes: range, bold: bool) -> tuple[int, str]:
        for text in candidates:
            for size in sizes:
                style = self.face(size, bold)
                if _fits(text, style, box) or (size == sizes[-1] and style.width(text) <= box.width):
                    return size, text
        return _SMALLEST, candidates[0]

    def paragraph(self, box: Box, text: str, largest: int, *, bold: bool = True, align: str = "l") -> None:
        """Writes words over several lines as large as the box allows; what does not fit in the smallest is cut off."""
        text = printable(text)
        for size in range(largest, _SMALLEST - 1, -1):
            style = self.face(size, bold)
            lines = wrapped(text, box.width, style)
            pitch = style.cap_height + max(3, size // 4)
            top, tall = _block(lines, style, pitch)
            if tall <= box.height and all(style.width(line) <= box.width for line in lines):
                break
        else:
            room = max(1, (box.height + 3) // pitch)
            lines = [*lines[: room - 1], " ".join(lines[room - 1 :])]
            lines = [shortened(line, box.width, style, keep_words=False) for line in lines]
            top, tall = _block(lines, style, pitch)
        baseline = box.top + max(0, box.height - tall) // 2 - top
        for number, line in enumerate(lines):
            self.put(line, style, _anchor_x(box, align), baseline + number * pitch, None, align)

    def largest_for(self, texts: Sequence[str], width: int, height: int, largest: int) -> int:
        """The largest size in which each text fits the width and a capital the height, or the smallest."""
        for size in range(largest, _SMALLEST, -1):
            style = self.face(size)
            if style.cap_height <= height and all(style.width(text) <= width for text in texts):
                return size
        return _SMALLEST

    def strip(self, box: Box, text: str, shorter: Sequence[str] = ()) -> None:
        """A line in inverse over the whole width of the picture, from its upper edge."""
        self.fill(Box(0, 0, self.form.value[0], box.bottom))
        easy = 14 if box.height > 14 else _SMALLEST
        inside = box._replace(bottom=box.bottom - 1)
        self.line(inside, text, 20, colour=self.paper, align="m", easy=easy, shorter=shorter)

    def bar(self, box: Box, share: float) -> None:
        """How much is left of something: ink for it, a thin line for what has gone."""
        middle = box.top + (box.height - 1) // 2
        self.fill(Box(box.left, middle, box.right, middle + 1), self.dim)
        self.fill(box._replace(right=box.left + round(box.width * min(1.0, max(0.0, share)))))


def _anchor_x(box: Box, align: str) -> int:
    return {"l": box.left, "m": (box.left + box.right) // 2, "r": box.right}[align]


def _block(lines: Sequence[str], style: Face, pitch: int) -> tuple[int, int]:
    """The uppermost pixel above the first base line, and the height, of lines below each other."""
    if not lines:
        return 0, 0
    top = style.ink(lines[0]).top
    return top, (len(lines) - 1) * pitch + style.ink(lines[-1]).bottom - top


def _fits(text: str, style: Face, box: Box) -> bool:
    ink = style.ink(text)
    return ink.right - ink.left <= box.width and ink.bottom - ink.top <= box.height


def shortened(text: str, width: int, style: Face, keep_words: bool = True) -> str:
    """The text, or what can be said of it in so many pixels: later words as an initial, or not at all, or cut off."""
    return next((short for short in _shorter(text, keep_words) if style.width(short) <= width), "")


def name_forms(template: str, name: str) -> list[str]:
    """The template with the name, whole first and then shorter and shorter."""
    return [template.format(short) for short in _shorter(printable(name), keep_words=True)]


def _shorter(text: str, keep_words: bool = True) -> Iterator[str]:
    yield text
    words = text.split()
    if keep_words:
        for kept in range(len(words) - 1, 0, -1):
            yield f"{' '.join(words[:kept])} {words[kept][0]}."
        if words and len(words[0]) > 2:
            yield words[0]
    for length in range(len(text) - 1, 0, -1):
        yield text[:length].rstrip(" .,-") + _ELLIPSIS
    yield text[:1]


def told_apart(names: Sequence[str], width: int, style: Face) -> list[str]:
    """The names in so many pixels each; where two would look the same, the place in the row comes after them."""
    names = [printable(name) for name in names]
    short = [shortened(name, width, style) for name in names]
    same = Counter(short)
    for place, name in enumerate(names):
        if same[short[place]] > 1:
            number = str(place + 1)
            room = width - style.width(number)
            short[place] = shortened(name, room, style).rstrip(_ELLIPSIS + ".") + number
    return short


def wrapped(text: str, width: int, style: Face) -> list[str]:
    """The text in lines of so many pixels, broken between words; a word that is longer stays whole."""
    lines: list[str] = []
    for word in text.split():
        if lines and style.width(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines
