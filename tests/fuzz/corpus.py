"""Tables stopped in every phase, and what is said at them. Everything follows from the seeds of the tables.

At each table the node on seat 0 is the victim, whose session gets the broken messages. Seat 1 is honest: of it only
what it really said is ever heard. Seat 2 lies, and so does a stranger: whatever is broken and then signed is theirs.
At one table a fourth seat is lost.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from nacl.signing import SigningKey

from engine.rulesets import ES, FI, RuleSet
from engine.state import CallName, Phase, Seat
from node.keystore import Identity
from node.simulation import SimulatedTable
from protocol.codec import encode
from protocol.consensus.absence import CONTACT_S, COUNTDOWN_S
from protocol.dealing.secret_deal import secret_dealer
from protocol.envelope import Envelope, Signer, open_envelope, seal
from protocol.gamefile import game_file_of
from protocol.log import Committed, entry_hash
from protocol.messages import (
    Announce,
    CatchUp,
    Entry,
    KnownPeer,
    NextGameEntry,
    Prevote,
    Proposal,
    RemoveEntry,
    Request,
    RequestEntry,
    RequestKind,
    Status,
    TableCard,
)
from protocol.outputs import RecordKind, Send
from protocol.roster import seat_of
from protocol.session import Record, Session

CARDS: Final = replace(ES, hand=3, rounds=2)  # 52 cards, quick to deal
TILES: Final = replace(FI, hand=4, rounds=2)
VICTIM: Final = 0
HONEST: Final = 1
LOST: Final = 3
STRANGER: Final = Identity(SigningKey(b"\x07" * 32))
WATCHER: Final = Identity(SigningKey(b"\x09" * 32))
WATCHED: Final = 6  # entries
_NEAR: Final = (-1, 3)  # heights of the messages that are fed, from that of the victim


@dataclass(frozen=True, slots=True)
class Stage:
    """A moment of a table. `make` gives the victim's session at that moment, as often as it is wanted.

    `frames` are what was really said around that moment, by others than the victim. `entries` are the hashes of the
    entries that were agreed there, by height, and `voted` those that the honest seat has prevoted: nothing else can be
    agreed, whatever the liars say. `secrets` are never to be sent.
    """

    name: str
    make: Callable[[], Session]
    now_s: float
    frames: tuple[bytes, ...]
    honest: Signer
    liars: tuple[Signer, ...]
    others: tuple[bytes, ...]  # the nodes that are linked to the victim
    entries: dict[int, bytes]
    voted: frozenset[bytes]
    secrets: tuple[bytes, ...] = ()


class _Recorded(SimulatedTable):
    """Remembers every frame that was sent, once, in order."""

    def __init__(self, rules: RuleSet, seats: int, seed: int) -> None:
        self.sent: dict[bytes, None] = {}
        super().__init__(rules, seats, seed, secret_dealer)

    def deliver(self, index: int, other: int, frame: bytes) -> None:
        self.sent.setdefault(frame)
        super().deliver(index, other, frame)

    def seat(self, seat: int) -> int:
        """The node on a seat."""
        return next(i for i, node in enumerate(self.nodes) if node.session.game and node.session.game.own_seat == seat)

    def session(self, seat: int) -> Session:
        return self.nodes[self.seat(seat)].session


# The phases, by what the victim's session shows

Reached = Callable[[Session], bool]


def _call(name: CallName) -> Reached:
    return lambda session: (
        session.game is not None and session.game.call is not None and session.game.call.call.name is name
    )


def _turn(mine: bool) -> Reached:
    def reached(session: Session) -> bool:
        state = session.state
        on = state is not None and state.phase is Phase.PLAY and state.call is None and session.height > 5
        return on and state is not None and (state.turn == VICTIM if mine else state.turn >= 2)

    return reached


def _between(session: Session) -> bool:
    return session.game is not None and session.game.between_games


def _paused(session: Session) -> bool:
    return session.state is not None and session.state.paused is not None


def _wishing(session: Session) -> bool:
    return bool(session.go_on_wishes())


_PLAYED: Final[dict[str, Reached]] = {
    "start": _call(CallName.START),
    "racks": _call(CallName.RACKS),
    "own-turn": _turn(mine=True),
    "turn": _turn(mine=False),
    "draw": _call(CallName.DRAW),
    "final": _call(CallName.FINAL),
    "between-games": _between,
}
_PAUSED: Final[dict[str, Reached]] = {"request": lambda session: bool(session.requests()), "paused": _paused}
_LOST: Final[dict[str, Reached]] = {"removal": _wishing, "redeal": _call(CallName.REDEAL)}


@cache
def stages(rules: RuleSet = CARDS) -> dict[str, Stage]:
    """All phases of tables with these rules, by name."""
    played, paused, lost = _play(rules), _pause(rules), _lose(rules)
    of_games = _stopped(played, _PLAYED) | _stopped(paused, _PAUSED) | _stopped(lost, _LOST)
    return {**_lobby(rules), **of_games, **_watching(played)}


@dataclass(slots=True)
class _Played:
    """A table that was played, and the moments at which the victim's phases began: records in its journal, and time."""

    table: _Recorded
    moments: dict[str, tuple[int, float]]


def _follow(table: _Recorded, phases: dict[str, Reached], until: Callable[[], bool]) -> _Played:
    moments: dict[str, tuple[int, float]] = {}
    for now_s in table.steps():
        if table.nodes[0].session.game is not None:
            node = table.nodes[table.seat(VICTIM)]
            for name, reached in phases.items():
                if name not in moments and reached(node.session):
                    moments[name] = len(node.journal), now_s
        if until():
            break
    assert set(moments) == set(phases), f"never reached: {set(phases) - set(moments)}"
    return _Played(table, moments)


@cache
def _play(rules: RuleSet) -> _Played:
    """Three seats play a game, and begin another."""
    table = _Recorded(rules, 3, 1)

    def again() -> bool:
        return all(_in_play(node.session, 1) for node in table.nodes)

    return _follow(table, _PLAYED, again)


def _pause(rules: RuleSet) -> _Played:
    """The honest seat asks for a pause in the first turn, and then to go on."""
    table = _Recorded(rules, 3, 3)
    while not all(_in_play(node.session) for node in table.nodes):
        next(iter(table.steps()))
    began = table.session(VICTIM).height

    def ask(kind: RequestKind) -> None:
        if table.session(HONEST).may_ask(kind):
            table.session(HONEST).ask(kind, table.now_s)
            table.carry_out(table.seat(HONEST))

    def gone_on() -> bool:
        ask(RequestKind.RESUME)
        return table.session(VICTIM).height > began + 4

    ask(RequestKind.PAUSE)
    return _follow(table, _PAUSED, gone_on)


def _lose(rules: RuleSet) -> _Played:
    """The node on the last seat is lost in the first turn, and the others go on without it."""
    table = _Recorded(rules, 4, 2)
    while not all(_in_play(node.session) for node in table.nodes):
        next(iter(table.steps()))
    table.crash(table.seat(LOST))

    def redealt() -> bool:
        state = table.session(VICTIM).state
        return state is not None and state.stock.epoch > 0 and state.call is None

    return _follow(table, _LOST, redealt)


def _in_play(session: Session, game: int = 0) -> bool:
    state = session.state
    return state is not None and state.phase is Phase.PLAY and state.call is None and state.game == game


def _stopped(played: _Played, phases: Iterable[str]) -> dict[str, Stage]:
    table = played.table
    victim = table.nodes[table.seat(VICTIM)]
    found = {}
    for name in phases:
        count, now_s = played.moments[name]
        make = _resumed(victim.session, tuple(victim.journal[:count]), now_s)
        found[name] = _stage(name, table, _waiting(table, make, now_s) if name == "removal" else make, now_s)
    return found


def _waiting(table: _Recorded, make: Callable[[], Session], now_s: float) -> Callable[[], Session]:
    """The victim has waited for the lost seat for a whole countdown, and now chooses to go on without it."""
    began_s = now_s - COUNTDOWN_S - 2 * CONTACT_S

    def waited() -> Session:
        session, here = make(), [table.session(seat).signer for seat in (HONEST, HONEST + 1)]
        assert session._contacts is not None
        session._contacts.began_s = session._looked_s = began_s
        for second in range(int(now_s - began_s) + 1):
            for signer in here:
                status = Status(b"waiting!", second, 0, bytes(32), bytes(8), ())
                session.receive(signer.node_id, seal(signer, session.table, status).raw, began_s + second)
            session.handle_deadline(began_s + second)
        session.go_on_without([Seat(LOST)], now_s)
        assert LOST in session.go_on_wishes()[Seat(VICTIM)]
        return session

    return waited


def _watching(played: _Played) -> dict[str, Stage]:
    """An observer in the middle of the game, that knows it from the others alone."""
    table, now_s = played.table, played.moments["turn"][1]
    link, log = table.session(HONEST).signer, table.session(VICTIM).log

    def make() -> Session:
        session = Session.in_lobby(
            WATCHER, table.nodes[0].session.table, "", bot=True, entropy=bytes, make_dealer=secret_dealer, now_s=now_s
        )
        for committed in log[:WATCHED]:
            frame = seal(link, session.table, CatchUp((encode(committed),))).raw
            session.receive(link.node_id, frame, now_s)
        assert session.height == WATCHED
        return session

    return {"observer": _stage("observer", table, make, now_s)}


def _resumed(session: Session, records: tuple[Record, ...], now_s: float) -> Callable[[], Session]:
    def make() -> Session:
        entropy = random.Random(1).randbytes
        made = Session.resume(
            session.signer, session.table, records, entropy=entropy, make_dealer=secret_dealer, now_s=now_s
        )
        assert made is not None
        return made

    return make


def _stage(name: str, table: _Recorded, make: Callable[[], Session], now_s: float) -> Stage:
    """With everything said around the height at which that session stands."""
    session, longest = make(), max((node.session for node in table.nodes), key=lambda session: session.height)
    genesis = session.genesis
    assert genesis is not None
    seated = sorted((node.session for node in table.nodes), key=lambda one: seat_of(genesis, one.signer.node_id) or 0)
    (victim, honest), liars = (seated[VICTIM].signer.node_id, seated[HONEST].signer), seated[HONEST + 1 : LOST]
    near = range(session.height + _NEAR[0], _last_known(longest.log, session.height) + 1)
    said = [envelope for envelope in map(open_envelope, table.sent) if envelope.sender != victim]
    frames = [envelope.raw for envelope in said if _height(envelope) in near]
    beats = [e.raw for e in said if isinstance(e.body, Status) and e.sender in {s.signer.node_id for s in liars}]
    frames += beats[:: max(1, len(beats) // 20)]
    frames += _one_of_each_kind(said)
    frames += [seal(honest, session.table, CatchUp(tuple(entries))).raw for entries in _catch_ups(longest.log, near)]
    frames += _requests(session, liars[0].signer)
    voted = {e.body.entry for e in said if isinstance(e.body, Prevote) and e.sender == honest.node_id}
    return Stage(
        name,
        make,
        now_s,
        tuple(dict.fromkeys(frames)),
        honest,
        tuple(session.signer for session in liars),
        (honest.node_id, *(session.signer.node_id for session in liars), STRANGER.node_id),
        {committed.entry.height: entry_hash(committed.entry) for committed in longest.log},
        frozenset(entry for entry in voted if entry is not None),
        _secrets(table),
    )


def _requests(session: Session, liar: Signer) -> Iterator[bytes]:
    """All that the liar may ask for, and proposals to grant it."""
    assert session.game is not None
    place = session.game.height, session.game.head
    for kind in RequestKind:
        request = seal(liar, session.table, Request(*place, kind)).raw
        entry = session.game.entry(RequestEntry((request,))) or Entry(*place, RequestEntry((request,)), bytes(32))
        yield request
        yield seal(liar, session.table, Proposal(*place, 0, (), entry, ())).raw


def _last_known(log: list[Committed], height: int) -> int:
    """The last height to be told: after a removal or a next game the victim was to have other secrets than now."""
    anew = (c.entry.height for c in log[height:] if isinstance(c.entry.content, (RemoveEntry, NextGameEntry)))
    return min(next(anew, len(log)), height + _NEAR[1])


def _height(envelope: Envelope) -> int | None:
    height: int | None = None if isinstance(envelope.body, Status) else getattr(envelope.body, "height", None)
    return height


def _one_of_each_kind(said: Iterable[Envelope]) -> list[bytes]:
    return list({envelope.kind: envelope.raw for envelope in said}.values())


def _catch_ups(log: list[Committed], near: range) -> Iterator[list[bytes]]:
    for height in near:
        entries = [encode(committed) for committed in log[max(height, 0) : min(height + 3, near.stop)]]
        if entries and sum(map(len, entries)) < 200_000:
            yield entries[:1]
            yield entries


def _secrets(table: _Recorded) -> tuple[bytes, ...]:
    """x and q of the victim, of all games and epochs."""
    kept = [r.data for r in table.nodes[table.seat(VICTIM)].journal if r.kind is RecordKind.SECRET and r.data]
    return tuple(dict.fromkeys(secret[at : at + 32] for secret in kept for at in (0, 32)))


# The lobby


def _lobby(rules: RuleSet) -> dict[str, Stage]:
    """The victim among two others: when it has sat down, when all are ready, and when it has signed."""
    whole = _LobbyTable(rules)
    whole.run(4)
    frames = tuple(frame for frame in whole.heard)
    node_ids = [session.signer.node_id for session in whole.sessions]
    start = whole.sessions[0].log[0].entry

    def make(steps: int) -> Callable[[], Session]:
        def stopped() -> Session:
            table = _LobbyTable(rules)
            table.run(steps)
            return table.sessions[0]

        return stopped

    return {
        name: Stage(
            name,
            make(steps),
            0.0,
            frames,
            whole.sessions[1].signer,
            (whole.sessions[2].signer,),
            (*node_ids[1:], STRANGER.node_id),
            {0: entry_hash(start)},
            frozenset(),
        )
        for name, steps in {"lobby": 1, "ready": 2, "signed": 3}.items()
    }


class _LobbyTable:
    """Three sessions that hear each other at once. The first is the victim, the second has opened the table."""

    def __init__(self, rules: RuleSet) -> None:
        self.heard: dict[bytes, None] = {}
        self.sessions: list[Session] = []
        for index in range(3):
            self.sessions.append(
                Session.in_lobby(
                    Identity(SigningKey(bytes([index + 1]) * 32)),
                    b"a table of three",
                    f"Bot {index}",
                    bot=True,
                    entropy=random.Random(index).randbytes,
                    make_dealer=secret_dealer,
                    card=TableCard("lobby", rules) if index == HONEST else None,
                )
            )

    def run(self, steps: int) -> None:
        """1: linked. 2: all but the last are ready. 3: the last too, but nobody hears who has signed. 4: all of it."""
        for session in self.sessions:
            for other in self.sessions:
                if other is not session:
                    session.linked(other.signer.node_id, 0.0)
        self._exchange()
        if steps >= 2:
            for session in self.sessions[:2]:
                session.lobby.change(ready=True, start=True)
            self._exchange()
        if steps >= 3:
            self.sessions[2].lobby.change(ready=True, start=True)
            self._exchange(None if steps >= 4 else "GenesisSignature")

    def _exchange(self, withheld: str | None = None) -> None:
        """Until nobody says anything more."""
        said = True
        while said:
            said = False
            for session in self.sessions:
                for output in session.take_outputs():
                    if isinstance(output, Send) and open_envelope(output.frame).kind != withheld:
                        said = True
                        self._send(session.signer.node_id, output)

    def _send(self, source: bytes, output: Send) -> None:
        for session in self.sessions:
            node = session.signer.node_id
            if node not in (source, output.but) and output.to in (None, node):
                if session is self.sessions[0]:
                    self.heard.setdefault(output.frame)
                session.receive(source, output.frame, 0.0)


# Encoded values


@cache
def encoded() -> dict[str, tuple[bytes, ...]]:
    """Encoded values by the name of what reads them: bodies by their kind, and the three that are stored."""
    found: dict[str, list[bytes]] = {"Announce": [encode(_ANNOUNCED)]}
    for stage in stages().values():
        for envelope in map(open_envelope, stage.frames):
            found.setdefault(envelope.kind, []).append(encode(envelope.body))
    table = _play(CARDS).table
    victim = table.nodes[table.seat(VICTIM)]
    found["Committed"] = [encode(committed) for committed in victim.session.log[:12]]
    found["LockRecord"] = [record.data for record in victim.journal if record.kind is RecordKind.LOCK][:12]
    found["GameFile"] = [game_file_of(victim.session.log[:count]) for count in (1, 2, 4)]
    return {name: tuple(sorted(set(values))) for name, values in found.items()}


_ANNOUNCED: Final = Announce(
    "Ana",
    bytes(16),
    "Sunday",
    "pt",
    "lobby",
    2,
    2,
    ("192.168.1.2", "fe80::1"),
    4242,
    (KnownPeer(bytes(32), ("::1",), 1),),
)
