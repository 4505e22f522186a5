"""Hostile campaigns for people: progress while they run, totals by kind, and how to repeat what failed."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from node.faults.campaign import Case, Failure, play_all, totals
from node.faults.table import HostileSummary


def campaign(cases: Sequence[Case], jobs: int) -> tuple[list[HostileSummary], list[Failure]]:
    """Play all cases with a progress bar; each failure is told at once, with the command that repeats it."""
    console = Console(stderr=True)
    summaries: list[HostileSummary] = []
    failures: list[Failure] = []
    with Progress(console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("Playing", total=len(cases))
        for result in play_all(cases, jobs):
            if isinstance(result, Failure):
                failures.append(result)
                click.echo(f"{result.reason}Repeat with: {result.case.command}", err=True)
            else:
                summaries.append(result)
            progress.advance(task)
    return summaries, failures


def plain(summaries: Sequence[HostileSummary], failures: Sequence[Failure]) -> dict[str, Any]:
    """The results as plain data, tables in the order of their seeds."""
    in_order = sorted(summaries, key=lambda summary: summary.seed)
    return {
        "totals": totals(summaries),
        "games": [dataclasses.asdict(summary) for summary in in_order],
        "failures": [
            {"seed": failure.case.seed, "command": failure.case.command, "reason": failure.reason}
            for failure in sorted(failures, key=lambda failure: failure.case.seed)
        ],
    }


def tell(summaries: Sequence[HostileSummary], failures: Sequence[Failure]) -> None:
    """Totals by kind, games by rules and seats."""
    games = Counter((summary.rules, summary.seats) for summary in summaries)
    click.echo(", ".join(f"{rules} {seats} seats: {count}" for (rules, seats), count in sorted(games.items())))
    shown = Table("What happened", "Times")
    for kind, count in totals(summaries).items():
        shown.add_row(kind, str(count))
    Console().print(shown)
    entries = sum(summary.entries for summary in summaries)
    click.echo(f"{len(summaries)} games, {entries} entries, {len(failures)} failed")
