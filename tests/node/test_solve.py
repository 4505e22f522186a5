"""`rummesh solve`: what it says of positions, and of files that hold none."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from engine.judging import judge_text
from engine.rulesets import NO, PT
from engine.tiles import parse_tile
from node.__main__ import main
from tests.engine.solver.puzzles_on_file import FOLDER, puzzles_on_file

POSITIONS = FOLDER / "positions.json"


def rummesh_solve(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["solve", *map(str, arguments)])


def solved(*arguments: object) -> list[dict[str, Any]]:
    result = rummesh_solve(*arguments, "--json")
    assert result.exit_code == 0, result.output
    found: list[dict[str, Any]] = json.loads(result.output)
    return found


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def to_file(*positions: Any) -> Path:
        file = tmp_path / "positions.json"
        file.write_text(json.dumps(list(positions)), encoding="utf-8")
        return file

    return to_file


def position(table: list[str], rack: str, name: str = "a") -> dict[str, Any]:
    return {"id": name, "table": [meld.split() for meld in table], "rack": rack.split()}


def boards(texts: list[list[str]]) -> str:
    return " | ".join(" ".join(meld) for meld in texts)


@pytest.mark.parametrize(
    ("options", "field", "optimum"),
    [
        (("--jokers", "free"), "tiles", "max_tiles"),
        ((), "tiles", "max_tiles_locked"),
        (("--jokers", "free", "--objective", "value"), "value", "max_value_joker0"),
        (("--jokers", "free", "--objective", "tiles-then-value"), "value", "value_at_max_tiles_joker0"),
        (("--opening", "1", "--objective", "value"), "value", "initial_meld_max_value"),
        (("--opening", "30"), "tiles", "initial_meld_max_tiles"),
    ],
)
def test_the_known_optima_of_the_file_come_out(options: tuple[str, ...], field: str, optimum: str) -> None:
    found = solved(POSITIONS, *options)
    assert {each["id"]: each[field] for each in found} == {
        puzzle.name: puzzle.optimal[optimum] for puzzle in puzzles_on_file()
    }


def test_every_board_holds_the_table_and_what_was_laid_with_runs_ascending() -> None:
    given = {each["id"]: each for each in json.loads(POSITIONS.read_text(encoding="utf-8"))}
    for found in solved(POSITIONS):
        before = given[found["id"]]
        lying = Counter(tile for meld in before["table"] for tile in meld)
        assert Counter(tile for meld in found["board"] for tile in meld) == lying + Counter(found["laid"])
        assert not Counter(found["laid"]) - Counter(before["rack"])
        assert found["value"] == sum(parse_tile(tile).number for tile in found["laid"])
        assert found["tiles"] == len(found["laid"])
        assert found["proven"]
        assert found["ms"] > 0
        if found["laid"]:
            verdict = judge_text(PT, boards(before["table"]), " ".join(before["rack"]), boards(found["board"]))
            assert verdict.faults == ()


def test_an_opening_leaves_the_table_as_it_is(write: Any) -> None:
    file = write(position(["R4 R5 R6"], "R7 K10 B10 Y10"))
    (found,) = solved(file, "--opening", 30)
    assert [sorted(meld) for meld in found["board"]] == [["R4", "R5", "R6"], ["B10", "K10", "Y10"]]
    assert (found["tiles"], found["value"]) == (3, 30)
    (none,) = solved(file, "--opening", 31)
    assert (none["tiles"], none["value"], none["board"]) == (0, 0, [["R4", "R5", "R6"]])


def test_jokers_obey_the_rules_named(write: Any) -> None:
    file = write(position(["R3 R4 J"], "R5 B8 K8"))
    assert [each["tiles"] for each in solved(file)] == [3]
    file = write(position(["R3 R4 J"], "B8 K8 R2"))
    assert [each["tiles"] for each in solved(file)] == [1]
    assert [each["tiles"] for each in solved(file, "--jokers", "free")] == [3]
    file = write(position(["R3 R4 J R6"], "R5 B1 K1"))
    (found,) = solved(file, "--rules", "no")
    assert found["tiles"] == 3
    assert found["exchanges"] == [{"set": 0, "pos": 2, "tile": "R5"}]
    exchange = [(0, 2, parse_tile("R5"))]
    assert judge_text(NO, "R3 R4 J R6", "R5 B1 K1", boards(found["board"]), exchanges=exchange).legal


def test_a_limit_is_kept_and_told(write: Any) -> None:
    found = solved(POSITIONS, "--limit", 0)
    most = [puzzle.optimal["max_tiles"] for puzzle in puzzles_on_file()]
    cut_short = [index for index, each in enumerate(found) if not each["proven"]]
    assert cut_short
    assert all(found[index]["tiles"] <= most[index] for index in cut_short)
    told = rummesh_solve(write(json.loads(POSITIONS.read_text(encoding="utf-8"))[cut_short[0]]), "--limit", 0)
    assert "not proven" in " ".join(told.output.split())


def test_people_get_a_table_and_the_steps_in_words(write: Any) -> None:
    file = write(position(["R3 R4 R5"], "R6 K9", "kitchen"), position(["R3 R4 R5"], "K9", "hall"))
    result = rummesh_solve(file, "--steps")
    assert result.exit_code == 0
    assert "kitchen" in result.output
    assert "R3 R4 R5 R6" in result.output
    assert "1 of 2" in result.output
    after = result.output.split("kitchen:")[1]
    assert "1. Add R6 from your rack" in after
    assert "There is nothing to lay." in after.split("hall:")[1]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "is not JSON"),
        ("[]", "holds no positions"),
        ("{}", "holds no positions"),
        ("[7]", "position number 1: expected an object"),
        ('[{"table": [], "rack": ["R1"]}]', '"id" is to be a text'),
        ('[{"id": "a", "rack": ["R1"]}]', 'position a: "table" is to be a list of sets'),
        ('[{"id": "a", "table": []}]', 'position a: "rack" is to be a list of tiles'),
        ('[{"id": "a", "table": [["R1", 2, "R3"]], "rack": []}]', '"table", set 1 is to be a list of tiles'),
        ('[{"id": "a", "table": [], "rack": ["R14"]}]', """position a: "rack": no such tile: 'R14'"""),
        ('[{"id": "a", "table": [["R1", "R2", "R4"]], "rack": []}]', '"table", set 1 is none; R1 R2 R4'),
        ('[{"id": "a", "table": [["R3", "R2", "R1"]], "rack": []}]', '"table", set 1 is none'),
        ('[{"id": "a", "table": [["R1", "R2", "R3"]], "rack": ["R1", "R1"]}]', "hold R1 3 times, the game has it 2"),
        ('[{"id": "a", "table": [], "rack": ["J", "J", "J"]}]', "--rules no has four"),
        ('[{"id": "a", "table": [], "rack": ["HQ"]}]', "the game has it 0 times"),
    ],
)
def test_a_file_that_holds_no_positions_is_a_clear_error(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "broken.json"
    file.write_text(text, encoding="utf-8")
    result = rummesh_solve(file)
    assert result.exit_code == 2
    assert told in " ".join(result.output.split())
    assert "broken.json" in result.output


def test_what_cannot_be_is_refused() -> None:
    assert rummesh_solve("nowhere.json").exit_code == 2
    result = rummesh_solve(POSITIONS, "--rules", "es")
    assert result.exit_code == 2
    assert "es has no table to rearrange" in result.output
