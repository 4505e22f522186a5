"""Presses over a real broker in a real game: done once, and nothing else that comes does anything."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aiomqtt import Client

from node.mqtt.broker import connected
from node.mqtt.commands import Moment, command_message
from node.mqtt.topics import Topics, topic_name
from tests.mqtt.mosquitto import Collected, Mosquitto, collect
from tests.mqtt.schemas import check
from tests.node.bots import TABLE, ForkedBot, ended
from tests.node.loops import run, until

TOPICS = Topics("rummesh", topic_name(TABLE))
KEY = b"a key that is long enough"
LIMIT_S = 40.0
PER_S = 1000
FLOOD_S = 2.0

_words = (f"word{number}" for number in itertools.count())


class Sender:
    """Whoever has the key, or says so."""

    def __init__(self, client: Client, heard: Collected) -> None:
        self._client = client
        self.heard = heard

    def state(self) -> dict[str, Any]:
        return dict(self.heard.on(TOPICS.state)[-1].json)

    def moment(self) -> Moment:
        state = self.state()
        return Moment(state["table"], state["game"], state["height"])

    async def send(self, name: str, moment: Moment, once: str | None = None, key: bytes = KEY) -> bytes:
        payload = json.dumps(command_message(key, name, moment, once or next(_words))).encode()
        await self._client.publish(TOPICS.command(name), payload, qos=1)
        return payload

    async def again(self, name: str, payload: bytes, *, qos: int = 1) -> None:
        await self._client.publish(TOPICS.command(name), payload, qos=qos)

    async def lobby(self) -> None:
        """Wait until the buttons are there, before the game begins."""
        await self.heard.until(lambda _all: self.heard.on(TOPICS.state) and self.state()["commands"], LIMIT_S)

    async def turn(self) -> Moment:
        """Wait for somebody's turn in which presses count, and nothing is waited for."""

        def is_on() -> bool:
            state = self.state()
            return state["phase"] == "play" and state["waiting_for"] is None and state["commands"]

        await self.heard.until(lambda _all: self.heard.on(TOPICS.state) and is_on(), LIMIT_S)
        return self.moment()

    def done(self) -> list[dict[str, Any]]:
        """The answers to what was done."""
        return [one.json for one in self.heard.on(TOPICS.answer) if one.json["done"]]

    async def refused(self, reason: str, count: int = 1) -> None:
        """Wait until so many commands were refused for this reason."""
        await self.heard.until(
            lambda _all: self.heard.on(TOPICS.commands)[-1].json["refused"].get(reason, 0) >= count, LIMIT_S
        )

    async def goes_on(self, moment: Moment) -> None:
        await until(lambda: self.moment().height > moment.height, LIMIT_S)


def at_a_table_by_button(broker: Mosquitto, folder: Path, test: Callable[[Sender], Any], *more: str) -> None:
    """Two bots that end their turns only by the button; presses come in at the first one's node."""

    async def main() -> None:
        key = folder / "key"
        key.write_bytes(KEY + b"\n")
        seen = ("--by-button", "--turn-seconds", "0", "--thinking", "0", "--strength", "beginner")
        async with collect(broker.broker(), f"rummesh/{TOPICS.table}/#") as heard, connected(broker.broker()) as client:
            with ended([]) as bots:
                first = ("--open", "2", "--mqtt", broker.url, "--mqtt-command-key", str(key), *more)
                sender = Sender(client, heard)
                bots.append(ForkedBot(folder / "1", *seen, *first))
                await sender.lobby()
                bots.append(ForkedBot(folder / "2", *seen))
                await test(sender)
        for one in heard.messages:
            rest = one.topic.removeprefix(f"rummesh/{TOPICS.table}/")
            if one.payload and not rest.startswith("command/"):  # there anybody says what they like
                check(rest, one.payload)

    run(main())


def test_a_right_command_ends_a_turn_once_and_no_other_does(
    own_mosquitto: Callable[..., Mosquitto], tmp_path: Path
) -> None:
    async def test(sender: Sender) -> None:
        for _turn in range(3):
            moment = await sender.turn()
            payload = await sender.send("end_turn", moment)
            await sender.goes_on(moment)
            await sender.again("end_turn", payload)
        await sender.refused("too late", 3)
        assert [answer["command"] for answer in sender.done()] == ["end_turn"] * 3
        assert len({answer["once"] for answer in sender.done()}) == 3

        moment = await sender.turn()
        await sender.send("end_turn", moment, key=b"some other key of that length")
        await sender.send("end_turn", Moment(moment.table, moment.game + 1, moment.height))
        await sender.send("end_turn", Moment(moment.table, moment.game, moment.height + 1))
        await sender.send("end_turn", Moment("0" * 32, moment.game, moment.height))
        for reason in ("wrong key", "wrong game", "wrong height", "wrong table"):
            await sender.refused(reason)
        assert sender.moment() == moment, "nobody's turn was ended"

        payload = await sender.send("pause", moment, "pause1")
        await sender.again("pause", payload)
        await sender.again("pause", payload)
        await sender.heard.until(lambda _all: sender.state()["paused"], LIMIT_S)
        assert sender.heard.on(TOPICS.commands)[-1].json["accepted"] >= 3

    at_a_table_by_button(own_mosquitto(), tmp_path, test)


def test_a_flood_of_wrong_commands_is_counted_and_the_game_goes_on(
    own_mosquitto: Callable[..., Mosquitto], tmp_path: Path
) -> None:
    async def test(sender: Sender) -> None:
        moment = await sender.turn()
        forged = json.dumps(command_message(b"not the key at all, is it", "end_turn", moment, "forged")).encode()
        loop = asyncio.get_running_loop()
        began_s, sent = loop.time(), 0
        turns = 0
        while loop.time() - began_s < FLOOD_S or turns < 2:
            while sent < PER_S * min(FLOOD_S, loop.time() - began_s):
                await sender.again("end_turn", forged, qos=0)
                sent += 1
            await asyncio.sleep(0.002)
            moment = sender.moment()
            if sender.state()["waiting_for"] is None:
                await sender.send("end_turn", moment)
                await sender.goes_on(moment)
                turns += 1
        await sender.refused("wrong key", sent)
        await sender.heard.until(lambda _all: len(sender.done()) >= turns, LIMIT_S)
        assert len(sender.heard.on(TOPICS.answer)) < 200, "not every one of a flood is answered"

    at_a_table_by_button(own_mosquitto(), tmp_path, test)


def test_a_listed_user_presses_where_the_broker_lets_nobody_else_write(
    own_mosquitto: Callable[..., Mosquitto], tmp_path: Path
) -> None:
    async def main() -> None:
        acl = (
            "user node\ntopic readwrite rummesh/#\ntopic readwrite homeassistant/#\n\n"
            "user wall\ntopic read rummesh/#\n\nuser eve\ntopic read rummesh/#\n\n"
            "pattern write rummesh/+/command/+/%u\n"
        )
        broker = own_mosquitto(users={"node": "n", "wall": "w", "eve": "e"}, acl=acl)
        password = tmp_path / "password"
        password.write_text("n\n")
        seen = ("--by-button", "--turn-seconds", "0", "--thinking", "0", "--strength", "beginner")
        async with (
            collect(broker.broker("wall"), f"rummesh/{TOPICS.table}/#") as heard,
            connected(broker.broker("wall")) as wall,
            connected(broker.broker("eve")) as eve,
        ):
            with ended([]) as bots:
                url = broker.url.replace("//", "//node@")
                first = (
                    "--open",
                    "2",
                    "--mqtt",
                    url,
                    "--mqtt-password-file",
                    str(password),
                    "--mqtt-command-users",
                    "wall",
                )
                sender = Sender(wall, heard)
                bots.append(ForkedBot(tmp_path / "1", *seen, *first))
                await sender.lobby()
                bots.append(ForkedBot(tmp_path / "2", *seen))
                moment = await sender.turn()
                await eve.publish(TOPICS.command("end_turn/wall"), b"PRESS", qos=1)
                await eve.publish(TOPICS.command("end_turn/eve"), b"PRESS", qos=1)
                await sender.refused("user not listed")
                assert sender.moment() == moment
                await wall.publish(TOPICS.command("end_turn/wall"), b"PRESS", qos=1)
                await sender.goes_on(moment)

    run(main())
