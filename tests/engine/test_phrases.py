from __future__ import annotations

import dataclasses
import random
import re
import string
from collections.abc import Iterator
from enum import Enum
from typing import Any, Final

import pytest

from engine.options import FIXED, RANGES, BadOption, with_options
from engine.phrases import ENGLISH, LANGUAGES
from engine.rulebook import as_text, option_name, option_value, rulebook, title
from engine.rulesets import ES, FI, NO, PT, RULE_SETS, RuleSet

HOUSE_RULE_SETS: Final = 50
OPTIONS: Final = [item.name for item in dataclasses.fields(RuleSet) if item.name not in FIXED]

every_language = pytest.mark.parametrize("lang", LANGUAGES)
every_translation = pytest.mark.parametrize("lang", [lang for lang in LANGUAGES if lang != "en"])
every_rule_set = pytest.mark.parametrize("base", RULE_SETS.values(), ids=lambda rules: rules.name)


def text_in(lang: str, rules: RuleSet) -> str:
    return as_text(rulebook(rules, LANGUAGES[lang]))


def placeholders(sentence: str) -> list[str]:
    return sorted(name for _text, name, _form, _conversion in string.Formatter().parse(sentence) if name is not None)


def numbers_in(text: str) -> set[int]:
    return {int(number) for number in re.findall(r"\d+", text)}


def house_rules(seed: int) -> RuleSet:
    """A rule set with a few options changed to values drawn by `seed`; what does not fit is left as it was."""
    draw = random.Random(seed)
    rules = draw.choice(list(RULE_SETS.values()))
    for name in draw.sample(OPTIONS, 12):
        usual = getattr(rules, name)
        value: Any
        if isinstance(usual, bool):
            value = draw.random() < 0.5
        elif isinstance(usual, Enum):
            value = draw.choice(list(type(usual)))
        else:
            low, high = RANGES[name]
            value = draw.choice([low, 1, draw.randint(low, high), draw.randint(low, high)])
        try:
            rules = with_options(rules, {"rounds": rules.rounds} | {name: value})
        except BadOption:
            continue
    return rules


def told(rules: RuleSet) -> Iterator[int]:
    """Numbers that the rules of a game have to tell; 1 may be a word."""
    yield from (rules.min_seats, rules.max_seats, len(rules.faces) - rules.jokers, rules.turn_seconds)
    if rules.discards:
        yield from (rules.ace_points, rules.court_points, rules.out_bonus)
    else:
        yield from (rules.hand, rules.opening_min, rules.jokers, rules.illegal_draw, rules.joker_penalty)
        yield from (rules.timeout_draw, rules.timeout_play_draw)


def test_languages_are_sorted_by_code() -> None:
    assert list(LANGUAGES) == sorted(LANGUAGES) == ["en", "es", "fi", "nb", "pt"]
    assert LANGUAGES["en"] is ENGLISH


@every_translation
def test_a_language_has_the_names_of_english_in_their_order(lang: str) -> None:
    assert list(LANGUAGES[lang]) == list(ENGLISH)


@every_translation
def test_a_language_fills_in_what_english_does(lang: str) -> None:
    for name, sentence in LANGUAGES[lang].items():
        assert placeholders(sentence) == placeholders(ENGLISH[name]), name


@every_translation
def test_sentences_are_translated_and_as_whole_as_in_english(lang: str) -> None:
    alike = {"house", "yes", "no", "choice-free"}
    for name, sentence in LANGUAGES[lang].items():
        assert sentence == " ".join(sentence.split()), name
        assert sentence.endswith(".") == ENGLISH[name].endswith("."), name
        assert name in alike or sentence != ENGLISH[name], name


@every_translation
def test_numbers_within_sentences_are_those_of_english(lang: str) -> None:
    for name, sentence in LANGUAGES[lang].items():
        assert numbers_in(sentence) == numbers_in(ENGLISH[name]), name


@every_language
def test_a_sentence_for_one_differs_from_that_for_many(lang: str) -> None:
    phrases = LANGUAGES[lang]
    for name in phrases:
        if name.endswith("-one"):
            assert phrases[name] != phrases[name.removesuffix("-one")], name


@every_language
def test_every_rule_set_option_and_choice_has_a_name(lang: str) -> None:
    phrases = LANGUAGES[lang]
    titles = [title(rules, phrases) for rules in RULE_SETS.values()]
    assert all(titles)
    assert len(set(titles)) == len(titles)
    names = [option_name(name, phrases) for name in OPTIONS]
    assert len(set(names)) == len(names)
    usual = [getattr(PT, name) for name in OPTIONS]
    for value in usual:
        for choice in type(value) if isinstance(value, Enum) else (value,):
            assert option_value(choice, phrases)


@every_language
@every_rule_set
def test_a_rule_set_is_told_without_a_leftover(lang: str, base: RuleSet) -> None:
    text = text_in(lang, base)
    assert not set("{}") & set(text)
    for line in text.splitlines():
        assert not line or line.endswith(".") or line in LANGUAGES[lang].values()


@every_language
def test_house_rules_are_told_without_a_leftover(lang: str) -> None:
    for seed in range(HOUSE_RULE_SETS):
        rules = house_rules(seed)
        sections = rulebook(rules, LANGUAGES[lang])
        text = as_text(sections)
        assert not set("{}") & set(text), f"seed {seed}"
        assert "_" not in text, f"seed {seed}"
        assert len(sections) == len(rulebook(rules)), f"seed {seed}"


@every_language
def test_house_rules_differ_enough_to_mean_something(lang: str) -> None:
    heading = LANGUAGES[lang]["head-house"]
    lists = {rulebook(house_rules(seed), LANGUAGES[lang])[-1] for seed in range(HOUSE_RULE_SETS)}
    assert len([section for section in lists if section.heading == heading]) > HOUSE_RULE_SETS // 2


@every_language
@every_rule_set
def test_the_numbers_of_a_rule_set_are_in_its_text(lang: str, base: RuleSet) -> None:
    found = numbers_in(text_in(lang, base))
    assert {number for number in told(base) if number > 1} <= found


@every_language
@pytest.mark.parametrize(
    ("base", "changes"),
    [
        (PT, {"opening_min": 57, "turn_seconds": 97, "timeout_draw": 7, "joker_penalty": 77, "rounds": 17}),
        (FI, {"opening_min": 57, "illegal_draw": 8, "timeout_play_draw": 9, "target": 777}),
        (NO, {"jokers": 3, "hand": 12, "turn_seconds": 97, "joker_penalty": 77}),
        (ES, {"turn_seconds": 97, "jokers": 3, "joker_penalty": 77, "melds_per_turn": 5, "turnovers": 8}),
        (ES, {"hand": 8, "out_bonus": 27, "ace_points": 15, "court_points": 19}),
    ],
    ids=["pt", "fi", "no", "es", "es-points"],
)
def test_the_numbers_of_house_rules_are_in_the_rules_and_in_their_list(
    lang: str, base: RuleSet, changes: dict[str, int]
) -> None:
    *rules, house = rulebook(with_options(base, changes), LANGUAGES[lang])
    assert house.heading == LANGUAGES[lang]["head-house"]
    assert set(changes.values()) <= numbers_in(as_text(tuple(rules)))
    assert set(changes.values()) <= numbers_in(" ".join(house.paragraphs))


def test_house_rules_are_in_the_language_down_to_their_values() -> None:
    rules = with_options(PT, {"joker_move": "free", "rummikub_call": False})
    assert rulebook(rules, LANGUAGES["nb"])[-1].paragraphs == (
        "Når en joker på bordet kan bli en annen brikke: når som helst",
        "Seieren må meldes: nei",
    )
