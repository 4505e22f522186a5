"""Rules in which the four games differ, each played through real sessions: the clock, penalties, the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from engine.actions import DeclareRummikub, Draw, DrawReason, Exchange, Pass, Play, StartDealt, Timeout
from engine.bots import choose
from engine.errors import IllegalMove
from engine.rules import end_turn, faults
from engine.rulesets import RULE_SETS, RuleSet
from engine.state import EndedBy, PublicState, TableMeld
from engine.tiles import TileId
from node.autoplay import act_by_bot
from node.simulation import SimulatedTable, commits
from protocol.session import Session
from tests.simulation.attack import AttackedTable
from tests.simulation.test_clock import rack_sizes, states_after


def table_at_turn_of_slow(name: str, seats: int = 3, seed: int = 6, **options: object) -> AttackedTable:
    """A table that stands at the start of a turn of a player who does nothing by itself."""
    table = AttackedTable(seats, seed, replace(RULE_SETS[name], **options))  # type: ignore[arg-type] # of the right type
    table.nodes[table.liar].player = lambda _session, _now_s: None
    table.play_until(table.liar_is_to_act)
    return table


def lone_tile(session: Session) -> Play:
    """An illegal draft: the board and one tile of the own rack by itself."""
    assert session.state is not None
    assert session.seat is not None
    slot, tile = next(iter(session.own_tiles().items()))
    return Play(session.seat, (*session.state.board, TableMeld((tile,))), ((slot, tile),))


def state_of(session: Session) -> PublicState:
    assert session.state is not None
    return session.state


# Time-outs


@pytest.mark.parametrize(("name", "idle", "moved"), [("pt", 1, 3), ("fi", 1, 1), ("no", 1, 1)])
def test_time_up_costs_what_the_rule_set_says(name: str, idle: int, moved: int) -> None:
    for cost, with_draft in ((idle, False), (moved, True)):
        table = table_at_turn_of_slow(name, turn_seconds=20)
        slow = table.nodes[table.liar].session
        before = state_of(slow)
        slow.draft = lone_tile(slow) if with_draft else None
        after = states_after(table, slow.height + 2)
        assert len(set(after)) == 1
        expected = rack_sizes(before)
        assert slow.seat is not None
        expected[slow.seat] += cost
        assert rack_sizes(after[0]) == expected
        assert after[0].board == before.board


@pytest.mark.parametrize(("name", "cost"), [("pt", 0), ("fi", 1), ("no", 0)])
def test_a_finished_play_stands_when_time_is_up(name: str, cost: int) -> None:
    table, play = table_with_a_play(name, turn_seconds=20)
    slow = table.nodes[table.liar].session
    slow.draft = play
    before, height = state_of(slow), slow.height
    after = states_after(table, height + (2 if cost else 1))
    assert len(set(after)) == 1
    expected = rack_sizes(before)
    assert slow.seat is not None
    expected[slow.seat] += cost - len(play.laid)
    assert rack_sizes(after[0]) == expected
    entered = next(event.action for event in commits(table.nodes[0]) if event.height == height)
    assert isinstance(entered, Play)
    assert entered.time_up


def test_no_keeps_what_is_in_legal_melds_when_time_is_up() -> None:
    table, play = table_with_a_play("no", turn_seconds=20)
    slow = table.nodes[table.liar].session
    laid = {tile for _slot, tile in play.laid}
    slot, tile = next(item for item in slow.own_tiles().items() if item[1] not in laid)
    slow.draft = replace(play, board=(*play.board, TableMeld((tile,))), laid=(*play.laid, (slot, tile)))
    before = state_of(slow)
    after = states_after(table, slow.height + 1)
    expected = rack_sizes(before)
    assert slow.seat is not None
    expected[slow.seat] -= len(play.laid)
    assert rack_sizes(after[0]) == expected


def test_es_with_a_limit_draws_one_card_and_passes_the_turn() -> None:
    table = table_at_turn_of_slow("es", turn_seconds=20)
    slow = table.nodes[table.liar].session
    before = state_of(slow)
    after = states_after(table, slow.height + 2)
    assert len(set(after)) == 1
    expected = rack_sizes(before)
    assert slow.seat is not None
    expected[slow.seat] += 1
    assert rack_sizes(after[0]) == expected
    assert after[0].turn_number == before.turn_number + 1
    assert any(isinstance(event.action, Timeout) for event in commits(table.nodes[0]))


# Illegal ends


def test_fi_an_illegal_end_is_taken_back_and_costs_three_tiles() -> None:
    table = table_at_turn_of_slow("fi")
    slow = table.nodes[table.liar].session
    before = state_of(slow)
    action = end_turn(before, lone_tile(slow))
    assert isinstance(action, Draw)
    assert action.reason is DrawReason.ILLEGAL
    slow.act(action, table.now_s)
    table.carry_out(table.liar)
    after = states_after(table, slow.height + 2)
    expected = rack_sizes(before)
    assert slow.seat is not None
    expected[slow.seat] += 3
    assert len(set(after)) == 1
    assert rack_sizes(after[0]) == expected
    assert after[0].board == before.board


@pytest.mark.parametrize("name", ["pt", "no"])
def test_elsewhere_an_illegal_end_is_refused_and_nothing_is_sent(name: str) -> None:
    table = table_at_turn_of_slow(name)
    slow = table.nodes[table.liar].session
    before = state_of(slow)
    with pytest.raises(IllegalMove):
        slow.act(lone_tile(slow), table.now_s)
    with pytest.raises(IllegalMove):
        end_turn(before, lone_tile(slow))
    assert slow.seat is not None
    with pytest.raises(IllegalMove):
        slow.act(Draw(slow.seat, DrawReason.ILLEGAL), table.now_s)
    assert slow.take_outputs() == ()
    assert slow.may_act(table.now_s)


# The end of a game


@pytest.mark.parametrize("name", ["pt", "fi", "no"])
def test_an_empty_pool_is_passed_until_the_game_is_blocked(name: str) -> None:
    table = SimulatedTable(RULE_SETS[name], 3, 5)
    table.run()
    state = state_of(table.nodes[0].session)
    assert state.result is not None
    assert state.result.ended_by is EndedBy.BLOCKED
    assert state.stock.left == 0
    last = [event.action for event in commits(table.nodes[1]) if event.kind == "action"][-3:]
    assert all(isinstance(action, Pass) for action in last)
    assert sum(state.result.scores) == 0


def table_with_a_play(name: str, **options: object) -> tuple[AttackedTable, Play]:
    """A table at a turn of the slow player in which it could lay something; it draws until then."""
    rules: RuleSet = replace(RULE_SETS[name], **options)  # type: ignore[arg-type] # of the right type
    table = AttackedTable(3, 6, rules)
    found: list[Play] = []

    def draw_or_stop(session: Session, now_s: float) -> None:
        play = best_play(session)
        if play is None:
            act_by_bot(session, now_s)
        else:
            found.append(play)

    table.nodes[table.liar].player = draw_or_stop
    table.play_until(lambda: bool(found))
    return table, found[0]


def best_play(session: Session) -> Play | None:
    assert session.state is not None
    assert session.seat is not None
    action = choose(session.seat, session.state, session.own_tiles())
    return action if isinstance(action, Play) else None


def race_to_the_end(name: str, seats: int, seed: int, player: Callable[[Session, float], None]) -> SimulatedTable:
    table = SimulatedTable(RULE_SETS[name], seats, seed)
    for node in table.nodes:
        node.player = player
    table.run()
    return table


def test_no_the_last_tile_wins_without_a_call_and_joins_every_score() -> None:
    table = race_to_the_end("no", 4, 4, act_by_bot)
    state = state_of(table.nodes[0].session)
    assert state.result is not None
    assert state.result.ended_by is EndedBy.OUT
    assert state.result.out is not None
    assert state.seats[state.result.out].rack == ()
    assert state.result.scores[state.result.out] == -sum(score for score in state.result.scores if score < 0)


# The exchange of a joker


def exchange_of(session: Session) -> Play | None:
    """An announced exchange that the own player could make now: the joker becomes part of a new meld of rack tiles."""
    state, seat = session.state, session.seat
    assert state is not None
    assert seat is not None
    if not state.seats[seat].opened:
        return None
    faces, own = state.faces, dict(session.own_tiles())
    for index, meld in enumerate(state.board):
        for place, joker in enumerate(meld.tiles):
            if not faces[joker].is_joker:
                continue
            for slot, tile in own.items():
                for play in _plays_with(state, session, index, place, (slot, tile), joker):
                    if not faults(state, play):
                        return play
    return None


def _plays_with(
    state: PublicState, session: Session, index: int, place: int, given: tuple[object, TileId], joker: TileId
) -> list[Play]:
    slot, tile = given
    meld = state.board[index]
    changed = replace(meld, tiles=(*meld.tiles[:place], tile, *meld.tiles[place + 1 :]))
    rest = [item for item in session.own_tiles().items() if item[1] != tile]
    plays = []
    assert session.seat is not None
    for one in rest:
        for other in rest:
            same_number = state.faces[one[1]].number == state.faces[other[1]].number
            if one[1] < other[1] and same_number and state.faces[one[1]].colour != state.faces[other[1]].colour:
                board = [*state.board]
                board[index] = changed
                board.append(TableMeld((one[1], other[1], joker)))
                laid = ((slot, tile), one, other)
                plays.append(
                    Play(session.seat, tuple(board), laid, exchanges=(Exchange(index, place, tile),))  # type: ignore[arg-type] # slots
                )
    return plays


def test_no_an_announced_exchange_is_in_the_log_of_every_node() -> None:
    made: list[Play] = []

    def exchange_if_possible(session: Session, now_s: float) -> None:
        play = exchange_of(session) if session.may_act(now_s) else None
        if play is not None and not made:
            with pytest.raises(IllegalMove) as refused:
                session.act(replace(play, exchanges=()), now_s)
            assert refused.value.code in ("JOKER-NOTICE", "JOKER-VALUE")
            made.append(play)
            session.act(play, now_s)
            return
        act_by_bot(session, now_s)

    for seed in range(40):
        table = SimulatedTable(RULE_SETS["no"], 4, seed)
        for node in table.nodes:
            node.player = exchange_if_possible
        table.run()
        if made:
            break
    assert made, "no seed led to an exchange"
    for node in table.nodes:
        entered = [event.action for event in commits(node) if isinstance(event.action, Play) and event.action.exchanges]
        assert entered == made


def test_a_call_with_a_tile_left_is_refused_without_cost() -> None:
    for name in ("pt", "fi", "no"):
        table, play = table_with_a_play(name)
        slow = table.nodes[table.liar].session
        with pytest.raises(IllegalMove) as refused:
            slow.act(DeclareRummikub(play), table.now_s)
        assert refused.value.code == "NOT-OUT"
        assert slow.may_act(table.now_s)


def test_pt_the_win_must_be_called() -> None:
    """End turn with an emptied rack is refused without cost; the Rummikub button wins."""
    refused: list[str] = []

    def press_end_turn_first(session: Session, now_s: float) -> None:
        if session.may_act(now_s):
            assert session.state is not None
            assert session.seat is not None
            action = choose(session.seat, session.state, session.own_tiles())
            if isinstance(action, DeclareRummikub):
                with pytest.raises(IllegalMove) as slip:
                    session.act(action.play, now_s)
                refused.append(slip.value.code)
        act_by_bot(session, now_s)

    table = race_to_the_end("pt", 3, 13, press_end_turn_first)
    state = state_of(table.nodes[0].session)
    assert refused == ["CALL-RUMMIKUB"]
    assert state.result is not None
    assert state.result.ended_by is EndedBy.OUT
    for node in table.nodes:
        assert isinstance(commits(node)[-2].action, DeclareRummikub)


@pytest.mark.parametrize(("name", "seats"), [("pt", 3), ("fi", 2), ("no", 4), ("es", 6), ("es", 3)])
def test_a_series_of_three_games_ends_in_right_standings(name: str, seats: int) -> None:
    table = SimulatedTable(replace(RULE_SETS[name], rounds=3), seats, 5)
    summary = table.run()
    assert len(summary.results) == 3
    assert table.refusals() == []
    totals = tuple(sum(game.scores[seat] for game in summary.results) for seat in range(seats))
    assert summary.totals == totals
    assert [totals[seat] for seat in summary.standings] == sorted(totals, reverse=True)
    assert totals[summary.winners[0]] == max(totals)
    states = {node.session.state for node in table.nodes}
    assert len(states) == 1
    dealt = [event.action for event in commits(table.nodes[0]) if isinstance(event.action, StartDealt)]
    assert [action.starter is None for action in dealt] == [False, True, True], "the lot is drawn once"
    state = states.pop()
    assert state is not None
    assert state.starter == (summary.starter + 2) % seats, "the start moves one seat each game"


def test_a_node_killed_between_two_games_comes_back() -> None:
    table = SimulatedTable(replace(RULE_SETS["es"], rounds=2), 2, 5)
    killed = 0
    for _now_s in table.steps():
        game = table.nodes[0].session.game
        if game is not None and game.between_games and not killed:
            killed += 1
            table.crash(0)
            table.restart(0)
        if all(node.session.game is not None and node.session.game.over for node in table.nodes):
            break
    assert killed == 1
    assert len(table.summary().results) == 2
    assert table.refusals() == []
