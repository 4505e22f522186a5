"""The command `rummesh display` with a broker: its options, its settings file, and the program itself at a broker."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner, Result

import node.__main__ as command_line
from node.__main__ import main
from node.commands import DisplayOptions
from node.mqtt.broker import Broker
from node.mqtt.commands import Command, CommandBook, Moment, access_of
from node.mqtt.options import KEY_VARIABLE
from tests.mqtt.mosquitto import Mosquitto, collect
from tests.mqtt.test_remote_display import TOPICS, a_table
from tests.mqtt.test_remote_messages import STATE
from tests.network.lab import ROOT
from tests.node.loops import run

KEY: Final = "sixteen bytes and more"
LIMIT_S: Final = 60.0


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[DisplayOptions]:
    """What the command would have run with."""
    found: list[DisplayOptions] = []
    monkeypatch.setattr(command_line, "run_display", found.append)
    monkeypatch.setattr(command_line, "_run", lambda _nothing: None)
    return found


def display(*arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(main, ("display", "--backend", "files", *arguments), env=environment)


@pytest.fixture
def key(tmp_path: Path) -> Path:
    file = tmp_path / "key"
    file.write_text(f"{KEY}\nand more\n")
    return file


def test_a_broker_and_a_key_are_options(key: Path, ran: list[DisplayOptions]) -> None:
    result = display("--mqtt", "mqtt://ana@broker", "--mqtt-command-key", str(key), "--table", "Kitchen")
    assert result.exit_code == 0, result.output
    (options,) = ran
    assert (options.table, options.broker, options.command_key) == ("Kitchen", Broker("broker", 1883, user="ana"), KEY)
    assert KEY not in repr(options)


def test_the_key_may_be_in_the_environment(ran: list[DisplayOptions]) -> None:
    assert display("--mqtt", "broker", **{KEY_VARIABLE: KEY}).exit_code == 0
    assert display("--mqtt", "broker").exit_code == 0
    assert [options.command_key for options in ran] == [KEY, None]


def test_a_settings_file_says_all_of_it_and_options_overrule_it(
    key: Path, tmp_path: Path, ran: list[DisplayOptions]
) -> None:
    password, settings = tmp_path / "password", tmp_path / "display.toml"
    password.write_text("secret\n")
    settings.write_text(
        'table = "Kitchen"\nmqtt = "mqtt://ana@broker:1884"\nmqtt-prefix = "home/games"\nmqtt_client_id = "clock"\n'
        f'mqtt-password-file = "{password}"\nmqtt-command-key = "{key}"\n[care]\nnight_from_h = 22\n'
    )
    assert display("--config", str(settings)).exit_code == 0
    assert display("--config", str(settings), "--mqtt", "other").exit_code == 2  # there is a password, but no user
    assert display("--config", str(settings), "--mqtt", "ben@other", "--mqtt-prefix", "x").exit_code == 0
    said, overruled = ran
    assert said.broker == Broker("broker", 1884, user="ana", password="secret", prefix="home/games", client_id="clock")
    assert (said.command_key, said.device.care.night_from_h) == (KEY, 22)
    assert overruled.broker == Broker("other", 1883, user="ben", password="secret", prefix="x", client_id="clock")


def test_the_sample_of_the_service_has_all_that_a_broker_needs(ran: list[DisplayOptions], tmp_path: Path) -> None:
    """With the comment signs of the part about brokers taken off."""
    sample = (ROOT / "systemd" / "display.toml").read_text(encoding="utf-8")
    lines = [line.removeprefix("# ") if line.startswith("# mqtt") else line for line in sample.splitlines()]
    named = [line.partition("=")[0].strip() for line in lines if line.startswith("mqtt")]
    assert named == ["mqtt", "mqtt-password-file", "mqtt-ca", "mqtt-command-key"]
    for name in ("mqtt-password-file", "mqtt-ca", "mqtt-command-key"):
        file = tmp_path / name
        file.write_text(f"{KEY}\n")
        lines = [f'{name} = "{file}"' if line.startswith(f"{name} =") else line for line in lines]
    settings = tmp_path / "display.toml"
    settings.write_text("\n".join(lines))
    result = display("--config", str(settings))
    assert result.exit_code == 0, result.output
    assert ran[0].broker is not None
    assert (ran[0].broker.tls, ran[0].broker.password, ran[0].command_key) == (True, KEY, KEY)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--mqtt", "broker", "--port", "47701"), "no --port, --peer"),
        (("--mqtt", "broker", "--peer", "10.0.0.7:47701"), "no --port, --peer"),
        (("--mqtt", "broker", "--loopback"), "--loopback"),
        (("--mqtt", "broker", "--data", "somewhere"), "--data"),
        (("--mqtt", "http://broker"), "is no broker"),
        (("--mqtt", "broker", "--mqtt-command-key", "nowhere"), "nowhere"),
        (("--mqtt", "broker", "--mqtt-command-key", "short"), "too short"),
        (("--mqtt-command-key", "short"), "need --mqtt URL"),
        (("--mqtt-client-id", "clock"), "need --mqtt URL"),
    ],
)
def test_what_makes_no_sense_is_refused_with_what_to_do(
    arguments: tuple[str, ...], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ran: list[DisplayOptions]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short").write_text("short\n")
    result = display(*arguments)
    assert result.exit_code == 2
    assert told in " ".join(result.output.split())
    assert ran == []


def test_the_program_shows_the_table_presses_there_and_ends_when_it_is_told_to(
    mosquitto: Mosquitto, key: Path, tmp_path: Path
) -> None:
    """The first press, of a script, may come before the picture: it is repeated."""
    pictures, script = tmp_path / "pictures", tmp_path / "script"
    script.write_text("".join(f"{number / 2} end tap\n" for number in range(1, int(2 * LIMIT_S))))
    command: list[Any] = [sys.executable, "-m", "node", "display", "--mqtt", mosquitto.url, "--table", "Kitchen"]
    command += ["--backend", "files", "--folder", pictures, "--script", script, "--mqtt-command-key", key]
    book = CommandBook(access_of(KEY, ""))

    async def main() -> None:
        broker = mosquitto.broker()
        async with a_table(broker) as table, collect(broker, TOPICS.command("#")) as heard:
            await table.is_on()
            await heard.until(lambda messages: messages, LIMIT_S)
            now = Moment(STATE["table"], 1, STATE["height"])
            assert isinstance(book.take("end_turn", heard.messages[0].payload, now), Command)

    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        try:
            run(main())
        finally:
            process.terminate()
            _nothing, errors = process.communicate(timeout=LIMIT_S)
    assert (process.returncode, errors) == (0, b"")
    assert list(pictures.glob("*.png"))
