"""One value, one byte form; nothing else is read."""

from __future__ import annotations

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.actions import Draw, DrawReason, Play
from engine.rulesets import PT
from engine.state import MeldKind, Seat, Slot, TableMeld
from engine.tiles import TileId
from protocol.codec import MAX_DEPTH, decode, encode, from_plain, pack, to_plain, unpack
from protocol.errors import DecodeError
from protocol.messages import (
    ActionEntry,
    AnswersEntry,
    Entry,
    Genesis,
    Member,
    Prevote,
    SignedAction,
    TimeoutEntry,
)

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.binary(max_size=40) | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=5),
    max_leaves=20,
)


@given(PLAIN)
def test_plain_values_round_trip(plain: object) -> None:
    assert unpack(pack(plain)) == plain


@given(st.binary(max_size=64))
def test_any_bytes_give_a_value_with_those_very_bytes_or_one_error(data: bytes) -> None:
    try:
        plain = unpack(data)
    except DecodeError:
        return
    assert pack(plain) == data


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x01\x02",  # two values
        b"\xcc\x05",  # 5 in two bytes
        b"\xcd\x00\x05",  # 5 in three bytes
        b"\xdc\x00\x01\x05",  # a list of one with a long head
        b"\xd9\x01a",  # a short text with a long head
        msgpack.packb({"a": 1}),
        msgpack.packb({}),
        msgpack.packb(1.5),
        msgpack.packb(msgpack.ExtType(1, b"x")),
        msgpack.packb([msgpack.Timestamp(1, 1)]),
        b"\xa1\xff",  # not UTF-8
        b"\xc1",
        b"\xdd\xff\xff\xff\xff",  # a list of four milliards
        b"\xc6\xff\xff\xff\xff",
        b"\x91" * 2000 + b"\x01",
    ],
)
def test_what_is_not_canonical_is_refused(data: bytes) -> None:
    with pytest.raises(DecodeError):
        unpack(data)


def test_depth_is_limited() -> None:
    nested: object = 1
    for _ in range(MAX_DEPTH):
        nested = [nested]
    assert unpack(pack(nested)) == nested
    with pytest.raises(DecodeError, match="levels"):
        unpack(pack([nested]))


def test_size_is_limited() -> None:
    with pytest.raises(DecodeError, match="at most 10 bytes"):
        unpack(pack(b"x" * 20), max_bytes=10)


PLAY = Play(
    Seat(2),
    (TableMeld((TileId(0), TileId(3), TileId(105)), MeldKind.RUN), TableMeld((TileId(1),), None)),
    ((Slot(0, 14), TileId(3)),),
)
VALUES = [
    (SignedAction, SignedAction(3, b"p" * 32, PLAY, b"", b"\x01")),
    (SignedAction, SignedAction(3, b"p" * 32, Draw(Seat(1), DrawReason.ILLEGAL), b"x", b"")),
    (Entry, Entry(1, b"a" * 32, AnswersEntry("start", (b"1" * 32, b"2" * 32)), b"s" * 32)),
    (Entry, Entry(1, b"a" * 32, ActionEntry(b"raw"), b"s" * 32)),
    (Entry, Entry(2**40, b"a" * 32, TimeoutEntry(), b"s" * 32)),
    (Genesis, Genesis(b"t" * 16, "Küche", PT, (Member("Ana", b"k" * 32, False, b"f" * 32),))),
    (Prevote, Prevote(1, b"p" * 32, 0, (), None, ())),
    (Prevote, Prevote(1, b"p" * 32, 3, (1, 2), b"e" * 32, (b"raw",))),
]


@pytest.mark.parametrize(("as_type", "value"), VALUES)
def test_typed_values_round_trip(as_type: type, value: object) -> None:
    assert decode(as_type, encode(value)) == value


@pytest.mark.parametrize(
    "plain",
    [
        None,
        [],
        [1, b"p" * 32, 0, [], None],  # a field short
        [1, b"p" * 32, 0, [], None, [], 1],  # a field too many
        [1, b"p" * 31, 0, [], None, []],  # a digest of 31 bytes
        [True, b"p" * 32, 0, [], None, []],  # a bool is no int
        ["1", b"p" * 32, 0, [], None, []],
        [1, b"p" * 32, 0, None, None, []],
        [1, b"p" * 32, 0, [], None, ["text"]],
        [1, b"p" * 32, 0, [2**70], None, []],
    ],
)
def test_values_of_other_types_are_refused(plain: object) -> None:
    with pytest.raises(DecodeError):
        from_plain(Prevote, plain)


def test_unknown_members_of_a_union_are_refused() -> None:
    plain = to_plain(Entry(1, b"a" * 32, TimeoutEntry(), b"s" * 32))
    plain[2] = ["Nonsense"]
    with pytest.raises(DecodeError, match="expected one of"):
        from_plain(Entry, plain)


def test_unknown_members_of_an_enum_are_refused() -> None:
    plain = to_plain(SignedAction(3, b"p" * 32, Draw(Seat(1)), b"", b""))
    plain[2][2] = "because"
    with pytest.raises(DecodeError, match="DrawReason"):
        from_plain(SignedAction, plain)
