"""Game files on the command line: `simulate --save`, `games list`, `games export`, `verify`."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from engine.rulesets import ES, RuleSet
from node.__main__ import main
from node.journal import Journal, JournalRecord, read_beside
from node.simulation import SimulatedTable
from protocol.audit.audit import audit
from protocol.audit.report import fingerprint
from protocol.codec import encode
from protocol.dealing.open_deal import open_dealer
from protocol.dealing.secret_deal import secret_dealer
from protocol.envelope import open_envelope, seal
from protocol.events import EvidenceFound
from protocol.game import genesis_committed
from protocol.gamefile import game_file_of, read_game_file
from protocol.messages import DealPart, Prevote
from protocol.outputs import RecordKind
from protocol.session import Record, Session

SMALL = replace(ES, hand=3)
DAY_S = 86400.0
BEGAN_S = 20000.5 * DAY_S  # noon in Greenwich


def rummesh(*arguments: str | Path, given: bytes | None = None) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=given)


@cache
def played(rules: RuleSet = SMALL, seed: int = 1, secret: bool = True) -> tuple[Session, tuple[Record, ...]]:
    """A session that has finished its table, and what is in its journal."""
    table = SimulatedTable(rules, 2, seed, secret_dealer if secret else open_dealer)
    table.run()
    node = table.nodes[0]
    return node.session, tuple(node.journal)


def journal_at(data: Path, records: tuple[Record, ...], session: Session, day: int = 0) -> Path:
    """The journal of a table that began on that day, closed again."""
    path = data / "tables" / f"{session.table.hex()}.journal"
    with contextlib.closing(Journal.open(path)) as journal:
        when_s = BEGAN_S + day * DAY_S
        journal.append([JournalRecord(r.kind.value, r.height, r.data, when_s + r.when_s) for r in records])
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with a finished game, one that goes on a day later, and one left on the third day."""
    folder = tmp_path / "data"
    session, records = played()
    journal_at(folder, records, session)
    session, records = played(replace(SMALL, rounds=2), 2, secret=False)
    journal_at(folder, records[: len(records) // 2], session, day=1)
    session, records = played(SMALL, 3, secret=False)
    closed = (*records[: len(records) // 2], Record(RecordKind.CLOSED, 9, b"", 100.0))
    journal_at(folder, closed, session, day=2)
    return folder


def listed(data: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(rummesh("games", "list", "--json", "--data", data).stdout)
    return found


# What was played


def test_games_are_listed_with_the_newest_first(data: Path) -> None:
    rows = listed(data)
    assert [(row["name"], row["state"]) for row in rows] == [
        ("seed 3", "left"),
        ("seed 2", "unfinished"),
        ("seed 1", "finished"),
    ]
    assert [row["date"] for row in rows] == ["2024-10-06", "2024-10-05", "2024-10-04"]
    session, _records = played()
    report = audit(game_file_of(session.log))
    assert rows[2]["totals"] == list(report.standing.totals)
    assert rows[2]["winners"] == [report.players[seat].name for seat in report.standing.winners]
    assert rows[2]["players"] == [player.name for player in report.players]
    assert (rows[2]["rules"], rows[2]["house_rules"], rows[2]["entries"]) == ("es", {"hand": 3}, len(session.log))
    assert rows[2]["id"] == session.table.hex()
    shown = rummesh("games", "list", "--data", data).stdout
    assert [word in shown for word in ("seed 1", "es +", "finished", "left")] == [True] * 4


def test_an_empty_folder_and_none_at_all(tmp_path: Path) -> None:
    result = rummesh("games", "list", "--data", tmp_path)
    assert (result.exit_code, result.stdout) == (0, "No games found.\n")
    result = rummesh("games", "list", "--data", tmp_path / "nowhere")
    assert (result.exit_code, "--data" in result.stderr) == (2, True)


def test_a_journal_that_cannot_be_read_is_told_and_the_others_are_listed(data: Path) -> None:
    (data / "tables" / "00.journal").write_bytes(b"no journal")
    with contextlib.closing(Journal.open(data / "tables" / "01.journal")) as journal:
        journal.append([JournalRecord(RecordKind.COMMITTED.value, 0, b"?", 0.0)])
    with contextlib.closing(Journal.open(data / "tables" / "02.journal")) as journal:
        journal.append([JournalRecord(RecordKind.DRAFT.value, 0, b"a lobby", 0.0)])
    result = rummesh("games", "list", "--json", "--data", data)
    assert (result.exit_code, len(json.loads(result.stdout))) == (0, 3)
    assert "00.journal is damaged" in result.stderr
    assert "01.journal holds what this version does not know" in result.stderr
    assert "02.journal" not in result.stderr


def test_a_log_that_does_not_replay_is_listed_as_unreadable(tmp_path: Path) -> None:
    session, records = played()
    committed = [record for record in records if record.kind is RecordKind.COMMITTED]
    journal_at(tmp_path, (*committed[:4], *committed[5:]), session)
    assert [row["state"] for row in listed(tmp_path)] == ["unreadable"]


def test_listing_and_export_work_beside_a_running_node_and_change_nothing(data: Path, tmp_path: Path) -> None:
    session, records = played()
    path = data / "tables" / f"{session.table.hex()}.journal"
    with contextlib.closing(Journal.open(path)) as journal:
        journal.append([JournalRecord("own", 99, b"just now", BEGAN_S)])
        assert len(listed(data)) == 3
        assert rummesh("games", "export", "seed 1", "--data", data, "--out", tmp_path / "x").exit_code == 0
        assert [record.data for record in read_beside(path, ["own"])][-1] == b"just now"
        journal.append([JournalRecord("own", 100, b"and on", BEGAN_S)])
        assert len(list(journal.records())) == len(records) + 2


# The file


def test_an_exported_file_is_the_log_and_holds_no_secret(data: Path, tmp_path: Path) -> None:
    session, records = played()
    out = tmp_path / "game.rummesh"
    result = rummesh("games", "export", "seed 1", "--data", data, "--out", out)
    assert result.exit_code == 0
    assert f"rummesh verify {out}" in result.stdout
    assert out.read_bytes() == game_file_of(session.log)
    secrets = [record.data for record in records if record.kind is RecordKind.SECRET and record.data]
    assert secrets
    assert not any(secret[at : at + 32] in out.read_bytes() for secret in secrets for at in (0, 32))
    assert rummesh("verify", out).exit_code == 0
    piped = rummesh("games", "export", session.table.hex()[:6], "--data", data, "--out", "-")
    assert piped.stdout_bytes == out.read_bytes()
    assert rummesh("verify", "-", given=piped.stdout_bytes).exit_code == 0


def test_an_exported_file_holds_the_evidence(tmp_path: Path) -> None:
    session, records = played()
    found = EvidenceFound(session.signer.node_id, "", session.log[2].certificate[:1])
    kept = Record(RecordKind.EVIDENCE, 3, encode(found), 100.0)
    journal_at(tmp_path, (*records[:-1], kept, *records[-1:]), session)
    exported = rummesh("games", "export", "seed 1", "--data", tmp_path, "--out", "-")
    assert exported.stdout_bytes == game_file_of(session.log, [found])


def test_the_usual_name_is_that_of_table_and_day_and_nothing_is_overwritten(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert rummesh("games", "export", "seed 2", "--data", data).exit_code == 0
    file = tmp_path / "seed-2-2024-10-05.rummesh"
    right = file.read_bytes()
    file.write_bytes(b"mine")
    again = rummesh("games", "export", "seed 2", "--data", data)
    assert (again.exit_code, file.read_bytes()) == (2, b"mine")
    assert "--force" in again.stderr
    assert rummesh("games", "export", "seed 2", "--data", data, "--force").exit_code == 0
    assert file.read_bytes() == right
    nowhere = rummesh("games", "export", "seed 2", "--data", data, "--out", tmp_path / "no" / "folder")
    assert (nowhere.exit_code, "Could not open file" in nowhere.stderr) == (1, True)


def test_a_table_that_is_not_there_or_not_the_only_one_is_asked_for_again(data: Path) -> None:
    missing = rummesh("games", "export", "Kitchen", "--data", data)
    assert missing.exit_code == 2
    assert all(f"seed {number}" in missing.stderr for number in (1, 2, 3))
    session, _records = played()
    assert session.genesis is not None
    twin = encode(genesis_committed(replace(session.genesis, table=bytes(16)), ()))
    with contextlib.closing(Journal.open(data / "tables" / f"{bytes(16).hex()}.journal")) as journal:
        journal.append([JournalRecord(RecordKind.COMMITTED.value, 0, twin, BEGAN_S)])
    several = rummesh("games", "export", "seed 1", "--data", data)
    assert (several.exit_code, "Several tables" in several.stderr) == (2, True)
    assert several.stderr.count("seed 1") == 3
    assert rummesh("games", "export", "0000", "--data", data, "--out", data / "twin").exit_code == 0
    assert rummesh("games", "export", "", "--data", data).exit_code == 2


@pytest.mark.parametrize("deal", ["secret", "open"])
def test_every_file_that_a_simulation_saves_is_right(deal: str, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    options = ("--games", "2", "--seats", "2", "--rules", "es", "--deal", deal, "--save", folder)
    assert rummesh("simulate", *options).exit_code == 0
    files = sorted(folder.iterdir())
    assert [file.name for file in files] == [f"es-2-seats-{deal}-{seed}.rummesh" for seed in (0, 1)]
    for file in files:
        plain = json.loads(rummesh("verify", file, "--json").stdout)
        assert (plain["ok"], plain["deal"], plain["finished"]) == (True, deal, True)
    first = files[0].read_bytes()
    assert rummesh("simulate", *options).exit_code == 0
    assert files[0].read_bytes() == first


# What verify says


def test_verify_says_in_words_what_was_checked_and_who_won(tmp_path: Path) -> None:
    session, _records = played()
    report = audit(game_file_of(session.log))
    file = tmp_path / "game.rummesh"
    file.write_bytes(game_file_of(session.log))
    result = rummesh("verify", file, "--second-opinion")
    assert result.exit_code == 0
    said = result.stdout
    winner, (points, others) = report.players[report.standing.winners[0]].name, report.standing.totals
    assert f"won by {winner}" in said
    assert f"Points: Bot 1 {points}, Bot 2 {others}." in said or f"Points: Bot 2 {points}, Bot 1 {others}." in said
    assert "All right: seed 1, Spanish rummy with cards" in said
    assert "House rules: hand = 3" in said
    assert "every proof was checked and again in plain Python" in said
    assert f"{len(session.log)} entries" in said
    assert f"{report.signatures} signatures" in said
    assert f"shuffles: {report.checks['shuffle']}" in said
    assert "OPENLY" not in said


def test_verify_says_aloud_that_tiles_were_dealt_openly_and_where_a_file_ends() -> None:
    session, _records = played(SMALL, 1, secret=False)
    said = rummesh("verify", "-", given=game_file_of(session.log)).stdout
    assert "DEALT OPENLY: THE TILES WERE NOT SECRET" in said
    assert "proofs" not in said
    said = rummesh("verify", "-", given=game_file_of(session.log[:2])).stdout
    assert "The file ends while the call racks is open." in said
    assert "The series is not finished." in said
    assert "Nothing was dealt yet." in rummesh("verify", "-", given=game_file_of(session.log[:1])).stdout


def test_verify_as_json_is_the_report() -> None:
    session, _records = played()
    report = audit(game_file_of(session.log))
    plain = json.loads(rummesh("verify", "-", "--json", given=game_file_of(session.log)).stdout)
    assert plain["ok"] is True
    assert plain["table"]["id"] == session.table.hex()
    assert len(plain["table"]["words"].split()) == 4
    assert [player["key"] for player in plain["players"]] == [player.node.hex() for player in report.players]
    assert (plain["entries"], plain["checks"]) == (report.entries, report.checks)
    assert (plain["signatures"], plain["height"]) == (report.signatures, report.height)
    assert plain["totals"] == list(report.standing.totals)
    assert plain["games"][0]["scores"] == plain["totals"]
    assert (plain["evidence"], plain["waiting"], plain["second_opinion"]) == ([], None, False)


def test_verify_names_whose_fault_it_is_with_exit_code_1() -> None:
    session, _records = played()
    log, cheat = session.log, session.signer
    place = next(at for at, raw in enumerate(log[1].attachments) if open_envelope(raw).sender == cheat.node_id)
    part = open_envelope(log[1].attachments[place]).body
    assert isinstance(part, DealPart)
    attachments = list(log[1].attachments)
    attachments[place] = seal(cheat, session.table, replace(part, payload=b"wrong")).raw
    data = game_file_of([log[0], replace(log[1], attachments=tuple(attachments))])
    result = rummesh("verify", "-", given=data)
    assert result.exit_code == 1
    assert f"A fault at height 1 by Bot 1 (key {fingerprint(cheat.node_id)}): wrong key-commit: " in result.stdout
    plain = json.loads(rummesh("verify", "-", "--json", given=data).stdout)
    assert (plain["ok"], plain["height"], plain["name"]) == (False, 1, "Bot 1")
    assert plain["node"] == cheat.node_id.hex()
    swapped = [*session.log[:5], session.log[6], session.log[5]]
    result = rummesh("verify", "-", given=game_file_of(swapped))
    assert (result.exit_code, result.stdout.splitlines()[0]) == (
        1,
        "A fault at height 5: entry for another place than height 5.",
    )


def test_verify_tells_evidence_and_what_is_only_kept() -> None:
    session, _records = played()
    votes = tuple(
        seal(session.signer, session.table, Prevote(3, bytes(32), 0, (), entry, ())).raw for entry in (None, bytes(32))
    )
    evidence = [EvidenceFound(session.signer.node_id, "", votes), EvidenceFound(session.signer.node_id, "", votes[:1])]
    said = rummesh("verify", "-", given=game_file_of(session.log, evidence)).stdout
    assert "Evidence against Bot 1" in said
    assert "two prevotes in round 0 of height 3" in said
    assert "Kept as evidence against Bot 1" in said


def test_what_is_no_game_file_ends_with_code_2_and_says_what_to_do(tmp_path: Path) -> None:
    session, _records = played()
    data = game_file_of(session.log)
    newer = encode(replace(read_game_file(data), version=9))
    for given, said in ((b"", "not a game file"), (data[:-1], "Get it again"), (newer, "Install another Rummesh")):
        result = rummesh("verify", "-", given=given)
        assert (result.exit_code, said in result.stderr, result.stdout) == (2, True, "")
    assert rummesh("verify", tmp_path / "nothing").exit_code == 2
    assert rummesh("verify", tmp_path).exit_code == 2
