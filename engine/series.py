"""A series of games: totals, when it is over, who is ahead. Source: docs/rules.md, section 2.9 and 3.4."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.rulesets import RuleSet, SeriesTie
from engine.state import GameResult, PublicState, Seat


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a series stands. `totals` by seat; `standings` holds the seats, best first, equals in seat order.

    `winners` is empty until the series is over; several seats share the win.
    """

    totals: tuple[int, ...]
    over: bool
    winners: tuple[Seat, ...]
    standings: tuple[Seat, ...]


def standing(rules: RuleSet, results: Sequence[GameResult], seats: int) -> Standing:
    """The standing after the finished games `results`."""
    totals = tuple(sum(result.scores[seat] for result in results) for seat in range(seats))
    over = bool(results) and (
        0 < rules.rounds <= len(results) or (rules.target > 0 and max(totals, default=0) >= rules.target)
    )
    ranks = [_rank(rules, results, seat, totals[seat]) for seat in range(seats)]
    order = tuple(sorted((Seat(seat) for seat in range(seats)), key=lambda seat: ranks[seat]))
    winners = tuple(seat for seat in order if ranks[seat] == ranks[order[0]]) if over else ()
    return Standing(totals, over, winners, order)


def series_over(state: PublicState) -> bool:
    """Whether no further game follows once this one is scored, which it must be."""
    assert state.result is not None, "the game is scored"
    return standing(state.rules, (*state.results, state.result), len(state.seats)).over


def _rank(rules: RuleSet, results: Sequence[GameResult], seat: int, total: int) -> tuple[int, ...]:
    """Sorts the better seat first; equal for seats that share their place.

    `pt`: equal totals are decided by most Rummikubs, then the largest sum of positive scores, then the first Rummikub.
    """
    if rules.series_tie is SeriesTie.SHARED:
        return (-total,)
    wins = [game for game, result in enumerate(results) if result.out == seat]
    positive = sum(max(0, result.scores[seat]) for result in results)
    first_win = wins[0] if wins else len(results)
    return (-total, -len(wins), -positive, first_win)
