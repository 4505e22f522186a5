"""Searching all choices for the jokers on the table: which of them are let go, and how."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import combinations

from engine.faces import JOKER_CODE
from engine.rulesets import RuleSet
from engine.solver.attempt import Attempt, Finish, attempt, laid_nothing, worth_finding
from engine.solver.bound import Meaning, TableJoker, table_jokers, ways_of
from engine.solver.patience import Patience
from engine.solver.planned import Candidate, Plan
from engine.solver.problem import Position, Terms
from engine.solver.search import search
from engine.solver.solution import Objective, Solution
from engine.solver.tables import JOINT_SCALE, Counting


class Choices(ABC):
    """The choices are searched by the number of jokers let go, each with the best so far as a bound, until nothing
    better is left: what could be done if all jokers that may go were free.

    Letting a joker go must lay more; it is not done to leave more neighbours together.
    """

    def __init__(self, rules: RuleSet, position: Position, patience: Patience) -> None:
        self.rules = rules
        self.position = position
        self.patience = patience
        self.jokers = table_jokers(position.board)
        joints = position.counting is Counting.JOINTS
        self._tile = JOINT_SCALE if joints else 1  # the cost of a tile, which is more than all joints
        self._plain = position.with_objective(Objective.TILES) if joints else position
        self.best: Attempt | None = None

    @property
    def bound(self) -> int | None:
        """Only what costs less is wanted; None: whatever there is."""
        return worth_finding(self.position) if self.best is None else self.best.cost - self.best.cost % self._tile

    def reached(self, floor: int) -> bool:
        """Whether to look no further, if no move costs less than `floor`: time is up, or the best is as good."""
        return self.patience.ended or (self.bound is not None and self.bound <= floor - floor % self._tile)

    @abstractmethod
    def may_go(self, joker: TableJoker) -> bool:
        """Whether the tiles are there that letting this joker go asks for."""

    @abstractmethod
    def meanings(self, number: int, jokers: Sequence[TableJoker]) -> list[Meaning]:
        """What kept jokers of a number may stand for together."""

    @abstractmethod
    def search_with(self, free: Sequence[TableJoker]) -> None:
        """Look for something better than the best with exactly these jokers let go."""

    def solve(self) -> Solution:
        """The best move."""
        self.search_with(())
        loose = [joker for joker in self.jokers if self.may_go(joker)]
        floor = self._floor(loose) if self.bound and len(loose) > 1 else 0
        tried = set()
        for many in range(1, len(loose) + 1):
            for free in combinations(loose, many):
                alike = tuple((joker.meld, joker.options) for joker in free)
                if alike not in tried and not self.patience.ended and self.bound is not None and self.bound > floor:
                    tried.add(alike)
                    self.search_with(free)
        if self.best is None or not self.best.laid:
            return laid_nothing(self.position, proven=not self.patience.ended)
        return self.best.solution(proven=not self.patience.ended)

    def kept_without(self, free: Sequence[TableJoker]) -> dict[int, list[TableJoker]]:
        """The other jokers by number."""
        kept: dict[int, list[TableJoker]] = {}
        for joker in self.jokers:
            if joker not in free:
                kept.setdefault(joker.number, []).append(joker)
        return kept

    def _floor(self, loose: Sequence[TableJoker]) -> int:
        """What any move costs at least, joints aside."""
        bound = (self.bound or 0) // self._tile
        ways = {number: ways_of(self.meanings(number, kept)) for number, kept in self.kept_without(loose).items()}
        terms = Terms(self.position.held[JOKER_CODE] + len(loose), ways)
        found = search(self._plain.narrowed(terms).problem(terms), self.patience, bound)
        return self._tile * (found.cost if found.goal is not None else bound)

    def search_plan(
        self, terms: Terms, demands: Sequence[Sequence[Candidate]], free: int, finish: Finish
    ) -> Attempt | None:
        """A search in which melds are asked for; joints count nothing in it. Its answer, if the rules refuse it."""
        plan = Plan(self._plain, terms, demands, self.patience)
        if not plan.possible:
            return None
        bound = None if self.bound is None else self.bound // self._tile
        found = attempt(self._plain, terms, free, self.patience, bound, finish, plan.problem, dive=self.best is None)
        if found is not None:
            found.cost *= self._tile
        return self.judged(found)

    def judged(self, found: Attempt | None) -> Attempt | None:
        """Take what a search has found as the best, if it is legal; else it is given back."""
        if found is not None and not self.is_legal(found):
            return found
        self.best = found or self.best
        return None

    @abstractmethod
    def is_legal(self, found: Attempt) -> bool:
        """Whether the rules take the board."""
