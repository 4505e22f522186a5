"""Hints: what the player is told, and that doing it is legal and lays as much as can be."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import pytest

from engine.rulesets import ES, FI, NO, PT, RuleSet
from engine.state import Phase
from node.web.commands import PageRefusal
from tests.browser.tabletop import TableTop
from tests.node.test_desk import cards, tiles


def hint(top: TableTop) -> dict[str, Any]:
    found = top.desk.command({"type": "hint"})
    assert found is not None
    json.dumps(found)  # plain data only
    return dict(found)


def close(top: TableTop) -> None:
    """The own seat has not opened yet."""
    own, *others = top.state.seats
    top.state = replace(top.state, seats=(replace(own, opened=False), *others))


def done(top: TableTop, found: dict[str, Any]) -> dict[str, Any]:
    """What the node says of the board as the hint would have it."""
    draft = {"type": "draft", "draft_no": 1, "melds": found["melds"], "exchanges": found["exchanges"]}
    answer = top.desk.command(draft)
    assert answer is not None
    return dict(answer["judged"])


def test_says_that_something_can_be_laid_then_which_tiles_then_how() -> None:
    top = tiles(PT, "R4 J R6 | B3 K3 Y3", "R5 K7 K8 Y1")
    found = hint(top)
    assert found["say"] == "You can lay 3 tiles."
    assert sorted(str(top.state.faces[tile]) for tile in found["tiles"]) == ["K7", "K8", "R5"]
    assert found["steps"] == (
        "Put R5 from your rack in the place of the joker in the run R4 J R6; the joker is free now.",
        "Add K7 and K8 from your rack to the joker: that makes the run K7 K8 J.",
    )
    assert done(top, found)["can_end"]
    assert top.state.turn == 0


def test_says_that_the_whole_rack_can_be_laid() -> None:
    top = tiles(FI, "R4 R5 R6", "R7 R8")
    found = hint(top)
    assert found["say"] == "You can lay your whole rack!"
    assert done(top, found)["can_rummikub"]


@pytest.mark.parametrize("rules", [PT, NO])
def test_says_what_to_do_where_nothing_fits(rules: RuleSet) -> None:
    found = hint(tiles(rules, "R4 R5 R6", "B1 K9 Y13"))
    assert found["say"] == "Nothing on your rack fits: draw a tile."
    assert (found["tiles"], found["melds"], found["steps"]) == ((), [], ())


def test_an_opening_is_found_or_its_points_are_named() -> None:
    top = tiles(PT, "R4 R5 R6", "B9 K9 Y9 B10 B11")
    close(top)
    found = hint(top)
    assert found["say"].startswith("You can lay")
    assert done(top, found)["can_end"]
    top = tiles(PT, "R4 R5 R6", "B2 K2 Y2 B10 K11")
    close(top)
    assert hint(top)["say"] == "Your rack cannot open with 30 points yet: draw a tile."


def test_with_cards_it_follows_the_turn() -> None:
    top = cards("H7 S2 S3 D4", ES)
    assert hint(top)["say"] == "The top card of the discard pile is of no use to you: draw from the stock."
    top.desk.command({"type": "draw"})
    found = hint(top)
    assert found["say"].startswith("You can lay")
    assert done(top, found)["can_end"]
    top.desk.command({"type": "lay"})
    found = hint(top)
    assert found["say"] == "There is nothing to lay. One card of your hand helps you least."
    assert len(found["tiles"]) == 1


def test_whatever_is_proposed_is_legal() -> None:
    rng = random.Random(4)
    faces = [str(tile) for tile in PT.faces]
    for _position in range(60):
        rules = rng.choice((PT, FI, NO))
        rack = rng.sample([face for face in faces if face not in ("B3", "B4", "B5", "R8", "K8", "Y8")], 14)
        top = tiles(rules, "B3 B4 B5 | R8 K8 Y8", " ".join(rack))
        found = hint(top)
        if found["tiles"]:
            judged = done(top, found)
            assert judged["can_end"] or judged["can_rummikub"], found
            assert judged["laid"] == len(found["tiles"])


def test_nobody_gets_a_hint_out_of_turn() -> None:
    top = tiles(PT, "R4 R5 R6", "R7 R8")
    top.desk.command({"type": "draw"})
    assert top.state.phase is Phase.PLAY
    with pytest.raises(PageRefusal, match="not your turn"):
        hint(top)
