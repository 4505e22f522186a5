"""What a session reports. Public facts only: an event may be shown to anybody at this node."""

from __future__ import annotations

from dataclasses import dataclass

from engine.actions import Action
from protocol.messages import Button


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


@dataclass(frozen=True, slots=True)
class Pressed:
    """A table device's button was pressed in the own player's turn: its node does what the player's click would.

    Answered by `Session.answer_press` with `press`.
    """

    press: bytes
    device: str
    button: Button


@dataclass(frozen=True, slots=True)
class PressAnswered:
    """What has become of a press. `refused`: why nothing has, None if it was done."""

    press: bytes
    device: str
    refused: str | None


Event = (
    LobbyChanged | GameStarted | EntryCommitted | MessageRefused | EvidenceFound | GameVoid | Pressed | PressAnswered
)
