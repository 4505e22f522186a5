"""Many hostile tables, in several processes; and of a table that fails, the fewest faults that make it fail."""

from __future__ import annotations

import multiprocessing
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from engine.rulesets import RULE_SETS, RuleSet
from node.faults.profiles import PROFILES
from node.faults.table import HostileSummary, HostileTable
from protocol.audit.audit import DEALERS
from protocol.gamefile import Deal

SHORT_TURN_S = 20


@dataclass(frozen=True, slots=True)
class Case:
    """One hostile table, a `short` game. `limit`: only so many faults happen, None for all."""

    rules: RuleSet
    seats: int
    seed: int
    profile: str
    deal: Deal = Deal.OPEN
    limit: int | None = None

    def table(self) -> HostileTable:
        rules = short(self.rules, self.seats)
        return HostileTable(rules, self.seats, self.seed, PROFILES[self.profile], self.limit, DEALERS[self.deal])

    @property
    def command(self) -> str:
        """What repeats it."""
        limit = "" if self.limit is None else f" --fault-limit {self.limit}"
        deal = "" if self.deal is Deal.OPEN else f" --deal {self.deal.value}"
        return (
            f"rummesh simulate --faults {self.profile} --games 1 --seats {self.seats} --rules {self.rules.name} "
            f"--seed {self.seed}{deal}{limit}"
        )


@dataclass(frozen=True, slots=True)
class Failure:
    """A table that failed, with the shortest run of its faults that does, and what went wrong at first."""

    case: Case
    reason: str


def short(rules: RuleSet, seats: int) -> RuleSet:
    """The same game with large hands, so that it is over soon, and short turns; one game, whatever the series."""
    hand = rules.hand_size(seats) if rules.discards else min(30, len(rules.faces) * 94 // 100 // seats)
    return replace(rules, hand=hand, max_seats=max(rules.min_seats, seats), turn_seconds=SHORT_TURN_S, rounds=1)


def varied(seed: int, profile: str) -> Case:
    """All rule sets and two to six seats in turn; few seats more often."""
    names = sorted(RULE_SETS)
    seats = (3, 4, 2, 3, 4, 5, 3, 4, 6)[seed // len(names) % 9]
    return Case(RULE_SETS[names[seed % len(names)]], seats, seed, profile)


def play(case: Case) -> HostileSummary | Failure:
    """Play a table; of one that fails, the smallest number of faults is found by bisection."""
    table = case.table()
    try:
        return table.play()
    except Exception:
        reason = traceback.format_exc(limit=-4)
    return Failure(replace(case, limit=shrink(case, table.ledger.total)), reason)


def shrink(case: Case, total: int) -> int:
    """The smallest `limit` found with which a case still fails that fails with `total` faults."""
    low, high = 0, total
    while low < high:
        middle = (low + high) // 2
        if fails(replace(case, limit=middle)):
            high = middle
        else:
            low = middle + 1
    return high


def fails(case: Case) -> bool:
    """Whether anything goes wrong at a table."""
    try:
        case.table().play()
    except Exception:
        return True
    return False


def play_all(cases: Sequence[Case], jobs: int) -> Iterator[HostileSummary | Failure]:
    """Play tables in so many processes; the results in any order."""
    if jobs == 1:
        yield from map(play, cases)
        return
    with multiprocessing.Pool(jobs) as pool:
        yield from pool.imap_unordered(play, cases)


def totals(summaries: Sequence[HostileSummary]) -> dict[str, int]:
    """How often what happened."""
    counts: Counter[str] = Counter()
    for summary in summaries:
        counts.update(summary.faults)
        counts["removal"] += summary.removals
        counts["void"] += summary.void
        counts["liar not to be got rid of"] += not (summary.finished or summary.void)
    return dict(sorted(counts.items()))
