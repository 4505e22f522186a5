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

from node.mqtt.messages import MAX_GAMES, MAX_SEATS, MAX_UNIX_S, Fields, TableState
from protocol.roster import clean_name

MAX_SERIES: Final = 5000
_MAX_POINTS: Final = 10**13  # more than all that a table can say


@dataclass(frozen=True, slots=True)
class Player:
    """What a player has done at one table: games won, and points."""

    name: str
    bot: bool
    won: int
    points: int


@dataclass(frozen=True, slots=True)
class Series:
    """The finished games of one table. `at`: when the first was told of, in unix seconds."""

    table: str
    name: str
    rules: str
    at: float
    games: int
    players: tuple[Player, ...]


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
    """The finished games of each table; of more than `MAX_SERIES` tables the oldest is forgotten."""

    series: dict[str, Series] = field(default_factory=dict)

    def note(self, state: TableState, unix_s: float) -> bool:
        """Whether that is news: more finished games of its table than were known."""
        known = self.series.get(state.moment.table)
        if len(state.games) <= (0 if known is None else known.games):
            return False
        players = tuple(
            Player(
                seat.name,
                seat.bot,
                sum(place in game.winners for game in state.games),
                sum(game.scores[place] for game in state.games),
            )
            for place, seat in enumerate(state.seats)
        )
        at = min(state.at_unix_s, unix_s) if known is None else known.at
        self.add(Series(state.moment.table, state.name, state.rules, at, len(state.games), players))
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
        for player in series.players:
            tally = tallies.setdefault((player.name.casefold(), player.bot), _Tally(player.name, player.bot))
            tally.add(series, player)
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
    games = sum(series.games for series in in_order)
    return Standings(tuple(rows), games, len(in_order), rules, in_order[0].at if in_order else None)


@dataclass(slots=True)
class _Tally:
    name: str
    bot: bool
    played: int = 0
    won: int = 0
    points: dict[str, int] = field(default_factory=dict)

    def add(self, series: Series, player: Player) -> None:
        self.name = player.name
        self.played += series.games
        self.won += player.won
        self.points[series.rules] = self.points.get(series.rules, 0) + player.points

    def rank(self, rules: tuple[str, ...]) -> tuple[int, Fraction, int]:
        """Sorts who is ahead first; equal for those who share a place."""
        share = Fraction(self.won, self.played)
        return (-self.won, -share, -sum(self.points.values()) if len(rules) == 1 else 0)

    def row(self, place: int | None) -> Row:
        return Row(place, self.name, self.bot, self.played, self.won, self.points)


def from_plain(plain: object) -> Series:
    """Back from `dataclasses.asdict`, out of a file. Raises `MessageError`."""
    fields = Fields(plain)
    name, rules = clean_name(fields.text("name")), clean_name(fields.text("rules"))
    games = fields.whole("games", least=1, most=MAX_GAMES)
    players = tuple(_player(item, games) for item in fields.items("players", MAX_SEATS))
    return Series(fields.table(), name, rules, fields.number("at", MAX_UNIX_S), games, players)


def _player(plain: object, games: int) -> Player:
    fields = Fields(plain)
    points = fields.whole("points", least=-_MAX_POINTS, most=_MAX_POINTS)
    return Player(clean_name(fields.text("name")), fields.flag("bot"), fields.whole("won", most=games), points)
