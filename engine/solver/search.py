"""The best-first search over the tile numbers. Source of the idea: see the package's docstring."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import product
from operator import itemgetter
from typing import Any, Final, NamedTuple

from engine.solver.groups import Partners, Together
from engine.solver.solution import Stop
from engine.solver.tables import Rows
from engine.state import MeldKind
from engine.tiles import MAX_NUMBER

ASK_EVERY: Final = 16  # expansions between two looks at `stop`
_PLAN_SHIFT: Final = 32  # above the four bytes of open runs: how far the melds that were asked for are
_NONE: Final = (0, 0, 0, 0)
_LAST: Final = MAX_NUMBER - 1
_NEVER: Final = 1 << 60
_DIVE: Final = 250  # expansions, about a millisecond


class Stage(NamedTuple):
    """One way to see one number: the cells of the four colours, and how groups may be made.

    `tiles` of each colour may be used. `bound` jokers of each colour are there, `bound_taken` of them and `taken` tiles
    and bound jokers in all, and `spent` free jokers, go into melds that were asked for; the rest is among `tiles`.
    `melds` are those that this number completes, `then` says how far they are (0 = all are done). `olds`, `together`:
    see `groups`.
    """

    rows: tuple[Rows, Rows]  # of colours 0 and 1, 2 and 3
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


_SPENT: Final = itemgetter(6)
_SPLITS: Final = tuple(  # by a number of jokers: how many of them in groups, for two colours, for the other two
    [(total - one - two, one, two) for one in range(total + 1) for two in range(total + 1 - one)] for total in range(9)
)


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

    jokers: int  # free ones
    stages: Sequence[Sequence[Stage]]
    weights: Sequence[int]
    all_jokers: bool = False  # every free joker must be placed in the search
    left_out: int = 0  # the cost of tiles that the search does not look at
    planned: Callable[[int, int], Sequence[Stage]] | None = None
    plan: int = 0


@dataclass(slots=True)
class Found:
    """The cheapest solution, if there is one; `proven` False: the search was stopped, there may be a cheaper one."""

    cost: int
    goal: BareNode | None
    proven: bool = True
    expansions: int = field(default=0, compare=False)


def search(problem: Problem, stop: Stop | None = None, bound: int | None = None, *, dive: bool = False) -> Found:
    """The cheapest way through all numbers, if one costs less than `bound`.

    First a node is expanded by what costs nothing more. It waits for the rest until nothing cheaper is left. `dive`: a
    stopped search still looks for some solution.
    """
    most_jokers = problem.jokers
    stages, planned, all_jokers = problem.stages, problem.planned, problem.all_jokers
    weights = problem.weights
    limit = _NEVER if bound is None else bound
    stack: list[BareNode] = [(0, problem.plan << _PLAN_SHIFT, *START[2:])]
    later: list[tuple[BareNode, int, int]] = []  # nodes with more jokers to spend: how many next, how low in `stack`
    waiting: dict[int, list[tuple[BareNode, int]]] = {}  # by cost: nodes, and what their next successors add
    costs: list[int] = []
    cost = problem.left_out
    closed: list[dict[int, int]] = [{} for _number in range(MAX_NUMBER)]
    expansions = 0
    while cost < limit:
        more = added = spend = 0
        if later and later[-1][2] == len(stack):
            node, spend, _ = later.pop()
            number, state, used = node[:3]
        elif stack:
            node = stack.pop()
            number, state, used = node[:3]
            if number == MAX_NUMBER:
                return Found(cost, node, True, expansions)
            seen = closed[number]
            key = state << 3 | used if all_jokers else state
            if key in seen and seen[key] <= used:
                continue
            seen[key] = used
        else:
            while not waiting.get(cost):
                if not costs:
                    return Found(cost, None, True, expansions)
                cost = heappop(costs)
            node, added = waiting[cost].pop()
            number, state, used = node[:3]
        expansions += 1
        if stop is not None and expansions % ASK_EVERY == 1 and stop():
            return _dive(problem, node, cost - added, limit) if dive else Found(cost, None, False, expansions)
        if added:
            successors, more = _dearer(problem, node, added)
            if most_jokers:
                successors.sort(key=_SPENT, reverse=True)
        else:
            successors = []
            plan = state >> _PLAN_SHIFT
            for stage in planned(number, plan) if plan and planned else stages[number]:
                rows01, rows23 = stage[0]
                first, first_all, least = rows01[state & 0xFFFF]
                second, second_all, least2 = rows23[state >> 16 & 0xFFFF]
                if not first_all or not second_all:
                    continue
                partners = stage[1]
                here = used + stage[8]
                free = most_jokers - here
                then = stage[10] << _PLAN_SHIFT
                for in_groups, jokers1, jokers2 in _SPLITS[spend]:
                    for use, options in first[jokers1]:
                        partner = partners[use]
                        for other, others in second[jokers2]:
                            for spent, extra in partner[other]:
                                if spent == in_groups and not extra:
                                    groups = use, other
                                    for _, _, need1, after1 in options:
                                        for _, _, need2, after2 in others:
                                            if spend + need1 + need2 <= free:
                                                after = after1 | after2 << 16 | then
                                                successors.append(
                                                    (number + 1, after, here + spend, node, stage, groups, spend)
                                                )
                if not spend:
                    least = 1 if stage[4] else min(least or _NEVER, least2 or _NEVER)
                    more = min(more or _NEVER, least * weights[number])
            if spend < most_jokers - used:
                later.append((node, spend + 1, len(stack)))
        if more and cost - added + more < limit:
            dearer = cost - added + more
            if dearer not in waiting:
                waiting[dearer] = []
                heappush(costs, dearer)
            waiting[dearer].append((node, more))
        if number == _LAST:
            successors = [goal for goal in successors if _may_follow(problem, goal)]
        stack += successors
    return Found(cost, None, True, expansions)


def _dearer(problem: Problem, node: BareNode, added: int) -> tuple[list[BareNode], int]:
    """The successors that cost exactly `added` more than the node, and the next greater cost of others (0: none)."""
    number, state, used = node[:3]
    weight = problem.weights[number]
    plan = state >> _PLAN_SHIFT
    more = _NEVER
    successors: list[BareNode] = []
    for stage in problem.planned(number, plan) if plan and problem.planned else problem.stages[number]:
        _, first, _ = stage.rows[0][state & 0xFFFF]
        _, second, _ = stage.rows[1][state >> 16 & 0xFFFF]
        here = used + stage.spent
        free = problem.jokers - here
        for (use, options), (other, others) in product(first, second):
            for spent, extra in stage.partners[use][other]:
                for cost1, jokers1, need1, after1 in options if spent <= free else ():
                    so_far = cost1 * weight + extra
                    if so_far + others[0][0] * weight >= more:
                        break
                    for cost2, jokers2, need2, after2 in others:
                        adds = so_far + cost2 * weight
                        if adds > added:
                            more = min(more, adds)
                            break
                        jokers = spent + jokers1 + jokers2
                        if adds == added and jokers + need1 + need2 <= free:
                            after = after1 | after2 << 16 | stage.then << _PLAN_SHIFT
                            successors.append((number + 1, after, here + jokers, node, stage, (use, other), jokers))
    return successors, 0 if more == _NEVER else more


def _dive(problem: Problem, node: BareNode, cost: int, limit: int) -> Found:
    """A solution that need not be the cheapest, found soon or not at all: from a node straight on to the end."""
    waiting = [(node, cost, 0)]
    seen = set()
    for expansions in range(_DIVE):
        if not waiting:
            break
        node, cost, added = waiting.pop()
        if node[0] == MAX_NUMBER:
            return Found(cost, node, False, expansions)
        successors, more = _dearer(problem, node, added)
        if more and cost + more < limit:
            waiting.append((node, cost, more))
        for following in sorted(successors, key=_SPENT, reverse=True):
            if following[:3] not in seen and _may_follow(problem, following):
                seen.add(following[:3])
                waiting.append((following, cost + added, 0))
    return Found(cost, None, False)


def _may_follow(problem: Problem, node: BareNode) -> bool:
    """Whether all is done that must be by the last number."""
    if node[0] < MAX_NUMBER:
        return True
    return not node[1] >> _PLAN_SHIFT and (not problem.all_jokers or node[2] == problem.jokers)
