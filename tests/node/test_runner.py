"""The runner keeps the order: stored, then sent; and a table that cannot go on stands still with a reason."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from engine.rulesets import PT
from node.journal import Journal, JournalError, JournalRecord
from node.runner import Runner
from protocol.dealing.open_deal import open_dealer
from protocol.errors import LocalProtocolError
from protocol.messages import TableCard
from protocol.outputs import RecordKind, Send, Store
from protocol.session import Session
from tests.node.loops import run
from tests.protocol.keys import Key


class WatchedJournal(Journal):
    """Notes when it is written to, in `done`; fails when told to."""

    done: list[str]
    full = False

    def append(self, records: Sequence[JournalRecord]) -> None:
        if self.full:
            raise JournalError("The disk is full. Make room and start again.")
        super().append(records)
        self.done.append("stored " + " ".join(record.kind for record in records))


class WatchedLinks:
    """Notes what is sent, in `done`."""

    def __init__(self, done: list[str]) -> None:
        self.done = done

    def send(self, node_id: bytes, frame: bytes) -> bool:
        self.done.append("sent to one")
        return True

    def broadcast(self, frame: bytes, *, but: bytes | None = None) -> None:
        self.done.append(f"sent {frame!r}")

    def linked(self) -> tuple[bytes, ...]:
        return ()

    def close_link(self, node_id: bytes, reason: str) -> None:
        self.done.append(f"closed: {reason}")


def session() -> Session:
    return Session.in_lobby(
        Key(1),
        b"t" * 16,
        "Ana",
        bot=False,
        entropy=bytes,
        make_dealer=open_dealer,
        card=TableCard("Kitchen", PT),
        now_s=1e12,  # no heartbeat in this test
    )


def watched(folder: Path) -> tuple[Runner, list[str], WatchedJournal]:
    done: list[str] = []
    journal = WatchedJournal.open(folder / "t.journal")
    assert isinstance(journal, WatchedJournal)
    journal.done = done
    own = session()
    own.take_outputs()
    runner = Runner(own, WatchedLinks(done), journal, told=lambda event: None, changed=lambda: None)
    return runner, done, journal


def say(*outputs: Store | Send) -> object:
    """An input after which the session wants these things done."""
    return lambda own, _now_s: own._outputs.extend(outputs)


VOTE = Store(RecordKind.OWN, 1, b"vote")
LOCK = Store(RecordKind.LOCK, 1, b"lock")


def test_what_is_stored_is_stored_before_what_follows_is_sent(tmp_path: Path) -> None:
    async def main() -> None:
        runner, done, _journal = watched(tmp_path)
        runner.do(say(VOTE, LOCK, Send(b"a"), VOTE, Send(b"b"), Send(b"c"), LOCK))  # type: ignore[arg-type] # an input
        runner.stop()
        assert done == ["stored own lock", "sent b'a'", "stored own", "sent b'b'", "sent b'c'", "stored lock"]

    run(main())


def test_after_a_journal_that_failed_nothing_is_sent_any_more(tmp_path: Path) -> None:
    async def main() -> None:
        runner, done, journal = watched(tmp_path)
        journal.full = True
        runner.do(say(Send(b"a"), VOTE, Send(b"b")))  # type: ignore[arg-type] # an input
        runner.do(say(Send(b"c")))  # type: ignore[arg-type] # an input
        runner.receive(b"n" * 32, b"frame")
        assert done == ["sent b'a'"]
        assert runner.failure == "The disk is full. Make room and start again."
        runner.stop()

    run(main())


def test_a_session_that_cannot_go_on_stands_still_and_says_why(tmp_path: Path) -> None:
    async def main() -> None:
        runner, _done, _journal = watched(tmp_path)

        def broken(*_arguments: object) -> None:
            raise LocalProtocolError("a drawn card is no tile")

        runner._happens(broken)
        await asyncio.sleep(0)
        assert runner.failure == "This table cannot go on here: a drawn card is no tile."
        runner.stop()

    run(main())
