"""A display far from the table shows what the table's own shows: simulated tables, message by message, no broker."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from display.views import (
    LobbyView,
    NoticeView,
    PausedView,
    ResultView,
    StandingsView,
    TurnView,
    View,
    WaitingView,
)
from engine.rulesets import ES, FI, PT, RuleSet
from engine.state import EndedBy, GameResult, Phase, Seat
from node.autoplay import act_by_bot
from node.device.views import RESULT_S, VOID, Moments, table_view
from node.mqtt.messages import TableState, clock_of, plain_of, state_of
from node.mqtt.payloads import SAME_S, packed
from node.mqtt.remoteviews import Seen, remote_view
from protocol.consensus.clock import PAUSE_S
from protocol.events import GameVoid
from protocol.messages import RequestKind
from protocol.session import Session
from tests.mqtt.broadcast import UNIX_S, BroadcastTable

SHORT = replace(PT, hand=4, opening_min=0, turn_seconds=60)


class Watched(BroadcastTable):
    """What a display sees of a broadcast table beside what the table's own device shows."""

    def __init__(self, rules: RuleSet = SHORT, seats: int = 3, seed: int = 7) -> None:
        self.far = Seen()
        self.near = Moments()
        self.messages: dict[str, Any] = {}
        super().__init__(rules, seats, seed, self.take)

    def take(self, topic: str, message: dict[str, Any]) -> None:
        """A live message comes."""
        self.messages[topic] = plain = plain_of(packed(message))
        if topic == "clock":
            self.far = self.far.with_clock(clock_of(plain), self.now_s, retained=False)
        elif topic == "state":
            self.far = self.far.with_state(state_of(plain), self.now_s, retained=False)

    def kept(self, came_s: float) -> Seen:
        """What somebody sees who comes at that time."""
        seen = Seen().with_clock(clock_of(self.messages["clock"]), came_s, retained=True)
        return seen.with_state(state_of(self.messages["state"]), came_s, retained=True)

    def state(self) -> TableState:
        assert self.far.state is not None
        return self.far.state

    def let_think(self) -> None:
        """Everybody thinks again, with another player than before."""
        for index, node in enumerate(self.nodes):
            node.thinks_at = None
            self.carry_out(index)

    def look(self) -> None:
        """After an event: publish, and follow the moments as the table's device does."""
        state = self.seen.state
        if state is not None:
            turn = (state.game, state.turn_number, state.phase)
            self.near = self.near.at(turn, self.now_s, paused=state.paused is not None, unsure=False)
        self.publish()

    def until(self, reached: Callable[[], object]) -> None:
        for _now_s in self.steps():
            self.look()
            if reached():
                return
        raise AssertionError("nothing left to do")

    def near_view(self, later_s: float = 0.0) -> View:
        return table_view(self.seen, self.near, self.now_s + later_s)

    def far_view(self, later_s: float = 0.0, skew_s: float = 0.0) -> View | None:
        now_s = self.now_s + later_s
        return remote_view(self.far, now_s, UNIX_S + now_s + skew_s)

    def turn_is_on(self) -> bool:
        return self.seen._turn_is_on()

    def everybody(self, player: Callable[[Session, float], None]) -> None:
        for node in self.nodes[:-1]:
            node.player = player


def nothing(_session: Session, _now_s: float) -> None:
    """A player who waits."""


def at_first_turn(rules: RuleSet = SHORT, seats: int = 3) -> Watched:
    table = Watched(rules, seats)
    table.everybody(nothing)
    table.until(table.turn_is_on)
    return table


def knowable(table: Watched, view: View) -> View | None:
    """The view without what no message tells; None where all of it hangs on that."""
    match view:
        case LobbyView() if table.seen.genesis is not None:  # the words are shown, which are not in the messages
            return NoticeView("Dealing") if not table.turn_is_on() else None
        case WaitingView() if not table.seen.absences():  # a late heartbeat
            return None
        case WaitingView():
            return replace(view, left_s=None)
        case PausedView():
            return replace(view, by="")
        case NoticeView(title="Dealing" | "Mixing"):
            return replace(view, text="")
        case _:
            return view


def assert_same(far: View | None, near: View) -> None:
    """Deadlines that are nearly the same are not published anew."""
    match far, near:
        case (TurnView(), TurnView()):
            assert abs(far.clock_s - near.clock_s) <= SAME_S + 0.002
            assert replace(far, clock_s=near.clock_s) == near
        case (PausedView(left_s=float()), PausedView(left_s=float())):
            assert far.left_s == pytest.approx(near.left_s, abs=SAME_S + 0.002)
        case _:
            assert far == near


@pytest.mark.parametrize(
    ("rules", "seats", "last"),
    [
        (SHORT, 3, 30),
        (replace(FI, hand=4, opening_min=0, turn_seconds=0), 2, 30),
        (replace(ES, rounds=1, target=0), 3, math.inf),
    ],
    ids=["timed", "no limit", "a game of cards to its end"],
)
def test_at_every_moment_of_a_game_it_shows_what_the_table_shows(rules: RuleSet, seats: int, last: float) -> None:
    table = Watched(rules, seats, 3)
    shown: Counter[str] = Counter()
    over_s = math.inf
    for count, now_s in enumerate(table.steps()):
        table.look()
        game = table.seen.game
        if table.far.state is None or (game is not None and count % 5):
            continue
        expected = knowable(table, table.near_view())
        if expected is not None:
            assert_same(table.far_view(), expected)
            shown[type(expected).__name__] += 1
        if game is not None and game.over:
            over_s = min(over_s, now_s)
        if table.seen.height > last or now_s > over_s + RESULT_S + 1:
            break
    ends = ["ResultView"] if last == math.inf else []
    assert shown.keys() == {"LobbyView", "NoticeView", "TurnView", *ends}
    assert shown["TurnView"] > 100


def test_before_anything_came_nothing_is_shown() -> None:
    assert remote_view(Seen(), 0.0, UNIX_S) is None
    clock_first = Seen().with_clock(clock_of(at_first_turn().messages["clock"]), 0.0, retained=True)
    assert remote_view(clock_first, 0.0, UNIX_S) is None


def test_between_two_messages_the_clock_runs_and_ends_at_zero() -> None:
    table = at_first_turn()
    for later_s in (0.5, 20.0, 59.0, 70.0):
        assert_same(table.far_view(later_s), table.near_view(later_s))
    ended = table.far_view(70.0)
    assert isinstance(ended, TurnView)
    assert ended.clock_s == 0.0


@pytest.mark.parametrize("skew_s", [-3600.0, 3600.0])
def test_a_live_message_needs_no_right_wall_clock(skew_s: float) -> None:
    table = at_first_turn()
    assert_same(table.far_view(20.0, skew_s), table.near_view(20.0))
    table.nodes[0].session.ask(RequestKind.PAUSE, table.now_s)
    table.carry_out(0)
    table.until(lambda: table.state().paused)
    assert_same(table.far_view(20.0, skew_s), PausedView("", PAUSE_S - 20.0))


def test_a_clock_that_the_broker_kept_counts_from_the_wall_clock() -> None:
    table = at_first_turn()
    came_s = table.now_s + 25.0  # long after it was published
    table.far = table.kept(came_s)
    view = table.far_view(25.0)
    assert_same(view, table.near_view(25.0))
    assert_same(table.far_view(40.0), table.near_view(40.0))


@pytest.mark.parametrize(("skew_s", "sure"), [(-26.5, False), (-25.5, True), (40.0, True), (50.0, False)])
def test_a_wall_clock_that_cannot_be_right_is_told(skew_s: float, sure: bool) -> None:
    """25 of 60 s have gone: behind by more, more than all would be left; far ahead, much less than nothing."""
    table = at_first_turn()
    table.far = table.kept(table.now_s + 25.0)
    view = table.far_view(25.0, skew_s)
    name = table.state().seats[table.state().turn or 0].name
    if sure:
        assert isinstance(view, TurnView)
    else:
        assert view == NoticeView(f"{name}'s turn", "The clock starts next turn.")


def test_after_a_turn_that_was_not_seen_to_begin_comes_one_that_is() -> None:
    table = at_first_turn(replace(SHORT, turn_seconds=0))
    table.far = table.kept(table.now_s + 25.0)
    assert isinstance(table.far_view(25.0), NoticeView)
    before = table.state().turn_number
    table.everybody(act_by_bot)
    table.let_think()
    table.until(lambda: table.state().turn_number > before and table.turn_is_on())
    assert_same(table.far_view(7.0), table.near_view(7.0))


def test_a_message_that_comes_again_after_a_reconnect_changes_nothing() -> None:
    table = at_first_turn()
    again = table.far
    again = again.with_clock(clock_of(table.messages["clock"]), table.now_s + 9.0, retained=True)
    again = again.with_state(state_of(table.messages["state"]), table.now_s + 9.0, retained=True)
    assert remote_view(again, table.now_s + 10.0, 0.0) == table.far_view(10.0)


def test_it_never_goes_back_but_takes_another_table() -> None:
    table = at_first_turn()
    old = dict(table.messages)
    table.everybody(act_by_bot)
    table.let_think()
    before = table.state().turn_number
    table.until(lambda: table.state().turn_number > before + 1 and table.turn_is_on())
    newest = table.far_view()
    table.take("clock", old["clock"])
    table.take("state", old["state"])
    assert table.far_view() == newest
    table.take("clock", {**old["clock"], "table": "ab"})
    assert table.far_view() == newest
    table.take("state", {**old["state"], "table": "ab"})
    other = table.far_view()
    assert isinstance(other, TurnView)
    assert other != newest


def test_another_table_of_that_name_begins_its_time_anew() -> None:
    table = at_first_turn(replace(SHORT, turn_seconds=0))
    table.now_s += 30.0
    before = table.far_view()
    assert isinstance(before, TurnView)
    assert before.clock_s >= 30.0
    table.take("clock", {**table.messages["clock"], "table": "ab"})
    table.take("state", {**table.messages["state"], "table": "ab"})
    assert table.far_view() == replace(before, clock_s=0.0)


def test_a_state_whose_clock_is_yet_to_come_shows_the_whole_turn_and_not_the_clock_before() -> None:
    table = at_first_turn()
    state = table.messages["state"]
    moved = {**state, "height": state["height"] + 1, "turn_number": 1, "turn": (state["turn"] + 1) % 3}
    table.now_s += 30.0
    table.take("state", moved)
    assert isinstance(table.far_view(), NoticeView)  # nothing is known of its limit
    clock = {**table.messages["clock"], "height": moved["height"], "turn_number": 1}
    table.take("clock", clock)
    shown = table.far_view()
    assert isinstance(shown, TurnView)
    assert shown.clock_s > 59


def test_a_clock_whose_state_is_yet_to_come_is_not_shown_for_the_turn_before() -> None:
    table = at_first_turn()
    before = table.far_view(30.0)
    clock, state = table.messages["clock"], table.messages["state"]
    table.take("clock", {**clock, "height": clock["height"] + 1, "turn_number": 1})
    assert table.far_view(30.0) == before
    table.take("state", {**state, "height": state["height"] + 1, "turn_number": 1, "turn": (state["turn"] + 1) % 3})
    assert isinstance(after := table.far_view(30.0), TurnView)
    assert after.name != before.name  # type: ignore[union-attr] # a turn


def test_a_pause_counts_down_and_who_is_away_is_waited_for() -> None:
    table = at_first_turn()
    table.nodes[0].session.ask(RequestKind.PAUSE, table.now_s)
    table.carry_out(0)
    table.until(lambda: table.state().paused)
    paused = table.far_view(20.0)
    assert isinstance(paused, PausedView)
    assert paused.left_s == pytest.approx(PAUSE_S - 20.0, abs=0.002)
    table.far = table.kept(table.now_s)
    kept = table.far_view(20.0)
    assert isinstance(kept, PausedView)
    assert kept.left_s == pytest.approx(PAUSE_S - 20.0, abs=0.002)
    assert table.far_view(20.0, skew_s=-3600.0) == PausedView()
    table.crash(1)
    table.until(lambda: table.seen.absences())
    (absence,) = table.seen.absences()
    assert table.far_view() == WaitingView(table.state().seats[absence.seat].name)


def test_a_void_game_is_an_error() -> None:
    table = at_first_turn()
    table.seen.void = GameVoid(3, ())
    table.look()
    assert table.far_view() == VOID


def over(rules: RuleSet, games: list[tuple[tuple[int, int], EndedBy, int]]) -> Watched:
    """A table at which games with these scores and winners have been played."""
    table = at_first_turn(rules, 2)
    results = [
        GameResult(ended_by, scores, (Seat(winner),), Seat(winner) if ended_by is EndedBy.OUT else None)
        for scores, ended_by, winner in games
    ]
    assert table.seen.game is not None
    assert table.seen.state is not None
    table.seen.game.state = replace(
        table.seen.state, phase=Phase.OVER, game=len(games) - 1, results=tuple(results[:-1]), result=results[-1]
    )
    turn = (len(games) - 1, 0, Phase.OVER)
    table.near = table.near.at(turn, table.now_s, paused=False, unsure=False)
    table.send()
    return table


def test_of_a_single_game_only_the_result_is_shown() -> None:
    table = over(replace(FI, rounds=1), [((-30, 30), EndedBy.OUT, 1)])
    for later_s in (0.0, 10 * RESULT_S):
        shown = table.far_view(later_s)
        assert isinstance(shown, ResultView)
        assert shown == table.near_view(later_s)
        assert shown.winners == (1,)


@pytest.mark.parametrize(
    ("rules", "games", "leaders"),
    [
        (PT, [((5, -5), EndedBy.OUT, 0), ((-5, 5), EndedBy.BLOCKED, 1)], 1),
        (PT, [((5, -5), EndedBy.BLOCKED, 0), ((-5, 5), EndedBy.BLOCKED, 1)], 2),
        (FI, [((5, -5), EndedBy.OUT, 0), ((-5, 5), EndedBy.BLOCKED, 1)], 2),
        (FI, [((5, -5), EndedBy.OUT, 0), ((-4, 4), EndedBy.OUT, 1)], 1),
    ],
)
def test_who_wins_a_series_is_told_by_the_rules_of_the_table(
    rules: RuleSet, games: list[tuple[tuple[int, int], EndedBy, int]], leaders: int
) -> None:
    table = over(replace(rules, rounds=2), games)
    assert isinstance(table.far_view(), ResultView)
    shown = table.far_view(RESULT_S + 1)
    assert isinstance(shown, StandingsView)
    assert shown == table.near_view(RESULT_S + 1)
    assert shown.leaders == leaders
