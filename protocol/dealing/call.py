"""The open call: who owes which part, what must be held first, what has to be computed, and what is still missing.

A part is *held* when its envelope is here, *right* when all it builds on is here too and the dealer found no fault. A
node answers only what its own log has committed. Long computations are `Job`s, so that whoever drives the call can
run them in another thread; the others happen at once.

A seat that signs two versions of one part is found out, but both may be right: each is judged by the messages that it
names, and the agreed `Answers` say which one counts. Source: docs/deal-entries.md, sections 3 and 4.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice, product
from typing import Final

from engine.redeal import unplaced
from engine.state import Call, CallName, PublicState, Seat
from protocol.dealing.dealer import CannotBuild, Context, Dealer, Owed
from protocol.envelope import Envelope, digest
from protocol.errors import RemoteProtocolError
from protocol.messages import DealPart, PartKind

MAX_VERSIONS: Final = 4  # of one part that are kept: two prove a fault, more are for who was shown another one
MAX_COMBINATIONS: Final = 64  # of versions that a part may build on
_LONG: Final = frozenset({PartKind.REKEY, PartKind.SHUFFLE, PartKind.TAG, PartKind.TAG_SHARES})
_START: Final = (PartKind.KEY_COMMIT, PartKind.KEY_REVEAL, PartKind.SHUFFLE)
_REDEAL_KEYS: Final = (PartKind.KEY_COMMIT, PartKind.KEY_REVEAL)
_REDEAL_REST: Final = (PartKind.SHUFFLE, PartKind.TAG, PartKind.TAG_SHARES)


def owed_parts(call: Call, state: PublicState, with_draw_part: bool) -> tuple[Owed, ...]:
    """Every part the call asks for, in canonical order: by kind as in the table, in each by seat.

    `with_draw_part`: the drawer's own part was in the action that opened the call, so it does not owe it again.
    """
    seats = tuple(Seat(index) for index, seat in enumerate(state.seats) if seat.in_game)
    holders = tuple(seat for seat in seats if state.hidden_slots(seat))
    match call.name:
        case CallName.START:
            return _by_kind(_START, seats)
        case CallName.RACKS:
            return _by_kind((PartKind.SHARES,), seats)
        case CallName.DRAW:
            return tuple(Owed(PartKind.SHARES, seat) for seat in seats if seat != call.seat or not with_draw_part)
        case CallName.FINAL:
            return _by_kind((PartKind.OPEN_RACK,), holders)
        case CallName.REDEAL:
            if not unplaced(state):
                return ()
            keys, rest = _by_kind(_REDEAL_KEYS, seats), _by_kind(_REDEAL_REST, seats)
            return (*keys, *_by_kind((PartKind.REKEY,), holders), *rest)


def _by_kind(kinds: Sequence[PartKind], seats: Sequence[Seat]) -> tuple[Owed, ...]:
    return tuple(Owed(kind, seat) for kind in kinds for seat in seats)


class _Verdict(Enum):
    OPEN = "open"  # what it builds on is not here yet, or the check is under way
    RIGHT = "right"
    WRONG = "wrong"


@dataclass(slots=True, eq=False)
class _Version:
    """One version of a part. `built_on` are the versions it names, None while they are not here."""

    owed: Owed
    envelope: Envelope
    verdict: _Verdict = _Verdict.OPEN
    built_on: tuple[_Version, ...] | None = None
    checking: bool = False

    @property
    def part(self) -> DealPart:
        assert isinstance(self.envelope.body, DealPart)
        return self.envelope.body

    @property
    def right(self) -> bool:
        return self.verdict is _Verdict.RIGHT

    @property
    def open_shuffle(self) -> bool:
        """A shuffle that was not found wrong so far, and of which is known what it builds on."""
        known = self.built_on is not None
        return self.owed.kind is PartKind.SHUFFLE and known and self.verdict is not _Verdict.WRONG


class Purpose(Enum):
    CHECK = "check"  # another's part
    MAKE = "make"  # the own part
    PREPARE = "prepare"  # of the own part, what does not need the others' yet


@dataclass(frozen=True, slots=True)
class Job:
    """A long computation for one part. `work` may run in any thread; what it gives is for `OpenCall.done`.

    `version` is the digest of the part that is checked, or of what the own part builds on.
    """

    purpose: Purpose
    owed: Owed
    version: bytes
    work: Callable[[], object] = field(repr=False)


@dataclass(slots=True)
class OpenCall:
    """The parts that answer one call. `height` is that of the entry that will close it.

    `own` is this node's seat, None for an observer. `draw_part` is the drawer's own part if it was in the action that
    opened the call. `trusted`: the parts come from the own journal, which held only what was right. `prepares`: the own
    shuffle may be prepared before its deck is here; not after a restart, see `SecretDealer.prepare`.
    """

    call: Call
    context: Context
    owed: tuple[Owed, ...]
    dealer: Dealer
    first_proposer: Seat
    own: Seat | None
    draw_part: bytes | None = None
    trusted: bool = False
    prepares: bool = True
    faults: list[RemoteProtocolError] = field(default_factory=list)
    _versions: dict[Owed, dict[bytes, _Version]] = field(default_factory=dict)
    _selected: dict[Owed, _Version] | None = None
    _jobs: list[Job] = field(default_factory=list, repr=False)
    _given: dict[tuple[Purpose, Owed, bytes], Job] = field(default_factory=dict, repr=False)  # out, not done
    _begun: set[tuple[Purpose, Owed, bytes]] = field(default_factory=set)
    _made: list[DealPart] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        self._go_on()

    # What is here

    @property
    def complete(self) -> bool:
        """Everything owed is held and right, and fits together."""
        return len(self._selection()) == len(self.owed)

    def missing(self) -> tuple[Owed, ...]:
        """What is not held and right yet, in canonical order."""
        selection = self._selection()
        return tuple(owed for owed in self.owed if owed not in selection)

    def awaited(self) -> tuple[Owed, ...]:
        """What is not held although its seat has all it needs for it, in canonical order."""
        return tuple(owed for owed in self.owed if not self._versions.get(owed) and self._basis(owed) is not None)

    def envelopes(self) -> tuple[Envelope, ...]:
        """All versions of parts held, in canonical order."""
        return tuple(version.envelope for owed in self.owed for version in self._held(owed))

    def message_digests(self) -> tuple[bytes, ...]:
        """The digests of all parts in canonical order; only when complete."""
        selection = self._selection()
        return tuple(selection[owed].envelope.digest for owed in self.owed)

    def named(self, digests: Sequence[bytes]) -> dict[Owed, bytes] | str | None:
        """The payloads of the parts that an entry names, a drawer's own part from its action included.

        None while one of them is not here or not judged yet; a reason if they are not a right answer to the call.
        """
        if len(digests) != len(self.owed):
            return f"expected {len(self.owed)} answers, got {len(digests)}"
        named = [self._versions.get(owed, {}).get(item) for owed, item in zip(self.owed, digests, strict=True)]
        chosen = [version for version in named if version is not None]
        if any(version.verdict is _Verdict.WRONG for version in chosen):
            return "names a wrong answer"
        if len(chosen) < len(named) or not all(version.right for version in chosen):
            return None
        if any(not set(version.built_on or ()) <= set(chosen) for version in chosen):
            return "names answers that do not build on each other"
        return self._payloads(chosen)

    def named_envelopes(self, digests: Sequence[bytes]) -> tuple[Envelope, ...]:
        """The parts that a judged entry names, in canonical order."""
        return tuple(self._versions[owed][item].envelope for owed, item in zip(self.owed, digests, strict=True))

    # Parts in

    def add(self, seat: Seat, envelope: Envelope, agreed: Collection[bytes] = ()) -> bool:
        """Hold a part. False if it was held already. Raises `RemoteProtocolError` if it has no place here.

        What is found wrong, now or by a job, is left in `faults`, and so are two versions of one part. `agreed`: the
        digests of parts that a certified entry names, for which there is always room.
        """
        part = envelope.body
        assert isinstance(part, DealPart)
        owed = Owed(part.kind, seat)
        if owed not in self.owed:
            raise RemoteProtocolError(envelope.sender, f"seat {seat} does not owe {part.kind.value} to this call")
        if (part.height, part.prev) != (self.context.height, self.context.view):
            raise RemoteProtocolError(None, "part of a deal for another moment")
        versions = self._versions.setdefault(owed, {})
        if envelope.digest in versions:
            return False
        first = next(iter(versions.values()), None)
        if len(versions) >= MAX_VERSIONS:
            self._make_room(versions, envelope, agreed)
        if first is not None:
            both = (first.envelope.raw, envelope.raw)
            self.faults.append(
                RemoteProtocolError(envelope.sender, f"two different {part.kind.value} for one call", both)
            )
        versions[envelope.digest] = _Version(owed, envelope)
        self._go_on()
        return True

    @staticmethod
    def _make_room(versions: dict[bytes, _Version], envelope: Envelope, agreed: Collection[bytes]) -> None:
        """The others may agree on a version that a liar showed here after many others, right or wrong."""
        wrong = (name for name, version in versions.items() if version.verdict is _Verdict.WRONG)
        others = (name for name in versions if name not in agreed) if envelope.digest in agreed else ()
        needless = next(iter((*wrong, *others)), None)
        if needless is None:
            raise RemoteProtocolError(envelope.sender, "too many different versions of one part")
        del versions[needless]

    # Own parts and jobs out

    def own_part(self) -> DealPart | None:
        """The next part of the own seat that is made, to be signed and sent; None if there is none now."""
        return self._made.pop(0) if self._made else None

    def take_jobs(self) -> list[Job]:
        """The computations that can begin now, each given once."""
        jobs, self._jobs = self._jobs, []
        self._given.update(((job.purpose, job.owed, job.version), job) for job in jobs)
        return jobs

    def done(self, job: Job, result: object) -> None:
        """A job has ended with this result."""
        self._given.pop((job.purpose, job.owed, job.version), None)
        if not isinstance(result, CannotBuild):
            match job.purpose:
                case Purpose.CHECK:
                    assert result is None or isinstance(result, str)
                    version = self._versions[job.owed][job.version]
                    if version.verdict is _Verdict.OPEN:  # else `check_now` was quicker
                        self._judged(version, result)
                case Purpose.MAKE:
                    assert isinstance(result, bytes)
                    basis = self._basis(job.owed)
                    if basis is not None and (_name(basis) or b"") == job.version:
                        self._made.append(self._own(job.owed, basis, result))
                case Purpose.PREPARE:
                    pass
        self._go_on()

    def check_now(self) -> None:
        """Check all that is here, in this thread, also what was given out as a job and is not done yet."""
        while True:
            self.take_jobs()
            jobs = [job for job in self._given.values() if job.purpose is Purpose.CHECK]
            if not jobs:
                return
            for job in jobs:
                self.done(job, job.work())

    def goes_live(self) -> None:
        """The journal is replayed: from here on parts come from others, and the own ones that are missing are made."""
        self.trusted = False
        self.prepares = False
        self._go_on()

    # Judging

    def _go_on(self) -> None:
        """Judge every part whose basis is here, until no more can be; then make what the own seat owes."""
        self._selected = None
        progress = True
        while progress:
            progress = False
            for owed in self.owed:
                for version in self._held(owed):
                    progress = self._judge(version) or progress
        self._make_own()

    def _judge(self, version: _Version) -> bool:
        """Whether something about a version was settled."""
        if version.verdict is not _Verdict.OPEN or version.checking:
            return False
        if version.built_on is None:
            version.built_on = self._named_by(version)
        if version.built_on is None:
            if version.part.names is None:
                return self._judged(version, "does not name what it builds on")
            return False
        if version.owed.seat == self.own or self.trusted:
            return self._judged(version, None)
        if not self._may_check(version):
            return False
        before = self._before(version)
        owed, payload = version.owed, version.part.payload

        def check() -> str | None:
            return self.dealer.check_part(owed.kind, owed.seat, payload, self.call, self.context, before)

        if not self._long(owed):
            return self._judged(version, check())
        version.checking = True
        self._begin(Purpose.CHECK, owed, version.envelope.digest, check)
        return False

    def _judged(self, version: _Version, reason: str | None) -> bool:
        self._selected = None
        version.verdict = _Verdict.RIGHT if reason is None else _Verdict.WRONG
        if reason is not None:
            evidence = tuple(part.envelope.raw for part in _closure(version))
            self.faults.append(
                RemoteProtocolError(version.envelope.sender, f"wrong {version.owed.kind.value}: {reason}", evidence)
            )
        return True

    def _may_check(self, version: _Version) -> bool:
        """A shuffle is checked while those before it still are; all else needs right ones (docs/dealing.md, 2.4)."""
        shuffles = version.owed.kind is PartKind.SHUFFLE
        return all(other.right or (shuffles and other.open_shuffle) for other in _closure(version)[1:])

    def _before(self, version: _Version) -> dict[Owed, bytes]:
        """What a check may look at: all that the part builds on; for keys also the others' that are right."""
        before = self._payloads(_closure(version)[1:])
        if version.owed.kind is PartKind.KEY_REVEAL:
            for owed in self._all_of(PartKind.KEY_REVEAL):
                for other in self._held(owed):
                    if other.right and owed != version.owed:
                        before[owed] = other.part.payload
        return before

    def _named_by(self, version: _Version) -> tuple[_Version, ...] | None:
        """The versions that a part builds on: those whose digests amount to the one it names."""
        needs = self._builds_on(version.owed)
        if not needs:
            return () if version.part.names is None else None
        choices = [[other for other in self._held(need) if other.verdict is not _Verdict.WRONG] for need in needs]
        for combination in islice(product(*choices), MAX_COMBINATIONS):
            if _name(combination) == version.part.names:
                return combination
        return None

    def _builds_on(self, owed: Owed) -> tuple[Owed, ...]:
        """The parts that one names by their digests, in canonical order."""
        match owed.kind:
            case PartKind.KEY_COMMIT | PartKind.OPEN_RACK | PartKind.SHARES:
                return ()
            case PartKind.KEY_REVEAL:
                return self._all_of(PartKind.KEY_COMMIT)
            case PartKind.REKEY:
                return self._all_of(PartKind.KEY_REVEAL)
            case PartKind.SHUFFLE:
                return self._one_before(owed) or self._all_of(PartKind.KEY_REVEAL)
            case PartKind.TAG:
                last_shuffle = self._all_of(PartKind.SHUFFLE)[-1:]
                return self._one_before(owed) or (*last_shuffle, *self._all_of(PartKind.REKEY))
            case PartKind.TAG_SHARES:
                return self._all_of(PartKind.TAG)[-1:]

    def _one_before(self, owed: Owed) -> tuple[Owed, ...]:
        """The same kind of part of the seat before; none for the first."""
        chain = self._all_of(owed.kind)
        place = chain.index(owed)
        return chain[max(place - 1, 0) : place]

    def _all_of(self, kind: PartKind) -> tuple[Owed, ...]:
        return tuple(owed for owed in self.owed if owed.kind is kind)

    def _held(self, owed: Owed) -> Iterator[_Version]:
        return iter(list(self._versions.get(owed, {}).values()))

    def _payloads(self, versions: Iterable[_Version]) -> dict[Owed, bytes]:
        payloads = {version.owed: version.part.payload for version in versions}
        if self.draw_part is not None and self.call.seat is not None:
            payloads[Owed(PartKind.SHARES, self.call.seat)] = self.draw_part
        return payloads

    def _selection(self) -> Mapping[Owed, _Version]:
        """One right version of as many parts as possible, all building on each other; the later parts decide."""
        if self._selected is None:
            chosen: dict[Owed, _Version] = {}
            for owed in reversed(self.owed):
                for version in self._held(owed):
                    whole = _closure(version)
                    if all(part.right and chosen.get(part.owed, part) is part for part in whole):
                        chosen.update((part.owed, part) for part in whole)
                        break
            self._selected = chosen
        return self._selected

    # Making

    def _make_own(self) -> None:
        for owed in self.owed:
            if owed.seat == self.own and not self._versions.get(owed) and not self.trusted:
                basis = self._basis(owed)
                if basis is not None:
                    self._make(owed, basis)
                elif owed.kind is PartKind.SHUFFLE and self.prepares:
                    self._prepare(owed)

    def _make(self, owed: Owed, basis: Sequence[_Version]) -> None:
        before = self._payloads(part for version in basis for part in _closure(version))

        def make() -> bytes:
            return self.dealer.part(owed.kind, self.call, self.context, before)

        if self._long(owed):
            self._begin(Purpose.MAKE, owed, _name(basis) or b"", make)
        elif (Purpose.MAKE, owed, b"") not in self._begun:
            self._begun.add((Purpose.MAKE, owed, b""))
            self._made.append(self._own(owed, basis, make()))

    def _prepare(self, owed: Owed) -> None:
        """Once the keys are known, what the own shuffle does not need the deck for."""
        reveals = self._right(self._all_of(PartKind.KEY_REVEAL))
        if reveals is not None:
            before = self._payloads(reveals)
            self._begin(
                Purpose.PREPARE, owed, b"", lambda: self.dealer.prepare(owed.kind, self.call, self.context, before)
            )

    def _own(self, owed: Owed, basis: Sequence[_Version], payload: bytes) -> DealPart:
        return DealPart(self.context.height, self.context.view, owed.kind, _name(basis), payload)

    def _basis(self, owed: Owed) -> tuple[_Version, ...] | None:
        """The versions that a seat's part can be built on now; None while it lacks something.

        Source: the column "needs" of docs/deal-entries.md, section 3.
        """
        needs = self._builds_on(owed)
        if owed.kind is PartKind.SHARES and not self._drawer_has_given(owed):
            return None
        if owed.kind is PartKind.SHUFFLE and needs and needs[0].kind is PartKind.SHUFFLE:
            return self._unchecked_shuffle(needs[0])
        return self._right(needs)

    def _right(self, needs: Sequence[Owed]) -> tuple[_Version, ...] | None:
        """One right version of each, all in one selection."""
        selection = self._selection()
        found = tuple(selection[need] for need in needs if need in selection)
        return found if len(found) == len(needs) else None

    def _unchecked_shuffle(self, need: Owed) -> tuple[_Version, ...] | None:
        """A shuffle to go on from, which may still be under check; the keys under it are not (docs/dealing.md, 2.4)."""
        for version in self._held(need):
            whole = _closure(version)
            if all(part.right or part.open_shuffle for part in whole):
                return (version,)
        return None

    def _drawer_has_given(self, owed: Owed) -> bool:
        """In a draw nobody releases a share before the drawer's own part is here and right."""
        if self.call.name is not CallName.DRAW or self.call.seat is None or owed.seat == self.call.seat:
            return True
        drawer = Owed(PartKind.SHARES, self.call.seat)
        return drawer not in self.owed or any(version.right for version in self._held(drawer))

    def _long(self, owed: Owed) -> bool:
        return owed.kind in _LONG or (owed.kind is PartKind.SHARES and self.call.name is CallName.RACKS)

    def _begin(self, purpose: Purpose, owed: Owed, version: bytes, work: Callable[[], object]) -> None:
        """Ask once for a computation."""
        if (purpose, owed, version) not in self._begun:
            self._begun.add((purpose, owed, version))
            self._jobs.append(Job(purpose, owed, version, _or_cannot(work)))


def _or_cannot(work: Callable[[], object]) -> Callable[[], object]:
    """The same, but what it builds on being no deck is a result."""

    def caught() -> object:
        try:
            return work()
        except CannotBuild as cannot:
            return cannot

    return caught


def _closure(version: _Version) -> list[_Version]:
    """A version and all that it builds on, each once, itself first."""
    found = {version: None}
    for other in version.built_on or ():
        found.update(dict.fromkeys(_closure(other)))
    return list(found)


def _name(basis: Sequence[_Version]) -> bytes | None:
    """The digest by which a part names what it builds on; None if it builds on nothing."""
    return digest(b"".join(version.envelope.digest for version in basis)) if basis else None
