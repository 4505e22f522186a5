"""The points of edwards25519 whose order divides 8, which no check may let through."""

from __future__ import annotations

from protocol.audit.curve import L, decode, encode, is_zero, times

_SOME_POINTS = filter(None, (decode(y.to_bytes(32, "little")) for y in range(2, 100)))
_TORSION = (times(L, point) for point in _SOME_POINTS)  # the prime-order part goes away
ORDER_8 = next(torsion for torsion in _TORSION if not is_zero(times(4, torsion)))
ORDER_4 = times(2, ORDER_8)
ORDER_2 = times(4, ORDER_8)
SMALL_ORDER = [encode(times(k, ORDER_8)) for k in range(8)]
