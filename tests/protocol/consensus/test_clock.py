"""The clock of a height: turns, calls, pauses and more time, entry by entry."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.actions import Extend, Leave, LongPause, Pause, Resume, TakeBack
from engine.positions import parse_board, tile_position
from engine.rules import apply
from engine.rulesets import PT
from engine.state import Call, CallName, PublicState, Seat, SeatState, Slot
from engine.tiles import parse_tiles
from protocol.consensus.clock import GRACE_S, PAUSE_S, TurnClock

POSITION = tile_position(PT, parse_board("B3 B4 B5"), parse_tiles("R5 R6 R7 K1"))
OTHERS = tuple(SeatState(rack=(Slot(0, 900 + seat),)) for seat in range(2))
STATE = replace(POSITION.state, seats=(POSITION.state.seats[0], *OTHERS))
L_S = float(PT.turn_seconds)


def running(left_s: float, now_s: float = 100.0) -> TurnClock:
    return TurnClock(end_s=now_s + left_s)


def test_a_pause_keeps_the_rest_of_the_turn_and_has_an_end_of_its_own() -> None:
    paused = apply(STATE, Pause(Seat(1)))
    clock = running(40).after(STATE, paused, 110, request=True)
    assert clock == TurnClock(left_s=30, pause_end_s=110 + PAUSE_S)
    assert clock.remaining_s(150) == 30
    on = apply(paused, Resume(None))
    assert clock.after(paused, on, 170) == TurnClock(end_s=200)


def test_another_request_in_a_pause_does_not_make_it_longer_but_everybodys_consent_does() -> None:
    paused = apply(replace(STATE, undo=replace(STATE, turn=Seat(2))), Pause(Seat(1)))
    clock = running(40).after(STATE, paused, 110)
    back = apply(paused, TakeBack())
    assert clock.after(paused, back, 120).pause_end_s == 110 + PAUSE_S
    long = apply(paused, LongPause())
    assert clock.after(paused, long, 120) == TurnClock(left_s=30)


def test_more_time_is_one_more_limit_once() -> None:
    longer = apply(STATE, Extend(Seat(0)))
    clock = running(40).after(STATE, longer, 110, request=True)
    assert clock == TurnClock(end_s=140 + L_S)
    paused = apply(longer, Pause(Seat(1)))
    assert clock.after(longer, paused, 120).left_s == 20 + L_S


@pytest.mark.parametrize(("left_s", "request_", "expected_s"), [(0.5, True, GRACE_S), (0.5, False, 0.5), (9, True, 9)])
def test_after_a_request_a_turn_lasts_a_moment_at_least(left_s: float, request_: bool, expected_s: float) -> None:
    clock = running(left_s).after(STATE, STATE, 100, request=request_)
    assert clock.remaining_s(100) == expected_s


def test_a_clock_that_has_run_out_is_running_again_after_a_request() -> None:
    assert running(-3).after(STATE, STATE, 100, request=True).remaining_s(100) == GRACE_S
    assert running(-3).after(STATE, STATE, 100).remaining_s(100) == 0


def test_a_turn_taken_back_has_the_whole_limit() -> None:
    ended = replace(STATE, turn=Seat(1), turn_number=STATE.turn_number + 1, undo=STATE)
    assert running(5).after(ended, apply(ended, TakeBack()), 100) == TurnClock(end_s=100 + L_S)


def test_who_leaves_ends_a_pause_and_the_clock_stands_for_the_re_deal() -> None:
    paused = apply(STATE, Pause(Seat(1)))
    clock = running(40).after(STATE, paused, 110)
    gone = apply(paused, Leave(Seat(2)))
    assert clock.after(paused, gone, 120) == TurnClock(left_s=30)


@pytest.mark.parametrize("paused", [False, True])
def test_without_a_limit_only_a_pause_has_an_end(paused: bool) -> None:
    free = replace(STATE, rules=replace(PT, turn_seconds=0))
    state: PublicState = apply(free, Pause(Seat(1))) if paused else free
    assert TurnClock().after(free, state, 100) == TurnClock(pause_end_s=160.0 if paused else None)


def test_a_call_stops_the_clock_and_no_pause_is_on() -> None:
    drawing = replace(STATE, call=Call(CallName.DRAW, Seat(0), (Slot(0, 50),)))
    assert running(40).after(STATE, drawing, 110) == TurnClock(left_s=30)
