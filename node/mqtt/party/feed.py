"""The connection to the broker, which comes back by itself: what tables say goes to the `PartyBoard`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from aiomqtt import MqttError

from node.clock import monotonic_s, unix_s
from node.mqtt.broker import Broker, connected, retry_s, trouble_with
from node.mqtt.party.board import Now, PartyBoard
from node.mqtt.topics import Topics
from node.tasks import end

TICK_S: Final = 1.0

_log = logging.getLogger(__name__)


class Feed:
    """Feeds `board`, and calls `changed` when there is something new to see, or contact was lost or found."""

    def __init__(self, broker: Broker, board: PartyBoard, changed: Callable[[], None]) -> None:
        self.in_contact = False
        self._broker = broker
        self._board = board
        self._changed = changed
        self._trouble: str | None = None

    async def run(self) -> None:
        """Until it is cancelled. Raises `ConfigError` for a broker that cannot be right."""
        ticking = asyncio.create_task(self._tick())
        try:
            await self._listen()
        finally:
            await end([ticking])

    async def _listen(self) -> None:
        tries = 0
        while True:
            try:
                async with connected(self._broker, role="party") as client:
                    # Not more than "at most once": of that, mosquitto keeps all that is retained, not the first 1000.
                    all_tables = Topics(self._broker.prefix, "+")
                    wanted = (all_tables.availability, all_tables.state, all_tables.clock, all_tables.board)
                    self._board.ask_anew(_now())
                    await client.subscribe([(topic, 0) for topic in (*wanted, all_tables.event)])
                    tries = 0
                    self._contact(None)
                    async for message in client.messages:
                        self._take(message.topic.value, message.payload, retained=message.retain)
            except (MqttError, OSError) as error:
                self._contact(trouble_with(self._broker, error))
            await asyncio.sleep(retry_s(tries))
            tries += 1

    def _take(self, topic: str, payload: bytes, *, retained: bool) -> None:
        before = self._board.version
        self._board.take(topic, payload, _now(), retained=retained)
        if self._board.version != before:
            self._changed()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            before = self._board.version
            # While the broker is away nothing is heard of anybody: that is said once, not of every table.
            if self.in_contact:
                self._board.tick(_now())
            if self._board.version != before:
                self._changed()

    def _contact(self, trouble: str | None) -> None:
        if trouble is not None and trouble != self._trouble:
            _log.warning("%s", trouble)
        self._trouble = trouble
        if self.in_contact != (trouble is None):
            self.in_contact = trouble is None
            self._changed()


def _now() -> Now:
    return Now(monotonic_s(), unix_s())
