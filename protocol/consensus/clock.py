"""The clock of a height: when this node's own clock of the turn, or of a pause, ends. Seconds of one monotonic clock.

The turn's runs from this node's own commit of the entry that began the turn, stands while a call is open or the game is
paused, and goes on with the rest afterwards (docs/deal-entries.md, section 4; docs/agreement.md, section 4).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from engine.state import Paused, Phase, PublicState

PAUSE_S: Final = 60.0
GRACE_S: Final = 2.0  # a turn lasts so long at least after a request, so that a last action in its way is not lost


@dataclass(frozen=True, slots=True)
class TurnClock:
    """`end_s` while running; `left_s` while standing; both None: no limit, or nobody's turn.

    `pause_end_s`: when the pause ends by itself, None where it does not or there is none.
    """

    end_s: float | None = None
    left_s: float | None = None
    pause_end_s: float | None = None

    def after(self, before: PublicState, state: PublicState, now_s: float, *, request: bool = False) -> TurnClock:
        """The clock after an entry, `request`: that granted one, led from `before` to `state` and was committed."""
        clock = self._of_turn(before, state)
        if state.call is None and state.paused is None:
            return clock.running(now_s, GRACE_S if request else 0.0)
        clock = replace(clock.standing(now_s), pause_end_s=None)
        if state.paused is not Paused.MINUTE:
            return clock
        began = before.paused is not Paused.MINUTE or self.pause_end_s is None
        return replace(clock, pause_end_s=now_s + PAUSE_S if began else self.pause_end_s)

    def _of_turn(self, before: PublicState, state: PublicState) -> TurnClock:
        """The clock of the turn that is on in `state`, with the time that its seat took besides."""
        limit_s = float(state.rules.turn_seconds)
        if state.phase is not Phase.PLAY or not limit_s:
            return TurnClock()
        same_turn = before.phase is Phase.PLAY and (before.game, before.turn_number) == (state.game, state.turn_number)
        if not same_turn:
            return TurnClock(left_s=limit_s)
        taken = state.seats[state.turn].used.extensions - before.seats[state.turn].used.extensions
        return self.longer(taken * limit_s)

    def longer(self, more_s: float) -> TurnClock:
        """The clock with so much more left."""
        return replace(
            self,
            end_s=None if self.end_s is None else self.end_s + more_s,
            left_s=None if self.left_s is None else self.left_s + more_s,
        )

    def standing(self, now_s: float) -> TurnClock:
        """The clock stopped at `now_s`, its rest kept."""
        if self.end_s is None:
            return self
        return TurnClock(left_s=max(0.0, self.end_s - now_s))

    def running(self, now_s: float, least_s: float = 0.0) -> TurnClock:
        """The clock going on at `now_s` with the rest it has, or with `least_s` if that is more."""
        end_s = self.end_s if self.left_s is None else now_s + self.left_s
        return TurnClock(end_s=None if end_s is None else max(end_s, now_s + least_s) if least_s else end_s)

    def remaining_s(self, now_s: float) -> float | None:
        """Seconds left, None without a limit."""
        if self.end_s is not None:
            return max(0.0, self.end_s - now_s)
        return self.left_s
