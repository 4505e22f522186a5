"""Table devices: their presses end turns and call wins; replayed, late, foreign and forged ones do nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from engine.actions import DeclareRummikub
from engine.bots import choose
from engine.errors import IllegalMove
from engine.rulesets import FI, PT, RuleSet
from engine.state import EndedBy
from node.simulation import SimulatedNode, SimulatedTable, finished
from protocol.envelope import seal
from protocol.errors import LocalProtocolError
from protocol.events import EntryCommitted, MessageRefused, PressAnswered, Pressed
from protocol.messages import Button, Press, SeatAction
from protocol.presses import MAX_PRESSES
from protocol.session import Session
from tests.protocol.keys import Key

FOREIGN = Key(99)
NO_LIMIT = replace(PT, turn_seconds=0, hand=5, opening_min=0)


def nothing(_session: Session, _now_s: float) -> None:
    """A player who waits for the button."""


class PressedTable(SimulatedTable):
    """Players whose turns only the device ends. `device` is its node, the last one."""

    def __init__(self, rules: RuleSet = NO_LIMIT, seats: int = 3, seed: int = 5) -> None:
        super().__init__(rules, seats, seed, devices=1)
        for node in self.nodes:
            node.player = nothing
        self.seats = self.nodes[:seats]
        self._obeyed: list[int] = [0] * seats

    @property
    def device(self) -> SimulatedNode:
        return self.nodes[-1]

    def until(self, reached: Callable[[], object]) -> None:
        """Play on until something is so; whoever is pressed does what a bot would."""
        for _now_s in self.steps():
            for index in range(len(self.seats)):
                self._obey(index)
            if reached():
                return
        raise AssertionError("nothing left to do")

    def _obey(self, index: int) -> None:
        node = self.nodes[index]
        new, self._obeyed[index] = node.events[self._obeyed[index] :], len(node.events)
        for event in new:
            if isinstance(event, Pressed):
                node.session.answer_press(event.press, self._click(node.session))
                self._after(index)

    def _click(self, session: Session) -> str | None:
        assert session.seat is not None
        assert session.state is not None
        try:
            session.act(choose(session.seat, session.state, session.own_tiles()), self.now_s)
        except IllegalMove as move:
            return move.sentence
        return None

    def press(self, button: Button = Button.END_TURN) -> bytes:
        named = self.device.session.press(button)
        self._after(len(self.nodes) - 1)
        return named

    def say(self, frame: bytes, sender: int = -1) -> None:
        """Let a frame go out from a node, whatever it is."""
        index = sender % len(self.nodes)
        for other in range(len(self.nodes)):
            if other != index:
                self.deliver(index, other, frame)

    def turn_is_on(self) -> bool:
        return all(node.session._turn_is_on() for node in self.nodes) and len(self.heights()) == 1

    def heights(self) -> set[int]:
        return {node.session.height for node in self.nodes}

    def answers(self) -> list[PressAnswered]:
        return [event for event in self.device.events if isinstance(event, PressAnswered)]

    def complaints(self) -> list[list[str]]:
        """Of what each seat's node has refused, the reasons."""
        return [[event.reason for event in node.events if isinstance(event, MessageRefused)] for node in self.seats]

    def sealed(self, key: Key | None = None, **changes: Any) -> bytes:
        """A press of this moment but for `changes`, signed by the device, or by another key."""
        session = self.device.session
        assert session.game is not None
        assert session.state is not None
        press = Press(session.height, session.game.head, session.state.game, Button.END_TURN, 9)
        return seal_for(session, replace(press, **changes), key)


def seal_for(session: Session, press: Press, key: Key | None = None) -> bytes:
    return seal(session.signer if key is None else key, session.table, press).raw


def started(rules: RuleSet = NO_LIMIT) -> PressedTable:
    table = PressedTable(rules)
    table.until(table.turn_is_on)
    return table


def played_by_button(rules: RuleSet, seed: int) -> EndedBy:
    """A whole game; gives how it ended."""
    table = PressedTable(rules, seed=seed)

    def over() -> bool:
        return all(finished(node.session) for node in table.nodes)

    while not over():
        table.until(lambda: table.turn_is_on() or over())
        if not finished(table.device.session):
            height = table.device.session.height
            table.press()
            table.until(lambda height=height: min(table.heights()) > height)  # type: ignore[misc] # mypy cannot infer it
    assert len({tuple(c.entry for c in node.session.log) for node in table.nodes}) == 1
    actions = [event.action for event in table.device.events if isinstance(event, EntryCommitted)]
    taken = [action for action in actions if isinstance(action, SeatAction)]
    assert len(taken) == len(table.answers())
    assert all(answer.refused is None for answer in table.answers())
    state = table.device.session.state
    assert state is not None
    assert state.result is not None
    if state.result.ended_by is EndedBy.OUT and rules.rummikub_call:
        assert isinstance(taken[-1], DeclareRummikub)
    return state.result.ended_by


@pytest.mark.parametrize("rules", [NO_LIMIT, replace(FI, turn_seconds=0, hand=14, opening_min=0)])
def test_every_turn_of_a_game_is_ended_by_the_button(rules: RuleSet) -> None:
    assert played_by_button(rules, 5) in EndedBy


def test_a_press_counts_once_however_often_it_is_sent() -> None:
    table = started()
    frame = table.sealed()
    table.say(frame)
    height = table.device.session.height
    table.until(lambda: min(table.heights()) > height and table.turn_is_on())
    before = table.device.session.height
    table.say(frame)
    table.until(lambda: all(table.complaints()))
    assert all(reasons == ["a press that was used already"] for reasons in table.complaints())
    assert table.heights() == {before}


def test_a_press_of_a_turn_that_is_over_is_told_to_be_late() -> None:
    table = started()
    late = table.sealed(number=3)
    table.press()
    height = table.device.session.height
    table.until(lambda: min(table.heights()) > height and table.turn_is_on())
    before = table.device.session.height
    table.say(late)

    def told() -> list[str | None]:
        """What has become of presses, as the nodes heard it that did not answer themselves."""
        return [event.refused for node in table.seats for event in node.events if isinstance(event, PressAnswered)]

    late_one = "Too late: that turn is over."
    table.until(lambda: told().count(late_one) == len(table.seats) - 1)
    table.press()  # a right one
    table.until(lambda: min(table.heights()) > before)
    assert not any(table.complaints())
    assert told().count(late_one) == len(table.seats) - 1


@pytest.mark.parametrize("change", [{"game": 7}, {"prev": bytes(32)}])
def test_a_press_of_another_game_ends_no_turn(change: dict[str, Any]) -> None:
    table = started()
    before = table.device.session.height
    table.say(table.sealed(**change))
    seen = [len(node.events) for node in table.seats]
    table.until(lambda: all(len(node.events) > count for node, count in zip(table.seats, seen, strict=True)))
    assert table.heights() == {before}
    assert not any(isinstance(event, Pressed) for node in table.seats for event in node.events)


def test_a_press_of_a_device_that_nobody_took_is_refused() -> None:
    table = started()
    before = table.device.session.height
    table.say(table.sealed(FOREIGN))
    table.until(lambda: all(table.complaints()))
    assert all(reasons == ["a press of a device that is not in the roster"] for reasons in table.complaints())
    assert table.heights() == {before}


def test_a_forged_press_costs_the_link() -> None:
    table = started()
    frame = table.sealed()
    table.say(frame[:-64] + bytes(64))
    table.until(lambda: all(table.complaints()))
    assert all(reasons[0].startswith("bad frame") for reasons in table.complaints())
    assert not any(isinstance(event, Pressed) for node in table.seats for event in node.events)


def test_so_many_presses_and_no_more_are_looked_at() -> None:
    table = started()
    height = table.device.session.height
    frames = [table.sealed(number=number) for number in range(MAX_PRESSES + 5)]
    for frame in frames:
        table.say(frame)
    table.until(lambda: all(len(reasons) >= 5 for reasons in table.complaints()))
    assert all(set(reasons) == {"too many presses at one moment"} for reasons in table.complaints())
    table.until(lambda: min(table.heights()) > height)


def test_a_press_that_comes_before_the_turn_is_known_waits_for_it() -> None:
    table = started()

    def ahead() -> tuple[Session, SimulatedNode] | None:
        """A session in whose state somebody's turn is on, and the node of that seat, which does not know it yet."""
        for fast in (node.session for node in table.nodes):
            for slow in table.seats:
                next_is_on = fast.height == slow.session.height + 1 and fast._turn_is_on()
                if next_is_on and fast.state is not None and fast.state.turn == slow.session.seat:
                    return fast, slow
        return None

    while ahead() is None:
        if table.turn_is_on():
            table.press()
        height = max(table.heights())
        table.until(lambda height=height: ahead() or max(table.heights()) > height)  # type: ignore[misc] # mypy cannot infer it
    found = ahead()
    assert found is not None
    fast, slow = found
    assert fast.game is not None
    press = Press(fast.height, fast.game.head, 0, Button.END_TURN, 0)
    slow.session.receive(table.device.session.signer.node_id, seal_for(table.device.session, press), table.now_s)
    before, height = len(slow.events), fast.height
    assert not any(isinstance(event, Pressed) for event in slow.events[before:])
    table.until(lambda: any(isinstance(event, Pressed) for event in slow.events[before:]))
    table.until(lambda: min(table.heights()) > height)
    assert not any(table.complaints())


def test_a_device_that_one_player_refuses_is_not_in_the_roster() -> None:
    table = PressedTable()
    table.until(lambda: len(table.seats[0].session.lobby.devices()) == 1)
    (device,) = table.seats[0].session.lobby.devices()
    assert device.refused_by == ()
    table.seats[1].session.lobby.refuse_device(device.node, refused=True)
    table._after(1)
    table.until(lambda: all(node.session.lobby.devices()[0].refused_by == ("Bot 2",) for node in table.seats))
    table.until(table.turn_is_on)
    assert all(node.session.genesis is not None and not node.session.genesis.devices for node in table.nodes)
    with pytest.raises(LocalProtocolError, match="did not take this device"):
        table.press()
    frame = table.sealed()
    table.say(frame)
    table.until(lambda: all(table.complaints()))


def test_a_device_is_told_when_nobodys_turn_is_on() -> None:
    table = started()
    table.press()
    table.until(lambda: table.device.session.state is not None and table.device.session.state.call is not None)
    with pytest.raises(LocalProtocolError, match="nobody's turn is on"):
        table.press()
