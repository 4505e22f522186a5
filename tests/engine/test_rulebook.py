from __future__ import annotations

import dataclasses
import string

import pytest

from engine.options import CARDS_ONLY, FIXED, RANGES, TILES_ONLY, BadOption, with_options
from engine.phrases import ENGLISH
from engine.rulebook import as_text, option_name, option_value, rulebook, title
from engine.rulesets import ES, NO, PT, RULE_SETS, JokerMove, RuleSet

HOUSE_HEADING = ENGLISH["head-house"]


def rules_text(rules: RuleSet) -> str:
    """The rules without the list of house rules."""
    return as_text(tuple(section for section in rulebook(rules) if section.heading != HOUSE_HEADING))


def variants(base: RuleSet) -> list[tuple[str, RuleSet]]:
    """The rule set with one option changed, for every option and several values."""
    found = []
    for item in dataclasses.fields(RuleSet):
        usual = getattr(base, item.name)
        values: list[object]
        if isinstance(usual, bool):
            values = [not usual]
        elif isinstance(usual, int):
            values = [value for value in {0, 1, 2, 3, 5, 40, RANGES.get(item.name, (0, 0))[1]} if value != usual]
        elif isinstance(usual, str):
            values = []
        else:
            values = [choice for choice in type(usual) if choice is not usual]
        for value in values:
            try:
                found.append((item.name, with_options(base, {item.name: value})))
            except BadOption:
                continue
    return found


@pytest.mark.parametrize("base", [PT, NO, ES], ids=lambda rules: rules.name)
def test_every_option_is_told(base: RuleSet) -> None:
    silent = FIXED | (TILES_ONLY if base.discards else CARDS_ONLY)
    if base.discards:
        silent |= {"timeout_draw", "start_by", "joker_penalty"}  # one card; lot or not, as in the source; no jokers
    told = {name for name, rules in variants(base) if rules_text(rules) != rules_text(base)}
    series_only = {"series_tie"}  # told as soon as there is a series
    missing = {item.name for item in dataclasses.fields(RuleSet)} - told - silent - series_only
    without_meaning = {"freed_joker_place", "timeout_idle_draw"} if base.joker_move is JokerMove.SAME_NUMBER else set()
    assert missing <= without_meaning
    shared = with_options(base, {"rounds": 3, "series_tie": "shared"})
    most_wins = with_options(base, {"rounds": 3, "series_tie": "most-wins"})
    assert rules_text(shared) != rules_text(most_wins)
    if not base.discards:
        one = with_options(base, {"timeout_draw": 3, "timeout_idle_draw": 1})
        three = with_options(base, {"timeout_draw": 3, "timeout_idle_draw": 3})
        assert rules_text(one) != rules_text(three)


def test_house_rules_are_listed_at_the_end() -> None:
    sections = rulebook(with_options(PT, {"opening_min": 50, "rummikub_call": False}))
    assert sections[-1].heading == HOUSE_HEADING
    assert sections[-1].paragraphs == ("Points needed for the first melds: 50", "The win must be called: no")
    assert rulebook(PT)[-1].heading != HOUSE_HEADING


def test_every_phrase_is_used_and_none_is_missing() -> None:
    class Listening(dict[str, str]):
        def __getitem__(self, name: str) -> str:
            used.add(name)
            return super().__getitem__(name)

    used: set[str] = set()
    for base in RULE_SETS.values():
        for rules in (base, *(rules for _name, rules in variants(base))):
            rulebook(rules, Listening(ENGLISH))
            title(rules, Listening(ENGLISH))
    both = {"joker_penalty": 20, "jokers": 2, "rounds": 3, "target": 50}
    rulebook(with_options(ES, both), Listening(ENGLISH))
    rulebook(with_options(ES, both | {"joker_penalty": 1}), Listening(ENGLISH))
    rulebook(with_options(NO, {"timeout_draw": 3, "timeout_idle_draw": 1, "timeout_play_draw": 2}), Listening(ENGLISH))
    rulebook(with_options(PT, {"rounds": 1, "target": 500}), Listening(ENGLISH))
    assert used == set(ENGLISH)


def test_another_language_needs_only_another_table() -> None:
    loud = {name: sentence if "{" in sentence else sentence.upper() for name, sentence in ENGLISH.items()}
    text = as_text(rulebook(PT, loud))
    assert "THE AIM" in text
    assert ENGLISH["run"] not in text


@pytest.mark.parametrize("base", RULE_SETS.values(), ids=lambda rules: rules.name)
def test_sentences_are_whole(base: RuleSet) -> None:
    for section in rulebook(base):
        assert section.paragraphs
        for paragraph in section.paragraphs:
            assert paragraph.endswith("."), paragraph
            assert "{" not in paragraph
            assert set(paragraph) <= set(string.printable)


@pytest.mark.parametrize("base", RULE_SETS.values(), ids=lambda rules: rules.name)
def test_a_game_of_cards_speaks_of_no_tiles_and_one_without_jokers_of_no_jokers(base: RuleSet) -> None:
    if base.discards:
        assert "tile" not in rules_text(with_options(base, {"jokers": 2}))
        assert "oker" not in rules_text(base)
    else:
        assert "A joker" not in rules_text(with_options(base, {"jokers": 0}))


def test_cards_that_are_worth_their_number_are_told_with_it() -> None:
    assert "A jack is worth 11, a queen 12, a king 13" in rules_text(with_options(ES, {"court_points": 0}))


def test_one_point_is_not_told_as_many() -> None:
    text = rules_text(with_options(PT, {"opening_min": 1, "joker_penalty": 1, "hand": 1, "target": 1}))
    assert " 1 points" not in text
    assert " 1 tiles" not in text


def test_as_many_players_at_least_as_at_most_is_one_number() -> None:
    assert "\n4 players.\n" in rules_text(with_options(PT, {"min_seats": 4}))


def test_titles_options_and_values_are_words() -> None:
    assert [title(rules) for rules in RULE_SETS.values()] == [
        "Portuguese online Rummikub",
        "Finnish pocket Rummikub",
        "Norwegian card Rummikub",
        "Spanish rummy with cards",
    ]
    assert option_name("jokers") == "Number of jokers"
    shown = [option_value(value) for value in (True, False, 0, 1, JokerMove.FREE, "free")]
    assert shown == ["yes", "no", "0", "1", "at any time", "at any time"]


def test_the_opening_of_pt_and_no_differs_as_the_rules_say() -> None:
    assert "worth at least 30 points" in rules_text(PT)
    assert ENGLISH["opening-same-turn"] in rules_text(PT)
    assert "worth at least 40 points" in rules_text(NO)
    assert ENGLISH["opening-later"] in rules_text(NO)
