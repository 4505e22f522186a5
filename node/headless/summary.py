"""What many games tell: how often each bot and each seat wins, points, lengths.

Each game is one case, so that cases are independent: a bot with several seats at a table wins if one of them does, and
its points are the mean of its seats. A shared win counts for nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from engine.state import EndedBy
from engine.strength import Strength
from node.headless.intervals import Estimate, mean, rate
from node.headless.runs import Game


@dataclass(frozen=True, slots=True)
class Wins:
    """How often somebody won, and how often it would if all at the table played alike."""

    won: Estimate
    even: float


@dataclass(frozen=True, slots=True)
class BotSummary:
    """One kind of bot. `opened_in`: the number of its own turn in which it opened; `unopened`: how often it did not."""

    bot: Strength
    wins: Wins
    points: Estimate
    opened_in: Estimate
    unopened: Estimate


@dataclass(frozen=True, slots=True)
class Summary:
    """All games. `seats` by seat; `first` is who had the first turn."""

    games: int
    turns: Estimate
    blocked: Estimate
    shared: Estimate
    bots: tuple[BotSummary, ...]
    seats: tuple[Wins, ...]
    first: Wins


def summarise(games: Sequence[Game]) -> Summary:
    """The summary of at least one game."""
    outcomes = [game.outcome for game in games]
    kinds = [kind for kind in Strength if any(kind in game.bots for game in games)]
    return Summary(
        games=len(games),
        turns=mean([outcome.turns for outcome in outcomes]),
        blocked=rate(sum(outcome.ended_by is EndedBy.BLOCKED for outcome in outcomes), len(games)),
        shared=rate(sum(len(outcome.winners) > 1 for outcome in outcomes), len(games)),
        bots=tuple(_bot(kind, games) for kind in kinds),
        seats=tuple(
            _wins((game, (seat,)) for game in games if seat < len(game.bots))
            for seat in range(max(len(game.bots) for game in games))
        ),
        first=_wins((game, (game.starter,)) for game in games),
    )


def _bot(kind: Strength, games: Sequence[Game]) -> BotSummary:
    played = [(game, seats) for game in games if (seats := seats_of(kind, game))]
    opened = [[turn for seat in seats if (turn := game.outcome.opened_in[seat])] for game, seats in played]
    return BotSummary(
        bot=kind,
        wins=_wins(played),
        points=mean([points_of(game, seats) for game, seats in played]),
        opened_in=mean([fmean(turns) for turns in opened if turns]),
        unopened=rate(sum(not turns for turns in opened), len(opened)),
    )


def seats_of(kind: Strength, game: Game) -> tuple[int, ...]:
    """The seats that bots of this kind had."""
    return tuple(seat for seat, bot in enumerate(game.bots) if bot is kind)


def points_of(game: Game, seats: Sequence[int]) -> float:
    """The mean score of some seats."""
    return fmean(game.outcome.scores[seat] for seat in seats)


def _wins(cases: Iterable[tuple[Game, Sequence[int]]]) -> Wins:
    """Of games with the seats that count in each."""
    listed = list(cases)
    won = sum(len(game.outcome.winners) == 1 and game.outcome.winners[0] in seats for game, seats in listed)
    return Wins(rate(won, len(listed)), fmean(len(seats) / len(game.bots) for game, seats in listed))
