"""The options of the commands that use a broker. What aiomqtt brings is imported only when one is named."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from node.config import ConfigError

if TYPE_CHECKING:
    from node.mqtt.broker import Broker

_Command = Callable[..., None]
_FILE: Final = click.Path(dir_okay=False, exists=True, path_type=Path)

KEY_VARIABLE: Final = "RUMMESH_MQTT_COMMAND_KEY"
_URL_HELP: Final = "An MQTT broker: mqtt://HOST, mqtt://USER@HOST:PORT, mqtts://HOST for TLS."
NEED_BROKER: Final = "Options of the broker need --mqtt URL."
_DETAILS: Final = (
    click.option(
        "--mqtt-password-file",
        type=_FILE,
        default=None,
        metavar="FILE",
        help="The first line is the broker's password. Or in the variable RUMMESH_MQTT_PASSWORD.",
    ),
    click.option(
        "--mqtt-ca", type=_FILE, default=None, metavar="FILE", help="The CA that the broker's certificate is of."
    ),
    click.option(
        "--mqtt-prefix", default="rummesh", show_default=True, metavar="TOPIC", help="What all topics begin with."
    ),
    click.option("--mqtt-client-id", default=None, metavar="ID", help="The client's name. Default: a random one."),
)


def with_broker_options(*, required: bool = False) -> Callable[[_Command], _Command]:
    """Gives a command the options of a broker; it gets `broker`, a `Broker`, or None where none is named."""

    def decorate(command: _Command) -> _Command:
        @functools.wraps(command)
        def wrapped(
            *,
            mqtt: str | None,
            mqtt_password_file: Path | None,
            mqtt_ca: Path | None,
            mqtt_prefix: str,
            mqtt_client_id: str | None,
            **others: Any,
        ) -> None:
            broker = None
            if mqtt is not None:
                broker = _broker(
                    mqtt,
                    password_file=mqtt_password_file,
                    ca=mqtt_ca,
                    prefix=mqtt_prefix,
                    client_id=mqtt_client_id,
                )
            elif mqtt_password_file or mqtt_ca or mqtt_client_id:
                raise click.UsageError(NEED_BROKER)
            command(broker=broker, **others)

        result: _Command = wrapped
        for option in reversed((click.option("--mqtt", required=required, metavar="URL", help=_URL_HELP), *_DETAILS)):
            result = option(result)
        return result

    return decorate


def with_command_key(what: str) -> Callable[[_Command], _Command]:
    """Gives a command that gets `broker` the key of the commands over it; it gets `command_key`, None without one.

    `what` is done with it, for the help.
    """

    def decorate(command: _Command) -> _Command:
        @functools.wraps(command)
        def wrapped(*, broker: Broker | None, mqtt_command_key: Path | None, **others: Any) -> None:
            if broker is None and mqtt_command_key is not None:
                raise click.UsageError(NEED_BROKER)
            key = None if broker is None else _command_key(mqtt_command_key)
            command(broker=broker, command_key=key, **others)

        return click.option(
            "--mqtt-command-key",
            type=_FILE,
            default=None,
            metavar="FILE",
            help=f"{what}, signed with this file's first line. Or in the variable {KEY_VARIABLE}.",
        )(wrapped)

    return decorate


def _command_key(file: Path | None) -> str | None:
    from node.mqtt.broker import read_secret
    from node.mqtt.commands import access_of

    try:
        key = os.environ.get(KEY_VARIABLE) if file is None else read_secret(file)
        access_of(key, "")
    except ConfigError as error:
        raise click.UsageError(str(error)) from error
    return key


def _broker(url: str, **details: Any) -> Broker:
    from node.mqtt.broker import broker_of

    try:
        return broker_of(url, os.environ, **details)
    except ConfigError as error:
        raise click.UsageError(str(error)) from error
