"""Real processes killed at each point between deciding, storing and sending: one, two at once, all at once."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from tests.node.bots import ForkedBot, ended, height_of, same_logs, until

SEATS = 3
LIMIT_S = 30.0
POINTS = (  # late enough that each life brings the game on
    "before-store.own:5",
    "after-store.lock:2",
    "before-store.committed:2",
    "after-store.committed:2",
    "after-send:12",
)
TOGETHER_S = 1.0  # one that is dead may keep the others from their point


class Table:
    """Bots that are killed at a point and started again. `bots` gets all that were ever started."""

    def __init__(self, folder: Path, bots: list[ForkedBot]) -> None:
        rules = folder / "long.toml"
        rules.write_text('base = "pt"\nrounds = 50\n')
        self.folders = [folder / str(index) for index in range(SEATS)]
        self.bots = bots
        self._now: dict[int, ForkedBot] = {}
        for index in range(SEATS):
            opening = ("--open", str(SEATS), "--rules", str(rules)) if index == 0 else ()
            self._start(index, None, *opening)

    def _start(self, index: int, point: str | None, *options: str) -> None:
        environment = {} if point is None else {"RUMMESH_CRASH_AT": point}
        process = ForkedBot(self.folders[index], "--thinking", "0.05", *options, environment=environment)
        self._now[index] = process
        self.bots.append(process)

    def crash(self, point: str, indices: tuple[int, ...]) -> None:
        """Start these with a point to die at, the others as usual, and return when they have died."""
        for index in range(SEATS):
            if index in indices:
                self._now[index].kill()
                self._start(index, point)
            else:
                self._start_if_dead(index)
        began_s, alive = time.monotonic(), set(indices)
        while alive:
            assert time.monotonic() < began_s + LIMIT_S, f"{point} is not passed"
            for index in indices:
                if index in alive and not self._now[index].running():
                    assert self._now[index].kill() == -signal.SIGKILL, self._now[index].lines()
                    alive.remove(index)
                elif index not in alive and time.monotonic() > began_s + TOGETHER_S:
                    self._start_if_dead(index)
            time.sleep(0.01)

    def _start_if_dead(self, index: int) -> None:
        if not self._now[index].running():
            self._start(index, None)

    def goes_on(self) -> None:
        for index in range(SEATS):
            self._start_if_dead(index)
        heights = [height_of(folder) for folder in self.folders]
        reached = max(heights) + 2
        until(lambda: all(height_of(folder) >= reached for folder in self.folders), f"the game goes on from {heights}")


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_game_goes_on_after_crashes_at_every_point_of_one_of_two_and_of_all(tmp_path: Path) -> None:
    bots: list[ForkedBot] = []
    with ended(bots):
        table = Table(tmp_path, bots)
        table.goes_on()
        before = height_of(table.folders[0])
        for number, point in enumerate(POINTS):
            one, two, three = (number % SEATS, (number + 1) % SEATS, (number + 2) % SEATS)
            for indices in ((one,), (two, three), (one, two, three)):
                table.crash(point, indices)
        table.goes_on()
        lines = [line for bot in bots for line in bot.lines()]
    assert len(same_logs(table.folders)) > before + len(POINTS) * 3
    assert not [line for line in lines if "Traceback" in line or "ERROR" in line or "evidence" in line]
