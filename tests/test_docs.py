"""The documentation is complete where it lists things, and names nothing that is not there."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

import click
import pytest

from engine.options import CARDS_ONLY, TILES_ONLY
from engine.rulesets import RULE_SETS, RuleSet
from node.__main__ import main
from protocol.messages import BODIES

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
ARCHITECTURE = DOCS / "architecture.md"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
PACKAGES = ("engine", "protocol", "node", "display", "systemd", "tests")
EXAMPLES = {"home.toml", "FILE.toml", "timer.json", "party.json", "party-1.json", "wins.png"}  # files that are made
FILE_NAME = re.compile(r"[\w./-]*\w\.(?:py|js|css|html|md|json|toml|png|svg)\b")
LINK = re.compile(r"\]\(([^)\s]+)\)")
FOREIGN = re.compile(
    r"(?<![\w.~:/<+])/(?!tmp/|(?:opt|etc|var/lib|dev)\b)[a-z]+"  # a path of some machine
    r"|\bshared/"
    r"|\b(?:pypi|pythonhosted|piwheels|npmjs|crates|ghcr)\."
)
SECTIONS = {"rules.md": 6, "agreement.md": 4, "deal-entries.md": 9, "dealing.md": 7, "reliability.md": 8}
RULES_OF_AGREEMENT = 23
SECURITY = DOCS / "security.md"
TEST_NAME = re.compile(r"`(\w+\.py)::(\w+)`")
PITFALLS = 30
CITED = re.compile(r"docs/([\w-]+\.md),\s+(?:section|sections)\s+(\d[\d.]*(?:(?:,| to| and) \d[\d.]*)*)")

pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def section(page: Path, title: str) -> str:
    """The text under the heading `## title`, up to the next one of its level."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", page.read_text(encoding="utf-8"), re.M | re.S)
    assert found is not None, f"{page.name} has no section {title!r}"
    return found[1]


def rows(text: str) -> list[list[str]]:
    """The cells of all table rows, without heads and rules, and without the marks of code."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    below = [line for line, after in zip(lines, [*lines[1:], ""], strict=True) if not after.startswith("| --")]
    cells = [[cell.strip().strip("`") for cell in line.strip("|").split(" | ")] for line in below]
    return [row for row in cells if not row[0].startswith("--")]


def headings(page: Path) -> list[str]:
    return re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)


def anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def source_files() -> list[Path]:
    return [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*")) if path.is_file()]


def test_every_kind_of_message_is_in_the_table_and_no_other() -> None:
    named = [row[0] for row in rows(section(ARCHITECTURE, "Message kinds"))]
    assert sorted(named) == sorted(BODIES)


def options_of(command: click.Command) -> set[str]:
    found = set()
    for param in command.params:
        if isinstance(param, click.Option):
            found.add(max(param.opts, key=len))
        else:
            found.add(param.human_readable_name.strip("[]"))
    return found


def commands_in(group: click.Command, before: str = "") -> Iterator[tuple[str, click.Command]]:
    """All commands by name, those of a group with its name in front."""
    for name, command in group.commands.items() if isinstance(group, click.Group) else ():
        yield before + name, command
        yield from commands_in(command, f"{before}{name} ")


def test_every_option_of_every_command_is_in_the_table_and_no_other() -> None:
    there = {("rummesh", option) for option in options_of(main)}
    for name, command in commands_in(main):
        there |= {(name, option) for option in options_of(command)}
    told = [
        (command.strip(), row[1]) for row in rows(section(ARCHITECTURE, "Settings")) for command in row[0].split(",")
    ]
    assert sorted(told) == sorted(there)


def test_every_command_is_named_for_players() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name, _command in commands_in(main) if f"rummesh {name}" not in readme] == []


def shown(rules: RuleSet, name: str) -> str:
    """The cell of an option."""
    value = getattr(rules, name)
    if name in (TILES_ONLY if rules.deck == "cards" else CARDS_ONLY):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value.value if isinstance(value, Enum) else value)


def test_every_parameter_is_in_the_table_with_its_values() -> None:
    head = ("pt", "fi", "no", "es")
    told = {row[0]: tuple(row[1:5]) for row in rows(section(DOCS / "rules.md", "5. Parameters"))}
    names = [item.name for item in dataclasses.fields(RuleSet) if item.name != "name"]
    assert told == {name: tuple(shown(RULE_SETS[rules], name) for rules in head) for name in names}


@pages
def test_every_file_named_is_there(page: Path) -> None:
    text = re.sub(r"https?://\S+", "", page.read_text(encoding="utf-8"))
    names = {path.name for path in source_files()} | {path.name for path in ROOT.iterdir()}
    for name in FILE_NAME.findall(text):
        there = (ROOT / name).is_file() or (page.parent / name).is_file() or ("/" not in name and name in names)
        assert there or name in EXAMPLES, f"{page.name} names {name}"


@pages
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        name, _, place = target.partition("#")
        other = (page.parent / name) if name else page
        assert other.exists(), f"{page.name} links to {target}"
        assert not place or place in map(anchor, headings(other)), f"{page.name} links to {target}"


@pages
def test_no_place_outside_the_project_is_named(page: Path) -> None:
    assert FOREIGN.findall(page.read_text(encoding="utf-8").lower()) == []


@pytest.mark.parametrize("name", SECTIONS)
def test_the_numbers_that_code_cites_stay(name: str) -> None:
    numbers = [int(found[1]) for head in headings(DOCS / name) if (found := re.match(r"(\d+)\. ", head))]
    assert numbers == list(range(1, SECTIONS[name] + 1))


def test_every_section_cited_in_the_code_is_there() -> None:
    for path in source_files():
        if path.suffix not in (".py", ".js"):
            continue
        for name, numbers in CITED.findall(path.read_text(encoding="utf-8")):
            heads = headings(DOCS / name)
            for number in re.findall(r"\d+(?:\.\d+)*", numbers):
                there = any(re.match(rf"{re.escape(number)}\.? ", head) for head in heads)
                assert there, f"{path.relative_to(ROOT)} cites {name}, section {number}"


def test_every_rule_of_agreement_is_there_once_in_order() -> None:
    numbers = [int(row[0]) for row in rows(section(DOCS / "agreement.md", "1. Rules")) if row[0].isdigit()]
    assert numbers == list(range(1, RULES_OF_AGREEMENT + 1))


def test_every_test_named_for_a_threat_is_there() -> None:
    there = {
        (path.name, name)
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^(?:async )?def (test_\w+)", path.read_text(encoding="utf-8"), re.M)
    }
    named = TEST_NAME.findall(SECURITY.read_text(encoding="utf-8"))
    assert [name for name in named if name not in there] == []


def test_every_pitfall_has_its_tests() -> None:
    told = rows(section(SECURITY, "7. Pitfalls"))
    expected = [row[:2] for row in rows(section(DOCS / "dealing.md", "6. Pitfalls"))]
    assert [row[:2] for row in told] == expected
    assert [row[0] for row in told] == [str(number) for number in range(1, PITFALLS + 1)]
    assert [row[0] for row in told if not TEST_NAME.findall("`" + row[3] + "`")] == []


def test_every_deviation_has_its_tests() -> None:
    told = {row[0]: "`" + row[1] + "`" for row in rows(section(SECURITY, "8. Deviations"))}
    assert list(told) == [row[0] for row in rows(section(DOCS / "deal-entries.md", "9. Tests that must exist"))]
    assert [name for name, tests in told.items() if not TEST_NAME.findall(tests)] == []
