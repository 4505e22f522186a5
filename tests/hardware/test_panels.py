from __future__ import annotations

import asyncio
import atexit
import errno
import io
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from gpiozero.pins.mock import MockFactory
from PIL import Image

from display.backends.base import DeviceError, Panel
from display.backends.memory import MemoryPanel
from display.backends.opening import PanelOptions, open_panel
from display.backends.terminal import TerminalPanel
from display.care import CareOptions
from display.gallery import EXAMPLES
from display.keeper import Keeper
from display.screens import draw
from display.views import TurnView
from tests.hardware.buses import Controller, I2cBus, SpiBus
from tests.node.loops import until

REAL = os.environ.get("RUMMESH_TEST_PANEL")
KINDS = [
    "memory",
    "files",
    "terminal",
    "ssd1306",
    "ssd1306-32",
    "ssd1309",
    "sh1106",
    "ssd1322",
    *([REAL] if REAL else []),
]
FAULTS = (errno.EREMOTEIO, errno.EIO, errno.ETIMEDOUT, errno.ENXIO, errno.ENODEV)


@dataclass
class Rig:
    """A panel and a way to see what it shows; `seen` and `level` are None where only a person can."""

    panel: Panel
    seen: Callable[[], Image.Image] | None
    level: Callable[[], int] | None = None


def as_shown(picture: Image.Image) -> bytes:
    """What a panel makes of it: a grey one has 16 levels."""
    return picture.point(lambda level: level // 16 * 17).tobytes() if picture.mode == "L" else picture.tobytes()


def braille_dots(text: str) -> Image.Image:
    lines = text.rpartition("\x1b[H")[2].replace("\x1b[0m", "").split("\x1b[K\r\n")
    places = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)]
    picture = Image.new("1", (2 * len(lines[0]), 4 * len(lines)))
    for y, line in enumerate(lines):
        for x, letter in enumerate(line):
            for bit, (dx, dy) in enumerate(places):
                picture.putpixel((2 * x + dx, 4 * y + dy), 255 * (ord(letter) - 0x2800 >> bit & 1))
    return picture


def newest(folder: Path) -> Image.Image:
    picture = Image.open(max(folder.glob("*.png")))
    return picture.resize((128, 64), Image.Resampling.NEAREST).convert("1")


@pytest.fixture(params=KINDS)
def rig(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Rig]:
    kind: str = request.param
    if kind == REAL:
        made = Rig(open_panel(PanelOptions(kind)), None)
    elif kind == "memory":
        memory = MemoryPanel()
        made = Rig(memory, lambda: memory.visible, lambda: memory.level)
    elif kind == "files":
        made = Rig(open_panel(PanelOptions("files", folder=tmp_path)), lambda: newest(tmp_path))
    elif kind == "terminal":
        out = io.StringIO()
        made = Rig(TerminalPanel(out=out, columns=80), lambda: braille_dots(out.getvalue()))
    elif kind == "ssd1322":
        bus: SpiBus = request.getfixturevalue("spi")
        panel = open_panel(PanelOptions("ssd1322"), request.getfixturevalue("pins"))
        made = Rig(panel, bus.controller.seen, lambda: bus.controller.contrast)
    else:
        i2c: I2cBus = request.getfixturevalue("i2c")
        name, _, low = kind.partition("-")
        size = (128, 32) if low else (128, 64)
        address = 0x3D if name == "sh1106" else 0x3C
        controller = i2c.controllers[address] = Controller(size, 2 * (name == "sh1106"), needs_pump=name != "ssd1309")
        panel = open_panel(PanelOptions(name, size, address=address))
        made = Rig(panel, controller.seen, lambda: controller.contrast)
    yield made
    made.panel.close()


def test_every_screen_arrives_pixel_by_pixel(rig: Rig) -> None:
    for name, view in EXAMPLES.items():
        picture = draw(view, rig.panel.size, rig.panel.mode)
        rig.panel.show(picture)
        if rig.seen is None:
            time.sleep(1)
        else:
            assert rig.seen().tobytes() == as_shown(picture), name


def test_a_panel_can_be_dark_and_shows_the_same_when_it_is_lit_again(rig: Rig) -> None:
    picture = draw(EXAMPLES["turn"], rig.panel.size, rig.panel.mode)
    rig.panel.show(picture)
    rig.panel.light(False)
    if rig.seen is not None:
        assert rig.seen().getbbox() is None
    rig.panel.light(True)
    if rig.seen is not None:
        assert rig.seen().tobytes() == as_shown(picture)


def test_contrast_is_as_told(rig: Rig) -> None:
    for level in (0, 16, 255):
        rig.panel.contrast(level)
        assert rig.level is None or rig.level() == level


def test_a_panel_answers_and_closes_as_often_as_one_likes(rig: Rig) -> None:
    rig.panel.probe()
    rig.panel.close()
    rig.panel.close()


@pytest.mark.parametrize("kind", ["ssd1306", "sh1106"])
def test_a_panel_is_dark_and_its_bus_closed_at_the_end(kind: str, i2c: I2cBus) -> None:
    address = 0x3D if kind == "sh1106" else 0x3C
    panel = open_panel(PanelOptions(kind, address=address))
    panel.show(draw(EXAMPLES["turn"], panel.size, panel.mode))
    assert i2c.controllers[address].seen().getbbox() is not None
    panel.close()
    assert not i2c.controllers[address].on
    assert i2c.closed == i2c.opened == 1


def test_a_panel_upside_down_is_turned(i2c: I2cBus) -> None:
    panel = open_panel(PanelOptions("ssd1306", rotate=2))
    picture = draw(EXAMPLES["turn"], panel.size, panel.mode)
    panel.show(picture)
    assert i2c.controllers[0x3C].seen().tobytes() == picture.rotate(180).tobytes()
    panel.close()


def test_what_is_not_there_is_told_as_what_it_is(i2c: I2cBus, spi: SpiBus, pins: MockFactory) -> None:
    with pytest.raises(DeviceError, match=r"I2C device not found: /dev/i2c-7 \(see docs/hardware.md\)"):
        open_panel(PanelOptions("ssd1306", port=7))
    with pytest.raises(DeviceError, match=r"not found on address: 0x27"):
        open_panel(PanelOptions("ssd1306", address=0x27))
    with pytest.raises(DeviceError, match="SPI device not found"):
        open_panel(PanelOptions("ssd1322", spi_port=3), pins)
    open_panel(PanelOptions("ssd1322"), pins).close()  # the pins were given back
    assert (i2c.opened, i2c.closed) == (1, 1)
    assert spi.opened == spi.closed == 1


def test_without_the_library_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("luma")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "luma.core.interface.serial", None)
    with pytest.raises(DeviceError, match=r"pip install 'rummesh\[pi\]'"):
        open_panel(PanelOptions("ssd1306"))


@pytest.mark.parametrize("number", FAULTS, ids=errno.errorcode.get)
@pytest.mark.parametrize("kind", ["ssd1306", "sh1106"])
def test_a_fault_at_any_message_is_a_device_error_and_a_new_panel_works(kind: str, number: int, i2c: I2cBus) -> None:
    address = 0x3D if kind == "sh1106" else 0x3C
    options = PanelOptions(kind, address=address)
    pictures = [draw(EXAMPLES[name], (128, 64), "1") for name in ("turn", "last-seconds")]
    faults = 0
    for after in range(1, 24):
        panel = open_panel(options)
        panel.show(pictures[0])
        start = i2c.messages

        def fault(message: int, at: int = start + after) -> None:
            if message >= at:
                raise OSError(number, os.strerror(number))

        i2c.fault = fault
        try:
            panel.show(pictures[1])
            panel.contrast(3)
            panel.light(True)
            panel.probe()
        except DeviceError:
            faults += 1
        panel.close()
        i2c.fault = lambda _message: None
        i2c.controllers[address].lose_power()
        again = open_panel(options)
        again.show(pictures[1])
        assert i2c.controllers[address].seen().tobytes() == pictures[1].tobytes()
        again.close()
    assert faults >= 4


def test_looking_for_a_panel_that_is_not_there_leaves_nothing_behind(i2c: I2cBus) -> None:
    del i2c.controllers[0x3C]
    before = atexit._ncallbacks()  # luma registers one for each device
    for _try in range(50):
        with pytest.raises(DeviceError):
            open_panel(PanelOptions("ssd1306"))
    assert atexit._ncallbacks() == before
    assert i2c.opened == i2c.closed == 50


@pytest.mark.parametrize("kind", ["ssd1306", "sh1106"])
def test_a_panel_unplugged_in_a_game_shows_all_when_it_is_back(
    kind: str, i2c: I2cBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("display.keeper._RETRY_FIRST_S", 0.05)
    address = 0x3D if kind == "sh1106" else 0x3C
    controller = i2c.controllers[address]
    still = CareOptions(dim_after_s=0, blank_after_s=0, shift_every_s=0)
    told = [0]

    def source(_now_s: float) -> TurnView:
        told.append(told[-1] + 1)
        return TurnView("Ana", told[-1], 0)

    def shows_all() -> bool:
        """One of the last pictures, and none of the noise that was in the memory."""
        pictures = [draw(TurnView("Ana", seconds, 0), (128, 64), "1").tobytes() for seconds in told[-2:]]
        return controller.seen().tobytes() in pictures

    async def play() -> None:
        keeper = Keeper(lambda: open_panel(PanelOptions(kind, address=address)), source, care=still)
        task = asyncio.create_task(keeper.run())
        for _time in range(3):
            await until(shows_all)
            del i2c.controllers[address]
            keeper.changed()
            await until(lambda: not keeper.works)
            controller.lose_power()
            assert not shows_all()
            i2c.controllers[address] = controller
        await until(shows_all)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(play())
    assert not controller.on
