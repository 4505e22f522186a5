"""What a frame of the display costs: drawing, handing it to luma.oled, and its time on the wire, which is counted.

The bus is the one of `tests/hardware`: everything up to the kernel is what runs on a Pi. The kernel's part and the wire
are not here; a message takes 9 bits for each byte and 2 for start and stop.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from unittest import mock

import smbus2
from gpiozero.pins.mock import MockFactory
from rich.console import Console
from rich.table import Table

from display.backends.base import Panel
from display.backends.opening import PanelOptions, open_panel
from display.gallery import EXAMPLES
from display.keeper import Keeper
from display.screens import draw
from display.views import LobbyView, PlayerTiles, TurnView, View
from tests.hardware.buses import Controller, I2cBus, SpiBus, Ssd1322

_I2C_HZ = (100_000, 400_000)
_SPI_HZ = 8_000_000
_PLAYERS = tuple(PlayerTiles(name, 9) for name in ("Ana", "Åse", "José", "Väinö"))


@dataclass(frozen=True)
class Wired:
    """A panel whose bus counts: `bits` so far, and `hertz` of the bus."""

    panel: Panel
    bits: Callable[[], int]
    hertz: tuple[int, ...]


def _i2c_panel(kind: str, size: tuple[int, int]) -> Wired:
    bus = I2cBus({0x3C: Controller(size, 2 if kind == "sh1106" else 0)})
    with mock.patch.object(smbus2, "SMBus", bus):
        return Wired(open_panel(PanelOptions(kind, size)), lambda: bus.bits, _I2C_HZ)


def _spi_panel() -> Wired:
    pins = MockFactory()
    bus = SpiBus(Ssd1322(), lambda: bool(pins.pin(24).state))
    with mock.patch.dict(sys.modules, spidev=bus):
        return Wired(open_panel(PanelOptions("ssd1322"), pins), lambda: 8 * bus.bytes, (_SPI_HZ,))


def panels() -> dict[str, Wired]:
    """By name."""
    return {
        "ssd1306 128x64": _i2c_panel("ssd1306", (128, 64)),
        "ssd1306 128x32": _i2c_panel("ssd1306", (128, 32)),
        "sh1106 128x64": _i2c_panel("sh1106", (128, 64)),
        "ssd1322 256x64": _spi_panel(),
    }


def clock(seconds: float) -> TurnView:
    return TurnView("Åse", seconds, 60, _PLAYERS, 1, 38)


def processor_s(work: Callable[[int], object], times: int) -> float:
    """Median processor time of `work(n)`, n from 0 on."""
    took: list[float] = []
    for number in range(times):
        began = time.process_time()
        work(number)
        took.append(time.process_time() - began)
    return statistics.median(took)


def frames(repeats: int) -> Table:
    """Drawing the turn clock second by second, and sending it."""
    table = Table("One second of the turn clock", "draw, ms", "luma.oled, ms", "bytes", "on the wire, ms")
    for name, wired in panels().items():
        panel = wired.panel
        pictures = [draw(clock(second), panel.size, panel.mode) for second in range(59, 10, -1)]
        drawn = processor_s(lambda n, panel=panel: draw(clock(59 - n % 48), panel.size, panel.mode), repeats)  # type: ignore[misc]
        before = wired.bits()
        with mock.patch.object(Controller, "take"), mock.patch.object(Ssd1322, "take"):  # not the simulation's own time
            sent = processor_s(lambda n, panel=panel, all_=pictures: panel.show(all_[n % len(all_)]), repeats)  # type: ignore[misc]
        bits = (wired.bits() - before) / repeats
        wire = " / ".join(f"{1000 * bits / hertz:.1f} at {hertz // 1000} kHz" for hertz in wired.hertz)
        size = bits / (9 if len(wired.hertz) > 1 else 8)
        table.add_row(name, f"{1000 * drawn:.2f}", f"{1000 * sent:.2f}", f"{size:.0f}", wire)
        panel.close()
    return table


def screens(repeats: int) -> Table:
    """What drawing costs, for the quickest and the slowest screens."""
    table = Table("Drawing a screen at 128x64", "again, ms", "for the first time, ms")
    costs = []
    for name, view in EXAMPLES.items():
        first = processor_s(lambda _n, view=view: draw(view, (128, 64), "1"), 1)  # type: ignore[misc]
        costs.append((processor_s(lambda _n, view=view: draw(view, (128, 64), "1"), repeats), first, name))  # type: ignore[misc]
    for again, first, name in sorted(costs):
        table.add_row(name, f"{1000 * again:.2f}", f"{1000 * first:.2f}")
    return table


async def _share(source: Callable[[float], View], seconds: float) -> tuple[float, float]:
    """Processor time of a keeper as a share of time, and pictures a second."""
    wired = _i2c_panel("ssd1306", (128, 64))
    with mock.patch.object(Controller, "take"):
        keeper = Keeper(lambda: wired.panel, source)
        task = asyncio.create_task(keeper.run())
        await asyncio.sleep(0.2)
        began, sent = time.process_time(), keeper.pictures_sent
        await asyncio.sleep(seconds)
        used, pictures = time.process_time() - began, keeper.pictures_sent - sent
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    return used / seconds, pictures / seconds


def shares(seconds: float) -> Table:
    """The keeper with an ssd1306: with a clock, in the last seconds of one, and when nothing happens."""
    table = Table("The whole display, ssd1306", "pictures a second", "processor")
    lobby = LobbyView("Kitchen", (), ("Ana",))
    start = time.monotonic()
    cases: dict[str, Callable[[float], View]] = {
        "turn clock": lambda now_s: clock(59 - (now_s - start) % 40),
        "last ten seconds": lambda now_s: clock(9.9 - (now_s - start) % 9),
        "idle": lambda _now_s: lobby,
    }
    for name, source in cases.items():
        share, rate = asyncio.run(_share(source, seconds))
        table.add_row(name, f"{rate:.1f}", f"{100 * share:.2f} %")
    return table


def main(console: Console, seconds: float) -> None:
    """All tables of the display."""
    repeats = max(50, int(200 * seconds))
    console.print(frames(repeats))
    console.print(screens(repeats))
    console.print(shares(10 * seconds))
