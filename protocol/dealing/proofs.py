"""The proofs of the secret deal: keys, decryption shares, openings. Each is its bytes, and checks to a reason or None.

All are sigma protocols made non-interactive by hashing everything: label, ctx, every base, the statement, every
commitment. A batch is one proof about a weighted sum, the weights being a hash over all values; a batch of one needs
no weight. A check never raises for whatever bytes come, and looks at lengths first.

Source: docs/dealing.md, sections 3.3, 3.5 and 3.6; pitfalls 3, 7, 8, 12 and 18.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from protocol.dealing.group import (
    BASE,
    ELEMENT_BYTES,
    BadElement,
    Point,
    Secret,
    add,
    decode_points,
    decode_scalars,
    encode_scalar,
    multiply,
    multiply_base,
    subtract,
    total,
    weighted,
)
from protocol.dealing.transcript import ORDER, Nonces, number, to_scalar

KEY_PROOF_BYTES: Final = 64
DLEQ_BYTES: Final = 64
SHARE_BYTES: Final = 64
SHARES_PROOF_BYTES: Final = 96

Entropy = Callable[[int], bytes]


class Card(NamedTuple):
    """A ciphertext (A, B) = (r G, M + r K) under a key K."""

    a: Point
    b: Point


@dataclass(frozen=True, slots=True)
class Labels:
    """The domain labels of one batched proof, so that no proof passes for one of another kind."""

    seed: bytes
    weight: bytes
    challenge: bytes


SHARE: Final = Labels(b"RK1/share-z", b"RK1/share-zi", b"RK1/share-c")
OPEN: Final = Labels(b"RK1/open-z", b"RK1/open-zi", b"RK1/open-c")
REKEY: Final = Labels(b"RK1/rekey-z", b"RK1/rekey-zi", b"RK1/rekey-c")
TAG: Final = Labels(b"RK1/tag-z", b"RK1/tag-zi", b"RK1/tag-c")
TAG_SHARE: Final = Labels(b"RK1/tagdec-z", b"RK1/tagdec-zi", b"RK1/tagdec-c")


# Possession of a key


def prove_key(label: bytes, ctx: bytes, key: Point, secret: Secret, salt: bytes) -> bytes:
    """The proof that the prover knows the secret of `key`.

    The same arguments give the same bytes: after a restart the proofs must be those that were committed to. `salt` are
    the owner's own random bytes.
    """
    nonce = Nonces(secret.reveal(), salt, label, ctx, key).next()
    challenge = _key_challenge(label, ctx, key, multiply_base(nonce))
    return encode_scalar(challenge) + encode_scalar(secret.response(nonce, challenge))


def check_key(label: bytes, ctx: bytes, key: Point, proof: bytes) -> str | None:
    """Whether `proof` shows that whoever made it for this ctx knows the secret of `key`."""
    if len(proof) != KEY_PROOF_BYTES:
        return f"expected a proof of {KEY_PROOF_BYTES} bytes, got {len(proof)}"
    try:
        challenge, response = decode_scalars(proof)
    except BadElement as bad:
        return str(bad)
    commitment = subtract(multiply_base(response), multiply(challenge, key))
    return None if _key_challenge(label, ctx, key, commitment) == challenge else "a proof of another key"


def _key_challenge(label: bytes, ctx: bytes, key: Point, commitment: Point) -> int:
    return to_scalar(label, ctx, BASE, key, commitment)


# One secret behind a key and behind many pairs


@dataclass(frozen=True, slots=True)
class Dleq:
    """That one secret x has key = x G and, for every pair (base, image), image = x base.

    `about` is what else the proof is bound to: positions, ids. At least one pair.
    """

    labels: Labels
    ctx: bytes
    key: Point
    pairs: tuple[tuple[Point, Point], ...]
    about: tuple[bytes, ...] = ()

    def prove(self, secret: Secret, entropy: Entropy) -> bytes:
        """The proof: challenge and response."""
        seed = self._seed()
        base = self._sum(seed, 0)
        nonce = Nonces(secret.reveal(), entropy(32), self.labels.challenge, seed).next()
        challenge = self._challenge(seed, multiply_base(nonce), multiply(nonce, base))
        return encode_scalar(challenge) + encode_scalar(secret.response(nonce, challenge))

    def check(self, proof: bytes) -> str | None:
        """Whether `proof` shows it."""
        if len(proof) != DLEQ_BYTES:
            return f"expected a proof of {DLEQ_BYTES} bytes, got {len(proof)}"
        try:
            challenge, response = decode_scalars(proof)
        except BadElement as bad:
            return str(bad)
        seed = self._seed()
        base, image = self._sum(seed, 0), self._sum(seed, 1)
        of_key = subtract(multiply_base(response), multiply(challenge, self.key))
        of_pairs = subtract(multiply(response, base), multiply(challenge, image))
        return None if self._challenge(seed, of_key, of_pairs) == challenge else "the proof does not hold"

    def _seed(self) -> bytes:
        points = [point for pair in self.pairs for point in pair]
        return encode_scalar(to_scalar(self.labels.seed, self.ctx, self.about, BASE, self.key, points))

    def _sum(self, seed: bytes, half: int) -> Point:
        """The weighted sum of all bases (`half` 0) or of all images (1)."""
        weights = _weights(self.labels, seed, len(self.pairs)) or [1]
        return _weighted_or_only(weights, [pair[half] for pair in self.pairs])

    def _challenge(self, seed: bytes, of_key: Point, of_pairs: Point) -> int:
        return to_scalar(self.labels.challenge, seed, of_key, of_pairs)


# Decryption shares, re-encrypted under a rack key


class Share(NamedTuple):
    """One sender's part (A', D) = (k G, x A + k Q) of one card for the owner of Q."""

    a: Point
    d: Point


@dataclass(frozen=True, slots=True)
class ShareBatch:
    """What one sender's shares of some cards for one drawer are about.

    `key` is the sender's share Y of the deck key, `rack_key` the drawer's Q (G for cards that all shall see), `heads`
    the A of the cards, `about` their positions. At least one card. The re-keying of a rack is the same with its
    owner's rack key for `key` and the new deck key for `rack_key`, under other labels.
    """

    labels: Labels
    ctx: bytes
    key: Point
    rack_key: Point
    heads: tuple[Point, ...]
    about: tuple[bytes, ...]

    @property
    def size_bytes(self) -> int:
        """Length of shares and proof together."""
        return SHARE_BYTES * len(self.heads) + SHARES_PROOF_BYTES

    def make(self, secret: Secret, entropy: Entropy) -> bytes:
        """The shares with their proof. Long for whole racks: 0.25 ms for each card."""
        statement = [self.labels.seed, self.ctx, self.key, self.rack_key, *self.heads, *self.about]
        nonces = Nonces(secret.reveal(), entropy(32), statement)
        factors = nonces.take(len(self.heads))
        shares = [
            Share(multiply_base(k), add(secret.times(head), multiply(k, self.rack_key)))
            for k, head in zip(factors, self.heads, strict=True)
        ]
        seed = self._seed(shares)
        weights = _weights(self.labels, seed, len(shares)) or [1]
        head = self._head(weights)
        blind = nonces.next()
        secret_nonce = nonces.next()
        challenge = self._challenge(
            seed,
            multiply_base(secret_nonce),
            multiply_base(blind),
            add(multiply(secret_nonce, head), multiply(blind, self.rack_key)),
        )
        factor = sum(z * k for z, k in zip(weights, factors, strict=True))
        answers = (challenge, secret.response(secret_nonce, challenge), (blind + challenge * factor) % ORDER)
        return b"".join(share.a + share.d for share in shares) + _scalars(answers)

    def check(self, data: bytes) -> str | None:
        """Whether `data` are right shares with their proof. Long for whole racks: 0.35 ms for each card."""
        if len(data) != self.size_bytes:
            return f"expected shares of {self.size_bytes} bytes, got {len(data)}"
        try:
            points = decode_points(data[:-SHARES_PROOF_BYTES])
            challenge, of_secret, of_blind = decode_scalars(data[-SHARES_PROOF_BYTES:])
        except BadElement as bad:
            return str(bad)
        shares = [Share(points[at], points[at + 1]) for at in range(0, len(points), 2)]
        seed = self._seed(shares)
        weights = _weights(self.labels, seed, len(shares)) or [1]
        sum_a = _weighted_or_only(weights, [share.a for share in shares])
        sum_d = _weighted_or_only(weights, [share.d for share in shares])
        blinded = add(multiply(of_secret, self._head(weights)), multiply(of_blind, self.rack_key))
        holds = challenge == self._challenge(
            seed,
            subtract(multiply_base(of_secret), multiply(challenge, self.key)),
            subtract(multiply_base(of_blind), multiply(challenge, sum_a)),
            subtract(blinded, multiply(challenge, sum_d)),
        )
        return None if holds else "the proof does not hold"

    def shares(self, data: bytes) -> tuple[Share, ...]:
        """The shares in data that was checked."""
        return tuple(
            Share(Point(data[at : at + ELEMENT_BYTES]), Point(data[at + ELEMENT_BYTES : at + SHARE_BYTES]))
            for at in range(0, SHARE_BYTES * len(self.heads), SHARE_BYTES)
        )

    def _seed(self, shares: Sequence[Share]) -> bytes:
        points = [point for share in shares for point in share]
        statement = (self.labels.seed, self.ctx, self.about, BASE, self.key, self.rack_key, self.heads, points)
        return encode_scalar(to_scalar(*statement))

    def _head(self, weights: Sequence[int]) -> Point:
        return _weighted_or_only(weights, self.heads)

    def _challenge(self, seed: bytes, of_key: Point, of_factors: Point, of_shares: Point) -> int:
        return to_scalar(self.labels.challenge, seed, of_key, of_factors, of_shares)


def for_rack(card: Card, shares: Sequence[Share]) -> Card:
    """The card under the rack key of its owner, from everybody's shares: (R, S) with M = S + q R."""
    return Card(total(share.a for share in shares), subtract(card.b, total(share.d for share in shares)))


def opening(ctx: bytes, rack_key: Point, cards: Sequence[tuple[Card, Point]], about: Sequence[bytes]) -> Dleq:
    """That these cards of the rack with key Q hold these tiles' points: M - S = q R. Source: section 3.6."""
    pairs = tuple((card.a, subtract(tile, card.b)) for card, tile in cards)
    cards_too = tuple(card.b for card, _tile in cards)
    return Dleq(OPEN, ctx, rack_key, pairs, (*about, *cards_too))


def _weights(labels: Labels, seed: bytes, count: int) -> list[int] | None:
    """The weights of a batch, None for a batch of one, which needs none."""
    if count == 1:
        return None
    return [to_scalar(labels.weight, seed, number(place)) for place in range(count)]


def _weighted_or_only(weights: Sequence[int], points: Sequence[Point]) -> Point:
    """The weighted sum; of one point, the point."""
    return points[0] if len(points) == 1 else weighted(weights, points)


def _scalars(values: Sequence[int]) -> bytes:
    return b"".join(encode_scalar(value) for value in values)
