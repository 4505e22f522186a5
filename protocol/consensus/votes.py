"""Votes of one height: tallies by round, proofs, certificates, and two votes where one is allowed.

A *proof* of an entry in a round are the prevotes for it of all the round's voters; a *certificate* their precommits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from engine.state import Seat
from protocol.envelope import Envelope


class RoundKey(NamedTuple):
    """A round (r, S): its number and the seats left out."""

    round: int
    without: tuple[int, ...]


class Step(Enum):
    """The two voting steps."""

    PREVOTE = "prevote"
    PRECOMMIT = "precommit"


class Added(Enum):
    """What a vote was to the book."""

    NEW = "new"
    KNOWN = "known"
    CONFLICT = "conflict"  # a second one with other bytes: evidence (rule 1)


@dataclass(frozen=True, slots=True)
class Backed:
    """An entry that all voters of a round voted for in one step; `votes` are the signed votes in seat order."""

    entry: bytes
    key: RoundKey
    votes: tuple[bytes, ...]


@dataclass(slots=True)
class VoteBook:
    """All votes of one height that are held. `seats` are the seats still in the game (V)."""

    seats: tuple[Seat, ...]
    _votes: dict[Step, dict[int, dict[Seat, tuple[RoundKey, bytes | None, Envelope]]]] = field(
        default_factory=lambda: {Step.PREVOTE: {}, Step.PRECOMMIT: {}}
    )

    def voters(self, key: RoundKey) -> tuple[Seat, ...]:
        """V without S, in seat order."""
        return tuple(seat for seat in self.seats if seat not in key.without)

    def add(self, step: Step, seat: Seat, key: RoundKey, entry: bytes | None, envelope: Envelope) -> Added:
        """Count a vote. A conflicting one is not counted; `vote_of` gives the first."""
        votes = self._votes[step].setdefault(key.round, {})
        held = votes.get(seat)
        if held is None:
            votes[seat] = (key, entry, envelope)
            return Added.NEW
        return Added.KNOWN if held[2].raw == envelope.raw else Added.CONFLICT

    def vote_of(self, step: Step, seat: Seat, round_number: int) -> Envelope | None:
        """The vote of a seat in a round, whatever it left out."""
        held = self._votes[step].get(round_number, {}).get(seat)
        return None if held is None else held[2]

    def choices(self, step: Step, key: RoundKey) -> dict[Seat, bytes | None]:
        """What each voter of a round chose, for those whose vote is held."""
        votes = self._votes[step].get(key.round, {})
        return {
            seat: votes[seat][1] for seat in self.voters(key) if seat in votes and votes[seat][0].without == key.without
        }

    def backed(self, step: Step) -> Backed | None:
        """The entry that all voters of the highest such round chose in this step."""
        for round_number in sorted(self._votes[step], reverse=True):
            for key in sorted({vote[0] for vote in self._votes[step][round_number].values()}):
                found = self._backed_in(step, key)
                if found is not None:
                    return found
        return None

    def proof(self, entry: bytes, round_number: int) -> tuple[bytes, ...]:
        """The prevotes of all voters of a round for `entry`; empty if they are not all here."""
        for key in {vote[0] for vote in self._votes[Step.PREVOTE].get(round_number, {}).values()}:
            found = self._backed_in(Step.PREVOTE, key)
            if found is not None and found.entry == entry:
                return found.votes
        return ()

    def rounds_of(self, seat: Seat) -> set[int]:
        """The rounds in which a seat has voted."""
        return {number for votes in self._votes.values() for number, by_seat in votes.items() if seat in by_seat}

    def proof_round(self, entry: bytes) -> int | None:
        """The highest round in which all voters prevoted `entry`."""
        for round_number in sorted(self._votes[Step.PREVOTE], reverse=True):
            for key in {vote[0] for vote in self._votes[Step.PREVOTE][round_number].values()}:
                found = self._backed_in(Step.PREVOTE, key)
                if found is not None and found.entry == entry:
                    return round_number
        return None

    def prevoted_by_another(self, entry: bytes, actor: Seat, before: int) -> bool:
        """Whether a seat other than `actor` prevoted `entry` in a round below `before` (rule 10: timely)."""
        return any(
            vote[1] == entry and seat != actor
            for round_number, votes in self._votes[Step.PREVOTE].items()
            if round_number < before
            for seat, vote in votes.items()
        )

    def envelopes(self) -> list[Envelope]:
        """Every vote held, by step, round and seat."""
        return [
            votes[seat][2]
            for step in Step
            for _round, votes in sorted(self._votes[step].items())
            for seat in sorted(votes)
        ]

    def _backed_in(self, step: Step, key: RoundKey) -> Backed | None:
        choices = self.choices(step, key)
        voters = self.voters(key)
        if len(choices) != len(voters):
            return None
        entry = choices[voters[0]]
        if entry is None or any(choice != entry for choice in choices.values()):
            return None
        votes = self._votes[step][key.round]
        return Backed(entry, key, tuple(votes[seat][2].raw for seat in voters))
