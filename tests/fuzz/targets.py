"""What is fed, and what must hold whatever comes in.

A target takes a seed and a number of inputs; it raises `Finding` for the first input after which something is not as
it must be. The same seed gives the same inputs, so a finding is repeated with the target's name, seed and number.
"""

from __future__ import annotations

import gc
import random
import sys
import types
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from engine.state import PublicState, Seat, Slot
from engine.tiles import TileId
from node.autoplay import act_by_bot
from protocol.codec import decode, encode, from_plain, pack, unpack
from protocol.consensus.driver import LockRecord
from protocol.envelope import open_envelope, seal
from protocol.errors import DecodeError, RemoteProtocolError
from protocol.events import EvidenceFound
from protocol.gamefile import GameFile, GameFileError, read_game_file
from protocol.log import Committed, entry_hash
from protocol.messages import BODIES, CatchUp, Status
from protocol.outputs import Compute, Send, Tell
from protocol.session import HEARTBEAT_S, Session
from tests.fuzz.corpus import STRANGER, Stage, encoded, stages
from tests.fuzz.mutations import Mutator, broken_bytes, loose_pack

TYPES: Final[dict[str, Any]] = {**BODIES, "Committed": Committed, "LockRecord": LockRecord, "GameFile": GameFile}
_CODE: Final = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType)
LONGEST_S: Final = 40.0  # of a session: less than a countdown, so that the honest seat is never given up
MOST_SENT: Final = 400_000  # bytes: everything of a height that may be lacking, or entries, and some votes
_ECHO: Final = 0.15  # how many are of what the victim itself has said
_TRUE: Final = 0.05  # how many frames are as they really were
_TOLD: Final = 0.3  # how many of the messages that bring up to date
LARGEST: Final = 4_000_000  # bytes of a session, whatever it has heard


class Finding(Exception):  # noqa: N818 - what a campaign looks for
    """Something that must not be. `count` is the number of the input, from 0."""

    def __init__(self, count: int, data: bytes, what: str) -> None:
        super().__init__(f"input {count}: {what}: {data.hex()}")
        self.count = count
        self.data = data


Target = Callable[[int, int], None]


def _fed(inputs: Iterator[bytes], check: Callable[[bytes], None], count: int) -> None:
    for number, data in zip(range(count), inputs, strict=False):
        try:
            check(data)
        except Exception as error:
            raise Finding(number, data, repr(error)) from error


# Codec, envelopes, game files


def codec(seed: int, count: int) -> None:
    """`decode` of everything that is read, broken bytes of it, and broken values in forms that are not canonical."""
    rng, samples = random.Random(seed), [(name, data) for name, values in encoded().items() for data in values]
    names = list(encoded())
    samples = [(rng.choice(names), data) for _name, data in rng.sample(samples, 20)] + rng.choices(samples, k=60)
    mutator = Mutator(rng, bytes(16), [STRANGER], [unpack(data) for _name, data in samples if len(data) < 2000])
    for number in range(count):
        name, data = rng.choice(samples)
        data = _broken(rng, mutator, data, rng.choice(samples)[1])
        try:
            decoded(TYPES[name], data)
        except Exception as error:
            raise Finding(number, data, f"{name}: {error!r}") from error


def _broken(rng: random.Random, mutator: Mutator, data: bytes, other: bytes) -> bytes:
    if rng.random() < 0.7 or len(data) > 5000:
        return broken_bytes(rng, data, other)
    return loose_pack(rng, mutator.value(unpack(data)))


def decoded(as_type: Any, data: bytes) -> None:
    """Read `data`. Raises what must not be raised, and `AssertionError` if the value has another form too."""
    try:
        value = decode(as_type, data)
    except DecodeError:
        return
    assert encode(value, as_type) == data, "not the only form of that value"


def values(seed: int, count: int) -> None:
    """`from_plain` of broken plain values."""
    rng = random.Random(seed)
    samples = [(name, unpack(data)) for name, values in encoded().items() for data in values[:6] if len(data) < 5000]
    mutator = Mutator(rng, bytes(16), [STRANGER], [plain for _name, plain in samples])
    for number in range(count):
        name, plain = rng.choice(samples)
        plain = mutator.value(mutator.value(plain))
        try:
            from_plain(TYPES[name], plain)
        except DecodeError:
            pass
        except Exception as error:
            raise Finding(number, pack(plain), f"{name}: {error!r}") from error


def envelopes(seed: int, count: int) -> None:
    """`open_envelope` of broken frames."""
    rng = random.Random(seed)
    frames = [frame for stage in stages().values() for frame in stage.frames]
    frames = rng.sample(frames, 60)
    mutator = Mutator(rng, bytes(16), [STRANGER], [unpack(frame) for frame in frames if len(frame) < 2000])

    def inputs() -> Iterator[bytes]:
        while True:
            frame = rng.choice(frames)
            if rng.random() < 0.01:
                yield mutator.message(frame)
            else:
                yield _broken(rng, mutator, frame, rng.choice(frames))

    def check(raw: bytes) -> None:
        try:
            envelope = open_envelope(raw)
        except RemoteProtocolError:
            return
        assert seal_of(envelope.table, envelope.sender, envelope.kind, encode(envelope.body)) == raw[:-66]

    _fed(inputs(), check, count)


def seal_of(table: bytes, sender: bytes, kind: str, body: bytes) -> bytes:
    """What is signed of an envelope, put together by hand."""
    return b"\x96\x01" + pack(table) + pack(sender) + pack(kind) + body


def game_files(seed: int, count: int) -> None:
    """`read_game_file` of broken files."""
    rng, samples = random.Random(seed), encoded()["GameFile"]
    small = min(samples, key=len)
    mutator = Mutator(rng, bytes(16), [STRANGER], [unpack(small)])

    def inputs() -> Iterator[bytes]:
        while True:
            yield _broken(rng, mutator, small if rng.random() < 0.9 else rng.choice(samples), small)

    def check(data: bytes) -> None:
        try:
            file = read_game_file(data)
        except GameFileError:
            return
        assert encode(file) == data

    _fed(inputs(), check, count)


# Sessions


class Standing(NamedTuple):
    """What only an agreed entry may change. Nothing of it before the game."""

    height: int
    head: bytes
    state: PublicState | None
    seat: Seat | None
    own_tiles: Mapping[Slot, TileId]


@dataclass(slots=True)
class Victim:
    """A session that is fed, and what has to stay as it was.

    `alone`: all other seats lie. Then whatever they and the victim have signed may be agreed, and anybody blamed.
    """

    stage: Stage
    alone: bool = False
    session: Session = field(init=False)
    now_s: float = field(init=False)
    said: deque[bytes] = field(default_factory=lambda: deque(maxlen=8))  # the newest of its own messages
    _beat: int = 0
    _before: Standing = field(init=False)

    def __post_init__(self) -> None:
        self.session = self.stage.make()
        self.now_s = self.stage.now_s
        for node in self.stage.others:
            self.session.linked(node, self.now_s)
        self._beats()
        self._carry_out()
        self._before = self._standing()

    def hear(self, link: bytes, frame: bytes) -> None:
        """Take in a frame, and check what must hold. Raises `AssertionError`."""
        self.session.receive(link, frame, self.now_s)
        assert self._carry_out() <= MOST_SENT, "too much is sent because of one frame"
        self._check()

    def wait(self, seconds: float) -> None:
        """Let time pass, with the honest seat in contact; the player plays on."""
        if self.now_s + seconds > self.stage.now_s + LONGEST_S:
            return
        self.now_s += seconds
        self._beats()
        self.session.handle_deadline(self.now_s)
        if self.session.seat not in self.session.go_on_wishes():  # else it would give up the liar too
            act_by_bot(self.session, self.now_s)
        self._carry_out()
        self._check()

    def _beats(self) -> None:
        self._beat += 1
        status = Status(b"campaign", self._beat, 0, bytes(32), bytes(8), ())
        self.session.receive(
            self.stage.honest.node_id, seal(self.stage.honest, self.session.table, status).raw, self.now_s
        )

    def _carry_out(self) -> int:
        """Do what the session wants done. Gives the bytes that were sent."""
        sent = 0
        while outputs := self.session.take_outputs():
            for output in outputs:
                match output:
                    case Compute():
                        if self.session.wants(output.number):
                            self.session.computed(output.number, output.work(), self.now_s)
                    case Send(frame):
                        sent += len(frame)
                        self._holds_no_secret(frame)
                        if self.session.signer.node_id in frame[:60]:
                            self.said.append(frame)
                    case Tell(event):
                        self._holds_no_secret(repr(event).encode())
                        if isinstance(event, EvidenceFound):
                            blamed = event.node == self.stage.honest.node_id
                            assert self.alone or not blamed, f"somebody honest is blamed: {event.reason}"
                    case _:
                        pass
        return sent

    def _holds_no_secret(self, data: bytes) -> None:
        assert not any(secret in data for secret in self.stage.secrets), "a secret leaves the node"

    def _standing(self) -> Standing:
        session, game = self.session, self.session.game
        head = b"" if game is None else game.head
        return Standing(session.height, head, session.state, session.seat, dict(session.own_tiles()))

    def _check(self) -> None:
        """Nothing moves but to an entry that was really agreed, and nothing else is a lock."""
        session, before, now = self.session, self._before, self._standing()
        assert self.alone or session.void is None, "two histories"
        driver = session._driver
        if not self.alone and driver is not None and (lock := driver._standing.lock) is not None:
            assert lock.entry in self.stage.voted, "locked on what the honest seat never voted for"
        if now.head == before.head:
            assert now == before, "something has changed without an entry"
            return
        first = before.height if before.head else 0
        for committed in session.log[first:]:
            agreed = self.stage.entries.get(committed.entry.height)
            assert self.alone or entry_hash(committed.entry) == agreed, "an entry that was never agreed"
        self._before = now


def frames(rng: random.Random, victim: Victim, signed: float = 0.75) -> Iterator[tuple[bytes, bytes]]:
    """Links and frames without end, of which the share `signed` is broken and then signed by a liar."""
    stage, session = victim.stage, victim.session
    opened = {frame: unpack(frame) for frame in stage.frames}
    # Entries with their certificates soon lead away from the stage.
    heard = [frame for frame in stage.frames if rng.random() < _TOLD or opened[frame][3] != CatchUp.__name__]
    light = [frame for frame in heard if len(frame) < 2000]
    signers = [*(stage.liars + (stage.honest,) * victim.alone) * 6, STRANGER]
    mutator = Mutator(rng, session.table, signers, [opened[frame] for frame in light])
    while True:
        link = rng.choice(stage.others)
        frame = rng.choice(heard if rng.random() < 0.15 else light)
        if victim.said and rng.random() < _ECHO:
            frame = rng.choice(victim.said)
        draw = rng.random()
        if draw < signed:
            game = session.game
            yield link, mutator.message(frame, None if game is None else (game.height, game.head))
        elif draw < 1 - _TRUE:
            yield link, _broken(rng, mutator, frame, rng.choice(light))
        elif frame not in victim.said:
            yield link, frame


def session_target(name: str, signed: float, alone: bool = False) -> Target:
    """A session in that phase; a new one for each call."""

    def feed(seed: int, count: int) -> None:
        rng, victim = random.Random(seed), Victim(stages()[name], alone)
        for number, (link, frame) in zip(range(count), frames(rng, victim, signed), strict=False):
            try:
                victim.hear(link, frame)
                if rng.random() < 0.01:
                    victim.wait(rng.choice((0.1, HEARTBEAT_S, 2.5)))
            except Exception as error:
                raise Finding(number, frame, repr(error)) from error
        size = size_of(victim.session)
        if size > LARGEST:
            raise Finding(count, b"", f"the session has grown to {size} bytes")

    return feed


SESSIONS: Final = (
    "lobby",
    "ready",
    "signed",
    "start",
    "racks",
    "own-turn",
    "turn",
    "draw",
    "final",
    "between-games",
    "request",
    "paused",
    "observer",
    "removal",
    "redeal",
)
TARGETS: Final[dict[str, Target]] = {
    "codec": codec,
    "values": values,
    "envelopes": envelopes,
    "game-files": game_files,
    **{f"bytes/{name}": session_target(name, 0.0) for name in SESSIONS},
    **{f"signed/{name}": session_target(name, 0.9) for name in SESSIONS},
    **{f"alone/{name}": session_target(name, 0.9, alone=True) for name in SESSIONS},
}
"""Every target by name."""


# Growth


def size_of(thing: object) -> int:
    """Bytes of everything that is reachable from here, but for code."""
    seen: set[int] = set()
    waiting, size = [thing], 0
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, _CODE):
            continue
        seen.add(id(one))
        size += sys.getsizeof(one)
        waiting += gc.get_referents(one)
    return size
