"""Fuzzing of the deal: each kind of message, changed in every way that its layout offers, where it is waited for.

`caught` plays a table of two until one sends a message of one kind to the other, and keeps it back together with all
that follows. `attack` then sends the other changed copies of it, signed by its sender, and broken frames. Nothing may
be raised but `RemoteProtocolError`, and nothing may change there. Everything follows from the seed.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from nacl.signing import SigningKey

from engine.rulesets import ES, RuleSet
from engine.state import Seat, state_hash
from node.keystore import Identity
from node.simulation import SimulatedTable
from protocol.dealing.call import MAX_VERSIONS, OpenCall
from protocol.dealing.dealer import Owed
from protocol.dealing.group import ELEMENT_BYTES, encode_scalar, multiply_base
from protocol.dealing.proofs import DLEQ_BYTES, SHARE_BYTES, SHARES_PROOF_BYTES
from protocol.dealing.secret_deal import secret_dealer
from protocol.dealing.shuffle import CARD_BYTES
from protocol.dealing.transcript import ORDER
from protocol.envelope import Envelope, open_envelope, seal
from protocol.errors import RemoteProtocolError
from protocol.game import Game
from protocol.messages import ActionEntry, Body, DealPart, PartKind, SignedAction
from protocol.outputs import Compute
from protocol.roster import seat_of
from protocol.session import Session
from tests.security.layouts import LAYOUTS, Field, Layout, What, other_scalars, wrong_points, wrong_scalars
from tests.security.liars import LiarsTable
from tests.simulation.removal import in_call, play_until, remove

_DRAW_BYTES: Final = SHARE_BYTES + SHARES_PROOF_BYTES
_SETTLED_S: Final = 0.5  # longer than any frame under way, shorter than a heartbeat

Wanted = Callable[[Body], bool]


def _part(kind: PartKind) -> Wanted:
    return lambda body: isinstance(body, DealPart) and body.kind is kind and len(body.payload) != _DRAW_BYTES


MESSAGES: Final[dict[str, tuple[str, Wanted]]] = {
    "key-commit": ("key-commit", _part(PartKind.KEY_COMMIT)),
    "key-reveal": ("key-reveal", _part(PartKind.KEY_REVEAL)),
    "shuffle": ("shuffle", _part(PartKind.SHUFFLE)),
    "shares": ("shares", _part(PartKind.SHARES)),
    "draw": ("shares", lambda body: isinstance(body, DealPart) and len(body.payload) == _DRAW_BYTES),
    "own-part": ("own-part", lambda body: isinstance(body, SignedAction) and bool(body.part)),
    "opening": ("opening", lambda body: isinstance(body, SignedAction) and bool(body.proof)),
    "open-rack": ("open-rack", _part(PartKind.OPEN_RACK)),
    "rekey": ("rekey", _part(PartKind.REKEY)),
    "tag": ("tag", _part(PartKind.TAG)),
    "tag-shares": ("tag-shares", _part(PartKind.TAG_SHARES)),
}
"""Every kind of message of the deal: its name, the name of its layout, how it is known."""

_AFTER_A_LOSS: Final = {"rekey", "tag", "tag-shares"}


@dataclass(frozen=True)
class Caught:
    """A message of seat `liar` that was kept back from the other one, with what it is made of."""

    name: str
    table: LiarsTable
    liar: Seat
    envelope: Envelope
    layout: Layout
    held: tuple[Envelope, ...]  # of the open call, before it

    @property
    def victim(self) -> Session:
        return self.table.session(1 - self.liar)

    @property
    def game(self) -> Game:
        return self.table.game(1 - self.liar)

    @property
    def body(self) -> DealPart | SignedAction:
        assert isinstance(self.envelope.body, (DealPart, SignedAction))
        return self.envelope.body

    @property
    def payload(self) -> bytes:
        """The bytes that the layout is of."""
        if isinstance(self.body, DealPart):
            return self.body.payload
        return self.body.part if self.name == "own-part" else self.body.proof

    def with_payload(self, payload: bytes) -> DealPart | SignedAction:
        if isinstance(self.body, DealPart):
            return replace(self.body, payload=payload)
        return replace(self.body, part=payload) if self.name == "own-part" else replace(self.body, proof=payload)


def caught(name: str, seed: int, rules: RuleSet = ES) -> Caught:
    """A table of two at the moment before one of them hears the first message of that name from the other.

    What belongs to a re-deal is caught at a table of three that has lost seat 2.
    """
    layout, wanted = MESSAGES[name]
    lost = name in _AFTER_A_LOSS
    table = LiarsTable(rules, 3 if lost else 2, seed)
    if lost:
        play_until(table, lambda: in_call(table, None))
    liars: list[Seat] = []

    def match_of(seat: Seat) -> Wanted:
        def match(body: Body) -> bool:
            if not liars and wanted(body):
                liars.append(seat)
            return liars == [seat]

        return match

    withheld = [table.withhold(seat, match_of(Seat(seat))) for seat in range(2)]
    if lost:
        remove(table, (2,))
    table.run_until(lambda: bool(liars), within_s=100_000.0)
    table.run_for(_SETTLED_S)
    call = table.game(1 - liars[0]).call
    held = () if call is None else call.envelopes()
    at = Caught(name, table, liars[0], withheld[liars[0]].caught[0].envelope, (), held)
    return replace(at, layout=LAYOUTS[layout](_counts(name, at.payload, rules)))


def _counts(name: str, payload: bytes, rules: RuleSet) -> tuple[int, ...]:
    """The numbers of cards that a layout asks for."""
    match name:
        case "shuffle":
            return (len(rules.faces),)
        case "shares":
            hand = rules.hand_size(2)
            return (hand, hand, 1) if rules.discards else (hand, hand)
        case "draw" | "own-part":
            return (1,)
        case "open-rack":
            return (len(payload) - DLEQ_BYTES,)
        case "rekey":
            return ((len(payload) - SHARES_PROOF_BYTES) // SHARE_BYTES,)
        case "tag":
            return ((len(payload) - ELEMENT_BYTES - DLEQ_BYTES) // CARD_BYTES,)
        case "tag-shares":
            return ((len(payload) - DLEQ_BYTES) // ELEMENT_BYTES,)
        case _:
            return ()


def foreign_payloads(seed: int, rules: RuleSet) -> tuple[bytes, ...]:
    """Parts and proofs of all kinds, out of a game of another seed."""
    table = SimulatedTable(rules, 2, seed, secret_dealer)
    table.run()
    found: dict[tuple[object, ...], bytes] = {}
    for committed in table.nodes[0].session.log:
        for body in (open_envelope(raw).body for raw in committed.attachments):
            if isinstance(body, DealPart):
                found.setdefault((body.kind, len(body.payload)), body.payload)
        if isinstance(committed.entry.content, ActionEntry):
            action = open_envelope(committed.entry.content.envelope).body
            assert isinstance(action, SignedAction)
            found.setdefault(("proof", bool(action.proof)), action.proof)
    return tuple(found.values())


# What may be wrong with a payload

Change = Callable[[random.Random, bytes, Layout], bytes]


def _flipped(rng: random.Random, data: bytes, layout: Layout) -> bytes:
    field = rng.choice(layout)
    return field.flipped(data, rng.randrange(8 * field.size))


def _swapped(rng: random.Random, data: bytes, layout: Layout) -> bytes:
    """Two fields of one sort change places, or one stands in both."""
    one = rng.choice(layout)
    other = rng.choice([field for field in layout if (field.what, field.size) == (one.what, one.size)])
    swapped = one.put(data, other.of(data))
    return swapped if rng.random() < 0.3 else other.put(swapped, one.of(data))


def _another(rng: random.Random, data: bytes, layout: Layout) -> bytes:
    """Another value of the same sort."""
    field = rng.choice(layout)
    match field.what:
        case What.POINT:
            value: bytes = multiply_base(rng.randrange(1, ORDER))
        case What.SCALAR:
            value = rng.choice([*other_scalars(field.of(data)), encode_scalar(rng.randrange(ORDER))])
        case What.BYTES:
            value = rng.randbytes(field.size)
    return field.put(data, value)


def _wrong(rng: random.Random, data: bytes, layout: Layout) -> bytes:
    """Something that is no value of that sort, also of another length."""
    field = rng.choice(layout)
    match field.what:
        case What.POINT:
            return field.put(data, rng.choice(wrong_points()))
        case What.SCALAR:
            return field.put(data, rng.choice(wrong_scalars(field.of(data))))
        case What.BYTES:
            return field.put(data, rng.randbytes(rng.randrange(2 * field.size + 1)))


def _moved(rng: random.Random, data: bytes, layout: Layout) -> bytes:
    """A field is taken out and put in elsewhere."""
    field, to = rng.choice(layout), rng.choice(layout)
    rest = field.put(data, b"")
    return rest[: to.offset] + field.of(data) + rest[to.offset :]


def _resized(rng: random.Random, data: bytes, layout: Layout) -> bytes:
    """Cut off, or with something more; by whole fields or not."""
    field = rng.choice(layout)
    match rng.randrange(4):
        case 0:
            return data[: rng.randrange(len(data))]
        case 1:
            return data[: field.offset]
        case 2:
            return data + rng.randbytes(rng.choice((1, 31, 32, 33, 64, 96, 1000)))
        case _:
            return data + field.of(data) * rng.choice((1, 2, 3))


def _noise(rng: random.Random, data: bytes, layout: Layout) -> bytes:
    return rng.randbytes(len(data)) if rng.random() < 0.5 else bytes(len(data))


CHANGES: Final[tuple[Change, ...]] = (_flipped, _swapped, _another, _wrong, _moved, _resized, _noise)


# What may be wrong with a message


def bodies(rng: random.Random, at: Caught, foreign: tuple[bytes, ...]) -> Iterator[Body]:
    """Bodies near the right one, without end; none is right. `foreign` are payloads of other kinds and moments."""
    body = at.body
    while True:
        draw = rng.random()
        if draw < 0.7:
            payload = rng.choice(CHANGES)(rng, at.payload, at.layout)
            if payload and rng.random() < 0.2:
                payload = _flipped(rng, payload, _whole(payload))
            other = at.with_payload(payload)
        elif draw < 0.8:
            other = at.with_payload(rng.choice(foreign))
        elif draw < 0.9:
            height = body.height + rng.choice((0, -1, 1, 2**40))
            other = replace(body, height=height, prev=rng.choice((body.prev, rng.randbytes(32))))
        elif isinstance(body, DealPart):
            names = rng.choice((body.names, None, rng.randbytes(32)))
            other = replace(body, kind=rng.choice(list(PartKind)), names=names)
        else:
            other = replace(body, part=body.proof, proof=body.part)
        if other != body and not _as_good(other, body):
            yield other


def _whole(data: bytes) -> Layout:
    return (Field("all", 0, len(data), What.BYTES),)


def _as_good(other: DealPart | SignedAction, right: DealPart | SignedAction) -> bool:
    """A commitment is any 64 bytes: that it was another shows when its keys are revealed."""
    if isinstance(other, SignedAction) or isinstance(right, SignedAction) or right.kind is not PartKind.KEY_COMMIT:
        return False
    same_length = len(other.payload) == len(right.payload)
    return same_length and replace(other, payload=right.payload) == right


def frames(rng: random.Random, at: Caught, foreign: tuple[bytes, ...]) -> Iterator[bytes]:
    """Signed messages near the right one, some of a stranger or for another table, and broken frames; without end."""
    signer = at.table.session(at.liar).signer
    stranger = Identity(SigningKey(rng.randbytes(32)))
    for body in bodies(rng, at, foreign):
        draw = rng.random()
        if draw < 0.85:
            yield seal(signer, at.envelope.table, body).raw
        elif draw < 0.9:
            yield seal(stranger, at.envelope.table, at.envelope.body).raw
        elif draw < 0.95:
            yield seal(signer, rng.randbytes(16), at.envelope.body).raw
        else:
            yield rng.choice((_flipped, _resized, _noise))(rng, at.envelope.raw, _whole(at.envelope.raw))


# What must hold


def snapshot(at: Caught) -> tuple[object, ...]:
    """Everything that no wrong message may change."""
    game, call = at.game, at.game.call
    missing = None if call is None else call.missing()
    return game.height, game.head, state_hash(game.state), missing, at.victim.own_tiles()


def attack(at: Caught, seed: int, tries: int, foreign: tuple[bytes, ...]) -> None:
    """So many wrong messages; then the right one, which must be taken as if nothing had been."""
    rng = random.Random(seed)
    before = snapshot(at)
    for count, frame in zip(range(tries), frames(rng, at, foreign), strict=False):
        if count % (MAX_VERSIONS - 1) == 0:
            _open_call_again(at)
        _hear(at, frame)
        if isinstance(at.body, SignedAction):
            _judged_alone(at, frame)
        assert snapshot(at) == before, f"{at.name}, seed {seed}: message {count} has changed something: {frame.hex()}"
    _hear(at, at.envelope.raw)
    if isinstance(at.body, DealPart):
        assert at.game.call is None or Owed(at.body.kind, at.liar) not in at.game.call.missing(), at.name
    else:
        assert at.game.entry(ActionEntry(at.envelope.raw)) is not None, at.name


def _hear(at: Caught, frame: bytes) -> None:
    """The victim gets a frame and computes what it asks for."""
    at.victim.receive(at.table.key(at.liar), frame, at.table.now_s)
    while asked := [output for output in at.victim.take_outputs() if isinstance(output, Compute)]:
        for computation in asked:
            at.victim.computed(computation.number, computation.work(), at.table.now_s)


def _open_call_again(at: Caught) -> None:
    """The call as it was, for few versions of one part are looked at."""
    call = at.game.call
    if call is not None:
        place = (call.call, call.context, call.owed, call.dealer, call.first_proposer, call.own, call.draw_part)
        again = OpenCall(*place, trusted=True)
        for envelope in at.held:
            seat = seat_of(at.game.genesis, envelope.sender)
            assert seat is not None
            again.add(seat, envelope)
        again.goes_live()
        at.game.call = again


def _judged_alone(at: Caught, frame: bytes) -> None:
    """An action past the session, which looks at few of one height."""
    with contextlib.suppress(RemoteProtocolError):
        assert at.game.entry(ActionEntry(frame)) is None, f"{at.name}: a wrong action is good: {frame.hex()}"
