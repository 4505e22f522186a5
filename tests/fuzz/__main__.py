"""`python -m tests.fuzz`: broken input for everything that reads what others send, on all cores.

A finding prints the input in hex and a command that feeds it again, and ends the campaign with exit code 1.
"""

from __future__ import annotations

import os
import sys
import time
from collections import defaultdict

import click
from rich.progress import Progress

from tests.fuzz.campaign import run
from tests.fuzz.targets import TARGETS

MEMORY_FIGURES = 10


@click.command()
@click.option("--inputs", default=1_000_000, show_default=True, help="How many, over all targets.")
@click.option("--seed", default=0, show_default=True, help="Of the first chunk; each next one adds 1.")
@click.option(
    "--target", "names", multiple=True, help="One of those listed by --list, or its beginning. May be repeated."
)
@click.option("--list", "listed", is_flag=True, help="Name the targets.")
@click.option("--jobs", default=os.cpu_count() or 1, show_default=True, help="Processes.")
def main(inputs: int, seed: int, names: tuple[str, ...], listed: bool, jobs: int) -> None:
    """Feed and report."""
    chosen = [target for target in TARGETS if not names or target.startswith(names)]
    if listed or not chosen:
        click.echo("\n".join(TARGETS))
        sys.exit(not listed)
    counts: defaultdict[str, int] = defaultdict(int)
    seconds: defaultdict[str, float] = defaultdict(float)
    memory_mb: list[float] = []
    failed, peak_mb, began_s = 0, 0.0, time.monotonic()
    with Progress() as progress:
        task = progress.add_task("Feeding", total=inputs)
        for done in run(chosen, seed, inputs, jobs):
            counts[done.chunk.target] += done.chunk.count
            seconds[done.chunk.target] += done.seconds
            peak_mb = max(peak_mb, done.peak_mb)
            if sum(counts.values()) * MEMORY_FIGURES >= inputs * (len(memory_mb) + 1):
                memory_mb.append(peak_mb)
            if done.problem is not None:
                failed += 1
                click.echo(f"{done.problem}Repeat with: {done.chunk.repeat}")
            progress.advance(task, done.chunk.count)
    for target, count in counts.items():
        click.echo(f"{target:24} {count:10,} {count / seconds[target]:8,.0f} a second of a processor")
    click.echo(f"largest process, MB, after each tenth: {' '.join(f'{mb:.0f}' for mb in memory_mb)}")
    spent_s = time.monotonic() - began_s
    click.echo(f"{sum(counts.values()):,} inputs, seeds from {seed}, {spent_s:.0f} s, {failed} chunks failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
