"""Chromium, a page per test, and one event loop that page, server and desk share. Tests here are coroutines."""

from __future__ import annotations

import asyncio
import inspect
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from node.mqtt.party.server import PartyServer
from node.web.server import Desk, PageServer

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Page, ViewportSize

TOKEN = "token-of-the-browser-tests"
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)
DESKTOP: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 390, "height": 844}
EXPECT_MS = 5000
CLOSE_S = 5.0


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.browser)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Runs a coroutine test on the loop of the browser."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    runner = pyfuncitem.funcargs["runner"]
    assert isinstance(runner, asyncio.Runner)
    wanted = inspect.signature(pyfuncitem.obj).parameters
    runner.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in wanted}))
    return True


@pytest.fixture(scope="package")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as loop_runner:
        yield loop_runner


@pytest.fixture(scope="package")
def browser(runner: asyncio.Runner) -> Iterator[Browser]:
    api = pytest.importorskip("playwright.async_api", reason="playwright is not installed (pip install playwright)")
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("no Chromium found (apt-get install chromium)")

    async def launch() -> tuple[Any, Browser]:
        playwright = await api.async_playwright().start()
        api.expect.set_options(timeout=EXPECT_MS)
        return playwright, await playwright.chromium.launch(executable_path=program, headless=True, args=list(SWITCHES))

    playwright, chromium = runner.run(launch())
    yield chromium
    runner.run(chromium.close())
    runner.run(playwright.stop())
    for thread in threading.enumerate():
        if thread.name.startswith("asyncio-waitpid"):  # waits for the end of Playwright's process
            thread.join(CLOSE_S)


class Stage:
    """Opens pages on a desk, and sees to it that no page had an error."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self.servers: list[PageServer | PartyServer] = []  # stopped when all pages are closed
        self.problems: list[str] = []
        self.expected_problems: tuple[str, ...] = ()  # parts of console errors that belong to the test

    async def serve(self, desk: Desk, port: int = 0) -> str:
        """Starts a server on `desk`; the link to its page."""
        server = PageServer(desk, token=TOKEN)
        url = await server.start(port=port)
        self.servers.append(server)
        return url

    async def page(self, url: str, *, phone: bool = False, **options: Any) -> Page:
        """A new page of its own browser profile on `url`."""
        size = PHONE if phone else DESKTOP
        context = await self._browser.new_context(
            viewport=size, has_touch=phone, is_mobile=phone, reduced_motion="reduce", **options
        )
        context.set_default_timeout(EXPECT_MS)
        self._contexts.append(context)
        page = await context.new_page()
        page.on("pageerror", lambda error: self.problems.append(f"page error: {error}"))
        page.on("console", lambda line: self.problems.append(line.text) if line.type in ("error", "warning") else None)
        await page.goto(url)
        return page

    async def open(self, desk: Desk, *, phone: bool = False, **options: Any) -> Page:
        """A page on a server of its own."""
        page = await self.page(await self.serve(desk), phone=phone, **options)
        await page.get_by_test_id(desk.snapshot()["screen"]).wait_for()
        return page

    async def close(self) -> None:
        for context in self._contexts:
            await context.close()
        for server in self.servers:
            await server.stop()

    def unexpected(self) -> list[str]:
        return [line for line in self.problems if not any(part in line for part in self.expected_problems)]


@pytest.fixture
def stage(runner: asyncio.Runner, browser: Browser) -> Iterator[Stage]:
    whole = Stage(browser)
    yield whole
    runner.run(whole.close())
    assert whole.unexpected() == []
