"""What LED and buzzer do: patterns as data, which one when, and a player for them that needs no thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from display.views import ErrorView, PenaltyView, RefusalView, ResultView, TurnView, View, is_ending


@dataclass(frozen=True, slots=True)
class Pattern:
    """On and off by turns for so many seconds, on first; `times` over, 0 for as long as nothing else comes."""

    steps_s: tuple[float, ...]
    times: int = 1


DARK: Final = Pattern(())
STEADY: Final = Pattern((3600.0,), times=0)
READY: Final = STEADY
TEN_SECONDS: Final = Pattern((0.25, 0.25), times=0)
TIME_UP: Final = Pattern((0.08, 0.08), times=0)
TROUBLE: Final = Pattern((0.1, 1.9), times=0)

TURN_BEEP: Final = Pattern((0.04,))
TEN_SECONDS_BEEP: Final = Pattern((0.06, 0.1, 0.06))
SECOND_TICK: Final = Pattern((0.015,))
TIME_UP_BEEP: Final = Pattern((0.7,))
REFUSED_BEEP: Final = Pattern((0.03, 0.05, 0.03, 0.05, 0.03))
WON_BEEP: Final = Pattern((0.08, 0.06, 0.08, 0.06, 0.3))
_TICKS_FROM: Final = 5


def level_at(pattern: Pattern, elapsed_s: float) -> tuple[bool, float | None]:
    """Whether it is on so long after the pattern began, and in how many seconds that may change; None: never."""
    length_s = sum(pattern.steps_s)
    if length_s <= 0 or (pattern.times and elapsed_s >= length_s * pattern.times):
        return False, None
    into_s = elapsed_s % length_s
    for place, step_s in enumerate(pattern.steps_s):
        if into_s < step_s:
            return place % 2 == 0, step_s - into_s
        into_s -= step_s
    return False, 0.0  # a rounding error before the next time


def light_for(view: View) -> Pattern:
    """What the LED does while the view is shown."""
    match view:
        case TurnView() if view.turn_s > 0 and view.clock_s <= 0:
            return TIME_UP
        case TurnView():
            return TEN_SECONDS if is_ending(view) else READY
        case ErrorView():
            return TROUBLE
        case _:
            return DARK


def sound_between(before: View | None, after: View) -> Pattern | None:
    """What the buzzer sounds when one view follows another, if anything."""
    match before, after:
        case _, RefusalView() if before != after:
            return REFUSED_BEEP
        case _, ResultView() if not isinstance(before, ResultView):
            return WON_BEEP
        case _, PenaltyView() if before != after:
            return TEN_SECONDS_BEEP
        case TurnView(), TurnView() if (before.turn, before.name, before.on_bank) == (
            after.turn,
            after.name,
            after.on_bank,
        ):
            return _sound_of_time(before, after)
        case _, TurnView() if not isinstance(before, RefusalView):
            return TURN_BEEP
        case _:
            return None


def _sound_of_time(before: TurnView, after: TurnView) -> Pattern | None:
    if after.turn_s <= 0 or before.clock_s <= after.clock_s:
        return None
    if before.clock_s > 0 >= after.clock_s:
        return TIME_UP_BEEP
    if is_ending(after) and not is_ending(before):
        return TEN_SECONDS_BEEP
    ticked = -(-before.clock_s // 1) != -(-after.clock_s // 1)
    return SECOND_TICK if ticked and 0 < after.clock_s <= _TICKS_FROM else None


class Player:
    """Plays one pattern after the other on something that can be on or off."""

    def __init__(self, switch: Callable[[bool], None]) -> None:
        self._switch = switch
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._pattern = DARK
        self._began_s = 0.0
        self._on = False

    def play(self, pattern: Pattern) -> None:
        """Begins a pattern; one that goes on for ever and is played already goes on."""
        if pattern == self._pattern and pattern.times == 0:
            return
        self._pattern, self._began_s = pattern, self._loop.time()
        self._step()

    def close(self) -> None:
        """Off, and no more."""
        self.play(DARK)

    def _step(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        on, left_s = level_at(self._pattern, self._loop.time() - self._began_s)
        if on != self._on:
            self._on = on
            self._switch(on)
        if left_s is not None:
            self._timer = self._loop.call_later(left_s, self._step)


class Signals:
    """LED and buzzer of a device; either may be missing. `shown` fits the keeper's `on_view`."""

    def __init__(self, light: Callable[[bool], None] | None, sound: Callable[[bool], None] | None) -> None:
        self._light = Player(light) if light is not None else None
        self._sound = Player(sound) if sound is not None else None
        self._before: View | None = None

    def shown(self, view: View) -> None:
        """The view is on the panel now."""
        if self._light is not None:
            self._light.play(light_for(view))
        sound = sound_between(self._before, view)
        if self._sound is not None and sound is not None:
            self._sound.play(sound)
        self._before = view

    def close(self) -> None:
        for player in (self._light, self._sound):
            if player is not None:
                player.close()
