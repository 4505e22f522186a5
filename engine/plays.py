"""Plays as they come in: tile ids and slots that must exist and belong together, and what a play leaves behind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from engine.actions import Play
from engine.board import tiles_on
from engine.errors import Fault
from engine.faces import deck_codes, text_of, texts_of
from engine.flow import is_seat, with_known, with_seat
from engine.melds import Meld
from engine.state import MeldKind, PublicState, TableMeld
from engine.tiles import TileId


def malformed(state: PublicState, play: Play) -> tuple[Fault, ...]:
    """What no honest page produces: tiles that do not exist or lie twice, slots of others. Nothing hidden is named."""
    size = len(state.faces)
    on_board = tiles_on(play.board)
    named = [*on_board, *tiles_on(play.opening), *(item.tile for item in play.exchanges)]
    named += [tile for _slot, tile in play.laid]
    if not all(0 <= tile < size for tile in named):
        return (Fault("MALFORMED", "There is no such tile."),)
    if len(set(on_board)) < len(on_board):
        twice = sorted({tile for tile in on_board if on_board.count(tile) > 1})
        return (_not_held(state, twice, "lies in two places at once"),)
    slots = [slot for slot, _tile in play.laid]
    tiles = [tile for _slot, tile in play.laid]
    if len(set(slots)) < len(slots) or len(set(tiles)) < len(tiles) or not set(tiles) <= set(on_board):
        return (Fault("MALFORMED", "The laid tiles do not match the table."),)
    foreign = [tile for slot, tile in play.laid if not holds(state, play, slot_index=slots.index(slot))]
    return (_not_held(state, foreign, "is not on your rack"),) if foreign else ()


def holds(state: PublicState, play: Play, slot_index: int) -> bool:
    """Whether the rack may hold what the play says of a laid slot. A hidden slot may be anything not yet public."""
    slot, tile = play.laid[slot_index]
    known = state.known_tiles()
    if slot not in state.seats[play.seat].rack:
        return False
    return known[slot] == tile if slot in known else tile not in known.values()


def _not_held(state: PublicState, tiles: Sequence[TileId], what: str) -> Fault:
    codes = deck_codes(state.rules.deck, state.rules.jokers)
    shown = bytes([codes[tile] for tile in tiles])
    code = "ES-NOT-HELD" if state.rules.discards else "TILE-NOT-HELD"
    return Fault(code, f"{text_of(shown)} {what}.", (), texts_of(shown))


def empties_rack(state: PublicState, play: Play) -> bool:
    """Whether nothing is left on the seat's rack after the play."""
    return is_seat(state, play.seat) and len(play.laid) == len(state.seats[play.seat].rack)


def is_untouched(state: PublicState, draft: Play) -> bool:
    """Whether nothing was laid and every meld lies as it lay when the turn began, the order within a group aside."""
    groups = {frozenset(meld.tiles) for meld in state.board if meld.kind is MeldKind.GROUP}

    def lying(board: Iterable[TableMeld]) -> list[tuple[TileId, ...]]:
        melds = (tuple(meld.tiles) for meld in board if meld.tiles)
        return sorted(tuple(sorted(tiles)) if frozenset(tiles) in groups else tiles for tiles in melds)

    return not draft.laid and lying(draft.board) == lying(state.board)


def laid_down(state: PublicState, play: Play, melds: Sequence[Meld | None]) -> PublicState:
    """The state with the laid tiles off the rack and the board as the play leaves it, each meld's kind resolved."""
    gone = {slot for slot, _tile in play.laid}
    seat = state.seats[play.seat]
    rack = tuple(slot for slot in seat.rack if slot not in gone)
    board = []
    for table_meld, meld in zip(play.board, melds, strict=True):
        assert meld is not None, "only a legal board is committed"
        board.append(table_meld if table_meld.kind is meld.kind else TableMeld(table_meld.tiles, meld.kind))
    laid = (*seat.laid, *(tile for _slot, tile in play.laid)) if state.rules.discards else ()
    state = with_seat(state, play.seat, replace(seat, rack=rack, opened=True, laid=laid))
    return with_known(replace(state, board=tuple(board), passes=0), play.laid)
