"""Proofs about keys, shares and openings: bound to their statement, in one form, and never raising."""

from __future__ import annotations

import random

import pytest

from protocol.dealing.group import BASE, IDENTITY, Point, Secret, add, encode_scalar, multiply_base, subtract
from protocol.dealing.proofs import (
    OPEN,
    REKEY,
    SHARE,
    TAG,
    TAG_SHARE,
    Card,
    Dleq,
    ShareBatch,
    check_key,
    for_rack,
    opening,
    prove_key,
)
from protocol.dealing.transcript import ORDER, digest
from tests.protocol.dealing.test_group import bad_points, bad_scalars

X = Secret.from_number(0xABCDEF0123456789)
Q = Secret.from_number(0x123456789ABCDEF)
Y, RACK = X.times_base(), Q.times_base()
CTX = digest(b"ctx")
HEADS = tuple(multiply_base(n) for n in (11, 22, 33))
WHERE = (b"slot 1", b"slot 2", b"slot 3")


def entropy(count: int) -> bytes:
    return bytes(count)


def batch(cards: int = 3) -> ShareBatch:
    return ShareBatch(SHARE, CTX, Y, RACK, HEADS[:cards], WHERE[:cards])


def dleq(cards: int = 3) -> Dleq:
    return Dleq(TAG, CTX, RACK, tuple((head, Q.times(head)) for head in HEADS[:cards]), WHERE[:cards])


def put(data: bytes, place: int, field: bytes) -> bytes:
    return data[: 32 * place] + field + data[32 * (place + 1) :]


def wrong_scalars(data: bytes, place: int) -> list[bytes]:
    scalar = int.from_bytes(data[32 * place : 32 * (place + 1)], "little")
    values = [encode_scalar((scalar + 1) % ORDER), bytes(32), (scalar + ORDER).to_bytes(32, "little"), *bad_scalars()]
    return [put(data, place, value) for value in values]


def wrong_points(data: bytes, place: int) -> list[bytes]:
    moved = add(Point(data[32 * place : 32 * (place + 1)]), BASE)
    return [put(data, place, value) for value in (moved, *bad_points())]


# Keys


def test_a_key_proof_is_bound_to_key_moment_and_purpose() -> None:
    proof = prove_key(b"RK1/pop-x", CTX, Y, X, bytes(32))
    assert len(proof) == 64
    assert check_key(b"RK1/pop-x", CTX, Y, proof) is None
    assert check_key(b"RK1/pop-q", CTX, Y, proof) is not None
    assert check_key(b"RK1/pop-x", digest(b"other"), Y, proof) is not None
    assert check_key(b"RK1/pop-x", CTX, RACK, proof) is not None
    assert prove_key(b"RK1/pop-x", CTX, Y, X, bytes(32)) == proof, "the same after a restart"


def test_a_wrong_key_proof_is_refused() -> None:
    proof = prove_key(b"RK1/pop-x", CTX, Y, X, bytes(32))
    for wrong in (*wrong_scalars(proof, 0), *wrong_scalars(proof, 1), bytes(64), b"", proof + b"\0", proof[:63]):
        assert check_key(b"RK1/pop-x", CTX, Y, wrong) is not None


# One secret behind many pairs


@pytest.mark.parametrize("cards", [1, 2, 3])
def test_a_right_dleq_passes(cards: int) -> None:
    proof = dleq(cards).prove(Q, entropy)
    assert len(proof) == 64
    assert dleq(cards).check(proof) is None


@pytest.mark.parametrize("cards", [1, 3])
def test_a_wrong_dleq_is_refused(cards: int) -> None:
    proof = dleq(cards).prove(Q, entropy)
    for wrong in (*wrong_scalars(proof, 0), *wrong_scalars(proof, 1), bytes(64), b"", proof + b"\0", proof[:63]):
        assert dleq(cards).check(wrong) is not None


@pytest.mark.parametrize("cards", [1, 3])
def test_a_dleq_is_bound_to_all_of_its_statement(cards: int) -> None:
    right = dleq(cards)
    proof = right.prove(Q, entropy)
    head, image = right.pairs[-1]
    others = [
        Dleq(OPEN, CTX, RACK, right.pairs, right.about),
        Dleq(TAG_SHARE, CTX, RACK, right.pairs, right.about),
        Dleq(TAG, digest(b"other"), RACK, right.pairs, right.about),
        Dleq(TAG, CTX, Y, right.pairs, right.about),
        Dleq(TAG, CTX, RACK, (*right.pairs[:-1], (add(head, BASE), image)), right.about),
        Dleq(TAG, CTX, RACK, (*right.pairs[:-1], (head, add(image, BASE))), right.about),
        Dleq(TAG, CTX, RACK, right.pairs, (*right.about[:-1], b"elsewhere")),
    ]
    assert all(other.check(proof) is not None for other in others)


def test_errors_that_cancel_without_weights_are_refused() -> None:
    """Pitfall 18: with equal weights the two errors would add up to nothing."""
    (h1, i1), (h2, i2), third = dleq().pairs
    error = multiply_base(99)
    forged = Dleq(TAG, CTX, RACK, ((h1, add(i1, error)), (h2, subtract(i2, error)), third), WHERE)
    assert forged.check(forged.prove(Q, entropy)) is not None
    made = batch().make(X, entropy)
    d1, d2 = Point(made[32:64]), Point(made[96:128])
    assert batch().check(put(put(made, 1, add(d1, error)), 3, subtract(d2, error))) is not None


def test_identities_in_a_statement_raise_nothing() -> None:
    """Pitfall 7: a sum of others' values may be the identity."""
    nothing = Dleq(TAG, CTX, RACK, ((IDENTITY, IDENTITY),))
    assert nothing.check(nothing.prove(Q, entropy)) is None, "true of every secret"
    lie = Dleq(TAG, CTX, RACK, ((IDENTITY, BASE),))
    assert lie.check(lie.prove(Q, entropy)) is not None
    opposite = Dleq(TAG, CTX, RACK, ((BASE, RACK), (subtract(IDENTITY, BASE), subtract(IDENTITY, RACK))))
    assert opposite.check(opposite.prove(Q, entropy)) is None
    share = batch(1).shares(batch(1).make(X, entropy))[0]
    away = share._replace(a=subtract(IDENTITY, share.a), d=share.d)
    assert for_rack(Card(HEADS[0], BASE), [share, away]).a == IDENTITY


# Shares


@pytest.mark.parametrize("cards", [1, 2, 3])
def test_right_shares_pass_and_only_the_owner_s_key_opens_them(cards: int) -> None:
    made = batch(cards).make(X, entropy)
    assert len(made) == 64 * cards + 96
    assert batch(cards).check(made) is None
    tile = multiply_base(4711)
    for head, share in zip(HEADS, batch(cards).shares(made), strict=False):
        card = for_rack(Card(head, add(tile, X.times(head))), [share])
        assert add(card.b, Q.times(card.a)) == tile
        assert add(card.b, X.times(card.a)) != tile


def test_with_the_base_for_a_rack_key_everybody_can_open_it() -> None:
    shown = ShareBatch(SHARE, CTX, Y, BASE, HEADS[:1], WHERE[:1])
    made = shown.make(X, entropy)
    assert shown.check(made) is None
    tile = multiply_base(4711)
    card = for_rack(Card(HEADS[0], add(tile, X.times(HEADS[0]))), shown.shares(made))
    assert add(card.b, card.a) == tile


@pytest.mark.parametrize("cards", [1, 3])
def test_wrong_shares_are_refused(cards: int) -> None:
    made = batch(cards).make(X, entropy)
    wrong = [data for place in range(2 * cards) for data in wrong_points(made, place)]
    wrong += [data for place in range(2 * cards, 2 * cards + 3) for data in wrong_scalars(made, place)]
    wrong += [b"", made[:-1], made + b"\0", bytes(len(made)), made[:-96] + bytes(96)]
    assert all(batch(cards).check(data) is not None for data in wrong)


def test_shares_are_bound_to_all_of_their_statement() -> None:
    made = batch().make(X, entropy)
    others = [
        ShareBatch(REKEY, CTX, Y, RACK, HEADS, WHERE),
        ShareBatch(SHARE, digest(b"other"), Y, RACK, HEADS, WHERE),
        ShareBatch(SHARE, CTX, RACK, RACK, HEADS, WHERE),
        ShareBatch(SHARE, CTX, Y, Y, HEADS, WHERE),
        ShareBatch(SHARE, CTX, Y, RACK, HEADS[::-1], WHERE),
        ShareBatch(SHARE, CTX, Y, RACK, HEADS, WHERE[::-1]),
        ShareBatch(SHARE, CTX, Y, RACK, HEADS[:2], WHERE[:2]),
    ]
    assert all(other.check(made) is not None for other in others)


def test_a_proof_made_with_another_secret_is_refused() -> None:
    assert batch().check(batch().make(Q, entropy)) is not None
    assert dleq().check(dleq().prove(X, entropy)) is not None


def test_a_constant_source_of_randomness_repeats_no_nonce() -> None:
    """Pitfall 12: two proofs with one nonce would give the secret away."""

    def nonce(about: ShareBatch) -> int:
        made = about.make(X, entropy)
        challenge, of_secret = (int.from_bytes(made[at : at + 32], "little") for at in (-96, -64))
        return (of_secret - challenge * int.from_bytes(X.reveal(), "little")) % ORDER

    moments = [ShareBatch(SHARE, digest(bytes([n])), Y, RACK, HEADS[:1], WHERE[:1]) for n in range(3)]
    places = [ShareBatch(SHARE, CTX, Y, RACK, (head,), (where,)) for head, where in zip(HEADS, WHERE, strict=True)]
    assert len({nonce(about) for about in (*moments, *places)}) == 6
    assert nonce(moments[0]) == nonce(moments[0]), "the same statement gives the same bytes"


# Openings


def test_an_opening_is_of_these_cards_as_these_tiles() -> None:
    tiles = [multiply_base(n) for n in (501, 502)]
    cards = [Card(head, subtract(tile, Q.times(head))) for head, tile in zip(HEADS[:2], tiles, strict=True)]
    right = opening(CTX, RACK, list(zip(cards, tiles, strict=True)), WHERE[:2])
    proof = right.prove(Q, entropy)
    assert right.check(proof) is None
    exchanged = opening(CTX, RACK, list(zip(cards, tiles[::-1], strict=True)), WHERE[:2])
    assert exchanged.check(proof) is not None
    assert exchanged.check(exchanged.prove(Q, entropy)) is not None


def test_whatever_bytes_come_nothing_is_raised() -> None:
    rng = random.Random(1)
    for length in (*range(0, 400, 13), 64, 96, 160, 288):
        data = rng.randbytes(length)
        assert batch().check(data) is not None
        assert dleq().check(data) is not None
        assert check_key(b"RK1/pop-x", CTX, Y, data) is not None
