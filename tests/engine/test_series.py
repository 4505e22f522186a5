from __future__ import annotations

from dataclasses import replace

import pytest

from engine.actions import NextGame, RacksDealt, StartDealt
from engine.errors import IllegalMove
from engine.options import with_options
from engine.rules import apply
from engine.rulesets import ES, FI, PT, RuleSet
from engine.series import standing
from engine.setup import start_series
from engine.state import Call, CallName, EndedBy, GameResult, Phase, PublicState, Seat
from tests.engine.games import steps


def game(*scores: int, out: int | None) -> GameResult:
    ended_by = EndedBy.BLOCKED if out is None else EndedBy.OUT
    return GameResult(ended_by, scores, (), None if out is None else Seat(out))


PT3 = with_options(PT, {"rounds": 3})


@pytest.mark.parametrize(
    ("games", "winners", "order"),
    [
        # most Rummikubs; a blocked game won is none
        ([game(10, -10, out=0), game(-10, 10, out=None), game(0, 0, out=None)], [0], [0, 1]),
        # then the largest sum of positive scores
        ([game(5, -5, 0, out=0), game(-5, 5, 0, out=1), game(0, 0, 0, out=2)], [0], [0, 1, 2]),
        ([game(5, -9, 4, out=0), game(-5, 9, -4, out=1), game(0, 0, 0, out=2)], [1], [1, 0, 2]),
        # then the first Rummikub
        ([game(-4, 4, out=1), game(4, -4, out=0), game(0, 0, out=None)], [1], [1, 0]),
        # nothing left to tell them apart
        ([game(4, -4, out=None), game(-4, 4, out=None), game(0, 0, out=None)], [0, 1], [0, 1]),
    ],
)
def test_ties_in_pt(games: list[GameResult], winners: list[int], order: list[int]) -> None:
    stands = standing(PT3, games, len(games[0].scores))
    assert (list(stands.winners), list(stands.standings), stands.over) == (winners, order, True)


def test_ties_elsewhere_are_shared() -> None:
    games = [game(10, -10, out=0), game(-10, 10, out=None), game(0, 0, out=0)]
    stands = standing(with_options(FI, {"rounds": 3}), games, 2)
    assert stands.winners == (0, 1)


@pytest.mark.parametrize(
    ("options", "over", "winners"),
    [
        ({"rounds": 2}, True, [0]),
        ({"rounds": 3}, False, []),
        ({"target": 100}, True, [0]),
        ({"target": 101}, False, []),
        ({"target": 101, "rounds": 2}, True, [0]),
        ({"target": 60}, True, [0]),
    ],
)
def test_a_series_ends_with_its_rounds_or_its_target(options: dict[str, int], over: bool, winners: list[int]) -> None:
    stands = standing(with_options(ES, options), [game(40, 60, out=0), game(60, 20, out=0)], 2)
    assert (stands.totals, stands.over, list(stands.winners)) == ((100, 80), over, winners)


def test_several_at_the_target_the_highest_total_wins_and_equal_totals_share() -> None:
    rules = with_options(ES, {"target": 50})
    assert standing(rules, [game(60, 70, out=0)], 2).winners == (1,)
    assert standing(rules, [game(60, 60, out=0)], 2).winners == (0, 1)


def test_before_the_first_game_nothing_is_over() -> None:
    stands = standing(PT, [], 3)
    assert (stands.totals, stands.over, stands.winners) == ((0, 0, 0), False, ())


# The next game


def over(rules: RuleSet, seats: int, starter: int) -> PublicState:
    state = start_series(rules, seats)
    result = game(*([10] + [-5] * (seats - 1)), out=0)
    return replace(state, phase=Phase.OVER, call=None, starter=Seat(starter), result=result)


def refused(state: PublicState, action: NextGame) -> str:
    with pytest.raises(IllegalMove) as caught:
        apply(state, action)
    return caught.value.code


def test_the_next_game_begins_one_seat_further_and_keeps_the_results() -> None:
    state = over(PT3, 3, starter=2)
    after = apply(state, NextGame(1))
    assert (after.game, after.phase, after.call, after.starter) == (1, Phase.START, Call(CallName.START), 0)
    assert after.results == (state.result,)
    assert after.result is None
    dealt = apply(apply(after, StartDealt(None)), RacksDealt())
    assert dealt.turn == 0
    with pytest.raises(IllegalMove, match="NO-LOT"):
        apply(after, StartDealt(Seat(1)))


def test_seats_may_stay_away_from_the_next_game() -> None:
    after = apply(over(PT3, 4, starter=0), NextGame(1, (Seat(0), Seat(2), Seat(3))))
    assert after.starter == 2
    assert [seat.in_game for seat in after.seats] == [True, False, True, True]
    dealt = apply(apply(after, StartDealt(None)), RacksDealt())
    assert [len(seat.rack) for seat in dealt.seats] == [14, 0, 14, 14]


@pytest.mark.parametrize(
    ("action", "code"),
    [
        (NextGame(0), "WRONG-GAME"),
        (NextGame(2), "WRONG-GAME"),
        (NextGame(1, (Seat(0),)), "SEAT-COUNT"),
        (NextGame(1, (Seat(1), Seat(0))), "WRONG-SEATS"),
        (NextGame(1, (Seat(0), Seat(0))), "WRONG-SEATS"),
        (NextGame(1, (Seat(0), Seat(7))), "WRONG-SEATS"),
        (NextGame(1, (Seat(-1), Seat(0))), "WRONG-SEATS"),
    ],
)
def test_a_next_game_that_cannot_be(action: NextGame, code: str) -> None:
    assert refused(over(PT3, 3, starter=0), action) == code


def test_after_the_agreed_games_there_is_no_next_one() -> None:
    assert refused(over(PT, 3, starter=0), NextGame(1)) == "SERIES-OVER"


@pytest.mark.parametrize("rules", [PT3, with_options(ES, {"target": 60})], ids=["pt", "es"])
def test_a_whole_series_of_bots_rotates_the_start_and_adds_up(rules: RuleSet) -> None:
    starters = []
    last = None
    for _state, action, after in steps(rules, 3, seed=5, limit=6000):
        if isinstance(action, RacksDealt):
            assert after.starter is not None
            starters.append(after.starter)
        last = after
    assert last is not None
    assert last.result is not None
    assert len(starters) > 1
    assert starters == [(starters[0] + number) % 3 for number in range(len(starters))]
    assert len(last.results) == len(starters) - 1
    assert standing(rules, (*last.results, last.result), 3).over
