"""What a press of the table device does at the node of the player whose turn it is."""

from __future__ import annotations

from engine.rulesets import ES, FI, PT
from engine.state import Seat
from protocol.messages import Button
from tests.node.test_desk import cards, draft, tiles

BUTTON = Button.END_TURN


def test_it_ends_the_turn_with_the_draft_as_it_lies() -> None:
    top = tiles(PT, "R5 R6 R7", "R8 B1 B2")
    draft(top, "R5 R6 R7 R8")
    assert top.press(BUTTON) is None
    assert len(top.state.board[0].tiles) == 4
    assert top.state.turn == Seat(1)


def test_it_draws_where_nothing_has_moved() -> None:
    top = tiles(PT, "R5 R6 R7", "R8 B1 B2")
    assert top.press(BUTTON) is None
    assert len(top.state.seats[0].rack) == 4


def test_an_illegal_draft_is_refused_with_the_reason_and_lies_as_it_lay() -> None:
    top = tiles(PT, "R5 R6 R7", "R8 B1 B2")
    draft(top, "R5 R6 R7", "B1 B2")
    refused = top.press(BUTTON)
    assert refused is not None
    assert "B1 B2" in refused
    assert top.state.turn == Seat(0)
    assert len(top.desk.snapshot()["table"]["draft"]["melds"]) == 2


def test_what_costs_tiles_takes_a_second_press() -> None:
    top = tiles(FI, "R5 R6 R7", "R8 B1 B2")
    draft(top, "R5 R6 R7", "B1 B2")
    refused = top.press(BUTTON)
    assert refused is not None
    assert refused.startswith("Costs 3 tiles: press again.")
    assert top.state.turn == Seat(0)
    assert top.press(BUTTON) is None
    assert len(top.state.seats[0].rack) == 6


def test_the_other_button_calls_the_win_or_says_why_not() -> None:
    top = tiles(PT, "R5 R6 R7", "R8 R9")
    draft(top, "R5 R6 R7 R8")
    assert top.press(Button.RUMMIKUB) is not None
    draft(top, "R5 R6 R7 R8 R9")
    must_call = top.press(BUTTON)
    assert must_call is not None
    assert "Rummikub" in must_call
    assert top.press(Button.RUMMIKUB) is None
    assert top.state.out == Seat(0)


def test_a_pause_and_the_way_out_of_it() -> None:
    top = tiles(PT, "R5 R6 R7", "R8 B1 B2")
    assert top.press(Button.PAUSE) is None
    assert top.state.paused is not None
    assert top.press(BUTTON) is None
    assert top.state.paused is None
    assert top.state.turn == Seat(0)


def test_with_cards_it_takes_the_screen_to_choose_what_is_thrown() -> None:
    top = cards("H7 S2 S3", ES)
    refused = top.press(BUTTON)
    assert refused is not None
    assert "your own screen" in refused
