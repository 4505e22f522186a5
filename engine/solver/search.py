"""The best-first search over the tile numbers. Source of the idea: see the package's docstring."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Final, NamedTuple

from engine.solver.groups import Partners, Together
from engine.solver.solution import Stop
from engine.solver.tables import Row, Tables, pair_key
from engine.state import MeldKind
from engine.tiles import MAX_NUMBER

ASK_EVERY: Final = 32  # expansions between two looks at `stop`
_PLAN_SHIFT: Final = 32  # above the four bytes of open runs: how far the melds that were asked for are


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """One way to see one number: the cells of the four colours, and how groups may be made.

    `tiles` of each colour may be used. `bound` jokers of each colour are there, `bound_taken` of them and `taken` tiles
    and bound jokers in all, and `spent` free jokers, go into melds that were asked for; the rest is among `tiles`.
    `melds` are those that this number completes, `then` says how far they are (0 = all are done). `olds`, `together`:
    see `groups`.
    """

    rows: tuple[Row, Row, Row, Row]
    partners: Partners
    tiles: tuple[int, ...]
    bound: tuple[int, ...] = (0, 0, 0, 0)
    olds: tuple[int, ...] = ()
    together: Together = ()
    taken: tuple[int, ...] = (0, 0, 0, 0)
    bound_taken: tuple[int, ...] = (0, 0, 0, 0)
    spent: int = 0
    melds: tuple[tuple[bytes, MeldKind], ...] = ()
    then: int = 0


class Node(NamedTuple):
    """A state after `number`, and how it came about: in which stage, with which use of the colours for groups."""

    number: int
    state: int  # the open runs, a byte per colour
    jokers: int  # free jokers in use so far
    parent: Node | None
    stage: Stage | None
    groups: tuple[int, int]  # colours 0 and 1, colours 2 and 3, see `groups.BASE`
    spent: int  # free jokers in use at this number


START: Final = Node(0, 0, 0, None, None, (0, 0), 0)


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
    node: Node | None
    proven: bool = True
    expansions: int = field(default=0, compare=False)


def search(problem: Problem, stop: Stop | None = None, bound: int | None = None) -> Found:
    """The cheapest way through all numbers, if one costs less than `bound`."""
    pairs = problem.tables.pairs
    most_jokers = problem.tables.jokers
    all_jokers, planned = problem.all_jokers, problem.planned
    stages, weights = problem.stages, problem.weights
    stack: list[Node] = [START._replace(state=problem.plan << _PLAN_SHIFT)]
    stacks: dict[int, list[Node]] = {0: stack}
    costs: list[int] = []
    cost = 0
    closed: list[dict[int, int]] = [{} for _number in range(MAX_NUMBER + 1)]
    best: Node | None = None
    expansions = 0
    while True:
        while not stack:
            if not costs:
                return Found(cost, None, True, expansions)
            del stacks[cost]
            cost = heappop(costs)
            stack = stacks[cost]
        node = stack.pop()
        number, state, used = node[0], node[1], node[2]
        if number == MAX_NUMBER:
            return Found(cost, node, True, expansions)
        seen = closed[number]
        key = state << 3 | used if all_jokers else state
        if seen.get(key, 99) <= used:
            continue
        seen[key] = used
        expansions += 1
        if stop is not None and expansions % ASK_EVERY == 0 and stop():
            return Found(bound or 0, best, False, expansions)
        weight = weights[number]
        last = number + 1 == MAX_NUMBER
        successors: list[tuple[int, int, int, int, int, int]] = []
        plan = state >> _PLAN_SHIFT
        ways = planned(number, plan) if plan and planned is not None else stages[number]
        for index, stage in enumerate(ways):
            row0, row1, row2, row3 = stage.rows
            first, _ = pairs[pair_key(row0[state & 255], row1[state >> 8 & 255])]
            _, second = pairs[pair_key(row2[state >> 16 & 255], row3[state >> 24 & 255])]
            partners = stage.partners
            free = most_jokers - used - stage.spent
            then = stage.then << _PLAN_SHIFT
            for use, options in first:
                for other, spent, extra in partners[use]:
                    others = second[other]
                    if others and spent <= free:
                        for cost1, jokers1, need1, after1 in options:
                            for cost2, jokers2, need2, after2 in others:
                                jokers = spent + jokers1 + jokers2
                                if jokers + need1 + need2 <= free:
                                    price = cost + (cost1 + cost2) * weight + extra
                                    after = after1 | after2 << 16 | then
                                    successors.append((jokers, price, after, index, use, other))
        if most_jokers:
            successors.sort(reverse=True)
        for jokers, price, after, index, use, other in successors:
            if bound is not None and price >= bound:
                continue
            stage = ways[index]
            total = used + jokers + stage.spent
            if last and (after >> _PLAN_SHIFT or (all_jokers and total != most_jokers)):
                continue
            following = Node(number + 1, after, total, node, stage, (use, other), jokers)
            if last:
                best, bound = following, price
            if price == cost:
                stack.append(following)
            elif price in stacks:
                stacks[price].append(following)
            else:
                stacks[price] = [following]
                heappush(costs, price)
