"""The identity's file: made once, closed to others, never replaced."""

from __future__ import annotations

import copy
import os
import pickle
import pwd
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from nacl.signing import SigningKey, VerifyKey

from node.keystore import FILE_NAME, Identity, KeystoreError, _create, load_or_create


def test_identity_stays_the_same_at_the_next_start(tmp_path: Path) -> None:
    first = load_or_create(tmp_path / "new" / "folder")
    again = load_or_create(tmp_path / "new" / "folder")
    assert first.node_id == again.node_id
    assert len(first.node_id) == 32


def test_two_folders_hold_two_identities(tmp_path: Path) -> None:
    assert load_or_create(tmp_path / "a").node_id != load_or_create(tmp_path / "b").node_id


def test_new_identity_is_closed_to_others_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o000)
    try:
        load_or_create(tmp_path / "folder")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "folder").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "folder" / FILE_NAME).stat().st_mode) == 0o600
    assert [path.name for path in (tmp_path / "folder").iterdir()] == [FILE_NAME]


def test_signature_is_64_bytes_and_verifies_under_the_node_id() -> None:
    identity = Identity(SigningKey(bytes(32)))
    signature = identity.sign(b"message")
    assert len(signature) == 64
    assert VerifyKey(identity.node_id).verify(b"message", signature) == b"message"


def test_repr_shows_eight_digits_of_the_public_key_only() -> None:
    identity = Identity(SigningKey(bytes(range(32))))
    assert repr(identity) == f"Identity({identity.node_id.hex()[:8]})"


def test_identity_cannot_be_copied_or_pickled() -> None:
    identity = Identity(SigningKey(bytes(32)))
    with pytest.raises(TypeError):
        pickle.dumps(identity)
    with pytest.raises(TypeError):
        copy.copy(identity)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o620])
def test_identity_open_to_others_is_refused_with_the_remedy(tmp_path: Path, mode: int) -> None:
    load_or_create(tmp_path)
    (tmp_path / FILE_NAME).chmod(mode)
    with pytest.raises(KeystoreError, match=r"chmod 600 "):
        load_or_create(tmp_path)


def test_folder_that_others_may_write_is_refused_with_the_remedy(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(KeystoreError, match=r"chmod 700 "):
        load_or_create(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"\1" * 31, b"\1" * 33])
def test_damaged_identity_is_refused_and_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / FILE_NAME
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(KeystoreError, match="damaged"):
        load_or_create(tmp_path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("kind", ["folder", "pipe", "link"])
def test_something_else_in_the_identity_s_place_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / FILE_NAME
    if kind == "folder":
        path.mkdir(mode=0o700)
    elif kind == "pipe":
        os.mkfifo(path, mode=0o600)
    else:
        path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(KeystoreError):
        load_or_create(tmp_path)
    assert path.is_symlink() or path.exists()
    assert not (tmp_path / "elsewhere").exists()


def test_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(KeystoreError, match="Choose another one"):
        load_or_create(tmp_path / "file" / "folder")
    with pytest.raises(KeystoreError):
        load_or_create(tmp_path / "file")


def test_key_that_another_start_has_made_meanwhile_stays(tmp_path: Path) -> None:
    first = load_or_create(tmp_path)
    _create(tmp_path / FILE_NAME)
    assert load_or_create(tmp_path).node_id == first.node_id
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


@pytest.fixture
def folder_of_a_user() -> Iterator[Path]:
    """A folder whose owner is not root, and this process as its owner."""
    with tempfile.TemporaryDirectory() as name:
        if os.geteuid() != 0:
            yield Path(name)
            return
        nobody = pwd.getpwnam("nobody").pw_uid
        os.chown(name, nobody, -1)
        os.seteuid(nobody)
        try:
            yield Path(name)
        finally:
            os.seteuid(0)


def test_unreadable_identity_and_closed_folder_are_refused(folder_of_a_user: Path) -> None:
    load_or_create(folder_of_a_user)
    (folder_of_a_user / FILE_NAME).chmod(0o000)
    with pytest.raises(KeystoreError, match="cannot be read"):
        load_or_create(folder_of_a_user)
    (folder_of_a_user / "closed").mkdir(mode=0o500)
    with pytest.raises(KeystoreError, match="cannot be made"):
        load_or_create(folder_of_a_user / "closed")
