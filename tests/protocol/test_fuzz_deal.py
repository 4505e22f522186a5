"""No message of the deal, however broken, is more than refused. Long campaigns: `make soak ARGS="--fuzz 100"`."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from engine.rulesets import ES
from protocol.dealing.group import BASE, Secret, encode_scalar, multiply, multiply_base
from protocol.dealing.proofs import Card
from protocol.dealing.redeal import check_tag, check_tag_shares, make_tag, make_tag_shares, rekey_batch
from protocol.dealing.transcript import digest
from tests.protocol.fuzz_deal import CHANGES, MESSAGES, attack, caught, foreign_payloads
from tests.security.layouts import LAYOUTS

TRIES = 60
SEED = 1


@pytest.fixture(scope="module")
def foreign() -> tuple[bytes, ...]:
    """Payloads of all kinds, of another game."""
    return foreign_payloads(SEED + 1, ES)


@pytest.mark.parametrize("name", MESSAGES)
def test_a_changed_message_is_refused_and_changes_nothing(name: str, foreign: tuple[bytes, ...]) -> None:
    attack(caught(name, SEED), SEED, TRIES, foreign)


@pytest.mark.parametrize("kind", ["rekey", "tag", "tag-shares"])
def test_changed_bytes_of_a_re_deal_are_refused(kind: str) -> None:
    rng = random.Random(SEED)
    right, check, layout = made(kind), CHECKS[kind], LAYOUTS[kind]((2,))
    assert check(right) is None
    for _ in range(TRIES):
        wrong = rng.choice(CHANGES)(rng, right, layout)
        assert wrong == right or check(wrong) is not None, f"seed {SEED}: {wrong.hex()}"


CTX = digest(b"fuzz")
CARDS = tuple(Card(multiply(n + 3, BASE), multiply_base(n + 30)) for n in range(2))
SECRET = Secret.from_number(4711)
KEY = SECRET.times_base()
REKEY = rekey_batch(CTX, KEY, multiply_base(99), CARDS, [b"1", b"2"])
CHECKS: dict[str, Callable[[bytes], str | None]] = {
    "rekey": REKEY.check,
    "tag": lambda data: check_tag(CTX, CARDS, data),
    "tag-shares": lambda data: check_tag_shares(CTX, KEY, CARDS, data),
}


def made(kind: str) -> bytes:
    entropy = random.Random(SEED).randbytes
    match kind:
        case "rekey":
            return REKEY.make(SECRET, entropy)
        case "tag":
            return make_tag(CTX, CARDS, encode_scalar(5), entropy)
        case _:
            return make_tag_shares(CTX, KEY, CARDS, SECRET, entropy)
