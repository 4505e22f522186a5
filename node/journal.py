"""The journal: what this node must still know after a crash, written before anything that rests on it is sent.

One SQLite file with one table of records, only ever appended to. An `append` is one transaction in the write-ahead log
(WAL) with synchronous=FULL: when it returns, its records survive kill -9 and a power cut. Nothing in here repairs,
renames or deletes a file that it does not understand: with a gap in its journal this node could contradict its own
votes, so a person has to decide.

The file is made under another name and then renamed, so a journal without its table is a damaged one, never a new one.
A lock on a file beside it (`….lock`, which stays) keeps a second process out for as long as the journal is open.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import threading
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from node.files import sync_folder, take_lock

APPLICATION_ID: Final = 0x52554D4D  # "RUMM", in the file's head
FORMAT: Final = 2
_PAGE: Final = 256  # records read at once
_TABLE: Final = (
    "CREATE TABLE records (seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, height INTEGER NOT NULL, data BLOB NOT NULL, "
    "unix_s REAL NOT NULL, digest BLOB NOT NULL) STRICT"
)
_COLUMNS: Final = ["seq", "kind", "height", "data", "unix_s", "digest"]
_DIGEST_BYTES: Final = 8  # against a disk that forgets, not against people: SQLite does not notice changed bytes


class JournalError(Exception):
    """The journal cannot be used. The text is a sentence for the person who runs the node, and says what to do."""


class DamagedJournal(JournalError):  # noqa: N818 - named for what was found
    """What the journal holds is not what was written."""


@dataclass(frozen=True, slots=True)
class JournalRecord:
    """One record. `unix_s` is when it was written, by the wall clock."""

    kind: str
    height: int
    data: bytes
    unix_s: float

    def __repr__(self) -> str:  # data may be secret
        return f"JournalRecord({self.kind}, height={self.height}, {len(self.data)} bytes)"

    def digest(self) -> bytes:
        """What is kept beside a record, so that a changed one is found."""
        head = f"{self.kind} {self.height} {self.unix_s!r} ".encode()
        return hashlib.blake2b(head + self.data, digest_size=_DIGEST_BYTES).digest()


class Journal:
    """An open journal. Its methods may be called from any thread, one at a time in effect."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: int) -> None:
        """For `open` only. `lock` is the descriptor that holds the process lock."""
        self._path = path
        self._connection = connection
        self._lock = lock
        self._busy = threading.Lock()
        self._closed = False

    @classmethod
    def open(cls, path: Path) -> Journal:
        """The journal at `path`, made if there is none. Raises `JournalError`."""
        lock = _take_lock(path)
        try:
            if not path.exists():
                _create(path)
            connection = _connect(path)
        except BaseException:
            os.close(lock)
            raise
        return cls(path, connection, lock)

    def append(self, records: Sequence[JournalRecord]) -> None:
        """Returns when all `records` are on the disk, in one transaction.

        Raises `JournalError`: nothing that rests on these records may be sent then. After a full disk none of them is
        in the journal; after a failing one all or none are found at the next start.
        """
        rows = [(one.kind, one.height, one.data, one.unix_s, one.digest()) for one in records]
        with self._transaction():
            self._connection.executemany(
                "INSERT INTO records (kind, height, data, unix_s, digest) VALUES (?, ?, ?, ?, ?)", rows
            )

    def records(self) -> Iterator[JournalRecord]:
        """All records, oldest first. Raises `JournalError`."""
        last = 0
        while True:
            with self._statement():
                rows = self._connection.execute(
                    "SELECT seq, kind, height, data, unix_s, digest FROM records WHERE seq > ? ORDER BY seq LIMIT ?",
                    (last, _PAGE),
                ).fetchall()
            for seq, kind, height, data, unix_s, digest in rows:
                record = JournalRecord(kind, height, data, unix_s)
                if record.digest() != digest:
                    raise damaged(self._path, f"record {seq} is not what was written")
                yield record
            if len(rows) < _PAGE:
                return
            last = rows[-1][0]

    def erase(self, kind: str, *, but_last: bool = False) -> None:
        """Returns when no record of `kind`, and none of its bytes, is in the file any more. Raises `JournalError`.

        `but_last`: the newest one stays. For secrets whose game is over. The records that stay keep their order.
        """
        with self._transaction():
            row = self._connection.execute("SELECT max(seq) FROM records WHERE kind = ?", (kind,)).fetchone()
            end = row[0] if but_last and row[0] is not None else 2**62
            # secure_delete writes zeros
            self._connection.execute("DELETE FROM records WHERE kind = ? AND seq < ?", (kind, end))
        with self._statement():
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()  # the log held them too

    def close(self) -> None:
        """Give the file and its lock back. A second call does nothing."""
        with self._busy:
            if self._closed:
                return
            self._closed = True
            try:
                self._connection.close()
            except sqlite3.Error as error:
                raise _explained(self._path, error) from error
            finally:
                os.close(self._lock)

    @contextlib.contextmanager
    def _statement(self) -> Iterator[None]:
        with self._busy:
            if self._closed:
                raise ValueError("the journal is closed")
            try:
                yield
            except sqlite3.Error as error:
                raise _explained(self._path, error) from error

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._statement():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):  # a failed COMMIT may have rolled back by itself
                    self._connection.execute("ROLLBACK")
                raise


def read_beside(path: Path, kinds: Collection[str]) -> list[JournalRecord]:
    """All records of these kinds in the journal at `path`, oldest first. Raises `JournalError`.

    Nothing is locked or changed, so another process may have it open.
    """
    marks = ", ".join("?" * len(kinds))
    query = f"SELECT kind, height, data, unix_s FROM records WHERE kind IN ({marks}) ORDER BY seq"  # noqa: S608 - marks
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=5)
        with contextlib.closing(connection):
            _check(path, connection)
            return [JournalRecord(*row) for row in connection.execute(query, tuple(kinds))]
    except sqlite3.Error as error:
        raise _explained(path, error) from error


def _take_lock(path: Path) -> int:
    try:
        return take_lock(path.with_name(path.name + ".lock"))
    except BlockingIOError as error:
        raise JournalError(
            f"The journal {path} is in use by another Rummesh. Stop that one, or start this one with a folder of "
            "its own."
        ) from error
    except OSError as error:
        raise JournalError(
            f"The journal {path} cannot be used: {error.strerror}. Make the folder {path.parent} writable for the user "
            "who runs Rummesh, or choose another one on a local disk."
        ) from error


def _create(path: Path) -> None:
    """Put an empty journal at `path`, whole or not at all. The process lock is held."""
    if path.with_name(path.name + "-wal").exists():  # SQLite would play an old log into the new file
        raise damaged(path, f"only its log {path.name}-wal is there")
    temporary = path.with_name(path.name + ".new")
    try:
        temporary.unlink(missing_ok=True)
        temporary.with_name(temporary.name + "-journal").unlink(missing_ok=True)
        os.close(os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        with contextlib.closing(sqlite3.connect(temporary, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("BEGIN")
            connection.execute(_TABLE)
            connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version={FORMAT}")
            connection.execute("COMMIT")
        temporary.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise JournalError(
            f"The journal {path} cannot be made: {error.strerror}. Make the folder {path.parent} writable for the user "
            "who runs Rummesh, or choose another one."
        ) from error
    except sqlite3.Error as error:
        raise _explained(path, error) from error


def _connect(path: Path) -> sqlite3.Connection:
    if path.is_file() and path.stat().st_mode & 0o077:
        raise JournalError(f"Others can read the journal {path}, which holds secrets. Close it with: chmod 600 {path}")
    try:
        # The locks of this class order the threads.
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=5)
    except sqlite3.Error as error:
        raise _explained(path, error) from error
    try:
        _check(path, connection)
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA secure_delete=ON")
        (mode,) = connection.execute("PRAGMA journal_mode=WAL").fetchone()
        if mode != "wal":
            raise JournalError(f"The journal {path} cannot keep a write-ahead log. Choose a folder on a local disk.")
        connection.execute("BEGIN IMMEDIATE")
        # A file that cannot be written is found now, not in the first turn; only a write finds it for sure.
        connection.execute(f"PRAGMA user_version={FORMAT}")
        connection.execute("ROLLBACK")
    except sqlite3.Error as error:
        connection.close()
        raise _explained(path, error) from error
    except BaseException:
        connection.close()
        raise
    return connection


def _check(path: Path, connection: sqlite3.Connection) -> None:
    """Raises unless this is a whole journal of a format that we know."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application == APPLICATION_ID and version > FORMAT:
        raise JournalError(
            f"The journal {path} was written by a newer Rummesh (format {version}, this one knows {FORMAT}). "
            "Install the newer Rummesh again; the journal is unchanged."
        )
    if application == APPLICATION_ID and 0 < version < FORMAT:
        raise JournalError(
            f"The journal {path} was written by an older Rummesh (format {version}, this one knows {FORMAT}). "
            "Finish its game with that one; the journal is unchanged."
        )
    if application != APPLICATION_ID or version < FORMAT:
        raise damaged(path, "it is not a journal of Rummesh")
    found = [row[0] for row in connection.execute("PRAGMA quick_check(1)")]
    if found != ["ok"]:
        raise damaged(path, str(found[0]).splitlines()[0])
    columns = [row[1] for row in connection.execute("PRAGMA table_info(records)")]
    if columns != _COLUMNS:
        raise damaged(path, "its table is missing or of another form")


def set_aside(path: Path) -> Path:
    """Rename the journal at `path`, with what belongs to it; returns its new name. Raises `JournalError`."""
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    try:
        for ending in ("-wal", "-shm", ""):  # the journal last: without it the next start would not look for them
            with contextlib.suppress(FileNotFoundError):
                path.with_name(path.name + ending).rename(aside.with_name(aside.name + ending))
        sync_folder(path.parent)
    except OSError as error:
        raise JournalError(
            f"The journal {path} cannot be put aside: {error.strerror}. Make the folder {path.parent} writable."
        ) from error
    return aside


def damaged(path: Path, why: str) -> DamagedJournal:
    """The error for a journal at `path` that is damaged, for the reason `why`."""
    return DamagedJournal(
        f"The journal {path} is damaged: {why}. It is left as it is. Start with --rejoin to put it aside and watch the "
        "game it belongs to; without it this node cannot play on there. An older copy must not take its place: the "
        "node could contradict what it has said since."
    )


def _explained(path: Path, error: sqlite3.Error) -> JournalError:
    """What SQLite's `error` means for a person."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    match code & 0xFF:
        case sqlite3.SQLITE_FULL:
            return JournalError(
                f"The disk with the journal {path} is full. Free some space and start again; nothing that was recorded "
                "is lost."
            )
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return damaged(path, str(error))
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return JournalError(
                f"The journal {path} cannot be written ({error}). Make the file and its folder writable for the user "
                "who runs Rummesh."
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return JournalError(f"The journal {path} is held open by another program. Close that one and start again.")
        case _:
            return JournalError(
                f"The journal {path} cannot be used ({error}). Check the disk; nothing that was recorded is lost."
            )
