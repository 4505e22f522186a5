"""Nodes that come later: an observer follows from any height, one that lags is brought up to date."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from engine.rulesets import PT
from node.simulation import SimulatedTable
from protocol.codec import decode, encode
from protocol.dealing.open_deal import open_dealer
from protocol.envelope import seal
from protocol.events import GameStarted, MessageRefused
from protocol.log import Committed
from protocol.messages import CatchUp, Status
from protocol.outputs import Send, Store, Tell
from protocol.session import Session
from tests.protocol.keys import Key


def observer(table: SimulatedTable) -> Session:
    return Session.in_lobby(
        Key(77),
        table.nodes[0].session.table,
        "Watcher",
        bot=False,
        entropy=lambda count: bytes(count),
        make_dealer=open_dealer,
    )


def played(seats: int = 3, seed: int = 5) -> SimulatedTable:
    table = SimulatedTable(PT, seats, seed)
    table.run()
    return table


def feed(watcher: Session, node: Session, now_s: float) -> int:
    """Let the node send what it sends to one that lags, until the watcher asks for no more; counts the messages."""
    link, own = node.signer.node_id, watcher.signer.node_id
    watcher.linked(link, now_s)
    node.linked(own, now_s)
    node.take_outputs()
    count = 0
    for _ in range(1000):
        frames = [output.frame for output in watcher.take_outputs() if isinstance(output, Send)]
        if not frames:
            return count
        for frame in frames:
            node.receive(own, frame, now_s)
        for output in node.take_outputs():
            if isinstance(output, Send) and output.to == own:
                watcher.receive(link, output.frame, now_s)
                count += 1
    raise AssertionError("never up to date")


def test_an_observer_gets_the_whole_game_checks_it_and_sees_no_rack() -> None:
    table = played()
    node = table.nodes[0].session
    watcher = observer(table)
    assert feed(watcher, node, table.now_s) >= 2, "in several pieces"
    assert watcher.state == node.state
    assert watcher.log == node.log
    assert watcher.seat is None
    assert watcher.own_tiles() == {}
    assert not watcher.may_act(table.now_s)


def test_an_observer_follows_a_running_game() -> None:
    table = SimulatedTable(PT, 3, 5)
    for _now_s in table.steps():
        if table.nodes[0].session.height == 30:
            break
    watcher = observer(table)
    feed(watcher, table.nodes[0].session, table.now_s)
    assert watcher.height == 30
    for _now_s in table.steps():
        if table.nodes[0].session.height == 40:
            break
    feed(watcher, table.nodes[0].session, table.now_s)
    assert watcher.state == table.nodes[0].session.state


@pytest.mark.parametrize(
    ("height", "part"),
    [(height, part) for height in (0, 1, 2, 20) for part in ("certificate", "state hash")]
    + [(1, "attachment"), (2, "attachment")],
)
def test_a_tampered_entry_is_refused_and_nothing_after_it_is_taken(height: int, part: str) -> None:
    table = played()
    node = table.nodes[0].session
    committed = node.log[height]
    if part == "certificate":
        tampered = replace(committed, certificate=committed.certificate[:-1])
    elif part == "attachment":
        assert committed.attachments
        tampered = replace(committed, attachments=committed.attachments[1:])
    else:
        tampered = replace(committed, entry=replace(committed.entry, state_hash=b"x" * 32))
    entries = [*node.log[:height], tampered, *node.log[height + 1 :]]
    watcher = observer(table)
    watcher.take_outputs()
    frame = seal(node.signer, node.table, CatchUp(tuple(encode(entry) for entry in entries[: height + 3]))).raw
    watcher.receive(node.signer.node_id, frame, table.now_s)
    told = [output.event for output in watcher.take_outputs() if isinstance(output, Tell)]
    assert any(isinstance(event, MessageRefused) for event in told)
    assert watcher.height == height
    if height:
        assert watcher.log == node.log[:height]


def test_what_an_observer_stores_replays() -> None:
    table = played(2, 3)
    watcher = observer(table)
    watcher.linked(table.nodes[0].session.signer.node_id, table.now_s)
    stored = []
    node = table.nodes[0].session
    for committed in node.log:
        frame = seal(node.signer, node.table, CatchUp((encode(committed),))).raw
        watcher.receive(node.signer.node_id, frame, table.now_s)
        outputs = watcher.take_outputs()
        stored += [output for output in outputs if isinstance(output, Store)]
        if committed.entry.height == 0:
            assert any(isinstance(output, Tell) and isinstance(output.event, GameStarted) for output in outputs)
    kept = [decode(Committed, store.data) for store in stored if store.kind.value == "committed"]
    assert kept == node.log


def test_who_asks_again_and_again_for_old_entries_gets_them_once_a_beat() -> None:
    table = played(2, 3)
    node, asking = table.nodes[0].session, Key(9)
    node.linked(asking.node_id, table.now_s)
    node.take_outputs()

    def answers(height: int, now_s: float) -> int:
        status = Status(bytes(8), next(beats), height, node.log[height].entry.prev, bytes(8), ())
        node.receive(asking.node_id, seal(asking, node.table, status).raw, now_s)
        return sum(isinstance(output, Send) and output.to == asking.node_id for output in node.take_outputs())

    beats = itertools.count()
    assert [answers(1, table.now_s) for _ in range(50)] == [1] + [0] * 49
    assert answers(2, table.now_s) == 1, "it has got some"
    assert answers(2, table.now_s + 1.0) == 1, "they may have been lost"
