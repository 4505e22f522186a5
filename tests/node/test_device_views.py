"""What a session looks like on the display, phase by phase: simulated tables, no display, no clock of the machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from display.views import (
    ErrorView,
    LobbyView,
    NoticeView,
    PausedView,
    PenaltyView,
    PlayerTiles,
    ResultView,
    ScoreLine,
    StandingsView,
    TurnView,
    View,
    WaitingView,
)
from engine.actions import Draw, Timeout
from engine.rulesets import FI, PT, RuleSet
from engine.state import EndedBy, GameResult, Phase, Seat
from node.autoplay import act_by_bot
from node.device.views import RESULT_S, WORDS_S, Moments, penalty_of, table_view
from node.simulation import SimulatedTable
from node.tablewords import words_of
from protocol.consensus.clock import PAUSE_S
from protocol.events import EntryCommitted, GameVoid
from protocol.messages import RequestKind
from protocol.session import Session

TIMED = replace(PT, turn_seconds=60)
SEEN = Moments(table_s=-100.0, turn_s=0.0)


class Table(SimulatedTable):
    """A table with a device, its last node, whose session is looked at."""

    def __init__(self, rules: RuleSet = TIMED, seats: int = 3) -> None:
        super().__init__(rules, seats, 7, devices=1)
        self.seen = self.nodes[-1].session

    def until(self, reached: Callable[[], object]) -> None:
        for _now_s in self.steps():
            if reached():
                return
        raise AssertionError("nothing left to do")

    def view(self, moments: Moments = SEEN, later_s: float = 0.0) -> View:
        return table_view(self.seen, moments, self.now_s + later_s)

    def turn_is_on(self) -> bool:
        return self.seen._turn_is_on()


def nothing(_session: Session, _now_s: float) -> None:
    """A player who waits."""


def at_first_turn(rules: RuleSet = TIMED, seats: int = 3) -> Table:
    table = Table(rules, seats)
    for node in table.nodes:
        node.player = nothing
    table.until(table.turn_is_on)
    return table


def test_lobby_and_deal_show_who_sits_there_and_the_words_once_they_are_known() -> None:
    table = Table()
    table.until(lambda: len(table.seen.lobby.members()) == 3 and table.seen.lobby.table_card)
    lobby = table.view(Moments())
    assert isinstance(lobby, LobbyView)
    assert lobby.words == ()
    assert sorted(lobby.players) == ["Bot 1", "Bot 2", "Bot 3"]
    table.until(lambda: table.seen.game is not None)
    assert table.seen.genesis is not None
    dealing = table.view(Moments())
    assert isinstance(dealing, LobbyView)
    assert dealing.words == tuple(words_of(table.seen.genesis).split())
    table.until(table.turn_is_on)
    just = Moments(table_s=table.now_s, turn_s=table.now_s)
    assert isinstance(table.view(just, WORDS_S - 0.1), LobbyView)
    assert isinstance(table.view(just, WORDS_S + 0.1), TurnView)


def test_a_lobby_of_which_nothing_is_known_yet_says_so() -> None:
    assert isinstance(Table().view(Moments()), NoticeView)


def test_a_turn_shows_name_time_racks_and_pool() -> None:
    table = at_first_turn()
    state = table.seen.state
    assert state is not None
    remaining_s = table.seen.remaining_s(table.now_s + 10)
    assert remaining_s is not None
    assert table.view(later_s=10) == TurnView(
        table.nodes[0].name if state.turn == 0 else _names(table)[state.turn],
        remaining_s,
        60.0,
        tuple(PlayerTiles(name, 14) for name in _names(table)),
        state.turn,
        state.stock.left,
    )
    assert remaining_s < 51


def _names(table: Table) -> list[str]:
    assert table.seen.genesis is not None
    return [member.name for member in table.seen.genesis.members]


def test_without_a_limit_the_time_counts_up_from_the_beginning_of_the_turn() -> None:
    table = at_first_turn(replace(PT, turn_seconds=0))
    shown = table.view(replace(SEEN, turn_s=table.now_s - 75))
    assert isinstance(shown, TurnView)
    assert (shown.clock_s, shown.turn_s) == (75, 0)


def test_the_time_of_a_turn_without_a_limit_stands_in_a_pause() -> None:
    turn = (0, 3, Phase.PLAY)
    moments = Moments().at(turn, 10.0, paused=False, unsure=False)
    for now_s, paused in ((15.0, True), (40.0, True), (45.0, False), (50.0, False)):
        moments = moments.at(turn, now_s, paused=paused, unsure=True)
    assert (moments.turn_s, moments.unsure) == (40.0, False)


def test_a_turn_that_began_unseen_shows_no_time() -> None:
    table = at_first_turn()
    shown = table.view(replace(SEEN, unsure=True))
    assert isinstance(shown, NoticeView)
    assert shown.title.endswith("'s turn")


def test_a_pause_shows_who_asked_for_it_and_what_is_left() -> None:
    table = at_first_turn()
    seat = table.nodes[0].session.seat
    assert seat is not None
    table.nodes[0].session.ask(RequestKind.PAUSE, table.now_s)
    table._after(0)
    table.until(lambda: table.seen.state is not None and table.seen.state.paused is not None)
    assert table.view(replace(SEEN, paused_by=seat), 20) == PausedView(_names(table)[seat], PAUSE_S - 20)
    assert table.view(later_s=20) == PausedView("", PAUSE_S - 20)


def test_who_is_out_of_contact_is_waited_for_with_a_countdown() -> None:
    table = at_first_turn()
    seat = table.nodes[1].session.seat
    assert seat is not None
    table.crash(1)
    table.until(lambda: table.seen.absences())
    (absence,) = table.seen.absences()
    assert table.view() == WaitingView(_names(table)[seat], absence.until_s - table.now_s)


def test_a_deal_that_waits_for_somebody_says_for_whom() -> None:
    table = at_first_turn()
    absent = table.nodes[1]
    seat = absent.session.seat
    assert seat is not None
    actor = next(node for node in table.nodes if node.session.seat == table.seen.state.turn)  # type: ignore[union-attr] # it plays
    if actor is absent:
        absent = table.nodes[0]
        seat = absent.session.seat
        assert seat is not None
    table.until(lambda: table.now_s > 5)
    session = actor.session
    assert session.seat is not None
    session.act(Draw(session.seat), table.now_s)
    table._after(table.nodes.index(actor))
    table.until(lambda: table.seen.state is not None and table.seen.state.call is not None)
    table.crash(table.nodes.index(absent))
    table.until(lambda: table.seen.late(table.now_s))
    if not table.seen.absences():
        assert table.view() == WaitingView(_names(table)[seat])


def over(rules: RuleSet, *scores: tuple[int, ...]) -> Table:
    """A table at which games with these scores have been played, highest scores first in the last one."""
    table = at_first_turn(rules, 2)
    assert table.seen.game is not None
    assert table.seen.state is not None
    results = [
        GameResult(EndedBy.OUT, game, (Seat(game.index(max(game))),), Seat(game.index(max(game)))) for game in scores
    ]
    table.seen.game.state = replace(
        table.seen.state, phase=Phase.OVER, game=len(scores) - 1, results=tuple(results[:-1]), result=results[-1]
    )
    return table


def test_a_single_game_ends_with_its_result() -> None:
    table = over(replace(FI, rounds=1), (-30, 30))
    for later_s in (0.0, 10 * RESULT_S):
        shown = table.view(replace(SEEN, over_s=table.now_s), later_s)
        lines = tuple(ScoreLine(name, points) for name, points in zip(_names(table), (-30, 30), strict=True))
        assert shown == ResultView(1, lines, (1,))


@pytest.mark.parametrize(
    ("games", "totals", "leaders"),
    [
        ([(-30, 30)], [(1, 30), (0, -30)], 1),
        ([(-30, 30), (50, -50)], [(0, 20), (1, -20)], 1),
        ([(3, -3), (-3, 3)], [(0, 0), (1, 0)], 2),
    ],
)
def test_a_series_shows_the_result_and_then_where_it_stands(
    games: list[tuple[int, ...]], totals: list[tuple[int, int]], leaders: int
) -> None:
    table = over(replace(FI, rounds=2), *games)
    moments = replace(SEEN, over_s=table.now_s)
    result = table.view(moments)
    assert isinstance(result, ResultView)
    assert result.game == len(games)
    shown = table.view(moments, RESULT_S + 1)
    lines = tuple(ScoreLine(_names(table)[seat], points) for seat, points in totals)
    assert shown == StandingsView(len(games), lines, leaders, len(games) == 2)


def test_a_void_game_is_an_error() -> None:
    table = at_first_turn()
    table.seen.void = GameVoid(3, ())
    assert isinstance(table.view(), ErrorView)


def test_time_that_has_run_out_shows_what_it_costs() -> None:
    table = at_first_turn(replace(PT, turn_seconds=10, timeout_idle_draw=3))
    event: list[EntryCommitted] = []

    def timed_out() -> bool:
        heard = table.nodes[-1].events[-1] if table.nodes[-1].events else None
        if isinstance(heard, EntryCommitted) and isinstance(heard.action, Timeout):
            event.append(heard)
        return bool(event)

    table.until(timed_out)
    assert table.seen.genesis is not None
    assert table.seen.state is not None
    penalty = penalty_of(event[0], table.seen.genesis, table.seen.state)
    assert event[0].actor is not None
    assert penalty == PenaltyView(_names(table)[event[0].actor], 3, "The time was up.")


def test_a_draw_that_somebody_chose_is_no_penalty() -> None:
    table = at_first_turn()
    for node in table.nodes[:-1]:
        node.player = act_by_bot
    events = table.nodes[-1].events
    table.until(lambda: isinstance(events[-1], EntryCommitted) and isinstance(events[-1].action, Draw))
    assert isinstance(events[-1], EntryCommitted)
    assert table.seen.genesis is not None
    assert table.seen.state is not None
    assert table.seen.state.call is not None
    assert penalty_of(events[-1], table.seen.genesis, table.seen.state) is None
