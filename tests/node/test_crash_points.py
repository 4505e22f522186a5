"""Real processes killed at each point between deciding, storing and sending: one, two at once, all at once."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from tests.network.lab import Process
from tests.node.bots import ended, height_of, same_logs, start_bot, until

SEATS = 3
LIMIT_S = 30.0
POINTS = ("before-store", "after-store.lock", "before-store.committed", "after-store.committed", "after-send:3")
TOGETHER_S = 1.5  # one that is dead may keep the others from their point


class Table:
    """Bots that are killed at a point and started again. `bots` gets all that were ever started."""

    def __init__(self, folder: Path, bots: list[Process]) -> None:
        rules = folder / "long.toml"
        rules.write_text('base = "pt"\nrounds = 50\n')
        self.folders = [folder / str(index) for index in range(SEATS)]
        self.bots = bots
        self._now: dict[int, Process] = {}
        for index in range(SEATS):
            opening = ("--open", str(SEATS), "--rules", str(rules)) if index == 0 else ()
            self._start(index, None, *opening)

    def _start(self, index: int, point: str | None, *options: str) -> None:
        environment = {} if point is None else {"RUMMESH_CRASH_AT": point}
        process = start_bot(self.folders[index], "--thinking", "0.05", *options, environment=environment)
        self._now[index] = process
        self.bots.append(process)

    def crash(self, point: str, indices: tuple[int, ...]) -> None:
        """Start these anew with a point to die at; when all have, start them as usual."""
        for index in indices:
            self._now[index].kill()
            self._start(index, point)
        began_s, alive = time.monotonic(), set(indices)
        while alive:
            assert time.monotonic() < began_s + LIMIT_S, f"{point} is not passed"
            for index in [index for index in alive if not self._now[index].running()]:
                assert self._now[index].kill() == -signal.SIGKILL, self._now[index].lines()
                alive.remove(index)
            if not alive or time.monotonic() > began_s + TOGETHER_S:
                for index in indices:
                    if index not in alive and not self._now[index].running():
                        self._start(index, None)
            time.sleep(0.01)

    def goes_on(self) -> None:
        heights = [height_of(folder) for folder in self.folders]
        reached = max(heights) + 2
        until(lambda: all(height_of(folder) >= reached for folder in self.folders), f"the game goes on from {heights}")


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_game_goes_on_after_crashes_at_every_point_of_one_of_two_and_of_all(tmp_path: Path) -> None:
    with ended([]) as bots:
        table = Table(tmp_path, bots)
        table.goes_on()
        for number, point in enumerate(POINTS):
            one, two, three = (number % SEATS, (number + 1) % SEATS, (number + 2) % SEATS)
            for indices in ((one,), (two, three), (one, two, three)):
                table.crash(point, indices)
                table.goes_on()
        lines = [line for bot in bots for line in bot.lines()]
    same_logs(table.folders)
    assert not [line for line in lines if "Traceback" in line or "ERROR" in line or "refused" in line]
