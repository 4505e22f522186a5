"""The best-first search over the tile numbers. Source of the idea: see the package's docstring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Final, NamedTuple

from engine.solver.solution import Stop
from engine.solver.tables import Partners, Row, Tables, pair_key
from engine.tiles import MAX_NUMBER

ASK_EVERY: Final = 32  # expansions between two looks at `stop`


class Stage(NamedTuple):
    """One way to see one number: the cells of the four colours, and how groups may be made."""

    rows: tuple[Row, Row, Row, Row]
    partners: Partners
    cells: tuple[tuple[int, ...], tuple[int, ...]]  # tiles that may, and that must be used, by colour


class Node(NamedTuple):
    """A state after `number`, and how it came about: in which stage, with which use of the colours for groups."""

    number: int
    state: int  # the open runs, a byte per colour
    jokers: int  # free jokers in use so far
    parent: Node | None
    stage: int
    groups: tuple[int, int]  # colours 0 and 1, colours 2 and 3, see `tables.GROUP_BASE`
    spent: int  # free jokers in use at this number


@dataclass(slots=True)
class Problem:
    """What to search: for each number from 1 its stages (one of them is chosen), and the weight of a tile left out."""

    tables: Tables
    stages: Sequence[Sequence[Stage]]
    weights: Sequence[int]
    all_jokers: bool = False  # every free joker must be placed in the search
    bound: int | None = None  # only solutions that cost less are wanted


@dataclass(slots=True)
class Found:
    """The cheapest solution, if there is one; `proven` False: the search was stopped, there may be a cheaper one."""

    cost: int
    node: Node | None
    proven: bool = True
    expansions: int = field(default=0, compare=False)


def search(problem: Problem, stop: Stop | None = None) -> Found:
    """The cheapest way through all numbers."""
    pairs = problem.tables.pairs
    jokers_left = problem.tables.jokers
    all_jokers = problem.all_jokers
    stages, weights = problem.stages, problem.weights
    bound = problem.bound
    stack: list[Node] = [Node(0, 0, 0, None, 0, (0, 0), 0)]
    stacks: dict[int, list[Node]] = {0: stack}
    costs: list[int] = []
    cost = 0
    closed: list[dict[int, int]] = [{} for _number in range(MAX_NUMBER + 1)]
    best: Node | None = None
    best_cost = bound
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
            return Found(best_cost or 0, best, False, expansions)
        weight = weights[number]
        free = jokers_left - used
        last = number + 1 == MAX_NUMBER
        successors: list[tuple[int, int, int, int, int, int]] = []
        for index, stage in enumerate(stages[number]):
            row0, row1, row2, row3 = stage.rows
            first, _ = pairs[pair_key(row0[state & 255], row1[state >> 8 & 255])]
            _, second = pairs[pair_key(row2[state >> 16 & 255], row3[state >> 24])]
            partners = stage.partners
            for use, options in first:
                for other, spent, extra in partners[use]:
                    others = second[other]
                    if others and spent <= free:
                        for cost1, jokers1, need1, after1 in options:
                            for cost2, jokers2, need2, after2 in others:
                                jokers = spent + jokers1 + jokers2
                                if jokers + need1 + need2 <= free:
                                    price = cost + (cost1 + cost2) * weight + extra
                                    successors.append((jokers, price, after1 | after2 << 16, index, use, other))
        if jokers_left:
            successors.sort(reverse=True)
        for jokers, price, after, index, use, other in successors:
            if best_cost is not None and price >= best_cost:
                continue
            if last and all_jokers and used + jokers != jokers_left:
                continue
            following = Node(number + 1, after, used + jokers, node, index, (use, other), jokers)
            if last:
                best, best_cost = following, price
            if price == cost:
                stack.append(following)
            elif price in stacks:
                stacks[price].append(following)
            else:
                stacks[price] = [following]
                heappush(costs, price)
