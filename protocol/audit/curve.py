"""edwards25519 in plain Python, written apart from `protocol.dealing.group`: a second opinion on public data.

Not constant-time: never for secrets of a real game.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)

Extended = tuple[int, int, int, int]  # X, Y, Z, T with x = X/Z, y = Y/Z, xy = T/Z
ZERO: Extended = (0, 1, 1, 0)


def decode(data: bytes) -> Extended | None:
    """The curve point that `data` canonically encodes, of whatever order; None if there is none."""
    if len(data) != 32:
        return None
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * ROOT_OF_MINUS_ONE % P
    if x * x % P != square or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


def encode(point: Extended) -> bytes:
    x, y, z, _t = point
    inverse = pow(z, -1, P)
    return ((y * inverse % P) | ((x * inverse % P & 1) << 255)).to_bytes(32, "little")


def plus(one: Extended, other: Extended) -> Extended:
    x1, y1, z1, t1 = one
    x2, y2, z2, t2 = other
    a, b = (y1 - x1) * (y2 - x2) % P, (y1 + x1) * (y2 + x2) % P
    c, d = 2 * D * t1 * t2 % P, 2 * z1 * z2 % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def minus(point: Extended) -> Extended:
    x, y, z, t = point
    return P - x, y, z, P - t


def times(scalar: int, point: Extended) -> Extended:
    result = ZERO
    for bit in bin(scalar)[2:]:
        result = plus(result, result)
        if bit == "1":
            result = plus(result, point)
    return result


def combination(terms: Iterable[tuple[int, Extended]]) -> Extended:
    """The sum of all points, each times its scalar modulo the order: points of the group only.

    Four bits of all scalars at a time, so that the doublings are shared (Straus).
    """
    rows = [(scalar % L, _multiples(point)) for scalar, point in terms]
    result = ZERO
    for shift in range(252, -1, -4):
        for _doubling in range(4):
            result = plus(result, result)
        for scalar, multiples in rows:
            digit = scalar >> shift & 15
            if digit:
                result = plus(result, multiples[digit])
    return result


def _multiples(point: Extended) -> list[Extended]:
    """0 to 15 times the point."""
    found = [ZERO]
    for _ in range(15):
        found.append(plus(found[-1], point))
    return found


def is_zero(point: Extended) -> bool:
    """Whether it is the identity."""
    x, y, z, _t = point
    return x % P == 0 and (y - z) % P == 0


def in_group(point: Extended) -> bool:
    """Of prime order: not the identity, and nothing of small order in it."""
    return not is_zero(point) and is_zero(times(L, point))


def hash_to_point(label: bytes, variant: bytes, index: int) -> bytes:
    """docs/dealing.md, section 3.2, from its text alone."""
    for tried in range(1000):
        hasher = hashlib.sha512()
        for field in (label, variant, index.to_bytes(8, "big"), tried.to_bytes(8, "big")):
            hasher.update(len(field).to_bytes(8, "big"))
            hasher.update(field)
        point = decode(hasher.digest()[:32])
        if point is not None:
            eightfold = encode(times(8, point))
            if eightfold != encode(ZERO):
                return eightfold
    raise AssertionError("no point in a thousand tries")


BASE = decode((4 * pow(5, -1, P) % P).to_bytes(32, "little")) or ZERO
