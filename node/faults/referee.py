"""What must hold at every moment of a simulated table, whatever happens to it and whoever lies.

The referee sees all honest nodes at once. It looks only at what has changed, after every event, and raises `Violation`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from engine.board import tiles_on
from engine.state import CallName, Phase, PublicState, Seat, Slot
from engine.tiles import TileId
from node.simulation import SimulatedNode, opened
from protocol.codec import decode
from protocol.consensus.driver import LockRecord
from protocol.envelope import Envelope
from protocol.events import EvidenceFound, MessageRefused
from protocol.messages import (
    AnswersEntry,
    DealPart,
    GoOnWish,
    NextGameWish,
    Precommit,
    Prevote,
    Proposal,
    Regroup,
    RemoveEntry,
    SignedAction,
)
from protocol.outputs import RecordKind
from protocol.session import Record, Session

_STORED_FIRST = (SignedAction, NextGameWish, Proposal, Prevote, Precommit, Regroup, GoOnWish, DealPart)
OPEN_SECRET_BYTES: Final = 32  # of the open deal, which reveals it
Place = tuple[object, ...]


class Violation(Exception):  # noqa: N818 - a finding of the simulation, named for what it is
    """Something that must never be so at a table."""


@dataclass(slots=True)
class _Memory:
    """What the referee has seen of one node."""

    height: int = 0
    events: int = 0
    stored: int = 0
    written: set[bytes] = field(default_factory=set)  # own messages in its journal
    said: dict[Place, bytes] = field(default_factory=dict)  # what it has said where it may say one thing only
    locks: dict[tuple[int, bytes], dict[int, bytes]] = field(default_factory=dict)  # by height: entries by round
    epoch: tuple[int, int] = (0, 0)  # of which deck of the table
    secret: bytes = b""  # the dealer's, in that epoch
    scalars: set[bytes] = field(default_factory=set)  # of the secret deal: every key share and rack key it has had


@dataclass(slots=True)
class Referee:
    """Watches the honest nodes of a table, by index."""

    honest: frozenset[int]
    liars: frozenset[int] = frozenset()
    split: int | None = None  # the height at which a liar has led the honest apart
    heads: dict[int, bytes] = field(default_factory=dict)  # the agreed entry of every height
    _decks: dict[int, int] = field(default_factory=dict)  # by height: which deck of the table is in play after it
    _tiles: dict[tuple[int, Slot], TileId] = field(default_factory=dict)
    _memories: dict[int, _Memory] = field(default_factory=dict)

    def look(self, index: int, nodes: list[SimulatedNode]) -> bool:
        """Something has happened to a node. True if it is an honest one that has new entries."""
        if index not in self.honest:
            return False
        node = nodes[index]
        memory = self._memories.setdefault(index, _Memory())
        self._check_blame(index, node, memory, {nodes[other].session.signer.node_id for other in self.honest})
        session = node.session
        if session.void is not None and not {*session.void.culprits} <= self._liars(nodes):
            raise Violation(f"node {index} blames an honest one for two histories")
        if session.game is None or session.height == memory.height:
            return False
        if self.split is None:
            self._check_log(index, session)
        if self.split is None:
            self._check_tiles(index, session)
            self._check_secret(index, session, memory)
        memory.height = session.height
        return True

    # One history

    def _check_log(self, index: int, session: Session) -> None:
        """No two honest nodes hold different entries at one height."""
        assert session.game is not None
        known = max(self.heads, default=-1)
        head = session.game.head
        last = session.height - 1
        if last <= known:
            if self.heads[last] != head:
                self._differs(index, session, last)
            return
        for height in range(known + 1, last + 1):
            following = session.log[height + 1].entry.prev if height < last else head
            entry = session.log[height].entry
            if known >= 0 and height == known + 1 and entry.prev != self.heads[known]:
                self._differs(index, session, known)
                return
            started = isinstance(entry.content, AnswersEntry) and entry.content.call == CallName.START.value
            self._decks[height] = self._decks.get(height - 1, 0) + started
            self.heads[height] = following
        assert session.state is not None
        check_places(session.state)

    def _differs(self, index: int, session: Session, height: int) -> None:
        """A split is a violation, but for what nothing prevents: the tables in docs/agreement.md, section 2.

        One liar can lead three seats apart by one removal, and five by removing two at once.
        """
        removals = [
            (len(committed.certificate), len(committed.entry.content.seats))
            for committed in session.log
            if isinstance(committed.entry.content, RemoveEntry)
        ]
        led = any(stayed + gone == 3 or (stayed + gone == 5 and gone == 2) for stayed, gone in removals)
        if not led or not self.liars:
            raise Violation(f"node {index} holds another entry at height {height} than the others")
        self.split = height

    def _liars(self, nodes: list[SimulatedNode]) -> set[bytes]:
        return {nodes[index].session.signer.node_id for index in self.liars}

    # Tiles

    def _check_tiles(self, index: int, session: Session) -> None:
        """What a node knows of hidden tiles is its own rack, and the same tiles as ever."""
        state, seat = session.state, session.seat
        assert state is not None
        mine = session.own_tiles()
        if seat is None:
            if mine:
                raise Violation(f"node {index} has no seat and knows hidden tiles")
            return
        if state.phase in (Phase.PLAY, Phase.FINAL) and set(mine) != set(state.hidden_slots(seat)):
            raise Violation(f"node {index} knows other tiles than those of its rack")
        public = {tile for _slot, tile in state.known}
        if public & set(mine.values()) or len(set(mine.values())) < len(mine):
            raise Violation(f"node {index} holds a tile that lies elsewhere")
        deck = self._decks[session.height - 1]
        for slot, tile in mine.items():
            if self._tiles.setdefault((deck, slot), tile) != tile:
                raise Violation(f"the tile of {slot} has changed at node {index}")
        self._check_racks(state, deck)

    def _check_racks(self, state: PublicState, deck: int) -> None:
        """No hidden tile lies on two racks."""
        racks = (slot for seat in range(len(state.seats)) for slot in state.hidden_slots(Seat(seat)))
        held = [self._tiles[(deck, slot)] for slot in racks if (deck, slot) in self._tiles]
        if len(set(held)) < len(held):
            raise Violation("a tile lies on two racks")

    def _check_secret(self, index: int, session: Session, memory: _Memory) -> None:
        """Every deck and every epoch of it has fresh secrets (rule 22)."""
        assert session.game is not None
        call = session.game.state.call
        if call is not None and call.name is CallName.START:
            return  # the secret of a deck that is not there yet
        epoch = self._decks[session.height - 1], session.game.state.stock.epoch
        secret = session.game.dealer.secret()[:32]
        if session.seat is not None and epoch > memory.epoch:
            if secret == memory.secret:
                raise Violation(f"node {index} uses the secret of an epoch again")
            memory.epoch, memory.secret = epoch, secret

    # Blame

    @staticmethod
    def _check_blame(index: int, node: SimulatedNode, memory: _Memory, honest: set[bytes]) -> None:
        """No honest node finds fault with another."""
        for event in node.events[memory.events :]:
            if isinstance(event, (EvidenceFound, MessageRefused)) and event.node in honest:
                raise Violation(f"node {index} blames an honest one: {event.reason}")
        memory.events = len(node.events)

    # Words

    def stored(self, index: int, record: Record) -> None:
        """A node has written a record."""
        if index in self.honest:
            memory = self._memories.setdefault(index, _Memory())
            if record.kind is RecordKind.SECRET and len(record.data) > OPEN_SECRET_BYTES:
                memory.scalars |= {record.data[:32], record.data[32:64]}
            if record.kind is RecordKind.OWN:
                memory.written.add(record.data)
            elif record.kind is RecordKind.LOCK:
                memory.written.add(decode(LockRecord, record.data).precommit)

    def sent(self, index: int, session: Session, frame: bytes) -> None:
        """A node is about to send a frame: its own words are in its journal and contradict none before (rules 1, 2)."""
        if index not in self.honest:
            return
        envelope = opened(frame)
        if envelope.sender != session.signer.node_id or not isinstance(envelope.body, _STORED_FIRST):
            return
        memory = self._memories.setdefault(index, _Memory())
        if any(scalar in frame for scalar in memory.scalars):
            raise Violation(f"node {index} sends a secret")
        if frame not in memory.written:
            raise Violation(f"node {index} sends a {envelope.kind} that is not in its journal")
        place = _place(envelope)
        if memory.said.setdefault(place, frame) != frame:
            raise Violation(f"node {index} says two things as {place[0]} at height {place[1]}")
        self._check_lock(index, session, envelope, memory)

    @staticmethod
    def _check_lock(index: int, session: Session, envelope: Envelope, memory: _Memory) -> None:
        """Who has precommitted x prevotes something else only with a proof of it from no lower round (rules 4, 19)."""
        body = envelope.body
        if isinstance(body, Precommit) and body.entry is not None:
            memory.locks.setdefault((body.height, body.prev), {})[body.round] = body.entry
        if not isinstance(body, Prevote) or body.entry is None:
            return
        earlier = memory.locks.get((body.height, body.prev), {})
        before = [number for number in earlier if number < body.round]
        if before and earlier[max(before)] != body.entry:
            proven = _proof_round(session, body.entry)
            if proven is None or proven < max(before):
                raise Violation(f"node {index} leaves its lock without a proof at height {body.height}")


def _proof_round(session: Session, entry: bytes) -> int | None:
    driver = session._driver
    return None if driver is None else driver._book.proof_round(entry)


def _place(envelope: Envelope) -> Place:
    """Where a node may say only one thing."""
    body = envelope.body
    match body:
        case Proposal() | Prevote() | Precommit() | Regroup():
            return (envelope.kind, body.height, body.prev, body.round)
        case DealPart():
            return (body.kind.value, body.height, body.prev)
        case GoOnWish():
            return (envelope.kind, body.height, body.prev, body.stamp)
        case SignedAction() | NextGameWish():
            return (envelope.kind, body.height, body.prev)
        case _:
            raise AssertionError("not a word that is stored")


def check_places(state: PublicState) -> None:
    """Every tile lies at one place: board, discard pile, open or hidden stock, a rack, or on its way to one."""
    board = tiles_on(state.board)
    known = state.known_tiles()
    call = state.call
    drawn = call.slots if call is not None and call.name is CallName.DRAW else ()
    racks = [slot for seat in state.seats for slot in seat.rack]
    slots = [*racks, *state.discard, *state.stock.open, *drawn]
    _require_distinct(slots, "slot")
    _require_distinct(known.values(), "known tile")
    _require_distinct([*board, *(known[slot] for slot in slots if slot in known)], "tile")
    if state.phase in (Phase.PLAY, Phase.FINAL) and (call is None or call.name is not CallName.REDEAL):
        count = len(board) + len(slots) + state.stock.size - state.stock.next
        if count != len(state.faces):
            raise Violation(f"{count} tiles at turn {state.turn_number} where there are {len(state.faces)}")


def _require_distinct(items: Iterable[object], what: str) -> None:
    all_of_them = list(items)
    if len(set(all_of_them)) < len(all_of_them):
        raise Violation(f"a {what} at two places")
