"""Pins of the Pi through gpiozero, with the pin library of one's choice. Nothing else imports gpiozero.

Plain input and output devices are used: gpiozero's own buttons and LEDs have threads for holding and blinking, which
`presses` and `signals` do without, in the same way with every pin library.
"""

from __future__ import annotations

import importlib
import os
import tempfile
import warnings
from collections.abc import Callable
from types import MappingProxyType
from typing import Any, Final

from display.backends.base import DeviceError

FACTORIES: Final = MappingProxyType(
    {
        "lgpio": ("gpiozero.pins.lgpio", "LGPIOFactory"),
        "rpigpio": ("gpiozero.pins.rpigpio", "RPiGPIOFactory"),
        "pigpio": ("gpiozero.pins.pigpio", "PiGPIOFactory"),
        "native": ("gpiozero.pins.native", "NativeFactory"),
        "mock": ("gpiozero.pins.mock", "MockFactory"),
    }
)


def pin_factory(name: str = "lgpio") -> Any:
    """gpiozero's factory of that name; `DeviceError` if its library or the pins are not here.

    lgpio makes a named pipe in the working directory, or where `LG_WD` says; it is told a place that can be written.
    """
    if name not in FACTORIES:
        raise ValueError(f"expected a pin library of {', '.join(FACTORIES)}, got {name}")
    os.environ.setdefault("LG_WD", os.environ.get("RUNTIME_DIRECTORY", tempfile.gettempdir()))
    module, factory = FACTORIES[name]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return getattr(importlib.import_module(module), factory)()
    except ImportError as error:
        raise DeviceError(f"{error.name} is not installed (see docs/hardware.md)") from error
    except Exception as error:  # each library has errors of its own, and lgpio plain Exceptions
        raise DeviceError(f"the pins cannot be had through {name}: {error}") from error


class InputPin:
    """A contact on a pin."""

    def __init__(self, pin: int, pull: str, closed_high: bool, factory: Any = None) -> None:
        pull_up = {"up": True, "down": False, "none": None}[pull]
        active = closed_high if pull == "none" else None
        self._device = _device("DigitalInputDevice", pin, factory, pull_up=pull_up, active_state=active)

    @property
    def closed(self) -> bool:
        return bool(self._device.is_active)

    def on_edge(self, tell: Callable[[bool], None]) -> None:
        """`tell` is called in a thread of the pin library, with whether the contact has closed."""
        self._device.when_activated = lambda: tell(True)
        self._device.when_deactivated = lambda: tell(False)

    def close(self) -> None:
        self._device.close()


class OutputPin:
    """An LED or an active buzzer on a pin; off at first. `active_low`: it is on while the pin is at 0 V."""

    def __init__(self, pin: int, active_low: bool = False, factory: Any = None) -> None:
        self._device = _device("DigitalOutputDevice", pin, factory, active_high=not active_low)

    def set(self, on: bool) -> None:
        self._device.value = on

    def close(self) -> None:
        self._device.off()
        self._device.close()


def _device(kind: str, pin: int, factory: Any, **options: Any) -> Any:
    try:
        gpiozero = importlib.import_module("gpiozero")
    except ImportError as error:
        raise DeviceError("gpiozero is not installed: pip install 'rummesh[pi]'") from error
    try:
        return getattr(gpiozero, kind)(pin, pin_factory=factory, **options)
    except (gpiozero.GPIOZeroError, OSError) as error:
        raise DeviceError(f"pin {pin} cannot be used: {error}") from error
