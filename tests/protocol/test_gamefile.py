"""Game files: the same bytes for the same log, and a clear word about bytes that are none."""

from __future__ import annotations

import dataclasses
from dataclasses import replace

import pytest

from engine.rulesets import PT
from node.simulation import SimulatedTable
from protocol.codec import encode, pack, unpack
from protocol.dealing.secret_deal import secret_dealer
from protocol.events import EvidenceFound
from protocol.gamefile import (
    MAX_FILE_BYTES,
    Accusation,
    Deal,
    GameFile,
    GameFileError,
    deal_of,
    game_file_of,
    read_game_file,
)
from protocol.log import Committed


@pytest.fixture(scope="module")
def log() -> list[Committed]:
    """The log of a table dealt openly, as its first node has it."""
    table = SimulatedTable(PT, 2, 1)
    table.run()
    return table.nodes[0].session.log


def found(node: int, *messages: bytes) -> EvidenceFound:
    return EvidenceFound(bytes([node]) * 32, "a reason", messages)


def test_a_file_holds_the_log_and_the_accusations_in_one_order(log: list[Committed]) -> None:
    accusations = [found(2, b"b", b"c"), found(1, b"a"), found(2, b"b", b"c")]
    data = game_file_of(log, accusations)
    assert data == game_file_of(list(log), accusations[::-1])
    file = read_game_file(data)
    assert (file.magic, file.version, file.deal) == ("rummesh game", 1, Deal.OPEN)
    assert file.log == tuple(log)
    assert file.accusations == (Accusation(b"\x01" * 32, (b"a",)), Accusation(b"\x02" * 32, (b"b", b"c")))
    assert encode(file) == data


def test_the_first_part_says_how_the_tiles_were_dealt(log: list[Committed]) -> None:
    assert deal_of(log) is Deal.OPEN
    assert deal_of(log[:1]) is Deal.NONE
    secret = SimulatedTable(PT, 2, 1, secret_dealer)
    next(step for step in secret.steps() if secret.nodes[0].session.height > 1)
    assert deal_of(secret.nodes[0].session.log) is Deal.SECRET


def test_the_format_is_an_array_that_begins_with_magic_and_version(log: list[Committed]) -> None:
    data = game_file_of(log[:2])
    assert data.startswith(b"\x95\xacrummesh game\x01\xa4open\x92")
    assert [field.name for field in dataclasses.fields(GameFile)] == ["magic", "version", "deal", "log", "accusations"]


def test_what_is_no_game_file_is_said_so(log: list[Committed]) -> None:
    file = read_game_file(game_file_of(log[:3], [found(1, b"a"), found(2, b"b")]))
    data = encode(file)
    plain = unpack(data)
    wrong = {
        b"": "not a game file",
        b"PK\x03\x04 something else": "not a game file",
        encode(replace(file, magic="rummesh gamf")): "not a game file",
        encode(replace(file, version=2)): "version 2",
        pack([*plain, 0]): "damaged",
        pack(["rummesh game", 2]): "version 2",
        data[:20]: "damaged",
        data[:-1]: "damaged",
        data + b"\x00": "damaged",
        encode(replace(file, log=())): "no entries",
        encode(replace(file, accusations=file.accusations[::-1])): "not in order",
        encode(replace(file, accusations=file.accusations[:1] * 2)): "not in order",
    }
    for bad, said in wrong.items():
        with pytest.raises(GameFileError, match=said):
            read_game_file(bad)
    with pytest.raises(GameFileError, match="over 64 MB"):
        read_game_file(data + bytes(MAX_FILE_BYTES))


def test_a_log_that_cannot_be_a_file_is_refused(log: list[Committed]) -> None:
    with pytest.raises(ValueError, match="genesis"):
        game_file_of([])
    huge = replace(log[0], attachments=(bytes(MAX_FILE_BYTES),))
    with pytest.raises(ValueError, match="at most"):
        game_file_of([huge])
