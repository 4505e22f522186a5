"""A panel that only remembers: for tests, and for whoever wants the pictures in the program."""

from __future__ import annotations

from PIL import Image


class MemoryPanel:
    """Keeps every picture that was shown, `lit`, `level` and `closed`."""

    def __init__(self, size: tuple[int, int] = (128, 64), mode: str = "1") -> None:
        self.size = size
        self.mode = mode
        self.pictures: list[Image.Image] = []
        self.level = 255
        self.lit = True
        self.closed = False

    def show(self, picture: Image.Image) -> None:
        if (picture.size, picture.mode) != (self.size, self.mode):
            raise ValueError(f"expected {self.size} in {self.mode}, got {picture.size} in {picture.mode}")
        self.pictures.append(picture.copy())

    def contrast(self, level: int) -> None:
        self.level = level

    def light(self, on: bool) -> None:
        self.lit = on

    def probe(self) -> None:
        """It is always there."""

    def close(self) -> None:
        self.closed = True

    @property
    def visible(self) -> Image.Image:
        """What somebody would see now."""
        if self.lit and self.pictures:
            return self.pictures[-1]
        return Image.new(self.mode, self.size)
