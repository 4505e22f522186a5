"""Telling systemd how a service is: sd_notify, a line of text to the socket that `NOTIFY_SOCKET` names.

Without systemd all of it does nothing. Source: the manual page sd_notify(3).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator


def notify(**fields: str | int) -> None:
    """Tells fields such as `READY=1`. What cannot be told is not: no service stops for it."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if address[:1] not in ("/", "@"):
        return
    text = "\n".join(f"{name}={value}" for name, value in fields.items())
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as channel:
        channel.setblocking(False)
        try:
            channel.sendto(text.encode(), "\0" + address[1:] if address[0] == "@" else address)
        except OSError:
            return


def ready(status: str = "") -> None:
    """The service has started. `status` is what `systemctl status` shows."""
    notify(READY=1, STATUS=status)


def status(text: str) -> None:
    """What `systemctl status` shows from now on, one line."""
    notify(STATUS=text)


def stopping() -> None:
    """The service is about to end."""
    notify(STOPPING=1)


def watchdog_s() -> float | None:
    """How often to say that the service is alive, half of what systemd waits for it; None if nobody waits."""
    asked_for, by = os.environ.get("WATCHDOG_USEC", ""), os.environ.get("WATCHDOG_PID", str(os.getpid()))
    return int(asked_for) / 2e6 if asked_for.isdecimal() and int(asked_for) > 0 and by == str(os.getpid()) else None


async def keep_alive() -> None:
    """Says so until it is cancelled. What blocks the event loop silences it; then systemd starts the service anew."""
    every_s = watchdog_s()
    while every_s is not None:
        notify(WATCHDOG=1)
        await asyncio.sleep(every_s)


@contextlib.asynccontextmanager
async def service(status: str = "at work") -> AsyncIterator[None]:
    """The service is ready now, alive meanwhile, and stops at the end."""
    ready(status)
    alive = asyncio.get_running_loop().create_task(keep_alive())
    try:
        yield
    finally:
        stopping()
        alive.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await alive
