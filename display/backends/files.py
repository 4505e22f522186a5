"""A panel on the disk: a PNG for each picture, and all of them as one GIF with their times when it closes."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Final

from PIL import Image

from display.backends.base import DeviceError
from display.backends.memory import MemoryPanel

_LONGEST_MS: Final = 60_000  # GIF counts hundredths in 16 bits
_SHORTEST_MS: Final = 20  # programs that play GIFs take less for their own default
_MOST_FRAMES: Final = 2000  # the GIF keeps the last ones: a day of pictures is not held in memory


class FilesPanel(MemoryPanel):
    """Writes `00001.png`, `00002.png`, ... and at the end `display.gif` into a folder, each pixel enlarged."""

    def __init__(
        self,
        folder: Path,
        size: tuple[int, int] = (128, 64),
        mode: str = "1",
        *,
        enlarged: int = 4,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(size, mode)
        self._folder = folder
        self._enlarged = enlarged
        self._clock = clock
        self._frames: deque[tuple[float, Image.Image]] = deque(maxlen=_MOST_FRAMES)
        self._number = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DeviceError(f"cannot make the folder {folder}: {error.strerror}") from error

    def show(self, picture: Image.Image) -> None:
        super().show(picture)
        self._keep()

    def light(self, on: bool) -> None:
        if on != self.lit:
            super().light(on)
            self._keep()

    def close(self) -> None:
        if self.closed:
            return
        super().close()
        if not self._frames:
            return
        ends_s = [*[shown_s for shown_s, _frame in self._frames][1:], self._clock()]
        spans_ms = [
            min(_LONGEST_MS, max(_SHORTEST_MS, round(1000 * (end_s - shown_s))))
            for (shown_s, _frame), end_s in zip(self._frames, ends_s, strict=True)
        ]
        first, *others = [frame for _shown_s, frame in self._frames]
        with contextlib.suppress(OSError):  # the pictures are there, and who closes can do nothing about it
            first.save(self._folder / "display.gif", save_all=True, append_images=others, duration=spans_ms, loop=0)

    def _keep(self) -> None:
        """Writes what is seen now."""
        width, height = self.size
        frame = self.visible.convert("L").resize(
            (width * self._enlarged, height * self._enlarged), Image.Resampling.NEAREST
        )
        self._number += 1
        self._frames.append((self._clock(), frame))
        del self.pictures[:-1]
        try:
            frame.save(self._folder / f"{self._number:05}.png", optimize=True)
        except OSError as error:
            raise DeviceError(f"cannot write into {self._folder}: {error.strerror}") from error
