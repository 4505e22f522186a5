"""`PageServer`: serves the player's page and keeps every open page up to date.

Who may come in: whoever has this start's token. `GET /?token=T` turns it into a cookie that scripts cannot read;
everything else needs the cookie. A foreign web page in the same browser is kept out by the Host header (a name that
was re-bound to our address is not ours), by the Origin of the WebSocket, and by the cookie's SameSite.

How a page is kept up to date: each page has one writing task and one flag. A change of the node only sets the flag,
so a slow page costs the node nothing: it gets the newest state when it can take it, and is cut off when it takes
nothing for `send_timeout_s`. Replies wait in a short queue; a page that does not read them is not read from either.

Lives in one event loop, the node's: `Desk` is called there and may call `changed` only from there.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Protocol
from urllib.parse import quote

from aiohttp import WSMsgType, web

from node.web.commands import PageRefusal, parse_command
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

__all__ = ["Desk", "Download", "PageLimits", "PageRefusal", "PageServer"]

_log = logging.getLogger(__name__)

_FOREIGN_HOST: Final = "This program does not answer under this address. Open the link that it showed when it started."
_OLD_LINK: Final = "This link is no longer valid. Open the link that the program shows now."
_NO_KEY: Final = "This page needs its key. Open the link that the program showed when it started."
_NO_GAME: Final = "There is no game to save."


@dataclass(frozen=True, slots=True)
class Download:
    """A file for the player to keep."""

    name: str
    data: bytes


class Desk(Protocol):
    """What a page talks to; the node implements it. None of these may block."""

    def snapshot(self) -> dict[str, Any]:
        """The whole state for this player, as plain data: the `state` message without its `type`."""
        ...

    def command(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Does what the page asks. The reply is for this page only. Raises `PageRefusal`.

        `message` went through `parse_command`.
        """
        ...

    def game_file(self) -> Download | None:
        """The file of the game at this table, as far as it is; None while there is none."""
        ...

    def watch(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Has `changed` called after every change of the snapshot, until the returned function is called."""
        ...


class PageServer:
    """Serves the pages of one player. `token` must be unguessable and new for every start.

    `extra_hosts` are further names or addresses under which the page may be opened, with or without a port.
    """

    def __init__(
        self, desk: Desk, *, token: str, extra_hosts: Iterable[str] = (), limits: PageLimits | None = None
    ) -> None:
        if len(token) < 16:
            raise ValueError("expected a token of at least 16 characters")
        self._desk = desk
        self._token = token
        self._extra_hosts = tuple(extra_hosts)
        self._limits = limits or PageLimits()
        self._static = load_static("node.web")
        self._links: set[_Link] = set()
        self._hosts: frozenset[str] = frozenset()
        self._cookie = ""
        self._runner: web.AppRunner | None = None

    @property
    def pages(self) -> int:
        """How many pages are connected just now."""
        return len(self._links)

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> str:
        """Begins to listen (`port` 0: any free one). Returns the link, with the token. Raises `OSError`."""
        assert self._runner is None, "already started"
        app = web.Application(middlewares=[self._guard])
        app.router.add_get("/", self._index)
        app.router.add_get("/favicon.ico", self._favicon)
        app.router.add_get("/static/{name}", self._file)
        app.router.add_get("/game-file", self._game_file)
        app.router.add_get("/ws", self._socket)
        app.on_shutdown.append(self._close_links)
        self._runner, bound = await listen(app, host, port, self._limits.close_timeout_s)
        own = () if is_everywhere(host) else (in_url(host),)
        names = ("127.0.0.1", "localhost", "[::1]", *own, *self._extra_hosts)
        self._hosts = frozenset(_with_port(name.lower(), bound) for name in names)
        # Cookies do not keep ports apart: two nodes on one machine must not overwrite each other's.
        self._cookie = f"rummesh-{bound}"
        return f"http://{own[0] if own else '127.0.0.1'}:{bound}/?token={self._token}"

    async def stop(self) -> None:
        """Closes every page's connection and stops listening. May be called twice."""
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    # Who may come in

    @web.middleware
    async def _guard(self, request: web.Request, handler: Callable[[web.Request], Any]) -> web.StreamResponse:
        hosts = request.headers.getall("Host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return refuse(_FOREIGN_HOST)
        if request.path == "/" and "token" in request.query:
            return self._let_in(request)
        if not self._is_token(request.cookies.get(self._cookie, "")):
            refusal = refuse(_NO_KEY)
            if request.path == "/" and request.headers.get("Sec-Fetch-Site") == "cross-site":
                # A link on another site was followed: the browser holds the cookie back until we ask ourselves.
                refusal.headers["Refresh"] = "0; url=/"
            return refusal
        response: web.StreamResponse = await handler(request)
        return response

    def _let_in(self, request: web.Request) -> web.Response:
        if not self._is_token(request.query["token"]):
            return refuse(_OLD_LINK)
        answer = web.Response(status=303, headers={"Location": "/"})
        answer.set_cookie(self._cookie, self._token, path="/", httponly=True, samesite="Strict")
        return answer

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), self._token.encode())

    # What they get

    async def _index(self, request: web.Request) -> web.Response:
        return static_answer(self._static, "index.html")

    async def _favicon(self, request: web.Request) -> web.Response:
        return static_answer(self._static, "favicon.svg")

    async def _file(self, request: web.Request) -> web.Response:
        return static_answer(self._static, request.match_info["name"])

    async def _game_file(self, request: web.Request) -> web.Response:
        file = self._desk.game_file()
        if file is None:
            return web.Response(status=404, text=_NO_GAME)
        named = f"attachment; filename*=UTF-8''{quote(file.name, safe='')}"
        return web.Response(
            body=file.data, content_type="application/octet-stream", headers={"Content-Disposition": named}
        )

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        return await serve_socket(
            request, self._limits, self._links, lambda socket: _Link(socket, self._desk, self._limits)
        )

    async def _close_links(self, _app: web.Application) -> None:
        await asyncio.gather(*(link.close() for link in tuple(self._links)))


class _Link:
    """One connected page."""

    def __init__(self, socket: web.WebSocketResponse, desk: Desk, limits: PageLimits) -> None:
        self.stuck = False  # took nothing for too long
        self._socket = socket
        self._desk = desk
        self._limits = limits
        self._stale = True  # the page has not seen the newest state
        self._wake = asyncio.Event()
        self._wake.set()
        self._replies: asyncio.Queue[dict[str, Any]] = asyncio.Queue(limits.replies)

    async def run(self) -> None:
        """Until the page is gone: its commands to the desk, replies and states to the page."""
        unwatch = self._desk.watch(self._changed)
        try:
            await until_one_ends(self._read(), self._write())
        finally:
            unwatch()

    async def close(self) -> None:
        await self._socket.close(code=1001, message=b"the program stops")

    def _changed(self) -> None:
        self._stale = True
        self._wake.set()

    async def _read(self) -> None:
        async for frame in self._socket:
            reply = self._answer(frame.data if frame.type is WSMsgType.TEXT else None)
            if reply is not None:
                await self._replies.put(reply)
                self._wake.set()

    def _answer(self, text: str | None) -> dict[str, Any] | None:
        kind = ""
        try:
            if text is None:
                raise PageRefusal("BAD-MESSAGE", "The page sent bytes instead of text.")
            command = parse_command(text)
            kind = command["type"]
            return self._desk.command(command)
        except PageRefusal as refusal:
            refused = {"type": "refused", "command": kind, "code": refusal.code, "sentence": refusal.sentence}
            return {**refused, "fields": refusal.fields} if refusal.fields else refused

    async def _write(self) -> None:
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                while not self._replies.empty():
                    await self._send(self._replies.get_nowait())
                if self._stale:
                    self._stale = False
                    await self._send({"type": "state", **self._desk.snapshot()})
        except TimeoutError:
            self.stuck = True
            _log.info("a page took nothing for %s s and was cut off", self._limits.send_timeout_s)
        except ConnectionError:
            _log.debug("a page went away while it was written to")

    async def _send(self, message: dict[str, Any]) -> None:
        async with asyncio.timeout(self._limits.send_timeout_s):
            await self._socket.send_str(packed(message))


def _with_port(name: str, port: int) -> str:
    """`name` with `port` unless it has one; an IPv6 address gets its brackets."""
    if name.startswith("["):
        return name if not name.endswith("]") else f"{name}:{port}"
    if name.count(":") > 1:
        return f"[{name}]:{port}"
    return name if ":" in name else f"{name}:{port}"
