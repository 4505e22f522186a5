"""The game at a table: judges entries, applies them, and knows which call is open.

An entry is judged once, by the same code for a proposal, for the own log after a restart, for catch-up and for a
finished game's file. Whether it may be proposed *now* is none of this module's business (`consensus.driver`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from engine.actions import (
    Action,
    DealerAction,
    DeclareRummikub,
    Discard,
    Draw,
    DrawDealt,
    Extend,
    Leave,
    LongPause,
    NextGame,
    Pass,
    Pause,
    Play,
    RacksDealt,
    RacksOpened,
    Redealt,
    Remove,
    Resume,
    StartDealt,
    TakeBack,
    TakeDiscard,
    Timeout,
)
from engine.errors import IllegalMove
from engine.redeal import pool_size
from engine.rules import apply
from engine.series import Standing, standing
from engine.setup import draw_lots, start_series
from engine.state import CallName, Phase, PublicState, Seat, Slot, state_hash
from engine.tiles import TileId
from protocol.dealing.call import OpenCall, owed_parts
from protocol.dealing.dealer import Context, Dealer, Entropy, Owed
from protocol.envelope import Envelope, open_envelope
from protocol.errors import RemoteProtocolError
from protocol.log import Committed, check_without, entry_hash
from protocol.messages import (
    ActionEntry,
    AnswersEntry,
    Content,
    DealPart,
    Entry,
    Genesis,
    GenesisEntry,
    NextGameEntry,
    NextGameWish,
    RemoveEntry,
    Request,
    RequestEntry,
    RequestKind,
    SeatAction,
    SignedAction,
)
from protocol.roster import seat_of

NEED_ALL: Final = frozenset({RequestKind.LONG_PAUSE, RequestKind.TAKE_BACK})  # granted when everybody asks for it

DealerMaker = Callable[[Genesis, Seat | None, bytes | None, Entropy], Dealer]
"""Makes the dealer of one game from its `secret()`, None for fresh secrets; an observer has no seat."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What an entry would do. `after` None: refused, for `reason`. `waiting`: data that it names is not here yet.

    `parts`: the answers to the open call that it names, None if it leaves the call void or there is none.
    """

    action: Action | None
    after: PublicState | None
    reason: str = ""
    waiting: bool = False
    parts: Mapping[Owed, bytes] | None = None


class Game:
    """The log's head and the state it led to, as one node sees it."""

    def __init__(
        self,
        genesis: Genesis,
        seat: Seat | None,
        new_dealer: Callable[[Seat | None], Dealer],
        keep: Callable[[Dealer], None] = lambda dealer: None,
        *,
        trusted: bool = False,
    ) -> None:
        """`seat` None: an observer. `new_dealer` gives a fresh dealer for each game; `keep` stores its changed secrets.

        `trusted`, until `resumes`: proofs are taken for right; they are the own journal's, and were checked before.
        """
        self.genesis = genesis
        self.own_seat = seat
        self.trusted = trusted
        self._new_dealer = new_dealer
        self._keep = keep
        self._used_keys: frozenset[bytes] = frozenset()
        self._wishes: dict[Seat, Envelope] = {}
        self._requests: dict[tuple[RequestKind, Seat], Envelope] = {}
        self.state: PublicState = start_series(genesis.rules, len(genesis.members))
        self.dealer = self._fresh_dealer()
        self.height = 1  # of the next entry
        self.head = entry_hash(genesis_committed(genesis, ()).entry)
        self.gid = _game_id(genesis.table, self.state.game, self.head)
        self.call: OpenCall | None = None
        self._open_call()

    @property
    def seat(self) -> Seat | None:
        """The own seat; None for an observer, which is also who was removed from this game."""
        own = self.own_seat
        return own if own is not None and self.state.seats[own].in_game else None

    @property
    def over(self) -> bool:
        """The last game of the series is scored; nothing more can be an entry."""
        return self.state.phase is Phase.OVER and series_standing(self.state).over

    @property
    def between_games(self) -> bool:
        """A game is scored and the series goes on: the next game can be an entry, or that somebody leaves."""
        return self.state.phase is Phase.OVER and not series_standing(self.state).over

    @property
    def first_proposer(self) -> Seat:
        """Whose action is awaited: the turn's actor, for an open call the seat it was made for (section 4).

        Between two games it is the first seat still in the game.
        """
        if self.between_games:
            return self.seats_in_game()[0]
        return self.state.turn if self.call is None else self.call.first_proposer

    def seats_in_game(self) -> tuple[Seat, ...]:
        """V, in seat order."""
        return tuple(Seat(index) for index, seat in enumerate(self.state.seats) if seat.in_game)

    def context(self) -> Context:
        """The moment of the next entry."""
        return Context(self.gid, self.height, self.head, self.state, self._used_keys)

    # Making entries

    def entry(self, content: Content) -> Entry | None:
        """The next entry with this content, None if it is not valid here."""
        judged = self._judge_content(content)
        if judged.after is None:
            return None
        return Entry(self.height, self.head, content, state_hash(judged.after))

    def answers_entry(self) -> Entry | None:
        """The entry that closes the open call, once everything owed is here."""
        if self.call is None or not self.call.complete:
            return None
        return self.entry(AnswersEntry(self.call.call.name.value, self.call.message_digests()))

    def complete_answers(self) -> tuple[bytes, ...] | None:
        """What a removal has to name: the complete answers to a call that brings tiles to a rack (rule 13)."""
        call = self.call
        if call is None or call.call.name not in (CallName.RACKS, CallName.DRAW) or not call.complete:
            return None
        return call.message_digests()

    def next_game_entry(self) -> Entry | None:
        """The entry that begins the next game, once every seat in the game wishes it.

        Seats that were lost sit down again by wishing it too (docs/deal-entries.md, section 5, item 11).
        """
        if not self.between_games or not set(self.seats_in_game()) <= set(self._wishes):
            return None
        wishes = tuple(self._wishes[seat].raw for seat in sorted(self._wishes))
        return self.entry(NextGameEntry(self.state.game + 1, wishes))

    def request_entry(self) -> Entry | None:
        """The entry that grants the first request that waits, in seat order after the actor (rule 10)."""
        seats = self.seats_in_game()
        first = sum(seat <= self.state.turn for seat in seats)
        for seat in (*seats[first:], *seats[:first]):
            for kind in RequestKind:
                asking = [self._requests.get(asked) for asked in self._all_asking(kind, seat)]
                if None not in asking:
                    return self.entry(RequestEntry(tuple(envelope.raw for envelope in asking if envelope is not None)))
        return None

    def _all_asking(self, kind: RequestKind, seat: Seat) -> list[tuple[RequestKind, Seat]]:
        """The requests that it takes to grant one of a seat's."""
        return [(kind, other) for other in (self.seats_in_game() if kind in NEED_ALL else (seat,))]

    def sign_action(self, action: SeatAction) -> SignedAction:
        """The body of the own action with its proofs. Raises `IllegalMove` if the rules refuse it."""
        after = apply(self.state, action)
        context = self.context()
        drawn = _drawn_slots(after)
        part = self.dealer.draw_part(drawn, context) if drawn else b""
        proof = b""
        hidden = self._hidden(laid_by(action))
        if hidden:
            proof = self.dealer.opening(hidden, context)
        return SignedAction(self.height, self.head, action, part, proof)

    # Judging entries

    def judge(self, entry: Entry) -> Judgement:
        """What the next entry would do, or why it is refused."""
        if (entry.height, entry.prev) != (self.height, self.head):
            return Judgement(None, None, f"entry for another place than height {self.height}")
        judged = self._judge_content(entry.content)
        if judged.after is not None and state_hash(judged.after) != entry.state_hash:
            return Judgement(judged.action, None, "state hash differs")
        return judged

    def _judge_content(self, content: Content) -> Judgement:
        match content:
            case AnswersEntry():
                return self._judge_answers(content)
            case NextGameEntry():
                return self._judge_next_game(content)
            case RemoveEntry():
                return self._judge_remove(content)
            case RequestEntry():
                return self._judge_request(content)
            case GenesisEntry():
                return Judgement(None, None, "a second genesis")
        if self.call is not None:
            return Judgement(None, None, f"the call {self.call.call.name.value} is open")
        action: Action
        if isinstance(content, ActionEntry):
            try:
                signed = self.signed_action(content)
            except RemoteProtocolError as error:
                return Judgement(None, None, error.reason)
            reason = self._wrong_proof(signed)
            if reason is not None:
                return Judgement(signed.action, None, reason)
            action = signed.action
        else:
            action = Timeout() if self.state.paused is None else Resume(None)
        return self._applied(action)

    def _judge_remove(self, content: RemoveEntry) -> Judgement:
        """A removal (rule 14). Whether those who stay agreed to it, the certificate shows (rule 16)."""
        seats = tuple(Seat(seat) for seat in content.seats)
        try:
            check_without(self.seats_in_game(), seats)
        except RemoteProtocolError as error:
            return Judgement(None, None, error.reason)
        if content.answers is None:
            return self._applied(Remove(seats))
        if self.call is None or self.call.call.name not in (CallName.RACKS, CallName.DRAW):
            return Judgement(None, None, "answers where no tiles are on their way to a rack")
        named = self.call.named(content.answers)
        if not isinstance(named, dict):
            return Judgement(None, None, named or "not all answers are here", waiting=named is None)
        closing = self._closing_action(named)
        assert isinstance(closing, (RacksDealt, DrawDealt))
        self.dealer.check_whole(self.call.call, self.call.context, named)
        return self._applied(Remove(seats, closing), named)

    def _applied(self, action: Action, parts: Mapping[Owed, bytes] | None = None) -> Judgement:
        try:
            return Judgement(action, apply(self.state, action), parts=parts)
        except IllegalMove as move:
            return Judgement(action, None, f"{move.code}: {move.sentence}")

    def _judge_request(self, content: RequestEntry) -> Judgement:
        try:
            asked = [self._asked(open_envelope(raw)) for raw in content.requests[: len(self.state.seats) + 1]]
        except RemoteProtocolError as error:
            return Judgement(None, None, error.reason)
        if not asked or asked != self._all_asking(*asked[0]):
            return Judgement(None, None, "expected one request, or the same of every seat in the game, in seat order")
        return self._applied(request_action(*asked[0]))

    def _asked(self, envelope: Envelope) -> tuple[RequestKind, Seat]:
        """What is asked for at this moment, and by whom. Raises `RemoteProtocolError`."""
        body, seat = envelope.body, seat_of(self.genesis, envelope.sender)
        if not isinstance(body, Request) or seat is None or envelope.table != self.genesis.table:
            raise RemoteProtocolError(None, "expected a request of a seat of this table")
        if (body.height, body.prev) != (self.height, self.head):
            raise RemoteProtocolError(None, "request for another moment")
        return body.kind, seat

    def _judge_next_game(self, content: NextGameEntry) -> Judgement:
        if not self.between_games:
            return Judgement(None, None, "a next game before this one is over")
        try:
            wishing = tuple(
                self._wishing_seat(open_envelope(raw), content.game)
                for raw in content.wishes[: len(self.state.seats) + 1]
            )
        except RemoteProtocolError as error:
            return Judgement(None, None, error.reason)
        if list(wishing) != sorted(set(wishing)) or not set(self.seats_in_game()) <= set(wishing):
            return Judgement(None, None, "expected a wish of every seat in the game, in seat order")
        action = NextGame(content.game, wishing)
        return self._applied(action)

    def _wishing_seat(self, envelope: Envelope, game: int) -> Seat:
        """Whose wish for this very game it is. Raises `RemoteProtocolError`."""
        body, seat = envelope.body, seat_of(self.genesis, envelope.sender)
        if not isinstance(body, NextGameWish) or seat is None or envelope.table != self.genesis.table:
            raise RemoteProtocolError(None, "expected the wish for a next game of a seat of this table")
        if (body.height, body.prev, body.game) != (self.height, self.head, game):
            raise RemoteProtocolError(None, "wish for another game than the next")
        return seat

    def signed_action(self, content: ActionEntry) -> SignedAction:
        """The actor's own words inside an entry. Raises `RemoteProtocolError` if they are another's, or not for now."""
        envelope = open_envelope(content.envelope)
        body = envelope.body
        if not isinstance(body, SignedAction) or envelope.table != self.genesis.table:
            raise RemoteProtocolError(None, "expected a signed action of this table")
        if (body.height, body.prev) != (self.height, self.head):
            raise RemoteProtocolError(None, "action for another moment")
        seat = seat_of(self.genesis, envelope.sender)
        if seat is None or body.action.seat != seat:
            raise RemoteProtocolError(envelope.sender, "action in the name of another seat", (envelope.raw,))
        return body

    def _wrong_proof(self, signed: SignedAction) -> str | None:
        """Why part or proof of an action is wrong. Judges nothing that `apply` judges."""
        context = self.context()
        hidden = self._hidden(laid_by(signed.action))
        rack = frozenset(self.state.seats[signed.action.seat].rack)
        if any(slot not in rack for slot, _tile in hidden):
            return "plays a tile that is not on the rack"
        if not hidden and signed.proof:
            return "an opening proof where nothing is opened"
        if self.trusted:
            return None
        if hidden:
            reason = self.dealer.check_opening(signed.action.seat, hidden, signed.proof, context)
            if reason is not None:
                return f"opening: {reason}"
        slots = self._drawn_by(signed.action)
        if not slots:
            return "a share where nothing is drawn" if signed.part else None
        reason = self.dealer.check_draw_part(signed.action.seat, slots, signed.part, context)
        return None if reason is None else f"own part of the draw: {reason}"

    def _drawn_by(self, action: SeatAction) -> tuple[Slot, ...]:
        """The hidden slots an action draws, none if it is refused anyway."""
        try:
            return _drawn_slots(apply(self.state, action))
        except IllegalMove:
            return ()

    def _hidden(self, laid: Sequence[tuple[Slot, TileId]]) -> tuple[tuple[Slot, TileId], ...]:
        known = self.state.known_tiles()
        return tuple(pair for pair in laid if pair[0] not in known)

    def _judge_answers(self, content: AnswersEntry) -> Judgement:
        if self.call is None or content.call != self.call.call.name.value:
            return Judgement(None, None, "answers to a call that is not open")
        named = self.call.named(content.messages)
        if not isinstance(named, dict):
            return Judgement(None, None, named or "not all answers are here", waiting=named is None)
        self.dealer.check_whole(self.call.call, self.call.context, named)
        return self._applied(self._closing_action(named), named)

    def _closing_action(self, parts: Mapping[Owed, bytes]) -> DealerAction:
        """What the answers to the open call make known, for the engine."""
        assert self.call is not None
        call, context = self.call.call, self.call.context
        match call.name:
            case CallName.START:
                return StartDealt(self._starter(context, parts))
            case CallName.RACKS:
                return RacksDealt(self.dealer.face_up(call, context, parts))
            case CallName.DRAW:
                return DrawDealt()
            case CallName.REDEAL:
                return Redealt(pool_size(self.state))
            case CallName.FINAL:
                opened = [
                    pair
                    for owed, payload in parts.items()
                    for pair in self.dealer.opened_rack(owed.seat, payload, call, context)
                ]
                return RacksOpened(tuple(sorted(opened)))

    def _starter(self, context: Context, parts: Mapping[Owed, bytes]) -> Seat | None:
        """The seat that the lot names; later games of a series rotate instead (docs/deal-entries.md, section 5)."""
        if self.state.game > 0:
            return None
        seats = self.seats_in_game()
        return seats[draw_lots(self.state.rules, len(seats), self.dealer.lot(context, parts)).starter]

    # Applying entries

    def commit(self, committed: Committed, judged: Judgement) -> None:
        """Make the next entry part of the log; `judged` is what `judge` said of it."""
        assert judged.after is not None, "only a valid entry is committed"
        entry = committed.entry
        if judged.parts is not None:
            assert self.call is not None
            self.dealer.close(self.call.call, self.call.context, judged.parts)
            self._used_keys |= self.dealer.public_keys()
        draw_part = self.signed_action(entry.content).part if isinstance(entry.content, ActionEntry) else None
        self.state = judged.after
        self.head = entry_hash(entry)
        self.height = entry.height + 1
        self.call = None
        self._wishes = {}
        self._requests = {}
        if isinstance(entry.content, NextGameEntry):
            self.gid = _game_id(self.genesis.table, self.state.game, self.head)
            self.dealer = self._fresh_dealer()
        if isinstance(judged.action, (Leave, Remove)):
            self._without_some()
        elif self.state.phase is Phase.OVER:
            self._keep(self.dealer)
        if self.state.call is not None:
            self._open_call(draw_part if self.state.call.name is CallName.DRAW else None)

    def _without_some(self) -> None:
        """Seats are gone: what this node must have anew, or must forget (rules 19, 20)."""
        anew = self.state.phase is Phase.START
        if anew or self.seat is None:
            self.dealer.erase()
        if anew:
            self.dealer = self._fresh_dealer()
            return
        if self.state.call is not None and self.state.call.name is CallName.REDEAL:
            self.dealer.renew()
        self._keep(self.dealer)

    def _fresh_dealer(self) -> Dealer:
        dealer = self._new_dealer(self.seat)
        self._keep(dealer)
        return dealer

    def attachments(self, entry: Entry) -> tuple[bytes, ...]:
        """The messages that the next entry names, to be kept and passed on with it."""
        match entry.content:
            case AnswersEntry(_, digests) | RemoveEntry(_, _, tuple() as digests):
                assert self.call is not None
                return tuple(envelope.raw for envelope in self.call.named_envelopes(digests))
            case _:
                return ()

    def replay(self, committed: Committed) -> Judgement:
        """Judge and apply a committed entry with its attachments. Raises `RemoteProtocolError` if it is wrong."""
        if self.call is not None:
            parts = [open_envelope(raw) for raw in committed.attachments]
            for part in parts:
                self.add_part(part, agreed={part.digest for part in parts})
            self.call.check_now()
        judged = self.judge(committed.entry)
        if judged.after is None:
            raise RemoteProtocolError(None, f"entry at height {committed.entry.height}: {judged.reason}")
        if committed.attachments != self.attachments(committed.entry):
            raise RemoteProtocolError(None, f"entry at height {committed.entry.height}: other messages than it names")
        self.commit(committed, judged)
        return judged

    def resumes(self, secret: bytes) -> None:
        """The own journal is replayed: nothing more is taken on trust. `secret` is what the dealer last had kept."""
        self.trusted = False
        if self.seat is not None and secret:
            self.dealer.restore(self.seat, secret)

    def add_part(self, envelope: Envelope, agreed: Collection[bytes] = ()) -> bool:
        """Hold a part of the open call; False if it was held. `agreed`: see `OpenCall.add`.

        Raises `RemoteProtocolError`.
        """
        seat = seat_of(self.genesis, envelope.sender)
        if seat is None or envelope.table != self.genesis.table or not isinstance(envelope.body, DealPart):
            raise RemoteProtocolError(None, "expected a part of the deal by a seat of this table")
        if self.call is None:
            raise RemoteProtocolError(None, "part of a deal while no call is open")
        return self.call.add(seat, envelope, agreed)

    def request(self, kind: RequestKind) -> Request:
        """The body of an own request."""
        return Request(self.height, self.head, kind)

    def add_request(self, envelope: Envelope) -> bool:
        """Hold a request; False if it was held. Raises `RemoteProtocolError`, also if the rules do not allow it."""
        asked = self._asked(envelope)
        if asked in self._requests:
            return False
        judged = self._applied(request_action(*asked))
        if judged.after is None:
            raise RemoteProtocolError(envelope.sender, f"request {asked[0].value}: {judged.reason}")
        self._requests[asked] = envelope
        return True

    def requests(self) -> dict[tuple[RequestKind, Seat], Envelope]:
        """The requests that wait."""
        return dict(self._requests)

    def wish(self) -> NextGameWish:
        """The body of the own wish for the next game."""
        return NextGameWish(self.height, self.head, self.state.game + 1)

    def add_wish(self, envelope: Envelope) -> bool:
        """Hold a seat's wish for the next game; False if it was held. Raises `RemoteProtocolError`."""
        if not self.between_games:
            raise RemoteProtocolError(None, "wish for a next game before this one is over")
        seat = self._wishing_seat(envelope, self.state.game + 1)
        if seat in self._wishes:
            return False
        self._wishes[seat] = envelope
        return True

    def wishes(self) -> dict[Seat, Envelope]:
        """The wishes for the next game that are held, by seat."""
        return dict(self._wishes)

    def _open_call(self, draw_part: bytes | None = None) -> None:
        call = self.state.call
        assert call is not None
        seats = self.seats_in_game()
        first = call.seat
        if first is None:
            first = seats[0] if self.state.phase is not Phase.FINAL else self._after(self.state.turn, seats)
        owed = owed_parts(call, self.state, with_draw_part=draw_part is not None)
        self.call = OpenCall(call, self.context(), owed, self.dealer, first, self.seat, draw_part, trusted=self.trusted)

    @staticmethod
    def _after(turn: Seat, seats: Sequence[Seat]) -> Seat:
        return next((seat for seat in seats if seat > turn), seats[0])


def series_standing(state: PublicState) -> Standing:
    """Where the series stands, the game just scored included."""
    results = state.results if state.result is None else (*state.results, state.result)
    return standing(state.rules, results, len(state.seats))


def request_action(kind: RequestKind, seat: Seat) -> Action:
    """What happens if a seat's request is granted."""
    match kind:
        case RequestKind.LEAVE:
            return Leave(seat)
        case RequestKind.RESUME:
            return Resume(seat)
        case RequestKind.EXTEND:
            return Extend(seat)
        case RequestKind.PAUSE:
            return Pause(seat)
        case RequestKind.LONG_PAUSE:
            return LongPause()
        case RequestKind.TAKE_BACK:
            return TakeBack()


def _drawn_slots(after: PublicState) -> tuple[Slot, ...]:
    """The hidden slots that are being drawn in a state."""
    return after.call.slots if after.call is not None and after.call.name is CallName.DRAW else ()


def laid_by(action: SeatAction) -> tuple[tuple[Slot, TileId], ...]:
    """The slots and tiles that an action takes from the rack."""
    match action:
        case Play():
            return action.laid
        case DeclareRummikub():
            return action.play.laid
        case Discard():
            return ((action.slot, action.tile),)
        case Draw() | Pass() | TakeDiscard():
            return ()


def genesis_committed(genesis: Genesis, certificate: tuple[bytes, ...]) -> Committed:
    """Height 0 of the log of a table with this genesis."""
    first = start_series(genesis.rules, len(genesis.members))
    return Committed(Entry(0, bytes(32), GenesisEntry(genesis), state_hash(first)), certificate, ())


def _game_id(table: bytes, game: int, start: bytes) -> bytes:
    """gid of docs/dealing.md, section 3.1, which names one game; `start` is the hash of the entry that began it."""
    fields = (b"RK1/gid", table, game.to_bytes(8, "big"), start)
    return hashlib.sha512(b"".join(len(item).to_bytes(8, "big") + item for item in fields)).digest()
