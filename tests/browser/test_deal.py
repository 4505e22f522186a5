"""The secret deal on the page: how far it is, how it is explained, and the game file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from engine.state import CallName, Phase
from node.web.server import Download
from tests.browser.conftest import DESKTOP, PHONE, Stage
from tests.browser.desk import FakeDesk, FakeTable
from tests.browser.test_page import RACK, result, sees, too_small, two_games
from tests.browser.test_page_play import own_turn

if TYPE_CHECKING:
    from playwright.async_api import Page

both_sizes = pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])


def deal(step: str, at_work: list[int], done: int, total: int, share: float) -> dict[str, Any]:
    return {"step": step, "at_work": at_work, "done": done, "total": total, "share": share}


def dealing(**changes: Any) -> FakeTable:
    """A table whose machines are making their keys."""
    whole = {
        "rack": [],
        "left": (0, 0),
        "opened": [False] * 3,
        "phase": Phase.START,
        "call": CallName.START,
        "deal": deal("keys", [1], 1, 6, 0.03),
    }
    return FakeTable(**{**whole, **changes})


async def stop_clock(page: Page) -> None:
    """From now on the page's time passes only by `fast_forward`. Timers that run already are not stopped."""
    await page.clock.install(time=0)
    await page.clock.pause_at(60_000)


async def waiting_text(page: Page) -> str:
    return await page.get_by_test_id("waiting").inner_text()


async def progress(page: Page) -> tuple[str | None, str | None]:
    """Percent and words of the bar, as a screen reader gets them."""
    bar = page.get_by_role("progressbar", name="Dealing")
    return await bar.get_attribute("aria-valuenow"), await bar.get_attribute("aria-valuetext")


# Progress


async def test_deal_is_told_step_by_step(stage: Stage) -> None:
    table = dealing()
    desk = FakeDesk(table)
    page = await stage.open(desk)
    await sees(page, "waiting", "The machines make their keys, 1 of 6.")
    assert await progress(page) == ("3", "The machines make their keys, 1 of 6.")
    table.deal = deal("shuffle", [1], 1, 3, 0.444)
    desk.push()
    await sees(page, "waiting", "Bruno shuffles, 2 of 3.")
    assert await progress(page) == ("44", "Bruno shuffles, 2 of 3.")
    table.deal = deal("shuffle", [0], 2, 3, 0.7)
    desk.push()
    await sees(page, "waiting", "Your machine shuffles, 3 of 3.")
    table.phase, table.call, table.deal = Phase.DEAL, CallName.RACKS, deal("racks", [0, 2], 1, 3, 0.333)
    desk.push()
    await sees(page, "waiting", "The tiles are being dealt, 1 of 3.")
    table.phase, table.call, table.deal = Phase.PLAY, None, None
    desk.push()
    await page.get_by_test_id("deal").wait_for(state="hidden")
    assert await waiting_text(page) == ""


async def test_who_keeps_the_table_waiting_is_named_after_three_seconds(stage: Stage) -> None:
    table = dealing(phase=Phase.DEAL, call=CallName.RACKS, deal=None)
    desk = FakeDesk(table)
    page = await stage.open(desk)
    await stop_clock(page)
    for done, (at_work, words) in enumerate(
        (
            ([0, 1, 2], "Waiting for the parts of Bruno and Clara."),
            ([1], "Waiting for Bruno’s part of the deal."),
            ([0], "Your own machine is still at work."),
            ([], "Your own machine is still at work."),
        )
    ):
        table.deal = deal("racks", at_work, done, 4, done / 4)
        desk.push()
        await sees(page, "waiting", "The tiles are being dealt")
        await page.clock.fast_forward(2900)
        assert "The tiles are being dealt" in await waiting_text(page)
        await page.clock.fast_forward(200)
        await sees(page, "waiting", words)
        assert await page.get_by_test_id("announce").inner_text() == words
        assert (await progress(page))[1] == words


async def test_three_seconds_begin_anew_with_every_part(stage: Stage) -> None:
    table = dealing(deal=None)
    desk = FakeDesk(table)
    page = await stage.open(desk)
    await stop_clock(page)
    for done in range(3):
        table.deal = deal("shuffle", [done], done, 3, done / 3)
        desk.push()
        await sees(page, "waiting", f"shuffles, {done + 1} of 3.")
        await page.clock.fast_forward(2500)
        assert "shuffles" in await waiting_text(page)
    await page.clock.fast_forward(600)
    await sees(page, "waiting", "Waiting for Clara’s part of the deal.")


async def test_slow_draw_names_who_is_waited_for(stage: Stage) -> None:
    table = own_turn(RACK, turn=1)
    desk = FakeDesk(table)
    page = await stage.open(desk)
    await stop_clock(page)
    table.call, table.deal = CallName.DRAW, deal("draw", [2], 1, 2, 0.5)
    desk.push()
    await sees(page, "waiting", "Bruno draws.")
    await page.clock.fast_forward(3100)
    await sees(page, "waiting", "Waiting for Clara’s part of the deal.")
    assert await page.get_by_test_id("deal").is_hidden()


@both_sizes
async def test_nothing_jumps_while_tiles_are_dealt(stage: Stage, phone: bool) -> None:
    long = "Maximiliane-Konstantinopolitanskaja"
    table = dealing(names=["Ana", long, f"{long}-{long}"], deal=None)
    desk = FakeDesk(table)
    page = await stage.open(desk, phone=phone)
    await stop_clock(page)
    board = page.get_by_test_id("board")
    table.deal = deal("keys", [1], 1, 6, 0.03)
    desk.push()
    await sees(page, "waiting", "The machines make their keys, 1 of 6.")
    before = await board.bounding_box()
    table.deal = deal("shuffle", [1], 1, 3, 0.4)
    desk.push()
    await sees(page, "waiting", "shuffles, 2 of 3.")
    await page.clock.fast_forward(3100)
    await sees(page, "waiting", f"Waiting for {long}’s part of the deal.")
    assert await board.bounding_box() == before
    table.phase, table.call, table.deal = Phase.DEAL, CallName.RACKS, deal("racks", [1, 2], 1, 3, 0.3)
    desk.push()
    await sees(page, "waiting", "The tiles are being dealt, 1 of 3.")
    await page.clock.fast_forward(3100)
    await sees(page, "waiting", "Waiting for the parts of")
    assert await board.bounding_box() == before
    bar = await page.get_by_test_id("deal").bounding_box()
    assert bar is not None
    assert bar["height"] >= 4


# How the tiles are dealt

SCREENS = {
    "lobby": lambda: FakeDesk(),
    "table": lambda: FakeDesk(own_turn()),
}


@both_sizes
@pytest.mark.parametrize("screen", SCREENS)
async def test_deal_is_explained_one_press_away(stage: Stage, screen: str, phone: bool) -> None:
    page = await stage.open(SCREENS[screen](), phone=phone)
    button = page.get_by_role("button", name="How are the tiles dealt?")
    dialog = page.get_by_role("dialog", name="How are the tiles dealt?")
    await (button.tap() if phone else button.click())
    await dialog.wait_for()
    size = PHONE if phone else DESKTOP
    box = await dialog.bounding_box()
    assert box is not None
    assert min(box["x"], box["y"]) >= 0
    assert box["x"] + box["width"] <= size["width"]
    assert box["y"] + box["height"] <= size["height"]
    assert await too_small(page) == []
    for promise in (
        "No computer in this game knows your tiles but yours.",
        "As long as your own machine is honest, nobody can know or choose the order.",
        "do not play for money",
    ):
        await dialog.get_by_text(promise).scroll_into_view_if_needed()
    await page.keyboard.press("Escape")
    await dialog.wait_for(state="hidden")
    assert await button.evaluate("node => node === document.activeElement")
    await page.keyboard.press("Enter")
    await dialog.wait_for()
    close = dialog.get_by_role("button", name="Close")
    assert await close.evaluate("node => node === document.activeElement")
    await (close.tap() if phone else close.click())
    await dialog.wait_for(state="hidden")
    await page.keyboard.press("Enter")
    await dialog.wait_for()
    await page.mouse.click(3, 3)
    await dialog.wait_for(state="hidden")


# The game file


@both_sizes
async def test_game_file_is_saved_during_the_game_and_after(stage: Stage, phone: bool) -> None:
    table = own_turn()
    desk = FakeDesk(table)
    desk.file = Download("Ana’s-table-2026-01-31.rummesh", b"\x95game\x00file")
    page = await stage.open(desk, phone=phone)
    if phone:
        await page.get_by_test_id("more").tap()
    await saves(page, "save-game", desk.file)
    if phone:
        await page.get_by_test_id("more").tap()
    table.phase, table.result, table.series = Phase.OVER, result(), two_games()
    desk.file = Download("Ana’s-table-2026-02-01.rummesh", b"the whole game")
    desk.push()
    await saves(page, "save-result", desk.file)
    await page.get_by_test_id("result").wait_for()
    assert desk.commands == []


async def saves(page: Page, testid: str, file: Download) -> None:
    """Presses a link, and gets this file."""
    link = page.get_by_test_id(testid)
    await link.scroll_into_view_if_needed()
    assert await link.locator("xpath=..").get_by_text("rummesh verify FILE").is_visible()
    async with page.expect_download() as coming:
        await link.click()
    saved = await coming.value
    assert saved.suggested_filename == file.name
    assert Path(await saved.path()).read_bytes() == file.data  # noqa: ASYNC240 - a few bytes, in a test
