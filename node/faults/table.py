"""One hostile table: real sessions on a bad network, in machines that die, one of them perhaps a liar's."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from engine.rulesets import RuleSet
from node.autoplay import act_by_bot
from node.faults.ledger import Ledger
from node.faults.liars import Liar
from node.faults.network import Network
from node.faults.profiles import CUT_S, FAULTY_S, STUCK_S, Profile
from node.faults.referee import Referee
from node.simulation import SimulatedTable, StuckTable, finished
from protocol.dealing.open_deal import open_dealer
from protocol.envelope import digest
from protocol.game import DealerMaker
from protocol.log import may_be_left_out
from protocol.messages import RemoveEntry
from protocol.outputs import Output, Send, Store
from protocol.session import Record, Session

AWAY_S: Final = ((0.1, 3.0), (0.1, 3.0), (5.0, 50.0), (70.0, 150.0))  # how long a killed node is away
LAST_OUTPUTS: Final = 8  # a node dies before one of its next so many outputs
SPARED: Final = 0.8  # how often nobody else dies while one is away, so that it can be removed
MAX_ROUNDS: Final = 100
DAWDLES: Final = 0.03  # how often a player lets its time run out


class Death(Enum):
    """How a node ends: a killed process's links are closed by its system; one without power just falls silent."""

    KILLED = "killed"
    POWER = "power"


@dataclass(frozen=True, slots=True)
class HostileSummary:
    """What came of one hostile table: the agreed log, the faults that happened by kind, seats removed from the game.

    `finished`: the last game was scored; else the liar was not to be got rid of with the seats that were left, or had
    led the others apart, so that the game is `void`.
    """

    seed: int
    rules: str
    seats: int
    log_hash: str
    entries: int
    virtual_s: float
    faults: dict[str, int]
    removals: int
    finished: bool
    void: bool


class HostileTable(SimulatedTable):
    """A table of `seats` nodes to which the faults of a profile happen until they heal; see `Ledger` for `limit`."""

    def __init__(
        self,
        rules: RuleSet,
        seats: int,
        seed: int,
        profile: Profile,
        limit: int | None = None,
        make_dealer: DealerMaker = open_dealer,
    ) -> None:
        self.profile = profile
        self.ledger = Ledger(limit)
        self.luck = random.Random(f"faults {seed}")  # noqa: S311 - a simulation must be repeatable
        self.network = Network(self, seats, profile, random.Random(f"network {seed}"), self.ledger)  # noqa: S311
        liars = frozenset(self.luck.sample(range(seats), profile.liars))
        self.referee = Referee(frozenset(range(seats)) - liars, liars)
        self.liars = {index: Liar(self, index, random.Random(f"liar {seed}"), self.ledger) for index in liars}  # noqa: S311
        self.heals_s: float | None = None  # when all faults end; set when the game has begun
        self._moved_s = 0.0  # when all faults had ended, or an honest node got its newest entry after that
        self._dying: dict[int, tuple[int, Death]] = {}  # outputs left, and how
        super().__init__(rules, seats, seed, make_dealer)
        for node in self.nodes:
            node.player = self._play

    def play(self) -> HostileSummary:
        """Until every honest node has scored the last game. Raises `Violation` or `StuckTable`, or a session's bug."""
        for now_s in self.steps():
            if self.heals_s is None:
                if all(node.session.game is not None for node in self.nodes):
                    self._begin()
            elif self._done():
                return self._result()
            elif now_s > self._moved_s + STUCK_S:
                if self.referee.split is None and not self._can_finish():
                    return self._result()
                raise StuckTable(f"no new entry for {STUCK_S:.0f} s after all faults: {self._standings()}")
        raise StuckTable(f"nothing left to do: {self._standings()}")

    def honest(self) -> list[int]:
        return [index for index in range(len(self.nodes)) if index not in self.liars]

    # What happens, and when

    def _begin(self) -> None:
        self.heals_s = self._moved_s = self.now_s + FAULTY_S
        profile = self.profile
        self._repeat(profile.stall_every_s, self._stall)
        self._repeat(profile.cut_every_s, self._cut)
        self._repeat(profile.crash_every_s, self._die)
        for liar in self.liars.values():
            self._repeat(liar.every_s, liar.speak)
        self.at(self.heals_s, self._heal)

    def _repeat(self, every_s: float | None, fault: object) -> None:
        """Let a fault happen again and again, at random times."""
        if every_s is None:
            return
        assert callable(fault)
        assert self.heals_s is not None
        when_s = self.now_s + self.luck.expovariate(1 / every_s)

        def event() -> None:
            fault()
            self._repeat(every_s, fault)

        if when_s < self.heals_s:
            self.at(when_s, event)

    def _stall(self) -> None:
        low, high = self.luck.choice(self.network.pairs())
        if self.ledger.happens("stall"):
            self.network.stall(low, high)

    def _cut(self) -> None:
        """Split the table in two, or cut one link only, for a while."""
        if self.network.cut:
            return
        pairs = self.network.pairs()
        side = {index for index in range(len(self.nodes)) if self.luck.random() < 0.5}
        cut = frozenset(pair for pair in pairs if (pair[0] in side) != (pair[1] in side))
        if not cut or self.luck.random() < 0.2:
            cut = frozenset([self.luck.choice(pairs)])
        seconds = CUT_S[0] * (CUT_S[1] / CUT_S[0]) ** self.luck.random()
        if self.ledger.happens("partition"):
            self.network.separate(cut)
            self.at(self.now_s + seconds, lambda: self.network.separate(frozenset()))

    def _die(self) -> None:
        """One of the nodes will die before one of its next outputs."""
        index = self.luck.randrange(len(self.nodes))
        death = self.luck.choice(list(Death))
        outputs = self.luck.randrange(LAST_OUTPUTS)
        spared = any(node.down for node in self.nodes) and self.luck.random() < SPARED
        if index not in self.liars and not self.nodes[index].down and index not in self._dying and not spared:
            self._dying[index] = outputs, death

    def _dies(self, index: int) -> bool:
        """Whether a node dies before its next output."""
        left, death = self._dying.get(index, (1, Death.KILLED))
        if left:
            if index in self._dying:
                self._dying[index] = left - 1, death
            return False
        del self._dying[index]
        if not self.ledger.happens("crash"):
            return False
        self.die(index, death)
        seconds = self.luck.uniform(*self.luck.choice(AWAY_S))
        self.at(self.now_s + seconds, lambda: self._back(index))
        return True

    def die(self, index: int, death: Death) -> None:
        """A node is gone: what is not in its journal is lost."""
        node = self.nodes[index]
        node.down = True
        node.life += 1
        node.session.take_outputs()
        self._wakes.pop(index, None)
        if death is Death.POWER:
            self.network.vanish(index)
        else:
            for other in range(len(self.nodes)):
                self.network.close(index, other)

    def _back(self, index: int) -> None:
        if self.nodes[index].down:
            self.restart(index)

    def _heal(self) -> None:
        self.ledger.open = False
        self.network.separate(frozenset())
        self._dying.clear()
        for index in range(len(self.nodes)):
            self._back(index)

    # The end

    def _done(self) -> bool:
        honest = [self.nodes[index] for index in self.honest()]
        if self.referee.split is not None:  # rule 19
            return all(not node.down and node.session.void is not None for node in honest)
        return all(not node.down and finished(node.session) for node in honest)

    def _can_finish(self) -> bool:
        """Whether the honest seats in the game are enough to go on without the liar."""
        if not self.liars:
            return True
        ahead = self._ahead()
        assert ahead.game is not None
        seats = ahead.game.seats_in_game()
        lying = [seat for index in self.liars if (seat := self._seat(index)) is not None and seat in seats]
        return not lying or may_be_left_out(seats, lying)

    def _seat(self, index: int) -> int | None:
        game = self.nodes[index].session.game
        return None if game is None else game.own_seat

    def _result(self) -> HostileSummary:
        ahead = self._ahead()
        assert ahead.game is not None
        return HostileSummary(
            seed=self.seed,
            rules=ahead.game.genesis.rules.name,
            seats=len(self.nodes),
            log_hash=ahead.game.head.hex(),
            entries=len(ahead.log),
            virtual_s=round(self.now_s, 3),
            faults=dict(sorted(self.ledger.counts.items())),
            removals=sum(isinstance(committed.entry.content, RemoveEntry) for committed in ahead.log),
            finished=finished(ahead),
            void=self.referee.split is not None,
        )

    def _ahead(self) -> Session:
        """The honest session that has come furthest."""
        return max((self.nodes[index].session for index in self.honest()), key=lambda session: session.height)

    def _standings(self) -> str:
        told = []
        for index, node in enumerate(self.nodes):
            session = node.session
            call = None if session.game is None else session.game.call
            seats = () if session.game is None else session.game.seats_in_game()
            gone = [(int(a.seat), a.cause.value, round(a.until_s - self.now_s)) for a in session.absences()]
            told.append(
                f"\n  node {index}{' (liar)' if index in self.liars else ''}{' down' if node.down else ''}: seat "
                f"{self._seat(index)} of {tuple(map(int, seats))}, height {session.height}, round {session.round}, "
                f"call {None if call is None else (call.call.name.value, call.missing())}, "
                f"absent {gone}, wishes {session.go_on_wishes()}"
            )
        return "".join(told)

    # The machines

    def _play(self, session: Session, now_s: float) -> None:
        if session.may_act(now_s) and self.luck.random() < DAWDLES and self.ledger.happens("dawdling"):
            return
        act_by_bot(session, now_s)

    def _after(self, index: int) -> None:
        try:
            super()._after(index)
        except Exception:
            if index not in self.liars:
                raise
            self.die(index, Death.KILLED)  # a liar that has confused itself
        if self.referee.look(index, self.nodes):
            self._moved_s = max(self._moved_s, self.now_s)
        if index not in self.liars and self.nodes[index].session.round > MAX_ROUNDS:
            raise StuckTable(f"rounds without end: {self._standings()}")

    def _do_all(self, index: int, outputs: Sequence[Output]) -> None:
        """In order, and what is stored in one go is one transaction, as `node/runner.py` does it."""
        waiting: list[Store] = []
        for output in outputs:
            if isinstance(output, Store):
                waiting.append(output)
                continue
            if isinstance(output, Send):
                if self._dies(index):
                    return
                self._write(index, waiting)
                waiting = []
                if self._dies(index):
                    return
            self._do(index, output)
            if self.nodes[index].down:
                return
        if waiting and not self._dies(index):
            self._write(index, waiting)

    def _write(self, index: int, stores: Sequence[Store]) -> None:
        for store in stores:
            record = Record(store.kind, store.height, store.data, self.now_s)
            self.nodes[index].journal.append(record)
            self.referee.stored(index, record)

    # The network

    def _send(self, index: int, send: Send) -> None:
        if index in self.liars and self.heals_s is not None:
            self.liars[index].send(send)
            return
        self.referee.sent(index, self.nodes[index].session, send.frame)
        for other, node in enumerate(self.nodes):
            if self.nodes[index].down:
                return
            node_id = node.session.signer.node_id
            if other != index and node_id != send.but and send.to in (None, node_id):
                self.network.send(index, other, send.frame)
                if send.to is None and self._dies(index):
                    return

    def _drop(self, index: int, other: bytes) -> None:
        super()._drop(index, other)
        self.network.close(index, self._index[other])

    def _link(self, index: int, other: int):  # type: ignore[no-untyped-def]
        return lambda: self.network.connect_all()

    def up(self, index: int) -> bool:
        return not self.nodes[index].down

    def linked(self, index: int, other: int) -> None:
        self.nodes[index].session.linked(self.nodes[other].session.signer.node_id, self.now_s)
        self._after(index)

    def lost(self, index: int, other: int) -> None:
        self.nodes[index].session.lost(self.nodes[other].session.signer.node_id, self.now_s)
        self._after(index)

    def arrived(self, source: int, target: int, frame: bytes) -> None:
        session = self.nodes[target].session
        if not self.nodes[target].down:
            copy = digest(frame) in session._taken  # a forwarded one, after which nothing is to be done
            session.receive(self.nodes[source].session.signer.node_id, frame, self.now_s)
            if not copy:
                self._after(target)

    def deliver(self, index: int, other: int, frame: bytes) -> None:
        self.network.send(index, other, frame)
