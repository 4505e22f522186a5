"""Who decides for a seat without a person: a bot that sits down, gets ready, and plays its turns."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable
from functools import partial
from typing import Final

from engine.actions import DeclareRummikub
from engine.bots import choose, think_s
from node.app import Node, NodeError
from node.autoplay import act_by_bot, due_action
from node.clock import monotonic_s
from node.hall import TableSeen
from node.presses import PressHandler, request_of
from protocol.events import Pressed
from protocol.messages import Button, RequestKind
from protocol.session import Session

_log = logging.getLogger(__name__)

_ANSWER_S: Final = (0.8, 2.5)  # how long a bot at human pace takes for what is no move


class BotPlayer:
    """Plays for a node without a page. `wanted` tells which table it may join; `starts_with` how many seats make it
    press Start (0: it leaves that to people). It sees what its own seat may see, as any player does.
    """

    def __init__(self, node: Node, wanted: Callable[[TableSeen], bool], starts_with: int = 0) -> None:
        self._node = node
        self._wanted = wanted
        self._starts_with = starts_with
        self._seed = int.from_bytes(node.node_id[:4])
        self._choice = partial(choose, strength=node.settings.strength, seed=self._seed)
        self._thinking: asyncio.TimerHandle | None = None
        self._thinks_about: tuple[bytes, int, int, tuple[int, ...], tuple[RequestKind, ...]] | None = None
        self._unwatch = node.watch(self._soon)
        self._due: asyncio.Handle | None = None
        PressHandler(node, self._pressed)

    def stop(self) -> None:
        """No more moves."""
        self._unwatch()
        for handle in (self._due, self._thinking):
            if handle is not None:
                handle.cancel()

    def look(self) -> None:
        """Do what is due: join, get ready, think."""
        self._due = None
        session = self._node.session
        if session is None:
            self._join()
        elif session.game is None:
            self._get_ready(session)
        else:
            self._think(session)

    def _soon(self) -> None:
        """A change may come in the middle of something: look when that is done."""
        if self._due is None:
            self._due = asyncio.get_running_loop().call_soon(self.look)

    def _join(self) -> None:
        for table in self._node.hall.tables():
            if table.phase == "lobby" and table.free > 0 and self._wanted(table):
                try:
                    self._node.join(table.table)
                except NodeError as error:
                    _log.warning("cannot join: %s", error)
                return

    def _get_ready(self, session: Session) -> None:
        lobby = session.lobby
        if lobby.table_card is None or lobby.signed:
            return
        start = 0 < self._starts_with <= len(lobby.members())
        if not lobby.own.ready or (start and not lobby.own.start):
            self._node.do(lambda own, _now_s: own.lobby.change(ready=True, start=start))

    def _think(self, session: Session) -> None:
        assert session.game is not None
        now_s = monotonic_s()
        gone = session.may_go_on_without(now_s)
        consents = session.consents_awaited()
        moment = (session.table, session.height, session.round, gone, consents)
        if self._thinks_about == moment:
            return
        if self._thinking is not None:
            self._thinking.cancel()
            self._thinking = None
        if not session.may_wish() and not session.may_act(now_s) and not gone and not consents:
            return
        self._thinks_about = moment
        if self._waits_for_button(session, now_s):
            return
        self._thinking = asyncio.get_running_loop().call_later(self._delay_s(session, now_s), self._act)

    def _delay_s(self, session: Session, now_s: float) -> float:
        """How long it takes: between two fixed times, or as long as a person thinks about the move that is due."""
        fixed = self._node.settings.thinking_s
        if fixed is None and session.may_act(now_s) and session.state is not None:
            return think_s(session.state, due_action(session, self._choice), self._seed)
        return random.uniform(*(fixed or _ANSWER_S))  # noqa: S311 - only to look human

    def _waits_for_button(self, session: Session, now_s: float) -> bool:
        """Whether somebody else ends this bot's turns: there is a table device, and no limit to the time."""
        assert session.genesis is not None
        devices, limit_s = session.genesis.devices, session.genesis.rules.turn_seconds
        return self._node.settings.by_button and bool(devices) and not limit_s and session.may_act(now_s)

    def _pressed(self, pressed: Pressed) -> None:
        """A press of the table device in this bot's turn: it does at once what it was thinking about."""
        session = self._node.session
        if session is None or session.state is None or session.seat is None:
            raise NodeError("There is no game.")
        asked = request_of(pressed.button, paused=session.state.paused is not None)
        if asked is not None:
            self._node.do(lambda table, now_s: table.ask(asked, now_s))
        else:
            action = due_action(session, self._choice)
            if pressed.button is Button.RUMMIKUB and not isinstance(action, DeclareRummikub):
                raise NodeError(f"{self._node.name} has no Rummikub yet.")
            self._node.do(lambda table, now_s: table.act(action, now_s))

    def _act(self) -> None:
        self._thinking = None
        if self._node.session is not None:
            self._node.do(partial(act_by_bot, choice=self._choice))
