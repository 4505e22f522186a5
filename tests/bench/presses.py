"""How true the display's clock is, and how fast its button: four bots as processes, the device here, over loopback."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from PIL import Image
from rich.console import Console
from rich.table import Table

from display.backends.memory import MemoryPanel
from display.buttons import ButtonPump
from display.keeper import Keeper
from display.presses import PressTimes
from display.views import TurnView, View, shown_seconds
from engine.state import Phase
from node.app import Node
from node.clock import unix_s
from node.config import NodeSettings
from node.device.buttons import BUTTONS, HOLD_S
from node.device.table import TableDevice
from protocol.outputs import RecordKind
from protocol.session import Session

TURNS: Final = 100
LIMIT_S: Final = 120
SEATS: Final = 4
TAP_S: Final = 0.08
IDLE_S: Final = 20.0
_NAME: Final = f"Bench {os.getpid()}"
_NODE: Final = (sys.executable, "-m", "node")


@dataclass(slots=True)
class Shown:
    """A picture with a turn's clock: when it was on the panel, by the wall clock, of which turn, with which seconds."""

    when_s: float
    turn: tuple[int, int]
    seconds: int


@dataclass(slots=True)
class Run:
    """What was seen: pictures, when the button was let go at which height, and at which height turns began."""

    shown: list[Shown] = field(default_factory=list)
    released: list[tuple[int, float]] = field(default_factory=list)
    began: dict[tuple[int, int], int] = field(default_factory=dict)
    idle_share: float = 0.0


class WatchedPanel(MemoryPanel):
    """Notes when which picture of a turn was shown."""

    def __init__(self, node: Node, run: Run) -> None:
        super().__init__()
        self._node = node
        self._run = run
        self.view: View | None = None

    def show(self, picture: Image.Image) -> None:
        del self.pictures[:-1]
        super().show(picture)
        session = self._node.session
        if isinstance(self.view, TurnView) and session is not None and session.state is not None:
            turn = session.state.game, session.state.turn_number
            self._run.shown.append(Shown(unix_s(), turn, shown_seconds(self.view) or 0))

    def saw(self, view: View) -> None:
        self.view = view


async def _until(reached: Callable[[], object], limit_s: float = 60.0) -> None:
    ends_s = time.monotonic() + limit_s
    while not reached():
        if time.monotonic() > ends_s:
            raise RuntimeError("the table does not go on")
        await asyncio.sleep(0.002)


async def _play(folder: Path, run: Run, turns: int) -> list[Path]:
    """Press the button in so many turns; gives the nodes' data folders, the device's last."""
    bots = [folder / str(number) for number in range(SEATS)]
    (folder / "series.toml").write_text(f'base = "pt"\nrounds = 2\nturn_seconds = {LIMIT_S}\n')
    node = Node(NodeSettings("Clock", folder / "clock", host="127.0.0.1", interfaces=("127.0.0.1",), device=True))
    device = TableDevice(node, _NAME)
    panel = WatchedPanel(node, run)
    keeper = Keeper(lambda: panel, device.screen.view, on_view=panel.saw)
    device.screen.show_on(keeper)
    pump = ButtonPump(BUTTONS, device.press, PressTimes(hold_s=HOLD_S))
    keeping = asyncio.get_running_loop().create_task(keeper.run())
    processes = [_start(data, number) for number, data in enumerate(bots[:-1])]
    idle = _start_idle(folder / "idle")
    try:
        await node.start()
        await _until(lambda: node.session is not None and len(node.session.lobby.members()) == SEATS - 1)
        await _until(lambda: node.session is not None and len(node.session.lobby.devices()) == 2)
        processes.append(_start(bots[-1], SEATS - 1))
        await _until(lambda: node.session is not None and node.session._turn_is_on())
        before_s, began_s = _processor_s(idle.pid), time.monotonic()
        await asyncio.sleep(IDLE_S)
        run.idle_share = (_processor_s(idle.pid) - before_s) / (time.monotonic() - began_s)
        for _ in range(turns):
            await _press(node, pump, run)
        await asyncio.sleep(0.5)
    finally:
        for process in (*processes, idle):
            process.kill()
            process.wait()
        pump.close()
        device.stop()
        await node.stop()
        keeping.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await keeping
    return [*bots, folder / "clock"]


async def _press(node: Node, pump: ButtonPump, run: Run) -> None:
    """One turn, ended by the button."""
    session = node.session
    assert session is not None
    await _until(session._turn_is_on)
    state = session.state
    assert state is not None
    turn = state.game, state.turn_number
    run.began[turn] = session.height - 1
    await asyncio.sleep(random.uniform(0.2, 2.2))
    pump.edge("end", True)
    await asyncio.sleep(TAP_S)
    run.released.append((session.height, unix_s()))
    pump.edge("end", False)
    await _until(lambda: run.released[-1][0] < session.height and not _is_on(session, turn))


def _is_on(session: Session, turn: tuple[int, int]) -> bool:
    state = session.state
    return state is not None and state.phase is Phase.PLAY and (state.game, state.turn_number) == turn


def _start(data: Path, number: int) -> subprocess.Popen[bytes]:
    opening = ["--open", str(SEATS), "--rules", str(data.parent / "series.toml")] if number == 0 else []
    command = [
        *_NODE,
        "bot",
        "--table",
        _NAME,
        "--loopback",
        "--thinking",
        "60",
        "--strength",
        "beginner",
        "--data",
        str(data),
        *opening,
    ]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


def _start_idle(data: Path) -> subprocess.Popen[bytes]:
    """One more display, as a process, that nobody presses."""
    command = [*_NODE, "display", "--table", _NAME, "--name", "Idle", "--loopback", "--backend", "memory"]
    return subprocess.Popen([*command, "--data", str(data)], stdout=subprocess.DEVNULL)


def _processor_s(pid: int) -> float:
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _committed(data: Path) -> dict[int, float]:
    """When a node committed each entry, by the wall clock."""
    (path,) = (data / "tables").glob("*.journal")
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        query = "SELECT height, unix_s FROM records WHERE kind = ? ORDER BY seq"
        return dict(connection.execute(query, (RecordKind.COMMITTED.value,)).fetchall())


def _differences_s(run: Run, nodes: list[dict[int, float]]) -> list[float]:
    """For each change of the seconds on the panel, how much later or earlier each node's own clock changes."""
    found = []
    for before, after in zip(run.shown, run.shown[1:], strict=False):
        began = run.began.get(after.turn)
        same_turn = before.turn == after.turn and before.seconds == after.seconds + 1
        begins = before.turn != after.turn and after.seconds == LIMIT_S
        if began is not None and (same_turn or begins):
            found += [after.when_s - (node[began] + LIMIT_S - after.seconds) for node in nodes if began in node]
    return found


def _row(shown: Table, name: str, values: list[float]) -> None:
    cuts = statistics.quantiles(values, n=100)
    figures = (statistics.median(values), cuts[98], max(values))
    shown.add_row(name, str(len(values)), *(f"{1000 * value:.0f} ms" for value in figures))


def main(console: Console, turns: int = TURNS) -> None:
    """Plays, and prints the table."""
    run = Run()
    with tempfile.TemporaryDirectory() as folder:
        nodes = [_committed(data) for data in asyncio.run(_play(Path(folder), run, turns))]
    shown = Table(f"{len(run.released)} turns, {SEATS} nodes and a display", "Values", "Median", "99th of 100", "Most")
    clocks = [abs(node[h] - nodes[-1][h]) for h in run.began.values() for node in nodes[:-1] if h in node]
    _row(shown, "the device's clock of the turn, and a node's", clocks)
    _row(shown, "what the panel shows, and a node's clock", [abs(value) for value in _differences_s(run, nodes)])
    everywhere = [(height, at_s) for height, at_s in run.released if all(height in node for node in nodes)]
    ends = [max(node[height] for node in nodes) - at_s for height, at_s in everywhere]
    _row(shown, "button let go, to the move on all nodes' disks", ends)
    console.print(shown)
    console.print(f"the device's process between presses: {100 * run.idle_share:.1f} % of a core")


if __name__ == "__main__":
    main(Console(width=120))
