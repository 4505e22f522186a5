"""Files of results: JSON that can be merged, and CSV. The same games give the same bytes."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from engine.options import from_plain, to_plain
from engine.selfplay import Outcome
from engine.state import EndedBy
from engine.strength import Strength
from node.headless.runs import Game, Run
from node.headless.summary import Summary, summarise

FORMAT: Final = 1
_COLUMNS: Final = (
    "seed",
    "seats",
    "seat",
    "bot",
    "began",
    "opened_in",
    "score",
    "won",
    "shared",
    "ended_by",
    "turns",
)


class BadResults(Exception):  # noqa: N818 - named for what it is about
    """Files that cannot be merged; the text says which and why."""


def as_json(run: Run, games: Sequence[Game]) -> str:
    """The run's options, the summary, and every game on a line of its own."""
    head = {
        "format": FORMAT,
        "rules": to_plain(run.rules),
        "seats": list(run.seats),
        "bots": [bot.value for bot in run.bots],
        "summary": _plain_summary(summarise(games)),
    }
    text = json.dumps(head, indent=2).removesuffix("\n}")
    lines = ",\n".join("    " + json.dumps(_plain_game(game)) for game in games)
    return f'{text},\n  "games": [\n{lines}\n  ]\n}}\n'


def as_csv(games: Sequence[Game]) -> str:
    """A line for each seat of each game, under a line of names."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for game in games:
        outcome = game.outcome
        for seat, bot in enumerate(game.bots):
            winner, shared = seat in outcome.winners, len(outcome.winners) > 1
            writer.writerow(
                (
                    game.seed,
                    len(game.bots),
                    seat + 1,
                    bot.value,
                    int(seat == game.starter),
                    outcome.opened_in[seat],
                    outcome.scores[seat],
                    int(winner and not shared),
                    int(winner and shared),
                    outcome.ended_by.value,
                    outcome.turns,
                )
            )
    return text.getvalue()


def merged(files: Sequence[Path]) -> tuple[Run, list[Game]]:
    """The games of several files of one run, in the order of their seeds. Raises `BadResults`."""
    first: Run | None = None
    games: dict[int, Game] = {}
    for file in files:
        run, some = _read(file)
        if first is not None and run != first:
            raise BadResults(f"{file}: other rules, seats or bots than in {files[0]}")
        first = run
        for game in some:
            if game.seed in games:
                raise BadResults(f"{file}: the game of seed {game.seed} is there twice")
            games[game.seed] = game
    if first is None or not games:
        raise BadResults("there are no games to merge")
    return first, [games[seed] for seed in sorted(games)]


def _read(file: Path) -> tuple[Run, list[Game]]:
    try:
        plain = json.loads(file.read_text(encoding="utf-8"))
        if plain["format"] != FORMAT:
            raise ValueError(f"format {plain['format']}")
        fewest, most = plain["seats"]
        run = Run(from_plain(plain["rules"]), (fewest, most), tuple(Strength(bot) for bot in plain["bots"]))
        return run, [_game_of(game) for game in plain["games"]]
    except OSError as error:
        raise BadResults(f"{file}: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise BadResults(f"{file}: not a file of --engine-only --json ({error})") from error


def _plain_game(game: Game) -> dict[str, Any]:
    outcome = game.outcome
    return {
        "seed": game.seed,
        "bots": [bot.value for bot in game.bots],
        "starter": game.starter,
        **dataclasses.asdict(outcome),
        "ended_by": outcome.ended_by.value,
    }


def _game_of(plain: dict[str, Any]) -> Game:
    outcome = Outcome(
        ended_by=EndedBy(plain["ended_by"]),
        turns=plain["turns"],
        out=plain["out"],
        scores=tuple(plain["scores"]),
        winners=tuple(plain["winners"]),
        opened_in=tuple(plain["opened_in"]),
    )
    return Game(plain["seed"], tuple(Strength(bot) for bot in plain["bots"]), plain["starter"], outcome)


def _plain_summary(summary: Summary) -> Any:
    return _rounded(dataclasses.asdict(summary))


def _rounded(value: Any) -> Any:
    match value:
        case dict():
            return {key: _rounded(item) for key, item in value.items()}
        case list() | tuple():
            return [_rounded(item) for item in value]
        case Strength():
            return value.value
        case float():
            return None if math.isnan(value) else round(value, 6)
        case _:
            return value
