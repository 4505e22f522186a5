"""A real desk in front of a real game of the engine, without a network. The page's own seat is 0."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

from engine.actions import Action, DrawDealt, NextGame, RacksDealt, RacksOpened, StartDealt
from engine.errors import IllegalMove
from engine.positions import Position
from engine.rules import apply
from engine.rulesets import RuleSet
from engine.series import standing
from engine.state import CallName, Phase, PublicState, Seat, SeatState, Slot
from engine.tiles import TileId
from node.app import Node
from node.desk import NodeDesk
from protocol.consensus.absence import Absence
from protocol.consensus.clock import TurnClock
from protocol.errors import LocalProtocolError
from protocol.events import EntryCommitted, EvidenceFound, Pressed
from protocol.game import request_action
from protocol.messages import Button, Genesis, Member, RequestKind
from protocol.session import Session

NAMES = ("Ana", "Bruno", "Clara")
OWN = Seat(0)


class TableTop:
    """Stands in for node and session of a `NodeDesk`: agrees with every legal action at once.

    `holds_draws`: the next draws stay under way until `close_call`.
    """

    node_id = b"\0" * 32
    name = "Ana"
    port = 7654
    notice: str | None = None
    trouble: str | None = None
    address: str = "192.168.7.9:47701"
    table_notice: str | None = None

    def __init__(self, position: Position | None = None, others: int = 1, hand: int = 3) -> None:
        """The seats besides the own one hold `hand` tiles each."""
        self.hall = SimpleNamespace(tables=lambda: ())
        self.holds_draws = False
        self.press_answers: list[str | None] = []
        self.opened: list[tuple[str, RuleSet]] = []
        self.wishes: set[Seat] = set()
        self.session: Session | None = None
        self._watchers: list[Callable[[], None]] = []
        self._listeners: list[Callable[[Any], None]] = []
        self._tiles: dict[Slot, TileId] = {}
        self._height = 7
        self.draft = None
        self.call = None
        self.over = False
        self.own_seat = OWN
        self.evidence: list[EvidenceFound] = []
        self.void = None
        self.game = self  # whoever asks only wants to know that there is one
        self.clock = TurnClock()
        self.seat = OWN
        if position is not None:
            self._sit_at(position, others, hand)
        self.desk = NodeDesk(cast(Node, self))

    def _sit_at(self, position: Position, others: int, hand: int) -> None:
        racks = [tuple(Slot(0, 5000 + 100 * seat + index) for index in range(hand)) for seat in range(1, others + 1)]
        seats = (position.state.seats[0], *(SeatState(rack=rack, opened=True) for rack in racks))
        self.state: PublicState = replace(position.state, seats=seats)
        self._tiles = dict(position.tiles)
        taken = {*self._tiles.values(), *position.state.known_tiles().values()}
        free = (TileId(tile) for tile in range(len(self.state.faces)) if tile not in taken)
        self._fill([slot for rack in racks for slot in rack], free)
        self._fill([Slot(0, index) for index in range(self.state.stock.size)], free)
        members = tuple(Member(NAMES[seat], bytes([seat]) * 32, False, bytes(32)) for seat in range(others + 1))
        self.genesis = Genesis(bytes(16), "Kitchen table", self.state.rules, members)
        self.session = cast(Session, self)

    def _fill(self, slots: list[Slot], free: Iterator[TileId]) -> None:
        for slot in slots:
            if slot not in self._tiles:
                self._tiles[slot] = next(free)

    # As a node

    def watch(self, changed: Callable[[], None]) -> Callable[[], None]:
        self._watchers.append(changed)
        return lambda: self._watchers.remove(changed)

    def listen(self, told: Callable[[Any], None]) -> None:
        self._listeners.append(told)

    def linked(self) -> tuple[bytes, ...]:
        return tuple(member.node for member in self.genesis.members)

    def do(self, wish: Callable[[Any, float], object]) -> None:
        wish(self, 0.0)

    def open_table(self, name: str, rules: RuleSet) -> None:
        self.opened.append((name, rules))
        self.notice = f"{len(self.opened)} tables were opened."
        self._changed()

    # As a session

    @property
    def height(self) -> int:
        return self._height

    def own_tiles(self) -> Mapping[Slot, TileId]:
        return {slot: self._tiles[slot] for slot in self.state.hidden_slots(OWN)}

    def remaining_s(self, _now_s: float) -> None:
        return None

    def act(self, action: Action, _now_s: float = 0.0) -> None:
        """Does an action of any seat. Raises `IllegalMove`."""
        self._commit(action)
        call = self.state.call
        if call is not None and not (self.holds_draws and call.name is CallName.DRAW):
            self.close_call()

    def why_not_ask(self, kind: RequestKind) -> str | None:
        try:
            apply(self.state, request_action(kind, OWN))
        except IllegalMove as move:
            return move.sentence
        return None

    def ask(self, kind: RequestKind, _now_s: float) -> None:
        """Is granted at once, if the rules allow it."""
        self._commit(request_action(kind, OWN))

    def asks(self) -> frozenset[RequestKind]:
        return frozenset()

    def requests(self) -> dict[RequestKind, tuple[Seat, ...]]:
        return {}

    def consents_awaited(self) -> tuple[RequestKind, ...]:
        return ()

    def absences(self) -> tuple[Absence, ...]:
        return ()

    def late(self, _now_s: float) -> tuple[Seat, ...]:
        return ()

    def may_go_on_without(self, _now_s: float) -> tuple[Seat, ...]:
        return ()

    def go_on_wishes(self) -> dict[Seat, tuple[int, ...]]:
        return {}

    def seats_in_game(self) -> tuple[Seat, ...]:
        return tuple(Seat(seat) for seat in range(len(self.state.seats)))

    def next_game_wishes(self) -> frozenset[Seat]:
        return frozenset(self.wishes)

    def may_wish(self) -> bool:
        result = self.state.result
        if result is None or OWN in self.wishes:
            return False
        return not standing(self.state.rules, (*self.state.results, result), len(self.state.seats)).over

    def wish_next_game(self, _now_s: float, seat: Seat = OWN) -> None:
        """The next game begins when all wish it, and is dealt at once."""
        if self.state.result is None:
            raise LocalProtocolError("there is no next game now")
        self.wishes.add(seat)
        if len(self.wishes) == len(self.state.seats):
            self.wishes.clear()
            self.act(NextGame(self.state.game + 1))
        self._changed()

    def answer_press(self, _press: bytes, refused: str | None) -> None:
        self.press_answers.append(refused)

    # What the test does

    def press(self, button: Button) -> str | None:
        """The table device's button is pressed in the own turn; why nothing came of it."""

        async def pressed() -> None:
            for told in self._listeners:
                told(Pressed(bytes(32), "Clock", button))
            await asyncio.sleep(0)  # what is due now is done

        asyncio.run(pressed())
        return self.press_answers[-1]

    def close_call(self) -> None:
        """The dealer does what the open call asks for, until none is open."""
        while (call := self.state.call) is not None:
            match call.name:
                case CallName.START:
                    deck = [TileId(tile) for tile in range(len(self.state.faces))]
                    random.Random(7).shuffle(deck)
                    self._tiles = {Slot(0, index): tile for index, tile in enumerate(deck)}
                    self._commit(StartDealt(None))
                case CallName.RACKS:
                    dealt = self.state.rules.hand_size(len(self.state.seats)) * len(self.state.seats)
                    self._commit(RacksDealt(self._tiles[Slot(0, dealt)] if self.state.rules.discards else None))
                case CallName.FINAL:
                    hidden = [
                        slot for seat in range(len(self.state.seats)) for slot in self.state.hidden_slots(Seat(seat))
                    ]
                    self._commit(RacksOpened(tuple((slot, self._tiles[slot]) for slot in sorted(hidden))))
                case _:
                    self._commit(DrawDealt())

    def _commit(self, action: Action) -> None:
        actor = self.state.turn if self.state.phase is Phase.PLAY else None
        self.state = apply(self.state, action)
        self._height += 1
        for told in self._listeners:
            told(EntryCommitted(self._height, 0, "action", actor, action))
        self._changed()

    def _changed(self) -> None:
        for changed in tuple(self._watchers):
            changed()

    def tile(self, face: str) -> int:
        """The id of the tile of this face that is on the own rack, the board or the discard pile."""
        known = self.state.known_tiles()
        rack = [known.get(slot, self._tiles.get(slot)) for slot in self.state.seats[OWN].rack]
        lying = [tile for meld in self.state.board for tile in meld.tiles]
        seen = [*rack, *lying, *(known[slot] for slot in self.state.discard)]
        return next(tile for tile in seen if tile is not None and str(self.state.faces[tile]) == face)

    def board(self) -> list[str]:
        """The melds on the agreed board, as faces."""
        return [" ".join(str(self.state.faces[tile]) for tile in meld.tiles) for meld in self.state.board]

    def own_faces(self) -> list[str]:
        """The own rack, as faces in alphabetical order."""
        known = self.state.known_tiles()
        tiles = [known.get(slot, self._tiles.get(slot)) for slot in self.state.seats[OWN].rack]
        return sorted(str(self.state.faces[tile]) for tile in tiles if tile is not None)
