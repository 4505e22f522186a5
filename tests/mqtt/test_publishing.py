"""The options of the commands that play, and how a player hears of trouble with the broker."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from engine.rulesets import PT
from node.__main__ import main
from node.config import NodeSettings
from node.mqtt.publisher import TablePublisher
from node.mqtt.roles import Publishing
from tests.mqtt.mosquitto import Mosquitto
from tests.node.loops import run, until
from tests.node.test_device import HomeNode

LOOPBACK = "127.0.0.1"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--mqtt-command-users", "bob"], "Options of the broker need --mqtt URL."),
        (["--mqtt", "http://broker"], "is no broker"),
        (["--mqtt", "mqtt://bob:secret@broker"], "Everybody on this machine can read a password"),
        (["--mqtt", "mqtt://broker", "--mqtt-command-users", "a/b"], "cannot be a user"),
        (["--mqtt", "mqtt://broker", "--home-assistant", "a b"], "is no prefix of topics"),
        (["--mqtt", "mqtt://broker", "--mqtt-command-key", "KEY"], "too short"),
    ],
)
@pytest.mark.parametrize("command", [["play", "--no-browser"], ["bot", "--table", "Kitchen"]])
def test_options_that_make_no_sense_are_refused_with_what_to_do(
    tmp_path: Path, command: list[str], options: list[str], says: str
) -> None:
    (tmp_path / "key").write_text("short\n")
    given = [str(tmp_path / "key") if option == "KEY" else option for option in options]
    told = CliRunner().invoke(main, [*command, "--data", str(tmp_path / "data"), *given])
    assert told.exit_code == 2
    assert says in told.output
    assert "secret@" not in told.output
    assert not (tmp_path / "data").exists(), "nothing has begun"


def test_the_page_says_what_is_wrong_with_the_broker_until_it_is_right(mosquitto: Mosquitto, tmp_path: Path) -> None:
    async def main() -> None:
        node = HomeNode(NodeSettings(name="Ana", data=tmp_path, host=LOOPBACK, interfaces=(LOOPBACK,)))
        publisher = TablePublisher(node, Publishing(mosquitto.broker()), node.tell_of_broker)
        mosquitto.stop()
        try:
            await node.start()
            publisher.start()
            node.open_table("Unheard", PT)
            await until(lambda: node.trouble is not None)
            assert "the game goes on without it." in str(node.trouble)
            assert node.table_notice == node.trouble
            mosquitto.start()
            await until(lambda: node.trouble is None)
            assert node.table_notice is None
        finally:
            await publisher.stop()
            await node.stop()

    run(main())
