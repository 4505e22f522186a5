"""A display fed by a real broker: a whole game, late comers, a broker that comes and goes, and buttons."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import logging
import socket
import statistics
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from aiomqtt import Client, MqttError, Will

from display.options import DeviceOptions
from display.presses import Kind, Press
from display.views import (
    ErrorView,
    LobbyView,
    NoticeView,
    PausedView,
    RefusalView,
    ResultView,
    TurnView,
    View,
    subject,
)
from engine.rulesets import ES
from node.clock import monotonic_s
from node.config import ConfigError
from node.device.run import hardware_of
from node.mqtt import broker as broker_module
from node.mqtt import remotedisplay, remotetables
from node.mqtt.broker import Broker, connected
from node.mqtt.commands import Command, CommandBook, Moment, Refusal, access_of
from node.mqtt.messages import clock_of, state_of
from node.mqtt.payloads import packed
from node.mqtt.remotedisplay import RemoteDisplay
from node.mqtt.remoteviews import Seen, remote_view
from node.mqtt.topics import Topics
from protocol.messages import Button
from tests.mqtt.broadcast import BroadcastTable
from tests.mqtt.mosquitto import Collected, Mosquitto, collect
from tests.mqtt.test_remote_messages import CLOCK, STATE
from tests.node.loops import run, until
from tests.node.test_device import Panel

KEY: Final = b"sixteen bytes and more"
TOPICS: Final = Topics("rummesh", "kitchen")
END: Final = Press(Kind.TAPPED, "end", 0.0)
RUMMIKUB: Final = Press(Kind.TAPPED, "rummikub", 0.0)
HELD: Final = Press(Kind.HELD, "end", 0.0)
TURN: Final = {**STATE, "game": 1, "results": []}


@functools.cache
def recorded() -> tuple[tuple[str, dict[str, Any]], ...]:
    """All messages of a game, by the last level of their topic."""
    messages: list[tuple[str, dict[str, Any]]] = []
    table = BroadcastTable(
        replace(ES, rounds=1, target=0), 3, 3, lambda what, message: messages.append((what, message))
    )
    for _now_s in table.steps():
        table.publish()
        if table.seen.game is not None and table.seen.game.over:
            break
    return tuple((what, {**message, **({"name": "Kitchen"} if what == "state" else {})}) for what, message in messages)


class Table:
    """What a publisher puts on the broker."""

    def __init__(self, client: Client, topics: Topics = TOPICS) -> None:
        self._client = client
        self._topics = topics

    async def say(self, what: str, message: dict[str, Any] | str, *, retain: bool = True) -> None:
        payload = message.encode() if isinstance(message, str) else packed(message)
        await self._client.publish(getattr(self._topics, what), payload, qos=1, retain=retain)

    async def is_on(self, **changes: Any) -> None:
        """Somebody's turn begins."""
        await self.say("availability", "online")
        await self.say("clock", {**CLOCK, **{key: changes[key] for key in changes.keys() & CLOCK.keys()}, "game": 1})
        await self.say("state", {**TURN, **{key: changes[key] for key in changes.keys() & STATE.keys()}})


@contextlib.asynccontextmanager
async def a_table(broker: Broker, topics: Topics = TOPICS) -> AsyncIterator[Table]:
    """A publisher, and nothing retained when it ends."""
    async with connected(broker) as client:
        table = Table(client, topics)
        try:
            yield table
        finally:
            for what in ("availability", "state", "clock", "board", "answer"):
                await table.say(what, "")
    await asyncio.sleep(0)  # aiomqtt ends its own task


class Shown:
    """A display at work, with a panel that remembers what was flashed."""

    def __init__(self, broker: Broker, table: str | None = "Kitchen", key: bytes | None = KEY) -> None:
        self.display = RemoteDisplay(broker, table, key)
        self.panel = Panel()
        self.display.screen.show_on(self.panel)

    def view(self) -> View:
        return self.display.screen.view(monotonic_s())

    def is_turn(self) -> bool:
        return isinstance(self.view(), TurnView)


@contextlib.asynccontextmanager
async def at_work(shown: Shown) -> AsyncIterator[Shown]:
    task = asyncio.create_task(shown.display.run())
    try:
        yield shown
    finally:
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled():
            task.result()


@pytest.fixture
def broker(mosquitto: Mosquitto) -> Broker:
    return mosquitto.broker()


@pytest.fixture(autouse=True)
def _wall_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the moment after the messages were made."""
    monkeypatch.setattr(remotedisplay, "unix_s", lambda: CLOCK["at"] + 1.0)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is waited for comes sooner."""
    monkeypatch.setattr(broker_module, "RETRY_S", (0.05,))
    monkeypatch.setattr(remotedisplay, "AWAY_S", 0.2)
    monkeypatch.setattr(remotetables, "OFFLINE_S", 0.3)
    for module in (remotedisplay, remotetables):
        monkeypatch.setattr(module, "SETTLE_S", 0.1)


def test_a_whole_game_is_shown_message_by_message(broker: Broker, tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    files = DeviceOptions(panel=replace(DeviceOptions().panel, kind="files", folder=folder), keys=False)
    took_s: list[float] = []
    messages = recorded()  # before anybody waits for this loop

    async def main() -> None:
        seen = Seen()
        shown = Shown(broker)

        def is_shown() -> bool:
            return shows(shown.view(), remote_view(seen, monotonic_s(), 0.0))

        async with a_table(broker) as table, hardware_of(shown.display, files), at_work(shown):
            await table.say("availability", "online")
            for what, message in messages:
                began_s = monotonic_s()
                await table.say(what, message)
                if what == "clock":
                    seen = seen.with_clock(clock_of(message), began_s, retained=False)
                elif what == "state":
                    seen = seen.with_state(state_of(message), began_s, retained=False)
                    await until(is_shown)
                    took_s.append(monotonic_s() - began_s)
            assert isinstance(shown.view(), ResultView)
            await until(lambda: len(list(folder.glob("*.png"))) > 3)

    run(main())
    assert len(took_s) > 50
    assert statistics.median(took_s) < 0.5


def shows(far: View, expected: View | None) -> bool:
    """The same picture, but for the time that a message took."""
    if expected is None or subject(far) != subject(expected):
        return False
    match far, expected:
        case (TurnView(), TurnView()):
            return abs(far.clock_s - expected.clock_s) < 1.0
        case (PausedView(left_s=float() as left_s), PausedView(left_s=float() as right_s)):
            return abs(left_s - right_s) < 1.0
        case _:
            return True


@pytest.mark.parametrize(("skew_s", "left_s"), [(0.0, 31.5), (-40.0, None), (60.0, None)])
def test_a_late_display_counts_by_the_wall_clock_or_says_that_it_cannot(
    skew_s: float, left_s: float | None, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """10 of 41.5 s have gone when it comes."""
    monkeypatch.setattr(remotedisplay, "unix_s", lambda: CLOCK["at"] + 10.0 + skew_s)

    async def main() -> None:
        async with a_table(broker) as table:
            await table.is_on()
            async with at_work(Shown(broker)) as shown:
                await until(lambda: not isinstance(shown.view(), NoticeView) or shown.view().title != "No table")  # type: ignore[union-attr] # a notice
                view = shown.view()
                if left_s is None:
                    assert view == NoticeView("Ben's turn", "The clock starts next turn.")
                    await table.is_on(height=45, turn_number=4, turn=0)
                    await until(shown.is_turn)
                else:
                    assert isinstance(view, TurnView)
                    assert view.clock_s == pytest.approx(left_s)

    run(main())


def test_while_the_broker_is_away_a_running_clock_goes_on_and_anything_else_gives_way(
    own_mosquitto: Callable[..., Mosquitto], quick: None, caplog: pytest.LogCaptureFixture
) -> None:
    mosquitto = own_mosquitto()
    broker = mosquitto.broker()

    async def main() -> None:
        async with at_work(Shown(broker)) as shown:
            await until(lambda: shown.display._client is not None)
            publishing = asyncio.create_task(publish_until_it_breaks(broker))
            await until(shown.is_turn)
            mosquitto.stop()
            await publishing
            await until(lambda: NoticeView("No broker", "The clock goes on by itself.") in shown.panel.flashed)
            assert shown.is_turn()
            shown.display.press(END)
            assert shown.panel.refusals() == ["There is no connection to the broker."]
            await until(lambda: isinstance(shown.view(), ErrorView))
            error = shown.view()
            assert isinstance(error, ErrorView)
            assert error.text.startswith(f"The broker {broker} cannot be reached: ")
            assert "again" not in error.text
            ended = shown.display._tables.view(monotonic_s(), 0.0)
            assert isinstance(ended, TurnView)
            assert ended.clock_s == 0.0
            mosquitto.start()
            await say(broker, height=45, turn_number=4, turn=0)
            await until(lambda: shows_turn_of(shown, "Ana"))

    with caplog.at_level(logging.WARNING):
        run(main())
    told = [record.getMessage() for record in caplog.records if record.name == remotedisplay.__name__]
    assert 1 <= len([line for line in told if "cannot be reached" in line]) <= 2
    assert told[-1] == f"The broker {broker} is there again."


async def publish_until_it_breaks(broker: Broker) -> None:
    """As a publisher does: the broker knows what to say when it has gone, and says so of all when it ends itself."""
    will = Will(TOPICS.availability, b"offline", qos=1, retain=True)
    with contextlib.suppress(MqttError):
        async with connected(broker, will=will) as client:
            await Table(client).is_on(remaining_s=1.0, deadline=CLOCK["at"] + 1.0)
            async for _message in client.messages:
                pass


async def say(broker: Broker, **changes: Any) -> None:
    """Somebody's turn begins, told by a publisher that does not stay."""
    async with connected(broker) as client:
        await Table(client).is_on(**changes)


def test_a_broker_that_ends_and_comes_back_at_once_is_not_told_of(
    own_mosquitto: Callable[..., Mosquitto], quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remotedisplay, "AWAY_S", 20.0)
    mosquitto = own_mosquitto(persistent=True)
    broker = mosquitto.broker()

    async def main() -> None:
        async with at_work(Shown(broker)) as shown:
            await say(broker, phase="lobby", turn=None)
            await until(lambda: isinstance(shown.view(), LobbyView))
            mosquitto.stop()
            await until(lambda: shown.display._client is None)
            assert isinstance(shown.view(), LobbyView)
            mosquitto.start()
            await until(lambda: shown.display._client is not None)
            await asyncio.sleep(0.1)
            assert isinstance(shown.view(), LobbyView)
            assert shown.panel.flashed == []

    run(main())


def test_a_broker_that_was_never_there_is_told_of_at_once(own_mosquitto: Callable[..., Mosquitto], quick: None) -> None:
    mosquitto = own_mosquitto()
    broker = mosquitto.broker()
    mosquitto.stop()

    async def main() -> None:
        async with at_work(Shown(broker)) as shown:
            await until(lambda: isinstance(shown.view(), ErrorView))
            mosquitto.start()
            await until(lambda: shown.view() == NoticeView("No table", "Waiting for Kitchen."))

    run(main())


def test_a_ca_that_is_none_ends_it_with_a_sentence(tmp_path: Path) -> None:
    ca = tmp_path / "ca.pem"
    ca.write_text("no certificate")

    async def main() -> None:
        with pytest.raises(ConfigError, match="CA file"):
            await RemoteDisplay(Broker("127.0.0.1", 1, tls=True, ca=ca)).run()

    run(main())


def test_nobody_publishes_for_a_while(broker: Broker, quick: None) -> None:
    async def main() -> None:
        async with a_table(broker) as table, at_work(Shown(broker)) as shown:
            await table.is_on()
            await until(shown.is_turn)
            await asyncio.sleep(0.15)  # what is told at the beginning
            told = shown.panel.changes
            await table.say("availability", "offline")
            await until(lambda: shown.panel.changes > told)
            await until(lambda: shown.view() == NoticeView("Kitchen", "Nobody at this table can be reached."))
            shown.display.press(END)
            assert shown.panel.refusals() == ["Nobody's turn is on."]
            await table.say("availability", "online")
            await until(shown.is_turn)

    run(main())


def test_what_is_no_message_is_ignored_counted_and_told_once(broker: Broker, caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with a_table(broker) as table, at_work(Shown(broker)) as shown:
            await table.is_on()
            await until(shown.is_turn)
            for _again in range(3):
                await table.say("state", "{")
                await table.say("clock", {**CLOCK, "limit_s": -1})
                await table.say("availability", "perhaps")
                await table.say("answer", "[]", retain=False)
            await until(lambda: sum(shown.display.ignored.values()) == 12)
            assert shown.is_turn()
            await table.is_on(height=45, turn_number=4, turn=0)
            await until(lambda: shows_turn_of(shown, "Ana"))

    with caplog.at_level(logging.WARNING):
        run(main())
    told = [record.getMessage() for record in caplog.records if "no message" in record.getMessage()]
    assert len(told) == 4
    assert any("limit_s: expected a whole number from 0 to 86400, got -1" in line for line in told)


def shows_turn_of(shown: Shown, name: str) -> bool:
    view = shown.view()
    return isinstance(view, TurnView) and view.name == name


def test_without_a_table_it_takes_the_only_one(broker: Broker, quick: None) -> None:
    async def main() -> None:
        other = Topics("rummesh", "garden")
        async with a_table(broker) as table, at_work(Shown(broker, table=None)) as shown:
            await table.is_on()
            await until(shown.is_turn)
            assert shown.panel.changes > 0
            async with a_table(broker, other) as garden, at_work(Shown(broker, table=None)) as late:
                await garden.is_on(name="Garden", table="ab")
                await until(lambda: isinstance(late.view(), NoticeView) and late.view().title == "Which table?")  # type: ignore[union-attr] # a notice
                assert shown.is_turn()

    run(main())


# Presses


@contextlib.asynccontextmanager
async def pressing(broker: Broker, **changes: Any) -> AsyncIterator[tuple[Shown, Table, Collected]]:
    """A display at a table whose turn is on, and what arrives as commands."""
    commands = TOPICS.command("#")
    async with a_table(broker) as table, collect(broker, commands) as heard, at_work(Shown(broker)) as shown:
        await table.is_on(**changes)
        await until(lambda: isinstance(shown.view(), (TurnView, PausedView, LobbyView)))
        yield shown, table, heard


async def arrived(heard: Collected, count: int) -> None:
    await heard.until(lambda messages: len(messages) == count)


def answer(heard: Collected, done: bool, why: str | None = None) -> dict[str, Any]:
    """To the last command."""
    command = heard.messages[-1]
    said = json.loads(command.payload)
    stamp = {key: said[key] for key in ("table", "game", "height")}
    return {**stamp, "command": command.topic.split("/")[-1], "once": said["once"], "done": done, "why": why}


def test_a_press_is_a_signed_command_of_the_moment_that_is_shown(broker: Broker) -> None:
    book = CommandBook(access_of(KEY.decode(), ""))
    now = Moment(STATE["table"], 1, 44)

    async def main() -> None:
        async with pressing(broker) as (shown, table, heard):
            presses = [
                (END, "end_turn", Button.END_TURN),
                (RUMMIKUB, "rummikub", Button.RUMMIKUB),
                (HELD, "pause", Button.PAUSE),
            ]
            for number, (press, name, button) in enumerate(presses, start=1):
                shown.display.press(press)
                await arrived(heard, number)
                message = heard.messages[-1]
                assert message.topic == TOPICS.command(name)
                assert not message.retain
                taken = book.take(name, message.payload, now)
                assert isinstance(taken, Command)
                assert (taken.button, taken.once) == (button, json.loads(message.payload)["once"])
                assert book.take(name, message.payload, now) is Refusal.REPLAYED
            await table.is_on(height=45, turn_number=4, turn=0)
            await until(lambda: shows_turn_of(shown, "Ana"))
            shown.display.press(END)
            await arrived(heard, 4)
            assert isinstance(book.take("end_turn", heard.messages[-1].payload, replace(now, height=45)), Command)
            assert shown.panel.refusals() == []

    run(main())


def test_what_is_sent_after_a_receipt_does_not_wait(broker: Broker) -> None:
    async def main() -> None:
        async with connected(broker) as client:
            connection = client._client.socket()
            assert isinstance(connection, socket.socket)
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        await asyncio.sleep(0)

    run(main())


def test_what_has_become_of_a_press_is_shown(broker: Broker) -> None:
    async def main() -> None:
        async with pressing(broker) as (shown, table, heard):
            shown.display.press(END)
            await arrived(heard, 1)
            await table.say("answer", answer(heard, False, "The table is not right."), retain=False)
            await until(lambda: shown.panel.refusals() == ["The table is not right."])
            shown.display.press(END)
            await arrived(heard, 2)
            await table.say("answer", {**answer(heard, True), "once": "another"}, retain=False)
            await table.say("answer", answer(heard, True), retain=True)
            await until(lambda: not shown.display._unanswered)
            await table.say("answer", answer(heard, False, "Once more."), retain=False)
            shown.display.press(END)
            await arrived(heard, 3)
            refusal = {**answer(heard, False, "Not taken: wrong key."), "once": ""}
            await table.say("answer", {**refusal, "command": "pause", "why": "Somebody else's."}, retain=False)
            await table.say("answer", refusal, retain=False)
            await until(lambda: len(shown.panel.refusals()) == 2)
            assert shown.panel.refusals()[1] == "Not taken: wrong key."

    run(main())


def test_a_press_that_was_done_takes_an_earlier_refusal_off_the_panel(broker: Broker) -> None:
    off: list[View] = []

    class Face(Panel):
        def flash(self, view: View, seconds: float) -> None:
            super().flash(view, seconds)
            if not seconds:
                off.append(view)

    async def main() -> None:
        async with pressing(broker) as (shown, table, heard):
            shown.display.screen.show_on(Face())
            shown.display.press(Press(Kind.BOTH, "end", 0.0))
            shown.display.press(END)
            await arrived(heard, 1)
            assert off == []
            await table.say("answer", answer(heard, True), retain=False)
            await until(lambda: off == [RefusalView("")])

    run(main())


def test_a_press_that_nobody_answers_is_told_to_be_lost(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remotedisplay, "ANSWER_S", 0.1)
    monkeypatch.setattr(remotedisplay, "LATER_S", 0.0)

    async def main() -> None:
        async with pressing(broker) as (shown, _table, heard):
            shown.display.press(END)
            await arrived(heard, 1)
            await until(lambda: shown.panel.refusals() == ["Nobody at the table answers. Press again."])

    run(main())


@pytest.mark.parametrize(
    ("key", "changes", "told"),
    [
        (None, {}, "No key for these buttons: start with --mqtt-command-key FILE."),
        (KEY, {"commands": False}, "This table takes no presses from a broker."),
        (KEY, {"waiting_for": "draw"}, "Nobody's turn is on."),
        (KEY, {"phase": "lobby", "turn": None}, "Nobody's turn is on."),
    ],
)
def test_a_press_that_can_do_nothing_says_why_and_is_not_sent(
    key: bytes | None, changes: dict[str, Any], told: str, broker: Broker
) -> None:
    async def main() -> None:
        async with pressing(broker, **changes) as (shown, table, heard):
            shown.display._key = key
            shown.display.press(END)
            assert shown.panel.refusals() == [told]
            await table.say("event", "anything", retain=False)
            assert heard.messages == []

    run(main())


def test_when_a_display_ends_no_press_is_left_waiting(broker: Broker) -> None:
    async def main() -> None:
        async with pressing(broker) as (shown, _table, heard):
            shown.display.press(END)
            await arrived(heard, 1)
            ((_name, handle),) = shown.display._unanswered.values()
        assert handle.cancelled()

    run(main())
