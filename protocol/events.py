"""What a session reports. Public facts only: an event may be shown to anybody at this node."""

from __future__ import annotations

from dataclasses import dataclass

from engine.actions import Action


@dataclass(frozen=True, slots=True)
class LobbyChanged:
    """Members, their readiness or the table's card changed."""


@dataclass(frozen=True, slots=True)
class GameStarted:
    """The genesis is signed by all; the table has a log from here on."""


@dataclass(frozen=True, slots=True)
class EntryCommitted:
    """An entry was agreed by all and applied. `actor` is the seat whose turn or call it was, None for the genesis."""

    height: int
    round: int
    kind: str
    actor: int | None
    action: Action | None


@dataclass(frozen=True, slots=True)
class MessageRefused:
    """Something of another node was refused; our state is unchanged. `node` None: not proven who made it."""

    node: bytes | None
    reason: str


@dataclass(frozen=True, slots=True)
class EvidenceFound:
    """Signed bytes prove that a node broke the rules."""

    node: bytes
    reason: str
    evidence: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class GameVoid:
    """Two histories of this table are both certified: from `height` on neither counts (rule 19).

    `culprits` have signed for both, which no honest node does.
    """

    height: int
    culprits: tuple[bytes, ...]


Event = LobbyChanged | GameStarted | EntryCommitted | MessageRefused | EvidenceFound | GameVoid
