from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.options import with_options
from engine.rulesets import ES, FI, NO, PT, RuleSet
from engine.scoring import dearest, rack_points, score_blocked, score_cards, score_out, tile_points
from engine.tiles import Tile, parse_tile, parse_tiles

racks = st.lists(st.lists(st.sampled_from(PT.faces), max_size=20), min_size=2, max_size=4)


@given(racks, st.integers(0, 1))
def test_a_won_game_sums_to_zero_and_nobody_else_gains(hands: list[list[Tile]], winner: int) -> None:
    score = score_out(PT, hands, winner)
    assert sum(score.scores) == 0
    assert score.winners == (winner,)
    assert all(points <= 0 for seat, points in enumerate(score.scores) if seat != winner)


@given(racks)
def test_a_blocked_game_sums_to_zero_unless_the_win_is_shared(hands: list[list[Tile]]) -> None:
    score = score_blocked(PT, hands)
    totals = [rack_points(PT, hand) for hand in hands]
    assert all(totals[seat] == min(totals) for seat in score.winners)
    if len(score.winners) == 1:
        assert sum(score.scores) == 0
    else:
        assert all(score.scores[seat] == 0 for seat in score.winners)


def test_equal_racks_share_a_blocked_game_and_the_others_keep_their_minus() -> None:
    score = score_blocked(PT, [parse_tiles(text) for text in ("R5", "B5", "K9 Y9")])
    assert (score.scores, score.winners) == ((0, 0, -13), (0, 1))


@pytest.mark.parametrize(
    ("rules", "text", "points"),
    [(PT, "J", 30), (FI, "J", 30), (NO, "J", 25), (PT, "K13", 13), (ES, "HK", 10), (ES, "HJ", 10), (ES, "SA", 1)],
)
def test_what_a_tile_costs(rules: RuleSet, text: str, points: int) -> None:
    assert tile_points(rules, parse_tile(text)) == points


def test_house_rules_change_ace_and_bonus() -> None:
    rules = with_options(ES, {"ace_points": 15, "out_bonus": 50})
    score = score_cards(rules, [parse_tiles("SA S2 S3"), ()], [(), parse_tiles("HA")], 0)
    assert (score.scores, score.winners) == ((70, -15), (0,))


def test_most_points_win_a_card_game_even_against_who_went_out() -> None:
    score = score_cards(ES, [parse_tiles("S2 S3 S4"), parse_tiles("HK DK CK")], [(), ()], 0)
    assert (score.scores, score.winners) == ((29, 30), (1,))


def test_only_contenders_win_however_many_points_the_others_have() -> None:
    laid = [parse_tiles("S2 S3 S4"), parse_tiles("HK DK CK"), parse_tiles("H2 H3 H4")]
    score = score_cards(ES, laid, [(), (), ()], None, (0,))
    assert (score.scores, score.winners) == ((9, 30, 9), (0,))
    blocked = score_blocked(PT, [parse_tiles(text) for text in ("R5", "R3", "B5")], (0,))
    assert (blocked.scores, blocked.winners) == ((0, 0, 0), (0,))


def test_the_dearest_tiles_are_jokers_first() -> None:
    assert [str(tile) for tile in dearest(PT, parse_tiles("R1 J K13 B12"), 3)] == ["J", "K13", "B12"]
    assert dearest(PT, (), 3) == ()
