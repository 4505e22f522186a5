"""Rule sets as a person names them: by name, or as a TOML file with a base and house rules."""

from __future__ import annotations

import tomllib
from pathlib import Path

from engine.options import BadOption, with_options
from engine.rulesets import RULE_SETS, RuleSet
from node.config import ConfigError


def named_rules(text: str) -> RuleSet:
    """The rule set `text` names: `pt`, or the path of a TOML file. Raises `ConfigError` with all that is wrong."""
    if text in RULE_SETS:
        return RULE_SETS[text]
    if not text.endswith(".toml"):
        raise ConfigError(f"There is no rule set {text!r}. There are: {', '.join(sorted(RULE_SETS))}, or FILE.toml.")
    try:
        plain = tomllib.loads(Path(text).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{text} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{text} is not TOML: {error}.") from error
    base = plain.pop("base", None)
    if not isinstance(base, str) or base not in RULE_SETS:
        raise ConfigError(f'{text} needs a line such as base = "pt", with one of: {", ".join(sorted(RULE_SETS))}.')
    try:
        return with_options(RULE_SETS[base], plain)
    except BadOption as bad:
        raise ConfigError(f"{text}: " + " ".join(fault.sentence for fault in bad.faults)) from bad


def with_turn_seconds(rules: RuleSet, turn_seconds: int | None) -> RuleSet:
    """The rules with another turn limit; None leaves it as it is, 0 means none. Raises `ConfigError`."""
    if turn_seconds is None:
        return rules
    try:
        return with_options(rules, {"turn_seconds": turn_seconds, "rounds": rules.rounds})
    except BadOption as bad:
        raise ConfigError(" ".join(fault.sentence for fault in bad.faults)) from bad
