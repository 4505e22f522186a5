"""Background tasks that are kept until they end, and whose failure is never silent."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, Final

_AGAIN_S: Final = 5.0


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


async def end(tasks: Iterable[asyncio.Future[Any]]) -> None:
    """Cancel them, and wait until they have ended.

    Who has not ended after some seconds is told again: before Python 3.12 `asyncio.wait_for` swallows a cancellation
    that comes at the moment for which it waits, and libraries (aiomqtt) wait with it.
    """
    left = {task for task in tasks if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _ended, left = await asyncio.wait(left, timeout=_AGAIN_S)
