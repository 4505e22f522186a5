"""The group's door: what comes in, what comes out, and that an independent implementation agrees."""

from __future__ import annotations

import hashlib
import pickle

import pytest
from nacl.bindings import crypto_core_ed25519_is_valid_point

from protocol.audit import curve
from protocol.dealing import group
from protocol.dealing.group import (
    BASE,
    IDENTITY,
    BadElement,
    Point,
    Secret,
    add,
    decode_point,
    decode_scalar,
    encode_scalar,
    generators,
    multiply,
    multiply_base,
    self_test,
    subtract,
    tile_points,
    tiles_by_point,
    total,
    weighted,
)
from protocol.dealing.transcript import ORDER
from tests.protocol.dealing.small_order import ORDER_2, ORDER_4, ORDER_8, SMALL_ORDER

SOME = 0x1234567890ABCDEF1234567890ABCDEF1234567890ABCDEF1234567890ABCDE


def bad_points() -> list[bytes]:
    """Everything that must be refused wherever a point is expected."""
    point = curve.times(SOME, curve.BASE)
    mixed = [curve.encode(curve.plus(point, torsion)) for torsion in (ORDER_2, ORDER_4, ORDER_8)]
    not_canonical = [(curve.P + y).to_bytes(32, "little") for y in (0, 1, 3)]
    signed = [(1 + 2**255).to_bytes(32, "little"), (curve.P - 1 + 2**255).to_bytes(32, "little")]
    off = next(b for y in range(2, 50) if curve.decode(b := y.to_bytes(32, "little")) is None)
    short_and_long = [b"", curve.encode(point)[:31], curve.encode(point) + b"\x00"]
    return [*SMALL_ORDER, *mixed, *not_canonical, *signed, off, *short_and_long]


def bad_scalars() -> list[bytes]:
    return [n.to_bytes(32, "little") for n in (ORDER, ORDER + 5, 2**255 - 1, 2**256 - 1)] + [bytes(31), bytes(33), b""]


def test_the_library_passes_the_start_up_test() -> None:
    self_test()


@pytest.mark.parametrize("takes", ["validity", "multiplication"])
def test_a_library_that_takes_small_parts_is_refused(takes: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = crypto_core_ed25519_is_valid_point
    torsion = SMALL_ORDER

    def unpatched(point: bytes) -> bool:
        """As libsodium was before: blind for a part of order 2."""
        return bool(right(point) or (curve.decode(point) and point not in torsion and _blind(point)))

    def _blind(point: bytes) -> bool:
        return right(curve.encode(curve.plus(curve.decode(point) or curve.ZERO, ORDER_2)))

    if takes == "validity":
        monkeypatch.setattr(group, "crypto_core_ed25519_is_valid_point", unpatched)
    else:
        monkeypatch.setattr(group, "crypto_scalarmult_ed25519_noclamp", lambda _scalar, point: point)
    with pytest.raises(group.UnsafeLibrary):
        self_test()


@pytest.mark.parametrize("data", bad_points(), ids=lambda data: data.hex()[:16])
def test_what_is_no_point_of_the_group_is_refused(data: bytes) -> None:
    with pytest.raises(BadElement):
        decode_point(data)


@pytest.mark.parametrize("data", bad_scalars(), ids=lambda data: f"{len(data)}-{data.hex()[-8:]}")
def test_a_scalar_has_one_form(data: bytes) -> None:
    with pytest.raises(BadElement):
        decode_scalar(data)


def test_scalars_go_through_bytes_unchanged() -> None:
    assert [decode_scalar(encode_scalar(n)) for n in (0, 1, ORDER - 1)] == [0, 1, ORDER - 1]


def test_arithmetic_agrees_with_the_second_opinion() -> None:
    one, other = multiply_base(SOME), multiply_base(7)
    assert one == curve.encode(curve.times(SOME, curve.BASE))
    assert add(one, other) == multiply_base(SOME + 7)
    assert subtract(one, other) == multiply_base(SOME - 7)
    assert multiply(SOME, other) == curve.encode(curve.times(7 * SOME, curve.BASE))
    assert weighted([2, 3], [one, other]) == multiply_base((2 * SOME + 21) % ORDER)
    assert curve.in_group(curve.decode(one) or curve.ZERO)


def test_zero_and_the_identity_are_defined() -> None:
    assert multiply(0, BASE) == multiply_base(0) == multiply(5, IDENTITY) == total([]) == IDENTITY
    assert subtract(BASE, BASE) == IDENTITY
    assert add(BASE, IDENTITY) == BASE
    assert total([BASE, subtract(IDENTITY, BASE), BASE]) == BASE
    assert weighted([0, 0], [BASE, BASE]) == IDENTITY


def test_a_secret_does_what_its_number_does_and_shows_nothing() -> None:
    secret = Secret.from_number(SOME)
    assert secret.times_base() == multiply_base(SOME)
    assert secret.times(multiply_base(3)) == multiply_base(3 * SOME % ORDER)
    assert secret.times(IDENTITY) == IDENTITY
    assert secret.response(11, 13) == (11 + 13 * SOME) % ORDER
    assert repr(secret) == str(secret) == "Secret()"
    with pytest.raises(TypeError):
        pickle.dumps(secret)
    secret.erase()
    with pytest.raises(AssertionError):
        secret.reveal()


@pytest.mark.parametrize("scalar", [bytes(32), encode_scalar(1)[:31], ORDER.to_bytes(32, "little")])
def test_a_secret_is_a_scalar_other_than_zero(scalar: bytes) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        Secret(scalar)


def test_generators_are_what_the_second_opinion_finds() -> None:
    assert list(generators()) == [curve.hash_to_point(b"RK1/gen", b"", i) for i in range(109)]
    assert len(set(generators())) == 109


@pytest.mark.parametrize(("deck", "jokers"), [("tiles", 2), ("tiles", 4), ("cards", 0)])
def test_tile_points_are_what_the_second_opinion_finds(deck: str, jokers: int) -> None:
    size = (104 if deck == "tiles" else 52) + jokers
    points = tile_points(deck, jokers)
    assert list(points) == [curve.hash_to_point(b"RK1/tile", f"{deck}/{jokers}".encode(), i) for i in range(size)]
    assert [tiles_by_point(deck, jokers)[point] for point in points] == list(range(size))


def test_no_two_decks_share_a_point() -> None:
    every = [generators(), *(tile_points(deck, jokers) for deck in ("tiles", "cards") for jokers in range(5))]
    assert len({point for points in every for point in points}) == sum(len(points) for points in every)
    assert all(decode_point(point) for points in every for point in points)


def test_the_points_are_those_of_every_release() -> None:
    """A change of these would make games of two versions impossible, and old files wrong."""

    def fingerprint(points: tuple[Point, ...]) -> str:
        return hashlib.sha512(b"".join(points)).hexdigest()[:32]

    assert fingerprint(generators()) == "bb7d47dd93aff9bbfb0b12cba38d92a8"
    assert fingerprint(tile_points("tiles", 2)) == "cc713bd3054ae012811bb1647fe22770"
    assert fingerprint(tile_points("tiles", 4)) == "4bca0dfdd396e7d2a58343d3368af842"
    assert fingerprint(tile_points("cards", 0)) == "7913368dfff6ec63d03c9d22ae069726"
