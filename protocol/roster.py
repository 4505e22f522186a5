"""The roster: members by seat, and the table words that everybody at the table sees alike."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from engine.options import BadOption, from_plain, to_plain
from engine.rulesets import RuleSet
from engine.state import Seat
from protocol.errors import RemoteProtocolError
from protocol.log import genesis_hash
from protocol.messages import Device, Genesis, Member

MAX_NAME_BYTES = 48
MAX_DEVICES = 4


def seat_order(members: Iterable[Member]) -> tuple[Member, ...]:
    """The members in the order of their seats: by a hash over everybody's fresh bytes and the own key.

    No member chooses a seat: the order is fixed only once all fresh bytes are known.
    """
    all_members = sorted(members, key=lambda member: member.node)
    everybody = b"".join(member.fresh for member in all_members)
    return tuple(sorted(all_members, key=lambda member: hashlib.blake2b(everybody + member.node).digest()))


def check_rules(rules: RuleSet, sender: bytes | None) -> None:
    """Raises `RemoteProtocolError` for rules that no game can have, whoever says them."""
    try:
        from_plain(to_plain(rules))
    except BadOption as bad:
        raise RemoteProtocolError(sender, f"rules that no game can have: {bad}") from bad


def check_genesis(genesis: Genesis) -> None:
    """Raises `RemoteProtocolError` unless it is a roster of different nodes, seated as it must be, for a real game."""
    check_rules(genesis.rules, None)
    nodes = {member.node for member in genesis.members}
    if len(nodes) != len(genesis.members) or genesis.members != seat_order(genesis.members):
        raise RemoteProtocolError(None, "genesis with a node twice, or seats in another order than they must have")
    if not genesis.rules.min_seats <= len(nodes) <= genesis.rules.max_seats:
        raise RemoteProtocolError(None, f"genesis with {len(nodes)} seats")
    devices = [device.node for device in genesis.devices]
    if devices != sorted(set(devices) - nodes) or len(devices) > MAX_DEVICES:
        raise RemoteProtocolError(None, "genesis with wrong table devices")


def seat_of(genesis: Genesis, node: bytes) -> Seat | None:
    """The seat of a node, None for an observer."""
    for index, member in enumerate(genesis.members):
        if member.node == node:
            return Seat(index)
    return None


def device_of(genesis: Genesis, node: bytes) -> Device | None:
    """The table device that is this node, None if it is none of this table."""
    return next((device for device in genesis.devices if device.node == node), None)


def table_words(genesis: Genesis, wordlist: Sequence[str]) -> str:
    """Four words for the signed roster: same words, same table, no impostor. `wordlist` holds 2048 words (44 bits)."""
    assert len(wordlist) == 2048, "11 bits a word"
    number = int.from_bytes(genesis_hash(genesis)[:6], "big")
    return " ".join(wordlist[number >> (11 * place) & 2047] for place in range(4))


def clean_name(name: str, most_bytes: int = MAX_NAME_BYTES) -> str:
    """A name fit for a screen: printable, no line breaks, at most so many bytes of UTF-8; may be empty."""
    printable = " ".join("".join(ch for ch in name if ch.isprintable() or ch.isspace()).split())
    return printable.encode(errors="ignore")[:most_bytes].decode(errors="ignore").strip()
