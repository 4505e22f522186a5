"""Hashing for the secret deal: labelled, every field with its length in front; challenges, contexts, nonces.

Nothing here knows what is proven. Source: docs/dealing.md, section 3.1 and pitfall 12.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final

SUITE: Final = b"RK1-ED25519-SHA512"
ORDER: Final = 2**252 + 27742317777372353535851937790883648493  # of the group, so of its scalars
FRESH_BYTES: Final = 32

Hashed = bytes | Sequence[bytes]


def digest(label: bytes, *fields: Hashed) -> bytes:
    """SHA-512 over the label and the fields, each with its 8-byte length in front.

    A list is one field: its items one after the other, each with its own length in front.
    """
    state = hashlib.sha512()
    for item in (label, *fields):
        whole = item if isinstance(item, bytes) else b"".join(_with_length(item))
        state.update(len(whole).to_bytes(8, "big") + whole)
    return state.digest()


def to_scalar(label: bytes, *fields: Hashed) -> int:
    """The same hash as a scalar: 512 bits modulo the order."""
    return int.from_bytes(digest(label, *fields), "little") % ORDER


def number(value: int) -> bytes:
    """A count or position as a field."""
    return value.to_bytes(8, "big")


def context_hash(
    *,
    gid: bytes,
    rules: bytes,
    deck_size: int,
    seats: Sequence[tuple[int, bytes]],
    epoch: int,
    height: int,
    kind: str,
    acting_seat: int,
    view: bytes,
) -> bytes:
    """ctx: what a proof made for this very moment of this very game is bound to.

    `rules` is the hash of the rule set, `seats` are the seats of the epoch with their long-term keys, `view` is the
    hash of the last committed entry; (`height`, `kind`) is the step. Source: docs/dealing.md, section 3.1.
    """
    return digest(
        b"RK1/ctx",
        SUITE,
        gid,
        number(len(seats)),
        number(deck_size),
        rules,
        [field for seat, key in seats for field in (number(seat), key)],
        number(epoch),
        number(height),
        kind.encode(),
        number(acting_seat),
        view,
    )


class Nonces:
    """A row of secret scalars, none of them zero, for one proof about one statement.

    Hedged: they follow from a secret, fresh bytes and the statement, so that a broken source of randomness alone never
    makes two statements share a nonce. No repr, and never stored.
    """

    __slots__ = ("_count", "_seed")

    def __init__(self, secret: bytes, fresh: bytes, *statement: Hashed) -> None:
        assert len(secret) == 32, "a scalar"
        assert len(fresh) == FRESH_BYTES, "entropy of a fixed length"
        self._seed = digest(b"RK1/nonce", secret, fresh, *statement)
        self._count = 0

    def next(self) -> int:
        """The next scalar."""
        while True:
            self._count += 1
            scalar = to_scalar(b"RK1/nonce", self._seed, number(self._count))
            if scalar:
                return scalar

    def take(self, count: int) -> list[int]:
        """The next `count` scalars."""
        return [self.next() for _ in range(count)]

    def permutation(self, size: int) -> list[int]:
        """A secret order of 0 to `size` - 1 (Fisher-Yates; each choice from 512 bits, so its bias is below 2^-500)."""
        order = list(range(size))
        for last in range(size - 1, 0, -1):
            self._count += 1
            choice = int.from_bytes(digest(b"RK1/nonce", self._seed, number(self._count), b"order"), "little")
            pick = choice % (last + 1)
            order[last], order[pick] = order[pick], order[last]
        return order


def _with_length(items: Iterable[bytes]) -> Iterable[bytes]:
    for item in items:
        yield len(item).to_bytes(8, "big")
        yield item
