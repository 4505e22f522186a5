"""How long people wait until tiles are dealt: real bot processes over loopback, by what stands in their journals."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from protocol.outputs import RecordKind

LIMIT_S: Final = 120.0
_DEALT: Final = 3  # committed entries: genesis, start, racks


def seconds_to_racks(rules: str, seats: int) -> float:
    """From the first genesis on a disk to the last node's racks, in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        data = [Path(folder) / str(place) for place in range(seats)]
        processes = [subprocess.Popen(_command(rules, seats, own), stdout=subprocess.DEVNULL) for own in data]
        try:
            times = _until_dealt(data, processes)
        finally:
            for process in processes:
                process.kill()
                process.wait()
    return max(node[_DEALT - 1] for node in times) - min(node[0] for node in times)


def _command(rules: str, seats: int, data: Path) -> list[str]:
    command = [sys.executable, "-m", "node", "bot", "--table", "Bench", "--loopback", "--once", "--data", str(data)]
    opens = ["--open", str(seats), "--rules", rules] if data.name == "0" else []
    return [*command, "--thinking", "60", *opens]


def _until_dealt(data: list[Path], processes: list[subprocess.Popen[bytes]]) -> list[list[float]]:
    """When each node committed its entries, once all have dealt. Raises `RuntimeError` if one ends before."""
    ends_s = time.monotonic() + LIMIT_S
    while time.monotonic() < ends_s:
        time.sleep(0.5)  # reading costs what is measured
        times = [_committed(own) for own in data]
        if all(len(node) >= _DEALT for node in times):
            return times
        if any(process.poll() is not None for process in processes):
            break
    raise RuntimeError(f"{len(data)} nodes did not deal")


def _committed(data: Path) -> list[float]:
    """The times of the committed entries in a node's journal, none if it has none yet."""
    for path in (data / "tables").glob("*.journal"):
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            query = "SELECT unix_s FROM records WHERE kind = ? ORDER BY seq"
            return [when_s for (when_s,) in connection.execute(query, (RecordKind.COMMITTED.value,))]
        except sqlite3.OperationalError:
            return []
        finally:
            connection.close()
    return []
