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

_URL_HELP: Final = "An MQTT broker: mqtt://HOST, mqtt://USER@HOST:PORT, mqtts://HOST for TLS."
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
                raise click.UsageError("Options of the broker need --mqtt URL.")
            command(broker=broker, **others)

        result: _Command = wrapped
        for option in reversed((click.option("--mqtt", required=required, metavar="URL", help=_URL_HELP), *_DETAILS)):
            result = option(result)
        return result

    return decorate


def _broker(url: str, **details: Any) -> Broker:
    from node.mqtt.broker import broker_of

    try:
        return broker_of(url, os.environ, **details)
    except ConfigError as error:
        raise click.UsageError(str(error)) from error
