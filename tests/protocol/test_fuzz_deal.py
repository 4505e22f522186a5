"""No message of the deal, however broken, is more than refused. Long campaigns: `make soak ARGS="--fuzz 100"`."""

from __future__ import annotations

import pytest

from engine.rulesets import ES
from tests.protocol.fuzz_deal import MESSAGES, attack, caught, foreign_payloads

TRIES = 60
SEED = 1


@pytest.fixture(scope="module")
def foreign() -> tuple[bytes, ...]:
    """Payloads of all kinds, of another game."""
    return foreign_payloads(SEED + 1, ES)


@pytest.mark.parametrize("name", MESSAGES)
def test_a_changed_message_is_refused_and_changes_nothing(name: str, foreign: tuple[bytes, ...]) -> None:
    attack(caught(name, SEED), SEED, TRIES, foreign)
