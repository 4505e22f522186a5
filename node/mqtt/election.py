"""Which node publishes a table: one at a time, among those that have its broker. Pure: time comes in, decisions go out.

The broker is the judge, for it puts the messages of a topic into one order and tells when somebody's connection ends:

1. Who could publish says so (`standby`, retained; the last will takes it back). Who publishes says `online`
   (`availability`, retained; the last will says `offline`).
2. Once `offline` is heard, the first in rank claims the next term at once, the next in rank a step later, and so on.
   Nobody claims that knows less of the game than the last state that was published.
3. The first claim of a term that the broker passes on has won it, for everybody alike. The winner alone goes online; if
   it does not, the others go on as in 2.
4. Who comes anew and hears `online` asks; if no answer comes, it takes that for `offline`.

Rank: who takes commands first, then by seat, then by key. Who publishes stays, so that nothing flaps, but gives way to
one that takes commands where it does not itself. Tables of one name are told apart by their id: the one that came first
is published, the other waits until it is gone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

SETTLE_S: Final = 0.25  # after subscribing: all that is retained has come
STEP_S: Final = 0.6  # between two in rank
ONLINE_S: Final = 2.0  # whoever has won a term goes online within
ANSWER_S: Final = 2.0  # whoever publishes answers within
_MOST_CANDIDATES: Final = 64  # a table has far fewer, but anybody may write to a broker
_FAR: Final = 1 << 20  # the rank of who has no seat


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node that could publish: `table` in hex, `node` its key in hex, `seat` None for none."""

    table: str
    node: str
    commands: bool = False
    seat: int | None = None

    def plain(self) -> dict[str, Any]:
        """As it is published."""
        return {"table": self.table, "node": self.node, "commands": self.commands, "seat": self.seat}


@dataclass(frozen=True, slots=True)
class Claim:
    """That a node publishes, or wants to, from this term on."""

    table: str
    node: str
    term: int
    commands: bool = False

    def plain(self) -> dict[str, Any]:
        """As it is published."""
        return {"table": self.table, "node": self.node, "term": self.term, "commands": self.commands}


class Step(Enum):
    """What to do now."""

    WAIT = "wait"
    ASK = "ask"  # whether the one that seems to publish is there
    CLAIM = "claim"  # the next term
    PUBLISH = "publish"  # the term is ours


@dataclass(frozen=True, slots=True)
class Decision:
    """The step, and by when to decide again if nothing is heard."""

    step: Step
    again_s: float | None = None


@dataclass(slots=True)
class Election:
    """The view of one candidate on one connection; `began_s`: when it subscribed."""

    me: Candidate
    began_s: float
    claim: Claim | None = None  # the first of the highest term
    standing_by: dict[str, Candidate] = field(default_factory=dict)
    height: tuple[str, int] = ("", 0)  # of the last published state: table and height
    _online: bool = False
    _answered: bool = False
    _asked_s: float | None = None
    _quiet_s: float = 0.0  # since when, at the latest, nobody publishes
    _claimed: int = 0  # the term that was claimed here
    _claimed_s: float = 0.0

    def __post_init__(self) -> None:
        self._quiet_s = self.began_s + SETTLE_S

    @property
    def publisher(self) -> Claim | None:
        """Who publishes, as far as is known."""
        return self.claim if self._online else None

    def heard_availability(self, online: bool, now_s: float) -> None:
        """Whether somebody publishes."""
        self._online = online
        if not online:
            self._answered, self._asked_s = False, None
            self._quiet_s = max(self._quiet_s, now_s)

    def heard_claim(self, claim: Claim | None, now_s: float, *, retained: bool) -> None:
        """`retained`: it was made before this node came."""
        if claim is None:
            return
        if not retained and self._online:
            self._answered = True
        if self.claim is not None and claim.term <= self.claim.term:
            return
        self.claim = claim
        if not retained and not self._online:
            self._quiet_s = max(self._quiet_s, now_s + ONLINE_S)

    def heard_standby(self, node: str, candidate: Candidate | None) -> None:
        """None: it is not there any more."""
        if candidate is None:
            self.standing_by.pop(node, None)
        elif node in self.standing_by or len(self.standing_by) < _MOST_CANDIDATES:
            self.standing_by[node] = candidate

    def heard_state(self, table: str, height: int) -> None:
        """A state was published."""
        if table != self.height[0] or height > self.height[1]:
            self.height = (table, height)

    def next_claim(self, now_s: float) -> Claim:
        """What to publish for `Step.CLAIM`."""
        self._claimed, self._claimed_s = 1 + (0 if self.claim is None else self.claim.term), now_s
        return Claim(self.me.table, self.me.node, self._claimed, self.me.commands)

    def decide(self, now_s: float, height: int) -> Decision:
        """`height`: how far this node is in the game."""
        term = 0 if self.claim is None else self.claim.term
        if now_s < self.began_s + SETTLE_S:
            return Decision(Step.WAIT, self.began_s + SETTLE_S)
        if self._online and not self._is_silent(now_s):
            return self._wait_for_the_answer(now_s)
        if self.claim is not None and self._claimed == term and self.claim.node == self.me.node:
            return Decision(Step.PUBLISH)
        if self._claimed > term and now_s < self._claimed_s + ONLINE_S:
            return Decision(Step.WAIT, self._claimed_s + ONLINE_S)  # the claim is on its way
        if self.height[0] == self.me.table and height < self.height[1]:
            return Decision(Step.WAIT)
        due_s = self._due_s()
        return Decision(Step.WAIT, due_s) if now_s < due_s else Decision(Step.CLAIM)

    def gives_way(self) -> bool:
        """As the one that publishes: whether another should rather."""
        return not self.me.commands and any(other.commands for other in self._rivals(self.me.table))

    def _wait_for_the_answer(self, now_s: float) -> Decision:
        if self._answered:
            return Decision(Step.WAIT)
        if self._asked_s is None:
            self._asked_s = now_s
            return Decision(Step.ASK, now_s + ANSWER_S)
        return Decision(Step.WAIT, self._asked_s + ANSWER_S)

    def _is_silent(self, now_s: float) -> bool:
        """Whether the one that is online has not answered in time."""
        return not self._answered and self._asked_s is not None and now_s >= self._asked_s + ANSWER_S

    def _due_s(self) -> float:
        """When it is this node's turn to claim. The table that was published goes before others of its name."""
        rank = sum(_order(other) < _order(self.me) for other in self._rivals(self.me.table))
        if self.claim is not None and self.claim.table != self.me.table:
            rank += len(self._rivals(self.claim.table))
        asked_s = 0.0 if self._asked_s is None else self._asked_s + ANSWER_S
        return max(self._quiet_s, asked_s) + rank * STEP_S

    def _rivals(self, table: str) -> list[Candidate]:
        return [other for other in self.standing_by.values() if other.table == table and other.node != self.me.node]


def _order(candidate: Candidate) -> tuple[bool, int, str]:
    return not candidate.commands, _FAR if candidate.seat is None else candidate.seat, candidate.node


def read_claim(plain: Any) -> Claim | None:
    """From what was published; None for anything else."""
    match plain:
        case {"table": str(table), "node": str(node), "term": int(term), "commands": bool(commands)} if term > 0:
            return Claim(table, node, term, commands)
    return None


def read_candidate(plain: Any) -> Candidate | None:
    """From what was published; None for anything else."""
    match plain:
        case {"table": str(table), "node": str(node), "commands": bool(commands), "seat": int() | None as seat}:
            return Candidate(table, node, commands, seat)
    return None
