"""Rules 4 to 7 as tables of (standing, seen, step)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.state import Seat
from protocol.consensus.round import (
    CastPrecommit,
    CastPrevote,
    Commit,
    EnterRound,
    Judged,
    Lock,
    RoundStep,
    Seen,
    Standing,
    Verdict,
    next_step,
)
from protocol.consensus.votes import Backed, RoundKey

X, Y = b"x" * 32, b"y" * 32
ALL = (Seat(0), Seat(1), Seat(2))
NOTHING = Seen(ALL, {}, {}, None, None, nil_due=False, refuse_at_once=False)
START = Standing()
LATER = Standing(RoundKey(2, ()))
LOCKED = replace(LATER, lock=Lock(Y, 1))


def proposal(verdict: Verdict, entry: bytes = X, proof_round: int | None = None) -> Seen:
    return replace(NOTHING, proposal=Judged(entry, verdict, proof_round))


def votes(*entries: bytes | None) -> dict[Seat, bytes | None]:
    return {Seat(seat): entry for seat, entry in enumerate(entries)}


PREVOTES: list[tuple[str, Standing, Seen, RoundStep | None]] = [
    ("nothing seen: wait", START, NOTHING, None),
    ("allowed", START, proposal(Verdict.ALLOWED), CastPrevote(X)),
    ("cannot be judged yet", START, proposal(Verdict.HOLD), None),
    ("refused, but rule 11 holds the vote", LATER, proposal(Verdict.REFUSED), None),
    ("refused", LATER, replace(proposal(Verdict.REFUSED), refuse_at_once=True), CastPrevote(None)),
    ("no proposal, time over", START, replace(NOTHING, nil_due=True), CastPrevote(None)),
    ("held, time over", LATER, replace(proposal(Verdict.HOLD), nil_due=True), CastPrevote(None)),
    ("locked on another", LOCKED, proposal(Verdict.ALLOWED), CastPrevote(None, show_lock=True)),
    ("locked on it", LOCKED, proposal(Verdict.ALLOWED, Y), CastPrevote(Y)),
    ("proof older than the lock", LOCKED, proposal(Verdict.ALLOWED, X, 0), CastPrevote(None, show_lock=True)),
    ("proof as old as the lock", LOCKED, proposal(Verdict.ALLOWED, X, 1), CastPrevote(X)),
    (
        "proof newer than the lock",
        replace(LOCKED, key=RoundKey(4, ())),
        proposal(Verdict.ALLOWED, X, 3),
        CastPrevote(X),
    ),
    ("locked, time over", LOCKED, replace(NOTHING, nil_due=True), CastPrevote(None, show_lock=True)),
    ("voted already", replace(START, prevoted=True), proposal(Verdict.ALLOWED), None),
]


@pytest.mark.parametrize(("case", "standing", "seen", "step"), PREVOTES, ids=[case[0] for case in PREVOTES])
def test_rule_4(case: str, standing: Standing, seen: Seen, step: RoundStep | None) -> None:
    assert next_step(standing, seen) == step


@pytest.mark.parametrize(
    ("prevotes", "step"),
    [
        (votes(X, X, X), CastPrecommit(X)),
        (votes(X, X, None), CastPrecommit(None)),
        (votes(X, X, Y), CastPrecommit(None)),
        (votes(None, None, None), CastPrecommit(None)),
        (votes(X, X), None),
    ],
)
def test_rule_5(prevotes: dict[Seat, bytes | None], step: RoundStep | None) -> None:
    assert next_step(replace(START, prevoted=True), replace(NOTHING, prevotes=prevotes)) == step


@pytest.mark.parametrize(
    ("precommits", "step"),
    [
        (votes(X, X, None), EnterRound(RoundKey(3, ()))),
        (votes(None, None, None), EnterRound(RoundKey(3, ()))),
        (votes(X, X), None),
    ],
)
def test_rule_6(precommits: dict[Seat, bytes | None], step: RoundStep | None) -> None:
    standing = replace(LATER, prevoted=True, precommitted=True)
    assert next_step(standing, replace(NOTHING, precommits=precommits)) == step


def test_rule_7_commits_whatever_the_own_round_is() -> None:
    certified = Backed(X, RoundKey(0, ()), (b"a", b"b", b"c"))
    for standing in (START, LATER, LOCKED, replace(LATER, prevoted=True, precommitted=True)):
        assert next_step(standing, replace(NOTHING, certified=certified)) == Commit(certified)


def test_rule_6_comes_before_a_vote_in_the_round_that_is_over() -> None:
    seen = replace(proposal(Verdict.ALLOWED), precommits=votes(None, None, None))
    assert next_step(LATER, seen) == EnterRound(RoundKey(3, ()))
