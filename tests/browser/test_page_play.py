"""Playing at the page: dragging, pressing, undoing, and what the page says about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from node.web.server import PageRefusal
from tests.browser.conftest import Stage
from tests.browser.desk import FACES, FakeDesk, FakeTable, ids

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page

RED_RUN = ids("R5 R6 R7")
RUN, GROUP = ids("B3 B4 B5 B6"), ids("R8 B8 Y8")


def own_turn(rack: str = "R5 R6 R7 B7 K1 Y9 J", **changes: object) -> FakeTable:
    table = FakeTable(rack=ids(rack), board=[RUN, GROUP])
    for name, value in changes.items():
        setattr(table, name, value)
    return table


def tile(page: Page, text: str) -> Locator:
    return page.get_by_test_id(f"tile-{ids(text)[0]}")


async def faces_in(place: Locator) -> list[str]:
    found = await place.locator(".tile").evaluate_all("tiles => tiles.map((tile) => Number(tile.dataset.id))")
    return [str(FACES[number]) for number in found]


async def expect_faces(place: Locator, text: str) -> None:
    """Waits until the tiles of `place` are these, in order."""
    wanted = [f"tile-{number}" for number in ids(text)]
    await place.page.wait_for_function(
        "([place, wanted]) => JSON.stringify([...document.querySelector(place).querySelectorAll('.tile')]"
        ".map((tile) => tile.dataset.testid)) === JSON.stringify(wanted)",
        arg=[f"[data-testid={await place.get_attribute('data-testid')}]", wanted],
    )


async def middle(place: Locator, across: float = 0.5) -> tuple[float, float]:
    box = await place.bounding_box()
    assert box is not None
    return box["x"] + box["width"] * across, box["y"] + box["height"] / 2


async def drag(page: Page, what: Locator, onto: tuple[float, float]) -> None:
    x, y = await middle(what)
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.mouse.move((x + onto[0]) / 2, (y + onto[1]) / 2, steps=3)
    await page.mouse.move(*onto, steps=3)
    await page.mouse.up()


async def finger_drag(page: Page, what: Locator, onto: tuple[float, float]) -> None:
    touch = await page.context.new_cdp_session(page)
    x, y = await middle(what)
    await touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for step in range(1, 6):
        point = {"x": x + (onto[0] - x) * step / 5, "y": y + (onto[1] - y) * step / 5}
        await touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [point]})
    await touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


async def lay(page: Page, text: str) -> None:
    """Selects tiles of the rack in order and lays them as a new meld."""
    for number in ids(text):
        await page.get_by_test_id(f"tile-{number}").click()
    await page.get_by_test_id("new-meld").click()


async def test_tile_dragged_to_the_empty_board_becomes_a_meld_and_a_draft(stage: Stage) -> None:
    desk = FakeDesk(own_turn())
    page = await stage.open(desk)
    board = page.get_by_test_id("board")
    await drag(page, tile(page, "R5"), await middle(board))
    await expect_faces(page.get_by_test_id("meld-2"), "R5")
    await expect_faces(page.get_by_test_id("rack"), "R6 R7 B7 K1 Y9 J")
    await desk.expect_draft("B3 B4 B5 B6", "R8 B8 Y8", "R5")


async def test_tile_dragged_between_two_tiles_lands_there(stage: Stage) -> None:
    desk = FakeDesk(own_turn())
    page = await stage.open(desk)
    await lay(page, "R5 R7")
    await drag(page, tile(page, "J"), await middle(tile(page, "R7"), across=0.2))
    await expect_faces(page.get_by_test_id("meld-2"), "R5 J R7")
    await page.get_by_label("joker, stands for red 6, laid this turn").wait_for()


async def test_tile_dragged_to_a_run_is_put_in_order(stage: Stage) -> None:
    desk = FakeDesk(own_turn("B7 B2 K1"))
    page = await stage.open(desk)
    await drag(page, tile(page, "B7"), await middle(tile(page, "B3"), across=0.1))
    await expect_faces(page.get_by_test_id("meld-0"), "B3 B4 B5 B6 B7")
    await drag(page, tile(page, "B2"), await middle(tile(page, "B6")))
    await expect_faces(page.get_by_test_id("meld-0"), "B2 B3 B4 B5 B6 B7")


async def test_second_twin_dropped_into_a_run_splits_it(stage: Stage) -> None:
    twin = ids("B5", 1)[0]
    table = FakeTable(rack=[twin, *ids("K1")], board=[ids("B3 B4 B5 B6 B7")])
    desk = FakeDesk(table)
    page = await stage.open(desk)
    await drag(page, page.get_by_test_id(f"tile-{twin}"), await middle(tile(page, "B7"), across=0.9))
    await page.get_by_test_id("meld-1").wait_for()
    await desk.expect_draft("B3 B4 B5", "B5 B6 B7")


async def test_tile_dragged_by_finger(stage: Stage) -> None:
    desk = FakeDesk(own_turn())
    page = await stage.open(desk, phone=True)
    await finger_drag(page, tile(page, "R5"), await middle(page.get_by_test_id("new-meld")))
    await expect_faces(page.get_by_test_id("meld-2"), "R5")
    await finger_drag(page, tile(page, "R6"), await middle(tile(page, "R5"), across=0.9))
    await expect_faces(page.get_by_test_id("meld-2"), "R5 R6")
    await finger_drag(page, tile(page, "R5"), await middle(tile(page, "B7"), across=0.2))
    await expect_faces(page.get_by_test_id("meld-2"), "R6")
    await expect_faces(page.get_by_test_id("rack"), "R7 R5 B7 K1 Y9 J")


async def test_dragged_selection_lands_in_the_order_of_the_rack(stage: Stage) -> None:
    desk = FakeDesk(own_turn("K7 R7 B7 K1"))
    page = await stage.open(desk)
    for text in ("B7", "K7", "R7"):
        await tile(page, text).click()
    await drag(page, tile(page, "B7"), await middle(page.get_by_test_id("new-meld")))
    await expect_faces(page.get_by_test_id("meld-2"), "K7 R7 B7")


async def test_tile_put_down_where_it_was_is_not_a_press(stage: Stage) -> None:
    desk = FakeDesk(own_turn())
    page = await stage.open(desk)
    x, y = await middle(tile(page, "R6"))
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.mouse.move(x + 30, y, steps=2)
    await page.locator(".ghost").wait_for()
    await page.mouse.move(x, y, steps=2)
    await page.mouse.up()
    await tile(page, "R7").click()
    await page.locator(".selected").wait_for()
    assert await page.locator(".selected").evaluate_all("tiles => tiles.map((tile) => tile.ariaLabel)") == ["red 7"]


async def test_pressed_selection_lands_in_the_order_of_the_presses(stage: Stage) -> None:
    desk = FakeDesk(own_turn())
    page = await stage.open(desk)
    await lay(page, "R7 J")
    await expect_faces(page.get_by_test_id("meld-2"), "R7 J")
    await tile(page, "R6").click()
    await tile(page, "R7").click(position={"x": 4, "y": 20})
    await expect_faces(page.get_by_test_id("meld-2"), "R6 R7 J")


async def test_several_tiles_of_the_board_move_together(stage: Stage) -> None:
    desk = FakeDesk(FakeTable(rack=ids("K1"), board=[ids("B3 B4 B5 B6 B7 B8")]))
    page = await stage.open(desk)
    await page.mouse.move(*await middle(tile(page, "B6")))
    await page.mouse.down()
    await page.locator(".selected").wait_for()  # held for a moment, not moved
    await page.mouse.up()
    await tile(page, "B7").click(modifiers=["Shift"])
    await tile(page, "B8").click(modifiers=["Shift"])
    await page.get_by_test_id("new-meld").click()
    await expect_faces(page.get_by_test_id("meld-1"), "B6 B7 B8")
    await desk.expect_draft("B3 B4 B5", "B6 B7 B8")


async def test_whole_meld_moves_by_its_strip(stage: Stage) -> None:
    desk = FakeDesk(FakeTable(rack=ids("K1"), board=[ids("B3 B4 B5"), ids("B6 B7 B8")]))
    page = await stage.open(desk)
    await drag(page, page.get_by_test_id("meld-1").locator(".meld-top"), await middle(tile(page, "B5"), across=0.9))
    await expect_faces(page.get_by_test_id("meld-0"), "B3 B4 B5 B6 B7 B8")


async def test_double_press_sends_a_laid_tile_back_to_its_place(stage: Stage) -> None:
    desk = FakeDesk(own_turn())
    page = await stage.open(desk)
    await lay(page, "R5 R6 R7")
    await tile(page, "R6").dblclick()
    await expect_faces(page.get_by_test_id("rack"), "R6 B7 K1 Y9 J")
    await tile(page, "R5").dblclick()
    await expect_faces(page.get_by_test_id("rack"), "R5 R6 B7 K1 Y9 J")
    await desk.expect_draft("B3 B4 B5 B6", "R8 B8 Y8", "R7")


async def test_tile_of_the_board_does_not_go_to_the_rack(stage: Stage) -> None:
    desk = FakeDesk(own_turn())
    page = await stage.open(desk)
    await drag(page, tile(page, "B3"), await middle(page.get_by_test_id("rack")))
    await page.get_by_test_id("message").get_by_text("Only tiles that you laid in this turn").wait_for()
    await expect_faces(page.get_by_test_id("meld-0"), "B3 B4 B5 B6")
    assert desk.sent("draft") == []


async def test_undo_redo_and_reset(stage: Stage) -> None:
    desk = FakeDesk(own_turn())
    page = await stage.open(desk)
    undo, redo, reset = (page.get_by_test_id(name) for name in ("undo", "redo", "reset"))
    assert await undo.get_attribute("aria-disabled") == "true"
    await lay(page, "R5 R6")
    await tile(page, "B6").click()
    await page.get_by_test_id("new-meld").click()
    await expect_faces(page.get_by_test_id("meld-3"), "B6")
    await undo.click()
    await expect_faces(page.get_by_test_id("meld-0"), "B3 B4 B5 B6")
    await undo.click()
    await expect_faces(page.get_by_test_id("rack"), "R5 R6 R7 B7 K1 Y9 J")
    await redo.click()
    await redo.click()
    await expect_faces(page.get_by_test_id("meld-3"), "B6")
    await reset.click()
    await expect_faces(page.get_by_test_id("rack"), "R5 R6 R7 B7 K1 Y9 J")
    await expect_faces(page.get_by_test_id("board"), "B3 B4 B5 B6 R8 B8 Y8")
    await undo.click()
    await expect_faces(page.get_by_test_id("meld-3"), "B6")
    await desk.expect_draft("B3 B4 B5", "R8 B8 Y8", "R5 R6", "B6")
    numbers = [command["draft_no"] for command in desk.sent("draft")]
    assert numbers == sorted(set(numbers))
    assert len(numbers) == 8


async def test_keyboard_alone_lays_and_takes_back(stage: Stage) -> None:
    desk = FakeDesk(own_turn())
    page = await stage.open(desk)
    await tile(page, "R5").focus()
    for key in ("Enter", "ArrowRight", "Enter", "ArrowRight", "Space", "n"):
        await page.keyboard.press(key)
    await expect_faces(page.get_by_test_id("meld-2"), "R5 R6 R7")
    await page.keyboard.press("u")
    await expect_faces(page.get_by_test_id("rack"), "R5 R6 R7 B7 K1 Y9 J")
    await page.keyboard.press("r")
    await expect_faces(page.get_by_test_id("meld-2"), "R5 R6 R7")
    await tile(page, "R6").focus()
    await page.keyboard.press("Delete")
    await expect_faces(page.get_by_test_id("rack"), "R6 B7 K1 Y9 J")
    await tile(page, "B7").focus()
    await page.keyboard.press("Shift+ArrowLeft")
    await expect_faces(page.get_by_test_id("rack"), "B7 R6 K1 Y9 J")
    await page.keyboard.press("Enter")
    await page.keyboard.press("ArrowUp")
    focused = await page.evaluate("document.activeElement.closest('.meld')?.dataset.testid ?? null")
    assert focused is not None
    await page.keyboard.press("Enter")
    await expect_faces(page.get_by_test_id("rack"), "R6 K1 Y9 J")


async def test_illegal_draft_lists_reasons_marks_melds_and_blocks_the_end(stage: Stage) -> None:
    desk = FakeDesk(own_turn(opened=[False, True, False]))
    page = await stage.open(desk)
    assert await page.get_by_test_id("opening").inner_text() == "Opening: 0 of 30"
    await lay(page, "R5 R6 R7")
    await lay(page, "K1 Y9")
    faults = page.get_by_test_id("faults").locator("li")
    await page.get_by_test_id("faults").locator("[data-code=INVALID-SET]").wait_for()
    shown = await faults.all_inner_texts()
    assert desk.table is not None
    judged = desk.table.judge(desk.sent("draft")[-1]["melds"])
    assert shown == [found["sentence"] for found in judged["faults"]]
    assert await page.get_by_test_id("opening").inner_text() == "Opening: 18 of 30"
    assert "faulty" in (await page.get_by_test_id("meld-3").get_attribute("class") or "")
    assert "faulty" not in (await page.get_by_test_id("meld-0").get_attribute("class") or "")
    await page.get_by_test_id("end-turn").click(force=True)
    await page.get_by_test_id("message").get_by_text(shown[0]).wait_for()
    assert desk.sent("end_turn") == []


async def test_legal_draft_can_be_ended_and_waits_for_the_others(stage: Stage) -> None:
    desk = FakeDesk(own_turn())
    page = await stage.open(desk)
    await lay(page, "R5 R6 R7")
    await page.locator("[data-testid=end-turn].primary").click()
    await page.get_by_text("Sent. Waiting for the others to agree.").wait_for()
    await desk.expect_commands({"type": "end_turn"})
    await page.get_by_test_id("draw").click(force=True)
    await page.get_by_test_id("message").get_by_text("on its way").wait_for()
    await desk.expect_commands({"type": "end_turn"})


async def test_refusal_of_the_node_is_shown_and_play_goes_on(stage: Stage) -> None:
    desk = FakeDesk(own_turn())
    desk.refusals["end_turn"] = PageRefusal("LATE", "The time was up before your move arrived.")
    page = await stage.open(desk)
    await lay(page, "R5 R6 R7")
    await page.locator("[data-testid=end-turn].primary").click()
    await page.get_by_test_id("message").get_by_text("The time was up before your move arrived.").wait_for()
    await page.get_by_test_id("undo").click()
    await expect_faces(page.get_by_test_id("rack"), "R5 R6 R7 B7 K1 Y9 J")


async def test_draw_is_for_an_untouched_board_and_becomes_pass(stage: Stage) -> None:
    desk = FakeDesk(own_turn())
    page = await stage.open(desk)
    await lay(page, "K1")
    await page.locator("[data-testid=draw][aria-disabled]").click(force=True)
    await page.get_by_test_id("message").get_by_text("Put the board back first").wait_for()
    await page.get_by_test_id("reset").click()
    await page.locator("[data-testid=draw]:not([aria-disabled])").click()
    await page.get_by_text("Sent. Waiting for the others to agree.").wait_for()
    await desk.expect_commands({"type": "draw"})
    empty = FakeDesk(own_turn(pool=0))
    other = await stage.open(empty)
    await other.get_by_test_id("draw").get_by_text("Pass").wait_for()
    await other.get_by_test_id("draw").click()
    await other.get_by_text("Sent. Waiting for the others to agree.").wait_for()
    await empty.expect_commands({"type": "pass"})


async def test_last_tile_asks_for_rummikub(stage: Stage) -> None:
    desk = FakeDesk(own_turn("R5 R6 R7"))
    page = await stage.open(desk)
    await page.get_by_test_id("rummikub").click(force=True)
    await page.get_by_test_id("message").get_by_text("You still hold 3 tiles.").wait_for()
    await lay(page, "R5 R6 R7")
    await page.locator("[data-testid=rummikub].primary").wait_for()
    await page.get_by_test_id("end-turn").click(force=True)
    await page.get_by_test_id("message").get_by_text("press Rummikub!").wait_for()
    await page.get_by_test_id("rummikub").click()
    await page.get_by_text("Sent. Waiting for the others to agree.").wait_for()
    await desk.expect_commands({"type": "rummikub"})


async def test_meld_that_reads_both_ways_has_a_choice(stage: Stage) -> None:
    first, second = ids("J J")
    desk = FakeDesk(FakeTable(rack=[*ids("R5 K1"), first, second], board=[RUN]))
    page = await stage.open(desk)
    for number in (first, *ids("R5"), second):
        await page.get_by_test_id(f"tile-{number}").click()
    await page.get_by_test_id("new-meld").click()
    await page.get_by_test_id("kind-1-run").click()
    await page.locator("[data-testid=kind-1-run][aria-pressed=true]").wait_for()
    await page.get_by_label("joker, stands for red 4, laid this turn").wait_for()
    assert desk.sent("draft")[-1]["melds"][1] == {"tiles": [first, *ids("R5"), second], "kind": "run"}
    await page.get_by_test_id("kind-1-group").click()
    await page.locator("[data-testid=kind-1-group][aria-pressed=true]").wait_for()
    await page.get_by_label("joker, stands for blue 5 or black 5 or yellow 5, laid this turn").first.wait_for()


async def test_answer_to_an_old_draft_is_ignored(stage: Stage) -> None:
    desk = FakeDesk(own_turn())
    desk.lies_about_old_drafts = True
    page = await stage.open(desk)
    await lay(page, "K1 Y9")
    assert desk.table is not None
    desk.table.notice = "This came after the false answer."
    desk.push()
    await page.get_by_text("This came after the false answer.").wait_for()
    assert await page.get_by_test_id("end-turn").get_attribute("aria-disabled") == "true"


@pytest.mark.parametrize("text", ["Only one", "x" * 200])
async def test_long_notice_stays_within_the_page(stage: Stage, text: str) -> None:
    page = await stage.open(FakeDesk(own_turn(notice=text)), phone=True)
    await page.get_by_test_id("notice").get_by_text(text).wait_for()
    assert await page.evaluate("document.documentElement.scrollWidth") == 390
