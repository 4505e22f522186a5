from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
import smbus2
from gpiozero.pins.mock import MockFactory

from tests.hardware.buses import Controller, I2cBus, SpiBus, Ssd1322

DC_PIN = 24


@pytest.fixture
def i2c(monkeypatch: pytest.MonkeyPatch) -> I2cBus:
    """A bus with an SSD1306 at 0x3C and an SH1106 at 0x3D."""
    bus = I2cBus({0x3C: Controller(), 0x3D: Controller(first_column=2)})
    monkeypatch.setattr(smbus2, "SMBus", bus)
    return bus


@pytest.fixture
def pins() -> Iterator[MockFactory]:
    """gpiozero's pins without a Pi."""
    factory = MockFactory()
    yield factory
    factory.close()


@pytest.fixture
def spi(monkeypatch: pytest.MonkeyPatch, pins: MockFactory) -> SpiBus:
    """A bus with an SSD1322."""
    bus = SpiBus(Ssd1322(), lambda: bool(pins.pin(DC_PIN).state))
    monkeypatch.setitem(sys.modules, "spidev", bus)
    return bus
