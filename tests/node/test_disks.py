"""A disk that fails in a game: nothing more is said, the player is told what to do, and then the game goes on."""

from __future__ import annotations

import contextlib
import platform
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.network.lab import Process
from tests.node.bots import ended, height_of, same_logs, start_bot, until
from tests.node.failing_disk import CALLS
from tests.node.journals import journal_of

SIZE_BYTES = 4_000_000
STANDS_S = 2.0


CAN_MOUNT = subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], check=False, capture_output=True)
NO_PRIVILEGE = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")  # so that modes hold for root too
needs_mount = pytest.mark.skipif(CAN_MOUNT.returncode != 0, reason="needs root, to mount a disk")
pytestmark = [
    pytest.mark.slow,
    needs_mount,
    pytest.mark.skipif(platform.machine() not in CALLS, reason="knows no system calls of this machine"),
]


@dataclass
class Table:
    """Two bots; the folder of the first, the victim, is on a small disk of its own."""

    folders: list[Path]
    bots: list[Process]  # all that were ever started

    def start_victim(self, failure: str = "sync EIO", *within: str) -> Process:
        """`failure`: what SIGUSR1 brings about. `within`: a command that runs it. The first time it opens the table."""
        rules = str(self.folders[1].parent / "long.toml")
        opening = () if height_of(self.folders[0]) else ("--open", "2", "--rules", rules)
        program = ("-m", "tests.node.failing_disk", *failure.split())
        self.bots.append(start_bot(self.folders[0], "--thinking", "0.05", *opening, program=program, within=within))
        return self.bots[-1]

    def goes_on(self) -> None:
        before = max(map(height_of, self.folders))
        until(lambda: min(map(height_of, self.folders)) > before + 2, f"the game goes on from {before}")
        same_logs(self.folders)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    folder = tmp_path_factory.mktemp("disks")
    (folder / "long.toml").write_text('base = "pt"\nrounds = 50\n')
    disk = folder / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE_BYTES}", "tmpfs", disk], check=True)
    try:
        with ended([]) as bots:
            bots.append(start_bot(folder / "other", "--thinking", "0.05"))
            yield Table([disk / "data", folder / "other"], bots)
    finally:
        subprocess.run(["umount", disk], check=True)


def fill(folder: Path) -> Callable[[], object]:
    """Leave no byte free on the disk of `folder`; what is returned frees them again."""
    filler = folder / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    return filler.unlink


@pytest.mark.parametrize(
    ("failure", "advice"),
    [
        ("full", "is full. Free some space and start again; nothing that was recorded is lost."),
        ("sync EIO", "cannot be used (disk I/O error). Check the disk; nothing that was recorded is lost."),
        ("write EROFS", "Check the disk; nothing that was recorded is lost."),
    ],
)
def test_disk_that_fails_in_a_game(table: Table, failure: str, advice: str) -> None:
    victim = table.start_victim("sync EIO" if failure == "full" else failure)
    table.goes_on()
    if failure == "full":
        heal = fill(table.folders[0])
    else:
        victim.send(signal.SIGUSR1)
        heal = victim.kill  # the failure ends with the process
    victim.wait_for(lambda lines: any("this table stands still" in line for line in lines))
    assert advice in victim.lines()[-1]
    time.sleep(1.0)  # what it had said before has arrived
    heights = [height_of(folder) for folder in table.folders]
    time.sleep(STANDS_S)
    assert victim.running()
    assert [height_of(folder) for folder in table.folders] == heights, "it votes no more, so nothing is agreed"
    same_logs(table.folders)
    victim.kill()
    heal()
    again = table.start_victim()
    table.goes_on()
    again.kill()
    assert not [line for line in again.lines() if "Traceback" in line or "evidence" in line]


def test_file_made_read_only_is_told_at_the_next_start(table: Table) -> None:
    """What is open stays writable, so the running game goes on."""
    victim = table.start_victim()
    table.goes_on()
    path = journal_of(table.folders[0])
    path.chmod(0o400)
    table.goes_on()
    victim.kill()
    victim = table.start_victim("sync EIO", *NO_PRIVILEGE)
    victim.wait_for(lambda lines: any("listens on port" in line for line in lines))
    told = [line for line in victim.lines() if "the last game is not taken up" in line]
    assert len(told) == 1
    assert "Make the file and its folder writable" in told[0]
    victim.kill()
    path.chmod(0o600)
    table.start_victim()
    table.goes_on()


@pytest.mark.parametrize("there_before", [True, False])
def test_read_only_data_folder_is_one_sentence_and_code_2(tmp_path: Path, there_before: bool) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    if there_before:
        (data / "node.lock").touch(mode=0o600)
    data.chmod(0o500)
    bot = start_bot(data, "--open", "2", within=NO_PRIVILEGE)
    until(lambda: not bot.running(), "its end")
    assert bot.kill() == 2
    assert len(bot.lines()) == 1
    assert str(data) in bot.lines()[0]
    assert "writable" in bot.lines()[0]
