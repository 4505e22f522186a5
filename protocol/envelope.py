"""Signed envelopes: one frame is the canonical msgpack of version, table id, sender, kind, body, signature.

The signature (Ed25519) covers a domain-separation label and all bytes of the array before the signature. Opening an
envelope is strict: size, depth, canonical form, known kind, well-typed body, right signature, in that order of cost.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Final, Protocol

from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

from protocol.codec import MAX_BYTES, from_plain, pack, to_plain, unpack
from protocol.errors import DecodeError, RemoteProtocolError
from protocol.messages import BODIES, Body

VERSION: Final = 1
LABEL: Final = b"rummesh/envelope/1\x00"
_SIGNATURE_BYTES: Final = 64
_TAIL_BYTES: Final = 2 + _SIGNATURE_BYTES  # msgpack's head of 64 bytes, and they


class Signer(Protocol):
    """An identity that can sign. `node_id` is the 32-byte Ed25519 public key."""

    @property
    def node_id(self) -> bytes: ...

    def sign(self, message: bytes) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Envelope:
    """An opened envelope. `raw` are the very bytes; `digest` is their BLAKE2b-256."""

    table: bytes
    sender: bytes
    body: Body
    raw: bytes

    @property
    def kind(self) -> str:
        return type(self.body).__name__

    @property
    def digest(self) -> bytes:
        return digest(self.raw)


HALL: Final = bytes(16)  # the table id of messages that belong to no table


def table_of(raw: bytes) -> bytes | None:
    """The table id that a frame claims, unverified, to route it by; None if it is no frame of this version."""
    if len(raw) < 20 or raw[:4] != b"\x96\x01\xc4\x10":
        return None
    return raw[4:20]


def digest(data: bytes) -> bytes:
    """BLAKE2b-256, the hash of entries, states and messages."""
    return hashlib.blake2b(data, digest_size=32).digest()


def seal(signer: Signer, table: bytes, body: Body) -> Envelope:
    """The envelope that `signer` sends to the nodes of `table`."""
    head: list[Any] = [VERSION, table, signer.node_id, type(body).__name__, to_plain(body)]
    unsigned = pack([*head, bytes(_SIGNATURE_BYTES)])[:-_TAIL_BYTES]
    raw = pack([*head, signer.sign(LABEL + unsigned)])
    return Envelope(table, signer.node_id, body, raw)


def open_envelope(raw: bytes, max_bytes: int = MAX_BYTES) -> Envelope:
    """The envelope in `raw`, its signature verified. Raises `RemoteProtocolError` (without a proven culprit)."""
    try:
        plain = unpack(raw, max_bytes)
        if type(plain) is not list or len(plain) != 6:
            raise DecodeError("expected an envelope of six fields")
        version, table, sender, kind, body, signature = plain
        if version != VERSION or type(version) is not int:
            raise DecodeError(f"expected version {VERSION}, got another")
        if type(table) is not bytes or len(table) != 16 or type(sender) is not bytes or len(sender) != 32:
            raise DecodeError("expected a table id of 16 bytes and a sender of 32")
        if type(kind) is not str or kind not in BODIES:
            raise DecodeError("unknown kind of message")
        if type(signature) is not bytes or len(signature) != _SIGNATURE_BYTES:
            raise DecodeError("expected a signature of 64 bytes")
        message: Body = from_plain(BODIES[kind], body)
        VerifyKey(sender).verify(LABEL + raw[:-_TAIL_BYTES], signature)
    except DecodeError as error:
        raise RemoteProtocolError(None, f"bad frame: {error}") from error
    except (BadSignatureError, ValueError, RecursionError) as error:
        raise RemoteProtocolError(None, "bad frame: wrong signature") from error
    return Envelope(table, sender, message, raw)
