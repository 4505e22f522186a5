"""Tallies, proofs, certificates and evidence."""

from __future__ import annotations

from engine.state import Seat
from protocol.consensus.votes import Added, Backed, RoundKey, Step, VoteBook
from protocol.envelope import Envelope, seal
from protocol.messages import Precommit, Prevote
from tests.protocol.keys import Key

X, Y, PREV = b"x" * 32, b"y" * 32, b"p" * 32
SEATS = (Seat(0), Seat(1), Seat(2))
FIRST, SECOND = RoundKey(0, ()), RoundKey(1, ())


def vote(step: Step, seat: int, key: RoundKey, entry: bytes | None) -> Envelope:
    body: Prevote | Precommit
    if step is Step.PREVOTE:
        body = Prevote(1, PREV, key.round, key.without, entry, ())
    else:
        body = Precommit(1, PREV, key.round, key.without, entry)
    return seal(Key(seat), b"t" * 16, body)


def book_of(*votes: tuple[Step, int, RoundKey, bytes | None]) -> VoteBook:
    book = VoteBook(SEATS)
    for step, seat, key, entry in votes:
        assert book.add(step, Seat(seat), key, entry, vote(step, seat, key, entry)) is Added.NEW
    return book


def test_one_missing_vote_is_no_proof() -> None:
    book = book_of((Step.PREVOTE, 0, FIRST, X), (Step.PREVOTE, 1, FIRST, X))
    assert book.backed(Step.PREVOTE) is None
    assert book.proof_round(X) is None
    book.add(Step.PREVOTE, Seat(2), FIRST, X, vote(Step.PREVOTE, 2, FIRST, X))
    raws = tuple(vote(Step.PREVOTE, seat, FIRST, X).raw for seat in range(3))
    assert book.backed(Step.PREVOTE) == Backed(X, FIRST, raws)
    assert book.proof_round(X) == 0
    assert book.backed(Step.PRECOMMIT) is None


def test_the_highest_proven_round_counts() -> None:
    votes = [(Step.PREVOTE, seat, key, entry) for key, entry in ((FIRST, X), (SECOND, Y)) for seat in range(3)]
    book = book_of(*votes)
    found = book.backed(Step.PREVOTE)
    assert found is not None
    assert (found.entry, found.key) == (Y, SECOND)
    assert (book.proof_round(X), book.proof_round(Y)) == (0, 1)


def test_votes_of_different_rounds_do_not_add_up() -> None:
    book = book_of((Step.PRECOMMIT, 0, FIRST, X), (Step.PRECOMMIT, 1, FIRST, X), (Step.PRECOMMIT, 2, SECOND, X))
    assert book.backed(Step.PRECOMMIT) is None


def test_votes_for_different_voter_sets_do_not_add_up() -> None:
    """W3: a vote names its voter set, so one vote never counts in two."""
    without_2, without_1 = RoundKey(1, (2,)), RoundKey(1, (1,))
    book = book_of((Step.PRECOMMIT, 0, without_2, X), (Step.PRECOMMIT, 2, without_1, X))
    assert book.backed(Step.PRECOMMIT) is None
    book.add(Step.PRECOMMIT, Seat(1), without_2, X, vote(Step.PRECOMMIT, 1, without_2, X))
    found = book.backed(Step.PRECOMMIT)
    assert found is not None
    assert found.key == without_2


def test_nil_is_never_backed() -> None:
    book = book_of(*((Step.PRECOMMIT, seat, FIRST, None) for seat in range(3)))
    assert book.backed(Step.PRECOMMIT) is None
    assert book.choices(Step.PRECOMMIT, FIRST) == {Seat(0): None, Seat(1): None, Seat(2): None}


def test_a_second_vote_is_a_conflict_and_does_not_count() -> None:
    book = book_of((Step.PREVOTE, 0, FIRST, X))
    assert book.add(Step.PREVOTE, Seat(0), FIRST, X, vote(Step.PREVOTE, 0, FIRST, X)) is Added.KNOWN
    assert book.add(Step.PREVOTE, Seat(0), FIRST, None, vote(Step.PREVOTE, 0, FIRST, None)) is Added.CONFLICT
    other_set = RoundKey(0, (1,))
    assert book.add(Step.PREVOTE, Seat(0), other_set, X, vote(Step.PREVOTE, 0, other_set, X)) is Added.CONFLICT
    assert book.choices(Step.PREVOTE, FIRST) == {Seat(0): X}


def test_any_of_a_liars_votes_completes_a_proof() -> None:
    """Others may have seen that one first, and are locked by it."""
    book = book_of((Step.PREVOTE, 0, FIRST, X), (Step.PREVOTE, 1, FIRST, X), (Step.PREVOTE, 2, FIRST, None))
    assert book.add(Step.PREVOTE, Seat(2), FIRST, X, vote(Step.PREVOTE, 2, FIRST, X)) is Added.CONFLICT
    assert book.proof_round(X) == 0
    assert len(book.proof(X, 0)) == 3
    assert book.choices(Step.PREVOTE, FIRST)[Seat(2)] is None


def test_timely_by_anothers_prevote() -> None:
    book = book_of((Step.PREVOTE, 0, FIRST, X), (Step.PREVOTE, 1, SECOND, Y))
    assert not book.prevoted_by_another(X, Seat(0), before=2), "the actor's own prevote proves nothing"
    assert not book.prevoted_by_another(Y, Seat(0), before=1)
    assert book.prevoted_by_another(Y, Seat(0), before=2)
