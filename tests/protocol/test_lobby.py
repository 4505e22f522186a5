"""The lobby without a network: messages are handed over by the test."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.rulesets import PT
from protocol.envelope import Envelope, open_envelope, seal
from protocol.errors import LocalProtocolError, RemoteProtocolError
from protocol.lobby import Lobby
from protocol.log import check_genesis_certificate
from protocol.messages import Body, Genesis, GenesisDraft, Sitting, TableCard
from protocol.outputs import Output, RecordKind, Send, Store
from tests.protocol.keys import Key

TABLE = b"t" * 16
CARD = TableCard("Kitchen", PT)


class Nodes:
    """Some lobbies, linked with each other; `settle` hands every message over."""

    def __init__(self, count: int) -> None:
        self.keys = [Key(number + 1) for number in range(count)]
        self.outputs: list[list[Output]] = [[] for _ in range(count)]
        self.lobbies = [self._lobby(number) for number in range(count)]
        self.stored: list[list[Store]] = [[] for _ in range(count)]
        for number, lobby in enumerate(self.lobbies):
            for other, key in enumerate(self.keys):
                if other != number:
                    lobby.linked(key.node_id)

    def _lobby(self, number: int) -> Lobby:
        key = self.keys[number]

        def sealed(body: Body) -> Envelope:
            return seal(key, TABLE, body)

        own = Sitting(0, True, f"P{number}", False, False, False, bytes([number + 1]) * 32)
        return Lobby(TABLE, key.node_id, sealed, self.outputs[number], own)

    def settle(self) -> None:
        while any(self.outputs):
            for number, outputs in enumerate(self.outputs):
                taken, outputs[:] = list(outputs), []
                for output in taken:
                    if isinstance(output, Store):
                        self.stored[number].append(output)
                    if isinstance(output, Send):
                        self._hand_over(number, output)

    def _hand_over(self, sender: int, send: Send) -> None:
        for number, lobby in enumerate(self.lobbies):
            if number != sender and send.to in (None, self.keys[number].node_id):
                lobby.receive(open_envelope(send.frame))


def seated(count: int = 3) -> Nodes:
    nodes = Nodes(count)
    nodes.lobbies[0].open_with(CARD)
    for lobby in nodes.lobbies[1:]:
        lobby.sit_down()
    nodes.settle()
    return nodes


def genesis_of(lobby: Lobby) -> Genesis:
    assert lobby.complete is not None
    return lobby.complete[0]


def test_all_ready_and_one_start_gives_one_genesis_signed_by_all() -> None:
    nodes = seated()
    for lobby in nodes.lobbies:
        lobby.change(ready=True)
    nodes.settle()
    assert all(lobby.complete is None for lobby in nodes.lobbies), "nobody has pressed Start"
    nodes.lobbies[2].change(start=True)
    nodes.settle()
    genesis = genesis_of(nodes.lobbies[0])
    assert (genesis.table_name, genesis.rules, len(genesis.members)) == ("Kitchen", PT, 3)
    for number, lobby in enumerate(nodes.lobbies):
        assert lobby.complete is not None
        assert lobby.complete[0] == genesis
        check_genesis_certificate(*lobby.complete)
        assert [store.kind for store in nodes.stored[number]] == [RecordKind.DRAFT], "stored before it was sent"


def test_one_who_is_not_ready_keeps_the_game_from_starting_and_is_named() -> None:
    nodes = seated()
    nodes.lobbies[0].change(ready=True, start=True)
    nodes.lobbies[1].change(ready=True)
    nodes.settle()
    assert all(lobby.complete is None for lobby in nodes.lobbies)
    assert nodes.lobbies[0].why_not_start() == "Not ready yet: P2."
    assert nodes.lobbies[2].why_not_start(but_for=nodes.keys[2].node_id) is None


def test_one_who_leaves_is_not_in_the_game() -> None:
    nodes = seated(4)
    nodes.lobbies[3].stand_up()
    for lobby in nodes.lobbies[:3]:
        lobby.change(ready=True, start=True)
    nodes.settle()
    assert {member.name for member in genesis_of(nodes.lobbies[0]).members} == {"P0", "P1", "P2"}
    assert nodes.lobbies[3].complete is None


def test_when_the_opener_is_gone_the_others_can_start() -> None:
    nodes = seated()
    gone = nodes.keys[0].node_id
    for lobby in nodes.lobbies[1:]:
        lobby.lost(gone)
    nodes.settle()
    for lobby in nodes.lobbies[1:]:
        lobby.change(ready=True, start=True)
    nodes.settle()
    assert {member.name for member in genesis_of(nodes.lobbies[1]).members} == {"P1", "P2"}
    assert nodes.lobbies[1].complete == nodes.lobbies[2].complete


def test_too_many_and_too_few_players_cannot_start() -> None:
    alone = seated(1)
    assert alone.lobbies[0].why_not_start() == "At least 2 players are needed."
    crowd = seated(5)
    assert crowd.lobbies[0].why_not_start() == "No more than 4 players can play."


@pytest.mark.parametrize(
    "change",
    [
        lambda genesis: replace(genesis, rules=replace(PT, opening_min=1)),
        lambda genesis: replace(genesis, table_name="Garden"),
        lambda genesis: replace(genesis, members=genesis.members[::-1]),
        lambda genesis: replace(genesis, members=genesis.members[:2]),
        lambda genesis: replace(genesis, members=tuple(replace(member, fresh=bytes(32)) for member in genesis.members)),
        lambda genesis: replace(genesis, members=tuple(replace(member, name="X") for member in genesis.members)),
    ],
)
def test_a_draft_that_differs_from_what_the_members_said_is_not_signed(change) -> None:  # type: ignore[no-untyped-def] # a lambda
    nodes = seated()
    for lobby in nodes.lobbies:
        lobby.change(ready=True)
    nodes.settle()
    reference = seated()
    for lobby in reference.lobbies:
        lobby.change(ready=True, start=True)
    reference.settle()
    genesis = change(genesis_of(reference.lobbies[0]))
    draft = seal(nodes.keys[0], TABLE, GenesisDraft(5, genesis))
    for lobby in nodes.lobbies[1:]:
        lobby.receive(draft)
    nodes.settle()
    assert not any(lobby.signed for lobby in nodes.lobbies[1:])


def test_a_draft_of_another_than_the_coordinator_is_not_signed() -> None:
    nodes = seated()
    for lobby in nodes.lobbies:
        lobby.change(ready=True)
    nodes.settle()
    reference = seated()
    for lobby in reference.lobbies:
        lobby.change(ready=True, start=True)
    reference.settle()
    draft = seal(nodes.keys[2], TABLE, GenesisDraft(5, genesis_of(reference.lobbies[0])))
    nodes.lobbies[1].receive(draft)
    nodes.settle()
    assert not nodes.lobbies[1].signed


def test_after_signing_nothing_can_be_changed() -> None:
    nodes = seated()
    for lobby in nodes.lobbies:
        lobby.change(ready=True, start=True)
    nodes.settle()
    with pytest.raises(LocalProtocolError):
        nodes.lobbies[0].change(ready=False)


def test_a_second_card_and_impossible_rules_are_refused() -> None:
    nodes = seated()
    other = seal(nodes.keys[1], TABLE, TableCard("Other", PT))
    with pytest.raises(RemoteProtocolError, match="another card"):
        nodes.lobbies[0].receive(other)
    impossible = seal(nodes.keys[1], TABLE, TableCard("Other", replace(PT, opening_min=-5)))
    fresh = Nodes(1).lobbies[0]
    with pytest.raises(RemoteProtocolError, match="no game can have"):
        fresh.receive(impossible)
    assert fresh.table_card is None


@pytest.mark.parametrize("name", ["A\nB", "\x1b[2J", "x" * 49, " A"])
def test_a_name_that_is_not_clean_is_refused(name: str) -> None:
    nodes = seated(1)
    sitting = Sitting(1, True, name, False, False, False, bytes(32))
    with pytest.raises(RemoteProtocolError, match="name"):
        nodes.lobbies[0].receive(seal(Key(9), TABLE, sitting))
    assert len(nodes.lobbies[0].members()) == 1


def test_an_older_sitting_does_not_replace_a_newer_one() -> None:
    nodes = seated()
    own = nodes.lobbies[1].own
    old = seal(nodes.keys[1], TABLE, own)
    nodes.lobbies[1].change(name="New")
    nodes.settle()
    assert nodes.lobbies[0].receive(old) is False
    assert "New" in {member.name for member in nodes.lobbies[0].members()}
