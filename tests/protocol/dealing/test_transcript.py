"""Hashing: nothing can be said in two ways, and nonces are never shared."""

from __future__ import annotations

import hashlib

from protocol.dealing.transcript import ORDER, Nonces, context_hash, digest, to_scalar

SECRET = bytes([7]) * 32


def nonces(secret: bytes = SECRET, fresh: bytes = bytes(32), statement: bytes = b"statement") -> Nonces:
    return Nonces(secret, fresh, statement)


def test_every_field_carries_its_length() -> None:
    plain = (1).to_bytes(8, "big") + b"L" + (2).to_bytes(8, "big") + b"ab"
    assert digest(b"L", b"ab") == hashlib.sha512(plain).digest()
    as_list = (1).to_bytes(8, "big") + b"L" + (10).to_bytes(8, "big") + (2).to_bytes(8, "big") + b"ab"
    assert digest(b"L", [b"ab"]) == hashlib.sha512(as_list).digest()
    said = [
        digest(b"L", b"ab", b"c"),
        digest(b"L", b"a", b"bc"),
        digest(b"La", b"b", b"c"),
        digest(b"L", b"abc"),
        digest(b"L", b"abc", b""),
        digest(b"L", [b"ab", b"c"]),
        digest(b"L", [b"a", b"bc"]),
        digest(b"L", [b"ab"], [b"c"]),
    ]
    assert len(set(said)) == len(said)


def test_a_hash_as_a_scalar_is_below_the_order() -> None:
    scalar = to_scalar(b"L", b"x")
    assert scalar == int.from_bytes(digest(b"L", b"x"), "little") % ORDER


def test_the_context_depends_on_everything_in_it() -> None:
    base = {
        "gid": b"g" * 64,
        "rules": b"r" * 64,
        "deck_size": 106,
        "seats": [(0, b"a" * 32), (1, b"b" * 32)],
        "epoch": 0,
        "height": 3,
        "kind": "shares",
        "acting_seat": 1,
        "view": b"v" * 32,
    }
    other = {
        "gid": b"h" * 64,
        "rules": b"s" * 64,
        "deck_size": 105,
        "seats": [(0, b"a" * 32), (2, b"b" * 32)],
        "epoch": 1,
        "height": 4,
        "kind": "shuffle",
        "acting_seat": 0,
        "view": b"w" * 32,
    }
    hashes = {context_hash(**base)}  # type: ignore[arg-type]  # one field after the other
    hashes |= {context_hash(**{**base, name: value}) for name, value in other.items()}  # type: ignore[arg-type]
    assert len(hashes) == len(base) + 1


def test_a_broken_source_of_randomness_alone_shares_no_nonce() -> None:
    """Pitfall 12: the source gives always the same bytes."""
    rows = [
        nonces().take(3),
        nonces(statement=b"another").take(3),
        nonces(secret=bytes([8]) * 32).take(3),
        nonces(fresh=bytes([1]) * 32).take(3),
    ]
    drawn = [nonce for row in rows for nonce in row]
    assert len(set(drawn)) == len(drawn)
    assert all(0 < nonce < ORDER for nonce in drawn)
    assert nonces().take(3) == rows[0], "the same statement may: it gives the same proof"


def test_a_permutation_is_one_and_every_card_may_come_anywhere() -> None:
    """Pitfall 22."""
    row = nonces()
    counts = [[0] * 4 for _ in range(4)]
    for _ in range(2000):
        order = row.permutation(4)
        assert sorted(order) == [0, 1, 2, 3]
        for place, card in enumerate(order):
            counts[place][card] += 1
    assert all(400 < count < 600 for places in counts for count in places)
    assert row.permutation(1) == [0]


def test_nonces_show_nothing() -> None:
    assert repr(nonces()).startswith("<protocol.dealing.transcript.Nonces object at")
