"""`rummesh party`: feed, page and file of results, until it is stopped."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import os
import webbrowser
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from node import notify
from node.commands import until_stopped
from node.config import ConfigError
from node.discovery import machine_addresses
from node.files import take_lock, write_whole
from node.mqtt.broker import Broker
from node.mqtt.party.board import PartyBoard
from node.mqtt.party.feed import Feed
from node.mqtt.party.resultsfile import FILE_NAME, read, text_of
from node.mqtt.party.server import PartyServer
from node.web.serving import in_url, is_everywhere, until_one_ends

_HERE: Final = ("localhost", "127.0.0.1", "::1")
SAVE_AFTER_S: Final = 1.0
SAVE_AGAIN_S: Final = 30.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PartyOptions:
    """What `rummesh party` was asked for."""

    broker: Broker
    host: str
    port: int
    browser: bool
    data: Path


class Saver:
    """Keeps the finished games of `board` in the file `path`."""

    def __init__(self, path: Path, board: PartyBoard) -> None:
        self._path = path
        self._board = board
        self._saved = board.standings_version
        self._news = asyncio.Event()

    def changed(self) -> None:
        """There may be more finished games."""
        if self._saved != self._board.standings_version:
            self._news.set()

    async def run(self) -> None:
        """Until it is cancelled; `save` once more then."""
        while True:
            await self._news.wait()
            self._news.clear()
            await asyncio.sleep(SAVE_AFTER_S)
            if not await self.save():
                await asyncio.sleep(SAVE_AGAIN_S)
                self._news.set()

    async def save(self) -> bool:
        """Whether all finished games are on the disk now."""
        version = self._board.standings_version
        if version == self._saved:
            return True
        try:
            await asyncio.to_thread(write_whole, self._path, text_of(self._board.book))
        except OSError as error:
            _log.error("the results cannot be written to %s: %s", self._path, error.strerror)
            return False
        self._saved = version
        return True


async def run_party(options: PartyOptions) -> None:
    """All tables of a broker on one page, until Ctrl-C or SIGTERM. Raises `ConfigError`, `OSError`."""
    path = options.data / FILE_NAME
    try:
        lock = take_lock(path.with_name(path.name + ".lock"))
    except BlockingIOError:
        raise ConfigError(f"Another `rummesh party` uses {options.data}: give this one a folder (--data).") from None
    try:
        board = PartyBoard(options.broker.prefix, read(path))
        await _serve(options, board, Saver(path, board))
    finally:
        os.close(lock)


async def _serve(options: PartyOptions, board: PartyBoard, saver: Saver) -> None:
    def changed() -> None:
        server.changed()
        saver.changed()

    feed = Feed(options.broker, board, changed)
    server = PartyServer(board, lambda: feed.in_contact, command=_publishing(options.broker))
    async with until_stopped() as stopped:
        try:
            url = await server.start(options.host, options.port)
            server.phones = _for_phones(options.host, url)
            click.echo(f"All tables of {options.broker}: {url}")
            if server.phones is not None:
                click.echo(f"For phones in the same network: {server.phones}")
            if options.browser:
                await asyncio.to_thread(webbrowser.open, url)
            async with notify.service():
                await until_one_ends(feed.run(), saver.run(), _until(stopped))
        finally:
            await server.stop()
            await saver.save()


async def _until(stopped: asyncio.Event) -> None:
    await stopped.wait()


def _publishing(broker: Broker) -> str:
    """What somebody types for a table on this page; a broker on this machine has another name there."""
    if broker.host in _HERE:
        found = machine_addresses()
        broker = dataclasses.replace(broker, host=found[0] if found else broker.host)
    prefix = "" if broker.prefix == "rummesh" else f" --mqtt-prefix {broker.prefix}"
    url = str(broker).removesuffix(":8883" if broker.tls else ":1883")
    return f"rummesh play --mqtt {url}{prefix}"


def _for_phones(host: str, url: str) -> str | None:
    """The page's address for others in the network; None if they cannot reach it."""
    port = url.rpartition(":")[2]
    if is_everywhere(host):
        found = machine_addresses()
        return f"http://{in_url(found[0])}:{port}" if found else None
    return None if host in _HERE else url
