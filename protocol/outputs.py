"""What a session wants done, in order: store, send, tell. Who carries them out must keep that order (rule 2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from protocol.events import Event


class RecordKind(Enum):
    """What a journal record is, so that a session can be rebuilt from them in order."""

    SECRET = "secret"  # noqa: S105 - the word, not a secret: a dealer's secrets; never leaves the machine
    DRAFT = "draft"  # a genesis this node has signed
    SILENT = "silent"  # what this node signed at this table is forgotten: it says nothing in its game
    OWN = "own"  # a message of our own, before it is sent
    HEARD = "heard"  # another's proposal, before it is prevoted
    LOCK = "lock"  # a precommit with the lock's entry and proof
    COMMITTED = "committed"  # an entry of the log with its certificate
    EVIDENCE = "evidence"  # what proves that a node broke the rules
    CLOSED = "closed"  # secrets up to here are erased


@dataclass(frozen=True, slots=True)
class Store:
    """Write before anything after it is sent; consecutive ones are one transaction."""

    kind: RecordKind
    height: int
    data: bytes

    def __repr__(self) -> str:  # data may be secret
        return f"Store({self.kind.name}, height={self.height}, {len(self.data)} bytes)"


@dataclass(frozen=True, slots=True)
class Send:
    """Send a frame to one node, or with `to` None to everybody linked but `but`."""

    frame: bytes
    to: bytes | None = None
    but: bytes | None = None


@dataclass(frozen=True, slots=True)
class Drop:
    """Close the link to a node: it sent what no honest node sends."""

    node: bytes
    reason: str


@dataclass(frozen=True, slots=True)
class Tell:
    """Something happened that the node, its player or its display may want to know."""

    event: Event


@dataclass(frozen=True, slots=True)
class Compute:
    """Something long to compute, in any thread: what `work` returns goes to `Session.computed` with the same number."""

    number: int
    work: Callable[[], object]

    def __repr__(self) -> str:  # what it works on may be secret
        return f"Compute({self.number})"


Output = Store | Send | Drop | Tell | Compute
