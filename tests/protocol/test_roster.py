"""Seats nobody chooses, words everybody shares, names that are fit for a screen."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.rulesets import PT
from protocol.messages import Genesis, Member
from protocol.roster import MAX_NAME_BYTES, clean_name, seat_of, seat_order, table_words
from tests.protocol.keys import Key

WORDS = tuple(f"word{number}" for number in range(2048))


def member(number: int, fresh: int = 0) -> Member:
    return Member(f"P{number}", Key(number).node_id, False, bytes([fresh]) * 32)


def test_seats_do_not_depend_on_the_order_of_hearing() -> None:
    members = [member(number) for number in range(5)]
    assert seat_order(members) == seat_order(reversed(members))
    assert set(seat_order(members)) == set(members)


def test_fresh_bytes_of_anybody_can_change_the_seats() -> None:
    orders = {
        tuple(one.name for one in seat_order([member(0, fresh), member(1), member(2), member(3)]))
        for fresh in range(30)
    }
    assert len(orders) > 5


def test_table_words_follow_the_whole_genesis() -> None:
    genesis = Genesis(b"t" * 16, "Kitchen", PT, (member(1), member(2)))
    words = table_words(genesis, WORDS)
    assert len(words.split()) == 4
    assert words == table_words(genesis, WORDS)
    others = [
        Genesis(b"u" * 16, "Kitchen", PT, genesis.members),
        Genesis(b"t" * 16, "Garden", PT, genesis.members),
        Genesis(b"t" * 16, "Kitchen", PT, (member(1), member(3))),
        Genesis(b"t" * 16, "Kitchen", PT, (member(2), member(1))),
    ]
    assert words not in {table_words(other, WORDS) for other in others}


def test_an_observer_has_no_seat() -> None:
    genesis = Genesis(b"t" * 16, "Kitchen", PT, (member(1), member(2)))
    assert [seat_of(genesis, Key(number).node_id) for number in (1, 2, 3)] == [0, 1, None]


@given(st.text(max_size=80))
def test_names_are_printable_short_and_clean_names_stay(name: str) -> None:
    clean = clean_name(name)
    assert len(clean.encode()) <= MAX_NAME_BYTES
    assert clean == "" or clean.isprintable()
    assert clean_name(clean) == clean
