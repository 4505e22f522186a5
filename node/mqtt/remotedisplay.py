"""A display fed by a broker: the clock of a table in another network, with buttons that press over the broker.

While the broker is away the clock of a running turn goes on, for it is most likely right; what else was shown might be
wrong, and gives way to what is the matter.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections import Counter
from collections.abc import Callable
from typing import Final

from aiomqtt import Client, Message, MqttError

from display.presses import Press
from display.views import ErrorView, NoticeView, View
from engine.state import Phase
from node.clock import monotonic_s, random_bytes, unix_s
from node.device.buttons import meaning
from node.device.screen import Screen
from node.device.table import ANSWER_S
from node.mqtt.broker import Broker, connected, payload_of, retry_s, trouble_with
from node.mqtt.commands import BUTTONS, command_message
from node.mqtt.messages import Answer, MessageError, TableState, answer_of, plain_of
from node.mqtt.payloads import packed
from node.mqtt.remotetables import SETTLE_S, RemoteTables
from node.mqtt.topics import Topics, table_in
from node.tasks import end, spawn
from protocol.messages import Button

_log = logging.getLogger(__name__)

AWAY_S: Final = 2.0  # a connection that comes back within is not told of
NOTICE_S: Final = 3.0
LATER_S: Final = 0.5  # a table that gets no answer from its player says so itself: give it time to
ONCE_BYTES: Final = 12
_NAMES: Final = {button: name for name, button in BUTTONS.items()}


class RemoteScreen(Screen):
    """The screen of a `RemoteDisplay`."""

    def __init__(self, display: RemoteDisplay) -> None:
        super().__init__()
        self._display = display

    def view(self, now_s: float) -> View:
        """What is to be shown."""
        return self._display.view(now_s)


class RemoteDisplay:
    """Shows the table of that name; None: the only one that is online. `key`: what commands are signed with."""

    def __init__(self, broker: Broker, table: str | None = None, key: bytes | None = None) -> None:
        self._broker = broker
        self._key = key
        self._tables = RemoteTables(table)
        self.screen = RemoteScreen(self)
        self.ignored: Counter[str] = Counter()  # messages that were none, by topic
        self._client: Client | None = None
        self._trouble: str | None = None
        self._lost_s: float | None = -math.inf  # since when there is no connection
        self._unanswered: dict[str, tuple[str, asyncio.TimerHandle]] = {}  # by what it used once: its command
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Until it is cancelled. Raises `ConfigError` for a broker that cannot be right."""
        tries = 0
        try:
            while True:
                try:
                    async with connected(self._broker, role="display") as client:
                        topics = self._topics(self._tables.topic)
                        wanted = (topics.availability, topics.clock, topics.state, topics.answer)
                        await client.subscribe([(topic, 1) for topic in wanted])
                        tries = 0
                        self._found(client)
                        async for message in client.messages:
                            self._hear(message)
                except (MqttError, OSError) as error:
                    self._lost(trouble_with(self._broker, error))
                await asyncio.sleep(retry_s(tries))
                tries += 1
        finally:
            await self._stop()

    def view(self, now_s: float) -> View:
        """What is to be shown."""
        is_away = self._lost_s is not None and now_s >= self._lost_s + AWAY_S
        if self._trouble is None or not is_away or self._tables.clock_runs(now_s, unix_s()):
            return self._tables.view(now_s, unix_s())
        return ErrorView(self._trouble.partition(" It is tried again")[0])  # a panel has no room for more

    # The connection

    def _found(self, client: Client) -> None:
        if self._trouble is not None:
            _log.warning("The broker %s is there again.", self._broker)
        self._client, self._trouble, self._lost_s = client, None, None
        self._tables.subscribed(monotonic_s())
        self._later(SETTLE_S, self.screen.changed)
        self.screen.changed()

    def _lost(self, trouble: str) -> None:
        if trouble != self._trouble:
            _log.warning("%s", trouble)
        self._client, self._trouble = None, trouble
        if self._lost_s is None:
            self._lost_s = monotonic_s()
            self._tables.lost(self._lost_s)
            self._later(AWAY_S, self._tell_of_loss)
        self.screen.changed()

    def _tell_of_loss(self) -> None:
        self.screen.changed()
        if self._tables.clock_runs(monotonic_s(), unix_s()):
            self.screen.notice(NoticeView("No broker", "The clock goes on by itself."), NOTICE_S)

    def _later(self, seconds: float, do: Callable[[], None]) -> None:
        """Instead of what was to be done later before."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, do)

    async def _stop(self) -> None:
        self._client = None
        for handle in (self._timer, *(handle for _name, handle in self._unanswered.values())):
            if handle is not None:
                handle.cancel()
        await end(self._tasks)

    # Messages

    def _hear(self, message: Message) -> None:
        """One message of the broker's. Anybody may have written it."""
        place = table_in(message.topic.value, self._broker.prefix)
        payload = payload_of(message)
        if place is None:
            return
        table, what = place
        try:
            if what != "answer":
                self._tables.hear(table, what, payload, monotonic_s(), retained=message.retain)
            elif payload and not message.retain:  # an empty one tidies up
                self._take_answer(answer_of(plain_of(payload)))
        except MessageError as error:
            self.ignored[what] += 1
            if self.ignored[what] == 1:
                _log.warning("ignored what is no message on %s: %s; there may be more", message.topic.value, error)
        self.screen.changed()

    # Presses

    def press(self, press: Press) -> None:
        """The display's buttons do something."""
        meant = meaning(press)
        refused = self._send(meant) if isinstance(meant, Button) else meant
        if refused is not None:
            self._refuse(refused)

    def _send(self, button: Button) -> str | None:
        """Why nothing was sent, in a sentence for whoever pressed."""
        if self._key is None:
            return "No key for these buttons: start with --mqtt-command-key FILE."
        if self._client is None:
            return "There is no connection to the broker."
        shown = self._tables.shown(monotonic_s())
        state = None if shown is None or not self._tables.is_online(shown[1], monotonic_s()) else shown[1].seen.state
        if shown is None or state is None or not _turn_is_on(state):
            return "Nobody's turn is on."
        if not state.commands:
            return "This table takes no presses from a broker."
        name, once = _NAMES[button], random_bytes(ONCE_BYTES).hex()
        message = packed(command_message(self._key, name, state.moment, once))
        handle = asyncio.get_running_loop().call_later(ANSWER_S + LATER_S, self._not_answered, once)
        self._unanswered[once] = (name, handle)
        sending = self._publish(self._client, self._topics(shown[0]).command(name), message, once)
        spawn(sending, self._tasks, "a press was not sent")
        return None

    async def _publish(self, client: Client, topic: str, message: bytes, once: str) -> None:
        try:
            await client.publish(topic, message, qos=1)
        except MqttError:
            self._answered(once, "The press did not reach the broker. Press again.")

    def _take_answer(self, answer: Answer) -> None:
        """To a command that was not taken the answer does not name it: then it is the one that waits longest."""
        waiting = (once for once, (name, _handle) in self._unanswered.items() if name == answer.command)
        once = answer.once or next(waiting, "")
        self._answered(once, answer.why)

    def _not_answered(self, once: str) -> None:
        self._answered(once, "Nobody at the table answers. Press again.")

    def _answered(self, once: str, refused: str | None) -> None:
        if once not in self._unanswered:
            return
        _name, handle = self._unanswered.pop(once)
        handle.cancel()
        if refused is None:
            self.screen.accept()
        else:
            self._refuse(refused)

    def _refuse(self, reason: str) -> None:
        _log.info("a press did nothing: %s", reason)
        self.screen.refuse(reason)

    def _topics(self, table: str) -> Topics:
        return Topics(self._broker.prefix, table)


def _turn_is_on(state: TableState) -> bool:
    return state.phase is Phase.PLAY and state.call is None
