"""What the long-running commands do: build nodes, players and the page, run until they are told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import getpass
import signal
import webbrowser
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from engine.rulesets import RuleSet
from engine.strength import Strength
from node import notify
from node.app import Node, NodeError
from node.browse import browse
from node.clock import random_bytes
from node.config import NodeSettings
from node.desk import NodeDesk
from node.hall import TableSeen
from node.mqtt.publishing import published
from node.players import BotPlayer
from node.web.server import PageServer
from node.web.serving import until_one_ends
from protocol.roster import clean_name

if TYPE_CHECKING:
    from display.options import DeviceOptions
    from node.mqtt.broker import Broker
    from node.mqtt.publishing import MqttOptions

LOOPBACK: Final = "127.0.0.1"
BOT_NAMES: Final = ("Iris", "Otto", "Mila", "Hugo", "Vera")
FIND_TABLE_S: Final = 2.5


@dataclass(frozen=True, slots=True)
class PlayOptions:
    """What `rummesh play` was asked for."""

    name: str | None
    rules: RuleSet
    bots: int
    table: str | None
    port: int
    peers: tuple[tuple[str, int], ...]
    page_port: int
    browser: bool
    loopback: bool
    data: Path
    strength: Strength = Strength.SOLID  # the bots'
    thinking_s: tuple[float, float] | None = None  # the bots'; None: as a person
    rejoin: bool = False
    display: DeviceOptions | None = None
    mqtt: MqttOptions | None = None


@dataclass(frozen=True, slots=True)
class BotOptions:
    """What `rummesh bot` was asked for. `seats` None: join, do not open."""

    table: str
    name: str
    seats: int | None
    rules: RuleSet
    strength: Strength
    thinking_s: tuple[float, float] | None
    once: bool
    port: int
    peers: tuple[tuple[str, int], ...]
    loopback: bool
    data: Path
    rejoin: bool = False
    by_button: bool = False
    mqtt: MqttOptions | None = None


@dataclass(frozen=True, slots=True)
class DisplayOptions:
    """What `rummesh display` was asked for. `table` None: the only one there is.

    With a `broker` it follows a table there, and takes no part in the network of the players.
    """

    table: str | None
    name: str
    device: DeviceOptions
    port: int
    peers: tuple[tuple[str, int], ...]
    loopback: bool
    data: Path
    broker: Broker | None = None
    command_key: str | None = field(default=None, repr=False)


class BotHouse:
    """The bots of one process: nodes of their own, which join the tables of one player's node."""

    def __init__(self, owner: Node, options: PlayOptions) -> None:
        self._owner = owner
        self._options = options
        self._nodes: list[Node] = []
        self._players: list[BotPlayer] = []
        self._starting: set[asyncio.Task[None]] = set()
        self._coming = 0

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The bots' nodes."""
        return tuple(self._nodes)

    async def bring(self, count: int) -> None:
        """Start bots until there are `count`."""
        while len(self._nodes) < count:
            await self._bring_one(len(self._nodes))

    def bring_another(self) -> None:
        """Start one more, in the background. Raises `NodeError` if there are enough."""
        index = len(self._nodes) + len(self._starting)
        if index >= len(BOT_NAMES):
            raise NodeError("There are no more bots.")
        task = asyncio.get_running_loop().create_task(self._bring_one(index))
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    async def stop(self) -> None:
        """Send all bots home."""
        if self._starting:
            await asyncio.gather(*self._starting, return_exceptions=True)
        for player in self._players:
            player.stop()
        for node in self._nodes:
            await node.stop()

    async def _bring_one(self, index: int) -> None:
        settings = NodeSettings(
            name=BOT_NAMES[index],
            data=self._options.data / "bots" / str(index + 1),
            bot=True,
            host=LOOPBACK if self._options.loopback else None,
            peers=self._options.peers,
            interfaces=(LOOPBACK,) if self._options.loopback else None,
            strength=self._options.strength,
            thinking_s=self._options.thinking_s,
        )
        node = Node(settings)
        self._nodes.append(node)
        self._players.append(BotPlayer(node, self._wanted))
        await node.start()

    def _wanted(self, table: TableSeen) -> bool:
        session = self._owner.session
        return session is not None and session.table == table.table


async def run_play(options: PlayOptions) -> None:
    """The player's node, its bots and its page, until Ctrl-C or SIGTERM."""
    name = clean_name(options.name or _user_name()) or "Player"
    node = Node(
        NodeSettings(
            name=name,
            data=options.data,
            host=LOOPBACK if options.loopback else None,
            port=options.port,
            peers=options.peers,
            interfaces=(LOOPBACK,) if options.loopback else None,
            rejoin=options.rejoin,
        )
    )
    bots = BotHouse(node, options)
    desk = NodeDesk(node, bots.bring_another)
    page = PageServer(desk, token=random_bytes(24).hex())
    async with until_stopped() as stopped, _own_display(node, desk, options.display):
        try:
            await node.start()
            if node.session is None:
                await _find_or_open(node, options, name)
            url = await page.start(port=options.page_port)
            click.echo(f"Rummesh is ready. Your page: {url}")
            click.echo("Stop with Ctrl-C; a running game is taken up again at the next start.")
            await bots.bring(options.bots)
            if options.browser:
                await asyncio.to_thread(webbrowser.open, url)
            async with published(node, options.mqtt), notify.service():
                await stopped.wait()
        finally:
            await page.stop()
            await bots.stop()
            await node.stop()


@contextlib.asynccontextmanager
async def _own_display(node: Node, desk: NodeDesk, options: DeviceOptions | None) -> AsyncIterator[None]:
    """The player's own display at work meanwhile, if there is one."""
    if options is None:
        yield
        return
    from node.device.own import OwnDisplay
    from node.device.run import hardware_of

    own = OwnDisplay(node, desk)
    try:
        async with hardware_of(own, options):
            yield
    finally:
        own.stop()


async def run_display(options: DisplayOptions) -> None:
    """The table device, until Ctrl-C or SIGTERM."""
    if options.broker is not None:
        await _run_remote_display(options, options.broker)
        return
    from node.device.run import hardware_of
    from node.device.table import TableDevice

    node = Node(
        NodeSettings(
            name=clean_name(options.name) or "Clock",
            data=options.data,
            host=LOOPBACK if options.loopback else None,
            port=options.port,
            peers=options.peers,
            interfaces=(LOOPBACK,) if options.loopback else None,
            device=True,
            rejoin=True,  # it has signed nothing that it must not contradict
        )
    )
    device = TableDevice(node, options.table)
    async with until_stopped() as stopped:
        try:
            await node.start()
            click.echo(f"node {node.node_id.hex()} listens on port {node.port}")
            async with hardware_of(device, options.device), notify.service():
                await stopped.wait()
        finally:
            device.stop()
            await node.stop()


async def _run_remote_display(options: DisplayOptions, broker: Broker) -> None:
    from node.device.run import hardware_of
    from node.mqtt.remotedisplay import RemoteDisplay

    key = None if options.command_key is None else options.command_key.encode()
    display = RemoteDisplay(broker, options.table, key)
    click.echo(f"follows {options.table or 'the only table'} at {broker}")
    async with until_stopped() as stopped, hardware_of(display, options.device), notify.service():
        await until_one_ends(display.run(), _until(stopped))


async def _until(stopped: asyncio.Event) -> None:
    await stopped.wait()


async def _find_or_open(node: Node, options: PlayOptions, name: str) -> None:
    """With `--table`: join it if somebody else has it open, else open it. With bots: open a table for them."""
    if options.table is not None:
        found = await _table_named(node, options.table)
        if found is not None:
            node.join(found.table)
            return
        node.open_table(options.table, options.rules)
    elif options.bots:
        node.open_table(f"{name}'s table", options.rules)


async def _table_named(node: Node, name: str) -> TableSeen | None:
    """The open table of that name, if it shows up soon."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(FIND_TABLE_S):
            async for tables in _hall_changes(node):
                for table in tables:
                    if table.name == name and table.phase == "lobby":
                        return table
    return None


async def _hall_changes(node: Node) -> AsyncIterator[tuple[TableSeen, ...]]:
    changed = asyncio.Event()
    unwatch = node.watch(changed.set)
    try:
        while True:
            yield node.hall.tables()
            await changed.wait()
            changed.clear()
    finally:
        unwatch()


async def run_bot(options: BotOptions) -> None:
    """A headless node that plays at one table."""
    node = Node(
        NodeSettings(
            name=clean_name(options.name) or "Bot",
            data=options.data,
            bot=True,
            host=LOOPBACK if options.loopback else None,
            port=options.port,
            peers=options.peers,
            interfaces=(LOOPBACK,) if options.loopback else None,
            strength=options.strength,
            thinking_s=options.thinking_s,
            rejoin=options.rejoin,
            by_button=options.by_button,
        )
    )
    player = BotPlayer(node, lambda table: table.name == options.table, options.seats or 0)
    async with until_stopped() as stopped:
        node.watch(lambda: _report(node, stopped if options.once else None, said))
        said: set[str] = set()
        try:
            await node.start()
            click.echo(f"node {node.node_id.hex()} listens on port {node.port}")
            async with published(node, options.mqtt), notify.service():
                if options.seats is not None and node.session is None:
                    node.open_table(options.table, options.rules)
                await stopped.wait()
        finally:
            player.stop()
            await node.stop()


def _report(node: Node, stop: asyncio.Event | None, said: set[str]) -> None:
    """Print, once each, that the game begins and how it ended."""
    session = node.session
    if session is None or session.game is None:
        return
    game = session.game
    lines = [f"game at table {session.table.hex()} begins, {len(game.genesis.members)} seats"]
    if game.over and game.state.result is not None:
        lines.append(f"game over after {game.state.turn_number} turns: scores {list(game.state.result.scores)}")
        lines.append(f"log {len(session.log)} entries, hash {game.head.hex()}")
    for line in lines:
        if line not in said:
            said.add(line)
            click.echo(line)
    if game.over and stop is not None:
        # Stay a little longer, so that who lags can still fetch the last entries.
        asyncio.get_running_loop().call_later(3.0, stop.set)


async def tables_seen(seconds: float, *, loopback: bool) -> list[dict[str, Any]]:
    """The tables heard of within `seconds`, as plain data."""
    tables = await browse(seconds, (LOOPBACK,) if loopback else None)
    return [
        {
            "id": table.table.hex(),
            "name": clean_name(table.name),
            "rules": table.rules,
            "phase": table.phase,
            "seats": table.seats,
            "free": table.free,
        }
        for table in tables
    ]


@contextlib.asynccontextmanager
async def until_stopped() -> AsyncIterator[asyncio.Event]:
    """An event that Ctrl-C and SIGTERM set."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    handled: list[signal.Signals] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError, RuntimeError):
            loop.add_signal_handler(number, stopped.set)
            handled.append(number)
    try:
        yield stopped
    finally:
        for number in handled:
            loop.remove_signal_handler(number)


def _user_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "Player"
