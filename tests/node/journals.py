"""What the journals of nodes hold, for comparing them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from protocol.codec import decode
from protocol.log import Committed
from protocol.messages import Entry
from protocol.outputs import RecordKind


def journal_of(data: Path) -> Path:
    """The one journal with a game in a node's data folder."""
    found = [path for path in (data / "tables").glob("*.journal") if entries_in(path)]
    assert len(found) == 1, f"{data}: expected one game, got {len(found)}"
    return found[0]


def entries_in(path: Path) -> list[Entry]:
    """The committed entries in a journal, read beside the node that has it open."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        rows = connection.execute(
            "SELECT data FROM records WHERE kind = ? ORDER BY seq", (RecordKind.COMMITTED.value,)
        ).fetchall()
    finally:
        connection.close()
    return [decode(Committed, data).entry for (data,) in rows]
