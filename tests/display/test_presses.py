from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from display.presses import Debouncer, Kind, Press, PressTimes

P, T, H, B, R, S = Kind.PRESSED, Kind.TAPPED, Kind.HELD, Kind.BOTH, Kind.RELEASED, Kind.STUCK
TIMES = PressTimes()
Edge = tuple[float, str, bool]  # seconds, button, closed


def events(edges: Iterable[Edge], until_s: float, at_first: Sequence[str] = ()) -> list[Press]:
    """All events of two buttons, the timers called as late as an edge or the end allows and exactly when due."""
    lazy = Debouncer([(name, name in at_first) for name in "ab"], 0)
    exact = Debouncer([(name, name in at_first) for name in "ab"], 0)
    late: list[Press] = []
    punctual: list[Press] = []
    for at_s, name, closed in [*sorted(edges, key=lambda edge: edge[0]), (until_s, "", False)]:
        while (due_s := exact.next_deadline_s()) is not None and due_s <= at_s:
            punctual += exact.advance(due_s)
        if name:
            punctual += exact.edge(name, closed, at_s)
            late += lazy.edge(name, closed, at_s)
    late += lazy.advance(until_s)
    assert late == punctual
    return late


def kinds(found: Iterable[Press], button: str = "") -> list[Kind]:
    return [event.kind for event in found if button in ("", event.button)]


def press(name: str, down_s: float, up_s: float) -> list[Edge]:
    return [(down_s, name, True), (up_s, name, False)]


def bounce(name: str, from_s: float, ends_closed: bool, phases: Sequence[float], longest_s: float = 0.02) -> list[Edge]:
    """A contact that closes (or opens) and bounces at these phases, each a share of `longest_s`."""
    edges = [(from_s, name, ends_closed)]
    closed = ends_closed
    for phase in sorted(phases):
        closed = not closed
        edges.append((from_s + phase * longest_s, name, closed))
    if closed != ends_closed:
        edges.append((from_s + longest_s, name, ends_closed))
    return edges


def test_a_tap() -> None:
    found = events(press("a", 1.0, 1.08), 3)
    assert found == [Press(P, "a", 1.0), Press(R, "a", 1.08), Press(T, "a", 1.08)]


def test_a_press_is_told_while_the_button_is_down() -> None:
    debouncer = Debouncer([("a", False)], 0)
    assert debouncer.edge("a", True, 1.0) == []
    assert debouncer.next_deadline_s() == 1.0 + TIMES.confirm_s
    assert debouncer.advance(1.0 + TIMES.confirm_s) == [Press(P, "a", 1.0)]


def test_a_hold_is_told_once_and_is_no_tap() -> None:
    found = events(press("a", 1.0, 4.0), 6)
    assert found == [Press(P, "a", 1.0), Press(H, "a", 1.0 + TIMES.hold_s), Press(R, "a", 4.0)]


@settings(max_examples=400)
@given(
    closing=st.lists(st.floats(0.01, 0.99), max_size=25),
    opening=st.lists(st.floats(0.01, 0.99), max_size=25),
    lasts_s=st.sampled_from([0.055, 0.1, 0.5, 1.5]),
)
def test_bounce_of_twenty_milliseconds_at_any_phase_is_one_press(
    closing: list[float], opening: list[float], lasts_s: float
) -> None:
    edges = bounce("a", 1.0, True, closing) + bounce("a", 1.0 + lasts_s, False, opening)
    found = kinds(events(edges, 5))
    assert found == ([P, H, R] if lasts_s > 1 else [P, R, T])


@given(st.lists(st.floats(0.01, 0.99), max_size=25), st.lists(st.floats(0.01, 0.99), max_size=25), st.floats(0.12, 2))
def test_two_presses_of_a_bouncing_button_are_two(first: list[float], second: list[float], apart_s: float) -> None:
    edges = []
    for start_s in (1.0, 1.0 + apart_s):
        edges += bounce("a", start_s, True, first) + bounce("a", start_s + 0.05, False, second)
    assert kinds(events(edges, 8)) == [P, R, T] * 2


@given(st.lists(st.tuples(st.floats(0.001, 1.9), st.floats(0.0001, 0.0029)), max_size=8))
def test_a_spike_on_the_wire_is_no_press(spikes: list[tuple[float, float]]) -> None:
    edges: list[Edge] = []
    ends_s = 0.0
    for gap_s, lasts_s in spikes:
        edges += press("a", ends_s + gap_s, ends_s + gap_s + lasts_s)
        ends_s += gap_s + lasts_s
    assert events(edges, ends_s + 5) == []


def test_a_break_of_the_contact_while_it_is_held_is_no_second_press() -> None:
    edges = [*press("a", 1.0, 1.5), *press("a", 1.52, 2.5)]
    assert kinds(events(edges, 4)) == [P, H, R]


@pytest.mark.parametrize("apart_s", [0.0, 0.001, 0.08, 0.149])
@pytest.mark.parametrize("lasts_s", [0.2, 3.0])
def test_both_at_once_is_one_event_and_no_tap_and_no_hold(apart_s: float, lasts_s: float) -> None:
    found = events(press("a", 1.0, 1.0 + lasts_s) + press("b", 1.0 + apart_s, 1.2 + lasts_s), 8)
    assert kinds(found) == [P, P, B, R, R]
    assert {event.button for event in found if event.kind is P} == {"a", "b"}


def test_both_at_once_with_bounce_is_the_same() -> None:
    chance = random.Random(3)  # phases
    for _run in range(200):
        edges = []
        for name in "ab":
            start_s = 1.0 + chance.uniform(0, 0.1)
            edges += bounce(name, start_s, True, [chance.random() for _ in range(9)])
            edges += bounce(name, start_s + 0.4, False, [chance.random() for _ in range(9)])
        found = events(edges, 5)
        assert sorted(kind.value for kind in kinds(found)) == sorted(kind.value for kind in (P, P, B, R, R))


def test_one_after_the_other_is_two_taps() -> None:
    assert kinds(events(press("a", 1, 1.3) + press("b", 1.2, 1.4), 5)) == [P, P, R, T, R, T]


def test_a_stuck_button_is_told_once_and_the_other_works_on() -> None:
    found = events([(1.0, "a", True), *press("b", 30, 30.1), *press("b", 40, 42)], 90)
    assert kinds(found, "a") == [P, H, S]
    assert kinds(found, "b") == [P, R, T, P, H, R]
    assert next(event.at_s for event in found if event.kind is S) == 1.0 + TIMES.stuck_s


def test_a_button_that_is_down_from_the_start_was_pressed_by_nobody() -> None:
    assert kinds(events(press("b", 5, 5.1), 60, at_first="a")) == [P, R, T, S]
    assert kinds(events([(3.0, "a", False), *press("a", 4, 4.1)], 60, at_first="a")) == [R, P, R, T]
    assert kinds(events(press("b", 0.1, 0.2), 5, at_first="a")) == [P, R, T]  # and nobody pressed both


def test_after_it_was_stuck_a_button_works_again() -> None:
    assert kinds(events([*press("a", 1, 40), *press("a", 41, 41.1)], 60)) == [P, H, S, R, P, R, T]


def test_an_edge_that_nobody_told_is_made_up_for_before_a_hold_comes_of_it() -> None:
    debouncer = Debouncer([("a", False)], 0)
    debouncer.edge("a", True, 1.0)
    assert kinds(debouncer.advance(1.5)) == [P]
    debouncer.seen("a", False, 2.0)
    assert kinds(debouncer.advance(2.0)) == []
    assert kinds(debouncer.advance(3.0)) == [R, T]


@given(st.lists(st.tuples(st.floats(0, 0.4), st.sampled_from("ab"), st.booleans()), max_size=60))
def test_whatever_the_contacts_do_presses_and_releases_alternate(steps: list[tuple[float, str, bool]]) -> None:
    edges = []
    at_s = 0.0
    for gap_s, name, closed in steps:
        at_s += gap_s
        edges.append((at_s, name, closed))
    found = events(edges, at_s + 100)
    for name in "ab":
        downs = [kind for kind in kinds(found, name) if kind in (P, R)]
        assert downs == [P, R] * (len(downs) // 2) + [P] * (len(downs) % 2)
        for kind in (H, S):
            assert kinds(found, name).count(kind) <= kinds(found, name).count(P)
    assert kinds(found).count(T) <= kinds(found).count(R)


def test_times_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="confirm_s"):
        PressTimes(confirm_s=0.1, release_s=0.05)


def test_three_buttons_at_once_are_none() -> None:
    three = Debouncer([(name, False) for name in "abc"], 0)
    said = [event for at_s, name in ((1.0, "a"), (1.01, "b"), (1.02, "c")) for event in three.edge(name, True, at_s)]
    for name in "abc":
        said += three.edge(name, False, 1.2)
    said += three.advance(2.0)
    assert {event.kind for event in said} == {P, B, R}
