"""The only reader of the wall clock, the monotonic clock and the system's randomness."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from node.garbage import no_collection


def monotonic_s() -> float:
    """Seconds on a clock that is never set; its zero means nothing and changes when the machine starts."""
    return time.monotonic()


@contextmanager
def stop_after(limit_s: float) -> Iterator[Callable[[], bool]]:
    """What the solver asks whether to stop: true from `limit_s` on.

    No garbage is collected meanwhile, which could take longer than the limit.
    """
    ends_s = monotonic_s() + limit_s
    with no_collection():
        yield lambda: monotonic_s() >= ends_s


def unix_s() -> float:
    """Seconds since 1970 by the wall clock, which may be set at any time: for people and files, not for waiting."""
    return time.time()


def local_date(when_s: float | None = None) -> str:
    """The day of a `unix_s` where this machine stands, as `2026-01-31`; of None it is today."""
    return time.strftime("%Y-%m-%d", time.localtime(when_s))


def random_bytes(n: int) -> bytes:
    """`n` fresh bytes from the system, fit for keys."""
    return secrets.token_bytes(n)
