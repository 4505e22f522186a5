"""The group: the prime-order subgroup of edwards25519. The only module that calls PyNaCl's group functions.

Bytes become a `Point` or a scalar only through `decode_point` and `decode_scalar`, which refuse everything that is not
the one canonical form of an element other than the identity. Inside, sums may be the identity and scalars zero: both
are defined here, where the library raises. Points are kept as their 32 bytes, public scalars as integers below the
order; long-lived secrets are `Secret`, which goes through the library's constant-time functions only.

Source: docs/dealing.md, sections 1.2, 3.1 and 3.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final, NewType

from nacl.bindings import (
    crypto_core_ed25519_add,
    crypto_core_ed25519_is_valid_point,
    crypto_core_ed25519_scalar_add,
    crypto_core_ed25519_scalar_mul,
    crypto_core_ed25519_sub,
    crypto_scalarmult_ed25519_base_noclamp,
    crypto_scalarmult_ed25519_noclamp,
)
from nacl.exceptions import CryptoError
from nacl.exceptions import RuntimeError as LibraryError

from protocol.dealing.transcript import ORDER, digest, number

Point = NewType("Point", bytes)

ELEMENT_BYTES: Final = 32
IDENTITY: Final = Point(b"\x01" + bytes(31))
BASE: Final = Point(b"\x58" + b"\x66" * 31)
MAX_TILES: Final = 108


class BadElement(Exception):  # noqa: N818 - named for what was found in the bytes
    """Bytes that are no canonical element of the group, or the identity. The text is in lower case, for logs."""


class UnsafeLibrary(Exception):  # noqa: N818 - named for what was found
    """The loaded library takes points that it must refuse: no game may be played with it."""


class Secret:
    """A secret scalar, not zero. It has no repr that shows it, and is gone after `erase`."""

    __slots__ = ("_scalar",)

    def __init__(self, scalar: bytes) -> None:
        if len(scalar) != ELEMENT_BYTES or not 0 < int.from_bytes(scalar, "little") < ORDER:
            raise ValueError("expected the 32 bytes of a scalar other than zero")
        self._scalar: bytes | None = scalar

    @classmethod
    def from_number(cls, scalar: int) -> Secret:
        """The same from an integer."""
        return cls(scalar.to_bytes(ELEMENT_BYTES, "little"))

    def __repr__(self) -> str:
        return "Secret()"

    def __reduce__(self) -> str:
        raise TypeError("a secret is neither copied nor pickled")

    def reveal(self) -> bytes:
        """The bytes, for the journal and for hedged nonces only."""
        assert self._scalar is not None, "the secret was erased"
        return self._scalar

    def erase(self) -> None:
        """Forget it."""
        self._scalar = None

    def times(self, point: Point) -> Point:
        """The point times this secret."""
        if point == IDENTITY:
            return IDENTITY
        return Point(crypto_scalarmult_ed25519_noclamp(self.reveal(), point))

    def times_base(self) -> Point:
        """The public key of this secret."""
        return Point(crypto_scalarmult_ed25519_base_noclamp(self.reveal()))

    def response(self, nonce: int, challenge: int) -> int:
        """nonce + challenge * secret: the answer of a proof."""
        product = crypto_core_ed25519_scalar_mul(encode_scalar(challenge), self.reveal())
        return int.from_bytes(crypto_core_ed25519_scalar_add(encode_scalar(nonce), product), "little")


# From bytes and to bytes


def decode_point(data: bytes) -> Point:
    """The point in `data`. Raises `BadElement` unless it is canonical, in the subgroup, and not the identity."""
    if len(data) != ELEMENT_BYTES:
        raise BadElement(f"expected a point of {ELEMENT_BYTES} bytes, got {len(data)}")
    if not crypto_core_ed25519_is_valid_point(data):
        raise BadElement("not a point of the group")
    return Point(data)


def decode_scalar(data: bytes) -> int:
    """The scalar in `data`. Raises `BadElement` unless it is below the order: there is one form for each."""
    if len(data) != ELEMENT_BYTES:
        raise BadElement(f"expected a scalar of {ELEMENT_BYTES} bytes, got {len(data)}")
    scalar = int.from_bytes(data, "little")
    if scalar >= ORDER:
        raise BadElement("a scalar not below the order")
    return scalar


def encode_scalar(scalar: int) -> bytes:
    """The 32 bytes of a scalar."""
    return scalar.to_bytes(ELEMENT_BYTES, "little")


def chunks(data: bytes) -> list[bytes]:
    """`data` in pieces of 32 bytes."""
    return [data[start : start + ELEMENT_BYTES] for start in range(0, len(data), ELEMENT_BYTES)]


def decode_points(data: bytes) -> list[Point]:
    """The points in `data`, one after the other. Raises `BadElement`."""
    return [decode_point(chunk) for chunk in chunks(data)]


def decode_scalars(data: bytes) -> list[int]:
    """The scalars in `data`, one after the other. Raises `BadElement`."""
    return [decode_scalar(chunk) for chunk in chunks(data)]


# Arithmetic; every point is one of the group, the identity included


def add(one: Point, other: Point) -> Point:
    return Point(crypto_core_ed25519_add(one, other))


def subtract(one: Point, other: Point) -> Point:
    return Point(crypto_core_ed25519_sub(one, other))


def total(points: Iterable[Point]) -> Point:
    """The sum of all; of none it is the identity."""
    result = IDENTITY
    for point in points:
        result = point if result == IDENTITY else add(result, point)
    return result


def multiply(scalar: int, point: Point) -> Point:
    """`scalar` times `point`."""
    if scalar == 0 or point == IDENTITY:
        return IDENTITY
    return Point(crypto_scalarmult_ed25519_noclamp(encode_scalar(scalar), point))


def multiply_base(scalar: int) -> Point:
    """`scalar` times the base point."""
    if scalar == 0:
        return IDENTITY
    return Point(crypto_scalarmult_ed25519_base_noclamp(encode_scalar(scalar)))


def weighted(scalars: Sequence[int], points: Sequence[Point]) -> Point:
    """The sum of each point times its scalar."""
    return total(multiply(scalar, point) for scalar, point in zip(scalars, points, strict=True))


# Points that nobody knows anything about


def hash_to_point(label: bytes, variant: bytes, index: int) -> Point:
    """A point whose logarithm nobody knows: 8 times the first candidate that is a point. Source: section 3.2."""
    tried = 0
    while True:
        point = _eightfold(digest(label, variant, number(index), number(tried))[:ELEMENT_BYTES])
        if point is not None:
            return point
        tried += 1


def _eightfold(candidate: bytes) -> Point | None:
    """8 times the curve point that `candidate` canonically encodes; None if it does not, or if that is the identity."""
    try:
        if crypto_core_ed25519_add(candidate, IDENTITY) != candidate:
            return None
    except (LibraryError, CryptoError):
        return None
    result = candidate
    for _doubling in range(3):
        result = crypto_core_ed25519_add(result, result)
    return None if result == IDENTITY else Point(result)


@cache
def generators() -> tuple[Point, ...]:
    """H_0 to H_108: one for the chain of a shuffle, and one for each card."""
    return tuple(hash_to_point(b"RK1/gen", b"", index) for index in range(MAX_TILES + 1))


@cache
def tile_points(deck: str, jokers: int) -> tuple[Point, ...]:
    """The point of every tile of a deck, by tile id. No two decks share one."""
    size = {"tiles": 104, "cards": 52}[deck] + jokers
    variant = f"{deck}/{jokers}".encode()
    return tuple(hash_to_point(b"RK1/tile", variant, index) for index in range(size))


@cache
def tiles_by_point(deck: str, jokers: int) -> dict[Point, int]:
    """The tile id of every tile's point."""
    return {point: index for index, point in enumerate(tile_points(deck, jokers))}


# Start-up


def self_test() -> None:
    """Raises `UnsafeLibrary` if the loaded library takes a point with a part of small order.

    A version number proves nothing: distributions patch old versions. Source: docs/dealing.md, section 1.2.
    """
    torsion = [bytes.fromhex(point) for point in _SMALL_ORDER]
    mixed = [crypto_core_ed25519_add(multiply_base(5), point) for point in torsion if point != IDENTITY]
    for point in (*torsion, *mixed, *(bytes.fromhex(point) for point in _NOT_CANONICAL)):
        if crypto_core_ed25519_is_valid_point(point):
            raise UnsafeLibrary("the library takes a point outside the group; update PyNaCl or libsodium")
        try:
            crypto_scalarmult_ed25519_noclamp(encode_scalar(7), point)
        except (LibraryError, CryptoError):
            continue
        raise UnsafeLibrary("the library multiplies a point outside the group; update PyNaCl or libsodium")
    if multiply_base(1) != BASE or not crypto_core_ed25519_is_valid_point(BASE):
        raise UnsafeLibrary("the library has another base point")


_SMALL_ORDER: Final = (
    "0100000000000000000000000000000000000000000000000000000000000000",  # the identity
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",  # order 2
    "0000000000000000000000000000000000000000000000000000000000000000",  # order 4
    "0000000000000000000000000000000000000000000000000000000000000080",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",  # order 8
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
)
_NOT_CANONICAL: Final = (
    "0100000000000000000000000000000000000000000000000000000000000080",  # the identity with a sign
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",  # order 2 with a sign
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",  # y = p
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",  # y = p + 1
    "f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",  # y = p + 3
)
