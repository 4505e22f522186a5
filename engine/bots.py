"""Bots: what a seat does that nobody sits at, and how long a person would have thought about it.

A bot sees the public state and its own rack, always finds a legal action, and the same one whenever it is asked again.
How each plays: `tilebots` for the tile games, `cardbots` for `es`.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Final

from engine.actions import DeclareRummikub, Draw, Pass, Play, SeatAction
from engine.cardbots import choose_card
from engine.plays import empties_rack
from engine.rackmelds import extension_play
from engine.rules import faults
from engine.situations import situation
from engine.solver import play_of
from engine.state import PublicState, Seat, Slot
from engine.strength import Strength
from engine.tilebots import decide
from engine.tiles import TileId


def choose(
    seat: Seat,
    state: PublicState,
    rack: Mapping[Slot, TileId],
    strength: Strength = Strength.BEGINNER,
    seed: int = 0,
) -> SeatAction:
    """What the bot does in its turn.

    `rack` holds its own hidden slots and their tiles; `seed` tells bots apart that would all do the same.
    """
    known = state.known_tiles()
    tiles = {slot: known[slot] if slot in known else rack[slot] for slot in state.seats[seat].rack}
    if state.rules.discards:
        return choose_card(seat, state, tiles, strength, seed)
    found = decide(situation(state, seat, tiles), strength)
    if found is not None:
        if strength is Strength.BEGINNER:
            play = extension_play(state, seat, tiles, found.board)
        else:
            play = play_of(state, seat, tiles, found)
        if not faults(state, play):
            return DeclareRummikub(play) if empties_rack(state, play) else play
    return Draw(seat) if state.stock.left else Pass(seat)


_LOOK_S: Final = 1.2  # seeing what the others have done
_TILE_S: Final = 0.5  # for each tile that is laid
_MELD_S: Final = 0.9  # for each meld that is taken apart
_IN_VAIN_S: Final = 1.0  # looking for a play where there is none
_MOST_S: Final = 12.0
_PART_OF_TURN: Final = 0.4
_SPREAD: Final = (0.7, 1.5)


def think_s(state: PublicState, action: SeatAction, seed: int) -> float:
    """How long a person might think about the action before acting, in seconds: longer the more is moved.

    Always the same for one turn and seed, and never more than part of the turn's time.
    """
    play = action.play if isinstance(action, DeclareRummikub) else action
    seconds = _LOOK_S
    if isinstance(play, Play):
        lie = {frozenset(meld.tiles) for meld in play.board}
        seconds += _TILE_S * len(play.laid)
        seconds += _MELD_S * sum(not any(lies.issuperset(meld.tiles) for lies in lie) for meld in state.board)
    elif isinstance(play, Draw) and not state.rules.discards:
        seconds += _IN_VAIN_S
    low, high = _SPREAD
    chance = zlib.crc32(b"%d/%d/%d" % (seed, state.game, state.turn_number)) / 2**32
    limit = _PART_OF_TURN * state.rules.turn_seconds or _MOST_S
    return min(seconds * (low + (high - low) * chance), _MOST_S, limit)
