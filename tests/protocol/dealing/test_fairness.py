"""The order of a deck is even as soon as one shuffler is honest: each tile is at each place equally often.

Pitfall 22. The statistic of n decks of N cards is X = (N - 1)/N * sum (observed - n/N)^2 / (n/N) over all N^2 pairs of
tile and place. For even orders it is nearly chi-square with (N - 1)^2 degrees of freedom; the factor is there because
each tile is at one place in each deck. An order is called uneven above the 99.9 % point. All entropy has a fixed seed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from functools import cache

import pytest

from protocol.dealing.group import Secret, encode_scalar, subtract, tile_points
from protocol.dealing.proofs import Card
from protocol.dealing.shuffle import Deck, first_deck, prepare, shuffled
from protocol.dealing.transcript import Nonces

DEALS = 2000
CARDS = 6
REAL_CARDS = 106

KEY = Secret.from_number(123456789)
PK = KEY.times_base()
TILES = tile_points("tiles", 2)[:CARDS]

Shuffler = Callable[[Deck], Deck]


def critical(cards: int) -> float:
    """The 99.9 % point of chi-square with (cards - 1)^2 degrees of freedom (Wilson and Hilferty)."""
    degrees = (cards - 1) ** 2
    return float(degrees * (1 - 2 / (9 * degrees) + 3.0902 * math.sqrt(2 / (9 * degrees))) ** 3)


def statistic(orders: Sequence[Sequence[int]]) -> float:
    """X of decks, each given as its tiles' numbers in order."""
    cards = len(orders[0])
    counts = [[0] * cards for _ in range(cards)]
    for order in orders:
        for place, tile in enumerate(order):
            counts[tile][place] += 1
    expected = len(orders) / cards
    squares = sum((count - expected) ** 2 for row in counts for count in row)
    return (cards - 1) / cards * squares / expected


@cache
def tile_in(card: Card) -> int:
    """The number of the tile in a card, opened with everybody's key."""
    return TILES.index(subtract(card.b, KEY.times(card.a)))


def honest(seed: int) -> Shuffler:
    """A shuffler as the program is, with a random source of its own."""
    entropy = random.Random(seed).randbytes

    def shuffle(deck: Deck) -> Deck:
        return shuffled(deck, prepare(PK, len(deck), Nonces(encode_scalar(seed), entropy(32), b"fairness")))

    return shuffle


def idle(deck: Deck) -> Deck:
    """A shuffler that leaves every card where it was."""
    return deck


def biased() -> Shuffler:
    """A shuffler that swaps each card with any other: it looks well mixed, but n^n ways do not fall evenly on n!."""
    rng = random.Random(5)

    def shuffle(deck: Deck) -> Deck:
        cards = list(deck)
        for place in range(len(cards)):
            other = rng.randrange(len(cards))
            cards[place], cards[other] = cards[other], cards[place]
        return tuple(cards)

    return shuffle


def statistics_after(*shufflers: Shuffler) -> list[float]:
    """X of `DEALS` decks after each of the shufflers, who have them in turn."""
    orders: list[list[list[int]]] = [[] for _ in shufflers]
    for _ in range(DEALS):
        deck = first_deck(PK, TILES)
        for shuffle, seen in zip(shufflers, orders, strict=True):
            deck = shuffle(deck)
            seen.append([tile_in(card) for card in deck])
    return [statistic(seen) for seen in orders]


@pytest.mark.parametrize(("cards", "table"), [(6, 52.62), (8, 85.35), (11, 149.45)])
def test_the_critical_values_are_those_of_the_tables(cards: int, table: float) -> None:
    assert critical(cards) == pytest.approx(table, rel=0.003)


def test_one_honest_shuffler_makes_decks_even_and_no_other_does() -> None:
    """Also when those before did nothing, or nothing good. The critical value for 6 cards is 52.7."""
    by_biased, by_idle, by_honest, by_all = statistics_after(biased(), idle, honest(1), honest(2))
    assert by_biased == by_idle > 2 * critical(CARDS)
    assert by_honest < critical(CARDS)
    assert by_all < critical(CARDS)


def test_orders_of_a_whole_deck_are_even() -> None:
    """All 106 tiles; each order by its own fresh bytes, as each shuffle has it. The critical value is 11 490."""
    entropy = random.Random(4).randbytes
    orders = [Nonces(encode_scalar(7), entropy(32), b"fairness").permutation(REAL_CARDS) for _ in range(DEALS)]
    assert statistic(orders) < critical(REAL_CARDS)


def test_one_wrong_bound_in_the_choice_of_a_whole_deck_is_found_out() -> None:
    """Sattolo's cycles, the usual slip: no card stays where it was."""
    rng = random.Random(6)
    orders = []
    for _ in range(DEALS):
        order = list(range(REAL_CARDS))
        for last in range(REAL_CARDS - 1, 0, -1):
            pick = rng.randrange(last)
            order[last], order[pick] = order[pick], order[last]
        orders.append(order)
    assert statistic(orders) > critical(REAL_CARDS)
