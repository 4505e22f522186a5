"""Whole tables in one process: real sessions, a virtual clock, a simulated network. Everything follows from the seed.

Nothing sleeps and no real clock is read. Frames between two nodes arrive in order after a random delay, frames of
different nodes in any order.
"""

from __future__ import annotations

import hashlib
import heapq
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from nacl.signing import SigningKey

from engine.actions import RacksOpened, StartDealt
from engine.rulesets import RuleSet
from engine.state import GameResult
from node.autoplay import act_by_bot
from node.keystore import Identity
from protocol.dealing.open_deal import open_dealer
from protocol.envelope import open_envelope
from protocol.events import EntryCommitted, Event, EvidenceFound, MessageRefused
from protocol.game import DealerMaker, series_standing
from protocol.messages import RequestKind, TableCard
from protocol.outputs import Compute, Drop, Output, Send, Store, Tell
from protocol.session import Record, Session

MIN_DELAY_S: Final = 0.001
MAX_DELAY_S: Final = 0.020
COMPUTING_S: Final = (0.005, 0.1)
THINKING_S: Final = (0.2, 2.0)
MAX_EVENTS_AT_ONCE: Final = 10_000
MAX_VIRTUAL_S: Final = 100_000.0

opened = lru_cache(maxsize=8192)(open_envelope)  # all nodes run this code: what one has opened need not be opened again

Player = Callable[[Session, float], None]
Moment = tuple[int, int, tuple[int, ...], tuple[RequestKind, ...]]  # height, round, who is away, what is asked of it


class StuckTable(Exception):  # noqa: N818 - a finding of the simulation, named for what it is
    """A simulated table did not finish; the text names the seed that repeats it."""


@dataclass(slots=True)
class SimulatedNode:
    """One node of a simulated table. `player` decides when its turn has come and it has thought."""

    name: str
    session: Session
    player: Player = act_by_bot
    thinks_at: Moment | None = None  # what it is thinking about
    events: list[Event] = field(default_factory=list)
    journal: list[Record] = field(default_factory=list)  # what survives a crash
    life: int = 0  # counts restarts: what was under way to an earlier life is lost
    down: bool = False
    dropped: set[bytes] = field(default_factory=set)  # nodes whose link it wanted closed


@dataclass(frozen=True, slots=True)
class GameSummary:
    """One finished game of a simulated series. Scores by seat; `out` is who emptied the rack, None if nobody."""

    scores: tuple[int, ...]
    winners: tuple[int, ...]
    out: int | None
    ended_by: str


@dataclass(frozen=True, slots=True)
class TableSummary:
    """What came of one simulated table. `log_hash` is the hash of the last entry in hex: equal hashes, equal games.

    `standings` are the seats of the series, best first; `winners` those that share its first place.
    """

    seed: int
    log_hash: str
    entries: int
    turns: int
    starter: int
    results: tuple[GameSummary, ...]
    totals: tuple[int, ...]
    standings: tuple[int, ...]
    winners: tuple[int, ...]
    virtual_s: float


class SimulatedTable:
    """A table of `seats` nodes, and table devices behind them. `seed` decides keys, tiles, delays, thinking times."""

    def __init__(
        self, rules: RuleSet, seats: int, seed: int, make_dealer: DealerMaker = open_dealer, devices: int = 0
    ) -> None:
        self.seed = seed
        self.make_dealer = make_dealer
        self.now_s = 0.0
        self.rng = random.Random(seed)  # noqa: S311 - a simulation must be repeatable
        self._queue: list[tuple[float, int, Callable[[], None]]] = []
        self._order = 0
        self._turns = 0  # of the games that are over
        self._busy_until: dict[tuple[int, int], float] = {}
        self._wakes: dict[int, float] = {}
        table = self._bytes(16)
        card = TableCard(f"seed {seed}", rules)
        self.nodes: list[SimulatedNode] = []
        count = seats + devices
        for index in range(count):
            identity = Identity(SigningKey(hashlib.blake2b(b"%d/%d" % (seed, index), digest_size=32).digest()))
            session = Session.in_lobby(
                identity,
                table,
                f"Bot {index + 1}",
                bot=True,
                entropy=self._bytes,
                make_dealer=make_dealer,
                card=card if index == 0 else None,
                device=index >= seats,
            )
            session.open_frame = opened
            self.nodes.append(SimulatedNode(session_name(session), session))
        self._index = {node.session.signer.node_id: index for index, node in enumerate(self.nodes)}
        for index in range(count):
            for other in range(count):
                if index != other:
                    self.at(0.0, self._link(index, other))
        for index, node in enumerate(self.nodes):
            if index < seats:
                self.at(1.0, self._ready(node))
            self._after(index)

    def run(self) -> TableSummary:
        """Play until every node has scored the last game. Raises `StuckTable`."""
        for _now_s in self.steps():
            if all(node.down or finished(node.session) for node in self.nodes):
                return self.summary()
        raise StuckTable(f"the table of seed {self.seed} has nothing left to do at height {self._heights()}")

    def steps(self) -> Iterator[float]:
        """Do one event after another; gives the virtual time after each. Raises `StuckTable`."""
        at_once = 0
        while self._queue:
            before_s = self.now_s
            self.now_s, _order, event = heapq.heappop(self._queue)
            at_once = at_once + 1 if self.now_s == before_s else 0
            if at_once > MAX_EVENTS_AT_ONCE:
                raise StuckTable(f"the table of seed {self.seed} goes in circles at height {self._heights()}")
            if self.now_s > MAX_VIRTUAL_S:
                raise StuckTable(f"the table of seed {self.seed} stands still at height {self._heights()}")
            event()
            yield self.now_s

    def at(self, when_s: float, event: Callable[[], None]) -> None:
        """Let something happen at a virtual time."""
        self._order += 1
        heapq.heappush(self._queue, (max(when_s, self.now_s), self._order, event))

    def crash(self, index: int) -> None:
        """Kill a node: everything that is not in its journal is gone, and so is what was under way to and from it."""
        node = self.nodes[index]
        node.down = True
        node.life += 1
        node.session.take_outputs()
        self._wakes.pop(index, None)
        for other, peer in enumerate(self.nodes):
            if other != index and not peer.down:
                peer.session.lost(node.session.signer.node_id, self.now_s)
                self._after(other)

    def restart(self, index: int) -> None:
        """Start a killed node from its journal, and link it to the others."""
        node = self.nodes[index]
        old = node.session
        session = Session.resume(
            old.signer,
            old.table,
            node.journal,
            entropy=self._bytes,
            make_dealer=self.make_dealer,
            now_s=self.now_s,
        )
        assert session is not None, "no game had started"
        session.open_frame = opened
        node.session, node.down, node.thinks_at = session, False, None
        for other, peer in enumerate(self.nodes):
            if other != index and not peer.down:
                self.at(self.now_s, self._link(index, other))
                self.at(self.now_s, self._link(other, index))
        self._after(index)

    def carry_out(self, index: int) -> None:
        """Let a node send what its session wants sent, after something was done to it."""
        self._after(index)

    def summary(self) -> TableSummary:
        """What came of the series; all nodes must have finished it alike."""
        up = [node for node in self.nodes if not node.down]
        heads = {node.session.game.head for node in up if node.session.game is not None}
        assert len(heads) == 1, f"seed {self.seed}: the nodes ended in different games"
        session = up[0].session
        state = session.state
        assert state is not None
        assert state.result is not None
        results = (*state.results, state.result)
        standing = series_standing(state)
        actions = [event.action for event in commits(up[0])]
        starters = [action.starter for action in actions if isinstance(action, StartDealt)]
        return TableSummary(
            seed=self.seed,
            log_hash=heads.pop().hex(),
            entries=len(session.log),
            turns=self._turns,
            starter=int(starters[0] or 0),
            results=tuple(_game_summary(result) for result in results),
            totals=standing.totals,
            standings=tuple(int(seat) for seat in standing.standings),
            winners=tuple(int(seat) for seat in standing.winners),
            virtual_s=round(self.now_s, 3),
        )

    def refusals(self) -> list[MessageRefused | EvidenceFound]:
        """Everything that a node refused of another."""
        return [e for node in self.nodes for e in node.events if isinstance(e, (MessageRefused, EvidenceFound))]

    def _lives(self, index: int, other: int) -> tuple[int, int]:
        return self.nodes[index].life, self.nodes[other].life

    def _bytes(self, count: int) -> bytes:
        return self.rng.randbytes(count)

    def _link(self, index: int, other: int) -> Callable[[], None]:
        def event() -> None:
            self.nodes[index].session.linked(self.nodes[other].session.signer.node_id, self.now_s)
            self._after(index)

        return event

    def _ready(self, node: SimulatedNode) -> Callable[[], None]:
        def event() -> None:
            node.session.lobby.change(ready=True, start=True)
            self._after(self.nodes.index(node))

        return event

    def _after(self, index: int) -> None:
        """Carry out what a node wants done, let it think if its turn has come, and wake it when it asks."""
        node = self.nodes[index]
        if node.down:
            return
        self._do_all(index, node.session.take_outputs())
        if not node.down:
            self._think(index)
            self._wake(index)

    def _do_all(self, index: int, outputs: Sequence[Output]) -> None:
        """Do what a session wants done, in order."""
        for output in outputs:
            self._do(index, output)

    def _do(self, index: int, output: Output) -> None:
        node = self.nodes[index]
        match output:
            case Send():
                self._send(index, output)
            case Tell(event):
                node.events.append(event)
                if index == 0 and isinstance(event, EntryCommitted) and isinstance(event.action, RacksOpened):
                    assert node.session.state is not None
                    self._turns += node.session.state.turn_number
            case Drop(other):
                self._drop(index, other)
            case Store(kind, height, data):
                node.journal.append(Record(kind, height, data, self.now_s))
            case Compute():
                self.at(self.now_s + self.rng.uniform(*COMPUTING_S), self._computation(index, output))

    def _drop(self, index: int, other: bytes) -> None:
        """A node wants a link closed. Here it comes back at once: the frame is what counts."""
        self.nodes[index].dropped.add(other)

    def _computation(self, index: int, asked: Compute) -> Callable[[], None]:
        life = self.nodes[index].life

        def event() -> None:
            node = self.nodes[index]
            if not node.down and node.life == life and node.session.wants(asked.number):
                node.session.computed(asked.number, asked.work(), self.now_s)
                self._after(index)

        return event

    def _send(self, index: int, send: Send) -> None:
        for other, node in enumerate(self.nodes):
            node_id = node.session.signer.node_id
            if other != index and node_id != send.but and send.to in (None, node_id):
                self.deliver(index, other, send.frame)

    def deliver(self, index: int, other: int, frame: bytes) -> None:
        """Let a frame of node `index` arrive at node `other`, after all that it had sent there before."""
        delay_s = self.rng.uniform(MIN_DELAY_S, MAX_DELAY_S)
        arrives_s = max(self.now_s + delay_s, self._busy_until.get((index, other), 0.0))
        self._busy_until[(index, other)] = arrives_s
        sender = self.nodes[index].session.signer.node_id
        lives = self._lives(index, other)

        def event() -> None:
            if self.nodes[other].down or lives != self._lives(index, other):
                return
            self.nodes[other].session.receive(sender, frame, self.now_s)
            self._after(other)

        self.at(arrives_s, event)

    def _think(self, index: int) -> None:
        node = self.nodes[index]
        state = node.session.state
        gone = node.session.may_go_on_without(self.now_s)
        asked = node.session.consents_awaited()
        due = node.session.may_act(self.now_s) or node.session.may_wish() or gone or asked
        if state is None or not due or node.thinks_at == _moment(node.session):
            return
        node.thinks_at = _moment(node.session)

        def event() -> None:
            if not node.down and node.thinks_at == _moment(node.session):
                node.player(node.session, self.now_s)
                self._after(index)

        self.at(self.now_s + self.rng.uniform(*THINKING_S), event)

    def _wake(self, index: int) -> None:
        node = self.nodes[index]
        when_s = node.session.next_deadline_s()
        if self._wakes.get(index) == when_s:
            return
        self._wakes[index] = when_s

        def event() -> None:
            if self._wakes.get(index) == when_s and not node.down:
                self._wakes.pop(index, None)
                node.session.handle_deadline(self.now_s)
                self._after(index)

        self.at(when_s, event)

    def _heights(self) -> list[int]:
        return [node.session.height for node in self.nodes]


def _game_summary(result: GameResult) -> GameSummary:
    winners = tuple(int(seat) for seat in result.winners)
    return GameSummary(result.scores, winners, result.out, result.ended_by.value)


def session_name(session: Session) -> str:
    """The name under which a session sits down."""
    return session.lobby.own.name


def finished(session: Session) -> bool:
    """The last game of the series is scored at this node."""
    return session.game is not None and session.game.over


def _moment(session: Session) -> Moment:
    gone = tuple(absence.seat for absence in session.absences())
    return session.height, session.round, gone, session.consents_awaited()


def commits(node: SimulatedNode) -> list[EntryCommitted]:
    """The entries a simulated node committed, in order."""
    return [event for event in node.events if isinstance(event, EntryCommitted)]
