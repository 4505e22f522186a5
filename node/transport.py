"""A full mesh of framed TCP links, each to a node that has proven its identity.

A frame is its length in 4 bytes, big-endian, then so many bytes. Each link has one task that reads; writing goes
straight into the socket's buffer, and a link whose buffer grows beyond its limit is lost, so that a slow reader holds
up nobody. Each wanted node has one task that dials it whenever there is no link. A node that sends more than its due is
read more slowly, and loses its link if it goes on (docs/reliability.md, section 1).

There is at most one link to a node. Of two that were dialled crosswise the one dialled by the smaller node id stays, on
both sides; of two dialled by the same side the newer one stays, because a node dials only when it has lost, or never
had, the older one. Whatever was sent on a link that is lost may be lost: whoever resynchronises at `on_link` needs to
know nothing more. Links carry no keep-alive; liveness is judged above, by what arrives.

What arrives is never logged.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from node import handshake
from node.clock import monotonic_s, random_bytes
from node.handshake import ALREADY_LINKED, AlreadyLinked, Hello, Refused, Role
from node.keystore import Identity
from node.sockets import connect, is_address, listening_socket, no_delay, plain_host, shown, why
from node.tasks import end, spawn
from protocol.envelope import VERSION

MAX_FRAME_BYTES: Final = 262_144
_HEAD_BYTES: Final = 4
_MAX_REPORTED: Final = 256
_MAX_METERS: Final = 256  # nodes and addresses whose use is remembered beyond a link
_log = logging.getLogger(__name__)
_Key = TypeVar("_Key")
_Kept = TypeVar("_Kept")


class TransportError(OSError):
    """This node cannot listen. The text is a sentence for the person who runs it, and says what to do."""


@dataclass(frozen=True, slots=True)
class LinkLimits:
    """What other machines may cost this one. All are far above what a table needs (docs/reliability.md, section 1)."""

    handshake_s: float = 5.0
    connect_s: float = 2.0
    first_retry_s: float = 0.2
    last_retry_s: float = 1.0  # friends on one network: trying costs next to nothing
    stagger_s: float = 0.25  # between starting to dial one address of a node and the next
    courtesy_s: float = 0.25  # the larger id dials so much later, so that two nodes seldom dial crosswise
    flush_s: float = 0.5  # what a closing link may take to send what is queued
    queue_bytes: int = 4 * 1024 * 1024
    queue_frames: int = 8192
    wants: int = 256
    addresses_per_want: int = 8
    handshakes: int = 64
    handshakes_per_address: int = 8
    links: int = 64  # of nodes that dial this one and that it does not want itself
    links_per_address: int = 16
    connections_per_s: float = 10.0  # from one address
    burst_connections: int = 60
    bytes_per_s: int = 4 * 1024 * 1024
    burst_bytes: int = 16 * 1024 * 1024
    frames_per_s: int = 500
    burst_frames: int = 2000
    overload_s: float = 10.0  # a node that sends more than its due for so long loses its link


class _Bucket:
    """A token bucket: `rate` a second, `burst` at once."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate = rate
        self._burst = burst
        self._credit = burst
        self._last_s = monotonic_s()

    def take(self, amount: float) -> float:
        """Spend `amount`; returns for how many seconds nothing more should be spent."""
        now_s = monotonic_s()
        self._credit = min(self._burst, self._credit + (now_s - self._last_s) * self._rate) - amount
        self._last_s = now_s
        return max(0.0, -self._credit / self._rate)

    def give_back(self, amount: float) -> None:
        """What was taken is not spent after all."""
        self._credit += amount

    @property
    def rested(self) -> bool:
        """Whether so much is left that a full second's due could come at once."""
        return self._credit >= min(self._rate, self._burst / 2)


class _Meter:
    """How much a node sends. It outlives the node's link: who is closed for sending too much gets no new burst."""

    def __init__(self, limits: LinkLimits) -> None:
        self._bytes = _Bucket(limits.bytes_per_s, limits.burst_bytes)
        self._frames = _Bucket(limits.frames_per_s, limits.burst_frames)
        self._over_since_s: float | None = None

    def take(self, size_bytes: int) -> float:
        """Count a frame; returns for how many seconds no further one should be read."""
        wait_s = max(self._bytes.take(size_bytes), self._frames.take(1))
        if self._bytes.rested and self._frames.rested:
            self._over_since_s = None
        elif wait_s > 0.0 and self._over_since_s is None:
            self._over_since_s = monotonic_s()
        return wait_s

    def over_s(self) -> float:
        """For how long the node has been sending more than its due without a pause."""
        return 0.0 if self._over_since_s is None else monotonic_s() - self._over_since_s


@dataclass(eq=False, slots=True)
class _Link:
    """One TCP connection, from the accepted or dialled socket on."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    role: Role  # ours
    host: str
    node_id: bytes = b""
    since_s: float = 0.0
    lost: bool = False
    queued: int = 0  # frames written since the buffer was last empty
    task: asyncio.Task[None] | None = None  # the one that reads, once linked

    def write(self, frame: bytes) -> None:
        self.queued = self.queued + 1 if self.waiting_bytes else 1
        self.writer.write(len(frame).to_bytes(_HEAD_BYTES) + frame)

    @property
    def waiting_bytes(self) -> int:
        return self.writer.transport.get_write_buffer_size()


@dataclass(eq=False, slots=True)
class _Want:
    """A node, or a typed address, to which there shall be a link."""

    node_id: bytes | None
    addresses: tuple[str, ...]
    port: int
    retry_s: float
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    found: bytes | None = None  # who was last met at a typed address
    leads_home: bool = False  # a typed address of this node itself
    reported: frozenset[str] = frozenset()
    task: asyncio.Task[None] | None = None

    @property
    def met(self) -> bytes | None:
        return self.node_id if self.node_id is not None else self.found


def _ignore(address: str, reason: str) -> None:
    """The default for whoever does not care why links do not come about."""


class Mesh:
    """This node's links.

    The callbacks run in the event loop and must not raise: `on_link(node_id)` when a link is there,
    `on_frame(node_id, frame)`, `on_lost(node_id, reason)` when it is gone, `on_refused(address, reason)` when a
    connection did not become a link, once for each new reason. None of them runs once `stop` has begun.
    """

    def __init__(
        self,
        identity: Identity,
        *,
        on_link: Callable[[bytes], None],
        on_frame: Callable[[bytes, bytes], None],
        on_lost: Callable[[bytes, str], None],
        on_refused: Callable[[str, str], None] = _ignore,
        limits: LinkLimits = LinkLimits(),
        version: int = VERSION,
    ) -> None:
        self._identity = identity
        self._on_link = on_link
        self._on_frame = on_frame
        self._on_lost = on_lost
        self._on_refused = on_refused
        self._limits = limits
        self._version = version
        self._server: asyncio.Server | None = None
        self._stopped = False
        self._links: dict[bytes, _Link] = {}
        self._handshakes: set[_Link] = set()  # accepted ones only
        self._proving: set[bytes] = set()  # whom we are proving ourselves to as dialler
        self._wants: dict[bytes | tuple[tuple[str, ...], int], _Want] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing: set[asyncio.Task[None]] = set()
        self._reported: dict[tuple[str, str], float] = {}
        self._meters: dict[bytes, _Meter] = {}
        self._doors: dict[str, _Bucket] = {}  # by address: how many connections it may still make

    # What the node asks

    async def start(self, host: str | None, port: int = 0) -> int:
        """Listen, on all interfaces if `host` is None, and return the port. Raises `TransportError`."""
        try:
            listening = listening_socket(host, port)
        except OSError as error:
            where = f"port {port}" if host is None else f"{host}, port {port}"
            raise TransportError(
                f"Rummesh cannot listen on {where}: {why(error)}. Choose another port, or 0 for any free one."
            ) from error
        self._server = await asyncio.start_server(self._accept, sock=listening)
        bound: int = listening.getsockname()[1]
        return bound

    def want(self, node_id: bytes | None, addresses: Sequence[str], port: int) -> None:
        """Keep a link to this node, dialling with back-off. `node_id` None: to whoever is at the typed addresses.

        Called again with other addresses or port: they replace the former, and are dialled at once. Where a node is was
        told by others, so for a node only numeric addresses count, and what cannot be dialled is passed over.
        """
        if self._stopped:
            raise ValueError("the mesh has stopped")
        addressed = tuple(dict.fromkeys(one for one in addresses if node_id is None or is_address(one)))
        addressed = addressed[: self._limits.addresses_per_want]
        if node_id == self._identity.node_id or not addressed or not 0 < port < 65536:
            return
        key = (addressed, port) if node_id is None else node_id
        want = self._wants.get(key)
        if want is None:
            if len(self._wants) >= self._limits.wants:
                _log.warning("too many nodes are looked for, another one is passed over")
                return
            want = self._wants[key] = _Want(node_id, addressed, port, self._limits.first_retry_s)
            want.task = self._spawn(self._keep(want))
        elif (want.addresses, want.port) != (addressed, port):
            want.addresses, want.port, want.retry_s = addressed, port, self._limits.first_retry_s
            want.wake.set()

    def unwant(self, node_id: bytes) -> None:
        """Dial this node no more. A link that is there stays."""
        for key, want in list(self._wants.items()):
            if want.met == node_id:
                self._forget(key, want)

    def send(self, node_id: bytes, frame: bytes) -> bool:
        """Queue a frame. False, and nothing is queued, when there is no link or it was too slow and is now lost."""
        if len(frame) > MAX_FRAME_BYTES:
            raise ValueError(f"expected a frame of at most {MAX_FRAME_BYTES} bytes, got {len(frame)}")
        link = self._links.get(node_id)
        return link is not None and self._queue(link, frame)

    def broadcast(self, frame: bytes, *, but: bytes | None = None) -> None:
        """Queue a frame to all linked nodes except `but`."""
        for node_id in self.linked():
            if node_id != but:
                self.send(node_id, frame)

    def linked(self) -> tuple[bytes, ...]:
        """The nodes that are linked now, sorted."""
        return tuple(sorted(self._links))

    async def drop(self, node_id: bytes, reason: str) -> None:
        """Close the link to a node, if there is one. What was queued is still sent if that goes quickly."""
        link = self._links.get(node_id)
        if link is not None:
            closing = self._lose(link, reason)
            if closing is not None:
                await asyncio.wait([closing])

    async def stop(self) -> None:
        """Close everything. When this returns no task, socket or callback of the mesh is left."""
        self._stopped = True
        if self._server is not None:
            self._server.close()
        for link in list(self._links.values()):
            self._lose(link, "this node stops")
        for key, want in list(self._wants.items()):
            self._forget(key, want)
        for task in self._tasks:
            task.cancel()
        while self._tasks or self._closing:
            await asyncio.wait([*self._tasks, *self._closing])
            await asyncio.sleep(0)  # lets the tasks' callbacks take them off the sets
        if self._server is not None:
            await self._server.wait_closed()

    # Links come

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        no_delay(writer)
        peer = writer.get_extra_info("peername")
        link = _Link(reader, writer, Role.LISTENER, plain_host(peer[0]) if peer else "unknown")
        if self._stopped or self._floods(link.host):
            writer.transport.abort()
            return
        refusal = self._too_many_handshakes(link.host)
        if refusal is not None:
            link.write(handshake.reason_to_bytes(refusal))
            self._report(link.host, refusal)
            self._close(link)
            return
        self._handshakes.add(link)
        self._spawn(self._welcome(link))

    def _floods(self, host: str) -> bool:
        """Whether an address connects so often that it does not even get a reason."""
        limits = self._limits
        door = _recent(self._doors, host, lambda: _Bucket(limits.connections_per_s, limits.burst_connections))
        if door.take(1) == 0.0:
            return False
        door.give_back(1)  # what is refused costs nothing: it gets through again as soon as it slows down
        self._report(host, "too many connections")
        return True

    def _too_many_handshakes(self, host: str) -> str | None:
        """Why no further connection from `host` is listened to, None if it is."""
        pending = Counter(link.host for link in self._handshakes)
        if pending.total() < self._limits.handshakes and pending[host] < self._limits.handshakes_per_address:
            return None
        return "too many unfinished handshakes"

    def _too_many_links(self, new: _Link) -> bool:
        """Whether there is no room for the link of a stranger. Who is wanted, or linked already, always has room."""
        wanted = {want.met for want in self._wants.values()}
        if new.node_id in wanted or new.node_id in self._links:
            return False
        accepted = [link for link in self._links.values() if link.role is Role.LISTENER]
        strangers = Counter(link.host for link in accepted if link.node_id not in wanted)
        return strangers.total() >= self._limits.links or strangers[new.host] >= self._limits.links_per_address

    async def _welcome(self, link: _Link) -> None:
        """Shake hands as the listener."""
        try:
            async with asyncio.timeout(self._limits.handshake_s):
                own = self._own_hello()
                link.write(own.to_bytes())
                other = handshake.read_hello(await self._read_frame(link, handshake.MAX_BYTES), self._version)
                if other.node_id == own.node_id:
                    self._close(link)  # the dialling end knows
                    return
                proof = await self._read_frame(link, handshake.MAX_BYTES)
                handshake.check_proof(proof, Role.DIALLER, other, own)
            link.node_id = other.node_id
            if not self._may_link(link):
                link.write(handshake.reason_to_bytes(ALREADY_LINKED))
                self._close(link)
                return
            if self._too_many_links(link):
                link.write(handshake.reason_to_bytes("too many links"))
                raise Refused("too many links")
            link.write(handshake.proof_to_bytes(self._sign(Role.LISTENER, other, own)))
            self._adopt(link)
        except AlreadyLinked:
            self._close(link)
        except (Refused, OSError, TimeoutError, EOFError) as error:
            self._report(link.host, why(error))
            self._close(link)
        except asyncio.CancelledError:
            self._close(link, at_once=True)
            raise
        finally:
            self._handshakes.discard(link)

    async def _call(self, address: str, want: _Want) -> None:
        """Dial one address and shake hands. Returns when there is a link.

        Raises `Refused` (`AlreadyLinked` too), `OSError`, `TimeoutError` or `EOFError`.
        """
        async with asyncio.timeout(self._limits.connect_s):
            reader, writer = await connect(address, want.port)
        link = _Link(reader, writer, Role.DIALLER, address)
        try:
            async with asyncio.timeout(self._limits.handshake_s):
                await self._introduce(link, want)
        except BaseException as error:
            if isinstance(error, AlreadyLinked | asyncio.CancelledError):  # nothing to worry the other side about
                link.write(handshake.reason_to_bytes(ALREADY_LINKED))
            self._close(link)
            raise

    async def _introduce(self, link: _Link, want: _Want) -> None:
        """Shake hands as the dialler."""
        own = self._own_hello()
        link.write(own.to_bytes())
        other = handshake.read_hello(await self._read_frame(link, handshake.MAX_BYTES), self._version)
        if other.node_id == own.node_id:
            want.leads_home = want.node_id is None
            raise Refused("that is this node itself")
        if want.node_id is not None and other.node_id != want.node_id:
            raise Refused(f"expected node {want.node_id.hex()[:8]}, found {other.node_id.hex()[:8]}")
        want.found = other.node_id
        if other.node_id in self._links or other.node_id in self._proving:
            raise AlreadyLinked(ALREADY_LINKED)
        # From here on the other side may count the link, so a second one of ours must not come so far at the same time.
        self._proving.add(other.node_id)
        try:
            link.write(handshake.proof_to_bytes(self._sign(Role.DIALLER, own, other)))
            proof = await self._read_frame(link, handshake.MAX_BYTES)
            handshake.check_proof(proof, Role.LISTENER, own, other)
        finally:
            self._proving.discard(other.node_id)
        link.node_id = other.node_id
        if not self._may_link(link):
            raise AlreadyLinked(ALREADY_LINKED)
        self._adopt(link)

    def _own_hello(self) -> Hello:
        return Hello(self._version, self._identity.node_id, random_bytes(handshake.NONCE_BYTES))

    def _sign(self, role: Role, dialler: Hello, listener: Hello) -> bytes:
        return self._identity.sign(handshake.signed_text(role, dialler, listener))

    def _may_link(self, new: _Link) -> bool:
        """Whether `new` takes the place of the link that is there, if any."""
        old = self._links.get(new.node_id)
        if old is None or old.role is new.role:
            return True
        dialled_by_us = new.role is Role.DIALLER
        return dialled_by_us == (self._identity.node_id < new.node_id)

    def _adopt(self, link: _Link) -> None:
        """Make `link` the one link to its node."""
        old = self._links.get(link.node_id)
        if old is not None:
            self._lose(old, "replaced by a newer link")
        link.since_s = monotonic_s()
        self._links[link.node_id] = link
        for want in self._wants.values():
            if want.met == link.node_id:
                want.reported = frozenset()
                want.wake.set()
        link.task = self._spawn(self._receive(link))
        self._on_link(link.node_id)

    # Links carry

    def _queue(self, link: _Link, frame: bytes) -> bool:
        waiting = link.waiting_bytes
        if waiting and (waiting + len(frame) > self._limits.queue_bytes or link.queued >= self._limits.queue_frames):
            self._lose(link, f"reads too slowly, {waiting} bytes wait for it", at_once=True)
            return False
        link.write(frame)
        return True

    async def _receive(self, link: _Link) -> None:
        """Read frames until the link is lost."""
        meter = _recent(self._meters, link.node_id, lambda: _Meter(self._limits))
        try:
            while not link.lost:
                frame = await self._read_frame(link, MAX_FRAME_BYTES)
                wait_s = meter.take(len(frame))
                self._on_frame(link.node_id, frame)
                if meter.over_s() > self._limits.overload_s:
                    raise Refused(f"sent more than it may for {self._limits.overload_s:g} s")
                await asyncio.sleep(wait_s)  # TCP then slows the sender down; 0 lets the other links have their turn
        except Refused as error:
            self._lose(link, str(error), at_once=True)
        except (OSError, EOFError) as error:
            self._lose(link, why(error))
        except Exception:
            self._lose(link, "a fault of this node")
            raise

    async def _read_frame(self, link: _Link, max_bytes: int) -> bytes:
        """The next frame. Raises `Refused` for one that is announced too long, before anything of it is read."""
        length = int.from_bytes(await link.reader.readexactly(_HEAD_BYTES))
        if length > max_bytes:
            raise Refused(f"announced a frame of {length} bytes, at most {max_bytes} are taken")
        return await link.reader.readexactly(length)

    # Links go

    def _lose(self, link: _Link, reason: str, *, at_once: bool = False) -> asyncio.Task[None] | None:
        """Take a link out of service. Returns the task that closes it, None if it was lost before."""
        if link.lost:
            return None
        link.lost = True
        if self._links.get(link.node_id) is link:
            del self._links[link.node_id]
        if link.task is not None and link.task is not asyncio.current_task():
            link.task.cancel()
        closing = self._close(link, at_once=at_once)
        lived_s = monotonic_s() - link.since_s
        for want in self._wants.values():
            if want.met == link.node_id:
                if lived_s > self._limits.last_retry_s:  # one that is lost again and again is dialled more slowly
                    want.retry_s = self._limits.first_retry_s
                want.wake.set()
        if not self._stopped:
            self._on_lost(link.node_id, reason)
        return closing

    def _close(self, link: _Link, *, at_once: bool = False) -> asyncio.Task[None]:
        """Close the socket in a task of its own, after sending what is queued if that goes quickly."""
        if at_once:
            link.writer.transport.abort()
        else:
            link.writer.close()
        task = asyncio.get_running_loop().create_task(self._closed(link))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
        return task

    async def _closed(self, link: _Link) -> None:
        waiting = asyncio.ensure_future(link.writer.wait_closed())
        await asyncio.wait([waiting], timeout=self._limits.flush_s)
        if not waiting.done():
            link.writer.transport.abort()
        with contextlib.suppress(OSError, TimeoutError):
            await waiting

    # Dialling

    async def _keep(self, want: _Want) -> None:
        """Dial whenever there is no link; ends only for a typed address that leads to this node itself."""
        if want.node_id is not None and self._identity.node_id > want.node_id:
            await self._pause(want, self._limits.courtesy_s)
        while True:
            want.wake.clear()
            if want.met in self._links:
                await want.wake.wait()
                if want.met not in self._links:
                    await self._back_off(want)
            elif not await self._dial(want):
                if want.leads_home:
                    self._wants.pop((want.addresses, want.port), None)
                    return
                await self._back_off(want)

    async def _back_off(self, want: _Want) -> None:
        jitter = 0.5 + int.from_bytes(random_bytes(2)) / 2**17
        delay_s = want.retry_s * jitter
        want.retry_s = min(want.retry_s * 2, self._limits.last_retry_s)
        await self._pause(want, delay_s)

    async def _pause(self, want: _Want, delay_s: float) -> None:
        """Wait so long, or until there are other addresses or a link."""
        want.wake.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(delay_s):  # not `wait_for`, which may swallow a cancellation before 3.12
                await want.wake.wait()

    async def _dial(self, want: _Want) -> bool:
        """Dial all addresses, each a little after the one before, until there is a link. False if there is none."""
        waiting = list(want.addresses)
        calls: dict[asyncio.Task[None], str] = {}
        failures: dict[str, str] = {}
        try:
            while waiting or calls:
                if waiting:
                    address = waiting.pop(0)
                    calls[asyncio.ensure_future(self._call(address, want))] = address
                stagger_s = self._limits.stagger_s if waiting else None
                done, _ = await asyncio.wait(calls, timeout=stagger_s, return_when=asyncio.FIRST_COMPLETED)
                for call in done:
                    failure = self._outcome(call)
                    if failure is not None:
                        failures[shown(calls[call], want.port)] = failure
                    del calls[call]
                if want.met in self._links:
                    return True
        finally:
            await end(calls)
            for call in calls:
                self._outcome(call)
        self._report_failures(want, failures)
        return False

    def _outcome(self, call: asyncio.Task[None]) -> str | None:
        """Why a call did not lead to a link, None where nothing is wrong."""
        try:
            call.result()
        except (asyncio.CancelledError, AlreadyLinked):
            return None
        except (Refused, OSError, TimeoutError, EOFError) as error:
            return why(error)
        return None

    def _report_failures(self, want: _Want, failures: dict[str, str]) -> None:
        now = frozenset(f"{address} {reason}" for address, reason in failures.items())
        for address, reason in failures.items():
            if f"{address} {reason}" not in want.reported:
                _log.debug("no link to %s: %s", address, reason)
                self._on_refused(address, reason)
        want.reported = now

    def _report(self, host: str, reason: str) -> None:
        """Tell once a minute why connections from `host` are refused, so that a flood of them is not one of reports."""
        now_s = monotonic_s()
        if self._stopped or now_s - self._reported.get((host, reason), -60.0) < 60.0:
            return
        if len(self._reported) >= _MAX_REPORTED:
            self._reported.pop(next(iter(self._reported)))
        self._reported[host, reason] = now_s
        _log.debug("no link from %s: %s", host, reason)
        self._on_refused(host, reason)

    def _forget(self, key: bytes | tuple[tuple[str, ...], int], want: _Want) -> None:
        del self._wants[key]
        if want.task is not None:
            want.task.cancel()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        return spawn(work, self._tasks, "a link's task failed")


def _recent(kept: dict[_Key, _Kept], key: _Key, make: Callable[[], _Kept]) -> _Kept:
    """What is kept for `key`, made if there is nothing; the one that was used longest ago makes room."""
    found = kept.pop(key) if key in kept else make()
    if len(kept) >= _MAX_METERS:
        del kept[next(iter(kept))]
    kept[key] = found
    return found
