"""Who is ahead over all tables: finished games by table id, so that the next table of a name takes nothing away.

People are ranked by games won, then by the share of their games that they won, then by points. Points of different
rule sets do not compare: where games by several were played they decide nothing, and equal people share their place.
Bots sit at many tables at once and would win by that alone: they are listed after the people and have no place.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from engine.state import GameResult
from node.mqtt.messages import MAX_GAMES, MAX_SEATS, MAX_UNIX_S, Fields, MessageError, TableState, game_of
from protocol.roster import clean_name

MAX_SERIES: Final = 5000


@dataclass(frozen=True, slots=True)
class Series:
    """The finished games of one table. `players`: names by seat, and whether it is a bot. `at`: last heard, unix s."""

    table: str
    name: str
    rules: str
    at: float
    players: tuple[tuple[str, bool], ...]
    games: tuple[GameResult, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """What one player has done. `place` None: a bot. `points` by rule set."""

    place: int | None
    name: str
    bot: bool
    played: int
    won: int
    points: dict[str, int]


@dataclass(frozen=True, slots=True)
class Standings:
    """Everybody, people first. `since`: the first of these games was told of then, in unix seconds; None without."""

    rows: tuple[Row, ...]
    games: int
    tables: int
    rules: tuple[str, ...]
    since: float | None


@dataclass(slots=True)
class ResultBook:
    """The finished games of each table; of more than `MAX_SERIES` tables the one heard of longest ago is forgotten."""

    series: dict[str, Series] = field(default_factory=dict)

    def note(self, state: TableState, unix_s: float) -> bool:
        """Whether that is news: more finished games of its table than were known."""
        known = self.series.get(state.moment.table)
        if len(state.games) <= (0 if known is None else len(known.games)):
            return False
        at = min(state.at_unix_s, unix_s)
        players = tuple((seat.name, seat.bot) for seat in state.seats)
        self.add(Series(state.moment.table, state.name, state.rules, at, players, state.games))
        return True

    def add(self, series: Series) -> None:
        """Instead of what was known of that table."""
        self.series[series.table] = series
        if len(self.series) > MAX_SERIES:
            del self.series[min(self.series.values(), key=lambda one: one.at).table]


def standings_of(all_series: Iterable[Series]) -> Standings:
    """How everybody stands; a person is a name, small and capital letters alike."""
    in_order = sorted(all_series, key=lambda series: (series.at, series.table))
    tallies: dict[tuple[str, bool], _Tally] = {}
    for series in in_order:
        for seat, (name, bot) in enumerate(series.players):
            tally = tallies.setdefault((name.casefold(), bot), _Tally(name, bot))
            tally.name = name
            tally.add(series, seat)
    rules = tuple(sorted({series.rules for series in in_order}))
    people = [tally for tally in tallies.values() if not tally.bot]
    bots = [tally for tally in tallies.values() if tally.bot]
    rows: list[Row] = []
    before: tuple[Any, ...] | None = None
    place = 0
    for number, tally in enumerate(sorted(people, key=lambda one: (one.rank(rules), one.name.casefold())), 1):
        rank = tally.rank(rules)
        place = place if rank == before else number
        before = rank
        rows.append(tally.row(place))
    rows.extend(tally.row(None) for tally in sorted(bots, key=lambda one: (one.rank(rules), one.name.casefold())))
    games = sum(len(series.games) for series in in_order)
    return Standings(tuple(rows), games, len(in_order), rules, in_order[0].at if in_order else None)


@dataclass(slots=True)
class _Tally:
    name: str
    bot: bool
    played: int = 0
    won: int = 0
    points: dict[str, int] = field(default_factory=dict)

    def add(self, series: Series, seat: int) -> None:
        self.played += len(series.games)
        self.won += sum(seat in game.winners for game in series.games)
        scored = sum(game.scores[seat] for game in series.games)
        self.points[series.rules] = self.points.get(series.rules, 0) + scored

    def rank(self, rules: tuple[str, ...]) -> tuple[int, Fraction, int]:
        """Sorts who is ahead first; equal for those who share a place."""
        share = Fraction(self.won, self.played)
        return (-self.won, -share, -sum(self.points.values()) if len(rules) == 1 else 0)

    def row(self, place: int | None) -> Row:
        return Row(place, self.name, self.bot, self.played, self.won, self.points)


def to_plain(series: Series) -> dict[str, Any]:
    """For a file."""
    return {
        "table": series.table,
        "name": series.name,
        "rules": series.rules,
        "at": series.at,
        "players": [{"name": name, "bot": bot} for name, bot in series.players],
        "games": [
            {"scores": list(game.scores), "winners": list(game.winners), "ended_by": game.ended_by.value}
            for game in series.games
        ],
    }


def from_plain(plain: object) -> Series:
    """Back from a file. Raises `MessageError`."""
    fields = Fields(plain)
    players = tuple(_player(item) for item in fields.items("players", MAX_SEATS))
    games = tuple(game_of(item, len(players)) for item in fields.items("games", MAX_GAMES))
    if not games:
        raise MessageError("expected a game at least")
    name, rules = clean_name(fields.text("name")), clean_name(fields.text("rules"))
    return Series(fields.table(), name, rules, fields.number("at", MAX_UNIX_S), players, games)


def _player(plain: object) -> tuple[str, bool]:
    fields = Fields(plain)
    return clean_name(fields.text("name")), fields.flag("bot")
