"""The log: committed entries with what proves them, and the hash chain through them.

The certificate is no part of the hash chain: two nodes may hold different ones for one entry (rule 7).
"""

from __future__ import annotations

from dataclasses import dataclass

from protocol.codec import encode
from protocol.envelope import Envelope, digest, open_envelope
from protocol.errors import RemoteProtocolError
from protocol.messages import Content, Entry, Genesis, GenesisEntry, GenesisSignature, Precommit


@dataclass(frozen=True, slots=True)
class Committed:
    """An entry, its certificate, and the messages that it names by digest, in the order it names them.

    The certificate holds signed envelopes: for height 0 every seat's `GenesisSignature`, else the `Precommit` of every
    voter of one round, in seat order.
    """

    entry: Entry
    certificate: tuple[bytes, ...]
    attachments: tuple[bytes, ...]


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
    envelopes = [_opened(raw, genesis.table, GenesisSignature) for raw in certificate]
    signers = tuple(envelope.sender for envelope in envelopes)
    if signers != tuple(member.node for member in genesis.members):
        raise RemoteProtocolError(None, f"expected {len(genesis.members)} genesis signatures in seat order")
    for envelope in envelopes:
        if not isinstance(envelope.body, GenesisSignature) or envelope.body.genesis != named:
            raise RemoteProtocolError(None, "genesis signature for another genesis")


def check_commit_certificate(committed: Committed, genesis: Genesis) -> None:
    """Raises `RemoteProtocolError` unless all voters of one round have precommitted the entry (rule 7).

    The voters are all seats of the genesis: seats left out of a round are not possible in this version.
    """
    entry = committed.entry
    if isinstance(entry.content, GenesisEntry):
        check_genesis_certificate(entry.content.genesis, committed.certificate)
        return
    named = entry_hash(entry)
    rounds = set()
    voters = []
    for raw in committed.certificate:
        envelope = _opened(raw, genesis.table, Precommit)
        vote = envelope.body
        assert isinstance(vote, Precommit)
        if (vote.height, vote.prev, vote.entry) != (entry.height, entry.prev, named):
            raise RemoteProtocolError(envelope.sender, f"certificate of height {entry.height} holds another vote")
        rounds.add((vote.round, vote.without))
        voters.append(envelope.sender)
    if len(rounds) != 1 or voters != [member.node for member in genesis.members]:
        raise RemoteProtocolError(None, f"certificate of height {entry.height} is not of all voters of one round")
    if rounds.pop()[1]:
        raise RemoteProtocolError(None, f"certificate of height {entry.height} leaves out seats")


def _opened(raw: bytes, table: bytes, body: type) -> Envelope:
    envelope = open_envelope(raw)
    if envelope.table != table or not isinstance(envelope.body, body):
        raise RemoteProtocolError(None, f"expected a {body.__name__} of this table in the certificate")
    return envelope
