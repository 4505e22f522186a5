"""The hall: which nodes and tables are around, as heard over mDNS and over links. Hints only; nothing is trusted."""

from __future__ import annotations

from dataclasses import dataclass, field

from node.discovery import Peer, Record
from protocol.messages import Announce, KnownPeer


@dataclass(frozen=True, slots=True)
class TableSeen:
    """A table on the LAN, from what its nodes say of it."""

    table: bytes
    name: str
    rules: str
    phase: str
    seats: int
    free: int
    nodes: tuple[bytes, ...]


@dataclass(slots=True)
class Hall:
    """Peers by key. A peer heard over a link is forgotten with the link, one heard over mDNS with its goodbye."""

    _by_mdns: dict[bytes, Peer] = field(default_factory=dict)
    _by_link: dict[bytes, Peer] = field(default_factory=dict)

    def heard(self, peer: Peer) -> None:
        """A record came over mDNS."""
        self._by_mdns[peer.record.node_id] = peer

    def gone(self, node: bytes) -> None:
        """A node said goodbye over mDNS."""
        self._by_mdns.pop(node, None)

    def announced(self, node: bytes, announce: Announce) -> None:
        """A linked node told about itself and about others at its table."""
        self._by_link[node] = Peer(_record(node, announce), announce.addresses, announce.port)

    def unlinked(self, node: bytes) -> None:
        """A link is gone, and with it what it told."""
        self._by_link.pop(node, None)

    def peers(self) -> tuple[Peer, ...]:
        """Everybody known, by key; what a link tells is newer than mDNS."""
        everybody = {**self._by_mdns, **self._by_link}
        return tuple(everybody[node] for node in sorted(everybody))

    def at_table(self, table: bytes) -> tuple[Peer, ...]:
        """The peers that say they are at this table."""
        return tuple(peer for peer in self.peers() if peer.record.table == table)

    def tables(self) -> tuple[TableSeen, ...]:
        """All tables, by name. Where nodes differ, the one furthest on is believed, then the fullest."""
        found: dict[bytes, list[Record]] = {}
        for peer in self.peers():
            if peer.record.table is not None:
                found.setdefault(peer.record.table, []).append(peer.record)
        tables = []
        for table, records in found.items():
            best = min(records, key=lambda record: (record.phase == "lobby", record.free, record.node_id))
            nodes = tuple(record.node_id for record in records)
            tables.append(TableSeen(table, best.table_name, best.rules, best.phase, best.seats, best.free, nodes))
        return tuple(sorted(tables, key=lambda seen: (seen.name, seen.table)))


def announce(record: Record, addresses: tuple[str, ...], port: int, friends: tuple[Peer, ...]) -> Announce:
    """What to tell a linked node."""
    known = tuple(KnownPeer(peer.record.node_id, tuple(peer.addresses), peer.port) for peer in friends)
    return Announce(
        record.name,
        record.table,
        record.table_name,
        record.rules,
        record.phase,
        record.seats,
        record.free,
        addresses,
        port,
        known,
    )


def _record(node: bytes, heard: Announce) -> Record:
    return Record(
        version=1,
        node_id=node,
        name=heard.name,
        table=heard.table,
        table_name=heard.table_name,
        rules=heard.rules,
        phase=heard.phase,
        seats=heard.seats,
        free=heard.free,
    )
