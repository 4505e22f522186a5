"""The session: one node at one table, from the lobby to the end, as one state machine without I/O. The one door.

In come links, frames, the player's wishes and time; out go ordered outputs (`take_outputs`) and the next moment at
which it must be woken (`next_deadline_s`). All times are seconds of one monotonic clock. The caller carries the outputs
out in order: what is stored is durable before what follows is sent.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from engine.actions import Play
from engine.errors import Fault, IllegalMove, illegal
from engine.flow import CALL_OPEN
from engine.rules import apply, at_time_up
from engine.state import Phase, PublicState, Seat, Slot
from engine.tiles import TileId
from protocol.codec import decode, encode
from protocol.consensus.absence import Absence, Cause, Contacts, Standstill
from protocol.consensus.clock import TurnClock
from protocol.consensus.driver import AGREEMENT_BODIES, HeightDriver, LockRecord
from protocol.dealing.call import Job, OpenCall
from protocol.dealing.dealer import Dealer, Owed
from protocol.envelope import Envelope, Signer, digest, open_envelope, seal
from protocol.errors import DecodeError, LocalProtocolError, RemoteProtocolError
from protocol.events import (
    EntryCommitted,
    EvidenceFound,
    GameStarted,
    GameVoid,
    MessageRefused,
    PressAnswered,
    Pressed,
)
from protocol.game import NEED_ALL, DealerMaker, Game, Judgement, genesis_committed, request_action
from protocol.lobby import Lobby
from protocol.log import Committed, check_commit_certificate, content_kind, may_be_left_out
from protocol.messages import (
    Body,
    Button,
    CatchUp,
    Content,
    DealPart,
    DeviceHere,
    Genesis,
    GenesisDraft,
    GenesisEntry,
    GenesisSignature,
    GoOnWish,
    NextGameWish,
    PartKind,
    Precommit,
    Press,
    PressAnswer,
    Prevote,
    Proposal,
    Regroup,
    Request,
    RequestEntry,
    RequestKind,
    SeatAction,
    SignedAction,
    Sitting,
    Status,
    TableCard,
)
from protocol.outputs import Compute, Drop, Output, RecordKind, Send, Store, Tell
from protocol.presses import MAX_PRESSES, PressBook, is_at
from protocol.roster import check_genesis, clean_name, device_of, seat_of

HEARTBEAT_S: Final = 1.0
SILENT_S: Final = 4.0  # a member's link on which nothing has come for so long is closed, so that it is made anew
TIME_UP_MARGIN_S: Final = 0.5  # deal-entries section 2: the milder cases are sent this long before the own clock ends
VOID: Final = -1  # in place of a height: the contradiction was sent
CATCH_UP_BYTES: Final = 100_000
MAX_EARLY: Final = 32  # messages of one sender for the next height that are kept until this one is done
MAX_SENDERS: Final = 8  # of such messages
MAX_EVIDENCE: Final = 32  # against one node: one is enough, and it may sign endless ones
MAX_EVIDENCE_BYTES: Final = 2**20  # the same
MAX_LIVES: Final = 64  # of one node, newest first, whose heartbeats count no more
MAX_TAKEN: Final = 4096
LIMIT_S: Final = 5.0  # for a part of an open call
LONG_LIMIT_S: Final = 20.0
LONG_PARTS: Final = frozenset({PartKind.SHUFFLE, PartKind.TAG, PartKind.TAG_SHARES})
OUTLAST_A_TURN: Final = frozenset({RequestKind.LEAVE, RequestKind.PAUSE})
_NO_SEAT: Final = Fault("NO-SEAT", "You are not in this game.")
VOTE_LIMIT_S: Final = 10.0  # for a vote, from the own one on


@dataclass(frozen=True, slots=True)
class Record:
    """A journal record as a session gets it back: `when_s` is when it was stored, on today's monotonic clock."""

    kind: RecordKind
    height: int
    data: bytes
    when_s: float

    def __repr__(self) -> str:  # data may be secret
        return f"Record({self.kind.name}, height={self.height}, {len(self.data)} bytes)"


@dataclass(slots=True)
class _Peer:
    """What a linked node last said of itself, and when anything last came over its link."""

    heard_s: float
    status: Status | None = None
    caught_up_s: float = -HEARTBEAT_S  # when it was last sent entries
    compared: set[int] = field(default_factory=set)  # heights at which it was sent our branch


@dataclass(slots=True, repr=False)
class Session:
    """One node at one table.

    `entropy(n)` gives n fresh random bytes, in any thread; `make_dealer(genesis, seat, None, entropy)` a dealer for a
    game. Long computations go out as `Compute`, to be done in any thread or here. `open_frame` opens what comes in.
    """

    signer: Signer
    table: bytes
    entropy: Callable[[int], bytes]
    make_dealer: DealerMaker
    open_frame: Callable[[bytes], Envelope] = open_envelope
    lobby: Lobby = field(init=False)
    game: Game | None = None
    log: list[Committed] = field(default_factory=list)
    clock: TurnClock = field(default_factory=TurnClock)
    evidence: list[EvidenceFound] = field(default_factory=list)
    draft: Play | None = None  # the own player's unfinished play, for the end of its time
    silent: bool = False  # what it has signed at this table is forgotten: it follows, and signs nothing of the game
    _remembers: bool = False  # all that it has signed at this table
    _driver: HeightDriver | None = None
    _outputs: list[Output] = field(default_factory=list)
    _peers: dict[bytes, _Peer] = field(default_factory=dict)
    _early: list[Envelope] = field(default_factory=list)
    _taken: set[bytes] = field(default_factory=set)  # digests of the frames of this height that were looked at
    _replaying: bool = False
    _jobs: dict[int, tuple[OpenCall, Job]] = field(default_factory=dict, repr=False)
    _last_job: int = 0
    _finished_height: int = -1  # where the end of the own time was dealt with
    _next_beat_s: float = 0.0
    _beat: int = 0
    _life: bytes = b""
    _lives: dict[bytes, tuple[bytes, int]] = field(default_factory=dict)  # of others: the newest life, and its beat
    _past_lives: dict[bytes, deque[bytes]] = field(default_factory=dict)
    _statuses: dict[bytes, Envelope] = field(default_factory=dict)
    _contacts: Contacts | None = None
    _standstill: Standstill | None = None
    _looked_s: float = 0.0
    _awaited_s: dict[Owed, float] = field(default_factory=dict)  # since when a part of the open call could be here
    _asks: set[RequestKind] = field(default_factory=set)  # what the own player waits to be granted
    _acted: SeatAction | None = None  # the own action of this turn, until it or another of the own is agreed
    void: GameVoid | None = None
    _contradiction: tuple[bytes, ...] = ()  # the two entries that void the game, for those who know only one
    _seats_at: list[tuple[Seat, ...]] = field(default_factory=list)  # V before each entry of the log
    _given_up: set[Seat] = field(default_factory=set)  # whom the own player wants to go on without
    _presses: PressBook = field(default_factory=PressBook)

    @classmethod
    def in_lobby(
        cls,
        signer: Signer,
        table: bytes,
        name: str,
        *,
        bot: bool,
        entropy: Callable[[int], bytes],
        make_dealer: DealerMaker,
        card: TableCard | None = None,
        signed: GenesisDraft | None = None,
        silent: bool = False,
        device: bool = False,
        stamp: int = 0,
        now_s: float = 0.0,
    ) -> Session:
        """A session that sits down at a table: opens it with `card`, or joins one that somebody else has opened.

        `device`: it takes no seat, but offers itself as a table device, with a higher `stamp` each time it sits down.

        `signed`: after a restart, the genesis that this node had signed, and with which the others may have begun; for
        sure it has signed nothing after it. `silent`: what was signed here before is forgotten. The session is then an
        observer, as is one that finds its own node in a running game that it knows nothing of: it must not vote where
        it may have voted (docs/reliability.md, section 4).
        """
        session = cls(signer, table, entropy, make_dealer, silent=silent, _remembers=signed is not None)
        session._next_beat_s = now_s + HEARTBEAT_S
        own = Sitting(0, not silent and not device, clean_name(name), bot, False, False, entropy(32))
        session._life = own.fresh[:8]
        session.lobby = Lobby(table, signer.node_id, session._seal, session._outputs, own)
        if signed is not None:
            session.lobby.signed_before(signed)
        elif card is not None:
            session.lobby.open_with(card)
        elif device:
            session.lobby.offer_device(name, stamp=stamp)
        elif not silent:
            session.lobby.sit_down()
        return session

    @classmethod
    def resume(
        cls,
        signer: Signer,
        table: bytes,
        records: Sequence[Record],
        *,
        entropy: Callable[[int], bytes],
        make_dealer: DealerMaker,
        now_s: float,
    ) -> Session | None:
        """The session that the journal's records amount to; None if no game had started.

        Raises `LocalProtocolError` if the records contradict each other: the journal is damaged.
        """
        session = cls(signer, table, entropy, make_dealer)
        session._next_beat_s = now_s
        session._life = entropy(8)
        session.lobby = Lobby(
            table,
            signer.node_id,
            session._seal,
            session._outputs,
            Sitting(0, False, "", False, False, False, bytes(32)),
        )
        try:
            session._replay(records)
        except (RemoteProtocolError, DecodeError, AssertionError) as error:
            raise LocalProtocolError(f"the journal does not replay: {error}") from error
        session._outputs.clear()
        if session.game is None:
            return None
        session._meet(now_s)
        return session

    def __repr__(self) -> str:  # what it holds is partly secret
        return f"Session({self.signer.node_id.hex()[:8]}, height={self.height})"

    # What a player or a screen asks

    @property
    def genesis(self) -> Genesis | None:
        """What is played and who sits where; None in the lobby."""
        return None if self.game is None else self.game.genesis

    @property
    def state(self) -> PublicState | None:
        """The public state after the last committed entry; None in the lobby."""
        return None if self.game is None else self.game.state

    @property
    def seat(self) -> Seat | None:
        """This node's seat; None in the lobby and for an observer."""
        return None if self.game is None else self.game.seat

    @property
    def height(self) -> int:
        """The height that is being agreed on; 0 in the lobby."""
        return 0 if self.game is None else self.game.height

    @property
    def round(self) -> int:
        """The round at this height."""
        return 0 if self._driver is None else self._driver.round

    def own_tiles(self) -> Mapping[Slot, TileId]:
        """The hidden slots of the own rack and their tiles. Secret: for this node's player only."""
        return {} if self.game is None else self.game.dealer.own_tiles(self.game.state)

    def remaining_s(self, now_s: float) -> float | None:
        """Seconds left of the turn by this node's clock; None without a limit or while nobody's turn is on."""
        return self.clock.remaining_s(now_s)

    def may_act(self, now_s: float) -> bool:
        """Whether the own player's action would be taken now: its turn, no open call, nothing sent yet, time left."""
        if self.game is None or self._driver is None or self.game.call is not None or self.game.seat is None:
            return False
        state = self.game.state
        in_time = self.clock.end_s is None or now_s < self.clock.end_s
        mine = state.phase is Phase.PLAY and state.turn == self.game.seat and state.paused is None
        return mine and not self._driver.acted and in_time

    # What the player does

    def act(self, action: SeatAction, now_s: float) -> None:
        """The own player's action. Raises `IllegalMove` if the rules refuse it; then nothing has been sent."""
        if self.game is None or self._driver is None or self.game.seat is None:
            raise LocalProtocolError("no seat in a running game")
        if action.seat != self.game.seat:
            raise LocalProtocolError("an action for another seat")
        signed = self.game.sign_action(action)
        if self._driver.acted:
            raise illegal("ALREADY-SENT", "Your move is already on its way.")
        if self.clock.end_s is not None and now_s >= self.clock.end_s:
            raise illegal("TIME-UP", "Your time is up.")
        self._acted = action
        self._driver.propose_action(signed, now_s)
        self._settle(now_s)

    def may_wish(self) -> bool:
        """Whether the own player may ask for the next game of the series and has not yet; also after it was lost."""
        return (
            self.game is not None
            and self._driver is not None
            and self.game.own_seat is not None
            and self.game.between_games
            and self.game.own_seat not in self.game.wishes()
        )

    def next_game_wishes(self) -> frozenset[Seat]:
        """The seats that wish the next game of the series."""
        return frozenset() if self.game is None else frozenset(self.game.wishes())

    def wish_next_game(self, now_s: float) -> None:
        """The own player wants the next game. It begins when everybody wants it. Safe to ask twice."""
        if self.game is None or self._driver is None or self.game.own_seat is None or not self.game.between_games:
            raise LocalProtocolError("there is no next game now")
        if self.may_wish():
            self._driver.wish_next_game(now_s)
            self._settle(now_s)

    # Requests (docs/agreement.md, rule 10)

    def may_ask(self, kind: RequestKind) -> bool:
        """Whether the own player may ask for this now; to leave and for a pause also while a call is open."""
        return self.why_not_ask(kind) is None

    def why_not_ask(self, kind: RequestKind) -> str | None:
        """Why the own player may not ask for this now, in a sentence; None if it may."""
        faults = self._refused_now(kind)
        if not faults or (faults == (CALL_OPEN,) and kind in OUTLAST_A_TURN):
            return None
        return faults[0].sentence

    def requests(self) -> dict[RequestKind, tuple[Seat, ...]]:
        """What is asked for at this moment, with the seats that do, or agree to it."""
        held = () if self.game is None else sorted(self.game.requests(), key=lambda asked: asked[1])
        return {kind: seats for kind in RequestKind if (seats := tuple(seat for k, seat in held if k is kind))}

    def consents_awaited(self) -> tuple[RequestKind, ...]:
        """What another has asked for that the own player has to agree to, and has not."""
        if self.game is None or self.game.seat is None:
            return ()
        undo = self.game.state.undo
        asked = self.requests()
        if undo is None or undo.turn not in asked.get(RequestKind.TAKE_BACK, ()):
            asked.pop(RequestKind.TAKE_BACK, None)
        return tuple(kind for kind in asked if kind in NEED_ALL and self.game.seat not in asked[kind])

    def asks(self) -> frozenset[RequestKind]:
        """What the own player has asked for and waits for."""
        return frozenset(self._asks)

    def ask(self, kind: RequestKind, now_s: float) -> None:
        """The own player asks for something. Raises `IllegalMove` if the rules refuse it.

        It is asked for again at every height until it is granted or has lost its sense. Safe to ask twice.
        """
        if self.game is None or self._driver is None or self.game.seat is None:
            raise LocalProtocolError("no seat in a running game")
        if not self.may_ask(kind):
            raise IllegalMove(self._refused_now(kind))
        self._asks.add(kind)
        self._settle(now_s)

    def _refused_now(self, kind: RequestKind) -> tuple[Fault, ...]:
        """Why the rules refuse the own request just now; empty if they do not."""
        if self.game is None or self.game.seat is None:
            return (_NO_SEAT,)
        try:
            apply(self.game.state, request_action(kind, self.game.seat))
        except IllegalMove as move:
            return move.faults
        return ()

    # Table devices

    def press(self, button: Button) -> bytes:
        """This table device's button was pressed; gives what the answer will name. Raises `LocalProtocolError`."""
        if self.game is None or device_of(self.game.genesis, self.signer.node_id) is None:
            raise LocalProtocolError("the players did not take this device to their table")
        if not self._turn_is_on():
            raise LocalProtocolError("nobody's turn is on")
        own = self.signer.node_id
        before = self._presses.next_number(own, self.height)
        if before >= MAX_PRESSES:
            raise LocalProtocolError("too many presses in one turn")
        number = int.from_bytes(self._life[:4]) + before  # none of them was used before a restart
        envelope = self._seal(Press(self.height, self.game.head, self.game.state.game, button, number))
        self._presses.is_new(own, envelope, self.height)
        self._outputs.append(Send(envelope.raw))
        return envelope.digest

    def answer_press(self, press: bytes, refused: str | None) -> None:
        """What has become of a press in the own turn: None for done, or why not."""
        self._outputs.append(Send(self._seal(PressAnswer(press, refused)).raw))

    def _turn_is_on(self) -> bool:
        state = self.state
        return state is not None and state.phase is Phase.PLAY and state.call is None and self.void is None

    def _take_press(self, link: bytes, envelope: Envelope, press: Press) -> None:
        """Passed on to everybody; the node of the seat whose turn it is does what its player's click would."""
        if self.game is None or envelope.sender == self.signer.node_id:
            return
        if device_of(self.game.genesis, envelope.sender) is None:
            raise RemoteProtocolError(envelope.sender, "a press of a device that is not in the roster")
        if press.height > self.height:
            if press.height == self.height + 1:
                self._presses.keep(link, envelope)
            return
        if self._presses.is_new(link, envelope, self.height):
            self._outputs.append(Send(envelope.raw, but=link))
            if self.game.state.turn == self.game.seat:
                self._judge_press(envelope, press)

    def _judge_press(self, envelope: Envelope, press: Press) -> None:
        assert self.game is not None
        device = device_of(self.game.genesis, envelope.sender)
        assert device is not None
        if not is_at(press, self.height, self.game.head, self.game.state.game):
            self.answer_press(envelope.digest, "Too late: that turn is over.")
        elif not self._turn_is_on():
            self.answer_press(envelope.digest, "Nobody's turn is on.")
        else:
            self._outputs.append(Tell(Pressed(envelope.digest, device.name, press.button)))

    def _take_press_answer(self, link: bytes, envelope: Envelope, answer: PressAnswer) -> None:
        if self.game is None:
            return
        if seat_of(self.game.genesis, envelope.sender) is None:
            raise RemoteProtocolError(envelope.sender, "an answer to a press from a node without a seat")
        if self._presses.answered(answer):
            device = device_of(self.game.genesis, self._presses.device(answer.press))
            self._outputs.append(Send(envelope.raw, but=link))
            self._outputs.append(
                Tell(PressAnswered(answer.press, "" if device is None else device.name, answer.refused))
            )

    # Absence (docs/agreement.md, rules 12 to 18)

    def absences(self) -> tuple[Absence, ...]:
        """Who is out of contact, since when, and until when the others wait at least."""
        return () if self._contacts is None else self._contacts.absences()

    def late(self, now_s: float) -> tuple[Seat, ...]:
        """Seats whose heartbeat is late, but which are not out of contact yet."""
        if self._contacts is None:
            return ()
        absent = {absence.seat for absence in self._contacts.absences()}
        return tuple(seat for seat in self._contacts.missed(now_s) if seat not in absent)

    def may_go_on_without(self, now_s: float) -> tuple[Seat, ...]:
        """The seats whose countdown is over, so that the own player may choose to go on without them."""
        if self.game is None or self.game.seat is None or self._contacts is None or self._driver is None:
            return ()
        over = {a.seat for a in self._contacts.absences() if now_s >= a.until_s} | self._driver.refusers()
        return tuple(sorted(over - {self.game.seat}))

    def go_on_without(self, seats: Iterable[Seat], now_s: float) -> None:
        """The own player chooses to go on without these seats. Takes effect when all who stay choose the same."""
        self._given_up |= set(seats) & set(self.may_go_on_without(now_s))
        self._settle(now_s)

    def keep_waiting(self, now_s: float) -> None:
        """The own player would rather wait, as long as it has not been signed that the game goes on."""
        self._given_up.clear()
        self._settle(now_s)

    def go_on_wishes(self) -> dict[Seat, tuple[int, ...]]:
        """Without whom the seats wish to go on, of those that do."""
        return {} if self._driver is None else self._driver.wishes()

    # Links and frames

    def linked(self, node: bytes, now_s: float) -> None:
        """A link to a node is up."""
        self._peers[node] = _Peer(now_s)
        if self.game is None:
            self.lobby.linked(node)
            self._start_if_signed(now_s)
        self._outputs.append(Send(self._status().raw, to=node))

    def lost(self, node: bytes, now_s: float) -> None:
        """A link is gone."""
        self._peers.pop(node, None)
        if self.game is None:
            self.lobby.lost(node)
            self._start_if_signed(now_s)

    def receive(self, link: bytes, frame: bytes, now_s: float) -> None:
        """A frame from the node at the other end of a link. Never raises for what is in it."""
        if link in self._peers:
            self._peers[link].heard_s = now_s
        if (named := digest(frame)) in self._taken:
            return  # a copy that somebody forwarded
        try:
            envelope = self.open_frame(frame)
        except RemoteProtocolError as error:  # nobody honest sends or forwards this
            self._outputs.append(Tell(MessageRefused(link, error.reason)))
            self._outputs.append(Drop(link, error.reason))
            return
        try:
            self._take(link, envelope, now_s)
        except RemoteProtocolError as error:
            self._report(error)
        if self.game is not None and len(self._taken) < MAX_TAKEN:
            self._taken.add(named)
        self._settle(now_s)

    # Time

    def next_deadline_s(self) -> float:
        """When `handle_deadline` must be called."""
        deadlines = [self._next_beat_s]
        if self._driver is not None:
            driver_s = self._driver.next_deadline_s()
            if driver_s is not None:
                deadlines.append(driver_s)
            if self._contacts is not None:
                deadlines.extend(self._absence_deadlines())
            if self.clock.end_s is not None and self._own_turn_open() and self._finished_height != self.height:
                deadlines.append(self.clock.end_s - self._margin_s())
        return min(deadlines)

    def handle_deadline(self, now_s: float) -> None:
        """Time has passed: maybe a heartbeat, the end of the own time, or of a propose time-out. Safe at any time."""
        if now_s >= self._next_beat_s:
            self._next_beat_s = now_s + HEARTBEAT_S
            self._look_around(now_s)  # so that the heartbeat says what is missed by now
            self._outputs.append(Send(self._status().raw))
            self._drop_silent_links(now_s)
        self._finish_own_turn(now_s)
        self._settle(now_s)

    def wants(self, number: int) -> bool:
        """Whether the result of a computation that was asked for is still of use."""
        asked = self._jobs.get(number)
        return asked is not None and self.game is not None and self.game.call is asked[0]

    def computed(self, number: int, result: object, now_s: float) -> None:
        """What the `work` of a `Compute` has returned. Safe if nobody wants it any more."""
        wanted = self.wants(number)
        asked = self._jobs.pop(number, None)
        if wanted and asked is not None:
            call, job = asked
            call.done(job, result)
            self._settle(now_s)

    def take_outputs(self) -> tuple[Output, ...]:
        """Everything to be done since the last call, in order."""
        taken = tuple(self._outputs)
        self._outputs.clear()
        return taken

    # Frames, by kind

    def _take(self, link: bytes, envelope: Envelope, now_s: float) -> None:
        if envelope.table != self.table:
            raise RemoteProtocolError(None, "message of another table")
        body = envelope.body
        match body:
            case Status():
                self._take_heartbeat(envelope, body, now_s)
                if envelope.sender == link:
                    self._take_status(link, body, now_s)
            case CatchUp():
                self._take_catch_up(link, body, now_s)
            case Press():
                self._take_press(link, envelope, body)
            case PressAnswer():
                self._take_press_answer(link, envelope, body)
            case TableCard() | Sitting() | DeviceHere() | GenesisDraft() | GenesisSignature():
                if self.game is None and self.lobby.receive(envelope):
                    self._outputs.append(Send(envelope.raw, but=link))
            case (
                SignedAction()
                | Request()
                | NextGameWish()
                | Proposal()
                | Prevote()
                | Precommit()
                | Regroup()
                | GoOnWish()
                | DealPart()
            ):
                self._take_agreement(link, envelope, body.height, now_s)

    def _take_agreement(self, link: bytes, envelope: Envelope, height: int, now_s: float) -> None:
        if self._driver is None or self.game is None or height > self.game.height:
            if height == self.height + 1 and self._has_room(envelope.sender):
                self._early.append(envelope)
            return
        if height < self.game.height:
            return  # agreed long ago; whoever lags gets the certificate
        if self._driver.receive(envelope, now_s):
            self._outputs.append(Send(envelope.raw, but=link))  # rule 8

    def _has_room(self, sender: bytes) -> bool:
        """Whether one more early message of that node is kept, of seats only once it is known who sits here."""
        if self.game is not None and seat_of(self.game.genesis, sender) is None:
            return False
        senders = [envelope.sender for envelope in self._early]
        return senders.count(sender) < MAX_EARLY and len({*senders, sender}) <= MAX_SENDERS

    def _take_heartbeat(self, envelope: Envelope, status: Status, now_s: float) -> None:
        """A signed heartbeat counts by whatever path it came, each once, and none of a life before (rule 12)."""
        if self.game is None or self._contacts is None:
            return
        seat = seat_of(self.game.genesis, envelope.sender)
        if seat is None:
            return
        life, beat = self._lives.get(envelope.sender, (b"", -1))
        if status.life != life:
            past = self._past_lives.setdefault(envelope.sender, deque(maxlen=MAX_LIVES))
            if status.life in past:
                return
            past.append(life)
        elif status.beat <= beat:
            return
        self._lives[envelope.sender] = (status.life, status.beat)
        self._statuses[envelope.sender] = envelope
        self._contacts.heard(seat, now_s)

    def _pass_on_heartbeats(self, link: bytes, status: Status, now_s: float) -> None:
        """Another misses the heartbeat of some seats: send it the newest that is here."""
        assert self.game is not None
        silent = () if self._contacts is None else self._contacts.missed(now_s)
        for index in set(status.misses):
            if 0 <= index < len(self.game.genesis.members) and index not in silent:
                newest = self._statuses.get(self.game.genesis.members[index].node)
                if newest is not None:
                    self._outputs.append(Send(newest.raw, to=link))

    def _take_status(self, link: bytes, status: Status, now_s: float) -> None:
        peer = self._peers.setdefault(link, _Peer(now_s))
        before, peer.status = peer.status, status
        if self.game is not None:
            self._pass_on_heartbeats(link, status, now_s)
        if self._contradiction:
            if VOID not in peer.compared:
                peer.compared.add(VOID)
                self._outputs.append(Send(self._seal(CatchUp(self._contradiction)).raw, to=link))
        elif self._branches(status):
            if status.height not in peer.compared:
                peer.compared.add(status.height)
                self._send_catch_up(link, self._first_regroup())
        elif status.height < self.height:
            known_height = -1 if before is None else before.height
            if status.height > known_height or now_s - peer.caught_up_s >= HEARTBEAT_S / 2:  # else it asks too often
                peer.caught_up_s = now_s
                self._send_catch_up(link, status.height)
        elif status.height == self.height and self._driver is not None and status.held != self._held():
            # Right after a link came up, or when nothing has moved for a beat: what was sent has been lost.
            stuck = before is not None and (before.height, before.held) == (status.height, status.held)
            if before is None or stuck:
                self._outputs.extend(Send(envelope.raw, to=link) for envelope in self._driver.held())

    def _branches(self, status: Status) -> bool:
        """Whether another node's last entry is not the one that this node has at its height (rule 19)."""
        if not 0 < status.height <= self.height or self.game is None:
            return False
        return (
            status.prev != self.game.head
            if status.height == self.height
            else (status.prev != self.log[status.height].entry.prev)
        )

    def _first_regroup(self) -> int:
        """Before an entry that not all seats have signed, no two honest nodes can have different ones."""
        return next((committed.entry.height for committed in self.log if committed.regroup), 1)

    def _compare(self, committed: Committed) -> None:
        """Rule 19: an entry in the place of one of ours, certified as well, voids the game."""
        assert self.game is not None
        ours = self.log[committed.entry.height]
        if committed.entry == ours.entry or committed.entry.prev != ours.entry.prev or self.void is not None:
            return
        check_commit_certificate(committed, self.game.genesis, self._seats_at[committed.entry.height])
        signed = [_signers(certified) for certified in (ours, committed)]
        self.void = GameVoid(committed.entry.height, tuple(sorted(signed[0].keys() & signed[1].keys())))
        self._contradiction = (encode(ours), encode(committed))
        self._driver = None
        for node in self.void.culprits:
            reason = "signed for two histories of one table"
            self._report(RemoteProtocolError(node, reason, (signed[0][node], signed[1][node])))
        self._outputs.append(Tell(self.void))

    def _drop_silent_links(self, now_s: float) -> None:
        """A cut network shows nothing at a link: what has been silent too long is closed, and dialled again."""
        if self.game is None:
            members = {member.node for member in self.lobby.members()}
        else:
            genesis = self.game.genesis
            members = {member.node for member in genesis.members} | {device.node for device in genesis.devices}
        for node, peer in self._peers.items():
            if node in members and now_s - peer.heard_s > SILENT_S:
                peer.heard_s = now_s  # say it once
                self._outputs.append(Drop(node, f"silent for {SILENT_S:.0f} s"))

    def _send_catch_up(self, node: bytes, first: int) -> None:
        entries: list[bytes] = []
        size = 0
        for committed in self.log[first:]:
            data = encode(committed)
            if entries and size + len(data) > CATCH_UP_BYTES:
                break
            entries.append(data)
            size += len(data)
        self._outputs.append(Send(self._seal(CatchUp(tuple(entries))).raw, to=node))

    def _take_catch_up(self, link: bytes, body: CatchUp, now_s: float) -> None:
        before = self.height
        for data in body.entries:
            try:
                committed = decode(Committed, data)
            except DecodeError as error:
                raise RemoteProtocolError(link, f"catch-up: {error}") from error
            if committed.entry.height == self.height and self.void is None:
                self._adopt(committed, now_s)
            elif 0 < committed.entry.height < self.height:
                self._compare(committed)
        if self.height > before:
            self._outputs.append(Send(self._status().raw, to=link))

    def _adopt(self, committed: Committed, now_s: float) -> None:
        """Take over an entry that the others have committed, after checking everything about it."""
        content = committed.entry.content
        if isinstance(content, GenesisEntry):
            genesis = content.genesis
            if genesis.table != self.table:
                raise RemoteProtocolError(None, "genesis of another table")
            check_genesis(genesis)
            check_commit_certificate(committed, genesis, ())
            if committed != genesis_committed(genesis, committed.certificate):
                raise RemoteProtocolError(None, "genesis entry with another place, state or attachments")
            if seat_of(genesis, self.signer.node_id) is not None and not (self._remembers or self.lobby.signed):
                self.silent = True
            self._start(genesis, committed.certificate, now_s)
            return
        if self.game is None:
            raise RemoteProtocolError(None, "entries without their genesis")
        check_commit_certificate(committed, self.game.genesis, self.game.seats_in_game())
        before = self.game.state
        judged = self.game.replay(committed)
        self._committed(before, committed, judged, 0, now_s)

    # Progress

    def _settle(self, now_s: float) -> None:
        """Let everything that can happen now happen: votes, commits, and the messages that came early."""
        if self.game is None:
            self._start_if_signed(now_s)
        self._look_around(now_s)
        while self._driver is not None and self.game is not None:
            self._driver.advance(now_s)
            if self._driver.committed is None:
                if self._wish_to_go_on(now_s) or self._ask_again() or self._act_again(now_s):
                    continue
                self._ask_for_jobs()
                return
            committed, judged, round_number = self._driver.committed
            before = self.game.state
            self.game.commit(committed, judged)
            self._committed(before, committed, judged, round_number, now_s)

    def _meet(self, now_s: float) -> None:
        """A game begins for this node: it looks after the others' heartbeats from here on."""
        assert self.game is not None
        others = tuple(seat for seat in self.game.seats_in_game() if seat != self.game.seat)
        self._contacts = Contacts(others, now_s)
        self._standstill = Standstill(float(self.game.state.rules.turn_seconds))
        self._looked_s = now_s

    def _look_around(self, now_s: float) -> None:
        """Note who is out of contact, and let the turn's clock stand for the silent (rule 12)."""
        if self.game is None or self._contacts is None or self._driver is None or self._standstill is None:
            return
        silent = self._contacts.silent(now_s)
        elapsed_s, self._looked_s = now_s - self._looked_s, now_s
        end_s = self.clock.end_s
        if silent and end_s is not None and now_s - elapsed_s < end_s:
            granted_s = self._standstill.granted_s(silent, self.game.state.turn_number, elapsed_s)
            self.clock = TurnClock(end_s=end_s + granted_s)
            self._driver.clock_end_s = self._clock_end_s()
        faulty = {seat_of(self.game.genesis, found.node) for found in self.evidence}
        self._contacts.look(self._owing(now_s), {seat for seat in faulty if seat is not None}, now_s)

    def _owing(self, now_s: float) -> set[Seat]:
        """Seats whose part of the open call, or whose vote, is over its limit (docs/deal-entries.md, section 3)."""
        assert self.game is not None
        assert self._driver is not None
        call = self.game.call
        awaited = () if call is None else call.awaited()
        self._awaited_s = {owed: self._awaited_s.get(owed, now_s) for owed in awaited}
        late = {owed.seat for owed, since_s in self._awaited_s.items() if now_s - since_s > _limit_s(owed)}
        return late | self._driver.owing_votes(now_s, VOTE_LIMIT_S)

    def _absence_deadlines(self) -> list[float]:
        assert self._contacts is not None
        deadlines = [since_s + _limit_s(owed) + 0.001 for owed, since_s in self._awaited_s.items()]
        contact_s = self._contacts.next_deadline_s(self._looked_s)
        return [when_s for when_s in (*deadlines, contact_s) if when_s is not None and when_s > self._looked_s]

    def _wish_to_go_on(self, now_s: float) -> bool:
        """Show whether the own player would go on without those who are gone. True if that has changed anything."""
        if self.game is None or self.game.seat is None or self._driver is None or self._contacts is None:
            return False
        absences = self._contacts.absences()
        refusers = self._driver.refusers()
        silent = {absence.seat for absence in absences if absence.cause is Cause.SILENT}
        faulty = {absence.seat for absence in absences if absence.cause is Cause.FAULT}
        self._given_up &= {absence.seat for absence in absences} | refusers
        seats = self.game.seats_in_game()
        gone = tuple(sorted(self._given_up & set(self.may_go_on_without(now_s))))
        if not may_be_left_out(seats, gone):  # too many: at least without those of whom there is proof
            gone = tuple(sorted(faulty.intersection(gone)))
        wish: tuple[int, ...] | None = None
        # Others may not have the evidence that this node has: then it goes back to them, liar and all.
        alone = set(gone) <= faulty and self._driver.stranded(gone, now_s, VOTE_LIMIT_S)
        if gone and not alone and may_be_left_out(seats, gone):
            wish = gone
        elif not silent | refusers and (self._driver.left_rounds or () in self._driver.wishes().values()):
            wish = ()  # everybody is here (rule 17)
        return self._driver.wish_to_go_on(wish, now_s)

    def _ask_again(self) -> bool:
        """Sign what the own player asks for at this height, if it has not been. True if that has changed anything."""
        assert self.game is not None
        assert self._driver is not None
        if not self._asks:
            return False
        held = self.game.requests()
        asked = [k for k in RequestKind if k in self._asks and (k, self.game.seat) not in held]
        due = [kind for kind in asked if not self._refused_now(kind)]
        for kind in due:
            self._driver.ask(kind)
        return bool(due)

    def _act_again(self, now_s: float) -> bool:
        """The own action that a request or a removal came before: sign it anew in the same turn. True if done."""
        assert self.game is not None
        assert self._driver is not None
        if self._acted is None or not self.may_act(now_s):
            return False
        action, self._acted = self._acted, None
        try:
            signed = self.game.sign_action(action)
        except IllegalMove:
            return False
        self._acted = action
        self._driver.propose_action(signed, now_s)
        return True

    def _ask_for_jobs(self) -> None:
        assert self.game is not None
        call = self.game.call
        if call is None:
            return
        for job in call.take_jobs():
            self._last_job += 1
            self._jobs[self._last_job] = (call, job)
            self._outputs.append(Compute(self._last_job, job.work))

    def _start_if_signed(self, now_s: float) -> None:
        if self.lobby.complete is not None and self.game is None:
            self._start(*self.lobby.complete, now_s)

    def _start(self, genesis: Genesis, certificate: tuple[bytes, ...], now_s: float) -> None:
        if self.silent:
            self._outputs.append(Store(RecordKind.SILENT, 0, b""))
        self.game = self._game(genesis)
        committed = genesis_committed(genesis, certificate)
        self._seats_at.append(())
        self.log.append(committed)
        self._meet(now_s)
        self._outputs.append(Store(RecordKind.COMMITTED, 0, encode(committed)))
        self._outputs.append(Tell(GameStarted()))
        self._begin_height(now_s)

    def _game(self, genesis: Genesis) -> Game:
        """The game of a genesis. While the journal is replayed its dealers only look on, until `Dealer.restore`."""

        def new_dealer(seat: Seat | None) -> Dealer:
            return self.make_dealer(genesis, None if self._replaying else seat, None, self.entropy)

        def keep(dealer: Dealer) -> None:
            self._outputs.append(Store(RecordKind.SECRET, self.height, dealer.secret()))

        seat = None if self.silent else seat_of(genesis, self.signer.node_id)
        return Game(genesis, seat, new_dealer, keep, trusted=self._replaying)

    def _committed(
        self, before: PublicState, committed: Committed, judged: Judgement, round_number: int, now_s: float
    ) -> None:
        """The game has moved on by one entry: write it down, tell, and begin the next height."""
        assert self.game is not None
        entry = committed.entry
        self._seats_at.append(tuple(Seat(seat) for seat, own in enumerate(before.seats) if own.in_game))
        self.log.append(committed)
        self._move_clock(before, entry.content, now_s)
        self._forget_what_is_done(before, judged)
        if before.game != self.game.state.game or self._contacts is None:
            self._meet(now_s)
        assert self._contacts is not None
        self._contacts.without(set(range(len(before.seats))) - set(self.game.seats_in_game()))
        self._awaited_s.clear()
        if (before.turn_number, before.game) != (self.game.state.turn_number, self.game.state.game):
            self.draft = None
        self._outputs.append(Store(RecordKind.COMMITTED, entry.height, encode(committed)))
        actor = before.turn if before.phase is Phase.PLAY else None
        kind = content_kind(entry.content)
        self._outputs.append(Tell(EntryCommitted(entry.height, round_number, kind, actor, judged.action)))
        self._begin_height(now_s)

    def _move_clock(self, before: PublicState, content: Content, when_s: float) -> None:
        assert self.game is not None
        request = isinstance(content, RequestEntry)
        self.clock = self.clock.after(before, self.game.state, when_s, request=request)

    def _forget_what_is_done(self, before: PublicState, judged: Judgement) -> None:
        """What is granted or has lost its sense is not asked for again, and the own action not sent again."""
        assert self.game is not None
        state, seat = self.game.state, self.game.seat
        new_turn = (before.turn_number, before.game) != (state.turn_number, state.game)
        if new_turn or isinstance(judged.action, SeatAction):
            self._acted = None
        if seat is None or before.game != state.game:
            self._asks.clear()
            return
        self._asks = {kind for kind in self._asks if judged.action != request_action(kind, seat)}
        if new_turn:
            self._asks &= OUTLAST_A_TURN
        if state.paused is not None:
            self._asks.discard(RequestKind.PAUSE)
        else:
            self._asks -= {RequestKind.RESUME, RequestKind.LONG_PAUSE}

    def _begin_height(self, now_s: float) -> None:
        assert self.game is not None
        self._driver = None
        self._taken.clear()
        if self.game.over:
            self._outputs.append(Store(RecordKind.CLOSED, self.height, b""))
        else:
            self._driver = self._new_driver()
            self._jobs.clear()
            early, self._early = self._early, []
            for envelope in early:
                try:
                    self._take_agreement(envelope.sender, envelope, _height(envelope), now_s)
                except RemoteProtocolError as error:
                    self._report(error)
            for link, envelope in self._presses.take_early():
                assert isinstance(envelope.body, Press)
                try:
                    self._take_press(link, envelope, envelope.body)
                except RemoteProtocolError as error:
                    self._report(error)

    def _new_driver(self) -> HeightDriver:
        assert self.game is not None

        def may_leave_out(seat: Seat, now_s: float) -> bool:
            return self._contacts is not None and self._contacts.may_go_without(seat, now_s)

        end_s = self._clock_end_s()
        return HeightDriver(self.game, self._seal, self._report, end_s, self._outputs, may_leave_out)

    def _clock_end_s(self) -> float | None:
        """When this node's clock of the height ends; for an open call the driver sets it itself."""
        assert self.game is not None
        if self.game.call is not None:
            return None
        return self.clock.end_s if self.game.state.paused is None else self.clock.pause_end_s

    def _own_turn_open(self) -> bool:
        return (
            self.game is not None
            and self._driver is not None
            and self.game.call is None
            and self.game.state.phase is Phase.PLAY
            and self.game.state.turn == self.game.seat
            and not self._driver.acted
        )

    def _margin_s(self) -> float:
        """Half a second, or less where turns are very short."""
        assert self.game is not None
        return min(TIME_UP_MARGIN_S, self.game.state.rules.turn_seconds / 4)

    def _finish_own_turn(self, now_s: float) -> None:
        """Just before the own clock ends: what the rules let the actor's own node do with what lies on the table."""
        if not self._own_turn_open() or self.clock.end_s is None or self.game is None:
            return
        if self._finished_height == self.height or now_s < self.clock.end_s - self._margin_s():
            return
        self._finished_height = self.height
        if now_s < self.clock.end_s:
            action = at_time_up(self.game.state, self.draft)
            if action is not None:
                self.act(action, now_s)

    # After a restart

    def _replay(self, records: Sequence[Record]) -> None:
        pending: list[Record] = []
        secret = b""
        self._replaying = True
        for record in records:
            match record.kind:
                case RecordKind.SECRET:
                    secret = record.data
                case RecordKind.SILENT:
                    self.silent = True
                case RecordKind.COMMITTED:
                    self._replay_committed(decode(Committed, record.data), record.when_s)
                    pending = []
                case RecordKind.OWN | RecordKind.HEARD | RecordKind.LOCK:
                    pending.append(record)
                case RecordKind.EVIDENCE:
                    found = read_evidence(record.data)
                    if found not in self.evidence:
                        self.evidence.append(found)
                case RecordKind.DRAFT | RecordKind.CLOSED:
                    pass
        self._replaying = False
        if self.game is None:
            return
        self.game.resumes(secret)
        if self._driver is not None:
            self._driver.clock_end_s = self._clock_end_s()
            for record in pending:
                if record.kind is RecordKind.LOCK:
                    self._driver.restore_lock(decode(LockRecord, record.data), record.when_s)
                elif record.kind is RecordKind.HEARD:
                    self._driver.receive(open_envelope(record.data), record.when_s)
                else:
                    said = open_envelope(record.data)
                    self._driver.restore(said, record.when_s)
                    if isinstance(said.body, Request):
                        self._asks.add(said.body.kind)
        if self.game.call is not None:
            self.game.call.goes_live()

    def _replay_committed(self, committed: Committed, when_s: float) -> None:
        content = committed.entry.content
        if self.game is None:
            if not isinstance(content, GenesisEntry):
                raise RemoteProtocolError(None, "entries without their genesis")
            self._seats_at.append(())
            self.game = self._game(content.genesis)
        else:
            before = self.game.state
            self._seats_at.append(self.game.seats_in_game())
            self.game.replay(committed)
            self._move_clock(before, content, when_s)
        self.log.append(committed)
        self._driver = None
        if not self.game.over:
            self._driver = self._new_driver()

    # Small things

    def _seal(self, body: Body) -> Envelope:
        return seal(self.signer, self.table, body)

    def _status(self) -> Envelope:
        self._beat += 1
        head = bytes(32) if self.game is None else self.game.head
        missed = () if self._contacts is None else self._contacts.missed(self._looked_s)
        return self._seal(Status(self._life, self._beat, self.height, head, self._held(), missed))

    def _held(self) -> bytes:
        """A sum over the messages of this height that are held: equal sums, nothing is missing."""
        total = 0
        for envelope in self._driver.held() if self._driver is not None else ():
            total ^= int.from_bytes(envelope.digest[:8], "big")
        return total.to_bytes(8, "big")

    def _report(self, error: RemoteProtocolError) -> None:
        if error.node is None or not error.evidence:
            self._outputs.append(Tell(MessageRefused(error.node, error.reason)))
            return
        found = EvidenceFound(error.node, error.reason, error.evidence)
        if found not in self.evidence and (self.void is not None or not self._has_enough(found)):
            self.evidence.append(found)
            self._outputs.append(Store(RecordKind.EVIDENCE, self.height, encode(found)))
            self._outputs.append(Tell(found))

    def _has_enough(self, found: EvidenceFound) -> bool:
        """Whether so much evidence against a node is held that this makes no difference."""
        held = [held for held in self.evidence if held.node == found.node]
        size = sum(len(raw) for one in (*held, found) for raw in one.evidence)
        return bool(held) and (len(held) >= MAX_EVIDENCE or size > MAX_EVIDENCE_BYTES)


def read_evidence(data: bytes) -> EvidenceFound:
    """What a record `EVIDENCE` holds. Raises `DecodeError`."""
    return decode(EvidenceFound, data, 2 * MAX_EVIDENCE_BYTES)


def _signers(committed: Committed) -> dict[bytes, bytes]:
    """Who has signed for an entry, with the precommit."""
    return {open_envelope(raw).sender: raw for raw in committed.certificate}


def _limit_s(owed: Owed) -> float:
    """How long a seat has for its part. Source: docs/deal-entries.md, section 3."""
    return LONG_LIMIT_S if owed.kind in LONG_PARTS else LIMIT_S


def _height(envelope: Envelope) -> int:
    body = envelope.body
    assert isinstance(body, AGREEMENT_BODIES)
    return body.height
