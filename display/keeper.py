"""Keeps a panel showing what it should: draws when the picture changes, spares the panel, opens it again when it was
gone. A panel that fails is told once and costs nothing else; all its calls are made in one thread beside the loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from PIL import Image

from display.backends.base import DeviceError, Panel
from display.care import Care, CareOptions, Look, shifted
from display.screens import draw
from display.views import View, changes_in_s
from display.words import ENGLISH, Words

_log = logging.getLogger(__name__)
_PROBE_EVERY_S: Final = 2.0  # so long may a panel be unplugged unseen
_RETRY_FIRST_S: Final = 1.0
_RETRY_LONGEST_S: Final = 30.0
_SLIGHTLY_LATER_S: Final = 0.002  # so that the wake-up is after the change and not just before it

Source = Callable[[float], View]  # what to show at a time of the keeper's clock


def retry_s(failures: int) -> float:
    """How long to wait after so many failures in a row to open the panel again."""
    return min(_RETRY_LONGEST_S, _RETRY_FIRST_S * 2.0 ** min(failures - 1, 10))


@dataclass(slots=True)
class _Shown:
    """What the panel was last told, empty for one just opened."""

    view: View | None = None
    shift: tuple[int, int] = (0, 0)
    picture: Image.Image | None = None
    contrast: int | None = None
    lit: bool = True
    probed_s: float = 0.0


class Keeper:
    """Runs one panel. `source` is asked again whenever its picture may have changed by time or `changed` was called.

    `open_panel` may raise `DeviceError`, then and later; it is called in the panel's thread. `on_view` hears every view
    that is shown, whether the panel works or not: it lights the LED and sounds the buzzer.
    """

    def __init__(
        self,
        open_panel: Callable[[], Panel],
        source: Source,
        *,
        care: CareOptions | None = None,
        words: Words = ENGLISH,
        frames_per_s: float = 4.0,
        on_view: Callable[[View], None] = lambda _view: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._open_panel = open_panel
        self._source = source
        self._words = words
        self._shortest_s = 1 / frames_per_s
        self._on_view = on_view
        self._clock = clock
        self._care = Care(care or CareOptions(), clock())
        self._wake = asyncio.Event()
        self._panel: Panel | None = None
        self._shown = _Shown()
        self._failures = 0
        self._retry_at_s = 0.0
        self._over: tuple[View, float] | None = None
        self.pictures_sent = 0

    @property
    def works(self) -> bool:
        """Whether the panel is there."""
        return self._panel is not None

    def changed(self) -> None:
        """What the source tells has changed otherwise than by time: look at once."""
        self._wake.set()

    def touched(self) -> None:
        """Somebody pressed a button: be bright."""
        self._care.touched(self._clock())
        self._wake.set()

    def flash(self, view: View, seconds: float) -> None:
        """Shows this view for so long, over what the source tells."""
        self._over = (view, self._clock() + seconds)
        self.touched()

    async def run(self) -> None:
        """Until it is cancelled; then the panel is dark and closed."""
        with ThreadPoolExecutor(1, "panel") as thread:
            try:
                while True:
                    self._wake.clear()
                    sleep_s = await self._look(thread)
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(sleep_s):  # `wait_for` may swallow a cancellation before 3.12
                            await self._wake.wait()
            finally:
                thread.submit(self._close)

    async def _look(self, thread: ThreadPoolExecutor) -> float:
        """Brings the panel up to date, and says after how long to do so again at the latest."""
        now_s = self._clock()
        view = self._view(now_s)
        self._on_view(view)
        look = self._care.look(view, now_s, time.localtime().tm_hour)
        if self._panel is not None or now_s >= self._retry_at_s:
            try:
                await asyncio.get_running_loop().run_in_executor(thread, self._bring_up_to_date, view, look, now_s)
            except DeviceError as error:
                self._failed(error, now_s)
            else:
                self._worked()
        return self._sleep_s(view, now_s)

    def _view(self, now_s: float) -> View:
        if self._over is not None:
            if now_s < self._over[1]:
                return self._over[0]
            self._over = None
        return self._source(now_s)

    def _bring_up_to_date(self, view: View, look: Look, now_s: float) -> None:
        """In the panel's thread: opens it if need be, and sends what it does not show yet."""
        try:
            if self._panel is None:
                self._panel = self._open_panel()
                self._shown = _Shown(probed_s=now_s)
            self._send(self._panel, self._shown, view, look, now_s)
        except DeviceError:
            self._close()
            raise

    def _send(self, panel: Panel, shown: _Shown, view: View, look: Look, now_s: float) -> None:
        if look.lit and (view, look.shift) != (shown.view, shown.shift):
            picture = shifted(draw(view, panel.size, panel.mode, self._words), look.shift)
            if shown.picture is None or picture.tobytes() != shown.picture.tobytes():
                panel.show(picture)
                shown.picture, shown.probed_s = picture, now_s
                self.pictures_sent += 1
            shown.view, shown.shift = view, look.shift
        if look.contrast != shown.contrast:
            panel.contrast(look.contrast)
            shown.contrast = look.contrast
        if look.lit != shown.lit:
            panel.light(look.lit)
            shown.lit = look.lit
        if now_s - shown.probed_s >= _PROBE_EVERY_S:
            panel.probe()
            shown.probed_s = now_s

    def _close(self) -> None:
        """In the panel's thread."""
        panel, self._panel = self._panel, None
        if panel is not None:
            panel.close()

    def _failed(self, error: DeviceError, now_s: float) -> None:
        if self._failures == 0:
            _log.warning("the display does not work: %s", error)
        self._failures += 1
        self._retry_at_s = now_s + retry_s(self._failures)

    def _worked(self) -> None:
        if self._failures:
            _log.warning("the display works again")
            self._failures = 0

    def _sleep_s(self, view: View, now_s: float) -> float:
        """Until the earliest of: the view changes by time, a flash ends, care, the next probe or try to open."""
        took_s = self._clock() - now_s
        waits_s = [_PROBE_EVERY_S if self._panel is not None else max(0.0, self._retry_at_s - now_s)]
        step_s = changes_in_s(view)
        if step_s is not None:
            waits_s.append(step_s + _SLIGHTLY_LATER_S)
        if self._over is not None:
            waits_s.append(self._over[1] - now_s)
        care_s = self._care.next_change_s(now_s)
        if care_s is not None:
            waits_s.append(care_s - now_s)
        return max(0.0, max(self._shortest_s, min(waits_s)) - took_s)
