"""I2C and SPI buses without wires, and the controllers of OLEDs on them, after their data sheets.

A controller shows nothing before it was initialised, and forgets everything when it loses power: as real ones do.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, Final

from PIL import Image

_PARAMETERS: Final = {0x20: 1, 0x21: 2, 0x22: 2, 0x81: 1, 0x8D: 1, 0xA8: 1, 0xAD: 1} | dict.fromkeys(
    (0xD3, 0xD5, 0xD8, 0xD9, 0xDA, 0xDB), 1
)
_BITS_OF_A_BYTE: Final = 9  # with the acknowledgement
_BITS_AROUND: Final = 2  # start and stop


class Controller:
    """SSD1306, SSD1309 or SH1106: eight pages of columns of eight pixels; an SH1106 shows them from column 2 on."""

    def __init__(self, size: tuple[int, int] = (128, 64), first_column: int = 0, needs_pump: bool = True) -> None:
        self.size = size
        self._first = first_column
        self._needs_pump = needs_pump
        self._chance = random.Random(1)
        self.lose_power()

    def lose_power(self) -> None:
        """Unplugged and plugged in again: all registers as after a reset, noise in the memory."""
        self.ram = [bytearray(self._chance.randbytes(132)) for _page in range(8)]
        self.on = False
        self.contrast = 0x7F
        self._pump = not self._needs_pump
        self._horizontal = False
        self._columns = [0, 127]
        self._pages = [0, 7]
        self._column = self._page = 0

    def take(self, control: int, data: Sequence[int]) -> None:
        """A message: 0x00 commands, 0x40 data for the memory."""
        if control == 0x40:
            for byte in data:
                self._store(byte)
            return
        assert control == 0x00, f"control byte {control:#x}"
        rest = list(data)
        while rest:
            code = rest.pop(0)
            count = _PARAMETERS.get(code, 0)
            assert len(rest) >= count, f"command {code:#x} wants {count} parameters"
            self._command(code, [rest.pop(0) for _ in range(count)])

    def seen(self) -> Image.Image:
        """What somebody sees."""
        picture = Image.new("1", self.size)
        if self.on and self._pump:
            for page in range(self.size[1] // 8):
                columns = bytes(self.ram[page][self._first : self._first + self.size[0]])
                lying = Image.frombytes("1", (8, self.size[0]), columns)  # lowest bit, which is uppermost, to the right
                picture.paste(lying.transpose(Image.Transpose.ROTATE_90), (0, 8 * page))
        return picture

    def _command(self, code: int, values: list[int]) -> None:
        match code:
            case 0xAE | 0xAF:
                self.on = code == 0xAF
            case 0x81:
                self.contrast = values[0]
            case 0x8D:
                self._pump = values[0] == 0x14 or not self._needs_pump
            case 0x20:
                self._horizontal = values[0] == 0
            case 0x21:
                self._columns, self._column = values, values[0]
            case 0x22:
                self._pages, self._page = values, values[0]
            case _ if 0xB0 <= code <= 0xB7:
                self._page = code - 0xB0
            case _ if code <= 0x0F:
                self._column = self._column & 0xF0 | code
            case _ if 0x10 <= code <= 0x1F:
                self._column = self._column & 0x0F | (code & 0x0F) << 4

    def _store(self, byte: int) -> None:
        self.ram[self._page][self._column] = byte
        self._column += 1
        if self._horizontal and self._column > self._columns[1]:
            self._column = self._columns[0]
            self._page = self._page + 1 if self._page < self._pages[1] else self._pages[0]


class I2cBus:
    """`/dev/i2c-1`: stands for `smbus2.SMBus`, with controllers by address.

    `fault`: called before each message with its number, may raise what the kernel would.
    """

    def __init__(self, controllers: dict[int, Controller]) -> None:
        self.controllers = controllers
        self.fault: Callable[[int], None] = lambda _number: None
        self.messages = 0
        self.bits = 0
        self.opened = self.closed = 0

    def __call__(self, port: int) -> I2cBus:
        """Opens it."""
        if port != 1:
            raise FileNotFoundError(2, "No such file or directory", f"/dev/i2c-{port}")
        self.opened += 1
        return self

    def close(self) -> None:
        self.closed += 1

    def write_i2c_block_data(self, address: int, register: int, data: list[int]) -> None:
        assert len(data) <= 32, "the kernel takes 32 bytes in such a message"
        self._send(address, register, data)

    def i2c_rdwr(self, *messages: Any) -> None:
        for message in messages:
            register, *data = bytes(message)
            self._send(message.addr, register, data)

    def seconds(self, hertz: int) -> float:
        """How long all messages so far would have taken on the wire."""
        return self.bits / hertz

    def _send(self, address: int, register: int, data: Sequence[int]) -> None:
        self.messages += 1
        self.fault(self.messages)
        if address not in self.controllers:
            raise OSError(121, "Remote I/O error")
        self.bits += _BITS_OF_A_BYTE * (2 + len(data)) + _BITS_AROUND
        self.controllers[address].take(register, data)


class Ssd1322:
    """A grey controller on SPI: one pin tells commands (0) from their data (1)."""

    size: Final = (256, 64)
    _FIRST: Final = 28  # column address of the first visible pixels, four to an address

    def __init__(self) -> None:
        self.ram = [bytearray(240) for _row in range(128)]
        self.on = False
        self.contrast = 0x7F
        self._unlocked = False
        self._code = 0
        self._values: list[int] = []
        self._columns, self._rows = [0, 119], [0, 127]
        self._at = (0, 0)

    def take(self, is_data: bool, data: Sequence[int]) -> None:
        for byte in data:
            if is_data:
                self._data(byte)
            else:
                self._command(byte)

    def seen(self) -> Image.Image:
        picture = Image.new("L", self.size)
        if self.on and self._unlocked:
            rows = [row[2 * self._FIRST : 2 * self._FIRST + 128] for row in self.ram[:64]]
            picture.frombytes(bytes(17 * level for row in rows for byte in row for level in (byte >> 4, byte & 15)))
        return picture

    def _command(self, code: int) -> None:
        self._code, self._values = code, []
        if code in (0xAE, 0xAF):
            self.on = code == 0xAF
        elif code == 0x5C:
            self._at = (self._rows[0], 2 * self._columns[0])

    def _data(self, byte: int) -> None:
        if self._code == 0x5C:
            row, column = self._at
            self.ram[row][column] = byte
            column += 1
            if column > 2 * self._columns[1] + 1:
                row, column = row + 1, 2 * self._columns[0]
            self._at = (row, column)
            return
        self._values.append(byte)
        match self._code, self._values:
            case 0xFD, [0x12]:
                self._unlocked = True
            case 0xC1, [level]:
                self.contrast = level
            case 0x15, [_first, _last]:
                self._columns = self._values
            case 0x75, [_first, _last]:
                self._rows = self._values


class SpiBus:
    """`/dev/spidev0.0`: stands for the module `spidev`. `is_data` reads the pin."""

    def __init__(self, controller: Ssd1322, is_data: Callable[[], bool]) -> None:
        self.controller = controller
        self.is_data = is_data
        self.bytes = 0
        self.opened = self.closed = 0
        self.max_speed_hz = 0

    def SpiDev(self) -> SpiBus:  # noqa: N802 # the module's name for it
        return self

    def open(self, bus: int, device: int) -> None:
        if (bus, device) != (0, 0):
            raise FileNotFoundError(2, "No such file or directory")
        self.opened += 1

    def writebytes(self, data: Sequence[int]) -> None:
        assert len(data) <= 4096, "spidev takes 4096 bytes at once"
        self.bytes += len(data)
        self.controller.take(self.is_data(), data)

    def close(self) -> None:
        self.closed += 1
