"""The shuffle: right ones pass, and whatever is wrong in one does not. Pitfalls 3, 6 to 10 and 12."""

from __future__ import annotations

import random

import pytest

from protocol.audit.second_opinion import shuffle_holds
from protocol.dealing.group import (
    BASE,
    Point,
    Secret,
    add,
    encode_scalar,
    generators,
    multiply_base,
    subtract,
    tile_points,
)
from protocol.dealing.proofs import Card
from protocol.dealing.shuffle import Deck, Prepared, check, deck_of, first_deck, prepare, prove, size_bytes
from protocol.dealing.transcript import ORDER, Nonces, digest
from tests.protocol.dealing.test_group import bad_points, bad_scalars

KEY = Secret.from_number(123456789)
PK = KEY.times_base()
CTX = digest(b"ctx")
SIZE = 4
TILES = tile_points("tiles", 2)
DECK = first_deck(PK, TILES[:SIZE])
POINTS = 4 * SIZE  # of the message, before the scalars


def prepared(cards: int = SIZE, fresh: bytes = bytes(32)) -> Prepared:
    return prepare(PK, cards, Nonces(encode_scalar(5), fresh, b"test"))


def tiles_in(deck: Deck) -> list[Point]:
    return [subtract(card.b, KEY.times(card.a)) for card in deck]


MADE = prove(CTX, DECK, prepared())


def put(data: bytes, place: int, field: bytes) -> bytes:
    return data[: 32 * place] + field + data[32 * (place + 1) :]


def field_at(place: int) -> bytes:
    return MADE[32 * place : 32 * (place + 1)]


@pytest.mark.parametrize("cards", [1, 2, 3, 52, 106, 108])
def test_a_shuffle_keeps_the_tiles_and_is_found_right(cards: int) -> None:
    tiles = tile_points("tiles", 4)[:cards]
    deck = first_deck(PK, tiles)
    made = prove(CTX, deck, prepared(cards))
    assert len(made) == size_bytes(cards) == 64 * cards + 32 * (4 * cards + 5)
    assert check(CTX, PK, deck, made) is None
    out = deck_of(made)
    assert sorted(tiles_in(out)) == sorted(tiles)
    assert not set(out) & set(deck)


def test_shuffles_of_several_follow_one_another() -> None:
    deck = DECK
    for place in range(3):
        made = prove(CTX, deck, prepared(fresh=bytes([place]) * 32))
        assert check(CTX, PK, deck, made) is None
        deck = deck_of(made)
    assert sorted(tiles_in(deck)) == sorted(TILES[:SIZE])


def test_the_second_opinion_agrees() -> None:
    assert shuffle_holds(CTX, PK, DECK, MADE)
    for place in (0, 2 * SIZE, 3 * SIZE, POINTS - 1):
        assert not shuffle_holds(CTX, PK, DECK, put(MADE, place, add(Point(field_at(place)), BASE)))
    for place in range(POINTS, POINTS + 5 + 2 * SIZE):
        assert not shuffle_holds(CTX, PK, DECK, put(MADE, place, encode_scalar(77)))
    assert not shuffle_holds(CTX, PK, DECK[::-1], MADE)
    assert not shuffle_holds(digest(b"another"), PK, DECK, MADE)
    assert not shuffle_holds(CTX, PK, DECK, MADE[:-32])


# What is wrong must be refused


@pytest.mark.parametrize("place", range(POINTS))
def test_another_point_in_any_place_is_refused(place: int) -> None:
    moved = add(Point(field_at(place)), BASE)
    assert check(CTX, PK, DECK, put(MADE, place, moved)) is not None
    for bit in (0, 7, 255):
        flipped = bytes(b ^ (1 << bit % 8 if at == bit // 8 else 0) for at, b in enumerate(field_at(place)))
        assert check(CTX, PK, DECK, put(MADE, place, flipped)) is not None


@pytest.mark.parametrize("place", range(POINTS, POINTS + 5 + 2 * SIZE))
def test_another_scalar_in_any_place_is_refused(place: int) -> None:
    scalar = int.from_bytes(field_at(place), "little")
    for wrong in ((scalar + 1) % ORDER, 0, ORDER - scalar):
        assert check(CTX, PK, DECK, put(MADE, place, encode_scalar(wrong))) is not None
    not_reduced = (scalar + ORDER).to_bytes(32, "little")
    assert check(CTX, PK, DECK, put(MADE, place, not_reduced)) == "a scalar not below the order"


@pytest.mark.parametrize("place", range(POINTS))
def test_what_is_no_point_is_refused_in_any_place(place: int) -> None:
    for bad in bad_points():
        assert check(CTX, PK, DECK, put(MADE, place, bad)) is not None


@pytest.mark.parametrize("place", range(POINTS, POINTS + 5 + 2 * SIZE))
def test_what_is_no_scalar_is_refused_in_any_place(place: int) -> None:
    for bad in bad_scalars():
        assert check(CTX, PK, DECK, put(MADE, place, bad)) is not None


def test_another_statement_is_refused() -> None:
    assert check(digest(b"another"), PK, DECK, MADE) is not None
    assert check(CTX, add(PK, BASE), DECK, MADE) is not None
    assert check(CTX, PK, DECK[::-1], MADE) is not None
    for place in range(SIZE):
        for card in (Card(DECK[place].a, add(DECK[place].b, BASE)), Card(multiply_base(2), DECK[place].b)):
            assert check(CTX, PK, (*DECK[:place], card, *DECK[place + 1 :]), MADE) is not None


@pytest.mark.parametrize("length", [0, 1, 31, 32, len(MADE) - 32, len(MADE) - 1, len(MADE) + 1, len(MADE) + 32, 10**6])
def test_another_length_is_refused_before_anything_else(length: int) -> None:
    assert "expected a shuffle of" in (check(CTX, PK, DECK, MADE[:length].ljust(length, b"\0")) or "")


def test_whatever_bytes_come_nothing_is_raised() -> None:
    rng = random.Random(1)
    for _ in range(50):
        assert check(CTX, PK, DECK, rng.randbytes(len(MADE))) is not None
    assert check(CTX, PK, DECK, bytes(len(MADE))) is not None
    assert check(CTX, PK, (), MADE) is not None
    assert check(CTX, PK, DECK * 50, MADE) is not None


def test_a_proof_of_zeros_is_refused() -> None:
    """Pitfall 7."""
    nothing = b"".join(multiply_base(n + 1) for n in range(POINTS)) + bytes(32 * (5 + 2 * SIZE))
    assert check(CTX, PK, DECK, nothing) == "the proof does not hold"


def cheated(order: list[int], deck: Deck = DECK) -> bytes:
    """A prover that works by the book on an order of its own choice."""
    made = prepared()
    h = generators()
    made.order = order
    for place, source in enumerate(order):
        made.c[source] = add(multiply_base(made.r[source]), h[place + 1])
    return prove(CTX, deck, made)


def test_a_tile_twice_and_another_missing_is_refused() -> None:
    """Pitfall 10."""
    assert check(CTX, PK, DECK, cheated([2, 0, 3, 1])) is None
    assert check(CTX, PK, DECK, cheated([0, 0, 2, 3])) is not None
    assert check(CTX, PK, DECK, cheated([1, 1, 1, 1])) is not None


def test_a_replaced_or_swapped_or_doubled_card_is_refused() -> None:
    """Pitfall 10."""
    other = (Card(BASE, add(TILES[9], PK)), *DECK[1:])
    assert check(CTX, PK, DECK, cheated([2, 0, 3, 1], other)) is not None
    swapped = MADE[64:128] + MADE[:64] + MADE[128:]
    assert check(CTX, PK, DECK, swapped) is not None
    doubled = MADE[:64] + MADE[:64] + MADE[128:]
    assert check(CTX, PK, DECK, doubled) == "the same card twice"


def test_generators_of_the_prover_s_choice_are_refused() -> None:
    """Pitfall 5: whoever knows the logarithms can commit to anything."""
    made = prepared()
    made.c = [add(point, multiply_base(3)) for point in made.c]
    assert check(CTX, PK, DECK, prove(CTX, DECK, made)) is not None


def test_what_was_prepared_is_for_one_shuffle_and_shows_nothing() -> None:
    """Pitfall 12."""
    made = prepared()
    assert str(made.r[0]) not in repr(made)
    prove(CTX, DECK, made)
    assert not made.order
    assert not made.w2
    with pytest.raises(ValueError, match="one shuffle only"):
        prove(CTX, DECK[::-1], made)
