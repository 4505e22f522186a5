"""The command line as a person meets it: output, errors in one sentence, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from node.__main__ import main

CASES = Path(__file__).parent.parent / "cases" / "public.json"


def rummesh(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def test_all_worked_cases_pass() -> None:
    result = rummesh("check", str(CASES))
    assert result.exit_code == 0
    assert result.output.endswith("166 passed, 0 failed\n")


def test_a_wrong_case_fails_with_what_was_expected_and_got(tmp_path: Path) -> None:
    cases = json.loads(CASES.read_text(encoding="utf-8"))["cases"][:3]
    cases[1]["expect"]["points"] = 40
    file = tmp_path / "cases.json"
    file.write_text(json.dumps({"format": 1, "cases": cases}), encoding="utf-8")
    result = rummesh("check", str(file))
    assert result.exit_code == 1
    assert "FAIL  case-002" in result.output
    assert '"points": 40' in result.output
    assert '"points": 39' in result.output
    plain = json.loads(rummesh("check", str(file), "--json").output)
    assert (plain["passed"], plain["failed"]) == (2, 1)
    assert [case["passed"] for case in plain["cases"]] == [True, False, True]


def test_a_case_that_is_not_well_formed_fails_and_stops_nothing(tmp_path: Path) -> None:
    cases = [{"id": "x", "rules": "pt", "kind": "turn"}, 7, {"rules": "xx", "kind": "set", "expect": {}}]
    file = tmp_path / "cases.json"
    file.write_text(json.dumps({"format": 1, "cases": cases}), encoding="utf-8")
    result = rummesh("check", str(file))
    assert result.exit_code == 1
    assert result.output.endswith("0 passed, 3 failed\n")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 2, "cases": []}', '{"format": 1, "cases": []}'])
def test_a_file_that_holds_no_cases_is_a_clear_error(tmp_path: Path, text: str) -> None:
    file = tmp_path / "cases.json"
    file.write_text(text, encoding="utf-8")
    result = rummesh("check", str(file))
    assert result.exit_code == 2
    assert "cases.json" in result.output


def test_judge_says_legal_or_everything_that_is_wrong() -> None:
    board = ("--before", "R4 R5 R6", "--rack", "R7 K13 K1")
    legal = rummesh("judge", *board, "--after", "R4 R5 R6 R7")
    assert (legal.exit_code, legal.output) == (0, "Legal.\n")
    illegal = rummesh("judge", *board, "--after", "R4 R5 | K13 K1")
    assert illegal.exit_code == 1
    assert "R6" in illegal.output
    assert "K13 K1" in illegal.output
    assert illegal.output.count("\n- ") >= 2


def test_judge_reads_a_file(tmp_path: Path) -> None:
    file = tmp_path / "turn.txt"
    file.write_text("# an opening\nrules: no\nopened: no\nrack: R10 B10 K10 Y1\nafter: R10 B10 K10\n", encoding="utf-8")
    result = rummesh("judge", str(file))
    assert result.exit_code == 1, "`no` asks for 40"
    assert "OPEN-MIN" in result.output
    assert rummesh("judge", str(file), "--rules", "pt").exit_code == 0
    file.write_text("rack: R10\nwhat: this\n", encoding="utf-8")
    wrong = rummesh("judge", str(file))
    assert wrong.exit_code == 2
    assert "line 2" in wrong.output


@pytest.mark.parametrize(
    "arguments",
    [
        ("judge",),
        ("judge", "--rack", "R14", "--after", "R14"),
        ("judge", "--rack", "R1", "--after", "R1", "--exchange", "1:2"),
        ("judge", "--rules", "es", "--rack", "SA", "--after", ""),
        ("rules", "xx"),
        ("rules", "nowhere.toml"),
        ("simulate", "--rules", "pt", "--seats", "5"),
        ("simulate", "--turn-seconds", "-3"),
        ("play", "--peer", "nowhere"),
        ("bot", "--table", "x", "--rules", "xx"),
        ("nonsense",),
    ],
)
def test_what_makes_no_sense_is_one_clear_error_with_code_2(arguments: tuple[str, ...]) -> None:
    result = rummesh(*arguments)
    assert result.exit_code == 2
    assert "Error: " in result.output
    assert "Traceback" not in result.output


def test_house_rules_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "house.toml"
    file.write_text('base = "pt"\nopening_min = 50\njoker_penalty = 20\n', encoding="utf-8")
    result = rummesh("rules", str(file))
    assert result.exit_code == 0
    assert "50 points" in result.output
    file.write_text('base = "pt"\nopening_min = -1\nnonsense = 3\n', encoding="utf-8")
    wrong = rummesh("rules", str(file))
    assert wrong.exit_code == 2
    assert "nonsense" in wrong.output
    assert "opening_min" in wrong.output
    file.write_text("opening_min = 3\n", encoding="utf-8")
    assert rummesh("rules", str(file)).exit_code == 2


def test_rules_in_another_language() -> None:
    result = rummesh("rules", "pt", "--lang", "fi")
    assert result.exit_code == 0
    assert result.output.startswith("Tavoite\n")
    assert "vähintään 30 pisteen arvoiset" in result.output
    assert "60 sekuntia" in result.output
    assert "tile" not in result.output
    assert rummesh("rules", "pt", "--lang", "xx").exit_code == 2


def test_rules_without_a_name_tells_which_there_are() -> None:
    assert rummesh("rules").output.splitlines() == [
        "pt  Portuguese online Rummikub",
        "fi  Finnish pocket Rummikub",
        "no  Norwegian card Rummikub",
        "es  Spanish rummy with cards",
    ]
    assert "no  Norsk Rummikub med kort\n" in rummesh("rules", "--lang", "nb").output


def test_every_command_has_help() -> None:
    for command in main.commands:
        result = rummesh(command, "--help")
        assert result.exit_code == 0
        assert "Usage: " in result.output


def test_simulate_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    files = [tmp_path / "one.json", tmp_path / "two.json", tmp_path / "other.json"]
    for file, seed in zip(files, ("7", "7", "8"), strict=True):
        arguments = ("simulate", "--games", "2", "--seats", "2", "--rules", "es", "--seed", seed, "--json", str(file))
        assert rummesh(*arguments).exit_code == 0
    same, again, other = (file.read_bytes() for file in files)
    assert same == again
    tables = [json.loads(data)["games"] for data in (same, other)]
    assert all(len(bytes.fromhex(table["log_hash"])) == 32 for table in tables[0])
    assert not {table["log_hash"] for table in tables[0][:1]} & {table["log_hash"] for table in tables[1]}
