from __future__ import annotations

import asyncio
import itertools
import json
import os
import pty
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from PIL import Image

from display.backends.opening import PanelOptions
from display.options import DeviceOptions
from display.timerstate import Record, Setup, new_game
from engine.rulesets import FI, PT
from node import tabletimer
from node.__main__ import main
from node.config import ConfigError
from node.files import put_aside, take_lock
from node.timerfile import StoredError, read, write
from tests.display import timer_session

GIF = Path(__file__).parents[2] / "docs" / "img" / "timer.gif"
AGAIN = "if the new one is right: python -m tests.display.timer_session docs/img/timer.gif"
ENDS_WITHIN_S = 15.0
SETUP = Setup(("Ana", "Bo"), PT, 60)


def frames(path: Path) -> list[tuple[int, bytes]]:
    """How long each picture is shown, and its pixels."""
    found = []
    with Image.open(path) as picture:
        for number in range(getattr(picture, "n_frames", 1)):
            picture.seek(number)
            found.append((picture.info["duration"], picture.convert("L").tobytes()))
    return found


def test_the_session_of_the_readme_ends_with_the_right_scores_and_looks_as_shown(tmp_path: Path) -> None:
    made = timer_session.run(tmp_path)
    plain = json.loads((tmp_path / "timer.json").read_text(encoding="utf-8"))
    assert plain["standings"] == [
        {"name": "Ana", "points": 88},
        {"name": "José", "points": -31},
        {"name": "Åse", "points": -57},
    ]
    assert plain["record"]["position"]["extended"] == [False, False, True]
    assert frames(made) == frames(GIF), AGAIN


class Process:
    """`rummesh timer` in a process of its own, with keys typed into its terminal."""

    def __init__(self, file: Path, *more: str) -> None:
        self._file = file
        self._terminal, inner = pty.openpty()
        address = file.with_name("notify")
        address.unlink(missing_ok=True)
        self._channel = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._channel.bind(str(address))
        self._channel.settimeout(ENDS_WITHIN_S)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "node", "timer", *more, "--panel", "memory", "--file", str(file)],
            stdin=inner,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=os.environ | {"NOTIFY_SOCKET": str(address), "WATCHDOG_USEC": "200000"},
        )
        os.close(inner)

    def told_until(self, wanted: str) -> list[str]:
        """What the process has told systemd, up to something that begins as wanted."""
        told = [self._channel.recv(4096).decode()]
        while not told[-1].startswith(wanted):
            told.append(self._channel.recv(4096).decode())
        return told

    def type(self, keys: str) -> None:
        os.write(self._terminal, keys.encode())

    def stored(self) -> dict[str, Any]:
        """The position in the file."""
        position: dict[str, Any] = json.loads(self._file.read_text(encoding="utf-8"))["record"]["position"]
        return position

    def until(self, reached: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The stored position once it is as wanted."""
        end_s = time.monotonic() + ENDS_WITHIN_S
        while not reached(position := self.stored()):
            assert self._process.poll() is None, self._process.communicate()[0].decode()
            assert time.monotonic() < end_s, position
            time.sleep(0.01)
        return position

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def ended(self) -> int:
        """The exit code."""
        code = self._process.wait(ENDS_WITHIN_S)
        self.close()
        return code

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None and not self._process.stdout.closed:
            self._process.stdout.close()
            os.close(self._terminal)
            self._channel.close()


Start = Callable[..., Process]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[Process] = []

    def begin(*more: str) -> Process:
        process = Process(tmp_path / "timer.json", *more)
        started.append(process)
        process.told_until("READY=1")
        return process

    yield begin
    for process in started:
        process.close()


def phase(name: str, turn: int) -> Callable[[dict[str, Any]], bool]:
    return lambda position: position["phase"] == name and position["turn"] == turn


def test_a_game_goes_on_after_the_process_was_killed_and_systemd_is_told_how_it_is(
    start: Start, tmp_path: Path
) -> None:
    first = start("Ana", "Åse", "José", "--turn-seconds", "0", "--bank", "3", "--increment", "30")
    first.type("e")
    first.until(phase("turn", 0))
    first.type("e")
    first.until(phase("turn", 1))
    first.type("u")  # it was an accident
    first.until(phase("turn", 0))
    first.type("p")
    paused = first.until(phase("paused", 0))
    first.type("x")
    first.until(lambda position: position["clock_s"] == 60)
    first.type("s")
    first.until(phase("turn", 1))
    time_up = first.until(phase("time-up", 1))
    assert time_up["banks_s"] == pytest.approx([paused["banks_s"][0], 0, 3])
    first.type("e")
    running = first.until(phase("turn", 2))
    first.send(signal.SIGKILL)
    assert first.ended() == -signal.SIGKILL

    second = start()  # the file knows who plays
    position = second.until(phase("paused", 2))
    assert position["cut"]
    assert position["banks_s"] == running["banks_s"]
    second.type("r57\n")
    second.until(lambda position: position["entered"] == [57])
    second.send(signal.SIGKILL)
    assert second.ended() == -signal.SIGKILL

    third = start()
    third.type("31\n")
    assert third.told_until("STATUS=result")
    third.told_until("WATCHDOG=1")
    third.told_until("WATCHDOG=1")
    third.send(signal.SIGTERM)
    third.told_until("STOPPING=1")
    assert third.ended() == 0
    plain = json.loads((tmp_path / "timer.json").read_text(encoding="utf-8"))
    assert plain["standings"] == [
        {"name": "José", "points": 88},
        {"name": "Åse", "points": -31},
        {"name": "Ana", "points": -57},
    ]


def test_a_write_that_fails_or_is_cut_short_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "timer.json"
    before = Record(new_game(SETUP, 0))
    write(file, SETUP, before)

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write(file, SETUP, Record(new_game(SETUP, 1)))
    stored = read(file)
    assert stored is not None
    assert stored.record == before


def test_a_file_cut_off_anywhere_is_refused_and_put_aside(tmp_path: Path) -> None:
    file = tmp_path / "timer.json"
    write(file, SETUP, Record(new_game(SETUP, 0)))
    whole = file.read_bytes()
    for length in itertools.chain(range(0, len(whole), 97), (len(whole) - 1,)):
        file.write_bytes(whole[:length])
        with pytest.raises(StoredError):
            read(file)
    file.write_bytes(whole.replace(b'"version": 1', b'"version": 2'))
    with pytest.raises(StoredError, match="version 2"):
        read(file)
    assert [put_aside(file).name, file.exists()] == ["timer-1.json", False]
    file.write_bytes(b"{}")
    assert put_aside(file).name == "timer-2.json"


def test_other_players_or_rules_begin_anew_and_other_times_go_on(tmp_path: Path) -> None:
    file = tmp_path / "timer.json"
    record = Record(new_game(SETUP, 1))
    write(file, SETUP, record)
    quick = replace(PT, turn_seconds=20)
    assert tabletimer.taken_up(file, Setup(("Ana", "Bo"), quick, 20, 9)) == record
    assert tabletimer.taken_up(file, Setup(("Ana", "Bo"), FI, 60)) is None
    assert not file.exists()
    write(file, SETUP, record)
    assert tabletimer.taken_up(file, Setup(("Bo", "Ana"), PT, 60)) is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["timer-1.json", "timer-2.json"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "Say who plays"),
        (["Ana"], "played by 2 to 4 players"),
        (["Ana", "Ana"], "different names"),
        (["Ana", "Bo", "--turn-seconds", "3"], "at least 10 seconds"),
        (["Ana", "Bo", "--turn-seconds", "0", "--increment", "5"], "needs a turn limit or a bank"),
    ],
)
def test_what_no_game_can_be_played_with_is_said(tmp_path: Path, arguments: list[str], sentence: str) -> None:
    file = tmp_path / "timer.json"
    result = CliRunner().invoke(main, ["timer", *arguments, "--panel", "memory", "--file", str(file)])
    assert (result.exit_code, sentence in result.output) == (2, True), result.output
    assert not file.exists()


def test_two_timers_do_not_share_a_file(tmp_path: Path) -> None:
    file = tmp_path / "timer.json"
    lock = take_lock(tmp_path / "timer.json.lock")
    try:
        with pytest.raises(ConfigError, match="Another timer"):
            asyncio.run(
                tabletimer.run_timer(tabletimer.TimerOptions(SETUP, DeviceOptions(PanelOptions("memory")), file))
            )
    finally:
        os.close(lock)


def test_the_settings_file_says_who_plays_and_options_overrule_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tabletimer.TimerOptions] = []

    async def run_timer(options: tabletimer.TimerOptions) -> None:
        asked.append(options)

    monkeypatch.setattr(tabletimer, "run_timer", run_timer)
    config = tmp_path / "timer.toml"
    config.write_text(
        f'names = ["Ana", "Bo"]\nrules = "fi"\nturn-seconds = 30\nbank = 7\nfile = "{tmp_path}/kept.json"\n'
        '[panel]\nkind = "memory"\n[buttons.end]\npin = 17\n'
    )
    result = CliRunner().invoke(main, ["timer", "--config", str(config), "--bank", "9"])
    assert result.exit_code == 0, result.output
    [options] = asked
    assert options.setup == Setup(("Ana", "Bo"), replace(FI, turn_seconds=30), 30, 9)
    assert options.file == tmp_path / "kept.json"
    assert (options.device.panel.kind, options.device.buttons["end"].pin) == ("memory", 17)
    assert CliRunner().invoke(main, ["timer", "--config", str(config), "--rules", "xx"]).exit_code == 2
