"""Presses that come in over a broker: who may send them, and that each counts once, at one moment of one game.

A command is JSON: the table, game and height of the state that the sender saw, a word of its own that it has not used
yet (`once`), and `mac`, the HMAC-SHA256 with the shared key, in hex, over

    rummesh-command/1|TABLE|COMMAND|GAME|HEIGHT|ONCE

(RFC 2104; numbers in decimal, TABLE as in the state). Who has no key may be a user of the broker that the operator has
listed: the broker says who somebody is by letting nobody else write below that name (docs/mqtt.md, "Who may press").
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from node.config import ConfigError
from protocol.messages import Button

MAX_COMMAND_BYTES: Final = 512
MAX_AT_ONE_HEIGHT: Final = 16  # commands that were in order; as many as a table device has presses
MIN_KEY_BYTES: Final = 16
_ONCE: Final = re.compile(r"[A-Za-z0-9_-]{4,64}")
_USER: Final = re.compile(r"[^\s+#/\0]{1,64}")

BUTTONS: Final = {"end_turn": Button.END_TURN, "rummikub": Button.RUMMIKUB, "pause": Button.PAUSE}


class Refusal(Enum):
    """Why a command was not taken, as it is counted and told."""

    UNKNOWN = "unknown command"
    MALFORMED = "not a command"
    NOT_ALLOWED = "user not listed"
    WRONG_KEY = "wrong key"
    WRONG_TABLE = "wrong table"
    WRONG_GAME = "wrong game"
    TOO_LATE = "too late"
    WRONG_HEIGHT = "wrong height"
    REPLAYED = "used already"
    TOO_MANY = "too many at one moment"
    NO_GAME = "no game in which the buttons count"


@dataclass(frozen=True, slots=True)
class Access:
    """Who may press: whoever has `key`, and the `users` of the broker. Neither: nobody."""

    key: bytes | None = field(default=None, repr=False)
    users: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return self.key is not None or bool(self.users)


@dataclass(frozen=True, slots=True)
class Moment:
    """What a command has to name: the table, its game from 1, its height."""

    table: str
    game: int
    height: int

    def plain(self) -> dict[str, Any]:
        """As it is in messages."""
        return {"table": self.table, "game": self.game, "height": self.height}


@dataclass(frozen=True, slots=True)
class Command:
    """A command that may be done. `once` is empty if a listed user sent none."""

    button: Button
    name: str
    once: str


@dataclass(slots=True)
class CommandBook:
    """The commands of one table: which have been seen at this moment, and what has become of all of them."""

    access: Access
    accepted: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    _height: tuple[str, int, int] = ("", 0, 0)
    _used: set[str] = field(default_factory=set)
    _taken: int = 0

    def take(self, topic: str, payload: bytes, now: Moment | None, *, retained: bool = False) -> Command | Refusal:
        """The command of a message; `topic`: what comes after `command/`. Each is counted.

        A retained one is as old as may be. `now` None: no presses count.
        """
        taken = Refusal.REPLAYED if retained else self._judge(topic, payload, now)
        if isinstance(taken, Refusal):
            self.refused[taken.value] += 1
        else:
            self.accepted += 1
        return taken

    def _judge(self, topic: str, payload: bytes, now: Moment | None) -> Command | Refusal:
        name, _, user = topic.partition("/")
        if name not in BUTTONS:
            return Refusal.UNKNOWN
        if len(payload) > MAX_COMMAND_BYTES:
            return Refusal.MALFORMED
        if user and user not in self.access.users:
            return Refusal.NOT_ALLOWED
        said = _read(payload)
        if said is None and not (user and payload in (b"", b"PRESS")):
            return Refusal.MALFORMED
        if not user and (said is None or not self._is_signed(name, said)):
            return Refusal.WRONG_KEY
        if now is None:
            return Refusal.NO_GAME
        refused = None if said is None else _is_now(said, now)
        return refused or self._once(name, "" if said is None else said.once, now)

    def _is_signed(self, name: str, said: _Said) -> bool:
        if self.access.key is None:
            return False
        right = mac_of(self.access.key, name, Moment(said.table, said.game, said.height), said.once)
        return hmac.compare_digest(right.encode(), said.mac.encode("utf-8", "surrogateescape"))

    def _once(self, name: str, once: str, now: Moment) -> Command | Refusal:
        moment = (now.table, now.game, now.height)
        if moment != self._height:
            self._height, self._used, self._taken = moment, set(), 0
        if once and once in self._used:
            return Refusal.REPLAYED
        if self._taken >= MAX_AT_ONE_HEIGHT:
            return Refusal.TOO_MANY
        self._taken += 1
        self._used.add(once)
        return Command(BUTTONS[name], name, once)


@dataclass(frozen=True, slots=True)
class _Said:
    table: str
    game: int
    height: int
    once: str
    mac: str


def command_message(key: bytes | None, name: str, moment: Moment, once: str) -> dict[str, Any]:
    """The message of a command; without a key it is for a listed user's own topic."""
    said = {**moment.plain(), "once": once}
    return said if key is None else {**said, "mac": mac_of(key, name, moment, once)}


def mac_of(key: bytes, name: str, moment: Moment, once: str) -> str:
    """HMAC-SHA256 in hex, see the module's docstring."""
    text = f"rummesh-command/1|{moment.table}|{name}|{moment.game}|{moment.height}|{once}"
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def access_of(key: str | None, users: str) -> Access:
    """From the options: a shared key of at least 16 bytes, names with commas between. Raises `ConfigError`."""
    names = frozenset(name.strip() for name in users.split(",") if name.strip())
    wrong = next((name for name in sorted(names) if not _USER.fullmatch(name)), None)
    if wrong is not None:
        raise ConfigError(f"{wrong!r} cannot be a user in topics: no spaces, no +, # and /.")
    if key is not None and len(key.encode()) < MIN_KEY_BYTES:
        raise ConfigError(f"The key of the commands is too short: at least {MIN_KEY_BYTES} bytes, better 32.")
    return Access(None if key is None else key.encode(), names)


def _read(payload: bytes) -> _Said | None:
    try:
        said = json.loads(payload)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict):
        return None
    table, game, height, once = (said.get(key) for key in ("table", "game", "height", "once"))
    mac = said.get("mac", "")
    if not (isinstance(table, str) and isinstance(once, str) and isinstance(mac, str) and _ONCE.fullmatch(once)):
        return None
    if type(game) is not int or type(height) is not int:
        return None
    return _Said(table, game, height, once, mac)


def _is_now(said: _Said, now: Moment) -> Refusal | None:
    if said.table != now.table:
        return Refusal.WRONG_TABLE
    if said.game != now.game:
        return Refusal.WRONG_GAME
    if said.height < now.height:
        return Refusal.TOO_LATE
    return None if said.height == now.height else Refusal.WRONG_HEIGHT
