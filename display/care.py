"""Sparing an OLED, whose pixels fade with use: dim when nothing happens, dark when nothing has happened for long, and
the picture never stays on the same pixels. Decides only; `keeper` carries it out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from PIL import Image

from display.canvas import MARGIN_X, MARGIN_Y
from display.views import View, is_counting_down, subject

_AROUND: Final = (
    (0, 0),
    (1, 0),
    (2, 0),
    (2, 1),
    (1, 1),
    (0, 1),
    (-1, 1),
    (-2, 1),
    (-2, 0),
    (-2, -1),
    (-1, -1),
    (0, -1),
    (1, -1),
    (2, -1),
)


@dataclass(frozen=True, slots=True)
class CareOptions:
    """Contrasts are 0 to 255; seconds without anything happening, 0 for never; hours of local time.

    From `night_from_h` on, until `night_to_h`, `night_contrast` is the brightest; equal hours mean no night.
    """

    contrast: int = 160
    dim_contrast: int = 16
    night_contrast: int = 60
    night_from_h: int = 0
    night_to_h: int = 0
    dim_after_s: float = 180.0
    blank_after_s: float = 1200.0
    shift_every_s: float = 60.0

    def __post_init__(self) -> None:
        if not all(0 <= level <= 255 for level in (self.contrast, self.dim_contrast, self.night_contrast)):
            raise ValueError("expected contrasts from 0 to 255")
        if not all(0 <= hour <= 24 for hour in (self.night_from_h, self.night_to_h)):
            raise ValueError("expected hours from 0 to 24")


class Look(NamedTuple):
    """How the panel is to show a picture: moved by `shift` pixels to the right and down."""

    contrast: int
    lit: bool
    shift: tuple[int, int]


class Care:
    """One panel's. Something happens when a button is pressed or another `subject` is to be shown."""

    def __init__(self, options: CareOptions, now_s: float) -> None:
        self._options = options
        self._began_s = self._happened_s = now_s
        self._subject: View | None = None

    def touched(self, now_s: float) -> None:
        """Somebody pressed a button, or the like."""
        self._happened_s = now_s

    def look(self, view: View, now_s: float, hour: int) -> Look:
        """How to show the view now; a clock that counts down to somebody's end of the turn is never dark."""
        if subject(view) != self._subject:
            self._subject = subject(view)
            self._happened_s = now_s
        options = self._options
        quiet_s = now_s - self._happened_s
        dark = 0 < options.blank_after_s <= quiet_s and not is_counting_down(view)
        dim = 0 < options.dim_after_s <= quiet_s
        brightest = min(options.contrast, options.night_contrast) if self._is_night(hour) else options.contrast
        return Look(min(options.dim_contrast, brightest) if dim else brightest, not dark, self._shift(now_s))

    def next_change_s(self, now_s: float) -> float | None:
        """When the look may be another one though nothing happens; None for never."""
        options = self._options
        times_s = [
            self._happened_s + after_s for after_s in (options.dim_after_s, options.blank_after_s) if after_s > 0
        ]
        if options.shift_every_s > 0:
            turns = (now_s - self._began_s) // options.shift_every_s
            times_s.append(self._began_s + (turns + 1) * options.shift_every_s)
        return min((time_s for time_s in times_s if time_s > now_s), default=None)

    def _shift(self, now_s: float) -> tuple[int, int]:
        if self._options.shift_every_s <= 0:
            return (0, 0)
        return _AROUND[int((now_s - self._began_s) / self._options.shift_every_s) % len(_AROUND)]

    def _is_night(self, hour: int) -> bool:
        start, end = self._options.night_from_h, self._options.night_to_h
        if start <= end:
            return start <= hour < end
        return hour >= start or hour < end


def shifted(picture: Image.Image, shift: tuple[int, int]) -> Image.Image:
    """The picture moved by at most the margins that screens keep free; its outermost pixels fill what gets free."""
    dx, dy = shift
    assert abs(dx) <= MARGIN_X
    assert abs(dy) <= MARGIN_Y
    if shift == (0, 0):
        return picture
    width, height = picture.size
    moved = picture.transform(picture.size, Image.Transform.AFFINE, (1, 0, -dx, 0, 1, -dy), Image.Resampling.NEAREST)
    if dx:
        edge = moved.crop((dx, 0, dx + 1, height) if dx > 0 else (width + dx - 1, 0, width + dx, height))
        moved.paste(edge.resize((abs(dx), height)), (0 if dx > 0 else width + dx, 0))
    if dy:
        edge = moved.crop((0, dy, width, dy + 1) if dy > 0 else (0, height + dy - 1, width, height + dy))
        moved.paste(edge.resize((width, abs(dy))), (0, 0 if dy > 0 else height + dy))
    return moved
