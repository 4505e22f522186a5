"""Bots as real processes on loopback, and what their journals say while they play."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

from node.__main__ import main
from protocol.messages import Entry
from protocol.outputs import RecordKind
from tests.network.lab import ROOT, Process
from tests.node.journals import entries_in, journal_of

LIMIT_S = 60.0
NODE = ("-m", "node")
_fork_server = multiprocessing.get_context("forkserver")
_fork_server.set_forkserver_preload(["node.__main__"])
_forked = itertools.count()
TABLE = f"Kitchen {os.getpid()}"  # all test runs on this machine hear each other


def start_bot(
    data: Path,
    *options: str,
    environment: Mapping[str, str] | None = None,
    program: Sequence[str] = NODE,
    within: Sequence[str] = (),
) -> Process:
    """A bot at this test run's table, with its key and journals in `data`. `within`: a command that runs it."""
    command = [*within, sys.executable, *program, "bot", "--table", TABLE, "--loopback", "--data", str(data)]
    return Process(
        subprocess.Popen(
            [*command, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **(environment or {})},
        )
    )


class ForkedBot:
    """A bot in a process of its own that is forked from one which has loaded everything, for many quick starts."""

    def __init__(self, data: Path, *options: str, environment: Mapping[str, str] | None = None) -> None:
        command = ["bot", "--table", TABLE, "--loopback", "--data", str(data), *options]
        data.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._log = data / f"output-{next(_forked)}"
        self._process = _fork_server.Process(target=_run, args=(command, dict(environment or {}), self._log))
        self._process.start()

    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.is_alive()

    def lines(self) -> list[str]:
        """What it has written so far."""
        return self._log.read_text().splitlines() if self._log.exists() else []

    def kill(self) -> int:
        """End it at once (SIGKILL), if it has not ended; returns its exit status."""
        self._process.kill()
        self._process.join()
        assert self._process.exitcode is not None
        return self._process.exitcode


def _run(command: list[str], environment: dict[str, str], log: Path) -> None:
    os.environ.update(environment)
    with log.open("wb") as file:
        for descriptor in (1, 2):
            os.dup2(file.fileno(), descriptor)
    main(command)


class Killable(Protocol):
    """What `ended` needs of a process."""

    def kill(self) -> int: ...


Bot = TypeVar("Bot", bound=Killable)


@contextmanager
def ended(processes: list[Bot]) -> Iterator[list[Bot]]:
    """All that are in the list at the end are killed."""
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()


@contextmanager
def table_of(folder: Path, seats: int, *options: str) -> Iterator[tuple[list[Path], list[Process]]]:
    """So many bots in the midst of a game, with their folders; the first has opened the table."""
    folders = [folder / str(number) for number in range(seats)]
    opening = ("--open", str(seats), *options)
    with ended([start_bot(one, *(opening if one is folders[0] else options)) for one in folders]) as bots:
        until(lambda: all(height_of(one) > 3 for one in folders), "the game")
        yield folders, bots


def until(reached: Callable[[], object], what: str, limit_s: float = LIMIT_S) -> float:
    """Wait; returns the seconds that took. Fails after the limit."""
    start_s = time.monotonic()
    while not reached():
        assert time.monotonic() < start_s + limit_s, f"not in {limit_s} s: {what}"
        time.sleep(0.02)
    return time.monotonic() - start_s


def height_of(data: Path) -> int:
    """How many entries the node has committed; 0 before its game."""
    tables = list((data / "tables").glob("*.journal"))
    try:
        return sum(len(entries_in(path)) for path in tables)
    except sqlite3.Error:  # just being made
        return 0


def same_logs(folders: Sequence[Path]) -> list[Entry]:
    """The log that all these nodes have in common; fails where they contradict each other."""
    logs = sorted((entries_in(journal_of(folder)) for folder in folders), key=len)
    for log in logs:
        assert log[: len(logs[0])] == logs[0]
    return logs[0]


def latencies_s(data: Path, first: int) -> list[float]:
    """For each own word of the node from the height `first` on: seconds from signing it to the agreed entry."""
    with closing(sqlite3.connect(f"file:{journal_of(data)}?mode=ro", uri=True)) as connection:
        rows = connection.execute(
            "SELECT min(own.unix_s), entry.unix_s FROM records own JOIN records entry ON own.height = entry.height "
            "WHERE own.kind = ? AND entry.kind = ? AND own.height >= ? GROUP BY own.height",
            (RecordKind.OWN.value, RecordKind.COMMITTED.value, first),
        ).fetchall()
    return [agreed - signed for signed, agreed in rows]
