"""Who is out of contact, since when, and how long the others wait (docs/agreement.md, rules 12, 15 and 21).

One `Contacts` a game, each node's own view. All times are seconds of one monotonic clock.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from engine.state import Seat

CONTACT_S: Final = 3.0  # rule 12
MISSED_S: Final = 1.5  # after so long without a heartbeat a node asks others for it
COUNTDOWN_S: Final = 60.0  # section 3, item 9 (iv)
COUNTDOWN_BUDGET_S: Final = 180.0  # for a seat in a game
SHORT_COUNTDOWN_S: Final = 10.0  # when the budget is used up
STANDSTILL_S: Final = 30.0  # rule 12: of the turn's clock, in one turn


class Cause(Enum):
    """Why a seat counts as out of contact."""

    SILENT = "silent"  # no heartbeat
    OWES = "owes"  # its part of an open call is over its limit, or its vote
    FAULT = "fault"  # there is evidence against it: no countdown


@dataclass(frozen=True, slots=True)
class Absence:
    """A seat that is out of contact since `since_s`; from `until_s` on the others may go on without it."""

    seat: Seat
    cause: Cause
    since_s: float
    until_s: float


@dataclass(slots=True)
class Contacts:
    """What one node knows of the others' contact in one game. `seats` are the others in the game."""

    seats: tuple[Seat, ...]
    began_s: float
    _heard_s: dict[Seat, float] = field(default_factory=dict)
    _absent: dict[Seat, Absence] = field(default_factory=dict)
    _used_s: dict[Seat, float] = field(default_factory=dict)

    def heard(self, seat: Seat, now_s: float) -> None:
        """A heartbeat of a seat has come, by any path."""
        self._heard_s[seat] = now_s

    def missed(self, now_s: float) -> tuple[Seat, ...]:
        """Seats whose heartbeat is late: somebody else may have it."""
        return tuple(seat for seat in self.seats if now_s - self._last_s(seat) > MISSED_S)

    def silent(self, now_s: float) -> tuple[Seat, ...]:
        """Seats without a heartbeat for longer than rule 12 allows."""
        return tuple(seat for seat in self.seats if now_s - self._last_s(seat) > CONTACT_S)

    def look(self, owing: Iterable[Seat], faulty: Collection[Seat], now_s: float) -> None:
        """Note who is out of contact by now: the silent, who owes something over its limit, and who lies."""
        owes = set(owing)
        silent = set(self.silent(now_s))
        for seat in self.seats:
            cause = (
                Cause.FAULT
                if seat in faulty
                else Cause.SILENT
                if seat in silent
                else Cause.OWES
                if seat in owes
                else None
            )
            known = self._absent.get(seat)
            if cause is None:
                if known is not None:
                    self._came_back(known, now_s)
            elif known is None:
                since_s = self._last_s(seat) + CONTACT_S if cause is Cause.SILENT else now_s
                self._absent[seat] = Absence(seat, cause, since_s, self._until_s(seat, cause, since_s))
            elif known.cause is not cause:
                until_s = known.since_s if cause is Cause.FAULT else known.until_s
                self._absent[seat] = Absence(seat, cause, known.since_s, until_s)

    def absences(self) -> tuple[Absence, ...]:
        """Who is out of contact, in seat order."""
        return tuple(self._absent[seat] for seat in self.seats if seat in self._absent)

    def may_go_without(self, seat: Seat, now_s: float) -> bool:
        """Whether the countdown of a seat has ended."""
        absence = self._absent.get(seat)
        return absence is not None and now_s >= absence.until_s

    def without(self, seats: Collection[int]) -> None:
        """Seats are out of the game."""
        self.seats = tuple(seat for seat in self.seats if seat not in seats)
        for seat in seats:
            self._absent.pop(Seat(seat), None)

    def next_deadline_s(self, now_s: float) -> float | None:
        """When `look` may find something new although nothing comes."""
        silence = [self._last_s(seat) + CONTACT_S for seat in self.seats if seat not in self._absent]
        later = [when_s for when_s in (*silence, *(a.until_s for a in self._absent.values())) if when_s > now_s]
        return min(later, default=None)

    def _last_s(self, seat: Seat) -> float:
        return self._heard_s.get(seat, self.began_s)

    def _until_s(self, seat: Seat, cause: Cause, since_s: float) -> float:
        if cause is Cause.FAULT:
            return since_s
        left_s = COUNTDOWN_BUDGET_S - self._used_s.get(seat, 0.0)
        return since_s + max(SHORT_COUNTDOWN_S, min(COUNTDOWN_S, left_s))

    def _came_back(self, absence: Absence, now_s: float) -> None:
        del self._absent[absence.seat]
        self._used_s[absence.seat] = self._used_s.get(absence.seat, 0.0) + max(0.0, now_s - absence.since_s)


@dataclass(slots=True)
class Standstill:
    """How long the turn's clock may stand for those who are out of contact (rule 12).

    `limit_s` is L, the turn's limit: at most 30 s or half of it in one turn, and L for one seat in a game.
    """

    limit_s: float
    _turn: int = -1
    _in_turn_s: float = 0.0
    _by_seat_s: dict[Seat, float] = field(default_factory=dict)

    def granted_s(self, absent: Collection[Seat], turn: int, elapsed_s: float) -> float:
        """By how much the clock is put off for the last `elapsed_s`, in which `absent` were out of contact."""
        if turn != self._turn:
            self._turn, self._in_turn_s = turn, 0.0
        left_in_turn_s = min(STANDSTILL_S, self.limit_s / 2) - self._in_turn_s
        left_s = max((self.limit_s - self._by_seat_s.get(seat, 0.0) for seat in absent), default=0.0)
        granted_s = max(0.0, min(elapsed_s, left_in_turn_s, left_s))
        self._in_turn_s += granted_s
        for seat in absent:
            self._by_seat_s[seat] = self._by_seat_s.get(seat, 0.0) + granted_s
        return granted_s
