"""Every message of the deal is as long as docs/dealing.md, section 2.2, says, whatever is in it (pitfall 24).

The formulas stand here in numbers of their own; the messages are those of real tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from engine.redeal import unplaced
from engine.rulesets import ES, PT, RuleSet
from engine.state import Seat
from node.simulation import SimulatedTable, finished
from protocol.codec import encode
from protocol.dealing import shuffle
from protocol.dealing.group import BASE
from protocol.dealing.keys import REVEAL_BYTES
from protocol.dealing.proofs import Card
from protocol.dealing.redeal import rekey_batch, tag_bytes, tag_share_bytes
from protocol.dealing.secret_deal import secret_dealer
from protocol.envelope import Envelope, open_envelope
from protocol.game import laid_by
from protocol.log import Committed
from protocol.messages import ActionEntry, DealPart, PartKind, SignedAction
from tests.protocol.dealing.deals import dealt
from tests.simulation.removal import game_of, in_call, play_until, remove, staying

COIN = 32
COMMIT = 64
REVEAL = 2 * 32 + 2 * 64 + COIN
DRAW = 160  # one tile
OPENING = 64  # however many tiles
ENVELOPE = 230  # at most, around a part: table, sender, kind, height, two hashes, signature
WITH_JOKERS = replace(ES, name="with jokers", jokers=2)


def deck(cards: int) -> int:
    return 64 * cards


def shuffle_proof(cards: int) -> int:
    return 32 * (4 * cards + 5)


def shares(tiles: int) -> int:
    return 64 * tiles + 96


def until_dealt(seats: int, cards: int, hand: int) -> int:
    """What each player sends before play: keys, shuffle, shares for every rack."""
    return COMMIT + REVEAL + deck(cards) + shuffle_proof(cards) + seats * shares(hand)


def redeal_parts(unopened: int, held: int, all_held: int) -> dict[PartKind, int]:
    """What one seat with `held` tiles sends in a re-deal of `unopened` ones, `all_held` of them on racks."""
    tagged = unopened + all_held
    return {
        PartKind.KEY_COMMIT: COMMIT,
        PartKind.KEY_REVEAL: 32 + 64,
        PartKind.REKEY: shares(held),
        PartKind.SHUFFLE: deck(unopened) + shuffle_proof(unopened),
        PartKind.TAG: 32 + deck(tagged) + 64,
        PartKind.TAG_SHARES: 32 * tagged + 64,
    }


@pytest.mark.parametrize(
    ("rules", "seats", "cards", "hand"), [(PT, 4, 106, 14), (ES, 6, 52, 6), (WITH_JOKERS, 3, 54, 7)]
)
def test_the_parts_of_the_start_and_a_draw(rules: RuleSet, seats: int, cards: int, hand: int) -> None:
    deal = dealt(rules, seats, checked=False)
    sizes = {kind: {len(sent.payload) for sent in deal.sent if sent.owed.kind is kind} for kind in PartKind}
    for_all = shares(1) if rules.discards else 0
    assert {kind: size for kind, size in sizes.items() if size} == {
        PartKind.KEY_COMMIT: {COMMIT},
        PartKind.KEY_REVEAL: {REVEAL},
        PartKind.SHUFFLE: {deck(cards) + shuffle_proof(cards)},
        PartKind.SHARES: {seats * shares(hand) + for_all},
    }
    sent = sum(len(sent.payload) for sent in deal.sent) // seats
    assert sent == until_dealt(seats, cards, hand) + for_all
    slots, _stock = deal.state.stock.take(1)
    assert len(deal.dealers[deal.state.turn].draw_part(slots, deal.context())) == shares(1) == DRAW


@pytest.fixture(scope="module")
def played() -> list[Committed]:
    """The log of a whole game."""
    table = SimulatedTable(ES, 2, 1, secret_dealer)
    for _now_s in table.steps():
        if all(finished(node.session) for node in table.nodes):
            break
    return table.nodes[0].session.log


def test_every_message_of_a_whole_game_and_what_is_around_it(played: list[Committed]) -> None:
    expected = {
        PartKind.KEY_COMMIT: {COMMIT},
        PartKind.KEY_REVEAL: {REVEAL},
        PartKind.SHUFFLE: {deck(52) + shuffle_proof(52)},
        PartKind.SHARES: {2 * shares(10) + shares(1), DRAW},
        PartKind.OPEN_RACK: {OPENING + tiles for tiles in range(1, 20)},
    }
    seen: set[PartKind] = set()
    for envelope in parts(played):
        part = envelope.body
        assert isinstance(part, DealPart)
        assert len(part.payload) in expected[part.kind]
        assert len(envelope.raw) - len(part.payload) <= ENVELOPE
        seen.add(part.kind)
    assert seen == set(expected)


def test_every_message_of_a_re_deal() -> None:
    table = SimulatedTable(ES, 3, 3, secret_dealer)
    play_until(table, lambda: in_call(table, None))
    remove(table, (2,))
    state = game_of(table, 0).state
    held = {seat: len(state.hidden_slots(Seat(seat))) for seat in range(2)}
    play_until(table, lambda: in_call(table, None))
    keys = {member.node: seat for seat, member in enumerate(game_of(table, 0).genesis.members)}
    sent: dict[int, dict[PartKind, int]] = {0: {}, 1: {}}
    for envelope in parts(staying(table)[0].log[-1:]):
        assert isinstance(envelope.body, DealPart)
        assert len(envelope.raw) - len(envelope.body.payload) <= ENVELOPE
        sent[keys[envelope.sender]][envelope.body.kind] = len(envelope.body.payload)
    all_held = sum(held.values())
    assert sent == {seat: redeal_parts(len(unplaced(state)), held[seat], all_held) for seat in (0, 1)}


def test_an_action_holds_one_proof_however_many_tiles_it_opens(played: list[Committed]) -> None:
    drawn, opened = 0, set()
    for signed, raw in actions(played):
        laid = laid_by(signed.action)
        assert len(signed.part) in (0, DRAW)
        assert len(signed.proof) in (0, OPENING)
        action = len(encode(signed.action))
        assert len(raw) - action - len(signed.part) - len(signed.proof) <= ENVELOPE
        drawn += bool(signed.part)
        opened.add(len(laid) if signed.proof else 0)
    assert drawn >= 5
    assert opened >= {0, 1, 3}


def parts(log: list[Committed]) -> Iterator[Envelope]:
    """The answers to all calls."""
    for committed in log:
        yield from map(open_envelope, committed.attachments)


def actions(log: list[Committed]) -> Iterator[tuple[SignedAction, bytes]]:
    for committed in log:
        if isinstance(committed.entry.content, ActionEntry):
            envelope = open_envelope(committed.entry.content.envelope)
            assert isinstance(envelope.body, SignedAction)
            yield envelope.body, envelope.raw


def test_the_functions_say_the_same() -> None:
    for cards in (1, 52, 54, 106):
        assert shuffle.size_bytes(cards) == deck(cards) + shuffle_proof(cards)
        cipher = (Card(BASE, BASE),) * cards
        assert rekey_batch(b"", BASE, BASE, cipher, [b""] * cards).size_bytes == shares(cards)
        assert tag_bytes(cards) == 32 + deck(cards) + 64
        assert tag_share_bytes(cards) == 32 * cards + 64
    assert REVEAL_BYTES == REVEAL


def test_the_sums_are_those_of_the_text() -> None:
    """docs/performance.md, the secret deal."""
    assert [until_dealt(seats, 106, 14) for seats in (2, 3, 4)] == [22_784, 23_776, 24_768]
    assert until_dealt(6, 52, 6) + shares(1) == 13_472
    sums = [seats * sum(redeal_parts(86, 13, seats * 13).values()) for seats in (2, 3)]
    assert sums == [57_344, 89_760]
