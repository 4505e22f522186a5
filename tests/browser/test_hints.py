"""Hints at the page: off at first, then in three steps."""

from __future__ import annotations

import pytest

from engine.positions import parse_board, tile_position
from engine.rulesets import PT
from engine.tiles import parse_tiles
from tests.browser.conftest import Stage
from tests.browser.tabletop import TableTop
from tests.browser.test_page import sees


@pytest.mark.parametrize("phone", [False, True])
async def test_hints_come_in_three_steps_once_they_are_switched_on(stage: Stage, phone: bool) -> None:
    top = TableTop(tile_position(PT, parse_board("R4 J R6 | B3 K3 Y3"), parse_tiles("R5 K7 K8 Y1")))
    page = await stage.open(top.desk, phone=phone)
    await sees(page, "turn", "Your turn")
    assert not await page.get_by_test_id("hint").is_visible()
    await page.get_by_test_id("menu").click()
    await page.get_by_test_id("hints-toggle").click()
    await sees(page, "hints-toggle", "Hints: on")
    await page.keyboard.press("Escape")
    await page.get_by_test_id("hint").click()
    await sees(page, "hint-text", "You can lay 3 tiles.")
    assert not await page.get_by_test_id("hint-steps").is_visible()
    await page.get_by_test_id("hint-next").get_by_text("Which?").click()
    chosen = page.locator("[data-testid=rack] .tile[aria-pressed=true]")
    assert await chosen.count() == 3
    assert top.draft is None
    await page.get_by_test_id("hint-next").get_by_text("Show me").click()
    steps = page.get_by_test_id("hint-steps").locator("li")
    assert await steps.count() == 2
    await sees(page, "hint-steps", "in the place of the joker")
    assert await steps.first.locator(".in-text").count() == 4
    await page.get_by_test_id("end-turn").click()
    await sees(page, "turn", "Bruno")
    assert top.own_faces() == ["Y1"]
    assert not await page.get_by_test_id("hint-box").is_visible()
