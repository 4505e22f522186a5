"""How soon a page says "Waiting for …" when another's process is killed, and is back to play once it has returned."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from node.app import Node
from node.clock import monotonic_s
from node.config import NodeSettings
from node.desk import NodeDesk
from tests.network.lab import Process
from tests.node.bots import TABLE, ended, start_bot
from tests.node.loops import run

LOOPBACK = "127.0.0.1"
TOLD_WITHIN_S = 3.0
BACK_WITHIN_S = 1.0
BUSY_S = 2.0  # what a busy machine may add
LIMIT_S = 60.0


class Page:
    """What the page of a node is sent."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.desk = NodeDesk(node, None)

    def can_start(self) -> bool:
        table = self.desk.snapshot()["lobby"]["at"]
        return len(table["members"]) == 3 and table["can_start"] is True

    @property
    def away(self) -> dict[str, Any]:
        away: dict[str, Any] = self.desk.snapshot()["table"]["talk"]["away"]
        return away

    async def seconds_until(self, shown: Callable[[], object]) -> float:
        """Looks whenever the page is told that something has changed."""
        began_s = monotonic_s()
        changed = asyncio.Event()
        unwatch = self.node.watch(changed.set)
        try:
            async with asyncio.timeout(LIMIT_S):
                while not shown():
                    await changed.wait()
                    changed.clear()
        finally:
            unwatch()
        return monotonic_s() - began_s


async def told(folder: Path, bots: list[Process]) -> tuple[float, float]:
    """A person opens a table for two bots; one is killed and started again. Seconds until the page says each."""
    node = Node(NodeSettings(name="Ana", data=folder / "ana", host=LOOPBACK, interfaces=(LOOPBACK,)))
    page = Page(node)
    await node.start()
    try:
        page.desk.command({"type": "open_table", "name": TABLE, "rules": "pt", "turn_seconds": 0})
        bots += [start_bot(folder / str(number)) for number in (1, 2)]
        await page.seconds_until(page.can_start)
        page.desk.command({"type": "start"})
        await page.seconds_until(lambda: node.session is not None and node.session.height > 2)
        bots[0].kill()
        told_s = await page.seconds_until(lambda: page.away["late"] or page.away["seats"])
        await page.seconds_until(lambda: page.away["seats"])
        again = start_bot(folder / "1")
        bots[0] = again
        await asyncio.to_thread(again.wait_for, lambda lines: any("listens on" in line for line in lines))
        back_s = await page.seconds_until(lambda: not page.away["late"] and not page.away["seats"])
    finally:
        await node.stop()
    return told_s, back_s


def test_a_killed_node_is_waited_for_and_back_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def measure() -> None:
        none_yet: list[Process] = []
        with ended(none_yet) as bots:
            told_s, back_s = await told(tmp_path, bots)
        with capsys.disabled():
            print(f" told after {told_s:.2f} s, back after {back_s:.2f} s ", end="")
        assert told_s < TOLD_WITHIN_S + BUSY_S
        assert back_s < BACK_WITHIN_S + BUSY_S

    run(measure())
