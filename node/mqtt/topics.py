"""The topics of a table, and its name in them."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass
from typing import Final

_LONGEST: Final = 40


@dataclass(frozen=True, slots=True)
class Topics:
    """The topics of one table on a broker. `table`: its name as `topic_name` makes it, or `+` for all."""

    prefix: str
    table: str

    @property
    def state(self) -> str:
        return self._of("state")

    @property
    def clock(self) -> str:
        return self._of("clock")

    @property
    def board(self) -> str:
        return self._of("board")

    @property
    def event(self) -> str:
        return self._of("event")

    @property
    def availability(self) -> str:
        return self._of("availability")

    @property
    def answer(self) -> str:
        """What has become of the commands."""
        return self._of("answer")

    @property
    def commands(self) -> str:
        """How many commands were done and refused."""
        return self._of("commands")

    def command(self, name: str) -> str:
        """Where a command is sent; `name`: also `+`."""
        return self._of(f"command/{name}")

    @property
    def publisher(self) -> str:
        """Which node publishes the table."""
        return self._of("publisher")

    @property
    def ask(self) -> str:
        """Where a newcomer asks whether that node is still there."""
        return self._of("publisher/ask")

    def standby(self, node: str) -> str:
        """That a node could publish the table; `node`: also `+`."""
        return self._of(f"standby/{node}")

    def _of(self, what: str) -> str:
        return f"{self.prefix}/{self.table}/{what}"


def topic_name(table_name: str) -> str:
    """The name of a table in topics and in Home Assistant: small letters, digits, hyphens.

    It stays the same from evening to evening, so that what follows the table `Kitchen` need not be told anew. A name of
    which nothing is left gets a number of its own.
    """
    plain = unicodedata.normalize("NFKD", table_name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_LONGEST].rstrip("-")
    return slug or f"table-{hashlib.blake2b(table_name.encode(), digest_size=4).hexdigest()}"


def table_in(topic: str, prefix: str) -> tuple[str, str] | None:
    """Of a table's topic its name and the rest; None for any other topic."""
    start = f"{prefix}/"
    if not topic.startswith(start):
        return None
    table, _, rest = topic.removeprefix(start).partition("/")
    return (table, rest) if rest else None
