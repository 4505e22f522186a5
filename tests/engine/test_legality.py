"""What is wrong with a turn: the corners. The cases of tests/cases cover the plain rules."""

from __future__ import annotations

import pytest

from engine.faces import codes_of
from engine.judging import judge_sets, judge_text
from engine.legality import judge_turn, turn_of_faces
from engine.positions import layout, parse_board
from engine.rulesets import FI, NO, PT, RuleSet
from engine.tiles import parse_tiles


def codes(rules: RuleSet, before: str, rack: str, after: str, *, opened: bool = True, opening: str = "") -> list[str]:
    return [fault.code for fault in judge_text(rules, before, rack, after, opened=opened, opening=opening).faults]


# Tiles lost, borrowed, taken


def test_everything_wrong_is_listed_in_the_order_of_the_checks() -> None:
    found = codes(PT, "R4 R5 R6 | B1 B2 B3", "K1", "R4 R5 | B1 B2 B3 Y4")
    assert found == ["TILE-MISSING", "TILE-NOT-HELD", "INVALID-SET", "INVALID-SET", "NO-RACK-TILE"]


def test_a_tile_swapped_for_its_twin_from_the_rack_is_as_good_as_laid_on_its_own() -> None:
    judged = judge_sets(
        PT,
        parse_board("R4 R5 R6"),
        parse_tiles("R6 R7 K1"),
        parse_board("R4 R5 R6 R7"),
        opened=True,
        rack_after=parse_tiles("R6 K1"),
    )
    assert judged.legal


def test_a_table_tile_and_a_joker_on_the_rack_are_told_apart() -> None:
    judged = judge_sets(
        PT,
        parse_board("R4 J R6 R7"),
        parse_tiles("R5 K1"),
        parse_board("R5 R6 R7"),
        opened=True,
        rack_after=parse_tiles("K1 J R4"),
    )
    assert [fault.code for fault in judged.faults] == ["JOKER-TO-RACK", "TILE-TO-RACK"]
    assert [fault.tiles for fault in judged.faults] == [("J",), ("R4",)]


def test_only_one_copy_held_but_two_laid_names_the_tile() -> None:
    (fault,) = judge_text(PT, "", "R5 B5 Y5 R6 R7", "R5 B5 Y5 | R5 R6 R7").faults
    assert (fault.code, fault.tiles) == ("TILE-NOT-HELD", ("R5",))


def test_a_tile_that_the_deck_has_only_twice_cannot_be_laid_three_times() -> None:
    assert "TILE-NOT-HELD" in codes(PT, "R5 B5 K5 | R5 R6 R7", "R5 Y5 B6", "R5 B5 K5 | R5 R6 R7 | R5 Y5 B5")


# Sets


@pytest.mark.parametrize(
    ("rules", "before", "rack", "after", "expected"),
    [
        (NO, "R4 R5 R6 R7 R8", "K8 Y8", "R4 R5 R6 | R8 K8 Y8 | R7", ["INVALID-SET", "REMNANT"]),
        (NO, "R4 R5 R6 | K1 K2 K3", "R7", "R4 R5 | R6 R7 | K1 K2 K3", ["INVALID-SET", "REMNANT", "INVALID-SET"]),
        (PT, "R4 R5 R6 R7 R8", "K8 Y8", "R4 R5 R6 | R8 K8 Y8 | R7", ["INVALID-SET"]),
    ],
)
def test_what_is_left_over_is_called_a_remnant_in_no(
    rules: RuleSet, before: str, rack: str, after: str, expected: list[str]
) -> None:
    assert codes(rules, before, rack, after) == expected


def test_the_fault_points_to_the_meld_and_its_tiles() -> None:
    (fault,) = judge_text(PT, "R4 R5 R6", "R8 B1 B2 B3", "B1 B2 B3 | R4 R5 R6 R8").faults
    assert (fault.melds, fault.tiles) == ((1,), ("R4", "R5", "R6", "R8"))


def test_an_empty_set_in_the_middle_of_faces_is_refused() -> None:
    turn = turn_of_faces(True, (), ((b"", None),), codes_of(parse_tiles("R1")))
    assert [fault.code for fault in judge_turn(PT, turn).faults] == ["INVALID-SET", "NO-RACK-TILE"]


# Opening


@pytest.mark.parametrize(
    ("rules", "before", "rack", "after", "opening", "points", "expected"),
    [
        # equal melds: one of the two is the player's own
        (PT, "R10 B10 K10", "R10 B10 K10", "R10 B10 K10 | R10 B10 K10", "", 30, []),
        # two melds want the same laid tile, the dearer counts: R12 is on the table as well
        (PT, "R10 R11 R12", "B12 K12 R12", "R10 R11 R12 | R12 B12 K12", "", 36, []),
        # own tiles joined with the table in the end, but laid by themselves first
        (PT, "R8 R9 R10", "R11 R12 R13", "R8 R9 R10 R11 R12 R13", "R11 R12 R13", 36, []),
        (PT, "R8 R9 R10", "R11 R12 R13", "R8 R9 R10 R11 R12 R13", "", 0, ["OPEN-MIN", "OPEN-FIRST"]),
        (PT, "R8 R9 R10", "R11 R12 R13", "R8 R9 R10 R11 R12 R13", "R10 R11 R12", 0,
         ["OPEN-RACK-ONLY", "OPEN-MIN", "OPEN-FIRST"]),
        (PT, "R8 R9 R10", "R11 R12 R13", "R8 R9 R10 R11 R12 R13", "R11 R12", 0,
         ["INVALID-SET", "OPEN-MIN", "OPEN-FIRST"]),
        (PT, "", "R9 R10 R11 B1 B2 B3", "R9 R10 R11 | B1 B2 B3", "B1 B2 B3", 6, ["OPEN-MIN"]),
        (FI, "R8 R9 R10", "B11 B12 B13 R11", "R8 R9 R10 R11 | B11 B12 B13", "", 36, []),
        # `no`: the whole table stays as it was
        (NO, "R8 R9 R10", "B11 B12 B13 R11 K1 K2 K3", "R8 R9 R10 R11 | B11 B12 B13 | K1 K2 K3", "", 42,
         ["OPEN-SAME-TURN"]),
        (NO, "R8 R9 R10", "B11 B12 B13 K1 K2 K3", "R8 R9 R10 | B11 B12 B13 | K1 K2 K3", "", 42, []),
        (NO, "R8 R9 R10", "B11 B12 B13 R11", "R8 R9 R10 R11 | B11 B12 B13", "", 36, ["OPEN-MIN", "OPEN-FIRST"]),
        (NO, "R7 B7 K7", "B11 B12 B13 R7 B7 K7", "R7 B7 K7 | B7 R7 K7 | B11 B12 B13", "", 57, []),
        # a joker on the table is out of reach, one of the own rack is not
        (PT, "R3 R4 J R6", "R5 K11 K12", "R3 R4 R5 R6 | K11 K12 J", "", 0, ["OPEN-MIN", "OPEN-FIRST"]),
        (PT, "R3 R4 J R6", "J K11 K12", "R3 R4 J R6 | K11 K12 J", "", 36, []),
        # after the opening the table's joker may be freed in the same turn
        (PT, "R3 R4 J R6", "R5 K11 K12 Y10 B10 K10", "R3 R4 R5 R6 | K11 K12 J | Y10 B10 K10", "", 30, []),
        (NO, "", "R13 B13 K13 Y1", "R13 B13 K13", "", 39, ["OPEN-MIN"]),
    ],
)  # fmt: skip
def test_opening(
    rules: RuleSet, before: str, rack: str, after: str, opening: str, points: int, expected: list[str]
) -> None:
    judged = judge_text(rules, before, rack, after, opened=False, opening=opening)
    assert [fault.code for fault in judged.faults] == expected
    assert judged.opening_points == points


def test_who_has_opened_needs_no_points() -> None:
    judged = judge_text(PT, "", "R1 R2 R3 K1", "R1 R2 R3")
    assert (judged.legal, judged.opening_points) == (True, 0)


def test_an_unfinished_opening_tells_points_and_sets_at_once() -> None:
    assert codes(PT, "", "R4 R5 R6 K1 K2", "R4 R5 R6 | K1 K2", opened=False) == ["INVALID-SET", "OPEN-MIN"]


def test_the_choice_among_many_melds_that_share_tiles_is_the_dearest() -> None:
    """52 tiles lie in runs, and their twins, all from the rack, in groups: one or the other may be the opening."""
    runs = " | ".join(" ".join(f"{colour}{number}" for number in range(1, 14)) for colour in "RBKY")
    groups = " | ".join(" ".join(f"{colour}{number}" for colour in "RBKY") for number in range(1, 14))
    rack = runs.replace("|", " ")
    judged = judge_text(PT, runs, rack, f"{runs} | {groups}", opened=False)
    assert (judged.legal, judged.opening_points, judged.wins) == (True, 4 * 91, True)


# Idle rearranging


@pytest.mark.parametrize(
    ("before", "rack", "after", "legal"),
    [
        ("R1 R2 R3 R4 R5 R6", "K1 K2 K3", "R1 R2 R3 | R4 R5 R6 | K1 K2 K3", False),
        # the split shares a red 3 with what was laid
        ("R1 R2 R3 R4 R5 R6", "R3 B3 K3", "R1 R2 R3 | R4 R5 R6 | R3 B3 K3", True),
        # a chain of changes with a laid tile at its end
        ("R4 B4 K4 Y4 | R5 R6 R7 | B5 B6 B7", "B8 Y1", "R4 R5 R6 R7 | B4 K4 Y4 | B5 B6 B7 B8", False),
        ("R4 B4 K4 Y4 | R5 R6 R7", "R8 Y1", "B4 K4 Y4 | R4 R5 R6 R7 R8", True),
        # the order within a group is no change
        ("R4 B4 K4 | R5 R6 R7", "R8 Y1", "K4 R4 B4 | R5 R6 R7 R8", True),
        # an equal meld laid elsewhere is no excuse for the split
        ("R1 R2 R3 R4 R5 R6 | K1 K2 K3", "K1 K2 K3", "R1 R2 R3 | R4 R5 R6 | K1 K2 K3 | K1 K2 K3", False),
    ],
)
def test_idle_rearranging_in_pt_only(before: str, rack: str, after: str, legal: bool) -> None:
    assert codes(PT, before, rack, after) == ([] if legal else ["IDLE-REARRANGE"])
    assert codes(FI, before, rack, after) == []
    assert codes(NO, before, rack, after) == []


def test_idle_rearranging_points_to_the_melds_without_a_laid_tile() -> None:
    (fault,) = judge_text(PT, "R1 R2 R3 R4 R5 R6", "K1 K2 K3", "K1 K2 K3 | R1 R2 R3 | R4 R5 R6").faults
    assert fault.melds == (1, 2)


# Totality


@pytest.mark.parametrize("rules", [PT, FI, NO])
def test_a_start_table_that_is_itself_illegal_is_judged_without_an_accident(rules: RuleSet) -> None:
    turn = turn_of_faces(
        True,
        layout(parse_board("R1 R9 | J J J | J | R4 R5 R6")),
        layout(parse_board("R1 R2 R3 | J J K4 J | R9 R10 J | R4 R5 R6")),
        codes_of(parse_tiles("R2 R3 K4 R10 J")),
    )
    assert all(fault.sentence for fault in judge_turn(rules, turn).faults)


def test_text_that_cannot_be_read_is_named() -> None:
    with pytest.raises(ValueError, match="X9"):
        judge_text(PT, "", "X9", "")
    with pytest.raises(ValueError, match="pair: R5 J J"):
        judge_text(PT, "pair: R5 J J", "", "")
