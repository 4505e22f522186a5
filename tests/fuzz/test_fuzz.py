"""A little of every target, always the same, and that what it looks for would be found. Campaigns: `make fuzz`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from protocol.codec import pack
from protocol.envelope import open_envelope
from protocol.messages import CatchUp, Prevote
from tests.fuzz.campaign import chunks
from tests.fuzz.corpus import Stage, stages
from tests.fuzz.mutations import sealed
from tests.fuzz.targets import SESSIONS, TARGETS, Finding, Victim, size_of

SEED = 1
INPUTS = 2000
SESSION_INPUTS = 200


@pytest.mark.parametrize("name", [name for name in TARGETS if "/" not in name])
def test_broken_bytes_and_values_are_refused_with_the_one_error(name: str) -> None:
    TARGETS[name](SEED, INPUTS)


@pytest.mark.parametrize("kind", ["bytes", "signed", "alone"])
@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_goes_on_as_if_nothing_had_been(name: str, kind: str) -> None:
    TARGETS[f"{kind}/{name}"](SEED, SESSION_INPUTS)


def test_the_same_seed_gives_the_same_inputs() -> None:
    first, second = (list(chunks(["codec", "signed/turn"], 7, 50_000)) for _ in range(2))
    assert first == second
    assert sum(chunk.count for chunk in first) == 50_000
    assert [chunk.seed for chunk in first] == list(range(7, 7 + len(first)))


# What is looked for would be found


def stage() -> Stage:
    return stages()["turn"]


def told(at: Stage) -> list[bytes]:
    """The next entries, with their certificates."""
    return [frame for frame in at.frames if open_envelope(frame).kind == CatchUp.__name__]


def hear(at: Stage, *frames: bytes) -> Victim:
    victim = Victim(at)
    for frame in frames:
        victim.hear(at.others[0], frame)
    return victim


def test_an_entry_that_was_really_agreed_moves_the_session() -> None:
    assert hear(stage(), *told(stage())).session.height > hear(stage()).session.height


def test_an_entry_that_was_not_agreed_is_a_finding() -> None:
    with pytest.raises(AssertionError, match="never agreed"):
        hear(replace(stage(), entries={}), *told(stage()))


def test_evidence_against_somebody_honest_is_a_finding() -> None:
    at = stage()
    session = at.make()
    assert session.game is not None
    votes = [
        sealed(at.honest, session.table, Prevote.__name__, [session.height, session.game.head, 0, [], entry, []])
        for entry in (None, bytes(32))
    ]
    with pytest.raises(AssertionError, match="somebody honest is blamed"):
        hear(at, *votes)


def test_a_secret_on_the_wire_is_a_finding() -> None:
    at = stage()
    head = hear(at).session.game
    assert head is not None
    with pytest.raises(AssertionError, match="a secret leaves"):
        hear(replace(at, secrets=(head.head,)))


def test_an_exception_is_a_finding_with_its_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fuzz.targets.encode", lambda value, as_type=None: b"another form")
    with pytest.raises(Finding) as found:
        TARGETS["codec"](SEED, INPUTS)
    assert found.value.data.hex() in str(found.value)


def test_what_a_session_holds_is_measured() -> None:
    session = stage().make()
    before = size_of(session)
    session.evidence.append(pack(bytes(10_000)))  # type: ignore[arg-type]
    assert 10_000 < size_of(session) - before < 11_000
