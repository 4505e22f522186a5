"""A node whose dealer lies: it is named, and no share of an honest node has left too early."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from engine.actions import Play
from engine.bots import choose
from engine.rulesets import ES, FI, PT, RuleSet
from engine.state import Call, CallName, Seat
from node.autoplay import act_by_bot, play_by_bot
from node.simulation import SimulatedTable, commits
from protocol.dealing.dealer import Context, Dealer, Entropy, Owed
from protocol.dealing.group import BASE, Point, add
from protocol.dealing.secret_deal import SecretDealer, secret_dealer
from protocol.envelope import Envelope, open_envelope
from protocol.errors import RemoteProtocolError
from protocol.events import EvidenceFound
from protocol.game import DealerMaker
from protocol.messages import DealPart, Genesis, PartKind
from protocol.outputs import RecordKind
from protocol.session import Session

Lie = Callable[[bytes], bytes]


class LyingDealer(SecretDealer):
    """Says something else than it should in parts of one kind, and believes itself."""

    kind = PartKind.SHUFFLE
    call_name = CallName.START
    lie: Lie = staticmethod(lambda payload: payload)

    def part(self, kind: PartKind, call: Call, context: Context, before: Mapping[Owed, bytes]) -> bytes:
        payload = super().part(kind, call, context, before)
        lies = (kind, call.name) == (self.kind, self.call_name) and call.seat in (None, self._seat)
        return self.lie(payload) if lies else payload

    def check_part(
        self, kind: PartKind, seat: Seat, payload: bytes, call: Call, context: Context, before: Mapping[Owed, bytes]
    ) -> str | None:
        reason = super().check_part(kind, seat, payload, call, context, before)
        return None if seat == self._seat else reason


def liar_at(seat: int, kind: PartKind, call_name: CallName, lie: Lie) -> DealerMaker:
    def make(genesis: Genesis, own: Seat | None, secret: bytes | None, entropy: Entropy) -> Dealer:
        if own != seat:
            return secret_dealer(genesis, own, secret, entropy)
        dealer = LyingDealer(genesis, own, secret, entropy)
        dealer.kind, dealer.call_name, dealer.lie = kind, call_name, lie
        return dealer

    return make


def patient(rules: RuleSet, seats: int, seed: int, make_dealer: DealerMaker) -> SimulatedTable:
    """A table at which nobody goes on without who is named, so that the test can go on looking."""
    table = SimulatedTable(rules, seats, seed, make_dealer)
    for node in table.nodes:
        node.player = play_by_bot
    return table


def moved_first_point(payload: bytes) -> bytes:
    return add(Point(payload[:32]), BASE) + payload[32:]


def cut(payload: bytes) -> bytes:
    return payload[:-1]


def nothing(payload: bytes) -> bytes:
    return b""


def play_for(table: SimulatedTable, seconds: float) -> None:
    for now_s in table.steps():
        if now_s > seconds:
            return


def sent_by(table: SimulatedTable, seat: int, kind: PartKind, call_height: int | None = None) -> list[DealPart]:
    """The parts of one kind that the node on a seat has sent."""
    node = next(node for node in table.nodes if node.session.seat == seat)
    bodies = [open_envelope(record.data).body for record in node.journal if record.kind is RecordKind.OWN]
    parts = [body for body in bodies if isinstance(body, DealPart) and body.kind is kind]
    return [part for part in parts if call_height is None or part.height == call_height]


def evidence_against(table: SimulatedTable, seat: int) -> list[EvidenceFound]:
    """What the honest nodes can prove of a seat."""
    liar = next(node.session.signer.node_id for node in table.nodes if node.session.seat == seat)
    events = [event for node in table.nodes if node.session.seat != seat for event in node.events]
    return [event for event in events if isinstance(event, EvidenceFound) and event.node == liar]


@pytest.mark.parametrize(
    ("kind", "lie"),
    [
        (PartKind.KEY_REVEAL, moved_first_point),
        (PartKind.SHUFFLE, moved_first_point),
        (PartKind.SHUFFLE, cut),
        (PartKind.SHUFFLE, nothing),
    ],
)
def test_a_wrong_part_of_the_start_names_its_sender_and_releases_no_share(kind: PartKind, lie: Lie) -> None:
    """Pitfall 21: the last seat's part is wrong, after all others were right."""
    table = patient(ES, 3, 1, liar_at(2, kind, CallName.START, lie))
    play_for(table, 20.0)
    found = evidence_against(table, 2)
    assert len(found) == 2, "both honest nodes have it"
    assert all(event.reason.startswith(f"wrong {kind.value}: ") for event in found)
    for event in found:
        proof = [open_envelope(raw) for raw in event.evidence]
        assert proof[0].sender == event.node, "signed by the liar, with all it builds on"
        assert len(proof) == (4 if kind is PartKind.KEY_REVEAL else 9)
    assert not any(sent_by(table, seat, PartKind.SHARES) for seat in range(3))
    assert all(node.session.height == 1 for node in table.nodes)


def test_wrong_shares_name_their_sender_and_nobody_gets_a_rack() -> None:
    table = patient(ES, 3, 1, liar_at(1, PartKind.SHARES, CallName.RACKS, moved_first_point))
    play_for(table, 20.0)
    assert len(evidence_against(table, 1)) == 2
    honest = [node for node in table.nodes if node.session.seat != 1]
    assert all(not node.session.own_tiles() for node in honest)


def test_nobody_helps_a_drawer_whose_own_part_is_wrong() -> None:
    """After a time-out the drawer must not look before it has given its own part."""
    rules = replace(PT, turn_seconds=20, timeout_idle_draw=3)
    table = patient(rules, 2, 3, liar_at(0, PartKind.SHARES, CallName.DRAW, moved_first_point))
    for node in table.nodes:
        node.player = _stubborn
    play_for(table, 200.0)
    (call_height,) = {node.session.height for node in table.nodes}
    game = table.nodes[0].session.game
    assert game is not None
    assert game.call is not None
    assert (game.call.call.name, game.call.call.seat) == (CallName.DRAW, 0)
    assert len(evidence_against(table, 0)) == 1
    assert not sent_by(table, 1, PartKind.SHARES, call_height)


def _stubborn(session: Session, now_s: float) -> None:
    """Seat 0 never acts, the others do."""
    if session.seat != 0:
        act_by_bot(session, now_s)


def test_a_play_at_the_end_of_the_time_brings_its_own_part_of_the_draw() -> None:
    """`fi`: a play that stood when the time ran out costs a tile."""

    def slow(session: Session, now_s: float) -> None:
        state, seat = session.state, session.seat
        if session.may_act(now_s) and state is not None and seat is not None:
            action = choose(seat, state, session.own_tiles())
            session.act(replace(action, time_up=True) if isinstance(action, Play) else action, now_s)

    table = SimulatedTable(FI, 2, 4, secret_dealer)
    for node in table.nodes:
        node.player = slow
    plays = 0
    for _now_s in table.steps():
        plays = sum(isinstance(event.action, Play) for event in commits(table.nodes[0]))
        if plays >= 3 and table.nodes[0].session.game and table.nodes[0].session.game.call is None:
            break
    assert plays >= 3
    assert table.refusals() == []


def test_a_part_nobody_owes_has_no_place() -> None:
    """Pitfall 20: a shuffle after the deck was agreed, and one more share."""
    table = SimulatedTable(ES, 2, 1, secret_dealer)
    for _now_s in table.steps():
        if all(node.session.height == 3 for node in table.nodes):
            break
    game = table.nodes[0].session.game
    assert game is not None
    for seat in range(2):
        for kind in (PartKind.SHUFFLE, PartKind.SHARES):
            envelope = _envelope(table, seat, kind)
            with pytest.raises(RemoteProtocolError):
                game.add_part(envelope)


def _envelope(table: SimulatedTable, seat: int, kind: PartKind) -> Envelope:
    node = next(node for node in table.nodes if node.session.seat == seat)
    envelopes = [open_envelope(record.data) for record in node.journal if record.kind is RecordKind.OWN]
    return next(e for e in envelopes if isinstance(e.body, DealPart) and e.body.kind is kind)
