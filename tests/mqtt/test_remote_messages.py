"""Whatever is written to the topics of a table is read as a message that a screen can show, or refused with why."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, Final

import pytest

from display.screens import draw
from display.views import View
from engine.rulesets import PT
from engine.state import EndedBy, GameResult, Phase, Seat
from node.mqtt.commands import Moment
from node.mqtt.messages import (
    MAX_MESSAGE_BYTES,
    Answer,
    MessageError,
    answer_of,
    clock_of,
    plain_of,
    state_of,
)
from node.mqtt.payloads import packed
from node.mqtt.remoteviews import Seen, remote_view

STATE: Final[dict[str, Any]] = {
    "table": "0badc0de",
    "game": 2,
    "height": 44,
    "state_hash": "00ff",
    "at": 1_800_000_000.5,
    "name": "Kitchen",
    "rules": "pt",
    "phase": "play",
    "turn": 1,
    "turn_name": "Ben",
    "turn_number": 3,
    "waiting_for": None,
    "paused": False,
    "seats": [
        {
            "seat": 0,
            "name": "Ana",
            "bot": False,
            "tiles": 9,
            "opened": True,
            "in_game": True,
            "away": False,
            "total": 7,
        },
        {
            "seat": 1,
            "name": "Ben",
            "bot": True,
            "tiles": 4,
            "opened": True,
            "in_game": True,
            "away": False,
            "total": -7,
        },
    ],
    "pool": 60,
    "results": [{"scores": [7, -7], "winners": [0], "ended_by": "out"}],
    "standings": [0, 1],
    "series_over": False,
    "series_winners": [],
    "commands": True,
}
CLOCK: Final[dict[str, Any]] = {
    "table": "0badc0de",
    "game": 2,
    "height": 44,
    "state_hash": "00ff",
    "at": 1_800_000_000.5,
    "limit_s": 60,
    "turn": 1,
    "turn_name": "Ben",
    "turn_number": 3,
    "running": True,
    "paused": False,
    "remaining_s": 41.5,
    "deadline": 1_800_000_042.0,
    "pause_until": None,
}
ANSWER: Final[dict[str, Any]] = {
    "table": "0badc0de",
    "game": 2,
    "height": 44,
    "command": "end_turn",
    "once": "abcd",
    "done": False,
    "why": "No.",
}
JUNK: Final[tuple[Any, ...]] = (
    None,
    True,
    -1,
    0,
    7,
    10**30,
    2.5,
    1e300,
    float("nan"),
    float("inf"),
    "",
    "x",
    "\ud800",
    "\x1b[2J\n",
    "lobby",
    "void",
    "over",
    "final",
    "draw",
    "y" * 10_000,
    [],
    [[]],
    [0, 0],
    [10**9],
    {},
    {"name": []},
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each value in a message."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*path, key)
        if isinstance(item, (dict, list)):
            yield from places(item, (*path, key))


def broken(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The message with one value gone, and with each kind of junk in its place."""
    for path in places(message):
        for junk in ("gone", *JUNK):
            changed = copy.deepcopy(message)
            holder = changed
            for key in path[:-1]:
                holder = holder[key]
            if junk == "gone":
                del holder[path[-1]]
            else:
                holder[path[-1]] = junk
            yield changed


def test_a_message_is_read_with_all_that_a_screen_needs() -> None:
    state = state_of(plain_of(packed(STATE)))
    assert state.moment == Moment("0badc0de", 2, 44)
    assert (state.name, state.phase, state.turn, state.pool) == ("Kitchen", Phase.PLAY, 1, 60)
    assert [(seat.name, seat.tiles) for seat in state.seats] == [("Ana", 9), ("Ben", 4)]
    assert state.games == (GameResult(EndedBy.OUT, (7, -7), (Seat(0),), Seat(0)),)
    clock = clock_of(plain_of(packed(CLOCK)))
    assert (clock.limit_s, clock.remaining_s, clock.deadline_unix_s) == (60, 41.5, 1_800_000_042.0)
    assert answer_of(plain_of(packed(ANSWER))) == Answer("end_turn", "abcd", "No.")
    assert answer_of({**ANSWER, "done": True, "why": None}) == Answer("end_turn", "abcd", None)


@pytest.mark.parametrize(
    "payload", [b"", b"online", b"[1", b"\xff\xfe\x00", b'"\xed\xa0\x80"', b"[" * 100_000, b"1" * 5000]
)
def test_what_is_no_json_is_refused(payload: bytes) -> None:
    with pytest.raises(MessageError):
        state_of(plain_of(payload))


def test_what_is_too_long_is_refused_before_it_is_read() -> None:
    with pytest.raises(MessageError, match=str(MAX_MESSAGE_BYTES)):
        plain_of(packed({**STATE, "padding": "y" * MAX_MESSAGE_BYTES}))


def test_what_is_not_known_is_left_alone() -> None:
    assert state_of({**STATE, "weather": "fine"}) == state_of(STATE)


@pytest.mark.parametrize("plain", [None, 1, "x", [], [STATE]])
def test_what_is_no_object_is_refused(plain: object) -> None:
    for read in (state_of, clock_of, answer_of):
        with pytest.raises(MessageError, match="object"):
            read(plain)


def test_a_broken_state_is_refused_with_the_field_or_can_be_shown() -> None:
    refusals, views = [], []
    for message in broken(STATE):
        try:
            state = state_of(message)
        except MessageError as error:
            refusals.append(str(error))
            continue
        seen = Seen().with_clock(clock_of(CLOCK), 0.0, retained=False).with_state(state, 0.0, retained=False)
        views += [remote_view(seen, now_s, 0.0) for now_s in (0.0, 100.0)]
    assert max(map(len, refusals)) < 300
    assert len(refusals) > 500
    assert can_be_drawn(views) > 10


def test_a_broken_clock_is_refused_with_the_field_or_can_be_shown() -> None:
    refusals, views = [], []
    for message in broken(CLOCK):
        try:
            clock = clock_of(message)
        except MessageError as error:
            refusals.append(str(error))
            continue
        for retained in (False, True):
            seen = Seen().with_clock(clock, 0.0, retained=retained).with_state(state_of(STATE), 0.0, retained=retained)
            views += [remote_view(seen, 1.0, unix_s) for unix_s in (0.0, CLOCK["deadline"] - 5.0, 1e12)]
    assert max(map(len, refusals)) < 300
    assert len(refusals) > 150
    assert can_be_drawn(views) > 10


def can_be_drawn(views: list[View | None]) -> int:
    """How many different ones there are."""
    different = set(views)
    for view in different:
        assert view is not None
        draw(view, (128, 64), "1")
    return len(different)


def test_names_and_reasons_are_cleaned_and_cut() -> None:
    noisy = copy.deepcopy(STATE)
    noisy["name"] = "Kit\x1b[2Jchen\n\n" + "n" * 500
    noisy["seats"][0]["name"] = "\x00\x07"
    state = state_of(noisy)
    assert state.name.startswith("Kit[2Jchen n")
    assert len(state.name) <= 48
    assert state.seats[0].name == "Player 1"
    why = answer_of({**ANSWER, "why": "\x1b]0;" + "w" * 5000}).why
    assert why is not None
    assert why.startswith("]0;w")
    assert len(why) <= 200


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"table": "\ud800"}, "table"),
        ({"phase": "play", "turn": None}, "turn"),
        ({"phase": "over", "results": []}, "results"),
        ({"phase": "over", "standings": [0]}, "standings"),
        ({"standings": [0, 0]}, "standings"),
        ({"results": [{"scores": [1], "winners": [], "ended_by": "out"}]}, "scores"),
        ({"pool": True}, "pool"),
    ],
)
def test_what_does_not_fit_together_is_refused(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(MessageError, match=told):
        state_of({**STATE, **changes})
    assert state_of({**STATE, "rules": PT.name})


def test_whose_turn_it_is_must_be_in_the_game() -> None:
    gone = copy.deepcopy(STATE)
    gone["seats"][1]["in_game"] = False
    with pytest.raises(MessageError, match="in the game"):
        state_of(gone)
