"""Every message body, and the table from wire kind (the class name) to class.

Bodies are frozen dataclasses; raw signed envelopes travel inside others as bytes. Field order is wire order.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Final

from engine.actions import DeclareRummikub, Discard, Draw, Pass, Play, TakeDiscard
from engine.rulesets import RuleSet
from protocol.codec import Digest, NodeId, Size, TableId

Life = Annotated[bytes, Size(8)]  # of a process
SeatAction = Play | DeclareRummikub | Draw | Pass | TakeDiscard | Discard


# The hall: nodes that have not sat down, and tables that can be joined


@dataclass(frozen=True, slots=True)
class KnownPeer:
    """Where a node can be reached, as somebody has heard it. A hint; the link itself proves who answers."""

    node: NodeId
    addresses: tuple[str, ...]
    port: int


@dataclass(frozen=True, slots=True)
class Announce:
    """What a node says of itself over a link, the same as its mDNS record, and whom it knows at its table."""

    name: str
    table: TableId | None
    table_name: str
    rules: str
    phase: str
    seats: int
    free: int
    addresses: tuple[str, ...]
    port: int
    peers: tuple[KnownPeer, ...]


# The lobby


@dataclass(frozen=True, slots=True)
class TableCard:
    """What is played here; signed by who opened the table, shown to everybody before they sit down."""

    name: str
    rules: RuleSet


@dataclass(frozen=True, slots=True)
class Sitting:
    """A node's own place in the lobby. The one with the highest `stamp` counts.

    `fresh` are 32 random bytes that go into the genesis. `start`: this player has pressed Start. `refused` are table
    devices whose presses this player does not want.
    """

    stamp: int
    present: bool
    name: str
    bot: bool
    ready: bool
    start: bool
    fresh: Digest
    refused: tuple[NodeId, ...] = ()


@dataclass(frozen=True, slots=True)
class DeviceHere:
    """A table device offers itself to a table: a clock with buttons, without a seat. The highest `stamp` counts."""

    stamp: int
    present: bool
    name: str


@dataclass(frozen=True, slots=True)
class Device:
    """A table device of the roster."""

    name: str
    node: NodeId


@dataclass(frozen=True, slots=True)
class Member:
    """A seat of the roster: its player's name, its node's key, and 32 fresh bytes of that node."""

    name: str
    node: NodeId
    bot: bool
    fresh: Digest


@dataclass(frozen=True, slots=True)
class Genesis:
    """The first entry of a table's log: what is played and who sits where (index = seat). Signed by every seat.

    `devices`, by key: the buttons whose presses count as the click of whoever's turn it is.
    """

    table: TableId
    table_name: str
    rules: RuleSet
    members: tuple[Member, ...]
    devices: tuple[Device, ...] = ()


@dataclass(frozen=True, slots=True)
class GenesisDraft:
    """The genesis that the coordinator of the lobby proposes to sign. A higher `attempt` replaces a lower one."""

    attempt: int
    genesis: Genesis


@dataclass(frozen=True, slots=True)
class GenesisSignature:
    """A seat's consent to a genesis. All of them together are its certificate."""

    genesis: Digest


# Agreement (docs/agreement.md)


@dataclass(frozen=True, slots=True)
class SignedAction:
    """What the turn's actor wants, in its own words, so that others can propose it too (rule 10).

    `part` is the drawer's own part of the answers to the draw that this action asks for, `proof` the opening proof of
    the tiles it plays; both are empty where nothing is drawn or opened.
    """

    height: int
    prev: Digest
    action: SeatAction
    part: bytes
    proof: bytes


class RequestKind(Enum):
    """What a seat may ask of the table, whoever's turn it is. Of one seat's requests an earlier kind comes first."""

    LEAVE = "leave"
    RESUME = "resume"
    EXTEND = "extend"
    PAUSE = "pause"
    LONG_PAUSE = "long-pause"
    TAKE_BACK = "take-back"


@dataclass(frozen=True, slots=True)
class Request:
    """What a seat asks for at this moment (rule 10), or, where all must agree to it, that it agrees."""

    height: int
    prev: Digest
    kind: RequestKind


@dataclass(frozen=True, slots=True)
class GenesisEntry:
    """Height 0."""

    genesis: Genesis


@dataclass(frozen=True, slots=True)
class ActionEntry:
    """The actor's signed action: the whole envelope of a `SignedAction`."""

    envelope: bytes


@dataclass(frozen=True, slots=True)
class TimeoutEntry:
    """The clock has run out: the actor's, or that of a pause."""


@dataclass(frozen=True, slots=True)
class RequestEntry:
    """What was asked for is granted: the envelope of the `Request`, where all must agree those of all, by seat."""

    requests: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class NextGameEntry:
    """The next game of the series begins: the envelopes of all seats' `NextGameWish`, in seat order."""

    game: int
    wishes: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class AnswersEntry:
    """Closes a call: the digests of the messages that answer it, in canonical order."""

    call: str
    messages: tuple[Digest, ...]


@dataclass(frozen=True, slots=True)
class RemoveEntry:
    """Seats are out of the game (rules 13, 14). `reason` is a word for people and for the log.

    `answers`: the open call was answered in full before they went: the digests as in an `AnswersEntry`. None: there is
    no call, or it is void.
    """

    seats: tuple[int, ...]
    reason: str
    answers: tuple[Digest, ...] | None


Content = GenesisEntry | ActionEntry | TimeoutEntry | RequestEntry | NextGameEntry | AnswersEntry | RemoveEntry


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the log. `prev` is the hash of the entry before, `state_hash` that of the state after this one."""

    height: int
    prev: Digest
    content: Content
    state_hash: Digest


@dataclass(frozen=True, slots=True)
class Proposal:
    """`proof` are all voters' prevotes for this entry from an earlier round, or empty."""

    height: int
    prev: Digest
    round: int
    without: tuple[int, ...]
    entry: Entry
    proof: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Prevote:
    """`entry` is the hash of the entry voted for, None for nil. A nil because of a lock shows the lock's proof."""

    height: int
    prev: Digest
    round: int
    without: tuple[int, ...]
    entry: Digest | None
    proof: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Precommit:
    height: int
    prev: Digest
    round: int
    without: tuple[int, ...]
    entry: Digest | None


@dataclass(frozen=True, slots=True)
class Regroup:
    """A seat's consent to go on at this height without some seats, in round (`round`, `without`) (rule 15).

    `lock` is the entry its signer is locked on, `lock_round` and `proof` the round and the prevotes that prove it
    (None, -1 and empty without one). `answers` are the parts of the open call by the seats left out that it holds.
    """

    height: int
    prev: Digest
    round: int
    without: tuple[int, ...]
    lock: Digest | None
    lock_round: int
    proof: tuple[bytes, ...]
    answers: tuple[bytes, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class GoOnWish:
    """A seat's wish to go on without others, shown before anybody signs a `Regroup` (rule 15). Not a vote.

    `without` None: it takes its wish back; empty: it wishes the way back to all (rule 17). `round` is the highest round
    that it has signed for at this height. The one with the highest `stamp` counts.
    """

    height: int
    prev: Digest
    stamp: int
    without: tuple[int, ...] | None
    round: int


@dataclass(frozen=True, slots=True)
class NextGameWish:
    """A seat's wish to play game number `game` of the series; `prev` is the entry that ended the game before."""

    height: int
    prev: Digest
    game: int


# Dealing (docs/deal-entries.md)


class PartKind(Enum):
    """The messages that answer a call, in canonical order."""

    KEY_COMMIT = "key-commit"
    KEY_REVEAL = "key-reveal"
    REKEY = "rekey"
    SHUFFLE = "shuffle"
    TAG = "tag"
    TAG_SHARES = "tag-shares"
    SHARES = "shares"
    OPEN_RACK = "open-rack"


@dataclass(frozen=True, slots=True)
class DealPart:
    """One seat's part of the answers to the open call.

    `height` is that of the entry after the one that opened the call, `prev` the hash of the opening entry; `names` is
    the digest of the messages that this one builds on, or None.
    """

    height: int
    prev: Digest
    kind: PartKind
    names: Digest | None
    payload: bytes


# Table devices


class Button(Enum):
    """What a table device has buttons for."""

    END_TURN = "end-turn"
    RUMMIKUB = "rummikub"
    PAUSE = "pause"


@dataclass(frozen=True, slots=True)
class Press:
    """A button of a table device was pressed at this moment of the game. `number` tells presses of a height apart."""

    height: int
    prev: Digest
    game: int
    button: Button
    number: int


@dataclass(frozen=True, slots=True)
class PressAnswer:
    """What the node of the seat whose turn it is has made of a press. `refused`: why nothing came of it, or None."""

    press: Digest
    refused: str | None


# Keeping up


@dataclass(frozen=True, slots=True)
class Status:
    """Heartbeat: the height this node works on and a sum of the messages of that height that it holds.

    `life` are random bytes of the running process, in which `beat` only grows. `misses` are the seats whose heartbeat
    is late here: who has it passes it on.
    """

    life: Life
    beat: int
    height: int
    prev: Digest
    held: bytes
    misses: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CatchUp:
    """Committed entries in order, for a node that lags. Each is the encoding of a `log.Committed`."""

    entries: tuple[bytes, ...]


Body = (
    Announce
    | TableCard
    | Sitting
    | DeviceHere
    | GenesisDraft
    | GenesisSignature
    | SignedAction
    | Request
    | NextGameWish
    | Proposal
    | Prevote
    | Precommit
    | Regroup
    | GoOnWish
    | DealPart
    | Press
    | PressAnswer
    | Status
    | CatchUp
)

BODIES: Final[dict[str, type[Body]]] = {
    body.__name__: body
    for body in (
        Announce,
        TableCard,
        Sitting,
        DeviceHere,
        GenesisDraft,
        GenesisSignature,
        SignedAction,
        Request,
        NextGameWish,
        Proposal,
        Prevote,
        Precommit,
        Regroup,
        GoOnWish,
        DealPart,
        Press,
        PressAnswer,
        Status,
        CatchUp,
    )
}
