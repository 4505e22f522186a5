"""Options and settings file of the commands with a panel: what overrules what, and what is wrong is told by its key."""

from __future__ import annotations

import builtins
import importlib.util
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import node.__main__ as command_line
from display.options import DeviceOptions, OutputOptions
from node.__main__ import main
from node.commands import DisplayOptions, PlayOptions
from node.config import parse_address

ALL = """
table = "Kitchen"
name = "Board"
port = 47702
peer = ["10.0.0.7:47701"]
loopback = true
backend = "ssd1309"
size = "128x32"
button_end = 17
button-rummikub = 27
led = 22
lang = "fi"

[buzzer]
pin = 23
active_low = true

[panel]
rotate = 2

[care]
night_from_h = 22

[times]
release_s = 0.05
"""


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the commands would have run with."""
    found: list[Any] = []
    for name in ("run_display", "run_play"):
        monkeypatch.setattr(command_line, name, found.append)
    monkeypatch.setattr(command_line, "_run", lambda _nothing: None)
    return found


def rummesh(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def of_file(text: str, tmp_path: Path, *arguments: str, command: str = "display") -> Result:
    file = tmp_path / "table.toml"
    file.write_text(text, encoding="utf-8")
    return rummesh(command, "--config", str(file), *arguments)


def display_of(ran: list[Any]) -> DisplayOptions:
    (options,) = ran
    assert isinstance(options, DisplayOptions)
    return options


def test_a_file_says_everything_that_options_say_and_more(tmp_path: Path, ran: list[Any]) -> None:
    assert of_file(ALL, tmp_path).exit_code == 0
    options = display_of(ran)
    device = options.device
    assert (options.table, options.name, options.port, options.loopback) == ("Kitchen", "Board", 47702, True)
    assert options.peers == (parse_address("10.0.0.7:47701"),)
    assert (device.panel.kind, device.panel.size, device.panel.rotate) == ("ssd1309", (128, 32), 2)
    assert {name: button.pin for name, button in device.buttons.items()} == {"end": 17, "rummikub": 27}
    assert (device.led, device.buzzer) == (OutputOptions(22), OutputOptions(23, active_low=True))
    assert (device.care.night_from_h, device.times.release_s, device.times.hold_s) == (22, 0.05, 2.0)
    assert device.language == "fi"


def test_options_overrule_the_file(tmp_path: Path, ran: list[Any]) -> None:
    arguments = ("--table", "Den", "--backend", "terminal", "--button-end", "5", "--buzzer", "6", "--lang", "nb")
    assert of_file(ALL, tmp_path, *arguments).exit_code == 0
    options = display_of(ran)
    assert (options.table, options.name, options.device.panel.kind) == ("Den", "Board", "terminal")
    assert (options.device.buttons["end"].pin, options.device.buttons["rummikub"].pin) == (5, 27)
    assert options.device.buzzer == OutputOptions(6, active_low=True)
    assert options.device.language == "nb"


def test_without_a_file_and_options_it_is_the_usual_panel_without_buttons(ran: list[Any]) -> None:
    assert rummesh("display").exit_code == 0
    options = display_of(ran)
    assert options.table is None
    assert (options.device.panel.kind, dict(options.device.buttons)) == ("ssd1306", {})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("tabel = 'x'", "tabel"),
        ("port = 'x'", "port"),
        ("port = 70000", "0<=x<=65535"),
        ("peer = ['nowhere']", "HOST:PORT"),
        ("backend = 'ssd9'", "ssd1306"),
        ("size = 'big'", "128x64"),
        ("lang = 'xx'", "nb"),
        ("button_end = 'x'", "pin: expected a whole number"),
        ("[buttons.stop]\npin = 3", "end, rummikub, pause"),
        ("[panel]\ncolour = 1", "colour"),
        ("[times]\nhold_s = 0.001", "hold_s"),
        ("[care]\ncontrast = 300", "0 to 255"),
        ("not toml", "TOML"),
    ],
)
def test_what_is_wrong_in_a_file_is_named_with_what_is_allowed(
    text: str, told: str, tmp_path: Path, ran: list[Any]
) -> None:
    result = of_file(text, tmp_path)
    assert result.exit_code == 2
    assert told in result.output
    assert ran == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("display", "--backend", "paper"),
        ("display", "--size", "12"),
        ("display", "--button-end", "40"),
        ("display", "--config", "nowhere.toml"),
        ("play", "--led", "3"),
    ],
)
def test_wrong_options_are_one_clear_error(arguments: tuple[str, ...], ran: list[Any]) -> None:
    result = rummesh(*arguments)
    assert result.exit_code == 2
    assert "Error: " in result.output
    assert ran == []


def test_a_player_has_a_display_only_where_it_is_asked_for(tmp_path: Path, ran: list[Any]) -> None:
    assert rummesh("play", "--name", "Ana").exit_code == 0
    assert of_file("name = 'Ben'\nled = 4", tmp_path, "--display", "--backend", "files", command="play").exit_code == 0
    without, shown = ran
    assert isinstance(without, PlayOptions)
    assert without.display is None
    assert shown.name == "Ben"
    assert isinstance(shown.display, DeviceOptions)
    assert (shown.display.panel.kind, shown.display.led) == ("files", OutputOptions(4))


@pytest.mark.parametrize(
    ("missing", "arguments"),
    [("luma", ("--backend", "ssd1306")), ("gpiozero", ("--backend", "terminal", "--button-end", "17"))],
)
def test_what_is_not_installed_is_told_with_what_to_do(
    missing: str, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, ran: list[Any]
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == missing else find(name))
    result = rummesh("display", *arguments)
    assert result.exit_code == 2
    assert f"{missing} is not installed: pip install 'rummesh[display]'" in result.output
    assert ("--backend terminal" in result.output) == (missing == "luma")
    assert ran == []


def test_without_pillow_the_other_commands_work(monkeypatch: pytest.MonkeyPatch, ran: list[Any]) -> None:
    real = builtins.__import__

    def importing(name: str, *rest: Any, **more: Any) -> Any:
        if name in ("display.options", "display.backends.opening"):
            raise ModuleNotFoundError("no such module", name="PIL")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", importing)
    assert rummesh("play").exit_code == 0
    for arguments in (("display",), ("display", "--backend", "terminal"), ("play", "--display")):
        result = rummesh(*arguments)
        assert result.exit_code == 2
        assert "PIL is not installed: pip install 'rummesh[display]'" in result.output
    assert len(ran) == 1
