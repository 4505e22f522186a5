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
    Extend,
    Leave,
    LongPause,
    NextGame,
    Pass,
    Pause,
    Play,
    RacksDealt,
    RacksOpened,
    Redealt,
    Remove,
    Resume,
    StartDealt,
    TakeBack,
    TakeDiscard,
    Timeout,
)
from engine.state import PublicState
from protocol.events import EntryCommitted


def sentence(event: EntryCommitted, state: PublicState, names: Sequence[str]) -> str | None:
    """What an entry meant, None where it is nothing to tell. `state` is the state after it."""
    actor = names[event.actor] if event.actor is not None else ""
    cards = state.rules.deck == "cards"
    match event.action:
        case Play() as play:
            late = ", just as the time ran out" if play.time_up else ""
            return f"{actor} {_lays(play, state)}{late}."
        case DeclareRummikub(play=play):
            return f"{actor} {_lays(play, state)} and calls Rummikub!"
        case Draw(reason=DrawReason.ILLEGAL):
            return f"{actor} took back an illegal play and draws {_count(state.rules.illegal_draw, cards)}."
        case Draw():
            return f"{actor} draws{' from the stock' if cards else ''}."
        case Pass():
            return f"{actor} ends the turn." if cards else f"{actor} passes."
        case TakeDiscard():
            taken = state.card_turn.taken
            shown = state.faces[state.known_tiles()[taken]] if taken is not None else "the top card"
            return f"{actor} takes {shown} from the discard pile."
        case Discard(tile=tile):
            return f"{actor} discards {state.faces[tile]}."
        case Timeout():
            drawn = "" if cards else f" and draws {_count(state.rules.timeout_draw, cards)}"
            return f"{actor} ran out of time{drawn}."
        case NextGame(game=game):
            return f"Game {game + 1} begins."
        case Leave(seat=seat):
            return f"{names[seat]} left the game."
        case Pause(seat=seat):
            return f"{names[seat]} paused the game."
        case LongPause():
            return "All agree to a longer pause."
        case Resume(seat=by):
            return "The pause is over." if by is None else f"{names[by]} ended the pause."
        case Extend(seat=seat):
            return f"{names[seat]} takes more time."
        case TakeBack():
            return f"All agree that {names[state.turn]} takes the turn back."
        case Remove(seats=seats):
            verb = "was" if len(seats) == 1 else "were"
            return f"{' and '.join(names[seat] for seat in seats)} {verb} removed from the game."
        case Redealt():
            return f"The {state.rules.deck} were mixed anew."
        case StartDealt():
            starter = "" if state.starter is None else f" {names[state.starter]} starts."
            return f"The {state.rules.deck} are shuffled.{starter}"
        case RacksDealt():
            return f"The {state.rules.deck} are dealt."
        case RacksOpened():
            return _result(state, names)
        case DrawDealt() | None:
            return None
        case other:
            assert_never(other)


def _lays(play: Play, state: PublicState) -> str:
    """What was laid; exchanges of jokers are announced to all."""
    lays = f"lays {_count(len(play.laid), state.rules.deck == 'cards')}"
    if not play.exchanges:
        return lays
    given = " and ".join(str(state.faces[exchange.tile]) for exchange in play.exchanges)
    jokers = "a joker" if len(play.exchanges) == 1 else f"{len(play.exchanges)} jokers"
    return f"exchanges {jokers} for {given} and {lays}"


def _result(state: PublicState, names: Sequence[str]) -> str:
    result = state.result
    if result is None:
        return "The racks are open."
    winners = " and ".join(names[seat] for seat in result.winners)
    verb = "share" if len(result.winners) > 1 else "wins"
    return f"{winners} {verb} the game." if winners else "The game is over."


def _count(count: int, cards: bool) -> str:
    noun = "card" if cards else "tile"
    return f"1 {noun}" if count == 1 else f"{count} {noun}s"
