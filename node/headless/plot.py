"""A picture of a run: how often each bot wins, and how its scores are spread. Needs the extra `plot` (matplotlib)."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from node.headless.intervals import LEVEL
from node.headless.runs import Game, Run
from node.headless.summary import points_of, seats_of, summarise

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DPI = 120
_BINS = 30


def can_plot() -> bool:
    """Whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def plot(run: Run, games: Sequence[Game], file: Path) -> None:
    """Write the picture as PNG. Raises `OSError`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.5), layout="constrained")
    fewest, most = run.seats
    seats = str(fewest) if fewest == most else f"{fewest} to {most}"
    figure.suptitle(f"{run.rules.name}, {seats} seats, {len(games)} games")
    left, right = figure.subplots(1, 2)
    _win_rates(left, games)
    _scores(right, games)
    figure.savefig(file, format="png", dpi=_DPI)


def _win_rates(axes: Axes, games: Sequence[Game]) -> None:
    bots = summarise(games).bots
    rates = [100 * bot.wins.won.value for bot in bots]
    below = [100 * (bot.wins.won.value - bot.wins.won.low) for bot in bots]
    above = [100 * (bot.wins.won.high - bot.wins.won.value) for bot in bots]
    places = range(len(bots))
    axes.bar(places, rates, width=0.5, yerr=[below, above], capsize=6)
    for place, bot in zip(places, bots, strict=True):
        axes.hlines(100 * bot.wins.even, place - 0.35, place + 0.35, colors="black", linestyles="dashed")
    axes.set_xticks(places, [bot.bot.value for bot in bots])
    axes.set_ylim(0, 100)
    axes.set_ylabel("games won, %")
    axes.set_title(f"Wins, {LEVEL:.0%} intervals; dashed: if all played alike", fontsize="medium")


def _scores(axes: Axes, games: Sequence[Game]) -> None:
    kinds = [bot.bot for bot in summarise(games).bots]
    scores = [[points_of(game, seats) for game in games if (seats := seats_of(kind, game))] for kind in kinds]
    axes.hist(scores, bins=_BINS, label=[kind.value for kind in kinds], histtype="step")
    axes.set_xlabel("points in a game")
    axes.set_ylabel("games")
    axes.set_title("Scores", fontsize="medium")
    axes.legend()
