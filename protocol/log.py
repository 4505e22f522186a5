"""The log: committed entries with what proves them, and the hash chain through them.

The certificate is no part of the hash chain: two nodes may hold different ones for one entry (rule 7).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.state import Seat
from protocol.codec import encode
from protocol.envelope import Envelope, digest, open_envelope
from protocol.errors import RemoteProtocolError
from protocol.messages import Content, Entry, Genesis, GenesisEntry, GenesisSignature, Precommit, Regroup


@dataclass(frozen=True, slots=True)
class Committed:
    """An entry, its certificate, and the messages that it names by digest, in the order it names them.

    The certificate holds signed envelopes: for height 0 every seat's `GenesisSignature`, else the `Precommit` of every
    voter of one round, in seat order. `regroup`: if that round left seats out, the `Regroup` of each of its voters.
    """

    entry: Entry
    certificate: tuple[bytes, ...]
    attachments: tuple[bytes, ...]
    regroup: tuple[bytes, ...] = ()


def entry_hash(entry: Entry) -> bytes:
    """The hash by which votes and the next entry name this one."""
    return digest(encode(entry))


def content_kind(content: Content) -> str:
    """The kind of an entry in words for a log line, such as `action`."""
    return type(content).__name__.removesuffix("Entry").lower()


def genesis_hash(genesis: Genesis) -> bytes:
    """What a `GenesisSignature` signs."""
    return digest(b"rummesh/genesis/1\x00" + encode(genesis))


def check_genesis_certificate(genesis: Genesis, certificate: tuple[bytes, ...]) -> None:
    """Raises `RemoteProtocolError` unless every seat has signed this genesis, in seat order."""
    named = genesis_hash(genesis)
    envelopes = _opened(certificate, len(genesis.members), genesis.table, GenesisSignature)
    signers = tuple(envelope.sender for envelope in envelopes)
    if signers != tuple(member.node for member in genesis.members):
        raise RemoteProtocolError(None, f"expected {len(genesis.members)} genesis signatures in seat order")
    for envelope in envelopes:
        if not isinstance(envelope.body, GenesisSignature) or envelope.body.genesis != named:
            raise RemoteProtocolError(None, "genesis signature for another genesis")


def check_commit_certificate(committed: Committed, genesis: Genesis, seats: Sequence[Seat]) -> None:
    """Raises `RemoteProtocolError` unless all voters of one round have precommitted the entry (rules 7 and 16).

    `seats` are those in the game before the entry (V).
    """
    entry = committed.entry
    if isinstance(entry.content, GenesisEntry):
        check_genesis_certificate(entry.content.genesis, committed.certificate)
        if committed.regroup:
            raise RemoteProtocolError(None, "a genesis leaves out nobody")
        return
    named = entry_hash(entry)
    votes = _opened(committed.certificate, len(seats), genesis.table, Precommit)
    rounds = set()
    for envelope in votes:
        vote = envelope.body
        assert isinstance(vote, Precommit)
        if (vote.height, vote.prev, vote.entry) != (entry.height, entry.prev, named):
            raise RemoteProtocolError(envelope.sender, f"certificate of height {entry.height} holds another vote")
        rounds.add((vote.round, vote.without))
    if len(rounds) != 1:
        raise RemoteProtocolError(None, f"certificate of height {entry.height} is not of one round")
    number, without = rounds.pop()
    voters = voters_of(seats, without)
    if [envelope.sender for envelope in votes] != [genesis.members[seat].node for seat in voters]:
        raise RemoteProtocolError(None, f"certificate of height {entry.height} is not of all voters of one round")
    if without:
        check_regroup(committed.regroup, genesis, seats, (entry.height, entry.prev, number, without))
    elif committed.regroup:
        raise RemoteProtocolError(None, f"certificate of height {entry.height} holds regroups that it does not need")


def voters_of(seats: Sequence[Seat], without: Sequence[int]) -> tuple[Seat, ...]:
    """V without S, in seat order."""
    return tuple(seat for seat in seats if seat not in without)


def check_without(seats: Sequence[Seat], without: Sequence[int]) -> None:
    """Raises `RemoteProtocolError` unless these seats may be left out: more than half of V stay (rule 15)."""
    if list(without) != sorted(set(without)) or not set(without) <= set(seats):
        raise RemoteProtocolError(None, "leaves out seats that are not in the game, or not in order")
    if not may_be_left_out(seats, without):
        raise RemoteProtocolError(None, f"{len(seats) - len(without)} of {len(seats)} seats are too few to go on")


def may_be_left_out(seats: Sequence[Seat], without: Sequence[int]) -> bool:
    """Whether enough stay: more than half, and two at least (rule 15)."""
    stay = len(seats) - len(without)
    return not without or (stay >= 2 and 2 * stay > len(seats))


def check_regroup(
    raws: Sequence[bytes], genesis: Genesis, seats: Sequence[Seat], place: tuple[int, bytes, int, tuple[int, ...]]
) -> None:
    """Raises `RemoteProtocolError` unless these are the `Regroup`s of all of V without S for one round (rule 16).

    `place` is height, hash of the entry before, round, and S. They may have led to an earlier round of S, from which
    rule 6 led on.
    """
    without = place[3]
    check_without(seats, without)
    envelopes = _opened(raws, len(seats), genesis.table, Regroup)
    if [envelope.sender for envelope in envelopes] != [
        genesis.members[seat].node for seat in voters_of(seats, without)
    ]:
        raise RemoteProtocolError(None, "a regroup is not signed by all that stay, in seat order")
    rounds = set()
    for envelope in envelopes:
        body = envelope.body
        assert isinstance(body, Regroup)
        rounds.add(body.round)
        if (body.height, body.prev, body.without) != (place[0], place[1], without) or body.round > place[2]:
            raise RemoteProtocolError(envelope.sender, "regroup of another round")
    if len(rounds) != 1:
        raise RemoteProtocolError(None, "regroups of several rounds")


def _opened(raws: Sequence[bytes], right: int, table: bytes, body: type) -> list[Envelope]:
    """The envelopes; of more than the `right` number only one too many, as opening them takes time."""
    envelopes = [open_envelope(raw) for raw in raws[: right + 1]]
    if any(envelope.table != table or not isinstance(envelope.body, body) for envelope in envelopes):
        raise RemoteProtocolError(None, f"expected a {body.__name__} of this table in the certificate")
    return envelopes
