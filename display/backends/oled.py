"""Real panels through luma.oled, on I2C or SPI.

What luma does in ways that matter here: it registers a clean-up at exit for each device it makes and keeps it for good,
so the bus is asked for an answer before a device is made at all. Its errors and the kernel's become `DeviceError`. SPI
panels need two pins besides the bus, for which luma would load RPi.GPIO; they are driven through gpiozero instead, with
whichever pins that uses.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any, Final

from PIL import Image

from display.backends.base import DeviceError

DRIVERS: Final = MappingProxyType(
    {
        "ssd1306": ((128, 64), "1"),
        "ssd1309": ((128, 64), "1"),
        "ssd1315": ((128, 64), "1"),
        "ssd1316": ((128, 32), "1"),
        "ch1115": ((128, 64), "1"),
        "sh1106": ((128, 64), "1"),
        "sh1107": ((128, 128), "1"),
        "ssd1322": ((256, 64), "L"),
        "ssd1362": ((256, 64), "L"),
        "ssd1325": ((128, 64), "L"),
        "ssd1327": ((128, 128), "L"),
    }
)
_NOP: Final = 0xE3  # of all these controllers
_WHAT_TO_DO: Final = "see docs/hardware.md"


class OledPanel:
    """A panel of luma.oled. `serial` is one of its serial interfaces, already open."""

    def __init__(
        self, driver: str, serial: Any, size: tuple[int, int], rotate: int = 0, *, answers: bool = True
    ) -> None:
        self._serial = serial
        self._answers = answers
        self._closed = False
        self.mode = DRIVERS[driver][1]
        try:
            with _world():
                if answers:
                    serial.command(_NOP)
                devices = importlib.import_module("luma.oled.device")
                width, height = size
                self._device = getattr(devices, driver)(serial, width=width, height=height, rotate=rotate)
        except DeviceError:
            _close(serial)
            raise
        self.size: tuple[int, int] = self._device.size

    def show(self, picture: Image.Image) -> None:
        with _world():
            self._device.display(picture if self.mode == "1" else picture.convert("RGB"))

    def contrast(self, level: int) -> None:
        with _world():
            self._device.contrast(level)

    def light(self, on: bool) -> None:
        with _world():
            (self._device.show if on else self._device.hide)()

    def probe(self) -> None:
        if self._answers:
            with _world():
                self._serial.command(_NOP)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            with contextlib.suppress(DeviceError):
                self.light(False)
            _close(self._serial)


def i2c_serial(port: int, address: int) -> Any:
    """The I2C bus `/dev/i2c-<port>`; whether anything answers at the address is not known yet."""
    serial = _luma("luma.core.interface.serial")
    with _world():
        return serial.i2c(port=port, address=address)


def spi_serial(port: int, device: int, dc_pin: int, reset_pin: int, speed_hz: int, pin_factory: Any = None) -> Any:
    """`/dev/spidev<port>.<device>` and the pins for data or command and for reset, both BCM numbers."""
    serial = _luma("luma.core.interface.serial")
    with _world():
        return serial.spi(
            port=port,
            device=device,
            gpio=_OutputPins(pin_factory),
            gpio_DC=dc_pin,
            gpio_RST=reset_pin,
            bus_speed_hz=speed_hz,
            reset_hold_time=0.001,
            reset_release_time=0.001,
        )


class _OutputPins:
    """The part of RPi.GPIO that luma uses, by gpiozero."""

    OUT: Final = 0
    LOW: Final = 0
    HIGH: Final = 1

    def __init__(self, pin_factory: Any) -> None:
        self._factory = pin_factory
        self._pins: dict[int, Any] = {}

    def setup(self, pin: int, _direction: int) -> None:
        gpiozero = importlib.import_module("gpiozero")
        self._pins[pin] = gpiozero.DigitalOutputDevice(pin, pin_factory=self._factory)

    def output(self, pin: int, value: int) -> None:
        self._pins[pin].value = value

    def close(self) -> None:
        for pin in self._pins.values():
            pin.close()
        self._pins.clear()


def _close(serial: Any) -> None:
    with contextlib.suppress(DeviceError), _world():
        serial.cleanup()
    pins = getattr(serial, "_gpio", None)
    if isinstance(pins, _OutputPins):
        pins.close()


def _luma(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise DeviceError(f"{error.name} is not installed: pip install 'rummesh[pi]'") from error


@contextlib.contextmanager
def _world() -> Iterator[None]:
    """Turns what bus, kernel and pins say into one error."""
    luma = _luma("luma.core.error")
    try:
        yield
    except (OSError, luma.Error) as error:
        raise DeviceError(f"{str(error) or type(error).__name__} ({_WHAT_TO_DO})") from error
    except ImportError as error:
        raise DeviceError(f"{error.name} is not installed: pip install 'rummesh[pi]'") from error
