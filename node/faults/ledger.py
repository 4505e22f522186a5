"""Every fault of a simulated table, numbered as it happens."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class Ledger:
    """Counts faults by kind. After `limit` of them none happens any more, None for no limit.

    All faults follow from the seed, so a run with a limit is the run without one up to there.
    """

    limit: int | None = None
    counts: Counter[str] = field(default_factory=Counter)
    open: bool = True
    total: int = 0

    def happens(self, kind: str) -> bool:
        """Whether the next fault, of this kind, happens. It then counts."""
        if not self.open or (self.limit is not None and self.total >= self.limit):
            return False
        self.total += 1
        self.counts[kind] += 1
        return True
