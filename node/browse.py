"""Looking at what is on the LAN without sitting down: the tables that `rummesh tables` lists."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from node.app import PROTOCOL_VERSION
from node.clock import random_bytes
from node.discovery import Discovery, Record
from node.hall import Hall, TableSeen

_NO_PORT = 9  # "discard": nobody is to call a node that only looks


async def browse(seconds: float, interfaces: Sequence[str] | None = None) -> tuple[TableSeen, ...]:
    """The tables heard of within `seconds`. This node shows itself as one that has no table and a key of no use."""
    hall = Hall()
    record = Record(PROTOCOL_VERSION, random_bytes(32), "", None, "", "", "looking", 0, 0)
    discovery = Discovery(record, _NO_PORT, on_peer=hall.heard, on_gone=hall.gone, interfaces=interfaces)
    await discovery.start()
    try:
        await asyncio.sleep(seconds)
    finally:
        await discovery.stop()
    return hall.tables()
