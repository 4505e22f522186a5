"""The table device: a node without a seat, which finds its table and lets the buttons count there.

In a game that began without it, it only shows the clock.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from display.presses import Press
from display.views import ErrorView, NoticeView, View
from node.app import Node, NodeError
from node.clock import monotonic_s
from node.device.buttons import meaning
from node.device.screen import TableScreen
from node.hall import TableSeen
from node.presses import refusal_of
from node.tablewords import names_of
from protocol.events import Event, GameStarted, PressAnswered
from protocol.messages import Button
from protocol.roster import clean_name, device_of
from protocol.session import Session

_log = logging.getLogger(__name__)
ANSWER_S: Final = 3.0  # then somebody is told that nothing came of a press
NO_BUTTONS_S: Final = 6.0
LOOK_S: Final = 1.0
LISTEN_S: Final = 2.5  # so long it hears which tables there are before it takes the only one
EMPTY_LOBBY_S: Final = 5.0  # without players so long, it looks for another table
EMPTY_GAME_S: Final = 60.0


class TableDevice:
    """The device of `node`, whose settings say that it takes no seat. `table`: its name; None: the only one there is.

    It stays at a game until that is over and another table is there. `only`: whether it may be at the table of that id;
    None: at any.
    """

    def __init__(self, node: Node, table: str | None = None, only: Callable[[bytes], bool] | None = None) -> None:
        self._node = node
        self._name = table
        self._only = only
        self.screen = TableScreen(node, self._elsewhere)
        self._unanswered: dict[bytes, tuple[asyncio.TimerHandle, Callable[[str | None], None]]] = {}
        self._began_s = monotonic_s()
        self._seen_s = self._began_s  # when players were last seen at its table
        self._due: asyncio.Handle | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._unwatch = node.watch(self._soon)
        node.listen(self._hear)
        self._soon()

    def stop(self) -> None:
        """No more looking for tables, no more presses."""
        self._unwatch()
        self.screen.stop()
        for handle in (self._due, self._timer, *(handle for handle, _told in self._unanswered.values())):
            if handle is not None:
                handle.cancel()

    # Presses

    def press(self, press: Press) -> None:
        """The device's buttons do something."""
        meant = meaning(press)
        if isinstance(meant, Button):
            self.click(meant, self._show)
        elif meant is not None:
            self._show(meant)

    def click(self, button: Button, told: Callable[[str | None], None]) -> None:
        """Sends a press; `told` hears what has become of it: None for done, or why not, in a sentence."""
        refused = refusal_of(lambda: self._send(button, told))
        if refused is not None:
            told(refused)

    def _send(self, button: Button, told: Callable[[str | None], None]) -> None:
        sent: list[bytes] = []
        self._node.do(lambda session, _now_s: sent.append(session.press(button)))
        session = self._node.session
        assert session is not None
        assert session.genesis is not None
        assert session.state is not None
        name = names_of(session.genesis)[session.state.turn]
        loop = asyncio.get_running_loop()
        for press in sent:
            self._unanswered[press] = loop.call_later(ANSWER_S, self._not_answered, press, name), told

    def _not_answered(self, press: bytes, name: str) -> None:
        _handle, told = self._unanswered.pop(press)
        told(f"{name}'s program does not answer. Press again.")

    def _hear(self, event: Event) -> None:
        match event:
            case PressAnswered(press=press, refused=refused) if press in self._unanswered:
                handle, told = self._unanswered.pop(press)
                handle.cancel()
                told(refused)
            case GameStarted():
                self._tell_of_buttons()
            case _:
                pass

    def _tell_of_buttons(self) -> None:
        session = self._node.session
        if session is not None and session.genesis is not None:
            if device_of(session.genesis, self._node.node_id) is None:
                _log.info("this game began without the device: its buttons do nothing")
                told = NoticeView("No buttons", "This game began without it.")
                self.screen.notice(told, NO_BUTTONS_S)
            else:
                _log.info("the buttons count at this table")

    def _show(self, refused: str | None) -> None:
        """What has become of a press of the device's own buttons."""
        if refused is None:
            self.screen.accept()
        else:
            _log.info("a press did nothing: %s", refused)
            self.screen.refuse(refused)

    # Which table

    def _soon(self) -> None:
        """A change may come in the middle of something: look when that is done, and now and then without one."""
        if self._due is None:
            self._due = asyncio.get_running_loop().call_soon(self._look)

    def _look(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._due, self._timer = None, asyncio.get_running_loop().call_later(LOOK_S, self._soon)
        session = self._node.session
        if session is not None and self._has_done_with(session):
            self._node.leave()
            session = self._node.session
        if session is None:
            self._join()

    def _has_done_with(self, session: Session) -> bool:
        """Whether it should go from its table: nobody is there, or all is over and it is wanted elsewhere."""
        now_s = monotonic_s()
        if self._players_at(session):
            self._seen_s = now_s
        alone_s = now_s - self._seen_s
        if self._only is not None and not self._only(session.table):
            return True
        if session.game is None:
            return alone_s > EMPTY_LOBBY_S
        if self._name is not None and clean_name(session.game.genesis.table_name) != self._name:
            return True
        over = session.game.over or session.void is not None
        return (over or alone_s > EMPTY_GAME_S) and self._wanted(session.table) is not None

    def _players_at(self, session: Session) -> bool:
        if session.genesis is None:
            heard = any(peer.record.seats > 0 for peer in self._node.hall.at_table(session.table))
            return heard or bool(session.lobby.members())
        return any(member.node in self._node.linked() for member in session.genesis.members)

    def _join(self) -> None:
        wanted = self._wanted()
        if wanted is None:
            return
        self._seen_s = monotonic_s()
        try:
            self._node.join(wanted.table)
        except NodeError as error:
            _log.warning("cannot join: %s", error)

    def _wanted(self, but: bytes | None = None) -> TableSeen | None:
        """The table to go to; a lobby is better than a game that has begun."""
        tables = [table for table in self._tables() if table.table != but]
        lobbies = [table for table in tables if table.phase == "lobby"]
        if self._name is not None:
            return next(iter(lobbies or tables), None)
        listened = monotonic_s() - self._began_s >= LISTEN_S
        return tables[0] if len(tables) == 1 and listened else None

    def _tables(self) -> list[TableSeen]:
        """The tables of that name, or all, which somebody sits at and which are not over."""
        seen = [t for t in self._node.hall.tables() if t.phase in ("lobby", "playing") and t.seats > 0]
        if self._only is not None:
            return [table for table in seen if self._only(table.table)]
        return [table for table in seen if self._name is None or clean_name(table.name) == self._name]

    def _elsewhere(self) -> View:
        tables = self._tables()
        if not tables and self._node.trouble is not None:
            return ErrorView(self._node.trouble)
        if len(tables) > 1:
            names = ", ".join(clean_name(table.name) for table in tables)
            return NoticeView("Which table?", f"{names}: say which with --table.")
        return NoticeView("No table", f"Waiting for {self._name or 'a table'}.")
