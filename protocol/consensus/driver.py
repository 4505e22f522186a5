"""One height: signed messages and time in, votes out, and what may be proposed (rules 3, 4, 8 to 11).

A `HeightDriver` lives from the commit of one entry to the commit of the next. It never looks at a clock: `now_s` comes
in, and `next_deadline_s` says when to call `advance` again. The rules of the round itself are in `round`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from engine.state import Seat
from protocol.codec import encode
from protocol.consensus.round import (
    CastPrecommit,
    CastPrevote,
    Commit,
    EnterRound,
    Judged,
    Lock,
    Seen,
    Standing,
    Verdict,
    next_step,
)
from protocol.consensus.votes import Added, Backed, RoundKey, Step, VoteBook
from protocol.dealing.call import MAX_VERSIONS
from protocol.envelope import Envelope, open_envelope
from protocol.errors import RemoteProtocolError
from protocol.game import Game, Judgement
from protocol.log import Committed, check_without, entry_hash, voters_of
from protocol.messages import (
    ActionEntry,
    AnswersEntry,
    Body,
    DealPart,
    Entry,
    GoOnWish,
    NextGameEntry,
    NextGameWish,
    Precommit,
    Prevote,
    Proposal,
    Regroup,
    RemoveEntry,
    Request,
    RequestEntry,
    RequestKind,
    SignedAction,
    TimeoutEntry,
)
from protocol.outputs import Output, RecordKind, Send, Store
from protocol.roster import seat_of

MAX_ROUNDS_AHEAD: Final = 16  # rule 8
MAX_ROUNDS_COUNTED: Final = 32  # what a seat has signed for beyond that does not drive a `Regroup` out of others' reach
PROPOSE_TIMEOUT_S: Final = 1.0  # rule 11
PROPOSE_TIMEOUT_GROWTH_S: Final = 0.5
ANSWERS_CLOCK_S: Final = 1.0  # deal-entries section 4
AGREEMENT_BODIES: Final = (
    SignedAction,
    Request,
    NextGameWish,
    Proposal,
    Prevote,
    Precommit,
    Regroup,
    GoOnWish,
    DealPart,
)
REFUSALS: Final = 3  # rule 15: rounds running in which one seat stands against all others
MAX_OFFENCES: Final = 4  # of one seat at one height that are kept for others
MAX_ACTIONS: Final = 4  # different actions of the actor that are kept at one height


@dataclass(frozen=True, slots=True)
class _KnownAction:
    """The actor's signed action as this node knows it. `entry` None: illegal."""

    envelope: Envelope
    arrived_s: float
    entry: Entry | None


@dataclass(frozen=True, slots=True)
class LockRecord:
    """A precommit with everything that must survive with it (rule 2): the entry and its whole proof."""

    precommit: bytes
    entry: Entry
    proof: tuple[bytes, ...]


@dataclass(slots=True)
class HeightDriver:
    """Agreement on the entry at `game.height`.

    `seal` signs a body with this node's key; an observer (`game.seat` None) never calls it. `report` takes what a node
    did wrong where the message that shows it is not itself refused. `clock_end_s` is when this
    node's own clock of the turn ends, None for never; while a call is open it is set once all answers are here.
    """

    game: Game
    seal: Callable[[Body], Envelope]
    report: Callable[[RemoteProtocolError], None]
    clock_end_s: float | None
    outputs: list[Output]
    may_leave_out: Callable[[Seat, float], bool] = lambda seat, now_s: False  # rule 15, but for `refusers`
    committed: tuple[Committed, Judgement, int] | None = None  # the result, with the round it was agreed in
    _standing: Standing = field(default_factory=Standing)
    _book: VoteBook = field(init=False)
    _entries: dict[bytes, Entry] = field(default_factory=dict)
    _judged: dict[bytes, Judgement] = field(default_factory=dict)
    _proposals: dict[tuple[int, Seat], Envelope] = field(default_factory=dict)
    _actions: dict[bytes, _KnownAction] = field(default_factory=dict)
    _request: Entry | None = None  # what grants the first request that waits
    _regroups: dict[int, dict[Seat, Envelope]] = field(default_factory=dict)  # by round
    _wishes: dict[Seat, tuple[GoOnWish, Envelope]] = field(default_factory=dict)
    _offences: list[Envelope] = field(default_factory=list)  # messages that prove their sender's fault
    _round_since_s: float = 0.0
    _wished_since_s: float = 0.0
    _voted_s: dict[tuple[Step, RoundKey], float] = field(default_factory=dict)
    _released_since_s: float | None = None

    def __post_init__(self) -> None:
        in_game = (Seat(index) for index, seat in enumerate(self.game.state.seats) if seat.in_game)
        self._book = VoteBook(tuple(in_game))

    @property
    def round(self) -> int:
        """The round this node stands in."""
        return self._standing.key.round

    @property
    def acted(self) -> bool:
        """Whether the actor's legal action is known here."""
        return any(action.entry is not None for action in self._actions.values())

    # Messages in

    def receive(self, envelope: Envelope, now_s: float) -> bool:
        """Take in a message of this height; True if it was new and belongs forwarded (rule 8).

        Raises `RemoteProtocolError`; then nothing has changed. A message that proves its sender's fault is reported and
        kept for the others: who has not seen it would not go on without that seat.
        """
        try:
            return self._take(envelope, now_s)
        except RemoteProtocolError as error:
            if error.node != envelope.sender or not error.evidence or not self._keep_offence(envelope):
                raise
            self.report(error)
            return True

    def _keep_offence(self, envelope: Envelope) -> bool:
        known = [offence for offence in self._offences if offence.sender == envelope.sender]
        if envelope in known or len(known) >= MAX_OFFENCES:
            return False
        self._offences.append(envelope)
        return True

    def _take(self, envelope: Envelope, now_s: float) -> bool:
        seat = seat_of(self.game.genesis, envelope.sender)
        body = envelope.body
        if seat is None or not isinstance(body, AGREEMENT_BODIES):
            raise RemoteProtocolError(envelope.sender, f"{envelope.kind} of a node without a seat")
        if (body.height, body.prev) != (self.game.height, self.game.head):
            raise RemoteProtocolError(None, f"{envelope.kind} on another branch than ours")
        if seat not in self._book.seats and not isinstance(body, NextGameWish):
            raise RemoteProtocolError(None, f"{envelope.kind} of a seat that is out of the game")
        match body:
            case SignedAction():
                new = self._take_action(envelope, now_s)
            case DealPart():
                new = self._take_part(envelope)
            case Request():
                new = self._take_request(envelope)
            case NextGameWish():
                new = self.game.add_wish(envelope)
            case Proposal():
                new = self._take_proposal(seat, envelope, body, now_s)
            case Prevote():
                new = self._take_vote(Step.PREVOTE, seat, envelope, body)
                if new:
                    self._take_proof(envelope, body.proof)
            case Precommit():
                new = self._take_vote(Step.PRECOMMIT, seat, envelope, body)
            case Regroup():
                new = self._take_regroup(seat, envelope, body)
            case GoOnWish():
                new = self._take_wish(seat, envelope, body)
        return new

    def _take_regroup(self, seat: Seat, envelope: Envelope, body: Regroup) -> bool:
        self._check_round(envelope, RoundKey(body.round, body.without), 2 * MAX_ROUNDS_COUNTED)
        if seat in body.without or body.round == 0:
            raise RemoteProtocolError(envelope.sender, "a regroup that leaves out its signer", (envelope.raw,))
        held = self._regroups.get(body.round, {}).get(seat)
        if held is not None:
            if held.raw == envelope.raw:
                return False
            raise RemoteProtocolError(envelope.sender, "two regroups for one round", (held.raw, envelope.raw))
        call = self.game.call
        if len(body.answers) > (0 if call is None else MAX_VERSIONS * len(call.owed)):
            raise RemoteProtocolError(envelope.sender, "a regroup with more answers than are owed")
        self._take_proof(envelope, body.proof)
        for raw in body.answers:
            self._take_answer(raw)
        self._regroups.setdefault(body.round, {})[seat] = envelope
        return True

    def _take_answer(self, raw: bytes) -> None:
        """A part of the open call inside a regroup counts like one that came by itself (rule 15)."""
        answer = open_envelope(raw)
        if isinstance(answer.body, DealPart) and self.game.call is not None:
            try:
                self._take_part(answer)
            except RemoteProtocolError as error:  # who passes it on does not answer for it
                self.report(error)

    def _take_wish(self, seat: Seat, envelope: Envelope, body: GoOnWish) -> bool:
        self._check_round(
            envelope, RoundKey(body.round + 1, body.without or ()), 2 * MAX_ROUNDS_COUNTED
        )  # the next regroup goes one higher
        held = self._wishes.get(seat)
        if held is not None and held[0].stamp >= body.stamp:
            return False
        self._wishes[seat] = (body, envelope)
        return True

    def _take_action(self, envelope: Envelope, now_s: float) -> bool:
        if envelope.digest in self._actions:
            return False
        content = ActionEntry(envelope.raw)
        signed = self.game.signed_action(content)  # of this very moment: another's proposal may hold an older one
        if self.game.call is not None:
            raise RemoteProtocolError(envelope.sender, "action while a call is open", (envelope.raw,))
        if signed.action.seat != self.game.state.turn:
            raise RemoteProtocolError(envelope.sender, "action out of turn", (envelope.raw,))
        if len(self._actions) >= MAX_ACTIONS:
            raise RemoteProtocolError(envelope.sender, "too many actions at one height")
        entry = self.game.entry(content)
        self._actions[envelope.digest] = _KnownAction(envelope, now_s, entry)
        if entry is None:
            reason = self.game.judge(Entry(self.game.height, self.game.head, content, bytes(32))).reason
            self.report(RemoteProtocolError(envelope.sender, f"illegal action: {reason}", (envelope.raw,)))
        else:
            self._entries[entry_hash(entry)] = entry
        return True

    def _take_request(self, envelope: Envelope) -> bool:
        new = self.game.add_request(envelope)
        self._request = self.game.request_entry()
        if self._request is not None:
            self._entries[entry_hash(self._request)] = self._request
        return new

    def _take_part(self, envelope: Envelope) -> bool:
        new = self.game.add_part(envelope)
        self._report_faults()
        return new

    def _report_faults(self) -> None:
        """What was found wrong in the parts of the open call."""
        assert self.game.call is not None
        for fault in self.game.call.faults:
            self.report(fault)
        self.game.call.faults.clear()

    def _take_proposal(self, seat: Seat, envelope: Envelope, body: Proposal, now_s: float) -> bool:
        key = RoundKey(body.round, body.without)
        self._check_round(envelope, key)
        if seat != self.proposer(key):
            raise RemoteProtocolError(envelope.sender, f"proposal of round {key.round} out of order", (envelope.raw,))
        held = self._proposals.get((key.round, seat))
        if held is not None:
            if held.raw == envelope.raw:
                return False
            raise RemoteProtocolError(envelope.sender, "two proposals in one round", (held.raw, envelope.raw))
        entry = body.entry
        if (entry.height, entry.prev) != (self.game.height, self.game.head):
            raise RemoteProtocolError(envelope.sender, "proposes an entry for another place", (envelope.raw,))
        if isinstance(entry.content, ActionEntry):
            self._take_action(open_envelope(entry.content.envelope), now_s)
        self._take_proof(envelope, body.proof)
        self._proposals[(key.round, seat)] = envelope
        self._entries[entry_hash(entry)] = entry
        judged = self._judge(entry_hash(entry))
        if judged.after is None and not judged.waiting:
            self.report(RemoteProtocolError(envelope.sender, f"wrong proposal: {judged.reason}", (envelope.raw,)))
        return True

    def _take_vote(self, step: Step, seat: Seat, envelope: Envelope, body: Prevote | Precommit) -> bool:
        key = RoundKey(body.round, body.without)
        self._check_round(envelope, key)
        added = self._book.add(step, seat, key, body.entry, envelope)
        if added is Added.CONFLICT:
            first = self._book.vote_of(step, seat, key.round)
            assert first is not None
            raise RemoteProtocolError(
                envelope.sender, f"two different {step.value}s in round {key.round}", (first.raw, envelope.raw)
            )
        return added is Added.NEW

    def _take_proof(self, envelope: Envelope, proof: tuple[bytes, ...]) -> None:
        """The prevotes inside another message. Not more than there can be are opened, which takes time."""
        if len(proof) > len(self._book.seats):
            raise RemoteProtocolError(envelope.sender, "a proof of more prevotes than there are voters")
        votes = [self._proof_vote(raw) for raw in proof]
        # A liar's other votes may have filled its place: its vote finds room beside those that it agrees with.
        for vote in sorted(votes, key=lambda vote: self._book.versions(vote[0], vote[2].round)):
            self._take_proof_vote(*vote)

    def _proof_vote(self, raw: bytes) -> tuple[Seat, Envelope, Prevote]:
        envelope = open_envelope(raw)
        body = envelope.body
        seat = seat_of(self.game.genesis, envelope.sender)
        fits = isinstance(body, Prevote) and (body.height, body.prev) == (self.game.height, self.game.head)
        if seat is None or not fits or envelope.table != self.game.genesis.table:
            raise RemoteProtocolError(None, "proof holds something else than a prevote of this height")
        assert isinstance(body, Prevote)
        return seat, envelope, body

    def _take_proof_vote(self, seat: Seat, envelope: Envelope, body: Prevote) -> None:
        """A prevote inside another message counts like one that came by itself (rule 8)."""
        try:
            self._take_vote(Step.PREVOTE, seat, envelope, body)
        except RemoteProtocolError as error:  # who shows a proof does not answer for a liar's other vote in it
            if not error.evidence:
                raise
            self.report(error)

    def _check_round(self, envelope: Envelope, key: RoundKey, ahead: int = MAX_ROUNDS_AHEAD) -> None:
        check_without(self._book.seats, key.without)
        proven = self._book.backed(Step.PREVOTE)
        highest = max(self.round, 0 if proven is None else proven.key.round)
        if not 0 <= key.round <= highest + ahead:
            raise RemoteProtocolError(None, f"round {key.round} is too far ahead")

    # Own words

    def propose_action(self, signed: SignedAction, now_s: float) -> None:
        """The own player's action, already found legal: sign it, and propose it or tell whoever proposes now."""
        envelope = self._speak(signed)
        self._take_action(envelope, now_s)
        self.advance(now_s)

    def ask(self, kind: RequestKind) -> None:
        """The own player asks for something that the rules allow now."""
        self._take_request(self._speak(self.game.request(kind)))

    def wish_next_game(self, now_s: float) -> None:
        """The own player wants the next game of the series; who was lost sits down again for it."""
        self.game.add_wish(self._speak(self.game.wish()))
        self.advance(now_s)

    def restore(self, envelope: Envelope, now_s: float) -> None:
        """Take back an own message from the journal: this node stands where it had signed (rule 2)."""
        self.receive(envelope, now_s)
        body = envelope.body
        if not isinstance(body, (Proposal, Prevote, Precommit, Regroup)):
            return
        key = RoundKey(body.round, body.without)
        if key.round > self.round:
            self._standing = Standing(key, not isinstance(body, Regroup), lock=self._standing.lock)
        elif key == self._standing.key and not isinstance(body, Regroup):
            self._standing = replace(self._standing, entered=True)  # it has voted there
        self._standing = replace(
            self._standing,
            proposed=self._standing.proposed or isinstance(body, Proposal),
            prevoted=self._standing.prevoted or isinstance(body, (Prevote, Precommit)),
            precommitted=self._standing.precommitted or isinstance(body, Precommit),
        )

    def restore_lock(self, record: LockRecord, now_s: float) -> None:
        """Take back a lock from the journal, with its entry and proof."""
        self._entries[entry_hash(record.entry)] = record.entry
        for raw in record.proof:
            self._take_proof_vote(*self._proof_vote(raw))
        envelope = open_envelope(record.precommit)
        assert isinstance(envelope.body, Precommit)
        self.restore(envelope, now_s)
        self._standing = replace(self._standing, lock=Lock(entry_hash(record.entry), envelope.body.round))

    def held(self) -> list[Envelope]:
        """Every message of this height that a peer may need, in an order it can use."""
        parts = list(self.game.call.envelopes()) if self.game.call is not None else []
        parts += [envelope for _seat, envelope in sorted(self.game.wishes().items())]
        parts += list(self.game.requests().values())
        actions = [action.envelope for action in self._actions.values()]
        proposals = [envelope for _place, envelope in sorted(self._proposals.items())]
        regroups = [by_seat[seat] for _round, by_seat in sorted(self._regroups.items()) for seat in sorted(by_seat)]
        wishes = [envelope for _seat, (_wish, envelope) in sorted(self._wishes.items())]
        return [*parts, *actions, *proposals, *self._book.envelopes(), *regroups, *wishes, *self._offences]

    # Going on without some (rules 13 to 18)

    def wish_to_go_on(self, without: tuple[int, ...] | None, now_s: float) -> bool:
        """Show the own player's wish: to go on without these seats, with all again (empty), or none any more (None).

        False if it was shown already.
        """
        assert self.game.seat is not None
        held = self._wishes.get(self.game.seat)
        now_wished = (None, self.round) if held is None else (held[0].without, held[0].round)
        if (without, self.round) == now_wished or (without is None and now_wished[0] is None):
            return False
        if without != now_wished[0]:
            self._wished_since_s = now_s
        stamp = 0 if held is None else held[0].stamp + 1
        envelope = self._speak(GoOnWish(self.game.height, self.game.head, stamp, without, self.round))
        self._wishes[self.game.seat] = (self._wish_in(envelope), envelope)
        return True

    @property
    def left_rounds(self) -> bool:
        """Whether this node has signed to leave the rounds of all, and has not come back to them."""
        return bool(self._standing.key.without) or not self._standing.entered

    def stranded(self, without: tuple[int, ...], now_s: float, limit_s: float) -> bool:
        """Whether this node has left the round, some who stay do not agree to go on `without` these, and time is up.

        For who is on its way back time is up at once. Not stranded is who wishes the same as one that has not left:
        there is no way back without that one.
        """
        standing = self._standing
        others = [seat for seat in voters_of(self._book.seats, without) if seat != self.game.seat]
        if standing.entered or all(self._agrees(seat, without) for seat in others):
            return False
        if standing.key.without and now_s - self._round_since_s <= limit_s:
            return False
        wishes = self.wishes()
        return not any(wishes.get(seat) == without and not self._has_left(seat) for seat in others)

    def _has_left(self, seat: Seat) -> bool:
        """Whether a seat has signed for the round that this node has signed for, or for a later one."""
        return any(seat in by_seat for number, by_seat in self._regroups.items() if number >= self.round)

    def wishes(self) -> dict[Seat, tuple[int, ...]]:
        """Without whom the seats wish to go on, of those that do."""
        return {seat: wish.without for seat, (wish, _raw) in self._wishes.items() if wish.without is not None}

    def refusers(self) -> set[Seat]:
        """Seats that in three rounds running prevoted nil without a proof against all others' one entry (rule 15)."""
        rounds = range(self.round - REFUSALS + 1, self.round + 1)
        if rounds.start < 0:
            return set()
        return {seat for seat in self._book.seats if all(self._stood_against(seat, number) for number in rounds)}

    def _stood_against(self, seat: Seat, number: int) -> bool:
        choices = self._book.choices(Step.PREVOTE, RoundKey(number, ()))
        others = {choices.get(other) for other in self._book.seats if other != seat}
        vote = self._book.vote_of(Step.PREVOTE, seat, number)
        nil = vote is not None and isinstance(vote.body, Prevote) and vote.body.entry is None and not vote.body.proof
        return nil and len(others) == 1 and None not in others

    def owing_votes(self, now_s: float, limit_s: float) -> set[Seat]:
        """Voters of the own round whose vote is missing although this node cast its own that long ago.

        And where some have signed to go on without others: seats that do not wish the way back.
        """
        owing: set[Seat] = set()
        key = self._standing.key
        for step in Step:
            since_s = self._voted_s.get((step, key))
            if since_s is not None and now_s - since_s > limit_s:
                owing.update(set(self._book.voters(key)) - set(self._book.choices(step, key)))
        wishes = self.wishes()
        apart = self.left_rounds or max(self._regroups, default=0) > self.round
        goes_back = apart and self.game.seat is not None and wishes.get(self.game.seat) == ()
        if goes_back and now_s - self._wished_since_s > limit_s:
            owing.update(seat for seat in self._book.seats if wishes.get(seat) != ())
        return owing - {self.game.seat} if self.game.seat is not None else owing

    @staticmethod
    def _wish_in(envelope: Envelope) -> GoOnWish:
        assert isinstance(envelope.body, GoOnWish)
        return envelope.body

    def _regroup(self, now_s: float) -> None:
        """Rules 15 to 17: sign when all who stay wish it, enter the round when all have signed."""
        own = self.game.seat
        if own is None:
            return
        wished = self.wishes().get(own)
        if wished is not None and self._may_sign(wished, now_s) and self._all_wish(wished):
            self._sign_regroup(self._next_round(wished), wished, now_s)
        key = self._standing.key
        if not self._standing.entered and self._certificate(key) is not None:
            self._standing = replace(self._standing, entered=True)
            self._round_since_s = now_s

    def _may_sign(self, without: tuple[int, ...], now_s: float) -> bool:
        """Rule 15, but for what is asked of the others; the way back is always open (rule 17)."""
        own, at_it = self.game.seat, self._standing.key.without == without
        if own in without:
            return False
        if at_it and self._standing.entered and not (self._is_left_behind() if without else self._somebody_left()):
            return False  # there already
        if at_it and not self._standing.entered and not self._overtaken():
            return False  # signed for it already
        refusers = self.refusers()
        return all(Seat(seat) in refusers or self.may_leave_out(Seat(seat), now_s) for seat in without)

    def _somebody_left(self) -> bool:
        """Whether another seat has signed to leave the rounds of all, for a round above the own one."""
        return any(number > self.round for number in self._regroups)

    def _overtaken(self) -> bool:
        """Whether somebody who stays has signed for the same seats in a higher round (rule 17)."""
        key = self._standing.key
        return any(
            number > key.round and isinstance(envelope.body, Regroup) and envelope.body.without == key.without
            for number, by_seat in self._regroups.items()
            for envelope in by_seat.values()
        )

    def _is_left_behind(self) -> bool:
        """Whether more than half of V have signed for the same seats in a higher round.

        They had gone on without this node too, and are back. Fewer may be liars, who could do so for ever.
        """
        key = self._standing.key
        ahead = {
            seat
            for number, by_seat in self._regroups.items()
            for seat, envelope in by_seat.items()
            if number > key.round and isinstance(envelope.body, Regroup) and envelope.body.without == key.without
        }
        return 2 * len(ahead) > len(self._book.seats)

    def _all_wish(self, without: tuple[int, ...]) -> bool:
        return all(self._agrees(seat, without) for seat in voters_of(self._book.seats, without))

    def _agrees(self, seat: Seat, without: tuple[int, ...]) -> bool:
        """Whether a seat wishes to go on without these, or has signed it and nothing after that."""
        if self.wishes().get(seat) == without:
            return True
        signed = [by_seat[seat].body for _number, by_seat in sorted(self._regroups.items()) if seat in by_seat]
        return bool(signed) and isinstance(signed[-1], Regroup) and signed[-1].without == without

    def _next_round(self, without: tuple[int, ...]) -> int:
        """One more than the highest round that any who stay have signed for, or that one if it is for these seats."""
        stay = voters_of(self._book.seats, without)
        highest = max(self.round, *(self._highest_signed(seat) for seat in stay))
        signed = [self._regroups.get(highest, {}).get(seat) for seat in stay]
        for_them = all(
            isinstance(envelope.body, Regroup) and envelope.body.without == without
            for envelope in signed
            if envelope is not None
        )
        voted = any(highest in self._book.rounds_of(seat) for seat in stay)
        join = highest > self.round and any(signed) and for_them and not voted
        return highest if join else highest + 1

    def _highest_signed(self, seat: Seat) -> int:
        wish = self._wishes.get(seat)
        regroups = (number for number, by_seat in self._regroups.items() if seat in by_seat)
        rounds = (0 if wish is None else wish[0].round, *self._book.rounds_of(seat), *regroups)
        return max((number for number in rounds if number <= self.round + MAX_ROUNDS_COUNTED), default=0)

    def _sign_regroup(self, number: int, without: tuple[int, ...], now_s: float) -> None:
        lock = self._standing.lock
        proof: tuple[bytes, ...] = ()
        if lock is not None:
            proof = self._book.proof(lock.entry, lock.round)
        call = self.game.call
        answers = () if call is None else tuple(part.raw for part in call.envelopes() if self._seat(part) in without)
        body = Regroup(
            self.game.height,
            self.game.head,
            number,
            without,
            None if lock is None else lock.entry,
            -1 if lock is None else lock.round,
            proof,
            answers,
            self._reason(without),
        )
        self._standing = Standing(RoundKey(number, without), entered=False, lock=lock)
        self._round_since_s = now_s
        envelope = self._speak(body)
        assert self.game.seat is not None
        self._regroups.setdefault(number, {})[self.game.seat] = envelope

    def _seat(self, envelope: Envelope) -> int | None:
        return seat_of(self.game.genesis, envelope.sender)

    def _reason(self, without: tuple[int, ...]) -> str:
        return "refused" if without and set(map(Seat, without)) <= self.refusers() else "absent"

    def _certificate(self, key: RoundKey) -> tuple[bytes, ...] | None:
        """Certificate 16 of a round: the regroups of all who stay."""
        signed = self._regroups.get(key.round, {})
        raws = []
        for seat in voters_of(self._book.seats, key.without):
            envelope = signed.get(seat)
            if envelope is None or not isinstance(envelope.body, Regroup) or envelope.body.without != key.without:
                return None
            raws.append(envelope.raw)
        return tuple(raws)

    def _way_to(self, key: RoundKey) -> tuple[bytes, ...] | None:
        """Certificate 16 of the round itself, or of the last one from which rule 6 led to it."""
        rounds = (RoundKey(number, key.without) for number in range(key.round, -1, -1))
        return next((found for before in rounds if (found := self._certificate(before)) is not None), None)

    # Time and progress

    def next_deadline_s(self) -> float | None:
        """When `advance` must be called although no message came."""
        if self.game.seat is None:
            return None  # an observer only listens
        deadlines = []
        if self.clock_end_s is not None and self._released_since_s is None:
            deadlines.append(self.clock_end_s)
        waits = not self._standing.prevoted and self._standing.entered
        if waits and (self._standing.key.without or (self._released_since_s is not None and self.round > 0)):
            deadlines.append(self._propose_timeout_s())
        return min(deadlines, default=None)

    def advance(self, now_s: float) -> None:
        """Do everything that can be done now: answer the call, propose, vote, move to the next round, commit."""
        while self.committed is None:
            self._answer_call(now_s)
            self._release(now_s)
            self._regroup(now_s)
            self._propose(now_s)
            step = next_step(self._standing, self._seen(now_s))
            match step:
                case None:
                    return
                case Commit(certified):
                    if not self._commit(certified):
                        return
                case EnterRound(key):
                    self._standing = Standing(key, lock=self._standing.lock)
                    self._round_since_s = now_s
                case CastPrevote():
                    if self.game.seat is None:
                        return
                    self._cast_prevote(step, now_s)
                case CastPrecommit(entry):
                    if self.game.seat is None or (entry is not None and entry not in self._entries):
                        return  # after a restart the entry may still be on its way
                    self._cast_precommit(entry, now_s)

    def _answer_call(self, now_s: float) -> None:
        """Send the parts this node owes, as soon as they are made."""
        call = self.game.call
        if call is not None:
            self._report_faults()
            while self.game.seat is not None and (part := call.own_part()) is not None:
                self._take_part(self._speak(part))
        complete = call.complete if call is not None else self._between_games_entry() is not None
        if complete and self.clock_end_s is None:
            self.clock_end_s = now_s + ANSWERS_CLOCK_S

    def _between_games_entry(self) -> Entry | None:
        """What may be an entry between two games: that somebody leaves, or the next game."""
        return (self._request or self.game.next_game_entry()) if self.game.between_games else None

    def _release(self, now_s: float) -> None:
        """Note from when on rule 11 no longer holds this node's vote."""
        due = self._clock_over(now_s) or self._request_waits or self._book.backed(Step.PREVOTE) is not None
        if self._released_since_s is None and due:
            self._released_since_s = now_s
        if self._released_since_s is None and self.round > 0 and self._proposable_action() is not None:
            self._released_since_s = now_s

    def _clock_over(self, now_s: float) -> bool:
        return self.clock_end_s is not None and now_s >= self.clock_end_s

    @property
    def _request_waits(self) -> bool:
        """Whether a request ends the wait for the actor; between two games nobody acts."""
        return self._request is not None and not self.game.between_games

    def _propose_timeout_s(self) -> float:
        since = max(self._released_since_s or 0.0, self._round_since_s)
        return since + PROPOSE_TIMEOUT_S + PROPOSE_TIMEOUT_GROWTH_S * self.round

    def _nil_due(self, now_s: float) -> bool:
        """Rule 11: at once in round 0, after a short propose time-out later."""
        if self._standing.key.without:
            return now_s >= self._propose_timeout_s()
        if self._released_since_s is None:
            return False
        if self.round > 0:
            return now_s >= self._propose_timeout_s()
        return self._clock_over(now_s) or self._request_waits

    def proposer(self, key: RoundKey) -> Seat:
        """Rule 3: the voters in seat order from the first proposer on, the r-th cyclically."""
        voters = self._book.voters(key)
        first = self.game.first_proposer
        start = next((place for place, seat in enumerate(voters) if seat >= first), 0)
        return voters[(start + key.round) % len(voters)]

    # What may be proposed

    def _propose(self, now_s: float) -> None:
        """Rules 9 and 10: propose if it is this node's turn to, and there is something to propose."""
        key = self._standing.key
        if self.game.seat is None or self._standing.proposed or self._standing.prevoted or not self._standing.entered:
            return
        if self.proposer(key) != self.game.seat:
            return
        entry, proof = self._to_propose(now_s)
        if entry is None:
            return
        self._standing = replace(self._standing, proposed=True)
        proposal = Proposal(self.game.height, self.game.head, key.round, key.without, entry, proof)
        envelope = self._speak(proposal)
        self._proposals[(key.round, self.game.seat)] = envelope
        self._entries[entry_hash(entry)] = entry

    def _to_propose(self, now_s: float) -> tuple[Entry | None, tuple[bytes, ...]]:
        proven = self._book.backed(Step.PREVOTE)
        if proven is not None:  # rule 9
            return self._entries.get(proven.entry), proven.votes
        if self._standing.key.without:
            return self._removal(self._standing.key.without), ()
        if self.game.call is not None:
            return self.game.answers_entry(), ()
        if self.game.between_games:
            return self._between_games_entry(), ()
        action = self._proposable_action()
        if action is not None:
            return action, ()
        if self.round > 0 and self._request is not None:
            return self._request, ()
        if self.round > 0 and self._clock_over(now_s):
            return self.game.entry(TimeoutEntry()), ()
        return None, ()

    def _removal(self, without: tuple[int, ...]) -> Entry | None:
        """Rule 13: complete answers to a call that brings tiles to a rack are named, else the call is void."""
        reason = self._reason(without)
        return self.game.entry(RemoveEntry(without, reason, self.game.complete_answers()))

    def _proposable_action(self) -> Entry | None:
        """The actor's legal and timely action, the one that came first (rule 10)."""
        for action in self._actions.values():
            if action.entry is not None and self._timely(action):
                return action.entry
        return None

    def _timely(self, action: _KnownAction) -> bool:
        """It came before the own clock ran out, or a voter other than the actor prevoted it in an earlier round."""
        assert action.entry is not None
        in_time = self.clock_end_s is None or action.arrived_s < self.clock_end_s
        actor = self.game.state.turn
        return in_time or self._book.prevoted_by_another(entry_hash(action.entry), actor, self.round)

    def _action_stands(self) -> bool:
        """Whether a timely action forbids `Timeout`; that the actor itself thinks so is not enough (section 3, 9)."""
        action = self._proposable_action()
        if action is None or self.game.seat != self.game.state.turn:
            return action is not None
        return self._book.prevoted_by_another(entry_hash(action), self.game.state.turn, self.round)

    # Voting

    def _seen(self, now_s: float) -> Seen:
        key = self._standing.key
        nil_due = self._nil_due(now_s)
        proposal = self._proposal_verdict(key, now_s)
        return Seen(
            voters=self._book.voters(key),
            prevotes=self._book.choices(Step.PREVOTE, key),
            precommits=self._book.choices(Step.PRECOMMIT, key),
            certified=self._book.backed(Step.PRECOMMIT),
            proposal=proposal,
            nil_due=nil_due,
            refuse_at_once=key.round == 0 or bool(key.without) or self._released_since_s is not None,
        )

    def _proposal_verdict(self, key: RoundKey, now_s: float) -> Judged | None:
        envelope = self._proposals.get((key.round, self.proposer(key)))
        if envelope is None:
            return None
        assert isinstance(envelope.body, Proposal)
        entry = envelope.body.entry
        named = entry_hash(entry)
        proof_round = self._book.proof_round(named)
        judged = self._judge(named)
        if judged.waiting:
            verdict = Verdict.HOLD
        elif judged.after is None:
            verdict = Verdict.REFUSED
        elif proof_round is not None:
            verdict = Verdict.ALLOWED
        else:
            verdict = self._allowed_unproven(entry, key, now_s)
        return Judged(named, verdict, proof_round)

    def _allowed_unproven(self, entry: Entry, key: RoundKey, now_s: float) -> Verdict:
        """Rules 10 and 13 for a valid entry without proof."""
        if key.without:
            content = entry.content
            fits = isinstance(content, RemoveEntry) and content.seats == key.without
            void = isinstance(content, RemoveEntry) and content.answers is None
            held_back = void and self.game.complete_answers() is not None
            return Verdict.ALLOWED if fits and not held_back else Verdict.REFUSED
        match entry.content:
            case AnswersEntry() | NextGameEntry():
                return Verdict.ALLOWED
            case RequestEntry():
                early = key.round == 0 and not self.game.between_games
                return Verdict.REFUSED if early else Verdict.ALLOWED
            case ActionEntry(raw):
                action = next(known for known in self._actions.values() if known.envelope.raw == raw)
                return Verdict.ALLOWED if self._timely(action) else Verdict.REFUSED
            case TimeoutEntry():
                if key.round == 0:
                    return Verdict.REFUSED
                if not self._clock_over(now_s):
                    return Verdict.HOLD
                return Verdict.REFUSED if self._action_stands() else Verdict.ALLOWED
            case _:
                return Verdict.REFUSED

    def _judge(self, named: bytes) -> Judgement:
        judged = self._judged.get(named)
        if judged is None or judged.waiting:
            judged = self.game.judge(self._entries[named])
            self._judged[named] = judged
        return judged

    def _cast_prevote(self, step: CastPrevote, now_s: float) -> None:
        key = self._standing.key
        proof: tuple[bytes, ...] = ()
        if step.show_lock:
            backed = self._book.backed(Step.PREVOTE)
            assert backed is not None, "a lock without its proof"
            proof = backed.votes
        self._standing = replace(self._standing, prevoted=True)
        proposal = self._proposals.get((key.round, self.proposer(key)))
        if step.entry is not None and proposal is not None and proposal.sender != self._own_node():
            # Kept with the vote, so that what was voted for is still known after a restart.
            self.outputs.append(Store(RecordKind.HEARD, self.game.height, proposal.raw))
        self._voted_s[(Step.PREVOTE, key)] = now_s
        self._vote(
            Step.PREVOTE,
            Prevote(self.game.height, self.game.head, key.round, key.without, step.entry, proof),
        )

    def _cast_precommit(self, entry: bytes | None, now_s: float) -> None:
        key = self._standing.key
        self._voted_s[(Step.PRECOMMIT, key)] = now_s
        self._standing = replace(self._standing, prevoted=True, precommitted=True)
        vote = Precommit(self.game.height, self.game.head, key.round, key.without, entry)
        if entry is None:
            self._vote(Step.PRECOMMIT, vote)
            return
        # Rule 2: precommit, lock, entry and proof in one record, before anything is sent.
        proof = self._book.proof(entry, key.round)
        assert proof, "a precommit without its proof"
        self._standing = replace(self._standing, lock=Lock(entry, key.round))
        envelope = self.seal(vote)
        record = LockRecord(envelope.raw, self._entries[entry], proof)
        self.outputs.append(Store(RecordKind.LOCK, self.game.height, encode(record)))
        self._send_vote(Step.PRECOMMIT, key, entry, envelope)

    def _vote(self, step: Step, vote: Prevote | Precommit) -> None:
        envelope = self.seal(vote)
        self.outputs.append(Store(RecordKind.OWN, self.game.height, envelope.raw))
        self._send_vote(step, RoundKey(vote.round, vote.without), vote.entry, envelope)

    def _send_vote(self, step: Step, key: RoundKey, entry: bytes | None, envelope: Envelope) -> None:
        assert self.game.seat is not None
        self._book.add(step, self.game.seat, key, entry, envelope)
        self.outputs.append(Send(envelope.raw))

    def _own_node(self) -> bytes:
        assert self.game.seat is not None
        return self.game.genesis.members[self.game.seat].node

    def _speak(self, body: Body) -> Envelope:
        """Sign, store, then send (rule 2)."""
        envelope = self.seal(body)
        self.outputs.append(Store(RecordKind.OWN, self.game.height, envelope.raw))
        self.outputs.append(Send(envelope.raw))
        return envelope

    def _commit(self, certified: Backed) -> bool:
        """The entry is agreed, if it and all it names are here; False to wait for them."""
        entry = self._entries.get(certified.entry)
        if entry is None:
            return False
        judged = self._judge(certified.entry)
        regroup = self._way_to(certified.key) if certified.key.without else ()
        if judged.after is None or regroup is None:
            return False
        committed = Committed(entry, certified.votes, self.game.attachments(entry), regroup)
        self.committed = (committed, judged, certified.key.round)
        return True
