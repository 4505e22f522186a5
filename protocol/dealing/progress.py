"""How far the answers to an open call are, for people: which step, who is at work, how much is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from engine.state import Call, CallName, Seat
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

    `at_work`: the seats whose parts are the next to be made, sent or checked, in seat order; none when all are here.
    """

    step: DealStep
    at_work: tuple[Seat, ...]
    done: int
    total: int
    share: float


def deal_progress(open_call: OpenCall) -> DealProgress | None:
    """How far `open_call` is by what this node holds; None if nothing is owed to it."""
    return progress_of(open_call.call, open_call.owed, open_call.missing())


def progress_of(call: Call, owed: Sequence[Owed], missing: Sequence[Owed]) -> DealProgress | None:
    """How far `call` is when of all parts `owed` these are `missing`, both in canonical order."""
    if not owed:
        return None
    step = _step(missing[0] if missing else owed[-1], call)
    total = sum(_step(part, call) is step for part in owed)
    left = sum(_step(part, call) is step for part in missing)
    share = 1 - sum(map(_weight, missing)) / sum(map(_weight, owed))
    return DealProgress(step, _at_work(call, missing), total - left, total, share)


def _at_work(call: Call, missing: Sequence[Owed]) -> tuple[Seat, ...]:
    """Whom the missing parts of the first kind wait for. Source: docs/deal-entries.md, section 3, "Needs"."""
    seats = tuple(part.seat for part in missing if part.kind is missing[0].kind)
    if seats and missing[0].kind is PartKind.SHUFFLE:
        return seats[:1]
    if call.name is CallName.DRAW and call.seat in seats:
        return (call.seat,)
    return seats


def _step(part: Owed, call: Call) -> DealStep:
    match part.kind:
        case PartKind.KEY_COMMIT | PartKind.KEY_REVEAL:
            return DealStep.KEYS
        case PartKind.SHUFFLE:
            return DealStep.SHUFFLE
        case PartKind.OPEN_RACK:
            return DealStep.OPENING
    match call.name:
        case CallName.DRAW:
            return DealStep.DRAW
        case CallName.REDEAL:
            return DealStep.MATCH
        case _:
            return DealStep.RACKS


def _weight(part: Owed) -> int:
    return _SHUFFLE_WEIGHT if part.kind is PartKind.SHUFFLE else 1
