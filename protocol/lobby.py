"""The lobby: who sits down, who is ready, and how a roster becomes a signed genesis without a host.

Everybody says only for itself that it sits here (`Sitting`). When all are ready and somebody has pressed Start, the
coordinator (who opened the table, or if gone the smallest key) drafts the genesis. A node signs a draft only if it
agrees with all it has heard from the members themselves. A genesis that all its seats have signed is height 0. Who has
signed one is bound to it, as others may have begun with it: it signs no other one for this table, unless a member of
the first has since said something new of itself, which nobody does who has signed.

A table device (`DeviceHere`) has no seat. It is in the roster if no player has refused it; refusals are part of what a
player says of itself, so all who sign agree on them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from protocol.codec import encode
from protocol.envelope import Envelope, digest
from protocol.errors import LocalProtocolError, RemoteProtocolError
from protocol.events import LobbyChanged
from protocol.log import genesis_hash
from protocol.messages import (
    Body,
    Device,
    DeviceHere,
    Genesis,
    GenesisDraft,
    GenesisSignature,
    Member,
    Sitting,
    TableCard,
)
from protocol.outputs import Output, RecordKind, Send, Store, Tell
from protocol.roster import MAX_DEVICES, check_genesis, check_rules, clean_name, seat_order

MAX_HEARD: Final = 64  # nodes whose sittings and signatures are kept
MAX_OFFERS: Final = 16  # table devices that are heard
MAX_ATTEMPT: Final = 2**32  # of drafts; the next number must still be one that can be sent


@dataclass(frozen=True, slots=True)
class LobbyMember:
    """A member as the lobby shows it."""

    node: bytes
    name: str
    bot: bool
    ready: bool
    opener: bool
    connected: bool


@dataclass(frozen=True, slots=True)
class LobbyDevice:
    """A table device as the lobby shows it. `refused_by`: the names of those who do not want it."""

    node: bytes
    name: str
    refused_by: tuple[str, ...]


@dataclass(slots=True)
class Lobby:
    """One node's view of the lobby of `table`. `seal` signs a body with this node's key."""

    table: bytes
    node: bytes
    seal: Callable[[Body], Envelope]
    outputs: list[Output]
    own: Sitting
    card: Envelope | None = None
    complete: tuple[Genesis, tuple[bytes, ...]] | None = None  # the signed genesis with its certificate
    _sittings: dict[bytes, Envelope] = field(default_factory=dict)
    _devices: dict[bytes, Envelope] = field(default_factory=dict)
    _linked: set[bytes] = field(default_factory=set)
    _draft: Envelope | None = None
    _signed: GenesisDraft | None = None
    _signatures: dict[bytes, dict[bytes, Envelope]] = field(default_factory=dict)  # by genesis hash, then node

    # What the node's player does

    def sit_down(self) -> None:
        """Tell everybody what `own` is now."""
        stamp = self.own.stamp + 1
        fresh = digest(self.own.fresh + stamp.to_bytes(8, "big"))  # so that no draft from before is ever right again
        self.own = replace(self.own, stamp=stamp, fresh=fresh)
        envelope = self.seal(self.own)
        self._sittings[self.node] = envelope
        self.outputs.append(Send(envelope.raw))
        self._changed()

    def change(self, *, ready: bool | None = None, start: bool | None = None, name: str | None = None) -> None:
        """Say that this player is ready or not, has pressed Start, or is called otherwise."""
        if self._signed is not None:
            raise LocalProtocolError("the game is about to start")
        ready = self.own.ready if ready is None else ready
        start = ready and (self.own.start if start is None else start)
        self.own = replace(self.own, ready=ready, start=start, name=self.own.name if name is None else clean_name(name))
        self.sit_down()

    def refuse_device(self, node: bytes, *, refused: bool) -> None:
        """Say that this player does not want a table device, or wants it after all."""
        if self._signed is not None:
            raise LocalProtocolError("the game is about to start")
        others = set(self.own.refused) - {node}
        self.own = replace(self.own, refused=tuple(sorted(others | {node} if refused else others)))
        self.sit_down()

    def offer_device(self, name: str, *, present: bool = True, stamp: int = 0) -> None:
        """This node is a table device without a seat: offer it to the table, or take the offer back.

        `stamp` is that of its first offer here: higher than all that others may remember of it.
        """
        held = self._devices.get(self.node)
        stamp = held.body.stamp + 1 if held is not None and isinstance(held.body, DeviceHere) else stamp
        self._devices[self.node] = self.seal(DeviceHere(stamp, present, clean_name(name)))
        self.outputs.append(Send(self._devices[self.node].raw))
        self._changed()

    def stand_up(self) -> None:
        """Leave the table. Who has signed says nothing: the others may have begun with this seat."""
        if self._signed is not None:
            return
        self.own = replace(self.own, present=False, ready=False, start=False)
        self.sit_down()

    def open_with(self, card: TableCard) -> None:
        """Open the table: this node's player decides what is played."""
        self.card = self.seal(card)
        self.outputs.append(Send(self.card.raw))
        self.sit_down()

    # What it shows

    @property
    def table_card(self) -> TableCard | None:
        """What is played here, None until somebody who knows has told."""
        if self.card is None:
            return None
        assert isinstance(self.card.body, TableCard)
        return self.card.body

    def members(self) -> tuple[LobbyMember, ...]:
        """Everybody who sits here, this node included, by key."""
        return tuple(
            LobbyMember(
                node,
                sitting.name,
                sitting.bot,
                sitting.ready,
                self.card is not None and self.card.sender == node,
                node == self.node or node in self._linked,
            )
            for node, sitting in sorted(self._present().items())
        )

    def devices(self) -> tuple[LobbyDevice, ...]:
        """The table devices that are here, by key."""
        seated = self._present()
        players = sorted(seated.values(), key=lambda sitting: sitting.name)
        return tuple(
            LobbyDevice(node, here.name, tuple(sitting.name for sitting in players if node in sitting.refused))
            for node, here in sorted(self._devices_heard().items())
            if here.present and node not in seated and (node == self.node or node in self._linked)
        )

    @property
    def signed(self) -> bool:
        """Whether this node has signed a genesis: the game is about to start."""
        return self._signed is not None

    def why_not_start(self, *, but_for: bytes | None = None) -> str | None:
        """The reason in words why the game cannot start now, None if it can.

        `but_for`: as if this member were ready, for a button that says ready and start at once.
        """
        card = self.table_card
        if card is None:
            return "Waiting to hear what is played at this table."
        present = self._present()
        if len(present) < card.rules.min_seats:
            return f"At least {card.rules.min_seats} players are needed."
        if len(present) > card.rules.max_seats:
            return f"No more than {card.rules.max_seats} players can play."
        unready = sorted(sitting.name for node, sitting in present.items() if not sitting.ready and node != but_for)
        return f"Not ready yet: {', '.join(unready)}." if unready else None

    # What comes in

    def linked(self, node: bytes) -> None:
        """A link to a node is up: tell it everything that it needs to know."""
        self._linked.add(node)
        self._introduce_to(node)
        self._changed()

    def _introduce_to(self, node: bytes) -> None:
        known = [self.card, self._sittings.get(self.node), *self._devices.values(), self._draft]
        if self._signed is not None:
            known.append(self._signatures[genesis_hash(self._signed.genesis)].get(self.node))
        self.outputs.extend(Send(envelope.raw, to=node) for envelope in known if envelope is not None)

    def lost(self, node: bytes) -> None:
        """The link to a node is gone, and with it what it had said; but not if this node has signed to play with it."""
        self._linked.discard(node)
        if self._signed is None or node not in {member.node for member in self._signed.genesis.members}:
            self._sittings.pop(node, None)
        self._changed()

    def signed_before(self, draft: GenesisDraft) -> None:
        """After a restart: this node had signed this draft, sits as it is in there, and signs it again."""
        self._signed = draft
        member = next(member for member in draft.genesis.members if member.node == self.node)
        self.own = Sitting(0, True, member.name, member.bot, True, False, member.fresh)
        self._sittings[self.node] = self.seal(self.own)
        named = genesis_hash(draft.genesis)
        self._signatures.setdefault(named, {})[self.node] = self.seal(GenesisSignature(named))

    def receive(self, envelope: Envelope) -> bool:
        """Take in a lobby message; True if it was new. Raises `RemoteProtocolError`."""
        match envelope.body:
            case TableCard():
                new = self._take_card(envelope)
            case Sitting(stamp=stamp):
                new = self._take_sitting(envelope, stamp)
            case DeviceHere():
                new = self._take_device(envelope, envelope.body)
            case GenesisDraft():
                new = self._take_draft(envelope)
            case GenesisSignature(genesis=named):
                new = self._take_signature(envelope, named)
            case _:
                raise RemoteProtocolError(envelope.sender, f"{envelope.kind} in the lobby")
        if new:
            self._changed()
        return new

    def _take_card(self, envelope: Envelope) -> bool:
        assert isinstance(envelope.body, TableCard)
        check_rules(envelope.body.rules, envelope.sender)
        if self.card is None:
            self.card = envelope
            return True
        if self.card.raw == envelope.raw:
            return False
        raise RemoteProtocolError(envelope.sender, "another card for a table that has one")

    def _take_sitting(self, envelope: Envelope, stamp: int) -> bool:
        if envelope.sender == self.node:
            return False
        held = self._sittings.get(envelope.sender)
        if held is not None and isinstance(held.body, Sitting) and held.body.stamp >= stamp:
            return False
        assert isinstance(envelope.body, Sitting)
        if envelope.body.name != clean_name(envelope.body.name):
            raise RemoteProtocolError(envelope.sender, "a name that is too long or not printable")
        if held is None and len(self._sittings) >= MAX_HEARD:
            raise RemoteProtocolError(envelope.sender, "too many nodes at one table")
        self._sittings[envelope.sender] = envelope
        if held is None:  # it may have sat down after its link came up
            self._introduce_to(envelope.sender)
        return True

    def _take_device(self, envelope: Envelope, here: DeviceHere) -> bool:
        held = self._devices.get(envelope.sender)
        if held is not None and isinstance(held.body, DeviceHere) and held.body.stamp >= here.stamp:
            return False
        if here.name != clean_name(here.name):
            raise RemoteProtocolError(envelope.sender, "a name that is too long or not printable")
        if held is None and len(self._devices) >= MAX_OFFERS:
            raise RemoteProtocolError(envelope.sender, "too many devices at one table")
        self._devices[envelope.sender] = envelope
        if held is None:  # it may have come to this table after its link was up
            self._introduce_to(envelope.sender)
        return True

    def _take_draft(self, envelope: Envelope) -> bool:
        draft = envelope.body
        assert isinstance(draft, GenesisDraft)
        if draft.genesis.table != self.table:
            raise RemoteProtocolError(envelope.sender, "draft for another table")
        if envelope.sender not in self._present() or not 0 <= draft.attempt <= MAX_ATTEMPT:
            return False
        held = self._draft.body if self._draft is not None else None
        if isinstance(held, GenesisDraft) and held.attempt >= draft.attempt:
            return False
        self._draft = envelope
        return True

    def _take_signature(self, envelope: Envelope, named: bytes) -> bool:
        if named not in self._signatures and len(self._signatures) >= MAX_HEARD:
            raise RemoteProtocolError(envelope.sender, "too many drafts at one table")
        by_node = self._signatures.setdefault(named, {})
        if envelope.sender in by_node or len(by_node) >= MAX_HEARD:
            return False
        by_node[envelope.sender] = envelope
        return True

    # How a genesis comes about

    def _present(self) -> dict[bytes, Sitting]:
        found = {}
        for node, envelope in self._sittings.items():
            assert isinstance(envelope.body, Sitting)
            if envelope.body.present:
                found[node] = envelope.body
        return found

    def _devices_heard(self) -> dict[bytes, DeviceHere]:
        return {
            node: envelope.body for node, envelope in self._devices.items() if isinstance(envelope.body, DeviceHere)
        }

    def _changed(self) -> None:
        self.outputs.append(Tell(LobbyChanged()))
        self._coordinate()
        self._sign()
        self._complete()

    def _coordinator(self) -> bytes | None:
        present = self._present()
        if self.card is not None and self.card.sender in present:
            return self.card.sender
        return min(present, default=None)

    def _coordinate(self) -> None:
        """The coordinator drafts once all are ready, and again when the members are others than in the last draft."""
        present = self._present()
        card = self.table_card
        if self._coordinator() != self.node or card is None or self.why_not_start() is not None or self._bound():
            return
        if not any(sitting.start for sitting in present.values()):
            return
        devices = [Device(device.name, device.node) for device in self.devices() if not device.refused_by]
        genesis = Genesis(self.table, card.name, card.rules, _members(present), tuple(devices[:MAX_DEVICES]))
        held = self._draft.body if self._draft is not None else None
        attempt = held.attempt + 1 if isinstance(held, GenesisDraft) else 0
        if isinstance(held, GenesisDraft) and held.genesis == genesis:
            return
        self._draft = self.seal(GenesisDraft(attempt, genesis))
        self.outputs.append(Send(self._draft.raw))

    def _sign(self) -> None:
        """Sign the draft if it is what all its members have said of themselves."""
        if self._draft is None or self._draft.sender != self._coordinator():
            return
        draft = self._draft.body
        assert isinstance(draft, GenesisDraft)
        if self._bound() or (self._signed is not None and draft.attempt <= self._signed.attempt):
            return
        genesis, present, card = draft.genesis, self._present(), self.table_card
        if card is None or (genesis.table_name, genesis.rules) != (card.name, card.rules):
            return
        if self.node not in present or genesis.members != _members(present) or self.why_not_start() is not None:
            return
        if not self._wants(genesis.devices):
            return
        self._signed = draft
        envelope = self.seal(GenesisSignature(genesis_hash(genesis)))
        self._signatures.setdefault(genesis_hash(genesis), {})[self.node] = envelope
        self.outputs.append(Store(RecordKind.DRAFT, 0, encode(draft)))
        self.outputs.append(Send(envelope.raw))

    def _wants(self, devices: tuple[Device, ...]) -> bool:
        """Whether each has offered itself and has no seat, and no member refuses it. One may be gone by now."""
        seated = self._present()
        unwanted = {*seated, *(node for sitting in seated.values() for node in sitting.refused)}
        return all(device.node in self._devices and device.node not in unwanted for device in devices)

    def _bound(self) -> bool:
        """Whether a game may have begun, or may yet begin, with the genesis that this node has signed.

        Nobody changes its sitting after it has signed: a member that says something newer of itself never will.
        """
        if self._signed is None:
            return False
        present = {node: envelope.body for node, envelope in self._sittings.items()}
        newer = [
            member
            for member in self._signed.genesis.members
            if isinstance(sitting := present.get(member.node), Sitting) and sitting.fresh != member.fresh
        ]
        return not newer

    def _complete(self) -> None:
        draft = self._signed or self._watched_draft()
        if draft is None:
            return
        genesis = draft.genesis
        by_node = self._signatures.get(genesis_hash(genesis), {})
        if all(member.node in by_node for member in genesis.members):
            self.complete = genesis, tuple(by_node[member.node].raw for member in genesis.members)

    def _watched_draft(self) -> GenesisDraft | None:
        """Where this node is a table device, the draft that others are to sign."""
        draft = None if self._draft is None else self._draft.body
        if not isinstance(draft, GenesisDraft) or self.node not in self._devices:
            return None
        try:
            check_genesis(draft.genesis)
        except RemoteProtocolError:
            return None
        return draft


def _members(present: dict[bytes, Sitting]) -> tuple[Member, ...]:
    return seat_order(Member(sitting.name, node, sitting.bot, sitting.fresh) for node, sitting in present.items())
