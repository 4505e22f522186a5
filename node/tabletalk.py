"""What the players of a table settle besides their moves, as the page gets it: requests, pauses, who is away, who lied.

Plain data only. Seconds are counted from now.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from engine.requests import EXTENSIONS, PAUSES, TAKE_BACKS
from engine.state import Seat
from protocol.consensus.absence import Absence
from protocol.consensus.clock import PAUSE_S
from protocol.log import may_be_left_out
from protocol.messages import RemoveEntry, RequestKind
from protocol.roster import seat_of
from protocol.session import Session

COMMANDS: Final = {kind.value.replace("-", "_"): kind for kind in RequestKind if kind is not RequestKind.LEAVE}
"""The page's command for each request but that to leave, which is more than a request."""
_NOT_YOURS: Final = "Only who has just ended a turn can ask for it back."


def table_talk(session: Session, names: Sequence[str], now_s: float) -> dict[str, Any]:
    """Everything of this kind that the page shows. `names` by seat."""
    return {
        "requests": _requests(session),
        "pause": _pause(session, now_s),
        "agreeing": _agreeing(session),
        "leaving": RequestKind.LEAVE in session.asks(),
        "away": _away(session, now_s),
        "evidence": _evidence(session, names),
        "void": _void(session, names),
        "out": _out(session),
    }


def _requests(session: Session) -> dict[str, Any]:
    """By command: how often it is left to the own seat (None: not counted), and why not now."""
    state, seat = session.state, session.seat
    if state is None or seat is None:
        return {}
    used = state.seats[seat].used
    left = {
        RequestKind.PAUSE: PAUSES - used.pauses,
        RequestKind.EXTEND: EXTENSIONS - used.extensions,
        RequestKind.TAKE_BACK: TAKE_BACKS - used.take_backs,
    }
    asked = session.asks()
    found = {}
    for command, kind in COMMANDS.items():
        why_not = session.why_not_ask(kind)
        if kind is RequestKind.TAKE_BACK and why_not is None and (state.undo is None or state.undo.turn != seat):
            why_not = _NOT_YOURS
        found[command] = {"left": left.get(kind), "asked": kind in asked, "why_not": why_not}
    return found


def _pause(session: Session, now_s: float) -> dict[str, Any] | None:
    """The pause that is on: what is left of its minute, None: it lasts until somebody ends it."""
    if session.state is None or session.state.paused is None:
        return None
    end_s = session.clock.pause_end_s
    return {"left_s": None if end_s is None else max(0.0, end_s - now_s), "total_s": PAUSE_S}


def _agreeing(session: Session) -> list[dict[str, Any]]:
    """What needs everybody and was asked for: by whom, who has agreed, and whether the own player still has to."""
    state, awaited = session.state, session.consents_awaited()
    found = []
    for kind, seats in session.requests().items():
        asker = seats[0]
        if kind is RequestKind.TAKE_BACK:
            if state is None or state.undo is None or state.undo.turn not in seats:
                continue
            asker = state.undo.turn
        if kind in (RequestKind.TAKE_BACK, RequestKind.LONG_PAUSE):
            command = kind.value.replace("-", "_")
            found.append({"command": command, "by": asker, "agreed": list(seats), "mine": kind in awaited})
    return found


def _away(session: Session, now_s: float) -> dict[str, Any]:
    """Who is out of contact, and what the own player may choose: to go on without some, or to close the game."""
    game = session.game
    if game is None or game.over:
        return {"seats": [], "late": [], "without": [], "choice": None, "wishes": {}, "few": False}
    inside, gone = game.seats_in_game(), session.may_go_on_without(now_s)
    choice = None
    if gone:
        choice = "go_on" if may_be_left_out(inside, gone) else "close"
    return {
        "seats": [_absent(absence, now_s) for absence in session.absences()],
        "late": list(session.late(now_s)),
        "without": list(gone),
        "choice": choice,
        "wishes": {str(seat): list(without) for seat, without in session.go_on_wishes().items() if without},
        "few": len(inside) == 3,
    }


def _absent(absence: Absence, now_s: float) -> dict[str, Any]:
    return {
        "seat": absence.seat,
        "cause": absence.cause.value,
        "left_s": max(0.0, absence.until_s - now_s),
        "total_s": absence.until_s - absence.since_s,
    }


def _evidence(session: Session, names: Sequence[str]) -> list[dict[str, str]]:
    """Who was found out, and of what; each once, however many messages show it."""
    assert session.genesis is not None
    found = []
    for item in session.evidence:
        seat = seat_of(session.genesis, item.node)
        told = {"name": f"node {item.node.hex()[:8]}" if seat is None else names[seat], "reason": item.reason}
        if told not in found:
            found.append(told)
    return found


def _void(session: Session, names: Sequence[str]) -> str | None:
    if session.void is None:
        return None
    assert session.genesis is not None
    seats = [seat for node in session.void.culprits if (seat := seat_of(session.genesis, node)) is not None]
    both = f" {' and '.join(names[seat] for seat in seats)} signed both." if seats else ""
    return f"This game is void from entry {session.void.height} on: two different courses of it were signed.{both}"


def _out(session: Session) -> str | None:
    """What has become of the own seat, if it is not in the game any more."""
    game = session.game
    if game is None or game.own_seat is None or session.seat is not None:
        return None
    if not _was_removed(session, game.own_seat):
        return "You have left this game."
    again = "You may sit down again at a new table." if game.over else "You may sit down again for the next game."
    return f"The others went on without you, because your program was out of contact. This game is lost. {again}"


def _was_removed(session: Session, seat: Seat) -> bool:
    contents = (committed.entry.content for committed in reversed(session.log))
    return any(isinstance(content, RemoveEntry) and seat in content.seats for content in contents)
