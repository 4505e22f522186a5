"""Actions: what can happen in a game. A seat's own, the clock's, the table's, and the dealer's closing of a call.

The dealer's actions carry only what became public. How it was proven is none of the engine's business.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from engine.state import Seat, Slot, TableMeld
from engine.tiles import TileId


class DrawReason(Enum):
    NONE = "none"  # cannot or will not lay: one tile
    ILLEGAL = "illegal"  # `fi`: the illegal end of turn was taken back, costs `illegal_draw` tiles


@dataclass(frozen=True, slots=True)
class Exchange:
    """`no`: an announced exchange of a joker on the table.

    The joker at `position` of meld `meld` of the turn start board gives way to `tile` from the rack.
    """

    meld: int
    position: int
    tile: TileId


@dataclass(frozen=True, slots=True)
class Play:
    """The board as the seat leaves it. `laid` are the (slot, tile) pairs that left the rack.

    `opening` are the melds laid first as the opening; empty = all melds of `board` made of own tiles only.
    `time_up`: sent by the seat's own node because its time ran out (`fi`: costs a tile).
    """

    seat: Seat
    board: tuple[TableMeld, ...]
    laid: tuple[tuple[Slot, TileId], ...]
    opening: tuple[TableMeld, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    time_up: bool = False


@dataclass(frozen=True, slots=True)
class DeclareRummikub:
    """The Rummikub button: ends the turn with `play` and calls the win."""

    play: Play

    @property
    def seat(self) -> Seat:
        return self.play.seat


@dataclass(frozen=True, slots=True)
class Draw:
    """The seat draws. Refused while the stock is empty (`es`: then the discard pile is turned over first)."""

    seat: Seat
    reason: DrawReason = DrawReason.NONE


@dataclass(frozen=True, slots=True)
class Pass:
    """The seat passes; only with an empty stock (`es`: only if its last card is the one it may not throw back)."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class TakeDiscard:
    """`es`: the seat takes the top card of the discard pile."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class Discard:
    """`es`: the seat throws a card, which ends its turn."""

    seat: Seat
    slot: Slot
    tile: TileId


@dataclass(frozen=True, slots=True)
class Timeout:
    """The clock of the seat whose turn it is has run out: back to the turn start board, `timeout_draw` tiles."""


@dataclass(frozen=True, slots=True)
class NextGame:
    """The next game of the series, number `game` from 0, among `seats` in seat order; empty = all still in the game."""

    game: int
    seats: tuple[Seat, ...] = ()


@dataclass(frozen=True, slots=True)
class Leave:
    """The seat leaves in good order: in its own or another's turn, or between two games; never while a call is open."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class Pause:
    """The seat has the game paused, for a minute at most; never while a call is open."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class LongPause:
    """All agree that the pause lasts until somebody ends it."""


@dataclass(frozen=True, slots=True)
class Resume:
    """The game goes on: the seat wants it, None: the minute is over."""

    seat: Seat | None


@dataclass(frozen=True, slots=True)
class Extend:
    """The seat takes more time for its own turn, once in a game: as much again as a turn has."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class TakeBack:
    """All agree that the turn which has just ended goes on."""


@dataclass(frozen=True, slots=True)
class StartDealt:
    """Closes the call `start`: the deck is shuffled. `starter` is the lot's result in the first game, else None."""

    starter: Seat | None


@dataclass(frozen=True, slots=True)
class RacksDealt:
    """Closes the call `racks`. `face_up` is `es`'s first discard, else None."""

    face_up: TileId | None = None


@dataclass(frozen=True, slots=True)
class DrawDealt:
    """Closes the call `draw`."""


@dataclass(frozen=True, slots=True)
class RacksOpened:
    """Closes the call `final`. `opened` holds (slot, tile) of every rack slot that was opened, in slot order."""

    opened: tuple[tuple[Slot, TileId], ...]


@dataclass(frozen=True, slots=True)
class Redealt:
    """Closes the call `redeal`: the new stock has `pool` hidden tiles."""

    pool: int


@dataclass(frozen=True, slots=True)
class Remove:
    """The seats, in seat order, are removed from the game. At least two stay.

    `closing` is what the named answers of the open call make known; None = it is void, or none was open.
    """

    seats: tuple[Seat, ...]
    closing: RacksDealt | DrawDealt | None = None


SeatAction = Play | DeclareRummikub | Draw | Pass | TakeDiscard | Discard
DealerAction = StartDealt | RacksDealt | DrawDealt | RacksOpened | Redealt
TableAction = NextGame | Leave | Remove | Pause | LongPause | Resume | Extend | TakeBack
Action = SeatAction | TableAction | Timeout | DealerAction
