"""Only what was signed, in the one form it was signed in, comes in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.codec import pack, unpack
from protocol.envelope import HALL, LABEL, VERSION, open_envelope, seal, table_of
from protocol.errors import RemoteProtocolError
from protocol.messages import BODIES, Precommit, Prevote, Status
from tests.protocol.keys import Key

TABLE = b"t" * 16
VOTE = Precommit(7, b"p" * 32, 2, (), b"e" * 32)


def sealed_plain(plain: list[object], key: Key) -> bytes:
    """An envelope with a right signature over whatever is in it."""
    unsigned = pack([*plain, bytes(64)])[:-66]
    return pack([*plain, key.sign(LABEL + unsigned)])


def test_what_is_sealed_opens_as_it_was() -> None:
    envelope = seal(Key(1), TABLE, VOTE)
    opened = open_envelope(envelope.raw)
    assert (opened.table, opened.sender, opened.body, opened.kind) == (TABLE, Key(1).node_id, VOTE, "Precommit")
    assert opened.digest == envelope.digest
    assert table_of(envelope.raw) == TABLE
    assert table_of(seal(Key(1), HALL, VOTE).raw) == HALL


def test_every_changed_byte_is_refused() -> None:
    raw = seal(Key(1), TABLE, VOTE).raw
    for place in range(len(raw)):
        for flip in (0x01, 0x80):
            broken = bytearray(raw)
            broken[place] ^= flip
            with pytest.raises(RemoteProtocolError) as refused:
                open_envelope(bytes(broken))
            assert refused.value.node is None, "nothing proves who made it"


def test_cut_and_lengthened_frames_are_refused() -> None:
    raw = seal(Key(1), TABLE, VOTE).raw
    for broken in [raw[:length] for length in range(len(raw))] + [raw + b"\x00", raw + raw]:
        with pytest.raises(RemoteProtocolError):
            open_envelope(broken)


def test_a_signature_of_another_key_is_refused() -> None:
    plain = unpack(seal(Key(1), TABLE, VOTE).raw)
    plain[2] = Key(2).node_id
    with pytest.raises(RemoteProtocolError, match="wrong signature"):
        open_envelope(pack(plain))


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (0, VERSION + 1),
        (0, True),
        (1, b"t" * 15),
        (1, "t" * 16),
        (2, b"k" * 31),
        (3, "Nonsense"),
        (3, b"Precommit"),
        (4, [7, b"p" * 32, 2, []]),
        (4, None),
    ],
)
def test_rightly_signed_nonsense_is_refused(place: int, value: object) -> None:
    plain = unpack(seal(Key(1), TABLE, VOTE).raw)[:5]
    plain[place] = value
    with pytest.raises(RemoteProtocolError):
        open_envelope(sealed_plain(plain, Key(1)))


def test_the_same_body_under_another_kind_is_refused() -> None:
    plain = unpack(seal(Key(1), TABLE, Prevote(1, b"p" * 32, 0, (), None, ())).raw)
    plain[3] = "Precommit"
    with pytest.raises(RemoteProtocolError):
        open_envelope(pack(plain))


def test_a_frame_of_a_hundred_megabytes_is_refused_unread() -> None:
    with pytest.raises(RemoteProtocolError, match="at most 262144 bytes"):
        open_envelope(b"\x96" + bytes(100_000_000))


@given(st.binary(max_size=300))
def test_any_bytes_give_one_kind_of_error(data: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        open_envelope(data)


@given(st.recursive(st.none() | st.integers(0, 300) | st.binary(max_size=33), lambda x: st.lists(x, max_size=6)))
def test_any_signed_body_gives_a_message_or_one_kind_of_error(body: object) -> None:
    for kind in BODIES:
        raw = sealed_plain([VERSION, TABLE, Key(3).node_id, kind, body], Key(3))
        try:
            opened = open_envelope(raw)
        except RemoteProtocolError:
            continue
        assert opened.kind == kind
        assert seal(Key(3), TABLE, opened.body).raw == raw


def test_signing_is_deterministic() -> None:
    status = Status(b"l" * 8, 1, 2, b"p" * 32, b"h" * 8, ())
    assert seal(Key(1), TABLE, status).raw == seal(Key(1), TABLE, status).raw
