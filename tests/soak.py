"""`make soak`: many simulated games in which nodes are killed and started again, on all cores.

A failure prints the seed and a command that repeats it, and ends with exit code 1.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import traceback
from dataclasses import replace

import click
from rich.progress import Progress

from engine.rulesets import RULE_SETS
from tests.simulation.crashes import play_with_crashes


def soak_one(seed: int) -> tuple[int, int, str | None]:
    """One game: its seed, how many crashes it took, and what went wrong if anything did."""
    names = sorted(RULE_SETS)
    name = names[seed % len(names)]
    rules = replace(RULE_SETS[name], rounds=1 + seed % 2)
    seats = rules.min_seats + seed // 4 % (rules.max_seats - rules.min_seats + 1)
    try:
        table, crashes = play_with_crashes(seats, seed, away_s=0.5 + seed % 5, every=301 + seed % 397, rules=rules)
        assert table.refusals() == [], f"refused: {table.refusals()[0]}"
        table.summary()
    except Exception:
        return seed, 0, traceback.format_exc()
    return seed, crashes, None


@click.command()
@click.option("--games", default=1000, show_default=True, help="How many games.")
@click.option("--seed", default=0, show_default=True, help="Seed of the first one.")
@click.option("--jobs", default=os.cpu_count() or 1, show_default=True, help="Processes.")
def main(games: int, seed: int, jobs: int) -> None:
    """Play and report."""
    crashes, failed = 0, []
    with multiprocessing.Pool(jobs) as pool, Progress() as progress:
        task = progress.add_task("Playing", total=games)
        for played, died, problem in pool.imap_unordered(soak_one, range(seed, seed + games)):
            crashes += died
            if problem is not None:
                failed.append(played)
                click.echo(f"seed {played}:\n{problem}Repeat with: make soak ARGS='--games 1 --seed {played}'")
            progress.advance(task)
    click.echo(f"{games} games, seeds {seed} to {seed + games - 1}, {crashes} crashes, {len(failed)} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
