"""What the stand-alone timer knows, as frozen values, and their plain form for its file."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from engine.rulesets import RuleSet

LARGEST: Final = 999  # points of one rack


class Phase(Enum):
    """What the timer waits for."""

    READY = "ready"  # the first press of a game
    TURN = "turn"  # the only phase in which a clock runs
    PAUSED = "paused"
    TIME_UP = "time-up"  # the player to draw what it costs
    POINTS = "points"  # what is left on the racks
    RESULT = "result"
    STANDINGS = "standings"


@dataclass(frozen=True, slots=True)
class Setup:
    """Who plays, by which rules, with how much time: `turn_s` for each turn, 0 for no limit.

    `bank_s`: what each player has besides in a game, for when the turn is over; `increment_s` is added to it for each
    turn that ended in time. With a bank and no limit of the turn it is a chess clock.
    """

    names: tuple[str, ...]
    rules: RuleSet
    turn_s: float
    bank_s: float = 0.0
    increment_s: float = 0.0

    @property
    def limited(self) -> bool:
        """Whether a turn can end by time."""
        return self.turn_s > 0 or self.bank_s > 0


@dataclass(frozen=True, slots=True)
class TimerGame:
    """A finished game. `scores` by player; `out` is who went out, None where nobody could go on."""

    scores: tuple[int, ...]
    winners: tuple[int, ...]
    out: int | None


@dataclass(frozen=True, slots=True)
class Position:
    """Where the game stands. Players are places in the names, which are in the order of their turns.

    `clock_s`: what is left of the turn, or without a limit, what has gone; `whole_s`: what the turn had. `banks_s` and
    `extended` (the one-off extension is used) by player. `entered`: the points so far, in the order of the questions;
    `number`: those being entered. `games`: those of the series that are over. `cut`: the power was off.
    """

    phase: Phase
    starter: int
    turn: int
    clock_s: float
    whole_s: float
    banks_s: tuple[float, ...]
    extended: tuple[bool, ...]
    out: int | None = None
    entered: tuple[int, ...] = ()
    number: int = 0
    games: tuple[TimerGame, ...] = ()
    cut: bool = False


def new_game(setup: Setup, starter: int, games: tuple[TimerGame, ...] = ()) -> Position:
    """Before the first press of a game."""
    seats = len(setup.names)
    return Position(
        phase=Phase.READY,
        starter=starter,
        turn=starter,
        clock_s=setup.turn_s,
        whole_s=setup.turn_s,
        banks_s=(setup.bank_s,) * seats,
        extended=(False,) * seats,
        games=games,
    )


@dataclass(frozen=True, slots=True)
class Record:
    """All that outlives a power cut. `undo`: positions before the last presses; `past`: earlier series."""

    position: Position
    undo: tuple[Position, ...] = ()
    past: tuple[tuple[TimerGame, ...], ...] = ()


def to_plain(record: Record) -> dict[str, Any]:
    """The record as JSON knows it."""
    return {
        "position": _plain_position(record.position),
        "undo": [_plain_position(position) for position in record.undo],
        "past": [[dataclasses.asdict(game) for game in series] for series in record.past],
    }


def from_plain(plain: Mapping[str, Any], seats: int) -> Record:
    """The record that `to_plain` made, of so many players. ValueError for anything else."""
    try:
        record = Record(
            _position(plain["position"]),
            tuple(map(_position, plain["undo"])),
            tuple(tuple(map(_game, series)) for series in plain["past"]),
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"expected a record of the timer: {error!r}") from error
    if not all(_fits(position, seats) for position in (record.position, *record.undo)):
        raise ValueError(f"expected a record of {seats} players")
    return record


def _plain_position(position: Position) -> dict[str, Any]:
    return dataclasses.asdict(position) | {"phase": position.phase.value}


def _position(plain: Mapping[str, Any]) -> Position:
    values = dict(plain)
    values |= {name: tuple(values[name]) for name in ("banks_s", "extended", "entered")}
    return Position(**values | {"phase": Phase(values["phase"]), "games": tuple(map(_game, values["games"]))})


def _game(plain: Mapping[str, Any]) -> TimerGame:
    return TimerGame(tuple(plain["scores"]), tuple(plain["winners"]), plain["out"])


def _fits(position: Position, seats: int) -> bool:
    lists = (position.banks_s, position.extended, *(game.scores for game in position.games))
    players = [position.starter, position.turn, *(seat for game in position.games for seat in game.winners)]
    players += [seat for seat in (position.out, *(game.out for game in position.games)) if seat is not None]
    points = [*position.entered, position.number, *(score for game in position.games for score in game.scores)]
    return (
        all(len(values) == seats for values in lists)
        and all(type(seat) is int and 0 <= seat < seats for seat in players)
        and all(type(point) is int for point in points)
        and all(type(spent) is bool for spent in (*position.extended, position.cut))
        and all(
            type(time_s) in (int, float) and 0 <= time_s < 1e9
            for time_s in (position.clock_s, position.whole_s, *position.banks_s)
        )
    )
