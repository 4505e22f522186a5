"""`play_of`: a solution as a play on tile ids."""

from __future__ import annotations

from collections.abc import Mapping

from engine.actions import Exchange, Play
from engine.board import layout_of
from engine.faces import deck_codes
from engine.solver.opening import solve_opening
from engine.solver.rebuild import meld_key
from engine.solver.solution import Objective, Solution
from engine.state import PublicState, Seat, Slot, TableMeld
from engine.tiles import TileId


def play_of(state: PublicState, seat: Seat, rack: Mapping[Slot, TileId], solution: Solution) -> Play:
    """The solution as a play of `seat`; `rack` holds its hidden slots at least.

    Melds that stay keep their place and their tiles, new ones come after. The solution of `solve_opening` is laid
    beside what lies on the table.
    """
    codes = deck_codes(state.rules.deck, state.rules.jokers)
    tiles = {**rack, **state.known_tiles()}
    laid: list[tuple[Slot, TileId]] = []
    wanted = list(solution.laid)
    for slot in sorted(state.seats[seat].rack):
        if codes[tiles[slot]] in wanted:
            wanted.remove(codes[tiles[slot]])
            laid.append((slot, tiles[slot]))
    assert not wanted, "what was laid is on the rack"
    alone = sum(len(meld) for meld, _kind in solution.board) == len(solution.laid)
    left = list(solution.board)
    board = []
    free: dict[int, list[TileId]] = {}
    for table_meld, (meld, kind) in zip(state.board, layout_of(state.board, codes), strict=True):
        stays = next((new for new in left if meld_key(*new) == meld_key(meld, kind)), None)
        if alone or stays is not None:
            board.append(table_meld)
            if not alone and stays is not None:
                left.remove(stays)
        else:
            for tile in table_meld.tiles:
                free.setdefault(codes[tile], []).append(tile)
    for _slot, tile in laid:
        free.setdefault(codes[tile], []).append(tile)
    board += [TableMeld(tuple(free[code].pop(0) for code in meld), kind) for meld, kind in left]
    given: list[Exchange] = []
    for exchange in solution.exchanges:
        taken = {item.tile for item in given}
        tile = next(tile for _slot, tile in laid if codes[tile] == exchange.tile and tile not in taken)
        given.append(Exchange(exchange.meld, exchange.position, tile))
    return Play(seat, tuple(board), tuple(laid), _opening(state, seat, tuple(laid), codes), tuple(given))


def _opening(
    state: PublicState, seat: Seat, laid: tuple[tuple[Slot, TileId], ...], codes: bytes
) -> tuple[TableMeld, ...]:
    """The melds laid first, of one that had not opened."""
    if state.seats[seat].opened or not state.rules.opening_min:
        return ()
    free: dict[int, list[TileId]] = {}
    for _slot, tile in laid:
        free.setdefault(codes[tile], []).append(tile)
    faces = bytes(codes[tile] for _slot, tile in laid)
    first = solve_opening(state.rules, faces, state.rules.opening_min, Objective.VALUE)
    if first is None:
        return ()
    return tuple(TableMeld(tuple(free[code].pop(0) for code in meld), kind) for meld, kind in first.board)
