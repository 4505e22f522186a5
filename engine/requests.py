"""What players ask of the table besides their moves: a pause, one more turn limit, a turn taken back.

A seat has only so many of each in a game, so that nobody can hold the table up with them. Who must agree to what is
none of the engine's business. Source: docs/agreement.md, section 4.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from engine.actions import Action, DeclareRummikub, Discard, Extend, LongPause, Pass, Pause, Play, Resume
from engine.errors import IllegalMove, illegal
from engine.flow import CALL_OPEN, GAME_OVER, is_seat, require_actor, with_seat
from engine.state import Paused, Phase, PublicState, Seat

PAUSES: Final = 3
EXTENSIONS: Final = 1
TAKE_BACKS: Final = 3


def pause(state: PublicState, seat: Seat) -> PublicState:
    """The game stands still for a minute at most."""
    _require_turn(state)
    if not is_seat(state, seat) or not state.seats[seat].in_game:
        raise illegal("NO-SEAT", "You are not in this game.")
    if state.paused is not None:
        raise illegal("PAUSED-ALREADY", "The game is paused already.")
    used = state.seats[seat].used
    if used.pauses >= PAUSES:
        raise illegal("NO-PAUSE-LEFT", f"You have had your {PAUSES} pauses of this game.")
    own = replace(state.seats[seat], used=replace(used, pauses=used.pauses + 1))
    return replace(with_seat(state, seat, own), paused=Paused.MINUTE)


def long_pause(state: PublicState) -> PublicState:
    """The pause lasts until somebody goes on with the game."""
    if state.paused is not Paused.MINUTE:
        raise illegal("NOT-PAUSED", "The game is not paused, or for long already.")
    return replace(state, paused=Paused.LONG)


def resume(state: PublicState, seat: Seat | None) -> PublicState:
    """The game goes on: somebody wants it, or (`seat` None) the minute is over."""
    if state.paused is None or (seat is None and state.paused is Paused.LONG):
        raise illegal("NOT-PAUSED", "The game is not paused, or until somebody goes on.")
    return replace(state, paused=None)


def extend(state: PublicState, seat: Seat) -> PublicState:
    """The seat has the time of one more turn limit for its turn."""
    require_actor(state, seat)
    if not state.rules.turn_seconds:
        raise illegal("NO-TIME-LIMIT", "There is no time limit in this game.")
    used = state.seats[seat].used
    if used.extensions >= EXTENSIONS:
        raise illegal("NO-EXTENSION-LEFT", "You have had more time once in this game.")
    own = replace(state.seats[seat], used=replace(used, extensions=used.extensions + 1))
    return with_seat(state, seat, own)


def take_back(state: PublicState) -> PublicState:
    """The turn that has just ended goes on as if it had not. What was laid in it stays known to all."""
    _require_turn(state)
    if state.undo is None:
        raise illegal("NOTHING-TO-TAKE-BACK", "No turn can be taken back now.")
    before, seat = state.undo, state.undo.turn
    used = state.seats[seat].used
    if used.take_backs >= TAKE_BACKS:
        raise illegal("NO-TAKE-BACK-LEFT", f"{TAKE_BACKS} turns of this player were taken back in this game.")
    seats = tuple(replace(old, used=now.used) for old, now in zip(before.seats, state.seats, strict=True))
    back = replace(before, seats=seats, known=state.known, paused=state.paused)
    return with_seat(back, seat, replace(seats[seat], used=replace(used, take_backs=used.take_backs + 1)))


def undo_after(before: PublicState, action: Action, after: PublicState) -> PublicState | None:
    """The state in which a turn has just ended, if it can still be taken back after the action."""
    ended = after.turn_number == before.turn_number + 1
    match action:
        case Play() | DeclareRummikub() | Discard() | Pass():
            open_end = ended and after.phase is Phase.PLAY and after.call is None
            return replace(before, undo=None) if open_end else None
        case Pause() | LongPause() | Resume() | Extend():
            return before.undo
        case _:
            return None


def _require_turn(state: PublicState) -> None:
    if state.phase in (Phase.FINAL, Phase.OVER):
        raise IllegalMove((GAME_OVER,))
    if state.call is not None:
        raise IllegalMove((CALL_OPEN,))
