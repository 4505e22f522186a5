"""What is known of all tables of a broker: messages in, plain data for the page out. No clock, socket or file.

What is stale never replaces what is newer: of one table a lower height; of two tables that follow each other under one
name the message that was made earlier, unless the later table has gone.

`now_s` is the own monotonic clock, `unix_s` the wall clock. Turns end on the monotonic clock, and what a table sends
is taken to be made just now. So a wrong wall clock, here or at a table, does no harm but to the running clock of a
message that had waited at the broker, which is then left out.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from node.mqtt.commands import Moment
from node.mqtt.messages import (
    MessageError,
    TableBoard,
    TableClock,
    TableEvent,
    TableState,
    board_of,
    clock_of,
    event_of,
    plain_of,
    state_of,
)
from node.mqtt.party.standings import ResultBook, Standings, standings_of
from node.mqtt.payloads import OFFLINE, ONLINE
from node.mqtt.topics import table_in

MAX_TABLES: Final = 500
MAX_EVENTS: Final = 5
MAX_BYTES: Final = 64 * 1024  # of a message; a whole board has a tenth
GRACE_S: Final = 10.0  # another node takes over meanwhile; only then is a table out of contact
KEPT_S: Final = 6 * 3600.0  # how long a table that is out of contact is shown
OVERDUE_S: Final = 5.0  # no turn goes on for so long after its end: somebody's wall clock is wrong
KINDS: Final = ("state", "clock", "board", "availability", "event")

PLAYING, LOBBY, FINISHED, LOST = range(4)  # the groups of tables, in the order of the page

_TOPIC_NAME: Final = re.compile(r"[a-z0-9-]{1,46}")


@dataclass(frozen=True, slots=True)
class Now:
    """When something is heard: on the own monotonic clock, and on the wall clock."""

    now_s: float
    unix_s: float


@dataclass(frozen=True, slots=True)
class _Made:
    """Of which moment of a game a message is, and when it was made, in unix seconds."""

    moment: Moment
    at: float


@dataclass(slots=True)
class _Known:
    """One name in the topics, and the table that has it now."""

    topic: str
    lost_s: float | None  # since when it is out of contact, as far as is known
    heard_s: float | None = None  # when it sent something, rather than the broker what was kept
    skew_s: float = 0.0  # how far the sender's wall clock is behind ours
    online: bool | None = None
    has_gone: bool = False  # went offline after its last state
    made: dict[str, _Made] = field(default_factory=dict)  # what is known, by kind
    state: TableState | None = None
    clock: TableClock | None = None
    ends_s: float | None = None
    pause_ends_s: float | None = None
    board: TableBoard | None = None
    events: deque[TableEvent] = field(default_factory=lambda: deque(maxlen=MAX_EVENTS))
    card: dict[str, Any] | None = None  # as it is shown
    card_version: int = 0
    board_version: int = 0

    def is_lost(self, now: Now) -> bool:
        return self.lost_s is not None and now.now_s - self.lost_s >= GRACE_S

    def is_old(self, now: Now) -> bool:
        """Nothing was heard of it for long."""
        if self.heard_s is not None:
            return now.now_s - self.heard_s > KEPT_S
        if "state" not in self.made:
            return self.lost_s is not None and now.now_s - self.lost_s > KEPT_S
        return now.unix_s - self.made["state"].at > KEPT_S


class PartyBoard:
    """All tables below one prefix of topics. Whatever changes gets the next `version`."""

    def __init__(self, prefix: str, book: ResultBook | None = None) -> None:
        self.book = book or ResultBook()
        self.version = 1
        self.standings_version = 1
        self.ignored: Counter[str] = Counter()  # messages, by what was wrong with them
        self._prefix = prefix
        self._tables: dict[str, _Known] = {}
        self._standings: tuple[int, Standings] | None = None

    def take(self, topic: str, payload: bytes, now: Now, *, retained: bool) -> None:
        """One message of the broker's, whoever wrote it; what is wrong is counted and ignored.

        `retained`: the broker had kept it.
        """
        found = table_in(topic, self._prefix)
        if found is None or found[1] not in KINDS or not _TOPIC_NAME.fullmatch(found[0]):
            self.ignored["not of interest"] += 1
            return
        name, kind = found
        known = self._tables.get(name) or _Known(name, now.now_s)
        try:
            taken = self._read(known, kind, payload, now, retained=retained)
        except MessageError:
            taken = False
            self.ignored[f"bad {kind}"] += 1
        if taken and (name in self._tables or self._has_room(now)):
            self._tables[name] = known
            self._show(known, now)

    def tick(self, now: Now) -> None:
        """What follows from time alone: tables that are out of contact, or have been so for long."""
        for known in tuple(self._tables.values()):
            self._show(known, now)

    def ask_anew(self, now: Now) -> None:
        """The broker is asked anew: a table of which it no longer says anything is out of contact before long."""
        for known in self._tables.values():
            if known.online is not False:
                known.online, known.lost_s = None, now.now_s

    # What is to be seen

    def cards(self) -> Iterator[tuple[str, int]]:
        """The names in the topics of all tables that are shown, and the versions of their cards."""
        return ((known.topic, known.card_version) for known in self._tables.values() if known.card is not None)

    def card(self, name: str) -> dict[str, Any]:
        """What everybody sees of a table; `ends_s` and `pause_ends_s` are on the own monotonic clock."""
        card = self._tables[name].card
        assert card is not None, "it is shown"
        return card

    def board_version(self, name: str) -> int | None:
        """Of what lies on the table; None if there is no such table."""
        known = self._tables.get(name)
        return None if known is None or known.card is None else known.board_version

    def melds(self, name: str) -> dict[str, Any]:
        """What lies on a table that is shown."""
        known = self._tables[name]
        board = known.board
        if board is None or known.state is None or board.moment.table != known.state.moment.table:
            return {"melds": [], "discard": None}
        melds = [
            {"kind": meld.kind.value, "tiles": meld.tiles, "stands_for": meld.stands_for, "points": meld.points}
            for meld in board.melds
        ]
        return {"melds": melds, "discard": board.discard}

    def standings(self) -> Standings:
        """How everybody stands over all tables."""
        if self._standings is None or self._standings[0] != self.standings_version:
            self._standings = (self.standings_version, standings_of(self.book.series.values()))
        return self._standings[1]

    # Messages in

    def _read(self, known: _Known, kind: str, payload: bytes, now: Now, *, retained: bool) -> bool:
        """Whether it is news."""
        if kind == "availability":
            return _hear_availability(known, payload, now, retained=retained)
        if not payload:  # somebody has removed what the broker kept
            if kind == "state":
                self._drop(known)
            return False
        if len(payload) > MAX_BYTES:
            raise MessageError(f"expected {MAX_BYTES} bytes at most, got {len(payload)}")
        plain = plain_of(payload)
        match kind:
            case "state":
                state = state_of(plain)
                before = known.state
                if self._is_stale(known, kind, state.moment, state.at_unix_s):
                    return False
                if before is None or before.moment.table != state.moment.table:
                    known.events.clear()
                    self._changes_board(known)
                known.state, known.has_gone = state, False
                _hear(known, kind, _Made(state.moment, state.at_unix_s), now, retained=retained)
            case "clock":
                clock = clock_of(plain)
                if clock == known.clock or self._is_stale(known, kind, clock.moment, clock.at_unix_s):
                    return False
                _hear(known, kind, _Made(clock.moment, clock.at_unix_s), now, retained=retained)
                _set_clock(known, clock, now, retained=retained)
            case "board":
                board = board_of(plain)
                if self._is_stale(known, kind, board.moment, board.at_unix_s):
                    return False
                _hear(known, kind, _Made(board.moment, board.at_unix_s), now, retained=retained)
                lying = known.board and (known.board.moment.table, known.board.melds, known.board.discard)
                if lying != (board.moment.table, board.melds, board.discard):
                    self._changes_board(known)
                known.board = board
            case _:
                event = event_of(plain)
                if retained or known.state is None or known.state.moment.table != event.moment.table:
                    return False
                known.events.append(event)
        return True

    def _is_stale(self, known: _Known, kind: str, moment: Moment, at: float) -> bool:
        before = known.made.get(kind)
        if before is None:
            return False
        if moment.table == before.moment.table:
            stale = moment.height < before.moment.height
        elif known.state is not None and known.state.moment.table == moment.table:
            stale = False  # its state has come already
        else:
            stale = at < before.at and not known.has_gone
        self.ignored["stale"] += stale
        return stale

    def _has_room(self, now: Now) -> bool:
        """Where there are too many tables, one that is out of contact goes."""
        if len(self._tables) < MAX_TABLES:
            return True
        gone = [known for known in self._tables.values() if known.is_lost(now)]
        if gone:
            self._drop(min(gone, key=lambda known: known.lost_s or 0.0))
        self.ignored["too many tables"] += not gone
        return bool(gone)

    def _show(self, known: _Known, now: Now) -> None:
        if known.is_old(now) and known.online is not True:
            if known.is_lost(now):
                self._drop(known)
            return
        if known.state is None:
            return
        if self.book.note(known.state, now.unix_s):
            self.version += 1
            self.standings_version = self.version
        card = _card(known, known.state, now)
        if card != known.card:
            self.version += 1
            known.card, known.card_version = card, self.version

    def _changes_board(self, known: _Known) -> None:
        self.version += 1
        known.board_version = self.version

    def _drop(self, known: _Known) -> None:
        self._tables.pop(known.topic, None)
        self.version += known.card is not None


def _hear(known: _Known, kind: str, made: _Made, now: Now, *, retained: bool) -> None:
    # Nothing is made later than now: a table whose wall clock is ahead does not keep its name for ever.
    known.made[kind] = _Made(made.moment, min(made.at, now.unix_s))
    if not retained:
        known.heard_s, known.skew_s = now.now_s, now.unix_s - made.at
        if known.online is None:
            known.lost_s = None


def _hear_availability(known: _Known, payload: bytes, now: Now, *, retained: bool) -> bool:
    """Whether it is news."""
    if payload == ONLINE.encode():
        known.online, known.lost_s = True, None
    elif payload == OFFLINE.encode():
        if known.online is not False:
            known.lost_s = now.now_s - GRACE_S * retained
        known.online, known.has_gone = False, True
    elif payload:
        raise MessageError("expected online or offline")
    return bool(payload)


def _set_clock(known: _Known, clock: TableClock, now: Now, *, retained: bool) -> None:
    age_s = max(0.0, now.unix_s - known.skew_s - clock.at_unix_s) if retained else 0.0
    pause_until = clock.pause_until_unix_s
    pause_left_s = None if pause_until is None else max(0.0, pause_until - clock.at_unix_s)
    known.clock = clock
    known.ends_s = _end_s(clock.remaining_s, age_s, now) if clock.running else None
    known.pause_ends_s = _end_s(pause_left_s, age_s, now)


def _end_s(left_s: float | None, age_s: float, now: Now) -> float | None:
    """When what had `left_s` to go `age_s` ago ends; None where that makes no sense."""
    if left_s is None or age_s > left_s + OVERDUE_S:
        return None
    return round(now.now_s + left_s - age_s, 3)


def _card(known: _Known, state: TableState, now: Now) -> dict[str, Any]:
    lost = known.is_lost(now)
    return {
        "name": state.name,
        "rules": state.rules,
        "group": _group(state, lost=lost),
        "lost": lost,
        "phase": "void" if state.void else "lobby" if state.phase is None else state.phase.value,
        "waiting_for": None if state.call is None else state.call.value,
        "paused": state.paused,
        "game": state.moment.game,
        "turn": state.turn,
        "turn_number": state.turn_number,
        "clock": _clock(known, state),
        "seats": [dataclasses.asdict(seat) for seat in state.seats],
        "pool": state.pool,
        "games": len(state.games),
        "last": {"scores": state.games[-1].scores, "winners": state.games[-1].winners} if state.games else None,
        "standings": state.standings,
        "series_over": state.series_over,
        "series_winners": state.series_winners,
        "events": [event.text for event in known.events],
    }


def _group(state: TableState, *, lost: bool) -> int:
    if state.is_over:
        return FINISHED
    if lost:
        return LOST
    return LOBBY if state.phase is None else PLAYING


def _clock(known: _Known, state: TableState) -> dict[str, Any] | None:
    """`left_s`: what a clock that stands shows."""
    clock = known.clock
    if clock is None or clock.moment.table != state.moment.table or state.turn is None:
        return None
    return {
        "limit_s": clock.limit_s,
        "left_s": None if clock.running else clock.remaining_s,
        "ends_s": known.ends_s,
        "pause_ends_s": known.pause_ends_s,
    }
