"""The shuffle: a deck re-encrypted in a secret order, and the proof that nothing else was done (Terelius and Wikstrom).

Wire form: the deck (A, B of each card), then c_1..c_N, k_1..k_N, the challenge, s1..s4, sh_1..sh_N, s'_1..s'_N, all of
32 bytes. Names follow docs/dealing.md, section 3.4; `th` and `sh` are its hatted t and s, `w2`, `s2` its primed ones.

`prove` and `check` take long (35 and 85 ms for 106 tiles on a PC, ten times that on a small machine), `prepare` two
thirds of `prove`: plain functions, to be run as jobs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from protocol.dealing.group import (
    BASE,
    ELEMENT_BYTES,
    IDENTITY,
    BadElement,
    Point,
    add,
    chunks,
    decode_points,
    decode_scalars,
    encode_scalar,
    generators,
    multiply,
    multiply_base,
    subtract,
    total,
    weighted,
)
from protocol.dealing.proofs import Card
from protocol.dealing.transcript import ORDER, Nonces, digest, number, to_scalar

CARD_BYTES: Final = 2 * ELEMENT_BYTES

Deck = tuple[Card, ...]


def first_deck(key: Point, tiles: Sequence[Point]) -> Deck:
    """The deck that everybody knows, tiles in order: randomness 1, so no part of a card is the identity."""
    return tuple(Card(BASE, add(tile, key)) for tile in tiles)


def size_bytes(cards: int) -> int:
    """Length of a shuffled deck of `cards` with its proof."""
    return CARD_BYTES * cards + ELEMENT_BYTES * (4 * cards + 5)


def deck_of(data: bytes) -> Deck:
    """The deck in a shuffle that was checked."""
    return _cards([Point(chunk) for chunk in chunks(data[: _deck_bytes(data)])])


def unchecked_deck(data: bytes, cards: int) -> Deck:
    """The deck of so many cards in a shuffle whose proof is still to be checked. Raises `BadElement` if it is none."""
    if len(data) != size_bytes(cards):
        raise BadElement(f"expected a shuffle of {size_bytes(cards)} bytes, got {len(data)}")
    return _cards(decode_points(data[: _deck_bytes(data)]))


def _deck_bytes(data: bytes) -> int:
    return CARD_BYTES * ((len(data) - 5 * ELEMENT_BYTES) // (CARD_BYTES + 4 * ELEMENT_BYTES))


@dataclass(slots=True)
class Prepared:
    """Everything of a shuffle that does not need the deck. For one shuffle only: a second would give the order away."""

    key: Point
    order: list[int] = field(repr=False)  # j: output i is input order[i]
    r: list[int] = field(repr=False)  # by input
    r2: list[int] = field(repr=False)  # by input: the re-encryption
    added: list[Card] = field(repr=False)  # by input: r2 (G, key)
    c: list[Point] = field(repr=False)  # by input
    rh: list[int] = field(repr=False)
    rh_base: list[Point] = field(repr=False)
    w: list[int] = field(repr=False)  # w1..w4
    wh: list[int] = field(repr=False)
    wh_base: list[Point] = field(repr=False)
    w2: list[int] = field(repr=False)
    t1: Point = field(repr=False)
    t2: Point = field(repr=False)
    t3: Point = field(repr=False)
    used: bool = False

    def use(self) -> None:
        """Note that it is used. Raises `ValueError` the second time."""
        if self.used:
            raise ValueError("a prepared shuffle is for one shuffle only")
        self.used = True

    def erase(self) -> None:
        """Forget the order and everything that would show it."""
        for secret in (self.order, self.r, self.r2, self.rh, self.w, self.wh, self.w2):
            secret.clear()


def prepare(key: Point, cards: int, nonces: Nonces) -> Prepared:
    """The part of a shuffle of `cards` under `key` that can be computed before the deck is here."""
    h = generators()
    order = nonces.permutation(cards)
    r, r2, rh, wh, w2 = (nonces.take(cards) for _ in range(5))
    w = nonces.take(4)
    c = [IDENTITY] * cards
    for place, source in enumerate(order):
        c[source] = add(multiply_base(r[source]), h[place + 1])
    return Prepared(
        key=key,
        order=order,
        r=r,
        r2=r2,
        added=[Card(multiply_base(factor), multiply(factor, key)) for factor in r2],
        c=c,
        rh=rh,
        rh_base=[multiply_base(scalar) for scalar in rh],
        w=w,
        wh=wh,
        wh_base=[multiply_base(scalar) for scalar in wh],
        w2=w2,
        t1=multiply_base(w[0]),
        t2=multiply_base(w[1]),
        t3=add(multiply_base(w[2]), weighted(w2, h[1 : cards + 1])),
    )


def shuffled(deck: Deck, prepared: Prepared) -> Deck:
    """The deck in the new order, re-encrypted. `prepared` is used up. Raises `ValueError` if it was already."""
    prepared.use()
    assert len(deck) == len(prepared.order), "prepared for another deck"
    return tuple(
        Card(add(deck[source].a, prepared.added[source].a), add(deck[source].b, prepared.added[source].b))
        for source in prepared.order
    )


def prove(ctx: bytes, deck: Deck, prepared: Prepared) -> bytes:
    """The shuffled deck and its proof. `prepared` is used up. Raises `ValueError` if it was already."""
    out = shuffled(deck, prepared)
    size, order = len(deck), prepared.order
    seed = _seed(ctx, prepared.key, deck, out, prepared.c)
    u = _weights(seed, size)
    u_out = [u[source] for source in order]
    k: list[Point] = []
    th: list[Point] = []
    before = generators()[0]
    for place in range(size):
        th.append(add(prepared.wh_base[place], multiply(prepared.w2[place], before)))
        before = add(prepared.rh_base[place], multiply(u_out[place], before))
        k.append(before)
    w1, w2, w3, w4 = prepared.w
    t4 = Card(
        subtract(weighted(prepared.w2, [card.b for card in out]), multiply(w4, prepared.key)),
        subtract(weighted(prepared.w2, [card.a for card in out]), multiply_base(w4)),
    )
    challenge = _challenge(seed, k, (prepared.t1, prepared.t2, prepared.t3), t4, th)
    v = _products(u_out)
    answers = [
        challenge,
        w1 + challenge * sum(prepared.r),
        w2 + challenge * _inner(prepared.rh, v),
        w3 + challenge * _inner(prepared.r, u),
        w4 + challenge * _inner(prepared.r2, u),
        *(nonce + challenge * scalar for nonce, scalar in zip(prepared.wh, prepared.rh, strict=True)),
        *(nonce + challenge * scalar for nonce, scalar in zip(prepared.w2, u_out, strict=True)),
    ]
    points = (*_points(out), *prepared.c, *k)
    prepared.erase()
    return b"".join(points) + b"".join(encode_scalar(answer % ORDER) for answer in answers)


def check(ctx: bytes, key: Point, deck: Deck, data: bytes) -> str | None:
    """Whether `data` is a shuffle of `deck` under `key` with a right proof for `ctx`; else the reason. Never raises."""
    size = len(deck)
    if not 0 < size < len(generators()):
        return "a deck of a size that there is none of"
    if len(data) != size_bytes(size):
        return f"expected a shuffle of {size_bytes(size)} bytes, got {len(data)}"
    points_end = ELEMENT_BYTES * 4 * size
    try:
        scalars = decode_scalars(data[points_end:])  # the cheap ones first
        points = decode_points(data[:points_end])
    except BadElement as bad:
        return str(bad)
    out = _cards(points[: 2 * size])
    if len(set(out)) != size:
        return "the same card twice"
    proof = _Proof(
        c=points[2 * size : 3 * size],
        k=points[3 * size :],
        challenge=scalars[0],
        s=scalars[1:5],
        sh=scalars[5 : 5 + size],
        s2=scalars[5 + size :],
    )
    return None if _holds(ctx, key, deck, out, proof) else "the proof does not hold"


@dataclass(frozen=True, slots=True)
class _Proof:
    c: list[Point]
    k: list[Point]
    challenge: int
    s: list[int]
    sh: list[int]
    s2: list[int]


def _holds(ctx: bytes, key: Point, deck: Deck, out: Deck, proof: _Proof) -> bool:
    h, size, challenge = generators(), len(deck), proof.challenge
    seed = _seed(ctx, key, deck, out, proof.c)
    u = _weights(seed, size)
    product = _products(u)[0] * u[0] % ORDER
    s1, s2, s3, s4 = proof.s

    c_bar = subtract(total(proof.c), _generators_total(size))
    k_bar = subtract(proof.k[-1], multiply(product, h[0]))
    c_tilde = weighted(u, proof.c)
    a_tilde = weighted(u, [card.a for card in deck])
    b_tilde = weighted(u, [card.b for card in deck])

    t1 = _without(multiply_base(s1), challenge, c_bar)
    t2 = _without(multiply_base(s2), challenge, k_bar)
    t3 = _without(add(multiply_base(s3), weighted(proof.s2, h[1 : size + 1])), challenge, c_tilde)
    b_out = subtract(weighted(proof.s2, [card.b for card in out]), multiply(s4, key))
    a_out = subtract(weighted(proof.s2, [card.a for card in out]), multiply_base(s4))
    t4 = Card(_without(b_out, challenge, b_tilde), _without(a_out, challenge, a_tilde))
    th = []
    before = h[0]
    for place in range(size):
        chained = add(multiply_base(proof.sh[place]), multiply(proof.s2[place], before))
        before = proof.k[place]
        th.append(_without(chained, challenge, before))
    return challenge == _challenge(seed, proof.k, (t1, t2, t3), t4, th)


@cache
def _generators_total(size: int) -> Point:
    """H_1 + ... + H_size."""
    return total(generators()[1 : size + 1])


def _without(point: Point, challenge: int, image: Point) -> Point:
    return subtract(point, multiply(challenge, image))


def _seed(ctx: bytes, key: Point, deck: Deck, out: Deck, c: Sequence[Point]) -> bytes:
    return digest(b"RK1/tw-u", ctx, BASE, key, _points(deck), _points(out), c)


def _weights(seed: bytes, size: int) -> list[int]:
    return [to_scalar(b"RK1/tw-ui", seed, number(place)) for place in range(size)]


def _challenge(seed: bytes, k: Sequence[Point], t: Sequence[Point], t4: Card, th: Sequence[Point]) -> int:
    return to_scalar(b"RK1/tw-c", seed, k, t, t4, th)


def _products(u: Sequence[int]) -> list[int]:
    """v: at each place the product of all later scalars."""
    v = [1] * len(u)
    for place in range(len(u) - 1, 0, -1):
        v[place - 1] = v[place] * u[place] % ORDER
    return v


def _inner(one: Sequence[int], other: Sequence[int]) -> int:
    return sum(a * b for a, b in zip(one, other, strict=True)) % ORDER


def _points(deck: Deck) -> list[Point]:
    return [point for card in deck for point in card]


def _cards(points: Sequence[Point]) -> Deck:
    return tuple(Card(points[at], points[at + 1]) for at in range(0, len(points), 2))
