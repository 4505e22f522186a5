"""Finding other nodes on the LAN by zeroconf (mDNS), and being found.

What is heard is a hint and nothing more: anybody may announce anything, and a node that was killed stays announced for
an hour. Whether a peer is there, and is who it says, is for its link to show.

Three habits of mDNS are made good here. A browser asks at its start and then listens, so two nodes that could not hear
each other in that time would never meet: while `alone`, the browser is made anew every few seconds. A socket knows only
the networks that were there when it was opened: the interfaces are looked at again as often. And a node that was killed
and is back with the same record causes no event: `boot`, new at each start, makes it one.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import ipaddress
import logging
import warnings
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import ifaddr
import zeroconf
from zeroconf import ServiceStateChange, Zeroconf
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

from node.clock import random_bytes
from node.tasks import end, spawn
from protocol.envelope import VERSION
from protocol.roster import clean_name

SERVICE: Final = "_rummesh._tcp.local."
LOOPBACK: Final = ("127.0.0.1",)
REFRESH_S: Final = 4.0
_RESOLVE_MS: Final = 3000
_MAX_PEERS: Final = 256
_MAX_ADDRESSES: Final = 8
_MAX_WORD_BYTES: Final = 24  # of the names of rules and phases
_log = logging.getLogger(__name__)


class MalformedRecord(Exception):  # noqa: N818 - another node's fault, never ours
    """What somebody announced is no record. The text is for logs."""


@dataclass(frozen=True, slots=True)
class Record:
    """What a node says of itself and its table. `table` is 16 bytes, or None for nobody's table."""

    version: int
    node_id: bytes
    name: str
    table: bytes | None
    table_name: str
    rules: str
    phase: str
    seats: int
    free: int

    def to_txt(self, boot: str) -> dict[str, str]:
        """The TXT record, under 400 bytes whatever the names; long ones are cut."""
        return {
            "v": str(self.version),
            "id": _to_text(self.node_id),
            "n": clean_name(self.name),
            "t": "" if self.table is None else _to_text(self.table),
            "tn": clean_name(self.table_name),
            "r": _cut(self.rules),
            "p": _cut(self.phase),
            "s": str(self.seats),
            "f": str(self.free),
            "b": boot,
        }

    @classmethod
    def from_txt(cls, txt: Mapping[bytes, bytes | None]) -> Record:
        """The record in a TXT record. Raises `MalformedRecord`.

        Of another version only the version, id and name are read: its other keys may mean something else.
        """
        version = _number(txt, b"v", 0xFFFF)
        node_id = _from_text(txt, b"id", 32)
        name = clean_name(_text(txt, b"n"))
        if version != VERSION:
            return cls(version, node_id, name, None, "", "", "", 0, 0)
        return cls(
            version=version,
            node_id=node_id,
            name=name,
            table=_from_text(txt, b"t", 16) if _text(txt, b"t") else None,
            table_name=clean_name(_text(txt, b"tn")),
            rules=_cut(_text(txt, b"r")),
            phase=_cut(_text(txt, b"p")),
            seats=_number(txt, b"s", 99),
            free=_number(txt, b"f", 99),
        )


@dataclass(frozen=True, slots=True)
class Peer:
    """A node that was heard of: its record, and where it says that it listens, the likeliest address first."""

    record: Record
    addresses: tuple[str, ...]
    port: int


class _Info(Protocol):
    """What is used of a resolved service."""

    port: int | None

    @property
    def properties(self) -> dict[bytes, bytes | None]: ...

    def parsed_scoped_addresses(self) -> list[str]: ...


class Discovery:
    """This node's ear and voice on the LAN.

    `on_peer(peer)` is called when a peer is found and whenever something about it has changed, `on_gone(node_id)` when
    it says goodbye; both in the event loop. `interfaces`: addresses of the own interfaces to use, None for all.
    """

    def __init__(
        self,
        record: Record,
        port: int,
        *,
        on_peer: Callable[[Peer], None],
        on_gone: Callable[[bytes], None],
        interfaces: Sequence[str] | None = None,
        refresh_s: float = REFRESH_S,
    ) -> None:
        self._record = record
        self._port = port
        self._on_peer = on_peer
        self._on_gone = on_gone
        self._interfaces = None if interfaces is None else list(interfaces)
        self._refresh_s = refresh_s
        self._boot = random_bytes(4).hex()
        self._alone = True
        self._ipv6 = True
        self._trouble: str | None = None
        self._azc: AsyncZeroconf | None = None
        self._browser: AsyncServiceBrowser | None = None
        self._registered: AsyncServiceInfo | None = None
        self._announcing: asyncio.Future[object] | None = None
        self._changed = asyncio.Event()
        self._stopped = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._resolving: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()
        self._known: dict[str, tuple[Peer, bytes | None]] = {}  # by instance name, with `boot`

    # What the node asks

    async def start(self) -> None:
        """Begin to announce and to listen. Never fails: what is wrong is in `trouble`, and is tried again."""
        await self._open()
        self._spawn(self._keep_up())

    async def update(self, record: Record) -> None:
        """Announce this from now on."""
        self._record = record
        self._changed.set()

    async def stop(self) -> None:
        """Say goodbye and close everything. No callback runs any more."""
        self._stopped = True
        await end(self._tasks)
        await self._close()

    @property
    def alone(self) -> bool:
        """Whether to look for others eagerly: true in the hall and in a lobby, false in a game."""
        return self._alone

    @alone.setter
    def alone(self, alone: bool) -> None:
        self._alone = alone

    @property
    def trouble(self) -> str | None:
        """A sentence for the player about what keeps others from finding this node; None if nothing is known."""
        return self._trouble

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where others can reach this node, as they can be told over a link: without link-local IPv6 addresses."""
        return tuple(text for text in self._own_addresses() if not text.startswith("fe80:"))

    # Announcing

    async def _open(self) -> None:
        """Open the sockets, announce, browse. Leaves `_azc` None, with `trouble`, when there is no network at all."""
        logging.getLogger("zeroconf").setLevel(logging.ERROR)  # a traceback for each lost network helps nobody
        for ipv6, interfaces in ((True, self._networks(ipv6=True)), (False, self._networks(ipv6=False))):
            azc = _sockets(interfaces)
            if azc is None:
                continue
            self._azc, self._ipv6 = azc, ipv6
            try:
                await self._announce()
                await self._browse(azc)
            except (OSError, RuntimeError, zeroconf.Error) as error:
                _log.debug("mDNS on %s does not start: %s", interfaces, error)
                await self._close()
                continue
            break
        self._tell_trouble()

    def _networks(self, *, ipv6: bool) -> list[str | int]:
        """What mDNS is to use: IPv4 addresses, also the one of loopback, and indexes of interfaces with IPv6.

        An interface with several IPv6 addresses counts once; loopback has no multicast of IPv6.
        """
        if self._interfaces is not None:
            return list(self._interfaces)
        adapters = ifaddr.get_adapters()
        networks: list[str | int] = [str(ip.ip) for adapter in adapters for ip in adapter.ips if ip.is_IPv4]
        for adapter in adapters if ipv6 else ():
            if adapter.index is not None and any(not _is_loopback(ip.ip[0]) for ip in adapter.ips if ip.is_IPv6):
                networks.append(adapter.index)
        return networks

    def _tell_trouble(self) -> None:
        trouble = None
        if self._azc is None:
            trouble = (
                "Other players cannot be looked for: no network answers to multicast. Connect this machine to the "
                "network, or give another player's address with --peer HOST:PORT."
            )
        elif self._interfaces is None and all(map(_is_loopback, self._own_addresses())):
            trouble = (
                "This machine has no network: only players on this machine are found. Connect it to the network of "
                "the others; nothing needs to be started again."
            )
        if trouble != self._trouble:
            self._trouble = trouble
            if trouble is not None:
                _log.warning("%s", trouble)

    async def _announce(self) -> None:
        """Announce the record as it is now, if it is not announced yet. What was still being announced is dropped."""
        assert self._azc is not None
        info = self._info()
        if self._registered is not None and _same(info, self._registered):
            return
        await self._hush()
        if self._registered is None:
            # The name comes from a key, so it cannot be taken and need not be probed for.
            announcing = await self._azc.async_register_service(info, cooperating_responders=True)
        else:
            announcing = await self._azc.async_update_service(info)
        self._announcing = asyncio.ensure_future(announcing)
        self._registered = info

    async def _hush(self) -> None:
        """Stop repeating an announcement, which would bring back for a moment what a newer one has replaced."""
        if self._announcing is not None:
            await end([self._announcing])
            if not self._announcing.cancelled() and self._announcing.exception() is not None:
                _log.debug("announcing failed: %s", self._announcing.exception())
            self._announcing = None

    def _info(self) -> AsyncServiceInfo:
        instance = instance_name(self._record.node_id)
        return AsyncServiceInfo(
            SERVICE,
            f"{instance}.{SERVICE}",
            port=self._port,
            properties=self._record.to_txt(self._boot),
            server=f"{instance}.local.",
            parsed_addresses=list(self._own_addresses()),
        )

    def _own_addresses(self) -> tuple[str, ...]:
        """Addresses of the interfaces in use; those of loopback only if there are no others."""
        if self._interfaces is not None:
            return tuple(text.split("%")[0] for text in self._interfaces[:_MAX_ADDRESSES])
        return machine_addresses()[:_MAX_ADDRESSES] or LOOPBACK

    async def _keep_up(self) -> None:
        """Announce what has changed; every few seconds look at the interfaces and, while alone, ask again."""
        while not self._stopped:
            # Not `wait_for`: before Python 3.12 it swallows a cancellation that comes in the tick of the event.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._refresh_s):
                    await self._changed.wait()
            due = not self._changed.is_set()
            self._changed.clear()
            try:
                if self._azc is None:
                    await self._open()
                    continue
                if due:
                    await self._refresh(self._azc)
                await self._announce()
            except (OSError, RuntimeError, zeroconf.Error) as error:
                _log.debug("mDNS: %s", error)

    async def _refresh(self, azc: AsyncZeroconf) -> None:
        await azc.async_update_interfaces(self._networks(ipv6=self._ipv6))
        self._tell_trouble()
        if self._alone:
            await self._browse(azc)

    async def _close(self) -> None:
        if self._browser is not None:
            await self._browser.async_cancel()
            self._browser = None
        await self._hush()
        azc, self._azc, self._registered = self._azc, None, None
        if azc is not None:
            with contextlib.suppress(OSError, zeroconf.Error):
                await azc.async_close()  # says goodbye

    # Listening

    async def _browse(self, azc: AsyncZeroconf) -> None:
        """Ask everybody again. Those known are told of once more by zeroconf, and not by us."""
        if self._browser is not None:
            await self._browser.async_cancel()
        self._browser = AsyncServiceBrowser(azc.zeroconf, SERVICE, handlers=[self._heard])

    def _heard(self, zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange) -> None:
        if self._stopped:
            return
        if state_change is ServiceStateChange.Removed:
            self._forget(name)
        elif name in self._resolving:
            self._again.add(name)
        elif len(self._resolving) < _MAX_PEERS:
            self._resolving[name] = self._spawn(self._resolve(zeroconf, name))

    def _forget(self, name: str) -> None:
        self._again.discard(name)
        resolving = self._resolving.pop(name, None)
        if resolving is not None:
            resolving.cancel()
        known = self._known.pop(name, None)
        if known is not None:
            self._on_gone(known[0].record.node_id)

    async def _resolve(self, zc: Zeroconf, name: str) -> None:
        try:
            while True:
                self._again.discard(name)
                info = AsyncServiceInfo(SERVICE, name)
                if await info.async_request(zc, _RESOLVE_MS):
                    self._resolved(name, info)
                if name not in self._again:
                    return
        except (OSError, zeroconf.Error) as error:
            _log.debug("%r cannot be resolved: %s", name, error)
        finally:
            if self._resolving.get(name) is asyncio.current_task():
                del self._resolving[name]

    def _resolved(self, name: str, info: _Info) -> None:
        try:
            peer = read_peer(name, info, loopback=all(map(_is_loopback, self._own_addresses())))
        except MalformedRecord as error:
            _log.debug("%r is ignored: %s", name, error)
            return
        if peer.record.node_id == self._record.node_id:
            return
        found = (peer, info.properties.get(b"b"))
        if self._known.get(name) == found or (name not in self._known and len(self._known) >= _MAX_PEERS):
            return
        self._known[name] = found
        self._on_peer(peer)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        return spawn(work, self._tasks, "discovery failed")


def _sockets(interfaces: list[str | int]) -> AsyncZeroconf | None:
    """The opened sockets, None if that does not work."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # zeroconf leaves to the collector what it had opened before
        try:
            return AsyncZeroconf(interfaces=interfaces) if interfaces else None
        except (OSError, RuntimeError, zeroconf.Error) as error:
            _log.debug("no mDNS on %s: %s", interfaces, error)
        return None


def instance_name(node_id: bytes) -> str:
    """The node's name in mDNS, 60 characters that follow from its key."""
    return "rummesh-" + base64.b32encode(node_id).decode().rstrip("=").lower()


def read_peer(name: str, info: _Info, *, loopback: bool) -> Peer:
    """The peer that a resolved service stands for. Raises `MalformedRecord`.

    Addresses of loopback count only when this node itself is nowhere else (`loopback`): to everybody else they would
    mean a port of the own machine.
    """
    record = Record.from_txt(info.properties)
    if name.lower() != f"{instance_name(record.node_id)}.{SERVICE}":
        raise MalformedRecord("the name does not belong to the id")
    if not info.port:
        raise MalformedRecord("no port")
    usable = {text for text in info.parsed_scoped_addresses() if _is_usable(text, loopback=loopback)}
    if not usable:
        raise MalformedRecord("no usable address")
    return Peer(record, tuple(sorted(usable, key=_likelihood))[:_MAX_ADDRESSES], info.port)


def machine_addresses() -> tuple[str, ...]:
    """This machine's addresses other than loopback, those that work most often first."""
    found = [str(ip.ip) if ip.is_IPv4 else ip.ip[0] for adapter in ifaddr.get_adapters() for ip in adapter.ips]
    return tuple(sorted({text for text in found if not _is_loopback(text)}, key=_likelihood))


def _likelihood(text: str) -> tuple[bool, bool, str]:
    """Sorts the addresses that work most often first: IPv4, then IPv6, link-local ones last."""
    address = ipaddress.ip_address(text)
    return (address.version == 6, address.is_link_local, text)


def _is_loopback(text: str) -> bool:
    return ipaddress.ip_address(text).is_loopback


def _is_usable(text: str, *, loopback: bool) -> bool:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    if address.is_multicast or address.is_unspecified or getattr(address, "ipv4_mapped", None) is not None:
        return False
    return loopback or not address.is_loopback


def _same(one: AsyncServiceInfo, other: AsyncServiceInfo) -> bool:
    return (one.text, one.port, one.parsed_addresses()) == (other.text, other.port, other.parsed_addresses())


def _to_text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _text(txt: Mapping[bytes, bytes | None], key: bytes) -> str:
    try:
        return (txt.get(key) or b"").decode()
    except UnicodeDecodeError as error:
        raise MalformedRecord(f"{key!r} is not UTF-8") from error


def _from_text(txt: Mapping[bytes, bytes | None], key: bytes, size: int) -> bytes:
    text = _text(txt, key)
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise MalformedRecord(f"{key!r} is not base64") from error
    if len(data) != size:
        raise MalformedRecord(f"expected {size} bytes in {key!r}, got {len(data)}")
    return data


def _number(txt: Mapping[bytes, bytes | None], key: bytes, most: int) -> int:
    text = _text(txt, key)
    if not (text.isascii() and text.isdigit() and len(text) <= 5 and int(text) <= most):
        raise MalformedRecord(f"expected a number up to {most} in {key!r}")
    return int(text)


def _cut(word: str) -> str:
    return clean_name(word).encode()[:_MAX_WORD_BYTES].decode(errors="ignore").strip()
