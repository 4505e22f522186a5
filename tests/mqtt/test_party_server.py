"""The server of the page with all tables, its feed from a real broker, and the whole command."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from node.clock import monotonic_s, unix_s
from node.config import ConfigError
from node.mqtt import broker as broker_module
from node.mqtt.broker import Broker, connected
from node.mqtt.party import run as running
from node.mqtt.party.board import Now, PartyBoard
from node.mqtt.party.feed import Feed
from node.mqtt.party.resultsfile import FILE_NAME
from node.mqtt.party.run import PartyOptions, Saver, run_party
from node.mqtt.party.server import MAX_LOOKED_AT, PartyServer
from node.web.serving import PageLimits
from tests.mqtt.evenings import PREFIX, TableTold, tell
from tests.mqtt.games import game
from tests.mqtt.mosquitto import Mosquitto
from tests.node.loops import open_sockets, run, until

COMMAND = "rummesh play --mqtt mqtt://broker"


class Hall:
    """A board whose tables a test tells, and its server."""

    def __init__(self, **options: Any) -> None:
        self.board = PartyBoard(PREFIX)
        self.in_contact = True
        self.server = PartyServer(self.board, lambda: self.in_contact, command=COMMAND, **options)
        self.url = ""

    def tell(self, table: TableTold, at: int) -> None:
        tell(self.board, table, at)
        self.server.changed()

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])


@asynccontextmanager
async def serving(**options: Any) -> AsyncIterator[tuple[Hall, aiohttp.ClientSession]]:
    hall = Hall(**options)
    hall.url = await hall.server.start()
    try:
        async with aiohttp.ClientSession() as session:
            yield hall, session
    finally:
        await hall.server.stop()


def tables(count: int) -> list[TableTold]:
    return [TableTold(f"Table {number}", (f"Ana {number}", "Iris*"), game("pt", 2)) for number in range(1, count + 1)]


def a_page(hall: Hall, session: aiohttp.ClientSession, origin: str | None = None) -> Any:
    return session.ws_connect(hall.url + "/ws", origin=hall.url if origin is None else origin)


async def get(hall: Hall, session: aiohttp.ClientSession, path: str, **headers: str) -> aiohttp.ClientResponse:
    async with session.get(hall.url + path, headers=headers) as answer:
        await answer.read()
        return answer


# Who may come in, what they get


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:{port}", 200),
        ("192.168.7.20:{port}", 200),
        ("[fe80::1]:{port}", 200),
        ("[::1]", 200),
        ("LOCALHOST:{port}", 200),
        ("{name}", 200),
        ("{name}.local:{port}", 200),
        ("evil.example:{port}", 403),
        ("127.0.0.1.evil.example:{port}", 403),
        ("127.0.0.1:{port}; script-src *", 403),
        ("evil@127.0.0.1", 403),
        ("", 403),
    ],
)
def test_addresses_and_own_names_are_answered_and_no_other_name(host: str, status: int) -> None:
    async def scenario() -> None:
        async with serving() as (hall, session):
            name = socket.gethostname().lower()
            for path in ("/", "/static/party.js", "/phones.svg"):
                answer = await get(hall, session, path, Host=host.format(port=hall.port, name=name))
                assert answer.status == (404 if (path, status) == ("/phones.svg", 200) else status)

    run(scenario())


def test_security_headers_are_on_every_answer() -> None:
    async def scenario() -> None:
        async with serving() as (hall, session):
            for path in ("/", "/favicon.ico", "/static/tiles.js", "/static/nothing.js", "/nothing", "/phones.svg"):
                answer = await get(hall, session, path)
                policy = answer.headers["Content-Security-Policy"]
                assert "default-src 'none'" in policy
                assert "frame-ancestors 'none'" in policy
                assert "unsafe" not in policy
                assert answer.headers["X-Content-Type-Options"] == "nosniff"

    run(scenario())


def test_every_file_that_the_page_names_is_there_and_nothing_comes_from_elsewhere() -> None:
    async def scenario() -> None:
        async with serving() as (hall, session):
            seen: set[str] = set()
            wanted = {"/"}
            while wanted - seen:
                path = min(wanted - seen)
                seen.add(path)
                answer = await get(hall, session, path)
                assert answer.status == 200, path
                if answer.content_type == "image/svg+xml":
                    continue
                text = await answer.text()
                assert "https://" not in text
                words = text.replace('"', "'").split("'")
                wanted |= {word for word in words if word.startswith("/static/")}
                folder = [word for word in words if word.startswith("./")]
                wanted |= {f"/static/{word.removeprefix('./')}" for word in folder}
            assert {"/static/party.js", "/static/board.js", "/static/style.css", "/static/tabletext.js"} <= seen

    run(scenario())


@pytest.mark.parametrize("path", ["/static/../server.py", "/static/app.js", "/static/%2e%2e%2fboard.py", "/static/"])
def test_nothing_else_can_be_read(path: str) -> None:
    async def scenario() -> None:
        async with serving() as (hall, _session):
            reader, writer = await asyncio.open_connection("127.0.0.1", hall.port)
            writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
            answer = await reader.read()
            writer.close()
            await writer.wait_closed()
            assert b" 404 " in answer.splitlines()[0]

    run(scenario())


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:1", "null", ""])
def test_socket_of_a_foreign_page_is_refused(origin: str) -> None:
    async def scenario() -> None:
        async with serving() as (hall, session):
            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                await a_page(hall, session, origin)
            assert refused.value.status == 403

    run(scenario())


def test_phones_address_is_a_code_if_there_is_one() -> None:
    async def scenario() -> None:
        async with serving() as (hall, session):
            hall.server.phones = "http://192.168.7.20:8080"
            answer = await get(hall, session, "/phones.svg")
            assert (answer.status, answer.content_type) == (200, "image/svg+xml")
            assert "<svg" in await answer.text()

    run(scenario())


# How a page is kept up to date


def test_page_gets_everything_at_once_and_then_only_what_has_changed() -> None:
    async def scenario() -> None:
        async with serving() as (hall, session):
            evening = tables(200)
            for table in evening:
                hall.tell(table, 100)
            async with a_page(hall, session) as page:
                first = await page.receive_json()
                assert first["about"] == {"phones": None, "command": COMMAND}
                assert first["contact"] is True
                assert len(first["tables"]) == 200
                assert first["tables"]["table-7"] == json.loads(json.dumps(hall.board.card("table-7")))
                assert first["standings"]["games"] == 0
                hall.tell(evening[6], 101)
                text = await page.receive_str()
                assert len(text) < 1500
                assert json.loads(text)["tables"].keys() == {"table-7"}
                assert json.loads(text).keys() == {"now_s", "tables"}

    run(scenario())


def test_results_and_tables_that_go_and_contact_are_told() -> None:
    async def scenario() -> None:
        async with serving(pause_s=0.0) as (hall, session):
            table = tables(1)[0]
            hall.tell(table, 100)
            async with a_page(hall, session) as page:
                await page.receive_json()
                hall.tell(table, table.last)
                told = await page.receive_json()
                assert told["standings"]["rows"] == [
                    [1, "Ana 1", False, 1, 1, {"pt": 1}],
                    [None, "Iris", True, 1, 0, {"pt": -1}],
                ]
                hall.in_contact = False
                hall.server.changed()
                assert (await page.receive_json())["contact"] is False
                hall.board.take(f"{PREFIX}/table-1/state", b"", table.now(101), retained=False)
                hall.server.changed()
                assert (await page.receive_json())["gone"] == ["table-1"]

    run(scenario())


def test_what_lies_on_tables_goes_only_to_who_looks_at_them() -> None:
    async def scenario() -> None:
        async with serving(pause_s=0.0) as (hall, session):
            evening = tables(3)
            for table in evening:
                hall.tell(table, 100)
            async with a_page(hall, session) as looking, a_page(hall, session) as other:
                assert "boards" not in await looking.receive_json()
                await other.receive_json()
                await looking.send_json({"look": ["table-2", "no-such-table"]})
                told = await looking.receive_json()
                assert told["boards"] == {"table-2": json.loads(json.dumps(hall.board.melds("table-2")))}
                lying = [moment.messages.board["melds"] for moment in evening[1].moments]
                laid = next(at for at in range(101, 150) if lying[at] != lying[100])
                hall.tell(evening[1], laid)
                assert (await looking.receive_json())["boards"].keys() == {"table-2"}
                assert (await other.receive_json()).keys() == {"now_s", "tables"}
                hall.tell(evening[0], 101)
                assert (await looking.receive_json()).keys() == {"now_s", "tables"}
                await looking.send_json({"look": []})
                await looking.send_json({"look": ["table-3"]})
                assert (await looking.receive_json())["boards"].keys() == {"table-3"}

    run(scenario())


def test_malformed_looks_cost_nothing() -> None:
    async def scenario() -> None:
        async with serving(pause_s=0.0) as (hall, session):
            table = tables(1)[0]
            hall.tell(table, 100)
            async with a_page(hall, session) as page:
                await page.receive_json()
                many = json.dumps({"look": ["table-1"] * (MAX_LOOKED_AT + 1)})
                for text in ("", "{", "[]", "null", '{"look":1}', '{"look":[1]}', "[" * 3000, many):
                    await page.send_str(text)
                await page.send_bytes(b"\x00")
                for at in (101, 102, 103):
                    hall.tell(table, at)
                    assert (await page.receive_json()).keys() == {"now_s", "tables"}
                await page.send_json({"look": ["table-1"]})
                assert (await page.receive_json()).keys() == {"now_s", "boards"}

    run(scenario())


def test_changes_reach_a_page_at_most_five_times_a_second_and_the_newest_in_the_end() -> None:
    async def scenario() -> None:
        async with serving() as (hall, session):
            table = tables(1)[0]
            hall.tell(table, 20)
            async with a_page(hall, session) as page:
                await page.receive_json()
                loop = asyncio.get_running_loop()
                begun_s = loop.time()
                told: list[dict[str, Any]] = []
                for at in range(21, 141):
                    hall.tell(table, at)
                    await asyncio.sleep(0.005)
                while not told or told[-1]["tables"]["table-1"] != json.loads(json.dumps(hall.board.card("table-1"))):
                    told.append(await page.receive_json())
                assert len(told) <= 1 + 5 * (loop.time() - begun_s)

    run(scenario())


def test_page_that_takes_nothing_is_cut_off_and_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        async with serving(limits=PageLimits(send_timeout_s=0.3), pause_s=0.0) as (hall, session):
            table = tables(1)[0]
            tell(hall.board, table, 100)
            monkeypatch.setattr(hall.server, "card_text", lambda _name, version: f'"{version}{"x" * 300_000}"')
            with socket.socket() as stuck:
                stuck.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                stuck.setblocking(False)
                loop = asyncio.get_running_loop()
                await loop.sock_connect(stuck, ("127.0.0.1", hall.port))
                head = (
                    f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{hall.port}\r\nOrigin: {hall.url}\r\n"
                    "Connection: Upgrade\r\nUpgrade: websocket\r\n"
                    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
                )
                await loop.sock_sendall(stuck, head.encode())
                await until(lambda: hall.server.pages == 1)
                async with a_page(hall, session) as good:
                    await good.receive_json()
                    before = open_sockets()
                    at = 100
                    while hall.server.pages == 2:
                        at += 1
                        hall.tell(table, at)
                        version = dict(hall.board.cards())["table-1"]
                        assert (await good.receive_json())["tables"]["table-1"] == f"{version}" + "x" * 300_000
                        await asyncio.sleep(0.01)
                    await until(lambda: open_sockets() == before - 1)

    run(scenario())


def test_pages_are_told_when_the_program_stops() -> None:
    async def scenario() -> None:
        async with serving() as (hall, session), a_page(hall, session) as page:
            await page.receive_json()
            await hall.server.stop()
            assert (await page.receive()).data == 1001

    run(scenario())


def test_there_is_a_limit_of_pages() -> None:
    async def scenario() -> None:
        async with serving(limits=PageLimits(pages=1)) as (hall, session), a_page(hall, session):
            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                await a_page(hall, session)
            assert refused.value.status == 503

    run(scenario())


# Fed by a broker


def right_now(table: TableTold, at: int) -> TableTold:
    """The same table, whose moment is just now."""
    return dataclasses.replace(table, later_s=unix_s() - table.now(at).unix_s)


async def publish(broker: Broker, told: list[tuple[TableTold, int]]) -> None:
    """Retained, as tables do it."""
    async with connected(broker, role="tables") as client:
        for table, at in told:
            await client.publish(f"{PREFIX}/{table.topic}/availability", b"online", retain=True)
            for topic, payload in right_now(table, at).told(at, ("state", "clock", "board")):
                await client.publish(topic, payload, retain=True)
        await client.publish(f"{PREFIX}/last/answer", b"", qos=1)


def test_all_tables_that_the_broker_has_kept_are_there(own_mosquitto: Callable[..., Mosquitto]) -> None:
    async def scenario(broker: Broker) -> None:
        await publish(broker, [(table, 100) for table in tables(300)])
        board = PartyBoard(PREFIX)
        feed = asyncio.create_task(Feed(broker, board, lambda: None).run())
        await until(lambda: len(list(board.cards())) == 300)
        await until(lambda: all(board.card(name)["clock"] and board.melds(name)["melds"] for name, _ in board.cards()))
        assert board.ignored.total() == 0
        feed.cancel()
        await asyncio.wait([feed])

    run(scenario(own_mosquitto().broker()))


def test_broker_may_go_and_come_back(
    own_mosquitto: Callable[..., Mosquitto], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(broker_module, "RETRY_S", (0.02,))

    async def scenario(mosquitto: Mosquitto) -> None:
        board, table = PartyBoard(PREFIX), tables(1)[0]
        changes: list[bool] = []
        feed = Feed(mosquitto.broker(), board, lambda: changes.append(feed.in_contact))
        working = asyncio.create_task(feed.run())
        await until(lambda: feed.in_contact)
        await publish(mosquitto.broker(), [(table, 100)])
        await until(lambda: dict(board.cards()))
        mosquitto.kill()
        await until(lambda: not feed.in_contact)
        await asyncio.sleep(0.2)
        assert changes[-1] is False
        assert dict(board.cards()).keys() == {"table-1"}
        mosquitto.start()
        await until(lambda: feed.in_contact)
        await publish(mosquitto.broker(), [(table, 140)])
        await until(lambda: board.card("table-1")["turn_number"] == table.message(140, "state")["turn_number"])
        working.cancel()
        await asyncio.wait([working])

    run(scenario(own_mosquitto()))
    assert 1 <= caplog.text.count("cannot be reached") <= 2


# The whole command


def options(broker: Broker, data: Path, **changes: Any) -> PartyOptions:
    return PartyOptions(**{"broker": broker, "host": "127.0.0.1", "port": 0, "browser": False, "data": data, **changes})


def test_results_outlast_a_restart(
    own_mosquitto: Callable[..., Mosquitto], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evening = tables(2)
    end = evening[0].last
    seen: list[dict[str, Any]] = []

    async def party(broker: Broker, told: list[tuple[TableTold, int]], games: int) -> None:
        await publish(broker, told)
        working = asyncio.create_task(run_party(options(broker, tmp_path)))
        said = ""
        while "http" not in said:
            await asyncio.sleep(0.01)
            said += capsys.readouterr().out
        url = said.split()[-1]
        assert said.startswith(f"All tables of {broker}: http://127.0.0.1:")
        async with aiohttp.ClientSession() as session, session.ws_connect(url + "/ws", origin=url) as page:
            while not seen or seen[-1]["games"] < games:
                seen.extend(told["standings"] for told in [await page.receive_json()] if "standings" in told)
        signal.raise_signal(signal.SIGTERM)
        await working

    run(party(own_mosquitto().broker(), [(evening[0], end)], 1))
    kept = json.loads((tmp_path / FILE_NAME).read_text(encoding="utf-8"))
    assert [table["table"] for table in kept["tables"]] == [evening[0].id]
    seen.clear()
    run(party(own_mosquitto().broker(), [(evening[1], end)], 2))
    assert [row[1] for row in seen[-1]["rows"]] == ["Ana 1", "Ana 2", "Iris"]


def test_two_of_one_folder_are_refused(tmp_path: Path) -> None:
    async def scenario() -> None:
        nowhere = Broker("127.0.0.1", 1)
        first = asyncio.create_task(run_party(options(nowhere, tmp_path)))
        await until(lambda: (tmp_path / f"{FILE_NAME}.lock").exists())
        with pytest.raises(ConfigError, match="--data"):
            await run_party(options(nowhere, tmp_path))
        first.cancel()
        await asyncio.wait([first])

    run(scenario())


def test_broker_that_cannot_be_right_ends_it(tmp_path: Path) -> None:
    wrong = Broker("127.0.0.1", 1, tls=True, ca=tmp_path / "no-such-ca.pem")

    async def scenario() -> None:
        with pytest.raises(ConfigError, match=r"no-such-ca\.pem"):
            await run_party(options(wrong, tmp_path))
        await asyncio.get_running_loop().shutdown_default_executor()

    run(scenario())


def test_results_that_cannot_be_written_are_said_and_written_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(running, "SAVE_AFTER_S", 0.0)
    monkeypatch.setattr(running, "SAVE_AGAIN_S", 0.02)
    path = tmp_path / "away" / FILE_NAME

    async def scenario() -> None:
        board = PartyBoard(PREFIX)
        saver = Saver(path, board)
        working = asyncio.create_task(saver.run())
        table = tables(1)[0]
        tell(board, table, table.last)
        saver.changed()
        await until(lambda: "cannot be written" in caplog.text)
        path.parent.mkdir()
        await until(path.exists)
        working.cancel()
        await asyncio.wait([working])
        assert await saver.save()
        await asyncio.get_running_loop().shutdown_default_executor()

    run(scenario())
    assert len(json.loads(path.read_text(encoding="utf-8"))["tables"]) == 1


@pytest.mark.parametrize(
    ("broker", "expected"),
    [
        (Broker("broker.home", 1883), "rummesh play --mqtt mqtt://broker.home"),
        (Broker("broker.home", 1884, user="ana"), "rummesh play --mqtt mqtt://broker.home:1884"),
        (Broker("broker.home", 8883, tls=True), "rummesh play --mqtt mqtts://broker.home"),
        (Broker("broker.home", 1883, prefix="a/b"), "rummesh play --mqtt mqtt://broker.home --mqtt-prefix a/b"),
        (Broker("localhost", 1883), "rummesh play --mqtt mqtt://192.168.7.20"),
    ],
)
def test_page_says_what_to_type_for_a_table(broker: Broker, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "machine_addresses", lambda: ("192.168.7.20", "10.0.0.3"))
    assert running._publishing(broker) == expected


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", None),
        ("localhost", None),
        ("0.0.0.0", "http://192.168.7.20:8080"),
        ("192.168.9.9", "http://192.168.9.9:8080"),
    ],
)
def test_phones_are_shown_an_address_that_they_can_reach(
    host: str, expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "machine_addresses", lambda: ("192.168.7.20", "10.0.0.3"))
    assert running._for_phones(host, f"http://{host}:8080") == expected


def test_own_clock_is_that_of_the_messages() -> None:
    async def scenario() -> None:
        async with serving() as (hall, session):
            table = tables(1)[0]
            tell(hall.board, table, 100, now=Now(monotonic_s(), unix_s()))
            async with a_page(hall, session) as page:
                told = await page.receive_json()
                left_s = told["tables"]["table-1"]["clock"]["ends_s"] - told["now_s"]
                assert left_s == pytest.approx(table.message(100, "clock")["remaining_s"], abs=3)

    run(scenario())
