"""Keys are committed to, then shown, each with a proof that only its owner can make. Pitfalls 1, 2, 6, 7 and 9."""

from __future__ import annotations

import random

import pytest

from engine.state import Seat
from protocol.dealing.group import BASE, IDENTITY, Point, Secret, add, encode_scalar, subtract, total
from protocol.dealing.keys import (
    REVEAL_BYTES,
    OwnKeys,
    check_reveal,
    commitment,
    lot_numbers,
    public_keys,
)
from protocol.dealing.transcript import ORDER, digest
from tests.protocol.dealing.test_group import bad_points, bad_scalars

SEATS = 3


def ctx(seat: int) -> bytes:
    return digest(b"reveal", bytes([seat]))


def commit_ctx(seat: int) -> bytes:
    return digest(b"commit", bytes([seat]))


def keys(seat: int) -> OwnKeys:
    return OwnKeys.fresh(random.Random(seat).randbytes)


REVEALS = [keys(seat).reveal(ctx(seat)) for seat in range(SEATS)]


def verdict(
    reveal: bytes, seat: int = 0, others: list[bytes] | None = None, committed: bytes | None = None
) -> str | None:
    """What is said of a reveal; without `committed`, of one that its sender had committed to."""
    if committed is None:
        committed = commitment(commit_ctx(seat), reveal) if len(reveal) == REVEAL_BYTES else bytes(64)
    theirs = REVEALS[:seat] + REVEALS[seat + 1 :] if others is None else others
    return check_reveal(reveal, committed, commit_ctx(seat), ctx(seat), theirs, SEATS)


def put(data: bytes, place: int, field: bytes) -> bytes:
    return data[: 32 * place] + field + data[32 * (place + 1) :]


def test_right_keys_pass_and_add_up_to_the_deck_key() -> None:
    assert [verdict(reveal, seat) for seat, reveal in enumerate(REVEALS)] == [None] * SEATS
    public = public_keys({Seat(seat): reveal for seat, reveal in enumerate(REVEALS)})
    assert public.seats == (0, 1, 2)
    assert public.joint == total(keys(seat).x.times_base() for seat in range(SEATS))
    assert public.q[Seat(1)] == keys(1).q.times_base()


def test_keys_and_commitment_have_the_size_they_should() -> None:
    assert len(REVEALS[0]) - 32 + len(commitment(ctx(0), REVEALS[0])) == 256
    assert len(REVEALS[0]) == 224


def test_after_a_restart_the_same_bytes_are_shown() -> None:
    own = keys(1)
    again = OwnKeys.restored(own.secret())
    assert len(own.secret()) == 96
    assert again.reveal(ctx(1)) == own.reveal(ctx(1)) == REVEALS[1]
    assert own.reveal(ctx(2)) != REVEALS[1]


@pytest.mark.parametrize("secret", [b"", bytes(96), bytes(95), b"\xff" * 96])
def test_a_damaged_secret_is_refused(secret: bytes) -> None:
    with pytest.raises(ValueError, match="expected"):
        OwnKeys.restored(secret)


def test_a_zero_from_the_source_of_randomness_is_drawn_again() -> None:
    numbers = iter([0, ORDER, 5, ORDER, 6])

    def entropy(count: int) -> bytes:
        return next(numbers).to_bytes(64, "little") if count == 64 else bytes(count)

    own = OwnKeys.fresh(entropy)
    assert own.secret()[:64] == encode_scalar(5) + encode_scalar(6)


def test_secrets_show_nothing() -> None:
    own = keys(0)
    assert repr(own) == "OwnKeys()"
    own.erase()
    with pytest.raises(AssertionError):
        own.secret()


def test_a_rogue_key_has_no_proof() -> None:
    """Pitfall 1: a key made to cancel the others', so that its owner alone would know the deck key."""
    z = Secret.from_number(4711)
    rogue = subtract(z.times_base(), total(Point(reveal[:32]) for reveal in REVEALS[1:]))
    assert total([rogue, *(Point(reveal[:32]) for reveal in REVEALS[1:])]) == z.times_base()
    proofs = OwnKeys(z, z, bytes(32)).reveal(ctx(0))[64:128]
    assert verdict(put(REVEALS[0], 0, rogue)) is not None
    assert verdict(rogue + REVEALS[0][32:64] + proofs + REVEALS[0][128:]) is not None


def test_another_seat_s_keys_cannot_be_copied() -> None:
    """Pitfall 1: the proof is bound to its seat."""
    copied = REVEALS[1]
    assert verdict(copied, seat=0) is not None
    assert verdict(copied, seat=0, others=[]) is not None
    assert verdict(copied, seat=0, others=[], committed=commitment(commit_ctx(1), copied)) is not None


def test_friends_with_equal_keys_are_refused() -> None:
    """Pitfall 1: equal keys whose proofs are right, because both know the secret."""
    first = keys(1)
    assert verdict(first.reveal(ctx(2)), seat=2, others=[]) is None
    assert verdict(first.reveal(ctx(2)), seat=2, others=[REVEALS[0], REVEALS[1]]) == "a key twice"
    crossed = OwnKeys(first.q, first.x, first.coin)
    assert verdict(crossed.reveal(ctx(2)), seat=2, others=[REVEALS[1]]) == "a key twice"
    twice = OwnKeys(first.x, first.x, first.coin)
    assert verdict(twice.reveal(ctx(2)), seat=2, others=[]) == "a key twice"


def test_keys_that_add_up_to_nothing_are_refused() -> None:
    one, other = keys(1), keys(2)
    sum_of_both = (int.from_bytes(one.x.reveal(), "little") + int.from_bytes(other.x.reveal(), "little")) % ORDER
    opposite = OwnKeys(Secret.from_number(ORDER - sum_of_both), keys(0).q, bytes(32)).reveal(ctx(0))
    assert verdict(opposite, others=REVEALS[1:2]) is None
    assert verdict(opposite) == "the deck key is the identity"


def test_a_key_chosen_after_seeing_the_others_does_not_match() -> None:
    """Pitfall 2."""
    committed = commitment(commit_ctx(0), REVEALS[0])
    assert verdict(REVEALS[0], committed=committed) is None
    later = keys(9).reveal(ctx(0))
    other_coin = REVEALS[0][:-1] + b"\0"
    for reveal in (later, other_coin):
        assert verdict(reveal, committed=committed) == "does not match the commitment"


@pytest.mark.parametrize("place", [0, 1])
def test_what_is_no_key_is_refused(place: int) -> None:
    own = Point(REVEALS[0][32 * place : 32 * place + 32])
    for wrong in (*bad_points(), IDENTITY, add(own, BASE)):
        assert verdict(put(REVEALS[0], place, wrong)) is not None


@pytest.mark.parametrize("place", [2, 3, 4, 5])
def test_what_is_no_proof_is_refused(place: int) -> None:
    scalar = int.from_bytes(REVEALS[0][32 * place : 32 * place + 32], "little")
    for wrong in (
        *bad_scalars(),
        encode_scalar((scalar + 1) % ORDER),
        (scalar + ORDER).to_bytes(32, "little"),
        bytes(32),
    ):
        assert verdict(put(REVEALS[0], place, wrong)) is not None


def test_whatever_bytes_come_nothing_is_raised() -> None:
    rng = random.Random(1)
    for length in (*range(0, 300, 7), REVEAL_BYTES - 1, REVEAL_BYTES, REVEAL_BYTES + 1):
        assert verdict(rng.randbytes(length)) is not None


def test_the_lot_depends_on_every_coin_and_gives_numbers_of_512_bits() -> None:
    """docs/deal-entries.md, section 5, item 2."""
    reveals = {Seat(seat): reveal for seat, reveal in enumerate(REVEALS)}
    coin = digest(b"RK1/coin", *(reveal[-32:] for reveal in REVEALS))
    number = lot_numbers(reveals)
    assert number(3) == int.from_bytes(digest(b"RK1/coin", coin, (3).to_bytes(8, "big")), "big")
    for seat, reveal in reveals.items():
        assert lot_numbers({**reveals, seat: reveal[:-32] + bytes(32)})(0) != number(0)
    assert lot_numbers(dict(reversed(reveals.items())))(0) == number(0), "in seat order, not as they came"
