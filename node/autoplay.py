"""What is due, by the engine's bot, for whatever drives a session: a real node or a simulated one."""

from __future__ import annotations

from engine.bots import choose
from protocol.session import Session


def act_by_bot(session: Session, now_s: float) -> None:
    """What a bot does: go on without who is gone for good, agree to whatever the others ask, and `play_by_bot`."""
    if gone := session.may_go_on_without(now_s):
        session.go_on_without(gone, now_s)
    play_by_bot(session, now_s)


def play_by_bot(session: Session, now_s: float) -> None:
    """Play the own turn, if it is on, by the engine's bot; between two games, ask for the next."""
    if session.may_wish():
        session.wish_next_game(now_s)
    if consents := session.consents_awaited():
        for kind in consents:
            session.ask(kind, now_s)
    elif session.may_act(now_s):
        state, seat = session.state, session.seat
        assert state is not None
        assert seat is not None
        session.act(choose(seat, state, session.own_tiles()), now_s)
