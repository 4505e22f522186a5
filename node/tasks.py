"""Background tasks that are kept until they end, and whose failure is never silent."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any


def spawn(work: Coroutine[Any, Any, None], tasks: set[asyncio.Task[None]], failed: str) -> asyncio.Task[None]:
    """Run `work` in the background. Its task stays in `tasks` until it ends.

    An exception is our bug: it goes, with the message `failed`, to whoever runs the loop.
    """

    def ended(task: asyncio.Task[None]) -> None:
        tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            task.get_loop().call_exception_handler({"message": failed, "exception": task.exception(), "task": task})

    task = asyncio.get_running_loop().create_task(work)
    tasks.add(task)
    task.add_done_callback(ended)
    return task
