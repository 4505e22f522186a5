"""The wall clock may be set at any time: only the age of records rests on it, from one run to the next."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import node.clock
from engine.state import Phase
from node.app import Node
from node.players import BotPlayer
from tests.node.test_app import settings, start_a_game, until, with_nodes

HOUR_S = 3600.0


@dataclass
class SetClock:
    """Stands for the module `time` where clocks are read: the wall clock is off by `off_s`."""

    off_s: float = 0.0
    monotonic: Callable[[], float] = time.monotonic
    strftime: Callable[[str], str] = time.strftime

    def time(self) -> float:
        return time.time() + self.off_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SetClock:
    clock = SetClock()
    monkeypatch.setattr(node.clock, "time", clock)
    return clock


def height(one: Node) -> int:
    return 0 if one.session is None else one.session.height


async def play(nodes: list[Node], entries: int) -> None:
    """Let bots play so many entries more."""
    players = [BotPlayer(one, lambda table: False) for one in nodes]
    target = max(map(height, nodes)) + entries
    await until(nodes, lambda: min(map(height, nodes)) >= target)
    for player in players:
        player.stop()


def remaining_s(one: Node) -> float:
    assert one.session is not None
    left_s = one.session.remaining_s(node.clock.monotonic_s())
    assert left_s is not None
    return left_s


async def until_a_turn(nodes: list[Node]) -> None:
    def turn_is_on() -> bool:
        states = [None if one.session is None else one.session.state for one in nodes]
        return all(state is not None and state.phase is Phase.PLAY and state.call is None for state in states)

    await until(nodes, turn_is_on)


def test_clock_set_in_a_game_changes_nothing(tmp_path: Path, clock: SetClock) -> None:
    both = [settings(tmp_path / name, name, thinking_s=(0.0, 0.0)) for name in ("Ana", "Ben")]

    async def test(nodes: list[Node]) -> None:
        await start_a_game(nodes)
        await play(nodes, 6)
        for off_s in (HOUR_S, -HOUR_S, 0.0):
            await until_a_turn(nodes)
            before_s, asked_s = [remaining_s(one) for one in nodes], time.monotonic()
            clock.off_s = off_s
            for one, left_s in zip(nodes, before_s, strict=True):
                assert remaining_s(one) == pytest.approx(left_s - (time.monotonic() - asked_s), abs=0.1)
            await play(nodes, 4)

    with_nodes(*both, test=test)


@pytest.mark.parametrize("off_s", [HOUR_S, -HOUR_S])
def test_clock_set_between_two_runs_keeps_nobody_out(tmp_path: Path, clock: SetClock, off_s: float) -> None:
    both = [settings(tmp_path / name, name, thinking_s=(0.0, 0.0)) for name in ("Ana", "Ben")]

    async def begin(nodes: list[Node]) -> None:
        await start_a_game(nodes)
        await play(nodes, 8)

    async def go_on(nodes: list[Node]) -> None:
        assert min(map(height, nodes)) >= 8
        await play(nodes, 6)
        logs = [one.session.log for one in nodes if one.session is not None]
        shared = min(map(len, logs))
        assert logs[0][:shared] == logs[1][:shared]
        assert not any(one.session.evidence for one in nodes if one.session is not None)

    with_nodes(*both, test=begin)
    clock.off_s = off_s
    with_nodes(*both, test=go_on)


def test_clock_set_back_makes_no_record_younger_than_now(tmp_path: Path, clock: SetClock) -> None:
    """A turn never gets more than its limit."""
    both = [settings(tmp_path / name, name, thinking_s=(0.0, 0.0)) for name in ("Ana", "Ben")]

    async def begin(nodes: list[Node]) -> None:
        await start_a_game(nodes)
        await play(nodes, 4)
        await until_a_turn(nodes)

    async def look(nodes: list[Node]) -> None:
        for one in nodes:
            assert one.session is not None
            assert one.session.genesis is not None
            assert 0 < remaining_s(one) <= one.session.genesis.rules.turn_seconds

    with_nodes(*both, test=begin)
    clock.off_s = -HOUR_S
    with_nodes(*both, test=look)


def test_no_garbage_is_collected_until_a_time_limit_is_over() -> None:
    with node.clock.stop_after(0.0) as stop:
        assert stop()
        assert not gc.isenabled()
    assert gc.isenabled()
    with node.clock.stop_after(HOUR_S) as stop:
        assert not stop()
