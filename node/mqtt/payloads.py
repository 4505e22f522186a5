"""What is published of a table: plain data from a session, for everybody's eyes. Schemas: docs/mqtt.md.

Everything is made of `view_for` an observer, so no rack and nothing of the pool can get in. Times are seconds; `unix_s`
is the wall clock, so that a message says when things are, `now_s` the node's own clock.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from engine.observe import view_for
from engine.series import standing
from engine.state import Phase, PublicState, state_hash
from node.happenings import sentence
from node.tablewords import names_of
from protocol.events import EntryCommitted
from protocol.messages import Genesis
from protocol.roster import clean_name
from protocol.session import Session

ONLINE: Final = "online"
OFFLINE: Final = "offline"
SAME_S: Final = 0.3  # two deadlines so near to each other are the same one
_TIMES: Final = ("deadline", "pause_until")
_PASSING: Final = ("height", "state_hash", "at", "remaining_s")


@dataclass(frozen=True, slots=True)
class TableMessages:
    """All that is retained of a table at one moment, by topic."""

    state: dict[str, Any]
    clock: dict[str, Any]
    board: dict[str, Any]


def messages_of(session: Session, now_s: float, unix_s: float, *, commands: bool) -> TableMessages | None:
    """What is to be seen of a table now; None while nobody knows what is played there.

    `commands`: whether presses may come in over the broker.
    """
    genesis, state = session.genesis, session.state
    if genesis is None or state is None:
        return _lobby(session, unix_s, commands=commands)
    stamp = stamp_of(session, state, unix_s)
    names = names_of(genesis)
    return TableMessages(
        {**stamp, **_state(session, genesis, state, names), "commands": commands},
        {**stamp, **_clock(session, state, names, now_s, unix_s)},
        {**stamp, **_board(state, names)},
    )


def event_of(event: EntryCommitted, session: Session, unix_s: float) -> dict[str, Any] | None:
    """What an entry meant; None where it is nothing to tell, or where more entries have come since."""
    genesis, state = session.genesis, session.state
    if genesis is None or state is None or event.height + 1 != session.height:
        return None
    text = sentence(event, state, names_of(genesis))
    if text is None or event.action is None:
        return None
    stamp = stamp_of(session, state, unix_s)
    return {**stamp, "kind": _kind(type(event.action).__name__), "seat": event.actor, "text": text}


def stamp_of(session: Session, state: PublicState, unix_s: float) -> dict[str, Any]:
    """What tells fresh from stale: the table, its game from 1, the entries agreed so far, the hash of the state."""
    return _stamp(session.table, state.game + 1, session.height, state_hash(state).hex(), unix_s)


def packed(message: dict[str, Any]) -> bytes:
    """As it goes to the broker."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()


def has_changed(before: dict[str, Any] | None, now: dict[str, Any]) -> bool:
    """Whether a message says something new: more than that time has gone by, or that others have something to say."""
    if before is None or before.keys() != now.keys():
        return True
    standing = not now.get("running", True)
    for key, value in now.items():
        if key in _TIMES or (key == "remaining_s" and standing):
            if (before[key] is None) != (value is None) or (value is not None and abs(before[key] - value) > SAME_S):
                return True
        elif key not in _PASSING and before[key] != value:
            return True
    return False


def what_shows(session: Session) -> object:
    """Equal for as long as nothing of what is published has changed but time."""
    lobby = session.lobby
    before = (lobby.table_card, lobby.members()) if session.genesis is None else None
    away = tuple(absence.seat for absence in session.absences())
    return session.table, before, session.height, session.clock, away, session.void


def _stamp(table: bytes, game: int, height: int, hash_: str, unix_s: float) -> dict[str, Any]:
    return {"table": table.hex(), "game": game, "height": height, "state_hash": hash_, "at": round(unix_s, 3)}


def _lobby(session: Session, unix_s: float, *, commands: bool) -> TableMessages | None:
    card = session.lobby.table_card
    if card is None:
        return None
    stamp = _stamp(session.table, 0, 0, "", unix_s)
    seats = [
        {
            "seat": place,
            "name": clean_name(member.name),
            "bot": member.bot,
            "tiles": 0,
            "opened": False,
            "in_game": True,
            "away": not member.connected,
            "total": 0,
        }
        for place, member in enumerate(session.lobby.members())
    ]
    state = {
        "name": clean_name(card.name),
        "rules": card.rules.name,
        "phase": "lobby",
        "turn": None,
        "turn_name": None,
        "turn_number": 0,
        "waiting_for": None,
        "paused": False,
        "seats": seats,
        "pool": 0,
        "results": [],
        "standings": [],
        "series_over": False,
        "series_winners": [],
        "commands": commands,
    }
    clock = _clock_message(limit_s=card.rules.turn_seconds)
    return TableMessages({**stamp, **state}, {**stamp, **clock}, {**stamp, "melds": [], "discard": None})


def _state(session: Session, genesis: Genesis, state: PublicState, names: list[str]) -> dict[str, Any]:
    view = view_for(state, names, None, {})
    played = (*state.results, *(() if state.result is None else (state.result,)))
    stands = standing(state.rules, played, len(state.seats))
    away = {absence.seat for absence in session.absences()}
    turn = state.turn if state.phase is Phase.PLAY and session.void is None else None
    return {
        "name": clean_name(genesis.table_name),
        "rules": view.rules,
        "phase": "void" if session.void is not None else view.phase,
        "turn": turn,
        "turn_name": None if turn is None else names[turn],
        "turn_number": view.turn_number,
        "waiting_for": view.waiting_for,
        "paused": view.paused,
        "seats": [
            {
                "seat": player.seat,
                "name": player.name,
                "bot": genesis.members[player.seat].bot,
                "tiles": player.tiles_left,
                "opened": player.opened,
                "in_game": player.in_game,
                "away": player.seat in away,
                "total": player.total,
            }
            for player in view.players
        ],
        "pool": view.pool,
        "results": [
            {"scores": list(game.scores), "winners": list(game.winners), "ended_by": game.ended_by.value}
            for game in played
        ],
        "standings": list(stands.standings),
        "series_over": stands.over,
        "series_winners": list(stands.winners),
    }


def _clock(session: Session, state: PublicState, names: list[str], now_s: float, unix_s: float) -> dict[str, Any]:
    clock, limit_s = session.clock, state.rules.turn_seconds
    left_s = clock.remaining_s(now_s)
    pause_end_s = clock.pause_end_s
    on = state.phase is Phase.PLAY and session.void is None
    return _clock_message(
        limit_s=limit_s,
        turn=state.turn if on else None,
        turn_name=names[state.turn] if on else None,
        turn_number=state.turn_number,
        running=clock.end_s is not None,
        paused=state.paused is not None,
        remaining_s=None if left_s is None else round(left_s, 3),
        deadline=None if clock.end_s is None else round(unix_s + clock.end_s - now_s, 3),
        pause_until=None if pause_end_s is None else round(unix_s + pause_end_s - now_s, 3),
    )


def _clock_message(
    *,
    limit_s: int,
    turn: int | None = None,
    turn_name: str | None = None,
    turn_number: int = 0,
    running: bool = False,
    paused: bool = False,
    remaining_s: float | None = None,
    deadline: float | None = None,
    pause_until: float | None = None,
) -> dict[str, Any]:
    return {
        "limit_s": limit_s,
        "turn": turn,
        "turn_name": turn_name,
        "turn_number": turn_number,
        "running": running,
        "paused": paused,
        "remaining_s": remaining_s,
        "deadline": deadline,
        "pause_until": pause_until,
    }


def _board(state: PublicState, names: list[str]) -> dict[str, Any]:
    view = view_for(state, names, None, {})
    melds = [
        {
            "kind": meld.kind,
            "tiles": [tile.text for tile in meld.tiles],
            "stands_for": [list(faces) for faces in meld.stands_for],
            "points": meld.points,
        }
        for meld in view.board
    ]
    return {"melds": melds, "discard": view.discard[-1].text if view.discard else None}


def _kind(class_name: str) -> str:
    """`DeclareRummikub` as `declare-rummikub`."""
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in class_name).lstrip("-")
