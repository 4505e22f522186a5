"""Where edges come from: pins through gpiozero, keys of the terminal, a script. All go the same way into presses.

gpiozero calls from threads of its own; `ButtonPump` takes the time there and lets the loop do the rest.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import termios
import tty
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from display.backends.base import DeviceError
from display.pins import InputPin
from display.presses import Debouncer, Press, PressTimes

_TAP_S: Final = 0.08
_MARGIN_S: Final = 0.05  # a key's hold is so much longer than it must be

OnPress = Callable[[Press], None]


class ButtonPump:
    """Feeds a debouncer with edges and time and hands its events on, in the loop that made it."""

    def __init__(
        self,
        names: Iterable[str],
        on_press: OnPress,
        times: PressTimes | None = None,
        *,
        closed: Callable[[str], bool] | None = None,
    ) -> None:
        """`closed` tells how a contact is just now; it is asked at the start and whenever something is due.

        Without it all are open at first, and every edge is believed to be told.
        """
        self.names = tuple(names)
        self._on_press = on_press
        self._closed = closed
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._open = True
        self.times = times or PressTimes()
        at_first = [(name, closed is not None and closed(name)) for name in self.names]
        self._debouncer = Debouncer(at_first, self._loop.time(), self.times)
        self._arm()

    def edge(self, name: str, closed: bool) -> None:
        """An edge, told from any thread."""
        at_s = self._loop.time()
        with contextlib.suppress(RuntimeError):  # the loop has ended before the pins were closed
            self._loop.call_soon_threadsafe(self._take, name, closed, at_s)

    def close(self) -> None:
        """No more events."""
        self._open = False
        if self._timer is not None:
            self._timer.cancel()

    def _take(self, name: str, closed: bool, at_s: float) -> None:
        if self._open:
            self._hand_on(self._debouncer.edge(name, closed, at_s))
            self._arm()

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        due_s = self._debouncer.next_deadline_s()
        self._timer = None
        if due_s is not None and self._open:
            self._timer = self._loop.call_later(max(0.0, due_s - self._loop.time()), self._due)

    def _due(self) -> None:
        now_s = self._loop.time()
        if self._closed is not None:
            for name in self.names:
                self._debouncer.seen(name, self._closed(name), now_s)
        self._hand_on(self._debouncer.advance(now_s))
        self._arm()

    def _hand_on(self, events: list[Press]) -> None:
        for event in events:
            self._on_press(event)


@dataclass(frozen=True, slots=True)
class PinOptions:
    """A button's pin (BCM number). `pull`: `up` for a button to ground, `down` for one to 3.3 V, `none`: own resistor.

    With `none`, `closed_high` says which level means pressed; the pulls say it themselves.
    """

    pin: int
    pull: str = "up"
    closed_high: bool = False

    def __post_init__(self) -> None:
        if self.pull not in ("up", "down", "none"):
            raise ValueError(f"expected pull up, down or none, got {self.pull}")


class GpioButtons:
    """Buttons on pins. Raises `DeviceError` if a pin cannot be had; then none is kept."""

    def __init__(
        self,
        pins: Mapping[str, PinOptions],
        on_press: OnPress,
        times: PressTimes | None = None,
        *,
        pin_factory: Any = None,
    ) -> None:
        self._pins: dict[str, InputPin] = {}
        try:
            for name, options in pins.items():
                self._pins[name] = InputPin(options.pin, options.pull, options.closed_high, pin_factory)
        except DeviceError:
            self._close_pins()
            raise
        self._pump = ButtonPump(pins, on_press, times, closed=self._is_closed)
        for name, pin in self._pins.items():
            pin.on_edge(self._teller(name))

    def close(self) -> None:
        self._close_pins()
        self._pump.close()

    def _teller(self, name: str) -> Callable[[bool], None]:
        return lambda closed: self._pump.edge(name, closed)

    def _is_closed(self, name: str) -> bool:
        return self._pins[name].closed

    def _close_pins(self) -> None:
        for pin in self._pins.values():
            pin.close()


class ScriptButtons:
    """Buttons pressed by a script, its times counted from now."""

    def __init__(
        self,
        script: Sequence[ScriptLine],
        names: Iterable[str],
        on_press: OnPress,
        times: PressTimes | None = None,
    ) -> None:
        self._pump = ButtonPump(names, on_press, times)
        loop = asyncio.get_running_loop()
        self._timers = [
            loop.call_later(line.at_s + after_s, self._pump.edge, line.button, closed)
            for line in script
            for after_s, closed in _edges(line.action, self._pump.times)
        ]

    def close(self) -> None:
        for timer in self._timers:
            timer.cancel()
        self._pump.close()


@dataclass(frozen=True, slots=True)
class ScriptLine:
    """At a time, a button: `down`, `up`, `tap` or `hold`."""

    at_s: float
    button: str
    action: str


def parse_script(text: str, names: Sequence[str]) -> list[ScriptLine]:
    """The lines `time button action`, seconds first; `#` begins a comment. ValueError names the line that is wrong."""
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        parts = line.partition("#")[0].split()
        if not parts:
            continue
        try:
            at_s, button, action = parts
            if button not in names or action not in ("down", "up", "tap", "hold") or not 0 <= float(at_s) < 1e6:
                raise ValueError
        except ValueError:
            expected = f"expected 'SECONDS BUTTON ACTION' with {', '.join(names)} and down, up, tap or hold"
            raise ValueError(f"line {number}: {expected}, got {line.strip()!r}") from None
        lines.append(ScriptLine(float(at_s), button, action))
    return lines


def _edges(action: str, times: PressTimes) -> list[tuple[float, bool]]:
    """Seconds after the action began, and whether the contact closes or opens."""
    return {
        "down": [(0.0, True)],
        "up": [(0.0, False)],
        "tap": [(0.0, True), (_TAP_S, False)],
        "hold": [(0.0, True), (times.hold_s + _MARGIN_S, False)],
    }[action]


class KeyboardButtons:
    """Keys of the terminal as buttons: a key taps its button, as a capital letter it holds it; `both` taps two at once.

    `others` hears every key that is none of these. The terminal is given back as it was when this closes.
    """

    def __init__(
        self,
        keys: Mapping[str, str],
        on_press: OnPress,
        times: PressTimes | None = None,
        *,
        both: str = "b",
        others: Callable[[str], None] = lambda _key: None,
        descriptor: int | None = None,
    ) -> None:
        """`keys`: from small letter or sign to button."""
        self._keys = dict(keys)
        self._both = both
        self._others = others
        self._pump = ButtonPump(keys.values(), on_press, times)
        self._loop = asyncio.get_running_loop()
        self._timers: set[asyncio.TimerHandle] = set()
        self._descriptor = sys.stdin.fileno() if descriptor is None else descriptor
        try:
            self._before = termios.tcgetattr(self._descriptor)
        except termios.error as error:
            self._pump.close()
            raise DeviceError("there is no terminal to read keys from") from error
        tty.setcbreak(self._descriptor)
        self._loop.add_reader(self._descriptor, self._read)

    def close(self) -> None:
        self._loop.remove_reader(self._descriptor)
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._before)
        for timer in self._timers:
            timer.cancel()
        self._pump.close()

    def _read(self) -> None:
        try:
            data = os.read(self._descriptor, 64)
        except OSError:
            data = b""
        if not data:  # the terminal has gone
            self._loop.remove_reader(self._descriptor)
        for key in data.decode(errors="replace"):
            self._key(key)

    def _key(self, key: str) -> None:
        if key in self._keys:
            self._play(self._keys[key], "tap")
        elif key.lower() in self._keys:
            self._play(self._keys[key.lower()], "hold")
        elif key == self._both:
            for name in self._pump.names:
                self._play(name, "tap")
        else:
            self._others(key)

    def _play(self, name: str, action: str) -> None:
        self._timers = {timer for timer in self._timers if timer.when() > self._loop.time()}
        for after_s, closed in _edges(action, self._pump.times):
            self._timers.add(self._loop.call_later(after_s, self._pump.edge, name, closed))
