"""How far the answers to an open call are, for people: which step, who is at work, how much is done."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

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
    """`done` of `total` parts of this step are checked; `share` of the whole call is done, from 0 to 1.

    `at_work`: the seats whose parts can be made now or are on their way, in seat order; none when all are here.
    """

    step: DealStep
    at_work: tuple[Seat, ...]
    done: int
    total: int
    share: float


def deal_progress(call: OpenCall) -> DealProgress | None:
    """How far `call` is by what this node holds; None if nothing is owed to it."""
    if not call.owed:
        return None
    missing = call.missing()
    step = _step(missing[0] if missing else call.owed[-1], call)
    total = sum(_step(owed, call) is step for owed in call.owed)
    left = sum(_step(owed, call) is step for owed in missing)
    share = 1 - sum(map(_weight, missing)) / sum(map(_weight, call.owed))
    return DealProgress(step, _at_work(call, missing), total - left, total, share)


def _at_work(call: OpenCall, missing: tuple[Owed, ...]) -> tuple[Seat, ...]:
    """Whom the missing parts of the first kind wait for. Source: docs/deal-entries.md, section 3, "Needs"."""
    seats = tuple(owed.seat for owed in missing if owed.kind is missing[0].kind)
    if seats and missing[0].kind is PartKind.SHUFFLE:
        return seats[:1]
    if call.call.name is CallName.DRAW and call.call.seat in seats:
        return (call.call.seat,)
    return seats


def _step(owed: Owed, call: OpenCall) -> DealStep:
    match owed.kind:
        case PartKind.KEY_COMMIT | PartKind.KEY_REVEAL:
            return DealStep.KEYS
        case PartKind.SHUFFLE:
            return DealStep.SHUFFLE
        case PartKind.OPEN_RACK:
            return DealStep.OPENING
    match call.call.name:
        case CallName.DRAW:
            return DealStep.DRAW
        case CallName.REDEAL:
            return DealStep.MATCH
        case _:
            return DealStep.RACKS


def _weight(owed: Owed) -> int:
    return _SHUFFLE_WEIGHT if owed.kind is PartKind.SHUFFLE else 1
