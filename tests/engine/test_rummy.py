"""The card game: the corners that the cases do not show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from engine.actions import (
    Action,
    DeclareRummikub,
    Discard,
    Draw,
    DrawDealt,
    Pass,
    Play,
    RacksOpened,
    TakeDiscard,
    Timeout,
)
from engine.errors import IllegalMove
from engine.options import with_options
from engine.positions import Position, card_position, parse_board
from engine.rules import apply, at_time_up, judge
from engine.rulesets import ES, RuleSet
from engine.state import Call, CallName, CardTurn, EndedBy, Phase, PublicState, Seat, Slot, TableMeld
from engine.tiles import TileId, parse_tile, parse_tiles

ME = Seat(0)


def position(
    hand: str, *, table: str = "", stock: str = "", discard: str = "C5", drawn: bool = False, rules: RuleSet = ES
) -> Position:
    place = card_position(rules, parse_board(table), parse_tiles(hand), parse_tiles(stock), parse_tiles(discard))
    return replace(place, state=replace(place.state, card_turn=CardTurn(drawn=drawn)))


def after(state: PublicState, *actions: Action) -> PublicState:
    for action in actions:
        state = apply(state, action)
    return state


def codes(state: PublicState, action: Action) -> list[str]:
    with pytest.raises(IllegalMove) as caught:
        apply(state, action)
    return [fault.code for fault in caught.value.faults]


def throw(place: Position, card: str) -> Discard:
    slot, tile = next((slot, tile) for slot, tile in place.tiles.items() if str(place.state.faces[tile]) == card)
    return Discard(ME, slot, tile)


def lay(place: Position, board: str) -> Play:
    return place.play(parse_board(board))


def hand(place: Position, state: PublicState) -> Sequence[str]:
    return sorted(str(state.faces[place.tiles[slot]]) for slot in state.seats[0].rack)


def test_a_hidden_card_from_the_stock_is_a_call_and_the_turn_goes_on() -> None:
    place = position("S2 H9", stock="D4 D5")
    drawing = apply(place.state, Draw(ME))
    assert drawing.call == Call(CallName.DRAW, ME, (Slot(0, 0),), ends_turn=False)
    state = apply(drawing, DrawDealt())
    assert (state.turn, state.card_turn, state.call) == (0, CardTurn(drawn=True), None)


def test_the_pile_turned_over_is_drawn_oldest_first_without_a_call_and_stays_public() -> None:
    place = position("S2 H9", discard="C4 D9 SK")
    state = apply(place.state, Draw(ME))
    assert state.call is None
    assert hand(place, state) == ["C4", "H9", "S2"]
    assert state.stock.open == tuple(slot for slot in place.state.discard[1:])
    assert state.discard == ()
    assert state.turnovers == 1
    thrown = apply(state, throw(place, "C4"))
    assert thrown.turn == 1
    assert thrown.discard == (place.state.discard[0],)


def test_a_maximum_of_turnovers_blocks_the_game_and_scores_it() -> None:
    rules = with_options(ES, {"turnovers": 1})
    place = position("S2 H9", discard="C4", rules=rules)
    state = replace(place.state, turnovers=1)
    blocked = apply(state, Draw(ME))
    assert (blocked.phase, blocked.ended_by, blocked.out) == (Phase.FINAL, EndedBy.BLOCKED, None)
    two, nine = (TileId(ES.faces.index(parse_tile(card))) for card in ("S2", "H9"))
    king = TileId(ES.faces.index(parse_tile("SK")))
    opened = (*zip(blocked.seats[0].rack, (two, nine), strict=True), (blocked.seats[1].rack[0], king))
    over = apply(blocked, RacksOpened(opened))
    assert over.result is not None
    assert over.result.scores == (-11, -10)


def test_with_no_card_left_anywhere_the_turn_goes_on_without_one() -> None:
    place = position("S2 H9", discard="")
    state = apply(place.state, Draw(ME))
    assert (state.card_turn.drawn, state.call, len(state.seats[0].rack)) == (True, None, 2)
    assert codes(place.state, TakeDiscard(ME)) == ["ES-NO-DISCARD"]


@pytest.mark.parametrize("first", [Draw(ME), TakeDiscard(ME)])
def test_one_card_a_turn_from_one_place(first: Action) -> None:
    place = position("S2 H9", discard="C4 C6")
    state = apply(place.state, first)
    for second in (Draw(ME), TakeDiscard(ME)):
        assert codes(state, second) == ["ES-DRAW-TWICE"]


def test_nothing_before_the_draw() -> None:
    place = position("S2 H9 S3 S4", stock="D4")
    assert codes(place.state, throw(place, "H9")) == ["ES-ORDER"]
    assert codes(place.state, lay(place, "S2 S3 S4")) == ["ES-ORDER"]
    assert codes(place.state, Pass(ME)) == ["ES-ORDER"]


def test_after_the_discard_the_turn_is_over() -> None:
    place = position("S2 H9 S3", drawn=True)
    state = apply(place.state, throw(place, "H9"))
    assert codes(state, throw(place, "S2")) == ["ES-TURN-OVER"]
    assert codes(replace(state, turn=ME), Draw(Seat(1))) == ["ES-TURN-OVER"]


@pytest.mark.parametrize(
    ("table", "board", "found"),
    [
        ("S4 S5 S6", "S3 S4 S5 S6 S7", []),
        ("S4 S5 S6", "S4 S5 S6 | H2 D2 C2", []),
        ("H9 D9 C9", "S9 C9 D9 H9", []),  # a group in another order
        ("S4 S5 S6", "S4 S6 S5 S7", ["ES-REARRANGE", "INVALID-SET"]),
        ("S4 S5 S6 | H9 D9 C9", "S4 S5 S6 S7", ["ES-REARRANGE"]),
        ("H7 D7 C7 S7", "H7 D7 C7 | S7 S8 S9", ["ES-REARRANGE"]),
        ("H7 D7 C7 S7", "D7 C7 S7", ["ES-REARRANGE", "NO-RACK-TILE"]),
        ("S4 S5 S6", "S4 S5 S6", ["NO-RACK-TILE"]),
        ("S4 S5 S6", "S4 S5 S6 H2", ["INVALID-SET"]),
        ("S4 S5 S6", "S4 S5 S6 | HK HQ HJ", ["ES-NOT-HELD", "INVALID-SET", "NO-RACK-TILE"]),
        ("", "S7 S8 S9 | H2 D2 C2", ["ES-MELD-LIMIT"]),
    ],
)
def test_melds_and_additions(table: str, board: str, found: list[str]) -> None:
    hand = [card for card in ["S3", "S7", "S8", "S9", "H2", "D2", "C2"] if card not in table]
    place = position(" ".join(hand), table=table, drawn=True)
    assert [fault.code for fault in judge(place.state, lay(place, board)).faults] == found


def test_the_limit_counts_melds_of_the_whole_turn_and_additions_are_free() -> None:
    place = position("S7 S8 S9 H2 D2 C2 HK D5", drawn=True)
    state = apply(place.state, lay(place, "S7 S8 S9"))
    assert (state.turn, state.card_turn.melds, state.call) == (0, 1, None)
    rest = {slot: place.tiles[slot] for slot in state.seats[0].rack}
    more = Position(state, rest, place.tiles)
    assert codes(state, lay(more, "S7 S8 S9 | H2 D2 C2")) == ["ES-MELD-LIMIT"]
    assert apply(replace(state, card_turn=CardTurn(drawn=True)), lay(more, "S7 S8 S9 | H2 D2 C2")).phase is Phase.PLAY


def test_one_card_in_two_melds_is_not_held_twice() -> None:
    place = position("S7 S8 S9 H7 D7", drawn=True)
    good = lay(place, "S7 S8 S9")
    seven = good.board[0].tiles[0]
    twice = replace(good, board=(*good.board, TableMeld((seven, TileId(19), TileId(32)))))
    assert codes(place.state, twice) == ["ES-NOT-HELD"]


def test_laid_cards_count_for_who_laid_them_wherever_they_lie() -> None:
    place = position("S7 H9", table="S4 S5 S6", drawn=True)
    state = after(place.state, lay(place, "S4 S5 S6 S7"), throw(place, "H9"))
    assert (state.phase, state.out) == (Phase.FINAL, 0)
    king = TileId(ES.faces.index(parse_tile("SK")))
    over = apply(state, RacksOpened(((state.seats[1].rack[0], king),)))
    assert over.result is not None
    assert (over.result.scores, over.result.winners, over.result.out) == ((27, -10), (0,), 0)


def test_going_out_by_melding_leaves_the_pile_alone() -> None:
    place = position("S7 S8 S9", drawn=True)
    state = apply(place.state, lay(place, "S7 S8 S9"))
    assert (state.phase, state.out, state.discard) == (Phase.FINAL, 0, place.state.discard)
    assert apply(place.state, DeclareRummikub(lay(place, "S7 S8 S9"))) == state


def test_rummikub_with_a_card_left_is_refused() -> None:
    place = position("S7 S8 S9 H2", drawn=True)
    assert codes(place.state, DeclareRummikub(lay(place, "S7 S8 S9"))) == ["NOT-OUT"]


def test_the_card_taken_may_not_be_thrown_back_but_a_turn_never_gets_stuck() -> None:
    place = position("S7 S8 S9", discard="C5 HQ")
    state = after(place.state, TakeDiscard(ME), lay(place, "S7 S8 S9"))
    assert codes(state, throw(place, "HQ")) == ["ES-DISCARD-SAME"]
    ended = apply(state, Pass(ME))
    assert (ended.turn, len(ended.seats[0].rack)) == (1, 1)
    place = position("S7 S8 S9 H2", discard="C5 HQ")
    state = after(place.state, TakeDiscard(ME), lay(place, "S7 S8 S9"))
    assert codes(state, Pass(ME)) == ["ES-MUST-DISCARD"]
    assert apply(state, throw(place, "H2")).turn == 1


def test_the_card_taken_may_be_thrown_in_a_later_turn() -> None:
    place = position("S7 H2", discard="C5 HQ", stock="D4 D5")
    state = after(place.state, TakeDiscard(ME), throw(place, "H2"))
    state = replace(state, turn=ME, card_turn=CardTurn(drawn=True))
    assert apply(state, throw(place, "HQ")).discard[-1] == place.state.discard[-1]


def test_a_card_that_is_public_elsewhere_cannot_be_thrown() -> None:
    place = position("S7 H2", discard="HQ", drawn=True)
    queen = place.tiles[place.state.discard[0]]
    slot = place.state.seats[0].rack[0]
    for wrong in (Discard(ME, slot, queen), Discard(ME, Slot(0, 0), TileId(3)), Discard(ME, slot, TileId(77))):
        assert codes(place.state, wrong) == ["ES-NOT-HELD"]


def test_no_limit_no_time_out_and_with_one_a_card_is_drawn_if_none_was() -> None:
    assert codes(position("S7 H2").state, Timeout()) == ["NO-TIME-LIMIT"]
    rules = with_options(ES, {"turn_seconds": 60})
    place = position("S7 H2", stock="D4", rules=rules)
    drawing = apply(place.state, Timeout())
    assert drawing.call == Call(CallName.DRAW, ME, (Slot(0, 0),))
    assert apply(drawing, DrawDealt()).turn == 1
    place = position("S7 H2", discard="C4 C6", rules=rules)
    assert apply(place.state, Timeout()).turn == 1, "an open card needs no call"
    place = position("S7 H2", drawn=True, rules=rules)
    late = apply(place.state, Timeout())
    assert (late.turn, len(late.seats[0].rack), late.discard) == (1, 2, place.state.discard)
    assert at_time_up(place.state, None) is None
