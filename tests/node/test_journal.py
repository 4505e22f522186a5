"""The journal: what was appended stays, also after kill -9; what cannot be used is refused and left as it is."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from node.journal import APPLICATION_ID, FORMAT, DamagedJournal, Journal, JournalError, JournalRecord, set_aside

ROOT = Path(__file__).parent.parent.parent
MEMORY = Path("/dev/shm")
WRITER = """
import sys
from pathlib import Path
from node.journal import Journal, JournalRecord
journal = Journal.open(Path(sys.argv[1]))
number = int(sys.argv[2])
while True:
    journal.append([JournalRecord("own", number, bytes([part]) * 3000, 1.5) for part in range(3)])
    print(number, flush=True)
    number += 1
"""


def record(height: int, data: bytes = b"data", kind: str = "own") -> JournalRecord:
    return JournalRecord(kind, height, data, 1234.5)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "journal.sqlite"


def all_of(path: Path) -> list[JournalRecord]:
    with contextlib.closing(Journal.open(path)) as journal:
        return list(journal.records())


def test_records_come_back_in_order_at_the_next_start(path: Path) -> None:
    expected = [record(5), record(-1, b"", "secret"), record(5, bytes(1000), "committed")]
    with contextlib.closing(Journal.open(path)) as journal:
        assert list(journal.records()) == []
        journal.append(expected[:1])
        journal.append(expected[1:])
        journal.append([])
        assert list(journal.records()) == expected
    assert all_of(path) == expected


def test_many_records_are_read_whole_while_others_are_appended(path: Path) -> None:
    expected = [record(height) for height in range(1000)]
    with contextlib.closing(Journal.open(path)) as journal:
        journal.append(expected[:512])
        read = []
        for found in journal.records():
            if found.height == 100:
                journal.append(expected[512:])
            read.append(found)
    assert read == expected


def test_records_appended_by_several_threads_are_all_there(path: Path) -> None:
    with contextlib.closing(Journal.open(path)) as journal:
        threads = [threading.Thread(target=journal.append, args=([record(n), record(n)],)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        heights = [found.height for found in journal.records()]
    assert sorted(heights) == sorted([*range(8), *range(8)])
    assert heights[::2] == heights[1::2]


def test_file_is_a_marked_write_ahead_journal_closed_to_others(path: Path) -> None:
    with contextlib.closing(Journal.open(path)) as journal:
        journal.append([record(1)])
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
        (synchronous,) = journal._connection.execute("PRAGMA synchronous").fetchone()
    assert set(modes.values()) == {0o600}
    assert "journal.sqlite-wal" in modes
    assert synchronous == 2  # FULL
    with contextlib.closing(sqlite3.connect(path)) as connection:
        pragmas = [
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version", "journal_mode")
        ]
    assert pragmas == [APPLICATION_ID, FORMAT, "wal"]


def test_repr_of_a_record_hides_its_data() -> None:
    assert "secret words" not in repr(record(1, b"secret words"))


def test_append_is_all_or_nothing(path: Path) -> None:
    with contextlib.closing(Journal.open(path)) as journal:
        with pytest.raises(JournalError):
            journal.append([record(1), JournalRecord(None, 2, b"", 0.0)])  # type: ignore[arg-type] # what NOT NULL refuses
        journal.append([record(3)])
    assert all_of(path) == [record(3)]


def test_killed_writer_loses_nothing_whose_append_returned(path: Path) -> None:
    started = 0
    for acknowledged in (1, 7, 20, 33):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), str(started)], stdout=subprocess.PIPE, cwd=ROOT, text=True
        )
        assert writer.stdout is not None
        with writer, writer.stdout:
            for _ in range(acknowledged):
                assert writer.stdout.readline()
            writer.send_signal(signal.SIGKILL)
            returned = started + acknowledged + len(writer.stdout.read().splitlines())
        assert writer.returncode == -signal.SIGKILL
        found = all_of(path)
        whole = len(found) // 3
        assert returned <= whole <= returned + 1  # the last one may have been written and not yet reported
        assert found == [
            JournalRecord("own", number, bytes([part]) * 3000, 1.5) for number in range(whole) for part in range(3)
        ]
        started = whole


def test_second_opening_is_refused_until_the_first_is_closed(path: Path) -> None:
    with contextlib.closing(Journal.open(path)) as journal:
        journal.append([record(1)])
        with pytest.raises(JournalError, match="in use by another Rummesh"):
            Journal.open(path)
        second = subprocess.run(
            [sys.executable, "-c", WRITER, str(path), "2"], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert second.returncode == 1
        assert "in use by another Rummesh" in second.stderr
    assert all_of(path) == [record(1)]


def test_closed_journal_refuses_and_closes_again_quietly(path: Path) -> None:
    journal = Journal.open(path)
    journal.close()
    journal.close()
    with pytest.raises(ValueError, match="closed"):
        journal.append([record(1)])


def test_erased_kind_is_gone_from_all_files(path: Path) -> None:
    secret = b"\xfe\xed\xfa\xce" * 2500
    with contextlib.closing(Journal.open(path)) as journal:
        journal.append([record(1), record(2, secret, "secret"), record(3)])
        assert any(secret[:100] in file.read_bytes() for file in path.parent.iterdir())
        journal.erase("secret")
        assert not any(secret[:16] in file.read_bytes() for file in path.parent.iterdir())
        journal.append([record(4)])
        assert [found.height for found in journal.records()] == [1, 3, 4]
    assert [found.height for found in all_of(path)] == [1, 3, 4]


def fill(path: Path) -> bytes:
    with contextlib.closing(Journal.open(path)) as journal:
        journal.append([record(height, bytes(3000)) for height in range(20)])
    return path.read_bytes()


@pytest.mark.parametrize("damage", ["empty", "text", "cut", "middle", "first page"])
def test_damaged_file_is_refused_and_left_as_it_is(path: Path, damage: str) -> None:
    whole = fill(path)
    broken = {
        "empty": b"",
        "text": b"something else entirely\n" * 100,
        "cut": whole[: len(whole) // 2],
        "middle": whole[:4096] + b"\xff" * 4096 + whole[8192:],
        "first page": whole[:100] + b"\xff" * 3996 + whole[4096:],
    }[damage]
    path.write_bytes(broken)
    with pytest.raises(JournalError, match="damaged"):
        Journal.open(path)
    assert path.read_bytes() == broken


def test_other_program_s_database_is_refused_and_left_as_it_is(path: Path) -> None:
    path.parent.mkdir()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE records (seq)")
        connection.commit()
    path.chmod(0o600)
    before = path.read_bytes()
    with pytest.raises(JournalError, match="not a journal of Rummesh"):
        Journal.open(path)
    assert path.read_bytes() == before


def test_newer_version_is_refused_and_left_as_it_is(path: Path) -> None:
    fill(path)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version={FORMAT + 1}")
    before = path.read_bytes()
    with pytest.raises(JournalError, match="newer Rummesh"):
        Journal.open(path)
    assert path.read_bytes() == before


def test_older_version_is_refused_and_left_as_it_is(path: Path) -> None:
    fill(path)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version=1")
    before = path.read_bytes()
    with pytest.raises(JournalError, match="older Rummesh"):
        Journal.open(path)
    assert path.read_bytes() == before


def test_changed_record_is_found(path: Path) -> None:
    """The database notices nothing where only the bytes of a record have changed."""
    with contextlib.closing(Journal.open(path)) as journal:
        journal.append([record(height, bytes([height]) * 100) for height in range(1, 4)])
    whole = path.read_bytes()
    place = whole.index(bytes([2]) * 100)
    path.write_bytes(whole[: place + 50] + b"\x03" + whole[place + 51 :])
    with contextlib.closing(Journal.open(path)) as journal, pytest.raises(DamagedJournal, match="record 2 is not what"):
        list(journal.records())


def test_journal_put_aside_keeps_its_bytes_and_makes_room(path: Path) -> None:
    kept = []
    for number in range(2):
        with contextlib.closing(Journal.open(path)) as journal:
            journal.append([record(number)])
        path.with_name(path.name + "-wal").write_bytes(b"log")
        kept.append((path.read_bytes(), set_aside(path)))
    assert [aside.name for _, aside in kept] == ["journal.sqlite.damaged-1", "journal.sqlite.damaged-2"]
    assert all(aside.read_bytes() == held for held, aside in kept)
    assert all(aside.with_name(aside.name + "-wal").read_bytes() == b"log" for _, aside in kept)
    assert all_of(path) == []


def test_log_without_its_journal_is_refused(path: Path) -> None:
    with contextlib.closing(Journal.open(path)) as journal:
        journal.append([record(1)])
        log = path.with_name(path.name + "-wal")
        kept = log.read_bytes()
    path.unlink()
    log.write_bytes(kept)
    with pytest.raises(JournalError, match="damaged"):
        Journal.open(path)
    assert not path.exists()


def test_leftovers_of_a_crash_while_making_a_journal_do_no_harm(path: Path) -> None:
    path.parent.mkdir()
    path.with_name(path.name + ".new").write_bytes(b"half")
    path.with_name(path.name + ".new-journal").write_bytes(b"half")
    assert all_of(path) == []


def test_journal_open_to_others_is_refused_with_the_remedy(path: Path) -> None:
    fill(path)
    path.chmod(0o640)
    with pytest.raises(JournalError, match="chmod 600"):
        Journal.open(path)


def test_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(JournalError, match="choose another one"):
        Journal.open(tmp_path / "file" / "journal.sqlite")


def test_full_file_refuses_the_append_and_takes_the_next(path: Path) -> None:
    with contextlib.closing(Journal.open(path)) as journal:
        journal.append([record(1)])
        journal._connection.execute("PRAGMA max_page_count=10")
        with pytest.raises(JournalError, match=r"full\. Free some space"):
            journal.append([record(2), record(3, bytes(100_000))])
        journal.append([record(4)])
    assert all_of(path) == [record(1), record(4)]


def test_log_cut_anywhere_holds_whole_transactions_only(path: Path) -> None:
    """What a power cut may leave: the log up to any byte. Small pages, so that each transaction has several."""
    Journal.open(path).close()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.execute("PRAGMA page_size=512")
        connection.execute("VACUUM")
    log = path.with_name(path.name + "-wal")
    ends: list[int] = []  # of the log after each transaction
    with contextlib.closing(Journal.open(path)) as journal:
        for number in range(3):
            journal.append([record(number, bytes([number, part]) * 150) for part in range(2)])
            ends.append(log.stat().st_size)
        whole_file, whole_log = path.read_bytes(), log.read_bytes()
    assert len(whole_log) == ends[-1]
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:  # thousands of openings
        copy = Path(folder) / "journal"
        for cut in range(ends[0] - 1, ends[-1] + 1):
            copy.write_bytes(whole_file)
            copy.chmod(0o600)
            copy.with_name("journal-wal").write_bytes(whole_log[:cut])
            found = all_of(copy)
            whole = sum(end <= cut for end in ends)
            assert [(one.height, one.data[:2]) for one in found] == [
                (number, bytes([number, part])) for number in range(whole) for part in range(2)
            ], f"cut after byte {cut}"


def in_mount_namespace(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["unshare", "-m", "sh", "-ec", script], cwd=ROOT, capture_output=True, text=True, check=False)


needs_mount = pytest.mark.skipif(
    os.geteuid() != 0 or in_mount_namespace("true").returncode != 0, reason="needs root and mount namespaces"
)


@needs_mount
def test_really_full_disk_loses_nothing(tmp_path: Path) -> None:
    code = f"""
from pathlib import Path
from node.journal import Journal, JournalError, JournalRecord
path = Path("{tmp_path}/j")
journal = Journal.open(path)
count = 0
try:
    while True:
        journal.append([JournalRecord("own", count, bytes(2000), 0.0)])
        count += 1
except JournalError as error:
    print(error)
journal.close()
Path("{tmp_path}/filler").unlink()
journal = Journal.open(path)
print([record.height for record in journal.records()] == list(range(count)), count > 10)
journal.append([JournalRecord("own", count, bytes(2000), 0.0)])
journal.close()
"""
    script = f"mount -t tmpfs -o size=1m tmpfs {tmp_path}; head -c 600000 /dev/zero >{tmp_path}/filler; "
    done = in_mount_namespace(f"{script} {sys.executable} - <<'END'\n{code}\nEND")
    assert done.returncode == 0, done.stderr
    assert "full. Free some space" in done.stdout
    assert done.stdout.splitlines()[-1] == "True True"


@needs_mount
def test_read_only_folder_is_refused(tmp_path: Path) -> None:
    code = f"""
from pathlib import Path
from node.journal import Journal, JournalError
try:
    Journal.open(Path("{tmp_path}/j"))
except JournalError as error:
    print(error)
"""
    script = f"mount -t tmpfs tmpfs {tmp_path}; mount -o remount,ro {tmp_path};"
    done = in_mount_namespace(f"{script} {sys.executable} - <<'END'\n{code}\nEND")
    assert done.returncode == 0, done.stderr
    assert "Make the folder" in done.stdout
