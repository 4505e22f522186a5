"""What a display shows: keeps the moments that a view of its node needs, and tells the display when it has changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, Protocol

from display.views import ErrorView, NoticeView, RefusalView, View, subject
from engine.actions import Pause
from engine.state import Phase
from node.app import Node
from node.clock import monotonic_s
from node.device.views import Moments, penalty_of, table_view
from protocol.events import EntryCommitted, Event, GameStarted
from protocol.roster import clean_name
from protocol.session import Session

REFUSAL_S: Final = 4.0
PENALTY_S: Final = 2.5
_JUMP: Final = 3  # entries that come at once only to who was away
JUST_S: Final = 1.0


class Face(Protocol):
    """What a display is told; `display.device.Device` is one."""

    def changed(self) -> None: ...

    def flash(self, view: View, seconds: float) -> None: ...


class Screen:
    """What a display asks, and where it is told of presses that did nothing."""

    def __init__(self) -> None:
        self._face: Face | None = None
        self._refused = False

    def view(self, now_s: float) -> View:
        """What is to be shown."""
        raise NotImplementedError

    def show_on(self, face: Face) -> None:
        """Tell this display from now on."""
        self._face = face

    def changed(self) -> None:
        """What is to be shown has changed."""
        if self._face is not None:
            self._face.changed()

    def notice(self, view: View, seconds: float) -> None:
        """Show this for so long, over everything."""
        if self._face is not None:
            self._face.flash(view, seconds)

    def refuse(self, reason: str) -> None:
        """A press did nothing, for this reason."""
        self._refused = True
        self.notice(RefusalView(reason), REFUSAL_S)

    def accept(self) -> None:
        """A press was done: an earlier refusal is not shown any longer."""
        if self._refused:
            self._refused = False
            self.notice(RefusalView(""), 0.0)

    def stop(self) -> None:
        """Tell nobody any more."""
        self._face = None


class TableScreen(Screen):
    """The screen of a node. `elsewhere` tells what is shown while it is at no table."""

    def __init__(self, node: Node, elsewhere: Callable[[], View]) -> None:
        super().__init__()
        self._node = node
        self._elsewhere = elsewhere
        self._told: View | None = None
        self._session: Session | None = None
        self._height = 0
        self._jumped_s: float | None = None
        self._moments = Moments()
        self._unwatch = node.watch(self._look)
        node.listen(self._hear)

    def stop(self) -> None:
        """Tell nobody any more."""
        self._unwatch()
        super().stop()

    def view(self, now_s: float) -> View:
        """What is to be shown."""
        session = self._node.session
        if self._node.runner is not None and self._node.runner.failure is not None:
            return ErrorView(self._node.runner.failure)
        if session is None:
            return self._elsewhere()
        if session.genesis is not None and session.seat is None and self._is_alone(session):
            return NoticeView(clean_name(session.genesis.table_name), "Nobody at this table can be reached.")
        return table_view(session, self._moments, now_s)

    def _is_alone(self, session: Session) -> bool:
        assert session.state is not None
        return session.state.phase is not Phase.OVER and session.void is None and not self._node.linked()

    def _look(self) -> None:
        now_s = monotonic_s()
        self._follow(now_s)
        told = subject(self.view(now_s))
        if told != self._told:
            self._told = told
            self.changed()

    def _follow(self, now_s: float) -> None:
        session = self._node.session
        if session is not self._session:
            self._session, self._moments, self._jumped_s = session, Moments(), None
            self._height = 0 if session is None else session.height
        state = None if session is None else session.state
        if session is None or state is None:
            return
        if session.height - self._height >= _JUMP:
            self._jumped_s = now_s
        self._height = session.height
        unsure = self._jumped_s is not None and now_s - self._jumped_s < JUST_S
        turn = (state.game, state.turn_number, state.phase)
        self._moments = self._moments.at(turn, now_s, paused=state.paused is not None, unsure=unsure)

    def _hear(self, event: Event) -> None:
        session = self._node.session
        match event:
            case GameStarted():
                self._moments = replace(self._moments, table_s=monotonic_s())
            case EntryCommitted(action=Pause(seat=seat)):
                self._moments = replace(self._moments, paused_by=seat)
            case EntryCommitted() if session is not None and event.height == session.height - 1:
                assert session.genesis is not None
                assert session.state is not None
                penalty = penalty_of(event, session.genesis, session.state)
                if penalty is not None:
                    self.notice(penalty, PENALTY_S)
            case _:
                pass
