"""How the commands that play put their table on a broker: their options, and the publisher at work beside a node."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from node.app import Node
from node.config import ConfigError
from node.mqtt.options import NEED_BROKER, with_broker_options, with_command_key

if TYPE_CHECKING:
    from node.mqtt.broker import Broker

_Command = Callable[..., None]


@dataclass(frozen=True, slots=True)
class MqttOptions:
    """What a command that plays was asked for. Neither key nor users: no presses come in."""

    broker: Broker
    discovery: str | None = "homeassistant"
    command_key: str | None = field(default=None, repr=False)
    command_users: str = ""


def with_publishing_options(command: _Command) -> _Command:
    """Gives a command the options of a broker and what goes there and comes from there; it gets `mqtt`, or None."""

    @functools.wraps(command)
    def wrapped(
        *,
        broker: Broker | None,
        command_key: str | None,
        mqtt_command_users: str,
        home_assistant: str,
        **others: Any,
    ) -> None:
        if broker is None:
            if mqtt_command_users:
                raise click.UsageError(NEED_BROKER)
            command(mqtt=None, **others)
            return
        from node.mqtt.broker import check_prefix
        from node.mqtt.commands import access_of

        try:
            access_of(command_key, mqtt_command_users)
            if home_assistant:
                check_prefix(home_assistant)
        except ConfigError as error:
            raise click.UsageError(str(error)) from error
        command(mqtt=MqttOptions(broker, home_assistant or None, command_key, mqtt_command_users), **others)

    options = (
        with_broker_options(),
        with_command_key("Presses may come over the broker"),
        click.option(
            "--mqtt-command-users",
            default="",
            metavar="A,B",
            help="Users of the broker whose presses count as they are; needs rules for topics there (docs/mqtt.md).",
        ),
        click.option(
            "--home-assistant",
            default="homeassistant",
            show_default=True,
            metavar="TOPIC",
            help="Where Home Assistant looks for new devices; empty: nothing is told there.",
        ),
    )
    result: _Command = wrapped
    for option in reversed(options):
        result = option(result)
    return result


@contextlib.asynccontextmanager
async def published(node: Node, options: MqttOptions | None) -> AsyncIterator[None]:
    """The node's table is on the broker meanwhile. The node has started. Raises `NodeError`, `OSError`."""
    if options is None:
        yield
        return
    from node.mqtt.buttons import BrokerButtons
    from node.mqtt.commands import CommandBook, access_of
    from node.mqtt.publisher import TablePublisher
    from node.mqtt.roles import Publishing

    access = access_of(options.command_key, options.command_users)
    buttons = BrokerButtons(node) if access else None
    book = CommandBook(access) if access else None
    publisher = TablePublisher(node, Publishing(options.broker, options.discovery, book, buttons), node.tell_of_broker)
    try:
        if buttons is not None:
            await buttons.start()
        publisher.start()
        yield
    finally:
        await publisher.stop()
        if buttons is not None:
            await buttons.stop()
