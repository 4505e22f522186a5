from __future__ import annotations

import pytest

from display.gallery import EXAMPLES
from display.views import (
    NoticeView,
    PausedView,
    TurnView,
    View,
    WaitingView,
    changes_in_s,
    is_counting_down,
    is_ending,
    shown_seconds,
    subject,
)


def turn(clock_s: float, turn_s: float = 60) -> TurnView:
    return TurnView("Ana", clock_s, turn_s)


@pytest.mark.parametrize(
    ("view", "seconds"),
    [
        (turn(60), 60),
        (turn(59.01), 60),
        (turn(59), 59),
        (turn(0.01), 1),  # not over yet
        (turn(0), 0),
        (turn(-3), 0),
        (turn(59.9, 0), 59),  # counts up
        (PausedView("Ana", 42), 42),
        (PausedView("Ana"), None),
        (WaitingView("Bo", 0.5), 1),
        (NoticeView("x"), None),
    ],
)
def test_seconds_shown(view: View, seconds: int | None) -> None:
    assert shown_seconds(view) == seconds


@pytest.mark.parametrize("clock_s", [59.3, 59.0, 12.5, 10.25, 10.0, 9.9, 3.1, 0.2, 0.0, -1.0])
@pytest.mark.parametrize("make", [turn, lambda left_s: PausedView("A", left_s), lambda left_s: turn(left_s, 0)])
def test_what_is_shown_stays_until_it_is_said_to_change(make: object, clock_s: float) -> None:
    view: View = make(clock_s)  # type: ignore[operator] # one of the three above
    step_s = changes_in_s(view)
    if step_s is None:
        assert shown_seconds(view) == 0
        return
    up = isinstance(view, TurnView) and view.turn_s == 0
    before, after = ((clock_s + passed_s if up else clock_s - passed_s) for passed_s in (step_s * 0.99, step_s + 1e-6))
    assert shown_seconds(make(before)) == shown_seconds(view)  # type: ignore[operator]
    if not (isinstance(view, TurnView) and is_ending(view)):
        assert shown_seconds(make(after)) != shown_seconds(view)  # type: ignore[operator]


def test_only_time_does_not_change_the_subject() -> None:
    assert subject(turn(40)) == subject(turn(39))
    assert subject(turn(40)) != subject(TurnView("Bo", 40, 60))
    assert subject(PausedView("Ana", 4)) == subject(PausedView("Ana", 3))
    assert len({subject(view) for view in EXAMPLES.values()}) == len(EXAMPLES) - 2  # time and last seconds of one turn


@pytest.mark.parametrize(
    ("view", "ending", "counting"),
    [(turn(11), False, True), (turn(10), True, True), (turn(0), True, False), (turn(5, 0), False, False)],
)
def test_the_end_of_a_turn(view: TurnView, ending: bool, counting: bool) -> None:
    assert (is_ending(view), is_counting_down(view)) == (ending, counting)
