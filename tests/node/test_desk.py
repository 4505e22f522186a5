"""`node.desk`: what the page is shown and what its commands come to, with a real game and no page."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.positions import card_position, parse_board, tile_position
from engine.rulesets import ES, FI, NO, RuleSet
from engine.state import Seat
from engine.tiles import parse_tiles
from node.tablerules import rules_text, table_rules
from node.web.commands import PageRefusal
from tests.browser.tabletop import TableTop


def tiles(rules: RuleSet, board: str, rack: str) -> TableTop:
    return TableTop(tile_position(rules, parse_board(board), parse_tiles(rack)))


def cards(hand: str, rules: RuleSet = ES) -> TableTop:
    position = card_position(rules, parse_board("H4 H5 H6"), parse_tiles(hand), parse_tiles("D9 CJ"), parse_tiles("C9"))
    return TableTop(position)


def draft(top: TableTop, *melds: str) -> dict[str, Any]:
    named = [{"tiles": [top.tile(face) for face in meld.split()], "kind": None} for meld in melds]
    answer = top.desk.command({"type": "draft", "draft_no": 4, "melds": named})
    assert answer is not None
    assert answer["draft_no"] == 4
    return dict(answer["judged"])


def refused(top: TableTop, kind: str, **fields: object) -> PageRefusal:
    with pytest.raises(PageRefusal) as refusal:
        top.desk.command({"type": kind, **fields})
    return refusal.value


def shown(top: TableTop) -> dict[str, Any]:
    state = top.desk.snapshot()
    json.dumps(state)  # plain data only
    return dict(state["table"])


def test_lobby_says_what_keeps_nodes_apart() -> None:
    top = TableTop()
    assert top.desk.snapshot()["lobby"]["notice"] is None
    top.trouble = "No link with 10.0.0.7:7654: another version of the program."
    assert top.desk.snapshot()["lobby"]["notice"] == top.trouble
    top.notice = "The last game could not be taken up."
    assert top.desk.snapshot()["lobby"]["notice"] == f"{top.notice} {top.trouble}"


def test_table_is_opened_with_house_rules_or_refused_by_field() -> None:
    top = TableTop()
    top.desk.command(
        {"type": "open_table", "name": "Den", "rules": "fi", "turn_seconds": None, "options": {"rounds": 4}}
    )
    assert top.opened == [("Den", table_rules("fi", None, {"rounds": 4}))]
    refusal = refused(top, "open_table", name="Den", rules="fi", options={"rounds": 400})
    assert refusal.code == "OPTION-RANGE"
    assert refusal.fields.keys() == {"rounds"}


def test_table_tells_its_rules_and_its_series() -> None:
    table = shown(tiles(NO, "R5 J R7", "R6"))
    assert table["rules_text"] == rules_text(NO)
    assert table["deck"] == "tiles"
    assert table["series"] == {
        "games": 1,
        "target": 0,
        "played": [],
        "totals": [0, 0],
        "over": False,
        "winners": [],
        "standings": [0, 1],
        "wishes": [False, False],
        "can_wish": False,
    }
    assert table["draft"]["exchanges"] == []


def test_illegal_end_is_paid_only_by_who_was_asked() -> None:
    top = tiles(FI, "R5 R6 R7", "B9 K9 Y1")
    assert draft(top, "R5 R6 R7", "B9 K9")["illegal_costs"] == 3
    refusal = refused(top, "end_turn")
    assert (refusal.code, refusal.sentence) == (
        "ILLEGAL-COSTS",
        "B9 K9: a group or a run needs at least three tiles.",
    )
    assert len(top.own_faces()) == 3
    top.desk.command({"type": "end_turn", "anyway": True})
    assert len(top.own_faces()) == 6


def test_draft_is_gone_once_its_cards_are_laid() -> None:
    top = cards("S7 D7 C7 SK")
    top.desk.command({"type": "draw"})
    assert draft(top, "H4 H5 H6", "S7 D7 C7")["can_end"] is True
    top.desk.command({"type": "lay"})
    table = shown(top)
    assert len(table["draft"]["melds"]) == 2
    assert table["draft"]["judged"]["laid"] == 0
    assert table["draft"]["judged"]["can_end"] is False
    assert refused(top, "lay").code == "NO-RACK-TILE"
    top.desk.command({"type": "discard", "tile": top.tile("SK")})
    assert shown(top)["draft"] is None
    assert refused(top, "discard", tile=0).code == "ES-TURN-OVER"
    assert [line["text"] for line in shown(top)["log"]] == [
        "Ana draws from the stock.",
        "Ana lays 3 cards.",
        "Ana discards SK.",
    ]


def test_draft_stays_while_a_card_is_drawn() -> None:
    top = cards("S7 D7 C7 SK")
    draft(top, "H4 H5 H6", "S7 D7 C7")
    top.holds_draws = True
    top.desk.command({"type": "draw"})
    assert shown(top)["draft"] is None
    assert shown(top)["view"]["waiting_for"] == "draw"
    top.close_call()
    assert shown(top)["draft"]["judged"]["laid"] == 3


def test_next_game_is_wished_between_games_only() -> None:
    top = cards("SK", table_rules("es", None, {"rounds": 2}))
    assert refused(top, "next_game").code == "NOT-NOW"
    assert shown(top)["series"]["can_wish"] is False


def test_series_counts_games_and_wishes() -> None:
    top = cards("S7 D7 C7", table_rules("es", None, {"rounds": 2}))
    top.desk.command({"type": "draw"})
    draft(top, "H4 H5 H6", "S7 D7 C7")
    top.desk.command({"type": "lay"})
    top.desk.command({"type": "discard", "tile": top.tile("D9")})
    series = shown(top)["series"]
    assert (series["over"], series["can_wish"], series["wishes"]) == (False, True, [False, False])
    assert series["played"] == [{"scores": series["totals"], "out": 0, "ended_by": "out"}]
    top.desk.command({"type": "next_game"})
    assert shown(top)["series"]["wishes"] == [True, False]
    assert shown(top)["series"]["can_wish"] is False
    top.wish_next_game(0.0, Seat(1))
    assert shown(top)["view"]["game"] == 1
    assert shown(top)["series"]["played"] == series["played"]
