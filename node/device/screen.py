"""What a display shows of its node: keeps the moments that a view needs, and tells the display when it has changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, Protocol

from display.views import ErrorView, NoticeView, RefusalView, View, subject
from engine.actions import Pause
from engine.state import Phase, PublicState
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


class TableScreen:
    """The screen of a node. `elsewhere` tells what is shown while it is at no table."""

    def __init__(self, node: Node, elsewhere: Callable[[], View]) -> None:
        self._node = node
        self._elsewhere = elsewhere
        self._face: Face | None = None
        self._told: View | None = None
        self._session: Session | None = None
        self._height = 0
        self._turn: tuple[int, int, Phase] | None = None
        self._jumped_s: float | None = None
        self._paused_s: float | None = None
        self._refused = False
        self._moments = Moments()
        self._unwatch = node.watch(self._look)
        node.listen(self._hear)

    def show_on(self, face: Face) -> None:
        """Tell this display from now on."""
        self._face = face

    def stop(self) -> None:
        """Tell nobody any more."""
        self._unwatch()
        self._face = None

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

    def _is_alone(self, session: Session) -> bool:
        assert session.state is not None
        return session.state.phase is not Phase.OVER and session.void is None and not self._node.linked()

    def _look(self) -> None:
        now_s = monotonic_s()
        self._follow(now_s)
        told = subject(self.view(now_s))
        if told != self._told:
            self._told = told
            if self._face is not None:
                self._face.changed()

    def _follow(self, now_s: float) -> None:
        session = self._node.session
        if session is not self._session:
            self._session, self._turn, self._moments = session, None, Moments()
            self._jumped_s = self._paused_s = None
            self._height = 0 if session is None else session.height
        state = None if session is None else session.state
        if session is None or state is None:
            return
        if session.height - self._height >= _JUMP:
            self._jumped_s = now_s
        self._height = session.height
        turn = (state.game, state.turn_number, state.phase)
        if turn != self._turn:
            self._turn = turn
            unsure = self._jumped_s is not None and now_s - self._jumped_s < JUST_S
            over_s = now_s if state.phase is Phase.OVER else None
            self._moments = replace(self._moments, turn_s=now_s, over_s=over_s, unsure=unsure)
        self._follow_pause(state, now_s)

    def _follow_pause(self, state: PublicState, now_s: float) -> None:
        """The time of a turn without a limit stands in a pause."""
        if state.paused is not None:
            self._paused_s = self._paused_s or now_s
        elif self._paused_s is not None:
            turn_s = self._moments.turn_s
            stood_s, self._paused_s = now_s - self._paused_s, None
            self._moments = replace(self._moments, turn_s=None if turn_s is None else min(now_s, turn_s + stood_s))

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
