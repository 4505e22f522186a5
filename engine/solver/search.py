"""The best-first search over the tile numbers. Source of the idea: see the package's docstring."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from operator import itemgetter
from typing import Any, Final, NamedTuple

from engine.solver.groups import Partners, Together
from engine.solver.patience import Patience
from engine.solver.tables import PAIR_SHIFT, Pairs, Row
from engine.state import MeldKind
from engine.tiles import MAX_NUMBER

_PLAN_SHIFT: Final = 32  # above the four bytes of open runs: how far the melds that were asked for are
_NONE: Final = (0, 0, 0, 0)
_LAST: Final = MAX_NUMBER - 1
_AT_ONCE: Final = 1  # with so few free jokers all successors are made at once
_NEVER: Final = 1 << 60
_DIVE: Final = 250  # expansions, about a millisecond


class Stage(NamedTuple):
    """One way to see one number: the cells of the four colours, and how groups may be made.

    `tiles` of each colour may be used. `bound` jokers of each colour are there, `bound_taken` of them and `taken` tiles
    and bound jokers in all, and `spent` free jokers, go into melds that were asked for; the rest is among `tiles`.
    `melds` are those that this number completes, `then` says how far they are (0 = all are done). `olds`, `together`:
    see `groups`.
    """

    options: tuple[Pairs, Row, Row, Row, Row]  # of the four colours, and of two together
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
_SPLITS: Final = tuple(  # by a number of jokers: it, how many of them in groups, for two colours, for the other two
    [(total, total - one - two, one, two) for one in range(total + 1) for two in range(total + 1 - one)]
    for total in range(9)
)
_SPLITS_UP_TO: Final = tuple([split for splits in _SPLITS[most::-1] for split in splits] for most in range(9))


def path_to(goal: BareNode) -> list[BareNode]:
    """The nodes from number 1 on."""
    path = []
    node = goal
    while node[0]:
        path.append(node)
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
    plain: bool = False  # no joker is free, and joints cost nothing


@dataclass(slots=True)
class Found:
    """The cheapest solution, if there is one. `goal` None: there is none that costs less than `cost`."""

    cost: int
    goal: BareNode | None


def search(problem: Problem, patience: Patience, bound: int | None = None, *, dive: bool = False) -> Found:
    """The cheapest way through all numbers, if one costs less than `bound`.

    First a node is expanded by what costs nothing more, and if there are several jokers, by what takes none, then one,
    and so on. It waits for the rest until nothing cheaper is left. `dive`: a stopped search still looks for a solution.
    """
    most_jokers, all_jokers, endless = problem.jokers, problem.all_jokers, patience.endless
    limit = _NEVER if bound is None else bound
    stack: list[BareNode] = [(0, problem.plan << _PLAN_SHIFT, *START[2:])]
    successors_of = _plain_successors if problem.plain else _successors
    later: list[tuple[BareNode, int, int]] = []  # nodes with more jokers to spend: how many next, how low in `stack`
    waiting: dict[int, list[tuple[BareNode, int]]] = {}  # by cost: nodes, and what their next successors add
    costs: list[int] = []
    cost = problem.left_out
    closed: list[dict[int, int]] = [{} for _number in range(MAX_NUMBER)]
    latest: dict[int, tuple[BareNode, int]] = {}  # of each number the node that was expanded last, and its cost
    while cost < limit:
        added = spend = 0
        if later and later[-1][2] == len(stack):
            node, spend, _ = later.pop()
        elif stack:
            node = stack.pop()
            number, state, used, _, _, _, _ = node
            if number == MAX_NUMBER:
                return Found(cost, node)
            seen = closed[number]
            key = state << 3 | used if all_jokers else state
            if seen.get(key, most_jokers + 1) <= used:
                continue
            seen[key] = used
        else:
            while not waiting.get(cost):
                if not costs:
                    return Found(cost, None)
                cost = heappop(costs)
            node, added = waiting[cost].pop()
        if not endless:
            latest[node[0]] = node, cost - added
            if patience.ends():
                starts = [latest[number] for number in sorted(latest)]
                return _dive(problem, starts, limit) if dive else Found(cost, None)
        if added:
            dearer_ones: list[BareNode] = []
            more = successors_of(problem, node, added, None, dearer_ones)
            dearer_ones.sort(key=_SPENT, reverse=True)
            stack += dearer_ones
        elif most_jokers <= _AT_ONCE:
            more = successors_of(problem, node, 0, None, stack)
        else:
            if spend < most_jokers - node[2]:
                later.append((node, spend + 1, len(stack)))
            more = successors_of(problem, node, 0, spend, stack)
        dearer = cost - added + more
        if not spend and dearer < limit:
            if dearer not in waiting:
                waiting[dearer] = []
                heappush(costs, dearer)
            waiting[dearer].append((node, more))
    return Found(cost, None)


def _successors(problem: Problem, node: BareNode, added: int, spend: int | None, to: list[BareNode]) -> int:
    """Append the successors that cost exactly `added` more than the node. What dearer ones add at least.

    They take `spend` jokers; None: any number.
    """
    number, state, used, _, _, _, _ = node
    weight = problem.weights[number]
    plan = state >> _PLAN_SHIFT
    more = _NEVER
    successors: list[BareNode] = [] if number == _LAST else to
    for stage in problem.planned(number, plan) if plan and problem.planned else problem.stages[number]:
        (pairs, row0, row1, row2, row3), partners, _, _, olds, _, _, _, taken, _, then = stage
        here = used + taken
        free = problem.jokers - here
        if free < 0:
            continue
        then <<= _PLAN_SHIFT
        if spend is None:
            splits = _SPLITS_UP_TO[free]
        else:
            splits = _SPLITS[spend]
            more = min(more, added + 1) if olds else more
        seconds = pairs[row2[state >> 16 & 255] << PAIR_SHIFT | row3[state >> 24 & 255]]
        for cost1, first in pairs[row0[state & 255] << PAIR_SHIFT | row1[state >> 8 & 255]]:
            for cost2, second in seconds:
                broken = added - (cost1 + cost2) * weight
                if broken < 0:
                    more = min(more, added - broken)
                    break
                if broken and not olds:
                    continue
                for jokers, in_groups, jokers1, jokers2 in splits:
                    ways, other_ways = first[jokers1], second[jokers2]
                    if not (ways and other_ways):
                        continue
                    for use, need1, after1 in ways:
                        partner, left = partners[use], free - jokers - need1
                        for other, need2, after2 in other_ways:
                            if need2 > left:
                                continue
                            for spent, joints in partner[other]:
                                if spent == in_groups:
                                    if joints == broken:
                                        after = after1 | after2 << 16 | then
                                        successors.append(
                                            (number + 1, after, here + jokers, node, stage, (use, other), jokers)
                                        )
                                    elif joints > broken:
                                        more = min(more, added - broken + joints)
    if number == _LAST:
        to += [goal for goal in successors if _may_follow(problem, goal)]
    return more


def _plain_successors(problem: Problem, node: BareNode, added: int, _spend: int | None, to: list[BareNode]) -> int:
    """The same where no joker is free and joints cost nothing."""
    number, state, _, _, _, _, _ = node
    weight = problem.weights[number]
    plan = state >> _PLAN_SHIFT
    more = _NEVER
    successors: list[BareNode] = [] if number == _LAST else to
    for stage in problem.planned(number, plan) if plan and problem.planned else problem.stages[number]:
        (pairs, row0, row1, row2, row3), partners, _, _, _, _, _, _, _, _, then = stage
        seconds = pairs[row2[state >> 16 & 255] << PAIR_SHIFT | row3[state >> 24 & 255]]
        then <<= _PLAN_SHIFT
        for cost1, (first,) in pairs[row0[state & 255] << PAIR_SHIFT | row1[state >> 8 & 255]]:
            for cost2, (second,) in seconds:
                cost = (cost1 + cost2) * weight
                if cost > added:
                    more = min(more, cost)
                    break
                if cost < added:
                    continue
                for use, _need, after1 in first:
                    partner = partners[use]
                    for other, _need, after2 in second:
                        if partner[other]:
                            after = after1 | after2 << 16 | then
                            successors.append((number + 1, after, 0, node, stage, (use, other), 0))
    if number == _LAST:
        to += [goal for goal in successors if _may_follow(problem, goal)]
    return more


def _dive(problem: Problem, starts: Iterable[tuple[BareNode, int]], limit: int) -> Found:
    """A solution that need not be the cheapest, found soon or not at all: from a node straight on to the end."""
    waiting = [(node, cost, 0) for node, cost in starts]
    seen = set()
    for _expansion in range(_DIVE):
        if not waiting:
            break
        node, cost, added = waiting.pop()
        if node[0] == MAX_NUMBER:
            return Found(cost, node)
        successors: list[BareNode] = []
        more = _successors(problem, node, added, None, successors)
        if cost + more < limit:
            waiting.append((node, cost, more))
        for following in sorted(successors, key=_SPENT, reverse=True):
            if following[:3] not in seen:
                seen.add(following[:3])
                waiting.append((following, cost + added, 0))
    return Found(limit, None)


def _may_follow(problem: Problem, node: BareNode) -> bool:
    """Whether all is done that must be by the last number."""
    return not node[1] >> _PLAN_SHIFT and (not problem.all_jokers or node[2] == problem.jokers)
