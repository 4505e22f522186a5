"""The page around the play: lobby, rack order, clock, end of the game, lost contact, hostile text, phones."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from engine.state import CallName, Phase
from engine.views import ResultView
from node.web.server import PageRefusal, PageServer
from tests.browser.conftest import PHONE, Stage
from tests.browser.desk import HOSTILE, TABLE_ID, FakeDesk, FakeTable, ids, lobby, member, seated, views
from tests.browser.test_page_play import drag, expect_faces, lay, middle, own_turn, tile

if TYPE_CHECKING:
    from playwright.async_api import Page

RACK = "Y9 R6 J B7 R5 K7 R7"


def waiting(**changes: Any) -> FakeTable:
    """A table at which somebody else is to act."""
    return own_turn(RACK, turn=1, **changes)


def result() -> ResultView:
    """Bruno (seat 1) is out; the seats' order is not that of the points."""
    racks = (views(ids("R5 J")), (), views(ids("K1 K2")))
    return ResultView("out", (-35, 38, -3), (1,), 1, racks)


async def sees(page: Page, testid: str, text: str) -> None:
    await page.get_by_test_id(testid).get_by_text(text).wait_for()


# Lobby


async def test_lobby_commands(stage: Stage) -> None:
    desk = FakeDesk()
    page = await stage.open(desk)
    await page.get_by_test_id("name").fill("Ana Maria")
    await page.get_by_test_id("rename").click()
    await page.get_by_test_id("rule-set").select_option("fi")
    assert await page.get_by_test_id("turn-seconds").input_value() == "120"
    await page.get_by_test_id("table-name").fill("Kitchen")
    await page.get_by_test_id("open-table").click()
    await page.get_by_test_id(f"join-{TABLE_ID}").click()
    await page.get_by_test_id("join-" + "b2" * 8).click(force=True)
    await sees(page, "message", "All seats at that table are taken.")
    await page.get_by_test_id("by-address").click()
    await page.get_by_test_id("peer-address").fill("192.168.1.9:7654")
    desk.refusals["add_peer"] = PageRefusal("NOT-THERE", "Nobody answers there.")
    await page.get_by_test_id("add-peer").click()
    await sees(page, "message", "Nobody answers there.")
    await desk.expect_commands(
        {"type": "rename", "name": "Ana Maria"},
        {"type": "open_table", "name": "Kitchen", "rules": "fi", "turn_seconds": 120, "options": {}},
        {"type": "join", "table": TABLE_ID},
        {"type": "add_peer", "address": "192.168.1.9:7654"},
    )


async def test_a_table_clock_is_shown_before_the_game_and_can_be_refused(stage: Stage) -> None:
    clock = {"id": "c1", "name": "Kitchen clock", "refused": False, "refused_by": []}
    desk = FakeDesk(lobby_state=lobby(at=seated([member("Ana", me=True), member("Bruno")], devices=[clock])))
    page = await stage.open(desk)
    await sees(page, "device-c1", "its buttons end the turn of whoever plays")
    await page.get_by_test_id("refuse-c1").click()
    clock.update(refused=True, refused_by=["Ana", "Bruno"])
    desk.push()
    await sees(page, "device-c1", "refused by Ana, Bruno")
    await page.get_by_test_id("refuse-c1").get_by_text("Allow").click()
    await desk.expect_commands(
        {"type": "refuse_device", "device": "c1", "refused": True},
        {"type": "refuse_device", "device": "c1", "refused": False},
    )
    desk.lobby["at"]["devices"] = []
    desk.push()
    await page.get_by_test_id("devices").wait_for(state="hidden")


async def test_seat_before_the_game(stage: Stage) -> None:
    members = [member("Ana", me=True), member("Bruno", connected=False), member("Clara", bot=True, ready=True)]
    desk = FakeDesk(lobby_state=lobby(at=seated(members)))
    page = await stage.open(desk)
    await sees(page, "why-not", "Bruno is not ready yet.")
    await page.get_by_test_id(f"member-{members[1]['id']}").get_by_text("out of contact").wait_for()
    await page.get_by_test_id("start").click(force=True)
    await sees(page, "message", "Bruno is not ready yet.")
    await page.get_by_test_id("ready").click()
    await page.get_by_test_id("add-bot").click()
    members[0]["ready"] = members[1]["ready"] = members[1]["connected"] = True
    desk.lobby["at"].update(can_start=True, why_not=None)
    desk.push()
    await page.get_by_test_id("ready").get_by_text("Ready ✓").wait_for()
    await page.get_by_test_id("start").click()
    await page.get_by_test_id("ready").click()
    await page.get_by_test_id("rules").locator("summary").click()
    await sees(page, "rules", "your melds must be worth at least 30 points")
    await page.get_by_test_id("leave").click()
    desk.lobby["at"] = None
    desk.push()
    await page.get_by_test_id("open-table").wait_for()
    await desk.expect_commands(
        {"type": "ready", "ready": True},
        {"type": "add_bot"},
        {"type": "start"},
        {"type": "ready", "ready": False},
        {"type": "leave"},
    )


# Rack


async def test_rack_order_is_the_players_own_over_pushes_and_reloads(stage: Stage) -> None:
    table = waiting()
    desk = FakeDesk(table)
    page = await stage.open(desk)
    rack = page.get_by_test_id("rack")
    await expect_faces(rack, RACK)
    await drag(page, tile(page, "R7"), await middle(tile(page, "R6"), across=0.2))
    await expect_faces(rack, "Y9 R7 R6 J B7 R5 K7")
    await page.get_by_test_id("sort-colour").click()
    await expect_faces(rack, "R5 R6 R7 B7 K7 Y9 J")
    await page.get_by_test_id("sort-number").click()
    await expect_faces(rack, "R5 R6 R7 B7 K7 Y9 J")
    table.rack += ids("R1")
    table.turn = 0
    desk.push()
    await sees(page, "turn", "Your turn")
    await expect_faces(rack, "R5 R6 R7 B7 K7 Y9 J R1")
    assert "new" in (await tile(page, "R1").get_attribute("aria-label") or "")
    await page.get_by_test_id("sort-own").click()
    await expect_faces(rack, "Y9 R7 R6 J B7 R5 K7 R1")
    await page.reload()
    await expect_faces(rack, "Y9 R7 R6 J B7 R5 K7 R1")
    assert desk.sent("draft") == []


async def test_sort_by_number_keeps_twins_together(stage: Stage) -> None:
    twins = [ids("R7", 1)[0], *ids("K7 R8 R7 B7 J R1")]
    page = await stage.open(FakeDesk(FakeTable(rack=twins, turn=1)))
    await page.get_by_test_id("sort-number").click()
    await page.wait_for_function(
        "wanted => [...document.querySelectorAll('[data-testid=rack] .tile')].map((t) => Number(t.dataset.id)).join()"
        " === wanted",
        arg=",".join(str(number) for number in (*ids("R1"), *ids("R7 R7 B7 K7 R8 J"))),
    )


async def test_board_is_closed_while_others_play(stage: Stage) -> None:
    desk = FakeDesk(waiting(opened=[False, True, True]))
    page = await stage.open(desk)
    await sees(page, "turn", "Bruno’s turn")
    await drag(page, tile(page, "R5"), await middle(page.get_by_test_id("board")))
    await sees(page, "message", "It is not your turn.")
    assert await page.get_by_test_id("new-meld").count() == 0
    assert desk.commands == []


# The course of a game


async def test_turn_title_clock_players_and_log(stage: Stage) -> None:
    table = waiting(remaining_s=10.4, running=True, connected=[True, True, False])
    desk = FakeDesk(table)
    page = await stage.open(desk)
    assert await page.title() == "Bruno’s turn · Rummesh"
    await page.locator("[data-testid=clock].last").wait_for()
    assert re.match(r"(10|9)\b", await page.get_by_test_id("clock").inner_text())
    players = [await page.get_by_test_id(f"player-{seat}").inner_text() for seat in range(3)]
    assert [text.split("\n")[0] for text in players] == ["Ana", "Bruno", "Clara"]
    assert "opened" in players[1]
    assert "out of contact" in players[2]
    assert await page.get_by_test_id("pool").inner_text() == "48 tiles in the pool"
    assert await page.get_by_test_id("log").locator("li").all_inner_texts() == table.log[::-1]
    await sees(page, "words", "amber fox lake drum")
    table.turn = 0
    table.turn_number += 1
    table.remaining_s = 60.0
    desk.push()
    await sees(page, "turn", "Your turn")
    assert await page.title() == "▶ Your turn · Rummesh"
    assert await page.get_by_test_id("announce").inner_text() == "Your turn."


async def test_tiles_that_others_laid_are_marked_until_the_own_turn_is_over(stage: Stage) -> None:
    table = waiting()
    desk = FakeDesk(table)
    page = await stage.open(desk)
    marked = page.locator("[data-testid=board] .tile.new")
    assert await marked.count() == 0
    for laid, turn in ((ids("K3 K4 K5"), 2), (ids("Y1 Y2 Y3"), 0)):
        table.board.append(laid)
        table.turn, table.turn_number = turn, table.turn_number + 1
        desk.push()
        await page.get_by_test_id(f"tile-{laid[0]}").wait_for()
    assert await marked.count() == 6
    table.turn, table.turn_number = 1, table.turn_number + 1
    desk.push()
    await sees(page, "turn", "Bruno’s turn")
    assert await marked.count() == 0


async def test_draft_is_taken_up_after_a_reload(stage: Stage) -> None:
    desk = FakeDesk(own_turn())
    page = await stage.open(desk)
    await lay(page, "R5 R6")
    await page.reload()
    await expect_faces(page.get_by_test_id("meld-2"), "R5 R6")
    await expect_faces(page.get_by_test_id("rack"), "R7 B7 K1 Y9 J")
    await page.get_by_test_id("undo").click()
    await expect_faces(page.get_by_test_id("rack"), "R5 R6 R7 B7 K1 Y9 J")


async def test_time_up_drops_the_draft_and_shows_all_tiles_again(stage: Stage) -> None:
    table = own_turn()
    desk = FakeDesk(table)
    page = await stage.open(desk)
    await lay(page, "R5 R6")
    table.draft, table.call = None, CallName.DRAW
    desk.push()
    await sees(page, "message", "your tiles are back on your rack")
    await expect_faces(page.get_by_test_id("rack"), "R5 R6 R7 B7 K1 Y9 J")
    await sees(page, "waiting", "You draw.")
    table.call, table.turn, table.turn_number = None, 1, 7
    table.rack += ids("K2 K3 K4")
    desk.push()
    await expect_faces(page.get_by_test_id("rack"), "R5 R6 R7 B7 K1 Y9 J K2 K3 K4")
    await expect_faces(page.get_by_test_id("board"), "B3 B4 B5 B6 R8 B8 Y8")


async def test_turn_that_ends_during_a_drag_leaves_no_tile_in_the_air(stage: Stage) -> None:
    table = own_turn()
    desk = FakeDesk(table)
    page = await stage.open(desk)
    await page.mouse.move(*await middle(tile(page, "B3")))
    await page.mouse.down()
    await page.mouse.move(600, 400, steps=3)
    await page.locator(".ghost").wait_for()
    table.turn, table.turn_number = 1, 7
    desk.push()
    await page.locator(".ghost").wait_for(state="detached")
    await page.mouse.up()
    await expect_faces(page.get_by_test_id("board"), "B3 B4 B5 B6 R8 B8 Y8")


async def test_end_of_the_game_ranks_by_points(stage: Stage) -> None:
    desk = FakeDesk(waiting(phase=Phase.OVER, result=result()))
    page = await stage.open(desk)
    await sees(page, "result", "Bruno wins")
    order = await page.locator(".result-who").all_inner_texts()
    assert order == ["Bruno", "Clara", "Ana"]
    ana = page.get_by_test_id("result-0")
    assert await ana.locator(".result-score").inner_text() == "−35"
    labels = await ana.locator(".tile").evaluate_all("tiles => tiles.map((tile) => tile.getAttribute('aria-label'))")
    assert labels == ["red 5", "joker"]
    assert await page.get_by_test_id("next-game").count() == 0
    await page.get_by_test_id("new-lobby").click()
    desk.table = None
    desk.push()
    await page.get_by_test_id("open-table").wait_for()
    await desk.expect_commands({"type": "new_lobby"})


def two_games(**changes: Any) -> dict[str, Any]:
    """A series with two games played, the last one as `result` says."""
    first = {"scores": [60, -40, -20], "out": 0, "ended_by": "out"}
    played = [first, {"scores": [-35, 38, -3], "out": 1, "ended_by": "out"}]
    whole = {"games": 3, "played": played, "totals": [25, -2, -23], "standings": [0, 1, 2], "winners": []}
    return {**whole, "over": False, "can_wish": True, **changes}


async def test_next_game_is_wished_and_shows_who_is_awaited(stage: Stage) -> None:
    table = waiting(phase=Phase.OVER, result=result(), series=two_games(wishes=[False, True, False]))
    desk = FakeDesk(table)
    page = await stage.open(desk)
    await sees(page, "result", "Bruno wins game 1")
    await sees(page, "result", "Game 2 of 3.")
    assert (await page.get_by_test_id("standing-0").inner_text()).split() == ["Ana", "+60", "−35", "+25"]
    await sees(page, "awaited", "Clara still has to agree.")
    await page.get_by_test_id("next-game").click()
    table.series = two_games(wishes=[True, True, False], can_wish=False)
    desk.push()
    await sees(page, "awaited", "You are ready. Waiting for Clara.")
    assert await page.evaluate("document.activeElement.dataset.testid") == "next-game"
    await page.get_by_test_id("next-game").click(force=True)
    await sees(page, "message", "The others know that you are ready")
    await page.get_by_test_id("new-lobby").click()
    await sees(page, "ask", "The series is not over.")
    await page.get_by_test_id("stay").click()
    table.result, table.phase, table.call = None, Phase.START, CallName.START
    desk.push()
    await page.get_by_test_id("result").wait_for(state="detached")
    await sees(page, "turn", "Shuffling")
    await desk.expect_commands({"type": "next_game"})


async def test_end_of_a_series_shows_the_final_standings(stage: Stage) -> None:
    series = two_games(games=2, over=True, winners=[0], can_wish=False)
    desk = FakeDesk(waiting(phase=Phase.OVER, result=result(), series=series))
    page = await stage.open(desk)
    await sees(page, "result", "You win the series!")
    rows = await page.get_by_test_id("standings").locator("tbody tr").all_inner_texts()
    assert [row.split() for row in rows] == [
        ["Ana", "+60", "−35", "+25"],
        ["Bruno", "−40", "+38", "−2"],
        ["Clara", "−20", "−3", "−23"],
    ]
    await sees(page, "result", "The last game: Bruno wins")
    assert await page.get_by_test_id("next-game").count() == 0
    await page.get_by_test_id("new-lobby").click()
    await desk.expect_commands({"type": "new_lobby"})


async def test_leaving_a_game_is_asked_about(stage: Stage) -> None:
    desk = FakeDesk(waiting())
    page = await stage.open(desk)
    await page.get_by_test_id("menu").click()
    await page.get_by_test_id("leave").click()
    await page.get_by_test_id("stay").click()
    await page.get_by_test_id("menu").click()
    await page.get_by_test_id("leave").click()
    assert desk.commands == []
    await page.get_by_test_id("leave-now").click()
    desk.table = None
    desk.push()
    await page.get_by_test_id("open-table").wait_for()
    await desk.expect_commands({"type": "leave"})


# Contact


async def test_page_comes_back_after_a_restart_and_sends_its_draft_again(stage: Stage) -> None:
    table = own_turn()
    desk = FakeDesk(table)
    stage.expected_problems = ("WebSocket connection", "ERR_CONNECTION_REFUSED")
    page = await stage.open(desk)
    await lay(page, "R5 R6 R7")
    port = int(page.url.rsplit(":", 1)[1].strip("/"))
    await stage.servers.pop().stop()
    await sees(page, "contact", "No contact with your own program.")
    await tile(page, "B7").click()
    await tile(page, "B6").click(position={"x": 36, "y": 20})
    await expect_faces(page.get_by_test_id("meld-0"), "B3 B4 B5 B6 B7")
    table.draft = None
    again = FakeDesk(table)
    await stage.serve(again, port)
    await page.get_by_test_id("contact").wait_for(state="hidden")
    await page.locator("[data-testid=end-turn].primary").wait_for()
    await again.expect_draft("B3 B4 B5 B6 B7", "R8 B8 Y8", "R5 R6 R7")


async def test_restart_with_a_new_key_says_what_to_do(stage: Stage) -> None:
    desk = FakeDesk()
    stage.expected_problems = ("WebSocket connection", "ERR_CONNECTION_REFUSED", "403")
    page = await stage.open(desk)
    port = int(page.url.rsplit(":", 1)[1].strip("/"))
    await stage.servers.pop().stop()
    stage.servers.append(PageServer(desk, token="another-token-after-the-restart"))
    await stage.servers[-1].start(port=port)
    await sees(page, "contact", "Open the link that it shows now.")


async def test_wrong_key_and_foreign_name_get_a_plain_sentence(stage: Stage) -> None:
    stage.expected_problems = ("403",)
    url = await stage.serve(FakeDesk())
    page = await stage.page(url.split("?")[0])
    assert "This page needs its key." in await page.inner_text("body")
    await page.goto(url + "x")
    assert "This link is no longer valid." in await page.inner_text("body")


async def test_link_followed_from_another_site_works(stage: Stage) -> None:
    stage.expected_problems = ("403",)
    url = await stage.serve(FakeDesk())
    page = await stage.page("about:blank")
    await page.route(
        "http://chat.example/", lambda route: route.fulfill(body=f'<a href="{url}">play</a>', content_type="text/html")
    )
    await page.goto("http://chat.example/")
    await page.get_by_text("play").click()
    await page.get_by_test_id("lobby").wait_for()
    assert "token" not in page.url


# What others may send


async def test_hostile_names_are_text(stage: Stage) -> None:
    where = lobby(
        notice=HOSTILE,
        at=seated(
            [member(HOSTILE, me=True)],
            name=HOSTILE,
            why_not=HOSTILE,
            rules_text=[{"heading": HOSTILE, "text": [HOSTILE]}],
        ),
    )
    where["tables"][0]["name"] = HOSTILE
    lobby_page = await stage.open(FakeDesk(lobby_state=where))
    await lobby_page.get_by_test_id("members").get_by_text(HOSTILE).wait_for()
    table = own_turn(names=[HOSTILE] * 3, log=[HOSTILE], notice=HOSTILE, talk={"void": HOSTILE, "out": HOSTILE})
    desk = FakeDesk(table)
    desk.refusals["draw"] = PageRefusal("X", HOSTILE)
    page = await stage.open(desk)
    await page.get_by_test_id("draw").click()
    await page.get_by_test_id("message").get_by_text(HOSTILE).wait_for()
    await page.get_by_test_id("player-1").get_by_text(HOSTILE).wait_for()
    table.result, table.phase = result(), Phase.OVER
    desk.push()
    await page.get_by_test_id("result-1").get_by_text(HOSTILE).wait_for()
    for shown in (lobby_page, page):
        assert await shown.evaluate("window.pwned") is None
        assert await shown.locator("img:not(.mark), script:not([src])").count() == 0


# Phones


async def too_small(page: Page) -> list[str]:
    """What can be pressed but is too small for a finger, or outside of the page."""
    return list(
        await page.evaluate(
            """() => [...document.querySelectorAll('button, input, select')]
          .filter((node) => node.checkVisibility())
          .map((node) => [node.dataset.testid, node.getBoundingClientRect()])
          .filter(([, box]) => box.width < 40 || box.height < 40 || box.left < 0 || box.right > innerWidth)
          .map(([name, box]) => `${name}: ${box.width} x ${box.height}`)"""
        )
    )


@pytest.mark.parametrize("screen", ["lobby", "seated", "turn", "over", "series"])
async def test_phone_has_everything_within_its_width(stage: Stage, screen: str) -> None:
    long = "Maximiliane-Konstantinopolitanskaja"
    rack = "R1 R2 R3 R4 R5 R6 R7 R8 B1 B2 B7 K1 K2 K3 K4 K5 Y1 Y2 Y3 Y4 J"
    desk = {
        "lobby": lambda: FakeDesk(),
        "seated": lambda: FakeDesk(lobby_state=lobby(at=seated([member(long, me=True), member(long * 2)]))),
        "turn": lambda: FakeDesk(own_turn(rack, names=[long] * 3, opened=[False, True, True])),
        "over": lambda: FakeDesk(own_turn(rack, names=[long] * 3, phase=Phase.OVER, result=result())),
        "series": lambda: FakeDesk(
            own_turn(rack, names=[long] * 3, phase=Phase.OVER, result=result(), series=two_games())
        ),
    }[screen]()
    page = await stage.open(desk, phone=True)
    assert await page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert await too_small(page) == []
    if screen == "lobby":
        await page.get_by_test_id("house-rules").locator("summary").click()
        await page.get_by_test_id("option-joker_move").wait_for()
        assert await page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    if screen == "turn":
        box = await page.get_by_test_id("rack").bounding_box()
        assert box is not None
        assert box["y"] + box["height"] == PHONE["height"]
        await page.get_by_test_id("more").click()
        await page.get_by_test_id("log").get_by_text("Clara draws.").wait_for()
