"""What a screen of the table's display shows: values without behaviour, made by the node or the stand-alone timer.

Names and sentences come in as text, times as seconds; `screens.draw` needs nothing else. `subject` and `changes_in_s`
say when a picture has to be drawn again.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Final

LAST_SECONDS: Final = 10
_STEP_S: Final = 0.25  # how often the bar of the last seconds moves


@dataclass(frozen=True, slots=True)
class LobbyView:
    """Before the game. `words`: the four table words, empty until the roster is known."""

    table: str
    words: tuple[str, ...]
    players: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlayerTiles:
    """A player and how many tiles are on the rack; None where nobody counts, as with real tiles."""

    name: str
    tiles: int | None


@dataclass(frozen=True, slots=True)
class TurnView:
    """The turn clock.

    `clock_s`: what is left, or with `turn_s` 0, which is no limit, what has gone. `players` in the order of their
    turns, `turn` the place of the one whose turn it is. `bank_s`: what the player has besides, for one time when the
    turn is over; `on_bank`: the clock shown is already that.
    """

    name: str
    clock_s: float
    turn_s: float
    players: tuple[PlayerTiles, ...] = ()
    turn: int = 0
    pool: int | None = None
    bank_s: float | None = None
    on_bank: bool = False


@dataclass(frozen=True, slots=True)
class PausedView:
    """The clock stands. `left_s`: until the pause ends by itself, None for never; `by`: who asked for it, or nobody."""

    by: str = ""
    left_s: float | None = None


@dataclass(frozen=True, slots=True)
class WaitingView:
    """The game waits for a player. `left_s`: until the others may go on without, None if nothing counts down."""

    name: str
    left_s: float | None = None


@dataclass(frozen=True, slots=True)
class RefusalView:
    """A press that did nothing, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class PenaltyView:
    """What a player draws, and why."""

    name: str
    tiles: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """A player and points: of one game, or the total of a series."""

    name: str
    points: int


@dataclass(frozen=True, slots=True)
class ResultView:
    """The end of a game. `winners`: places in `scores`; several share the win, and nobody may have won."""

    game: int
    scores: tuple[ScoreLine, ...]
    winners: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StandingsView:
    """Where a series stands, best first. `leaders`: how many lines share the first place; `over`: they have won."""

    games: int
    totals: tuple[ScoreLine, ...]
    leaders: int = 1
    over: bool = False


@dataclass(frozen=True, slots=True)
class NoticeView:
    """Anything else that is to be said."""

    title: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class ErrorView:
    """What does not work, and what to do."""

    text: str


View = (
    LobbyView
    | TurnView
    | PausedView
    | WaitingView
    | RefusalView
    | PenaltyView
    | ResultView
    | StandingsView
    | NoticeView
    | ErrorView
)


def shown_seconds(view: View) -> int | None:
    """The whole seconds that the view shows: a countdown ends at 0, and shows 1 until then."""
    match view:
        case TurnView(turn_s=0):
            return math.floor(view.clock_s)
        case TurnView():
            return max(0, math.ceil(view.clock_s))
        case PausedView() | WaitingView() if view.left_s is not None:
            return max(0, math.ceil(view.left_s))
        case _:
            return None


def is_ending(view: View) -> bool:
    """Whether it is a turn clock in its last seconds, or at its end."""
    return isinstance(view, TurnView) and view.turn_s > 0 and view.clock_s <= LAST_SECONDS


def is_counting_down(view: View) -> bool:
    """Whether somebody must act before the view reaches 0."""
    return isinstance(view, TurnView) and view.turn_s > 0 and view.clock_s > 0


def subject(view: View) -> View:
    """The view without what only time changes: as long as it stays the same, nothing has happened."""
    match view:
        case TurnView():
            return dataclasses.replace(view, clock_s=0.0, bank_s=None)
        case PausedView() | WaitingView():
            return dataclasses.replace(view, left_s=None)
        case _:
            return view


def changes_in_s(view: View) -> float | None:
    """In how many seconds the picture changes because time passes; None if it does not."""
    match view:
        case TurnView(turn_s=0):
            return 1 - view.clock_s % 1
        case TurnView():
            return _next_step_s(view.clock_s, _STEP_S if is_ending(view) else 1.0)
        case PausedView() | WaitingView() if view.left_s is not None:
            return _next_step_s(view.left_s, 1.0)
        case _:
            return None


def _next_step_s(left_s: float, step_s: float) -> float | None:
    return None if left_s <= 0 else left_s % step_s or step_s
