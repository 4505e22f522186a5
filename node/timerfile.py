"""The file of the stand-alone timer: the game, the series and where they stand, whole after a power cut."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from display.timerstate import Record, Setup, TimerGame, from_plain, to_plain
from display.views import ScoreLine, StandingsView
from engine.options import BadOption
from engine.options import from_plain as rules_from_plain
from engine.options import to_plain as rules_to_plain
from engine.rulesets import RuleSet
from engine.series import standing
from engine.state import EndedBy, GameResult, Seat
from node.files import write_whole

VERSION: Final = 1


def standings_of(setup: Setup) -> Callable[[Sequence[TimerGame]], StandingsView]:
    """How a series of this setup stands. One that the rules take for a single game goes on as long as it is played."""
    rules = setup.rules
    endless = rules.rounds == 1 and not rules.target

    def of(games: Sequence[TimerGame]) -> StandingsView:
        results = [
            GameResult(
                EndedBy.BLOCKED if game.out is None else EndedBy.OUT,
                game.scores,
                tuple(map(Seat, game.winners)),
                None if game.out is None else Seat(game.out),
            )
            for game in games
        ]
        stands = standing(rules, results, len(setup.names))
        ahead = standing(replace(rules, rounds=len(games), target=0), results, len(setup.names)).winners
        totals = tuple(ScoreLine(setup.names[seat], stands.totals[seat]) for seat in stands.standings)
        return StandingsView(len(games), totals, max(1, len(ahead)), stands.over and not endless)

    return of


class StoredError(Exception):
    """The file holds no timer's game; the text says why."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What the file holds."""

    names: tuple[str, ...]
    rules: RuleSet
    record: Record

    def fits(self, setup: Setup) -> bool:
        """Whether a game of this setup can go on from here; its times may have changed."""
        return self.names == setup.names and replace(self.rules, turn_seconds=0) == replace(setup.rules, turn_seconds=0)


def read(path: Path) -> Stored | None:
    """The game in the file, None if there is no file. Raises `StoredError`, `OSError`."""
    try:
        plain = json.loads(path.read_bytes())
        if plain["version"] != VERSION:
            raise StoredError(f"it is of version {plain['version']}, and this program knows {VERSION}")
        names = tuple(map(str, plain["names"]))
        return Stored(names, rules_from_plain(plain["rules"]), from_plain(plain["record"], len(names)))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, BadOption) as error:
        raise StoredError(str(error)) from error


def write(path: Path, setup: Setup, record: Record) -> None:
    """Returns when the game is on the disk; a power cut meanwhile leaves what was there before. Raises `OSError`."""
    series = record.position.games
    stands = standings_of(setup)(series) if series else None
    plain: dict[str, Any] = {
        "version": VERSION,
        "names": list(setup.names),
        "rules": rules_to_plain(setup.rules),
        "standings": [{"name": line.name, "points": line.points} for line in stands.totals] if stands else [],
        "over": stands is not None and stands.over,
        "record": to_plain(record),
    }
    write_whole(path, json.dumps(plain, ensure_ascii=False))
