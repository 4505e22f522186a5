"""Proofs about keys, shares and openings, checked again by plain Python from the text of docs/dealing.md.

Every input of every hash is spelled out here, so one that is left out over there makes a test fail. The shuffle has its
own in `test_shuffle`.
"""

from __future__ import annotations

import hashlib

import pytest

from protocol.dealing.group import Secret, multiply_base, subtract
from protocol.dealing.keys import OwnKeys, commitment
from protocol.dealing.proofs import SHARE, Card, ShareBatch, opening, prove_key
from protocol.dealing.transcript import digest
from tests.protocol.dealing import curve
from tests.protocol.dealing.curve import Extended

CTX = digest(b"ctx")
X = 0xABCDEF0123456789ABCDEF
Q = 0x123456789ABCDEF1234567
HEADS = [multiply_base(n) for n in (11, 22, 33)]
WHERE = (b"slot 1", b"slot 2", b"slot 3")
G = curve.encode(curve.BASE)


def hashed(*fields: bytes | list[bytes]) -> bytes:
    """Section 3.1: every field with its length in front, a list as the fields in it."""
    hasher = hashlib.sha512()
    for item in fields:
        whole = item if isinstance(item, bytes) else b"".join(len(x).to_bytes(8, "big") + x for x in item)
        hasher.update(len(whole).to_bytes(8, "big"))
        hasher.update(whole)
    return hasher.digest()


def scalar(*fields: bytes | list[bytes]) -> int:
    return int.from_bytes(hashed(*fields), "little") % curve.L


def as_field(number: int) -> bytes:
    return number.to_bytes(32, "little")


def point(data: bytes) -> Extended:
    decoded = curve.decode(data)
    assert decoded is not None
    assert curve.in_group(decoded)
    return decoded


def summed(*terms: tuple[int, Extended]) -> Extended:
    result = curve.ZERO
    for factor, term in terms:
        result = curve.plus(result, curve.times(factor % curve.L, term))
    return result


def numbers(data: bytes) -> list[int]:
    found = [int.from_bytes(data[at : at + 32], "little") for at in range(0, len(data), 32)]
    assert all(number < curve.L for number in found)
    return found


def weights(label: bytes, seed: bytes, count: int) -> list[int]:
    return [1] if count == 1 else [scalar(label, seed, place.to_bytes(8, "big")) for place in range(count)]


def test_possession_of_a_key() -> None:
    secret = Secret.from_number(X)
    y = secret.times_base()
    c, s = numbers(prove_key(b"RK1/pop-x", CTX, y, secret, bytes(32)))
    t = summed((s, curve.BASE), (-c, point(y)))
    assert c == scalar(b"RK1/pop-x", CTX, G, y, curve.encode(t))


def test_the_commitment_to_keys() -> None:
    own = OwnKeys(Secret.from_number(X), Secret.from_number(Q), bytes(range(32)))
    shown = own.reveal(CTX)
    fields = (shown[:32], shown[32:64], shown[64:192], shown[192:])
    assert fields[3] == bytes(range(32))
    assert commitment(CTX, shown) == hashed(b"RK1/key-commit", CTX, *fields)


@pytest.mark.parametrize("cards", [1, 3])
def test_shares(cards: int) -> None:
    """Section 3.5."""
    y, q = multiply_base(X), multiply_base(Q)
    heads, about = HEADS[:cards], list(WHERE[:cards])
    made = ShareBatch(SHARE, CTX, y, q, tuple(heads), tuple(about)).make(Secret.from_number(X), bytes)
    raw = [made[at : at + 32] for at in range(0, 64 * cards, 32)]
    c, s_x, s_k = numbers(made[64 * cards :])
    seed = as_field(scalar(b"RK1/share-z", CTX, about, G, y, q, list(heads), raw))
    z = weights(b"RK1/share-zi", seed, cards)
    head = summed(*zip(z, map(point, heads), strict=True))
    sum_a = summed(*zip(z, map(point, raw[::2]), strict=True))
    sum_d = summed(*zip(z, map(point, raw[1::2]), strict=True))
    t = [
        summed((s_x, curve.BASE), (-c, point(y))),
        summed((s_k, curve.BASE), (-c, sum_a)),
        summed((s_x, head), (s_k, point(q)), (-c, sum_d)),
    ]
    assert c == scalar(b"RK1/share-c", seed, *(curve.encode(commitment) for commitment in t))


@pytest.mark.parametrize("cards", [1, 3])
def test_openings(cards: int) -> None:
    """Section 3.6: M - S = q R."""
    q, secret = multiply_base(Q), Secret.from_number(Q)
    tiles = [multiply_base(n) for n in (501, 502, 503)][:cards]
    rack = [Card(head, subtract(tile, secret.times(head))) for head, tile in zip(HEADS, tiles, strict=False)]
    about = list(WHERE[:cards])
    made = opening(CTX, q, list(zip(rack, tiles, strict=True)), about).prove(secret, bytes)
    c, s = numbers(made)
    images = [
        curve.encode(summed((1, point(tile)), (-1, point(card.b)))) for card, tile in zip(rack, tiles, strict=True)
    ]
    pairs = [part for card, image in zip(rack, images, strict=True) for part in (card.a, image)]
    seed = as_field(scalar(b"RK1/open-z", CTX, [*about, *(card.b for card in rack)], G, q, pairs))
    z = weights(b"RK1/open-zi", seed, cards)
    base = summed(*zip(z, (point(card.a) for card in rack), strict=True))
    image = summed(*zip(z, map(point, images), strict=True))
    t = [summed((s, curve.BASE), (-c, point(q))), summed((s, base), (-c, image))]
    assert c == scalar(b"RK1/open-c", seed, *(curve.encode(commitment) for commitment in t))
