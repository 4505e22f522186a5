"""Pitfall 3 of docs/dealing.md, section 6: each input of each hash is needed: without it something false would pass.

`HASHED` lists the inputs of every hash of the deal; a spy holds it against a whole deal and a re-deal. For each input
there is a forgery that the checks refuse, and that they take once this very input is left out of the hash, by prover
and verifier alike. `NEEDS_NO_FORGERY` says why a few have none.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from engine.rulesets import ES
from engine.state import Seat
from protocol.dealing import group, keys, secret_deal, shuffle, transcript
from protocol.dealing.keys import OwnKeys, lot_numbers
from protocol.dealing.proofs import (
    OPEN,
    REKEY,
    SHARE,
    TAG,
    TAG_SHARE,
)
from protocol.dealing.transcript import Nonces
from tests.protocol.dealing.deals import dealt
from tests.security.forgeries import (
    CTX,
    DECK,
    FORGERIES,
    X,
    batch,
    dleq,
    encrypted,
    forged,
    message,
    passes,
    same_points,
    scalars,
    shares_by,
    told,
    told_shares,
)
from tests.security.test_fields import draw_and_play, open_rack, redeal_messages

SEED = ("label", "ctx", "about", "base", "key", "points")
SHARES_SEED = ("label", "ctx", "about", "base", "key", "rack key", "heads", "points")
WEIGHT = ("label", "seed", "index")
DLEQ_CHALLENGE = ("label", "seed", "of key", "of pairs")
SHARES_CHALLENGE = ("label", "seed", "of key", "of factors", "of shares")
POSSESSION = ("label", "ctx", "base", "key", "commitment")
CONTEXT = (
    *("label", "suite", "gid", "number of seats", "deck size", "rules", "seats", "epoch", "height", "kind"),
    *("acting seat", "view"),
)
HASHED: dict[bytes, tuple[str, ...]] = {
    b"RK1/ctx": CONTEXT,
    b"RK1/pop-x": POSSESSION,
    b"RK1/pop-q": POSSESSION,
    b"RK1/key-commit": ("label", "ctx", "Y", "Q", "proofs", "coin"),
    b"RK1/tw-u": ("label", "ctx", "base", "key", "deck", "out", "c"),
    b"RK1/tw-ui": WEIGHT,
    b"RK1/tw-c": ("label", "seed", "k", "t", "t4", "th"),
    **{labels.seed: SEED for labels in (OPEN, TAG, TAG_SHARE)},
    **{labels.seed: SHARES_SEED for labels in (SHARE, REKEY)},
    **{labels.weight: WEIGHT for labels in (OPEN, TAG, TAG_SHARE, SHARE, REKEY)},
    **{labels.challenge: DLEQ_CHALLENGE for labels in (OPEN, TAG, TAG_SHARE)},
    **{labels.challenge: SHARES_CHALLENGE for labels in (SHARE, REKEY)},
    b"RK1/gen": ("label", "variant", "index", "try"),
    b"RK1/tile": ("label", "variant", "index", "try"),
}
OF_ANY_LENGTH = {b"RK1/coin", b"RK1/nonce", b"RK1/rules", b"verdict"}  # tried in the tests below
NEEDS_NO_FORGERY = {
    **{(label, "base"): "always G" for label, names in HASHED.items() if "base" in names},
    (b"RK1/ctx", "suite"): "a constant",
    (b"RK1/ctx", "number of seats"): "it follows from the seats",
    (b"RK1/gen", "variant"): "there is one table of generators",
    **{(label, "try"): "it only makes the search go on" for label in (b"RK1/gen", b"RK1/tile")},
    **{
        (label, "label"): "no other hash has inputs of this form"
        for label in (b"RK1/ctx", b"RK1/key-commit", b"RK1/tw-u", b"RK1/tw-ui", b"RK1/tw-c")
    },
    (b"RK1/tw-c", "seed"): "the weights that follow from it are in every other input",
    (b"RK1/tw-c", "k"): "it follows from th and the responses",
}

ORIGINAL = transcript.digest


@contextmanager
def hashing_by(other: Callable[..., bytes]) -> Iterator[None]:
    """All hashes of the deal go by way of another function."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (group, keys, secret_deal, shuffle, transcript):
            if getattr(module, "digest", None) is ORIGINAL:
                patch.setattr(module, "digest", other)
        yield


@contextmanager
def without(label: bytes, name: str) -> Iterator[None]:
    """One input is left out of one hash; without labels no hash has one."""
    place = HASHED[label].index(name)

    def weakened(*fields: Any) -> bytes:
        left = list(fields)
        if fields[0] == label or place == 0:
            left[place] = b""
        return ORIGINAL(*left)

    with hashing_by(weakened):
        yield


def test_the_prover_of_these_forgeries_is_right_where_nothing_is_bent() -> None:
    data, _s4, _u = forged(encrypted(DECK))
    assert passes(data)
    right = batch(SHARE)
    shares = shares_by(X, right)
    assert right.check(message(shares, told_shares(right, shares))) is None
    assert dleq(OPEN).check(scalars(*told(dleq(OPEN), X))) is None


def test_every_hash_of_a_deal_is_listed_with_its_inputs() -> None:
    """A new hash, or another input of one, needs its forgery here."""
    heard: dict[bytes, set[int]] = {}

    def spy(label: bytes, *fields: Any) -> bytes:
        heard.setdefault(label, set()).add(1 + len(fields))
        return ORIGINAL(label, *fields)

    with hashing_by(spy):
        deal = dealt(replace(ES, hand=3), 3)
        redeal_messages(deal)
        draw_and_play(deal)
        open_rack(deal)
        same_points((b"RK1/gen", b"", 1), (b"RK1/tile", b"", 1))  # the tables are kept from before
    own = {label: lengths for label, lengths in heard.items() if label not in OF_ANY_LENGTH and label != b"game"}
    assert own == {label: {len(names)} for label, names in HASHED.items()}


def test_every_input_has_a_forgery_or_a_reason() -> None:
    inputs = {(label, name) for label, names in HASHED.items() for name in names}
    assert inputs == set(FORGERIES) | set(NEEDS_NO_FORGERY)
    assert not set(FORGERIES) & set(NEEDS_NO_FORGERY)


@pytest.mark.parametrize(
    ("label", "name"), FORGERIES, ids=lambda part: part if isinstance(part, str) else part.decode()
)
def test_a_forgery_is_refused_and_would_pass_without_that_input_of_the_hash(label: bytes, name: str) -> None:
    forgery = FORGERIES[label, name]
    assert not forgery()
    with without(label, name):
        assert forgery()


def test_nonces_need_secret_fresh_bytes_and_the_whole_statement() -> None:
    """Pitfall 12."""
    right = Nonces(bytes(31) + b"\1", bytes(32), b"a", [b"b", b"c"]).take(2)
    others = [
        Nonces(bytes(31) + b"\2", bytes(32), b"a", [b"b", b"c"]),
        Nonces(bytes(31) + b"\1", bytes(31) + b"\1", b"a", [b"b", b"c"]),
        Nonces(bytes(31) + b"\1", bytes(32), b"x", [b"b", b"c"]),
        Nonces(bytes(31) + b"\1", bytes(32), b"a", [b"b", b"x"]),
        Nonces(bytes(31) + b"\1", bytes(32), b"a", b"b", b"c"),
    ]
    taken = [*right, *(scalar for other in others for scalar in other.take(2))]
    assert len(set(taken)) == len(taken)


def test_the_lot_needs_every_coin() -> None:
    """Pitfall 19: no seat's coin is left out, and each draw of the lot is another."""
    rng = random.Random(1)
    own = {Seat(seat): OwnKeys.fresh(rng.randbytes) for seat in range(3)}
    reveals = {seat: one.reveal(CTX) for seat, one in own.items()}
    right = lot_numbers(reveals)
    assert len({right(draw) for draw in range(5)}) == 5
    for seat, reveal in reveals.items():
        assert lot_numbers({**reveals, seat: reveal[:-1] + bytes([reveal[-1] ^ 1])})(0) != right(0)
