"""What journals, keys, pages and small files that must stay whole need of the file system."""

from __future__ import annotations

import fcntl
import os
import re
from pathlib import Path

from protocol.gamefile import SUFFIX


def sync_folder(folder: Path) -> None:
    """Returns when the names in `folder` are on the disk: a new file's bytes alone do not survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_whole(path: Path, text: str) -> None:
    """Returns when the file is on the disk; a power cut meanwhile leaves what was there before. Raises `OSError`."""
    fresh = path.with_name(path.name + ".new")
    with fresh.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    sync_folder(path.parent)


def put_aside(path: Path) -> Path:
    """Gives the file a name that is free, beside where it was."""
    number = 1
    while (aside := path.with_stem(f"{path.stem}-{number}")).exists():
        number += 1
    return path.rename(aside)


def take_lock(path: Path) -> int:
    """A descriptor that holds the lock on the file `path`, made with its folder if it is missing; close it to let go.

    Raises `BlockingIOError` if another process holds it, `OSError` if the file cannot be had. The file stays.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def game_file_name(table_name: str, date: str) -> str:
    """A name for the file of a table's game, such as `Kitchen-2026-01-31.rummesh`: no system or shell trips over it."""
    words = re.sub(r"[^\w\s-]", "", table_name).split()
    return "-".join((*(words or ["table"]), date)) + SUFFIX
