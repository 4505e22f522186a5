"""A broker: where it is, who we are there, and connections to it on aiomqtt."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import re
import socket
import ssl
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from aiomqtt import Client, Message, MqttError, Will
from aiomqtt.exceptions import MqttConnectError

from node.config import ConfigError

USER_VARIABLE: Final = "RUMMESH_MQTT_USER"
PASSWORD_VARIABLE: Final = "RUMMESH_MQTT_PASSWORD"  # noqa: S105 - a name
_PORTS: Final = {"mqtt": 1883, "mqtts": 8883}
_LEVEL: Final = re.compile(r"[^\s+#\0/]+(/[^\s+#\0/]+)*")
_HOW: Final = "Write it as mqtt://HOST, mqtt://USER@HOST:PORT, or mqtts://HOST for TLS."
KEEPALIVE_S: Final = 5  # a frozen node is missed after half as much again
_ANSWER_S: Final = 10.0
_MOST_WAITING: Final = 2000  # messages of the broker's that nobody has looked at yet; more are thrown away
_AT_ONCE: Final = ((socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),)  # else what follows a receipt may wait for 40 ms
_NOT_LET_IN: Final = (4, 5, 134, 135)  # of MQTT 3.1.1 and of 5: bad user or password, not authorized
RETRY_S: Final = (0.5, 1.0, 2.0, 4.0, 8.0)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker as somebody asked for it. `ca`: the certificate that TLS trusts besides, or rather than, the usual."""

    host: str
    port: int
    tls: bool = False
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    ca: Path | None = None
    prefix: str = "rummesh"
    client_id: str | None = None

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'mqtts' if self.tls else 'mqtt'}://{host}:{self.port}"


def broker_of(
    url: str,
    environment: Mapping[str, str],
    *,
    password_file: Path | None = None,
    ca: Path | None = None,
    prefix: str = "rummesh",
    client_id: str | None = None,
) -> Broker:
    """The broker of a URL. Raises `ConfigError` for what makes no sense, in a sentence that says what to do."""
    try:
        parts = urlsplit(url if "//" in url else f"mqtt://{url}")
        port = parts.port
    except ValueError:
        raise ConfigError(f"{_without_password(url)!r} is no broker. {_HOW}") from None
    if parts.scheme not in _PORTS or not parts.hostname or parts.path.strip("/") or parts.query or parts.fragment:
        raise ConfigError(f"{_without_password(url)!r} is no broker. {_HOW}")
    if parts.password is not None:
        raise ConfigError(
            "Everybody on this machine can read a password on the command line. "
            f"Put it in a file (--mqtt-password-file) or into the variable {PASSWORD_VARIABLE}."
        )
    tls = parts.scheme == "mqtts"
    if ca is not None and not tls:
        raise ConfigError(f"A CA file is of no use without TLS: write the broker as mqtts://{parts.hostname}.")
    check_prefix(prefix)
    password = environment.get(PASSWORD_VARIABLE)
    if password_file is not None:
        password = read_secret(password_file)
    user = unquote(parts.username) if parts.username else environment.get(USER_VARIABLE)
    if password is not None and user is None:
        raise ConfigError(f"There is a password for the broker, but no user: mqtt://USER@HOST or {USER_VARIABLE}.")
    return Broker(parts.hostname, port or _PORTS[parts.scheme], tls, user, password, ca, prefix, client_id)


def check_prefix(prefix: str) -> None:
    """Raises `ConfigError` unless topics can begin with it."""
    if not _LEVEL.fullmatch(prefix):
        raise ConfigError(f"{prefix!r} is no prefix of topics: no spaces, no + and #, no / at the ends.")


def read_secret(path: Path) -> str:
    """The first line of a file that only its owner should read. Raises `ConfigError`."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"The file {path} cannot be read: {getattr(error, 'strerror', 'not a text')}.") from error
    if not lines or not lines[0].strip():
        raise ConfigError(f"The file {path} is empty. Its first line is the secret.")
    return lines[0].strip()


@contextlib.asynccontextmanager
async def connected(broker: Broker, *, role: str = "", will: Will | None = None) -> AsyncIterator[Client]:
    """A connection until the block ends. Raises `MqttError`, also from within when the broker goes, or `ConfigError`.

    `role` keeps several connections of one process apart where the operator has named the client.
    """
    context = await asyncio.to_thread(_tls_context, broker) if broker.tls else None
    name = None if broker.client_id is None else "-".join(part for part in (broker.client_id, role) if part)
    client = Client(
        broker.host,
        broker.port,
        username=broker.user,
        password=broker.password,
        identifier=name,
        will=will,
        keepalive=KEEPALIVE_S,
        timeout=_ANSWER_S,
        tls_context=context,
        socket_options=_AT_ONCE,
        max_queued_incoming_messages=_MOST_WAITING,
        logger=_log,
    )
    async with client:
        yield client


def retry_s(tries: int) -> float:
    """How long to wait before the next try, after so many that failed before this one."""
    return RETRY_S[min(tries, len(RETRY_S) - 1)]


def payload_of(message: Message) -> bytes:
    """What a message holds."""
    return message.payload if isinstance(message.payload, bytes) else b""


def trouble_with(broker: Broker, error: MqttError | OSError) -> str:
    """What is wrong and what to do, in sentences for the player."""
    reason = str(error.__cause__ or error)
    match error:
        case MqttConnectError(rc=rc) if getattr(rc, "value", rc) in _NOT_LET_IN:
            who = "without a user" if broker.user is None else f"as {broker.user}"
            return f"The broker {broker} lets nobody in {who} with this password. Check user and password."
        case _ if "CERTIFICATE_VERIFY_FAILED" in reason:
            return f"The certificate of the broker {broker} is not trusted. Give its CA (--mqtt-ca) and its right name."
        case _ if "SSL" in reason or (broker.tls and f"[Errno {errno.ECONNRESET}]" in reason):
            return f"There is no TLS with the broker {broker}: {reason}. Check port and scheme (mqtt or mqtts)."
        case _ if "timed out" in reason:
            return f"The broker {broker} does not answer. It is tried again. Check port and scheme (mqtt or mqtts)."
        case _:
            return f"The broker {broker} cannot be reached: {reason}. It is tried again; the game goes on without it."


def _tls_context(broker: Broker) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=broker.ca)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"The CA file {broker.ca} cannot be used: {error}.") from error


def _without_password(url: str) -> str:
    return re.sub(r"((?://|^)[^:@/]*):.*@", r"\1:…@", url)
