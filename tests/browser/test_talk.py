"""What the table settles besides the moves: the menu, pauses, who is away and the choice that follows, who lied."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from engine.positions import parse_board, tile_position
from engine.rulesets import PT
from engine.tiles import parse_tiles
from tests.browser.conftest import Stage
from tests.browser.desk import HOSTILE, FakeDesk, FakeTable, ids
from tests.browser.tabletop import TableTop
from tests.browser.test_page import sees
from tests.browser.test_page_play import lay

if TYPE_CHECKING:
    from playwright.async_api import Page

WAITED_FOR = {"seat": 1, "cause": "silent", "left_s": 43.2, "total_s": 60.0}


def table(**changes: Any) -> FakeTable:
    return FakeTable(rack=ids("R5 R6 R7 B7"), board=[ids("B3 B4 B5")], turn=1, **changes)


def away(**changes: Any) -> dict[str, Any]:
    nobody: dict[str, Any] = {"seats": [], "late": [], "without": [], "choice": None, "wishes": {}, "few": True}
    return {"away": {**nobody, **changes}}


async def gone(page: Page, *names: str) -> None:
    for name in names:
        await page.get_by_test_id(name).wait_for(state="detached")


async def test_menu_tells_what_is_left_and_why_something_cannot_be_asked(stage: Stage) -> None:
    desk = FakeDesk(table())
    page = await stage.open(desk)
    await page.get_by_test_id("menu").click()
    await sees(page, "pause", "3 left")
    await sees(page, "extend", "A minute more for this turn")
    await page.get_by_test_id("take-back").click(force=True)
    await sees(page, "message", "No turn can be taken back now.")
    await page.get_by_test_id("pause").click()
    await page.get_by_test_id("menu-panel").wait_for(state="hidden")
    await page.get_by_test_id("menu").click()
    await page.keyboard.press("Escape")
    await page.get_by_test_id("menu-panel").wait_for(state="hidden")
    await desk.expect_commands({"type": "pause"})


async def test_pause_is_shown_counts_down_and_is_ended_or_made_longer(stage: Stage) -> None:
    shown = table(talk={"pause": {"left_s": 41.5, "total_s": 60.0}})
    talk = shown.plain()["talk"]
    talk["requests"]["long_pause"]["why_not"] = None
    shown.talk["requests"] = talk["requests"]
    desk = FakeDesk(shown)
    page = await stage.open(desk)
    await page.get_by_test_id("paused").get_by_text(re.compile(r"The game is paused(42|41|40) s")).wait_for()
    await sees(page, "paused", "39 s")
    await page.get_by_test_id("long-pause").click()
    await page.get_by_test_id("resume").click()
    shown.talk["pause"] = {"left_s": None, "total_s": 60.0}
    desk.push()
    await sees(page, "paused", "until somebody goes on")
    await desk.expect_commands({"type": "long_pause"}, {"type": "resume"})


@pytest.mark.parametrize("phone", [False, True])
async def test_who_is_waited_for_is_named_and_then_it_is_asked_whether_it_has_really_left(
    stage: Stage, phone: bool
) -> None:
    shown = table(talk=away(late=[1]))
    desk = FakeDesk(shown)
    page = await stage.open(desk, phone=phone)
    await sees(page, "late-1", "Waiting for Bruno")
    shown.talk, shown.connected = away(seats=[WAITED_FOR]), [True, False, True]
    desk.push()
    await gone(page, "late-1")
    await page.get_by_test_id("away-1").get_by_text(re.compile(r"Waiting for Bruno4\d s")).wait_for()
    await gone(page, "choice")
    shown.talk = away(seats=[{**WAITED_FOR, "left_s": 0.0}], without=[1], choice="go_on")
    desk.push()
    await sees(page, "choice", "Has Bruno really left?")
    await sees(page, "choice", "somebody who lies could keep two honest players apart")
    await page.get_by_test_id("go-on-without").click()
    shown.talk["away"]["wishes"] = {"0": [1]}
    desk.push()
    await sees(page, "choice", "You want to go on without Bruno. All who stay have to want it.")
    await gone(page, "go-on-without")
    shown.talk["away"]["wishes"] = {"0": [1], "2": [1]}
    desk.push()
    await sees(page, "choice", "Clara wants to go on.")
    await page.get_by_test_id("keep-waiting").click()
    await desk.expect_commands({"type": "go_on_without", "seats": [1]}, {"type": "keep_waiting"})


async def test_where_too_few_are_left_the_game_can_only_be_closed(stage: Stage) -> None:
    left = [{**WAITED_FOR, "left_s": 0.0}]
    desk = FakeDesk(table(talk=away(seats=left, without=[1], choice="close")))
    page = await stage.open(desk)
    await sees(page, "choice", "You can wait, or close the game: it has no result then.")
    await gone(page, "go-on-without")
    await page.get_by_test_id("close-game").click()
    await desk.expect_commands({"type": "close_game"})


async def test_a_question_to_agree_to_names_who_asks_and_who_agrees(stage: Stage) -> None:
    asked = {"command": "take_back", "by": 1, "agreed": [1, 2], "mine": True}
    shown = table(talk={"agreeing": [asked]})
    desk = FakeDesk(shown)
    page = await stage.open(desk)
    await sees(page, "asked-take_back", "Bruno would like to take back the turn that has just ended.")
    await sees(page, "asked-take_back", "Clara agrees.")
    await page.get_by_test_id("agree-take_back").click()
    shown.talk["agreeing"] = [{**asked, "agreed": [0, 1, 2], "mine": False}]
    desk.push()
    await sees(page, "asked-take_back", "You agree.")
    await gone(page, "agree-take_back")
    await desk.expect_commands({"type": "take_back"})


async def test_who_was_found_out_and_who_is_out_of_the_game_stays_written_above_the_board(stage: Stage) -> None:
    talk = {"evidence": [{"name": HOSTILE, "reason": "two prevotes"}], "void": "Void.", "out": "You are out."}
    page = await stage.open(FakeDesk(table(talk=talk)))
    await sees(page, "evidence-0", f"{HOSTILE} broke the rules of the table: two prevotes.")
    await sees(page, "void", "Void.")
    await sees(page, "out", "You are out.")
    assert await page.evaluate("window.pwned") is None


async def test_a_turn_is_taken_back_with_a_real_game_behind_the_page(stage: Stage) -> None:
    top = TableTop(tile_position(PT, parse_board("B3 B4 B5"), parse_tiles("R5 R6 R7 K1")))
    page = await stage.open(top.desk)
    await lay(page, "R5 R6 R7")
    await page.get_by_test_id("end-turn").click()
    await sees(page, "turn", "Bruno’s turn")
    await page.get_by_test_id("menu").click()
    await page.get_by_test_id("take-back").click()
    await sees(page, "turn", "Your turn")
    assert top.board() == ["B3 B4 B5"]
    assert top.own_faces() == ["K1", "R5", "R6", "R7"]
    await page.get_by_test_id("menu").click()
    await sees(page, "take-back", "2 left")
    await page.get_by_test_id("pause").click()
    await sees(page, "turn", "Paused")
    await page.get_by_test_id("resume").click()
    await sees(page, "turn", "Your turn")
