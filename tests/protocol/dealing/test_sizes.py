"""Every message of the deal is as long as docs/dealing.md, section 2.2, says, whatever is in it (pitfall 24).

The formulas stand here in numbers of their own; the messages are those of real tables. Those of a re-deal are measured
in test_redeal.py; here their sizes are added up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from engine.rulesets import ES, PT, RuleSet
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
    """What each player sends before play, without the coin: keys, shuffle, shares for every rack."""
    return COMMIT + REVEAL - COIN + deck(cards) + shuffle_proof(cards) + seats * shares(hand)


def redealt(seats: int, unopened: int, held: int) -> int:
    """All messages of a re-deal among `seats` of `unopened` tiles, `held` of them on each rack."""
    keys = COMMIT + REVEAL - COIN
    tagged = unopened + seats * held
    tag = 32 + 64 * tagged + 64
    tag_share = 32 * tagged + 64
    return seats * (keys + shares(held) + deck(unopened) + shuffle_proof(unopened) + tag + tag_share)


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
    assert sent == until_dealt(seats, cards, hand) + COIN + for_all
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
    assert drawn > 5
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
    assert [until_dealt(seats, 106, 14) for seats in (2, 3, 4)] == [22_752, 23_744, 24_736]
    assert until_dealt(6, 52, 7) == 13_664
    assert [redealt(seats, 86, 13) for seats in (2, 3)] == [57_536, 90_048]
