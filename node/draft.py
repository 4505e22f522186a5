"""The player's unfinished turn: the board as it lies in front of them, what it amounts to, and what may be done now.

Pure functions of the public state and the own tiles; everything is judged by the engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.actions import Discard, Draw, Exchange, Pass, Play, SeatAction, TakeDiscard
from engine.errors import Fault, IllegalMove
from engine.melds import Meld
from engine.rules import apply, drawing_faults, empties_rack, end_turn, is_untouched, judge
from engine.rulesets import JokerMove
from engine.state import MeldKind, Phase, PublicState, Seat, Slot, TableMeld
from engine.tiles import TileId

_LAY_FIRST = Fault("DRAFT-OPEN", "First lay down the cards that you put on the table, or take them back.")


class NotADraft(ValueError):  # noqa: N818 - named for what it is
    """The page sent a draft that no rack and board can give. The text is a sentence for the player."""


@dataclass(frozen=True, slots=True)
class Draft:
    """The melds as they lie in front of the player, and the exchanges of jokers announced so far."""

    melds: tuple[TableMeld, ...]
    exchanges: tuple[Exchange, ...] = ()

    def plain(self) -> dict[str, Any]:
        """The draft as the page has it."""
        return {
            "melds": [
                {"tiles": list(meld.tiles), "kind": None if meld.kind is None else meld.kind.value}
                for meld in self.melds
            ],
            "exchanges": [
                {"meld": exchange.meld, "position": exchange.position, "tile": exchange.tile}
                for exchange in self.exchanges
            ],
        }


@dataclass(frozen=True, slots=True)
class OwnTurn:
    """A seat in front of a table. `tiles`: its whole rack, the slot of every tile. Secret."""

    state: PublicState
    seat: Seat
    tiles: Mapping[TileId, Slot]
    draft: Draft

    @classmethod
    def of(cls, state: PublicState, seat: Seat, hidden: Mapping[Slot, TileId], draft: Draft | None = None) -> OwnTurn:
        """`hidden` are the seat's own hidden slots; `draft` None: the board as it is."""
        known = state.known_tiles()
        rack = state.seats[seat].rack
        tiles = {known.get(slot, hidden.get(slot)): slot for slot in rack}
        own = {tile: slot for tile, slot in tiles.items() if tile is not None}
        return cls(state, seat, own, Draft(state.board) if draft is None else draft)

    @property
    def play(self) -> Play:
        """The play that the draft stands for."""
        laid = tuple((self.tiles[tile], tile) for meld in self.draft.melds for tile in meld.tiles if tile in self.tiles)
        return Play(self.seat, self.draft.melds, laid, exchanges=self.draft.exchanges)

    def read_draft(self, message: Mapping[str, Any]) -> Draft:
        """The draft in a page's message. Raises `NotADraft`."""
        on_board = {tile for meld in self.state.board for tile in meld.tiles}
        melds = tuple(
            TableMeld(
                tuple(TileId(tile) for tile in meld["tiles"]),
                None if meld.get("kind") is None else MeldKind(meld["kind"]),
            )
            for meld in message["melds"]
        )
        lying = {tile for meld in melds for tile in meld.tiles}
        if not lying <= on_board | self.tiles.keys():
            raise NotADraft("One of these tiles is neither on the board nor on your rack.")
        exchanges = tuple(
            Exchange(item["meld"], item["position"], TileId(item["tile"])) for item in message.get("exchanges") or ()
        )
        if any(exchange.tile not in lying & self.tiles.keys() for exchange in exchanges):
            raise NotADraft("A joker is exchanged for a tile of your rack that you lay in its place.")
        return Draft(melds, exchanges)

    # What a button means

    def action(self, command: str, tile: int | None = None) -> SeatAction:
        """What pressing a button does: `draw`, `pass`, `take_discard`, `discard` (a tile), `end_turn` or `lay`.

        Raises `IllegalMove`; what it gives may still be refused by `apply`.
        """
        cards = self.state.rules.discards
        match command:
            case "draw" | "pass":
                wrong = () if cards else drawing_faults(self.state, self.play)
                if wrong:
                    raise IllegalMove(wrong)
                return Draw(self.seat) if command == "draw" else Pass(self.seat)
            case "take_discard":
                return TakeDiscard(self.seat)
            case "discard":
                return self._discard(TileId(-1 if tile is None else tile))
            case "end_turn" | "lay":
                return end_turn(self.state, self.play)
            case other:
                raise ValueError(f"not a button of a turn: {other}")

    def _discard(self, tile: TileId) -> Discard:
        if self.state.card_turn.drawn and not is_untouched(self.state, self.play):
            raise IllegalMove((_LAY_FIRST,))
        return Discard(self.seat, self.tiles.get(tile, Slot(-1, -1)), tile)

    def _may(self, command: str, tile: int | None = None) -> bool:
        try:
            apply(self.state, self.action(command, tile))
        except IllegalMove:
            return False
        return True

    # What the page shows of it

    def judged(self) -> dict[str, Any]:
        """What the engine says of the draft and of what may be done now, as plain data."""
        state, play = self.state, self.play
        verdict = judge(state, play)
        melds = verdict.melds or (None,) * len(play.board)
        untouched = is_untouched(state, play)
        found = () if untouched else verdict.faults
        legal = not untouched and not found
        opened = state.seats[self.seat].opened
        cards = state.rules.discards
        discards = [tile for tile in self.tiles if cards and untouched and self._may("discard", tile)]
        may_end = cards and self._may("pass")
        return {
            "faults": [
                {"code": f.code, "sentence": f.sentence, "melds": list(f.melds), "tiles": list(f.tiles)} for f in found
            ],
            "melds": [_read(meld, table_meld) for meld, table_meld in zip(melds, play.board, strict=True)],
            "opening_points": verdict.opening_points,
            "opening_needed": 0 if opened else state.rules.opening_min,
            "laid": len(play.laid),
            "can_end": legal,
            "can_rummikub": legal and not cards and empties_rack(state, play),
            "can_draw": self._may("draw") if cards else untouched,
            "can_take_discard": cards and self._may("take_discard"),
            "can_discard": discards,
            "can_pass": may_end,
            "can_exchange": opened and state.rules.joker_move is JokerMove.SAME_NUMBER,
            "illegal_costs": 0 if legal or untouched else state.rules.illegal_draw,
            "phase_hint": self._hint(untouched, legal, may_end) if cards and not found else None,
        }

    def _hint(self, untouched: bool, legal: bool, may_end: bool) -> str:
        """What comes next in a turn with cards."""
        if not self.state.card_turn.drawn:
            taking = ", from the stock or from the discard pile" if self.state.discard else ""
            return f"Draw a card first{taking}."
        if legal and not untouched:
            return "This is legal: lay it down."
        if may_end:
            return "The card you have left may not be thrown back: end your turn."
        return "Lay melds, add cards to melds on the table, or discard a card to end your turn."


def may_draft(state: PublicState, seat: Seat) -> bool:
    """Whether it is the seat's turn, so that it may move what lies on the table."""
    return state.turn == seat and state.phase is Phase.PLAY


def _read(reading: Meld | None, meld: TableMeld) -> dict[str, Any]:
    """How a meld of the draft reads: kind and points, or nothing if it is none."""
    if reading is None:
        return {"kind": None, "points": 0, "stands_for": [[] for _tile in meld.tiles]}
    return {
        "kind": reading.kind.value,
        "points": reading.points,
        "stands_for": [[str(tile) for tile in faces] for faces in reading.by_place],
    }
