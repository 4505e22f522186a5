"""The tables of a broker as a display hears of them, and which of them it shows. Pure: times are arguments."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from display.views import NoticeView, View, is_counting_down
from engine.state import Phase
from node.mqtt.messages import MessageError, clock_of, plain_of, state_of
from node.mqtt.payloads import OFFLINE, ONLINE
from node.mqtt.remoteviews import Seen, remote_view
from node.mqtt.topics import topic_name
from protocol.roster import clean_name

OFFLINE_S: Final = 5.0  # so long another node may take to publish instead
SETTLE_S: Final = 0.5  # after subscribing: all that is retained has come
MAX_TABLES: Final = 64
_NAMED: Final = 8  # that are named where it is not clear which is meant


@dataclass(slots=True)
class RemoteTable:
    """One table on the broker. `quiet_s`: since when nobody publishes it; None while somebody does."""

    seen: Seen = field(default_factory=Seen)
    was_online: bool = False
    quiet_s: float | None = None


class RemoteTables:
    """What is heard of them. `name`: of the table that is wanted; None: the only one that is online."""

    def __init__(self, name: str | None) -> None:
        self._name = None if name is None else clean_name(name)
        self.topic = "+" if self._name is None else topic_name(self._name)
        self._tables: dict[str, RemoteTable] = {}
        self._at: str | None = None if self._name is None else self.topic
        self._settled_s = 0.0
        self._lost_s: float | None = None

    def subscribed(self, now_s: float) -> None:
        """What is retained comes now, and who is still online says so."""
        for table in self._tables.values():
            if self.is_online(table, now_s):
                table.quiet_s = now_s
        self._settled_s, self._lost_s = now_s + SETTLE_S, None

    def lost(self, now_s: float) -> None:
        """Nothing more is heard. A broker that ends says of everybody that they are gone, which means nothing."""
        self._lost_s = now_s

    def is_online(self, table: RemoteTable, now_s: float) -> bool:
        """Whether somebody publishes it, or did a moment ago."""
        heard_s = now_s if self._lost_s is None else self._lost_s
        return table.was_online and (table.quiet_s is None or heard_s - table.quiet_s < OFFLINE_S)

    def hear(self, table: str, what: str, payload: bytes, now_s: float, *, retained: bool) -> None:
        """A message of the topic `what` of a table. Raises `MessageError`."""
        match what:
            case "availability":
                self._hear_availability(table, payload, now_s)
            case "state" if not payload:  # the table never became a game, or somebody has tidied up
                if table in self._tables:
                    self._tables[table].seen = Seen()
            case "state":
                state = state_of(plain_of(payload))
                if (at := self._table(table, now_s)) is not None:
                    at.seen = at.seen.with_state(state, now_s, retained=retained)
            case "clock" if payload:
                clock = clock_of(plain_of(payload))
                if (at := self._table(table, now_s)) is not None:
                    at.seen = at.seen.with_clock(clock, now_s, retained=retained)

    def shown(self, now_s: float) -> tuple[str, RemoteTable] | None:
        """The table that is shown, by its name in topics. It stays until that is over or gone, and another is there."""
        if self._name is None and now_s >= self._settled_s:
            there = self._there(now_s)
            choice = {name: table for name, table in there.items() if not _is_over(table)} or there
            if len(choice) == 1:
                self._at = next(iter(choice))
            elif choice and self._at not in there:
                self._at = None
        table = None if self._at is None else self._tables.get(self._at)
        return None if self._at is None or table is None else (self._at, table)

    def view(self, now_s: float, unix_s: float) -> View:
        """What is to be shown. `unix_s`: this machine's wall clock."""
        shown = self.shown(now_s)
        view = None
        if shown is not None and shown[1].was_online:
            table = shown[1]
            view = remote_view(table.seen, now_s, unix_s)
            if view is not None and not self.is_online(table, now_s) and not _has_ended(table):
                assert table.seen.state is not None
                return NoticeView(table.seen.state.name, "Nobody at this table can be reached.")
        return self._elsewhere(now_s) if view is None else view

    def clock_runs(self, now_s: float, unix_s: float) -> bool:
        """Whether a turn counts down."""
        shown = self.shown(now_s)
        clock = None if shown is None else shown[1].seen.clock_of_turn()
        return clock is not None and clock.said.running and is_counting_down(self.view(now_s, unix_s))

    def _hear_availability(self, table: str, payload: bytes, now_s: float) -> None:
        if payload not in (ONLINE.encode(), OFFLINE.encode(), b""):
            raise MessageError(f"expected {ONLINE} or {OFFLINE}, got {payload[:20]!r}")
        at = self._table(table, now_s)
        if at is not None and payload == ONLINE.encode():
            at.was_online, at.quiet_s = True, None
        elif at is not None and at.quiet_s is None:
            at.quiet_s = now_s

    def _table(self, name: str, now_s: float) -> RemoteTable | None:
        """None where there are more tables than anybody has: then those go that are not online."""
        if name not in self._tables and len(self._tables) >= MAX_TABLES:
            there = self._there(now_s)
            self._tables = {one: table for one, table in self._tables.items() if one in there or one == self._at}
            if len(self._tables) >= MAX_TABLES:
                return None
        return self._tables.setdefault(name, RemoteTable())

    def _there(self, now_s: float) -> dict[str, RemoteTable]:
        """Those that are online and of which something is known."""
        known = {name: table for name, table in self._tables.items() if table.seen.state is not None}
        return {name: table for name, table in known.items() if self.is_online(table, now_s)}

    def _elsewhere(self, now_s: float) -> View:
        there = [table.seen.state for table in self._there(now_s).values()]
        names = [state.name for state in there if state is not None]
        if self._name is None and len(names) > 1 and now_s >= self._settled_s:
            return NoticeView("Which table?", f"{', '.join(names[:_NAMED])}: say which with --table.")
        return NoticeView("No table", f"Waiting for {self._name or 'a table'}.")


def _is_over(table: RemoteTable) -> bool:
    """Whether nothing more happens there."""
    return table.seen.state is not None and table.seen.state.is_over


def _has_ended(table: RemoteTable) -> bool:
    """Whether what it shows stays true without anybody there: a result."""
    state = table.seen.state
    return state is not None and (state.void or state.phase is Phase.OVER)
