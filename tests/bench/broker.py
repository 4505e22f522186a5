"""How soon displays show what 200 tables on one broker do, and how much it bears: real mosquitto, real connections.

Each table is a publisher's connection of its own that repeats the messages of a simulated game at a given pace. Each
display is a connection of its own, subscribed to all of one table; it reads the state as a display does. What is
measured is the time from the commit, which stands in the message, to the moment when the display has read it. Broker,
publishers and displays share this machine.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import random
import resource
import statistics
import struct
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from rich.table import Table

from engine.rulesets import RULE_SETS
from node.mqtt.broker import Broker, connected
from node.mqtt.messages import plain_of, state_of
from node.mqtt.payloads import packed
from node.mqtt.topics import Topics
from node.simulation import finished
from tests.mqtt.broadcast import BroadcastTable
from tests.mqtt.mosquitto import HOST, Mosquitto

TABLES: Final = 200
DISPLAYS: Final = 2000
PACES: Final = (0.2, 1.0, 2.0, 4.0, 8.0, 16.0)  # commits a second at each table
PHASE_S: Final = 12.0
_SETTLE_S: Final = 3.0  # of each phase, not counted
_CONNECT_S: Final = 20.0
_READERS: Final = 2  # processes
_TICKS: Final = os.sysconf("SC_CLK_TCK")

Commit = list[tuple[str, dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Phase:
    """So many commits a second and table, from one moment of the wall clock to another."""

    pace: float
    from_s: float
    to_s: float


@dataclass(slots=True)
class Seen:
    """What displays saw of one phase: seconds from commit to screen, and messages in all."""

    lags_s: list[float] = field(default_factory=list)
    messages: int = 0


@dataclass(frozen=True, slots=True)
class Load:
    """One phase: what came, and what it cost, in cores."""

    phase: Phase
    commits: int
    seen: Seen
    cores: dict[str, float]


class Display(asyncio.Protocol):
    """A subscriber in as few steps as MQTT 3.1.1 (OASIS, 2014) allows: one connection, one filter, QoS 0."""

    def __init__(self, number: int, table: str, phases: Sequence[Phase], seen: Sequence[Seen]) -> None:
        self._name, self._filter = f"display-{number}".encode(), f"rummesh/{table}/#".encode()
        self._state = f"rummesh/{table}/state".encode()
        self._phases, self._seen = phases, seen
        self._waiting = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        hello = b"\0\4MQTT\4\2\0\0" + _text(self._name)  # clean session, no keepalive
        ask = b"\0\1" + _text(self._filter) + b"\0"
        transport.write(b"\x10" + bytes([len(hello)]) + hello + b"\x82" + bytes([len(ask)]) + ask)

    def data_received(self, data: bytes) -> None:
        data, start = self._waiting + data, 0
        while (packet := _next_packet(data, start)) is not None:
            kind, body, start = packet
            if kind & 0xF0 == 0x30:
                end = 2 + struct.unpack_from(">H", body)[0]
                self._take(body[2:end], body[end:])
        self._waiting = data[start:]

    def _take(self, topic: bytes, payload: bytes) -> None:
        now_s = time.time()
        place = next((place for place, phase in enumerate(self._phases) if phase.from_s <= now_s < phase.to_s), None)
        if place is None:
            return
        self._seen[place].messages += 1
        if topic == self._state:
            plain = plain_of(payload)
            state_of(plain)
            assert isinstance(plain, dict)
            at_s = plain["at"]
            if at_s >= self._phases[place].from_s:
                self._seen[place].lags_s.append(time.time() - at_s)


def _next_packet(data: bytes, start: int) -> tuple[int, bytes, int] | None:
    """Kind, body, and where the next one begins; None if it is not all there."""
    size, shift, place = 0, 0, start + 1
    while True:
        if place >= len(data):
            return None
        byte = data[place]
        size |= (byte & 0x7F) << shift
        shift, place = shift + 7, place + 1
        if byte < 0x80:
            break
    return (data[start], data[place : place + size], place + size) if place + size <= len(data) else None


def _text(data: bytes) -> bytes:
    return struct.pack(">H", len(data)) + data


def course(rules: str, seats: int, seed: int) -> list[Commit]:
    """What is published at each commit of a simulated game."""
    commits: list[Commit] = []
    height = -1

    def heard(topic: str, message: dict[str, Any]) -> None:
        nonlocal height
        if message["height"] != height:
            height = message["height"]
            commits.append([])
        commits[-1].append((topic, message))

    table = BroadcastTable(RULE_SETS[rules], seats, seed, heard)
    for _now_s in table.steps():
        table.publish()
        if all(finished(node.session) for node in table.nodes):
            break
    return commits


def _read(port: int, numbers: range, phases: Sequence[Phase], to: Any) -> None:
    """A process of displays."""
    _many_files()
    seen = [Seen() for _phase in phases]

    async def main() -> None:
        loop = asyncio.get_running_loop()
        for number in numbers:
            display = partial(Display, number, f"table-{number % TABLES}", phases, seen)
            await loop.create_connection(display, HOST, port)
        await asyncio.sleep(phases[-1].to_s + 1 - time.time())

    asyncio.run(main())
    to.put(seen)


def _play(broker: Broker, courses: Sequence[Sequence[Commit]], phases: Sequence[Phase], to: Any) -> None:
    """A process of tables."""
    _many_files()
    commits = [0] * len(phases)

    async def table(number: int) -> None:
        rng = random.Random(number)
        topics, course = Topics("rummesh", f"table-{number}"), courses[number % len(courses)]
        at = {"state": topics.state, "clock": topics.clock, "board": topics.board}
        next_one = 0
        async with connected(broker) as client:
            for place, phase in enumerate(phases):
                due_s = phase.from_s + rng.random() / phase.pace
                while due_s < phase.to_s:
                    await asyncio.sleep(max(0.0, due_s - time.time()))
                    at_s = time.time()
                    for part, message in course[next_one % len(course)]:
                        await client.publish(at[part], packed({**message, "at": at_s}), qos=1, retain=True)
                    next_one += 1
                    commits[place] += at_s >= phase.from_s + _SETTLE_S
                    due_s = max(due_s + 1 / phase.pace, time.time() - 1.0)

    async def main() -> None:
        await asyncio.gather(*(table(number) for number in range(TABLES)))

    asyncio.run(main())
    to.put(commits)


def measure(paces: Sequence[float] = PACES) -> list[Load]:
    """One phase for each pace."""
    _many_files()
    names = sorted(RULE_SETS)
    courses = [course(names[seed % len(names)], 2 + seed % 3, seed) for seed in range(8)]
    begin_s = time.time() + _CONNECT_S
    whole = [
        Phase(pace, begin_s + place * PHASE_S, begin_s + (place + 1) * PHASE_S) for place, pace in enumerate(paces)
    ]
    counted = [Phase(phase.pace, phase.from_s + _SETTLE_S, phase.to_s) for phase in whole]
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder, Mosquitto(Path(folder)) as broker:
        to, commits_to = context.Queue(), context.Queue()
        share = DISPLAYS // _READERS
        readers = [
            context.Process(target=_read, args=(broker.port, range(part * share, (part + 1) * share), counted, to))
            for part in range(_READERS)
        ]
        tables = context.Process(target=_play, args=(broker.broker(), courses, whole, commits_to))
        for process in (*readers, tables):
            process.start()
        assert tables.pid is not None
        who = {"broker": [broker.pid], "tables": [tables.pid], "displays": [one.pid for one in readers if one.pid]}
        cores = [_cores(phase, who) for phase in counted]
        seen = [to.get() for _reader in readers]
        commits = commits_to.get()
        for process in (*readers, tables):
            process.join()
    return [
        Load(
            phase,
            commits[place],
            Seen([lag for one in seen for lag in one[place].lags_s], sum(one[place].messages for one in seen)),
            cores[place],
        )
        for place, phase in enumerate(counted)
    ]


def _cores(phase: Phase, who: dict[str, list[int]]) -> dict[str, float]:
    """What each kind of process takes of the processor in a phase, in cores."""
    time.sleep(max(0.0, phase.from_s - time.time()))
    before, began_s = {name: sum(map(_ticks, ids)) for name, ids in who.items()}, time.time()
    time.sleep(max(0.0, phase.to_s - time.time()))
    took_s = time.time() - began_s
    return {name: (sum(map(_ticks, ids)) - before[name]) / _TICKS / took_s for name, ids in who.items()}


def _ticks(process: int) -> int:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def _many_files() -> None:
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def shown(loads: Sequence[Load]) -> Table:
    """The figures."""
    table = Table(
        "Commits a second, each table",
        "all",
        "Messages to displays a second",
        "Commit to display, ms: median",
        "99th",
        "most",
        "Cores: broker",
        "tables",
        "displays",
    )
    for load in loads:
        seconds = load.phase.to_s - load.phase.from_s
        lags_ms = sorted(1000 * lag for lag in load.seen.lags_s)
        cuts = statistics.quantiles(lags_ms, n=100) if len(lags_ms) > 1 else [0.0] * 99
        table.add_row(
            f"{load.phase.pace:g}",
            f"{load.commits / seconds:.0f}",
            f"{load.seen.messages / seconds:,.0f}",
            f"{cuts[49]:.1f}",
            f"{cuts[98]:.1f}",
            f"{lags_ms[-1] if lags_ms else 0:.0f}",
            *(f"{load.cores[name]:.2f}" for name in ("broker", "tables", "displays")),
        )
    return table


if __name__ == "__main__":
    from rich.console import Console

    Console().print(shown(measure()))
