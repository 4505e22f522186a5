from __future__ import annotations

import pytest

from engine.judging import judge_text
from engine.positions import parse_board, tile_position
from engine.rulesets import ES, NO, PT
from engine.state import MeldKind
from engine.tiles import parse_tile, parse_tiles


def test_a_legal_turn_in_words() -> None:
    judged = judge_text(PT, "R4 R5 R6", "R7", "R4 R5 R6 R7")
    assert (judged.legal, judged.wins, judged.opening_points) == (True, True, 0)
    judged = judge_text(PT, "", "r10, b10, k10, k1", "r10 b10 k10", opened=False)
    assert (judged.legal, judged.wins, judged.opening_points) == (True, False, 30)


def test_an_illegal_turn_names_everything_that_is_wrong() -> None:
    judged = judge_text(PT, "R4 R5 R6", "K1", "R4 R5 | R6 Y2")
    assert [fault.code for fault in judged.faults] == ["TILE-NOT-HELD", "INVALID-SET", "INVALID-SET", "NO-RACK-TILE"]
    assert judged.faults[0].sentence == "Y2: you do not have this on your rack."


def test_exchanges_are_announced_by_place() -> None:
    turn = ("R7 B7 J", "Y7 K1 K2", "R7 B7 Y7 | K1 K2 J")
    assert judge_text(NO, *turn, exchanges=[(0, 2, parse_tile("Y7"))]).legal
    assert not judge_text(NO, *turn).legal


def test_cards_are_not_judged_by_boards() -> None:
    with pytest.raises(ValueError, match="several actions"):
        judge_text(ES, "", "S2", "")


def test_boards_are_read_with_bars_and_kinds() -> None:
    assert parse_board(" R4 R5 R6 | run: J B2 B3 |") == (
        (parse_tiles("R4 R5 R6"), None),
        (parse_tiles("J B2 B3"), MeldKind.RUN),
    )
    assert parse_board("") == ()


def test_a_position_cannot_hold_a_tile_three_times() -> None:
    with pytest.raises(ValueError, match="no more R5"):
        tile_position(PT, parse_board("R5 B5 K5 | R5 B5 K5"), parse_tiles("R5"))
