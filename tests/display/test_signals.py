from __future__ import annotations

import asyncio
import itertools
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest

from display.signals import (
    DARK,
    READY,
    REFUSED_BEEP,
    TEN_SECONDS,
    TEN_SECONDS_BEEP,
    TIME_UP,
    TIME_UP_BEEP,
    TURN_BEEP,
    Pattern,
    Signals,
    level_at,
    light_for,
    sound_between,
)
from display.views import LobbyView, PausedView, RefusalView, TurnView, View

LOBBY = LobbyView("Kitchen", (), ())
Result = TypeVar("Result")


class _NoWaiting(selectors.DefaultSelector):
    """Where others wait, this one puts the clock forward."""

    now_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.now_s += max(0.0, timeout or 0.0)
        return super().select(0)


def run_at_once(main: Coroutine[Any, Any, Result]) -> Result:
    """Runs it on a clock that no load of the machine disturbs."""
    clock = _NoWaiting()
    loop = asyncio.SelectorEventLoop(clock)
    loop.time = lambda: clock.now_s  # type: ignore[method-assign]
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(main)


def turn(clock_s: float, name: str = "Ana", turn_s: float = 60) -> TurnView:
    return TurnView(name, clock_s, turn_s, turn=("Ana", "Bo").index(name))


@pytest.mark.parametrize(
    ("elapsed_s", "level"),
    [
        (0, (True, 0.25)),
        (0.2, (True, 0.05)),
        (0.25, (False, 0.5)),
        (0.75, (True, 0.25)),
        (1.1, (False, 0.4)),
        (1.5, (False, None)),
    ],
)
def test_a_pattern_is_on_and_off_by_turns_and_ends(elapsed_s: float, level: tuple[bool, float | None]) -> None:
    on, left_s = level_at(Pattern((0.25, 0.5), times=2), elapsed_s)
    assert on == level[0]
    assert left_s == pytest.approx(level[1])


def test_a_pattern_without_end_goes_on() -> None:
    on, left_s = level_at(Pattern((1, 1), times=0), 1e6)
    assert (on, left_s) == (True, 1)
    assert level_at(DARK, 0) == (False, None)


@pytest.mark.parametrize(
    ("view", "pattern"),
    [
        (turn(30), READY),
        (turn(10), TEN_SECONDS),
        (turn(0), TIME_UP),
        (turn(3, turn_s=0), READY),
        (LOBBY, DARK),
        (PausedView(), DARK),
    ],
)
def test_the_light_says_how_much_time_is_left(view: View, pattern: Pattern) -> None:
    assert light_for(view) == pattern


@pytest.mark.parametrize(
    ("before", "after", "sound"),
    [
        (None, LOBBY, None),
        (LOBBY, turn(60), TURN_BEEP),
        (turn(3), turn(60, "Bo"), TURN_BEEP),
        (turn(31), turn(30), None),
        (turn(10.2), turn(9.9), TEN_SECONDS_BEEP),
        (turn(9.9), turn(9.6), None),
        (turn(0.2), turn(0), TIME_UP_BEEP),
        (turn(0), turn(-0.5), None),
        (turn(8), turn(68), None),  # time was added
        (turn(30), RefusalView("no"), REFUSED_BEEP),
        (RefusalView("no"), RefusalView("no"), None),
        (RefusalView("no"), turn(29), None),
        (turn(0.5, turn_s=0), turn(70, turn_s=0), None),
    ],
)
def test_the_buzzer_sounds_when_something_happens(before: View | None, after: View, sound: Pattern | None) -> None:
    assert sound_between(before, after) == sound


def test_a_whole_turn_beeps_once_for_each_thing_and_ticks_the_last_five_seconds() -> None:
    sounds = []
    view: View = LOBBY
    for quarter in range(60 * 4 + 9):
        after = turn(60 - quarter / 4)
        sounds.append(sound_between(view, after))
        view = after
    heard = [len(sound.steps_s) for sound in sounds if sound is not None]
    assert heard == [1, 3, 1, 1, 1, 1, 1, 1]
    assert sounds.count(TIME_UP_BEEP) == sounds.count(TURN_BEEP) == sounds.count(TEN_SECONDS_BEEP) == 1


def test_light_and_buzzer_are_switched_in_time_and_off_at_the_end() -> None:
    async def play() -> tuple[list[bool], list[tuple[bool, float]]]:
        loop = asyncio.get_running_loop()
        light: list[bool] = []
        sound: list[tuple[bool, float]] = []
        signals = Signals(light.append, lambda on: sound.append((on, loop.time())))
        signals.shown(turn(30))
        signals.shown(turn(29))
        signals.shown(RefusalView("no"))
        await asyncio.sleep(0.3)
        signals.shown(turn(28))
        signals.close()
        await asyncio.sleep(0.05)
        return light, sound

    light, sound = run_at_once(play())
    assert light == [True, False, True, False]
    assert [on for on, _at_s in sound] == [True, False] * 3
    lengths_s = [later[1] - earlier[1] for earlier, later in itertools.pairwise(sound)]
    assert lengths_s == pytest.approx(REFUSED_BEEP.steps_s)


def test_a_light_that_blinks_goes_on_blinking_while_the_clock_is_drawn() -> None:
    async def play() -> list[bool]:
        light: list[bool] = []
        signals = Signals(light.append, None)
        for tenth in range(8):
            signals.shown(turn(9 - tenth / 10))
            await asyncio.sleep(0.1)
        signals.close()
        return light

    assert run_at_once(play())[:3] == [True, False, True]


def test_a_device_without_light_and_buzzer_is_none_the_worse() -> None:
    async def play() -> None:
        signals = Signals(None, None)
        signals.shown(turn(30))
        signals.close()

    run_at_once(play())
