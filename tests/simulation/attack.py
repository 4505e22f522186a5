"""A table with one lying node: its session is silent, and the test speaks with its key."""

from __future__ import annotations

from collections.abc import Callable

from engine.rulesets import PT, RuleSet
from engine.state import Phase, PublicState, Seat
from node.simulation import SimulatedTable, finished
from protocol.envelope import Envelope, seal
from protocol.events import EvidenceFound, MessageRefused
from protocol.messages import Body
from protocol.session import Session


class AttackedTable(SimulatedTable):
    """Stops when the liar, or another seat, is to act; `say` sends what the liar's key signs."""

    def __init__(self, seats: int, seed: int, rules: RuleSet = PT) -> None:
        super().__init__(rules, seats, seed)
        self.liar = seats - 1

    def play_until(self, reached: Callable[[], bool]) -> None:
        """Do events until something is so; fails if it never is."""
        for _now_s in self.steps():
            if reached():
                return
        raise AssertionError(f"never reached, heights {[node.session.height for node in self.nodes]}")

    def liar_is_to_act(self) -> bool:
        """The liar's turn is on at every node, and nothing is under way."""
        seat = self.liar_seat()
        return seat is not None and all(self._turn_of(node.session) == seat for node in self.nodes)

    def another_is_to_act(self) -> bool:
        """The turn of somebody else than the liar is on at every node."""
        turns = {self._turn_of(node.session) for node in self.nodes}
        return len(turns) == 1 and None not in turns and self.liar_seat() not in turns

    def all_finished(self) -> bool:
        return all(finished(node.session) for node in self.nodes)

    def liar_seat(self) -> Seat | None:
        return self.nodes[self.liar].session.seat

    def signed(self, body: Body) -> Envelope:
        """A message with the liar's signature."""
        session = self.nodes[self.liar].session
        return seal(session.signer, session.table, body)

    def say(self, frame: bytes, to: int | None = None) -> None:
        """Let the liar send a frame to one node or to all."""
        for index in range(len(self.nodes)):
            if index != self.liar and to in (None, index):
                self.deliver(self.liar, index, frame)

    def carry_out(self, index: int) -> None:
        """Let a node send what its session wants sent, after the test has done something to it."""
        self._after(index)

    def honest(self) -> list[Session]:
        return [node.session for index, node in enumerate(self.nodes) if index != self.liar]

    def states(self) -> list[PublicState | None]:
        return [session.state for session in self.honest()]

    def reasons(self, index: int) -> list[str]:
        """Why node `index` refused something of the liar, in order."""
        liar = self.nodes[self.liar].session.signer.node_id
        found = [e for e in self.nodes[index].events if isinstance(e, (MessageRefused, EvidenceFound))]
        return [event.reason for event in found if event.node == liar]

    def dropped(self, index: int) -> set[bytes]:
        """The nodes whose link node `index` wanted closed."""
        return self.nodes[index].dropped

    @staticmethod
    def _turn_of(session: Session) -> Seat | None:
        state = session.state
        if state is None or state.phase is not Phase.PLAY or state.call is not None:
            return None
        return state.turn
