"""The other end of a link, byte by byte: what it sends is up to the test."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from node import handshake
from node.handshake import Hello, Role
from node.keystore import Identity

HOST = "127.0.0.1"


class Stranger:
    """One connection to a node."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def read(self) -> bytes:
        return await self.reader.readexactly(int.from_bytes(await self.reader.readexactly(4)))

    def write(self, frame: bytes) -> None:
        self.writer.write(len(frame).to_bytes(4) + frame)

    async def shake(self, own: Identity) -> None:
        """The dialler's side of a handshake."""
        mine = Hello(1, own.node_id, bytes(32))
        self.write(mine.to_bytes())
        other = handshake.read_hello(await self.read(), 1)
        self.write(handshake.proof_to_bytes(own.sign(handshake.signed_text(Role.DIALLER, mine, other))))
        handshake.check_proof(await self.read(), Role.LISTENER, mine, other)

    async def closed(self) -> bool:
        """Reads to the end."""
        with contextlib.suppress(ConnectionError):
            while await asyncio.wait_for(self.reader.read(65536), 10):
                pass
        return True


@contextlib.asynccontextmanager
async def stranger(port: int, host: str = HOST) -> AsyncIterator[Stranger]:
    """A connection to the node at `port` of this machine, from its address `host`."""
    reader, writer = await asyncio.open_connection(HOST, port, local_addr=(host, 0))
    try:
        yield Stranger(reader, writer)
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
