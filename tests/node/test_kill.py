"""Real processes on this machine: one is killed in its own turn, started again, and continues where it was."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine.state import Phase
from node.clock import random_bytes
from node.keystore import load_or_create
from protocol.codec import decode
from protocol.dealing.secret_deal import secret_dealer
from protocol.log import Committed
from protocol.messages import GenesisEntry
from protocol.outputs import RecordKind
from protocol.session import Record, Session
from tests.node.journals import entries_in, journal_of

LIMIT_S = 60.0
THINKING_S = 2.0


def bot_command(data: Path, *options: str) -> list[str]:
    command = [sys.executable, "-m", "node", "bot", "--table", "Kill", "--loopback", "--once", "--data", str(data)]
    return [*command, *options]


@contextmanager
def running(*commands: list[str]) -> Iterator[list[subprocess.Popen[bytes]]]:
    processes = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for command in commands]
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def until(reached: Callable[[], bool], what: str) -> None:
    ends_s = time.monotonic() + LIMIT_S
    while not reached():
        assert time.monotonic() < ends_s, f"not in {LIMIT_S} s: {what}"
        time.sleep(0.02)


def session_from(data: Path) -> Session | None:
    """The session that a node would take up from its journal now."""
    tables = list((data / "tables").glob("*.journal"))
    if not tables:
        return None
    connection = sqlite3.connect(f"file:{tables[0]}?mode=ro", uri=True)
    try:
        rows = connection.execute("SELECT kind, height, data FROM records ORDER BY seq").fetchall()
    finally:
        connection.close()
    return Session.resume(
        load_or_create(data),
        bytes.fromhex(tables[0].stem),
        [Record(RecordKind(kind), height, record, 0.0) for kind, height, record in rows],
        entropy=random_bytes,
        make_dealer=secret_dealer,
        now_s=0.0,
    )


def is_own_turn(data: Path) -> bool:
    session = session_from(data)
    if session is None or session.state is None or session.seat is None:
        return False
    state = session.state
    return state.phase is Phase.PLAY and state.call is None and state.turn == session.seat and session.may_act(0.0)


def height_of(data: Path) -> int:
    return len(entries_in(journal_of(data)))


@pytest.mark.slow
def test_a_node_killed_in_its_own_turn_continues_where_it_was(tmp_path: Path) -> None:
    slow, quick = tmp_path / "slow", tmp_path / "quick"
    slow_bot = bot_command(slow, "--thinking", str(THINKING_S))
    quick_bot = bot_command(quick, "--open", "2", "--thinking", "0.05", "--turn-seconds", "30")
    with running(quick_bot, slow_bot) as (_quick, victim):
        until(lambda: is_own_turn(slow) and height_of(slow) > 6, "the own turn of the slow bot")
        os.kill(victim.pid, signal.SIGKILL)
        victim.wait()
        before = session_from(slow)
        assert before is not None
        assert is_own_turn(slow), "killed in its own turn, before it had acted"
        height = height_of(slow)
        with running(slow_bot):
            until(lambda: height_of(slow) > height + 4 and height_of(quick) > height + 4, "the game goes on")
            entries = entries_in(journal_of(slow))
    others = entries_in(journal_of(quick))
    shared = min(len(entries), len(others))
    assert entries[:shared] == others[:shared]
    connection = sqlite3.connect(f"file:{journal_of(slow)}?mode=ro", uri=True)
    rows = connection.execute(
        "SELECT data FROM records WHERE kind = ? ORDER BY seq", (RecordKind.COMMITTED.value,)
    ).fetchall()
    connection.close()
    first = decode(Committed, rows[0][0]).entry
    assert isinstance(first.content, GenesisEntry)
    turn = decode(Committed, rows[height][0]).entry
    assert turn.height == height
    assert type(turn.content).__name__ == "ActionEntry", "its own action ended that turn, not the clock"
