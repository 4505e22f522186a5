"""Settings of a node as one frozen value, and where its files live."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import platformdirs

from engine.strength import Strength


class ConfigError(Exception):
    """A setting makes no sense. The text says which and what to do."""


@dataclass(frozen=True, slots=True)
class NodeSettings:
    """How one node runs. `host` None: all addresses of this machine. `interfaces` None: those that are there."""

    name: str
    data: Path
    bot: bool = False
    host: str | None = None
    port: int = 0
    peers: tuple[tuple[str, int], ...] = ()
    interfaces: tuple[str, ...] | None = None
    strength: Strength = Strength.SOLID  # a bot's
    thinking_s: tuple[float, float] | None = None  # a bot's, at least and at most; None: as a person
    by_button: bool = False  # a bot: the table device's button ends its turns, where time has no limit
    device: bool = False  # a table device: it takes no seat
    rejoin: bool = False  # if the journal of the last game is damaged: put it aside and watch that game

    @property
    def tables(self) -> Path:
        """The folder of the journals, one file a table."""
        return self.data / "tables"


def default_data_folder() -> Path:
    """The user's data folder for Rummesh."""
    return platformdirs.user_data_path("rummesh", appauthor=False)


def parse_address(text: str) -> tuple[str, int]:
    """Host and port of `HOST:PORT` or `[IPV6]:PORT`. Raises `ConfigError`."""
    host, separator, port = text.strip().rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not separator or not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        raise ConfigError(f"{text!r} is no address. Write it as HOST:PORT, for example 192.168.1.20:47701.")
    return host, int(port)
