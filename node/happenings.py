"""What happened at the table, as sentences for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from engine.actions import (
    DeclareRummikub,
    Discard,
    Draw,
    DrawDealt,
    DrawReason,
    NextGame,
    Pass,
    Play,
    RacksDealt,
    RacksOpened,
    StartDealt,
    TakeDiscard,
    Timeout,
)
from engine.state import PublicState
from protocol.events import EntryCommitted


def sentence(event: EntryCommitted, state: PublicState, names: Sequence[str]) -> str | None:
    """What an entry meant, None where it is nothing to tell. `state` is the state after it."""
    actor = names[event.actor] if event.actor is not None else ""
    match event.action:
        case Play(laid=laid, time_up=time_up):
            late = ", just as the time ran out" if time_up else ""
            return f"{actor} lays {_tiles(len(laid))}{late}."
        case DeclareRummikub(play=play):
            return f"{actor} lays {_tiles(len(play.laid))} and calls Rummikub!"
        case Draw(reason=DrawReason.ILLEGAL):
            return f"{actor} took back an illegal play and draws {_tiles(state.rules.illegal_draw)}."
        case Draw():
            return f"{actor} draws."
        case Pass():
            return f"{actor} passes."
        case TakeDiscard():
            return f"{actor} takes the top of the discard pile."
        case Discard(tile=tile):
            return f"{actor} discards {state.faces[tile]}."
        case Timeout():
            return f"{actor} ran out of time and draws {_tiles(state.rules.timeout_draw)}."
        case NextGame():
            return "The next game begins."
        case StartDealt():
            starter = "" if state.starter is None else f" {names[state.starter]} starts."
            return f"The tiles are shuffled.{starter}"
        case RacksDealt():
            return "The tiles are dealt."
        case RacksOpened():
            return _result(state, names)
        case NextGame(game=game):
            return f"Game {game + 1} begins."
        case DrawDealt() | None:
            return None
        case other:
            assert_never(other)


def _result(state: PublicState, names: Sequence[str]) -> str:
    result = state.result
    if result is None:
        return "The racks are open."
    winners = " and ".join(names[seat] for seat in result.winners)
    verb = "share" if len(result.winners) > 1 else "wins"
    return f"{winners} {verb} the game." if winners else "The game is over."


def _tiles(count: int) -> str:
    return "1 tile" if count == 1 else f"{count} tiles"
