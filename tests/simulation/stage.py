"""One height of a table, with every message in the test's hands: real drivers, and nothing arrives by itself.

`Stage` takes the games of a simulated table at a moment when nothing is under way and gives each seat a fresh driver.
What a driver says is kept; `give` hands it to others, `pass_on` everything to everybody. A seat may be killed and
started again from what it had stored, and a seat may lie: `signed` speaks with its key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import TypeVar

from engine.rulesets import ES
from engine.state import CallName
from node.simulation import SimulatedTable
from protocol.codec import decode
from protocol.consensus.driver import HeightDriver, LockRecord
from protocol.envelope import Envelope, Signer, open_envelope, seal
from protocol.errors import RemoteProtocolError
from protocol.game import Game
from protocol.log import entry_hash
from protocol.messages import Body, Entry, Precommit, Prevote, Proposal, Regroup, RemoveEntry, TimeoutEntry
from protocol.outputs import Output, RecordKind, Send, Store
from tests.simulation.removal import in_call, play_until, staying

Vote = TypeVar("Vote", Prevote, Precommit, Proposal, Regroup)
CLOCK_S = 60.0
MAX_ROUNDS = 40


@cache
def table_in_play(seats: int) -> SimulatedTable:
    """A table of cards at the first turn of somebody, where nothing is under way."""
    table = SimulatedTable(replace(ES, turn_seconds=int(CLOCK_S)), seats, 3)
    play_until(table, lambda: len(staying(table)) == seats and in_call(table, None))
    return table


@cache
def table_in_draw(seats: int) -> SimulatedTable:
    """A table of cards at a draw whose answers everybody holds, and nobody has voted on them."""
    table = SimulatedTable(replace(ES, turn_seconds=int(CLOCK_S)), seats, 3)

    def answered() -> bool:
        games = [session.game for session in staying(table)]
        calls = [game.call for game in games if game is not None]
        return in_call(table, CallName.DRAW) and all(call is not None and call.complete for call in calls)

    play_until(table, answered)
    return table


class Stage:
    """The seats of a table at one height. Seats are numbered from the actor on: 0 is who proposes first."""

    def __init__(self, seats: int = 3, table: SimulatedTable | None = None) -> None:
        sessions = staying(table or table_in_play(seats))
        games = [session.game for session in sessions if session.game is not None]
        first = games[0].first_proposer
        order = [(first + place) % seats for place in range(seats)]
        self.seat = dict(enumerate(order))  # by number: the seat at the table
        self.games: list[Game] = [games[seat] for seat in order]
        self.signers: list[Signer] = [sessions[seat].signer for seat in order]
        self.said: list[list[Envelope]] = [[] for _seat in order]
        self.stored: list[list[Store]] = [[] for _seat in order]
        self.faults: list[list[RemoteProtocolError]] = [[] for _seat in order]
        self.now_s = 0.0
        self.drivers = [self._driver(number) for number in range(seats)]
        self.player = sessions[order[0]]

    def _driver(self, number: int) -> HeightDriver:
        outputs: list[Output] = []
        clock_s = None if self.games[number].call is not None else CLOCK_S
        report = self.faults[number].append
        return HeightDriver(
            self.games[number],
            lambda body: self.signed(number, body),
            report,
            clock_s,
            outputs,
            lambda seat, now_s: True,
        )

    # What seats do

    def signed(self, number: int, body: Body) -> Envelope:
        return seal(self.signers[number], self.games[number].genesis.table, body)

    def at(self, now_s: float, *numbers: int) -> None:
        """Time has passed for some seats, by default for all."""
        self.now_s = now_s
        for number in numbers or range(len(self.drivers)):
            self._advance(number)

    def act(self) -> Entry:
        """The actor makes a move; the entry that it proposes."""
        from engine.bots import choose

        game = self.games[0]
        action = choose(game.state.turn, game.state, game.dealer.own_tiles(game.state))
        self.drivers[0].propose_action(game.sign_action(action), self.now_s)
        self._collect(0)
        return self.vote(0, Proposal).entry

    def give(self, number: int, *envelopes: Envelope) -> None:
        """Let messages arrive at a seat."""
        for envelope in envelopes:
            try:
                self.drivers[number].receive(envelope, self.now_s)
            except RemoteProtocolError as error:
                self.faults[number].append(error)
            self._advance(number)

    def pass_on(self, *numbers: int, unless: Callable[[Envelope], bool] = lambda envelope: False) -> None:
        """Let everything that these seats say arrive at each other, until nobody says anything new."""
        everybody = numbers or tuple(range(len(self.drivers)))
        given: set[tuple[int, bytes]] = set()
        news = True
        while news:
            news = False
            for source in everybody:
                for target in everybody:
                    for envelope in list(self.said[source]):
                        if source != target and (target, envelope.raw) not in given and not unless(envelope):
                            given.add((target, envelope.raw))
                            self.give(target, envelope)
                            assert self.drivers[target].round < MAX_ROUNDS, "rounds without end"
                            news = True

    def wish(self, without: Iterable[int] | None, *numbers: int) -> None:
        """Seats wish to go on without some, given by their numbers, and are ready to sign it."""
        seats = None if without is None else self.without(without)
        for number in numbers:
            self.drivers[number].wish_to_go_on(seats, self.now_s)
            self._advance(number)

    def without(self, numbers: Iterable[int]) -> tuple[int, ...]:
        return tuple(sorted(int(self.seat[number]) for number in numbers))

    def restart(self, number: int) -> None:
        """Kill a seat's node and start it again from what it had stored, as `Session.resume` does."""
        driver = self.drivers[number] = self._driver(number)
        for store in self.stored[number]:
            if store.kind is RecordKind.LOCK:
                driver.restore_lock(decode(LockRecord, store.data), self.now_s)
            elif store.kind is RecordKind.HEARD:
                driver.receive(open_envelope(store.data), self.now_s)
            else:
                driver.restore(open_envelope(store.data), self.now_s)
        self._advance(number)

    # What came of it

    def vote(self, number: int, kind: type[Vote], round_number: int = 0) -> Vote:
        """What a seat has said of a kind in a round; fails if it has not."""
        body = self.envelope(number, kind, round_number).body
        assert isinstance(body, kind)
        return body

    def envelope(self, number: int, kind: type[Vote], round_number: int = 0) -> Envelope:
        found = self.votes(number, kind, round_number)
        assert found, f"seat {number} has not said any {kind.__name__} in round {round_number}"
        return found[0]

    def votes(self, number: int, kind: type[Vote], round_number: int = 0) -> list[Envelope]:
        return [e for e in self.said[number] if isinstance(e.body, kind) and e.body.round == round_number]

    def committed(self, number: int) -> Entry | None:
        """What a seat has agreed to at this height."""
        done = self.drivers[number].committed
        return None if done is None else done[0].entry

    def agreed(self, *numbers: int) -> Entry:
        """The one entry that these seats have agreed to."""
        entries = [self.committed(number) for number in numbers or range(len(self.drivers))]
        first = entries[0]
        assert first is not None, "no agreement"
        assert all(entry == first for entry in entries), "different entries"
        return first

    def do_not_differ(self) -> None:
        """No two seats have agreed to different entries."""
        entries = {entry_hash(entry) for n in range(len(self.drivers)) if (entry := self.committed(n)) is not None}
        assert len(entries) <= 1, "two entries at one height"

    def prevote(self, number: int, entry: Entry | None, round_number: int = 0, without: Sequence[int] = ()) -> Envelope:
        """A prevote with the key of a seat."""
        named = None if entry is None else entry_hash(entry)
        return self.signed(number, Prevote(*self.place, round_number, self.without(without), named, ()))

    def precommit(
        self, number: int, entry: Entry | None, round_number: int = 0, without: Sequence[int] = ()
    ) -> Envelope:
        named = None if entry is None else entry_hash(entry)
        return self.signed(number, Precommit(*self.place, round_number, self.without(without), named))

    @property
    def place(self) -> tuple[int, bytes]:
        return self.games[0].height, self.games[0].head

    def removal(self, *numbers: int) -> Entry:
        entry = self.games[0].entry(RemoveEntry(self.without(numbers), "absent", None))
        assert entry is not None
        return entry

    def timeout(self) -> Entry:
        entry = self.games[0].entry(TimeoutEntry())
        assert entry is not None
        return entry

    def _advance(self, number: int) -> None:
        self.drivers[number].advance(self.now_s)
        self._collect(number)

    def _collect(self, number: int) -> None:
        outputs = self.drivers[number].outputs
        for output in outputs:
            if isinstance(output, Send):
                envelope = open_envelope(output.frame)
                if envelope.sender == self.signers[number].node_id:
                    self.said[number].append(envelope)
            elif isinstance(output, Store):
                self.stored[number].append(output)
        outputs.clear()
