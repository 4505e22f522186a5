"""What a bot looks at in a tile game, on faces: what is public, and the own rack. Nothing else can be asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.board import Layout, layout_of
from engine.faces import deck_codes
from engine.rulesets import RuleSet
from engine.state import PublicState, Seat, Slot
from engine.tiles import TileId


@dataclass(frozen=True, slots=True)
class Situation:
    """A seat that is to act. `others`: how many tiles the other seats hold that are in the game, next one first."""

    rules: RuleSet
    board: Layout
    rack: bytes  # ascending
    opened: bool
    others: tuple[int, ...]
    pool: int  # tiles left in the stock

    @property
    def minimum(self) -> int:
        """The points that an opening needs now, 0 once opened."""
        return 0 if self.opened else self.rules.opening_min


def situation(state: PublicState, seat: Seat, tiles: Mapping[Slot, TileId]) -> Situation:
    """The situation of the seat whose turn it is; `tiles` are those of its whole rack."""
    codes = deck_codes(state.rules.deck, state.rules.jokers)
    others = (*state.seats[seat + 1 :], *state.seats[:seat])
    return Situation(
        rules=state.rules,
        board=layout_of(state.board, codes),
        rack=bytes(sorted(codes[tile] for tile in tiles.values())),
        opened=state.seats[seat].opened,
        others=tuple(len(other.rack) for other in others if other.in_game),
        pool=state.stock.left,
    )
