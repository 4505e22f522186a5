"""`make soak`: many simulated games in which nodes are killed and started again, on all cores.

With `--fuzz N` instead of games: N tables at which one seat sends broken messages of the deal. A failure prints the
seed and a command that repeats it, and ends with exit code 1.
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
from tests.protocol.fuzz_deal import MESSAGES, attack, caught, foreign_payloads
from tests.simulation.crashes import play_with_crashes

FUZZ_TRIES = 200  # broken messages of each kind at a table


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


def fuzz_one(seed: int) -> tuple[int, int, str | None]:
    """One table for each kind of message of the deal, of the rules that the seed names; the same three."""
    rules = [RULE_SETS[name] for name in sorted(RULE_SETS)][seed % len(RULE_SETS)]
    try:
        foreign = foreign_payloads(seed + 1, rules)
        for name in MESSAGES:
            attack(caught(name, seed, rules), seed, FUZZ_TRIES, foreign)
    except Exception:
        return seed, 0, traceback.format_exc()
    return seed, 0, None


@click.command()
@click.option("--games", default=1000, show_default=True, help="How many games.")
@click.option("--fuzz", default=0, help="Instead of games: so many tables with broken messages of the deal.")
@click.option("--seed", default=0, show_default=True, help="Seed of the first one.")
@click.option("--jobs", default=os.cpu_count() or 1, show_default=True, help="Processes.")
def main(games: int, fuzz: int, seed: int, jobs: int) -> None:
    """Play and report."""
    work, option, count = (fuzz_one, "--fuzz", fuzz) if fuzz else (soak_one, "--games", games)
    crashes, failed = 0, []
    with multiprocessing.Pool(jobs) as pool, Progress() as progress:
        task = progress.add_task("Fuzzing" if fuzz else "Playing", total=count)
        for played, died, problem in pool.imap_unordered(work, range(seed, seed + count)):
            crashes += died
            if problem is not None:
                failed.append(played)
                click.echo(f"seed {played}:\n{problem}Repeat with: make soak ARGS='{option} 1 --seed {played}'")
            progress.advance(task)
    tables = "fuzzed tables" if fuzz else "games"
    click.echo(f"{count} {tables}, seeds {seed} to {seed + count - 1}, {crashes} crashes, {len(failed)} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
