"""`solve_opening`: the best melds that a rack alone can lay.

A forward pass over the numbers with the tables of the search. What a joker stands for counts here, so every way to
place one is looked at, and for each state and number of tiles left out the greatest value is kept.
"""

from __future__ import annotations

from itertools import product
from operator import mul

from engine.faces import JOKER_CODE, NUMBERS
from engine.rulesets import RuleSet
from engine.solver.arrange import layout_after
from engine.solver.groups import BASE
from engine.solver.patience import Patience
from engine.solver.problem import Position, Terms, usable
from engine.solver.rebuild import rebuild
from engine.solver.search import START, BareNode, path_to
from engine.solver.solution import Objective, Solution, Stop
from engine.solver.tables import PAIR_SHIFT, PLACES_SCALE, Counting, every_option
from engine.tiles import MAX_NUMBER

_TILES = tuple(sum(divmod(use, BASE)) for use in range(BASE * BASE))  # of two colours in groups, by their use
_Layer = dict[tuple[int, int], dict[int, tuple[int, BareNode]]]  # (state, jokers): tiles left out: value, the way there


def solve_opening(
    rules: RuleSet,
    rack: bytes,
    minimum: int,
    objective: Objective = Objective.TILES,
    *,
    stop: Stop | None = None,
) -> Solution | None:
    """Melds of the rack alone that are worth at least `minimum` together, None if there are none.

    The board of the answer holds these melds only, and its value is theirs, jokers as what they stand for.
    """
    assert not rules.discards, "only tile games have an opening"
    position = Position((), rack, objective)
    jokers = position.held[JOKER_CODE]
    position.tiles = usable(position.tiles, jokers)
    position.counting = Counting.PLACES
    most = MAX_NUMBER * jokers + sum(map(mul, NUMBERS, position.tiles))
    if not any(position.tiles[1:]) or most < minimum:
        return None
    problem = position.problem(Terms(jokers), spend=True)
    layer: _Layer = {(0, 0): {0: (0, START)}}
    patience = Patience(stop)
    for number in range(1, MAX_NUMBER + 1):
        (stage,) = problem.stages[number - 1]
        following: _Layer = {}
        for (state, used), reached in layer.items():
            if patience.ends():
                return None
            pairs, *rows = stage.options
            row0, row1, row2, row3 = (row[byte] for row, byte in zip(rows, state.to_bytes(4, "little"), strict=True))
            first = every_option(pairs[row0 << PAIR_SHIFT | row1])
            second = every_option(pairs[row2 << PAIR_SHIFT | row3])
            for (use, cost1, jokers1, need1, after1), (other, cost2, jokers2, need2, after2) in product(first, second):
                grouped = _TILES[use] + _TILES[other]
                for in_groups, _cost in stage.partners[use][other]:
                    spent = in_groups + jokers1 + jokers2
                    if used + spent + need1 + need2 > jokers:
                        continue
                    left_out, rest = divmod(cost1 + cost2, PLACES_SCALE * PLACES_SCALE)
                    places, lower = divmod(rest, PLACES_SCALE)
                    more = number * (places + grouped + in_groups) - lower
                    after = after1 | after2 << 16
                    best = following.setdefault((after, used + spent), {})
                    for left, (value, node) in reached.items():
                        known = best.get(left + left_out)
                        if known is None or known[0] < value + more:
                            best[left + left_out] = (
                                value + more,
                                (number, after, used + spent, node, stage, (use, other), spent),
                            )
        layer = following
    have = sum(position.tiles[1:])
    by_value = objective in (Objective.VALUE, Objective.VALUE_THEN_TILES)
    ends = [
        ((value, have - left + used) if by_value else (have - left + used, value), value, node)
        for (_state, used), reached in layer.items()
        for left, (value, node) in reached.items()
        if left < have and value >= minimum
    ]
    if not ends:
        return None
    _rank, value, node = max(ends, key=lambda end: end[0])
    rebuilt = rebuild(path_to(node), ())
    laid = bytes(node[2]) + bytes([code for code, used in enumerate(rebuilt.used) for _tile in range(used)])
    return Solution(layout_after(rebuilt.melds, ()), laid, value, proven=True)
