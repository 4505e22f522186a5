"""The only reader of the wall clock, the monotonic clock and the system's randomness."""

from __future__ import annotations

import secrets
import time


def monotonic_s() -> float:
    """Seconds on a clock that is never set; its zero means nothing and changes when the machine starts."""
    return time.monotonic()


def unix_s() -> float:
    """Seconds since 1970 by the wall clock, which may be set at any time: for people and files, not for waiting."""
    return time.time()


def local_date() -> str:
    """Today where this machine stands, as `2026-01-31`: for the names of files."""
    return time.strftime("%Y-%m-%d")


def random_bytes(n: int) -> bytes:
    """`n` fresh bytes from the system, fit for keys."""
    return secrets.token_bytes(n)
