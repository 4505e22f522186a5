from __future__ import annotations

import asyncio
import os
import socket
from pathlib import Path

import pytest

from node import notify


def listening(address: str) -> socket.socket:
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    channel.bind(address)
    channel.settimeout(2)
    return channel


@pytest.mark.parametrize("abstract", [False, True])
def test_what_is_told_arrives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, abstract: bool) -> None:
    name = f"@rummesh-test-{os.getpid()}" if abstract else str(tmp_path / "notify")
    monkeypatch.setenv("NOTIFY_SOCKET", name)
    with listening(name.replace("@", "\0") if abstract else name) as channel:
        notify.ready("at work")
        notify.status("Ana")
        notify.stopping()
        told = [channel.recv(4096) for _ in range(3)]
    assert told == [b"READY=1\nSTATUS=at work", b"STATUS=Ana", b"STOPPING=1"]


@pytest.mark.parametrize("address", ["", "nonsense", "/nowhere/notify"])
def test_where_nobody_listens_nothing_happens(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    notify.ready()


@pytest.mark.parametrize(
    ("usec", "pid", "every_s"),
    [("3000000", None, 1.5), ("3000000", "1", None), ("", None, None), ("0", None, None), ("soon", None, None)],
)
def test_the_watchdog_is_fed_twice_as_often_as_asked_by_the_process_that_was_asked(
    monkeypatch: pytest.MonkeyPatch, usec: str, pid: str | None, every_s: float | None
) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", usec)
    monkeypatch.delenv("WATCHDOG_PID", raising=False)
    if pid is not None:
        monkeypatch.setenv("WATCHDOG_PID", pid)
    assert notify.watchdog_s() == every_s


def test_a_busy_loop_is_silent_and_an_idle_one_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
    monkeypatch.setenv("WATCHDOG_USEC", "20000")

    async def main() -> None:
        alive = asyncio.create_task(notify.keep_alive())
        assert await asyncio.to_thread(channel.recv, 99) == b"WATCHDOG=1"
        assert await asyncio.to_thread(channel.recv, 99) == b"WATCHDOG=1"
        alive.cancel()

    with listening(str(tmp_path / "notify")) as channel:
        asyncio.run(main())
