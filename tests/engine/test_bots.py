from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from engine.actions import DeclareRummikub, Discard, Draw, Pass, Play, SeatAction, TakeDiscard
from engine.bots import candidate_melds, choose, find_melds
from engine.faces import codes_of, text_of
from engine.positions import Position, card_position, parse_board, tile_position
from engine.rulesets import ES, NO, PT, RuleSet
from engine.state import CardTurn, Seat
from engine.tiles import parse_tiles


def counts(text: str) -> Counter[int]:
    return Counter(codes_of(parse_tiles(text)))


def decide(
    rules: RuleSet, before: str, rack: str, *, opened: bool = True, pool: int = 9
) -> tuple[Position, SeatAction]:
    place = tile_position(rules, parse_board(before), parse_tiles(rack), opened=opened, pool=pool)
    return place, choose(Seat(0), place.state, place.rack)


def board(place: Position, action: SeatAction) -> list[str]:
    assert isinstance(action, (Play, DeclareRummikub))
    play = action.play if isinstance(action, DeclareRummikub) else action
    return [" ".join(texts) for texts in place.texts(play.board)]


@pytest.mark.parametrize(
    ("rack", "minimum", "expected"),
    [
        ("R1 R2 R3 K9", 0, {"R1 R2 R3"}),
        ("R1 R2 R3 K9", 30, set()),
        ("R10 B10 K10 R11 R12", 30, {"R10 R11 R12"}),
        ("R10 B10 K10 R11 B12", 30, {"R10 B10 K10"}),
        ("R3 R4 R5 R6 R7 B6 K6", 0, {"R3 R4 R5", "R6 B6 K6"}),
        ("R1 R2 R3 R1 R2 R3", 0, {"R1 R2 R3"}),
        ("R12 R13 J", 30, {"J R12 R13"}),
        ("R9 J J", 30, {"R9 J J"}),
        ("", 0, set()),
    ],
)
def test_the_melds_of_a_rack(rack: str, minimum: int, expected: set[str]) -> None:
    assert {text_of(meld.codes) for meld in find_melds(counts(rack), minimum)} == expected


def test_all_melds_of_a_full_deck_without_jokers_are_candidates() -> None:
    full = {code: 2 for code in codes_of(PT.faces) if code}
    assert len(list(candidate_melds(full))) == 65 + 4 * (11 + 10 + 9)


def test_it_opens_only_with_enough_points_and_lays_off_in_the_same_turn() -> None:
    place, action = decide(PT, "R4 R5 R6", "R10 B10 K10 R7 K1", opened=False)
    assert board(place, action) == ["R4 R5 R6 R7", "R10 B10 K10"]
    _place, action = decide(PT, "R4 R5 R6", "R1 B1 K1 R7 K9", opened=False)
    assert action == Draw(Seat(0))


def test_in_no_it_leaves_the_table_alone_when_it_opens() -> None:
    place, action = decide(NO, "R4 R5 R6", "R10 R11 R12 R13 R7 K1", opened=False)
    assert board(place, action) == ["R4 R5 R6", "R10 R11 R12 R13"]


def test_it_calls_rummikub_and_spends_a_joker_to_do_so() -> None:
    place, action = decide(PT, "R4 R5 R6", "R7 J")
    assert isinstance(action, DeclareRummikub)
    assert board(place, action) == ["R4 R5 R6 R7 J"]


def test_it_draws_or_passes_if_it_can_lay_nothing() -> None:
    assert decide(PT, "R4 R5 R6", "R9 K1")[1] == Draw(Seat(0))
    assert decide(PT, "R4 R5 R6", "R9 K1", pool=0)[1] == Pass(Seat(0))


def card_choice(hand: str, table: str, stock: str, discard: str) -> tuple[Position, SeatAction]:
    place = card_position(ES, parse_board(table), parse_tiles(hand), parse_tiles(stock), parse_tiles(discard))
    return place, choose(Seat(0), place.state, place.rack)


def test_with_cards_it_takes_the_discard_only_if_it_can_lay_it() -> None:
    assert card_choice("S4 S5 HK H2", "", "D9", "S6")[1] == TakeDiscard(Seat(0))
    assert card_choice("S4 H9 HK H2", "", "D9", "S6")[1] == Draw(Seat(0))
    assert card_choice("H9 HK H2", "S3 S4 S5", "D9", "S6")[1] == TakeDiscard(Seat(0))


def test_with_cards_it_throws_the_dearest_card_that_goes_with_nothing() -> None:
    place, action = card_choice("S4 S5 HK H2", "", "D9", "C6")
    assert action == Draw(Seat(0))
    action = choose(Seat(0), replace(place.state, card_turn=CardTurn(drawn=True)), place.rack)
    assert isinstance(action, Discard)
    assert str(place.state.faces[action.tile]) == "HK"
