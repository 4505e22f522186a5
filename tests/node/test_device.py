"""The table device between real nodes, over loopback in one process: finding tables, presses, and who may not press."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from display.presses import Kind, Press
from display.views import LobbyView, NoticeView, RefusalView, TurnView, View, WaitingView
from engine.rulesets import FI, PT
from node.app import Node
from node.clock import monotonic_s
from node.config import NodeSettings
from node.desk import NodeDesk
from node.device import screen
from node.device import table as device_table
from node.device.own import OwnDisplay
from node.device.table import TableDevice
from node.discovery import Peer
from protocol.envelope import seal
from protocol.events import Event, MessageRefused, PressAnswered
from protocol.messages import Button
from protocol.messages import Press as SignedPress
from tests.node.loops import run, until
from tests.node.takenup import dealt, laid_down

LOOPBACK = "127.0.0.1"
RULES = replace(PT, turn_seconds=0, hand=3, opening_min=0)
TIMED = replace(FI, hand=3, opening_min=0, turn_seconds=60)
LIMIT_S = 20.0
END = Press(Kind.TAPPED, "end", 0.0)


class Panel:
    """A display that remembers what was flashed."""

    def __init__(self) -> None:
        self.flashed: list[View] = []
        self.changes = 0

    def changed(self) -> None:
        self.changes += 1

    def flash(self, view: View, seconds: float) -> None:
        if seconds:
            self.flashed.append(view)

    def refusals(self) -> list[str]:
        return [view.reason for view in self.flashed if isinstance(view, RefusalView)]


class HomeNode(Node):
    """A node that hears only those of this test run, and not what other runs on this machine say."""

    home: ClassVar[set[bytes]] = set()

    def __init__(self, settings: NodeSettings) -> None:
        super().__init__(settings)
        self.home.add(self.node_id)

    def _on_peer(self, peer: Peer) -> None:
        if peer.record.node_id in self.home:
            super()._on_peer(peer)


class Player:
    """A person's node with its desk."""

    def __init__(self, folder: Path, name: str, **more: Any) -> None:
        self.node = HomeNode(NodeSettings(name=name, data=folder, host=LOOPBACK, interfaces=(LOOPBACK,), **more))
        self.desk = NodeDesk(self.node)
        self.events: list[Event] = []
        self.node.listen(self.events.append)

    def refused(self) -> list[str]:
        return [event.reason for event in self.events if isinstance(event, MessageRefused)]

    def stop(self) -> None:
        """Nothing besides the node."""


class Clock(Player):
    """A table device."""

    def __init__(self, folder: Path, table: str | None = None, name: str = "Clock") -> None:
        super().__init__(folder, name, device=True, rejoin=True)
        self.panel = Panel()
        self.device = TableDevice(self.node, table)
        self.device.screen.show_on(self.panel)

    def view(self) -> View:
        return self.device.screen.view(monotonic_s())

    def stop(self) -> None:
        self.device.stop()

    def sealed(self, **changes: Any) -> bytes:
        """A press of this moment but for `changes`, signed with this node's key."""
        session = self.node.session
        assert session is not None
        assert session.game is not None
        press = SignedPress(session.height, session.game.head, session.game.state.game, Button.END_TURN, 9)
        return seal(self.node.identity, session.table, replace(press, **changes)).raw


@contextlib.asynccontextmanager
async def started(*players: Player) -> AsyncIterator[None]:
    try:
        for player in players:
            await player.node.start()
        yield
    finally:
        for player in players:
            player.stop()
            await player.node.stop()


def in_loop(test: Callable[[], Awaitable[None]]) -> None:
    async def main() -> None:
        await test()

    run(main())


def lobby_of(clock: Clock) -> tuple[str, tuple[str, ...], set[str]] | None:
    view = clock.view()
    return (view.table, view.words, set(view.players)) if isinstance(view, LobbyView) else None


def height(player: Player) -> int:
    return 0 if player.node.session is None else player.node.session.height


def turn(player: Player) -> int | None:
    session = player.node.session
    return None if session is None or session.state is None else session.state.turn


def turn_is_on(*players: Player) -> bool:
    return len({height(one) for one in players}) == 1 and all(
        one.node.session is not None and one.node.session._turn_is_on() for one in players
    )


async def get_ready(*players: Player) -> None:
    for player in players:
        player.node.do(lambda session, _now_s: session.lobby.change(ready=True, start=True))


async def sit_down(table: str, *players: Player, rules: Any = RULES) -> bytes:
    opened = players[0].node.open_table(table, rules)
    await until(lambda: all(one.node.hall.at_table(opened) for one in players[1:]), LIMIT_S)
    for one in players[1:]:
        one.node.join(opened)
    await until(
        lambda: all(len(one.node.session.lobby.members()) == len(players) for one in players if one.node.session)
    )
    return opened


def at_first_turn(tmp_path: Path, rules: Any = RULES) -> tuple[Player, Player, Clock]:
    """Two persons and the device of their roster, before the first turn of a game that is dealt."""
    ana, ben, clock = laid_down(dealt(rules, 2), tmp_path)
    return Player(ana, "Ana"), Player(ben, "Ben"), Clock(clock)


def test_it_goes_to_the_table_of_its_name_and_shows_the_words_of_the_roster(tmp_path: Path) -> None:
    async def test() -> None:
        ana, ben = Player(tmp_path / "ana", "Ana"), Player(tmp_path / "ben", "Ben")
        dan = Player(tmp_path / "dan", "Dan")
        clock = Clock(tmp_path / "clock", "Kitchen")
        async with started(ana, ben, dan, clock):
            assert clock.view() == NoticeView("No table", "Waiting for Kitchen.")
            dan.node.open_table("Den", RULES)
            table = await sit_down("Kitchen", ana, ben)
            await until(lambda: lobby_of(clock) == ("Kitchen", (), {"Ana", "Ben"}), LIMIT_S)
            await until(lambda: all(one.desk.snapshot()["lobby"]["at"]["devices"] for one in (ana, ben)), LIMIT_S)
            await get_ready(ana, ben)
            await until(lambda: turn_is_on(ana, ben, clock), LIMIT_S)
            assert clock.node.session is not None
            assert clock.node.session.table == table
            shown = clock.view()
            assert isinstance(shown, LobbyView)
            assert shown.words == tuple(ana.desk.snapshot()["table"]["words"].split())
            before = turn(clock)
            clock.device.press(END)
            await until(lambda: turn(clock) != before and turn_is_on(ana, ben, clock), LIMIT_S)
            assert isinstance(clock.view(), TurnView)
            assert clock.panel.flashed == []

    in_loop(test)


def test_without_a_name_it_goes_to_the_only_table_and_asks_where_there_are_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_table, "LISTEN_S", 1.0)

    async def test() -> None:
        ana, ben, clock = Player(tmp_path / "a", "Ana"), Player(tmp_path / "b", "Ben"), Clock(tmp_path / "c")
        async with started(ana, ben):
            ana.node.open_table("Kitchen", RULES)
            ben.node.open_table("Den", RULES)
            async with started(clock):
                both = NoticeView("Which table?", "Den, Kitchen: say which with --table.")
                await until(lambda: clock.view() == both, LIMIT_S)
                ben.node.leave()
                await until(lambda: clock.view() == LobbyView("Kitchen", (), ("Ana",)), LIMIT_S)
                ana.desk.command({"type": "refuse_device", "device": clock.node.node_id.hex(), "refused": True})
                await until(lambda: clock.view() == NoticeView("Not wanted", "Ana does not want this device."), LIMIT_S)

    in_loop(test)


def test_it_leaves_a_lobby_that_all_have_left_and_is_offered_anew_where_it_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_table, "EMPTY_LOBBY_S", 0.3)
    monkeypatch.setattr(device_table, "LOOK_S", 0.1)
    monkeypatch.setattr(device_table, "LISTEN_S", 0.0)

    async def test() -> None:
        ana, clock = Player(tmp_path / "a", "Ana"), Clock(tmp_path / "c")
        async with started(ana, clock):
            for _ in range(2):
                ana.node.open_table("Kitchen", RULES)
                await until(lambda: ana.desk.snapshot()["lobby"]["at"]["devices"], LIMIT_S)
                ana.node.leave()
                await until(lambda: clock.node.session is None, LIMIT_S)

    in_loop(test)


def test_it_is_offered_again_at_a_table_that_it_had_left(tmp_path: Path) -> None:
    async def test() -> None:
        ana, clock = Player(tmp_path / "a", "Ana"), Clock(tmp_path / "c", "Kitchen")

        def offered() -> bool:
            return bool(ana.desk.snapshot()["lobby"]["at"]["devices"])

        async with started(ana, clock):
            ana.node.open_table("Kitchen", RULES)
            await until(offered, LIMIT_S)
            clock.device._name = "Den"
            clock.node.leave()
            await until(lambda: not offered(), LIMIT_S)
            clock.device._name = "Kitchen"
            await until(offered, LIMIT_S)

    in_loop(test)


def test_each_press_ends_the_turn_it_is_pressed_in_and_is_refused_with_the_reason(tmp_path: Path) -> None:
    async def test() -> None:
        ana, ben, clock = at_first_turn(tmp_path)
        async with started(ana, ben, clock):
            await until(lambda: turn_is_on(ana, ben, clock) and len(clock.node.linked()) == 2, LIMIT_S)
            before = turn(clock)
            clock.device.press(Press(Kind.TAPPED, "rummikub", 0.0))
            await until(lambda: clock.panel.refusals(), LIMIT_S)
            assert "rack" in clock.panel.refusals()[0]
            assert turn(clock) == before
            clock.device.press(END)
            ((waits, _told),) = clock.device._unanswered.values()
            await until(lambda: turn(clock) != before and turn_is_on(ana, ben, clock), LIMIT_S)
            await until(waits.cancelled, LIMIT_S)
            clock.device.press(Press(Kind.HELD, "end", 0.0))
            await until(lambda: all(one.desk.snapshot()["table"]["talk"]["pause"] for one in (ana, ben)), LIMIT_S)
            clock.device.press(END)
            await until(lambda: not clock.node.session or clock.node.session.state.paused is None, LIMIT_S)  # type: ignore[union-attr] # it plays
            for harmless in (Kind.BOTH, Kind.STUCK, Kind.PRESSED, Kind.RELEASED):
                clock.device.press(Press(harmless, "end", 0.0))
            assert clock.panel.refusals()[1:] == [
                "Two buttons at once: nothing was done.",
                "The button End turn is stuck. The others work.",
            ]
            clock.device.press(END)
            clock.device.press(END)  # while the first is under way: late, or in the next player's turn
            await until(lambda: turn_is_on(ana, ben, clock), LIMIT_S)

    in_loop(test)


def test_a_press_that_nobody_answers_is_said_to_be_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_table, "ANSWER_S", 0.2)

    async def test() -> None:
        ana, ben, clock = at_first_turn(tmp_path)
        async with started(ana, ben, clock):
            await until(lambda: turn_is_on(ana, ben, clock) and len(clock.node.linked()) == 2, LIMIT_S)
            for player in (ana, ben):
                assert player.node.runner is not None
                player.node.runner.stop()
            clock.device.press(END)
            await until(lambda: clock.panel.refusals(), LIMIT_S)
            assert clock.panel.refusals()[0].endswith("program does not answer. Press again.")
            await until(lambda: isinstance(clock.view(), WaitingView), LIMIT_S)

    in_loop(test)


def test_replayed_late_foreign_and_forged_presses_end_no_turn_and_are_told(tmp_path: Path) -> None:
    async def test() -> None:
        ana, ben, clock = at_first_turn(tmp_path)
        eve = Clock(tmp_path / "eve", name="Eve")
        async with started(ana, ben, clock, eve):
            everybody = (ana, ben, clock, eve)
            await until(lambda: turn_is_on(*everybody) and len(eve.node.linked()) == 3, LIMIT_S)
            assert [type(view) for view in eve.panel.flashed] == [NoticeView], "it is told that it has no buttons"
            replayed, late = clock.sealed(), clock.sealed(number=11)
            before = height(clock)
            clock.node._mesh.broadcast(replayed)
            await until(lambda: turn_is_on(*everybody) and height(clock) > before, LIMIT_S)

            still = height(clock)
            clock.node._mesh.broadcast(replayed)
            await until(lambda: all("a press that was used already" in one.refused() for one in (ana, ben)), LIMIT_S)
            clock.node._mesh.broadcast(late)
            await until(lambda: "Too late: that turn is over." in answers(ana) + answers(ben), LIMIT_S)
            eve.device.press(END)
            assert eve.panel.refusals() == [
                "That is not possible now: the players did not take this device to their table."
            ]
            eve.node._mesh.broadcast(eve.sealed())
            foreign = "a press of a device that is not in the roster"
            await until(lambda: all(foreign in one.refused() for one in (ana, ben)), LIMIT_S)
            clock.node._mesh.broadcast(clock.sealed(number=12)[:-64] + bytes(64))
            await until(lambda: all(any("bad frame" in r for r in one.refused()) for one in (ana, ben)), LIMIT_S)
            await asyncio.sleep(0.1)
            assert {height(one) for one in everybody} == {still}
            told = " ".join(item["text"] for item in ana.desk.snapshot()["table"]["log"])
            assert "A message of node" in told
            assert foreign in told

    in_loop(test)


def answers(player: Player) -> list[str | None]:
    return [event.refused for event in player.events if isinstance(event, PressAnswered)]


def test_after_a_restart_it_presses_in_the_same_turn_with_the_clock_as_it_was(tmp_path: Path) -> None:
    async def test() -> None:
        ana, ben, clock = at_first_turn(tmp_path, TIMED)
        async with started(ana, ben):
            async with started(clock):
                await until(lambda: turn_is_on(ana, ben, clock) and len(clock.node.linked()) == 2, LIMIT_S)
                clock.device.press(Press(Kind.TAPPED, "rummikub", 0.0))
                await until(lambda: clock.panel.refusals(), LIMIT_S)
            again = Clock(clock.node.settings.data)
            async with started(again):
                await until(lambda: turn_is_on(ana, ben, again) and len(again.node.linked()) == 2, LIMIT_S)
                now_s = monotonic_s()
                shown = again.view()
                assert isinstance(shown, TurnView)
                assert ana.node.session is not None
                assert shown.clock_s == pytest.approx(ana.node.session.remaining_s(now_s), abs=0.2)
                again.device.press(Press(Kind.TAPPED, "rummikub", 0.0))
                await until(lambda: again.panel.refusals(), LIMIT_S)
                assert again.panel.refusals() == clock.panel.refusals()

    in_loop(test)


def test_who_comes_in_the_midst_of_a_turn_says_so_and_knows_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen, "JUST_S", 0.1)

    async def test() -> None:
        ana, ben, clock = at_first_turn(tmp_path, TIMED)
        late = Clock(tmp_path / "late", name="Late")
        async with started(ana, ben, clock, late):
            await until(lambda: turn_is_on(ana, ben, clock, late), LIMIT_S)
            shown = late.view()
            assert isinstance(shown, NoticeView)
            assert shown.text == "The clock starts next turn."
            before = height(clock)
            await asyncio.sleep(0.2)
            await until(lambda: len(clock.node.linked()) == 3, LIMIT_S)
            clock.device.press(END)
            await until(lambda: height(clock) > before and turn_is_on(ana, ben, clock, late), LIMIT_S)
            assert isinstance(late.view(), TurnView)

    in_loop(test)


def test_it_goes_from_a_game_that_is_over_to_the_next_table(tmp_path: Path) -> None:
    async def test() -> None:
        ana, ben, clock = at_first_turn(tmp_path)
        async with started(ana, ben, clock):
            await until(lambda: turn_is_on(ana, ben, clock), LIMIT_S)
            ben.node.leave()
            await until(
                lambda: (
                    clock.node.session is not None
                    and clock.node.session.game is not None
                    and clock.node.session.game.over
                ),
                LIMIT_S,
            )
            ana.node.leave()
            await until(lambda: ana.node.session is None and ben.node.session is None, LIMIT_S)
            table = ana.node.open_table("Den", RULES)
            await until(lambda: clock.node.session is not None and clock.node.session.table == table, LIMIT_S)
            await until(lambda: clock.view() == LobbyView("Den", (), ("Ana",)), LIMIT_S)

    in_loop(test)


def test_a_player_s_own_display_presses_that_player_s_buttons_only(tmp_path: Path) -> None:
    async def test() -> None:
        ana, ben, clock = at_first_turn(tmp_path)
        panels = {}
        async with started(ana, ben, clock):
            await until(lambda: turn_is_on(ana, ben, clock), LIMIT_S)
            for player in (ana, ben):
                own = OwnDisplay(player.node, player.desk)
                panels[player] = Panel()
                own.screen.show_on(panels[player])
                seat = player.node.session.seat if player.node.session else None
                if seat != turn(clock):
                    own.press(END)
                    assert panels[player].refusals() == ["It is not your turn."]
                    other = own
                else:
                    mine = own
            before = turn(clock)
            mine.press(END)
            await until(lambda: turn(clock) != before and turn_is_on(ana, ben, clock), LIMIT_S)
            assert isinstance(other.screen.view(monotonic_s()), TurnView)
            mine.stop()
            other.stop()

    in_loop(test)
