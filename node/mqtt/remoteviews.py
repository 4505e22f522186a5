"""From the messages of a broker to what a display far from the table shows. Pure: times are arguments.

The pictures are those of `node/device/views.py`, as far as the messages go. What they do not tell: the table words, how
far a deal is, for how long the others wait for somebody and why, who asked for a pause, whose heartbeat is late.

A message that has just come counts from its arrival, so no wall clock needs to be right. One that the broker kept is as
old as may be: the publisher's deadline and this machine's wall clock tell what is left, and where the two do not fit
together that is said, as a node does that came in the midst of a turn.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from display.views import LobbyView, PausedView, PlayerTiles, View, WaitingView
from engine.series import Standing
from engine.state import Phase, Seat
from node.device.views import TURN_CALLS, VOID, Moments, after_view, dealing_view, turn_view
from node.mqtt.commands import Moment
from node.mqtt.messages import TableClock, TableState
from protocol.consensus.clock import PAUSE_S

SLACK_S: Final = 1.0  # by which two wall clocks may differ unseen
OVERDUE_S: Final = 10.0  # so long after its end no turn is still on


@dataclass(frozen=True, slots=True)
class TimedClock:
    """A clock message that came at `came_s` of this machine's monotonic clock; `retained`: kept by the broker."""

    said: TableClock
    came_s: float
    retained: bool

    def left_s(self, now_s: float, unix_s: float) -> float | None:
        """What is left of the turn; None without a limit."""
        if not self.said.running:
            return self.said.remaining_s
        return max(0.0, self._until_s(self.said.deadline_unix_s, now_s, unix_s) or 0.0)

    def pause_left_s(self, now_s: float, unix_s: float) -> float | None:
        """What is left of the pause; None where it does not end by itself, or nobody can know."""
        left_s = self._until_s(self.said.pause_until_unix_s, now_s, unix_s)
        if left_s is None or (self.retained and not -OVERDUE_S <= left_s <= PAUSE_S + SLACK_S):
            return None
        return max(0.0, left_s)

    def is_unsure(self, unix_s: float) -> bool:
        """Whether this machine's wall clock cannot be right: more would be left than when it was said, or far less."""
        said = self.said
        if not self.retained or not said.running:
            return False
        assert said.deadline_unix_s is not None
        assert said.remaining_s is not None
        return not -OVERDUE_S <= said.deadline_unix_s - unix_s <= said.remaining_s + SLACK_S

    def _until_s(self, end_unix_s: float | None, now_s: float, unix_s: float) -> float | None:
        if end_unix_s is None:
            return None
        return end_unix_s - (unix_s if self.retained else self.said.at_unix_s + now_s - self.came_s)


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known of a table, by the newest message of each kind. `ahead`: a clock whose state is yet to come."""

    state: TableState | None = None
    clock: TimedClock | None = None
    ahead: TimedClock | None = None
    moments: Moments = field(default_factory=Moments)

    def with_state(self, state: TableState, now_s: float, *, retained: bool) -> Seen:
        """After a state came. One that is older than what is known changes nothing."""
        if self.state is not None and _is_older(state.moment, self.state.moment):
            return self
        known = self.state is not None and self.state.moment.table == state.moment.table
        moments = self.moments if known else Moments()
        if state.phase is not None:
            turn = (state.moment.game, state.turn_number, state.phase)
            moments = moments.at(turn, now_s, paused=state.paused, unsure=retained)
        seen = replace(self, state=state, moments=moments)
        if self.ahead is not None and not _is_ahead(self.ahead.said.moment, state.moment):
            return replace(seen, clock=self.ahead, ahead=None)
        return seen

    def with_clock(self, clock: TableClock, now_s: float, *, retained: bool) -> Seen:
        """After a clock came; the same."""
        newest = self.ahead or self.clock
        if newest is not None and (clock == newest.said or _is_older(clock.moment, newest.said.moment)):
            return self
        timed = TimedClock(clock, now_s, retained)
        if self.state is not None and _is_ahead(clock.moment, self.state.moment):
            return replace(self, ahead=timed)
        return replace(self, clock=timed, ahead=None)

    def clock_of_turn(self) -> TimedClock | None:
        """The clock of the turn that is on, if it has come."""
        state, clock = self.state, self.clock
        if state is None or clock is None or state.phase is not Phase.PLAY:
            return None
        of_turn = (state.moment.table, state.moment.game, state.turn_number)
        return clock if (clock.said.moment.table, clock.said.moment.game, clock.said.turn_number) == of_turn else None


def remote_view(seen: Seen, now_s: float, unix_s: float) -> View | None:
    """What is shown of a table; None while nothing is known of it. `unix_s`: this machine's wall clock."""
    state = seen.state
    if state is None:
        return None
    if state.void:
        return VOID
    if state.phase is None:
        return LobbyView(state.name, (), tuple(seat.name for seat in state.seats))
    if state.phase is Phase.OVER:
        names, stands = [seat.name for seat in state.seats], _standing(state)
        single = state.series_over and len(state.games) == 1
        return after_view(names, state.games, stands, seen.moments, now_s, single=single)
    away = next((seat.name for seat in state.seats if seat.away), None)
    if away is not None:
        return WaitingView(away)
    if state.paused:
        clock = seen.clock if seen.clock is not None and seen.clock.said.moment == state.moment else None
        return PausedView("", None if clock is None else clock.pause_left_s(now_s, unix_s))
    if state.phase is Phase.PLAY and state.call in TURN_CALLS:
        return _turn(seen, state, now_s, unix_s)
    return dealing_view(state.phase, state.call)


def _turn(seen: Seen, state: TableState, now_s: float, unix_s: float) -> View:
    assert state.turn is not None
    clock, moments = seen.clock_of_turn(), seen.moments
    limit_s, left_s = 0.0, None
    if clock is not None:
        limit_s, left_s = float(clock.said.limit_s), clock.left_s(now_s, unix_s)
    if limit_s or clock is None:
        moments = replace(moments, unsure=clock is None or clock.is_unsure(unix_s))
    racks = [PlayerTiles(seat.name, seat.tiles) if seat.in_game else None for seat in state.seats]
    return turn_view(racks, state.turn, state.pool, limit_s, left_s, moments, now_s)


def _standing(state: TableState) -> Standing:
    totals = tuple(sum(game.scores[seat] for game in state.games) for seat in range(len(state.seats)))
    winners, order = (tuple(Seat(seat) for seat in seats) for seats in (state.series_winners, state.standings))
    return Standing(totals, state.series_over, winners, order)


def _is_older(said: Moment, known: Moment) -> bool:
    return said.table == known.table and said.height < known.height


def _is_ahead(said: Moment, known: Moment) -> bool:
    """Of another table, or further on at the same."""
    return said.table != known.table or said.height > known.height
