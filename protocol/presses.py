"""Presses of table devices: each counts once, at one moment of one game; no device can flood the table with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from protocol.envelope import Envelope
from protocol.errors import RemoteProtocolError
from protocol.messages import Press, PressAnswer

MAX_PRESSES: Final = 16  # of one device at one height
MAX_REMEMBERED: Final = 64


@dataclass(slots=True)
class _Seen:
    device: bytes
    height: int
    links: set[bytes]  # that it came by
    answered: bool = False


@dataclass(slots=True)
class PressBook:
    """The presses that a session has seen lately, by the digest of their envelope."""

    _seen: dict[bytes, _Seen] = field(default_factory=dict)
    _early: list[tuple[bytes, Envelope]] = field(default_factory=list)  # with the link that each came by

    def next_number(self, device: bytes, height: int) -> int:
        """The number of a device's next press at a height. `MAX_PRESSES`: it has none left."""
        return sum((seen.device, seen.height) == (device, height) for seen in self._seen.values())

    def is_new(self, link: bytes, envelope: Envelope, height: int) -> bool:
        """Remember a press; False for a copy that another node has passed on. Raises `RemoteProtocolError`.

        Every node passes a press on once: who sends it twice repeats it.
        """
        known = self._seen.get(envelope.digest)
        if known is not None:
            if link in known.links:
                raise RemoteProtocolError(link, "a press that was used already")
            known.links.add(link)
            return False
        if self.next_number(envelope.sender, height) >= MAX_PRESSES:
            raise RemoteProtocolError(envelope.sender, "too many presses at one moment")
        while len(self._seen) >= MAX_REMEMBERED:
            del self._seen[next(iter(self._seen))]
        self._seen[envelope.digest] = _Seen(envelope.sender, height, {link})
        return True

    def keep(self, link: bytes, envelope: Envelope) -> None:
        """A press of the next height came before the entry that leads there."""
        self._early = [*self._early, (link, envelope)][-MAX_PRESSES:]

    def take_early(self) -> list[tuple[bytes, Envelope]]:
        """The presses that came early, to be looked at now."""
        early, self._early = self._early, []
        return early

    def answered(self, answer: PressAnswer) -> bool:
        """Whether this is the first answer to a press that is known."""
        seen = self._seen.get(answer.press)
        if seen is None or seen.answered:
            return False
        seen.answered = True
        return True

    def device(self, press: bytes) -> bytes:
        """The key of the device whose press this was."""
        return self._seen[press].device


def is_at(press: Press, height: int, head: bytes, game: int) -> bool:
    """Whether a press is of this very moment."""
    return (press.height, press.prev, press.game) == (height, head, game)
