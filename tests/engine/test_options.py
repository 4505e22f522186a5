from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.options import (
    FIXED,
    RANGES,
    BadOption,
    differences,
    from_plain,
    option_faults,
    to_plain,
    with_options,
)
from engine.rulesets import ES, FI, NO, PT, RULE_SETS, FreedJokerPlace, JokerMove, RuleSet

bases = st.sampled_from(list(RULE_SETS.values()))


def bad(base: RuleSet, changes: dict[str, object]) -> list[str]:
    with pytest.raises(BadOption) as caught:
        with_options(base, changes)
    assert all(fault.sentence.endswith(".") for fault in caught.value.faults)
    return [fault.code for fault in caught.value.faults]


def test_the_four_rule_sets_are_as_the_table_of_parameters_says() -> None:
    """docs/rules.md, section 5."""
    anywhere = FreedJokerPlace.ANYWHERE
    table: dict[str, tuple[Any, Any, Any, Any]] = {
        "opening_min": (30, 30, 40, 0),
        "turn_seconds": (60, 120, 120, 0),
        "timeout_draw": (3, 1, 1, 1),
        "illegal_draw": (0, 3, 0, 0),
        "open_and_rearrange_same_turn": (True, True, False, True),
        "idle_rearrange_allowed": (False, True, True, True),
        "joker_move": (JokerMove.REPLACED, JokerMove.REPLACED, JokerMove.SAME_NUMBER, JokerMove.REPLACED),
        "freed_joker_place": (anywhere, FreedJokerPlace.NEW_SET, anywhere, anywhere),
        "joker_penalty": (30, 30, 25, 20),
        "jokers": (2, 2, 4, 0),
        "melds_per_turn": (0, 0, 0, 1),
        "ace_points": (1, 1, 1, 1),
        "out_bonus": (0, 0, 0, 20),
        "rummikub_call": (True, False, False, False),
    }
    for name, values in table.items():
        assert tuple(getattr(rules, name) for rules in (PT, FI, NO, ES)) == values, name
    assert all(option_faults(rules) == () for rules in RULE_SETS.values())


def test_options_are_read_as_people_write_them() -> None:
    rules = with_options(
        PT, {"rummikub_call": "automatic", "idle_rearrange_allowed": "yes", "joker_move": "same-number"}
    )
    assert (rules.rummikub_call, rules.idle_rearrange_allowed) == (False, True)
    assert rules.joker_move is JokerMove.SAME_NUMBER
    assert with_options(PT, {"rummikub_call": "required"}) == PT
    assert differences(rules) == {"idle_rearrange_allowed": True, "joker_move": "same-number", "rummikub_call": False}


@pytest.mark.parametrize(
    ("base", "changes", "codes"),
    [
        (PT, {"opening": 30}, ["OPTION-UNKNOWN"]),
        (PT, {"opening_min": 1000}, ["OPTION-RANGE"]),
        (PT, {"opening_min": -1}, ["OPTION-RANGE"]),
        (PT, {"opening_min": True}, ["OPTION-RANGE"]),
        (PT, {"opening_min": "30"}, ["OPTION-RANGE"]),
        (PT, {"opening_min": 30.0}, ["OPTION-RANGE"]),
        (PT, {"rummikub_call": 1}, ["OPTION-RANGE"]),
        (PT, {"joker_move": "sideways"}, ["OPTION-RANGE"]),
        (PT, {"name": "fi"}, ["OPTION-CONFLICT"]),
        (PT, {"melds_per_turn": 1}, ["OPTION-CONFLICT"]),
        (ES, {"opening_min": 30}, ["OPTION-CONFLICT"]),
        (PT, {"min_seats": 4, "max_seats": 3}, ["OPTION-CONFLICT"]),
        (PT, {"max_seats": 6, "hand": 18}, ["OPTION-CONFLICT"]),
        (PT, {"rounds": 0}, ["OPTION-CONFLICT"]),
        (PT, {"turn_seconds": 5}, ["OPTION-CONFLICT"]),
        (PT, {"hand": 0}, ["OPTION-CONFLICT"]),
        (PT, {"timeout_idle_draw": 2}, ["OPTION-CONFLICT"]),
        (PT, {"nonsense": 1, "jokers": 9, "opening_min": 40}, ["OPTION-UNKNOWN", "OPTION-RANGE"]),
    ],
)
def test_bad_options_are_all_named(base: RuleSet, changes: dict[str, object], codes: list[str]) -> None:
    assert bad(base, changes) == codes


def test_the_sentence_says_what_is_expected() -> None:
    with pytest.raises(BadOption, match=r"opening_min cannot be 1000: say a whole number from 0 to 200\."):
        with_options(PT, {"opening_min": 1000})
    with pytest.raises(BadOption, match=r"say replaced or same-number or free\."):
        with_options(PT, {"joker_move": "sideways"})


def test_choices_may_be_written_with_blanks_and_an_explanation() -> None:
    rules = with_options(PT, {"joker_move": "same number, or announced exchange", "freed_joker_place": "new set"})
    assert (rules.joker_move, rules.freed_joker_place) == (JokerMove.SAME_NUMBER, FreedJokerPlace.NEW_SET)


def test_a_target_alone_means_as_many_games_as_it_takes() -> None:
    assert with_options(PT, {"target": 100}).rounds == 0
    assert with_options(PT, {"target": 100, "rounds": 3}).rounds == 3


def test_every_number_has_a_range() -> None:
    numbers = {item.name for item in dataclasses.fields(RuleSet) if item.type == "int"}
    assert numbers - FIXED == set(RANGES)


@st.composite
def house_rules(draw: st.DrawFn) -> RuleSet:
    """A rule set with some options changed at random, all of which fit together."""
    base = draw(bases)
    changes: dict[str, object] = {}
    for item in draw(st.lists(st.sampled_from(dataclasses.fields(RuleSet)), max_size=6)):
        usual = getattr(base, item.name)
        if isinstance(usual, bool):
            changes[item.name] = draw(st.booleans())
        elif isinstance(usual, int):
            low, high = RANGES[item.name]
            changes[item.name] = draw(st.integers(low, high))
    try:
        return with_options(base, changes)
    except BadOption:
        return base


@given(house_rules())
def test_plain_data_round_trips(rules: RuleSet) -> None:
    plain = to_plain(rules)
    assert from_plain(plain) == rules
    assert [pair[0] for pair in plain] == [item.name for item in dataclasses.fields(RuleSet)]
    assert all(type(value) in (str, int, bool) for _name, value in plain)
    assert with_options(RULE_SETS[rules.name], {**differences(rules), "rounds": rules.rounds}) == rules


def changed(plain: list[list[Any]], name: str, value: object) -> list[list[Any]]:
    return [[key, value if key == name else old] for key, old in plain]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("name", "xx"),
        ("name", 5),
        ("deck", "cards"),
        ("discards", True),
        ("discards", 0),
        ("jokers", True),
        ("jokers", "2"),
        ("jokers", 99),
        ("rummikub_call", 1),
        ("rummikub_call", "yes"),
        ("joker_move", "sideways"),
        ("joker_move", 3),
        ("hand", 60),
    ],
)
def test_plain_data_that_is_no_rule_set_is_refused(name: str, value: object) -> None:
    with pytest.raises(BadOption):
        from_plain(changed(to_plain(PT), name, value))


def test_plain_data_with_a_field_too_many_too_few_or_out_of_order_is_refused() -> None:
    plain: list[list[Any]] = to_plain(PT)
    for wrong in (plain[:-1], [*plain, ["more", 1]], [plain[1], plain[0], *plain[2:]], [["name"], *plain[1:]], []):
        with pytest.raises(BadOption):
            from_plain(wrong)
