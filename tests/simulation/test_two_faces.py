"""A liar that runs two sessions with one key, one for each side of a table cut in two."""

from __future__ import annotations

import pytest

from engine.rulesets import ES
from node.faults.campaign import short
from node.faults.profiles import PROFILES
from node.faults.referee import Referee, Violation
from node.faults.table import HostileTable
from node.simulation import SimulatedNode, opened
from protocol.messages import RemoveEntry
from protocol.session import Session
from tests.simulation.removal import in_call, play_until, staying


class TwoFacedTable(HostileTable):
    """`liar` is cut off from the nodes of `side`, which get a second session with its key instead."""

    def __init__(self, seats: int, liar: int, side: frozenset[int]) -> None:
        super().__init__(short(ES, seats), seats, 6, PROFILES["none"])
        play_until(self, lambda: len(staying(self)) == seats and in_call(self, None))
        self.others = frozenset(range(seats)) - {liar} - side
        self.referee = Referee(side | self.others, frozenset({liar}))
        self.side, self.faces = side, (liar, seats)
        node = self.nodes[liar]
        session = Session.resume(
            node.session.signer,
            node.session.table,
            node.journal,
            entropy=self._bytes,
            make_dealer=self.make_dealer,
            now_s=self.now_s,
        )
        assert session is not None
        session.open_frame = opened
        self.nodes.append(SimulatedNode("second face", session, self._play, journal=list(node.journal)))
        self.network.seats += 1
        self.network.separate(self.pairs(side | {seats}, self.others | {liar}))
        self.network.connect_all()
        self._after(seats)

    @staticmethod
    def pairs(one: frozenset[int], other: frozenset[int]) -> frozenset[tuple[int, int]]:
        return frozenset((min(a, b), max(a, b)) for a in one for b in other)

    def meet(self) -> None:
        """The honest hear each other, and the liar nobody."""
        faces = frozenset(self.faces)
        self.network.separate(self.pairs(faces, self.side | self.others) | {self.faces})

    def honest_sessions(self) -> list[Session]:
        return [self.nodes[index].session for index in sorted(self.side | self.others)]

    def run_for(self, seconds: float) -> None:
        until_s = self.now_s + seconds
        play_until(self, lambda: self.now_s > until_s)


def removals(session: Session) -> list[tuple[int, ...]]:
    return [each.entry.content.seats for each in session.log if isinstance(each.entry.content, RemoveEntry)]


def test_three_seats_are_led_apart_and_find_it_out() -> None:
    """R4: each of two goes on with the liar, until they meet."""
    table = TwoFacedTable(3, 1, frozenset({2}))
    table.run_for(80)
    one, other = table.honest_sessions()
    assert [len(removals(session)) for session in (one, other)] == [1, 1]
    assert removals(one) != removals(other)
    assert table.referee.split is not None
    table.meet()
    play_until(table, lambda: one.void is not None and other.void is not None)
    liar = table.nodes[1].session.signer.node_id
    for session in (one, other):
        assert session.void is not None
        assert session.void.culprits == (liar,)


def test_four_seats_are_not_led_apart() -> None:
    """Two of four and the liar are three; the fourth and the liar are two."""
    table = TwoFacedTable(4, 0, frozenset({1}))
    table.run_for(100)
    assert table.referee.split is None
    table.meet()
    table.run_for(20)
    assert all(session.void is None for session in table.honest_sessions())
    assert len({session.height for session in table.honest_sessions()}) == 1


def test_the_referee_sees_a_split_that_rules_prevent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four seats, of which half are enough: one and the liar go on beside the others."""
    for module in ("log", "session"):
        monkeypatch.setattr(f"protocol.{module}.may_be_left_out", lambda seats, without: True)
    table = TwoFacedTable(4, 0, frozenset({1}))
    with pytest.raises(Violation, match="another entry"):
        table.run_for(100)
