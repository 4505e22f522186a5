"""Counts what the dealer of each game found right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from engine.state import Call, Seat, Slot
from engine.tiles import TileId
from protocol.dealing.dealer import Context, Dealer, Owed
from protocol.game import DealerMaker
from protocol.messages import Genesis, PartKind

DRAW_PART: Final = "draw-part"
OPENING: Final = "opening"


@dataclass(slots=True)
class Tally:
    """What was checked, each seat's part of each moment once. While `paused`, nothing is added."""

    paused: bool = False
    _checked: set[tuple[str, Seat, bytes, int]] = field(default_factory=set)

    def counts(self) -> dict[str, int]:
        """How many by kind."""
        return dict(sorted(Counter(kind for kind, *_rest in self._checked).items()))

    def passed(self, kind: str, seat: Seat, context: Context, reason: str | None) -> str | None:
        """`reason`; if it is None, the check is counted."""
        if reason is None and not self.paused:
            self._checked.add((kind, seat, context.gid, context.height))
        return reason


class CountingDealer:
    """A dealer whose checks are counted; everything else is as with the one inside."""

    def __init__(self, inner: Dealer, tally: Tally) -> None:
        self._inner = inner
        self._tally = tally

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def check_part(
        self, kind: PartKind, seat: Seat, payload: bytes, call: Call, context: Context, before: Mapping[Owed, bytes]
    ) -> str | None:
        reason = self._inner.check_part(kind, seat, payload, call, context, before)
        return self._tally.passed(kind.value, seat, context, reason)

    def check_draw_part(self, seat: Seat, slots: Sequence[Slot], payload: bytes, context: Context) -> str | None:
        reason = self._inner.check_draw_part(seat, slots, payload, context)
        return self._tally.passed(DRAW_PART, seat, context, reason)

    def check_opening(
        self, seat: Seat, laid: Sequence[tuple[Slot, TileId]], proof: bytes, context: Context
    ) -> str | None:
        reason = self._inner.check_opening(seat, laid, proof, context)
        return self._tally.passed(OPENING, seat, context, reason)


def counting(make_dealer: DealerMaker, genesis: Genesis, tally: Tally) -> Callable[[Seat | None], Dealer]:
    """Gives a counted dealer without a seat for each game of a table."""
    return lambda _seat: cast(Dealer, CountingDealer(make_dealer(genesis, None, None, bytes), tally))
