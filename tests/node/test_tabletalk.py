"""`node.tabletalk`: what a page is told at simulated tables where somebody asks, is away, lies or is out."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from engine.actions import Pause, TakeBack
from engine.rulesets import ES, PT
from node.app import Node
from node.desk import NodeDesk
from node.simulation import SimulatedTable
from node.tabletalk import table_talk
from protocol.messages import Prevote, RequestKind
from tests.simulation.attack import AttackedTable
from tests.simulation.removal import play_until, seat_node, staying
from tests.simulation.test_requests import (
    after_a_play,
    ask,
    committed,
    later,
    session_at,
    state_of,
    table_at,
    waiting_table,
)


class Desk:
    """The desk of the node on a seat; knows what its node was told to do."""

    def __init__(self, table: SimulatedTable, seat: int) -> None:
        self.table, self.index = table, seat_node(table, seat)
        self.closed = False
        node = SimpleNamespace(
            node_id=table.nodes[self.index].session.signer.node_id,
            name="",
            session=table.nodes[self.index].session,
            table_notice=None,
            listen=lambda _told: None,
            do=self._do,
            close=self._close,
        )
        self._desk = NodeDesk(cast(Node, node))

    def _do(self, wish: Any) -> None:
        wish(self.table.nodes[self.index].session, self.table.now_s)
        self.table.carry_out(self.index)

    def _close(self) -> None:
        self.closed = True

    def press(self, kind: str, **fields: object) -> None:
        self._desk.command({"type": kind, **fields})

    @property
    def talk(self) -> dict[str, Any]:
        whole = self._desk.snapshot()["table"]
        json.dumps(whole)  # plain data only
        names = [player["name"] for player in whole["view"]["players"]]
        talk = table_talk(self.table.nodes[self.index].session, names, self.table.now_s)
        assert talk.keys() == whole["talk"].keys()
        return talk


def test_requests_tell_how_many_are_left_and_why_not_now() -> None:
    table = waiting_table()
    turn = state_of(staying(table)[0]).turn
    own, other = Desk(table, turn), Desk(table, (turn + 1) % 3)
    assert own.talk["requests"]["extend"] == {"left": 1, "asked": False, "why_not": None}
    assert other.talk["requests"]["extend"]["why_not"] == "It is not your turn."
    assert own.talk["requests"]["resume"]["why_not"]
    own.press("pause")
    assert own.talk["requests"]["pause"]["asked"]
    play_until(table, committed(table, Pause))
    assert own.talk["requests"]["pause"]["left"] == 2
    assert other.talk["requests"]["pause"]["left"] == 3
    assert other.talk["pause"] is not None
    assert other.talk["pause"]["total_s"] == 60


def test_a_take_back_is_shown_to_those_who_have_to_agree_and_offered_only_to_its_player() -> None:
    table = after_a_play()
    undo = state_of(staying(table)[0]).undo
    assert undo is not None
    player, other, third = (Desk(table, (undo.turn + step) % 3) for step in range(3))
    assert player.talk["requests"]["take_back"]["why_not"] is None
    assert "Only who has just ended a turn" in other.talk["requests"]["take_back"]["why_not"]
    player.press("take_back")
    later(table, 1)
    assert other.talk["agreeing"] == [{"command": "take_back", "by": undo.turn, "agreed": [undo.turn], "mine": True}]
    assert not player.talk["agreeing"][0]["mine"]
    for desk in (other, third):
        desk.press("take_back")
    play_until(table, committed(table, TakeBack))
    assert state_of(session_at(table, 0)).turn == undo.turn


def test_who_is_away_is_told_with_the_time_and_then_the_choice() -> None:
    table = waiting_table(rules=ES, seats=3)
    desk = Desk(table, 0)
    assert desk.talk["away"] == {"seats": [], "late": [], "without": [], "choice": None, "wishes": {}, "few": True}
    table.crash(seat_node(table, 1))
    later(table, 2)
    assert (desk.talk["away"]["seats"], desk.talk["away"]["late"]) == ([], [1])
    later(table, 8)
    assert desk.talk["away"]["late"] == []
    (seat,) = desk.talk["away"]["seats"]
    assert (seat["seat"], seat["cause"], seat["total_s"]) == (1, "silent", pytest.approx(60))
    assert 45 < seat["left_s"] < 55
    assert desk.talk["away"]["choice"] is None
    later(table, 60)
    assert desk.talk["away"]["choice"] == "go_on"
    assert desk.talk["away"]["without"] == [1]
    desk.press("go_on_without", seats=[1])
    later(table, 1)
    assert Desk(table, 2).talk["away"]["wishes"] == {"0": [1]}
    desk.press("keep_waiting")
    later(table, 1)
    assert Desk(table, 2).talk["away"]["wishes"] == {}
    for seat_ in (0, 2):
        Desk(table, seat_).press("go_on_without", seats=[1])
    play_until(table, lambda: state_of(session_at(table, 0)).seats[1].in_game is False)
    table.restart(seat_node(table, 1))
    later(table, 3)
    assert "The others went on without you" in Desk(table, 1).talk["out"]
    assert desk.talk["out"] is None


def test_of_two_players_who_stays_may_close_the_game() -> None:
    table = waiting_table(seats=2)
    table.crash(seat_node(table, 1))
    later(table, 70)
    desk = Desk(table, 0)
    assert desk.talk["away"]["choice"] == "close"
    desk.press("close_game")
    assert desk.closed


def test_who_has_left_is_told_so() -> None:
    table = table_at(3, PT)
    ask(table, 0, RequestKind.LEAVE)
    assert Desk(table, 0).talk["leaving"]
    play_until(table, lambda: session_at(table, 0).seat is None)
    assert Desk(table, 0).talk["out"] == "You have left this game."
    assert Desk(table, 0).talk["requests"] == {}


def test_a_liar_is_named_on_every_page() -> None:
    table = AttackedTable(3, 3)
    table.play_until(table.another_is_to_act)
    game = table.honest()[0].game
    assert game is not None
    for entry in (None, b"\1" * 32):
        table.say(table.signed(Prevote(game.height, game.head, 0, (), entry, ())).raw)
    later(table, 1)
    for index in range(2):
        (found,) = Desk(table, table.nodes[index].session.seat or 0).talk["evidence"]
        assert found["name"] == "Bot 3"
        assert found["reason"] == "two different prevotes in round 0"
