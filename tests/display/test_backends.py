from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image, ImageSequence

from display.backends.base import DeviceError
from display.backends.files import FilesPanel
from display.backends.opening import KINDS, PanelOptions
from display.backends.terminal import TerminalPanel, braille, half_blocks
from display.gallery import EXAMPLES
from display.screens import draw

PICTURE = draw(EXAMPLES["turn"], (128, 64), "1")


class Hand:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_files_hold_each_picture_and_a_film_with_its_times(tmp_path: Path) -> None:
    clock = Hand()
    panel = FilesPanel(tmp_path / "new" / "folder", enlarged=2, clock=clock)
    for name, lasts_s in (("turn", 1.0), ("last-seconds", 0.25), ("paused", 3.0)):
        panel.show(draw(EXAMPLES[name], panel.size, panel.mode))
        clock.now_s += lasts_s
    panel.close()
    folder = tmp_path / "new" / "folder"
    assert sorted(path.name for path in folder.iterdir()) == ["00001.png", "00002.png", "00003.png", "display.gif"]
    first = Image.open(folder / "00001.png")
    assert first.resize((128, 64), Image.Resampling.NEAREST).convert("1").tobytes() == PICTURE.tobytes()
    with Image.open(folder / "display.gif") as film:
        times_ms = [frame.info["duration"] for frame in ImageSequence.Iterator(film)]
    assert times_ms == [1000, 250, 3000]


def test_a_dark_panel_is_a_picture_too(tmp_path: Path) -> None:
    panel = FilesPanel(tmp_path, enlarged=1)
    panel.show(PICTURE)
    panel.light(False)
    panel.light(True)
    panel.close()
    pictures = [Image.open(tmp_path / f"0000{number}.png").convert("1").tobytes() for number in (1, 2, 3)]
    assert pictures == [PICTURE.tobytes(), Image.new("1", (128, 64)).tobytes(), PICTURE.tobytes()]


def test_a_folder_that_cannot_be_made_is_a_fault_of_the_device(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DeviceError, match="cannot make the folder"):
        FilesPanel(tmp_path / "file" / "under")


def test_a_folder_that_has_gone_is_one_as_well(tmp_path: Path) -> None:
    panel = FilesPanel(tmp_path / "x")
    panel.show(PICTURE)
    (tmp_path / "x" / "00001.png").unlink()
    (tmp_path / "x").rmdir()
    with pytest.raises(DeviceError, match="cannot write"):
        panel.show(PICTURE)
    panel.close()


def dots_of(lines: list[str]) -> bytes:
    """The picture that braille shows, as its bits."""
    places = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)]
    picture = Image.new("1", (2 * len(lines[0]), 4 * len(lines)))
    for y, line in enumerate(lines):
        for x, letter in enumerate(line):
            for bit, (dx, dy) in enumerate(places):
                picture.putpixel((2 * x + dx, 4 * y + dy), 255 * (ord(letter) - 0x2800 >> bit & 1))
    return picture.tobytes()


def test_braille_shows_every_pixel() -> None:
    assert dots_of(braille(PICTURE)) == PICTURE.tobytes()


def test_half_blocks_show_two_pixels_each() -> None:
    lines = half_blocks(PICTURE)
    assert len(lines) == 32
    assert all(line.count("▀") == 128 for line in lines)
    assert "38;5;255;48;5;232m" in "".join(lines)


@pytest.mark.parametrize(("columns", "sign"), [(200, "▀"), (80, "⣿")])
def test_a_terminal_is_drawn_on_as_it_is_wide_and_given_back(columns: int, sign: str) -> None:
    out = io.StringIO()
    panel = TerminalPanel(out=out, columns=columns)
    panel.show(PICTURE)
    panel.close()
    panel.close()
    text = out.getvalue()
    assert text.startswith("\x1b[?1049h\x1b[?25l")
    assert text.endswith("\x1b[?25h\x1b[?1049l")
    assert text.count("\x1b[?1049l") == 1
    assert sign in text


def test_a_dark_terminal_shows_nothing_until_it_is_lit_again() -> None:
    out = io.StringIO()
    panel = TerminalPanel(out=out, columns=80)
    panel.show(PICTURE)
    out.truncate(0)
    panel.light(False)
    assert set(out.getvalue().replace("\x1b[K\r\n", "").replace("\x1b[H", "").replace("\x1b[0m", "").strip("\0")) == {
        "\u2800"
    }
    panel.light(True)
    assert "⣿" in out.getvalue()


def test_a_terminal_that_has_gone_is_a_fault_of_the_device() -> None:
    class Gone(io.StringIO):
        def write(self, _text: str) -> int:
            raise OSError(5, "Input/output error")

    with pytest.raises(DeviceError, match="terminal"):
        TerminalPanel(out=Gone())


def test_every_kind_has_a_size_that_screens_fit() -> None:
    for kind in KINDS:
        options = PanelOptions(kind)
        assert draw(EXAMPLES["turn"], options.pixels, options.mode).size == options.pixels


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"kind": "ssd9999"}, "ssd1306"),
        ({"interface": "usb"}, "i2c or spi"),
        ({"rotate": 1}, "rotation 0 or 2"),
        ({"address": 0x3C0}, "0x3c0"),
        ({"size": (96, 16)}, "96x16"),
    ],
)
def test_options_that_cannot_be_are_refused_with_what_can(options: dict[str, object], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        PanelOptions(**options)  # type: ignore[arg-type] # the wrong ones on purpose
