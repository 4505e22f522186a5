"""Secret deals between dealers alone: every part checked, no sessions, no agreement."""

from __future__ import annotations

import random
from dataclasses import dataclass

from engine.actions import Action, DrawDealt, RacksDealt, RacksOpened, StartDealt
from engine.rules import apply
from engine.rulesets import RuleSet
from engine.setup import draw_lots, start_series
from engine.state import Call, CallName, PublicState, Seat, Slot
from engine.tiles import TileId
from protocol.dealing.call import owed_parts
from protocol.dealing.dealer import Context, Owed
from protocol.dealing.secret_deal import SecretDealer
from protocol.envelope import digest
from protocol.messages import Genesis, Member, PartKind


@dataclass(frozen=True)
class Sent:
    """A part as it was sent, with all that is needed to judge it again."""

    owed: Owed
    payload: bytes
    call: Call
    context: Context
    before: dict[Owed, bytes]

    def judged_by(self, dealer: SecretDealer, payload: bytes | None = None) -> str | None:
        """What a dealer says of it, or of other bytes in its place."""
        payload = self.payload if payload is None else payload
        return dealer.check_part(self.owed.kind, self.owed.seat, payload, self.call, self.context, self.before)


class Deal:
    """A table of dealers and the public state. `answer` answers the open call, `act` does an action.

    `checked`: every part is judged by the observer, who computes what every node would.
    """

    def __init__(
        self, rules: RuleSet, seats: int, seed: int = 1, game: bytes = b"game", *, checked: bool = True
    ) -> None:
        self.checked = checked
        self.rng = random.Random(seed)
        members = tuple(Member(f"P{i}", bytes([i + 1]) * 32, False, bytes(32)) for i in range(seats))
        self.genesis = Genesis(bytes(16), "table", rules, members)
        self.dealers = [SecretDealer(self.genesis, Seat(i), None, self.rng.randbytes) for i in range(seats)]
        self.observer = SecretDealer(self.genesis, None, None, self.rng.randbytes)
        self.state: PublicState = start_series(rules, seats)
        self.gid = digest(game)
        self.height = 1
        self.sent: list[Sent] = []

    def context(self) -> Context:
        return Context(self.gid, self.height, digest(self.gid + bytes([self.height])), self.state)

    def everybody(self) -> list[SecretDealer]:
        return [*self.dealers, self.observer]

    def answer(self, draw_part: bytes | None = None) -> dict[Owed, bytes]:
        """All parts of the open call, which is then closed."""
        call, context = self.state.call, self.context()
        assert call is not None
        parts: dict[Owed, bytes] = {}
        if draw_part is not None:
            assert call.seat is not None
            parts[Owed(PartKind.SHARES, call.seat)] = draw_part
        for owed in owed_parts(call, self.state, with_draw_part=draw_part is not None):
            before = dict(parts)
            payload = self.dealers[owed.seat].part(owed.kind, call, context, before)
            sent = Sent(owed, payload, call, context, before)
            self.sent.append(sent)
            if self.checked:
                assert sent.judged_by(self.observer) is None
            parts[owed] = payload
        closing = self._closing(call, context, parts)
        for dealer in self.everybody():
            dealer.close(call, context, parts)
        self._apply(closing)
        return parts

    def act(self, action: Action, draw_part: bytes | None = None) -> None:
        self._apply(action)
        if self.state.call is not None:
            self.answer(draw_part)

    def rack(self, seat: int) -> dict[Slot, TileId]:
        return dict(self.dealers[seat].own_tiles(self.state))

    def of(self, kind: PartKind, seat: int) -> Sent:
        """The last part of that kind by that seat."""
        return next(sent for sent in reversed(self.sent) if sent.owed == Owed(kind, Seat(seat)))

    def _apply(self, action: Action) -> None:
        self.state = apply(self.state, action)
        self.height += 1

    def _closing(self, call: Call, context: Context, parts: dict[Owed, bytes]) -> Action:
        dealer = self.observer
        match call.name:
            case CallName.START:
                lot = draw_lots(self.state.rules, len(self.dealers), dealer.lot(context, parts))
                return StartDealt(lot.starter)
            case CallName.RACKS:
                return RacksDealt(dealer.face_up(call, context, parts))
            case CallName.DRAW:
                return DrawDealt()
            case _:
                opened = [p for o, b in parts.items() for p in dealer.opened_rack(o.seat, b, call, context)]
                return RacksOpened(tuple(sorted(opened)))


def dealt(rules: RuleSet, seats: int, seed: int = 1, game: bytes = b"game", *, checked: bool = True) -> Deal:
    """A deal whose racks are dealt."""
    deal = Deal(rules, seats, seed, game, checked=checked)
    deal.answer()
    deal.answer()
    return deal
