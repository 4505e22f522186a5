"""What a publisher would put on a broker while a simulated table plays, without a broker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from engine.rulesets import RuleSet
from node.mqtt.payloads import has_changed, messages_of, what_shows
from node.simulation import SimulatedTable
from protocol.session import Session

UNIX_S: Final = 1_800_000_000.0  # what the publisher's wall clock says when the virtual one is at 0
Heard = Callable[[str, dict[str, Any]], None]


class BroadcastTable(SimulatedTable):
    """A table with a device, its last node, whose session is published: `heard` is called for each message."""

    def __init__(self, rules: RuleSet, seats: int, seed: int, heard: Heard) -> None:
        super().__init__(rules, seats, seed, devices=1)
        self._heard = heard
        self._sent: dict[str, dict[str, Any]] = {}
        self._shown: object = None

    @property
    def seen(self) -> Session:
        """The session that is published."""
        return self.nodes[-1].session

    def publish(self) -> None:
        """What has changed, in the order of the publisher: the state last."""
        shown = what_shows(self.seen)
        if shown != self._shown:
            self._shown = shown
            self.send()

    def send(self) -> None:
        """What is new, whether the session looks changed or not."""
        messages = messages_of(self.seen, self.now_s, UNIX_S + self.now_s, commands=True)
        if messages is None:
            return
        for topic, message in (("board", messages.board), ("clock", messages.clock), ("state", messages.state)):
            if has_changed(self._sent.get(topic), message):
                self._sent[topic] = message
                self._heard(topic, message)
