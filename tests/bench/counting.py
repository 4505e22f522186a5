"""What a computation costs: its shortest processor time, and how many operations of the group it makes.

Operations are counted where the group module calls the library, so what is counted is what is done. A ratio of 1 means
that all the time goes into them; what is above is Python.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from protocol.dealing import group
from protocol.dealing.group import encode_scalar, multiply_base
from protocol.dealing.transcript import ORDER

T = TypeVar("T")

_CALLS: Final = {
    "crypto_scalarmult_ed25519_noclamp": "var",
    "crypto_scalarmult_ed25519_base_noclamp": "base",
    "crypto_core_ed25519_add": "add",
    "crypto_core_ed25519_sub": "add",
    "crypto_core_ed25519_is_valid_point": "valid",
}
KINDS: Final = ("var", "base", "add", "valid")
_ROW: Final = 20  # calls that are timed together

Ops = Counter[str]


@contextmanager
def counted() -> Iterator[Ops]:
    """Counts the operations of the group made meanwhile, by kind."""
    ops: Ops = Counter()
    library = {name: getattr(group, name) for name in _CALLS}

    def counting(name: str) -> Callable[..., Any]:
        def call(*arguments: bytes) -> Any:
            ops[_CALLS[name]] += 1
            return library[name](*arguments)

        return call

    for name in _CALLS:
        setattr(group, name, counting(name))
    try:
        yield ops
    finally:
        for name, call in library.items():
            setattr(group, name, call)


def unit_costs(seconds: float) -> dict[str, float]:
    """Seconds of one operation by kind: the shortest of many rows of calls of the library as the program makes them."""
    one, other = multiply_base(ORDER // 3), multiply_base(ORDER // 5)
    scalar = encode_scalar(ORDER // 7)
    arguments = {"var": (scalar, one), "base": (scalar,), "add": (one, other), "valid": (one,)}
    shortest = dict.fromkeys(KINDS, float("inf"))
    ends_s = time.perf_counter() + seconds
    while time.perf_counter() < ends_s:
        for name, kind in _CALLS.items():
            call = getattr(group, name)
            began_s = time.thread_time()
            for _ in range(_ROW):
                call(*arguments[kind])
            shortest[kind] = min(shortest[kind], (time.thread_time() - began_s) / _ROW)
    return shortest


@dataclass(frozen=True, slots=True)
class Cost:
    """Shortest processor time in seconds, and operations of the group."""

    seconds: float
    ops: Ops

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.seconds + other.seconds, self.ops + other.ops)

    def __rmul__(self, times: int) -> Cost:
        return Cost(times * self.seconds, Counter({kind: times * count for kind, count in self.ops.items()}))

    def ratio(self, units: dict[str, float]) -> float:
        """To the time that the operations take alone."""
        return self.seconds / sum(count * units[kind] for kind, count in self.ops.items())

    def counts(self) -> str:
        """The operations, for a table."""
        return " + ".join(f"{self.ops[kind]} {kind}" for kind in KINDS if self.ops[kind])


def cost(work: Callable[[T], object], fresh: Callable[[], T], repeats: int) -> Cost:
    """The cost of `work`, each time on something new from `fresh`, which costs nothing here."""
    shortest_s = float("inf")
    for _ in range(repeats):
        given = fresh()
        began_s = time.thread_time()
        work(given)
        shortest_s = min(shortest_s, time.thread_time() - began_s)
    given = fresh()
    with counted() as ops:
        work(given)
    return Cost(shortest_s, ops)
