"""The games in a data folder: `rummesh games list` and `export`. Reads the journals, also beside a running node."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console
from rich.table import Table

from engine.options import differences
from engine.series import Standing
from node.clock import local_date
from node.config import default_data_folder
from node.files import game_file_name
from node.journal import JournalError, read_beside
from protocol.audit.audit import DEALERS
from protocol.codec import decode
from protocol.errors import DecodeError, LocalProtocolError, RemoteProtocolError
from protocol.events import EvidenceFound
from protocol.game import Game, series_standing
from protocol.gamefile import deal_of, game_file_of
from protocol.log import Committed
from protocol.messages import Genesis, GenesisEntry
from protocol.outputs import RecordKind
from protocol.roster import clean_name
from protocol.session import read_evidence

EXIT_USAGE: Final = 2


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A table that has begun, as a journal holds it. `began_s` is when, by the wall clock."""

    genesis: Genesis
    log: tuple[Committed, ...]
    evidence: tuple[EvidenceFound, ...]
    began_s: float
    closed: bool

    @property
    def id(self) -> str:
        return self.genesis.table.hex()

    @property
    def name(self) -> str:
        return clean_name(self.genesis.table_name)

    @property
    def date(self) -> str:
        return local_date(self.began_s)

    @property
    def players(self) -> tuple[str, ...]:
        return tuple(clean_name(member.name) for member in self.genesis.members)

    def standing(self) -> Standing | None:
        """Where the series stands; None if the log does not replay. Proofs are not checked again, as `verify` does."""
        maker = DEALERS[deal_of(self.log)]
        game = Game(self.genesis, None, lambda _seat: maker(self.genesis, None, None, bytes), trusted=True)
        try:
            for committed in self.log[1:]:
                game.replay(committed)
        except (RemoteProtocolError, LocalProtocolError):
            return None
        return series_standing(game.state)


def stored_tables(data: Path) -> tuple[list[StoredTable], list[str]]:
    """All tables in a node's data folder, the newest first, and what is wrong with journals that cannot be read."""
    tables, troubles = [], []
    for path in sorted((data / "tables").glob("*.journal")):
        try:
            table = _stored(path)
        except JournalError as error:
            troubles.append(str(error))
        except DecodeError as error:
            troubles.append(f"The journal {path} holds what this version does not know: {error}.")
        else:
            if table is not None:
                tables.append(table)
    return sorted(tables, key=lambda table: table.began_s, reverse=True), troubles


def _stored(path: Path) -> StoredTable | None:
    """The table in a journal; None if it has not begun."""
    records = read_beside(path, [kind.value for kind in (RecordKind.COMMITTED, RecordKind.EVIDENCE, RecordKind.CLOSED)])
    log = [decode(Committed, record.data) for record in records if record.kind == RecordKind.COMMITTED.value]
    evidence = [read_evidence(record.data) for record in records if record.kind == RecordKind.EVIDENCE.value]
    if not log:
        return None
    content = log[0].entry.content
    if not isinstance(content, GenesisEntry):
        raise DecodeError("a log without its genesis")
    closed = any(record.kind == RecordKind.CLOSED.value for record in records)
    return StoredTable(content.genesis, tuple(log), tuple(evidence), records[0].unix_s, closed)


def named_table(tables: list[StoredTable], text: str) -> StoredTable:
    """The one table of this name, or whose id begins so. Raises `click.UsageError`."""
    found = [table for table in tables if table.name == text or (text and table.id.startswith(text.lower()))]
    if len(found) == 1:
        return found[0]
    shown = "".join(f"\n  {table.id[:8]}  {table.name}, {table.date}" for table in found or tables)
    if found:
        raise click.UsageError(f"Several tables fit {text!r}. Name one by its id:{shown}")
    raise click.UsageError(f"There is no table {text!r}." + (f" There are:{shown}" if tables else ""))


_data = click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    default=None,
    help="Folder with the journals. Default: the user's data folder.",
)


@click.group()
def games() -> None:
    """The games in the data folder: list them, save their files."""


@games.command("list")
@click.option("--json", "as_json", is_flag=True, help="As JSON on standard output.")
@_data
def list_games(as_json: bool, data: Path | None) -> None:
    """What was played, the newest first."""
    tables, troubles = _found(data)
    rows = [_plain(table) for table in tables]
    if as_json:
        click.echo(json.dumps(rows, indent=2))
    elif not rows:
        click.echo("No games found.")
    else:
        shown = Table("Id", "Table", "Date", "Rules", "Entries", "State", "Points")
        for row in rows:
            house = " +" if row["house_rules"] else ""
            points = ", ".join(
                f"{player} {total}" for player, total in zip(row["players"], row["totals"], strict=False)
            )
            cells = (row["name"], row["date"], row["rules"] + house, str(row["entries"]), row["state"], points)
            shown.add_row(row["id"][:8], *cells)
        Console().print(shown)
    for trouble in troubles:
        click.echo(f"rummesh: {trouble}", err=True)


@games.command("export")
@click.argument("table")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    default=None,
    metavar="FILE",
    help="Where to write, - for standard output. Default: the table's name and date.",
)
@click.option("--force", is_flag=True, help="Overwrite a file that is there.")
@_data
def export(table: str, out: Path | None, force: bool, data: Path | None) -> None:
    """Write the game file of TABLE, named by the beginning of its id or by its whole name.

    It holds nothing secret, and anyone can check it with `rummesh verify`.
    """
    tables, troubles = _found(data)
    for trouble in troubles:
        click.echo(f"rummesh: {trouble}", err=True)
    chosen = named_table(tables, table)
    content = game_file_of(chosen.log, chosen.evidence)
    if str(out) == "-":
        sys.stdout.buffer.write(content)
        return
    path = out or Path(game_file_name(chosen.name, chosen.date))
    try:
        with path.open("wb" if force else "xb") as file:
            file.write(content)
    except FileExistsError as error:
        raise click.UsageError(
            f"{path} is there already. Choose another --out, or overwrite it with --force."
        ) from error
    except OSError as error:
        raise click.FileError(str(path), error.strerror or "cannot be written") from error
    click.echo(f"{path}: {len(chosen.log)} entries, {len(content) // 1000} kB. Check it with: rummesh verify {path}")


def _found(data: Path | None) -> tuple[list[StoredTable], list[str]]:
    folder = data or default_data_folder()
    if not folder.is_dir():
        click.echo(f"rummesh: There is no folder {folder}. Name the node's folder with --data.", err=True)
        sys.exit(EXIT_USAGE)
    return stored_tables(folder)


def _plain(table: StoredTable) -> dict[str, Any]:
    """A table as JSON says it. `totals` is empty, and the state unreadable, if its log does not replay."""
    standing = table.standing()
    if standing is None:
        state = "unreadable"
    elif standing.over:
        state = "finished"
    else:
        state = "left" if table.closed else "unfinished"
    return {
        "id": table.id,
        "name": table.name,
        "date": table.date,
        "rules": table.genesis.rules.name,
        "house_rules": differences(table.genesis.rules),
        "players": list(table.players),
        "entries": len(table.log),
        "state": state,
        "totals": [] if standing is None else list(standing.totals),
        "winners": [] if standing is None else [table.players[seat] for seat in standing.winners],
    }
