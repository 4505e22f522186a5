"""A display and its hardware at work, beside a node."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Protocol

from display.device import Device
from display.options import DeviceOptions
from display.presses import Press
from node.clock import monotonic_s
from node.config import ConfigError
from node.device.buttons import KEYS
from node.device.screen import Screen
from node.tasks import end, spawn


class Display(Protocol):
    """What shows and is pressed: `table.TableDevice`, `own.OwnDisplay`, or `node.mqtt.remotedisplay.RemoteDisplay`."""

    @property
    def screen(self) -> Screen: ...

    def press(self, press: Press) -> None: ...


@contextlib.asynccontextmanager
async def hardware_of(display: Display, options: DeviceOptions) -> AsyncIterator[None]:
    """Panel, buttons, LED and buzzer work for `display` meanwhile. Raises `ConfigError` for a script that is none."""
    try:
        device = Device(options, display.screen.view, display.press, keys=KEYS, clock=monotonic_s)
    except (ValueError, OSError) as error:
        raise ConfigError(f"{options.script}: {error}.") from error
    display.screen.show_on(device)
    running = spawn(device.run(), set(), "the display failed")
    try:
        yield
    finally:
        await end([running])
