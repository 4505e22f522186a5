"""How far the answers to an open call are, for people: which step, who is at work, how much is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, assert_never

from engine.state import CallName, Seat
from protocol.dealing.call import OpenCall
from protocol.dealing.dealer import Owed
from protocol.messages import PartKind

_SHUFFLE_WEIGHT: Final = 10  # a shuffle takes about ten times as long as another part


class DealStep(Enum):
    """What the seats do for a call. A call has one step or several, in this order."""

    KEYS = "keys"
    SHUFFLE = "shuffle"
    RACKS = "racks"
    DRAW = "draw"
    MATCH = "match"  # in a re-deal: which tiles are on racks
    OPENING = "opening"


@dataclass(frozen=True, slots=True)
class DealProgress:
    """`done` of `total` parts of this step are here; `share` of the whole call is checked, from 0 to 1.

    `at_work`: the seats that could send their part of this step now, in seat order. None are where only this node has
    something to do: checking, or agreeing that all is here.
    """

    step: DealStep
    at_work: tuple[Seat, ...]
    done: int
    total: int
    share: float


def deal_progress(open_call: OpenCall) -> DealProgress | None:
    """How far `open_call` is by what this node holds; None if nothing is owed to it."""
    return progress_of(open_call.call.name, open_call.owed, open_call.missing(), open_call.awaited())


def progress_of(
    call: CallName, owed: Sequence[Owed], missing: Sequence[Owed], awaited: Sequence[Owed]
) -> DealProgress | None:
    """How far `call` is when of all parts `owed` these are `missing` and `awaited`, as in `OpenCall`."""
    if not owed:
        return None
    step = _step([*awaited, *missing, owed[-1]][0], call)
    parts = [part for part in owed if _step(part, call) is step]
    next_parts = [part for part in awaited if _step(part, call) is step]
    done = len(parts) - sum(_step(part, call) is step for part in missing)
    if step is DealStep.SHUFFLE:  # a shuffle may build on one that is still being checked
        done = parts.index(next_parts[0]) if next_parts else len(parts)
    share = 1 - sum(map(_weight, missing)) / sum(map(_weight, owed))
    return DealProgress(step, tuple(sorted({part.seat for part in next_parts})), done, len(parts), share)


def _step(part: Owed, call: CallName) -> DealStep:
    match part.kind:
        case PartKind.KEY_COMMIT | PartKind.KEY_REVEAL:
            return DealStep.KEYS
        case PartKind.SHUFFLE:
            return DealStep.SHUFFLE
        case PartKind.REKEY | PartKind.TAG | PartKind.TAG_SHARES:
            return DealStep.MATCH
        case PartKind.SHARES:
            return DealStep.DRAW if call is CallName.DRAW else DealStep.RACKS
        case PartKind.OPEN_RACK:
            return DealStep.OPENING
        case other:
            assert_never(other)


def _weight(part: Owed) -> int:
    return _SHUFFLE_WEIGHT if part.kind is PartKind.SHUFFLE else 1
