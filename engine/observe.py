"""`view_for`: what a seat may see of a table. The only road from state to screen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from engine.faces import codes_of
from engine.melds import read
from engine.redeal import pool_size
from engine.scoring import rack_points
from engine.state import CallName, Phase, PublicState, Seat, Slot, TableMeld
from engine.tiles import TileId
from engine.views import MeldView, PlayerView, ResultView, TableView, TileView


def view_for(state: PublicState, names: Sequence[str], seat: Seat | None, rack: Mapping[Slot, TileId]) -> TableView:
    """The table as `seat` sees it; `seat` None: as everybody may see it. `names` by seat.

    `rack` holds the seat's own hidden slots and their tiles; slots that it does not hold are left out.
    """
    known = state.known_tiles()
    own: tuple[Slot, ...] = () if seat is None else state.seats[seat].rack
    own_tiles = [known.get(slot, rack.get(slot)) for slot in own]
    return TableView(
        rules=state.rules.name,
        game=state.game,
        phase=state.phase.value,
        seat=seat,
        turn=state.turn,
        turn_number=state.turn_number,
        players=tuple(_player(state, Seat(index), name) for index, name in enumerate(names)),
        pool=_pool(state),
        board=tuple(_meld(state, meld) for meld in state.board),
        rack=_tiles(state, (tile for tile in own_tiles if tile is not None)),
        discard=_tiles(state, (known[slot] for slot in state.discard)),
        waiting_for=None if state.call is None else state.call.name.value,
        drawing=state.call.seat if state.call is not None and state.call.name is CallName.DRAW else None,
        can_pass=_can_pass(state),
        drawn=state.card_turn.drawn,
        paused=state.paused is not None,
        call_required=state.rules.rummikub_call,
        opening_min=state.rules.opening_min,
        turn_seconds=state.rules.turn_seconds,
        result=_result(state, known),
    )


def _pool(state: PublicState) -> int:
    """Tiles in the pool; while it is dealt anew, as many as it will have."""
    redealing = state.call is not None and state.call.name is CallName.REDEAL
    return pool_size(state) if redealing else state.stock.left


def _can_pass(state: PublicState) -> bool:
    """While a call is open the stock may look empty: in a re-deal it is."""
    return state.phase is Phase.PLAY and state.call is None and not state.stock.left and not state.rules.discards


def total(state: PublicState, seat: Seat) -> int:
    """The seat's points in the series so far, this game included once it is over."""
    games = (*state.results, *(() if state.result is None else (state.result,)))
    return sum(game.scores[seat] for game in games)


def _player(state: PublicState, seat: Seat, name: str) -> PlayerView:
    own = state.seats[seat]
    return PlayerView(seat, name, len(own.rack), own.opened, own.in_game, total(state, seat))


def _tiles(state: PublicState, tiles: Iterable[TileId]) -> tuple[TileView, ...]:
    return tuple(TileView(tile, str(state.faces[tile])) for tile in tiles)


def _meld(state: PublicState, meld: TableMeld) -> MeldView:
    faces = tuple(state.faces[tile] for tile in meld.tiles)
    read_as = read(codes_of(faces), meld.kind)
    assert read_as is not None, "a committed board holds legal melds only"
    stands_for = tuple(tuple(str(face) for face in options) for options in read_as.by_place)
    points = rack_points(state.rules, faces) if state.rules.discards else read_as.points
    return MeldView(read_as.kind.value, _tiles(state, meld.tiles), stands_for, points)


def _result(state: PublicState, known: Mapping[Slot, TileId]) -> ResultView | None:
    result = state.result
    if result is None:
        return None
    racks = tuple(_tiles(state, (known[slot] for slot in seat.rack if slot in known)) for seat in state.seats)
    return ResultView(result.ended_by.value, result.scores, result.winners, result.out, racks)
