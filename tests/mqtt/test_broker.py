"""Which broker somebody means, and what is told of one that does not let us in."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest
import trustme
from aiomqtt import MqttError

from node.config import ConfigError
from node.mqtt.broker import Broker, broker_of, connected, trouble_with
from tests.mqtt.mosquitto import Mosquitto, collect
from tests.node.loops import open_sockets, run, until

SECRET = "Quite-Secret"


@pytest.mark.parametrize(
    ("url", "broker"),
    [
        ("mqtt://kitchen", Broker("kitchen", 1883)),
        ("kitchen", Broker("kitchen", 1883)),
        ("kitchen:1884", Broker("kitchen", 1884)),
        ("mqtt://kitchen:1884/", Broker("kitchen", 1884)),
        ("mqtts://kitchen", Broker("kitchen", 8883, tls=True)),
        ("mqtt://[fe80::1]:9", Broker("fe80::1", 9)),
        ("mqtt://ana%40home@kitchen", Broker("kitchen", 1883, user="ana@home")),
    ],
)
def test_a_url_says_host_port_user_and_whether_it_is_tls(url: str, broker: Broker) -> None:
    assert broker_of(url, {}) == broker


@pytest.mark.parametrize(
    "url",
    [
        "",
        "http://kitchen",
        "mqtt://",
        "mqtt://:1883",
        "mqtt://kitchen:99999",
        "mqtt://kitchen:port",
        "mqtt://kitchen/topic",
        "mqtt://kitchen?x=1",
        "mqtt://kitchen#x",
        "mqtt://[fe80::1",
    ],
)
def test_what_is_no_broker_is_refused_with_how_to_write_one(url: str) -> None:
    with pytest.raises(ConfigError, match="mqtts://HOST for TLS"):
        broker_of(url, {})


@pytest.mark.parametrize(
    "url",
    [
        f"mqtt://ana:{SECRET}@kitchen",
        f"http://ana:{SECRET}@kitchen",
        f"mqtt://ana:{SECRET}@kitchen:99999",
        f"mqtt://ana:{SECRET}@kitchen/topic",
        f"mqtt://ana:x/{SECRET}@kitchen",
        f"mqtt://ana:{SECRET}:@@kitchen/topic",
        f"ana:{SECRET}@kitchen/topic",
        f"mqtt://ana:{SECRET}@[kitchen",
    ],
)
def test_a_password_in_the_url_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ConfigError) as refused:
        broker_of(url, {})
    assert SECRET not in str(refused.value)


def test_user_and_password_come_from_the_environment_and_what_is_named_goes_before(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("from the file\nand more\n")
    both = {"RUMMESH_MQTT_USER": "ana", "RUMMESH_MQTT_PASSWORD": SECRET}
    assert broker_of("kitchen", both) == Broker("kitchen", 1883, user="ana", password=SECRET)
    named = broker_of("ben@kitchen", both, password_file=file)
    assert (named.user, named.password) == ("ben", "from the file")


def test_a_password_without_a_user_is_refused() -> None:
    with pytest.raises(ConfigError, match="no user"):
        broker_of("kitchen", {"RUMMESH_MQTT_PASSWORD": SECRET})


def test_a_ca_without_tls_is_refused() -> None:
    with pytest.raises(ConfigError, match="mqtts://kitchen"):
        broker_of("kitchen", {}, ca=Path("ca.pem"))


@pytest.mark.parametrize("prefix", ["", "a b", "/a", "a/", "a//b", "+", "a/#"])
def test_a_prefix_that_is_no_topic_is_refused(prefix: str) -> None:
    with pytest.raises(ConfigError, match="no prefix"):
        broker_of("kitchen", {}, prefix=prefix)


@pytest.mark.parametrize("content", [None, b"", b"\n", b" \nsecond line", b"\xff\xfe"])
def test_a_password_file_that_says_nothing_is_refused(content: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "password"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigError, match=str(file)):
        broker_of("ana@kitchen", {}, password_file=file)


def test_a_broker_does_not_show_its_password() -> None:
    broker = Broker("kitchen", 1883, user="ana", password=SECRET)
    assert SECRET not in f"{broker} {broker!r}"
    assert str(Broker("fe80::1", 9, tls=True)) == "mqtts://[fe80::1]:9"


# paho leaves it to the collector to close the socket of a handshake that failed.
OF_PAHO = pytest.mark.filterwarnings("ignore:unclosed <ssl.SSLSocket:ResourceWarning")


def failure(broker: Broker) -> str:
    """What connecting says that is wrong."""
    told = ""

    async def main() -> None:
        nonlocal told
        sockets = open_sockets()
        try:
            async with connected(broker):
                pass
        except MqttError as error:
            told = trouble_with(broker, error)
            said = f"{told} {error} {error!r}"
        assert SECRET not in said
        await until(lambda: open_sockets() == sockets and len(asyncio.all_tasks()) == 1)

    run(main())
    return told


def reached(broker: Broker) -> None:
    async def main() -> None:
        async with collect(broker, "a/#") as heard, connected(broker) as client:
            await client.publish("a/b", b"{}", qos=1)
            await heard.until(lambda messages: messages)
            assert [(one.topic, one.json, one.retain) for one in heard.messages] == [("a/b", {}, False)]

    run(main())


def test_only_the_right_password_is_let_in(own_mosquitto: Callable[..., Mosquitto]) -> None:
    broker = own_mosquitto(users={"ana": SECRET}).broker("ana")
    reached(broker)
    for wrong in (
        dataclasses.replace(broker, password=f"no-{SECRET}"),
        dataclasses.replace(broker, user="ben"),
        dataclasses.replace(broker, user=None, password=None),
    ):
        assert "Check user and password" in failure(wrong)


@OF_PAHO
def test_tls_wants_the_right_ca_port_and_name(own_mosquitto: Callable[..., Mosquitto], tmp_path: Path) -> None:
    broker = own_mosquitto(tls=True).broker(tls=True)
    reached(broker)
    other_ca = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(other_ca)
    for ca in (None, other_ca):
        assert "not trusted" in failure(dataclasses.replace(broker, ca=ca))
    assert "not trusted" in failure(dataclasses.replace(broker, host="localhost"))


@OF_PAHO
def test_tls_with_a_port_that_speaks_none_says_so(mosquitto: Mosquitto) -> None:
    plain = mosquitto.broker()
    assert "no TLS" in failure(dataclasses.replace(plain, tls=True))


def test_a_broker_that_is_not_there_says_that_the_game_goes_on(own_mosquitto: Callable[..., Mosquitto]) -> None:
    broker = own_mosquitto()
    broker.stop()
    assert "the game goes on" in failure(broker.broker())


def test_a_ca_file_that_is_none_is_the_operator_s_mistake(tmp_path: Path) -> None:
    broken = tmp_path / "ca.pem"
    broken.write_text("no certificate")

    async def main() -> None:
        for ca in (broken, tmp_path / "missing"):
            with pytest.raises(ConfigError, match="cannot be used"):
                async with connected(Broker("127.0.0.1", 1, tls=True, ca=ca)):
                    pass

    run(main())


def test_what_is_retained_outlasts_a_killed_broker_and_a_listener_is_there_again(
    own_mosquitto: Callable[..., Mosquitto],
) -> None:
    server = own_mosquitto(persistent=True)

    async def main() -> None:
        async with collect(server.broker(), "t/#") as heard:
            async with connected(server.broker()) as client:
                await client.publish("t/state", b"1", qos=1, retain=True)
                await heard.until(lambda messages: messages)
            await until(lambda: b"t/state" in server.stored)
            server.kill()
            server.start()
            await heard.until(lambda messages: len(messages) > 1)
            assert [(one.payload, one.retain) for one in heard.on("t/state")] == [(b"1", False), (b"1", True)]

    run(main())
