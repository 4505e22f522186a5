"""The messages of a table as they are read from a broker: checked, cleaned and bounded, for anybody may write there.

What `payloads.py` makes is read back without a loss of what a screen needs; fields that are not known are left alone.
"""

from __future__ import annotations

import contextlib
import json
import re
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, TypeVar

from engine.state import CallName, EndedBy, GameResult, MeldKind, Phase, Seat
from engine.tiles import parse_tile
from node.mqtt.commands import Moment
from protocol.roster import clean_name

MAX_MESSAGE_BYTES: Final = 2**18
_MAX_ID_CHARS: Final = 64
_ID: Final = re.compile(r"[0-9a-f]+")
_MAX_WHY_BYTES: Final = 200
MAX_SEATS: Final = 64  # in the lobby; as many as a node hears
MAX_GAMES: Final = 2000
_MAX_COUNT: Final = 2**31
_MAX_MELDS: Final = 64
_MAX_MELD_TILES: Final = 13
_MAX_EVENT_BYTES: Final = 200
_MAX_LIMIT_S: Final = 86_400
MAX_UNIX_S: Final = 1e11
_SHOWN: Final = 40  # characters of a wrong value that an error repeats
_Named = TypeVar("_Named", bound=Enum)


class MessageError(ValueError):
    """A message is not what it must be; the text says where, in lower case."""


@dataclass(frozen=True, slots=True)
class SeatSeen:
    """A player: the name, never empty; how many tiles; whether out of contact; points of the series so far."""

    name: str
    bot: bool
    tiles: int
    opened: bool
    in_game: bool
    away: bool
    total: int


@dataclass(frozen=True, slots=True)
class TableState:
    """The message `state`. `phase` None: in the lobby, or in a game that is `void`.

    `turn` is a seat that is in the game in `Phase.PLAY`. `games`: those that are over, one at least in `Phase.OVER`;
    `standings` then names every seat once.
    """

    moment: Moment
    at_unix_s: float
    name: str
    rules: str
    phase: Phase | None
    void: bool
    turn: int | None
    turn_number: int
    call: CallName | None
    paused: bool
    seats: tuple[SeatSeen, ...]
    pool: int
    games: tuple[GameResult, ...]
    standings: tuple[int, ...]
    series_over: bool
    series_winners: tuple[int, ...]  # empty until it is over
    commands: bool

    @property
    def is_over(self) -> bool:
        """Whether nothing more happens at this table."""
        return self.void or (self.phase is Phase.OVER and self.series_over)


@dataclass(frozen=True, slots=True)
class TableClock:
    """The message `clock`. Seconds; those of the wall clock are the publisher's. `remaining_s` None: no limit."""

    moment: Moment
    at_unix_s: float
    limit_s: int
    turn_number: int
    running: bool
    remaining_s: float | None
    deadline_unix_s: float | None
    pause_until_unix_s: float | None


@dataclass(frozen=True, slots=True)
class MeldSeen:
    """A meld: faces of tiles; `stands_for` holds for each those that it may stand for if it is a joker."""

    kind: MeldKind
    tiles: tuple[str, ...]
    stands_for: tuple[tuple[str, ...], ...]
    points: int


@dataclass(frozen=True, slots=True)
class TableBoard:
    """The message `board`. `discard`: the face on top of the discard pile."""

    moment: Moment
    at_unix_s: float
    melds: tuple[MeldSeen, ...]
    discard: str | None


@dataclass(frozen=True, slots=True)
class TableEvent:
    """The message `event`: what has happened, as a sentence."""

    moment: Moment
    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The message `answer`. `once` is empty where the command was not taken; `why` None: it was done."""

    command: str
    once: str
    why: str | None


def plain_of(payload: bytes) -> object:
    """The data of a message. Raises `MessageError`."""
    if len(payload) > MAX_MESSAGE_BYTES:
        raise MessageError(f"expected {MAX_MESSAGE_BYTES} bytes at most, got {len(payload)}")
    try:
        return json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise MessageError("not JSON") from error


def state_of(plain: object) -> TableState:
    """Raises `MessageError`."""
    fields = Fields(plain)
    phase = fields.text("phase", _SHOWN)
    seats = tuple(_seat(place, item) for place, item in enumerate(fields.items("seats", MAX_SEATS)))
    state = TableState(
        moment=_moment(fields),
        at_unix_s=fields.number("at", MAX_UNIX_S),
        name=clean_name(fields.text("name")),
        rules=clean_name(fields.text("rules")),
        phase=None if phase in ("lobby", "void") else fields.named("phase", Phase),
        void=phase == "void",
        turn=None if fields["turn"] is None else fields.whole("turn", most=len(seats) - 1),
        turn_number=fields.whole("turn_number"),
        call=None if fields["waiting_for"] is None else fields.named("waiting_for", CallName),
        paused=fields.flag("paused"),
        seats=seats,
        pool=fields.whole("pool"),
        games=tuple(game_of(item, len(seats)) for item in fields.items("results", MAX_GAMES)),
        standings=tuple(_seats(fields["standings"], len(seats), "standings")),
        series_over=fields.flag("series_over"),
        series_winners=tuple(_seats(fields["series_winners"], len(seats), "series_winners")),
        commands=fields.flag("commands"),
    )
    if state.phase is Phase.PLAY and (state.turn is None or not seats[state.turn].in_game):
        raise MessageError("expected the turn of somebody who is in the game")
    if state.phase is Phase.OVER and (not state.games or len(state.standings) != len(seats)):
        raise MessageError("expected results and standings of a game that is over")
    return state


def clock_of(plain: object) -> TableClock:
    """Raises `MessageError`."""
    fields = Fields(plain)
    clock = TableClock(
        moment=_moment(fields),
        at_unix_s=fields.number("at", MAX_UNIX_S),
        limit_s=fields.whole("limit_s", most=_MAX_LIMIT_S),
        turn_number=fields.whole("turn_number"),
        running=fields.flag("running"),
        remaining_s=fields.number_or_none("remaining_s", 100.0 * _MAX_LIMIT_S),
        deadline_unix_s=fields.number_or_none("deadline", MAX_UNIX_S),
        pause_until_unix_s=fields.number_or_none("pause_until", MAX_UNIX_S),
    )
    if clock.running and (clock.remaining_s is None or clock.deadline_unix_s is None):
        raise MessageError("expected remaining_s and deadline of a clock that runs")
    return clock


def board_of(plain: object) -> TableBoard:
    """Raises `MessageError`."""
    fields = Fields(plain)
    return TableBoard(
        moment=_moment(fields),
        at_unix_s=fields.number("at", MAX_UNIX_S),
        melds=tuple(map(_meld, fields.items("melds", _MAX_MELDS))),
        discard=None if fields["discard"] is None else _face(fields["discard"], "discard"),
    )


def event_of(plain: object) -> TableEvent:
    """Raises `MessageError`."""
    fields = Fields(plain)
    return TableEvent(_moment(fields), clean_name(fields.text("text"), _MAX_EVENT_BYTES))


def answer_of(plain: object) -> Answer:
    """Raises `MessageError`."""
    fields = Fields(plain)
    done = fields.flag("done")
    why = None if done else clean_name(fields.text("why"), _MAX_WHY_BYTES)
    return Answer(fields.text("command", _SHOWN), fields.text("once", _MAX_ID_CHARS), why)


class Fields:
    """The fields of a message, each with its type and within its bounds, or `MessageError`."""

    def __init__(self, plain: object) -> None:
        if not isinstance(plain, dict):
            raise MessageError("expected an object")
        self._plain: dict[str, Any] = plain

    def __getitem__(self, key: str) -> Any:
        if key not in self._plain:
            raise MessageError(f"expected a field {key}")
        return self._plain[key]

    def text(self, key: str, most: int = MAX_MESSAGE_BYTES) -> str:
        value = self[key]
        if not isinstance(value, str) or len(value) > most:
            raise _wrong(key, f"a text of {most} characters at most", value)
        return value

    def flag(self, key: str) -> bool:
        value = self[key]
        if not isinstance(value, bool):
            raise _wrong(key, "true or false", value)
        return value

    def whole(self, key: str, *, least: int = 0, most: int = _MAX_COUNT) -> int:
        return _whole(self[key], key, least, most)

    def table(self) -> str:
        """The id of a table."""
        table = self.text("table", _MAX_ID_CHARS)
        if not _ID.fullmatch(table):
            raise _wrong("table", "an id in hex", table)
        return table

    def number(self, key: str, most: float) -> float:
        value = self[key]
        if type(value) not in (int, float) or not 0 <= value <= most:  # false for NaN
            raise _wrong(key, f"a number from 0 to {most:.0f}", value)
        return float(value)

    def number_or_none(self, key: str, most: float) -> float | None:
        return None if self[key] is None else self.number(key, most)

    def named(self, key: str, kind: type[_Named]) -> _Named:
        value = self[key]
        found = next((one for one in kind if one.value == value), None)
        if found is None:
            raise _wrong(key, f"one of {', '.join(str(one.value) for one in kind)}", value)
        return found

    def items(self, key: str, most: int) -> list[Any]:
        return _items(self[key], key, most)


def _moment(fields: Fields) -> Moment:
    return Moment(fields.table(), fields.whole("game"), fields.whole("height"))


def _seat(place: int, plain: object) -> SeatSeen:
    fields = Fields(plain)
    name = clean_name(fields.text("name")) or f"Player {place + 1}"
    return SeatSeen(
        name=name,
        bot=fields.flag("bot"),
        tiles=fields.whole("tiles"),
        opened=fields.flag("opened"),
        in_game=fields.flag("in_game"),
        away=fields.flag("away"),
        total=fields.whole("total", least=-_MAX_COUNT),
    )


def _meld(plain: object) -> MeldSeen:
    fields = Fields(plain)
    tiles = _faces(fields["tiles"], "tiles")
    stands_for = tuple(_faces(faces, "stands_for") for faces in fields.items("stands_for", len(tiles)))
    if len(stands_for) != len(tiles):
        raise MessageError(f"expected what {len(tiles)} tiles stand for, got {len(stands_for)}")
    return MeldSeen(fields.named("kind", MeldKind), tiles, stands_for, fields.whole("points"))


def _faces(value: object, key: str) -> tuple[str, ...]:
    return tuple(_face(item, key) for item in _items(value, key, _MAX_MELD_TILES))


def _face(value: object, key: str) -> str:
    with contextlib.suppress(ValueError):
        if isinstance(value, str):
            return str(parse_tile(value))
    raise _wrong(key, "the face of a tile", value)


def game_of(plain: object, seats: int) -> GameResult:
    """A finished game of so many seats. Raises `MessageError`.

    `out` is not in the message: who wins by going out is the only winner.
    """
    fields = Fields(plain)
    scores = tuple(_whole(score, "scores", -_MAX_COUNT, _MAX_COUNT) for score in fields.items("scores", seats))
    if len(scores) != seats:
        raise MessageError(f"expected scores of {seats} seats, got {len(scores)}")
    ended_by = fields.named("ended_by", EndedBy)
    winners = _seats(fields["winners"], seats, "winners")
    return GameResult(ended_by, scores, winners, winners[0] if winners and ended_by is EndedBy.OUT else None)


def _seats(value: object, seats: int, key: str) -> tuple[Seat, ...]:
    """Different seats."""
    found = tuple(Seat(_whole(item, key, 0, seats - 1)) for item in _items(value, key, seats))
    if len(set(found)) != len(found):
        raise _wrong(key, "no seat twice", value)
    return found


def _items(value: object, key: str, most: int) -> list[Any]:
    if not isinstance(value, list) or len(value) > most:
        raise _wrong(key, f"a list of {most} at most", value)
    return value


def _whole(value: object, key: str, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        raise _wrong(key, f"a whole number from {least} to {most}", value)
    return value


def _wrong(key: str, expected: str, value: object) -> MessageError:
    return MessageError(f"{key}: expected {expected}, got {repr(value)[:_SHOWN]}")
