"""A real mosquitto on this machine, on ports and in a folder of its own, and whoever listens to it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

import trustme
from aiomqtt import MqttError

from node.mqtt.broker import Broker, connected
from tests.node.loops import LIMIT_S, until

HOST: Final = "127.0.0.1"
_PATH: Final = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"))
PROGRAM: Final = shutil.which("mosquitto", path=_PATH)
_AGAIN_S: Final = 0.05
_TOLD: Final = 12  # of the messages that were heard


def why_not() -> str | None:
    """Why no mosquitto can run here; None if one can."""
    return "mosquitto is not installed (apt-get install mosquitto)" if PROGRAM is None else None


class Mosquitto:
    """A broker that starts with the `with` block, or `start()`, and is gone after it.

    `folder` must be its own. `users`: passwords by name; without any, everybody is let in. `acl`: the text of an ACL
    file. `tls`: a second listener, with a certificate for 127.0.0.1 of the CA in `ca`. `persistent`:
    retained messages outlast it, also when it is killed a second after.
    """

    def __init__(
        self,
        folder: Path,
        *,
        users: Mapping[str, str] | None = None,
        acl: str | None = None,
        tls: bool = False,
        persistent: bool = False,
    ) -> None:
        self.folder, self.users, self.acl, self.tls, self.persistent = folder, dict(users or {}), acl, tls, persistent
        self.port, self.tls_port = _free_port(), _free_port() if tls else 0
        self.ca = folder / "ca.pem"
        self._log = folder / "log"
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        self._write_files()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def url(self) -> str:
        """For `--mqtt`."""
        return f"mqtt://{HOST}:{self.port}"

    @property
    def tls_url(self) -> str:
        return f"mqtts://{HOST}:{self.tls_port}"

    @property
    def log(self) -> str:
        """All that it has written so far, over all its starts."""
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    @property
    def stored(self) -> bytes:
        """What a persistent broker has on the disk."""
        file = self.folder / "mosquitto.db"
        return file.read_bytes() if file.exists() else b""

    @property
    def pid(self) -> int:
        assert self._process is not None, "mosquitto is not running"
        return self._process.pid

    def broker(self, user: str | None = None, *, tls: bool = False, prefix: str = "rummesh") -> Broker:
        """How to reach it, as one of its users or as nobody in particular."""
        port, ca = (self.tls_port, self.ca) if tls else (self.port, None)
        return Broker(HOST, port, tls, user, None if user is None else self.users[user], ca, prefix)

    def start(self) -> None:
        """Returns when it accepts connections; again after `stop` or `kill`, on the same ports."""
        assert PROGRAM is not None, why_not()
        assert self._process is None, "mosquitto is running"
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [PROGRAM, "-c", self.folder / "mosquitto.conf"], stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        end_s = time.monotonic() + LIMIT_S
        while not all(_accepts(port) for port in (self.port, self.tls_port) if port):
            died = self._process.poll()
            if died is not None or time.monotonic() > end_s:
                self.kill()
                raise AssertionError(f"mosquitto does not start (exit code {died}):\n{self.log}")
            time.sleep(0.005)

    def stop(self) -> None:
        """As an orderly shutdown does it."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """As a power cut does it; nothing if it is not running."""
        self._end(signal.SIGKILL)

    def freeze(self) -> None:
        """Connections stay open, and nobody answers."""
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(how)
        try:
            process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise AssertionError(f"mosquitto does not end:\n{self.log}") from None

    def _write_files(self) -> None:
        lines = ["log_dest stderr", "log_type all", "set_tcp_nodelay true"]
        if os.geteuid() == 0:
            lines.append("user root")
        lines.append(f"allow_anonymous {str(not self.users).lower()}")
        if self.users:
            lines.append(f"password_file {self._hashed_passwords()}")
        if self.acl is not None:
            lines.append(f"acl_file {self._file('acl', self.acl)}")
        if self.persistent:
            lines += ["persistence true", f"persistence_location {self.folder}/"]
            lines += ["autosave_on_changes true", "autosave_interval 1"]
        lines.append(f"listener {self.port} {HOST}")
        if self.tls:
            certificate, key = self._certificate()
            lines += [f"listener {self.tls_port} {HOST}", f"certfile {certificate}", f"keyfile {key}"]
        self._file("mosquitto.conf", "\n".join(lines) + "\n")

    def _hashed_passwords(self) -> Path:
        path = self._file("passwords", "".join(f"{user}:{password}\n" for user, password in self.users.items()))
        program = shutil.which("mosquitto_passwd", path=_PATH)
        assert program is not None, "mosquitto_passwd is missing"
        subprocess.run([program, "-U", path], check=True, capture_output=True)
        return path

    def _certificate(self) -> tuple[Path, Path]:
        ca = trustme.CA()
        ca.cert_pem.write_to_path(self.ca)
        certificate = ca.issue_cert(HOST)
        chain, key = self.folder / "chain.pem", self.folder / "key.pem"
        certificate.cert_chain_pems[0].write_to_path(chain)
        certificate.private_key_pem.write_to_path(key)
        return chain, key

    def _file(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.touch(mode=0o600)
        path.write_text(text)
        return path


@dataclass(frozen=True, slots=True)
class Heard:
    """A message as a subscriber got it. `retain`: it was kept from before the subscription."""

    topic: str
    payload: bytes
    retain: bool

    @property
    def json(self) -> Any:
        return json.loads(self.payload)


@dataclass(frozen=True, slots=True)
class Collected:
    """What has been heard so far, oldest first."""

    messages: list[Heard] = field(default_factory=list)

    def on(self, topic: str) -> list[Heard]:
        """All of one topic."""
        return [message for message in self.messages if message.topic == topic]

    async def until(self, condition: Callable[[list[Heard]], object], limit_s: float = LIMIT_S) -> None:
        """Wait until `condition` is true of the messages. Fails with what was heard last."""
        try:
            await until(lambda: condition(self.messages), limit_s)
        except AssertionError:
            heard = "\n".join(f"{one.topic} {one.payload!r} retain={one.retain}" for one in self.messages[-_TOLD:])
            raise AssertionError(f"not within {limit_s} s. Heard last:\n{heard}") from None


@contextlib.asynccontextmanager
async def collect(broker: Broker, *filters: str) -> AsyncIterator[Collected]:
    """Listens to topic filters until the block ends, again and again when the broker goes and comes.

    Within the block all are subscribed. Raises `MqttError` if the broker is not there at first.
    """
    collected, subscribed = Collected(), asyncio.Event()
    task = asyncio.create_task(_listen(broker, filters, collected, subscribed))
    waiting = asyncio.create_task(subscribed.wait())
    try:
        await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
        yield collected
    finally:
        for one in (task, waiting):
            one.cancel()
        await asyncio.gather(task, waiting, return_exceptions=True)


async def _listen(broker: Broker, filters: tuple[str, ...], to: Collected, subscribed: asyncio.Event) -> None:
    while True:
        try:
            async with connected(broker) as client:
                await client.subscribe([(each, 1) for each in filters])
                subscribed.set()
                async for message in client.messages:
                    assert isinstance(message.payload, bytes)
                    to.messages.append(Heard(message.topic.value, message.payload, message.retain))
        except MqttError:
            if not subscribed.is_set():
                raise
            await asyncio.sleep(_AGAIN_S)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _accepts(port: int) -> bool:
    try:
        socket.create_connection((HOST, port), timeout=1.0).close()
    except OSError:
        return False
    return True
