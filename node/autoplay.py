"""What is due, by the engine's bot, for whatever drives a session: a real node or a simulated one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engine.actions import SeatAction
from engine.bots import choose
from engine.state import PublicState, Seat, Slot
from engine.tiles import TileId
from protocol.session import Session

Choice = Callable[[Seat, PublicState, Mapping[Slot, TileId]], SeatAction]


def act_by_bot(session: Session, now_s: float, choice: Choice = choose) -> None:
    """What a bot does: go on without who is gone for good, agree to whatever the others ask, and `play_by_bot`."""
    if gone := session.may_go_on_without(now_s):
        session.go_on_without(gone, now_s)
    play_by_bot(session, now_s, choice)


def play_by_bot(session: Session, now_s: float, choice: Choice = choose) -> None:
    """Play the own turn, if it is on, by the engine's quickest bot or another; between two games, ask for the next."""
    if session.may_wish():
        session.wish_next_game(now_s)
    if consents := session.consents_awaited():
        for kind in consents:
            session.ask(kind, now_s)
    elif session.may_act(now_s):
        session.act(due_action(session, choice), now_s)


def due_action(session: Session, choice: Choice) -> SeatAction:
    """What a bot does in its turn."""
    state, seat = session.state, session.seat
    assert state is not None
    assert seat is not None
    return choice(seat, state, session.own_tiles())
