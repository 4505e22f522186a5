"""Every proof that a dealer makes is right by plain Python too, which spells out docs/dealing.md a second time.

An input that is left out of a hash over there makes a test fail here. The shuffle is in `test_shuffle`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from engine.rulesets import ES
from engine.state import Seat
from protocol.audit import curve
from protocol.audit.second_opinion import (
    BadBytes,
    PlainDealer,
    hashed,
    key_holds,
    opening_holds,
    rekey_holds,
    shares_hold,
    tag_holds,
    tag_shares_hold,
)
from protocol.codec import encode
from protocol.dealing.dealer import Context, Owed
from protocol.dealing.group import Secret, multiply_base, subtract
from protocol.dealing.keys import OwnKeys, commitment
from protocol.dealing.proofs import SHARE, Card, ShareBatch, opening, prove_key
from protocol.dealing.redeal import make_tag, make_tag_shares, rekey_batch
from protocol.dealing.transcript import context_hash, digest
from protocol.messages import PartKind
from tests.protocol.dealing.deals import Deal
from tests.protocol.dealing.small_order import ORDER_2

CTX = digest(b"ctx")
OTHER = digest(b"another ctx")
X = Secret.from_number(0xABCDEF0123456789ABCDEF)
Q = Secret.from_number(0x123456789ABCDEF1234567)
Y_KEY, Q_KEY = X.times_base(), Q.times_base()
HEADS = [multiply_base(n) for n in (11, 22, 33)]
CARDS = [Card(head, multiply_base(n)) for head, n in zip(HEADS, (44, 55, 66), strict=True)]
WHERE = (b"slot 1", b"slot 2", b"slot 3")

sizes = pytest.mark.parametrize("size", [1, 3])


def spoilt(data: bytes) -> list[bytes]:
    """`data` with one field replaced by another point or scalar, for each field, and of another length."""
    pieces = [data[at : at + 32] for at in range(0, len(data), 32)]
    fields = [bytes([9]) + bytes(31) if at >= len(pieces) - 2 else multiply_base(99) for at in range(len(pieces))]
    changed = [b"".join([*pieces[:at], field, *pieces[at + 1 :]]) for at, field in enumerate(fields)]
    return [*changed, data[:-32], data + bytes(32)]


def holds(check: Callable[..., bool], *given: object) -> bool:
    """Whether a check holds; bytes that are no point or scalar do not."""
    try:
        return check(*given)
    except BadBytes:
        return False


def test_possession_of_a_key() -> None:
    made = prove_key(b"RK1/pop-x", CTX, Y_KEY, X, bytes(32))
    assert key_holds(b"RK1/pop-x", CTX, Y_KEY, made)
    assert not key_holds(b"RK1/pop-q", CTX, Y_KEY, made)
    assert not key_holds(b"RK1/pop-x", OTHER, Y_KEY, made)
    assert not key_holds(b"RK1/pop-x", CTX, Q_KEY, made)
    assert not any(key_holds(b"RK1/pop-x", CTX, Y_KEY, wrong) for wrong in (made[32:] + made[:32], made[:32]))


def test_the_commitment_to_keys() -> None:
    own = OwnKeys(X, Q, bytes(range(32)))
    shown = own.reveal(CTX)
    fields = (shown[:32], shown[32:64], shown[64:192], shown[192:])
    assert fields[3] == bytes(range(32))
    assert commitment(CTX, shown) == hashed(b"RK1/key-commit", CTX, *fields)


@sizes
def test_shares(size: int) -> None:
    """docs/dealing.md, section 3.5."""
    heads, about = tuple(HEADS[:size]), WHERE[:size]
    made = ShareBatch(SHARE, CTX, Y_KEY, Q_KEY, heads, about).make(X, bytes)
    assert shares_hold(b"share", CTX, Y_KEY, Q_KEY, heads, about, made)
    assert not shares_hold(b"rekey", CTX, Y_KEY, Q_KEY, heads, about, made)
    assert not shares_hold(b"share", OTHER, Y_KEY, Q_KEY, heads, about, made)
    assert not shares_hold(b"share", CTX, Q_KEY, Q_KEY, heads, about, made)
    assert not shares_hold(b"share", CTX, Y_KEY, Y_KEY, heads, about, made)
    assert not shares_hold(b"share", CTX, Y_KEY, Q_KEY, heads, (b"slot 9", *about[1:]), made)
    assert not any(holds(shares_hold, b"share", CTX, Y_KEY, Q_KEY, heads, about, wrong) for wrong in spoilt(made))


@sizes
def test_openings(size: int) -> None:
    """docs/dealing.md, section 3.6: M - S = q R."""
    tiles = [multiply_base(n) for n in (501, 502, 503)][:size]
    rack = [Card(head, subtract(tile, Q.times(head))) for head, tile in zip(HEADS, tiles, strict=False)]
    about = list(WHERE[:size])
    made = opening(CTX, Q_KEY, list(zip(rack, tiles, strict=True)), about).prove(Q, bytes)
    assert opening_holds(CTX, Q_KEY, rack, tiles, about, made)
    assert not opening_holds(CTX, Q_KEY, rack, [*tiles[1:], multiply_base(504)], about, made)
    assert not opening_holds(CTX, Y_KEY, rack, tiles, about, made)
    assert not opening_holds(CTX, Q_KEY, rack, tiles, [b"slot 9", *about[1:]], made)
    assert not any(holds(opening_holds, CTX, Q_KEY, rack, tiles, about, wrong) for wrong in spoilt(made))


@sizes
def test_a_rekeyed_rack(size: int) -> None:
    """docs/dealing.md, section 3.8, step 2."""
    cards, about = tuple(CARDS[:size]), WHERE[:size]
    made = rekey_batch(CTX, Q_KEY, Y_KEY, cards, about).make(Q, bytes)
    assert rekey_holds(CTX, Q_KEY, Y_KEY, cards, about, made)
    assert not rekey_holds(CTX, Y_KEY, Y_KEY, cards, about, made)
    assert not rekey_holds(CTX, Q_KEY, Q_KEY, cards, about, made)
    assert not rekey_holds(CTX, Q_KEY, Y_KEY, [Card(card.a, multiply_base(7)) for card in cards], about, made)
    assert not any(holds(rekey_holds, CTX, Q_KEY, Y_KEY, cards, about, wrong) for wrong in spoilt(made))


@sizes
def test_tags_and_their_shares(size: int) -> None:
    """docs/dealing.md, section 3.8, steps 4 and 5."""
    cards = tuple(CARDS[:size])
    tag = make_tag(CTX, cards, bytes([7]) * 32, bytes)
    assert tag_holds(CTX, cards, tag)
    assert not tag_holds(OTHER, cards, tag)
    assert not tag_holds(CTX, [Card(card.a, multiply_base(7)) for card in cards], tag)
    shares = make_tag_shares(CTX, Y_KEY, cards, X, bytes)
    assert tag_shares_hold(CTX, Y_KEY, cards, shares)
    assert not tag_shares_hold(OTHER, Y_KEY, cards, shares)
    assert not tag_shares_hold(CTX, Q_KEY, cards, shares)
    assert not tag_shares_hold(CTX, Y_KEY, [Card(card.a, multiply_base(7)) for card in cards], shares)
    assert not any(holds(tag_holds, CTX, cards, wrong) for wrong in spoilt(tag))
    assert not any(holds(tag_shares_hold, CTX, Y_KEY, cards, wrong) for wrong in spoilt(shares))


def test_keys_that_were_committed_to_but_must_not_be_used() -> None:
    """docs/dealing.md, section 3.3, by the dealer of the second opinion."""
    deal = Deal(ES, 2)
    call, context, dealer = deal.state.call, deal.context(), PlainDealer(deal.genesis)
    assert call is not None
    members = [(index, member.node) for index, member in enumerate(deal.genesis.members)]

    def ctx(kind: PartKind, seat: int) -> bytes:
        return context_hash(
            gid=context.gid,
            rules=digest(b"RK1/rules", encode(ES)),
            deck_size=52,
            seats=members,
            epoch=0,
            height=context.height,
            kind=kind.value,
            acting_seat=seat,
            view=context.view,
        )

    def judged(reveal: bytes, other: bytes, context: Context = context) -> str | None:
        """What is said of the second seat's reveal, which it has committed to."""
        commit = commitment(ctx(PartKind.KEY_COMMIT, 1), reveal)
        before = {Owed(PartKind.KEY_COMMIT, Seat(1)): commit, Owed(PartKind.KEY_REVEAL, Seat(0)): other}
        return dealer.check_part(PartKind.KEY_REVEAL, Seat(1), reveal, call, context, before)

    own = OwnKeys(X, Q, bytes(32))
    right, minus_x = own.reveal(ctx(PartKind.KEY_REVEAL, 1)), Secret.from_number(curve.L - 0xABCDEF0123456789ABCDEF)
    other = OwnKeys(Secret.from_number(7), Secret.from_number(8), bytes(32)).reveal(OTHER)
    opposite = OwnKeys(minus_x, Secret.from_number(8), bytes(32)).reveal(OTHER)
    assert judged(right, other) is None
    assert judged(own.reveal(ctx(PartKind.KEY_REVEAL, 0)), other) is not None, "proofs for another seat"
    assert judged(right[:64] + right[128:192] + right[64:128] + right[192:], other) is not None, "each other's proofs"
    assert judged(right, right) is not None, "keys that are another's too"
    assert judged(right, opposite) is not None, "all keys add up to the identity"
    assert judged(right, other, replace(context, used_keys=frozenset([Q_KEY]))) is not None, "a key of an earlier game"


def test_what_is_no_point_or_no_scalar_is_refused() -> None:
    made = prove_key(b"RK1/pop-x", CTX, Y_KEY, X, bytes(32))
    mixed = curve.encode(curve.plus(curve.decode(Y_KEY) or curve.ZERO, ORDER_2))
    for key in (bytes(32), mixed, curve.encode(curve.ZERO), b"\xff" * 32):
        with pytest.raises(BadBytes, match="point"):
            key_holds(b"RK1/pop-x", CTX, key, made)
    response = int.from_bytes(made[32:], "little")
    with pytest.raises(BadBytes, match="scalar"):
        key_holds(b"RK1/pop-x", CTX, Y_KEY, made[:32] + (response + curve.L).to_bytes(32, "little"))


def test_sums_of_many_points_are_those_of_one_at_a_time() -> None:
    terms = [(n * 2**240 + n, curve.times(n, curve.BASE)) for n in (1, 2, 15)]
    one_by_one = curve.ZERO
    for factor, point in terms:
        one_by_one = curve.plus(one_by_one, curve.times(factor, point))
    assert curve.encode(curve.combination(terms)) == curve.encode(one_by_one)
    assert curve.is_zero(curve.combination([]))
    assert curve.is_zero(curve.combination([(1, curve.BASE), (-1, curve.BASE)]))
