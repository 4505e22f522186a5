from __future__ import annotations
from engine.solver.problem import Position
from engine.solver.solution import Solution, Stop
from engine.rulesets import RuleSet
def solve_replaced(rules: RuleSet, position: Position, stop: Stop | None) -> Solution:
    raise NotImplementedError
