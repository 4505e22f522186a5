"""`no`, time up: the cards laid this turn that are in no legal set go back to the hand.

Source: docs/rules.md, section 2.7.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from engine.actions import Play
from engine.board import layout_of, read_layout
from engine.faces import deck_codes
from engine.state import PublicState, TableMeld
from engine.tiles import TileId


def without_loose(state: PublicState, draft: Play) -> Iterator[Play]:
    """What is left of a well-formed draft, for every way worth trying of telling equal cards apart.

    If a card that was laid lies in a legal set and its twin from the table in another, they may change places: then it
    is the laid one that goes back.
    """
    codes = deck_codes(state.rules.deck, state.rules.jokers)
    melds = read_layout(layout_of(draft.board, codes), read_layout(layout_of(state.board, codes)))
    legal = [meld is not None for meld in melds]
    laid = {tile for _slot, tile in draft.laid}
    settled = [
        tile for meld, good in zip(draft.board, legal, strict=True) if good for tile in meld.tiles if tile in laid
    ]
    loose = [tile for meld, good in zip(draft.board, legal, strict=True) if not good for tile in meld.tiles]
    swaps = []
    for tile in loose:
        twin = next((other for other in settled if codes[other] == codes[tile]), None)
        if tile not in laid and twin is not None:
            settled.remove(twin)
            swaps.append((tile, twin))
    choices = [[], *([swap] for swap in swaps), *([swaps] if len(swaps) > 1 else [])]
    for chosen in choices:
        yield _taken_back(draft, legal, laid, {**dict(chosen), **{twin: tile for tile, twin in chosen}})


def _taken_back(draft: Play, legal: list[bool], laid: set[TileId], twins: dict[TileId, TileId]) -> Play:
    board = []
    for meld, good in zip(draft.board, legal, strict=True):
        tiles = tuple(twins.get(tile, tile) for tile in meld.tiles)
        if not good:
            tiles = tuple(tile for tile in tiles if tile not in laid)
        if tiles:
            board.append(TableMeld(tiles, meld.kind if good else None))
    lying = {tile for meld in board for tile in meld.tiles}
    kept = tuple((slot, tile) for slot, tile in draft.laid if tile in lying)
    exchanges = tuple(item for item in draft.exchanges if item.tile in lying)
    return replace(draft, board=tuple(board), laid=kept, opening=(), exchanges=exchanges)
