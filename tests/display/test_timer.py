from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from display.presses import Kind, Press
from display.timer import GESTURES, KEYS, UNDO_STEPS, Action, Refused, Timer, questions, scored
from display.timerstate import Phase, Position, Record, Setup, from_plain, new_game, to_plain
from display.timerwords import TIMER_WORDS
from display.views import NoticeView, PenaltyView, ResultView, ScoreLine, StandingsView, TurnView, View
from engine.rulesets import ES, FI, NO, PT, RuleSet
from node.timerfile import standings_of

NAMES = ("Ana", "Åse", "José")


class Bench:
    """A timer and its time."""

    def __init__(self, setup: Setup | None = None, record: Record | None = None) -> None:
        self.setup = setup or Setup(NAMES, PT, 60)
        self.now_s = 1000.0
        self.timer = Timer(self.setup, standings_of(self.setup), self.now_s, record)

    def wait(self, seconds: float) -> Bench:
        self.now_s += seconds
        return self

    def tap(self, button: str = "end") -> Bench:
        return self.press(Kind.TAPPED, button)

    def hold(self, button: str = "end") -> Bench:
        return self.press(Kind.HELD, button)

    def both(self) -> Bench:
        return self.press(Kind.BOTH, "pause")

    def press(self, kind: Kind, button: str) -> Bench:
        self.timer.press(Press(kind, button, self.now_s), self.now_s)
        return self

    def type(self, keys: str) -> Bench:
        for key in keys:
            self.timer.key(key, self.now_s)
        return self

    def enter(self, points: Sequence[int]) -> Bench:
        """With the two buttons."""
        for number in points:
            for _ten in range(number // 10):
                self.tap("end")
            for _one in range(number % 10):
                self.tap("pause")
            self.hold("end")
        return self

    @property
    def position(self) -> Position:
        return self.timer.record(self.now_s).position

    def shown(self) -> View:
        return self.timer.view(self.now_s)

    @property
    def turn(self) -> tuple[str, float]:
        view = self.shown()
        assert isinstance(view, TurnView)
        return view.name, view.clock_s


def test_each_press_begins_the_turn_of_the_next_player() -> None:
    bench = Bench()
    assert bench.shown() == NoticeView("Game 1", "Ana begins. End: start. Pause: another player.")
    bench.wait(500).tap()
    assert bench.turn == ("Ana", 60)
    assert bench.wait(20).turn == ("Ana", 40)
    assert bench.tap().turn == ("Åse", 60)
    assert bench.tap().tap().wait(1).turn == ("Ana", 59)


def test_another_player_may_begin() -> None:
    bench = Bench().tap("pause").tap("pause").tap()
    assert bench.turn[0] == "José"
    assert bench.position.starter == 2


def test_a_pause_costs_no_time() -> None:
    bench = Bench().tap().wait(20).tap("pause").wait(3000)
    assert bench.shown() == NoticeView("Paused", "Ana 0:40 · End: go on. Hold Pause: skip.")
    assert bench.tap().turn == ("Ana", 40)


def test_an_accidental_press_is_taken_back_with_the_time_that_was_left_then() -> None:
    bench = Bench().tap().wait(20).tap().wait(4)
    assert bench.hold().turn == ("Ana", 40)
    assert bench.wait(10).turn == ("Ana", 30)


def test_who_pauses_first_takes_back_what_came_before_the_pause() -> None:
    assert Bench().tap().wait(20).tap().tap("pause").wait(9).hold().turn == ("Ana", 40)


def test_as_many_presses_are_taken_back_as_are_kept_and_then_none() -> None:
    bench = Bench().tap()
    for _turn in range(UNDO_STEPS + 5):
        bench.tap()
    for _step in range(UNDO_STEPS):
        bench.hold()
    assert bench.turn[0] == NAMES[5 % 3]
    with pytest.raises(Refused, match="nothing to take back"):
        bench.hold()


def test_a_player_is_skipped_without_a_penalty_and_without_an_increment() -> None:
    bench = Bench(Setup(NAMES, PT, 60, 30, 5)).tap().tap("pause").hold("pause")
    assert bench.turn == ("Åse", 60)
    assert bench.type("s").turn == ("José", 60)
    assert bench.position.banks_s == (30, 30, 30)


def test_an_extension_is_one_more_turn_limit_once_for_each_player() -> None:
    bench = Bench().tap().wait(20)
    assert bench.hold("pause").turn == ("Ana", 100)
    with pytest.raises(Refused, match="Only once"):
        bench.hold("pause")
    assert bench.turn == ("Ana", 100)
    assert bench.tap().hold("pause").turn == ("Åse", 120)
    assert bench.tap().tap().tap().turn == ("Åse", 60)


def test_without_a_limit_the_clock_counts_up_and_nothing_is_extended() -> None:
    bench = Bench(Setup(NAMES, ES, 0)).tap().wait(100)
    view = bench.shown()
    assert isinstance(view, TurnView)
    assert (view.clock_s, view.turn_s) == (100, 0)
    assert bench.timer.next_change_s(bench.now_s) is None
    with pytest.raises(Refused, match="no time limit"):
        bench.hold("pause")


@pytest.mark.parametrize(
    ("rules", "tiles", "reason"),
    [
        (PT, 3, "Time is up. Nothing moved: 1. Table right: 0."),
        (FI, 1, "Time is up."),
        (NO, 1, "Time is up. Table right: 0."),
        (ES, 1, "Time is up."),
        (replace(PT, timeout_draw=2, timeout_play_draw=2), 2, "Time is up. Nothing moved: 1."),
    ],
    ids=["pt", "fi", "no", "es", "house"],
)
def test_when_the_time_is_up_the_penalty_of_the_rules_is_told(rules: RuleSet, tiles: int, reason: str) -> None:
    bench = Bench(Setup(NAMES, rules, 60)).tap()
    assert bench.timer.next_change_s(bench.now_s) == bench.now_s + 60
    assert bench.wait(60).turn == ("Ana", 0)
    assert bench.timer.next_change_s(bench.now_s) == bench.now_s + 2
    assert bench.wait(2).shown() == PenaltyView("Ana", tiles, reason)
    assert bench.wait(600).tap().turn == ("Åse", 60)


def test_the_bank_is_used_when_the_turn_is_over_and_grows_with_turns_in_time() -> None:
    bench = Bench(Setup(NAMES, PT, 60, 30, 5)).tap().wait(50).tap()
    assert bench.position.banks_s == (35, 30, 30)
    assert bench.timer.next_change_s(bench.now_s) == bench.now_s + 60
    bench.wait(60)
    view = bench.shown()
    assert isinstance(view, TurnView)
    assert (view.clock_s, view.on_bank) == (30, True)
    assert bench.timer.next_change_s(bench.now_s) == bench.now_s + 30
    bench.wait(10).tap()
    assert bench.position.banks_s == (35, 25, 30)
    bench.wait(90)
    assert bench.position.phase is Phase.TIME_UP
    bench.tap()
    assert bench.position.banks_s == (35, 25, 0)


def test_a_bank_without_a_turn_limit_is_a_chess_clock() -> None:
    bench = Bench(Setup(NAMES, PT, 0, 300, 2)).tap().wait(20)
    assert bench.turn == ("Ana", 280)
    assert bench.tap().tap().tap().wait(1).turn == ("Ana", 281)
    assert bench.hold("pause").turn == ("Ana", 60)
    bench.wait(60 + 281)
    assert bench.position.phase is Phase.TIME_UP


def test_points_are_entered_with_two_buttons_and_scored_by_the_rules() -> None:
    bench = Bench().tap().tap().both()
    for _ten in range(6):
        bench.tap()
    assert bench.shown() == NoticeView("Ana: 60", "End +10, Pause +1, hold End: ok, hold Pause: 0 · Left on the rack")
    bench.hold("pause").enter([57, 8])
    lines = tuple(ScoreLine(name, points) for name, points in zip(NAMES, (-57, 65, -8), strict=True))
    assert bench.shown() == ResultView(1, lines, (1,))


def test_points_can_be_typed_and_mended() -> None:
    bench = Bench().tap().type("r1987\x7f\n")
    assert bench.position.entered == (19,)
    bench.type("55555")
    assert bench.position.number == 555
    bench.type("c42")
    assert bench.position.number == 42
    bench.type("\n")
    assert bench.position.games[-1].scores == (61, -19, -42)


def test_an_entered_number_can_be_taken_back_and_so_can_the_call() -> None:
    bench = Bench().tap().wait(10).both().enter([31])
    bench.hold("pause")
    assert (bench.position.entered, bench.position.number) == ((), 31)
    bench.hold("pause").hold("pause")
    assert bench.turn == ("Ana", 50)


def test_a_third_button_calls_and_does_so_when_the_time_is_just_up() -> None:
    bench = Bench().tap().wait(61).tap("rummikub").enter([10, 20])
    assert bench.position.games[-1].scores == (30, -10, -20)


@pytest.mark.parametrize(
    ("rules", "out", "entered", "scores", "winners"),
    [
        (PT, 2, [30, 4], (-30, -4, 34), (2,)),
        (PT, None, [30, 4, 10], (-26, 32, -6), (1,)),
        (PT, None, [4, 4, 10], (0, 0, -6), (0, 1)),
        (ES, 0, [50, 30, 12, 0, 9], (70, 18, -9), (0,)),
        (ES, None, [10, 3, 30, 12, 0, 9], (7, 18, -9), (1,)),
    ],
    ids=["out", "blocked", "blocked and shared", "cards out", "cards blocked"],
)
def test_games_are_scored_by_their_rules(
    rules: RuleSet, out: int | None, entered: list[int], scores: tuple[int, ...], winners: tuple[int, ...]
) -> None:
    setup = Setup(NAMES, rules, 60)
    assert len(questions(setup, out)) == len(entered)
    game = scored(setup, out, entered)
    assert (game.scores, game.winners, game.out) == (scores, winners, out)


def test_a_blocked_game_asks_everybody() -> None:
    bench = Bench().tap().tap("pause").both().enter([5, 15, 25])
    assert bench.position.games[-1].scores == (30, -10, -20)


def test_games_of_a_series_add_up_and_the_next_player_begins() -> None:
    bench = Bench().tap().both().enter([10, 20]).tap()
    assert isinstance(bench.shown(), StandingsView)
    bench.tap()
    assert bench.shown() == NoticeView("Game 2", "Åse begins. End: start. Pause: another player.")
    bench.tap().both().enter([40, 1])
    standings = bench.tap().shown()
    assert isinstance(standings, StandingsView)
    assert [(line.name, line.points) for line in standings.totals] == [("Åse", 31), ("Ana", -10), ("José", -21)]
    assert (standings.games, standings.leaders, standings.over) == (2, 1, False)


def test_a_series_is_over_when_the_rules_say_so_and_then_a_new_one_begins() -> None:
    bench = Bench(Setup(NAMES, replace(PT, rounds=2), 60))
    over = []
    for _game in range(2):
        bench.tap().both().enter([10, 20]).tap()
        standings = bench.shown()
        assert isinstance(standings, StandingsView)
        over.append(standings.over)
        bench.tap()
    assert over == [False, True]
    record = bench.timer.record(bench.now_s)
    assert [len(series) for series in record.past] == [2]
    assert record.position.games == ()
    with pytest.raises(Refused):
        bench.hold()


@pytest.mark.parametrize(("rules", "leaders"), [(PT, ["Åse"]), (FI, ["Ana", "Åse"])], ids=["pt", "fi"])
def test_equal_totals_are_told_apart_as_the_rules_do(rules: RuleSet, leaders: list[str]) -> None:
    setup = Setup(NAMES, rules, 60)
    games = [scored(setup, 1, [0, 10]), scored(setup, None, [5, 15, 5]), scored(setup, None, [5, 5, 15])]
    assert [game.scores for game in games] == [(0, 10, -10), (0, -10, 0), (0, 0, -10)]
    standings = standings_of(setup)(games)
    assert [line.name for line in standings.totals[: standings.leaders]] == leaders


def test_what_a_gesture_does_not_mean_is_refused_and_changes_nothing() -> None:
    bench = Bench()
    before = bench.timer.record(bench.now_s)
    with pytest.raises(Refused, match="does nothing"):
        bench.both()
    with pytest.raises(Refused, match="does nothing"):
        bench.type("x")
    assert bench.timer.record(bench.now_s) == before


def test_after_a_power_cut_the_clock_stands_where_it_was_stored() -> None:
    bench = Bench(Setup(NAMES, PT, 60, 30)).tap().wait(20).tap().wait(15)
    stored = json.loads(json.dumps(to_plain(bench.timer.record(bench.now_s))))
    again = Bench(bench.setup, from_plain(stored, 3)).wait(100_000)
    assert again.shown() == NoticeView("Power was off", "Åse 1:15 · End: go on. Hold Pause: skip.")
    assert again.tap().turn == ("Åse", 45)
    assert again.hold().turn == ("Ana", 40)


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.3, 7.0, 65.0, 200.0]),
        st.one_of(
            st.sampled_from(
                [(kind, button) for kind in (Kind.TAPPED, Kind.HELD, Kind.BOTH) for button in ("end", "pause")]
            ),
            st.sampled_from([*KEYS, " ", "7", "\x7f"]),
        ),
    ),
    max_size=60,
)
SETUPS = st.sampled_from(
    [
        Setup(NAMES, PT, 60),
        Setup(NAMES, replace(PT, rounds=2), 60, 30, 5),
        Setup(NAMES[:2], ES, 0),
        Setup(NAMES, FI, 0, 100),
    ]
)


@settings(max_examples=150)
@given(SETUPS, ACTIONS)
def test_whatever_is_pressed_each_position_can_be_shown_stored_and_taken_up(
    setup: Setup, actions: list[tuple[float, tuple[Kind, str] | str]]
) -> None:
    bench = Bench(setup)
    for seconds, action in actions:
        bench.wait(seconds)
        before = bench.timer.record(bench.now_s)
        try:
            bench.type(action) if isinstance(action, str) else bench.press(*action)
        except Refused:
            assert bench.timer.record(bench.now_s) == before
        record = bench.timer.record(bench.now_s)
        assert from_plain(json.loads(json.dumps(to_plain(record))), len(setup.names)) == record
        bench.timer.view(bench.now_s)
        for game in record.position.games:
            assert setup.rules.discards or sum(game.scores) == 0 or len(game.winners) > 1
        change_s = bench.timer.next_change_s(bench.now_s)
        assert change_s is None or change_s > bench.now_s


@pytest.mark.parametrize(
    "broken",
    [
        {"phase": "nap"},
        {"turn": 3},
        {"banks_s": [1, 2]},
        {"clock_s": -1},
        {"clock_s": "60"},
        {"games": [{"scores": [1, 2], "winners": [0], "out": 0}]},
        {"games": [{"scores": [1, 2, 3], "winners": [7], "out": 0}]},
        {"games": [1]},
        {"entered": [1.5]},
        {"more": 1},
    ],
    ids=str,
)
def test_a_record_that_no_timer_wrote_is_refused(broken: dict[str, object]) -> None:
    plain = to_plain(Record(new_game(Setup(NAMES, PT, 60), 0)))
    assert from_plain(plain, 3) == Record(new_game(Setup(NAMES, PT, 60), 0))
    with pytest.raises(ValueError, match="expected a record"):
        from_plain(plain | {"position": plain["position"] | broken}, 3)
    with pytest.raises(ValueError, match="expected a record"):
        from_plain(plain | {"undo": [plain["position"] | broken]}, 3)


def test_each_language_says_everything_with_the_same_places() -> None:
    english = TIMER_WORDS["en"]
    for words in TIMER_WORDS.values():
        for name in english.__slots__:
            assert getattr(words, name).count("{}") == getattr(english, name).count("{}")


def test_each_gesture_of_the_buttons_means_something_else_in_its_phase() -> None:
    for phase, gestures in GESTURES.items():
        meanings = [action for action in gestures.values() if action not in (Action.RESUME, Action.CALL)]
        assert len(meanings) == len(set(meanings)), phase
