"""The dealer's actions: a call is closed, tiles arrive, the racks are opened and the game is scored.

Source: docs/deal-entries.md, section 5.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

from engine import scoring
from engine.errors import illegal
from engine.flow import is_seat, next_turn, to_rack, with_known
from engine.state import Call, CallName, EndedBy, GameResult, Phase, PublicState, Seat, Slot, Stock
from engine.tiles import Tile, TileId


def start_dealt(state: PublicState, starter: Seat | None) -> PublicState:
    """The deck is shuffled; the lot has named who begins unless that was known."""
    require_call(state, CallName.START)
    if state.starter is None:
        if starter is None or not is_seat(state, starter) or not state.seats[starter].in_game:
            raise illegal("NO-STARTER", "It is not known who begins.")
        state = replace(state, starter=starter)
    elif starter is not None:
        raise illegal("NO-LOT", "Who begins is known already.")
    return replace(state, phase=Phase.DEAL, stock=Stock(0, 0, len(state.faces)), call=Call(CallName.RACKS))


def racks_dealt(state: PublicState, face_up: TileId | None) -> PublicState:
    """Each seat gets the next positions of the deck, in seat order; `es`: the next one begins the discard pile."""
    require_call(state, CallName.RACKS)
    assert state.starter is not None, "the lot comes before the deal"
    if state.rules.discards != (face_up is not None) or not (face_up is None or 0 <= face_up < len(state.faces)):
        raise illegal("WRONG-FACE-UP", "Only a game with a discard pile begins with one open card, and it needs one.")
    racks, stock = first_racks(state)
    seats = tuple(replace(seat, rack=rack) for seat, rack in zip(state.seats, racks, strict=True))
    state = replace(state, phase=Phase.PLAY, seats=seats, stock=stock, turn=state.starter, call=None)
    if face_up is None:
        return state
    discard, stock = stock.take(1)
    return with_known(replace(state, stock=stock, discard=discard), ((discard[0], face_up),))


def first_racks(state: PublicState) -> tuple[tuple[tuple[Slot, ...], ...], Stock]:
    """The slots that each seat gets at the start (none if it is not in the game), and the stock without them."""
    size = state.rules.hand_size(sum(seat.in_game for seat in state.seats))
    racks, stock = [], state.stock
    for seat in state.seats:
        rack, stock = stock.take(size if seat.in_game else 0)
        racks.append(rack)
    return tuple(racks), stock


def draw_dealt(state: PublicState) -> PublicState:
    """The drawn slots are on the rack."""
    call = require_call(state, CallName.DRAW)
    assert call.seat is not None, "a draw is somebody's"
    state = replace(to_rack(state, call.seat, call.slots), call=None)
    return next_turn(state) if call.ends_turn else state


def racks_opened(state: PublicState, opened: tuple[tuple[Slot, TileId], ...]) -> PublicState:
    """The racks are open and the game is scored."""
    require_call(state, CallName.FINAL)
    hidden = {slot for seat in range(len(state.seats)) for slot in state.hidden_slots(Seat(seat))}
    public = set(state.known_tiles().values())
    slots = {slot for slot, _tile in opened}
    tiles = {tile for _slot, tile in opened}
    if len(slots) < len(opened) or not slots <= hidden:
        raise illegal("NOT-A-RACK", "Only tiles that are still on a rack are opened, each once.")
    if len(tiles) < len(opened) or tiles & public or not all(0 <= tile < len(state.faces) for tile in tiles):
        raise illegal("NOT-HIDDEN", "Only tiles that were hidden can be opened, each once.")
    state = with_known(state, opened)
    return replace(state, phase=Phase.OVER, call=None, result=_result(state))


def require_call(state: PublicState, name: CallName) -> Call:
    """The open call. Raises `IllegalMove` if it is another or none."""
    if state.call is None or state.call.name is not name:
        raise illegal("NO-CALL", "Nobody is waiting for tiles to be dealt now.")
    return state.call


def _result(state: PublicState) -> GameResult:
    racks = final_racks(state)
    assert state.ended_by is not None, "the end has a reason"
    if state.rules.discards:
        laid = [[state.faces[tile] for tile in seat.laid] for seat in state.seats]
        score = scoring.score_cards(state.rules, laid, racks, state.out, _contenders(state))
    elif state.ended_by is EndedBy.BLOCKED:
        score = scoring.score_blocked(state.rules, racks, _contenders(state))
    else:
        last = next(seat for seat, own in enumerate(state.seats) if own.in_game)
        score = scoring.score_out(state.rules, racks, last if state.out is None else state.out)
    return GameResult(state.ended_by, score.scores, tuple(Seat(seat) for seat in score.winners), state.out)


def _contenders(state: PublicState) -> tuple[int, ...]:
    """The seats that can have won: they were dealt in, and did not go before the end. Who went after it still can."""
    return tuple(
        seat
        for seat, own in enumerate(state.seats)
        if own.lost is None and (own.in_game or own.rack or seat == state.out)
    )


def final_racks(state: PublicState) -> tuple[tuple[Tile, ...], ...]:
    """By seat, the tiles that count at the end.

    Slots that were not opened, or were given back by a seat that went, count as the dearest tiles still hidden. What
    was given back has been in play since: where too few are hidden, the dearest of the opened racks make up for them.
    Source: docs/rules.md, section 2.10; docs/deal-entries.md, section 5, item 10.
    """
    known = state.known_tiles()
    public = set(known.values())
    hidden = [face for tile, face in enumerate(state.faces) if tile not in public]
    opened = [tuple(state.faces[known[slot]] for slot in seat.rack if slot in known) for seat in state.seats]
    racks = []
    for seat, shown in zip(state.seats, opened, strict=True):
        count = len(seat.rack) - len(shown) + (seat.lost or 0)
        worst = scoring.dearest(state.rules, hidden, count)
        worst += scoring.dearest(state.rules, chain(*opened), count - len(worst))
        racks.append(shown + worst)
    return tuple(racks)
