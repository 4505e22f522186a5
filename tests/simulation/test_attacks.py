"""What a lying node may try: refused by all others with a named reason, the state unchanged, the game goes on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.actions import Draw, Play
from engine.state import Seat, Slot, TableMeld
from engine.tiles import TileId
from protocol.codec import encode, pack, unpack
from protocol.log import entry_hash
from protocol.messages import (
    ActionEntry,
    Entry,
    Precommit,
    Prevote,
    Proposal,
    SeatAction,
    SignedAction,
    TimeoutEntry,
)
from tests.simulation.attack import AttackedTable

SEED = 21


def quiet_table(seats: int = 3, seed: int = SEED) -> AttackedTable:
    """A table that stands at the liar's turn, whose own player does nothing."""
    table = AttackedTable(seats, seed)
    table.nodes[table.liar].player = lambda _session, _now_s: None
    table.play_until(table.liar_is_to_act)
    return table


def signed_action(table: AttackedTable, action: SeatAction, proof: bytes = b"") -> SignedAction:
    game = table.nodes[table.liar].session.game
    assert game is not None
    return SignedAction(game.height, game.head, action, b"", proof)


def proposal(table: AttackedTable, entry: Entry, round_number: int = 0) -> Proposal:
    return Proposal(entry.height, entry.prev, round_number, (), entry, ())


def entry_of(table: AttackedTable, body: SignedAction, state_hash: bytes = bytes(32)) -> Entry:
    return Entry(body.height, body.prev, ActionEntry(table.signed(body).raw), state_hash)


def own_slot_and_tile(table: AttackedTable) -> tuple[Slot, TileId]:
    return next(iter(table.nodes[table.liar].session.own_tiles().items()))


def board(table: AttackedTable) -> tuple[TableMeld, ...]:
    state = table.nodes[0].session.state
    assert state is not None
    return state.board


def one_lone_tile(table: AttackedTable) -> Entry:
    slot, tile = own_slot_and_tile(table)
    play = Play(table.liar_seat() or Seat(0), (*board(table), TableMeld((tile,))), ((slot, tile),))
    return entry_of(table, signed_action(table, play))


def a_tile_that_it_does_not_hold(table: AttackedTable) -> Entry:
    slot, tile = own_slot_and_tile(table)
    other = TileId((tile + 2) % 104)
    play = Play(table.liar_seat() or Seat(0), (*board(table), TableMeld((other,))), ((slot, other),))
    return entry_of(table, signed_action(table, play))


def a_wrong_state_hash(table: AttackedTable) -> Entry:
    return entry_of(table, signed_action(table, Draw(table.liar_seat() or Seat(0))), b"w" * 32)


def an_early_timeout(table: AttackedTable) -> Entry:
    body = signed_action(table, Draw(Seat(0)))
    return Entry(body.height, body.prev, TimeoutEntry(), bytes(32))


def an_action_of_another_seat(table: AttackedTable) -> Entry:
    return entry_of(table, signed_action(table, Draw(Seat(((table.liar_seat() or 0) + 1) % 3))))


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (one_lone_tile, "illegal action: INVALID-SET"),
        (a_tile_that_it_does_not_hold, "illegal action: opening: not the tile of that slot"),
        (a_wrong_state_hash, "wrong proposal: state hash differs"),
        (an_early_timeout, "wrong proposal: state hash differs"),
        (an_action_of_another_seat, "action in the name of another seat"),
    ],
)
def test_a_wrong_proposal_is_refused_and_the_game_goes_on(make: Callable[[AttackedTable], Entry], reason: str) -> None:
    table = quiet_table()
    before = table.states()
    height = table.nodes[0].session.height
    table.say(table.signed(proposal(table, make(table))).raw)
    table.play_until(lambda: all(table.reasons(index) for index in range(2)))
    for index in range(2):
        assert table.reasons(index)[0].startswith(reason)
    assert table.states() == before
    table.play_until(lambda: all(session.height > height for session in table.honest()))
    table.play_until(table.all_finished)
    assert len({session.state for session in table.honest()}) == 1


def test_a_proposal_out_of_turn_is_refused() -> None:
    table = AttackedTable(3, SEED)
    table.play_until(table.another_is_to_act)
    before = table.states()
    liar = table.liar_seat()
    assert liar is not None
    entry = entry_of(table, signed_action(table, Draw(liar)))
    table.say(table.signed(proposal(table, entry)).raw)
    table.play_until(lambda: all(table.reasons(index) for index in range(2)))
    assert all(table.reasons(index)[0] == "proposal of round 0 out of order" for index in range(2))
    assert table.states() == before
    table.play_until(table.all_finished)


def test_an_action_out_of_turn_is_evidence() -> None:
    table = AttackedTable(3, SEED)
    table.play_until(table.another_is_to_act)
    liar = table.liar_seat()
    assert liar is not None
    table.say(table.signed(signed_action(table, Draw(liar))).raw)
    table.play_until(lambda: all(table.reasons(index) for index in range(2)))
    assert all(table.reasons(index)[0] == "action out of turn" for index in range(2))
    assert all(session.evidence for session in table.honest())
    table.play_until(table.all_finished)


def not_canonical(table: AttackedTable) -> bytes:
    raw = table.signed(Precommit(1, bytes(32), 0, (), None)).raw
    return raw[:1] + b"\xcc\x01" + raw[2:]  # the version in two bytes


def badly_signed(table: AttackedTable) -> bytes:
    plain = unpack(table.signed(Precommit(1, bytes(32), 0, (), None)).raw)
    plain[5] = bytes(64)
    return pack(plain)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (not_canonical, "bad frame: not the canonical encoding"),
        (badly_signed, "bad frame: wrong signature"),
        (lambda _table: b"", "bad frame: not msgpack"),
        (lambda _table: bytes(300_000), "bad frame: expected at most 262144 bytes"),
    ],
)
def test_a_bad_frame_costs_the_link_and_nothing_else(make: Callable[[AttackedTable], bytes], reason: str) -> None:
    table = quiet_table()
    before = table.states()
    table.say(make(table))
    table.play_until(lambda: all(table.reasons(index) for index in range(2)))
    assert all(table.reasons(index)[0].startswith(reason) for index in range(2))
    assert all(table.dropped(index) == {table.nodes[table.liar].session.signer.node_id} for index in range(2))
    assert table.states() == before
    table.play_until(table.all_finished)


def test_two_different_votes_are_evidence_and_the_first_one_counts() -> None:
    table = quiet_table()
    game = table.nodes[0].session.game
    assert game is not None
    first = table.signed(Prevote(game.height, game.head, 0, (), None, ()))
    second = table.signed(Prevote(game.height, game.head, 0, (), b"x" * 32, ()))
    table.say(first.raw)
    table.say(second.raw)
    table.play_until(lambda: all(session.evidence for session in table.honest()))
    for session in table.honest():
        found = session.evidence[0]
        assert found.node == table.nodes[table.liar].session.signer.node_id
        assert found.reason == "two different prevotes in round 0"
        assert set(found.evidence) == {first.raw, second.raw}
    known = table.nodes[0].session.evidence
    table.crash(0)
    table.restart(0)
    assert table.nodes[0].session.evidence == known


def test_votes_of_nobody_s_key_and_of_far_rounds_change_nothing() -> None:
    table = quiet_table()
    game = table.nodes[0].session.game
    assert game is not None
    before = table.states()
    table.say(table.signed(Prevote(game.height, game.head, 40, (), None, ())).raw)
    table.say(table.signed(Prevote(game.height, b"o" * 32, 0, (), None, ())).raw)
    table.say(table.signed(Prevote(game.height, game.head, 0, (1,), None, ())).raw)
    table.play_until(table.all_finished)
    assert before != table.states()
    assert len({session.state for session in table.honest()}) == 1
    reasons = {event.reason for event in table.refusals()}
    assert {"round 40 is too far ahead", "Prevote on another branch than ours"} <= reasons


def test_a_proof_that_is_none_is_refused() -> None:
    table = quiet_table()
    body = signed_action(table, Draw(table.liar_seat() or Seat(0)))
    game = table.nodes[table.liar].session.game
    assert game is not None
    entry = game.entry(ActionEntry(table.signed(body).raw))
    assert entry is not None
    forged = table.signed(Precommit(game.height, game.head, 0, (), entry_hash(entry))).raw
    frame = table.signed(Proposal(entry.height, entry.prev, 0, (), entry, (forged,))).raw
    before = table.states()
    table.say(frame)
    table.play_until(lambda: len(table.refusals()) >= 2)
    assert {event.reason for event in table.refusals()} == {"proof holds something else than a prevote of this height"}
    assert table.states() == before
    assert encode(entry)
