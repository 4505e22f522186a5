"""`simulate --engine-only` on the command line: options, progress, tables."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn
from rich.table import Table

from engine.rulesets import RuleSet
from engine.strength import Strength
from node.clock import monotonic_s
from node.headless.intervals import Estimate
from node.headless.plot import can_plot, plot
from node.headless.results import BadResults, as_csv, as_json, merged
from node.headless.runs import Game, Run, play_all, shard
from node.headless.summary import Summary, Wins, summarise

_NOT_WITH_IT: Final = ("deal", "save", "faults", "fault_limit", "rounds", "turn_seconds")
_NOT_WITH_MERGE: Final = ("games", "seats", "seed", "rules", "jobs", "bots", "shard")
_ONLY_WITH_IT: Final = ("bots", "csv_file", "plot_file", "shard", "merge", "files")


@dataclass(frozen=True, slots=True)
class HeadlessOptions:
    """What `--engine-only` adds to the options of `simulate`."""

    engine_only: bool
    bots: tuple[Strength, ...]
    csv_file: Path | None
    plot_file: Path | None
    shard: tuple[int, int]
    merge: bool
    files: tuple[Path, ...]


class SeatsType(click.ParamType[tuple[int, int]]):
    """`4`, or `2-4`: fewest and most seats."""

    name = "N|LO-HI"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        if isinstance(value, tuple):
            return value
        low, _, high = str(value).partition("-")
        if not (low.isdecimal() and (high or low).isdecimal() and 2 <= int(low) <= int(high or low) <= 6):
            self.fail(f"{value!r}: expected a number from 2 to 6, or two as in 2-4", param, ctx)
        return int(low), int(high or low)


class BotsType(click.ParamType[tuple[Strength, ...]]):
    """Names of bots, separated by commas."""

    name = "BOT,…"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[Strength, ...]:
        if isinstance(value, tuple):
            return value
        try:
            return tuple(Strength(name.strip()) for name in str(value).split(","))
        except ValueError:
            self.fail(f"{value!r}: expected {', '.join(bot.value for bot in Strength)}, or several of them", param, ctx)


class ShardType(click.ParamType[tuple[int, int]]):
    """`K/N`: part K of N."""

    name = "K/N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        if isinstance(value, tuple):
            return value
        part, _, parts = str(value).partition("/")
        if not (part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
            self.fail(f"{value!r}: expected a part and the number of parts, as in 2/8", param, ctx)
        return int(part), int(parts)


_FILE: Final = click.Path(dir_okay=False, path_type=Path)
_OPTIONS: Final = (
    click.option(
        "--engine-only", is_flag=True, help="Games by the engine alone, without messages; see docs/simulation.md."
    ),
    click.option(
        "--bots",
        type=BotsType(),
        default="solid",
        show_default=True,
        help="With --engine-only: who plays, several in turn: beginner, solid, strong.",
    ),
    click.option("--csv", "csv_file", type=_FILE, default=None, metavar="FILE", help="With --engine-only: all games."),
    click.option(
        "--plot",
        "plot_file",
        type=_FILE,
        default=None,
        metavar="FILE.png",
        help="With --engine-only: a picture of wins and scores; needs the extra plot.",
    ),
    click.option(
        "--shard",
        type=ShardType(),
        default="1/1",
        help="With --engine-only: only part K of N of the games, for several machines.",
    ),
    click.option(
        "--merge", is_flag=True, help="With --engine-only: play nothing, put together the JSON files of shards."
    ),
    click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path)),
)


def headless_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give `simulate` the options of `--engine-only`; it gets them as one argument `headless`."""

    @functools.wraps(command)
    def with_headless(**given: Any) -> None:
        names = [item.name for item in dataclasses.fields(HeadlessOptions)]
        command(headless=HeadlessOptions(**{name: given.pop(name) for name in names}), **given)

    for option in reversed(_OPTIONS):
        option(with_headless)
    return with_headless


def refuse_headless_options() -> None:
    """Raises `click.UsageError` if an option was given that means something with `--engine-only` alone."""
    _refuse(_ONLY_WITH_IT, "is for --engine-only")


def simulate_headless(
    options: HeadlessOptions,
    rules: RuleSet,
    games: int,
    seats: tuple[int, int],
    seed: int,
    jobs: int,
    json_file: Path | None,
) -> None:
    """Play, or merge; tell what came of it. Raises `click.ClickException` for what makes no sense."""
    _refuse(_NOT_WITH_IT, "does not go with --engine-only")
    outputs = [file for file in (json_file, options.csv_file, options.plot_file) if file is not None]
    _check_outputs(options.plot_file, outputs)
    if options.merge:
        _refuse(_NOT_WITH_MERGE, "does not go with --merge")
        run, played = _merge(options.files)
    else:
        if options.files:
            raise click.UsageError("Files are for --merge.")
        run = Run(rules, seats, options.bots)
        _check_run(run)
        seeds = shard(range(seed, seed + games), *options.shard)
        if not seeds:
            raise click.UsageError(f"There are fewer games than shards: {games}.")
        played = _play(run, seeds, jobs)
    if json_file is not None:
        _write(json_file, as_json(run, played))
    if options.csv_file is not None:
        _write(options.csv_file, as_csv(played))
    if options.plot_file is not None:
        try:
            plot(run, played, options.plot_file)
        except OSError as error:
            raise click.FileError(str(options.plot_file), error.strerror or "cannot be written") from error
    if Path("-") not in outputs:
        _tell(summarise(played))


def _refuse(names: Sequence[str], why: str) -> None:
    context = click.get_current_context()
    for param in context.command.params:
        given = context.get_parameter_source(str(param.name)) is click.core.ParameterSource.COMMANDLINE
        if param.name in names and given and context.params.get(str(param.name)) != ():
            raise click.UsageError(f"{max(param.opts, key=len)} {why}.")


def _check_run(run: Run) -> None:
    rules, (fewest, most) = run.rules, run.seats
    if fewest < rules.min_seats or most > rules.max_seats:
        raise click.UsageError(f"{rules.name} is played by {rules.min_seats} to {rules.max_seats} players.")
    if len(run.bots) > fewest:
        raise click.UsageError(f"--bots names {len(run.bots)} bots, but there is a table of {fewest} seats.")


def _check_outputs(picture: Path | None, outputs: Sequence[Path]) -> None:
    """What would otherwise fail only after all games."""
    if picture is not None and not can_plot():
        raise click.UsageError("--plot needs matplotlib. Install it with: pip install '.[plot]'")
    if picture == Path("-") or sum(file == Path("-") for file in outputs) > 1:
        raise click.UsageError("Only one of --json and --csv can go to standard output, and no picture.")
    for file in outputs:
        if not file.parent.is_dir():
            raise click.UsageError(f"{file}: there is no such folder.")


def _merge(files: Sequence[Path]) -> tuple[Run, list[Game]]:
    if not files:
        raise click.UsageError("--merge needs the files to merge.")
    try:
        return merged(files)
    except BadResults as error:
        raise click.UsageError(f"{error}.") from error


def _play(run: Run, seeds: range, jobs: int) -> list[Game]:
    console = Console(stderr=True)
    columns = (*Progress.get_default_columns()[:-1], MofNCompleteColumn(), TimeRemainingColumn())
    started_s = monotonic_s()
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        games = list(progress.track(play_all(run, seeds, jobs), total=len(seeds), description="Playing"))
    took_s = monotonic_s() - started_s
    click.echo(f"{len(games)} games in {took_s:.1f} s, {len(games) / took_s:.1f} a second", err=True)
    return games


def _write(file: Path, text: str) -> None:
    if str(file) == "-":
        click.echo(text, nl=False)
        return
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.FileError(str(file), error.strerror or "cannot be written") from error


def _tell(summary: Summary) -> None:
    click.echo(
        f"{summary.games} games; turns {_number(summary.turns)}; blocked {_percent(summary.blocked)}; "
        f"shared {_percent(summary.shared)}\nIntervals of 95 %: Wilson's for rates, normal for means."
    )
    bots = Table("Bot", "Games won", "Even", "Points", "Opened in turn")
    for bot in summary.bots:
        bots.add_row(bot.bot.value, *_wins(bot.wins), _number(bot.points), _number(bot.opened_in))
    seats = Table("Seat", "Games won", "Even")
    for number, wins in enumerate(summary.seats, 1):
        seats.add_row(str(number), *_wins(wins))
    seats.add_row("who begins", *_wins(summary.first))
    console = Console()
    console.print(bots)
    console.print(seats)
    click.echo("Even: what it would be if all at the table played alike.")


def _wins(wins: Wins) -> tuple[str, str]:
    return _percent(wins.won), f"{100 * wins.even:.1f} %"


def _percent(rate: Estimate) -> str:
    if math.isnan(rate.value):
        return "–"
    return f"{100 * rate.value:.1f} % ({100 * rate.low:.1f} to {100 * rate.high:.1f})"


def _number(mean: Estimate) -> str:
    if math.isnan(mean.value):
        return "–"
    if math.isnan(mean.low):
        return f"{mean.value:.1f}"
    return f"{mean.value:.1f} ({mean.low:.1f} to {mean.high:.1f})"
