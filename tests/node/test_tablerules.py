"""`node.tablerules`: the form of the house rules offers what the engine takes, and the text marks what differs."""

from __future__ import annotations

import dataclasses
from enum import Enum
from typing import Any

import pytest

from engine.options import FIXED, with_options
from engine.rulesets import ES, FI, NO, PT, RULE_SETS, RuleSet
from node.tablerules import HOUSE_RULE, LABELS, TITLES, BadTable, rule_set_forms, rules_text, table_rules


def forms() -> dict[str, dict[str, Any]]:
    return {form["name"]: form for form in rule_set_forms()}


def marked(rules: RuleSet) -> list[str]:
    return [text for section in rules_text(rules) for text in section["text"] if text.startswith(HOUSE_RULE)]


def test_every_rule_set_and_every_changeable_option_has_words() -> None:
    assert TITLES.keys() == RULE_SETS.keys()
    fields = {field.name for field in dataclasses.fields(RuleSet)}
    assert LABELS.keys() == fields - FIXED


@pytest.mark.parametrize("name", RULE_SETS)
def test_every_offered_value_is_taken_by_the_engine(name: str) -> None:
    base = RULE_SETS[name]
    for option in forms()[name]["options"]:
        values = [option["value"], *(choice["value"] for choice in option["choices"])]
        if option["kind"] == "int":
            assert option["min"] <= option["value"] <= option["max"]
        if option["kind"] == "bool":
            values = [False, True]
        for value in values:
            changed = getattr(with_options(base, {"rounds": 3, option["field"]: value}), option["field"])
            assert (changed.value if isinstance(changed, Enum) else changed) == value


def test_card_games_are_not_asked_about_what_only_tile_games_have() -> None:
    fields = {name: {option["field"] for option in form["options"]} for name, form in forms().items()}
    assert {"opening_min", "rummikub_call", "illegal_draw", "joker_move"} <= fields["pt"] & fields["fi"] & fields["no"]
    assert fields["es"].isdisjoint({"opening_min", "rummikub_call", "illegal_draw", "joker_move", "timeout_draw"})
    assert {"melds_per_turn", "ace_points", "out_bonus", "target", "rounds"} <= fields["es"]
    assert "ace_points" not in fields["pt"]


def test_table_rules_take_options_and_turn_limit() -> None:
    assert table_rules("no", None, {}) == NO
    assert table_rules("pt", 0, {"opening_min": 50}) == dataclasses.replace(PT, turn_seconds=0, opening_min=50)
    assert table_rules("es", None, {"target": 200}) == dataclasses.replace(ES, target=200, rounds=0)


def test_bad_options_are_named_one_by_one() -> None:
    with pytest.raises(BadTable) as bad:
        table_rules("pt", 5, {"opening_min": 999, "rounds": 3, "ace_points": 2, "nonsense": 1})
    assert bad.value.fields.keys() == {"opening_min", "nonsense", "turn_seconds"}
    assert bad.value.fields["opening_min"] == (
        "Points needed for the first melds cannot be 999: say a whole number from 0 to 200."
    )
    assert "ace_points" not in bad.value.fields
    assert "Points of an ace" in str(bad.value)


def test_options_that_only_do_not_fit_together_are_of_no_field() -> None:
    with pytest.raises(BadTable) as bad:
        table_rules("pt", None, {"rounds": 0})
    assert bad.value.fields == {}
    assert bad.value.code == "OPTION-CONFLICT"
    with pytest.raises(BadTable, match="no rule set called xx"):
        table_rules("xx", None, {})


@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=RULE_SETS)
def test_plain_rules_have_no_house_rules(rules: RuleSet) -> None:
    assert marked(rules) == []
    assert all(section["text"] for section in rules_text(rules))


def test_what_differs_is_marked_where_it_is_said_and_listed_at_the_end() -> None:
    rules = table_rules("fi", None, {"illegal_draw": 0, "joker_move": "free", "rounds": 2})
    assert marked(rules) == [
        f"{HOUSE_RULE}If the table is not right you cannot end your turn: you go on, or take everything back.",
        f"{HOUSE_RULE}A joker on the table may be taken and used as any other tile.",
        f"{HOUSE_RULE}You play 2 games and add up the points.",
        f"{HOUSE_RULE}A joker on the table may become another tile: at any time. "
        "Usually: when its tile takes its place.",
        f"{HOUSE_RULE}Penalty tiles for an illegal end of turn (0 = it is refused): 0. Usually: 3.",
        f"{HOUSE_RULE}Games in a series (0 = until the target is reached): 2. Usually: 1.",
    ]
    assert rules_text(rules)[-1]["heading"] == "House rules of this table"
    assert rules_text(FI)[-1]["heading"] == "The end"
