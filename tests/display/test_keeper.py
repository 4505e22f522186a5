from __future__ import annotations

import asyncio
import logging
import selectors
import statistics
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from PIL import Image

from display.backends.base import DeviceError
from display.backends.memory import MemoryPanel
from display.care import CareOptions
from display.keeper import Keeper, retry_s
from display.screens import draw
from display.views import LobbyView, NoticeView, RefusalView, TurnView, View
from tests.node import loops

LOBBY = LobbyView("Kitchen", (), ("Ana",))
STILL = CareOptions(dim_after_s=0, blank_after_s=0, shift_every_s=0)


class FragilePanel(MemoryPanel):
    """Fails when it is told to, and knows in which calls."""

    def __init__(self) -> None:
        super().__init__()
        self.broken = False
        self.probes = 0

    def show(self, picture: Image.Image) -> None:
        if self.broken:
            raise DeviceError("I/O error")
        super().show(picture)

    def probe(self) -> None:
        self.probes += 1
        if self.broken:
            raise DeviceError("does not answer")


class QuietSelector(selectors.DefaultSelector):
    """Does not wait for the time, but lets it pass: whenever nothing else is to be waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 0.0
        self.working = 0  # threads that do something for the loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or self.working:
            return super().select(timeout)
        ready = super().select(0)
        if not ready:
            self.now_s += timeout
        return ready


class QuietLoop(asyncio.SelectorEventLoop):
    """A loop whose time stands still while something is done, so a busy machine changes nothing."""

    def __init__(self) -> None:
        self._quiet = QuietSelector()
        super().__init__(self._quiet)

    def time(self) -> float:
        return self._quiet.now_s

    def run_in_executor(self, *work: Any) -> asyncio.Future[Any]:  # type: ignore[override]
        self._quiet.working += 1
        future = super().run_in_executor(*work)
        future.add_done_callback(self._has_worked)
        return future

    def _has_worked(self, _future: object) -> None:
        self._quiet.working -= 1


class Bench:
    """A keeper whose time is that of a `QuietLoop`, and all panels that it has opened."""

    def __init__(self, source: Callable[[float], View], care: CareOptions = STILL) -> None:
        self.panels: list[FragilePanel] = []
        self.absent = False
        self.views: list[View] = []
        self._source = source
        self._care = care

    @property
    def panel(self) -> FragilePanel:
        """The one that was opened last."""
        return self.panels[-1]

    def _open(self) -> FragilePanel:
        if self.absent:
            raise DeviceError("no I2C bus")
        self.panels.append(FragilePanel())
        return self.panel

    def run(self, play: Callable[[], Coroutine[None, None, None]]) -> None:
        async def main() -> None:
            self.clock = asyncio.get_running_loop().time
            self.keeper = Keeper(self._open, self._source, care=self._care, on_view=self.views.append, clock=self.clock)
            task = asyncio.create_task(self.keeper.run())
            if not self.absent:
                await loops.until(lambda: bool(self.panels) and bool(self.panel.pictures))
            await play()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        with asyncio.Runner(loop_factory=QuietLoop) as runner:
            runner.run(main())

    async def wait_s(self, now_s: float) -> None:
        """Until it is so late."""
        await asyncio.sleep(now_s - self.clock())


@pytest.mark.parametrize("between", range(4))
def test_it_ends_even_if_it_is_woken_at_that_moment(between: int) -> None:
    bench = Bench(lambda _now: LOBBY)

    async def play() -> None:
        bench.keeper.changed()
        for _pass in range(between):
            await asyncio.sleep(0)

    bench.run(play)
    assert not bench.keeper.works


def test_a_picture_that_does_not_change_is_sent_once_and_the_panel_is_dark_at_the_end() -> None:
    bench = Bench(lambda _now: LOBBY)
    bench.run(lambda: bench.wait_s(7))
    assert [picture.tobytes() for picture in bench.panel.pictures] == [draw(LOBBY, (128, 64), "1").tobytes()]
    assert bench.panel.closed
    assert len(bench.panels) == 1


def test_a_clock_is_drawn_once_for_each_second_and_just_after_it_has_changed() -> None:
    asked_s: list[float] = []

    def source(now_s: float) -> View:
        asked_s.append(now_s)
        return TurnView("Ana", 40.5 - now_s, 60)

    bench = Bench(source)
    bench.run(lambda: bench.wait_s(8))
    assert len(bench.panel.pictures) == 9
    assert len(asked_s) <= 10
    late_s = [(now_s - 0.5) % 1 for now_s in asked_s[1:]]
    assert statistics.median(late_s) < 0.01


def test_in_the_last_ten_seconds_the_bar_moves_four_times_a_second() -> None:
    bench = Bench(lambda now_s: TurnView("Ana", 9 - now_s, 60))
    bench.run(lambda: bench.wait_s(6))
    assert 24 <= len(bench.panel.pictures) <= 25


def test_a_change_that_is_told_is_shown_at_once() -> None:
    views: list[View] = [LOBBY]
    bench = Bench(lambda _now: views[-1])

    async def play() -> None:
        await bench.wait_s(1)
        views.append(NoticeView("Dealing"))
        bench.keeper.changed()
        await loops.until(lambda: len(bench.panel.pictures) == 2)
        assert bench.clock() < 2  # without being told it would look again then

    bench.run(play)


def test_a_flash_is_shown_for_its_time_and_then_what_was_there() -> None:
    bench = Bench(lambda _now: LOBBY)

    async def play() -> None:
        bench.keeper.flash(RefusalView("not your turn"), 3)
        await bench.wait_s(2)
        assert len(bench.panel.pictures) == 2
        await loops.until(lambda: len(bench.panel.pictures) == 3)
        assert bench.clock() < 4

    bench.run(play)
    pictures = [picture.tobytes() for picture in bench.panel.pictures]
    assert pictures == [pictures[0], draw(RefusalView("not your turn"), (128, 64), "1").tobytes(), pictures[0]]


def test_a_panel_that_fails_is_told_once_opened_anew_and_drawn_whole(caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench(lambda now_s: TurnView("Ana", 60 - now_s, 60))

    async def play() -> None:
        bench.absent = True
        bench.panel.broken = True
        await bench.wait_s(12)
        assert not bench.keeper.works
        bench.absent = False
        await loops.until(lambda: len(bench.panels) == 2 and len(bench.panel.pictures) > 1)

    with caplog.at_level(logging.WARNING):
        bench.run(play)
    told = [record.getMessage() for record in caplog.records if record.name.startswith("display")]
    assert told == ["the display does not work: I/O error", "the display works again"]
    assert bench.panels[0].closed
    assert bench.panel.pictures[0].getbbox() is not None
    assert len(bench.views) > 11  # light and buzzer went on all the while


def test_a_panel_that_is_not_there_at_the_start_is_found_later() -> None:
    bench = Bench(lambda _now: LOBBY)
    bench.absent = True

    async def play() -> None:
        await bench.wait_s(5)
        assert not bench.keeper.works
        bench.absent = False
        await loops.until(lambda: bench.keeper.works)
        assert bench.clock() < 10

    bench.run(play)


def test_a_panel_unplugged_while_nothing_changes_is_noticed() -> None:
    bench = Bench(lambda _now: LOBBY)

    async def play() -> None:
        bench.panel.broken = True
        await loops.until(lambda: len(bench.panels) == 2 and len(bench.panel.pictures) == 1)
        assert bench.clock() < 6

    bench.run(play)
    assert bench.panels[0].probes >= 1


def test_a_quiet_panel_is_dimmed_darkened_and_lit_by_a_press() -> None:
    care = CareOptions(contrast=200, dim_contrast=10, dim_after_s=4, blank_after_s=9, shift_every_s=0)
    bench = Bench(lambda _now: LOBBY, care)

    async def play() -> None:
        panel = bench.panel
        await bench.wait_s(3)
        assert (panel.level, panel.lit) == (200, True)
        await bench.wait_s(6)
        assert (panel.level, panel.lit) == (10, True)
        await bench.wait_s(11)
        assert not panel.lit
        assert len(panel.pictures) == 1
        bench.keeper.touched()
        await loops.until(lambda: panel.lit)
        assert panel.level == 200

    bench.run(play)


def test_the_picture_is_moved_now_and_then() -> None:
    bench = Bench(lambda _now: LOBBY, CareOptions(dim_after_s=0, blank_after_s=0, shift_every_s=4))
    bench.run(lambda: bench.wait_s(9.5))
    pictures = [picture.tobytes() for picture in bench.panel.pictures]
    assert len(pictures) == len(set(pictures)) == 3


def test_tries_become_rarer_and_never_rarer_than_every_half_minute() -> None:
    assert [retry_s(failures) for failures in (1, 2, 3, 6, 100)] == [1, 2, 4, 30, 30]
