from __future__ import annotations

from collections import Counter

import pytest

from engine.errors import IllegalMove
from engine.rulesets import ES, FI, NO, PT, RuleSet
from engine.setup import draw_lots, lot_outcome, start_series
from engine.state import Phase, SeatState
from engine.tiles import parse_tiles
from tests.engine.games import new_dealing


@pytest.mark.parametrize(
    ("drawn", "outcome"),
    [
        ("B1 B13 B12", (1,)),
        ("B1 R13 Y13", (1, 2)),
        ("J R2 J", (0, 2)),
        ("J R13 R13", (0,)),  # who drew a joker draws again before numbers are compared
        ("R5 R5", (0, 1)),
    ],
)
def test_the_highest_number_begins_jokers_and_ties_draw_again(drawn: str, outcome: tuple[int, ...]) -> None:
    assert lot_outcome(parse_tiles(drawn)) == outcome


def test_tiles_leave_the_bag_and_jokers_are_drawn_again_at_once() -> None:
    """106 tiles, the jokers last: the first draw hits joker 105, the next 104, then R1, then R2."""
    numbers = [105, 104, 0, 1, 99]
    lot = draw_lots(PT, 2, lambda draw: numbers[draw])
    assert [tile for _seat, tile in lot.rounds[0]] == [105, 104, 0, 2]
    assert [seat for seat, _tile in lot.rounds[0]] == [0, 0, 0, 1]
    assert lot.starter == 1


def test_equal_highest_draw_again_from_what_is_left() -> None:
    numbers = [24, 24, 0, 0, 1]  # both red 13s and a red 1; then the other red 1 and a red 2
    lot = draw_lots(PT, 3, lambda draw: numbers[draw])
    shown = [[(seat, str(PT.faces[tile])) for seat, tile in draws] for draws in lot.rounds]
    assert shown == [[(0, "R13"), (1, "R13"), (2, "R1")], [(0, "R1"), (1, "R2")]]
    assert lot.starter == 1


def test_an_empty_bag_is_filled_again() -> None:
    """Numbers that make two seats draw twins every time use up the bag."""
    lot = draw_lots(PT, 2, lambda draw: 0 if draw < 104 else [0, 7][draw % 2])
    assert len(lot.rounds) > 51
    assert lot.starter in (0, 1)


@pytest.mark.parametrize("rules", [PT, FI, NO, ES])
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_every_seat_begins_about_as_often(rules: RuleSet, seats: int) -> None:
    rng = new_dealing(rules, 1).rng
    starters = Counter(draw_lots(rules, seats, lambda _draw: rng.getrandbits(512)).starter for _game in range(600))
    assert set(starters) == set(range(seats))
    assert min(starters.values()) > 600 / seats * 0.75


def test_in_es_the_lot_names_the_dealer_and_the_next_one_begins() -> None:
    assert draw_lots(ES, 3, lambda _draw: 5).starter == 0  # dealer 2
    assert draw_lots(NO, 3, lambda _draw: 5).starter == 2


def test_a_series_starts_with_empty_racks_and_no_starter() -> None:
    state = start_series(FI, 4)
    assert state.seats == (SeatState(),) * 4
    assert (state.phase, state.starter, state.game, state.stock.left) == (Phase.START, None, 0, 0)
    with pytest.raises(IllegalMove, match="for 2 to 4 players, not for 5"):
        start_series(FI, 5)
