"""The worked cases of tests/cases, each judged by the code that runs a game."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.cases import run_case

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent.parent / "cases" / "public.json").read_text("utf-8"))[
    "cases"
]


def test_there_are_cases_of_every_kind_for_every_rule_set() -> None:
    assert len({case["id"] for case in CASES}) == len(CASES) == 166
    assert {case["kind"] for case in CASES} == {"set", "turn", "event", "card_turn", "score", "series", "setup"}
    assert {case["rules"] for case in CASES} == {"pt", "fi", "no", "es"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['id']}-{case['rules']}-{case['kind']}")
def test_case(case: dict[str, Any]) -> None:
    result = run_case(case)
    assert result.passed, f"{case['title']}: expected {result.expected}, got {result.got}"


@pytest.mark.parametrize("kind", ["set", "turn", "event", "card_turn", "score", "series", "setup"])
def test_a_wrong_expectation_fails(kind: str) -> None:
    """The runner can say no: every case of a kind fails once its verdict is turned round."""
    for case in CASES:
        if case["kind"] == kind:
            assert not run_case({**case, "expect": turned_round(case["expect"])}).passed, case["id"]


def turned_round(expect: dict[str, Any]) -> dict[str, Any]:
    name, value = next(iter(expect.items()))
    if isinstance(value, bool):
        return {**expect, name: not value}
    if isinstance(value, int):
        return {**expect, name: value + 1}
    return {**expect, name: [9, 9, 9]}
