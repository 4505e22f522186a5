"""Seats that go, and the re-deal after them: a removal, a leave, the new stock.

Source: docs/deal-entries.md, section 5, items 9 and 10, and section 6.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from engine import dealt
from engine.actions import DrawDealt, RacksDealt, Remove
from engine.board import tiles_on
from engine.errors import IllegalMove, illegal
from engine.flow import CALL_OPEN, finished, is_seat, next_turn, seat_after, with_seat
from engine.series import series_over
from engine.state import Call, CallName, EndedBy, PendingDraw, Phase, PublicState, Seat, Stock
from engine.tiles import TileId


def unplaced(state: PublicState) -> tuple[TileId, ...]:
    """U, the tiles of a re-deal: those that lie at no public place of a seat in the game or of the table, ascending."""
    known = state.known_tiles()
    racks = (slot for own in state.seats if own.in_game for slot in own.rack)
    placed = {known[slot] for slot in (*state.discard, *state.stock.open, *racks) if slot in known}
    placed.update(tiles_on(state.board))
    return tuple(TileId(tile) for tile in range(len(state.faces)) if tile not in placed)


def pool_size(state: PublicState) -> int:
    """How many hidden tiles the new stock of a re-deal has: those of U that are on no rack."""
    racks = sum(len(state.hidden_slots(Seat(seat))) for seat, own in enumerate(state.seats) if own.in_game)
    return len(unplaced(state)) - racks


def remove(state: PublicState, action: Remove) -> PublicState:
    """The seats are removed, and the open call is closed or void."""
    seats, closing = action.seats, action.closing
    _require_going(state, seats, staying=2)
    state = replace(state, paused=None)
    match closing:
        case RacksDealt(face_up):
            return _gone(dealt.racks_dealt(state, face_up), seats)
        case DrawDealt():
            return _gone(dealt.draw_dealt(state), seats)
        case None:
            return _gone(state, seats)


def leave(state: PublicState, seat: Seat) -> PublicState:
    """The seat leaves in good order. Who is left alone in a running game has won it."""
    if state.call is not None:
        raise IllegalMove((CALL_OPEN,))
    _require_going(state, (seat,), staying=1)
    state = replace(state, paused=None)
    if state.phase is Phase.PLAY and sum(own.in_game for own in state.seats) == 2:
        own = replace(state.seats[seat], in_game=False, lost=0)  # gives nothing back: its rack is opened and counts
        return finished(with_seat(state, seat, own), EndedBy.LAST_SEAT, None)
    return _gone(state, (seat,))


def redealt(state: PublicState, pool: int) -> PublicState:
    """The new stock is there. A void draw is called again; what it called went back, so there is enough for it."""
    call = dealt.require_call(state, CallName.REDEAL)
    if pool != pool_size(state):
        raise illegal("WRONG-POOL", "The new stock does not have as many tiles as there are left.")
    state = replace(state, stock=replace(state.stock, size=pool), call=None)
    if call.then is None:
        return state
    slots, stock = state.stock.take(call.then.count)
    return replace(state, stock=stock, call=Call(CallName.DRAW, call.then.seat, slots, call.then.ends_turn))


def _require_going(state: PublicState, seats: tuple[Seat, ...], staying: int) -> None:
    """Raises `IllegalMove` unless the seats are in the game, in order, and enough stay."""
    if state.result is not None and series_over(state):
        raise illegal("SERIES-OVER", "The series is over.")
    inside = all(is_seat(state, seat) and state.seats[seat].in_game for seat in seats)
    if not seats or list(seats) != sorted(set(seats)) or not inside:
        raise illegal("WRONG-SEATS", "These are not players of this game, each once and in order.")
    if sum(own.in_game for own in state.seats) - len(seats) < staying:
        raise illegal("TOO-FEW-STAY", "Too few players would be left at the table.")


def _gone(state: PublicState, seats: tuple[Seat, ...]) -> PublicState:
    """The seats go and nothing more is made of the call that is open: the table of section 6."""
    match state.phase:
        case Phase.START:
            return _started_anew(_out(state, seats))
        case Phase.DEAL:  # they may have seen their racks
            racks, _stock = dealt.first_racks(state)
            for seat in seats:
                state = with_seat(state, seat, replace(state.seats[seat], lost=len(racks[seat])))
            return _started_anew(_out(state, seats))
        case Phase.PLAY:
            return _redeal(state, seats)
        case Phase.FINAL | Phase.OVER:
            return _out(state, seats)


def _out(state: PublicState, seats: Iterable[Seat]) -> PublicState:
    for seat in seats:
        state = with_seat(state, seat, replace(state.seats[seat], in_game=False))
    return state


def _started_anew(state: PublicState) -> PublicState:
    """The game begins again among those who stay: in the first of a series with a new lot, else with the next seat."""
    starter = state.starter if state.game else None
    if starter is not None and not state.seats[starter].in_game:
        starter = seat_after(state, starter)
    return replace(state, phase=Phase.START, stock=Stock(0, 0, 0), starter=starter, call=Call(CallName.START))


def _redeal(state: PublicState, seats: tuple[Seat, ...]) -> PublicState:
    """What the seats held goes back, and all tiles that are not public are mixed anew. So is an attempt at that."""
    then = _void_draw(state.call)
    given = {slot for seat in seats for slot in state.seats[seat].rack}
    for seat in seats:
        own = state.seats[seat]
        state = with_seat(state, seat, replace(own, rack=(), lost=len(own.rack)))
    state = replace(_out(state, seats), passes=0, known=tuple(pair for pair in state.known if pair[0] not in given))
    if state.turn in seats:  # nobody else draws
        state, then = next_turn(state), None
    stock = Stock(state.stock.epoch + 1, 0, 0, state.stock.open)
    return replace(state, stock=stock, call=Call(CallName.REDEAL, then=then))


def _void_draw(call: Call | None) -> PendingDraw | None:
    """The draw that a removal leaves to be made again."""
    if call is None or call.seat is None:
        return None if call is None else call.then
    return PendingDraw(call.seat, len(call.slots), call.ends_turn)
