"""Running a test in an event loop of its own that must be empty at the end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

LIMIT_S = 10.0


def run(main: Coroutine[Any, Any, None]) -> None:
    """Run `main`. Fails if it leaves a task, thread or socket, or if something failed that nobody awaited."""
    troubles: list[dict[str, Any]] = []

    async def watched() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: troubles.append(context))
        await main
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left, f"tasks left: {left}"

    threads, sockets = threading.active_count(), open_sockets()
    asyncio.run(watched())
    assert not troubles, troubles
    assert threading.active_count() == threads
    assert open_sockets() == sockets


async def until(condition: Callable[[], object], limit_s: float = LIMIT_S) -> None:
    """Wait for `condition`. Fails when it has not come true within the limit."""
    loop = asyncio.get_running_loop()
    end_s = loop.time() + limit_s
    while not condition():
        assert loop.time() < end_s, "has not come true in time"
        await asyncio.sleep(0.005)


def open_sockets() -> int:
    """How many sockets this process holds."""
    count = 0
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            count += str(descriptor.readlink()).startswith("socket:")
        except FileNotFoundError:  # the one that lists the folder
            continue
    return count
