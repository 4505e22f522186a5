"""Commands that come in over a broker: who may, when, and how often."""

from __future__ import annotations

import json
from typing import Any

import pytest

from node.config import ConfigError
from node.mqtt.commands import (
    MAX_AT_ONE_HEIGHT,
    MAX_COMMAND_BYTES,
    Access,
    Command,
    CommandBook,
    Moment,
    Refusal,
    access_of,
    command_message,
)
from protocol.messages import Button

KEY = b"sixteen bytes or more"
NOW = Moment("ab" * 16, 2, 57)


def book(users: str = "") -> CommandBook:
    return CommandBook(access_of(KEY.decode(), users))


def signed(name: str = "end_turn", moment: Moment = NOW, once: str = "n0001", key: bytes = KEY, **more: Any) -> bytes:
    return json.dumps({**command_message(key, name, moment, once), **more}).encode()


@pytest.mark.parametrize(
    ("name", "button"), [("end_turn", Button.END_TURN), ("rummikub", Button.RUMMIKUB), ("pause", Button.PAUSE)]
)
def test_a_signed_command_of_this_moment_is_taken(name: str, button: Button) -> None:
    commands = book()
    assert commands.take(name, signed(name), NOW) == Command(button, name, "n0001")
    assert (commands.accepted, dict(commands.refused)) == (1, {})


def test_it_is_taken_once() -> None:
    commands = book()
    commands.take("end_turn", signed(), NOW)
    assert commands.take("end_turn", signed(), NOW) is Refusal.REPLAYED
    assert commands.take("pause", signed("pause"), NOW) is Refusal.REPLAYED, "the word is used up"
    assert commands.take("end_turn", signed(once="n0002"), NOW) == Command(Button.END_TURN, "end_turn", "n0002")
    assert commands.refused == {"used already": 2}


def test_a_used_command_is_no_good_later_either() -> None:
    commands = book()
    commands.take("end_turn", signed(), NOW)
    later = Moment(NOW.table, NOW.game, NOW.height + 1)
    assert commands.take("end_turn", signed(), later) is Refusal.TOO_LATE
    assert commands.take("end_turn", signed(moment=later), later) == Command(Button.END_TURN, "end_turn", "n0001")


@pytest.mark.parametrize(
    ("name", "payload", "refusal"),
    [
        ("end_turn", signed(key=b"another key of some length"), Refusal.WRONG_KEY),
        ("end_turn", signed("pause"), Refusal.WRONG_KEY),
        ("end_turn", signed(mac=""), Refusal.WRONG_KEY),
        ("end_turn", signed(mac="é"), Refusal.WRONG_KEY),
        ("end_turn", signed(mac="\udcff"), Refusal.WRONG_KEY),
        ("end_turn", signed(height=58), Refusal.WRONG_KEY),
        ("end_turn", signed(game=3), Refusal.WRONG_KEY),
        ("end_turn", signed().replace(b"n0001", b"n0002"), Refusal.WRONG_KEY),
        ("end_turn", signed(moment=Moment("cd" * 16, 2, 57)), Refusal.WRONG_TABLE),
        ("end_turn", signed(moment=Moment(NOW.table, 1, 57)), Refusal.WRONG_GAME),
        ("end_turn", signed(moment=Moment(NOW.table, 2, 56)), Refusal.TOO_LATE),
        ("end_turn", signed(moment=Moment(NOW.table, 2, 58)), Refusal.WRONG_HEIGHT),
        ("end_turn", signed(once="x"), Refusal.MALFORMED),
        ("end_turn", signed(once="with space"), Refusal.MALFORMED),
        ("end_turn", signed(height=True), Refusal.MALFORMED),
        ("end_turn", signed(height=57.0), Refusal.MALFORMED),
        ("end_turn", b"", Refusal.MALFORMED),
        ("end_turn", b"PRESS", Refusal.MALFORMED),
        ("end_turn", b"[" * 400, Refusal.MALFORMED),
        ("end_turn", b'"x"', Refusal.MALFORMED),
        ("end_turn", b"\xff\xfe", Refusal.MALFORMED),
        ("end_turn", signed(more="x" * MAX_COMMAND_BYTES), Refusal.MALFORMED),
        ("end_turn/alice", b"PRESS", Refusal.NOT_ALLOWED),
        ("end_turn/bob/x", b"PRESS", Refusal.NOT_ALLOWED),
        ("draw", signed("draw"), Refusal.UNKNOWN),
        ("", signed(""), Refusal.UNKNOWN),
    ],
)
def test_anything_else_is_refused_and_counted(name: str, payload: bytes, refusal: Refusal) -> None:
    commands = book("bob")
    assert commands.take(name, payload, NOW) is refusal
    assert (commands.accepted, dict(commands.refused)) == (0, {refusal.value: 1})


def test_a_listed_user_presses_without_a_key_and_names_the_moment_if_it_likes() -> None:
    commands = CommandBook(Access(users=frozenset({"bob"})))
    assert commands.take("end_turn/bob", b"PRESS", NOW) == Command(Button.END_TURN, "end_turn", "")
    assert commands.take("pause/bob", b"", NOW) == Command(Button.PAUSE, "pause", "")
    named = json.dumps(command_message(None, "end_turn", NOW, "n0001")).encode()
    assert commands.take("end_turn/bob", named, NOW) == Command(Button.END_TURN, "end_turn", "n0001")
    assert commands.take("end_turn/bob", named, NOW) is Refusal.REPLAYED
    late = json.dumps(command_message(None, "end_turn", Moment(NOW.table, 2, 56), "n0002")).encode()
    assert commands.take("end_turn/bob", late, NOW) is Refusal.TOO_LATE
    assert commands.take("end_turn", signed(), NOW) is Refusal.WRONG_KEY, "no key was given out"


def test_retained_commands_and_those_without_a_game_are_refused() -> None:
    commands = book()
    assert commands.take("end_turn", signed(), NOW, retained=True) is Refusal.REPLAYED
    assert commands.take("end_turn", signed(), None) is Refusal.NO_GAME


def test_so_many_at_one_moment_and_no_more() -> None:
    commands = book()
    taken = [commands.take("pause", signed("pause", once=f"n{index:04}"), NOW) for index in range(2000)]
    assert sum(isinstance(one, Command) for one in taken) == MAX_AT_ONE_HEIGHT
    assert commands.refused == {"too many at one moment": 2000 - MAX_AT_ONE_HEIGHT}
    later = Moment(NOW.table, NOW.game, NOW.height + 1)
    assert isinstance(commands.take("pause", signed("pause", later), later), Command)


def test_keys_and_users_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ConfigError, match="too short"):
        access_of("short", "")
    with pytest.raises(ConfigError, match="cannot be a user"):
        access_of(None, "bob,a/b")
    assert not access_of(None, " , ")
    assert access_of(None, "bob, alice").users == {"alice", "bob"}
    assert KEY.decode() not in repr(access_of(KEY.decode(), ""))
