"""Links between simulated nodes as TCP gives them: frames of one link arrive in order, or the link is lost.

A lost packet only delays what is behind it. While two nodes are cut off from each other nothing arrives, but nothing
is lost either as long as neither closes the link; who closes it knows at once, the other when it hears of it. Lost
links are dialled again, as `node/transport.py` does.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol

from node.faults.ledger import Ledger
from node.faults.profiles import RETRANSMIT_S, STALL_S, Profile

FIRST_RETRY_S: Final = 0.25
LAST_RETRY_S: Final = 5.0
_FIN: Final = None  # the other end was closed in good order


class Hosts(Protocol):
    """What the network needs of the table: its clock, and its nodes by index."""

    now_s: float

    def at(self, when_s: float, event: Callable[[], None]) -> None: ...

    def up(self, index: int) -> bool: ...

    def linked(self, index: int, other: int) -> None: ...

    def lost(self, index: int, other: int) -> None: ...

    def arrived(self, source: int, target: int, frame: bytes) -> None: ...


@dataclass(slots=True)
class _Direction:
    """What one node has sent another over their link, and not arrived yet."""

    under_way: deque[bytes | None] = field(default_factory=deque)
    last_s: float = 0.0  # when what was sent last arrives
    stalled_until_s: float = 0.0


@dataclass(slots=True)
class Network:
    """All links of a table. An end holds the number of its link: two ends with one number are connected."""

    hosts: Hosts
    seats: int
    profile: Profile
    rng: random.Random
    ledger: Ledger
    cut: frozenset[tuple[int, int]] = frozenset()  # pairs that cannot reach each other, the lower index first
    _ends: dict[tuple[int, int], int] = field(default_factory=dict)
    _links: int = 0
    _directions: dict[tuple[int, int], _Direction] = field(default_factory=dict)
    _dialling: set[tuple[int, int]] = field(default_factory=set)

    def pairs(self) -> list[tuple[int, int]]:
        return [(low, high) for high in range(self.seats) for low in range(high)]

    def connect_all(self) -> None:
        """Every pair that has no link gets one as soon as it can."""
        for low, high in self.pairs():
            if not self._connected(low, high):
                self._dial(low, high, 0.0)

    def send(self, source: int, target: int, frame: bytes) -> None:
        """A frame for another node; it is gone if there is no link."""
        if (source, target) in self._ends:
            self._queue(source, target, frame)

    def close(self, index: int, other: int) -> None:
        """A node closes its end in good order: what it sent before still arrives, then the other learns of it."""
        if (index, other) in self._ends:
            self._queue(index, other, _FIN)
            del self._ends[(index, other)]
            if self.hosts.up(index):
                self.hosts.lost(index, other)
            self._dial(min(index, other), max(index, other), self._pause_s(FIRST_RETRY_S))

    def vanish(self, index: int) -> None:
        """A node loses its power: its ends are gone, nobody is told, and nothing that it sent is still sent again."""
        for other in range(self.seats):
            if self._ends.pop((index, other), None) is not None:
                self._directions[(index, other)].under_way.clear()
                self._dial(min(index, other), max(index, other), self._pause_s(FIRST_RETRY_S))

    def stall(self, low: int, high: int) -> None:
        """Nothing arrives for a while between two nodes."""
        for pair in ((low, high), (high, low)):
            if pair in self._directions:
                self._directions[pair].stalled_until_s = self.hosts.now_s + STALL_S

    def separate(self, cut: frozenset[tuple[int, int]]) -> None:
        """From now on these pairs, and no others, are cut off. What waited elsewhere is sent again."""
        healed = self.cut - cut
        self.cut = cut
        for low, high in sorted(healed):
            for source, target in ((low, high), (high, low)):
                direction = self._directions.get((source, target))
                if direction is not None:
                    again_s = self.hosts.now_s + self.rng.uniform(RETRANSMIT_S, 2.0)
                    direction.stalled_until_s = max(direction.stalled_until_s, again_s)
                    for _frame in direction.under_way:
                        self.hosts.at(again_s, self._arrival(source, target, self._ends.get((source, target), 0)))

    def _queue(self, source: int, target: int, frame: bytes | None) -> None:
        direction = self._directions[(source, target)]
        delay_s = self.rng.uniform(*self.profile.delay_s)
        retry_s = RETRANSMIT_S
        while self.rng.random() < self.profile.loss and self.ledger.happens("loss"):
            delay_s += retry_s
            retry_s *= 2
        direction.last_s = max(self.hosts.now_s + delay_s, direction.last_s)
        direction.under_way.append(frame)
        self.hosts.at(direction.last_s, self._arrival(source, target, self._ends[(source, target)]))

    def _arrival(self, source: int, target: int, link: int) -> Callable[[], None]:
        def event() -> None:
            direction = self._directions[(source, target)]
            if self._ends.get((target, source)) != link or not direction.under_way or self._is_cut(source, target):
                return
            if self.hosts.now_s < direction.stalled_until_s:
                self.hosts.at(direction.stalled_until_s, event)
                return
            frame = direction.under_way.popleft()
            if frame is not None:
                self.hosts.arrived(source, target, frame)
            else:
                del self._ends[(target, source)]
                self._directions[(target, source)].under_way.clear()
                self.hosts.lost(target, source)

        return event

    def _dial(self, low: int, high: int, pause_s: float) -> None:
        if (low, high) in self._dialling:
            return
        self._dialling.add((low, high))
        retry_s = FIRST_RETRY_S

        def event() -> None:
            nonlocal retry_s
            if self._connected(low, high):
                self._dialling.discard((low, high))
            elif self.hosts.up(low) and self.hosts.up(high) and not self._is_cut(low, high):
                self._dialling.discard((low, high))
                self._connect(low, high)
            else:
                retry_s = min(2 * retry_s, LAST_RETRY_S)
                self.hosts.at(self.hosts.now_s + self._pause_s(retry_s), event)

        self.hosts.at(self.hosts.now_s + pause_s, event)

    def _connect(self, low: int, high: int) -> None:
        """A new link, which takes the place of what either still holds for one."""
        self._links += 1
        link = self._links
        old = [end for end in ((low, high), (high, low)) if self._ends.pop(end, None) is not None]
        for end in ((low, high), (high, low)):
            self._directions[end] = _Direction()
            self._ends[end] = link
        for end in ((low, high), (high, low)):
            if end in old and self.hosts.up(end[0]):
                self.hosts.lost(*end)
            if self.hosts.up(end[0]) and self._ends.get(end) == link:
                self.hosts.linked(*end)

    def _connected(self, low: int, high: int) -> bool:
        end = self._ends.get((low, high))
        return end is not None and end == self._ends.get((high, low))

    def _is_cut(self, index: int, other: int) -> bool:
        return (min(index, other), max(index, other)) in self.cut

    def _pause_s(self, retry_s: float) -> float:
        return retry_s * self.rng.uniform(0.5, 1.0)
