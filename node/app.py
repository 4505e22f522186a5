"""A node: identity, hall, links and at most one table, in one event loop.

A `Node` knows nothing of pages or bots; `desk` and `players` act through it.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from engine.rulesets import RuleSet
from engine.state import Phase
from node.clock import monotonic_s, random_bytes, unix_s
from node.config import NodeSettings
from node.discovery import Discovery, Peer, Record
from node.files import take_lock
from node.hall import Hall, announce
from node.journal import DamagedJournal, Journal, JournalError, JournalRecord, damaged, set_aside
from node.keystore import Identity, load_or_create
from node.runner import Runner
from node.tasks import spawn
from node.transport import Mesh
from protocol.codec import decode
from protocol.dealing.group import UnsafeLibrary, self_test
from protocol.dealing.secret_deal import secret_dealer
from protocol.envelope import HALL, open_envelope, seal, table_of
from protocol.errors import DecodeError, LocalProtocolError, RemoteProtocolError
from protocol.events import Event, EvidenceFound
from protocol.messages import Announce, GenesisDraft, RequestKind, TableCard
from protocol.outputs import RecordKind
from protocol.roster import device_of, seat_of
from protocol.session import Record as SessionRecord
from protocol.session import Session

_log = logging.getLogger(__name__)

PROTOCOL_VERSION: Final = 1
REJOIN_WITHIN_S: Final = 2 * 3600.0  # more than a clock is put forward or back by
FORGOTTEN: Final = (
    "You watch this game: what this node had signed in it is lost, and with it the key to its tiles. The others can go "
    "on without you."
)
RESUME_WITHIN_S: Final = 24 * 3600.0
LEAVE_WITHIN_S: Final = 6.0  # the others must have agreed by then that this player leaves, or it goes without
LINGER_S: Final = 1.0  # then the own node stays that much longer, so that its vote reaches everybody
_UNAGREED: Final = (
    "You have left, but not everybody could be told. The others wait for you a while, then they may go on without you."
)


class NodeError(Exception):
    """The node cannot do what its player asks. The text is a sentence for the player."""


class Node:
    """One node. All methods are called in its event loop."""

    def __init__(self, settings: NodeSettings) -> None:
        self.settings = settings
        self.name = settings.name
        self.hall = Hall()
        self.runner: Runner | None = None
        self.port = 0
        self.notice: str | None = None  # for the player, until the next success
        self._watchers: list[Callable[[], None]] = []
        self._listeners: list[Callable[[Event], None]] = []
        self._announced: Record | None = None
        self._refresh: asyncio.Handle | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._lock: int | None = _lock_data_folder(settings.data)
        self.identity: Identity = load_or_create(settings.data)
        self._refused: str | None = None
        self._broker_trouble: str | None = None
        self._leaving: asyncio.TimerHandle | None = None
        self._lingers = False
        self._mesh = Mesh(
            self.identity,
            on_link=self._on_link,
            on_frame=self._on_frame,
            on_lost=self._on_lost,
            on_refused=self._on_refused,
        )
        self._discovery: Discovery | None = None

    @property
    def node_id(self) -> bytes:
        return self.identity.node_id

    @property
    def session(self) -> Session | None:
        """The session of the table this node is at."""
        return None if self.runner is None else self.runner.session

    @property
    def address(self) -> str:
        """Where others can reach this node, to be typed by somebody on another machine."""
        addresses = () if self._discovery is None else self._discovery.addresses
        host = addresses[0] if addresses else "127.0.0.1"
        return f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"

    @property
    def trouble(self) -> str | None:
        """What keeps this node from others, or from its broker, in sentences for the player; None if nothing does."""
        found = None if self._discovery is None else self._discovery.trouble
        failed = None if self.runner is None else self.runner.failure
        return together(failed or found or self._refused, self._broker_trouble)

    @property
    def table_notice(self) -> str | None:
        """Why this node says nothing at its table, or its broker does not, in sentences for the player; or None."""
        if self.runner is None:
            return None
        watches = FORGOTTEN if self.runner.session.silent else None
        return together(self.runner.failure or watches, self._broker_trouble)

    def linked(self) -> tuple[bytes, ...]:
        """The nodes that a link is up to."""
        return self._mesh.linked()

    async def start(self) -> None:
        """Take up an unfinished game, listen, and be found. Raises `NodeError` or `OSError`."""
        try:
            self_test()
        except UnsafeLibrary as error:
            raise NodeError(f"Tiles cannot be dealt secretly here: {error} Install PyNaCl 1.6.2 or newer.") from error
        self._resume()
        self.port = await self._mesh.start(self.settings.host, self.settings.port)
        record = self._record()
        self._announced = record
        self._discovery = Discovery(
            record, self.port, on_peer=self._on_peer, on_gone=self._on_gone, interfaces=self.settings.interfaces
        )
        await self._discovery.start()
        for host, port in self.settings.peers:
            self.add_peer(host, port)
        if self.runner is not None:
            self.runner.start()
        self._changed()

    async def stop(self) -> None:
        """Say goodbye and close everything. A running game can be taken up again later."""
        if self._refresh is not None:
            self._refresh.cancel()
        if self._discovery is not None:
            await self._discovery.stop()
        if self._leaving is not None:
            self._go()
        if self.runner is not None:
            self.runner.stop()
        await self._mesh.stop()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
        if self._closing:
            await asyncio.gather(*self._closing, return_exceptions=True)

    def watch(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Have `changed` called after every change, until the returned function is called."""
        self._watchers.append(changed)
        return lambda: self._watchers.remove(changed)

    def listen(self, told: Callable[[Event], None]) -> None:
        """Have `told` called with every event of this node's tables."""
        self._listeners.append(told)

    # What the player may ask

    def open_table(self, name: str, rules: RuleSet) -> bytes:
        """Open a table and sit down at it; gives its id."""
        table = random_bytes(16)
        self._sit(table, TableCard(name, rules))
        return table

    def join(self, table: bytes) -> None:
        """Sit down at a table that somebody has opened. Raises `NodeError`."""
        if not self.hall.at_table(table):
            raise NodeError("This table is not there any more.")
        self._sit(table, None)

    def leave(self) -> None:
        """Stand up: from the lobby, from a finished game, or for good from a running one.

        From a running game in good order: the others are asked first, and this node goes once they have agreed, or
        after a few seconds if they cannot, with a notice.
        """
        runner = self.runner
        if runner is None or self._leaving is not None:
            return
        if runner.session.game is None:
            runner.do(self._stand_up)
        if runner.failure is None and runner.session.may_ask(RequestKind.LEAVE):
            self._leaving = asyncio.get_running_loop().call_later(LEAVE_WITHIN_S, self._go, _UNAGREED)
            runner.do(lambda session, now_s: session.ask(RequestKind.LEAVE, now_s))
        else:
            self._go()

    def _stand_up(self, session: Session, _now_s: float) -> None:
        if self.settings.device:
            session.lobby.offer_device(self.name, present=False)
        else:
            session.lobby.stand_up()

    def close(self) -> None:
        """Go from a game that nobody can go on with (docs/agreement.md, rule 18). It has no result."""
        self._go()

    def _linger(self) -> None:
        """Once the own leave is agreed, or everything is over: a moment later this node goes."""
        session = self.session
        out = session is None or session.seat is None or session.game is None or session.game.over
        if self._leaving is not None and not self._lingers and out:
            self._leaving.cancel()
            self._lingers = True
            self._leaving = asyncio.get_running_loop().call_later(LINGER_S, self._go)

    def _go(self, notice: str | None = None) -> None:
        """Be at no table any more."""
        runner = self.runner
        if self._leaving is not None:
            self._leaving.cancel()
        self._leaving, self._lingers = None, False
        if runner is None:
            return
        self.notice = notice
        self.runner = None
        runner.close_for_good()
        for peer in self.hall.peers():
            self._mesh.unwant(peer.record.node_id)
        self._changed()

    def add_peer(self, host: str, port: int) -> None:
        """Keep a link to a typed address, for networks where multicast does not get through."""
        self._mesh.want(None, (host,), port)

    def rename(self, name: str) -> None:
        """Take another name, also in the lobby."""
        self.name = name
        session = self.session
        if session is not None and session.game is None and self.runner is not None:
            self.runner.do(lambda own, _now_s: own.lobby.change(name=name))
        self._changed()

    def tell_of_broker(self, trouble: str | None) -> None:
        """Why the table is not on its MQTT broker as the player asked, in a sentence; None while it is."""
        self._broker_trouble = trouble
        self._changed()

    def do(self, wish: Callable[[Session, float], object]) -> None:
        """Let something happen to the session. Raises `NodeError` without one, else what `wish` raises."""
        if self.runner is None:
            raise NodeError("You are not at a table.")
        if self.runner.failure is not None:
            raise NodeError(self.runner.failure)
        self.runner.do(wish)

    # Tables

    def _sit(self, table: bytes, card: TableCard | None) -> None:
        if self.runner is not None:
            raise NodeError("Leave this table first.")
        try:
            journal = Journal.open(self._journal_path(table))
        except JournalError as error:
            raise NodeError(str(error)) from error
        self.runner = self._runner(self._lobby_session(table, card), journal)
        self.runner.start()
        for peer in self.hall.at_table(table):
            self._meet(peer)
        self._changed()

    def _lobby_session(
        self, table: bytes, card: TableCard | None, *, signed: GenesisDraft | None = None, silent: bool = False
    ) -> Session:
        return Session.in_lobby(
            self.identity,
            table,
            self.name,
            bot=self.settings.bot,
            entropy=random_bytes,
            make_dealer=secret_dealer,
            card=card,
            signed=signed,
            now_s=monotonic_s(),
            silent=silent,
            device=self.settings.device,
            stamp=int(1000 * unix_s()),
        )

    def _runner(self, session: Session, journal: Journal) -> Runner:
        return Runner(session, self._mesh_links(), journal, told=self._told, changed=self._changed)

    def _resume(self) -> None:
        """Take up the newest game in the data folder if it is unfinished and not old. Raises `NodeError`."""
        folder = self.settings.tables
        paths = sorted(folder.glob("*.journal"), key=lambda path: path.stat().st_mtime) if folder.is_dir() else []
        if not paths:
            return
        try:
            self._take_up(paths[-1])
        except DamagedJournal as error:
            if self.settings.rejoin:
                self._rejoin(paths[-1])
            else:
                self._not_taken_up(error)
        except JournalError as error:
            self._not_taken_up(error)

    def _not_taken_up(self, error: JournalError) -> None:
        _log.warning("the last game is not taken up: %s", error)
        self.notice = f"The last game could not be taken up. {error}"

    def _take_up(self, path: Path) -> None:
        journal = Journal.open(path)
        try:
            session = self._resumed(path, list(journal.records()))
        except BaseException:
            journal.close()
            raise
        if session is None:
            journal.close()
        else:
            self.runner = self._runner(session, journal)

    def _rejoin(self, path: Path) -> None:
        """Watch the game whose journal is damaged: what was signed in it is not known any more."""
        try:
            aside = set_aside(path)
            journal = Journal.open(path)
        except JournalError as error:
            raise NodeError(str(error)) from error
        _log.warning("the damaged journal is kept as %s; this node only watches its game", aside)
        self.runner = self._runner(self._lobby_session(bytes.fromhex(path.stem), None, silent=True), journal)

    def _resumed(self, path: Path, records: list[JournalRecord]) -> Session | None:
        """The session of these records, None if it is over or old. Raises `DamagedJournal`."""
        if not records or records[-1].kind == RecordKind.CLOSED.value:
            return None
        kinds = {record.kind for record in records}
        now_s, now_unix_s = monotonic_s(), unix_s()
        age_s = now_unix_s - records[-1].unix_s
        if RecordKind.COMMITTED.value not in kinds and RecordKind.DRAFT.value in kinds:
            if age_s > REJOIN_WITHIN_S:
                return None
            # The genesis was signed, and maybe the others have begun: sit down again, and hear from them.
            drafts = [record.data for record in records if record.kind == RecordKind.DRAFT.value]
            try:
                signed = decode(GenesisDraft, drafts[-1])
            except DecodeError as error:
                _log.warning("the signed genesis is not taken up: %s", error)
                return None
            return self._lobby_session(bytes.fromhex(path.stem), None, signed=signed)
        if age_s > RESUME_WITHIN_S:
            return None
        try:
            session = Session.resume(
                self.identity,
                bytes.fromhex(path.stem),
                [
                    SessionRecord(
                        RecordKind(record.kind),
                        record.height,
                        record.data,
                        now_s - max(0.0, now_unix_s - record.unix_s),
                    )
                    for record in records
                ],
                entropy=random_bytes,
                make_dealer=secret_dealer,
                now_s=now_s,
            )
        except (LocalProtocolError, ValueError) as error:
            raise damaged(path, str(error)) from error
        if session is None or session.game is None or session.game.over:
            return None
        return session

    def _journal_path(self, table: bytes) -> Path:
        return self.settings.tables / f"{table.hex()}.journal"

    # Peers and links

    def _on_peer(self, peer: Peer) -> None:
        if peer.record.node_id == self.node_id:
            return
        self.hall.heard(peer)
        self._meet(peer)
        self._changed()

    def _on_gone(self, node: bytes) -> None:
        self.hall.gone(node)
        self._changed()

    def _meet(self, peer: Peer) -> None:
        """Keep a link to a peer that is at our table."""
        session = self.session
        if session is None or peer.record.node_id == self.node_id:
            return
        genesis, node = session.genesis, peer.record.node_id
        at_it = genesis is not None and (seat_of(genesis, node) is not None or device_of(genesis, node) is not None)
        if peer.record.table == session.table or at_it:
            self._mesh.want(peer.record.node_id, tuple(peer.addresses), peer.port)

    def _on_link(self, node: bytes) -> None:
        self._refused = None
        self._send_announce(node)
        if self.runner is not None:
            self.runner.linked(node)
        self._changed()

    def _on_refused(self, address: str, reason: str) -> None:
        _log.info("no link with %s: %s", address, reason)
        self._refused = f"No link with {address}: {reason}."
        self._changed()

    def _on_lost(self, node: bytes, reason: str) -> None:
        _log.info("link to %s lost: %s", node.hex()[:8], reason)
        self.hall.unlinked(node)
        if self.runner is not None:
            self.runner.lost(node)
        self._changed()

    def _on_frame(self, node: bytes, payload: bytes) -> None:
        table = table_of(payload)
        if table == HALL:
            self._hear(node, payload)
        elif self.runner is not None and (table is None or table == self.runner.session.table):
            self.runner.receive(node, payload)
        elif table is None:
            self._mesh_links().close_link(node, "not a frame of this version")

    def _hear(self, node: bytes, payload: bytes) -> None:
        try:
            envelope = open_envelope(payload)
        except RemoteProtocolError as error:
            self._mesh_links().close_link(node, error.reason)
            return
        if envelope.sender != node or not isinstance(envelope.body, Announce):
            return
        self.hall.announced(node, envelope.body)
        session = self.session
        if session is not None and envelope.body.table == session.table:
            for friend in envelope.body.peers:
                if friend.node not in (node, self.node_id):
                    self._mesh.want(friend.node, friend.addresses, friend.port)
        self._changed()

    def _send_announce(self, node: bytes | None) -> None:
        session = self.session
        friends = () if session is None else self.hall.at_table(session.table)
        addresses = () if self._discovery is None else tuple(self._discovery.addresses)
        frame = seal(self.identity, HALL, announce(self._record(), addresses, self.port, friends)).raw
        if node is None:
            self._mesh.broadcast(frame)
        else:
            self._mesh.send(node, frame)

    def _mesh_links(self) -> _MeshLinks:
        return _MeshLinks(self._mesh, self._closing)

    # Keeping others and the player up to date

    def _told(self, event: Event) -> None:
        if isinstance(event, EvidenceFound):
            _log.warning("evidence against %s: %s", event.node.hex()[:8], event.reason)
        for told in tuple(self._listeners):
            told(event)

    def _changed(self) -> None:
        """Tell the watchers, and, once this moment's changes are all made, the others."""
        self._linger()
        for changed in tuple(self._watchers):
            changed()
        if self._refresh is None and self._discovery is not None:
            self._refresh = asyncio.get_running_loop().call_soon(self._publish)

    def _publish(self) -> None:
        self._refresh = None
        record = self._record()
        if self._discovery is None or record == self._announced:
            return
        self._announced = record
        spawn(self._discovery.update(record), self._closing, "announcing failed")
        self._discovery.alone = record.table is None or record.phase == "lobby"
        self._send_announce(None)

    def _record(self) -> Record:
        empty = Record(
            version=PROTOCOL_VERSION,
            node_id=self.node_id,
            name=self.name,
            table=None,
            table_name="",
            rules="",
            phase="hall",
            seats=0,
            free=0,
        )
        session = self.session
        if session is None:
            return empty
        if session.game is not None:
            genesis, over = session.game.genesis, session.game.state.phase is Phase.OVER
            return replace(
                empty,
                table=session.table,
                table_name=genesis.table_name,
                rules=genesis.rules.name,
                phase="over" if over else "playing",
                seats=len(genesis.members),
            )
        card = session.lobby.table_card
        if card is None:
            return replace(empty, phase="joining")
        seated = len(session.lobby.members())
        return replace(
            empty,
            table=session.table,
            table_name=card.name,
            rules=card.rules.name,
            phase="lobby",
            seats=seated,
            free=max(0, card.rules.max_seats - seated),
        )


def together(*said: str | None) -> str | None:
    """All that is said, one after the other; None if nothing is."""
    return " ".join(sentences for sentences in said if sentences) or None


def _lock_data_folder(folder: Path) -> int:
    """Two nodes with one key would contradict each other: one data folder, one node. Raises `NodeError`."""
    try:
        return take_lock(folder / "node.lock")
    except BlockingIOError as error:
        raise NodeError(
            f"Another Rummesh is running with the folder {folder}. Stop it, or give this one a folder of its own "
            "with --data."
        ) from error
    except OSError as error:
        raise NodeError(
            f"The folder {folder} cannot be used: {error.strerror}. Make it writable, or choose another "
            "one with --data."
        ) from error


class _MeshLinks:
    """The mesh as a runner sees it."""

    def __init__(self, mesh: Mesh, tasks: set[asyncio.Task[None]]) -> None:
        self._mesh = mesh
        self._tasks = tasks

    def send(self, node_id: bytes, frame: bytes) -> bool:
        return self._mesh.send(node_id, frame)

    def broadcast(self, frame: bytes, *, but: bytes | None = None) -> None:
        self._mesh.broadcast(frame, but=but)

    def linked(self) -> tuple[bytes, ...]:
        return self._mesh.linked()

    def close_link(self, node_id: bytes, reason: str) -> None:
        spawn(self._mesh.drop(node_id, reason), self._tasks, "closing a link failed")
