"""Drives one session: feeds it links, frames and time, and carries out what it wants done, in order.

What a session stores is durable before anything after it is sent. If the journal fails, nothing more is sent for this
table: a node that cannot remember its votes must not cast any.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Callable, Sequence
from typing import Protocol

from node.clock import monotonic_s, unix_s
from node.journal import Journal, JournalError, JournalRecord
from node.tasks import spawn
from protocol.errors import LocalProtocolError
from protocol.events import Event
from protocol.outputs import Compute, Drop, RecordKind, Send, Store, Tell
from protocol.session import Session

_log = logging.getLogger(__name__)


class CrashPoint:
    """For tests: kills this process the n-th time it passes a point, as in `RUMMESH_CRASH_AT=after-store.lock:3`.

    Points are `before-store`, `after-store`, each also for one kind of record, and `after-send`.
    """

    def __init__(self, text: str) -> None:
        self._point, _, times = text.partition(":")
        self._left = int(times or 1)

    def passed(self, point: str) -> None:
        """This point is passed now."""
        if point == self._point:
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    def passed_with(self, point: str, records: Sequence[JournalRecord]) -> None:
        """As `passed`, also for the point of each kind of these records."""
        for named in (point, *(f"{point}.{record.kind}" for record in records)):
            self.passed(named)


class Links(Protocol):
    """What a runner needs of the mesh."""

    def send(self, node_id: bytes, frame: bytes) -> bool: ...

    def broadcast(self, frame: bytes, *, but: bytes | None = None) -> None: ...

    def linked(self) -> tuple[bytes, ...]: ...

    def close_link(self, node_id: bytes, reason: str) -> None: ...


class Runner:
    """One session at work in the event loop. `changed` is called after every input, `told` with every event."""

    def __init__(
        self,
        session: Session,
        links: Links,
        journal: Journal,
        *,
        told: Callable[[Event], None],
        changed: Callable[[], None],
    ) -> None:
        self.session = session
        self.failure: str | None = None
        self._links = links
        self._journal = journal
        self._told = told
        self._changed = changed
        self._timer: asyncio.TimerHandle | None = None
        self._stopped = False
        self._computing: set[asyncio.Task[None]] = set()
        self._crash_point = CrashPoint(os.environ.get("RUMMESH_CRASH_AT", ""))

    def start(self) -> None:
        """Tell the session of the links that are up already, and begin."""
        for node in self._links.linked():
            self.linked(node)
        self._happens(Session.handle_deadline)

    def stop(self) -> None:
        """No more input from here on. The session's own words are safe in the journal."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
        for task in self._computing:
            task.cancel()
        self._journal.close()

    def close_for_good(self) -> None:
        """As `stop`, and the game is not taken up again."""
        game = self.session.game
        if game is not None and self.failure is None:
            self._write([JournalRecord(RecordKind.CLOSED.value, self.session.height, b"", unix_s())])
        self.stop()

    def linked(self, node: bytes) -> None:
        self._happens(lambda session, now_s: session.linked(node, now_s))

    def lost(self, node: bytes) -> None:
        self._happens(lambda session, now_s: session.lost(node, now_s))

    def receive(self, link: bytes, frame: bytes) -> None:
        self._happens(lambda session, now_s: session.receive(link, frame, now_s))

    def _happens(self, input_: Callable[[Session, float], object]) -> None:
        """Something came from outside. If the session cannot go on with it, this table stands still and says why."""
        try:
            self.do(input_)
        except LocalProtocolError as error:
            self.failure = f"This table cannot go on here: {error}."
            _log.error("this table stands still: %s", error)
            self._changed()

    def do(self, wish: Callable[[Session, float], object]) -> None:
        """Let something happen to the session now, and carry out what follows from it.

        What `wish` raises reaches the caller, after the outputs of what had happened before it.
        """
        if self._stopped or self.failure is not None:
            return
        try:
            wish(self.session, monotonic_s())
        finally:
            self._carry_out()
            self._wake_up()
            self._changed()

    def _carry_out(self) -> None:
        waiting: list[JournalRecord] = []
        for output in self.session.take_outputs():
            if isinstance(output, Store):
                waiting.append(JournalRecord(output.kind.value, output.height, output.data, unix_s()))
                continue
            if waiting and isinstance(output, Send):
                if not self._write(waiting):
                    return
                waiting = []
            match output:
                case Send(frame, to, but):
                    if to is None:
                        self._links.broadcast(frame, but=but)
                    else:
                        self._links.send(to, frame)
                    self._crash_point.passed("after-send")
                case Drop(node, reason):
                    self._links.close_link(node, reason)
                case Tell(event):
                    self._told(event)
                case Compute():
                    spawn(self._compute(output), self._computing, "a computation failed")
        if waiting:
            self._write(waiting)

    async def _compute(self, asked: Compute) -> None:
        """Do something long in a thread, and tell the session."""
        try:
            result = await asyncio.to_thread(asked.work)
        except Exception:
            if self.session.wants(asked.number):  # else its secrets may have been erased meanwhile
                raise
            return
        self._happens(lambda session, now_s: session.computed(asked.number, result, now_s))

    def _write(self, records: list[JournalRecord]) -> bool:
        self._crash_point.passed_with("before-store", records)
        try:
            self._journal.append(records)
        except JournalError as error:
            self.failure = str(error)
            _log.error("the journal failed, this table stands still: %s", error)
            return False
        self._crash_point.passed_with("after-store", records)
        if any(record.kind == RecordKind.CLOSED.value for record in records):
            self._erase_secrets(but_last=False)
        elif any(record.kind == RecordKind.SECRET.value for record in records):
            self._erase_secrets(but_last=True)
        return True

    def _erase_secrets(self, *, but_last: bool) -> None:
        """Those of finished games and epochs, which nothing needs any more (docs/deal-entries.md, section 7)."""
        try:
            self._journal.erase(RecordKind.SECRET.value, but_last=but_last)
        except JournalError as error:
            _log.warning("old secrets are still in the journal: %s", error)

    def _wake_up(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self.failure is None and not self._stopped:
            delay_s = max(0.0, self.session.next_deadline_s() - monotonic_s())
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(delay_s, self._happens, Session.handle_deadline)
