"""The rules of a table for people: titles, the options a table may set as a form, and the text with what differs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import Enum
from functools import cache
from typing import Any, Final

from engine.errors import Fault
from engine.options import CARDS_ONLY, RANGES, TILES_ONLY, BadOption, differences, with_options
from engine.phrases import ENGLISH
from engine.rulebook import rulebook
from engine.rulesets import RULE_SETS, RuleSet

HOUSE_RULE: Final = "House rule: "

TITLES: Final[dict[str, str]] = {
    "pt": "Rummikub, Portuguese rules",
    "fi": "Rummikub, Finnish rules",
    "no": "Rummikub, Norwegian rules",
    "es": "Rummy with cards, Spanish rules",
}

# In the order of the form. The turn limit has a field of its own there; the last few only a settings file can change.
LABELS: Final[dict[str, str]] = {
    "rounds": "Games in a series (0 = until the target is reached)",
    "target": "Target: points that end a series (0 = none)",
    "opening_min": "Points needed for the first melds",
    "open_and_rearrange_same_turn": "The table may be used in the turn of the first melds",
    "idle_rearrange_allowed": "Melds may be changed that have nothing to do with the tiles laid",
    "jokers": "Jokers",
    "joker_move": "A joker on the table may become another tile",
    "freed_joker_place": "A freed joker must be used",
    "joker_penalty": "Points of a joker at the end",
    "rummikub_call": "The win must be called",
    "illegal_draw": "Penalty tiles for an illegal end of turn (0 = it is refused)",
    "timeout_draw": "Penalty tiles when time runs out on an unfinished play",
    "timeout_play_draw": "Penalty tiles when time runs out on a finished play",
    "timeout_idle_draw": "Tiles drawn when time runs out and nothing was moved",
    "timeout_keeps_legal_part": "When time runs out, melds that are right stay",
    "melds_per_turn": "New melds in a turn (0 = any number)",
    "turnovers": "How often the discard pile becomes the stock (0 = any number)",
    "ace_points": "Points of an ace",
    "court_points": "Points of jack, queen and king (0 = their number)",
    "out_bonus": "Bonus for going out",
    "series_tie": "Equal totals at the end of a series",
    "turn_seconds": "Seconds in a turn (0 = no limit)",
    "hand": "Tiles dealt to each player (0 = by their number)",
    "min_seats": "Players, at least",
    "max_seats": "Players, at most",
    "start_by": "Who begins",
}
_NOT_OFFERED: Final = frozenset({"turn_seconds", "hand", "min_seats", "max_seats", "start_by"})
_TILES_ONLY: Final = TILES_ONLY | {"timeout_draw"}  # in a card game it means nothing

_CHOICES: Final[dict[str, str]] = {
    "replaced": "when its tile takes its place",
    "same-number": "of the same number, or any after an announced exchange",
    "free": "at any time",
    "anywhere": "anywhere",
    "new-set": "in a new meld",
    "shared": "share the win",
    "most-wins": "most games won decide",
    "highest-tile": "the highest drawn tile",
    "lot": "by lot",
    "dealer-lot": "after a dealer drawn by lot",
}


class BadTable(ValueError):  # noqa: N818 - named for what it carries, like `BadOption`
    """Rules that no table can have. `fields`: the sentence for each option that is wrong by itself."""

    def __init__(self, faults: tuple[Fault, ...], fields: Mapping[str, str]) -> None:
        super().__init__(_sentences(faults))
        self.code = faults[0].code
        self.fields = dict(fields)


def table_rules(name: str, turn_seconds: int | None, options: Mapping[str, object]) -> RuleSet:
    """The rule set of that name with house rules. `turn_seconds` None: as it is. Raises `BadTable`."""
    base = RULE_SETS.get(name)
    if base is None:
        raise BadTable((Fault("OPTION-UNKNOWN", f"There is no rule set called {name}."),), {})
    changes = dict(options) if turn_seconds is None else {**options, "turn_seconds": turn_seconds}
    try:
        return with_options(base, changes)
    except BadOption as bad:
        raise BadTable(bad.faults, _by_field(base, changes)) from bad


def _by_field(base: RuleSet, changes: Mapping[str, object]) -> dict[str, str]:
    """What is wrong with each option alone; an option that only does not fit to others is not in here."""
    fields = {}
    for field, value in changes.items():
        try:
            with_options(base, {field: value})
        except BadOption as bad:
            if any(fault.code != "OPTION-CONFLICT" for fault in bad.faults) or field == "turn_seconds":
                fields[field] = _sentences(bad.faults)
    return fields


def _sentences(faults: Iterable[Fault]) -> str:
    """The engine's sentences, with options called as in the form."""
    text = " ".join(fault.sentence for fault in faults)
    for field, label in LABELS.items():
        text = text.replace(f"The option {field} ", f"{label.partition(' (')[0]} ")
    return text


def title(name: str) -> str:
    """The full title of a rule set; its name if this version does not know it."""
    return TITLES.get(name, name)


def rule_set_forms() -> list[dict[str, Any]]:
    """Every rule set with the options that a table may set, as plain data for the page."""
    return [
        {
            "name": rules.name,
            "title": title(rules.name),
            "turn_seconds": rules.turn_seconds,
            "opening_min": rules.opening_min,
            "max_seats": rules.max_seats,
            "options": [_option(rules, field) for field in LABELS if _is_offered(rules, field)],
        }
        for rules in RULE_SETS.values()
    ]


def rules_text(rules: RuleSet) -> list[dict[str, Any]]:
    """The rules as headings with paragraphs, as plain data. What the plain rule set does not say is marked."""
    return [{"heading": heading, "text": list(text)} for heading, text in _sections(rules)]


@cache
def _sections(rules: RuleSet) -> tuple[tuple[str, tuple[str, ...]], ...]:
    base = RULE_SETS[rules.name]
    series = replace(base, rounds=rules.rounds + 1)  # what holds for any series is no house rule, its length is
    plain = {text for usual in (base, series) for section in rulebook(usual) for text in section.paragraphs}
    house = ENGLISH["head-house"]
    sections = [
        (section.heading, tuple(text if text in plain else HOUSE_RULE + text for text in section.paragraphs))
        for section in rulebook(rules)
        if section.heading != house
    ]
    lines = tuple(_house_line(rules, field) for field in differences(rules))
    return (*sections, (house, lines)) if lines else tuple(sections)


def _house_line(rules: RuleSet, field: str) -> str:
    usual = getattr(RULE_SETS[rules.name], field)
    return f"{HOUSE_RULE}{LABELS[field]}: {_shown(getattr(rules, field))}. Usually: {_shown(usual)}."


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _CHOICES[value.value] if isinstance(value, Enum) else str(value)


def _is_offered(rules: RuleSet, field: str) -> bool:
    return field not in _NOT_OFFERED | (_TILES_ONLY if rules.deck == "cards" else CARDS_ONLY)


def _option(rules: RuleSet, field: str) -> dict[str, Any]:
    value = getattr(rules, field)
    low, high = RANGES.get(field, (None, None))
    kind = "bool" if isinstance(value, bool) else "choice" if isinstance(value, Enum) else "int"
    choices = [{"value": one.value, "label": _CHOICES[one.value]} for one in type(value)] if kind == "choice" else []
    return {
        "field": field,
        "label": LABELS[field],
        "kind": kind,
        "min": low,
        "max": high,
        "choices": choices,
        "value": value.value if isinstance(value, Enum) else value,
    }
