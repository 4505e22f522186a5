"""What a panel is to the rest of the display."""

from __future__ import annotations

from typing import Protocol

from PIL import Image


class DeviceError(Exception):
    """The panel, a pin or their bus does not answer, or is not there: a sentence for a person. Nothing else is hurt."""


class Panel(Protocol):
    """Shows pictures of its own size and mode: `1` for on and off, `L` for grey.

    Calls block for as long as the bus takes, up to a tenth of a second, and come from one thread at a time. What the
    world does wrong is a `DeviceError`; the panel must then be closed and a new one opened.
    """

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""

    @property
    def mode(self) -> str:
        """`1` or `L`."""

    def show(self, picture: Image.Image) -> None:
        """Shows a picture, whole."""

    def contrast(self, level: int) -> None:
        """How bright lit pixels are, 0 to 255; 0 is dim but not dark."""

    def light(self, on: bool) -> None:
        """Switches all pixels off, or on again with what was shown."""

    def probe(self) -> None:
        """Costs next to nothing and raises `DeviceError` if the panel has gone, where that can be known."""

    def close(self) -> None:
        """Leaves the panel dark, as far as it can be reached; never raises."""
