"""`rummesh solve`: the best move of every position in a file."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from engine.board import Layout, read_layout
from engine.faces import JOKER_CODE, codes_in, deck_codes, text_of, texts_of
from engine.melds import why_no_meld
from engine.rulesets import JokerMove, RuleSet
from engine.solver import Objective, Solution, sentence, solve, solve_opening, steps_of
from node.arbiter import RulesType
from node.clock import monotonic_s, stop_after


@dataclass(frozen=True, slots=True)
class _Position:
    """What lies on the table, each meld with its kind, and what a player holds, as codes."""

    name: str
    board: Layout
    rack: bytes


@dataclass(frozen=True, slots=True)
class _Answer:
    """The best move of a position and how long it took. No opening: a move that lays nothing."""

    position: _Position
    solution: Solution
    took_s: float

    def steps(self) -> list[str]:
        """What a person does with their hands, in order."""
        return [sentence(step) for step in steps_of(self.position.board, self.solution.board, self.solution.laid)]


@click.command(name="solve")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--objective",
    type=click.Choice([objective.value for objective in Objective]),
    default=Objective.TILES.value,
    show_default=True,
    help="What the best move has the most of.",
)
@click.option(
    "--opening",
    type=click.IntRange(0),
    default=None,
    metavar="POINTS",
    help="The player has not opened: melds of the rack alone, worth so much at least.",
)
@click.option("--rules", "rules", type=RulesType(), default="pt", show_default=True, help="Rule set, for its jokers.")
@click.option(
    "--jokers",
    type=click.Choice(["free"]),
    default=None,
    help="Jokers on the table may stand for anything at any time. Default: as the rules say.",
)
@click.option(
    "--limit",
    "limit_ms",
    type=click.FloatRange(0),
    default=None,
    metavar="MS",
    help="Time for each position; then the best move found so far. Default: none.",
)
@click.option("--steps", is_flag=True, help="Tell how to make each move, in words.")
@click.option("--json", "as_json", is_flag=True, help="As JSON on standard output.")
def solve_file(
    file: Path,
    objective: str,
    opening: int | None,
    rules: RuleSet,
    jokers: str | None,
    limit_ms: float | None,
    steps: bool,
    as_json: bool,
) -> None:
    """The best move of every position in FILE, proven to be the best unless it says otherwise.

    FILE holds a list of positions, each {"id": ..., "table": [[tile, ...], ...], "rack": [tile, ...]}. Tiles are colour
    and number: R red, B blue, K black, Y yellow, and J for a joker. A run on the table lists its tiles upwards, each
    joker in its place.
    """
    if rules.discards:
        raise click.UsageError(f"{rules.name} has no table to rearrange: take --rules pt, fi or no.")
    if jokers is not None:
        rules = replace(rules, joker_move=JokerMove.FREE)
    answers = [
        _answer(rules, position, Objective(objective), opening, limit_ms) for position in _positions(file, rules)
    ]
    if as_json:
        click.echo("[\n" + ",\n".join(json.dumps(_plain(answer, steps)) for answer in answers) + "\n]")
    else:
        _tell(answers, steps)


def _answer(
    rules: RuleSet, position: _Position, objective: Objective, opening: int | None, limit_ms: float | None
) -> _Answer:
    began_s = monotonic_s()
    with nullcontext() if limit_ms is None else stop_after(limit_ms / 1000) as stop:
        if opening is None:
            solution = solve(rules, position.board, position.rack, objective, stop=stop)
        else:
            found = solve_opening(rules, position.rack, opening, objective, stop=stop)
            solution = found or Solution((), b"", 0, proven=True)
            solution = replace(solution, board=(*position.board, *solution.board))
    return _Answer(position, solution, monotonic_s() - began_s)


# What is told


def _plain(answer: _Answer, steps: bool) -> dict[str, Any]:
    solution = answer.solution
    plain: dict[str, Any] = {
        "id": answer.position.name,
        "tiles": len(solution.laid),
        "value": solution.value,
        "laid": texts_of(solution.laid),
        "board": [texts_of(codes) for codes, _kind in solution.board],
        "proven": solution.proven,
        "ms": round(1000 * answer.took_s, 3),
    }
    if solution.exchanges:
        plain["exchanges"] = [
            {"set": exchange.meld, "pos": exchange.position, "tile": text_of((exchange.tile,))}
            for exchange in solution.exchanges
        ]
    return plain | {"steps": answer.steps()} if steps else plain


def _tell(answers: list[_Answer], steps: bool) -> None:
    shown = Table("Position", "Tiles", "Value", "Laid", "Table after it", "ms", show_lines=True)
    for answer in answers:
        solution = answer.solution
        count = f"{len(solution.laid)} of {len(answer.position.rack)}"
        laid = text_of(solution.laid) or "nothing"
        board = " | ".join(text_of(codes) for codes, _kind in solution.board)
        took = f"{1000 * answer.took_s:.2f}" + ("" if solution.proven else ", not proven")
        shown.add_row(answer.position.name, count, str(solution.value), laid, board, took)
    Console().print(shown)
    for answer in answers if steps else ():
        click.echo(f"{answer.position.name}:")
        for number, told in enumerate(answer.steps() or ["There is nothing to lay."], 1):
            click.echo(f"  {number}. {told}")


# What is read


def _positions(file: Path, rules: RuleSet) -> list[_Position]:
    try:
        plain = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise click.UsageError(f"{file} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise click.UsageError(f"{file} is not JSON: {error}.") from error
    if not isinstance(plain, list) or not plain:
        raise click.UsageError(
            f'{file} holds no positions: expected [{{"id": "a", "table": [["R4", "R5", "R6"]], "rack": ["R7"]}}, ...].'
        )
    found = []
    for number, item in enumerate(plain, 1):
        try:
            found.append(_position(item, rules))
        except ValueError as error:
            name = item.get("id", f"number {number}") if isinstance(item, dict) else f"number {number}"
            raise click.UsageError(f"{file}, position {name}: {error}.") from error
    return found


def _position(plain: Any, rules: RuleSet) -> _Position:
    """A position as a file tells it. Raises `ValueError` that names the field and what to do."""
    if not isinstance(plain, dict):
        raise ValueError('expected an object with "id", "table" and "rack"')
    name, table = plain.get("id"), plain.get("table")
    if not isinstance(name, str):
        raise ValueError('"id" is to be a text')
    if not isinstance(table, list):
        raise ValueError('"table" is to be a list of sets, each a list of tiles, [] if nothing lies there')
    melds = [_tiles(item, f'"table", set {number}') for number, item in enumerate(table, 1)]
    rack = _tiles(plain.get("rack"), '"rack"')
    board = tuple((codes, None) for codes in melds)
    told: list[tuple[bytes, Any]] = []
    for number, ((codes, _kind), meld) in enumerate(zip(board, read_layout(board), strict=True), 1):
        if meld is None:
            raise ValueError(f'"table", set {number} is none; {why_no_meld(codes).rstrip(".")}')
        told.append((meld.codes, meld.kind))
    position = _Position(name, tuple(told), rack)
    _check_supply(position, rules)
    return position


def _tiles(plain: Any, field: str) -> bytes:
    if not isinstance(plain, list) or not all(isinstance(text, str) for text in plain):
        raise ValueError(f'{field} is to be a list of tiles such as ["R4", "K13", "J"]')
    try:
        return codes_in(plain)
    except ValueError as error:
        raise ValueError(f"{field}: {error}") from error


def _check_supply(position: _Position, rules: RuleSet) -> None:
    there = Counter(b"".join(codes for codes, _kind in position.board) + position.rack)
    supply = Counter(deck_codes(rules.deck, rules.jokers))
    for code, count in sorted(there.items()):
        if count > supply[code]:
            more = "; --rules no has four, house rules may have more" if code == JOKER_CODE else ""
            raise ValueError(
                f'"table" and "rack" hold {text_of((code,))} {count} times, the game has it {supply[code]} times{more}'
            )
