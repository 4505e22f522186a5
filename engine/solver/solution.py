"""What the solver is asked for and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from engine.board import Layout
from engine.jokers import FaceExchange

Stop = Callable[[], bool]  # asked every few dozen microseconds; True ends the search


class Objective(Enum):
    """What the best move has the most of."""

    TILES = "tiles"
    VALUE = "value"  # the sum of the numbers laid; a joker counts nothing
    TILES_THEN_VALUE = "tiles-then-value"
    VALUE_THEN_TILES = "value-then-tiles"
    LEAST_DISRUPTION = "least-disruption"  # most tiles, then the most neighbours on the table left together


@dataclass(frozen=True, slots=True)
class Solution:
    """A move: the board as it will be, and what was laid for it.

    `board` holds the melds that stay as they are first, in table order, then those that change. `laid` are the codes
    that come from the rack, ascending. `value` is the sum of their numbers; of an opening what its melds are worth.
    `proven`: no better move exists; else the search was stopped. `exchanges` are those that have to be announced.
    """

    board: Layout
    laid: bytes
    value: int
    proven: bool
    exchanges: tuple[FaceExchange, ...] = ()
