"""Rule sets as data: every option of every game is one named field of `RuleSet`.

Source of the values: docs/rules.md, section 5. Nothing here judges a move; see `legality` and `rules`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from engine.tiles import Tile, deck_faces


class JokerMove(Enum):
    """When a joker on the table may stand for something else."""

    REPLACED = "replaced"  # only after a real tile has taken its place
    SAME_NUMBER = "same-number"  # as the same number at any time; as anything after an announced exchange
    FREE = "free"  # at any time, as anything


class FreedJokerPlace(Enum):
    """Where a freed joker may be used in the same turn."""

    ANYWHERE = "anywhere"
    NEW_SET = "new-set"


class StartBy(Enum):
    """How the first player of a series is found."""

    HIGHEST_TILE = "highest-tile"
    LOT = "lot"
    DEALER_LOT = "dealer-lot"  # the lot names the dealer, the next seat starts


class SeriesTie(Enum):
    """How equal totals of a series are told apart."""

    SHARED = "shared"
    MOST_WINS = "most-wins"  # most Rummikubs, then largest sum of positive scores, then first Rummikub


@dataclass(frozen=True, slots=True)
class RuleSet:
    """All options of a game; frozen, comparable, and part of the signed genesis.

    Numbers of tiles are counts, times whole seconds (0 = no limit). `deck` is `tiles` or `cards`.
    """

    name: str
    deck: str = "tiles"
    jokers: int = 2
    hand: int = 14  # tiles dealt to each seat; 0 = by number of players (`es`: 10, 7 or 6)
    min_seats: int = 2
    max_seats: int = 4
    start_by: StartBy = StartBy.HIGHEST_TILE
    opening_min: int = 30
    open_and_rearrange_same_turn: bool = True
    idle_rearrange_allowed: bool = True
    joker_move: JokerMove = JokerMove.REPLACED
    freed_joker_place: FreedJokerPlace = FreedJokerPlace.ANYWHERE
    turn_seconds: int = 60
    timeout_draw: int = 1  # `Timeout`: tiles drawn
    timeout_play_draw: int = 0  # a finished play that stood when time ran out: tiles drawn (none if it won)
    timeout_idle_draw: int = 1  # nothing moved when time ran out: tiles drawn
    timeout_keeps_legal_part: bool = False  # `no`: sets that stand stay, the rest goes back to the rack
    illegal_draw: int = 0  # 0 = an illegal end of turn is refused; else it costs so many tiles and the turn
    rummikub_call: bool = False  # True: the win must be called
    joker_penalty: int = 30
    series_tie: SeriesTie = SeriesTie.SHARED
    rounds: int = 1  # games of a series; 0 = until `target` is reached
    target: int = 0  # points that end a series; 0 = none
    discards: bool = False  # `es`: turns end with a discard
    melds_per_turn: int = 0  # 0 = no limit
    turnovers: int = 0  # `es`: how often the discard pile becomes the stock before the game is blocked; 0 = no limit
    ace_points: int = 1
    court_points: int = 0  # J, Q, K; 0 = their number
    out_bonus: int = 0

    @property
    def faces(self) -> tuple[Tile, ...]:
        """The face of every tile, by tile id."""
        return deck_faces(self.deck, self.jokers)

    def hand_size(self, seats: int) -> int:
        """Tiles dealt to each of `seats` seats."""
        if self.hand:
            return self.hand
        return {2: 10, 3: 7, 4: 7}.get(seats, 6)


PT: Final = RuleSet(
    name="pt",
    idle_rearrange_allowed=False,
    turn_seconds=60,
    timeout_draw=3,
    timeout_idle_draw=1,
    rummikub_call=True,
    series_tie=SeriesTie.MOST_WINS,
)

FI: Final = RuleSet(
    name="fi",
    freed_joker_place=FreedJokerPlace.NEW_SET,
    turn_seconds=120,
    timeout_draw=1,
    timeout_play_draw=1,
    timeout_idle_draw=1,
    illegal_draw=3,
)

NO: Final = RuleSet(
    name="no",
    jokers=4,
    start_by=StartBy.LOT,
    opening_min=40,
    open_and_rearrange_same_turn=False,
    joker_move=JokerMove.SAME_NUMBER,
    turn_seconds=120,
    timeout_draw=1,
    timeout_keeps_legal_part=True,
    joker_penalty=25,
)

ES: Final = RuleSet(
    name="es",
    deck="cards",
    jokers=0,
    hand=0,
    max_seats=6,
    start_by=StartBy.DEALER_LOT,
    opening_min=0,
    turn_seconds=0,
    joker_penalty=20,
    discards=True,
    melds_per_turn=1,
    ace_points=1,
    court_points=10,
    out_bonus=20,
)

RULE_SETS: Final[dict[str, RuleSet]] = {rules.name: rules for rules in (PT, FI, NO, ES)}
