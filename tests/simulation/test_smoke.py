"""A whole game on one page: from the lobby to the scores, between real sessions."""

from __future__ import annotations

import pytest

from engine.rulesets import PT
from engine.state import Phase
from node.simulation import SimulatedTable, commits
from protocol.log import check_commit_certificate, entry_hash


@pytest.mark.parametrize(("seats", "seed"), [(2, 1), (3, 2), (4, 3)])
def test_a_whole_game_ends_alike_on_every_node(seats: int, seed: int) -> None:
    table = SimulatedTable(PT, seats, seed)
    summary = table.run()

    sessions = [node.session for node in table.nodes]
    assert table.refusals() == []
    assert {session.state for session in sessions} == {sessions[0].state}
    logs = [[committed.entry for committed in session.log] for session in sessions]
    assert all(log == logs[0] for log in logs)

    state = sessions[0].state
    assert state is not None
    assert state.phase is Phase.OVER
    assert state.result is not None
    assert sum(state.result.scores) == 0
    assert summary.turns == state.turn_number > 0
    assert [game.scores for game in summary.results] == [state.result.scores]
    played = [event.kind for event in commits(table.nodes[0])]
    assert played[:2] == ["answers", "answers"], "the deck is shuffled, the racks are dealt"
    assert played[-1] == "answers", "the racks are opened"
    assert "action" in played


def test_every_entry_is_certified_by_every_seat_and_chained() -> None:
    table = SimulatedTable(PT, 3, 5)
    table.run()
    for node in table.nodes:
        log = node.session.log
        genesis = node.session.genesis
        assert genesis is not None
        seats = node.session.game.seats_in_game() if node.session.game is not None else ()
        for height, committed in enumerate(log):
            assert committed.entry.height == height
            check_commit_certificate(committed, genesis, seats)
            if height:
                assert committed.entry.prev == entry_hash(log[height - 1].entry)


def test_the_same_seed_gives_the_same_log_and_another_seed_another() -> None:
    again = [SimulatedTable(PT, 4, 7).run() for _ in range(2)]
    assert again[0] == again[1]
    assert SimulatedTable(PT, 4, 8).run().log_hash != again[0].log_hash


def test_each_node_sees_its_own_tiles_and_nothing_hidden_is_in_the_state() -> None:
    table = SimulatedTable(PT, 3, 11)
    for _now_s in table.steps():
        if table.nodes[0].session.height == 20:
            break
    racks = []
    for node in table.nodes:
        state, seat = node.session.state, node.session.seat
        assert state is not None
        assert seat is not None
        tiles = node.session.own_tiles()
        assert set(tiles) == set(state.hidden_slots(seat))
        racks.append(set(tiles.values()))
        assert not {slot for slot, _tile in state.known} & set(tiles)
    assert all(not one & other for one in racks for other in racks if one is not other)
