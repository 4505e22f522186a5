"""`make soak`: many hostile games of all rule sets, two to six seats, on all cores; see docs/reliability.md.

With `--fuzz N` instead of games: N tables at which one seat sends broken messages of the deal. With `--solver N`: the
best move of N random positions beside independent oracles. With `--failovers N`: a table on an MQTT broker whose
publishing node is killed N times. A failure prints what repeats it, and ends with exit code 1.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import statistics
import sys
import tempfile
import traceback
from pathlib import Path

import click
from rich.progress import Progress

from engine.rulesets import RULE_SETS
from node.clock import monotonic_s
from node.faults.campaign import varied
from node.faults.profiles import PROFILES
from node.faults.report import campaign, tell
from tests.protocol.fuzz_deal import MESSAGES, attack, caught, foreign_payloads

FAIL_OVERS_A_GAME = 10
FUZZ_TRIES = 200  # broken messages of each kind at a table


def fuzz_one(seed: int) -> tuple[int, str | None]:
    """One table for each kind of message of the deal, of the rules that the seed names; what went wrong if anything."""
    rules = [RULE_SETS[name] for name in sorted(RULE_SETS)][seed % len(RULE_SETS)]
    try:
        foreign = foreign_payloads(seed + 1, rules)
        for name in MESSAGES:
            attack(caught(name, seed, rules), seed, FUZZ_TRIES, foreign)
    except Exception:
        return seed, traceback.format_exc()
    return seed, None


def fuzz(count: int, seed: int, jobs: int) -> bool:
    """Whether all went well."""
    failed = 0
    with multiprocessing.Pool(jobs) as pool, Progress() as progress:
        task = progress.add_task("Fuzzing", total=count)
        for tried, problem in pool.imap_unordered(fuzz_one, range(seed, seed + count)):
            if problem is not None:
                failed += 1
                click.echo(f"seed {tried}:\n{problem}Repeat with: make soak ARGS='--fuzz 1 --seed {tried}'")
            progress.advance(task)
    click.echo(f"{count} fuzzed tables, seeds {seed} to {seed + count - 1}, {failed} failed")
    return not failed


async def failovers(count: int, folder: Path) -> None:
    """Kill whoever publishes so often, and tell how long nobody did. Raises `AssertionError`."""
    from tests.mqtt.failovers import fail_overs
    from tests.mqtt.mosquitto import Mosquitto

    gaps_s: list[float] = []
    with Mosquitto(folder / "broker") as mosquitto, Progress() as progress:
        task = progress.add_task("Killing", total=count)
        while len(gaps_s) < count:  # a game bears only so many
            game = folder / str(len(gaps_s))
            async for one in fail_overs(mosquitto, game, min(FAIL_OVERS_A_GAME, count - len(gaps_s))):
                gaps_s.append(one.gap_s)
                progress.advance(task)
    gaps_s.sort()
    click.echo(f"{count} fail-overs: median {statistics.median(gaps_s):.2f} s, most {gaps_s[-1]:.2f} s")


@click.command()
@click.option("--games", default=1000, show_default=True, help="How many games.")
@click.option("--faults", type=click.Choice(sorted(PROFILES)), default="hostile", show_default=True)
@click.option("--fuzz", "fuzzed", default=0, help="Instead of games: so many tables with broken messages of the deal.")
@click.option("--solver", "solved", default=0, help="Instead of games: so many positions for the solver.")
@click.option("--failovers", "killed", default=0, help="Instead of games: so many kills of who publishes on a broker.")
@click.option("--seed", default=0, show_default=True, help="Seed of the first one.")
@click.option("--jobs", default=os.cpu_count() or 1, show_default=True, help="Processes.")
def main(games: int, faults: str, fuzzed: int, solved: int, killed: int, seed: int, jobs: int) -> None:
    """Play and report."""
    if solved:
        from tests.engine.solver.campaign import compare  # needs HiGHS, which not every machine has

        sys.exit(0 if compare(solved, seed, jobs) else 1)
    if fuzzed:
        sys.exit(0 if fuzz(fuzzed, seed, jobs) else 1)
    if killed:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(failovers(killed, Path(folder)))
        return
    began_s = monotonic_s()
    summaries, failures = campaign([varied(each, faults) for each in range(seed, seed + games)], jobs)
    tell(summaries, failures)
    click.echo(f"seeds {seed} to {seed + games - 1}, {monotonic_s() - began_s:.0f} s")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
