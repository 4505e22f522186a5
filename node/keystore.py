"""The node's identity: one Ed25519 key in a file that only its owner can read.

The file holds the 32 bytes of the key's seed. A damaged one is never overwritten: the key is the node's name at every
table, and a new key under an old journal would be a stranger to the others.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from typing import Final

from nacl.signing import SigningKey

from node.clock import random_bytes
from node.files import sync_folder

FILE_NAME: Final = "identity.key"
_SEED_BYTES: Final = 32


class KeystoreError(Exception):
    """The identity cannot be had. The text is a sentence for the person who starts the node, and says what to do."""


class Identity:
    """A node's key pair. Shows only the start of the public key, wherever it is printed."""

    __slots__ = ("_key", "_node_id")

    def __init__(self, key: SigningKey) -> None:
        self._key = key
        self._node_id = bytes(key.verify_key)

    @property
    def node_id(self) -> bytes:
        """The public key, 32 bytes."""
        return self._node_id

    def sign(self, message: bytes) -> bytes:
        """The signature alone, 64 bytes."""
        return self._key.sign(message).signature

    def __repr__(self) -> str:
        return f"Identity({self._node_id.hex()[:8]})"

    def __reduce__(self) -> str:
        raise TypeError("an identity is not copied or pickled")


def load_or_create(folder: Path) -> Identity:
    """The identity that lives in `folder`; the first call makes folder and key. Raises `KeystoreError`."""
    path = folder / FILE_NAME
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise KeystoreError(f"The folder {folder} cannot be made: {error.strerror}. Choose another one.") from error
    _refuse_open_folder(folder)
    seed = _read(path)
    if seed is None:
        _create(path)
        seed = _read(path)
    if seed is None:
        raise KeystoreError(f"The identity {path} vanished while it was made. Start again.")
    return Identity(SigningKey(seed))


def _refuse_open_folder(folder: Path) -> None:
    """Whoever may write into the folder could exchange the key; whoever may only list it does no harm."""
    try:
        mode = folder.stat().st_mode
    except OSError as error:
        raise KeystoreError(f"The folder {folder} cannot be looked at: {error.strerror}.") from error
    if not stat.S_ISDIR(mode):
        raise KeystoreError(f"{folder} is not a folder. Move it away or choose another folder.")
    if mode & 0o022:
        raise KeystoreError(f"Others may write into the folder {folder}. Close it with: chmod 700 {folder}")


def _read(path: Path) -> bytes | None:
    """The key's seed, None if there is no such file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise KeystoreError(
            f"The identity {path} cannot be read: {error.strerror}. Give it back to the user who runs Rummesh, with "
            "mode 600."
        ) from error
    try:
        found = os.fstat(descriptor)
        data = os.read(descriptor, _SEED_BYTES + 1) if stat.S_ISREG(found.st_mode) else b""
    except OSError as error:
        raise KeystoreError(f"The identity {path} cannot be read: {error.strerror}. Restore it from a copy.") from error
    finally:
        os.close(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise KeystoreError(f"The identity {path} is not a file. Move it away; a new key is made at the next start.")
    if found.st_mode & 0o077:
        raise KeystoreError(f"Others can read the identity {path}. Close it with: chmod 600 {path}")
    if len(data) != _SEED_BYTES:
        raise KeystoreError(
            f"The identity {path} is damaged: it should hold {_SEED_BYTES} bytes and holds "
            f"{found.st_size}. Restore it from a copy, or move it away to play under a new key; the others will then "
            "take this node for a new one."
        )
    return data


def _create(path: Path) -> None:
    """Put a new key at `path`, whole or not at all; a key that somebody else put there meanwhile stays."""
    temporary = path.with_name(f".{path.name}.{random_bytes(8).hex()}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                os.fchmod(descriptor, 0o600)  # the umask may have taken away even the owner's rights
                file.write(random_bytes(_SEED_BYTES))
                file.flush()
                os.fsync(descriptor)
            with contextlib.suppress(FileExistsError):
                os.link(temporary, path)  # unlike a rename, never replaces
        finally:
            temporary.unlink()
        sync_folder(path.parent)
    except OSError as error:
        raise KeystoreError(
            f"The identity {path} cannot be made: {error.strerror}. Make its folder writable for the user who runs "
            "Rummesh, or choose another one."
        ) from error
