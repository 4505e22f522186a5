"""Votes of one height: tallies by round, proofs, certificates, and two votes where one is allowed.

A *proof* of an entry in a round are the prevotes for it of all the round's voters; a *certificate* their precommits.
Of a liar's several votes in a round the first counts for the round, but any of them in proofs and certificates: others
may have seen that one first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple

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
    CONFLICT = "conflict"  # another one with other bytes: evidence (rule 1)


@dataclass(frozen=True, slots=True)
class Backed:
    """An entry that all voters of a round voted for in one step; `votes` are the signed votes in seat order."""

    entry: bytes
    key: RoundKey
    votes: tuple[bytes, ...]


class _Vote(NamedTuple):
    key: RoundKey
    entry: bytes | None
    envelope: Envelope


MAX_VERSIONS: Final = 4  # of one vote that are kept


@dataclass(slots=True)
class VoteBook:
    """All votes of one height that are held. `seats` are the seats still in the game (V)."""

    seats: tuple[Seat, ...]
    _votes: dict[Step, dict[int, dict[Seat, list[_Vote]]]] = field(
        default_factory=lambda: {Step.PREVOTE: {}, Step.PRECOMMIT: {}}
    )
    _backed: dict[Step, tuple[Backed, ...]] = field(default_factory=dict)  # as long as no vote comes

    def voters(self, key: RoundKey) -> tuple[Seat, ...]:
        """V without S, in seat order."""
        return tuple(seat for seat in self.seats if seat not in key.without) if key.without else self.seats

    def add(self, step: Step, seat: Seat, key: RoundKey, entry: bytes | None, envelope: Envelope) -> Added:
        """Hold a vote. `vote_of` gives the first, which a conflicting one does not replace."""
        votes = self._votes[step].setdefault(key.round, {}).setdefault(seat, [])
        if any(vote.envelope.raw == envelope.raw for vote in votes):
            return Added.KNOWN
        vote = _Vote(key, entry, envelope)
        if len(votes) < MAX_VERSIONS or self._makes_room(step, seat, vote):
            self._backed.pop(step, None)
            votes.append(vote)
        return Added.NEW if len(votes) == 1 else Added.CONFLICT

    def _makes_room(self, step: Step, seat: Seat, new: _Vote) -> bool:
        """Let the vote that agrees with the fewest others go, but not the first, if `new` agrees with more.

        Else a liar that shows this node other votes first would keep it from ever holding a proof that others have.
        """
        by_seat = self._votes[step][new.key.round]
        versions = by_seat[seat]
        others = [{held[:2] for held in by_seat[other]} for other in by_seat if other != seat]

        def agreeing(vote: _Vote) -> int:
            return sum(vote[:2] in votes for votes in others)

        least = min(versions[1:], key=agreeing, default=None)
        if least is None or agreeing(least) >= agreeing(new):
            return False
        versions.remove(least)
        return True

    def vote_of(self, step: Step, seat: Seat, round_number: int) -> Envelope | None:
        """The first vote of a seat in a round, whatever it left out."""
        votes = self._votes[step].get(round_number, {}).get(seat)
        return votes[0].envelope if votes else None

    def choices(self, step: Step, key: RoundKey) -> dict[Seat, bytes | None]:
        """What each voter of a round chose, for those whose vote is held."""
        votes = self._votes[step].get(key.round, {})
        return {
            seat: votes[seat][0].entry
            for seat in self.voters(key)
            if seat in votes and votes[seat][0].key.without == key.without
        }

    def backed(self, step: Step) -> Backed | None:
        """The entry that all voters of the highest such round chose in this step."""
        return next(iter(self._all_backed(step)), None)

    def proof(self, entry: bytes, round_number: int) -> tuple[bytes, ...]:
        """The prevotes of all voters of a round for `entry`; empty if they are not all here."""
        found = (backed for backed in self._all_backed(Step.PREVOTE) if backed.key.round == round_number)
        return next((backed.votes for backed in found if backed.entry == entry), ())

    def versions(self, seat: Seat, round_number: int) -> int:
        """How many different prevotes of a seat in a round are held."""
        return len(self._votes[Step.PREVOTE].get(round_number, {}).get(seat, ()))

    def rounds_of(self, seat: Seat) -> set[int]:
        """The rounds in which a seat has voted."""
        return {number for votes in self._votes.values() for number, by_seat in votes.items() if seat in by_seat}

    def proof_round(self, entry: bytes) -> int | None:
        """The highest round in which all voters prevoted `entry`."""
        return next((b.key.round for b in self._all_backed(Step.PREVOTE) if b.entry == entry), None)

    def prevoted_by_another(self, entry: bytes, actor: Seat, before: int) -> bool:
        """Whether a seat other than `actor` prevoted `entry` in a round below `before` (rule 10: timely)."""
        return any(
            vote.entry == entry and seat != actor
            for round_number, votes in self._votes[Step.PREVOTE].items()
            if round_number < before
            for seat, versions in votes.items()
            for vote in versions
        )

    def envelopes(self) -> list[Envelope]:
        """Every vote held, by step, round and seat."""
        return [
            vote.envelope
            for step in Step
            for _round, votes in sorted(self._votes[step].items())
            for seat in sorted(votes)
            for vote in votes[seat]
        ]

    def _all_backed(self, step: Step) -> tuple[Backed, ...]:
        """Every entry that all voters of a round chose in this step, the highest round first."""
        if step not in self._backed:
            self._backed[step] = tuple(self._found_backed(step))
        return self._backed[step]

    def _found_backed(self, step: Step) -> Iterator[Backed]:
        for _round, votes in sorted(self._votes[step].items(), reverse=True):
            if 2 * len(votes) < len(self.seats):
                continue  # rule 15
            cast: dict[tuple[RoundKey, bytes], dict[Seat, bytes]] = {}
            for seat, versions in votes.items():
                for vote in versions:
                    if vote.entry is not None:
                        cast.setdefault((vote.key, vote.entry), {})[seat] = vote.envelope.raw
            for (key, entry), by_seat in sorted(cast.items()):
                voters = self.voters(key)
                if len(by_seat) >= len(voters) and all(seat in by_seat for seat in voters):
                    yield Backed(entry, key, tuple(by_seat[seat] for seat in voters))
