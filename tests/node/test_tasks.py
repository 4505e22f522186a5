from __future__ import annotations

import asyncio
import contextlib

import pytest

from node import tasks
from tests.node.loops import run


def test_tasks_end_although_one_loses_the_first_cancellation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "_AGAIN_S", 0.05)

    async def deaf() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        await asyncio.sleep(60)

    async def broken() -> None:
        raise ValueError("first")

    async def main() -> None:
        started = [asyncio.create_task(work) for work in (deaf(), asyncio.sleep(60), broken())]
        await asyncio.sleep(0)
        await tasks.end(started)
        assert [task.cancelled() for task in started] == [True, True, False]
        with pytest.raises(ValueError, match="first"):
            started[2].result()
        await tasks.end([])

    run(main())


def test_a_task_has_time_to_clean_up() -> None:
    done = []

    async def tidy() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.05)
            done.append(True)

    async def main() -> None:
        task = asyncio.create_task(tidy())
        await asyncio.sleep(0)
        await tasks.end([task])

    run(main())
    assert done
