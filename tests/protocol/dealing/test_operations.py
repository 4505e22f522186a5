"""Each long step of the deal makes no more operations of the group than docs/performance.md says."""

from __future__ import annotations

import pytest

from tests.bench.deal import FORMULAS, Step, rack_steps, shuffles, tag_steps

STEPS = {**shuffles(5, 1), **rack_steps(3, 1), **tag_steps(4, 1)}


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_a_step_makes_the_operations_of_its_formula(step: Step) -> None:
    assert step.cost.ops == step.expected


def test_every_formula_is_measured() -> None:
    assert set(STEPS) == set(FORMULAS)
