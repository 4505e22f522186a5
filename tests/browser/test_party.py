"""The page with all tables in Chromium: on a projector and on a phone, fed with what simulated games publish."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from playwright.async_api import expect

from node.clock import monotonic_s, unix_s
from node.mqtt.party.board import GRACE_S, Now, PartyBoard
from node.mqtt.party.server import PartyServer
from node.mqtt.payloads import packed
from tests.browser.conftest import Stage
from tests.browser.desk import HOSTILE
from tests.mqtt.evenings import PREFIX, TableTold, tell
from tests.mqtt.games import game

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page, ViewportSize

PROJECTOR: ViewportSize = {"width": 1920, "height": 1080}
COMMAND = "rummesh play --mqtt mqtt://192.168.7.20"
LATE = 100  # a moment late in the game


class Party:
    """A board, its server, and the tables that the test tells."""

    def __init__(self) -> None:
        self.board = PartyBoard(PREFIX)
        self.in_contact = True
        self.server = PartyServer(self.board, lambda: self.in_contact, command=COMMAND, pause_s=0.02)
        self.url = ""

    def tell(self, table: TableTold, at: int = LATE, kinds: tuple[str, ...] = ()) -> None:
        """As if it was made just now."""
        now = Now(monotonic_s(), unix_s())
        told = dataclasses.replace(table, later_s=now.unix_s - dataclasses.replace(table, later_s=0).now(at).unix_s)
        if kinds:
            for topic, payload in told.told(at, kinds):
                self.board.take(topic, payload, now, retained=False)
        else:
            tell(self.board, told, at, now=now)
        self.server.changed()

    def take(self, topic: str, payload: bytes, ago_s: float = 0.0) -> None:
        now = Now(monotonic_s() - ago_s, unix_s() - ago_s)
        self.board.take(f"{PREFIX}/{topic}", payload, now, retained=False)
        self.board.tick(Now(monotonic_s(), unix_s()))
        self.server.changed()


async def party(stage: Stage) -> Party:
    """Served until the end of the test."""
    shown = Party()
    shown.url = await shown.server.start()
    stage.servers.append(shown.server)
    return shown


async def on_projector(stage: Stage, party: Party, **options: Any) -> Page:
    page = await stage.page(party.url, **options)
    await page.set_viewport_size(PROJECTOR)
    return page


def a_table(name: str = "Kitchen", players: tuple[str, ...] = ("Ana", "Bruno"), number: int = 0) -> TableTold:
    return TableTold(name, players, game("pt", 2), number)


def many(count: int) -> list[TableTold]:
    return [a_table(f"Table {number}", (f"Ana {number}", "Iris*")) for number in range(1, count + 1)]


async def titles(page: Page) -> list[str]:
    return await page.locator(".table-card h2").all_inner_texts()


async def fits_across(page: Page) -> bool:
    return bool(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def sitter(card: Locator, name: str) -> Locator:
    return card.locator(".sitter", has_text=name)


async def seconds_on(clock: Locator) -> int:
    minutes, _, seconds = ("0:" + await clock.inner_text()).rpartition(":")
    return int(minutes.rpartition(":")[2]) * 60 + int(seconds)


async def test_tables_are_shown_with_turn_clock_and_tiles_and_the_live_ones_first(stage: Stage) -> None:
    shown = await party(stage)
    for name in ("Table 10", "Table 2", "Attic"):
        shown.tell(a_table(name))
    shown.tell(a_table("Balcony"), 0)
    shown.tell(a_table("Cellar"), a_table().last)
    shown.tell(a_table("Den"))
    shown.take("den/availability", b"offline", ago_s=GRACE_S)
    page = await on_projector(stage, shown)
    card = page.get_by_test_id("table-attic")
    await card.wait_for()
    assert await titles(page) == ["Attic", "Table 2", "Table 10", "Balcony", "Cellar", "Den"]
    state = a_table().message(LATE, "state")
    acting = sitter(card, "Ana" if state["turn"] == 0 else "Bruno")
    await expect(acting).to_have_attribute("aria-current", "true")
    await expect(card.locator("[aria-current]")).to_have_count(1)
    await expect(acting.locator(".player-left")).to_have_text(str(state["seats"][state["turn"]]["tiles"]))
    await expect(page.get_by_test_id("table-balcony")).to_contain_text("Gathering players")
    await expect(page.get_by_test_id("table-cellar")).to_contain_text("Ana won")
    await expect(page.get_by_test_id("table-den")).to_contain_text("Out of contact")
    await expect(page.get_by_test_id("counts")).to_have_text("6 tables · 3 playing · 6 people")
    await expect(page.get_by_test_id("standings")).to_contain_text("1 game at 1 table")
    assert await fits_across(page)


async def test_clock_counts_down_whatever_the_wall_clocks_say(stage: Stage) -> None:
    shown = await party(stage)
    shown.tell(a_table())
    page = await on_projector(stage, shown)
    number = page.get_by_test_id("table-kitchen").locator(".clock-number")
    first = await seconds_on(number)
    left_s = a_table().message(LATE, "clock")["remaining_s"]
    assert left_s - 15 <= first <= left_s + 1
    await expect(number).not_to_have_text(str(first))
    assert first - 15 <= await seconds_on(number) < first


async def test_update_touches_only_what_has_changed(stage: Stage) -> None:
    shown = await party(stage)
    evening = many(200)
    for table in evening:
        shown.tell(table)
    page = await on_projector(stage, shown)
    await expect(page.locator(".table-card")).to_have_count(200)
    await page.get_by_test_id("table-table-7").locator("a").focus()
    await page.evaluate(
        """() => {
          window.touched = new Set();
          window.card = document.querySelector('[data-testid="table-table-7"]');
          new MutationObserver((changes) => {
            for (const { target } of changes) {
              const node = target.nodeType === 1 ? target : target.parentElement;
              if (!node.closest('.clock')) window.touched.add(node.closest('[data-testid]')?.dataset.testid);
            }
          }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
        }"""
    )
    for at in range(LATE + 1, LATE + 8):
        shown.tell(evening[6], at)
        turn = evening[6].message(at, "state")
        left = [str(seat["tiles"]) for seat in turn["seats"]]
        await expect(page.get_by_test_id("table-table-7").locator(".player-left")).to_have_text(left)
    assert await page.evaluate("[...window.touched]") == ["table-table-7"]
    assert await page.evaluate("document.querySelector('[data-testid=\"table-table-7\"]') === window.card")
    assert await page.evaluate("document.activeElement.closest('[data-testid]').dataset.testid") == "table-table-7"


async def test_focus_stays_when_the_table_moves_in_the_grid(stage: Stage) -> None:
    shown = await party(stage)
    for name in ("Attic", "Balcony"):
        shown.tell(a_table(name))
    page = await on_projector(stage, shown)
    await page.get_by_test_id("table-attic").locator("a").focus()
    shown.tell(a_table("Attic"), a_table().last)
    await expect(page.locator(".table-card h2")).to_have_text(["Balcony", "Attic"])
    assert await page.evaluate("document.activeElement.getAttribute('href')") == "#attic"


async def test_click_shows_what_lies_on_the_table_and_back_leads_back(stage: Stage) -> None:
    shown = await party(stage)
    table = a_table()
    shown.tell(table)
    for one in many(8):
        shown.tell(one)
    page = await on_projector(stage, shown)
    await page.get_by_test_id("table-kitchen").click()
    large = page.get_by_test_id("large")
    await expect(large.get_by_role("heading", level=1)).to_be_focused()
    lying = table.message(LATE, "board")["melds"]
    await expect(large.locator(".meld")).to_have_count(len(lying))
    await expect(large.locator(".tile")).to_have_count(sum(len(meld["tiles"]) for meld in lying))
    await expect(large.locator(".tile.new")).to_have_count(0)
    later = next(at for at in range(LATE, table.last) if len(table.message(at, "board")["melds"]) > len(lying))
    shown.tell(table, later)
    await expect(large.locator(".meld")).to_have_count(len(table.message(later, "board")["melds"]))
    assert await large.locator(".tile.new").count() >= 3
    await expect(page.get_by_test_id("events").locator("li").first).to_have_text(
        table.messages(later, "event")[-1]["text"]
    )
    await page.go_back()
    await expect(large).to_have_count(0)
    assert await page.evaluate("document.activeElement.getAttribute('href')") == "#kitchen"


async def test_table_may_be_opened_by_its_address_and_may_go(stage: Stage) -> None:
    shown = await party(stage)
    shown.tell(a_table())
    page = await on_projector(stage, shown)
    await page.goto(shown.url + "/#kitchen")
    await expect(page.get_by_test_id("large").locator(".meld").first).to_be_visible()
    shown.take("kitchen/state", b"")
    await expect(page.get_by_text("There is no such table now.")).to_be_visible()
    await page.get_by_test_id("back").click()
    await expect(page.get_by_test_id("no-tables")).to_be_visible()


async def test_few_tables_show_what_lies_on_them(stage: Stage) -> None:
    shown = await party(stage)
    for table in many(2):
        shown.tell(table)
    page = await on_projector(stage, shown)
    melds = len(a_table().message(LATE, "board")["melds"])
    for number in (1, 2):
        await expect(page.get_by_test_id(f"table-table-{number}").locator(".meld")).to_have_count(melds)
    for table in many(7):
        shown.tell(table)
    await expect(page.locator(".meld")).to_have_count(0)


async def test_advice_for_the_first_table_and_for_phones(stage: Stage) -> None:
    shown = await party(stage)
    shown.server.phones = "http://192.168.7.20:8080"
    page = await on_projector(stage, shown)
    await expect(page.get_by_test_id("phones")).to_contain_text("192.168.7.20:8080")
    code = page.get_by_test_id("phones").locator("img")
    assert await code.evaluate("(image) => image.decode().then(() => image.naturalWidth > 0)")
    await expect(page.get_by_test_id("no-tables")).to_contain_text(COMMAND)
    shown.tell(a_table())
    await expect(page.get_by_test_id("no-tables")).to_be_hidden()
    await expect(page.get_by_test_id("table-kitchen")).to_be_visible()


async def test_lost_contact_is_said_and_ends_by_itself(stage: Stage) -> None:
    stage.expected_problems = ("WebSocket connection", "ERR_CONNECTION_REFUSED")
    shown = await party(stage)
    shown.tell(a_table())
    page = await on_projector(stage, shown)
    banner = page.get_by_test_id("contact")
    await page.get_by_test_id("table-kitchen").wait_for()
    await expect(banner).to_be_hidden()
    shown.in_contact = False
    shown.server.changed()
    await expect(banner).to_have_text("The broker cannot be reached. Trying again; this is what was known last.")
    shown.in_contact = True
    shown.server.changed()
    await expect(banner).to_be_hidden()
    await shown.server.stop()
    await expect(banner).to_contain_text("No contact with the program")
    await expect(page.get_by_test_id("table-kitchen")).to_be_visible()
    shown.tell(a_table(), LATE + 1)
    await shown.server.start(port=int(shown.url.rsplit(":", 1)[1]))
    await expect(banner).to_be_hidden()
    left = [str(seat["tiles"]) for seat in a_table().message(LATE + 1, "state")["seats"]]
    await expect(page.get_by_test_id("table-kitchen").locator(".player-left")).to_have_text(left)


async def test_names_are_text_and_never_a_page(stage: Stage) -> None:
    shown = await party(stage)
    shown.take("kitchen/state", packed({**a_table(players=(HOSTILE, HOSTILE)).message(LATE, "state"), "name": HOSTILE}))
    page = await on_projector(stage, shown)
    await expect(page.get_by_test_id("table-kitchen").locator("h2")).to_have_text(HOSTILE[:48])
    await page.goto(shown.url + "/#kitchen")
    await expect(page.get_by_role("heading", level=1)).to_have_text(HOSTILE[:48])
    assert await page.evaluate("window.pwned") is None


async def test_result_is_announced_and_the_winner_marked(stage: Stage) -> None:
    shown = await party(stage)
    table = a_table()
    shown.tell(table)
    page = await on_projector(stage, shown)
    card = page.get_by_test_id("table-kitchen")
    await card.wait_for()
    shown.tell(table, table.last)
    await expect(page.get_by_test_id("announce")).to_have_text("Kitchen: Ana won")
    await expect(card.locator(".sitter.won .sitter-name")).to_have_text("Ana")
    rows = page.get_by_test_id("standings").locator("tbody tr")
    await expect(rows).to_have_text(["1Ana11+1", "2Bruno01−1"])


async def test_points_of_several_rules_stand_apart(stage: Stage) -> None:
    shown = await party(stage)
    table = a_table()
    shown.tell(table, table.last)
    other = {**a_table("Attic", ("Ana", "Cy*")).message(table.last, "state"), "rules": "fi"}
    shown.take("attic/state", packed(other))
    page = await on_projector(stage, shown)
    rows = page.get_by_test_id("standings").locator("tbody tr")
    await expect(rows).to_have_text(["1Ana+1 fi · +1 pt22", "2Bruno−1 pt01", "Cybot−1 fi01"])
    await expect(page.get_by_test_id("standings")).to_contain_text("Points of different rules decide nothing")


async def test_pages_turn_by_themselves_once_asked_to(stage: Stage) -> None:
    shown = await party(stage)
    for table in many(100):
        shown.tell(table)
    page = await on_projector(stage, shown)
    await page.clock.install(time=0)
    await page.clock.pause_at(60_000)
    await page.reload()
    button = page.get_by_test_id("turn-pages")
    await button.click()
    await expect(button).to_have_attribute("aria-pressed", "true")
    wholly_seen = """() => {
      const box = document.querySelector('.hall-tables').getBoundingClientRect();
      return [...document.querySelectorAll('.card-link')].filter((link) => {
        const { top, bottom } = link.closest('.table-card').getBoundingClientRect();
        return top >= box.top && bottom <= box.bottom;
      }).map((link) => link.textContent);
    }"""
    pages: list[list[str]] = []
    while not pages or await page.evaluate("document.querySelector('.hall-tables').scrollTop") > 0:
        pages.append(await page.evaluate(wholly_seen))
        await page.clock.run_for(12_000)
    assert {name for names in pages for name in names} == {table.name for table in many(100)}
    assert len(pages) == 5


async def test_phone_shows_tables_or_standings_and_finds_a_player(stage: Stage) -> None:
    shown = await party(stage)
    for table in many(30):
        shown.tell(table)
    shown.tell(a_table(players=("Maximiliane Schmidt-Oberhausen-Wiśniewska", "Dr. Núria")), a_table().last)
    page = await stage.page(shown.url, phone=True, color_scheme="dark")
    await expect(page.locator(".table-card")).to_have_count(31)
    assert await fits_across(page)
    await page.get_by_test_id("find").fill("maxi")
    await expect(page.locator(".table-card:visible")).to_have_count(1)
    await page.get_by_test_id("show-standings").click()
    row = page.get_by_test_id("standings").locator("tbody tr:visible")
    await expect(row).to_have_count(1)
    await expect(row).to_contain_text("Maximiliane Schmidt-Oberhausen-Wiśniewska")
    assert await fits_across(page)
    await page.get_by_test_id("show-tables").click()
    name = page.locator(".table-card:visible .sitter-name", has_text="Maximiliane")
    assert await name.evaluate("(node) => node.scrollWidth <= node.parentElement.clientWidth")
    await page.get_by_test_id("find").fill("nobody of that name")
    await expect(page.get_by_text("No table and no player of that name.")).to_be_visible()
    await page.get_by_test_id("find").fill("")
    await page.get_by_test_id("table-table-3").tap()
    await expect(page.get_by_test_id("large").locator(".meld").first).to_be_visible()
    assert await fits_across(page)
    await page.get_by_test_id("back").tap()
    await expect(page.get_by_test_id("table-table-3").locator("a")).to_be_focused()
