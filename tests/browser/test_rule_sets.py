"""The other rule sets at the page, with the node's own desk and the engine behind it: cards, exchanges, penalties."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.actions import Discard, Draw
from engine.positions import card_position, parse_board, tile_position
from engine.rulesets import ES, FI, NO, PT, RuleSet
from engine.state import Seat
from engine.tiles import parse_tiles
from node.tablerules import table_rules
from tests.browser.conftest import PHONE, Stage
from tests.browser.tabletop import TableTop
from tests.browser.test_page import too_small
from tests.browser.test_page_play import drag, finger_drag, middle

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page

FIRST_HAND = "S7 D7 C7 H7 SK D2"


def cards(hand: str = FIRST_HAND, stock: str = "D9 CJ S3", rules: RuleSet = ES, others: int = 1) -> TableTop:
    """A card game in which seat 0 is to act; the others hold three cards each."""
    table, discard = parse_board("H4 H5 H6"), parse_tiles("C2 C9")
    return TableTop(card_position(rules, table, parse_tiles(hand), parse_tiles(stock), discard), others)


def tiles(rules: RuleSet, board: str, rack: str) -> TableTop:
    return TableTop(tile_position(rules, parse_board(board), parse_tiles(rack)))


def at(page: Page, top: TableTop, face: str) -> Locator:
    return page.get_by_test_id(f"tile-{top.tile(face)}")


async def select(page: Page, top: TableTop, faces: str) -> None:
    for face in faces.split():
        await at(page, top, face).click()


async def sees(page: Page, testid: str, text: str) -> None:
    await page.get_by_test_id(testid).get_by_text(text).wait_for()


async def test_turn_with_cards_takes_lays_adds_and_discards(stage: Stage) -> None:
    top = cards()
    page = await stage.open(top.desk)
    await page.get_by_text("Draw a card first, from the stock or from the discard pile.").wait_for()
    assert not await page.get_by_test_id("lay").is_visible()
    assert not await page.get_by_test_id("rummikub").is_visible()
    assert await page.get_by_test_id("player-1").locator(".player-left").inner_text() == "3"
    await page.get_by_test_id("take-discard").get_by_text("Take 9 of clubs").click()
    await page.get_by_text("Lay melds, add cards to melds on the table").wait_for()
    assert await page.get_by_test_id("discard-pile").get_attribute("aria-label") == "Discard pile, 2 of clubs on top"

    await page.get_by_test_id("stock").click()
    await sees(page, "message", "You have taken a card already, only one is allowed in a turn.")
    await page.get_by_test_id("discard").click(force=True)
    await sees(page, "message", "Select one card of your hand first")
    await select(page, top, "C9")
    await page.get_by_test_id("discard").click()
    await sees(page, "message", "You took C9 from the discard pile in this turn, so you may not throw it back now.")

    await select(page, top, "S7 D7 C7")
    await page.get_by_test_id("new-meld").click()
    await select(page, top, "SK")
    await page.get_by_test_id("discard").click()
    await sees(page, "message", "First lay down the cards that you put on the table, or take them back.")
    await page.locator("[data-testid=lay].primary").click()
    await page.locator("[data-testid=lay]:not(.primary)").wait_for()
    assert top.board() == ["H4 H5 H6", "S7 D7 C7"]
    assert top.state.turn == 0

    await drag(page, at(page, top, "H7"), await middle(at(page, top, "H6"), across=0.9))
    await page.locator("[data-testid=lay].primary").click()
    await page.locator("[data-testid=lay]:not(.primary)").wait_for()
    assert top.board() == ["H4 H5 H6 H7", "S7 D7 C7"]
    await select(page, top, "SK")
    await page.locator("[data-testid=discard].primary").click()
    await sees(page, "turn", "Bruno’s turn")
    assert top.own_faces() == ["C9", "D2"]
    shown = await page.get_by_test_id("log").locator("li").all_inner_texts()
    took = "Ana takes C9 from the discard pile."
    assert shown[::-1] == [took, "Ana lays 3 cards.", "Ana lays 1 card.", "Ana discards SK."]
    assert "Your turn is over" not in await page.get_by_test_id("message").inner_text()


async def test_cards_that_are_not_legal_are_not_laid(stage: Stage) -> None:
    top = cards()
    page = await stage.open(top.desk)
    await select(page, top, "S7 D7 C7")
    await page.get_by_test_id("new-meld").click()
    await sees(page, "faults", "First take a card, from the stock or from the discard pile.")
    top.holds_draws = True
    await page.get_by_test_id("draw").click()
    await page.get_by_text("Your card is being drawn.").wait_for()
    await page.get_by_test_id("discard-pile").click()
    await sees(page, "message", "Your move is on its way")
    top.close_call()
    await page.locator("[data-testid=lay].primary").wait_for()
    await drag(page, at(page, top, "H4"), await middle(page.get_by_test_id("new-meld")))
    await sees(page, "faults", "H4 H5 H6 lies on the table: cards may be added to it, but never taken out.")
    await page.get_by_test_id("lay").click(force=True)
    assert top.board() == ["H4 H5 H6"]
    await page.get_by_test_id("undo").click()
    await page.get_by_test_id("lay").click()
    await page.locator("[data-testid=lay]:not(.primary)").wait_for()
    assert top.board() == ["H4 H5 H6", "S7 D7 C7"]
    assert "D9" in top.own_faces()


@pytest.mark.parametrize("phone", [False, True])
async def test_last_card_is_dropped_on_the_discard_pile(stage: Stage, phone: bool) -> None:
    top = cards("S7 D7 C7")
    page = await stage.open(top.desk, phone=phone)
    if phone:
        assert await page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
        assert await too_small(page) == []
    await page.get_by_test_id("stock").click()
    await select(page, top, "S7 D7 C7")
    await page.get_by_test_id("new-meld").click()
    await page.locator("[data-testid=lay].primary").click()
    await page.locator("[data-testid=lay]:not(.primary)").wait_for()
    move = finger_drag if phone else drag
    await move(page, at(page, top, "D9"), await middle(page.get_by_test_id("discard-pile")))
    await sees(page, "result", "You are out: no card is left. The most points win.")
    assert top.state.result is not None
    scores = [await page.get_by_test_id(f"result-{seat}").locator(".result-score").inner_text() for seat in (0, 1)]
    assert scores == [f"+{top.state.result.scores[0]}", f"−{-top.state.result.scores[1]}"]
    assert top.state.result.scores[0] == 7 * 3 + ES.out_bonus


async def test_going_out_by_melding_needs_no_discard(stage: Stage) -> None:
    top = cards("S7 D7 C7 H7", stock="D9", rules=table_rules("es", None, {"melds_per_turn": 0}))
    page = await stage.open(top.desk)
    await page.get_by_test_id("draw").click()
    await page.locator("[data-testid=discard]").wait_for()
    await select(page, top, "D9")
    await page.get_by_test_id("discard").click()
    await sees(page, "turn", "Bruno’s turn")
    top.act(Draw(Seat(1)))
    other = top.state.seats[1].rack[0]
    top.act(Discard(Seat(1), other, top._tiles[other]))
    await sees(page, "turn", "Your turn")
    await page.get_by_test_id("take-discard").click()
    await page.locator("[data-testid=discard]").wait_for()
    assert len(top.own_faces()) == 5
    await select(page, top, "H7")
    await page.get_by_test_id("meld-0").locator(".tile").last.click(position={"x": 36, "y": 20})
    await select(page, top, "S7 D7 C7")
    await page.get_by_test_id("new-meld").click()
    await page.locator("[data-testid=lay].primary").click()
    await page.get_by_test_id("end-turn").get_by_text("End turn").wait_for()
    await page.get_by_text("The card you have left may not be thrown back: end your turn.").wait_for()
    await page.get_by_test_id("end-turn").click()
    await sees(page, "turn", "Bruno’s turn")
    await sees(page, "log", "Ana ends the turn.")


async def test_turn_with_cards_by_the_keyboard_alone(stage: Stage) -> None:
    top = cards("S7 D7 C7 SK")
    page = await stage.open(top.desk)
    await page.get_by_test_id("stock").focus()
    await page.keyboard.press("Enter")
    await page.locator("[data-testid=discard]").wait_for()
    await at(page, top, "S7").focus()
    for key in ("Enter", "ArrowRight", "Enter", "ArrowRight", "Enter", "n"):
        await page.keyboard.press(key)
    await page.locator("[data-testid=lay].primary").focus()
    await page.keyboard.press("Enter")
    await page.locator("[data-testid=lay]:not(.primary)").wait_for()
    await at(page, top, "SK").focus()
    await page.keyboard.press("Enter")
    await page.locator("[data-testid=discard].primary").focus()
    await page.keyboard.press("Enter")
    await sees(page, "turn", "Bruno’s turn")
    assert top.board() == ["H4 H5 H6", "S7 D7 C7"]
    assert top.own_faces() == ["D9"]


async def test_hand_is_sorted_by_suit_and_by_rank(stage: Stage) -> None:
    top = cards("DA S7 HK H2 S10 C7")
    page = await stage.open(top.desk)
    faces = "tiles => tiles.map((tile) => tile.getAttribute('aria-label').replace(', new', ''))"
    in_hand = page.get_by_test_id("rack").locator(".tile")
    await page.get_by_test_id("sort-colour").get_by_text("by suit").click()
    suits = ["7 of spades", "10 of spades", "2 of hearts", "king of hearts", "ace of diamonds", "7 of clubs"]
    assert await in_hand.evaluate_all(faces) == suits
    await page.get_by_test_id("sort-number").get_by_text("by rank").click()
    ranks = ["ace of diamonds", "2 of hearts", "7 of spades", "7 of clubs", "10 of spades", "king of hearts"]
    assert await in_hand.evaluate_all(faces) == ranks


# Exchanges of jokers (`no`)


async def test_joker_is_exchanged_with_notice_and_used_in_the_turn(stage: Stage) -> None:
    top = tiles(NO, "R5 J R7", "R6 B9 K9 Y1 R8")
    page = await stage.open(top.desk)
    joker = top.tile("J")
    exchange = page.get_by_test_id(f"exchange-{joker}")
    await exchange.click()
    await sees(page, "message", "Select one tile of your rack first")
    await select(page, top, "Y1")
    await exchange.click()
    await sees(page, "faults", "R5 Y1 R7: this is no group")
    await page.get_by_test_id("undo").click()
    await select(page, top, "R6")
    await exchange.click()
    assert await exchange.count() == 0
    await page.reload()
    await page.get_by_label("red 6, laid this turn").wait_for()
    await page.get_by_test_id("undo").click()
    await exchange.wait_for()
    await select(page, top, "R6")
    await exchange.click()
    await page.locator(f"[data-testid=tile-{joker}].selected").click()
    await select(page, top, "B9 K9")
    await at(page, top, "J").click(position={"x": 36, "y": 20})
    await page.locator("[data-testid=end-turn].primary").click()
    await sees(page, "log", "Ana exchanges a joker for R6 and lays 3 tiles.")
    assert top.board() == ["R5 R6 R7", "J B9 K9"]


async def test_tile_dropped_on_a_joker_asks_before_it_exchanges(stage: Stage) -> None:
    top = tiles(NO, "R5 J R7", "R6 B9 K9 R8")
    page = await stage.open(top.desk)
    await drag(page, at(page, top, "R6"), await middle(at(page, top, "J")))
    await sees(page, "ask", "Announce it to all: red 6 takes the place of the joker")
    await page.keyboard.press("Escape")
    assert top.own_faces() == ["B9", "K9", "R6", "R8"]
    await drag(page, at(page, top, "R8"), await middle(at(page, top, "J")))
    await page.get_by_test_id("put-beside").click()
    await page.get_by_test_id("meld-0").get_by_label("red 8, laid this turn").wait_for()
    await page.get_by_test_id("undo").click()
    await drag(page, at(page, top, "R6"), await middle(at(page, top, "J")))
    await page.get_by_test_id("exchange-now").click()
    await page.locator(f"[data-testid=meld-1] [data-testid=tile-{top.tile('J')}]").wait_for()
    await at(page, top, "R6").dblclick()
    assert await page.get_by_test_id("rack").locator(".tile").count() == 4


async def test_exchange_fits_a_phone(stage: Stage) -> None:
    top = tiles(NO, "R5 J R7 | B3 K3 J | Y1 Y2 Y3 Y4", "R6 B9 K9 R8")
    page = await stage.open(top.desk, phone=True)
    await page.get_by_test_id(f"exchange-{top.tile('J')}").wait_for()
    assert await too_small(page) == []
    await finger_drag(page, at(page, top, "R6"), await middle(at(page, top, "J")))
    await page.get_by_test_id("exchange-now").wait_for()
    assert await too_small(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


async def test_no_exchange_where_the_rules_have_none(stage: Stage) -> None:
    page = await stage.open(tiles(PT, "R5 J R7", "R6 B9 K9").desk)
    await page.locator("[data-testid=draw].primary").wait_for()
    assert await page.locator(".exchange").count() == 0


# An illegal end of turn that costs tiles (`fi`)


async def test_illegal_end_that_costs_tiles_is_asked_about(stage: Stage) -> None:
    top = tiles(FI, "R5 R6 R7", "B9 K9 Y1")
    page = await stage.open(top.desk)
    await select(page, top, "B9 K9")
    await page.get_by_test_id("new-meld").click()
    await sees(page, "faults", "B9 K9: a group or a run needs at least three tiles.")
    end = page.get_by_test_id("end-turn")
    await end.click()
    await sees(page, "ask", "B9 K9: a group or a run needs at least three tiles.")
    await sees(page, "ask", "End the turn anyway? It costs 3 tiles.")
    await page.get_by_test_id("go-on").click()
    assert len(top.own_faces()) == 3
    await end.click()
    await page.get_by_test_id("end-anyway").click()
    await sees(page, "log", "Ana took back an illegal play and draws 3 tiles.")
    assert len(top.own_faces()) == 6
    await page.locator("[data-testid=rack] .tile").nth(5).wait_for()
    assert top.board() == ["R5 R6 R7"]


async def test_rules_with_the_house_rules_are_at_the_table_also_after_a_reload(stage: Stage) -> None:
    rules = table_rules("fi", 45, {"illegal_draw": 2, "rounds": 3})
    page = await stage.open(tiles(rules, "R5 R6 R7", "B9 K9 Y1").desk)
    for _ in range(2):
        text = page.get_by_test_id("rules")
        await text.locator("summary").click()
        await text.get_by_role("heading", name="Groups and runs").wait_for()
        marked = await text.locator(".house").all_inner_texts()
        assert marked == [
            "House rule: If you end your turn and the table is not right, everything is taken back and you draw 2 "
            "tiles.",
            "House rule: A turn lasts 45 seconds.",
            "House rule: You play 3 games and add up the points.",
            "House rule: Seconds in a turn (0 = no limit): 45. Usually: 120.",
            "House rule: Penalty tiles for an illegal end of turn (0 = it is refused): 2. Usually: 3.",
            "House rule: Games in a series (0 = until the target is reached): 3. Usually: 1.",
        ]
        await page.reload()


# A series


async def test_next_game_of_a_series_begins_when_all_wish_it(stage: Stage) -> None:
    top = cards("S7 D7 C7", rules=table_rules("es", None, {"target": 100}), others=2)
    page = await stage.open(top.desk)
    await page.get_by_test_id("draw").click()
    await select(page, top, "S7 D7 C7")
    await page.get_by_test_id("new-meld").click()
    await page.locator("[data-testid=lay].primary").click()
    await page.locator("[data-testid=lay]:not(.primary)").wait_for()
    await select(page, top, "D9")
    await page.get_by_test_id("discard-pile").click()
    await sees(page, "result", "You win game 1!")
    await sees(page, "result", "The series ends at 100 points.")
    await sees(page, "awaited", "Bruno and Clara still have to agree.")
    top.wish_next_game(0.0, Seat(2))
    await sees(page, "awaited", "Bruno still has to agree.")
    await page.get_by_test_id("next-game").click()
    await sees(page, "awaited", "You are ready. Waiting for Bruno.")
    top.wish_next_game(0.0, Seat(1))
    await page.get_by_test_id("result").wait_for(state="detached")
    await sees(page, "log", "Game 2 begins.")
    assert await page.get_by_test_id("rack").locator(".tile").count() == 7
    assert await page.get_by_test_id("player-0").locator(".player-total").inner_text() == "+41 points"


# House rules in the lobby


async def test_house_rules_are_opened_with_or_refused_at_their_fields(stage: Stage) -> None:
    top = TableTop()
    page = await stage.open(top.desk)
    titles = await page.get_by_test_id("rule-set").locator("option").all_inner_texts()
    assert titles[1:] == ["Rummikub, Finnish rules", "Rummikub, Norwegian rules", "Rummy with cards, Spanish rules"]
    await page.get_by_test_id("house-rules").locator("summary").click()
    await page.get_by_test_id("option-opening_min").fill("999")
    await page.get_by_test_id("option-joker_move").select_option("free")
    await page.get_by_test_id("option-rummikub_call").uncheck()
    await page.get_by_test_id("turn-seconds").fill("-5")
    await sees(page, "house-rules", "(3 changed)")
    await page.get_by_test_id("open-table").click()
    await sees(
        page, "error-opening_min", "Points needed for the first melds cannot be 999: say a whole number from 0 to 200."
    )
    await sees(page, "error-turn_seconds", "Seconds in a turn cannot be -5: say a whole number from 0 to 3600.")
    assert not await page.get_by_test_id("error-joker_move").is_visible()
    await page.get_by_test_id("option-opening_min").fill("50")
    await page.get_by_test_id("option-rounds").fill("0")
    await page.get_by_test_id("turn-seconds").fill("30")
    await page.get_by_test_id("open-table").click()
    await sees(page, "message", "A series needs a number of games or a number of points that ends it.")
    assert not await page.get_by_test_id("error-opening_min").is_visible()
    assert top.opened == []
    await page.get_by_test_id("option-target").fill("300")
    await page.get_by_test_id("open-table").click()
    await sees(page, "notice", "1 tables were opened.")
    await page.get_by_test_id("rule-set").select_option("es")
    assert await page.get_by_test_id("option-opening_min").count() == 0
    await page.get_by_test_id("option-ace_points").fill("15")
    await page.get_by_test_id("open-table").click()
    await sees(page, "notice", "2 tables were opened.")
    changed = {"opening_min": 50, "joker_move": "free", "rummikub_call": False, "rounds": 0, "target": 300}
    assert [rules for _name, rules in top.opened] == [
        table_rules("pt", 30, changed),
        table_rules("es", 0, {"ace_points": 15}),
    ]
