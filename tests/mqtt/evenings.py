"""Evenings with many tables: what is published of one simulated game, told under many names."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from node.mqtt.party.board import Now, PartyBoard
from node.mqtt.payloads import packed
from node.mqtt.topics import topic_name
from tests.mqtt.games import MORNING_S, Moment

PREFIX = "rummesh"
KINDS = ("state", "clock", "board", "event")


@dataclass(frozen=True, slots=True)
class TableTold:
    """A simulated game as one of the evening's tables. `players` by seat; names of bots end with `*`."""

    name: str
    players: Sequence[str]
    moments: tuple[Moment, ...]
    number: int = 0
    later_s: float = 0.0

    @property
    def topic(self) -> str:
        """The name in topics."""
        return topic_name(self.name)

    @property
    def id(self) -> str:
        """The id, in hex."""
        return hashlib.blake2b(f"{self.name}/{self.number}".encode(), digest_size=16).hexdigest()

    @property
    def last(self) -> int:
        """The moment at which everything is over."""
        return len(self.moments) - 1

    def now(self, at: int) -> Now:
        """A moment on clocks that are right."""
        seconds = float(self.moments[at].messages.state["at"]) - MORNING_S + self.later_s
        return Now(seconds, MORNING_S + seconds)

    def messages(self, at: int, kind: str) -> list[dict[str, Any]]:
        """What it says of this kind at a moment: one message, or some events."""
        return [self._dressed(message) for what, message in self.moments[at].all() if what == kind]

    def message(self, at: int, kind: str) -> dict[str, Any]:
        """The last of them."""
        return self.messages(at, kind)[-1]

    def told(self, at: int, kinds: Sequence[str] = KINDS) -> Iterator[tuple[str, bytes]]:
        """Topics and payloads of a moment."""
        for kind in kinds:
            for message in self.messages(at, kind):
                yield f"{PREFIX}/{self.topic}/{kind}", packed(message)

    def _dressed(self, message: dict[str, Any]) -> dict[str, Any]:
        later = {key: message[key] + self.later_s for key in ("at", "deadline", "pause_until") if message.get(key)}
        said = {**message, **later, "table": self.id}
        if "seats" in message:
            said["name"] = self.name
            said["seats"] = [
                {**seat, "name": player.removesuffix("*"), "bot": player.endswith("*")}
                for seat, player in zip(message["seats"], self.players, strict=False)
            ]
        if "text" in message:
            for seat, player in zip(self.moments[-1].messages.state["seats"], self.players, strict=True):
                said["text"] = said["text"].replace(seat["name"], player.removesuffix("*"))
        return said


def tell(board: PartyBoard, table: TableTold, at: int, *, now: Now | None = None, retained: bool = False) -> None:
    """Tell the board all of one moment, as if it was sent just then unless `now` says when."""
    when = now or table.now(at)
    board.take(f"{PREFIX}/{table.topic}/availability", b"online", when, retained=retained)
    for topic, payload in table.told(at):
        if not (retained and topic.endswith("/event")):
            board.take(topic, payload, when, retained=retained)
