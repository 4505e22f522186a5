"""`node.draft`: what an unfinished turn amounts to, and what each button makes of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.actions import Discard, Draw, DrawReason, Exchange, Pass, Play, TakeDiscard
from engine.errors import IllegalMove
from engine.positions import Position, card_position, parse_board, tile_position
from engine.rules import apply
from engine.rulesets import ES, FI, NO, PT, RuleSet
from engine.state import Phase, Slot
from engine.tiles import TileId, parse_tiles
from node.draft import Draft, NotADraft, OwnTurn, may_draft


def tiles(rules: RuleSet, board: str, rack: str, draft: str | None = None, *, opened: bool = True) -> OwnTurn:
    return turn(tile_position(rules, parse_board(board), parse_tiles(rack), opened=opened), draft)


def cards(
    hand: str, draft: str | None = None, *, drawn: bool = True, took: str = "", table: str = "H4 H5 H6"
) -> OwnTurn:
    position = card_position(ES, parse_board(table), parse_tiles(hand), parse_tiles("CJ CQ"), parse_tiles(f"C2 {took}"))
    if not drawn:
        return turn(position, draft)
    if took:
        state = apply(position.state, TakeDiscard(position.state.turn))
    else:
        state = replace(position.state, card_turn=replace(position.state.card_turn, drawn=True))
    known = state.known_tiles()
    rack = {slot: known.get(slot, position.tiles[slot]) for slot in state.seats[0].rack}
    return turn(replace(position, state=state, rack=rack), draft)


def turn(position: Position, draft: str | None) -> OwnTurn:
    melds = position.state.board if draft is None else position.place(parse_board(draft))
    return OwnTurn.of(position.state, position.state.turn, position.rack, Draft(melds))


def tile(own: OwnTurn, face: str) -> TileId:
    return next(tile for tile in own.tiles if str(own.state.faces[tile]) == face)


def message(own: OwnTurn) -> dict[str, Any]:
    return {"draft_no": 1, **own.draft.plain()}


def refusal(own: OwnTurn, command: str, face: str | None = None) -> str:
    with pytest.raises(IllegalMove) as refused:
        apply(own.state, own.action(command, None if face is None else tile(own, face)))
    return refused.value.code


def test_draft_goes_to_the_page_and_comes_back_the_same() -> None:
    own = tiles(NO, "R5 J R7", "R6 B6 K6", "R5 R6 R7 | J B6 K6")
    own = replace(own, draft=replace(own.draft, exchanges=(Exchange(0, 1, tile(own, "R6")),)))
    assert own.read_draft(message(own)) == own.draft
    assert own.play.exchanges == own.draft.exchanges
    assert not own.judged()["faults"]


def test_draft_with_tiles_from_nowhere_is_none() -> None:
    own = tiles(PT, "R5 R6 R7", "B9")
    elsewhere = next(TileId(n) for n in range(106) if n not in own.tiles and n not in own.state.board[0].tiles)
    with pytest.raises(NotADraft, match="neither on the board nor on your rack"):
        own.read_draft({"melds": [{"tiles": [elsewhere], "kind": None}]})


@pytest.mark.parametrize("face", ["B9", "R5"])
def test_exchange_names_a_tile_that_is_laid(face: str) -> None:
    own = tiles(NO, "R5 J R7", "B9 R6")
    named = tile(own, face) if face == "B9" else own.state.board[0].tiles[0]
    exchange = {"meld": 0, "position": 1, "tile": named}
    with pytest.raises(NotADraft, match="a tile of your rack that you lay"):
        own.read_draft({**message(own), "exchanges": [exchange]})


def test_end_of_turn_is_the_play_or_the_penalty_of_the_rules() -> None:
    legal = tiles(FI, "R5 R6 R7", "R8 B9 K9", "R5 R6 R7 R8")
    assert isinstance(legal.action("end_turn"), Play)
    assert legal.judged()["illegal_costs"] == 0
    illegal = tiles(FI, "R5 R6 R7", "B9 K9 Y1", "R5 R6 R7 | B9 K9")
    assert illegal.action("end_turn") == Draw(illegal.seat, DrawReason.ILLEGAL)
    assert illegal.judged()["illegal_costs"] == 3
    assert not illegal.judged()["can_end"]
    refused = tiles(PT, "R5 R6 R7", "B9 K9 Y1", "R5 R6 R7 | B9 K9")
    assert refusal(refused, "end_turn") == "INVALID-SET"
    assert refused.judged()["illegal_costs"] == 0


def test_untouched_board_costs_nothing_and_only_then_one_may_draw() -> None:
    own = tiles(FI, "R5 R6 R7", "B9 K9 Y1")
    judged = own.judged()
    assert (judged["faults"], judged["can_draw"], judged["can_end"], judged["illegal_costs"]) == ([], True, False, 0)
    assert own.action("draw") == Draw(own.seat)
    touched = tiles(FI, "R5 R6 R7", "R8 K9 Y1", "R5 R6 R7 R8")
    assert refusal(touched, "draw") == "DRAFT-OPEN"
    assert refusal(touched, "pass") == "DRAFT-OPEN"
    assert touched.judged()["can_draw"] is False


@pytest.mark.parametrize(("rules", "opened", "may"), [(NO, True, True), (NO, False, False), (PT, True, False)])
def test_jokers_are_exchanged_with_notice_only_in_one_rule_set_and_after_the_opening(
    rules: RuleSet, opened: bool, may: bool
) -> None:
    assert tiles(rules, "R5 J R7", "R6", opened=opened).judged()["can_exchange"] is may


def test_turn_with_cards_begins_with_one_card() -> None:
    own = cards("S7 D7 C7 SK", drawn=False)
    judged = own.judged()
    assert judged["phase_hint"] == "Draw a card first, from the stock or from the discard pile."
    assert (judged["can_draw"], judged["can_take_discard"], judged["can_discard"]) == (True, True, [])
    assert own.action("draw") == Draw(own.seat)
    assert own.action("take_discard") == TakeDiscard(own.seat)
    assert refusal(own, "discard", "SK") == "ES-ORDER"
    laid = cards("S7 D7 C7 SK", "H4 H5 H6 | S7 D7 C7", drawn=False)
    assert laid.judged()["can_draw"] is True  # what was laid out waits
    assert laid.judged()["phase_hint"] is None
    assert [fault["code"] for fault in laid.judged()["faults"]] == ["ES-ORDER"]


def test_after_the_draw_cards_are_laid_or_one_is_discarded() -> None:
    own = cards("S7 D7 C7 SK", took="C9")
    judged = own.judged()
    assert (judged["can_draw"], judged["can_take_discard"], judged["can_rummikub"]) == (False, False, False)
    assert set(judged["can_discard"]) == {tile(own, face) for face in ("S7", "D7", "C7", "SK")}
    assert own.action("discard", tile(own, "SK")) == Discard(own.seat, own.tiles[tile(own, "SK")], tile(own, "SK"))
    assert refusal(own, "discard", "C9") == "ES-DISCARD-SAME"
    assert refusal(own, "draw") == "ES-DRAW-TWICE"
    assert refusal(own, "pass") == "ES-MUST-DISCARD"
    with pytest.raises(IllegalMove, match="ES-NOT-HELD"):
        apply(own.state, own.action("discard", 51))
    laid = cards("S7 D7 C7 SK", "H4 H5 H6 | S7 D7 C7", took="C9")
    assert isinstance(laid.action("lay"), Play)
    assert laid.judged()["phase_hint"] == "This is legal: lay it down."
    assert refusal(laid, "discard", "SK") == "DRAFT-OPEN"
    assert laid.judged()["can_discard"] == []


def test_turn_ends_without_a_discard_only_where_none_is_allowed() -> None:
    own = cards("", took="C9")
    judged = own.judged()
    assert judged["can_pass"] is True
    assert judged["can_discard"] == []
    assert judged["phase_hint"] == "The card you have left may not be thrown back: end your turn."
    assert own.action("pass") == Pass(own.seat)
    assert cards("SK", took="C9").judged()["can_pass"] is False


def test_cards_on_the_table_never_leave_their_meld() -> None:
    own = cards("H3 SK", "H3 H5 H6 H4")
    assert [fault["code"] for fault in own.judged()["faults"]] == ["ES-REARRANGE", "INVALID-SET"]
    assert cards("H3 SK", "H3 H4 H5 H6").judged()["can_end"] is True


def test_own_tiles_include_open_cards_of_the_hand() -> None:
    own = cards("SK", took="C9")
    assert {str(own.state.faces[found]) for found in own.tiles} == {"SK", "C9"}
    assert all(isinstance(slot, Slot) for slot in own.tiles.values())


def test_only_the_seat_whose_turn_it_is_may_draft() -> None:
    own = tiles(PT, "R5 R6 R7", "B9")
    assert may_draft(own.state, own.seat)
    assert not may_draft(replace(own.state, turn=type(own.seat)(1)), own.seat)
    assert not may_draft(replace(own.state, phase=Phase.FINAL), own.seat)


def test_unknown_button_is_our_mistake() -> None:
    with pytest.raises(ValueError, match="not a button"):
        tiles(PT, "R5 R6 R7", "B9").action("jump")
