"""The open call: who owes which part, what must be held first, and what is still missing.

Source: docs/deal-entries.md, sections 3 and 4. A part is *held* when its envelope is here, *checked* when all it builds
on is here too and the dealer found it right. A node answers only what its own log has committed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.state import Call, CallName, PublicState, Seat
from protocol.dealing.dealer import Context, Dealer, Owed
from protocol.envelope import Envelope, digest
from protocol.errors import RemoteProtocolError
from protocol.messages import DealPart, PartKind


def owed_parts(call: Call, state: PublicState, with_draw_part: bool) -> tuple[Owed, ...]:
    """Every part the call asks for, in canonical order: by kind as in the table, in each by seat.

    `with_draw_part`: the drawer's own part was in the action that opened the call, so it does not owe it again.
    """
    seats = tuple(Seat(index) for index, seat in enumerate(state.seats) if seat.in_game)
    match call.name:
        case CallName.START:
            kinds = (PartKind.KEY_COMMIT, PartKind.KEY_REVEAL, PartKind.SHUFFLE)
            return tuple(Owed(kind, seat) for kind in kinds for seat in seats)
        case CallName.RACKS:
            return tuple(Owed(PartKind.SHARES, seat) for seat in seats)
        case CallName.DRAW:
            return tuple(Owed(PartKind.SHARES, seat) for seat in seats if seat != call.seat or not with_draw_part)
        case CallName.FINAL:
            return tuple(Owed(PartKind.OPEN_RACK, seat) for seat in seats if state.hidden_slots(seat))
        case CallName.REDEAL:
            raise ValueError("no re-deal without a removal")


@dataclass(slots=True)
class OpenCall:
    """The parts that answer one call. `height` is that of the entry that will close it.

    `draw_part` is the drawer's own part if it was in the action that opened the call.
    """

    call: Call
    context: Context
    owed: tuple[Owed, ...]
    dealer: Dealer
    first_proposer: Seat
    draw_part: bytes | None = None
    faults: list[RemoteProtocolError] = field(default_factory=list)
    _held: dict[Owed, Envelope] = field(default_factory=dict)
    _checked: set[Owed] = field(default_factory=set)

    @property
    def complete(self) -> bool:
        """Everything owed is held and checked."""
        return len(self._checked) == len(self.owed)

    def missing(self) -> tuple[Owed, ...]:
        """What is not held and checked yet, in canonical order."""
        return tuple(owed for owed in self.owed if owed not in self._checked)

    def envelopes(self) -> tuple[Envelope, ...]:
        """The parts held, in canonical order."""
        return tuple(self._held[owed] for owed in self.owed if owed in self._held)

    def message_digests(self) -> tuple[bytes, ...]:
        """The digests of all parts in canonical order; only when complete."""
        assert self.complete
        return tuple(self._held[owed].digest for owed in self.owed)

    def payloads(self) -> dict[Owed, bytes]:
        """The payloads of all parts, a drawer's own part from its action included; only when complete."""
        assert self.complete
        return self._checked_payloads()

    def add(self, seat: Seat, envelope: Envelope) -> bool:
        """Hold a part. False if it was held already. Raises `RemoteProtocolError` if it has no place here.

        Parts found wrong by a check, this one or one that waited for it, are dropped and left in `faults`.
        """
        part = _part(envelope)
        owed = Owed(part.kind, seat)
        if owed not in self.owed:
            raise RemoteProtocolError(envelope.sender, f"seat {seat} does not owe {part.kind.value} to this call")
        if (part.height, part.prev) != (self.context.height, self.context.view):
            raise RemoteProtocolError(None, "part of a deal for another moment")
        held = self._held.get(owed)
        if held is not None:
            if held.raw == envelope.raw:
                return False
            raise RemoteProtocolError(
                envelope.sender, f"two different {part.kind.value} for one call", (held.raw, envelope.raw)
            )
        self._held[owed] = envelope
        self._check_held()
        return True

    def due(self, seat: Seat) -> PartKind | None:
        """The part that `seat` can and must make now, None if there is none."""
        for owed in self.owed:
            if owed.seat == seat and owed not in self._held and self._needs(owed) is not None:
                return owed.kind
        return None

    def make(self, kind: PartKind, seat: Seat) -> DealPart:
        """The own part that `due` named."""
        owed = Owed(kind, seat)
        needs = self._needs(owed)
        assert needs is not None, "made before what it needs is here"
        payload = self.dealer.part(kind, self.call, self.context, self._checked_payloads())
        return DealPart(self.context.height, self.context.view, kind, self._names(owed, needs), payload)

    def _check_held(self) -> None:
        """Check every held part whose needs are met by now, until no more can be."""
        progress = True
        while progress:
            progress = False
            for owed in self.owed:
                if owed in self._held and owed not in self._checked:
                    needs = self._needs(owed)
                    if needs is not None:
                        self._check(owed, needs)
                        progress = True

    def _check(self, owed: Owed, needs: Sequence[Owed]) -> None:
        envelope = self._held[owed]
        part = _part(envelope)
        reason: str | None = None
        if part.names != self._names(owed, needs):
            reason = "names other messages than those it builds on"
        else:
            before = self._checked_payloads()
            reason = self.dealer.check_part(part.kind, owed.seat, part.payload, self.call, self.context, before)
        if reason is not None:
            del self._held[owed]
            predecessors = tuple(self._held[need].raw for need in needs)
            self.faults.append(
                RemoteProtocolError(
                    envelope.sender, f"wrong {part.kind.value}: {reason}", (envelope.raw, *predecessors)
                )
            )
            return
        self._checked.add(owed)

    def _needs(self, owed: Owed) -> tuple[Owed, ...] | None:
        """The parts that must be held and checked first, in canonical order; None while one is missing."""
        needs: tuple[Owed, ...]
        match owed.kind:
            case PartKind.KEY_COMMIT | PartKind.OPEN_RACK:
                needs = ()
            case PartKind.KEY_REVEAL:
                needs = self._all_of(PartKind.KEY_COMMIT)
            case PartKind.SHUFFLE:
                shuffles = self._all_of(PartKind.SHUFFLE)
                place = shuffles.index(owed)
                needs = (*self._all_of(PartKind.KEY_REVEAL), *shuffles[max(place - 1, 0) : place])
            case PartKind.SHARES:
                needs = self._own_draw_part(owed)
        return needs if all(need in self._checked for need in needs) else None

    def _own_draw_part(self, owed: Owed) -> tuple[Owed, ...]:
        """In a draw nobody releases a share before the drawer's own part is here."""
        if self.call.name is not CallName.DRAW or self.call.seat is None or owed.seat == self.call.seat:
            return ()
        drawer = Owed(PartKind.SHARES, self.call.seat)
        return (drawer,) if drawer in self.owed else ()

    def _checked_payloads(self) -> dict[Owed, bytes]:
        payloads = {owed: _part(self._held[owed]).payload for owed in self.owed if owed in self._checked}
        if self.draw_part is not None and self.call.seat is not None:
            payloads[Owed(PartKind.SHARES, self.call.seat)] = self.draw_part
        return payloads

    def _all_of(self, kind: PartKind) -> tuple[Owed, ...]:
        return tuple(owed for owed in self.owed if owed.kind is kind)

    def _names(self, owed: Owed, needs: Sequence[Owed]) -> bytes | None:
        """The digest by which a part names what it builds on; shares name nothing, a shuffle its predecessor."""
        if owed.kind is PartKind.SHARES or not needs:
            return None
        if needs[-1].kind is PartKind.SHUFFLE:
            needs = needs[-1:]
        return digest(b"".join(self._held[need].digest for need in needs))


def _part(envelope: Envelope) -> DealPart:
    assert isinstance(envelope.body, DealPart)
    return envelope.body
