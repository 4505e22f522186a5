"""Hints for the player whose turn it is: whether something can be laid, which tiles, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from engine.actions import DeclareRummikub, Discard, Draw, Play, TakeDiscard
from engine.board import layout_of
from engine.bots import choose
from engine.faces import deck_codes
from engine.rules import faults
from engine.situations import situation
from engine.solver import Objective, Solution, Stop, play_of, sentence, solve, steps_of
from engine.state import PublicState, Seat, Slot
from engine.strength import Strength
from engine.tilebots import decide
from engine.tiles import TileId
from node.draft import Draft

_NOTHING: Final = Draft(())


@dataclass(frozen=True, slots=True)
class Hint:
    """What the player could do. `say` is the first step of the hint, `tiles` the second (of the own rack), the rest the
    third: the board as it would lie, and how to get there.
    """

    say: str
    tiles: tuple[TileId, ...] = ()
    draft: Draft = _NOTHING
    steps: tuple[str, ...] = ()


def hint(state: PublicState, seat: Seat, hidden: Mapping[Slot, TileId], stop: Stop) -> Hint:
    """The most that the seat can do now, as the board lies at the start of its turn; `hidden` are its hidden tiles.

    Of equal moves the one that disturbs the board least. `stop` ends a search that takes too long.
    """
    known = state.known_tiles()
    tiles = {slot: known[slot] if slot in known else hidden[slot] for slot in state.seats[seat].rack}
    if state.rules.discards:
        return _card_hint(state, seat, tiles)
    found = _most(state, seat, tiles, stop)
    play = None if found is None else play_of(state, seat, tiles, found)
    if found is None or play is None or faults(state, play):
        instead = "draw a tile" if state.stock.left else "pass"
        if not state.seats[seat].opened and state.rules.opening_min:
            return Hint(f"Your rack cannot open with {state.rules.opening_min} points yet: {instead}.")
        return Hint(f"Nothing on your rack fits: {instead}.")
    before = layout_of(state.board, deck_codes(state.rules.deck, state.rules.jokers))
    everything = len(play.laid) == len(tiles)
    return Hint(
        "You can lay your whole rack!" if everything else f"You can lay {_counted(len(play.laid), 'tile')}.",
        tuple(tile for _slot, tile in play.laid),
        Draft(play.board, play.exchanges),
        tuple(sentence(step) for step in steps_of(before, found.board, found.laid)),
    )


def _most(state: PublicState, seat: Seat, tiles: Mapping[Slot, TileId], stop: Stop) -> Solution | None:
    here = situation(state, seat, tiles)
    if here.minimum:
        return decide(here, Strength.SOLID)
    found = solve(here.rules, here.board, here.rack, Objective.LEAST_DISRUPTION, stop=stop)
    return found if found.laid else None


def _card_hint(state: PublicState, seat: Seat, tiles: Mapping[Slot, TileId]) -> Hint:
    action = choose(seat, state, tiles, Strength.SOLID)
    play = action.play if isinstance(action, DeclareRummikub) else action
    match play:
        case Play():
            cards = tuple(tile for _slot, tile in play.laid)
            return Hint(f"You can lay {_counted(len(cards), 'card')}.", cards, Draft(play.board))
        case TakeDiscard():
            return Hint("Take the top card of the discard pile: you can lay it at once.")
        case Draw():
            return Hint("The top card of the discard pile is of no use to you: draw from the stock.")
        case Discard(tile=tile):
            return Hint("There is nothing to lay. One card of your hand helps you least.", (tile,))
        case _:
            return Hint("End your turn.")


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
