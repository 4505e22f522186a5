"""Fail-overs one after the other: the node that publishes is killed, another takes over, the killed one comes back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from node.mqtt.topics import Topics, topic_name
from tests.mqtt.mosquitto import Collected, Mosquitto, collect
from tests.node.bots import TABLE, ForkedBot, ended
from tests.node.loops import until

TOPICS = Topics("rummesh", topic_name(TABLE))
LIMIT_S = 60.0
_SEATS = 3
_COURSE = (TOPICS.state, TOPICS.clock, TOPICS.board, TOPICS.event)


@dataclass(frozen=True, slots=True)
class FailOver:
    """How long nobody published, in seconds, and where the game was."""

    gap_s: float
    height: int


async def fail_overs(mosquitto: Mosquitto, folder: Path, count: int) -> AsyncIterator[FailOver]:
    """So many. Fails if a message of a lower height comes after one of a higher, or if two nodes publish at once."""
    async with collect(mosquitto.broker(), f"rummesh/{TOPICS.table}/#") as heard:
        with ended([]) as bots:
            for seat in range(_SEATS):
                bots.append(_bot(folder, seat, mosquitto))
            await _goes_on(heard, 0)  # of the new table; an earlier one may be retained
            for _ in range(count):
                seat = _publisher(heard, folder)
                height = heard.on(TOPICS.state)[-1].json["height"]
                terms = heard.on(TOPICS.publisher)[-1].json["term"]
                began_s = time.monotonic()
                bots[seat].kill()
                await until(partial(_online, heard, terms), LIMIT_S)
                gap_s = time.monotonic() - began_s
                bots[seat] = _bot(folder, seat, mosquitto)
                await _goes_on(heard, height)
                _check_order(heard)
                yield FailOver(gap_s, height)


def _bot(folder: Path, seat: int, mosquitto: Mosquitto) -> ForkedBot:
    opens = ("--open", str(_SEATS)) if seat == 0 else ()
    more = ("--strength", "beginner", "--thinking", "0.3", "--rules", "pt", "--mqtt", mosquitto.url)
    return ForkedBot(folder / str(seat), *opens, *more)


async def _goes_on(heard: Collected, height: int) -> None:
    """Wait until the game is some entries further."""

    def is_further() -> bool:
        fresh = [one for one in heard.on(TOPICS.state) if not one.retain]
        return bool(fresh) and fresh[-1].json["height"] > height + 4

    await until(is_further, LIMIT_S)
    await asyncio.sleep(0.2)


def _online(heard: Collected, terms: int) -> bool:
    """Whether somebody publishes in a later term."""
    told = heard.on(TOPICS.availability)
    return told[-1].payload == b"online" and heard.on(TOPICS.publisher)[-1].json["term"] > terms


def _publisher(heard: Collected, folder: Path) -> int:
    """The seat's number of whoever publishes: its journal names its key."""
    node = heard.on(TOPICS.publisher)[-1].json["node"]
    for seat in range(_SEATS):
        for output in (folder / str(seat)).glob("output-*"):
            if f"node {node}" in output.read_text():
                return seat
    raise AssertionError(f"nobody is {node}")


def _check_order(heard: Collected) -> None:
    """Of each game the heights never fall; nobody goes online before the one before has gone."""
    highest: dict[str, int] = {}
    online = False
    for one in heard.messages:
        if one.topic in _COURSE and one.payload:
            message = one.json
            table, height = message["table"], message["height"]
            assert height >= highest.get(table, 0), f"{one.topic}: {height} after {highest[table]}"
            highest[table] = height
        elif one.topic == TOPICS.availability:
            assert not (online and one.payload == b"online"), "two at once"
            online = one.payload == b"online"
