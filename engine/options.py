"""House rules: changing the options of a rule set, checking that they fit together, and their plain-data form.

Plain data is a list of [name, value] pairs, all fields in the order of `RuleSet`, with text, whole numbers and truth
values only: what a settings file and a signed genesis hold.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cache
from typing import Any, Final

from engine.errors import Fault
from engine.rulesets import RULE_SETS, RuleSet

Plain = str | int | bool

RANGES: Final[dict[str, tuple[int, int]]] = {
    "jokers": (0, 4),
    "hand": (0, 30),
    "min_seats": (2, 6),
    "max_seats": (2, 6),
    "opening_min": (0, 200),
    "turn_seconds": (0, 3600),
    "timeout_draw": (0, 10),
    "timeout_play_draw": (0, 10),
    "timeout_idle_draw": (0, 10),
    "illegal_draw": (0, 10),
    "joker_penalty": (0, 100),
    "rounds": (0, 100),
    "target": (0, 10_000),
    "melds_per_turn": (0, 20),
    "turnovers": (0, 20),
    "ace_points": (1, 20),
    "court_points": (0, 20),
    "out_bonus": (0, 1000),
}
SHORTEST_TURN_S: Final = 10
TILES_ONLY: Final = frozenset(
    {
        "opening_min",
        "open_and_rearrange_same_turn",
        "idle_rearrange_allowed",
        "joker_move",
        "freed_joker_place",
        "timeout_play_draw",
        "timeout_idle_draw",
        "timeout_keeps_legal_part",
        "illegal_draw",
        "rummikub_call",
    }
)
CARDS_ONLY: Final = frozenset({"melds_per_turn", "turnovers", "ace_points", "court_points", "out_bonus"})
FIXED: Final = frozenset({"name", "deck", "discards"})  # make the game what it is
_TRUTHS: Final[dict[str, bool]] = {
    "yes": True,
    "no": False,
    "true": True,
    "false": False,
    "required": True,
    "automatic": False,
}


class BadOption(ValueError):  # noqa: N818 - named for what it carries, like `IllegalMove`
    """Options that no game can have. Carries everything that is wrong with them."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        assert faults, "bad options have at least one fault"
        super().__init__("; ".join(f"{fault.code}: {fault.sentence}" for fault in faults))
        self.faults = faults


def with_options(base: RuleSet, changes: Mapping[str, object]) -> RuleSet:
    """`base` with house rules. Raises `BadOption` for unknown or unfit names and values, all of them named.

    Truth values may be written yes and no (for `rummikub_call` also required and automatic), choices by their names.
    A `target` without `rounds` means as many games as it takes.
    """
    faults = []
    values: dict[str, Any] = {}
    for name, value in changes.items():
        try:
            values[name] = _read_option(base, name, value)
        except _Unfit as unfit:
            faults.append(unfit.fault)
    if faults:
        raise BadOption(tuple(faults))
    if values.get("target") and "rounds" not in values:
        values["rounds"] = 0
    changed = dataclasses.replace(base, **values)
    contradictions = option_faults(changed)
    if contradictions:
        raise BadOption(contradictions)
    return changed


def differences(rules: RuleSet) -> dict[str, Plain]:
    """The house rules: options that differ from the rule set of that name, in the order of `RuleSet`."""
    base = RULE_SETS[rules.name]
    usual = dict(_pairs(base))
    return {name: value for name, value in _pairs(rules) if value != usual[name]}


def to_plain(rules: RuleSet) -> list[list[Plain]]:
    """All options as [name, value] pairs, in the order of `RuleSet`."""
    return [[name, value] for name, value in _pairs(rules)]


def from_plain(plain: Sequence[Sequence[object]]) -> RuleSet:
    """The rule set that `to_plain` made. Raises `BadOption` for anything else, and for options no game can have."""
    names = tuple(_types())
    if [pair[0] if len(pair) == 2 else None for pair in plain] != list(names):
        raise BadOption((Fault("OPTION-LIST", "The list of options is not that of this version of the game."),))
    values = dict(zip(names, (pair[1] for pair in plain), strict=True))
    base = RULE_SETS.get(values["name"]) if isinstance(values["name"], str) else None
    if base is None:
        raise BadOption((Fault("OPTION-LIST", "There is no rule set of that name."),))
    usual = dict(_pairs(base))
    unlike = [name for name in FIXED if values[name] != usual[name] or type(values[name]) is not type(usual[name])]
    loose = [name for name, value in values.items() if not _is_plain(name, value)]
    if unlike or loose:
        shown = ", ".join(sorted({*unlike, *loose}))
        raise BadOption((Fault("OPTION-RANGE", f"These options have values that they cannot have: {shown}."),))
    return with_options(base, {name: value for name, value in values.items() if value != usual[name]} | _rounds(values))


def _rounds(values: Mapping[str, object]) -> dict[str, object]:
    return {"rounds": values["rounds"]}  # said even if usual, so that a target does not change it


def option_faults(rules: RuleSet) -> tuple[Fault, ...]:
    """What does not fit together in a rule set, nothing if a game can be played by it."""
    faults = []

    def conflict(sentence: str) -> None:
        faults.append(Fault("OPTION-CONFLICT", sentence))

    if rules.min_seats > rules.max_seats:
        conflict(f"At least {rules.min_seats} and at most {rules.max_seats} players is not possible.")
    dealt = rules.hand_size(rules.max_seats) * rules.max_seats
    if dealt >= len(rules.faces) - 1:
        conflict(f"{rules.max_seats} players cannot be dealt {dealt} tiles, there are only {len(rules.faces)}.")
    if not rules.rounds and not rules.target:
        conflict("A series needs a number of games or a number of points that ends it.")
    if 0 < rules.turn_seconds < SHORTEST_TURN_S:
        conflict(f"A turn must last at least {SHORTEST_TURN_S} seconds, or have no limit (0).")
    if rules.deck == "tiles" and not rules.hand:
        conflict("It must be said how many tiles each player is dealt.")
    if rules.timeout_idle_draw not in (1, rules.timeout_draw):
        conflict("Who moved nothing in time draws one tile, or as many as for an unfinished play.")
    return tuple(faults)


class _Unfit(Exception):  # noqa: N818 - carries one fault to `with_options`
    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.fault = Fault(code, sentence)


def _read_option(base: RuleSet, name: str, value: object) -> object:
    """The value of an option as `RuleSet` holds it. Raises `_Unfit`."""
    kind = _types().get(name)
    if kind is None:
        raise _Unfit("OPTION-UNKNOWN", f"There is no option called {name}.")
    wrong_deck = TILES_ONLY if base.deck == "cards" else CARDS_ONLY
    if name in FIXED or name in wrong_deck:
        raise _Unfit("OPTION-CONFLICT", f"The option {name} cannot be changed in the game {base.name}.")
    if isinstance(value, kind) and (kind is not int or not isinstance(value, bool)):
        read: object = value
    elif kind is bool and isinstance(value, str) and value.lower() in _TRUTHS:
        read = _TRUTHS[value.lower()]
    elif issubclass(kind, Enum):
        read = _read_choice(name, kind, value)
    else:
        raise _Unfit("OPTION-RANGE", f"The option {name} cannot be {value!r}: {_expected(name, kind)}.")
    low, high = RANGES.get(name, (0, 0))
    if kind is int and isinstance(read, int) and not low <= read <= high:
        raise _Unfit("OPTION-RANGE", f"The option {name} cannot be {value!r}: {_expected(name, kind)}.")
    return read


def _read_choice(name: str, kind: type[Enum], value: object) -> Enum:
    """The choice of that name; blanks stand for hyphens, and what follows a comma explains."""
    word = value.split(",")[0].strip().lower().replace(" ", "-") if isinstance(value, str) else value
    for choice in kind:
        if choice.value == word:
            return choice
    raise _Unfit("OPTION-RANGE", f"The option {name} cannot be {value!r}: {_expected(name, kind)}.")


def _expected(name: str, kind: type) -> str:
    if kind is bool:
        return "say yes or no"
    if issubclass(kind, Enum):
        return "say " + " or ".join(str(choice.value) for choice in kind)
    low, high = RANGES[name]
    return f"say a whole number from {low} to {high}"


@cache
def _types() -> dict[str, type]:
    """The type of each field of `RuleSet`, in order."""
    hints = typing.get_type_hints(RuleSet)
    return {item.name: hints[item.name] for item in dataclasses.fields(RuleSet)}


def _pairs(rules: RuleSet) -> list[tuple[str, Plain]]:
    values = ((name, getattr(rules, name)) for name in _types())
    return [(name, value.value if isinstance(value, Enum) else value) for name, value in values]


def _is_plain(name: str, value: object) -> bool:
    """Whether the value has exactly the plain type of the field: no 1 for a truth value, no word for a number."""
    kind = _types()[name]
    return type(value) is (str if issubclass(kind, Enum) else kind)
