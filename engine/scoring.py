"""What a game scores. Source: docs/rules.md, sections 2.8, 2.9 and 3.4."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from engine.rulesets import RuleSet
from engine.tiles import Tile

_JACK: Final = 11


@dataclass(frozen=True, slots=True)
class GameScore:
    """Points by seat, and the seats that won: several only if they share the win."""

    scores: tuple[int, ...]
    winners: tuple[int, ...]


def tile_points(rules: RuleSet, tile: Tile) -> int:
    """What a tile costs on a rack (`es`: what a card is worth anywhere)."""
    if tile.is_joker:
        return rules.joker_penalty
    if rules.deck == "cards" and tile.number == 1:
        return rules.ace_points
    if rules.court_points and tile.number >= _JACK:
        return rules.court_points
    return tile.number


def rack_points(rules: RuleSet, tiles: Iterable[Tile]) -> int:
    """The sum of a rack."""
    return sum(tile_points(rules, tile) for tile in tiles)


def score_out(rules: RuleSet, racks: Sequence[Sequence[Tile]], winner: int) -> GameScore:
    """A tile game that `winner` has won: the others lose the sum of their racks, the winner gets all of it."""
    return settle_out([rack_points(rules, rack) for rack in racks], winner)


def settle_out(totals: Sequence[int], winner: int) -> GameScore:
    """`score_out` of racks that somebody has added up."""
    losses = [0 if seat == winner else total for seat, total in enumerate(totals)]
    scores = tuple(sum(losses) if seat == winner else -loss for seat, loss in enumerate(losses))
    return GameScore(scores, (winner,))


def score_blocked(
    rules: RuleSet, racks: Sequence[Sequence[Tile]], contenders: Collection[int] | None = None
) -> GameScore:
    """A tile game in which nobody could go on: the lowest rack of the contenders (None: all seats) wins.

    The others lose the difference to it, the winner gets all of it. Equal lowest totals: fewer tiles; still equal: they
    share the win and score nothing. No other seat wins, not even with a lower rack; that is no loss then.
    Source: docs/rules.md, section 2.8.
    """
    return settle_blocked([rack_points(rules, rack) for rack in racks], [len(rack) for rack in racks], contenders)


def settle_blocked(
    totals: Sequence[int], counts: Sequence[int], contenders: Collection[int] | None = None
) -> GameScore:
    """`score_blocked` of racks of which only points and numbers of tiles are known."""
    able = range(len(totals)) if contenders is None else contenders
    lowest, fewest = min((totals[seat], counts[seat]) for seat in able)
    winners = tuple(seat for seat in able if (totals[seat], counts[seat]) == (lowest, fewest))
    losses = [max(0, total - lowest) for total in totals]
    gain = sum(losses) if len(winners) == 1 else 0
    return GameScore(tuple(gain if seat in winners else -loss for seat, loss in enumerate(losses)), winners)


def score_cards(
    rules: RuleSet,
    laid: Sequence[Sequence[Tile]],
    hands: Sequence[Sequence[Tile]],
    out: int | None,
    contenders: Collection[int] | None = None,
) -> GameScore:
    """A game of `es`: what each player laid, wherever it lies, minus the own hand; a bonus for the one who went out.

    Most points of the contenders (None: all seats) win. Source: docs/rules.md, section 3.4.
    """
    return settle_cards(
        rules,
        [rack_points(rules, cards) for cards in laid],
        [rack_points(rules, hand) for hand in hands],
        out,
        contenders,
    )


def settle_cards(
    rules: RuleSet,
    laid: Sequence[int],
    hands: Sequence[int],
    out: int | None,
    contenders: Collection[int] | None = None,
) -> GameScore:
    """`score_cards` of cards that somebody has added up."""
    scores = tuple(laid[seat] - hands[seat] + (rules.out_bonus if seat == out else 0) for seat in range(len(laid)))
    able = range(len(laid)) if contenders is None else contenders
    most = max(scores[seat] for seat in able)
    return GameScore(scores, tuple(seat for seat in able if scores[seat] == most))


def dearest(rules: RuleSet, tiles: Iterable[Tile], count: int) -> tuple[Tile, ...]:
    """The `count` tiles that cost most: what a rack that was not opened is taken to hold."""
    return tuple(sorted(tiles, key=lambda tile: -tile_points(rules, tile))[:count])
