"""A table on a real broker: what is published follows the game, whoever publishes, whatever becomes of the broker."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from engine.rulesets import ES, PT, RuleSet
from engine.state import Phase
from engine.strength import Strength
from node.app import Node
from node.config import NodeSettings
from node.mqtt.publisher import TablePublisher
from node.mqtt.roles import Publishing
from node.mqtt.topics import Topics, topic_name
from node.players import BotPlayer
from protocol.events import EntryCommitted, Event
from tests.mqtt.mosquitto import Collected, Mosquitto, collect
from tests.mqtt.schemas import check
from tests.node.bots import TABLE, ForkedBot, ended
from tests.node.loops import run, until
from tests.node.test_device import HomeNode

LOOPBACK = "127.0.0.1"
LIMIT_S = 90.0
QUICK = ("--thinking", "0", "--strength", "beginner")
TOPICS = Topics("rummesh", topic_name(TABLE))
TILE = re.compile(r"\b(?:[RBKY](?:1[0-3]|[1-9])|[CDHS](?:10|[2-9AJQK])|J)\b")


@dataclass
class Truth:
    """What a node knew at each height: the phase, the faces that everybody may see, the hidden ones of its own."""

    open: dict[int, Counter[str]] = field(default_factory=dict)
    hidden: dict[int, Counter[str]] = field(default_factory=dict)


class Table:
    """Bots in this process that play one game, and publishers of some of them."""

    def __init__(
        self, folder: Path, broker: Mosquitto, rules: RuleSet, name: str, strength: Strength = Strength.SOLID
    ) -> None:
        seats = 2
        self.name, self.rules, self.strength, self.topics = name, rules, strength, Topics("rummesh", topic_name(name))
        self.nodes = [self._node(folder / str(seat), f"Bot {seat}") for seat in range(seats)]
        self.players = [BotPlayer(node, lambda table: table.name == name, seats) for node in self.nodes]
        self.publishers = [TablePublisher(node, Publishing(broker.broker())) for node in self.nodes]
        self.truth = [Truth() for _node in self.nodes]
        for node, truth in zip(self.nodes, self.truth, strict=True):
            node.listen(lambda event, node=node, truth=truth: self._note(event, node, truth))  # type: ignore[misc]

    @contextlib.asynccontextmanager
    async def playing(self) -> AsyncIterator[None]:
        try:
            for node in self.nodes:
                await node.start()
            for publisher in self.publishers:
                publisher.start()
            self.nodes[0].open_table(self.name, self.rules)
            yield
        finally:
            for player in self.players:
                player.stop()
            for publisher in self.publishers:
                await publisher.stop()
            for node in self.nodes:
                await node.stop()

    def over(self) -> bool:
        return all(
            node.session is not None and node.session.game is not None and node.session.game.over for node in self.nodes
        )

    def height(self) -> int:
        session = self.nodes[0].session
        return 0 if session is None else session.height

    def _node(self, data: Path, name: str) -> Node:
        return HomeNode(
            NodeSettings(
                name=name,
                data=data,
                bot=True,
                host=LOOPBACK,
                interfaces=(LOOPBACK,),
                strength=self.strength,
                thinking_s=(0.0, 0.0),
            )
        )

    @staticmethod
    def _note(event: Event, node: Node, truth: Truth) -> None:
        session = node.session
        if not isinstance(event, EntryCommitted) or session is None or session.state is None:
            return
        state, known = session.state, session.state.known_tiles()
        seen = Counter(str(state.faces[tile]) for meld in state.board for tile in meld.tiles)
        seen.update(str(state.faces[known[slot]]) for slot in state.discard)
        truth.open[session.height] = seen
        own = session.own_tiles()
        truth.hidden[session.height] = Counter(
            str(state.faces[tile]) for slot, tile in own.items() if slot not in known
        )


def faces_in(text: str) -> Counter[str]:
    return Counter(TILE.findall(text))


def heights(heard: Collected, topics: Topics) -> list[int]:
    """Of all that was published of the table's course, oldest first."""
    parts = (topics.state, topics.clock, topics.board, topics.event)
    return [one.json["height"] for one in heard.messages if one.payload and one.topic in parts]


@pytest.mark.parametrize("rules", [replace(PT, hand=5), replace(ES, rounds=1, turn_seconds=60)], ids=["pt", "es"])
def test_everything_on_the_broker_follows_a_whole_game_and_tells_nothing_of_racks_and_pool(
    own_mosquitto: Callable[..., Mosquitto], tmp_path: Path, rules: RuleSet
) -> None:
    async def main() -> None:
        mosquitto = own_mosquitto()
        table = Table(tmp_path, mosquitto, rules, f"Whole {rules.name}")
        async with collect(mosquitto.broker(), "#") as heard, table.playing():
            await until(table.over, LIMIT_S)
            await heard.until(lambda _all: heard.on(table.topics.state)[-1].json["height"] == table.height())
            _check_the_end(table, heard)
            _check_the_course(table, heard)
            _check_the_form(table, heard)
            _check_secrecy(table, heard)
            async with collect(mosquitto.broker(), f"rummesh/{table.topics.table}/#") as late:
                await late.until(lambda messages: any(one.topic == table.topics.availability for one in messages))
                for topic in (table.topics.state, table.topics.clock, table.topics.board):
                    assert [one.payload for one in late.on(topic)] == [heard.on(topic)[-1].payload], "the truth at once"
                assert not late.on(table.topics.event)

    run(main())


def _check_the_end(table: Table, heard: Collected) -> None:
    session = table.nodes[0].session
    assert session is not None
    assert session.game is not None
    assert session.game.state.result is not None
    last = heard.on(table.topics.state)[-1].json
    assert last["phase"] == Phase.OVER.value
    assert last["results"][-1]["scores"] == list(session.game.state.result.scores)
    assert [seat["name"] for seat in last["seats"]] == [member.name for member in session.game.genesis.members]
    assert heard.on(table.topics.event)[-1].json["kind"] == "racks-opened"


def _check_the_course(table: Table, heard: Collected) -> None:
    published = heights(heard, table.topics)
    assert published == sorted(published)
    states = [one.json for one in heard.on(table.topics.state)]
    assert len({state["height"] for state in states}) > 5
    for state in states:
        if state["phase"] == "play" and not state["waiting_for"]:
            assert state["turn_name"] == state["seats"][state["turn"]]["name"]
    clocks = [one.json for one in heard.on(table.topics.clock)]
    running = [clock for clock in clocks if clock["running"]]
    assert running
    for clock in running:
        assert abs(clock["deadline"] - clock["at"] - clock["remaining_s"]) < 0.01
        assert clock["remaining_s"] <= clock["limit_s"]


def _check_the_form(table: Table, heard: Collected) -> None:
    start = f"rummesh/{table.topics.table}/"
    for one in heard.messages:
        if one.topic.startswith(start) and one.payload:
            check(one.topic.removeprefix(start), one.payload)


def _check_secrecy(table: Table, heard: Collected) -> None:
    """Each face that is on the broker lies open on the table at that height, and most of what is hidden is hidden."""
    shown = 0
    for one in heard.messages:
        text = one.payload.decode()
        if not one.topic.startswith(f"rummesh/{table.topics.table}/") or not text.startswith("{"):
            assert not faces_in(text), text
            continue
        message = one.json
        texts = str([message.get("melds"), message.get("discard"), message.get("text"), message.get("why")])
        rest = str({key: value for key, value in message.items() if key not in ("melds", "discard", "text", "why")})
        assert not faces_in(rest), rest
        found = faces_in(re.sub(r"'stands_for': \[.*?\]\]", "", texts))
        shown += sum(found.values())
        height, seen = message.get("height", 0), table.truth[0].open
        lies_open = seen.get(height, Counter()) | seen.get(height - 1, Counter())  # a card was taken from there
        assert not found - lies_open, (one.topic, message)
    assert shown > 10
    for truth in table.truth:
        assert sum(sum(own.values()) for own in truth.hidden.values()) > 50, "there was something to hide"


def test_the_game_goes_on_without_the_broker_and_the_broker_is_right_again_soon_after(
    own_mosquitto: Callable[..., Mosquitto], tmp_path: Path
) -> None:
    async def main() -> None:
        broker = own_mosquitto()
        table = Table(tmp_path, broker, replace(PT, hand=24), "Without", Strength.BEGINNER)
        async with table.playing():
            async with collect(broker.broker(), "#") as heard:
                await heard.until(lambda _all: len(heard.on(table.topics.board)) > 3)
            broker.stop()
            before = table.height()
            await until(lambda: table.height() > before + 10, LIMIT_S)
            broker.start()
            loop = asyncio.get_running_loop()
            began_s = loop.time()
            async with collect(broker.broker(), "#") as heard:
                await heard.until(
                    lambda _all: [one for one in heard.on(table.topics.state) if one.json["height"] > before]
                )
                await heard.until(lambda _all: heard.on(table.topics.availability)[-1:], LIMIT_S)
                assert loop.time() - began_s < 5.0
                assert heard.on(table.topics.availability)[-1].payload == b"online"
            assert not table.over()

    run(main())


def test_when_the_only_publisher_is_killed_the_broker_says_so(mosquitto: Mosquitto, tmp_path: Path) -> None:
    async def main() -> None:
        async with collect(mosquitto.broker(), f"rummesh/{TOPICS.table}/#") as heard:
            with ended([]) as bots:
                bots.append(ForkedBot(tmp_path, "--open", "2", "--mqtt", mosquitto.url))
                await heard.until(lambda _all: heard.on(TOPICS.state), LIMIT_S)
                assert heard.on(TOPICS.availability)[-1].payload == b"online"
                assert heard.on(TOPICS.state)[-1].json["phase"] == "lobby"
                bots[0].kill()
                await heard.until(lambda _all: heard.on(TOPICS.availability)[-1].payload == b"offline", 3.0)

    run(main())


def test_a_table_that_never_became_a_game_leaves_nothing_behind(mosquitto: Mosquitto, tmp_path: Path) -> None:
    async def main() -> None:
        table = Table(tmp_path, mosquitto, PT, "Nobody came")
        async with collect(mosquitto.broker(), "#") as heard:
            await table.nodes[0].start()
            table.nodes[0].open_table(table.name, PT)
            table.publishers[0].start()
            await heard.until(lambda _all: heard.on(table.topics.commands))
            table.players[0].stop()
            table.nodes[0].leave()
            await heard.until(lambda _all: heard.on(table.topics.state)[-1].payload == b"")
            for publisher in table.publishers:
                await publisher.stop()
            await table.nodes[0].stop()
            await table.nodes[1].stop()
        async with collect(mosquitto.broker(), "#") as late:
            await asyncio.sleep(0.2)
            assert not [one for one in late.messages if "nobody-came" in one.topic]

    run(main())


def test_a_second_table_of_the_same_name_waits_and_its_player_is_told(mosquitto: Mosquitto, tmp_path: Path) -> None:
    async def main() -> None:
        told: list[str | None] = []
        nodes = [
            HomeNode(NodeSettings(name=who, data=tmp_path / who, host=LOOPBACK, interfaces=(LOOPBACK,))) for who in "ab"
        ]
        publishers = [
            TablePublisher(nodes[0], Publishing(mosquitto.broker())),
            TablePublisher(nodes[1], Publishing(mosquitto.broker()), told.append),
        ]
        topics = Topics("rummesh", "twins")
        async with collect(mosquitto.broker(), "rummesh/twins/#") as heard:
            try:
                for node, publisher in zip(nodes, publishers, strict=True):
                    await node.start()
                    node.open_table("Twins", PT)
                    publisher.start()
                    await heard.until(lambda _all: heard.on(topics.state))
                tables = [node.session.table.hex() for node in nodes if node.session is not None]
                await until(lambda: told and told[-1] is not None)
                assert "same name" in str(told[-1])
                nodes[0].leave()
                await heard.until(
                    lambda _all: [
                        one for one in heard.on(topics.state) if one.payload and one.json["table"] == tables[1]
                    ]
                )
                await until(lambda: told[-1] is None)
                shown = [one.json["table"] for one in heard.on(topics.state) if one.payload]
                assert shown == sorted(shown, key=tables.index), "never both"
            finally:
                for publisher in publishers:
                    await publisher.stop()
                for node in nodes:
                    await node.stop()

    run(main())


@pytest.mark.parametrize(
    ("user", "url", "says"),
    [("eve", "url", "Check user and password"), ("bob", "tls_url", "is not trusted")],
    ids=["wrong password", "unknown certificate"],
)
def test_a_broker_that_lets_nobody_in_is_told_of_and_the_game_goes_on(
    own_mosquitto: Callable[..., Mosquitto], tmp_path: Path, user: str, url: str, says: str
) -> None:
    async def main() -> None:
        broker = own_mosquitto(users={"bob": "a-secret-9", "eve": "another"}, tls=True)
        password = tmp_path / "password"
        password.write_text("a-secret-9\n")
        address = getattr(broker, url).replace("://", f"://{user}@")
        with ended([]) as bots:
            for seat in ("1", "2"):
                more = ("--open", "2", "--mqtt", address, "--mqtt-password-file", str(password)) if seat == "1" else ()
                bots.append(ForkedBot(tmp_path / seat, *QUICK, "--once", *more))
            await until(lambda: any("game over" in line for line in bots[0].lines()), LIMIT_S)
            assert any(says in line for line in bots[0].lines())
            assert not any("a-secret-9" in line for line in bots[0].lines())

    run(main())
