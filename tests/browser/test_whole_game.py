"""A person at a real page of a real node, with two bots that are real nodes: found by mDNS, reached over TCP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from playwright.async_api import Page, expect

from engine.actions import DeclareRummikub, Play
from engine.bots import choose
from engine.rulesets import RULE_SETS
from engine.state import CallName, state_hash
from node.app import Node
from node.commands import BotHouse, PlayOptions
from node.config import NodeSettings
from node.desk import NodeDesk
from node.web.server import PageServer
from tests.browser.conftest import TOKEN, Stage
from tests.browser.test_page_play import drag, finger_drag, middle
from tests.node.journals import entries_in, journal_of

LOOPBACK = "127.0.0.1"
LIMIT_S = 60.0


class Party:
    """The person's node and its bots. `until` waits for something to become so."""

    def __init__(self, node: Node, bots: BotHouse, page_url: str) -> None:
        self.node = node
        self.bots = bots
        self.page_url = page_url

    async def until(self, reached: Callable[[], bool]) -> None:
        changed = asyncio.Event()
        unwatch = self.node.watch(changed.set)
        try:
            async with asyncio.timeout(LIMIT_S):
                while not reached():
                    await changed.wait()
                    changed.clear()
        finally:
            unwatch()

    def own_turn(self) -> bool:
        session = self.node.session
        return session is not None and session.clock.end_s is None and self._may_act()

    def _may_act(self) -> bool:
        session = self.node.session
        return session is not None and session.may_act(0.0)

    def best_play(self) -> Play | None:
        """What a bot would lay in the person's place."""
        session = self.node.session
        assert session is not None
        assert session.state is not None
        assert session.seat is not None
        action = choose(session.seat, session.state, session.own_tiles())
        if isinstance(action, DeclareRummikub):
            return action.play
        return action if isinstance(action, Play) else None


@asynccontextmanager
async def party(folder: Path) -> AsyncIterator[Party]:
    options = PlayOptions(
        name="Ana",
        rules=replace(RULE_SETS["pt"], turn_seconds=0),
        bots=2,
        table=None,
        port=0,
        peers=(),
        page_port=0,
        browser=False,
        loopback=True,
        data=folder,
        thinking_s=(0.0, 0.05),
    )
    node = Node(NodeSettings(name="Ana", data=folder, host=LOOPBACK, interfaces=(LOOPBACK,)))
    bots = BotHouse(node, options)
    server = PageServer(NodeDesk(node, bots.bring_another), token=TOKEN)
    try:
        await node.start()
        url = await server.start()
        await bots.bring(2)
        yield Party(node, bots, url)
    finally:
        await server.stop()
        await bots.stop()
        await node.stop()


async def open_table_and_start(page: Page, table: Party) -> None:
    """By the page alone: open a table without a turn limit, wait for the bots, start."""
    await page.get_by_test_id("turn-seconds").fill("0")
    await page.get_by_test_id("open-table").click()
    await expect(page.get_by_test_id("start")).not_to_have_attribute("aria-disabled", "true", timeout=20_000)
    await table.until(lambda: table.node.session is not None and len(table.node.session.lobby.members()) == 3)
    await page.get_by_test_id("start").click()
    await page.get_by_test_id("table").wait_for()


async def draw_until_it_can_open(page: Page, table: Party) -> Play:
    while True:
        await table.until(table.own_turn)
        play = table.best_play()
        if play is not None:
            return play
        await expect(page.get_by_test_id("draw")).not_to_have_attribute("aria-disabled", "true")
        height = table.node.session.height if table.node.session is not None else 0
        await page.get_by_test_id("draw").click()
        await table.until(lambda height=height: table.node.session is not None and table.node.session.height > height)  # type: ignore[misc] # mypy cannot infer it


async def lay_by_dragging(page: Page, play: Play, *, by_finger: bool) -> None:
    """Drag every own tile of the play to the board: the first of a meld to the empty board, the others behind it."""
    move = finger_drag if by_finger else drag
    own = {tile for _slot, tile in play.laid}
    for meld in play.board:
        fresh = [tile for tile in meld.tiles if tile in own]
        if len(fresh) != len(meld.tiles):
            continue  # a meld of the board that is added to: not needed to open
        before: int | None = None
        for tile in fresh:
            what = page.get_by_test_id(f"tile-{tile}")
            onto = page.get_by_test_id("new-meld" if before is None else f"tile-{before}")
            for place in (what, onto):
                await place.click(trial=True)  # wait until it is in view and stands still, as a person does
            await move(page, what, await middle(onto, 0.5 if before is None else 0.9))
            await expect(page.get_by_test_id("board").get_by_test_id(f"tile-{tile}")).to_be_visible()
            before = tile


async def play_to_the_opening(stage: Stage, folder: Path, *, phone: bool) -> None:
    async with party(folder) as table:
        page = await stage.page(table.page_url, phone=phone)
        await open_table_and_start(page, table)
        play = await draw_until_it_can_open(page, table)
        await lay_by_dragging(page, play, by_finger=phone)
        end = page.get_by_test_id("end-turn")
        await expect(end).not_to_have_attribute("aria-disabled", "true")
        session = table.node.session
        assert session is not None
        height, seat = session.height, session.seat
        assert seat is not None
        await end.click()
        await table.until(lambda: session.height > height)
        state = session.state
        assert state is not None
        assert state.seats[seat].opened
        laid = {tile for _slot, tile in play.laid}
        assert laid & {tile for meld in state.board for tile in meld.tiles}

        nodes = [table.node, *table.bots.nodes]
        await table.until(lambda: all(n.session is not None and n.session.height > height for n in nodes))
        logs = [entries_in(journal_of(node.settings.data)) for node in nodes]
        entries = {log[height] for log in logs}
        assert len(entries) == 1, "the same board is in the journals of all three nodes"
        assert len({log[height].state_hash for log in logs}) == 1
        await page.close()
        if session.height == height + 1:
            assert state.call is None or state.call.name is not CallName.FINAL
            assert entries.pop().state_hash == state_hash(state)


async def test_a_person_opens_by_dragging_and_all_journals_hold_the_same_board(stage: Stage, tmp_path: Path) -> None:
    await play_to_the_opening(stage, tmp_path, phone=False)


async def test_a_person_opens_by_finger_on_a_phone(stage: Stage, tmp_path: Path) -> None:
    await play_to_the_opening(stage, tmp_path, phone=True)


async def test_a_person_plays_a_turn_with_cards(stage: Stage, tmp_path: Path) -> None:
    async with party(tmp_path) as table:
        page = await stage.page(table.page_url)
        await page.get_by_test_id("rule-set").select_option("es")
        await open_table_and_start(page, table)
        await table.until(table.own_turn)
        session = table.node.session
        assert session is not None
        assert session.state is not None
        turn_number = session.state.turn_number
        await page.get_by_test_id("draw").click()
        await expect(page.get_by_test_id("discard")).to_be_visible()
        hand = page.get_by_test_id("rack").locator(".tile")
        await expect(hand).to_have_count(8)
        thrown = int(await hand.last.get_attribute("data-id") or "-1")  # from the stock, so it may go at once
        await drag(page, hand.last, await middle(page.get_by_test_id("discard-pile")))
        await table.until(lambda: session.state is not None and session.state.turn_number > turn_number)
        assert thrown in session.state.known_tiles().values()
        assert len(session.state.seats[session.seat or 0].rack) == 7
        nodes = [table.node, *table.bots.nodes]
        height = session.height
        await table.until(lambda: all(n.session is not None and n.session.height >= height for n in nodes))
        logs = [entries_in(journal_of(node.settings.data))[:height] for node in nodes]
        assert all(log == logs[0] for log in logs)
        await page.close()
