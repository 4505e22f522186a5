"""Tests here play many tables of one seed: what was computed once about a shuffle is true at every node and table."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import pytest

from protocol.dealing import shuffle


@pytest.fixture(scope="session", autouse=True)
def each_shuffle_is_checked_once() -> Iterator[None]:
    """`shuffle.check` is a function of its arguments alone, and most of the work at a table of several nodes.

    Who needs it computed anew imports it by name.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shuffle, "check", lru_cache(maxsize=512)(shuffle.check))
        yield
