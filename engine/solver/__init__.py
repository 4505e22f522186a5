"""The exact best move: most tiles, most points, or least disruption, under the joker rule of each tile game."""

from engine.solver.best import solve as solve
from engine.solver.opening import solve_opening as solve_opening
from engine.solver.play import play_of as play_of
from engine.solver.solution import Objective as Objective
from engine.solver.solution import Solution as Solution
from engine.solver.solution import Stop as Stop
from engine.solver.steps import Step as Step
from engine.solver.steps import sentence as sentence
from engine.solver.steps import steps_of as steps_of
