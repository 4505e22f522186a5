"""What the servers of all our pages have in common: their files, headers, sockets for their own pages only."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final, Protocol, TypeVar

from aiohttp import web

from node.tasks import end

Files = dict[str, tuple[bytes, str]]

_CONTENT_TYPES: Final = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
_FOREIGN_PAGE: Final = "Another web page may not talk to this program."
_TOO_MANY: Final = "Too many pages are open. Close one of them and try again."


@dataclass(frozen=True, slots=True)
class PageLimits:
    """What one page may cost. Seconds and bytes."""

    heartbeat_s: float = 15.0  # a page that does not answer for half of this is gone
    message_bytes: int = 32 * 1024
    send_timeout_s: float = 10.0
    close_timeout_s: float = 1.0
    pages: int = 16
    replies: int = 32


class Link(Protocol):
    """One connected page. `stuck`: it took nothing for too long."""

    stuck: bool

    async def run(self) -> None: ...


L = TypeVar("L", bound=Link)


def load_static(package: str, wanted: Callable[[str], bool] = lambda _name: True) -> Files:
    """Name to bytes and content type of the files in a package's folder `static`. Nothing else can be asked for."""
    files = {}
    for entry in resources.files(package).joinpath("static").iterdir():
        content_type = _CONTENT_TYPES.get("." + entry.name.rpartition(".")[2])
        if entry.is_file() and content_type is not None and wanted(entry.name):
            files[entry.name] = (entry.read_bytes(), content_type)
    return files


def static_answer(files: Files, name: str) -> web.Response:
    """The file of this name, or that there is none."""
    if name not in files:
        return web.Response(status=404, text="There is no such file.")
    body, content_type = files[name]
    return web.Response(body=body, content_type=content_type, charset="utf-8")


async def listen(app: web.Application, host: str, port: int, close_timeout_s: float) -> tuple[web.AppRunner, int]:
    """The running server and its port (`port` 0: any free one). Every answer has the headers. Raises `OSError`."""
    app.on_response_prepare.append(_add_headers)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=close_timeout_s)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
    except BaseException:
        await runner.cleanup()
        raise
    return runner, runner.addresses[0][1]


async def _open_socket(request: web.Request, limits: PageLimits, pages: int) -> web.WebSocketResponse | web.Response:
    """A socket for one of our own pages, or the refusal. `pages`: how many there are now."""
    if request.headers.get("Origin", "").lower() != f"http://{request.headers['Host'].lower()}":
        return refuse(_FOREIGN_PAGE)
    if pages >= limits.pages:
        return web.Response(status=503, text=_TOO_MANY)
    socket = web.WebSocketResponse(
        heartbeat=limits.heartbeat_s,
        timeout=limits.close_timeout_s,
        max_msg_size=limits.message_bytes,
        compress=False,
    )
    if not socket.can_prepare(request).ok:
        return web.Response(status=426, text="This address is for the page's own connection.")
    await socket.prepare(request)
    return socket


async def serve_socket(
    request: web.Request, limits: PageLimits, links: set[L], linked: Callable[[web.WebSocketResponse], L]
) -> web.StreamResponse:
    """Lets a page in, or not, and keeps its link among `links` while it is there. One that is stuck is cut off."""
    socket = await _open_socket(request, limits, len(links))
    if isinstance(socket, web.Response):
        return socket
    link = linked(socket)
    links.add(link)
    try:
        await link.run()
    finally:
        links.discard(link)
        if link.stuck and request.transport is not None:
            request.transport.abort()
    return socket


async def until_one_ends(*works: Coroutine[Any, Any, None]) -> None:
    """Runs them side by side; when one ends or fails the others are cancelled."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await end(tasks)
    for task in tasks:
        if not task.cancelled():
            task.result()


def packed(message: dict[str, Any]) -> str:
    """A message as it goes to a page. Escaped to ASCII: whatever text a peer may have sent, this can be encoded."""
    return json.dumps(message, separators=(",", ":"), allow_nan=False)


def refuse(sentence: str) -> web.Response:
    """An answer to those who may not come in."""
    return web.Response(status=403, text=sentence)


def is_everywhere(host: str) -> bool:
    """Whether to listen there is to listen on all addresses of this machine."""
    return host in ("", "0.0.0.0", "::")  # noqa: S104 - compared, not bound


def in_url(host: str) -> str:
    """A name or address as it stands in a URL."""
    return f"[{host}]" if ":" in host else host


async def _add_headers(request: web.Request, response: web.StreamResponse) -> None:
    # `connect-src 'self'` does not cover WebSockets in every browser, so the address is named; it was checked.
    host = request.headers.get("Host", "") if response.status != 403 else ""
    sockets = f"'self' ws://{host}" if host else "'none'"
    response.headers["Content-Security-Policy"] = (
        f"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src {sockets}; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    response.headers.update(_HEADERS)
