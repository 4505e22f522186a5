"""Which games a run plays, and playing them: everything about a game follows from the run's options and its seed."""

from __future__ import annotations

import multiprocessing
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from engine.rulesets import RuleSet
from engine.selfplay import Outcome, play
from engine.state import Seat
from engine.strength import Strength
from engine.tiles import TileId
from node.garbage import no_collection

_AT_ONCE: Final = 8  # games that a process takes at a time


@dataclass(frozen=True, slots=True)
class Run:
    """The options that a game depends on besides its seed. `seats`: fewest and most, every size in turn.

    Of several `bots` the first sits down at seat 1, the next beside it and so on in a circle; from seed to seed they
    move on by a seat.
    """

    rules: RuleSet
    seats: tuple[int, int]
    bots: tuple[Strength, ...]

    def seating(self, seed: int) -> tuple[Strength, ...]:
        """The bots of a game, by seat."""
        fewest, most = self.seats
        sizes = most - fewest + 1
        return tuple(self.bots[(seat + seed // sizes) % len(self.bots)] for seat in range(fewest + seed % sizes))


@dataclass(frozen=True, slots=True)
class Game:
    """A game that was played. `bots` by seat."""

    seed: int
    bots: tuple[Strength, ...]
    starter: int
    outcome: Outcome


def play_game(run: Run, seed: int) -> Game:
    """Shuffle, draw lots, and play."""
    bots = run.seating(seed)
    rng = random.Random(seed)  # noqa: S311 - a simulation must be repeatable
    deck = [TileId(tile) for tile in range(len(run.rules.faces))]
    rng.shuffle(deck)
    starter = rng.randrange(len(bots))
    with no_collection():
        outcome = play(run.rules, deck, Seat(starter), bots, seed)
    return Game(seed, bots, starter, outcome)


def play_all(run: Run, seeds: Sequence[int], jobs: int) -> Iterator[Game]:
    """The games of these seeds, in order, by so many processes."""
    if jobs == 1:
        yield from (play_game(run, seed) for seed in seeds)
        return
    with multiprocessing.Pool(jobs) as pool:
        yield from pool.imap(partial(play_game, run), seeds, _AT_ONCE)


def shard(seeds: range, part: int, parts: int) -> range:
    """Part `part`, from 1, of `parts` of about the same size; all parts together are the whole, in order."""
    count = len(seeds)
    return seeds[count * (part - 1) // parts : count * part // parts]
