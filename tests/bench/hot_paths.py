"""What commits, votes and whole simulated games cost: medians, and ratios of things measured in the same run."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from rich.table import Table

from engine.actions import Play
from engine.faces import codes_of
from engine.melds import read
from engine.positions import Position, tile_position
from engine.rules import apply, faults
from engine.rulesets import RULE_SETS, RuleSet
from engine.state import MeldKind, state_hash
from engine.tiles import Tile, parse_tiles
from node.simulation import SimulatedTable
from protocol.envelope import open_envelope, seal
from protocol.messages import Precommit
from tests.protocol.keys import Key

_SIZES = (30, 60, 100)


def board_of(size: int) -> list[tuple[tuple[Tile, ...], MeldKind | None]]:
    """A legal board of about `size` tiles, no tile more than twice: runs of four from 9 down, then three thirteens."""
    runs = [(colour, first) for _copy in range(2) for first in (9, 5, 1) for colour in "RBKY"]
    chosen = runs[: size // 4]
    melds = [parse_tiles(" ".join(f"{colour}{first + step}" for step in range(4))) for colour, first in chosen]
    if size > 4 * len(melds) + 2:
        melds.append(parse_tiles("B13 Y13 K13"))
    return [(tiles, None) for tiles in melds]


def lay_off(rules: RuleSet, size: int) -> tuple[Position, Play]:
    """A board of about `size` tiles, and a play that adds a tile to a run."""
    before = board_of(size)
    position = tile_position(rules, before, parse_tiles("R13 J K13"))
    longest = next(place for place, (tiles, _kind) in enumerate(before) if str(tiles[-1]) == "R12")
    after = list(before)
    after[longest] = ((*before[longest][0], *parse_tiles("R13")), None)
    return position, position.play(after)


def median_s(work: Callable[[], object], seconds: float) -> float:
    """The median time of one call, over as many as fit into `seconds`."""
    times: list[float] = []
    ends_s = time.perf_counter() + seconds
    while len(times) < 20 or time.perf_counter() < ends_s:
        began_s = time.perf_counter()
        work()
        times.append(time.perf_counter() - began_s)
    return statistics.median(times)


def commits(seconds: float) -> Table:
    """Judging and applying one commit, by rule set and size of the board."""
    shown = Table("Commit", "Tiles", "faults, ms", "apply, ms", "apply, cold, ms", "commits/s", "to 30 tiles")
    for name in ("pt", "fi", "no"):
        first: float | None = None
        for size in _SIZES:
            position, play = lay_off(RULE_SETS[name], size)
            judged_s = median_s(lambda position=position, play=play: faults(position.state, play), seconds)  # type: ignore[misc] # mypy cannot infer it
            applied_s = median_s(lambda position=position, play=play: apply(position.state, play), seconds)  # type: ignore[misc] # mypy cannot infer it

            def cold(position: Position = position, play: Play = play) -> None:
                read.cache_clear()
                apply(position.state, play)

            cold_s = median_s(cold, seconds)
            first = first or applied_s
            tiles = sum(len(meld.tiles) for meld in position.state.board)
            shown.add_row(
                name,
                str(tiles),
                f"{judged_s * 1e3:.3f}",
                f"{applied_s * 1e3:.3f}",
                f"{cold_s * 1e3:.3f}",
                f"{1 / applied_s:.0f}",
                f"{applied_s / first:.2f}x",
            )
    return shown


def messages(seconds: float) -> Table:
    """One vote, as the unit of everything that is agreed on."""
    key = Key(1)
    vote = Precommit(7, bytes(32), 0, (), bytes(32))
    raw = seal(key, bytes(16), vote).raw
    signed_s = median_s(lambda: key.sign(raw), seconds)
    sealed_s = median_s(lambda: seal(key, bytes(16), vote), seconds)
    opened_s = median_s(lambda: open_envelope(raw), seconds)
    position, _play = lay_off(RULE_SETS["pt"], 60)
    hashed_s = median_s(lambda: state_hash(position.state), seconds)
    read_s = median_s(lambda: read(codes_of(parse_tiles("R4 R5 R6"))), seconds)
    shown = Table("One", "µs", "to a bare signature")
    for name, took_s in (
        ("bare signature", signed_s),
        ("vote sealed", sealed_s),
        ("vote opened and verified", opened_s),
        ("state hash, 60 tiles", hashed_s),
        ("meld read from text", read_s),
    ):
        shown.add_row(name, f"{took_s * 1e6:.0f}", f"{took_s / signed_s:.2f}x")
    return shown


def tables(games: int) -> Table:
    """Whole games between real sessions, on a virtual clock."""
    shown = Table("Table", "Seats", "s a game", "entries", "ms an entry and node")
    for name, seats in (("pt", 2), ("pt", 4), ("no", 4), ("es", 6)):
        began_s = time.perf_counter()
        entries = sum(SimulatedTable(RULE_SETS[name], seats, seed).run().entries for seed in range(games))
        took_s = time.perf_counter() - began_s
        each_ms = took_s / entries / seats * 1e3
        shown.add_row(name, str(seats), f"{took_s / games:.2f}", str(entries // games), f"{each_ms:.2f}")
    return shown
