"""The best-first search over the tile numbers. Source of the idea: see the package's docstring."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any, Final, NamedTuple

from engine.solver.groups import Partners, Together
from engine.solver.solution import Stop
from engine.solver.tables import PAIR_SHIFT, Row, Tables
from engine.state import MeldKind
from engine.tiles import MAX_NUMBER

ASK_EVERY: Final = 16  # expansions between two looks at `stop`
_PLAN_SHIFT: Final = 32  # above the four bytes of open runs: how far the melds that were asked for are
_NONE: Final = (0, 0, 0, 0)


class Stage(NamedTuple):
    """One way to see one number: the cells of the four colours, and how groups may be made.

    `tiles` of each colour may be used. `bound` jokers of each colour are there, `bound_taken` of them and `taken` tiles
    and bound jokers in all, and `spent` free jokers, go into melds that were asked for; the rest is among `tiles`.
    `melds` are those that this number completes, `then` says how far they are (0 = all are done). `olds`, `together`:
    see `groups`.
    """

    rows: tuple[Row, Row, Row, Row]
    partners: Partners
    tiles: Sequence[int]
    bound: tuple[int, ...] = _NONE
    olds: tuple[int, ...] = ()
    together: Together = ()
    taken: tuple[int, ...] = _NONE
    bound_taken: tuple[int, ...] = _NONE
    spent: int = 0
    melds: tuple[tuple[bytes, MeldKind], ...] = ()
    then: int = 0


class Node(NamedTuple):
    """A state after `number`, and how it came about: in which stage, with which use of the colours for groups."""

    number: int
    state: int  # the open runs, a byte per colour
    jokers: int  # free jokers in use so far
    parent: Any  # the node before, as a bare tuple; None at the start
    stage: Stage
    groups: tuple[int, int]  # colours 0 and 1, colours 2 and 3, see `groups.BASE`
    spent: int  # free jokers in use at this number


BareNode = tuple[int, int, int, Any, Any, Any, int]  # a `Node`; bare tuples are made three times as fast
START: Final[BareNode] = (0, 0, 0, None, None, None, 0)


def path_to(goal: BareNode) -> list[Node]:
    """The nodes from number 1 on."""
    path = []
    node = goal
    while node[0]:
        path.append(Node._make(node))
        node = node[3]
    return path[::-1]


@dataclass(slots=True)
class Problem:
    """What to search: for each number from 1 its stages (one of them is chosen), and the weight of a tile left out.

    `planned` gives the stages of a number (from 0) while melds that were asked for are not done, `plan` is where they
    start.
    """

    tables: Tables
    stages: Sequence[Sequence[Stage]]
    weights: Sequence[int]
    all_jokers: bool = False  # every free joker must be placed in the search
    planned: Callable[[int, int], Sequence[Stage]] | None = None
    plan: int = 0


@dataclass(slots=True)
class Found:
    """The cheapest solution, if there is one; `proven` False: the search was stopped, there may be a cheaper one."""

    cost: int
    goal: BareNode | None
    proven: bool = True
    expansions: int = field(default=0, compare=False)


def search(problem: Problem, stop: Stop | None = None, bound: int | None = None) -> Found:
    """The cheapest way through all numbers, if one costs less than `bound`."""
    pairs = problem.tables.pairs
    most_jokers = problem.tables.jokers
    all_jokers, planned = problem.all_jokers, problem.planned
    stages, weights = problem.stages, problem.weights
    limit = 1 << 60 if bound is None else bound
    stack: list[BareNode] = [(0, problem.plan << _PLAN_SHIFT, *START[2:])]
    stacks: dict[int, list[BareNode]] = {0: stack}
    costs: list[int] = []
    cost = 0
    closed: list[dict[int, int]] = [{} for _number in range(MAX_NUMBER)]
    best: BareNode | None = None
    expansions = 0
    while True:
        while not stack:
            if not costs:
                return Found(cost, None, True, expansions)
            del stacks[cost]
            cost = heappop(costs)
            stack = stacks[cost]
        node = stack.pop()
        number, state, used = node[:3]
        if number == MAX_NUMBER:
            return Found(cost, node, True, expansions)
        seen = closed[number]
        key = state << 3 | used if all_jokers else state
        if key in seen and seen[key] <= used:
            continue
        seen[key] = used
        expansions += 1
        if stop is not None and expansions % ASK_EVERY == 0 and stop():
            return Found(limit, best, False, expansions)
        weight = weights[number]
        successors = []
        plan = state >> _PLAN_SHIFT
        for stage in planned(number, plan) if plan and planned is not None else stages[number]:
            row0, row1, row2, row3 = stage[0]
            second = pairs[row2[state >> 16 & 255] << PAIR_SHIFT | row3[state >> 24 & 255]]
            if not second:
                continue
            partners = stage[1]
            free = most_jokers - used - stage[8]
            then = stage[10] << _PLAN_SHIFT
            for use, options in pairs[row0[state & 255] << PAIR_SHIFT | row1[state >> 8 & 255]]:
                partner = partners[use]
                for other, others in second:
                    for spent, extra in partner[other]:
                        if spent <= free:
                            for cost1, jokers1, need1, after1 in options:
                                for cost2, jokers2, need2, after2 in others:
                                    jokers = spent + jokers1 + jokers2
                                    if jokers + need1 + need2 <= free:
                                        successors.append(
                                            (
                                                jokers,
                                                cost + (cost1 + cost2) * weight + extra,
                                                after1 | after2 << 16 | then,
                                                use,
                                                other,
                                                stage,
                                            )
                                        )
        if most_jokers:
            successors.sort(key=_by_jokers, reverse=True)
        number += 1
        for jokers, price, after, use, other, stage in successors:
            if price >= limit:
                continue
            total = used + jokers + stage[8]
            following = (number, after, total, node, stage, (use, other), jokers)
            if number == MAX_NUMBER:
                if after >> _PLAN_SHIFT or (all_jokers and total != most_jokers):
                    continue
                best, limit = following, price
            if price == cost:
                stack.append(following)
            elif price in stacks:
                stacks[price].append(following)
            else:
                stacks[price] = [following]
                heappush(costs, price)


def _by_jokers(successor: tuple[int, int, int, int, int, Stage]) -> tuple[int, int, int]:
    return successor[:3]
