"""A game between real processes, every turn of which the table device's button ends: a person, two bots, a display."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from engine.actions import DeclareRummikub, Play
from engine.bots import choose
from engine.rulesets import PT
from engine.state import EndedBy
from node.app import Node
from node.config import NodeSettings
from node.desk import NodeDesk
from protocol.events import EntryCommitted, Event, PressAnswered
from protocol.messages import SeatAction
from tests.network.lab import ROOT
from tests.node.bots import ForkedBot, ended, same_logs
from tests.node.loops import run, until
from tests.node.takenup import TABLE, dealt, laid_down

LOOPBACK = "127.0.0.1"
LIMIT_S = 30.0
_DISPLAY = (sys.executable, "-m", "node", "--verbose", "display")
RULES = replace(PT, turn_seconds=0, hand=5, opening_min=0)
TILES = (
    "R5 R6 R7 B10 B11 "  # the person: a run, and two that wait for a third
    "K1 K3 K5 K8 K13 Y1 Y3 Y5 Y8 Y13 "  # the bots: nothing to lay
    "R2 R10 B12 B12 B9 R13 B4 B6 Y11"  # whoever starts, the person's first draw completes its run
)


class Display:
    """`rummesh display` in a terminal of its own, whose keys a test presses."""

    def __init__(self, data: Path, log: Path) -> None:
        self.shown = b""
        self._keys, terminal = pty.openpty()
        with log.open("wb") as errors:
            self._process = subprocess.Popen(
                [*_DISPLAY, "--loopback", "--data", str(data), "--backend", "terminal", "--table", TABLE],
                stdin=terminal,
                stdout=terminal,
                stderr=errors,
                cwd=ROOT,
            )
        os.close(terminal)
        self._log = log
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def press(self, key: str) -> None:
        os.write(self._keys, key.encode())

    def told(self) -> list[str]:
        """The lines of its log."""
        return self._log.read_text(encoding="utf-8").splitlines()

    def stop(self) -> int:
        self._process.terminate()
        status = self._process.wait()
        self._reader.join()
        os.close(self._keys)
        return status

    def _read(self) -> None:
        with contextlib.suppress(OSError):  # the other end is gone
            while data := os.read(self._keys, 65536):
                self.shown += data


@contextlib.contextmanager
def display(data: Path, log: Path) -> Iterator[Display]:
    started = Display(data, log)
    try:
        yield started
    finally:
        started.stop()


class Person:
    """A node with its desk, and what happens at its table."""

    def __init__(self, data: Path) -> None:
        self.node = Node(NodeSettings(name="Ana", data=data, host=LOOPBACK, interfaces=(LOOPBACK,)))
        self.desk = NodeDesk(self.node)
        self.events: list[Event] = []
        self.node.listen(self.events.append)

    def turn(self) -> tuple[int, int] | None:
        """The number of the turn that is on, and whose it is; None while it is nobody's."""
        session = self.node.session
        if session is None or session.state is None or not session._turn_is_on():
            return None
        return session.state.turn_number, session.state.turn

    def over(self) -> bool:
        return self.node.session is not None and self.node.session.game is not None and self.node.session.game.over

    def moves(self) -> str:
        """Lay in the own turn what a bot would; gives the key of the button that is to be pressed then."""
        session = self.node.session
        assert session is not None
        assert session.state is not None
        assert session.seat is not None
        action = choose(session.seat, session.state, session.own_tiles())
        wins = isinstance(action, DeclareRummikub)
        play = action.play if isinstance(action, DeclareRummikub) else action
        if isinstance(play, Play):
            melds = [{"tiles": list(meld.tiles), "kind": None} for meld in play.board]
            self.desk.command({"type": "draft", "draft_no": 1, "melds": melds})
        return "r" if wins else "e"


def test_every_turn_is_ended_by_the_button_and_the_other_button_wins(tmp_path: Path) -> None:
    folders = laid_down(dealt(RULES, 3, TILES), tmp_path)
    person = Person(folders[0])

    async def main() -> None:
        await person.node.start()
        try:
            await until(lambda: len(person.node.linked()) == 3 and person.turn(), LIMIT_S)
            await until(lambda: b"\x1b[H" in clock.shown, LIMIT_S)
            await press_until(lambda: refusals(person), lambda: clock.press("r"))  # nobody can win yet
            turns = 0
            while not person.over():
                turn = person.turn()
                assert turn is not None
                await press_until(
                    lambda turn=turn: person.over() or person.turn() not in (None, turn),  # type: ignore[misc] # mypy cannot infer it
                    lambda turn=turn: clock.press(person.moves() if turn[1] == 0 else "e"),  # type: ignore[misc] # the same
                )
                turns += 1
            taken = [event.action for event in person.events if isinstance(event, EntryCommitted)]
            actions = [action for action in taken if isinstance(action, SeatAction)]
            assert len(actions) == turns
            assert isinstance(actions[-1], DeclareRummikub)
            assert person.node.session is not None
            assert person.node.session.state is not None
            result = person.node.session.state.result
            assert result is not None
            assert (result.ended_by, result.out) == (EndedBy.OUT, 0)
            await until(lambda: [len(same_logs([one])) for one in folders] == [len(person_log(person))] * 4, LIMIT_S)
        finally:
            await person.node.stop()

    with (
        ended([ForkedBot(folder, "--by-button", "--strength", "beginner") for folder in folders[1:3]]),
        display(folders[3], tmp_path / "display.log") as clock,
    ):
        run(main())
        same_logs(folders)
    assert [line for line in clock.told() if "did nothing" in line]


async def press_until(done: Callable[[], object], press: Callable[[], None]) -> None:
    """A press may come before the device knows of the turn: as a person would, press again where nothing happens."""
    for _press in range(5):
        press()
        with contextlib.suppress(AssertionError):
            await until(done, LIMIT_S / 10)
            return
    raise AssertionError("no press has ended the turn")


def person_log(person: Person) -> list[object]:
    assert person.node.session is not None
    return list(person.node.session.log)


def refusals(person: Person) -> list[str]:
    """What was refused of presses, by this node's happenings or by its own answer."""
    return [event.refused for event in person.events if isinstance(event, PressAnswered) and event.refused]
