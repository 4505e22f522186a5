"""What a node does on a broker for one table: it stands by, or it publishes. Each role is one connection."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from aiomqtt import Client, Message, Will

from node.clock import monotonic_s, unix_s
from node.mqtt.broker import Broker, connected, payload_of
from node.mqtt.commands import Command, CommandBook, Moment, Refusal
from node.mqtt.election import Candidate, Claim, Election, Step, read_candidate, read_claim
from node.mqtt.homeassistant import discovery_message, status_topic, user_of_buttons
from node.mqtt.payloads import OFFLINE, ONLINE, has_changed, messages_of, packed, what_shows
from node.mqtt.topics import Topics
from node.tasks import end
from protocol.events import Event
from protocol.messages import Button
from protocol.roster import seat_of
from protocol.session import Session

_log = logging.getLogger(__name__)

COUNT_EVERY_S: Final = 1.0  # how often the counts of the commands are published
_MOST_REFUSALS: Final = 5  # that are answered between two counts
_EARLY_S: Final = 0.02  # how often the table device is looked at that has yet to hear of an entry
_MOST_EARLY: Final = 16  # commands that wait for that
_MOST_EVENTS: Final = 200  # that wait for the broker


class Table(Protocol):
    """What is published: a `node.app.Node`."""

    @property
    def node_id(self) -> bytes: ...

    @property
    def session(self) -> Session | None: ...

    def watch(self, changed: Callable[[], None]) -> Callable[[], None]: ...

    def listen(self, told: Callable[[Event], None]) -> None: ...


class Buttons(Protocol):
    """The table device that commands press."""

    def moment(self) -> Moment | None:
        """What a command has to name now; None while its presses do not count."""
        ...

    def counts(self) -> bool:
        """Whether presses count now, or will in the game that begins."""
        ...

    def click(self, button: Button, told: Callable[[str | None], None]) -> None:
        """Presses; `told` hears None when it was done, else why not."""
        ...


@dataclass(frozen=True, slots=True)
class Publishing:
    """How tables are published. `discovery`: what Home Assistant's topics begin with, None for no messages to it."""

    broker: Broker
    discovery: str | None = "homeassistant"
    book: CommandBook | None = None
    buttons: Buttons | None = None


@dataclass(slots=True)
class Following:
    """One table of a node on the broker, until `has_left`. `news` is set when there may be something to do."""

    table: Table
    how: Publishing
    id: str
    topics: Topics
    has_left: Callable[[], bool]
    news: asyncio.Event
    events: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=_MOST_EVENTS))

    @property
    def node(self) -> str:
        """The own key in hex."""
        return self.table.node_id.hex()

    def candidate(self) -> Candidate:
        """This node as one that could publish."""
        session = self.table.session
        seat = None if session is None or session.genesis is None else seat_of(session.genesis, self.table.node_id)
        return Candidate(self.id, self.node, self.how.book is not None, seat)

    def height(self) -> int:
        """How far this node is in the game."""
        session = self.table.session
        return 0 if session is None or session.genesis is None else session.height


class Role(ABC):
    """A connection for a table: what it subscribes to, what it hears, what the broker says when it breaks off."""

    name: str

    def __init__(self, following: Following) -> None:
        self.following = following
        self.topics = following.topics
        self.election = Election(following.candidate(), monotonic_s())
        self._reader: asyncio.Task[None] | None = None

    @abstractmethod
    def will(self) -> Will:
        """What the broker publishes when this connection breaks off."""

    @abstractmethod
    def subscriptions(self) -> list[str]:
        """The topics that it hears."""

    @contextlib.asynccontextmanager
    async def connected(self) -> AsyncIterator[Client]:
        """Connected and subscribed, until the block ends. Raises `MqttError`, `ConfigError`, `OSError`."""
        role = f"{self.name}-{self.following.node[:8]}"
        async with connected(self.following.how.broker, role=role, will=self.will()) as client:
            await client.subscribe([(topic, 1) for topic in self.subscriptions()])
            self.election = Election(self.following.candidate(), monotonic_s())
            self._reader = asyncio.get_running_loop().create_task(self._read(client))
            try:
                yield client
            finally:
                await end([self._reader])
                if not self._reader.cancelled():
                    self._reader.exception()  # the connection broke off; whoever waited has heard of it

    def heard(self, message: Message) -> None:
        """One message of the broker's. Anybody may have written it."""
        topic, payload, now_s = message.topic.value, payload_of(message), monotonic_s()
        standby = self.topics.standby("")
        if topic == self.topics.availability:
            self.election.heard_availability(payload == ONLINE.encode(), now_s)
        elif topic == self.topics.publisher:
            self.election.heard_claim(read_claim(_plain(payload)), now_s, retained=message.retain)
        elif topic == self.topics.state:
            match _plain(payload):
                case {"table": str(table), "height": int(height)}:
                    self.election.heard_state(table, height)
        elif topic.startswith(standby):
            self.election.heard_standby(topic.removeprefix(standby), read_candidate(_plain(payload)))

    async def wait(self, until_s: float | None) -> None:
        """Until there is news, or it is that late, or the connection has broken off, which is raised."""
        assert self._reader is not None
        following, reader = self.following, self._reader
        news = asyncio.get_running_loop().create_task(following.news.wait())
        timeout_s = None if until_s is None else max(0.0, until_s - monotonic_s())
        try:
            await asyncio.wait([news, reader], timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            news.cancel()
        following.news.clear()
        if reader.done():
            reader.result()

    async def _read(self, client: Client) -> None:
        async for message in client.messages:
            self.heard(message)
            self.following.news.set()


class StandingBy(Role):
    """Another node publishes, or it is not settled yet who does."""

    name = "standby"

    def will(self) -> Will:
        return Will(self.topics.standby(self.following.node), b"", qos=1, retain=True)

    def subscriptions(self) -> list[str]:
        return [self.topics.availability, self.topics.publisher, self.topics.state, self.topics.standby("+")]

    async def until_elected(self, client: Client, waiting: Callable[[bool], None]) -> Claim | None:
        """The claim that has won; None if the table was left. `waiting` hears whether another table is in the way."""
        own = self.topics.standby(self.following.node)
        told: Candidate | None = None
        while not self.following.has_left():
            candidate = self.following.candidate()
            if candidate != told:
                self.election.me = told = candidate
                await client.publish(own, packed(candidate.plain()), qos=1, retain=True)
            now_s = monotonic_s()
            decision = self.election.decide(now_s, self.following.height())
            match decision.step:
                case Step.ASK:
                    await client.publish(self.topics.ask, b"?", qos=1)
                case Step.CLAIM:
                    claim = self.election.next_claim(now_s)
                    await client.publish(self.topics.publisher, packed(claim.plain()), qos=1, retain=True)
                case Step.PUBLISH:
                    await client.publish(own, b"", qos=1, retain=True)
                    return self.election.claim
                case Step.WAIT:
                    waiting(self._has_rival())
                    await self.wait(decision.again_s)
        await client.publish(own, b"", qos=1, retain=True)
        return None

    def _has_rival(self) -> bool:
        publisher = self.election.publisher
        return publisher is not None and publisher.table != self.following.id


class AtWork(Role):
    """This node publishes the table, and nobody else does."""

    name = "publisher"

    def __init__(self, following: Following, claim: Claim) -> None:
        super().__init__(following)
        self._claim = claim
        self._sent: dict[str, dict[str, Any]] = {}
        self._seen: object = None  # what the last messages were made of
        self._announced: tuple[str, bytes] | None = None
        self._announce_again = False
        self._repeat_claim = False
        self._early: deque[tuple[str, bytes]] = deque()  # commands that wait for the table device to catch up
        self._answers: deque[dict[str, Any]] = deque(maxlen=_MOST_EVENTS)
        self._refusals = 0
        self._counted: dict[str, Any] | None = None
        self._count_s = 0.0

    def will(self) -> Will:
        return Will(self.topics.availability, OFFLINE, qos=1, retain=True)

    def subscriptions(self) -> list[str]:
        found = [self.topics.publisher, self.topics.ask, self.topics.standby("+")]
        if self.following.how.book is not None:
            found.append(self.topics.command("#"))
        if self.following.how.discovery is not None:
            found.append(status_topic(self.following.how.discovery))
        return found

    def heard(self, message: Message) -> None:
        super().heard(message)
        topic, how = message.topic.value, self.following.how
        command = self.topics.command("")
        if topic == self.topics.ask:
            self._repeat_claim = True
        elif topic.startswith(command):
            self._take(topic.removeprefix(command), payload_of(message), retained=message.retain)
        elif how.discovery is not None and topic == status_topic(how.discovery):
            self._announce_again = payload_of(message) == ONLINE.encode()

    async def publish(self, client: Client) -> None:
        """Publishes until the table was left, another is to do it, or another does."""
        await client.publish(self.topics.publisher, packed(self._claim.plain()), qos=1, retain=True)
        await client.publish(self.topics.availability, ONLINE, qos=1, retain=True)
        while not self.following.has_left():
            other = self.election.claim
            if other is not None and other.term > self._claim.term:
                _log.warning("node %s publishes this table now", other.node[:8])
                return
            if self.election.gives_way():
                break
            await self._catch_up(client)
            await self.wait(self._again_s())
        await client.publish(self.topics.availability, OFFLINE, qos=1, retain=True)
        if self.following.has_left() and self._never_began() and not self.election.standing_by:
            await self._forget(client)

    def _again_s(self) -> float | None:
        """When there is something to do without any news."""
        if self._early:
            return monotonic_s() + _EARLY_S
        return self._count_s + COUNT_EVERY_S if self._counts() != self._counted else None

    async def _catch_up(self, client: Client) -> None:
        """Publishes what is new. A message that was published once is not published again."""
        for _ in range(len(self._early)):
            topic, payload = self._early.popleft()
            self._take(topic, payload, retained=False)
        if self._repeat_claim:
            self._repeat_claim = False
            await client.publish(self.topics.publisher, packed(self._claim.plain()), qos=1, retain=True)
        while self.following.events:
            await client.publish(self.topics.event, packed(self.following.events.popleft()), qos=1)
        await self._publish_table(client)
        while self._answers:
            await client.publish(self.topics.answer, packed(self._answers.popleft()), qos=1)
        counts, now_s = self._counts(), monotonic_s()
        if counts != self._counted and now_s >= self._count_s + COUNT_EVERY_S:
            self._counted, self._count_s, self._refusals = counts, now_s, 0
            await client.publish(self.topics.commands, packed(counts), qos=1, retain=True)

    async def _publish_table(self, client: Client) -> None:
        session, buttons = self.following.table.session, self.following.how.buttons
        commands = buttons is not None and buttons.counts()
        if session is None:
            return
        seen = (what_shows(session), commands)
        if self._seen == seen and not self._announce_again:
            return
        messages = messages_of(session, monotonic_s(), unix_s(), commands=commands)
        if messages is None:
            return
        self._seen = seen
        parts = (
            (self.topics.board, messages.board),
            (self.topics.clock, messages.clock),
            (self.topics.state, messages.state),
        )
        for topic, message in parts:
            before = self._sent.get(topic)
            is_next = topic == self.topics.state and before is not None and before["height"] != message["height"]
            if is_next or has_changed(before, message):
                self._sent[topic] = message
                await client.publish(topic, packed(message), qos=1, retain=True)
        await self._announce(client, messages.state)

    async def _announce(self, client: Client, state: dict[str, Any]) -> None:
        """Tells Home Assistant of the table; again when it has started anew."""
        how = self.following.how
        if how.discovery is None:
            return
        user = user_of_buttons(how.book.access.users) if how.book is not None else None
        topic, message = discovery_message(how.discovery, self.topics, state, user)
        announced = (topic, packed(message))
        if announced != self._announced or self._announce_again:
            self._announced, self._announce_again = announced, False
            await client.publish(topic, announced[1], qos=1, retain=True)

    async def _forget(self, client: Client) -> None:
        """A table that never became a game leaves nothing behind."""
        topics = self.topics
        known = [topics.state, topics.clock, topics.board, topics.commands, topics.publisher, topics.availability]
        if self._announced is not None:
            known.append(self._announced[0])
        for topic in known:
            await client.publish(topic, b"", qos=1, retain=True)

    def _never_began(self) -> bool:
        sent = self._sent.get(self.topics.state)
        return sent is not None and sent["phase"] == "lobby"

    # Commands

    def _take(self, topic: str, payload: bytes, *, retained: bool) -> None:
        book, buttons = self.following.how.book, self.following.how.buttons
        if book is None or buttons is None:
            return
        moment = buttons.moment()
        lags = moment is not None and moment.height < self.following.height()
        if lags and not retained and len(self._early) < _MOST_EARLY:
            self._early.append((topic, payload))  # the sender has seen an entry that the device has yet to hear of
            return
        taken = book.take(topic, payload, moment, retained=retained)
        if isinstance(taken, Command):
            buttons.click(taken.button, lambda why: self._answer(taken.name, taken.once, moment, why))
        else:
            self._refuse(topic.partition("/")[0], taken, moment)

    def _refuse(self, name: str, refusal: Refusal, moment: Moment | None) -> None:
        if self._refusals < _MOST_REFUSALS:
            self._refusals += 1
            self._answer(name[:16], "", moment, f"Not taken: {refusal.value}.")

    def _answer(self, name: str, once: str, moment: Moment | None, why: str | None) -> None:
        named = {"table": self.following.id, "game": 0, "height": 0} if moment is None else moment.plain()
        self._answers.append({**named, "command": name, "once": once, "done": why is None, "why": why})
        self.following.news.set()

    def _counts(self) -> dict[str, Any]:
        book = self.following.how.book
        accepted, refused = (0, {}) if book is None else (book.accepted, dict(sorted(book.refused.items())))
        return {"table": self.following.id, "on": book is not None, "accepted": accepted, "refused": refused}


def _plain(payload: bytes) -> Any:
    """The JSON of a payload, None for anything else."""
    try:
        return json.loads(payload)
    except (ValueError, RecursionError):
        return None
