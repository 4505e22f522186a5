"""The game file: the whole log of a table, so that anybody can check later how it was played. docs/game-files.md.

It holds what every seat's machine holds and nothing secret. Writing the same log twice gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from protocol.codec import NodeId, decode, encode, pack
from protocol.dealing.keys import COMMIT_BYTES
from protocol.envelope import open_envelope
from protocol.errors import DecodeError, RemoteProtocolError
from protocol.events import EvidenceFound
from protocol.log import Committed
from protocol.messages import DealPart, PartKind

MAGIC: Final = "rummesh game"
VERSION: Final = 1
SUFFIX: Final = ".rummesh"
MAX_FILE_BYTES: Final = 64 * 1024 * 1024


class Deal(Enum):
    """How the tiles of a table were dealt."""

    SECRET = "secret"  # noqa: S105 - the word
    OPEN = "open"  # every tile known to everybody: simulation only
    NONE = "none"  # the log ends before the first deck was agreed


@dataclass(frozen=True, slots=True)
class Accusation:
    """Signed messages that a machine at the table kept because they show that `node` broke the rules."""

    node: NodeId
    messages: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class GameFile:
    """What a game file holds, in this order. `accusations` are in rising order, each once."""

    magic: str
    version: int
    deal: Deal
    log: tuple[Committed, ...]
    accusations: tuple[Accusation, ...]


class GameFileError(Exception):
    """The bytes are no game file that this program can read. The text is a sentence for a person."""


def game_file_of(log: Sequence[Committed], evidence: Iterable[EvidenceFound] = ()) -> bytes:
    """The game file of a table with this log, finished or not. Raises `ValueError` for an empty log or a huge one."""
    if not log:
        raise ValueError("a log begins with its genesis")
    accusations = {Accusation(found.node, found.evidence) for found in evidence}
    data = encode(GameFile(MAGIC, VERSION, deal_of(log), tuple(log), _in_order(accusations)))
    if len(data) > MAX_FILE_BYTES:
        raise ValueError(f"expected a game file of at most {MAX_FILE_BYTES} bytes, got {len(data)}")
    return data


def read_game_file(data: bytes) -> GameFile:
    """The game file in `data`, its form checked and nothing else. Raises `GameFileError`."""
    if len(data) > MAX_FILE_BYTES:
        raise GameFileError(f"This is too large for a game file: over {MAX_FILE_BYTES // 2**20} MB.")
    magic = pack(MAGIC)
    if not data or data[0] & 0xF0 != 0x90 or data[1 : 1 + len(magic)] != magic:
        raise GameFileError("This is not a game file of Rummesh.")
    version = data[1 + len(magic) : 2 + len(magic)]
    if version and version != pack(VERSION):
        raise GameFileError(
            f"This game file has format version {version[0]}, this program reads {VERSION}. Install another Rummesh."
        )
    try:
        file = decode(GameFile, data, MAX_FILE_BYTES)
    except DecodeError as error:
        raise GameFileError(f"This game file is damaged: {error}. Get it again from who made it.") from error
    if not file.log:
        raise GameFileError("This game file is damaged: it holds no entries. Get it again from who made it.")
    if file.accusations != _in_order(set(file.accusations)):
        raise GameFileError("This game file is damaged: its evidence is not in order. Get it again from who made it.")
    return file


def deal_of(log: Sequence[Committed]) -> Deal:
    """How the tiles were dealt, as the first part of the first deal shows by its length. Nothing is verified."""
    first = next((committed.attachments[0] for committed in log if committed.attachments), None)
    if first is None:
        return Deal.NONE
    try:
        part = open_envelope(first).body
    except RemoteProtocolError:
        return Deal.NONE
    if not isinstance(part, DealPart) or part.kind is not PartKind.KEY_COMMIT:
        return Deal.NONE
    return Deal.SECRET if len(part.payload) == COMMIT_BYTES else Deal.OPEN


def _in_order(accusations: set[Accusation]) -> tuple[Accusation, ...]:
    return tuple(sorted(accusations, key=lambda found: (found.node, found.messages)))
