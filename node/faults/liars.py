"""Attacks: a liar runs a real session, but what it says passes through here, and it says more besides.

Every lie is signed with the liar's own key, or is a message of somebody else kept back. A liar speaks with its key and
its session's knowledge, as a changed program would.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from engine.actions import Draw, Pass
from engine.state import Seat
from node.faults.ledger import Ledger
from node.simulation import opened
from protocol.codec import encode
from protocol.envelope import Envelope, seal
from protocol.log import Committed, entry_hash
from protocol.messages import (
    AnswersEntry,
    Body,
    CatchUp,
    DealPart,
    Entry,
    GoOnWish,
    PartKind,
    Precommit,
    Prevote,
    Proposal,
    Regroup,
    SignedAction,
    Status,
    TimeoutEntry,
)
from protocol.outputs import Send
from protocol.session import Session

if TYPE_CHECKING:
    from node.faults.table import HostileTable

FLOOD: Final = 40  # messages at once
STALE_S: Final = (1.0, 15.0)
Lie = Callable[[random.Random, Body], Body | None]


def _other_vote(rng: random.Random, body: Body) -> Body | None:
    """Nil for an entry, an unheard-of entry for nil."""
    if isinstance(body, (Prevote, Precommit)):
        changed = replace(body, entry=None if body.entry is not None else rng.randbytes(32))
        return replace(changed, proof=()) if isinstance(changed, Prevote) else changed
    return None


def _other_proposal(rng: random.Random, body: Body) -> Body | None:
    if not isinstance(body, Proposal):
        return None
    entry = body.entry
    return replace(body, entry=Entry(entry.height, entry.prev, TimeoutEntry(), rng.randbytes(32)), proof=())


def _wrong_state(rng: random.Random, body: Body) -> Body | None:
    if not isinstance(body, Proposal):
        return None
    return replace(body, entry=replace(body.entry, state_hash=rng.randbytes(32)))


def _short_answers(_rng: random.Random, body: Body) -> Body | None:
    """Answers that name one message too few."""
    if not isinstance(body, Proposal) or not isinstance(body.entry.content, AnswersEntry):
        return None
    content = body.entry.content
    return replace(body, entry=replace(body.entry, content=replace(content, messages=content.messages[1:])))


def _bad_part(rng: random.Random, body: Body) -> Body | None:
    """A part that proves nothing, or commits to something else than will be revealed."""
    if not isinstance(body, DealPart):
        return None
    return replace(body, payload=rng.randbytes(len(body.payload) if body.kind is PartKind.KEY_COMMIT else 7))


def _other_basis(rng: random.Random, body: Body) -> Body | None:
    """A part that builds on messages nobody has."""
    return replace(body, names=rng.randbytes(32)) if isinstance(body, DealPart) and body.names is not None else None


def _other_regroup(_rng: random.Random, body: Body) -> Body | None:
    return replace(body, reason="other") if isinstance(body, Regroup) else None


def _false_lock(rng: random.Random, body: Body) -> Body | None:
    """A lock without its proof."""
    if isinstance(body, Regroup):
        return replace(body, lock=rng.randbytes(32), lock_round=max(0, body.round - 1), proof=())
    return None


def _no_proof(_rng: random.Random, body: Body) -> Body | None:
    """A proposal or nil that hides the proof which it must show."""
    return replace(body, proof=()) if isinstance(body, (Proposal, Prevote)) and body.proof else None


def _illegal_action(_rng: random.Random, body: Body) -> Body | None:
    """A pass while there is stock, or a draw in another's name."""
    if not isinstance(body, SignedAction):
        return None
    seat = body.action.seat
    if isinstance(body.action, Draw):
        return replace(body, action=Pass(seat), part=b"")
    return replace(body, action=Draw(Seat((seat + 1) % 2)), proof=b"")


def _other_action(_rng: random.Random, body: Body) -> Body | None:
    """A draw in place of a play: with the open deal as legal as that."""
    if not isinstance(body, SignedAction) or isinstance(body.action, Draw):
        return None
    return replace(body, action=Draw(body.action.seat), part=b"", proof=b"")


def _bad_proof(rng: random.Random, body: Body) -> Body | None:
    return replace(body, proof=rng.randbytes(64)) if isinstance(body, SignedAction) else None


LIES: Final[dict[str, Lie]] = {
    "other vote": _other_vote,
    "other proposal": _other_proposal,
    "wrong state": _wrong_state,
    "short answers": _short_answers,
    "bad part": _bad_part,
    "other basis": _other_basis,
    "other regroup": _other_regroup,
    "false lock": _false_lock,
    "no proof": _no_proof,
    "illegal action": _illegal_action,
    "other action": _other_action,
    "bad proof": _bad_proof,
}
HABITS: Final = ("withhold", "withhold from one", "withhold a kind", "stale", "forward nothing")
SPEECHES: Final = ("skip", "flood", "wishes", "regroup", "false catch-up", "false status", "again")


@dataclass(slots=True)
class Liar:
    """One lying node. Each has a few habits, so that every seed shows another mixture."""

    table: HostileTable
    index: int
    rng: random.Random
    ledger: Ledger
    every_s: float = 8.0  # mean time between two things it says by itself
    rate: float = 0.25  # share of its messages that it changes
    lies: tuple[str, ...] = ()
    habits: tuple[str, ...] = ()
    speeches: tuple[str, ...] = ()
    kept_kind: str = "DealPart"
    _said: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lies = tuple(self.rng.sample(sorted(LIES), 4))
        self.habits = tuple(self.rng.sample(HABITS, 1))
        self.speeches = tuple(self.rng.sample(SPEECHES, 2))
        self.kept_kind = self.rng.choice(["DealPart", "Prevote", "Precommit", "Proposal", "Regroup", "Status"])
        self.rate = self.rng.choice([0.02, 0.1, 0.3])

    @property
    def session(self) -> Session:
        return self.table.nodes[self.index].session

    def others(self) -> list[int]:
        return [index for index in range(len(self.table.nodes)) if index != self.index]

    def send(self, send: Send) -> None:
        """What the session wants sent, as the others get it."""
        envelope = opened(send.frame)
        own = envelope.sender == self.session.signer.node_id
        targets = [index for index in self.others() if self._wanted(index, send)]
        if self.rng.random() < self.rate:
            if own and self._lie(envelope, targets):
                return
            if self._keep_back(envelope, own, targets):
                return
        if own:
            self._said = [*self._said[-50:], send.frame]
        self._to(targets, send.frame)

    def _wanted(self, index: int, send: Send) -> bool:
        node_id = self.table.nodes[index].session.signer.node_id
        return node_id != send.but and send.to in (None, node_id)

    def _to(self, targets: list[int], frame: bytes) -> None:
        for index in targets:
            self.table.network.send(self.index, index, frame)

    def _lie(self, envelope: Envelope, targets: list[int]) -> bool:
        """Say something else than the session wanted: to all, or to some."""
        for name in self.rng.sample(self.lies, len(self.lies)):
            body = LIES[name](self.rng, envelope.body)
            if body is None:
                continue
            deceived = targets if self.rng.random() < 0.5 else self._some(targets)
            if not self.ledger.happens(name):
                return False
            self._to(deceived, self._sealed(body))
            self._to([index for index in targets if index not in deceived], envelope.raw)
            return True
        return False

    def _some(self, targets: list[int]) -> list[int]:
        return self.rng.sample(targets, max(1, len(targets) // 2)) if targets else []

    def _keep_back(self, envelope: Envelope, own: bool, targets: list[int]) -> bool:
        (habit,) = self.habits
        if not targets or (habit == "withhold a kind" and envelope.kind != self.kept_kind):
            return False
        if own is (habit == "forward nothing") or not self.ledger.happens(habit):
            return False
        if habit == "withhold from one":
            self._to([index for index in targets if index != self.others()[0]], envelope.raw)
        elif habit == "stale":
            when_s = self.table.now_s + self.rng.uniform(*STALE_S)
            self.table.at(when_s, lambda: self._to(targets, envelope.raw))
        return True

    # What it says by itself

    def speak(self) -> None:
        """Now and then: something that no session says."""
        game = self.session.game
        if self.table.nodes[self.index].down or game is None or game.seat is None:
            return
        name = self.rng.choice(self.speeches)
        if self.ledger.happens(name):
            for body in self._speech(name):
                self._to(self._some(self.others()) if self.rng.random() < 0.5 else self.others(), self._sealed(body))

    def _speech(self, name: str) -> Iterator[Body]:
        game = self.session.game
        assert game is not None
        place = (game.height, game.head)
        near = self.session.round + self.rng.randrange(1, 4)
        match name:
            case "skip":  # a later round's votes, early
                yield Prevote(*place, near, (), None, ())
                yield Precommit(*place, near, (), None)
            case "flood":
                for number in range(FLOOD):
                    junk: tuple[Body, ...] = (
                        Prevote(*place, number % 18, (), self.rng.randbytes(32), ()),
                        Precommit(place[0] + 1, self.rng.randbytes(32), number, (), None),
                        DealPart(*place, PartKind.SHARES, None, self.rng.randbytes(9)),
                        GoOnWish(*place, number, None, 0),
                    )
                    yield self.rng.choice(junk)
            case "wishes":
                yield GoOnWish(*place, 1000 + self.rng.randrange(1000), self._someone(), near)
            case "regroup":
                yield Regroup(*place, near, self._someone(), None, -1, (), (), "absent")
            case "false catch-up":
                yield self._false_catch_up()
            case "false status":
                height = max(0, game.height + self.rng.randrange(-5, 6))
                yield Status(self.rng.randbytes(8), 1, height, game.head, self.rng.randbytes(8), (0, 1, 2))
            case _:  # again: what it has said before, and others have long gone beyond
                for frame in self.rng.sample(self._said, min(5, len(self._said))):
                    yield opened(frame).body

    def _someone(self) -> tuple[int, ...]:
        game = self.session.game
        assert game is not None
        return (int(self.rng.choice([seat for seat in game.seats_in_game() if seat != game.seat] or [Seat(0)])),)

    def _false_catch_up(self) -> Body:
        """A valid entry that only the liar has signed."""
        game = self.session.game
        assert game is not None
        entry = game.entry(TimeoutEntry()) or Entry(game.height, game.head, TimeoutEntry(), self.rng.randbytes(32))
        vote = self._sealed(Precommit(game.height, game.head, 0, (), entry_hash(entry)))
        return CatchUp((encode(Committed(entry, (vote,) * len(game.seats_in_game()), ())),))

    def _sealed(self, body: Body) -> bytes:
        return seal(self.session.signer, self.session.table, body).raw
