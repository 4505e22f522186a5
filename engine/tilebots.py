"""Bots for the tile games, on faces: what a seat lays, or None if it draws (passes, once the stock is empty)."""

from __future__ import annotations

from collections import Counter

from engine.board import difference
from engine.faces import JOKER_CODE
from engine.rackmelds import extension, find_melds
from engine.situations import Situation
from engine.solver import Objective, Solution, Stop, solve, solve_opening
from engine.strength import Strength

_NEARLY_OUT = 3  # tiles on another seat's rack
_PATIENCE = 800  # how often a search may ask whether to go on; bounds the time of a choice, by far


def decide(here: Situation, strength: Strength) -> Solution | None:
    """What a bot lays in a situation.

    The board of a beginner's answer begins with the old melds, in order; those it added to hold more tiles now.
    """
    match strength:
        case Strength.BEGINNER:
            return beginner(here)
        case Strength.SOLID:
            return solid(here)
        case Strength.STRONG:
            return strong(here)


def beginner(here: Situation) -> Solution | None:
    """All melds of the rack, and single tiles added. Jokers are kept unless they win, or the stock is empty."""
    spending = _simple(here, jokers=True)
    if here.pool and (spending is None or len(spending.laid) < len(here.rack)):
        return _simple(here, jokers=False) or spending
    return spending or _simple(here, jokers=False)


def _simple(here: Situation, *, jokers: bool) -> Solution | None:
    counts = Counter(here.rack)
    if not jokers:
        del counts[JOKER_CODE]
    melds = find_melds(counts, here.minimum)
    if here.minimum and not melds:
        return None
    lay_off = not here.minimum or here.rules.open_and_rearrange_same_turn
    after = extension(here.board, here.rack, melds, lay_off=lay_off, jokers=jokers)
    laid = difference(here.rack, after.left)
    return Solution(after.board, laid, 0, proven=False) if laid else None


def solid(here: Situation) -> Solution | None:
    """As many tiles as can be laid."""
    if here.minimum:
        return _opening(here, here.rack)
    return _most(here, here.rack)


def strong(here: Situation) -> Solution | None:
    """As many tiles as can be laid, but jokers only to go out, to open, or once the stock is empty.

    When another seat is nearly out, the dearest tiles go first. Tiles are not held back: boards that are large help
    whoever holds a joker most.
    """
    everything = solid(here)
    if everything is None or len(everything.laid) == len(here.rack) or not here.pool:
        return everything
    kept = here.rack.lstrip(b"\0")
    near = min(here.others) <= _NEARLY_OUT
    if here.minimum:
        return everything if kept == here.rack else _opening(here, kept) or everything
    if kept == here.rack and not near:
        return everything
    return _most(here, kept, Objective.VALUE_THEN_TILES if near else Objective.TILES_THEN_VALUE)


def _most(here: Situation, rack: bytes, objective: Objective = Objective.TILES_THEN_VALUE) -> Solution | None:
    found = solve(here.rules, here.board, rack, objective, stop=_limit())
    return found if found.laid else None


def _opening(here: Situation, rack: bytes) -> Solution | None:
    """The opening that lays most tiles of `rack`, on the table too where the rules allow it in the same turn."""
    rules, minimum = here.rules, here.minimum
    first = solve_opening(rules, rack, minimum, stop=_limit())
    if first is None:
        return None
    after = Solution((*here.board, *first.board), first.laid, first.value, first.proven)
    if not rules.open_and_rearrange_same_turn or not here.board:
        return after
    whole = _most(here, rack)
    if whole is not None and len(whole.laid) > len(first.laid) and solve_opening(rules, whole.laid, minimum):
        return whole
    more = solve(rules, after.board, difference(rack, first.laid), Objective.TILES_THEN_VALUE, stop=_limit())
    if not more.laid:
        return after
    return Solution(more.board, bytes(sorted(first.laid + more.laid)), 0, more.proven)


def _limit() -> Stop:
    """Ends a search that asks too often."""
    asked = iter(range(_PATIENCE))
    return lambda: next(asked, None) is None
