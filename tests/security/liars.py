"""Tables at which some seats lie: their sessions are honest, but what leaves them passes through the test's hands.

`LiarsTable` plays as any simulated table. `change`, `withhold` and `say` make seats lie; all work on signed bytes on
their way, so they know nothing of how a session or a dealer works inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from engine.actions import Discard, Draw
from engine.rulesets import ES, RuleSet
from engine.state import PublicState, Seat
from node.autoplay import act_by_bot, play_by_bot
from node.simulation import Player, SimulatedNode, SimulatedTable
from protocol.codec import encode
from protocol.dealing.dealer import Context
from protocol.dealing.group import encode_scalar
from protocol.dealing.secret_deal import secret_dealer
from protocol.dealing.transcript import context_hash, digest
from protocol.envelope import Envelope, open_envelope, seal
from protocol.events import EvidenceFound, MessageRefused
from protocol.game import DealerMaker, Game
from protocol.messages import Body, DealPart, Genesis, PartKind
from protocol.outputs import RecordKind
from protocol.session import Record, Session

START_HEIGHT: Final = 1
RACKS_HEIGHT: Final = 2
FIRST_TURN_HEIGHT: Final = 3
SETTLED_S: Final = 3.0  # long enough for everything that needs no more words

Match = Callable[[Body], bool]
Lie = Callable[[Body], Body]

opened = lru_cache(maxsize=4096)(open_envelope)


@dataclass(frozen=True, slots=True)
class Passing:
    """A message on a link between two nodes, named by index; forwarded ones have another sender than the link."""

    source: int
    target: int
    envelope: Envelope


Meddler = Callable[[Passing], Iterable[Envelope]]


@dataclass(slots=True)
class Withheld:
    """Messages that are kept back, and from whom."""

    meddler: Meddler
    caught: list[Passing]

    @property
    def envelopes(self) -> list[Envelope]:
        """Each message once."""
        return list({passing.envelope.raw: passing.envelope for passing in self.caught}.values())


class LiarsTable(SimulatedTable):
    """A table at which the seats in `liars` lie, by default the last."""

    def __init__(
        self,
        rules: RuleSet = ES,
        seats: int = 3,
        seed: int = 1,
        make_dealer: DealerMaker = secret_dealer,
        liars: frozenset[int] | None = None,
    ) -> None:
        self.meddlers: list[Meddler] = []
        self.liars = frozenset({seats - 1}) if liars is None else liars
        super().__init__(rules, seats, seed, make_dealer)
        for node in self.nodes:  # who is named stays in the game, so that the test can go on looking at it
            node.player = play_by_bot

    def keep_liars_from_winning(self) -> None:
        """Liars draw and discard (`es`), so that they have a rack to open."""
        for node in self.nodes:
            node.player = lambda session, now_s: (never_lays if session.seat in self.liars else play_by_bot)(
                session, now_s
            )

    # Who is who

    def index(self, seat: int) -> int:
        """The node that sits there; only once the game has begun."""
        games = [node.session.game for node in self.nodes]
        return next(index for index, game in enumerate(games) if game is not None and game.own_seat == seat)

    def node(self, seat: int) -> SimulatedNode:
        return self.nodes[self.index(seat)]

    def session(self, seat: int) -> Session:
        return self.node(seat).session

    def game(self, seat: int) -> Game:
        game = self.session(seat).game
        assert game is not None
        return game

    def key(self, seat: int) -> bytes:
        return self.session(seat).signer.node_id

    def honest(self) -> list[Session]:
        return [node.session for node in self.nodes if node.session.seat not in self.liars]

    def honest_seats(self) -> list[int]:
        return [int(session.seat) for session in self.honest() if session.seat is not None]

    def states(self) -> list[PublicState | None]:
        """What the honest nodes believe."""
        return [session.state for session in self.honest()]

    # Time

    def run_until(self, reached: Callable[[], bool], within_s: float = 600.0) -> None:
        """Let things happen until something is so; fails if it is not so within virtual time."""
        limit_s = self.now_s + within_s
        if reached():
            return
        for now_s in self.steps():
            if reached():
                return
            if now_s > limit_s:
                break
        raise AssertionError(f"never reached, heights {[node.session.height for node in self.nodes]}")

    def run_for(self, seconds: float) -> None:
        """Let so much virtual time pass."""
        limit_s = self.now_s + seconds
        for now_s in self.steps():
            if now_s > limit_s:
                return

    def run_to_height(self, height: int) -> None:
        """Until every node works on that height, or a later one."""
        self.run_until(lambda: all(node.session.height >= height for node in self.nodes))

    # Lies

    def change(self, seat: int, match: Match, lie: Lie) -> None:
        """Whatever a seat says that matches, the others hear otherwise, with its signature."""
        told: dict[bytes, Envelope] = {}

        def meddle(passing: Passing) -> Iterable[Envelope]:
            envelope = passing.envelope
            if not self._says(seat, passing, match):
                return (envelope,)
            if envelope.raw not in told:
                told[envelope.raw] = self.signed(seat, lie(envelope.body))
            return (told[envelope.raw],)

        self.meddlers.append(meddle)

    def withhold(self, seat: int, match: Match, from_seats: Iterable[int] | None = None) -> Withheld:
        """What a seat says that matches goes to nobody, or not to some seats; the others may still forward it."""
        kept_from = None if from_seats is None else frozenset(from_seats)
        caught: list[Passing] = []

        def meddle(passing: Passing) -> Iterable[Envelope]:
            target = self.nodes[passing.target].session.seat
            if self._says(seat, passing, match) and (kept_from is None or target in kept_from):
                caught.append(passing)
                return ()
            return (passing.envelope,)

        self.meddlers.append(meddle)
        return Withheld(meddle, caught)

    def listen(self, hear: Callable[[Passing], object]) -> None:
        """Show the test everything that passes, unchanged."""

        def meddle(passing: Passing) -> Iterable[Envelope]:
            hear(passing)
            return (passing.envelope,)

        self.meddlers.append(meddle)

    def release(self, withheld: Withheld) -> None:
        """What was kept back arrives at last, and no more of it is kept back."""
        self.meddlers.remove(withheld.meddler)
        for passing in withheld.caught:
            super().deliver(passing.source, passing.target, passing.envelope.raw)

    def draws(self, seat: int) -> None:
        """Let a seat whose turn it is draw from the stock, and everybody answer."""
        height = self.session(seat).height
        self.act(seat, lambda session, now_s: session.act(Draw(Seat(seat)), now_s))
        self.run_to_height(height + 2)

    def holds_back(self, seat: int, match: Match) -> tuple[Withheld, Envelope]:
        """Wait until a seat would say something, which it then does not, and until all others have said theirs."""
        withheld = self.withhold(seat, match)
        return withheld, self.kept_back(withheld)

    def kept_back(self, withheld: Withheld) -> Envelope:
        """The same for something that is withheld already."""
        self.run_until(lambda: bool(withheld.caught))
        self.run_for(SETTLED_S)
        return withheld.envelopes[-1]

    def signed(self, seat: int, body: Body) -> Envelope:
        """A message with the signature of a seat."""
        session = self.session(seat)
        return seal(session.signer, session.table, body)

    def say(self, seat: int, body: Body, to_seats: Iterable[int] | None = None) -> Envelope:
        """Let a seat say something, to all or to some."""
        envelope = self.signed(seat, body)
        self.send(seat, envelope.raw, to_seats)
        return envelope

    def send(self, seat: int, frame: bytes, to_seats: Iterable[int] | None = None) -> None:
        """Let a seat send any bytes, to all or to some."""
        targets = range(len(self.nodes)) if to_seats is None else to_seats
        for target in targets:
            if target != seat:
                super().deliver(self.index(seat), self.index(target), frame)

    def rewind(self, seat: int, forget: Callable[[Record], bool], secret: bytes | None = None) -> None:
        """Kill a node, take records out of its journal, and start it again: it says anew what it had said.

        `secret`: with other secrets of the game.
        """
        index = self.index(seat)
        node = self.nodes[index]
        self.crash(index)
        kept = [record for record in node.journal if not forget(record)]
        if secret is not None:
            kept = [replace(r, data=secret) if r.kind is RecordKind.SECRET else r for r in kept]
        node.journal = kept
        self.restart(index)

    def act(self, seat: int, player: Player = act_by_bot) -> None:
        """Let a seat act now, by a bot unless told otherwise."""
        player(self.session(seat), self.now_s)
        self._after(self.index(seat))

    def deliver(self, index: int, other: int, frame: bytes) -> None:
        envelopes: list[Envelope] = [opened(frame)] if self.meddlers else []
        for meddle in self.meddlers:
            envelopes = [out for envelope in envelopes for out in meddle(Passing(index, other, envelope))]
        for raw in [envelope.raw for envelope in envelopes] if self.meddlers else [frame]:
            super().deliver(index, other, raw)

    def _says(self, seat: int, passing: Passing, match: Match) -> bool:
        """Whether it is a seat's own word over its own link. Before the game nobody has a seat, and nobody lies."""
        node = self.nodes[passing.source].session
        own = node.seat == seat and passing.envelope.sender == node.signer.node_id
        return own and match(passing.envelope.body)

    # What came of it

    def evidence(self, seat: int) -> dict[int, list[EvidenceFound]]:
        """What each honest seat can prove of a seat, by seat."""
        return {
            int(session.seat): [found for found in session.evidence if found.node == self.key(seat)]
            for session in self.honest()
            if session.seat is not None and session.seat != seat
        }

    def reasons(self, seat: int) -> list[str]:
        """Why the honest nodes refused something of a seat, proven or not."""
        honest = [node for node in self.nodes if node.session.seat not in self.liars | {seat}]
        events = [event for node in honest for event in node.events]
        found = [event for event in events if isinstance(event, (MessageRefused, EvidenceFound))]
        return [event.reason for event in found if event.node == self.key(seat)]

    def named(self, seat: int, reason: str = "") -> bool:
        """Every honest node has evidence against a seat for this reason, signed by that seat."""
        return all(
            any(reason in item.reason and _signed_by(item, self.key(seat)) for item in found)
            for found in self.evidence(seat).values()
        )

    def refused(self, envelope: Envelope, reason: str) -> bool:
        """Every honest node holds this very message as evidence against who signed it, for this reason."""
        return all(
            any(f.node == envelope.sender and f.reason.startswith(reason) and envelope.raw in f.evidence for f in found)
            for found in (session.evidence for session in self.honest())
        )

    def nobody_else_is_named(self) -> bool:
        """No honest node blames another one."""
        honest = {session.signer.node_id for session in self.honest()}
        events = [event for node in self.nodes if node.session.seat not in self.liars for event in node.events]
        return not any(isinstance(event, (MessageRefused, EvidenceFound)) and event.node in honest for event in events)

    def said(self, seat: int, kind: PartKind, height: int | None = None) -> list[Envelope]:
        """The parts of one kind that a node has signed, by its journal."""
        own = [record.data for record in self.node(seat).journal if record.kind is RecordKind.OWN]
        return [envelope for envelope in map(opened, own) if part_of(kind, height)(envelope.body)]

    def nobody_said(self, kind: PartKind, height: int | None = None) -> bool:
        """No honest node has signed a part of one kind."""
        return not any(self.said(seat, kind, height) for seat in self.honest_seats())

    def missing(self, height: int) -> tuple[tuple[PartKind, int], ...]:
        """What the honest nodes say is missing in the call that closes at `height`, in order; all must say the same."""
        (only,) = {
            tuple((owed.kind, int(owed.seat)) for owed in session.game.call.missing())
            for session in self.honest()
            if session.game is not None and session.game.call is not None and session.height == height
        }
        return only

    def waits_for(self, height: int) -> set[tuple[PartKind, int]]:
        """The same in no order."""
        return set(self.missing(height))


def _signed_by(found: EvidenceFound, node: bytes) -> bool:
    return bool(found.evidence) and opened(found.evidence[0]).sender == node


def part_of(kind: PartKind, height: int | None = None) -> Match:
    """Matches parts of one kind: of any call, or of the call that closes at `height`."""
    return lambda body: isinstance(body, DealPart) and body.kind is kind and height in (None, body.height)


def of_draws(kind: PartKind) -> Match:
    """Matches parts of the calls after the racks were dealt."""
    return lambda body: isinstance(body, DealPart) and body.kind is kind and body.height > RACKS_HEIGHT


def with_payload(change: Callable[[bytes], bytes]) -> Lie:
    """A part with another payload."""

    def lie(body: Body) -> Body:
        assert isinstance(body, DealPart)
        return DealPart(body.height, body.prev, body.kind, body.names, change(body.payload))

    return lie


def never_lays(session: Session, now_s: float) -> None:
    """A player of `es` who draws and discards, so that it keeps a rack until the end."""
    state, seat = session.state, session.seat
    if session.may_act(now_s) and state is not None and seat is not None:
        first = next(iter(session.own_tiles().items()))
        session.act(Discard(seat, *first) if state.card_turn.drawn else Draw(seat), now_s)


def silent(_session: Session, _now_s: float) -> None:
    """A player who does nothing."""


def context_of(genesis: Genesis, context: Context, kind: str, seat: int) -> bytes:
    """ctx of docs/dealing.md, section 3.1, of a moment: `kind` is that of a part, `own-part` or `opening`."""
    state = context.state
    return context_hash(
        gid=context.gid,
        rules=digest(b"RK1/rules", encode(state.rules)),
        deck_size=len(state.rules.faces),
        seats=[(i, genesis.members[i].node) for i, own in enumerate(state.seats) if own.in_game],
        epoch=state.stock.epoch,
        height=context.height,
        kind=kind,
        acting_seat=seat,
        view=context.view,
    )


def secrets_of(node: SimulatedNode) -> tuple[int, int]:
    """x and q of a node's newest game, out of its journal: what a test may know and no other node."""
    secret = [record.data for record in node.journal if record.kind is RecordKind.SECRET][-1]
    return int.from_bytes(secret[:32], "little"), int.from_bytes(secret[32:64], "little")


def secret_of(seat: int, x: int | None = None) -> bytes:
    """Secrets of a game for a seat, which a test knows: x is 1000 + seat unless given, q 2000 + seat."""
    return encode_scalar(1000 + seat if x is None else x) + encode_scalar(2000 + seat) + bytes([seat]) * 32


def with_secrets(secrets: dict[int, bytes]) -> DealerMaker:
    """Dealers of which some seats have secrets of the test's choice: x, q and the coin, 32 bytes each."""
    return lambda genesis, seat, secret, entropy: secret_dealer(
        genesis, seat, secrets.get(seat, secret) if seat is not None else None, entropy
    )
