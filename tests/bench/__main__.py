"""`make bench`: what this program costs on this machine, and how near that is to what it must cost.

Nothing in here passes or fails; docs/performance.md holds figures and says how they were had.
"""

from __future__ import annotations

from collections.abc import Iterable

import click
from rich.console import Console
from rich.table import Table

from engine.rulesets import ES, PT
from tests.bench import deal, hot_paths, screens, solver
from tests.bench.counting import KINDS, unit_costs
from tests.bench.processes import seconds_to_racks

STARTS = ((PT, 2), (PT, 3), (PT, 4), (ES, 6))
UNOPENED, HELD = 86, 13  # of the re-deal


def units_shown(units: dict[str, float]) -> Table:
    shown = Table("One operation of the group", "µs")
    for kind in KINDS:
        shown.add_row(kind, f"{units[kind] * 1e6:.1f}")
    return shown


def steps_shown(steps: Iterable[deal.Step], units: dict[str, float]) -> Table:
    shown = Table("Step", "Cards", "ms", "Operations", "As the formula", "ms / operations")
    for step in steps:
        same = "yes" if step.cost.ops == step.expected else f"no: {dict(step.expected)}"
        ratio = f"{step.cost.ratio(units):.2f}x"
        shown.add_row(step.name, str(step.cards), f"{step.cost.seconds * 1e3:.2f}", step.cost.counts(), same, ratio)
    return shown


def paths_shown(paths: Iterable[deal.Path], units: dict[str, float]) -> Table:
    shown = Table("One node, one thread", "ms", "Operations", "ms / operations")
    for path in paths:
        ratio = f"{path.cost.ratio(units):.2f}x"
        shown.add_row(path.name, f"{path.cost.seconds * 1e3:.2f}", path.cost.counts(), ratio)
    return shown


def processes_shown(runs: int) -> Table:
    shown = Table("Real processes, genesis to racks", "s, shortest", "s, all")
    for rules, seats in STARTS:
        times = sorted(seconds_to_racks(rules.name, seats) for _ in range(runs))
        shown.add_row(f"{rules.name}, {seats} seats", f"{times[0]:.2f}", ", ".join(f"{time_s:.2f}" for time_s in times))
    return shown


def secret_deal(console: Console, seconds: float, repeats: int, runs: int) -> None:
    """All tables of the secret deal."""
    deal.warm_up()
    units = unit_costs(seconds)
    steps = [step for cards in (106, 52) for step in deal.shuffles(cards, repeats).values()]
    steps += deal.rack_steps(14, repeats).values()
    steps += deal.tag_steps(UNOPENED + 3 * HELD, repeats).values()
    paths = [path for rules, seats in STARTS for path in deal.start_paths(rules, seats, repeats)]
    paths += [deal.draw_path(seats, repeats) for seats in (2, 4)]
    paths += [*deal.opening_paths(1, repeats), *deal.opening_paths(14, repeats)]
    paths.append(deal.redeal_path(3, UNOPENED, HELD, repeats))
    paths.append(deal.audit_path(4, 3, repeats))
    again = unit_costs(seconds)
    units = {kind: min(units[kind], again[kind]) for kind in KINDS}
    console.print(units_shown(units))
    console.print(steps_shown(steps, units))
    console.print(paths_shown(paths, units))
    if runs:
        console.print(processes_shown(runs))


@click.command()
@click.option("--seconds", default=1.0, show_default=True, help="Time for each figure.")
@click.option("--games", default=3, show_default=True, help="Simulated games for each kind of table.")
@click.option("--repeats", default=5, show_default=True, help="How often each step of the deal is timed.")
@click.option("--runs", default=3, show_default=True, help="Deals between real processes for each kind of table.")
@click.option("--positions", default=300, show_default=True, help="Random positions of each kind for the solver.")
@click.option("--only", type=click.Choice(("hot-paths", "deal", "solver", "display")), help="One part.  [default: all]")
def main(seconds: float, games: int, repeats: int, runs: int, positions: int, only: str | None) -> None:
    """Measure and print."""
    console = Console(width=120)
    if only in (None, "hot-paths"):
        console.print(hot_paths.commits(seconds))
        console.print(hot_paths.messages(seconds))
        console.print(hot_paths.tables(games))
    if only in (None, "deal"):
        secret_deal(console, seconds, repeats, runs)
    if only in (None, "display"):
        screens.main(console, seconds)
    if only in (None, "solver"):
        for shown in solver.tables(seconds, repeats, positions):
            console.print(shown)


if __name__ == "__main__":
    main()
