"""The page's server without a browser: who may come in, what they get, and what a page may not do to the node."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from node.web.commands import COMMANDS, parse_command
from node.web.server import Download, PageLimits, PageRefusal, PageServer
from tests.node.loops import run, until

TOKEN = "0123456789abcdef"
DRAFT = {"type": "draft", "draft_no": 1, "melds": [{"tiles": [0, 2, 4], "kind": None}]}


class CountingDesk:
    """A desk whose state is a counter; `echo` answers every command with itself."""

    def __init__(self, padding: int = 0) -> None:
        self.count = 0
        self.padding = "x" * padding
        self.commands: list[dict[str, Any]] = []
        self.file: Download | None = None
        self.watchers: list[Callable[[], None]] = []

    def snapshot(self) -> dict[str, Any]:
        return {"screen": "lobby", "count": self.count, "padding": self.padding}

    def command(self, message: dict[str, Any]) -> dict[str, Any] | None:
        self.commands.append(message)
        if message["type"] == "start":
            raise PageRefusal("NOT-READY", "Not everybody is ready.")
        return {"type": "judged", "draft_no": message["draft_no"]} if message["type"] == "draft" else None

    def game_file(self) -> Download | None:
        return self.file

    def watch(self, changed: Callable[[], None]) -> Callable[[], None]:
        self.watchers.append(changed)
        return lambda: self.watchers.remove(changed)

    def change(self) -> None:
        self.count += 1
        for changed in tuple(self.watchers):
            changed()


class Guest:
    """A client of the server that can send whatever headers it likes."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self.session = session
        self.base, _, self.token = url.partition("/?token=")
        self.port = int(self.base.rsplit(":", 1)[1])

    async def get(self, path: str, **headers: str) -> aiohttp.ClientResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.session.get(self.base + path, headers=named, allow_redirects=False) as answer:
            await answer.read()
            return answer

    async def enter(self) -> None:
        assert (await self.get(f"/?token={self.token}")).status == 303

    def open_socket(self, origin: str | None = None) -> Any:
        return self.session.ws_connect(self.base + "/ws", origin=self.base if origin is None else origin)


@asynccontextmanager
async def serving(desk: CountingDesk, **options: Any) -> AsyncIterator[tuple[PageServer, Guest]]:
    server = PageServer(desk, token=TOKEN, **options)
    url = await server.start()
    try:
        # Cookies of an IP address are kept only by an unsafe jar; browsers keep them.
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
            yield server, Guest(session, url)
    finally:
        await server.stop()


async def state_of(socket_: aiohttp.ClientWebSocketResponse) -> dict[str, Any]:
    message = await socket_.receive_json()
    assert message.pop("type") == "state"
    return dict(message)


def test_token_becomes_a_cookie_and_leaves_the_address() -> None:
    async def scenario() -> None:
        async with serving(CountingDesk()) as (_, guest):
            assert (await guest.get("/")).status == 403
            answer = await guest.get(f"/?token={TOKEN}")
            assert (answer.status, answer.headers["Location"]) == (303, "/")
            cookie = answer.headers["Set-Cookie"]
            assert f"rummesh-{guest.port}=" in cookie
            assert "HttpOnly" in cookie
            assert "SameSite=Strict" in cookie
            page = await guest.get("/")
            assert page.status == 200
            assert page.content_type == "text/html"

    run(scenario())


@pytest.mark.parametrize(
    "path", ["/", "/ws", "/game-file", "/static/app.js", "/favicon.ico", "/nothing", "/?token=wrong", "/?token="]
)
def test_nothing_is_served_without_the_key(path: str) -> None:
    async def scenario() -> None:
        async with serving(CountingDesk()) as (_, guest):
            answer = await guest.get(path, Origin=guest.base)
            assert answer.status == 403
            assert answer.content_type == "text/plain"
            assert "Set-Cookie" not in answer.headers

    run(scenario())


def test_wrong_token_does_not_take_the_key_away() -> None:
    async def scenario() -> None:
        async with serving(CountingDesk()) as (_, guest):
            await guest.enter()
            assert (await guest.get("/?token=wrong")).status == 403
            assert (await guest.get("/")).status == 200

    run(scenario())


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:{port}", 200),
        ("LOCALHOST:{port}", 200),
        ("[::1]:{port}", 200),
        ("rummi.local:{port}", 200),
        ("[fe80::1]:{port}", 200),
        ("proxy.example:80", 200),
        ("evil.example:{port}", 403),
        ("127.0.0.1", 403),
        ("127.0.0.1:1", 403),
        ("127.0.0.1.evil.example:{port}", 403),
        ("", 403),
    ],
)
def test_only_own_names_are_answered(host: str, status: int) -> None:
    async def scenario() -> None:
        extra = ("rummi.local", "fe80::1", "proxy.example:80")
        async with serving(CountingDesk(), extra_hosts=extra) as (_, guest):
            await guest.enter()
            # The jar keeps the cookie for 127.0.0.1 only, so it is sent by hand.
            cookie = f"rummesh-{guest.port}={TOKEN}"
            answer = await guest.get("/", Host=host.format(port=guest.port), Cookie=cookie)
            assert answer.status == status

    run(scenario())


def test_security_headers_are_on_every_answer() -> None:
    async def scenario() -> None:
        async with serving(CountingDesk()) as (_, guest):
            answers = [await guest.get("/static/app.js")]
            await guest.enter()
            answers += [await guest.get(path) for path in ("/", "/static/app.js", "/static/nothing.js", "/nothing")]
            assert [answer.status for answer in answers] == [403, 200, 200, 404, 404]
            for answer in answers:
                policy = answer.headers["Content-Security-Policy"]
                assert "default-src 'none'" in policy
                assert "frame-ancestors 'none'" in policy
                assert "unsafe" not in policy
                assert answer.headers["X-Content-Type-Options"] == "nosniff"
                assert answer.headers["Referrer-Policy"] == "no-referrer"

    run(scenario())


@pytest.mark.parametrize(
    ("path", "content_type"),
    [
        ("/static/app.js", "text/javascript"),
        ("/static/style.css", "text/css"),
        ("/favicon.ico", "image/svg+xml"),
        ("/static/favicon.svg", "image/svg+xml"),
    ],
)
def test_files_have_their_content_type(path: str, content_type: str) -> None:
    async def scenario() -> None:
        async with serving(CountingDesk()) as (_, guest):
            await guest.enter()
            answer = await guest.get(path)
            assert (answer.status, answer.content_type) == (200, content_type)

    run(scenario())


@pytest.mark.parametrize(
    "path", ["/static/../server.py", "/static/%2e%2e%2fserver.py", "/static/", "/static/__init__.py"]
)
def test_nothing_outside_the_page_can_be_read(path: str) -> None:
    async def scenario() -> None:
        async with serving(CountingDesk()) as (_, guest):
            reader, writer = await asyncio.open_connection("127.0.0.1", guest.port)
            request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{guest.port}\r\nCookie: rummesh-{guest.port}={TOKEN}\r\n"
            writer.write(f"{request}Connection: close\r\n\r\n".encode())
            answer = await reader.read()
            writer.close()
            await writer.wait_closed()
            assert b" 404 " in answer.splitlines()[0]

    run(scenario())


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "https://127.0.0.1:{port}", "http://127.0.0.1:1", "null", ""]
)
def test_socket_of_a_foreign_page_is_refused(origin: str) -> None:
    async def scenario() -> None:
        desk = CountingDesk()
        async with serving(desk) as (_, guest):
            await guest.enter()
            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                await guest.open_socket(origin.format(port=guest.port))
            assert refused.value.status == 403
            assert desk.watchers == []

    run(scenario())


def test_state_comes_at_once_and_after_every_change() -> None:
    async def scenario() -> None:
        desk = CountingDesk()
        async with serving(desk) as (server, guest):
            await guest.enter()
            async with guest.open_socket() as page:
                assert (await state_of(page))["count"] == 0
                for _ in range(50):
                    desk.change()
                assert (await state_of(page))["count"] == 50
                desk.change()
                assert (await state_of(page))["count"] == 51
                assert server.pages == 1

    run(scenario())


def test_reply_goes_to_the_page_that_asked() -> None:
    async def scenario() -> None:
        desk = CountingDesk()
        async with serving(desk) as (_, guest):
            await guest.enter()
            async with guest.open_socket() as asking, guest.open_socket() as other:
                await state_of(asking)
                await state_of(other)
                await asking.send_json(DRAFT)
                await asking.send_json({"type": "start"})
                assert await asking.receive_json() == {"type": "judged", "draft_no": 1}
                assert await asking.receive_json() == {
                    "type": "refused",
                    "command": "start",
                    "code": "NOT-READY",
                    "sentence": "Not everybody is ready.",
                }
                desk.change()
                assert (await state_of(other))["count"] == 1
                assert desk.commands == [DRAFT, {"type": "start"}]

    run(scenario())


MALFORMED = [
    "",
    "null",
    "[]",
    "{",
    "[" * 10_000,
    '{"type":"start"} x',
    '{"type":["start"]}',
    '{"type":"no_such"}',
    '{"type":"start","more":1}',
    '{"type":"ready"}',
    '{"type":"ready","ready":1}',
    '{"type":"join","table":"../x"}',
    '{"type":"rename","name":""}',
    '{"type":"rename","name":"\\ud800"}',
    json.dumps({"type": "rename", "name": "x" * 65}),
    '{"type":"open_table","name":"x","rules":"pt","turn_seconds":NaN}',
    '{"type":"open_table","name":"x","rules":"pt","turn_seconds":6.5}',
    '{"type":"open_table","name":"x","rules":"PT\\n","turn_seconds":60}',
    '{"type":"open_table","name":"x","rules":"pt","options":[]}',
    '{"type":"open_table","name":"x","rules":"pt","options":{"target":1.5}}',
    '{"type":"open_table","name":"x","rules":"pt","options":{"target":null}}',
    '{"type":"open_table","name":"x","rules":"pt","options":{"Ta rget":1}}',
    json.dumps({"type": "open_table", "name": "x", "rules": "pt", "options": {"target": "9" * 41}}),
    json.dumps({"type": "open_table", "name": "x", "rules": "pt", "options": {f"o{n}": 1 for n in range(41)}}),
    '{"type":"discard"}',
    '{"type":"discard","tile":-1}',
    '{"type":"end_turn","anyway":1}',
    json.dumps({**DRAFT, "exchanges": {}}),
    json.dumps({**DRAFT, "exchanges": [{"meld": 0, "position": 0}]}),
    json.dumps({**DRAFT, "exchanges": [{"meld": 0, "position": -1, "tile": 1}]}),
    json.dumps({**DRAFT, "exchanges": [{"meld": 0, "position": 0, "tile": 1, "more": 1}]}),
    json.dumps({**DRAFT, "exchanges": [{"meld": 0, "position": 0, "tile": 1}] * 9}),
    '{"type":"draft","draft_no":true,"melds":[]}',
    '{"type":"draft","draft_no":1,"melds":[{"tiles":[],"kind":null}]}',
    '{"type":"draft","draft_no":1,"melds":[{"tiles":[1,1],"kind":null}]}',
    '{"type":"draft","draft_no":1,"melds":[{"tiles":[1],"kind":null},{"tiles":[1],"kind":null}]}',
    '{"type":"draft","draft_no":1,"melds":[{"tiles":[1.0],"kind":null}]}',
    '{"type":"draft","draft_no":1,"melds":[{"tiles":[-1],"kind":null}]}',
    '{"type":"draft","draft_no":1,"melds":[{"tiles":[1],"kind":"both"}]}',
    '{"type":"draft","draft_no":1,"melds":[{"tiles":[1],"kind":{}}]}',
    '{"type":"draft","draft_no":1,"melds":[{"tiles":[1],"extra":0}]}',
    json.dumps({**DRAFT, "melds": [{"tiles": [n], "kind": None} for n in range(121)]}),
    '{"type":"draft","draft_no":' + "9" * 5000 + ',"melds":[]}',
]


@pytest.mark.parametrize("text", MALFORMED, ids=range(len(MALFORMED)))
def test_malformed_command_is_refused(text: str) -> None:
    with pytest.raises(PageRefusal) as refused:
        parse_command(text)
    assert refused.value.code == "BAD-MESSAGE"
    assert len(refused.value.sentence) < 120


def test_malformed_messages_do_not_cost_the_connection() -> None:
    async def scenario() -> None:
        desk = CountingDesk()
        async with serving(desk) as (_, guest):
            await guest.enter()
            async with guest.open_socket() as page:
                await state_of(page)
                for text in MALFORMED:
                    await page.send_str(text)
                    assert (await page.receive_json())["code"] == "BAD-MESSAGE"
                await page.send_bytes(b"\x00")
                assert (await page.receive_json())["code"] == "BAD-MESSAGE"
                await page.send_json(DRAFT)
                assert (await page.receive_json())["type"] == "judged"
                assert desk.commands == [DRAFT]

    run(scenario())


WELL_FORMED: list[dict[str, Any]] = [
    {"type": "open_table", "name": "Küche", "rules": "pt", "turn_seconds": None},
    {"type": "open_table", "name": "Küche", "rules": "es", "options": {"ace_points": 15, "call": True, "move": "free"}},
    {"type": "join", "table": "a1b2"},
    {"type": "leave"},
    {"type": "ready", "ready": False},
    {"type": "start"},
    {"type": "refuse_device", "device": "ab" * 32, "refused": True},
    {"type": "add_bot"},
    {"type": "add_peer", "address": "[fe80::1]:7654"},
    {"type": "rename", "name": "<b>"},
    DRAFT,
    {**DRAFT, "exchanges": [{"meld": 0, "position": 2, "tile": 4}]},
    {"type": "hint"},
    {"type": "end_turn"},
    {"type": "end_turn", "anyway": True},
    {"type": "draw"},
    {"type": "pass"},
    {"type": "rummikub"},
    {"type": "take_discard"},
    {"type": "lay"},
    {"type": "discard", "tile": 51},
    {"type": "next_game"},
    {"type": "pause"},
    {"type": "long_pause"},
    {"type": "resume"},
    {"type": "extend"},
    {"type": "take_back"},
    {"type": "go_on_without", "seats": [1, 3]},
    {"type": "keep_waiting"},
    {"type": "close_game"},
    {"type": "new_lobby"},
]


def test_every_command_has_a_well_formed_example_that_passes() -> None:
    assert [parse_command(json.dumps(command)) for command in WELL_FORMED] == WELL_FORMED
    assert list(dict.fromkeys(command["type"] for command in WELL_FORMED)) == list(COMMANDS)


def test_message_over_the_limit_closes_only_that_page() -> None:
    async def scenario() -> None:
        desk = CountingDesk()
        async with serving(desk, limits=PageLimits(message_bytes=1000)) as (server, guest):
            await guest.enter()
            async with guest.open_socket() as good, guest.open_socket() as bad:
                await state_of(good)
                await state_of(bad)
                await bad.send_str("x" * 2000)
                closed = await bad.receive()
                assert (closed.type, closed.data) == (aiohttp.WSMsgType.CLOSE, 1009)
                desk.change()
                assert (await state_of(good))["count"] == 1
                assert server.pages == 1

    run(scenario())


def test_page_that_takes_nothing_is_cut_off_and_holds_up_nobody() -> None:
    async def scenario() -> None:
        desk = CountingDesk(padding=500_000)
        async with serving(desk, limits=PageLimits(send_timeout_s=0.3)) as (server, guest):
            await guest.enter()
            loop = asyncio.get_running_loop()
            with socket.socket() as stuck:
                stuck.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                stuck.setblocking(False)
                await loop.sock_connect(stuck, ("127.0.0.1", guest.port))
                head = (
                    f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{guest.port}\r\nOrigin: {guest.base}\r\n"
                    f"Cookie: rummesh-{guest.port}={TOKEN}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
                )
                await loop.sock_sendall(stuck, head.encode())
                async with guest.open_socket() as good:
                    await state_of(good)
                    while server.pages < 2:
                        desk.change()
                        await state_of(good)
                    seen = 0
                    while server.pages == 2:
                        desk.change()
                        seen = (await state_of(good))["count"]
                    assert seen == desk.count
                    assert len(desk.watchers) == 1

    run(scenario())


def test_too_many_pages_are_turned_away() -> None:
    async def scenario() -> None:
        async with serving(CountingDesk(), limits=PageLimits(pages=1)) as (_, guest):
            await guest.enter()
            async with guest.open_socket() as page:
                await state_of(page)
                with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                    await guest.open_socket()
                assert refused.value.status == 503

    run(scenario())


def test_closed_page_is_forgotten() -> None:
    async def scenario() -> None:
        desk = CountingDesk()
        async with serving(desk) as (server, guest):
            await guest.enter()
            async with guest.open_socket() as page:
                await state_of(page)
            await until(lambda: not server.pages)
            assert desk.watchers == []

    run(scenario())


def test_stop_tells_the_pages_and_leaves_nothing_behind() -> None:
    async def scenario() -> None:
        desk = CountingDesk()
        async with serving(desk) as (server, guest):
            await guest.enter()
            async with guest.open_socket() as page:
                await state_of(page)
                stopping = asyncio.create_task(server.stop())
                closed = await page.receive()
                assert (closed.type, closed.data) == (aiohttp.WSMsgType.CLOSE, 1001)
                await stopping
            assert desk.watchers == []
            assert server.pages == 0
            with pytest.raises(aiohttp.ClientConnectorError):
                await guest.get("/")

    run(scenario())


def test_broken_desk_costs_its_page_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        desk = CountingDesk()
        async with serving(desk) as (server, guest):
            await guest.enter()
            async with guest.open_socket() as page:
                await state_of(page)
                del desk.padding
                desk.change()
                assert (await page.receive()).type in (aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR)
            assert (await guest.get("/")).status == 200
            assert server.pages == 0
            assert desk.watchers == []

    run(scenario())
    assert "AttributeError" in caplog.text


def test_busy_port_is_an_error_of_the_world() -> None:
    async def scenario() -> None:
        async with serving(CountingDesk()) as (_, guest):
            second = PageServer(CountingDesk(), token=TOKEN)
            with pytest.raises(OSError, match="address already in use"):
                await second.start(port=guest.port)
            await second.stop()

    run(scenario())


def test_short_token_is_our_mistake() -> None:
    with pytest.raises(ValueError, match="16 characters"):
        PageServer(CountingDesk(), token="short")


def test_game_file_is_a_download_under_its_own_name() -> None:
    async def scenario() -> None:
        desk = CountingDesk()
        desk.file = Download("Ana's köök-2026-01-31.rummesh", bytes(range(256)))
        async with serving(desk) as (_, guest):
            await guest.enter()
            answer = await guest.get("/game-file")
            assert (answer.status, answer.content_type) == (200, "application/octet-stream")
            assert answer.content_disposition is not None
            assert answer.content_disposition.type == "attachment"
            assert answer.content_disposition.filename == desk.file.name
            assert answer.headers["Cache-Control"] == "no-store"
            assert (await answer.text("latin-1")).encode("latin-1") == desk.file.data

    run(scenario())


def test_without_a_game_there_is_no_file() -> None:
    async def scenario() -> None:
        async with serving(CountingDesk()) as (_, guest):
            await guest.enter()
            answer = await guest.get("/game-file")
            assert (answer.status, await answer.text()) == (404, "There is no game to save.")

    run(scenario())
