"""From options to an open panel."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from display.backends.base import Panel
from display.backends.files import FilesPanel
from display.backends.memory import MemoryPanel
from display.backends.oled import DRIVERS, OledPanel, i2c_serial, spi_serial
from display.backends.terminal import TerminalPanel
from display.canvas import form_of

SIMULATED: Final = ("terminal", "files", "memory")
KINDS: Final = (*DRIVERS, *SIMULATED)
_SPI_FIRST: Final = ("ssd1322", "ssd1362", "ssd1325")  # sold with SPI as a rule
_GREY_WIDTH: Final = 256


@dataclass(frozen=True, slots=True)
class PanelOptions:
    """Which panel, and where. `kind` is one of `KINDS`; `size` None is the usual one of the kind.

    `interface`: `i2c` or `spi`, None for what the kind is sold with. I2C: `port`, `address`. SPI: `spi_port`,
    `spi_device`, the pins `dc_pin` and `reset_pin` (BCM), `spi_hz`. `rotate`: 0, or 2 for upside down. `folder` is for
    `files`.
    """

    kind: str = "ssd1306"
    size: tuple[int, int] | None = None
    interface: str | None = None
    port: int = 1
    address: int = 0x3C
    spi_port: int = 0
    spi_device: int = 0
    dc_pin: int = 24
    reset_pin: int = 25
    spi_hz: int = 8_000_000
    rotate: int = 0
    folder: Path = Path("display")

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"expected a panel of {', '.join(KINDS)}, got {self.kind}")
        if self.interface not in (None, "i2c", "spi"):
            raise ValueError(f"expected i2c or spi, got {self.interface}")
        if self.rotate not in (0, 2):
            raise ValueError(f"expected rotation 0 or 2, got {self.rotate}")
        if not 0x03 <= self.address <= 0x77:
            raise ValueError(f"expected an I2C address from 0x03 to 0x77, got {self.address:#x}")
        form_of(self.pixels)

    @property
    def pixels(self) -> tuple[int, int]:
        """Width and height."""
        if self.size is not None:
            return self.size
        return DRIVERS[self.kind][0] if self.kind in DRIVERS else (128, 64)

    @property
    def mode(self) -> str:
        """`1` or `L`: a simulated panel is grey where it is as wide as grey ones are."""
        if self.kind in DRIVERS:
            return DRIVERS[self.kind][1]
        return "L" if self.pixels[0] >= _GREY_WIDTH else "1"

    @property
    def bus(self) -> str:
        """`i2c` or `spi`."""
        return self.interface or ("spi" if self.kind in _SPI_FIRST else "i2c")


def open_panel(options: PanelOptions, pin_factory: Any = None) -> Panel:
    """The panel, ready and empty. Raises `DeviceError` if it is not there. `pin_factory` is gpiozero's, for SPI."""
    match options.kind:
        case "memory":
            return MemoryPanel(options.pixels, options.mode)
        case "files":
            return FilesPanel(options.folder, options.pixels, options.mode)
        case "terminal":
            return TerminalPanel(options.pixels, options.mode)
        case _:
            if options.bus == "i2c":
                serial = i2c_serial(options.port, options.address)
            else:
                serial = spi_serial(
                    options.spi_port,
                    options.spi_device,
                    options.dc_pin,
                    options.reset_pin,
                    options.spi_hz,
                    pin_factory,
                )
            answers = options.bus == "i2c"
            return OledPanel(options.kind, serial, options.pixels, options.rotate, answers=answers)
