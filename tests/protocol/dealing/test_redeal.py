"""A re-deal among two of three: the new pool is exactly the old one and the lost rack. Pitfalls 7, 8, 28 and 29."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

from engine.rulesets import PT
from engine.state import Seat
from protocol.dealing import shuffle
from protocol.dealing.group import (
    BASE,
    Point,
    Secret,
    add,
    encode_scalar,
    multiply,
    subtract,
    tile_points,
    tiles_by_point,
    total,
)
from protocol.dealing.proofs import SHARE, Card, ShareBatch
from protocol.dealing.redeal import (
    check_tag,
    check_tag_shares,
    left_over,
    make_tag,
    make_tag_shares,
    rekey_batch,
    rekeyed,
    tag_bytes,
    tag_share_bytes,
    tagged,
    tags,
)
from protocol.dealing.shuffle import Deck
from protocol.dealing.transcript import ORDER, Nonces, digest
from tests.protocol.dealing.deals import dealt
from tests.protocol.dealing.test_group import bad_points, bad_scalars

ENTROPY = random.Random(8).randbytes
TABLE = tiles_by_point("tiles", 2)


def ctx(name: str, seat: int) -> bytes:
    return digest(name.encode(), bytes([seat]))


@dataclass
class Redeal:
    """Everything that a re-deal among `seats` computed."""

    x: dict[int, Secret]
    key: Point
    rekeys: dict[int, Deck]
    shuffled: Deck
    racks: Deck
    chain: Deck
    shares: dict[int, bytes]
    pool: tuple[int, ...] | str


def redeal(racks: dict[int, Deck], q: dict[int, Secret], unopened: list[Point]) -> Redeal:
    """All steps, each checked."""
    x = {seat: Secret.from_number(Nonces(encode_scalar(seat + 1), bytes(32), b"x").next()) for seat in racks}
    key = total(secret.times_base() for secret in x.values())
    rekeys = {}
    for seat, cards in racks.items():
        batch = rekey_batch(ctx("rekey", seat), q[seat].times_base(), key, cards, [b"slot"] * len(cards))
        made = batch.make(q[seat], ENTROPY)
        assert batch.check(made) is None
        assert len(made) == 64 * len(cards) + 96
        share = ShareBatch(SHARE, batch.ctx, batch.key, batch.rack_key, batch.heads, batch.about)
        assert share.check(made) is not None, "no proof of one kind passes for another"
        rekeys[seat] = rekeyed(cards, batch.shares(made))
    deck = shuffle.first_deck(key, unopened)
    for seat in racks:
        nonces = Nonces(encode_scalar(seat + 9), bytes(32), b"shuffle")
        made = shuffle.prove(ctx("shuffle", seat), deck, shuffle.prepare(key, len(deck), nonces))
        assert shuffle.check(ctx("shuffle", seat), key, deck, made) is None
        deck = shuffle.deck_of(made)
    rack_cards = tuple(card for seat in racks for card in rekeys[seat])
    chain = (*deck, *rack_cards)
    for seat in racks:
        made = make_tag(ctx("tag", seat), chain, x[seat].reveal(), ENTROPY)
        assert len(made) == tag_bytes(len(chain))
        assert check_tag(ctx("tag", seat), chain, made) is None
        chain = tagged(made)
    shares = {}
    for seat in racks:
        y = x[seat].times_base()
        shares[seat] = make_tag_shares(ctx("shares", seat), y, chain, x[seat], ENTROPY)
        assert len(shares[seat]) == tag_share_bytes(len(chain))
        assert check_tag_shares(ctx("shares", seat), y, chain, shares[seat]) is None
    found = tags(chain, list(shares.values()))
    pool = left_over(found[: len(deck)], found[len(deck) :])
    return Redeal(x, key, rekeys, deck, rack_cards, chain, shares, pool)


def tile(card: Card, x: dict[int, Secret]) -> int:
    return TABLE[subtract(card.b, total(secret.times(card.a) for secret in x.values()))]


def test_the_new_pool_is_the_old_one_and_the_lost_rack() -> None:
    deal = dealt(PT, 3, checked=False)
    q = {seat: Secret(deal.dealers[seat].secret()[32:64]) for seat in range(2)}
    racks = {
        seat: tuple(deal.observer._racks[slot] for slot in deal.state.hidden_slots(Seat(seat))) for seat in range(2)
    }
    done = redeal(racks, q, list(tile_points("tiles", 2)))
    assert isinstance(done.pool, tuple)
    pool = [tile(done.shuffled[place], done.x) for place in done.pool]
    held = {int(held) for seat in range(2) for held in deal.rack(seat).values()}
    assert len(pool) == 106 - 28
    assert set(pool) == set(range(106)) - held
    assert {int(lost) for lost in deal.rack(2).values()} <= set(pool)
    assert [tile(card, done.x) for card in done.racks] == [
        int(held) for seat in range(2) for held in deal.rack(seat).values()
    ]
    shown = set(tags(done.chain, list(done.shares.values())))
    assert not shown & set(tile_points("tiles", 2)), "tags show no tile"


def small(cards: int, held: int) -> Redeal:
    """One seat stays, of `cards` unopened tiles the first `held` are on its rack."""
    q = Secret.from_number(77)
    tiles = list(tile_points("tiles", 2)[:cards])
    heads = [multiply(n + 2, BASE) for n in range(held)]
    rack = tuple(Card(head, subtract(tiles[n], q.times(head))) for n, head in enumerate(heads))
    return redeal({0: rack}, {0: q}, tiles)


@pytest.mark.parametrize(("cards", "held"), [(1, 1), (2, 1), (5, 2)])
def test_one_card_is_enough(cards: int, held: int) -> None:
    done = small(cards, held)
    assert isinstance(done.pool, tuple)
    assert sorted(tile(done.shuffled[place], done.x) for place in done.pool) == list(range(held, cards))


def put(data: bytes, place: int, field: bytes) -> bytes:
    return data[: 32 * place] + field + data[32 * (place + 1) :]


def chain_of(cards: int) -> Deck:
    return tuple(Card(multiply(n + 3, BASE), multiply(n + 30, BASE)) for n in range(cards))


@pytest.mark.parametrize("cards", [1, 3])
def test_a_wrong_tag_is_refused(cards: int) -> None:
    chain = chain_of(cards)
    made = make_tag(ctx("tag", 0), chain, encode_scalar(5), ENTROPY)
    other = make_tag(ctx("tag", 0), chain, encode_scalar(6), ENTROPY)
    assert check_tag(ctx("tag", 0), chain, made) is None
    points = 1 + 2 * cards
    wrong = [put(made, place, bad) for place in range(points) for bad in bad_points()]
    wrong += [put(made, place, other[32 * place : 32 * place + 32]) for place in range(points)]
    wrong += [put(made, place, add(Point(made[32 * place : 32 * place + 32]), BASE)) for place in range(points)]
    wrong += [put(made, place, bad) for place in (points, points + 1) for bad in bad_scalars()]
    response = int.from_bytes(made[-32:], "little")
    wrong += [made[:-32] + (response + ORDER).to_bytes(32, "little"), b"", made[:-1], made + b"\0", bytes(len(made))]
    assert all(check_tag(ctx("tag", 0), chain, data) is not None for data in wrong)
    assert check_tag(ctx("tag", 1), chain, made) is not None
    assert check_tag(ctx("tag", 0), (*chain[:-1], Card(BASE, BASE)), made) is not None
    assert check_tag(ctx("tag", 0), (), made[:32] + made[-64:]) is not None


@pytest.mark.parametrize("cards", [1, 3])
def test_wrong_tag_shares_are_refused(cards: int) -> None:
    chain, x = chain_of(cards), Secret.from_number(4711)
    y = x.times_base()
    made = make_tag_shares(ctx("shares", 0), y, chain, x, ENTROPY)
    assert check_tag_shares(ctx("shares", 0), y, chain, made) is None
    wrong = [put(made, place, bad) for place in range(cards) for bad in bad_points()]
    wrong += [put(made, place, add(Point(made[32 * place : 32 * place + 32]), BASE)) for place in range(cards)]
    wrong += [put(made, place, bad) for place in (cards, cards + 1) for bad in bad_scalars()]
    wrong += [b"", made[:-1], made + b"\0", bytes(len(made))]
    assert all(check_tag_shares(ctx("shares", 0), y, chain, data) is not None for data in wrong)
    assert check_tag_shares(ctx("old epoch", 0), y, chain, made) is not None
    assert check_tag_shares(ctx("shares", 0), add(y, BASE), chain, made) is not None
    others = (*chain[:-1], Card(chain[-1].a, BASE))
    assert check_tag_shares(ctx("shares", 0), y, others, made) is not None


def test_tags_that_do_not_match_are_refused() -> None:
    """Pitfall 29: a rack card left out, twice, or one that is no shuffled tile."""
    a, b, c, d = (multiply(n, BASE) for n in (2, 3, 4, 5))
    assert left_over([a, b, c], [b]) == (0, 2)
    assert left_over([a, b, c], []) == (0, 1, 2)
    assert left_over([a], [a]) == ()
    for shuffled, racks in (([a, a, b], [b]), ([a, b, c], [b, b]), ([a, b, c], [d])):
        assert isinstance(left_over(shuffled, racks), str)


def test_a_rekey_under_another_key_is_refused() -> None:
    q, deck_key = Secret.from_number(77), Secret.from_number(99).times_base()
    cards = chain_of(2)
    right = rekey_batch(ctx("rekey", 0), q.times_base(), deck_key, cards, [b"1", b"2"])
    made = right.make(q, ENTROPY)
    assert right.check(made) is None
    others = [
        rekey_batch(ctx("rekey", 1), q.times_base(), deck_key, cards, [b"1", b"2"]),
        rekey_batch(ctx("rekey", 0), deck_key, deck_key, cards, [b"1", b"2"]),
        rekey_batch(ctx("rekey", 0), q.times_base(), q.times_base(), cards, [b"1", b"2"]),
        rekey_batch(ctx("rekey", 0), q.times_base(), deck_key, cards[::-1], [b"1", b"2"]),
        rekey_batch(ctx("rekey", 0), q.times_base(), deck_key, cards, [b"2", b"1"]),
        rekey_batch(ctx("rekey", 0), q.times_base(), deck_key, (cards[0], Card(cards[1].a, BASE)), [b"1", b"2"]),
    ]
    assert all(other.check(made) is not None for other in others)
