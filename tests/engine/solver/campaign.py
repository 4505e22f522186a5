"""`python -m tests.engine.solver.campaign`: the solver against the oracles on random positions of all tile games.

Every difference is printed with a command that repeats it, and ends the campaign with exit code 1.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import click
from rich.progress import Progress

from engine.solver import Objective
from tests.engine.solver.compare import Difference, best_by_oracle, differences, disruption, opening_differences
from tests.engine.solver.puzzles import Puzzle, adversarial, large, puzzle_of, rules_named, small

GAMES = (("free", 0), ("free", 2), ("free", 4), ("pt", 2), ("fi", 2), ("no", 4))
_HARD_FOR_SETS = {"board": 18, "rack": 8}  # `fi`: who may lie where makes the set program slow
_TOLD_EVERY = 1000  # positions
_BRUTE_FORCE = 20  # tiles of a position that is replayed
_MIX = ("small", "small", "large", "small", "adversarial")


@dataclass(frozen=True, slots=True)
class Tried:
    """What became of the position of one seed. `kind`: game and size, and whether an oracle could tell."""

    kind: str
    differences: tuple[Difference, ...]


def puzzle_of_seed(seed: int, games: tuple[tuple[str, int], ...] = GAMES) -> tuple[Puzzle, Objective, str]:
    """A position, what to ask for, and its size."""
    rng = random.Random(seed)
    name, jokers = games[seed % len(games)]
    size = _MIX[seed // len(games) % len(_MIX)]
    rules = rules_named(name, jokers)
    if size == "small":
        puzzle = small(rng, rules, board=rng.choice((11, 13, 15)))
    else:
        puzzle = {"large": large, "adversarial": adversarial}[size](
            rng, rules, **_HARD_FOR_SETS if name == "fi" else {}
        )
    return puzzle, rng.choice(list(Objective)), size


def tried(seed: int) -> Tried:
    """Compare one position, its opening as well."""
    puzzle, objective, size = puzzle_of_seed(seed)
    best = best_by_oracle(puzzle, objective, small=size == "small")
    found = list(differences(puzzle, objective, best))
    if size == "small" and not puzzle.jokers:
        found += disruption(puzzle)
    if objective is not Objective.LEAST_DISRUPTION and puzzle.rack:
        found += opening_differences(puzzle, random.Random(seed).choice((1, 10, 30, 40, 80)), objective)
    told = "" if best is not None else ", legality only"
    return Tried(f"{puzzle.rules.name}, {puzzle.rules.joker_move.value}, {size}{told}", tuple(found))


def _all(seeds: range, jobs: int) -> Iterator[Tried]:
    if jobs == 1:
        yield from map(tried, seeds)
        return
    with multiprocessing.Pool(jobs) as pool:
        yield from pool.imap_unordered(tried, seeds, chunksize=8)


def compare(positions: int, seed: int, jobs: int) -> bool:
    """Compare so many positions, from this seed on, and report. Whether no difference was found."""
    kinds: Counter[str] = Counter()
    failed = 0
    with Progress(disable=not sys.stdout.isatty()) as progress:
        task = progress.add_task("Comparing", total=positions)
        for number, one in enumerate(_all(range(seed, seed + positions), jobs), 1):
            kinds[one.kind] += 1
            for difference in one.differences:
                failed += 1
                click.echo(str(difference))
            progress.advance(task)
            if number % _TOLD_EVERY == 0 and progress.disable:
                click.echo(f"{number} of {positions}, {failed} differences")
    for kind, count in sorted(kinds.items()):
        click.echo(f"{count:7}  {kind}")
    click.echo(f"{positions} positions, seeds {seed} to {seed + positions - 1}, {failed} differences")
    return not failed


def replayed(text: str, objective: Objective) -> bool:
    """Compare one position as a difference shows it. Whether none is left."""
    puzzle = puzzle_of(text)
    tiles = sum(len(codes) for codes, _kind in puzzle.board) + len(puzzle.rack)
    best = best_by_oracle(puzzle, objective, small=tiles <= _BRUTE_FORCE, limit_s=600)
    found = list(differences(puzzle, objective, best))
    if tiles <= _BRUTE_FORCE and not puzzle.jokers:
        found += disruption(puzzle)
    click.echo(f"the oracle has {best}")
    click.echo("\n".join(map(str, found)) or "no difference")
    return not found


@click.command()
@click.option("--positions", default=2000, show_default=True, help="How many random positions.")
@click.option("--seed", default=0, show_default=True, help="Seed of the first one.")
@click.option("--jobs", default=os.cpu_count() or 1, show_default=True, help="Processes.")
@click.option("--replay", default=None, help="Instead: one position as a difference shows it.")
@click.option("--objective", default=Objective.TILES.value, type=click.Choice([each.value for each in Objective]))
def main(positions: int, seed: int, jobs: int, replay: str | None, objective: str) -> None:
    """Compare and report."""
    passed = compare(positions, seed, jobs) if replay is None else replayed(replay, Objective(objective))
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
