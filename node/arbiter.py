"""The arbiter's commands: `check` worked cases, `judge` a turn at a real table, tell the `rules`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from engine.cases import CaseResult, run_case
from engine.judging import Judgement, judge_text
from engine.phrases import LANGUAGES
from engine.rulebook import as_text, rulebook, title
from engine.rulesets import RULE_SETS, RuleSet
from engine.tiles import Tile, parse_tile
from node.config import ConfigError
from node.houserules import named_rules

EXIT_USAGE: Final = 2
_FIELDS: Final = ("rules", "before", "rack", "after", "opened", "opening", "exchange")


class RulesType(click.ParamType[RuleSet]):
    """A rule set by name, or a TOML file with house rules."""

    name = "RULES"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> RuleSet:
        if isinstance(value, RuleSet):
            return value
        try:
            return named_rules(value)
        except ConfigError as error:
            self.fail(str(error), param, ctx)


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="All results as JSON on standard output.")
def check(file: Path, as_json: bool) -> None:
    """Run worked rule cases from FILE through the engine; exit 0 only if all pass."""
    results = [_run(case, place) for place, case in enumerate(_cases_in(file))]
    failed = [result for result in results if not result.passed]
    if as_json:
        plain = [
            {"id": result.id, "passed": result.passed, "expected": result.expected, "got": result.got}
            for result in results
        ]
        click.echo(json.dumps({"passed": len(results) - len(failed), "failed": len(failed), "cases": plain}, indent=2))
    else:
        for result in results:
            click.echo(f"{'pass' if result.passed else 'FAIL'}  {result.id}")
            if not result.passed:
                click.echo(f"      expected {json.dumps(result.expected, sort_keys=True)}")
                click.echo(f"      got      {json.dumps(result.got, sort_keys=True)}")
        click.echo(f"{len(results) - len(failed)} passed, {len(failed)} failed")
    sys.exit(1 if failed else 0)


def _cases_in(file: Path) -> Sequence[Mapping[str, Any]]:
    try:
        plain = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise click.UsageError(f"{file} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise click.UsageError(f"{file} is not JSON: {error}.") from error
    if not isinstance(plain, dict) or plain.get("format") != 1 or not isinstance(plain.get("cases"), list):
        raise click.UsageError(f'{file} is no file of cases: expected {{"format": 1, "cases": [...]}}.')
    if not plain["cases"]:
        raise click.UsageError(f"{file} holds no case.")
    cases: list[Mapping[str, Any]] = plain["cases"]
    return cases


def _run(case: Any, place: int) -> CaseResult:
    """The result of a case; one that is not well formed fails with the reason."""
    name = str(case.get("id", f"number {place}")) if isinstance(case, dict) else f"number {place}"
    expected = case.get("expect", {}) if isinstance(case, dict) else {}
    try:
        return run_case(case)
    except (KeyError, ValueError, TypeError, IndexError, AttributeError) as error:
        return CaseResult(name, False, expected, {"error": f"not well formed: {type(error).__name__}: {error}"})


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--rules", "rules", type=RulesType(), default=None, help="Rule set. Default: pt, or as FILE says.")
@click.option("--before", default=None, help='The board before the turn, melds between bars: "R4 R5 R6 | K1 B1 Y1".')
@click.option("--rack", default=None, help='The rack before the turn: "R7 K13 J".')
@click.option("--after", default=None, help="The board as the player leaves it.")
@click.option("--not-opened", is_flag=True, help="The player had not opened before this turn.")
@click.option("--opening", default=None, help="The melds laid first as the opening, if it is not plain from the board.")
@click.option(
    "--exchange",
    "exchanges",
    multiple=True,
    metavar="MELD:PLACE:TILE",
    help="An announced joker exchange (`no`): meld and place on the board before, counted from 1, and the tile.",
)
@click.option("--json", "as_json", is_flag=True, help="The verdict as JSON.")
def judge(
    file: Path | None,
    rules: RuleSet | None,
    before: str | None,
    rack: str | None,
    after: str | None,
    not_opened: bool,
    opening: str | None,
    exchanges: tuple[str, ...],
    as_json: bool,
) -> None:
    """Say whether a turn at a real table was legal, and if not, everything that is wrong with it.

    Tiles are colour and number: R red, B blue, K black, Y yellow, and J for a joker. FILE holds the same as the
    options, one a line: `rules: pt`, `before: ...`, `rack: ...`, `after: ...`, `opened: no`, `opening: ...`,
    `exchange: ...`. Exit 0 if legal, 1 if not.
    """
    said: dict[str, list[str]] = {} if file is None else _fields_in(file)
    if rack is None and "rack" not in said:
        raise click.UsageError(
            'Tell at least --rack and --after, for example --rack "R10 B10 K10" --after "R10 B10 K10".'
        )
    try:
        chosen = rules or named_rules(_one(said, "rules", "pt"))
        verdict = judge_text(
            chosen,
            before if before is not None else _one(said, "before", ""),
            rack if rack is not None else _one(said, "rack", ""),
            after if after is not None else _one(said, "after", ""),
            opened=not not_opened and _opened(_one(said, "opened", "yes")),
            opening=opening if opening is not None else _one(said, "opening", ""),
            exchanges=[_exchange(text) for text in (*exchanges, *said.get("exchange", []))],
        )
    except (ValueError, ConfigError) as error:
        raise click.UsageError(str(error)) from error
    _tell(verdict, as_json)
    sys.exit(0 if verdict.legal else 1)


def _tell(verdict: Judgement, as_json: bool) -> None:
    if as_json:
        faults = [{"code": fault.code, "sentence": fault.sentence, "tiles": fault.tiles} for fault in verdict.faults]
        plain = {"legal": verdict.legal, "faults": faults, "opening_points": verdict.opening_points}
        click.echo(json.dumps(plain | {"wins": verdict.wins}, indent=2))
        return
    click.echo("Legal." if verdict.legal else "Not legal:")
    for fault in verdict.faults:
        click.echo(f"- {fault.sentence} ({fault.code})")
    if verdict.opening_points:
        click.echo(f"The opening is worth {verdict.opening_points} points.")
    if verdict.wins:
        click.echo("The rack is empty: the player has won.")


def _fields_in(file: Path) -> dict[str, list[str]]:
    """The `name: value` lines of a file; blank lines and those with a leading # do not count."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{file} cannot be read: {error}.") from error
    found: dict[str, list[str]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, separator, value = line.partition(":")
        if not separator or name.strip() not in _FIELDS:
            raise click.UsageError(
                f"{file}, line {number}: expected one of {', '.join(_FIELDS)}, a colon, and a value."
            )
        found.setdefault(name.strip(), []).append(value.strip())
    return found


def _one(said: Mapping[str, list[str]], name: str, otherwise: str) -> str:
    values = said.get(name, [otherwise])
    if len(values) > 1:
        raise click.UsageError(f"{name} is said twice.")
    return values[0]


def _opened(text: str) -> bool:
    if text not in ("yes", "no"):
        raise click.UsageError("opened is yes or no.")
    return text == "yes"


def _exchange(text: str) -> tuple[int, int, Tile]:
    """Meld and place counted from 0, and the tile, of `MELD:PLACE:TILE` counted from 1."""
    parts = text.split(":")
    if len(parts) != 3 or not all(part.strip().isdigit() and int(part) > 0 for part in parts[:2]):
        raise click.UsageError(f"{text!r} is no exchange: write MELD:PLACE:TILE, counted from 1, for example 1:3:R7.")
    return int(parts[0]) - 1, int(parts[1]) - 1, parse_tile(parts[2])


@click.command()
@click.argument("rules", required=False, type=RulesType(), metavar="[RULES]")
@click.option("--lang", type=click.Choice(sorted(LANGUAGES)), default="en", show_default=True, help="Language.")
def rules(rules: RuleSet | None, lang: str) -> None:
    """The rules in plain words; without RULES, which rule sets there are. RULES may be a TOML file of house rules."""
    if rules is None:
        for name in RULE_SETS:
            click.echo(f"{name}  {title(RULE_SETS[name], LANGUAGES[lang])}")
        return
    click.echo(as_text(rulebook(rules, LANGUAGES[lang])), nl=False)
