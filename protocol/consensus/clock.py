"""The turn's clock: when this node's own clock of the turn ends. Seconds of one monotonic clock throughout.

It runs from this node's own commit of the entry that began the turn, stands while a call is open, and goes on with
the rest afterwards (docs/deal-entries.md, section 4).
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.state import Phase, PublicState


@dataclass(frozen=True, slots=True)
class TurnClock:
    """`end_s` while running; `left_s` while standing; both None: no limit, or nobody's turn."""

    end_s: float | None = None
    left_s: float | None = None

    def after(self, before: PublicState, state: PublicState, now_s: float) -> TurnClock:
        """The clock after an entry that led from `before` to `state` was committed at `now_s`."""
        if state.phase is not Phase.PLAY or not state.rules.turn_seconds:
            return TurnClock()
        same_turn = before.phase is Phase.PLAY and (before.game, before.turn_number) == (state.game, state.turn_number)
        clock = self if same_turn else TurnClock(left_s=float(state.rules.turn_seconds))
        return clock.standing(now_s) if state.call is not None else clock.running(now_s)

    def standing(self, now_s: float) -> TurnClock:
        """The clock stopped at `now_s`, its rest kept."""
        if self.end_s is None:
            return self
        return TurnClock(left_s=max(0.0, self.end_s - now_s))

    def running(self, now_s: float) -> TurnClock:
        """The clock going on at `now_s` with the rest it has."""
        if self.left_s is None:
            return self
        return TurnClock(end_s=now_s + self.left_s)

    def lasting(self, least_s: float, now_s: float) -> TurnClock:
        """The clock with so much left at least, if it runs."""
        return self if self.end_s is None else TurnClock(end_s=max(self.end_s, now_s + least_s))

    def remaining_s(self, now_s: float) -> float | None:
        """Seconds left, None without a limit."""
        if self.end_s is not None:
            return max(0.0, self.end_s - now_s)
        return self.left_s
