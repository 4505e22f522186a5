"""The public state of a game: what every machine may know, and its hash.

A rack is a set of slots; a hidden tile is never in here. A slot whose tile was proven (`known`) keeps it: a tile
played, discarded, or taken to a rack afterwards is public until its owner goes and gives it back.
"""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any, Final, NamedTuple, NewType

import msgpack

from engine.rulesets import RuleSet
from engine.tiles import Tile, TileId

Seat = NewType("Seat", int)

HASH_BYTES: Final = 32


class Slot(NamedTuple):
    """A position in the shuffled deck of an epoch. Who owns a slot is public, which tile it is is not."""

    epoch: int
    position: int


class MeldKind(Enum):
    GROUP = "group"
    RUN = "run"


@dataclass(frozen=True, slots=True)
class TableMeld:
    """A meld on the table: tile ids in table order (a run from low to high) and how it is read.

    `kind` is None only in a draft, where the player has not said how it is meant.
    """

    tiles: tuple[TileId, ...]
    kind: MeldKind | None = None


class Phase(Enum):
    START = "start"  # the deck is being shuffled
    DEAL = "deal"  # racks are being dealt
    PLAY = "play"  # `turn` is to act, or a draw for a seat is under way (`call`)
    FINAL = "final"  # the winner is fixed, the remaining racks are being opened
    OVER = "over"  # scored


class CallName(Enum):
    """What an entry makes the seats owe. Source: docs/deal-entries.md, section 3."""

    START = "start"
    RACKS = "racks"
    DRAW = "draw"
    REDEAL = "redeal"
    FINAL = "final"


@dataclass(frozen=True, slots=True)
class PendingDraw:
    """A void draw that is called again after the re-deal: who draws how many tiles, and whether that ends the turn."""

    seat: Seat
    count: int
    ends_turn: bool


@dataclass(frozen=True, slots=True)
class Call:
    """The open call: what the seats owe before anything else can be an entry.

    `seat` and `slots` belong to a draw: who draws which slots, in order. `ends_turn` tells whether the next seat's
    turn begins when the draw is closed. `then` belongs to a re-deal: the draw that follows it.
    """

    name: CallName
    seat: Seat | None = None
    slots: tuple[Slot, ...] = ()
    ends_turn: bool = True
    then: PendingDraw | None = None


@dataclass(frozen=True, slots=True)
class Stock:
    """Undrawn tiles: the open slots first (only `es`), then hidden positions `next` to `size` - 1 of `epoch`."""

    epoch: int
    next: int
    size: int
    open: tuple[Slot, ...] = ()

    @property
    def left(self) -> int:
        return len(self.open) + self.size - self.next

    def take(self, count: int) -> tuple[tuple[Slot, ...], Stock]:
        """The next `count` slots (fewer if fewer are left) and the stock without them."""
        from_open = self.open[:count]
        hidden = min(count - len(from_open), self.size - self.next)
        slots = from_open + tuple(Slot(self.epoch, self.next + i) for i in range(hidden))
        return slots, Stock(self.epoch, self.next + hidden, self.size, self.open[len(from_open) :])


class Paused(Enum):
    """How long a pause lasts; anybody may end it before."""

    MINUTE = "minute"
    LONG = "long"  # until somebody ends it


@dataclass(frozen=True, slots=True)
class Used:
    """What a seat has had in this game of what it may ask for (`requests`)."""

    pauses: int = 0
    extensions: int = 0
    take_backs: int = 0


@dataclass(frozen=True, slots=True)
class SeatState:
    """One seat: its rack as slots in the order they came, whether it has opened, and whether it is still in.

    `lost` is None unless the seat went while the game ran and so has lost it: how many slots it gave back then.
    """

    rack: tuple[Slot, ...] = ()
    opened: bool = False
    in_game: bool = True
    laid: tuple[TileId, ...] = ()  # `es`: cards this seat laid, wherever they lie
    lost: int | None = None
    used: Used = Used()


@dataclass(frozen=True, slots=True)
class CardTurn:
    """`es`: what the seat has done in its turn so far. `taken` is the slot it took from the discard pile."""

    drawn: bool = False
    taken: Slot | None = None
    melds: int = 0  # new melds laid


class EndedBy(Enum):
    OUT = "out"  # a rack was emptied
    BLOCKED = "blocked"  # empty stock, all passed; `es`: the discard pile was turned over too often
    LAST_SEAT = "last-seat"  # everybody else has left


@dataclass(frozen=True, slots=True)
class GameResult:
    """How a game ended. `scores` by seat; `winners` holds several seats only when a blocked game is shared.

    `out` is the seat that emptied its rack, None for any other end.
    """

    ended_by: EndedBy
    scores: tuple[int, ...]
    winners: tuple[Seat, ...]
    out: Seat | None


@dataclass(frozen=True, slots=True)
class PublicState:
    """Everything public about a table's game. Changed only by `rules.apply`, which returns a new one."""

    rules: RuleSet
    game: int  # number of the game in the series, from 0
    phase: Phase
    seats: tuple[SeatState, ...]  # index = Seat
    stock: Stock
    starter: Seat | None = None  # who had the first turn of this game; None until the lot is drawn
    turn: Seat = Seat(0)
    turn_number: int = 0  # turns finished in this game
    board: tuple[TableMeld, ...] = ()
    discard: tuple[Slot, ...] = ()  # `es`: top card last
    known: tuple[tuple[Slot, TileId], ...] = ()  # proven slots in slot order
    passes: int = 0  # passes in a row just now
    card_turn: CardTurn = CardTurn()
    turnovers: int = 0  # `es`: how often the discard pile became the stock
    call: Call | None = None
    ended_by: EndedBy | None = None
    out: Seat | None = None
    result: GameResult | None = None
    results: tuple[GameResult, ...] = field(default=())  # finished games of the series, before this one
    paused: Paused | None = None  # nobody acts, and the turn's clock stands
    undo: PublicState | None = None  # in which the turn before ended, as long as that can be taken back

    @property
    def faces(self) -> tuple[Tile, ...]:
        """The face of every tile, by tile id."""
        return self.rules.faces

    def known_tiles(self) -> dict[Slot, TileId]:
        """The proven tile of every proven slot."""
        return dict(self.known)

    def hidden_slots(self, seat: Seat) -> tuple[Slot, ...]:
        """The slots of a rack whose tiles are not public, in rack order."""
        known = self.known_tiles()
        return tuple(slot for slot in self.seats[seat].rack if slot not in known)


def state_hash(state: PublicState) -> bytes:
    """BLAKE2b-256 over the msgpack of the public state as plain arrays, fields in the order they are declared."""
    packed: bytes = msgpack.packb(_plain_state(state), use_bin_type=True)
    return hashlib.blake2b(packed, digest_size=HASH_BYTES).digest()


def _plain_state(state: PublicState) -> list[Any]:
    return [
        _plain_rules(state.rules),
        state.game,
        state.phase.value,
        [_plain_seat(seat) for seat in state.seats],
        [state.stock.epoch, state.stock.next, state.stock.size, state.stock.open],
        state.starter,
        state.turn,
        state.turn_number,
        [[meld.tiles, None if meld.kind is None else meld.kind.value] for meld in state.board],
        state.discard,
        state.known,
        state.passes,
        [state.card_turn.drawn, state.card_turn.taken, state.card_turn.melds],
        state.turnovers,
        None if state.call is None else _plain_call(state.call),
        None if state.ended_by is None else state.ended_by.value,
        state.out,
        None if state.result is None else _plain_result(state.result),
        [_plain_result(result) for result in state.results],
        None if state.paused is None else state.paused.value,
        None if state.undo is None else state_hash(state.undo),
    ]


def _plain_seat(seat: SeatState) -> list[Any]:
    used = [seat.used.pauses, seat.used.extensions, seat.used.take_backs]
    return [seat.rack, seat.opened, seat.in_game, seat.laid, seat.lost, used]


@lru_cache(maxsize=64)
def _plain_rules(rules: RuleSet) -> list[Any]:
    values = [getattr(rules, item.name) for item in dataclasses.fields(rules)]
    return [value.value if isinstance(value, Enum) else value for value in values]


def _plain_call(call: Call) -> list[Any]:
    then = None if call.then is None else [call.then.seat, call.then.count, call.then.ends_turn]
    return [call.name.value, call.seat, call.slots, call.ends_turn, then]


def _plain_result(result: GameResult) -> list[Any]:
    return [result.ended_by.value, result.scores, result.winners, result.out]
