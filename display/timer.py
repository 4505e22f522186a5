"""The stand-alone timer. Sans-I/O: presses and times go in, views and what to store come out.

Two buttons do everything, a third may call Rummikub; what they do where is `GESTURES`. Each press that changes
something can be taken back: the position before it is kept. Time is only ever counted in the phase TURN, from a
position and the moment when it was true, so one that is stored and taken up later has lost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum
from types import MappingProxyType
from typing import Final, NamedTuple, TypeVar, assert_never

from display.presses import Kind, Press
from display.screens import clock_text
from display.timerstate import LARGEST, Phase, Position, Record, Setup, TimerGame, new_game
from display.timerwords import ENGLISH, TimerWords
from display.views import (
    NoticeView,
    PenaltyView,
    PlayerTiles,
    ResultView,
    ScoreLine,
    StandingsView,
    TurnView,
    View,
)
from engine.scoring import GameScore, settle_blocked, settle_cards, settle_out

UNDO_STEPS: Final = 20
TIME_UP_S: Final = 2.0  # so long it says no more than that the time is up
SHORTEST_EXTENSION_S: Final = 60.0  # where a turn has no limit of its own

_Item = TypeVar("_Item")
Standings = Callable[[Sequence[TimerGame]], StandingsView]


class Action(Enum):
    """What a press can mean."""

    START = "start"
    STARTER = "starter"  # another player begins
    NEXT = "next"
    PAUSE = "pause"
    RESUME = "resume"
    SKIP = "skip"
    EXTEND = "extend"
    CALL = "call"  # whoever's turn it is has gone out
    BLOCKED = "blocked"  # nobody can go on
    ADD_TEN = "add-ten"
    ADD_ONE = "add-one"
    CLEAR = "clear"
    CONFIRM = "confirm"
    GO_ON = "go-on"
    UNDO = "undo"


class Gesture(NamedTuple):
    """A tap or a hold of a button, or both at once."""

    kind: Kind
    button: str = ""


END: Final = Gesture(Kind.TAPPED, "end")
END_HELD: Final = Gesture(Kind.HELD, "end")
PAUSE: Final = Gesture(Kind.TAPPED, "pause")
PAUSE_HELD: Final = Gesture(Kind.HELD, "pause")
BOTH: Final = Gesture(Kind.BOTH)
RUMMIKUB: Final = Gesture(Kind.TAPPED, "rummikub")

GESTURES: Final = MappingProxyType(
    {
        Phase.READY: {END: Action.START, PAUSE: Action.STARTER, END_HELD: Action.UNDO},
        Phase.TURN: {
            END: Action.NEXT,
            PAUSE: Action.PAUSE,
            END_HELD: Action.UNDO,
            PAUSE_HELD: Action.EXTEND,
            BOTH: Action.CALL,
            RUMMIKUB: Action.CALL,
        },
        Phase.PAUSED: {
            END: Action.RESUME,
            PAUSE: Action.RESUME,
            END_HELD: Action.UNDO,
            PAUSE_HELD: Action.SKIP,
            BOTH: Action.BLOCKED,
        },
        Phase.TIME_UP: {END: Action.NEXT, END_HELD: Action.UNDO, BOTH: Action.CALL, RUMMIKUB: Action.CALL},
        Phase.POINTS: {
            END: Action.ADD_TEN,
            PAUSE: Action.ADD_ONE,
            END_HELD: Action.CONFIRM,
            PAUSE_HELD: Action.CLEAR,
        },
        Phase.RESULT: {END: Action.GO_ON, END_HELD: Action.UNDO},
        Phase.STANDINGS: {END: Action.GO_ON, END_HELD: Action.UNDO},
    }
)
KEYS: Final = MappingProxyType(
    {
        "s": Action.SKIP,
        "x": Action.EXTEND,
        "u": Action.UNDO,
        "r": Action.CALL,
        "k": Action.BLOCKED,
        "\n": Action.CONFIRM,
        "c": Action.CLEAR,
    }
)
_ALSO: Final = MappingProxyType(
    {
        Action.SKIP: {Phase.TURN},
        Action.EXTEND: {Phase.PAUSED},
        Action.CALL: {Phase.PAUSED},
        Action.BLOCKED: {Phase.TURN, Phase.TIME_UP},
        Action.UNDO: {Phase.POINTS},
    }
)  # what keys may do where no gesture does it
_NOT_TAKEN_BACK: Final = frozenset(
    {Action.ADD_ONE, Action.ADD_TEN, Action.CLEAR, Action.PAUSE, Action.RESUME, Action.STARTER}
)  # another press of the same kind mends them; so who pauses at once can still take back what came before


class Refused(Exception):  # noqa: N818 - a sentence for the players
    """The press does nothing now, and why."""


class Question(NamedTuple):
    """A number that is asked for after a game: whose, and which."""

    player: int
    what: str  # `rack`, `laid` or `hand`


def questions(setup: Setup, out: int | None) -> tuple[Question, ...]:
    """What must be known to score a game that `out` has won, or in which nobody could go on."""
    seats = range(len(setup.names))
    if setup.rules.discards:
        asked = [Question(seat, what) for seat in seats for what in ("laid", "hand")]
        return tuple(question for question in asked if question != (out, "hand"))
    return tuple(Question(seat, "rack") for seat in seats if seat != out)


def scored(setup: Setup, out: int | None, entered: Sequence[int]) -> TimerGame:
    """The game with the answers to all `questions`. Of equal lowest racks nobody counts the tiles: they share."""
    answers = dict(zip(questions(setup, out), entered, strict=True))
    rack, laid, hand = (
        [answers.get(Question(seat, what), 0) for seat in range(len(setup.names))] for what in ("rack", "laid", "hand")
    )
    score: GameScore
    if setup.rules.discards:
        score = settle_cards(setup.rules, laid, hand, out)
    elif out is None:
        score = settle_blocked(rack, [0] * len(rack))
    else:
        score = settle_out(rack, out)
    return TimerGame(score.scores, score.winners, out)


def aged(setup: Setup, position: Position, seconds: float) -> Position:
    """The position so much later, if nobody presses anything."""
    if position.phase is not Phase.TURN:
        return position
    if not setup.limited:
        return replace(position, clock_s=position.clock_s + seconds)
    of_turn_s = min(seconds, position.clock_s)
    bank_s = max(0.0, position.banks_s[position.turn] - (seconds - of_turn_s))
    clock_s = position.clock_s - of_turn_s
    phase = Phase.TIME_UP if clock_s <= 0 and bank_s <= 0 else Phase.TURN
    return replace(position, phase=phase, clock_s=clock_s, banks_s=_with(position.banks_s, position.turn, bank_s))


class Timer:
    """A series at one table: `do` what a press means, `view` what is to be shown, `record` what is to be stored."""

    def __init__(
        self,
        setup: Setup,
        standings: Standings,
        now_s: float,
        record: Record | None = None,
        words: TimerWords = ENGLISH,
    ) -> None:
        """`record` as it was stored; a clock that ran then is paused now."""
        self._setup = setup
        self._standings = standings
        self._words = words
        self._record = record or Record(new_game(setup, 0))
        if self._record.position.phase is Phase.TURN:
            self._take(replace(self._record.position, phase=Phase.PAUSED, cut=True), now_s)
        self._at_s = now_s

    def record(self, now_s: float) -> Record:
        """What is to be stored now."""
        return replace(self._record, position=self.position(now_s))

    def position(self, now_s: float) -> Position:
        """Where the game stands now."""
        return aged(self._setup, self._record.position, now_s - self._at_s)

    def press(self, press: Press, now_s: float) -> bool:
        """Does what the press means; whether something has changed. Raises `Refused`."""
        button = "" if press.kind is Kind.BOTH else press.button
        action = GESTURES[self.position(now_s).phase].get(Gesture(press.kind, button))
        if action is None:
            if press.kind in (Kind.TAPPED, Kind.HELD, Kind.BOTH):
                raise Refused(self._words.not_now)
            return False
        self.do(action, now_s)
        return True

    def key(self, key: str, now_s: float) -> bool:
        """Does what a key means that is no button: digits, and the letters of `KEYS`; a space is the button End."""
        position = self.position(now_s)
        if position.phase is Phase.POINTS and ((key.isascii() and key.isdigit()) or key in ("\x7f", "\b")):
            number = position.number * 10 + int(key) if key.isdigit() else position.number // 10
            if number <= LARGEST:
                self._take(replace(position, number=number), now_s)
            return True
        end = GESTURES[position.phase][END]
        action = end if key == " " or (key == "\n" and end is Action.GO_ON) else KEYS.get(key)
        if action is not None:
            self.do(action, now_s)
        return action is not None

    def do(self, action: Action, now_s: float) -> None:
        """Changes the position. Raises `Refused`, and then nothing has changed."""
        before = self.position(now_s)
        if before.phase not in _ALSO.get(action, ()) and action not in GESTURES[before.phase].values():
            raise Refused(self._words.not_now)
        if action is Action.UNDO or (action is Action.CLEAR and not before.number):
            self._undo(now_s)
            return
        after = self._after(before, action)
        undo, past = self._record.undo, self._record.past
        if before.games and not after.games:
            undo, past = (), (*past, before.games)  # a series that is over stays so
        elif action not in _NOT_TAKEN_BACK:
            undo = (*undo[1 - UNDO_STEPS :], before)
        self._record = Record(after, undo, past)
        self._at_s = now_s

    def view(self, now_s: float) -> View:
        """What the display shows now."""
        setup, words = self._setup, self._words
        position = self.position(now_s)
        name = setup.names[position.turn]
        match position.phase:
            case Phase.READY:
                return NoticeView(words.game.format(len(position.games) + 1), words.begins.format(name))
            case Phase.TURN:
                return self._turn(position)
            case Phase.PAUSED:
                return self._paused(position)
            case Phase.TIME_UP:
                if now_s < self._time_up_s() + TIME_UP_S:
                    return self._turn(position)
                return PenaltyView(name, setup.rules.timeout_draw, self._penalties())
            case Phase.POINTS:
                return self._question(position)
            case Phase.RESULT:
                game = position.games[-1]
                return ResultView(len(position.games), self._lines(game.scores), game.winners)
            case Phase.STANDINGS:
                return self._standings(position.games)
            case _:
                assert_never(position.phase)

    def next_change_s(self, now_s: float) -> float | None:
        """When the view becomes another one than counting down makes of it, if nobody presses anything."""
        position = self._record.position
        if position.phase not in (Phase.TURN, Phase.TIME_UP) or not self._setup.limited:
            return None
        up_s = self._time_up_s()
        times_s = (self._at_s + position.clock_s, up_s, up_s + TIME_UP_S)
        return min((time_s for time_s in times_s if time_s > now_s), default=None)

    def standings(self, now_s: float) -> StandingsView | None:
        """The series so far; None before the first result."""
        games = self.position(now_s).games
        return self._standings(games) if games else None

    def _take(self, position: Position, now_s: float) -> None:
        self._record, self._at_s = replace(self._record, position=position), now_s

    def _undo(self, now_s: float) -> None:
        *undo, before = self._record.undo or (None,)
        if before is None:
            raise Refused(self._words.nothing_to_undo)
        self._record, self._at_s = replace(self._record, position=before, undo=tuple(undo)), now_s

    def _time_up_s(self) -> float:
        """When the clock that was begun runs out, or has done so."""
        position = self._record.position
        if position.phase is not Phase.TURN:
            return self._at_s
        return self._at_s + position.clock_s + position.banks_s[position.turn]

    def _after(self, position: Position, action: Action) -> Position:
        setup = self._setup
        match action:
            case Action.START:
                return replace(position, phase=Phase.TURN)
            case Action.STARTER:
                seat = self._next(position.turn)
                return replace(position, starter=seat, turn=seat)
            case Action.NEXT:
                gain_s = setup.increment_s if position.phase is Phase.TURN else 0.0
                bank_s = position.banks_s[position.turn] + gain_s
                return self._passed_on(replace(position, banks_s=_with(position.banks_s, position.turn, bank_s)))
            case Action.SKIP:
                return self._passed_on(position)
            case Action.PAUSE:
                return replace(position, phase=Phase.PAUSED)
            case Action.RESUME:
                return replace(position, phase=Phase.TURN, cut=False)
            case Action.EXTEND:
                return self._extended(position)
            case Action.CALL:
                return replace(position, phase=Phase.POINTS, out=position.turn, cut=False)
            case Action.BLOCKED:
                return replace(position, phase=Phase.POINTS, out=None, cut=False)
            case Action.ADD_TEN | Action.ADD_ONE:
                step = 10 if action is Action.ADD_TEN else 1
                return replace(position, number=min(LARGEST, position.number + step))
            case Action.CLEAR:
                return replace(position, number=0)
            case Action.CONFIRM:
                return self._entered(position)
            case Action.GO_ON if position.phase is Phase.RESULT:
                return replace(position, phase=Phase.STANDINGS)
            case Action.GO_ON:
                games = () if self._standings(position.games).over else position.games
                return new_game(setup, self._next(position.starter), games)
            case Action.UNDO:
                raise AssertionError("undo is no step forward")
            case _:
                assert_never(action)

    def _next(self, seat: int) -> int:
        return (seat + 1) % len(self._setup.names)

    def _passed_on(self, position: Position) -> Position:
        turn_s = self._setup.turn_s
        seat = self._next(position.turn)
        return replace(position, phase=Phase.TURN, turn=seat, clock_s=turn_s, whole_s=turn_s, cut=False)

    def _extended(self, position: Position) -> Position:
        if not self._setup.limited:
            raise Refused(self._words.no_limit)
        if position.extended[position.turn]:
            raise Refused(self._words.extended_once)
        more_s = self._setup.turn_s or SHORTEST_EXTENSION_S
        return replace(
            position,
            clock_s=position.clock_s + more_s,
            whole_s=position.whole_s + more_s,
            extended=_with(position.extended, position.turn, True),
        )

    def _entered(self, position: Position) -> Position:
        entered = (*position.entered, position.number)
        if len(entered) < len(questions(self._setup, position.out)):
            return replace(position, entered=entered, number=0)
        game = scored(self._setup, position.out, entered)
        return replace(position, phase=Phase.RESULT, entered=(), number=0, games=(*position.games, game))

    def _turn(self, position: Position) -> TurnView:
        setup = self._setup
        bank_s = position.banks_s[position.turn]
        on_bank = setup.limited and position.clock_s <= 0 and setup.bank_s + setup.increment_s > 0
        return TurnView(
            setup.names[position.turn],
            clock_s=bank_s if on_bank else position.clock_s,
            turn_s=max(setup.bank_s, bank_s, 1.0) if on_bank else position.whole_s,
            players=tuple(PlayerTiles(name, None) for name in setup.names),
            turn=position.turn,
            bank_s=bank_s if on_bank or bank_s > 0 else None,
            on_bank=on_bank,
        )

    def _question(self, position: Position) -> NoticeView:
        words = self._words
        question = questions(self._setup, position.out)[len(position.entered)]
        what = {"rack": words.rack, "laid": words.laid, "hand": words.hand}[question.what]
        told = [words.entry_keys, what] if question.what == "rack" else [what, words.entry_keys]
        return NoticeView(f"{self._setup.names[question.player]}: {position.number}", " · ".join(told))

    def _paused(self, position: Position) -> NoticeView:
        words = self._words
        left_s = position.clock_s + position.banks_s[position.turn]
        told = f"{self._setup.names[position.turn]} {clock_text(round(left_s), minutes=True)}"
        return NoticeView(words.power if position.cut else words.paused, f"{told} · {words.paused_keys}")

    def _penalties(self) -> str:
        """What the rule set takes for a turn that time ended, where that depends on how the table lay."""
        rules, words = self._setup.rules, self._words
        told = [words.time_is_up]
        if not rules.discards and rules.timeout_idle_draw != rules.timeout_draw:
            told.append(words.nothing_laid.format(rules.timeout_idle_draw))
        if not rules.discards and rules.timeout_play_draw != rules.timeout_draw:
            told.append(words.table_right.format(rules.timeout_play_draw))
        return " ".join(told)

    def _lines(self, scores: Sequence[int]) -> tuple[ScoreLine, ...]:
        return tuple(ScoreLine(name, points) for name, points in zip(self._setup.names, scores, strict=True))


def _with(values: tuple[_Item, ...], place: int, value: _Item) -> tuple[_Item, ...]:
    return (*values[:place], value, *values[place + 1 :])
