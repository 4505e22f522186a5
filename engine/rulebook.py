"""The rules of a table in plain words, made from its options: what is shown is what is checked.

Headings and paragraphs are put together here in a fixed order; the sentences themselves are in `phrases`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from engine.options import differences
from engine.phrases import ENGLISH
from engine.rulesets import FreedJokerPlace, JokerMove, RuleSet, SeriesTie, StartBy

Phrases = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and its paragraphs."""

    heading: str
    paragraphs: tuple[str, ...]


def rulebook(rules: RuleSet, phrases: Phrases | None = None) -> tuple[Section, ...]:
    """The rules in the order in which a new player needs them; `phrases` are the sentences of another language."""
    say = ENGLISH if phrases is None else phrases
    sections = _card_sections(rules) if rules.discards else _tile_sections(rules)
    sections = [*sections, ("head-series", _series(rules)), ("head-house", _house(rules, say))]
    return tuple(
        Section(say[heading], tuple(_say(say, *sentence) for sentence in sentences))
        for heading, sentences in sections
        if sentences
    )


def title(rules: RuleSet, phrases: Phrases | None = None) -> str:
    """What the rule set is called; house rules do not change it."""
    return (ENGLISH if phrases is None else phrases)[f"title-{rules.name}"]


def option_name(name: str, phrases: Phrases | None = None) -> str:
    """What an option that a house rule may change is called, by its name in `RuleSet`."""
    return (ENGLISH if phrases is None else phrases)[f"option-{name}"]


def option_value(value: object, phrases: Phrases | None = None) -> str:
    """The value of an option in words: a truth, a choice (or the name of one), or a number."""
    say = ENGLISH if phrases is None else phrases
    if isinstance(value, bool):
        return say["yes" if value else "no"]
    word = value.value if isinstance(value, Enum) else value
    return say[f"choice-{word}"] if isinstance(word, str) else str(word)


def as_text(sections: tuple[Section, ...]) -> str:
    """The rules as plain text, headings on lines of their own."""
    return "\n\n".join("\n".join((section.heading, *section.paragraphs)) for section in sections) + "\n"


_Sentence = tuple[str, dict[str, object]]
_Sections = list[tuple[str, list[_Sentence]]]


def _say(phrases: Phrases, name: str, values: dict[str, object]) -> str:
    """The sentence of that name; a value of 1 takes the sentence `name-one` where there is one."""
    if 1 in values.values() and f"{name}-one" in phrases:
        name = f"{name}-one"
    return phrases[name].format(**values)


def _line(name: str, /, **values: object) -> _Sentence:
    return name, values


def _tile_sections(rules: RuleSet) -> _Sections:
    return [
        ("head-aim", [_line("aim"), _line("aim-called" if rules.rummikub_call else "aim-automatic")]),
        ("head-start", _start(rules)),
        ("head-melds", _melds(rules)),
        ("head-turn", _tile_turn(rules)),
        ("head-opening", _opening(rules)),
        ("head-table", _table(rules)),
        ("head-jokers", _jokers(rules)),
        ("head-time", _time(rules)),
        ("head-end", _tile_end(rules)),
    ]


def _players(rules: RuleSet) -> _Sentence:
    if rules.min_seats == rules.max_seats:
        return _line("players-exactly", count=rules.max_seats)
    return _line("players", low=rules.min_seats, high=rules.max_seats)


def _start(rules: RuleSet) -> list[_Sentence]:
    lines = [
        _line("deck" if rules.jokers else "deck-plain", tiles=len(rules.faces) - rules.jokers, jokers=rules.jokers),
        _players(rules),
        _line("hand", count=rules.hand),
    ]
    if rules.start_by is StartBy.HIGHEST_TILE:
        lines.append(_line("start-highest"))
    else:
        lines.append(_line("start-lot"))
    return [*lines, _line("clockwise"), _line("start-later")]


def _melds(rules: RuleSet) -> list[_Sentence]:
    lines = [_line("group"), _line("run")]
    if rules.jokers:
        lines += [_line("joker-stands"), _line("joker-open-colour"), _line("joker-both-ways"), _line("joker-not-alone")]
    return lines


def _tile_turn(rules: RuleSet) -> list[_Sentence]:
    lines = [_line("turn"), _line("turn-end"), _line("turn-draw"), _line("turn-not-both")]
    if rules.illegal_draw:
        lines.append(_line("illegal-costs", count=rules.illegal_draw))
    else:
        lines.append(_line("illegal-refused"))
    return [*lines, _line("stock-empty")]


def _opening(rules: RuleSet) -> list[_Sentence]:
    if not rules.opening_min:
        return [_line("opening-none")]
    same = "opening-same-turn" if rules.open_and_rearrange_same_turn else "opening-later"
    return [_line("opening", points=rules.opening_min), _line("opening-own"), _line(same)]


def _table(rules: RuleSet) -> list[_Sentence]:
    lines = [_line("rearrange"), _line("never-back")]
    return lines if rules.idle_rearrange_allowed else [*lines, _line("no-idle")]


def _jokers(rules: RuleSet) -> list[_Sentence]:
    if not rules.jokers:
        return []
    if rules.joker_move is JokerMove.REPLACED:
        new = "freed-new" if rules.freed_joker_place is FreedJokerPlace.NEW_SET else "freed-anywhere"
        return [_line("joker-replaced"), _line("joker-replaced-where"), _line(new), _line("joker-never-kept")]
    if rules.joker_move is JokerMove.SAME_NUMBER:
        return [_line("joker-same-number"), _line("joker-exchange"), _line("joker-never-kept")]
    return [_line("joker-free"), _line("joker-never-kept")]


def _time(rules: RuleSet) -> list[_Sentence]:
    if not rules.turn_seconds:
        return [_line("no-limit")]
    lines = [_line("limit", seconds=rules.turn_seconds)]
    if rules.discards:
        return [*lines, _line("card-time-up")]
    if rules.timeout_play_draw:
        lines.append(_line("time-finished-costs", count=rules.timeout_play_draw))
    else:
        lines.append(_line("time-finished"))
    if rules.timeout_keeps_legal_part:
        lines.append(_line("time-keeps-part"))
    if rules.timeout_draw:
        lines.append(_line("time-unfinished", count=rules.timeout_draw))
    else:
        lines.append(_line("time-unfinished-free"))
    idle = rules.timeout_idle_draw
    return lines if idle == rules.timeout_draw else [*lines, _line("time-idle")]


def _tile_end(rules: RuleSet) -> list[_Sentence]:
    return [
        _line("score"),
        *([_line("joker-costs", points=rules.joker_penalty)] if rules.jokers else []),
        _line("blocked"),
        _line("blocked-tie"),
    ]


def _card_sections(rules: RuleSet) -> _Sections:
    start = [
        _line("card-deck", cards=len(rules.faces) - rules.jokers),
        *([_line("card-jokers", count=rules.jokers)] if rules.jokers else []),
        _players(rules),
        _line("card-hand", count=rules.hand) if rules.hand else _line("card-hand-by-players"),
        _line("card-start"),
        _line("clockwise"),
        _line("start-later"),
    ]
    turn = [
        _line("card-draw"),
        _line("card-meld-limit", count=rules.melds_per_turn) if rules.melds_per_turn else _line("card-meld"),
        _line("card-add"),
        _line("card-no-rearranging"),
        _line("card-discard"),
        _line("card-not-same"),
        _line("card-turnover-limit", count=rules.turnovers) if rules.turnovers else _line("card-turnover"),
    ]
    melds = [_line("card-group"), _line("card-run"), *([_line("card-joker-stands")] if rules.jokers else [])]
    end = [
        _line("card-out"),
        _line("card-score"),
        _card_values(rules),
        *([_line("joker-worth", points=rules.joker_penalty)] if rules.jokers else []),
        *([_line("card-bonus", points=rules.out_bonus)] if rules.out_bonus else []),
    ]
    return [
        ("head-aim", [_line("card-aim")]),
        ("head-start", start),
        ("head-melds", melds),
        ("head-turn", turn),
        ("head-time", _time(rules)),
        ("head-end", end),
    ]


def _card_values(rules: RuleSet) -> _Sentence:
    if rules.court_points:
        return _line("card-values", court=rules.court_points, ace=rules.ace_points)
    return _line("card-values-number", ace=rules.ace_points)


def _series(rules: RuleSet) -> list[_Sentence]:
    if rules.rounds == 1 and not rules.target:
        return []
    lines = []
    if rules.rounds:
        lines.append(_line("rounds", count=rules.rounds))
    if rules.target:
        lines.append(_line("target", points=rules.target))
    most_wins = rules.series_tie is SeriesTie.MOST_WINS
    return [*lines, _line("series-win"), _line("tie-most-wins" if most_wins else "tie-shared")]


def _house(rules: RuleSet, say: Phrases) -> list[_Sentence]:
    return [
        _line("house", name=option_name(name, say), value=option_value(value, say))
        for name, value in differences(rules).items()
    ]
