"""The handshake's bytes: what proves an identity, and all that does not."""

from __future__ import annotations

import msgpack
import pytest
from nacl.signing import SigningKey

from node.handshake import (
    ALREADY_LINKED,
    AlreadyLinked,
    Hello,
    Refused,
    Role,
    check_proof,
    proof_to_bytes,
    read_hello,
    reason_to_bytes,
    signed_text,
)
from node.keystore import Identity

ANA, BEN, EVE = (Identity(SigningKey(bytes([n]) * 32)) for n in (1, 2, 3))
DIALLER = Hello(1, ANA.node_id, bytes(32))
LISTENER = Hello(1, BEN.node_id, b"\1" * 32)


def proof(signer: Identity, role: Role, dialler: Hello = DIALLER, listener: Hello = LISTENER) -> bytes:
    return proof_to_bytes(signer.sign(signed_text(role, dialler, listener)))


def test_hello_comes_back_as_it_was() -> None:
    assert read_hello(DIALLER.to_bytes(), 1) == DIALLER


def test_both_proofs_are_accepted() -> None:
    check_proof(proof(ANA, Role.DIALLER), Role.DIALLER, DIALLER, LISTENER)
    check_proof(proof(BEN, Role.LISTENER), Role.LISTENER, DIALLER, LISTENER)


@pytest.mark.parametrize(
    "wrong",
    [
        proof(EVE, Role.DIALLER),  # another key
        proof(ANA, Role.LISTENER),  # the other role
        proof(BEN, Role.LISTENER),  # the other side's own proof, sent back
        proof(ANA, Role.DIALLER, Hello(1, ANA.node_id, b"\2" * 32)),  # made for another link
        proof(ANA, Role.DIALLER, DIALLER, Hello(1, BEN.node_id, b"\2" * 32)),
        proof(ANA, Role.DIALLER, DIALLER, Hello(1, EVE.node_id, LISTENER.nonce)),  # made for somebody else
        proof(ANA, Role.DIALLER, Hello(2, ANA.node_id, bytes(32))),  # in another version
        proof_to_bytes(ANA.sign(signed_text(Role.DIALLER, DIALLER, LISTENER)[:-1])),
        proof_to_bytes(bytes(64)),
        proof_to_bytes(bytes(63)),
        proof(ANA, Role.DIALLER) + b"\0",
        b"",
        b"\xc1",
    ],
)
def test_other_proofs_are_refused(wrong: bytes) -> None:
    with pytest.raises(Refused):
        check_proof(wrong, Role.DIALLER, DIALLER, LISTENER)


def test_another_version_is_refused_with_both_numbers_whatever_follows() -> None:
    for plain in ([2], [2, "anything", None], [2, bytes(32), bytes(32)]):
        with pytest.raises(Refused, match="speaks version 2 of the protocol, this node version 1"):
            read_hello(msgpack.packb(plain), 1)


@pytest.mark.parametrize(
    "plain",
    [
        None,
        7,
        b"GET / HTTP/1.1",
        [],
        [True, bytes(32), bytes(32)],
        ["1", bytes(32), bytes(32)],
        [1, bytes(31), bytes(32)],
        [1, bytes(32), bytes(33)],
        [1, "a" * 32, bytes(32)],
        [1, bytes(32), bytes(32), 0],
        [1, bytes(32)],
        {1: 2},
    ],
)
def test_malformed_hello_is_refused(plain: object) -> None:
    with pytest.raises(Refused):
        read_hello(msgpack.packb(plain), 1)


def test_hello_that_could_be_shorter_or_is_too_long_is_refused() -> None:
    for data in (b"\xdc\x00\x03" + DIALLER.to_bytes()[1:], DIALLER.to_bytes() + b"\0", bytes(1000), b""):
        with pytest.raises(Refused):
            read_hello(data, 1)


def test_reason_of_the_other_side_is_shown_cut_and_without_control_characters() -> None:
    with pytest.raises(Refused, match=r"^the other side says: too many links$"):
        read_hello(reason_to_bytes("too many links"), 1)
    with pytest.raises(Refused) as caught:
        check_proof(msgpack.packb("\x1b[2J\n" + "x" * 300), Role.DIALLER, DIALLER, LISTENER)
    assert str(caught.value).startswith("the other side says: ?[2J?xxx")
    assert len(str(caught.value)) < 150


def test_already_linked_is_understood() -> None:
    with pytest.raises(AlreadyLinked):
        check_proof(reason_to_bytes(ALREADY_LINKED), Role.LISTENER, DIALLER, LISTENER)
