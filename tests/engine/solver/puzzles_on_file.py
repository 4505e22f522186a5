"""The 60 positions of `positions.json`, and what is optimal there by several independent programs (`optimal.json`).

Tables and racks of sloppy self-play. In `optimal.json`: the most tiles (`max_tiles`; `max_tiles_locked`: jokers on the
table give way only to the tile they stand for), the greatest value with a rack joker as 0, the greatest value at
`max_tiles`; of the rack alone the greatest value and the most tiles worth at least 30, jokers as what they stand for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from engine.board import Layout, read_layout
from engine.faces import codes_of
from engine.positions import layout, said
from engine.tiles import parse_tile

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class OnFile:
    """A position and its optima by the names of `optimal.json`."""

    name: str
    board: Layout
    rack: bytes
    optimal: Mapping[str, int]


@cache
def puzzles_on_file() -> tuple[OnFile, ...]:
    """All of them, in order."""
    positions = json.loads((FOLDER / "positions.json").read_text(encoding="utf-8"))
    optimal = json.loads((FOLDER / "optimal.json").read_text(encoding="utf-8"))
    found = []
    for position, best in zip(positions, optimal, strict=True):
        assert position["id"] == best["id"]
        melds = read_layout(layout(said(position["table"])))
        told = tuple((meld.codes, meld.kind) for meld in melds if meld is not None)
        found.append(OnFile(position["id"], told, codes_of(map(parse_tile, position["rack"])), best))
    return tuple(found)
