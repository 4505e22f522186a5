"""The interface between a table and one way of dealing: what a dealer is asked, and in which context.

Every question carries a `Context`, which a proof made for one moment of one game must be bound to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from engine.state import Call, PublicState, Seat, Slot
from engine.tiles import TileId
from protocol.messages import PartKind


@dataclass(frozen=True, slots=True)
class Context:
    """The moment a part or proof belongs to.

    `height` is that of the entry it is for, `view` the hash of the entry before it, `gid` names the game at its table,
    `state` is the public state after the entry before, `used_keys` are the public keys of earlier games and epochs at
    this table, which nobody may use again.
    """

    gid: bytes
    height: int
    view: bytes
    state: PublicState
    used_keys: frozenset[bytes] = frozenset()


@dataclass(frozen=True, slots=True)
class Owed:
    """A part that a seat owes to the open call."""

    kind: PartKind
    seat: Seat


Entropy = Callable[[int], bytes]
"""Gives so many fresh random bytes. May be called in any thread."""


class CannotBuild(Exception):  # noqa: N818 - named for what it means
    """What a part builds on is itself no deck, so that nothing can be built on it or said of it."""


class Dealer(Protocol):
    """One game's tiles as one node may see them.

    The checks return None when all is right, else the reason in lower case. They raise for no bytes whatever, except
    `CannotBuild`. `part`, `check_part` and `prepare` may run in any thread, and at the same time.
    """

    def secret(self) -> bytes:
        """Everything needed to make the same dealer again; for the journal only."""
        ...

    def part(self, kind: PartKind, call: Call, context: Context, before: Mapping[Owed, bytes]) -> bytes:
        """The payload of the own part. `before` holds the payloads of all that it builds on, directly or not.

        Raises `CannotBuild`.
        """
        ...

    def prepare(self, kind: PartKind, call: Call, context: Context, before: Mapping[Owed, bytes]) -> None:
        """Compute what the own part does not need its predecessor for, so that `part` is quicker."""
        ...

    def check_part(
        self, kind: PartKind, seat: Seat, payload: bytes, call: Call, context: Context, before: Mapping[Owed, bytes]
    ) -> str | None:
        """Whether `payload` is a right part of `seat` for the call. Raises `CannotBuild`."""
        ...

    def check_whole(self, call: Call, context: Context, parts: Mapping[Owed, bytes]) -> None:
        """Look at what only all parts together show.

        Raises `LocalProtocolError` if right proofs led to something impossible: the table must not go on.
        """
        ...

    def close(self, call: Call, context: Context, parts: Mapping[Owed, bytes]) -> None:
        """The call was closed with these parts: their effect on the deck is now agreed.

        `parts` holds everything owed, and for a draw the drawer's own part also if that was in its action.
        """
        ...

    def renew(self) -> None:
        """A re-deal begins: a fresh share of the deck key; the old one is erased."""
        ...

    def restore(self, seat: Seat, secret: bytes) -> None:
        """After a restart, an observer of the game so far becomes the dealer of a seat again, with its `secret()`."""
        ...

    def erase(self) -> None:
        """Forget all secrets: the game is over for this node."""
        ...

    def public_keys(self) -> frozenset[bytes]:
        """The keys that the seats use now."""
        ...

    def lot(self, context: Context, parts: Mapping[Owed, bytes]) -> Callable[[int], int]:
        """The joint random numbers u_0, u_1, ... (512 bits each) that the checked parts of `start` amount to."""
        ...

    def draw_part(self, slots: Sequence[Slot], context: Context) -> bytes:
        """The drawer's own part for drawing exactly these slots."""
        ...

    def check_draw_part(self, seat: Seat, slots: Sequence[Slot], payload: bytes, context: Context) -> str | None:
        """Whether `payload` is the own part of `seat` for drawing exactly these slots."""
        ...

    def opening(self, laid: Sequence[tuple[Slot, TileId]], context: Context) -> bytes:
        """The proof that these hidden slots of the own rack hold these tiles."""
        ...

    def check_opening(
        self, seat: Seat, laid: Sequence[tuple[Slot, TileId]], proof: bytes, context: Context
    ) -> str | None:
        """Whether the hidden slots of `seat` in `laid` are proven to hold these tiles."""
        ...

    def opened_rack(self, seat: Seat, payload: bytes, call: Call, context: Context) -> tuple[tuple[Slot, TileId], ...]:
        """The slots and tiles that a checked `OPEN_RACK` part opens."""
        ...

    def face_up(self, call: Call, context: Context, parts: Mapping[Owed, bytes]) -> TileId | None:
        """`es`: the first card of the discard pile, which the parts of `racks` open to everybody."""
        ...

    def own_tiles(self, state: PublicState) -> Mapping[Slot, TileId]:
        """The hidden slots of the own rack and their tiles; empty for an observer."""
        ...
