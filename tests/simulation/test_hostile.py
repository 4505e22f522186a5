"""Campaigns of hostile tables, the same ones every time, and what a campaign tells."""

from __future__ import annotations

import os
from collections import Counter

import pytest
from click.testing import CliRunner

from engine.rulesets import ES
from node.__main__ import main
from node.faults.campaign import Case, Failure, play, play_all, totals, varied
from node.faults.profiles import PROFILES
from node.faults.table import HostileSummary, HostileTable
from node.simulation import StuckTable
from protocol.consensus.driver import HeightDriver
from protocol.gamefile import Deal

GAMES = 100
KINDS = {"crash", "loss", "partition", "removal", "stall", "other vote", "withhold", "bad part", "regroup", "flood"}


@pytest.mark.timeout(600)
def test_a_hundred_hostile_games_end_as_they_must() -> None:
    cases = [case for seed in range(2 * GAMES) if (case := varied(seed, "hostile")).seats <= 4][:GAMES]
    results = list(play_all(cases, os.cpu_count() or 1))
    failures = [(result.case.command, result.reason) for result in results if isinstance(result, Failure)]
    assert failures == []
    summaries = [result for result in results if isinstance(result, HostileSummary)]
    assert len(summaries) == GAMES
    assert sum(summary.finished for summary in summaries) > 0.9 * GAMES
    assert {kind for kind, count in totals(summaries).items() if count} >= KINDS


@pytest.mark.parametrize("profile", sorted(set(PROFILES) - {"hostile"}))
def test_some_games_of_each_profile(profile: str) -> None:
    counts: Counter[str] = Counter()
    for seed in (0, 1, 2, 3, 16):
        result = play(varied(seed, profile))
        assert isinstance(result, HostileSummary), result
        counts.update(result.faults)
    assert profile == "none" or sum(counts.values()) > counts["dawdling"]


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(104391, id="killed after its vote, then shown more versions of a part than anybody keeps"),
        pytest.param(105617, id="left behind in a round that the others left and came back from"),
    ],
)
def test_what_once_stood_still(seed: int) -> None:
    assert isinstance(play(varied(seed, "hostile")), HostileSummary)


def test_six_seats() -> None:
    assert isinstance(play(Case(ES, 6, 2, "hostile")), HostileSummary)


def test_the_secret_deal_bears_it_too() -> None:
    result = play(Case(ES, 3, 4, "hostile", Deal.SECRET))
    assert isinstance(result, HostileSummary), result


def test_a_seed_repeats_itself_and_a_limit_is_its_beginning() -> None:
    case = varied(0, "hostile")
    first, again = play(case), play(case)
    assert first == again
    limited = Case(case.rules, case.seats, case.seed, case.profile, limit=5)
    result = play(limited)
    assert isinstance(result, HostileSummary)
    assert sum(result.faults.values()) == 5


def forget_everything(_self: HeightDriver, *_arguments: object) -> None:
    """A restart without votes, locks and proofs."""


def test_a_failure_is_told_with_the_fewest_faults_and_a_command_that_repeats_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nodes that forget what they had signed: the first crash at the wrong moment shows it."""
    monkeypatch.setattr(HeightDriver, "restore", forget_everything)
    failure = next(result for seed in range(100) if isinstance(result := play(varied(seed, "crashes")), Failure))
    limit = failure.case.limit
    assert limit is not None
    assert 0 < limit < 20
    told = CliRunner().invoke(main, failure.case.command.split()[1:])
    assert told.exit_code == 1
    assert "Repeat with" in told.stderr
    less = Case(failure.case.rules, failure.case.seats, failure.case.seed, "crashes", limit=limit - 1)
    assert isinstance(play(less), HostileSummary)


def test_a_stuck_table_says_who_waits_for_what(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HeightDriver, "advance", lambda self, now_s: None)
    with pytest.raises(StuckTable, match=r"node 1.*height 1, round 0, call"):
        HostileTable(ES, 2, 0, PROFILES["none"]).play()
