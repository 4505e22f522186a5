"""Work that the collector of cyclic garbage would only hold up."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """Without collections, each of which can take some ten milliseconds; for work that makes no cycles and is short.

    The solver's is such: many small values that end with the search.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
