"""`rummesh verify`: an audit of a game file, in words or as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Final

import click
from rich.console import Console
from rich.progress import Progress

from engine.options import differences
from engine.rulebook import title
from engine.state import EndedBy, Seat
from node.tablewords import words_of
from protocol.audit.audit import audit
from protocol.audit.report import Fault, PlayedGame, Report, fingerprint
from protocol.audit.second_opinion import plain_dealer
from protocol.dealing.group import UnsafeLibrary
from protocol.game import DealerMaker
from protocol.gamefile import MAX_FILE_BYTES, Deal, GameFileError
from protocol.roster import clean_name

EXIT_FAULT: Final = 1
EXIT_USAGE: Final = 2
_ENTRIES: Final = {
    "genesis": "signed rosters",
    "action": "actions",
    "answers": "answers to a call",
    "timeout": "turns that ran out of time",
    "nextgame": "beginnings of a next game",
    "remove": "removals",
}
_CHECKS: Final = {
    "key-commit": "commitments to keys",
    "key-reveal": "sets of keys with their proofs",
    "shuffle": "shuffles",
    "shares": "messages with shares of tiles",
    "draw-part": "drawers' own shares",
    "opening": "actions with opened tiles",
    "open-rack": "racks opened at the end",
    "rekey": "racks made ready for a re-deal",
    "tag": "tags of a re-deal",
    "tag-shares": "shares of tags",
}
_ENDS: Final = {
    EndedBy.OUT: "somebody went out",
    EndedBy.BLOCKED: "nobody could go on",
    EndedBy.LAST_SEAT: "everybody else had left",
}


@click.command()
@click.argument("file", type=click.File("rb"))
@click.option("--json", "as_json", is_flag=True, help="The report as JSON on standard output.")
@click.option(
    "--second-opinion", is_flag=True, help="Check every proof again in plain Python, which takes ten times as long."
)
def verify(file: BinaryIO, as_json: bool, second_opinion: bool) -> None:
    """Check a game from its FILE (- for standard input): every signature, every proof of the deal, every move.

    Needs no network and no key. Exit code 0: all is right; 1: a fault, and whose it is if that is proven; 2: FILE is
    no game file.
    """
    try:
        data = file.read(MAX_FILE_BYTES + 1)
        report = _audited(data, None, "Checking")
        if second_opinion and report.deal is Deal.SECRET and _audited(data, plain_dealer, "Second opinion") != report:
            raise Fault(None, None, None, "the second opinion counts otherwise")
    except Fault as fault:
        _tell_fault(fault, as_json)
        sys.exit(EXIT_FAULT)
    except (GameFileError, UnsafeLibrary) as error:
        click.echo(f"rummesh: {getattr(file, 'name', 'input')}: {error}", err=True)
        sys.exit(EXIT_USAGE)
    except OSError as error:
        raise click.FileError(str(file.name), error.strerror or "cannot be read") from error
    if as_json:
        click.echo(json.dumps(_plain(report) | {"second_opinion": second_opinion}, indent=2))
    else:
        click.echo("\n".join(_words(report, second_opinion)))


def _audited(data: bytes, make_dealer: DealerMaker | None, what: str) -> Report:
    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal, transient=True) as progress:
        task = progress.add_task(what, total=None)
        return audit(data, make_dealer, lambda done, total: progress.update(task, completed=done, total=total))


def _tell_fault(fault: Fault, as_json: bool) -> None:
    name = None if fault.name is None else clean_name(fault.name)
    node = None if fault.node is None else fault.node.hex()
    if as_json:
        plain = {"ok": False, "height": fault.height, "node": node, "name": name, "reason": fault.reason}
        click.echo(json.dumps(plain, indent=2))
        return
    where = "" if fault.height is None else f" at height {fault.height}"
    who = "" if fault.node is None else f" by {name} (key {fingerprint(fault.node)})"
    click.echo(f"A fault{where}{who}: {fault.reason}.")
    click.echo("This file does not show a game played by the rules.")


def _words(report: Report, second_opinion: bool) -> Iterator[str]:
    names = [clean_name(player.name) for player in report.players]
    house = ", ".join(f"{name} = {value}" for name, value in differences(report.rules).items())
    yield f"All right: {clean_name(report.genesis.table_name)}, {title(report.rules)}"
    yield f"House rules: {house or 'none'}"
    yield f"Table words: {words_of(report.genesis)}"
    yield ""
    for seat, player in enumerate(report.players):
        gone = "" if player.removed_at is None else f", removed at height {player.removed_at}"
        yield f"Seat {seat + 1}: {names[seat]}{' (bot)' if player.bot else ''}, key {fingerprint(player.node)}{gone}"
    yield ""
    yield from _deal_words(report, second_opinion)
    yield f"{report.height + 1} entries, each agreed to by all in the game; {report.signatures} signatures:"
    yield from _counted(report.entries, _ENTRIES)
    if report.deal is Deal.SECRET:
        yield from _counted(report.checks, _CHECKS)
    yield ""
    for number, game in enumerate(report.games, start=1):
        yield from _game_words(number, game, names)
    if report.waiting is not None:
        yield f"The file ends while the call {report.waiting.value} is open."
    yield _series_words(report, names)
    for finding in report.findings:
        kind = "Evidence" if finding.proven else "Kept as evidence"
        yield f"{kind} against {clean_name(finding.name)} (key {fingerprint(finding.node)}): {finding.text}."


def _deal_words(report: Report, second_opinion: bool) -> Iterator[str]:
    match report.deal:
        case Deal.SECRET:
            again = " and again in plain Python" if second_opinion else ""
            yield f"Dealt secretly: every proof was checked{again}."
        case Deal.OPEN:
            yield "DEALT OPENLY: THE TILES WERE NOT SECRET. Every machine could see all of them."
        case Deal.NONE:
            yield "Nothing was dealt yet."


def _counted(counts: Mapping[str, int], words: Mapping[str, str]) -> Iterator[str]:
    known = [kind for kind in words if kind in counts]
    for kind in (*known, *(kind for kind in counts if kind not in words)):
        yield f"  {words.get(kind, kind)}: {counts[kind]}"


def _game_words(number: int, game: PlayedGame, names: Sequence[str]) -> Iterator[str]:
    if game.result is None:
        yield f"Game {number}: not over, {game.turns} turns so far."
        return
    points = ", ".join(f"{name} {score}" for name, score in zip(names, game.result.scores, strict=True))
    who = _listed(names, game.result.winners)
    yield f"Game {number}: won by {who}, {_ENDS[game.result.ended_by]}. Points: {points}."
    if game.shut:
        yield f"  Did not open the rack and was charged the worst: {_listed(names, game.shut)}."


def _series_words(report: Report, names: Sequence[str]) -> str:
    points = ", ".join(f"{names[seat]} {report.standing.totals[seat]}" for seat in report.standing.standings)
    if not report.standing.over:
        return f"The series is not finished. Points so far: {points}."
    return f"The series is finished, won by {_listed(names, report.standing.winners)}. Points: {points}."


def _listed(names: Sequence[str], seats: Sequence[Seat]) -> str:
    return " and ".join(names[seat] for seat in seats) or "nobody"


def _plain(report: Report) -> dict[str, Any]:
    return {
        "ok": True,
        "table": {
            "id": report.genesis.table.hex(),
            "name": report.genesis.table_name,
            "words": words_of(report.genesis),
        },
        "rules": report.rules.name,
        "house_rules": differences(report.rules),
        "deal": report.deal.value,
        "players": [
            {"name": player.name, "key": player.node.hex(), "bot": player.bot, "removed_at": player.removed_at}
            for player in report.players
        ],
        "height": report.height,
        "entries": dict(report.entries),
        "signatures": report.signatures,
        "checks": dict(report.checks),
        "redeals": report.redeals,
        "games": [_plain_game(game) for game in report.games],
        "finished": report.standing.over,
        "totals": list(report.standing.totals),
        "standings": list(report.standing.standings),
        "winners": list(report.standing.winners),
        "waiting": None if report.waiting is None else report.waiting.value,
        "evidence": [
            {"node": finding.node.hex(), "name": finding.name, "text": finding.text, "proven": finding.proven}
            for finding in report.findings
        ],
    }


def _plain_game(game: PlayedGame) -> dict[str, Any]:
    plain: dict[str, Any] = {"starter": game.starter, "turns": game.turns, "shut": list(game.shut), "over": False}
    if game.result is None:
        return plain
    result = game.result
    return plain | {
        "over": True,
        "ended_by": result.ended_by.value,
        "scores": list(result.scores),
        "winners": list(result.winners),
        "out": result.out,
    }
