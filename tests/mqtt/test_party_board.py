"""What the page with all tables knows: games told by real sessions, and everything that somebody else may write."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from typing import Any

import pytest

from node.mqtt.party.board import (
    FINISHED,
    GRACE_S,
    KEPT_S,
    LOBBY,
    LOST,
    MAX_BYTES,
    MAX_EVENTS,
    MAX_TABLES,
    PLAYING,
    Now,
    PartyBoard,
)
from node.mqtt.payloads import packed
from tests.mqtt.evenings import PREFIX, TableTold, tell
from tests.mqtt.games import MORNING_S, game

HOUR_S = 3600.0


def kitchen(number: int = 0, **changes: Any) -> TableTold:
    return TableTold("Kitchen", ("Ana", "Iris*"), game("pt", 2), number, **changes)


def in_play(table: TableTold) -> int:
    """A moment in the middle of the game at which the clock of a turn runs."""
    running = [at for at, moment in enumerate(table.moments) if moment.messages.clock["running"]]
    return running[len(running) // 2]


def send(board: PartyBoard, kind: str, message: Any, now: Now, *, retained: bool = False) -> None:
    payload = message if isinstance(message, bytes) else packed(message)
    board.take(f"{PREFIX}/kitchen/{kind}", payload, now, retained=retained)


def later(now: Now, seconds: float) -> Now:
    return Now(now.now_s + seconds, now.unix_s + seconds)


def names(board: PartyBoard) -> set[str]:
    return {name for name, _version in board.cards()}


# A game as it goes


def test_whole_game_is_shown_from_lobby_to_result() -> None:
    board, table = PartyBoard(PREFIX), kitchen()
    groups = []
    for at, moment in enumerate(table.moments):
        tell(board, table, at)
        state, card = moment.messages.state, board.card("kitchen")
        groups.append(card["group"])
        assert [card[key] for key in ("phase", "turn", "pool")] == [state[key] for key in ("phase", "turn", "pool")]
        assert [seat["tiles"] for seat in card["seats"]] == [seat["tiles"] for seat in state["seats"]]
        melds = json.loads(json.dumps(board.melds("kitchen")["melds"]))
        assert melds == moment.messages.board["melds"]
    assert [group for at, group in enumerate(groups) if at == 0 or groups[at - 1] != group] == [
        LOBBY,
        PLAYING,
        FINISHED,
    ]
    assert [(seat["name"], seat["bot"]) for seat in card["seats"]] == [("Ana", False), ("Iris", True)]
    assert card["last"]["winners"] == (0,)
    assert [(row.name, row.won, row.points) for row in board.standings().rows] == [
        ("Ana", 1, {"pt": 1}),
        ("Iris", 0, {"pt": -1}),
    ]
    assert board.ignored.total() == 0


def test_what_says_nothing_new_changes_no_version() -> None:
    board, table = PartyBoard(PREFIX), kitchen()
    at = in_play(table)
    messages = dict(table.told(at, ("state", "clock", "board")))
    for topic, payload in messages.items():
        board.take(topic, payload, table.now(at), retained=False)
    version = board.version
    own_clock_was_set = Now(table.now(at).now_s + 3, table.now(at).unix_s + 20)
    for topic, payload in messages.items():
        board.take(topic, payload, own_clock_was_set, retained=True)
    board.tick(later(own_clock_was_set, 1))
    assert board.version == version


def test_last_events_are_kept_until_another_table_has_the_name() -> None:
    board, table = PartyBoard(PREFIX), kitchen()
    for at in range(len(table.moments)):
        tell(board, table, at)
    told = [event["text"] for at in range(len(table.moments)) for event in table.messages(at, "event")]
    assert board.card("kitchen")["events"] == told[-MAX_EVENTS:]
    assert any("Ana" in text for text in told)
    of_another = kitchen(1, later_s=500)
    send(board, "event", of_another.message(0, "state") | {"text": "Somebody sits down."}, of_another.now(0))
    assert board.card("kitchen")["events"] == told[-MAX_EVENTS:]
    tell(board, of_another, 0)
    assert board.card("kitchen")["events"] == []


# Stale messages


def test_lower_height_of_a_table_never_replaces_a_higher_one() -> None:
    board, table = PartyBoard(PREFIX), kitchen()
    at = in_play(table)
    tell(board, table, at)
    before, melds = board.card("kitchen"), board.melds("kitchen")
    for kind in ("state", "clock", "board"):
        send(board, kind, table.message(at - 20, kind), later(table.now(at), 1))
    assert (board.card("kitchen"), board.melds("kitchen")) == (before, melds)
    assert board.ignored["stale"] == 3


@pytest.mark.parametrize("kind", ["state", "clock", "board"])
def test_of_two_tables_of_a_name_the_later_one_is_shown(kind: str) -> None:
    board, first, second = PartyBoard(PREFIX), kitchen(), kitchen(1, later_s=1000)
    at = in_play(first)
    tell(board, first, at)
    tell(board, second, 0)
    shown = (board.card("kitchen"), board.melds("kitchen"))
    assert shown[0]["group"] == LOBBY
    assert shown[1]["melds"] == []
    send(board, kind, first.message(at + 1, kind), second.now(1))
    assert (board.card("kitchen"), board.melds("kitchen")) == shown
    assert board.ignored["stale"] == 1


def test_table_with_a_slow_wall_clock_takes_the_name_when_the_other_has_gone() -> None:
    board, first, second = PartyBoard(PREFIX), kitchen(), kitchen(1, later_s=-HOUR_S)
    tell(board, first, 100)
    now = later(first.now(100), 60)
    at = in_play(second)
    tell(board, second, at, now=now)
    assert board.ignored["stale"] == 3
    send(board, "availability", b"offline", now)
    tell(board, second, at, now=now)
    assert board.card("kitchen")["turn_number"] == second.message(at, "state")["turn_number"]
    assert board.card("kitchen")["clock"]["ends_s"] is not None
    assert board.melds("kitchen")["melds"]


def test_wall_clock_ahead_does_not_keep_a_name_for_ever() -> None:
    board, ahead, right = PartyBoard(PREFIX), kitchen(later_s=1e9), kitchen(1)
    tell(board, ahead, 50, now=right.now(0))
    tell(board, right, 1)
    assert board.card("kitchen")["group"] == LOBBY


# Clocks


@pytest.mark.parametrize("wrong_s", [0, -HOUR_S, HOUR_S, -MORNING_S + 200])
def test_clock_just_sent_does_not_depend_on_any_wall_clock(wrong_s: float) -> None:
    table = kitchen(later_s=wrong_s)
    at = in_play(table)
    board, now = PartyBoard(PREFIX), kitchen().now(at)
    tell(board, table, at, now=now)
    left_s = table.message(at, "clock")["remaining_s"]
    assert left_s > 10
    assert board.card("kitchen")["clock"]["ends_s"] == pytest.approx(now.now_s + left_s, abs=0.01)


def test_clock_that_waited_at_the_broker_has_gone_on() -> None:
    table = kitchen()
    at = in_play(table)
    board, now = PartyBoard(PREFIX), later(table.now(at), 7)
    tell(board, table, at, now=now, retained=True)
    left_s = table.message(at, "clock")["remaining_s"]
    assert board.card("kitchen")["clock"]["ends_s"] == pytest.approx(now.now_s + left_s - 7, abs=0.01)


def test_clock_that_must_have_run_out_long_ago_is_left_out() -> None:
    table = kitchen()
    at = in_play(table)
    board = PartyBoard(PREFIX)
    tell(board, table, at, now=later(table.now(at), HOUR_S), retained=True)
    assert board.card("kitchen")["clock"]["ends_s"] is None


def test_wrong_wall_clock_of_a_table_is_known_from_what_it_sent() -> None:
    table = kitchen(later_s=-HOUR_S)
    at = in_play(table)
    board, now = PartyBoard(PREFIX), kitchen().now(at)
    send(board, "state", table.message(at, "state"), now)
    send(board, "clock", table.message(at, "clock"), later(now, 5), retained=True)
    left_s = table.message(at, "clock")["remaining_s"]
    assert board.card("kitchen")["clock"]["ends_s"] == pytest.approx(now.now_s + left_s, abs=0.01)


def test_paused_clock_stands_and_the_pause_ends() -> None:
    table = kitchen()
    at = in_play(table)
    now = table.now(at)
    clock = {**table.message(at, "clock"), "running": False, "paused": True, "deadline": None, "remaining_s": 41.5}
    board = PartyBoard(PREFIX)
    send(board, "state", {**table.message(at, "state"), "paused": True}, now)
    send(board, "clock", {**clock, "pause_until": clock["at"] + 120}, now)
    card = board.card("kitchen")
    assert card["paused"]
    assert card["clock"] == {"limit_s": 40, "left_s": 41.5, "ends_s": None, "pause_ends_s": round(now.now_s + 120, 3)}


def test_clock_of_another_table_is_not_shown() -> None:
    board, table = PartyBoard(PREFIX), kitchen()
    at = in_play(table)
    send(board, "state", table.message(at, "state"), table.now(at))
    send(board, "clock", kitchen(1).message(at, "clock"), table.now(at))
    send(board, "board", kitchen(1).message(at, "board"), table.now(at))
    assert board.card("kitchen")["clock"] is None
    assert board.melds("kitchen")["melds"] == []


# Tables that go


def test_table_is_out_of_contact_only_after_the_time_for_another_node_to_take_over() -> None:
    board, table = PartyBoard(PREFIX), kitchen()
    at = in_play(table)
    tell(board, table, at)
    now = table.now(at)
    send(board, "availability", b"offline", now)
    board.tick(later(now, GRACE_S - 0.1))
    assert board.card("kitchen")["group"] == PLAYING
    board.tick(later(now, GRACE_S))
    assert (board.card("kitchen")["group"], board.card("kitchen")["lost"]) == (LOST, True)
    send(board, "availability", b"online", later(now, 100))
    assert board.card("kitchen")["group"] == PLAYING


def test_table_out_of_contact_is_forgotten_after_some_hours_and_one_in_contact_is_not() -> None:
    board, silent, gone = PartyBoard(PREFIX), TableTold("Attic", ("Bo", "Cy"), game("pt", 2)), kitchen()
    for table in (silent, gone):
        tell(board, table, 100)
    now = gone.now(100)
    send(board, "availability", b"offline", now)
    board.tick(later(now, KEPT_S - 1))
    assert names(board) == {"attic", "kitchen"}
    version = board.version
    board.tick(later(now, KEPT_S + 1))
    assert names(board) == {"attic"}
    assert board.board_version("kitchen") is None
    assert board.version > version


@pytest.mark.parametrize("order", [("availability", "state"), ("state", "availability")])
def test_table_of_yesterday_is_neither_shown_nor_counted(order: tuple[str, ...]) -> None:
    board, table = PartyBoard(PREFIX), kitchen()
    end = table.last
    messages = {"availability": b"offline", "state": packed(table.message(end, "state"))}
    for kind in order:
        send(board, kind, messages[kind], later(table.now(end), KEPT_S + 60), retained=True)
    board.tick(later(table.now(end), KEPT_S + 120))
    assert names(board) == set()
    assert board.standings().games == 0


@pytest.mark.parametrize("order", [("availability", "state"), ("state", "availability")])
def test_table_of_today_that_is_offline_is_shown_so_at_once_and_counted(order: tuple[str, ...]) -> None:
    board, table = PartyBoard(PREFIX), kitchen()
    at = in_play(table)
    messages = {"availability": b"offline", "state": packed(table.message(at, "state"))}
    for kind in order:
        send(board, kind, messages[kind], later(table.now(at), HOUR_S), retained=True)
    assert board.card("kitchen")["group"] == LOST


def test_table_in_contact_is_shown_however_old_its_wall_clock_makes_it() -> None:
    board, table = PartyBoard(PREFIX), kitchen(later_s=-MORNING_S + 200)
    now = kitchen().now(100)
    send(board, "state", table.message(100, "state"), now, retained=True)
    assert names(board) == set()
    send(board, "availability", b"online", now, retained=True)
    assert names(board) == {"kitchen"}


def test_table_that_the_broker_no_longer_knows_is_out_of_contact() -> None:
    board, gone, there = PartyBoard(PREFIX), kitchen(), TableTold("Attic", ("Bo", "Cy"), game("pt", 2))
    at = in_play(gone)
    for table in (gone, there):
        tell(board, table, at)
    now = later(gone.now(at), 60)
    board.ask_anew(now)
    tell(board, there, at, now=now, retained=True)
    board.tick(later(now, GRACE_S))
    assert (board.card("kitchen")["group"], board.card("attic")["group"]) == (LOST, PLAYING)


def test_state_that_was_removed_at_the_broker_removes_the_table() -> None:
    board, table = PartyBoard(PREFIX), kitchen()
    tell(board, table, 100)
    send(board, "state", b"", table.now(101))
    assert names(board) == set()
    tell(board, table, 50)
    assert names(board) == {"kitchen"}


# What anybody may write


def spoilt(kind: str) -> list[bytes]:
    """Messages of this kind with one thing wrong in each."""
    table = kitchen()
    good = next(message for at in range(in_play(table), table.last) for message in table.messages(at, kind))
    wrong: dict[str, list[Any]] = {
        "table": [None, "", "AB" * 16, "ab" * 33, 5],
        "game": [-1, 1.0, True, "1", 10**10],
        "height": [-1, 2.5, None, 10**30],
        "at": [-1, "now", None, True, 1e300, 10**400, math.nan, math.inf],
    }
    if kind == "event":
        del wrong["at"]  # it counts when it comes
    if kind == "state":
        seat = good["seats"][0]
        wrong |= {
            "name": [None, 7],
            "phase": ["", "PLAY", "over ", 3],
            "turn": [-1, 2, True, 0.0],
            "paused": [0, None],
            "waiting_for": ["x", 1],
            "seats": [{}, [seat] * 65, [1], [{**seat, "tiles": -1}], [{**seat, "total": 1e9}], [{**seat, "bot": 1}]],
            "results": [[{}], [{"scores": [1], "winners": [], "ended_by": "out"}], None],
            "standings": [[2], [-1], ["0"], [0, 0]],
        }
    if kind == "clock":
        wrong |= {"limit_s": [-1, None, 60.5], "remaining_s": [-1, "9", None], "deadline": ["x", -5], "running": [1]}
    if kind == "board":
        meld = good["melds"][0]
        wrong |= {
            "melds": [
                [meld] * 65,
                [{**meld, "kind": "pair"}],
                [{**meld, "tiles": ["R14", *meld["tiles"][1:]]}],
                [{**meld, "stands_for": []}],
                [{**meld, "tiles": ["R1"] * 14, "stands_for": [[]] * 14}],
                [{**meld, "points": -1}],
            ],
            "discard": ["X1", 5],
        }
    if kind == "event":
        wrong |= {"text": [None, 5, ["x"]]}
    return [
        *(json.dumps({**good, key: value}).encode() for key, values in wrong.items() for value in values),
        *(packed({name: value for name, value in good.items() if name != key}) for key in wrong),
        b"\xff\xfe",
        b"[" * 50_000,
        b"[]",
        b"null",
        packed(good)[:-1],
        packed({**good, "more": "x" * MAX_BYTES}),
    ]


@pytest.mark.parametrize("kind", ["state", "clock", "board", "event"])
def test_message_with_anything_wrong_in_it_is_ignored_and_counted(kind: str) -> None:
    table = kitchen()
    at = in_play(table)
    for number, payload in enumerate(spoilt(kind)):
        board = PartyBoard(PREFIX)
        tell(board, table, at - 1)
        version, card = board.version, board.card("kitchen")
        send(board, kind, payload, table.now(at))
        assert board.ignored == {f"bad {kind}": 1}, f"{number}: {payload[:200]!r}"
        assert (board.version, board.card("kitchen")) == (version, card)


def test_message_may_hold_more_than_is_known() -> None:
    board, table = PartyBoard(PREFIX), kitchen()
    send(board, "state", {**table.message(100, "state"), "more": [1]}, table.now(100))
    assert names(board) == {"kitchen"}


def test_broken_messages_of_every_kind_do_no_harm() -> None:
    rng = random.Random(7)
    board, table = PartyBoard(PREFIX), kitchen()
    at = in_play(table)
    whole = [payload for _topic, payload in table.told(at)]
    for _ in range(4000):
        payload = bytearray(rng.choice(whole))
        for _change in range(rng.randint(1, 4)):
            place = rng.randrange(len(payload))
            payload[place : place + rng.randint(0, 3)] = rng.choice((b"", b"0", b"-", b"[", b'"', b"9" * 30, b"null"))
        kind = rng.choice(("state", "clock", "board", "event", "availability"))
        send(board, kind, bytes(payload), table.now(at), retained=rng.random() < 0.3)
        json.dumps([board.card(name) | board.melds(name) for name in names(board)], allow_nan=False)
    assert board.ignored.total() > 2000


def test_names_are_made_fit_for_a_screen() -> None:
    board, table = PartyBoard(PREFIX), kitchen()
    state = table.message(100, "state")
    seats = [{**seat, "name": f"A\u202en\x00a\n{seat['seat']}\ud800" + "x" * 200} for seat in state["seats"]]
    spoken = {**table.message(100, "state"), "name": " Kit\u200bchen\t", "seats": seats}
    board.take(f"{PREFIX}/kitchen/state", json.dumps(spoken).encode(), table.now(100), retained=False)
    card = board.card("kitchen")
    assert card["name"] == "Kitchen"
    assert [seat["name"] for seat in card["seats"]] == [("Ana 0" + "x" * 200)[:48], ("Ana 1" + "x" * 200)[:48]]


@pytest.mark.parametrize(
    "topic",
    [
        f"{PREFIX}/kitchen/command/end_turn",
        f"{PREFIX}/kitchen/state/more",
        f"{PREFIX}/Kitchen/state",
        f"{PREFIX}/{'k' * 47}/state",
        f"{PREFIX}//state",
        "other/kitchen/state",
        f"{PREFIX}/state",
    ],
)
def test_other_topics_are_not_of_interest(topic: str) -> None:
    board, table = PartyBoard(PREFIX), kitchen()
    board.take(topic, packed(table.message(100, "state")), table.now(100), retained=False)
    assert names(board) == set()
    assert board.ignored == {"not of interest": 1}


def test_there_is_a_limit_of_tables_and_one_out_of_contact_makes_room() -> None:
    board, table = PartyBoard(PREFIX), kitchen()
    now = table.now(100)
    tables = [replace(table, name=f"Table {number}") for number in range(MAX_TABLES + 1)]
    for one in tables:
        tell(board, one, 100)
    assert len(names(board)) == MAX_TABLES
    assert "table-500" not in names(board)
    assert board.ignored["too many tables"] > 0
    board.take(f"{PREFIX}/table-3/availability", b"offline", now, retained=False)
    board.tick(later(now, GRACE_S + 1))
    tell(board, tables[-1], 100, now=later(now, GRACE_S + 2))
    assert names(board) == {one.topic for one in tables} - {"table-3"}
