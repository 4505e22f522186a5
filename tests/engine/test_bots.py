from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import combinations

import pytest

from engine.actions import DeclareRummikub, Discard, Draw, Pass, Play, SeatAction, TakeDiscard
from engine.board import Layout
from engine.bots import choose, think_s
from engine.cardbots import best_lay, card_situation, simple_lay
from engine.faces import codes_of, text_of, tiles_of
from engine.melds import read
from engine.positions import Position, card_position, layout, parse_board, tile_position
from engine.rackmelds import candidate_melds, find_melds
from engine.rulesets import ES, FI, NO, PT, RULE_SETS, RuleSet
from engine.scoring import rack_points
from engine.situations import Situation
from engine.state import CardTurn, PublicState, Seat
from engine.strength import Strength
from engine.tilebots import decide as decide_on_faces
from engine.tiles import parse_tiles
from tests.engine.games import Dealing, steps


def counts(text: str) -> Counter[int]:
    return Counter(codes_of(parse_tiles(text)))


def decide(
    rules: RuleSet,
    before: str,
    rack: str,
    *,
    opened: bool = True,
    pool: int = 9,
    strength: Strength = Strength.BEGINNER,
) -> tuple[Position, SeatAction]:
    place = tile_position(rules, parse_board(before), parse_tiles(rack), opened=opened, pool=pool)
    return place, choose(Seat(0), place.state, place.rack, strength)


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


# Solid and strong


def test_solid_takes_the_table_apart_where_a_beginner_draws() -> None:
    table, rack = "R5 R6 R7 R8", "B8 K8 Y1"
    assert decide(PT, table, rack)[1] == Draw(Seat(0))
    place, action = decide(PT, table, rack, strength=Strength.SOLID)
    assert sorted(map(len, (meld.split() for meld in board(place, action)))) == [3, 3]


@pytest.mark.parametrize("rules", [PT, FI, NO])
def test_solid_opens_and_goes_on_at_the_table_only_where_that_is_allowed(rules: RuleSet) -> None:
    place, action = decide(rules, "R4 R5 R6", "R10 R11 R12 R13 R7 K1", opened=False, strength=Strength.SOLID)
    melds = board(place, action)
    assert "R10 R11 R12 R13" in melds
    assert ("R4 R5 R6 R7" in melds) == rules.open_and_rearrange_same_turn


def test_solid_announces_the_exchange_of_a_joker_where_it_must() -> None:
    place, action = decide(NO, "run: R4 J R6", "R5 B9 K9 Y2", strength=Strength.SOLID)
    assert isinstance(action, Play)
    assert [str(place.state.faces[exchange.tile]) for exchange in action.exchanges] == ["R5"]
    assert len(action.laid) == 3, "the joker makes a group of B9 K9"


@pytest.mark.parametrize(
    ("rack", "pool", "laid"),
    [
        ("R7 J K1 B9", 9, {"R7"}),  # the joker waits
        ("R7 J K1 B9", 0, {"R7", "J"}),  # the end is near, and it costs most
        ("R7 J", 9, {"R7", "J"}),  # it goes out
        ("J K1 B9", 9, set()),
    ],
)
def test_strong_keeps_the_joker_for_the_end(rack: str, pool: int, laid: set[str]) -> None:
    place, action = decide(PT, "R4 R5 R6", rack, pool=pool, strength=Strength.STRONG)
    play = action.play if isinstance(action, DeclareRummikub) else action
    tiles = play.laid if isinstance(play, Play) else ()
    assert {str(place.state.faces[tile]) for _slot, tile in tiles} == laid
    assert isinstance(action, DeclareRummikub) == (len(laid) == len(rack.split()))


def test_strong_spends_the_joker_if_it_cannot_open_without() -> None:
    place, action = decide(PT, "", "R12 R13 J K1", opened=False, strength=Strength.STRONG)
    assert board(place, action) == ["J R12 R13"]
    place, action = decide(PT, "", "R11 R12 R13 J K1 K5", opened=False, strength=Strength.STRONG)
    assert board(place, action) == ["R11 R12 R13"]


@pytest.mark.parametrize(
    ("strength", "others", "laid"),
    [
        (Strength.SOLID, (9, 1), "B1 K1"),
        (Strength.STRONG, (9, 4), "B1 K1"),
        (Strength.STRONG, (9, 3), "K4"),
    ],
)
def test_strong_lays_the_dearest_tiles_when_another_is_nearly_out(
    strength: Strength, others: tuple[int, ...], laid: str
) -> None:
    board = layout(parse_board("R1 R2 R3 R4 | B4 B5 B6 B7"))
    rack = codes_of(parse_tiles("B1 K1 K4 Y9"))
    here = Situation(PT, board, bytes(sorted(rack)), opened=True, others=others, pool=9)
    found = decide_on_faces(here, strength)
    assert found is not None
    assert text_of(found.laid) == laid


@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=RULE_SETS.keys())
def test_what_is_hidden_changes_no_choice(rules: RuleSet) -> None:
    played = 0
    for state, action, _after in steps(rules, 3, 6, asked_twice):
        played += isinstance(action, (Play, DeclareRummikub, Discard))
        if state.turn_number > 30:
            break
    assert played > 4


def asked_twice(dealing: Dealing, state: PublicState) -> SeatAction:
    """A bot's choice, after asking it again in a deal that looks the same from its seat."""
    other = permuted(dealing, state, state.turn)
    assert dealing.deck != other.deck
    strength = list(Strength)[state.turn_number % 3]
    first, again = (choose(state.turn, state, deal.rack(state, state.turn), strength, 7) for deal in (dealing, other))
    assert first == again
    return first


def permuted(dealing: Dealing, state: PublicState, seat: Seat) -> Dealing:
    """The same deal with all tiles that this seat cannot see in other places."""
    seen = set(state.known_tiles()) | set(dealing.rack(state, seat))
    places = [place for place in range(len(dealing.deck)) if (0, place) not in seen]
    deck = list(dealing.deck)
    shifted = places[1:] + places[:1]
    for place, other in zip(places, shifted, strict=True):
        deck[place] = dealing.deck[other]
    return Dealing(dealing.rules, random.Random(0), deck)


# Cards


def test_with_cards_solid_lays_the_dearest_meld_and_all_that_fits() -> None:
    place, _action = card_choice("S2 S3 S4 HK DK CK D7 D9", "D4 D5 D6", "C9", "C6")
    state = replace(place.state, card_turn=CardTurn(drawn=True))
    action = choose(Seat(0), state, place.rack, Strength.SOLID)
    assert board(place, action) == ["D4 D5 D6 D7", "HK DK CK"]


def test_with_cards_nobody_is_left_with_one_card_and_nothing_to_add_it_to() -> None:
    table = "S3 H3 D3 C3"
    place, _action = card_choice("S7 S8 S9 HK D2", "", "C9", "C6")
    state = replace(place.state, card_turn=CardTurn(drawn=True))
    assert isinstance(choose(Seat(0), state, place.rack, Strength.SOLID), Play), "a run can be added to"
    place, _action = card_choice("S7 H7 D7 C7 HK D2", table, "C9", "C6")
    state = replace(place.state, card_turn=CardTurn(drawn=True))
    for strength in Strength:
        assert isinstance(choose(Seat(0), state, place.rack, strength), (Play, Discard))
        laid = choose(Seat(0), state, place.rack, strength)
        assert not isinstance(laid, Play) or len(laid.laid) < 4, "two cards would be left, one to be thrown"


def test_the_best_lay_is_the_best_of_all_ways() -> None:
    rng = random.Random(11)
    melds = ["S3 S4 S5", "H6 D6 C6", "D9 D10 DJ", "HA H2 H3"]
    better = 0
    for _case in range(150):
        table = parse_board(" | ".join(rng.sample(melds, 2)))
        lying = {tile for tiles, _kind in table for tile in tiles}
        hand = rng.sample([tile for tile in ES.faces if tile not in lying and tile.number < 9], 9)
        rest = [tile for tile in ES.faces if tile not in lying and tile not in hand]
        place = card_position(ES, table, hand, rest[:4], rest[4:5])
        state = replace(place.state, card_turn=CardTurn(drawn=True))
        here = card_situation(state, Seat(0), place.rack)
        lay = best_lay(here)
        left = here.hand if lay is None else lay.left
        assert points(left) == min(points(other) for other in all_lefts(here.table, here.hand, 1))
        better += lay is not None and lay != simple_lay(here)
    assert better > 5


def points(codes: bytes) -> int:
    return rack_points(ES, tiles_of(codes))


def all_lefts(table: Layout, hand: bytes, melds: int) -> set[bytes]:
    """Every hand that can be left, step by step, whatever the order."""
    reached = {hand}
    for code in hand:
        for index, (codes, kind) in enumerate(table):
            for longer in (codes + bytes([code]), bytes([code]) + codes):
                if read(longer, kind) is not None:
                    after = (*table[:index], (longer, kind), *table[index + 1 :])
                    reached |= all_lefts(after, hand.replace(bytes([code]), b""), melds)
    for size in range(3, len(hand) + 1) if melds else ():
        for cards in combinations(hand, size):
            meld = read(bytes(cards))
            if meld is not None:
                rest = bytes(code for code in hand if code not in cards)
                reached |= all_lefts((*table, (meld.codes, meld.kind)), rest, melds - 1)
    return reached


# How long a person would think


def test_thinking_takes_longer_the_more_is_moved_and_never_most_of_the_turn() -> None:
    place, draw = decide(PT, "R4 R5 R6", "R9 K1")
    lay = decide(PT, "R4 R5 R6", "R7 K1")[1]
    many_place, many = decide(PT, "R5 R6 R7 R8 | B1 K1 Y1", "B8 K8 Y9 R2 B2 K2 Y2 R1", strength=Strength.SOLID)
    mean = {
        name: sum(think_s(state, action, seed) for seed in range(200)) / 200
        for name, state, action in (("lay", place.state, lay), ("many", many_place.state, many))
    }
    assert mean["many"] > mean["lay"] + 2
    for seed in range(50):
        assert think_s(place.state, draw, seed) == think_s(place.state, draw, seed)
        assert 0.5 < think_s(place.state, draw, seed) < 5
    assert len({think_s(place.state, draw, seed) for seed in range(50)}) > 40
    hasty = replace(many_place.state, rules=replace(PT, turn_seconds=10))
    assert max(think_s(hasty, many, seed) for seed in range(50)) <= 4
