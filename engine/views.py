"""What a screen may show: read-only view types and their plain-data form (JSON: dicts, lists, str, int, bool, None).

A view holds text and numbers only, so that the page, the terminal, the OLED and MQTT draw the same thing. Views are
made by `observe.view_for` and nowhere else.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class TileView:
    """A tile that may be shown. `id` is unique in the game, `text` its face (`R5`, `J`)."""

    id: int
    text: str


@dataclass(frozen=True, slots=True)
class MeldView:
    """A meld on the table. `stands_for`: for each tile the faces it stands for if it is a joker, else empty."""

    kind: str  # `group` or `run`
    tiles: tuple[TileView, ...]
    stands_for: tuple[tuple[str, ...], ...]
    points: int


@dataclass(frozen=True, slots=True)
class PlayerView:
    """One seat as everybody sees it."""

    seat: int
    name: str
    tiles_left: int
    opened: bool
    in_game: bool
    total: int  # points of the finished games of the series, this one included once it is over


@dataclass(frozen=True, slots=True)
class ResultView:
    """The end of a game. `racks`: by seat, the tiles that were left and are now open."""

    ended_by: str
    scores: tuple[int, ...]
    winners: tuple[int, ...]
    out: int | None
    racks: tuple[tuple[TileView, ...], ...]


@dataclass(frozen=True, slots=True)
class TableView:
    """A table as one seat (or, with `seat` None, everybody) may see it. Seconds and names come from the node."""

    rules: str
    game: int
    phase: str  # Phase value
    seat: int | None
    turn: int
    turn_number: int
    players: tuple[PlayerView, ...]
    pool: int  # tiles left in the stock
    board: tuple[MeldView, ...]
    rack: tuple[TileView, ...]  # the own tiles, in the order they came; empty for an observer
    discard: tuple[TileView, ...]  # `es`: top card last
    waiting_for: str | None  # open call: `start`, `racks`, `draw`, `redeal`, `final`
    drawing: int | None  # seat that draws just now
    can_pass: bool  # the stock is empty: passing takes the place of drawing
    drawn: bool  # `es`: the seat whose turn it is has taken its card
    paused: bool  # nobody acts
    call_required: bool  # the win must be called with the Rummikub button
    opening_min: int
    turn_seconds: int
    result: ResultView | None


def to_plain(view: TableView) -> dict[str, Any]:
    """The view as plain data, fields by name, tuples as lists."""
    plain = dataclasses.asdict(view)
    return _lists(plain)  # type: ignore[no-any-return] # a dict goes in, a dict comes out


def _lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _lists(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_lists(item) for item in value]
    return value
