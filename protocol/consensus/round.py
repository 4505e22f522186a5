"""The round: rules 4 to 7 of docs/agreement.md as one pure function.

`next_step` looks at where a node stands and at what it has seen, and gives the one thing to do next, or None for wait.
The driver does it and asks again. What may be proposed (rules 9 to 11) reaches it as a `Verdict`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from engine.state import Seat
from protocol.consensus.votes import Backed, RoundKey

FIRST_ROUND: Final = RoundKey(0, ())


@dataclass(frozen=True, slots=True)
class Lock:
    """The entry this node has precommitted last, and in which round. Its proof is in the vote book and the journal."""

    entry: bytes
    round: int


@dataclass(frozen=True, slots=True)
class Standing:
    """Where this node stands at a height: its round, what it has signed in it, and its lock.

    `entered` is False from the own `Regroup` for the round until all of them are here: no vote in any round (rule 16).
    """

    key: RoundKey = FIRST_ROUND
    entered: bool = True
    proposed: bool = False
    prevoted: bool = False
    precommitted: bool = False
    lock: Lock | None = None


class Verdict(Enum):
    """What this node thinks of the proposal of its round, its lock aside."""

    ALLOWED = "allowed"  # valid, all that it names is held, and it may be proposed now
    HOLD = "hold"  # cannot be judged yet: data or the own clock is missing
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Judged:
    """The proposal of the current round. `proof_round`: the highest round with a proof of it that is known."""

    entry: bytes
    verdict: Verdict
    proof_round: int | None


@dataclass(frozen=True, slots=True)
class Seen:
    """What a node has seen at a height, as far as its current round asks for it.

    `nil_due`: rule 11 no longer holds the vote, and the proposer has had its time. `refuse_at_once`: the proposal is
    the actor's own in round 0, or rule 11 no longer holds the vote.
    """

    voters: tuple[Seat, ...]
    prevotes: Mapping[Seat, bytes | None]
    precommits: Mapping[Seat, bytes | None]
    certified: Backed | None
    proposal: Judged | None
    nil_due: bool
    refuse_at_once: bool


@dataclass(frozen=True, slots=True)
class Commit:
    certified: Backed


@dataclass(frozen=True, slots=True)
class EnterRound:
    key: RoundKey


@dataclass(frozen=True, slots=True)
class CastPrecommit:
    """`entry` None is nil; otherwise the node locks on it in this round."""

    entry: bytes | None


@dataclass(frozen=True, slots=True)
class CastPrevote:
    """`entry` None is nil; `show_lock`: nil because of the own lock, whose proof goes along."""

    entry: bytes | None
    show_lock: bool = False


RoundStep = Commit | EnterRound | CastPrecommit | CastPrevote


def next_step(standing: Standing, seen: Seen) -> RoundStep | None:
    """The next thing this node does at this height, None to wait for messages or time."""
    # Rule 7: commit as soon as all voters of any one round have precommitted it.
    if seen.certified is not None:
        return Commit(seen.certified)
    if not standing.entered:
        return None
    # Rule 6: all precommits are there and not all for one entry.
    if len(seen.precommits) == len(seen.voters):
        return EnterRound(RoundKey(standing.key.round + 1, standing.key.without))
    # Rule 5: all prevotes are there.
    if not standing.precommitted and len(seen.prevotes) == len(seen.voters):
        choices = set(seen.prevotes.values())
        return CastPrecommit(choices.pop() if len(choices) == 1 else None)
    # Rule 4.
    if not standing.prevoted:
        return _prevote(standing, seen)
    return None


def _prevote(standing: Standing, seen: Seen) -> CastPrevote | None:
    """Rule 4: the prevote, or None to hold it (rule 11)."""
    proposal, lock = seen.proposal, standing.lock
    if proposal is None:
        return CastPrevote(None, show_lock=lock is not None) if seen.nil_due else None
    if proposal.verdict is Verdict.REFUSED:
        return CastPrevote(None, show_lock=lock is not None) if seen.refuse_at_once else None
    released = (
        lock is None
        or lock.entry == proposal.entry
        or (proposal.proof_round is not None and proposal.proof_round >= lock.round)
    )
    if not released:
        return CastPrevote(None, show_lock=True)
    if proposal.verdict is Verdict.ALLOWED:
        return CastPrevote(proposal.entry)
    return CastPrevote(None, show_lock=lock is not None) if seen.nil_due else None
