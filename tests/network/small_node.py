"""A small process for the lab: a mesh and its discovery, telling what happens one JSON object a line.

Started as `python -m tests.network.small_node NUMBER`. Like a real node it sends a heartbeat over every link and drops
a link from which nothing comes.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import signal
import sys

from nacl.signing import SigningKey

from node.clock import monotonic_s
from node.discovery import Discovery, Peer, Record
from node.keystore import Identity
from node.transport import Mesh
from protocol.envelope import VERSION

BEAT_S = 0.3
SILENCE_S = 1.5


def identity(number: int) -> Identity:
    return Identity(SigningKey(hashlib.blake2b(b"%d" % number, digest_size=32).digest()))


NUMBERS = {identity(number).node_id: number for number in range(1, 20)}


class SmallNode:
    """One node."""

    def __init__(self, number: int) -> None:
        own = identity(number)
        self._heard_s: dict[bytes, float] = {}
        self._mesh = Mesh(
            own, on_link=self._on_link, on_frame=self._on_frame, on_lost=self._on_lost, on_refused=self._on_refused
        )
        self._record = Record(VERSION, own.node_id, f"Node {number}", None, "", "", "hall", 0, 0)

    async def run(self) -> None:
        """Until SIGTERM."""
        ended = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
        port = await self._mesh.start(None)
        discovery = Discovery(self._record, port, on_peer=self._on_peer, on_gone=self._on_gone)
        await discovery.start()
        tell("ready", port=port, addresses=discovery.addresses)
        trouble = None
        while not ended.is_set():
            if discovery.trouble != trouble:
                trouble = discovery.trouble
                tell("trouble", text=trouble)
            self._mesh.broadcast(b"beat")
            for node_id, heard_s in list(self._heard_s.items()):
                if monotonic_s() - heard_s > SILENCE_S:
                    await self._mesh.drop(node_id, "silent")
            await asyncio.sleep(BEAT_S)
        await discovery.stop()
        await self._mesh.stop()
        tell("stopped")

    def _on_link(self, node_id: bytes) -> None:
        self._heard_s[node_id] = monotonic_s()
        tell("link", node=NUMBERS[node_id])

    def _on_frame(self, node_id: bytes, frame: bytes) -> None:
        self._heard_s[node_id] = monotonic_s()

    def _on_lost(self, node_id: bytes, reason: str) -> None:
        del self._heard_s[node_id]
        tell("lost", node=NUMBERS[node_id], reason=reason)

    def _on_refused(self, address: str, reason: str) -> None:
        tell("refused", address=address, reason=reason)

    def _on_peer(self, peer: Peer) -> None:
        tell("peer", node=NUMBERS[peer.record.node_id], addresses=peer.addresses)
        self._mesh.want(peer.record.node_id, peer.addresses, peer.port)

    def _on_gone(self, node_id: bytes) -> None:
        tell("gone", node=NUMBERS[node_id])


def tell(event: str, **details: object) -> None:
    print(json.dumps({"event": event, "t": round(monotonic_s(), 3), **details}), flush=True)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    asyncio.run(SmallNode(int(sys.argv[1])).run())
