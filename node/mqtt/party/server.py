"""`PartyServer`: serves the page with all tables, and keeps every open one up to date.

All of it is for everybody's eyes, so there is no key. A foreign web page in somebody's browser is kept out all the
same: by the Host header (a name of its own that was bound to our address is not ours, while an address cannot be
re-bound) and by the Origin of the WebSocket.

Each page has one writing task that remembers which version of what the page has: a change only sets a flag, at most
every `PAUSE_S` the page gets what it lacks, and one that takes nothing for `send_timeout_s` is cut off. What lies on
the tables is sent only to those who look at them.
"""

from __future__ import annotations

import asyncio
import io
import json
import logging
import re
import socket
from collections.abc import Callable
from typing import Any, Final

import segno
from aiohttp import WSMsgType, web

from node.clock import monotonic_s
from node.mqtt.party.board import MAX_TABLES, PartyBoard
from node.sockets import is_address
from node.web.serving import (
    PageLimits,
    in_url,
    is_everywhere,
    listen,
    load_static,
    packed,
    refuse,
    serve_socket,
    static_answer,
    until_one_ends,
)

PAUSE_S: Final = 0.2
MAX_LOOKED_AT: Final = 12
LIMITS: Final = PageLimits(message_bytes=4096, pages=256)
SHARED: Final = (
    "board.js",
    "choice.js",
    "dom.js",
    "favicon.svg",
    "places.js",
    "players.js",
    "socket.js",
    "style.css",
    "tiles.js",
    "words.js",
)

_HOST: Final = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?")
_FOREIGN_HOST: Final = "This program does not answer under this name. Open the address that it showed at its start."

_log = logging.getLogger(__name__)


class PartyServer:
    """Serves what `board` knows. `in_contact`: whether the broker can be heard. `command`: what to type for a table.

    `phones` is the address to show to phones in the room, None if they cannot reach it.
    """

    def __init__(
        self,
        board: PartyBoard,
        in_contact: Callable[[], bool],
        *,
        command: str = "",
        limits: PageLimits = LIMITS,
        pause_s: float = PAUSE_S,
    ) -> None:
        self.board = board
        self.in_contact = in_contact
        self.limits = limits
        self.pause_s = pause_s
        self.phones: str | None = None
        self._command = command
        self._static = load_static("node.web", SHARED.__contains__) | load_static("node.mqtt.party")
        self._links: set[_Link] = set()
        self._names: frozenset[str] = frozenset()
        self._texts: dict[str, tuple[int, str]] = {}
        self._runner: web.AppRunner | None = None

    @property
    def pages(self) -> int:
        """How many pages are connected just now."""
        return len(self._links)

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> str:
        """Begins to listen (`port` 0: any free one). Returns the page's address. Raises `OSError`."""
        app = web.Application(middlewares=[self._guard])
        app.router.add_get("/", self._file)
        app.router.add_get("/favicon.ico", self._file)
        app.router.add_get("/static/{name}", self._file)
        app.router.add_get("/phones.svg", self._code)
        app.router.add_get("/ws", self._socket)
        app.on_shutdown.append(self._close_links)
        name = socket.gethostname().lower()
        self._names = frozenset(("localhost", name, f"{name}.local", host.lower()))
        self._runner, bound = await listen(app, host, port, self.limits.close_timeout_s)
        everywhere = is_everywhere(host)
        return f"http://{'127.0.0.1' if everywhere else in_url(host)}:{bound}"

    async def stop(self) -> None:
        """Closes every page's connection and stops listening. May be called twice."""
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    def changed(self) -> None:
        """There is something new to see."""
        for link in self._links:
            link.wake.set()

    def card_text(self, name: str, version: int) -> str:
        """The card of a table as JSON."""
        known = self._texts.get(name)
        if known is None or known[0] != version:
            if len(self._texts) >= 2 * MAX_TABLES:  # most of them of tables that have gone
                self._texts.clear()
            known = self._texts[name] = (version, packed(self.board.card(name)))
        return known[1]

    def standings(self) -> dict[str, Any]:
        """How everybody stands, as plain data."""
        stands = self.board.standings()
        rows = [[row.place, row.name, row.bot, row.played, row.won, row.points] for row in stands.rows]
        return {
            "rows": rows,
            "games": stands.games,
            "tables": stands.tables,
            "rules": stands.rules,
            "since": stands.since,
        }

    def about(self) -> dict[str, Any]:
        """What does not change."""
        return {"phones": self.phones, "command": self._command}

    @web.middleware
    async def _guard(self, request: web.Request, handler: Callable[[web.Request], Any]) -> web.StreamResponse:
        hosts = request.headers.getall("Host", [])
        named = _HOST.fullmatch(hosts[0].lower()) if len(hosts) == 1 else None
        if named is None or not (named[1] in self._names or is_address(named[1].strip("[]"))):
            return refuse(_FOREIGN_HOST)
        response: web.StreamResponse = await handler(request)
        return response

    async def _file(self, request: web.Request) -> web.Response:
        name = {"/": "index.html", "/favicon.ico": "favicon.svg"}.get(request.path) or request.match_info["name"]
        return static_answer(self._static, name)

    async def _code(self, request: web.Request) -> web.Response:
        """The phones' address as a QR code."""
        if self.phones is None:
            return web.Response(status=404, text="Phones cannot look: the page is for this machine only.")
        drawn = io.BytesIO()
        segno.make(self.phones, error="m").save(drawn, kind="svg", border=2, light="#fff", omitsize=True)
        return web.Response(body=drawn.getvalue(), content_type="image/svg+xml")

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        return await serve_socket(request, self.limits, self._links, lambda opened: _Link(opened, self))

    async def _close_links(self, _app: web.Application) -> None:
        await asyncio.gather(*(link.close() for link in tuple(self._links)))


class _Link:
    """One connected page, and what it has."""

    def __init__(self, opened: web.WebSocketResponse, server: PartyServer) -> None:
        self.stuck = False  # took nothing for too long
        self.wake = asyncio.Event()
        self.wake.set()
        self._socket = opened
        self._server = server
        self._cards: dict[str, int] = {}  # versions
        self._looks_at: dict[str, int | None] = {}  # names in topics, and versions of what lies there
        self._standings = 0
        self._in_contact: bool | None = None

    async def run(self) -> None:
        """Until the page is gone."""
        await until_one_ends(self._read(), self._write())

    async def close(self) -> None:
        await self._socket.close(code=1001, message=b"the program stops")

    async def _read(self) -> None:
        async for frame in self._socket:
            wanted = _looked_at(frame.data) if frame.type is WSMsgType.TEXT else None
            if wanted is not None:
                self._looks_at = {name: self._looks_at.get(name) for name in wanted}
                self.wake.set()

    async def _write(self) -> None:
        limit_s = self._server.limits.send_timeout_s
        try:
            while True:
                await self.wake.wait()
                self.wake.clear()
                text = self._news()
                if text is not None:
                    async with asyncio.timeout(limit_s):
                        await self._socket.send_str(text)
                    await asyncio.sleep(self._server.pause_s)
        except TimeoutError:
            self.stuck = True
            _log.info("a page took nothing for %s s and was cut off", limit_s)
        except ConnectionError:
            _log.debug("a page went away while it was written to")

    def _news(self) -> str | None:
        """What the page does not have yet, as JSON; None if it has everything."""
        server, board = self._server, self._server.board
        parts: list[str] = []
        if self._in_contact is None:
            parts.append(f'"about":{packed(server.about())}')
        if self._in_contact != server.in_contact():
            self._in_contact = server.in_contact()
            parts.append(f'"contact":{json.dumps(self._in_contact)}')
        now = dict(board.cards())
        fresh = [name for name, version in now.items() if self._cards.get(name) != version]
        gone = [name for name in self._cards if name not in now]
        self._cards = now
        if fresh:
            cards = ",".join(f"{json.dumps(name)}:{server.card_text(name, now[name])}" for name in fresh)
            parts.append(f'"tables":{{{cards}}}')
        if gone:
            parts.append(f'"gone":{json.dumps(gone)}')
        if melds := self._new_melds():
            parts.append(f'"boards":{packed(melds)}')
        if self._standings != board.standings_version:
            self._standings = board.standings_version
            parts.append(f'"standings":{packed(server.standings())}')
        return f'{{"now_s":{monotonic_s():.3f},{",".join(parts)}}}' if parts else None

    def _new_melds(self) -> dict[str, Any]:
        board = self._server.board
        melds: dict[str, Any] = {}
        for name, had in self._looks_at.items():
            version = board.board_version(name)
            if version is not None and version != had:
                self._looks_at[name] = version
                melds[name] = board.melds(name)
        return melds


def _looked_at(text: str) -> list[str] | None:
    """The names of the tables in `{"look": [...]}`; None for anything else."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return None
    match said:
        case {"look": list(names)} if len(names) <= MAX_LOOKED_AT and all(isinstance(name, str) for name in names):
            return names
    return None
