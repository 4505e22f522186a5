"""From the edges of contacts to presses. Sans-I/O: edges and time go in, events come out.

A contact bounces for up to some 20 ms, closing as well as opening. A button counts as down once its contact has been
closed for `confirm_s` without a break, and as up once it has been open for `release_s` without a break. So a spike on
the wire is no press, the bounce of a release is none either, and a tap as short as a finger can make it is one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """What a button did."""

    PRESSED = "pressed"  # at once, whatever comes of it
    TAPPED = "tapped"  # pressed and released, not held, and no other with it
    HELD = "held"  # still down after `hold_s`; once a press
    BOTH = "both"  # another one was pressed with it; neither is tapped or held then
    RELEASED = "released"
    STUCK = "stuck"  # down for so long that nobody holds it; the others work on as if it were not there


@dataclass(frozen=True, slots=True)
class Press:
    """An event of a button; of BOTH it is the one pressed last. `at_s`: when the contact said so."""

    kind: Kind
    button: str
    at_s: float


@dataclass(frozen=True, slots=True)
class PressTimes:
    """All in seconds."""

    confirm_s: float = 0.003
    release_s: float = 0.030
    hold_s: float = 1.0
    together_s: float = 0.15
    stuck_s: float = 20.0

    def __post_init__(self) -> None:
        if not 0 <= self.confirm_s <= self.release_s < self.hold_s < self.stuck_s:
            raise ValueError("expected 0 <= confirm_s <= release_s < hold_s < stuck_s")


@dataclass(slots=True)
class _Button:
    closed: bool
    edge_s: float  # of the last change of `closed`
    down: bool
    down_s: float
    quiet: bool  # what is down says no more than that it is released: held, or one of two
    stuck: bool = False


class Debouncer:
    """All buttons of a device. A button that is down from the start was pressed by nobody."""

    def __init__(self, closed: Iterable[tuple[str, bool]], now_s: float, times: PressTimes | None = None) -> None:
        self._times = times or PressTimes()
        self._buttons = {name: _Button(down, now_s, down, now_s, quiet=down) for name, down in closed}
        self._both_s = float("-inf")  # when two were last pressed at once

    def edge(self, name: str, closed: bool, at_s: float) -> list[Press]:
        """The contact has closed or opened; first comes what was due before."""
        events = self.advance(at_s)
        self.seen(name, closed, at_s)
        return events

    def seen(self, name: str, closed: bool, at_s: float) -> None:
        """How the contact is at this time: an edge that nobody told is made up for before anything follows from it."""
        button = self._buttons[name]
        if button.closed != closed:
            button.closed = closed
            button.edge_s = at_s

    def advance(self, now_s: float) -> list[Press]:
        """What has happened until now, in order of time."""
        events: list[Press] = []
        while (due := self._next()) is not None and due[0] <= now_s:
            events += self._happens(due[1], due[0])
        return events

    def next_deadline_s(self) -> float | None:
        """When `advance` is to be called if no edge comes before; None if nothing is under way."""
        due = self._next()
        return None if due is None else due[0]

    def _next(self) -> tuple[float, str] | None:
        dues = [(due_s, name) for name, button in self._buttons.items() if (due_s := self._due_s(button)) is not None]
        return min(dues, default=None)

    def _due_s(self, button: _Button) -> float | None:
        if button.closed != button.down:
            return button.edge_s + (self._times.confirm_s if button.closed else self._times.release_s)
        if not button.down or button.stuck:
            return None
        return button.down_s + (self._times.stuck_s if button.quiet else self._times.hold_s)

    def _happens(self, name: str, due_s: float) -> list[Press]:
        button = self._buttons[name]
        if button.closed != button.down:
            return self._goes_down(name, button) if button.closed else self._goes_up(name, button)
        if not button.quiet:
            button.quiet = True
            return [Press(Kind.HELD, name, due_s)]
        button.stuck = True
        return [Press(Kind.STUCK, name, due_s)]

    def _goes_down(self, name: str, button: _Button) -> list[Press]:
        button.down, button.down_s, button.quiet, button.stuck = True, button.edge_s, False, False
        events = [Press(Kind.PRESSED, name, button.edge_s)]
        others = [other for other in self._buttons.values() if other is not button and other.down and not other.quiet]
        together = [other for other in others if button.down_s - other.down_s <= self._times.together_s]
        if together or button.down_s - self._both_s <= self._times.together_s:  # a third one, even
            self._both_s = button.down_s
            for one in (button, *together):
                one.quiet = True
            events.append(Press(Kind.BOTH, name, button.edge_s))
        return events

    def _goes_up(self, name: str, button: _Button) -> list[Press]:
        button.down = False
        tapped = [] if button.quiet else [Press(Kind.TAPPED, name, button.edge_s)]
        return [Press(Kind.RELEASED, name, button.edge_s), *tapped]
