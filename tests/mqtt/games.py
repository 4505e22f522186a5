"""Simulated games, and what is published of them at each of their moments."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from engine.rulesets import RULE_SETS, RuleSet
from engine.state import PublicState
from node.faults.campaign import short
from node.mqtt.payloads import TableMessages, event_of, messages_of
from node.simulation import SimulatedTable, commits, finished
from protocol.messages import RequestKind
from protocol.session import Session
from tests.simulation.removal import in_call, play_until

MORNING_S: Final = 1_760_000_000.0  # the wall clock when a simulation begins
PAUSE_AT: Final = 3  # the turn in which somebody asks for a pause
GONE_AT: Final = 5  # the turn in which the last seat's machine is switched off for a while
GONE_S: Final = 8.0


@dataclass(frozen=True, slots=True)
class Moment:
    """One moment of a game: what an onlooker's message says, and what only the players know.

    `by_seat`: what the node of each seat at the same height would say. `hidden`: faces of the tiles in all racks.
    `state` None: in the lobby.
    """

    messages: TableMessages
    events: tuple[dict[str, Any], ...]
    state: PublicState | None
    by_seat: tuple[TableMessages, ...]
    hidden: tuple[str, ...]

    def all(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Every message by the last level of its topic."""
        yield "state", self.messages.state
        yield "clock", self.messages.clock
        yield "board", self.messages.board
        for event in self.events:
            yield "event", event


@functools.cache
def game(name: str, seats: int = 3, seed: int = 1) -> tuple[Moment, ...]:
    """All moments of a short game of a rule set; somebody pauses it, somebody's machine goes away and comes back."""
    return tuple(_moments(_with_time(short(RULE_SETS[name], seats)), seats, seed))


@functools.cache
def series(seed: int = 1) -> tuple[Moment, ...]:
    """Two short games of cards at two seats."""
    return tuple(_moments(_with_time(replace(short(RULE_SETS["es"], 2), rounds=2)), 2, seed))


def session_in_play() -> Session:
    """Of a table of its own, at the first turn of somebody."""
    table = SimulatedTable(RULE_SETS["pt"], 2, 3)
    play_until(table, lambda: in_call(table, None))
    return table.nodes[0].session


def _with_time(rules: RuleSet) -> RuleSet:
    return replace(rules, turn_seconds=40)


def _moments(rules: RuleSet, seats: int, seed: int) -> Iterator[Moment]:
    table = SimulatedTable(rules, seats, seed)
    onlooker, last = table.nodes[0].session, seats - 1
    seen: object = None
    told = 0
    pause = gone = False
    for now_s in table.steps():
        state = onlooker.state
        turn = 0 if state is None or state.call is not None or state.game else state.turn_number
        if turn >= PAUSE_AT and not pause:
            pause = True
            onlooker.ask(RequestKind.PAUSE, now_s)
            table.carry_out(0)
        if turn >= GONE_AT and not gone:
            gone = True
            table.crash(last)
            table.at(now_s + GONE_S, functools.partial(table.restart, last))
        lobby = onlooker.lobby.members() if onlooker.genesis is None else ()
        now = (onlooker.height, onlooker.clock, lobby, onlooker.absences())
        if now == seen:
            if all(finished(node.session) for node in table.nodes):
                return
            continue
        seen = now
        messages = messages_of(onlooker, now_s, MORNING_S + now_s, commands=pause)
        if messages is None:
            continue
        committed = commits(table.nodes[0])
        events = [event_of(event, onlooker, MORNING_S + now_s) for event in committed[told:]]
        told = len(committed)
        yield Moment(
            messages,
            tuple(event for event in events if event is not None),
            onlooker.state,
            tuple(_others(table, onlooker, now_s)),
            tuple(_hidden(table)),
        )


def _others(table: SimulatedTable, onlooker: Session, now_s: float) -> Iterator[TableMessages]:
    for node in table.nodes[1:]:
        if not node.down and node.session.height == onlooker.height and node.session.state == onlooker.state:
            messages = messages_of(node.session, now_s, MORNING_S + now_s, commands=True)
            if messages is not None:
                yield messages


def _hidden(table: SimulatedTable) -> Iterator[str]:
    sessions = [node.session for node in table.nodes if not node.down and node.session.state is not None]
    tiles = itertools.chain.from_iterable(session.own_tiles().values() for session in sessions)
    for session in sessions[:1]:
        assert session.state is not None
        for tile in tiles:
            yield str(session.state.faces[tile])
