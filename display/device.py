"""A whole table device from its options: a panel that is kept, buttons from everywhere, LED and buzzer.

What cannot be had, such as pins on a machine without any, is told once in the log, and the rest works.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, Protocol, TypeVar

from display.backends.base import DeviceError
from display.backends.opening import open_panel
from display.buttons import GpioButtons, KeyboardButtons, OnPress, ScriptButtons, parse_script
from display.keeper import Keeper, Source
from display.options import BUTTONS, DeviceOptions, OutputOptions
from display.pins import OutputPin, pin_factory
from display.presses import Kind, Press
from display.signals import Signals
from display.views import View
from display.words import WORDS

_log = logging.getLogger(__name__)
KEYS: Final = MappingProxyType({"e": "end", "p": "pause"})


class _Closing(Protocol):
    def close(self) -> None: ...


_Part = TypeVar("_Part", bound=_Closing)


class Device:
    """Shows what `source` tells (see `Keeper`) and hands presses to `on_press`, in the loop that runs it.

    `keys`: which keys of the terminal are which buttons; `on_key` hears the others.
    """

    def __init__(
        self,
        options: DeviceOptions,
        source: Source,
        on_press: OnPress,
        *,
        on_key: Callable[[str], None] = lambda _key: None,
        keys: Mapping[str, str] = KEYS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Raises ValueError if the script of the options says anything but presses, OSError if it is not there."""
        self._options = options
        self._on_press = on_press
        self._on_key = on_key
        self._keys = keys
        self._script = []
        if options.script is not None:
            self._script = parse_script(options.script.read_text(encoding="utf-8"), BUTTONS)
        self._pins: Any = None
        self._signals: Signals | None = None
        self._keeper = Keeper(
            lambda: open_panel(options.panel, self._pins),
            source,
            care=options.care,
            words=WORDS[options.language],
            on_view=self._shown,
            clock=clock,
        )

    def changed(self) -> None:
        """What the source tells has changed otherwise than by time."""
        self._keeper.changed()

    def touched(self) -> None:
        """Something has happened: be bright."""
        self._keeper.touched()

    def flash(self, view: View, seconds: float) -> None:
        """Shows this view for so long, over what the source tells."""
        self._keeper.flash(view, seconds)

    async def run(self) -> None:
        """Until it is cancelled; then the panel is dark, the pins are free and the terminal is as it was."""
        with contextlib.ExitStack() as closing:
            self._open(closing)
            await self._keeper.run()

    def _open(self, closing: contextlib.ExitStack) -> None:
        options = self._options
        if options.buttons or options.led or options.buzzer or options.panel.bus == "spi":
            self._pins = _keep(closing, "pins", lambda: pin_factory(options.pins))
        if self._pins is not None:
            self._open_pins(closing)
        if options.keys and sys.stdin.isatty():
            _keep(closing, "keys", lambda: KeyboardButtons(self._keys, self._press, options.times, others=self._key))
        if self._script:
            _keep(closing, "script", lambda: ScriptButtons(self._script, BUTTONS, self._press, options.times))

    def _open_pins(self, closing: contextlib.ExitStack) -> None:
        options = self._options
        if options.buttons:
            _keep(
                closing,
                "buttons",
                lambda: GpioButtons(options.buttons, self._press, options.times, pin_factory=self._pins),
            )
        light = self._output(closing, "LED", options.led)
        sound = self._output(closing, "buzzer", options.buzzer)
        self._signals = Signals(light, sound)
        closing.callback(self._signals.close)

    def _output(
        self, closing: contextlib.ExitStack, what: str, options: OutputOptions | None
    ) -> Callable[[bool], None] | None:
        if options is None:
            return None
        pin = _keep(closing, what, lambda: OutputPin(options.pin, options.active_low, self._pins))
        return None if pin is None else pin.set

    def _press(self, press: Press) -> None:
        if press.kind is Kind.PRESSED:
            self._keeper.touched()
        if press.kind is Kind.STUCK:
            _log.warning("the button %s has been down for too long", press.button)
        self._on_press(press)

    def _key(self, key: str) -> None:
        self._keeper.touched()
        self._on_key(key)

    def _shown(self, view: View) -> None:
        if self._signals is not None:
            self._signals.shown(view)


def _keep(closing: contextlib.ExitStack, what: str, make: Callable[[], _Part]) -> _Part | None:
    """The part, to be closed with the rest; None, told in the log, if it cannot be had."""
    try:
        part = make()
    except DeviceError as error:
        _log.warning("no %s: %s", what, error)
        return None
    closing.callback(part.close)
    return part
