"""A node that has lost its journal follows its game and signs nothing in it, whatever happens there."""

from __future__ import annotations

import pytest

from engine.rulesets import PT
from node.simulation import SimulatedTable, finished
from protocol.codec import decode
from protocol.consensus.driver import AGREEMENT_BODIES
from protocol.dealing.open_deal import open_dealer
from protocol.envelope import open_envelope
from protocol.messages import GenesisDraft
from protocol.outputs import RecordKind, Send
from protocol.session import Session
from tests.simulation.removal import in_call, play_until, removal, seat_node, staying


def forget(table: SimulatedTable, index: int, *, silent: bool = True) -> Session:
    """Kill a node and start it again without its journal. `silent` False: it does not know that it had one."""
    table.crash(index)
    node = table.nodes[index]
    old, node.journal = node.session, []
    node.session = Session.in_lobby(
        old.signer,
        old.table,
        "Forgetful",
        bot=True,
        entropy=lambda count: bytes(count),
        make_dealer=open_dealer,
        now_s=table.now_s,
        silent=silent,
    )
    return node.session


def come_back(table: SimulatedTable, index: int) -> list[bytes]:
    """Link it to the others; gives the list in which all that it says from here on is noted."""
    node = table.nodes[index]
    node.down = False
    said: list[bytes] = []
    deliver = table.deliver

    def noted(sender: int, other: int, frame: bytes) -> None:
        if sender == index:
            said.append(frame)
        deliver(sender, other, frame)

    table.deliver = noted  # type: ignore[method-assign, assignment] # listens in
    for other in range(len(table.nodes)):
        if other != index:
            table.at(table.now_s, table._link(index, other))
            table.at(table.now_s, table._link(other, index))
    table.carry_out(index)
    return said


def own_words(session: Session, said: list[bytes]) -> list[str]:
    """What it has signed of the game; what it passes on for others is theirs."""
    envelopes = [open_envelope(frame) for frame in said]
    own = [envelope for envelope in envelopes if envelope.sender == session.signer.node_id]
    assert own, "it asks for what it lacks"
    return [envelope.kind for envelope in own if isinstance(envelope.body, AGREEMENT_BODIES)]


def pass_s(table: SimulatedTable, seconds: float) -> None:
    end_s = table.now_s + seconds
    play_until(table, lambda: table.now_s >= end_s)


@pytest.mark.parametrize("silent", [True, False])
def test_it_catches_up_watches_and_signs_nothing(silent: bool) -> None:
    table = SimulatedTable(PT, 3, 11)
    play_until(table, lambda: table.nodes[0].session.height == 20)
    session = forget(table, 1, silent=silent)
    said = come_back(table, 1)
    pass_s(table, 20.0)
    others = [table.nodes[index].session for index in (0, 2)]
    assert session.silent
    assert session.seat is None
    assert session.own_tiles() == {}
    assert session.height == max(other.height for other in others) > 18
    assert own_words(session, said) == []
    assert not any(node.session.evidence for node in table.nodes)


def test_it_watches_on_after_another_restart() -> None:
    table = SimulatedTable(PT, 3, 11)
    play_until(table, lambda: table.nodes[0].session.height == 20)
    forget(table, 1)
    come_back(table, 1)
    pass_s(table, 10.0)
    journal = table.nodes[1].journal
    assert journal[0].kind is RecordKind.SILENT
    assert not [record for record in journal if record.kind in (RecordKind.OWN, RecordKind.LOCK)]
    table.crash(1)
    table.restart(1)
    session = table.nodes[1].session
    assert session.silent
    assert session.seat is None
    assert session.height > 18
    pass_s(table, 10.0)
    assert [output for output in session.take_outputs() if isinstance(output, Send)] == []


def test_the_others_go_on_without_it_and_it_sees_the_end() -> None:
    table = SimulatedTable(PT, 3, 12)
    play_until(table, lambda: in_call(table, None) and table.nodes[0].session.height > 20)
    index = seat_node(table, 1)
    session = forget(table, index)
    said = come_back(table, index)
    pass_s(table, 5.0)
    committed = removal(staying(table), (1,), None)
    for other in staying(table):
        other._adopt(committed, table.now_s)
        table.carry_out(next(one for one, node in enumerate(table.nodes) if node.session is other))
    play_until(table, lambda: all(finished(node.session) for node in table.nodes))
    assert session.state == table.nodes[0].session.state
    assert own_words(session, said) == []


def test_one_that_signed_the_genesis_and_nothing_else_keeps_its_seat() -> None:
    table = SimulatedTable(PT, 3, 13)
    play_until(table, lambda: any(record.kind is RecordKind.DRAFT for record in table.nodes[1].journal))
    play_until(table, lambda: table.nodes[0].session.game is not None)
    old = table.nodes[1].session
    stored = next(record.data for record in table.nodes[1].journal if record.kind is RecordKind.DRAFT)
    draft = decode(GenesisDraft, stored)
    session = Session.in_lobby(
        old.signer,
        old.table,
        "Ben",
        bot=True,
        entropy=lambda count: bytes(count),
        make_dealer=open_dealer,
        signed=draft,
        now_s=table.now_s,
    )
    session._adopt(table.nodes[0].session.log[0], table.now_s)
    assert not session.silent
    assert session.seat is not None
