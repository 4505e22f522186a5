"""Melds that are asked for: a search in which some melds are chosen from lists, and the rest is free.

For the few demands of the joker rules that depend on what lies together in one meld. Each demand has a list of
candidates; a trie over the numbers says how far a demand is. In a state of the search the progress of all demands is
one small number, 0 when all are met.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import product, takewhile

from engine.faces import COLOUR_INDEXES, COLOURS_OF_A_DECK, JOKER_CODE, NUMBERS
from engine.solver.patience import Patience
from engine.solver.problem import NONE, Position, Stages, Terms
from engine.solver.search import Problem, Stage
from engine.state import MeldKind


class Lies(IntEnum):
    """What lies at a place of a candidate."""

    TILE = 0
    FREE = 1  # a free joker
    BOUND = 2  # a joker bound to this face


Place = tuple[int, Lies]  # face (0 for a free joker in a group), what lies there


@dataclass(frozen=True, slots=True)
class Candidate:
    """A meld that may be asked for, its places from left to right."""

    kind: MeldKind
    places: tuple[Place, ...]

    @property
    def codes(self) -> bytes:
        return bytes(face if lies is Lies.TILE else JOKER_CODE for face, lies in self.places)

    def count(self, lies: Lies) -> int:
        return sum(what is lies for _face, what in self.places)


_Step = tuple[Place, ...]  # what a candidate takes at one number


@dataclass(slots=True)
class _TrieNode:
    following: dict[_Step, _TrieNode] = field(default_factory=dict)
    complete: tuple[bytes, MeldKind] | None = None


_Progress = _TrieNode | None  # None: the demand is met


class Plan:
    """The demands of one search under `terms`: for each of them one candidate has to lie on the board.

    When `patience` ends, candidates and ways are missing.
    """

    def __init__(
        self, position: Position, terms: Terms, demands: Sequence[Iterable[Candidate]], patience: Patience
    ) -> None:
        self._patience = patience
        self._position = position
        self._terms = terms
        self._starts: list[dict[int, _TrieNode]] = []
        self._pending: list[_TrieNode] = []
        for candidates in demands:
            starts: dict[int, _TrieNode] = {}
            for candidate in candidates:
                if patience.ends():
                    break
                number = next(NUMBERS[face] for face, _lies in candidate.places if face)
                node = starts.setdefault(number, _TrieNode())
                run = candidate.kind is MeldKind.RUN
                for step in [(place,) for place in candidate.places] if run else [candidate.places]:
                    node = node.following.setdefault(step, _TrieNode())
                node.complete = (candidate.codes, candidate.kind)
            self._starts.append(starts)
            self._pending.append(_TrieNode())
        done: tuple[_Progress, ...] = (None,) * len(self._starts)
        self._states: list[tuple[_Progress, ...]] = [done, tuple(self._pending)]
        self._numbers = {self._key(state): number for number, state in enumerate(self._states)}

    @staticmethod
    def _key(state: Iterable[_Progress]) -> tuple[int, ...]:
        return tuple(0 if progress is None else id(progress) for progress in state)

    @property
    def possible(self) -> bool:
        return all(self._starts)

    def problem(self, *, spend: bool) -> Problem:
        """The search."""
        problem = self._position.problem(self._terms, spend=spend)
        made = Stages(self._position, self._terms, spend=spend)
        known: dict[tuple[int, int], list[Stage]] = {}

        def planned(index: int, plan: int) -> list[Stage]:
            if (index, plan) not in known:
                known[index, plan] = self._stages_of(index + 1, plan, made)
            return known[index, plan]

        problem.planned = planned
        problem.plan = 1
        return problem

    def _stages_of(self, number: int, plan: int, made: Stages) -> list[Stage]:
        moves = [self._moves(index, progress, number) for index, progress in enumerate(self._states[plan])]
        return [
            stage
            for chosen in takewhile(self._goes_on, product(*moves))
            for stage in self._stages_with(number, chosen, made)
        ]

    def _goes_on(self, _chosen: object) -> bool:
        return not self._patience.ends()

    def _moves(self, index: int, progress: _Progress, number: int) -> list[tuple[_Step, _Progress, _TrieNode | None]]:
        """What a demand can do at a number: what it takes, where it is then, the node of the meld it completes."""
        if progress is None:
            return [((), None, None)]
        moves: list[tuple[_Step, _Progress, _TrieNode | None]] = []
        pending = progress is self._pending[index]
        if pending and any(start > number for start in self._starts[index]):
            moves.append(((), progress, None))
        node = self._starts[index].get(number) if pending else progress
        for step, after in node.following.items() if node is not None else ():
            if after.complete is not None:
                moves.append((step, None, after))
            if after.following:
                moves.append((step, after, None))
        return moves

    def _stages_with(
        self, number: int, chosen: Sequence[tuple[_Step, _Progress, _TrieNode | None]], made: Stages
    ) -> Iterable[Stage]:
        places = [place for step, _after, _node in chosen for place in step]
        free = sum(lies is Lies.FREE for _face, lies in places)
        if free > self._terms.jokers:
            return
        bound = _by_colour(face for face, lies in places if lies is Lies.BOUND)
        real = _by_colour(face for face, lies in places if lies is Lies.TILE)
        codes = range(number, number + COLOURS_OF_A_DECK * 13, 13)
        if any(count > self._position.tiles[code] for count, code in zip(real, codes, strict=True)):
            return
        after = tuple(progress for _step, progress, _node in chosen)
        then = self._numbers.get(self._key(after))
        if then is None:
            then = self._numbers[self._key(after)] = len(self._states)
            self._states.append(after)
        melds = tuple(node.complete for _step, _after, node in chosen if node is not None and node.complete)
        for way in self._terms.ways.get(number, (NONE,)):
            if all(count <= there for count, there in zip(bound, way, strict=True)):
                taken = tuple(one + other for one, other in zip(real, bound, strict=True))
                stage = made.stage(number, way, taken, bound)
                yield stage._replace(spent=free, melds=melds, then=then)


def _by_colour(faces: Iterable[int]) -> tuple[int, ...]:
    counts = [0] * COLOURS_OF_A_DECK
    for face in faces:
        counts[COLOUR_INDEXES[face]] += 1
    return tuple(counts)
