"""How a game moves on: who may act, whose turn is next, a draw, the end. Shared by tile games and cards.

Source: docs/rules.md, sections 2.7 and 2.8; docs/deal-entries.md, section 5.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from engine.errors import Fault, IllegalMove
from engine.state import Call, CallName, CardTurn, EndedBy, Phase, PublicState, Seat, SeatState, Slot
from engine.tiles import TileId

GAME_OVER = Fault("GAME-OVER", "The game is over.")
CALL_OPEN = Fault("CALL-OPEN", "Tiles are being dealt, please wait a moment.")
PAUSED = Fault("PAUSED", "The game is paused.")
NOT_YOUR_TURN = Fault("NOT-YOUR-TURN", "It is not your turn.")
TURN_OVER = Fault("ES-TURN-OVER", "Your turn is over: you have thrown your card.")
NO_PENALTY = Fault("NO-PENALTY", "In this game an illegal table costs nothing: put it right, or draw one.")


def is_seat(state: PublicState, seat: int) -> bool:
    """Whether there is such a seat at the table."""
    return 0 <= seat < len(state.seats)


def actor_faults(state: PublicState, seat: Seat) -> tuple[Fault, ...]:
    """Why the seat may do nothing now; empty if it is to act."""
    if state.phase in (Phase.FINAL, Phase.OVER):
        return (GAME_OVER,)
    if state.call is not None or state.phase is not Phase.PLAY:
        return (CALL_OPEN,)
    if state.paused is not None:
        return (PAUSED,)
    if seat == state.turn:
        return ()
    if state.rules.discards and state.turn_number and is_seat(state, seat) and seat_after(state, seat) == state.turn:
        return (TURN_OVER,)
    return (NOT_YOUR_TURN,)


def require_actor(state: PublicState, seat: Seat) -> None:
    """Raises `IllegalMove` unless the seat is to act."""
    wrong = actor_faults(state, seat)
    if wrong:
        raise IllegalMove(wrong)


def seat_after(state: PublicState, seat: Seat) -> Seat:
    """The next seat clockwise that is still in the game; `seat` itself if it is the only one."""
    count = len(state.seats)
    others = (Seat((seat + step) % count) for step in range(1, count + 1))
    return next((other for other in others if state.seats[other].in_game), seat)


def next_turn(state: PublicState) -> PublicState:
    """The turn of the next seat begins."""
    return replace(
        state, turn=seat_after(state, state.turn), turn_number=state.turn_number + 1, card_turn=CardTurn(), call=None
    )


def drawing(state: PublicState, seat: Seat, count: int, *, laid: bool = False) -> PublicState:
    """A tile game's turn ends with a draw of `count` tiles, fewer if fewer are left. Without any, it just ends.

    `laid`: the seat has laid tiles in this turn, so the turn is no pass even if the stock is empty.
    """
    slots, stock = state.stock.take(count)
    if slots:
        return replace(state, stock=stock, passes=0, call=Call(CallName.DRAW, seat, slots))
    return next_turn(state) if laid or state.stock.left else laid_nothing(state)


def laid_nothing(state: PublicState) -> PublicState:
    """A tile game's turn ends with nothing laid and nothing drawn; after all seats in a row the game is blocked."""
    passes = state.passes + 1
    if passes >= sum(seat.in_game for seat in state.seats):
        return finished(replace(state, passes=passes), EndedBy.BLOCKED, None)
    return next_turn(replace(state, passes=passes))


def finished(state: PublicState, ended_by: EndedBy, out: Seat | None) -> PublicState:
    """The game has ended; the racks are to be opened."""
    turn_number = state.turn_number + 1
    call = Call(CallName.FINAL)
    return replace(state, phase=Phase.FINAL, turn_number=turn_number, call=call, ended_by=ended_by, out=out)


def with_seat(state: PublicState, seat: Seat, changed: SeatState) -> PublicState:
    """The state with one seat changed."""
    return replace(state, seats=(*state.seats[:seat], changed, *state.seats[seat + 1 :]))


def with_known(state: PublicState, proven: Iterable[tuple[Slot, TileId]]) -> PublicState:
    """The state in which these slots are proven too."""
    return replace(state, known=tuple(sorted({**state.known_tiles(), **dict(proven)}.items())))


def to_rack(state: PublicState, seat: Seat, slots: tuple[Slot, ...]) -> PublicState:
    """The state with slots added to a rack."""
    own = state.seats[seat]
    return with_seat(state, seat, replace(own, rack=own.rack + slots))
