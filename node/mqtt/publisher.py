"""Publishes the tables of a node on a broker when it is this node's turn (see `election`), and takes commands there.

It only looks at the node and presses the buttons of its table device: whatever becomes of the broker, the game goes on.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from aiomqtt import MqttError

from node.clock import monotonic_s, unix_s
from node.config import ConfigError
from node.mqtt.broker import retry_s, trouble_with
from node.mqtt.payloads import event_of
from node.mqtt.roles import AtWork, Following, Publishing, StandingBy, Table
from node.mqtt.topics import Topics, topic_name
from node.tasks import end, spawn
from protocol.events import EntryCommitted, Event
from protocol.roster import clean_name

_log = logging.getLogger(__name__)

GOODBYE_S: Final = 2.0


class TablePublisher:
    """Publishes the tables of `table`, one after the other.

    `troubled` is called with a sentence for the player when something is wrong, and with None when it is right again.
    """

    def __init__(
        self, table: Table, how: Publishing, troubled: Callable[[str | None], None] = lambda _trouble: None
    ) -> None:
        self._table = table
        self._how = how
        self._troubled = troubled
        self._trouble: str | None = None
        self._news = asyncio.Event()
        self._following: Following | None = None
        self._stopping = False
        self._tries = 0
        self._task: asyncio.Task[None] | None = None
        self._unwatch = table.watch(self._news.set)
        table.listen(self._hear)

    def start(self) -> None:
        """Begin in the background."""
        self._task = spawn(self._run(), set(), "publishing failed")

    async def stop(self) -> None:
        """Say goodbye to the broker, if it is there."""
        self._stopping = True
        self._news.set()
        self._unwatch()
        if self._task is not None:
            await asyncio.wait([self._task], timeout=GOODBYE_S)
            await end([self._task])

    def _hear(self, event: Event) -> None:
        session, following = self._table.session, self._following
        if isinstance(event, EntryCommitted) and session is not None and following is not None:
            message = event_of(event, session, unix_s())
            if message is not None:
                following.events.append(message)
                self._news.set()

    async def _run(self) -> None:
        while not self._stopping:
            self._following = following = self._next()
            if following is None:
                await self._news.wait()
                self._news.clear()
                continue
            try:
                await self._follow(following)
            except (MqttError, OSError) as error:
                self._has_trouble(trouble_with(self._how.broker, error))
                await self._pause(retry_s(self._tries))
                self._tries += 1
            except ConfigError as error:
                self._has_trouble(str(error))
                return

    async def _follow(self, following: Following) -> None:
        """Everything about one table, until the node leaves it."""
        while not following.has_left():
            standing_by = StandingBy(following)
            async with standing_by.connected() as client:
                self._is_connected()
                claim = await standing_by.until_elected(client, self._tell_of_rival)
            if claim is not None:
                at_work = AtWork(following, claim)
                async with at_work.connected() as client:
                    following.events.clear()
                    self._is_connected()
                    await at_work.publish(client)

    def _next(self) -> Following | None:
        """The node's table, if it has one whose name is known."""
        found = self._where()
        if found is None:
            return None
        return Following(self._table, self._how, *found, lambda: self._stopping or self._where() != found, self._news)

    def _where(self) -> tuple[str, Topics] | None:
        """The id of the node's table, and its topics."""
        session = self._table.session
        if session is None:
            return None
        card = session.lobby.table_card
        name = session.genesis.table_name if session.genesis is not None else None if card is None else card.name
        if name is None:
            return None
        return session.table.hex(), Topics(self._how.broker.prefix, topic_name(clean_name(name)))

    # Trouble

    def _is_connected(self) -> None:
        self._tries = 0
        self._has_trouble(None)

    def _tell_of_rival(self, is_there: bool) -> None:
        self._has_trouble(
            "Another table of the same name is on the broker. This one is shown there when that one has gone."
            if is_there
            else None
        )

    def _has_trouble(self, trouble: str | None) -> None:
        if trouble != self._trouble:
            self._trouble = trouble
            if trouble is not None:
                _log.warning("%s", trouble)
            self._troubled(trouble)

    async def _pause(self, seconds: float) -> None:
        """So long, or until this is stopped."""
        end_s = monotonic_s() + seconds
        while not self._stopping and (left_s := end_s - monotonic_s()) > 0:
            waiting = asyncio.get_running_loop().create_task(self._news.wait())
            await asyncio.wait([waiting], timeout=left_s)
            waiting.cancel()
            self._news.clear()
