from __future__ import annotations

import dataclasses
from dataclasses import replace
from enum import Enum
from typing import Any

from engine.options import with_options
from engine.rulesets import PT, RuleSet
from engine.state import (
    Call,
    CallName,
    CardTurn,
    EndedBy,
    GameResult,
    MeldKind,
    Paused,
    PendingDraw,
    Phase,
    PublicState,
    Seat,
    SeatState,
    Slot,
    Stock,
    TableMeld,
    Used,
    state_hash,
)
from engine.tiles import TileId

RESULT = GameResult(EndedBy.OUT, (5, -5), (Seat(0),), Seat(0))
STATE = PublicState(
    rules=PT,
    game=1,
    phase=Phase.PLAY,
    seats=(SeatState(rack=(Slot(0, 1),)), SeatState()),
    stock=Stock(0, 30, 106, (Slot(0, 7),)),
    starter=Seat(1),
    board=(TableMeld((TileId(1), TileId(3), TileId(5)), MeldKind.RUN),),
    known=((Slot(0, 2), TileId(1)),),
    call=Call(CallName.DRAW, Seat(0), (Slot(0, 3),)),
    result=RESULT,
    results=(RESULT,),
)
OTHER: dict[str, list[Any]] = {
    "rules": [with_options(PT, {"opening_min": 50})],
    "game": [2],
    "phase": [Phase.FINAL],
    "seats": [
        (SeatState(rack=(Slot(0, 9),)), SeatState()),
        (SeatState(rack=(Slot(0, 1),), opened=True), SeatState()),
        (SeatState(rack=(Slot(0, 1),), in_game=False), SeatState()),
        (SeatState(rack=(Slot(0, 1),), laid=(TileId(4),)), SeatState()),
        (SeatState(rack=(Slot(0, 1),), lost=0), SeatState()),
        (SeatState(rack=(Slot(0, 1),), lost=1), SeatState()),
        (SeatState(), SeatState(rack=(Slot(0, 1),))),
        (SeatState(rack=(Slot(0, 1),), used=Used(pauses=1)), SeatState()),
        (SeatState(rack=(Slot(0, 1),), used=Used(extensions=1)), SeatState()),
        (SeatState(rack=(Slot(0, 1),), used=Used(take_backs=1)), SeatState()),
    ],
    "stock": [
        Stock(1, 30, 106, (Slot(0, 7),)),
        Stock(0, 31, 106, (Slot(0, 7),)),
        Stock(0, 30, 105, (Slot(0, 7),)),
        Stock(0, 30, 106),
    ],
    "starter": [None, Seat(0)],
    "turn": [Seat(1)],
    "turn_number": [1],
    "board": [
        (TableMeld((TileId(1), TileId(3), TileId(5)), MeldKind.GROUP),),
        (TableMeld((TileId(1), TileId(5), TileId(3)), MeldKind.RUN),),
        (),
    ],
    "discard": [(Slot(0, 4),)],
    "known": [((Slot(0, 2), TileId(2)),), ((Slot(1, 2), TileId(1)),), ()],
    "passes": [1],
    "card_turn": [CardTurn(drawn=True), CardTurn(taken=Slot(0, 1)), CardTurn(melds=1)],
    "turnovers": [1],
    "call": [
        None,
        Call(CallName.DRAW, Seat(1), (Slot(0, 3),)),
        Call(CallName.DRAW, Seat(0), (Slot(0, 4),)),
        Call(CallName.DRAW, Seat(0), (Slot(0, 3),), ends_turn=False),
        Call(CallName.FINAL, Seat(0), (Slot(0, 3),)),
        Call(CallName.DRAW, Seat(0), (Slot(0, 3),), then=PendingDraw(Seat(0), 1, True)),
        Call(CallName.DRAW, Seat(0), (Slot(0, 3),), then=PendingDraw(Seat(1), 1, True)),
        Call(CallName.DRAW, Seat(0), (Slot(0, 3),), then=PendingDraw(Seat(0), 2, True)),
        Call(CallName.DRAW, Seat(0), (Slot(0, 3),), then=PendingDraw(Seat(0), 1, False)),
    ],
    "ended_by": [EndedBy.OUT],
    "out": [Seat(0)],
    "result": [None, replace(RESULT, scores=(6, -6)), replace(RESULT, winners=()), replace(RESULT, out=None)],
    "results": [(), (RESULT, RESULT), (replace(RESULT, ended_by=EndedBy.BLOCKED),)],
    "paused": [Paused.MINUTE, Paused.LONG],
    "undo": [STATE, replace(STATE, turn_number=1)],
}


def test_every_field_of_the_state_is_in_its_hash() -> None:
    assert set(OTHER) == {item.name for item in dataclasses.fields(PublicState)}
    hashes = {state_hash(STATE)}
    count = 1
    for name, values in OTHER.items():
        for value in values:
            hashes.add(state_hash(replace(STATE, **{name: value})))
            count += 1
    assert len(hashes) == count


def test_every_option_of_the_rule_set_is_in_the_hash() -> None:
    for item in dataclasses.fields(RuleSet):
        value = getattr(PT, item.name)
        other: Any = "other"
        if isinstance(value, bool):
            other = not value
        elif isinstance(value, int):
            other = value + 1
        elif isinstance(value, Enum):
            other = next(choice for choice in type(value) if choice is not value)
        assert state_hash(replace(STATE, rules=replace(PT, **{item.name: other}))) != state_hash(STATE), item.name


def test_the_hash_is_fixed_for_good() -> None:
    """A change here means that old game files no longer verify."""
    assert len(state_hash(STATE)) == 32
    assert state_hash(STATE).hex() == "709066e9fde963e8acb7f2a54529d2ccce56e7720bfd8237b6370953e3e32372"


def test_open_slots_of_the_stock_are_taken_first() -> None:
    slots, left = STATE.stock.take(3)
    assert slots == (Slot(0, 7), Slot(0, 30), Slot(0, 31))
    assert left == Stock(0, 32, 106)
    slots, left = Stock(0, 105, 106).take(3)
    assert (slots, left.left) == ((Slot(0, 105),), 0)
