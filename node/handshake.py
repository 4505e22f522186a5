"""How two nodes prove to each other who they are, as bytes in and bytes out.

    dialler                                   listener
    hello [version, node_id, nonce]  ------>
                                     <------  hello [version, node_id, nonce]
    proof  signature                 ------>
                                     <------  proof  signature

Both signatures cover a label, the signer's role, both ids and both nonces: one made here is worth nothing on another
link, in the other direction, or as a message of the game. Instead of a hello or a proof either side may send a text:
the reason why it will not be linked. The listener proves itself last, so a link that it does not want never counts as
one on the other side.

A proof says who is at the other end, not that nobody stands between: frames are signed one by one above.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

from protocol.codec import pack, unpack
from protocol.errors import DecodeError

LABEL: Final = b"rummesh/link/1\x00"
MAX_BYTES: Final = 512  # of a hello or a proof, also of later versions
NONCE_BYTES: Final = 32
ALREADY_LINKED: Final = "already linked"  # a reason that the other side understands
_MAX_REASON: Final = 120


class Role(Enum):
    """Which end of a link a node is."""

    DIALLER = b"dialler"
    LISTENER = b"listener"


class Refused(Exception):  # noqa: N818 - what happened to a link, seldom an error
    """A link that does not come about. The text is for logs and for a person."""


class AlreadyLinked(Refused):
    """The two nodes have a link, or are about to have one."""


@dataclass(frozen=True, slots=True)
class Hello:
    """What one side says first."""

    version: int
    node_id: bytes
    nonce: bytes

    def to_bytes(self) -> bytes:
        return pack([self.version, self.node_id, self.nonce])


def read_hello(data: bytes, version: int) -> Hello:
    """The other side's hello. Raises `Refused` for anything but a hello of our `version`."""
    plain = _unpack(data)
    if type(plain) is not list or not plain or type(plain[0]) is not int:
        raise Refused("the other side does not speak Rummesh")
    if plain[0] != version:  # what follows may have another form in another version
        raise Refused(f"the other side speaks version {plain[0]} of the protocol, this node version {version}")
    match plain:
        case [_, bytes(node_id), bytes(nonce)] if len(node_id) == 32 and len(nonce) == NONCE_BYTES:
            return Hello(version, node_id, nonce)
        case _:
            raise Refused("the other side's hello is malformed")


def signed_text(signer: Role, dialler: Hello, listener: Hello) -> bytes:
    """The bytes that `signer` signs as its proof."""
    return LABEL + pack(
        [dialler.version, signer.value, dialler.node_id, listener.node_id, dialler.nonce, listener.nonce]
    )


def proof_to_bytes(signature: bytes) -> bytes:
    return pack(signature)


def check_proof(data: bytes, signer: Role, dialler: Hello, listener: Hello) -> None:
    """Raises `Refused` unless `data` is the proof of that side of this very handshake."""
    signature = _unpack(data)
    if type(signature) is not bytes or len(signature) != 64:
        raise Refused("the other side's proof is malformed")
    node_id = dialler.node_id if signer is Role.DIALLER else listener.node_id
    try:
        VerifyKey(node_id).verify(signed_text(signer, dialler, listener), signature)
    except (BadSignatureError, ValueError) as error:
        raise Refused("the other side does not hold the key that it named") from error


def reason_to_bytes(reason: str) -> bytes:
    return pack(reason[:_MAX_REASON])


def _unpack(data: bytes) -> object:
    try:
        plain: object = unpack(data, MAX_BYTES)
    except DecodeError as error:
        raise Refused("the other side does not speak Rummesh") from error
    if plain == ALREADY_LINKED:
        raise AlreadyLinked(ALREADY_LINKED)
    if type(plain) is str:
        shown = "".join(letter if letter.isprintable() else "?" for letter in plain[:_MAX_REASON])
        raise Refused(f"the other side says: {shown}")
    return plain
