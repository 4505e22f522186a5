"""A desk for the page that plays no game: a scripted lobby or table, and a list of what the page asked for."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.rulesets import PT
from engine.tiles import Tile, TileId, parse_tiles
from engine.views import MeldView, PlayerView, ResultView, TableView, TileView, to_plain
from node.web.server import PageRefusal

FACES = PT.faces
TABLE_ID = "a1" * 8
HOSTILE = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>'


def ids(text: str, copy_no: int = 0) -> list[int]:
    """The tile ids of faces such as `R5 B5 J`; of two tiles with one face the first, or (`copy_no` 1) the second.

    A face that is named twice gives both tiles.
    """
    taken: list[int] = []
    for face in parse_tiles(text):
        twins = [tile for tile, printed in enumerate(FACES) if printed == face]
        if copy_no and face not in [FACES[tile] for tile in taken]:
            twins.reverse()
        taken.append(next(tile for tile in twins if tile not in taken))
    return taken


def views(tiles: Sequence[int]) -> tuple[TileView, ...]:
    return tuple(TileView(tile, str(FACES[tile])) for tile in tiles)


@dataclass
class FakeTable:
    """What lies on the table and who is to act, as a test wants it. The page's own seat is 0."""

    rack: list[int]
    board: list[tuple[str, list[int]]] = field(default_factory=list)
    names: list[str] = field(default_factory=lambda: ["Ana", "Bruno", "Clara"])
    left: list[int] = field(default_factory=lambda: [14, 11, 9])
    opened: list[bool] = field(default_factory=lambda: [True, True, False])
    connected: list[bool] = field(default_factory=lambda: [True, True, True])
    bots: list[bool] = field(default_factory=lambda: [False, False, True])
    totals: list[int] = field(default_factory=lambda: [0, 0, 0])
    turn: int = 0
    turn_number: int = 6
    phase: str = "play"
    waiting_for: str | None = None
    waiting: str | None = None
    can_pass: bool = False
    remaining_s: float | None = 41.0
    running: bool = False  # a standing clock keeps pictures and texts the same
    log: list[str] = field(default_factory=lambda: ["Ana draws a tile.", "Bruno lays 3 tiles.", "Clara draws a tile."])
    notice: str | None = None
    draft: list[dict[str, Any]] | None = None
    result: ResultView | None = None

    def plain(self) -> dict[str, Any]:
        """The table as the page gets it."""
        mine = self.turn == 0 and self.phase == "play" and self.waiting_for is None and self.result is None
        draft = self.draft if self.draft is not None else self.untouched()
        return {
            "table_name": "Kitchen table",
            "words": "amber fox lake drum",
            "view": to_plain(self.view()),
            "clock": {"remaining_s": self.remaining_s, "running": self.running},
            "connected": self.connected,
            "bots": self.bots,
            "height": 37,
            "waiting": self.waiting,
            "draft": {"melds": draft, "judged": self.judge(draft)} if mine else None,
            "log": [{"n": n, "text": text} for n, text in enumerate(self.log)],
            "notice": self.notice,
            "state_hash": "5f3c" * 16,
        }

    def untouched(self) -> list[dict[str, Any]]:
        return [{"tiles": list(tiles), "kind": kind} for kind, tiles in self.board]

    def view(self) -> TableView:
        board = tuple(
            MeldView(kind, views(tiles), tuple(map(tuple, read(tiles, kind)[2])), read(tiles, kind)[1])
            for kind, tiles in self.board
        )
        players = tuple(
            PlayerView(seat, name, self.left[seat], self.opened[seat], True, self.totals[seat])
            for seat, name in enumerate(self.names)
        )
        return TableView(
            rules="pt",
            game=0,
            phase=self.phase,
            seat=0,
            turn=self.turn,
            turn_number=self.turn_number,
            players=players,
            pool=0 if self.can_pass else 48,
            board=board,
            rack=views(self.rack),
            discard=(),
            waiting_for=self.waiting_for,
            drawing=0 if self.waiting_for == "draw" else None,
            can_pass=self.can_pass,
            call_required=True,
            opening_min=30,
            turn_seconds=60,
            result=self.result,
        )

    def judge(self, melds: list[dict[str, Any]]) -> dict[str, Any]:
        """A plain judgement: melds are legal or not, and an opening is worth 30."""
        readings = [read(meld["tiles"], meld["kind"]) for meld in melds]
        start = {tile for _, tiles in self.board for tile in tiles}
        laid = [tile for meld in melds for tile in meld["tiles"] if tile not in start]
        faults = []
        for index, (meld, (kind, _, _)) in enumerate(zip(melds, readings, strict=True)):
            if kind is None:
                named = [str(FACES[tile]) for tile in meld["tiles"]]
                faults.append(fault("INVALID-SET", f"{', '.join(named)} is no meld.", [index], named))
        if not laid:
            faults.append(fault("NO-RACK-TILE", "Lay at least one tile from your rack."))
        own = [i for i, meld in enumerate(melds) if not start & set(meld["tiles"])]
        points = sum(readings[i][1] for i in own)
        needed = 0 if self.opened[0] else 30
        if laid and needed and points < needed:
            faults.append(fault("OPEN-MIN", f"Your opening is worth {points} points; it needs {needed}.", own))
        out = len(laid) == len(self.rack)
        moved = [meld["tiles"] for meld in melds] != [tiles for _, tiles in self.board]
        return {
            "faults": faults,
            "melds": [{"kind": kind, "points": worth, "stands_for": stands} for kind, worth, stands in readings],
            "opening_points": points,
            "opening_needed": needed,
            "laid": len(laid),
            "can_end": not faults and not out,
            "can_rummikub": not faults and out,
            "can_draw": not moved,
        }


def fault(code: str, sentence: str, melds: Sequence[int] = (), tiles: Sequence[str] = ()) -> dict[str, Any]:
    return {"code": code, "sentence": sentence, "melds": list(melds), "tiles": list(tiles)}


def read(tiles: Sequence[int], kind: str | None) -> tuple[str | None, int, list[list[str]]]:
    """How a meld reads: kind (None: not at all), worth, and what each joker stands for."""
    faces = [FACES[tile] for tile in tiles]
    numbered = [face for face in faces if not face.is_joker]
    nothing: tuple[str | None, int, list[list[str]]] = (None, 0, [[] for _ in faces])
    if len(faces) < 3 or not numbered:
        return nothing
    first = next(i for i, face in enumerate(faces) if not face.is_joker)
    low = faces[first].number - first
    is_run = low >= 1 and low + len(faces) <= 14
    is_run = is_run and all(
        f.is_joker or (f.colour, f.number) == (numbered[0].colour, low + i) for i, f in enumerate(faces)
    )
    colours = {face.colour for face in numbered}
    is_group = len(faces) <= 4 and len({f.number for f in numbered}) == 1 and len(colours) == len(numbered)
    if is_group and not (is_run and kind == "run"):
        number = numbered[0].number
        missing = sorted(str(f) for f in set(FACES) if f.number == number and f.colour not in colours)
        return "group", number * len(faces), [list(missing) if face.is_joker else [] for face in faces]
    if is_run:
        stands = [[str(Tile(numbered[0].colour, low + i))] if f.is_joker else [] for i, f in enumerate(faces)]
        return "run", sum(range(low, low + len(faces))), stands
    return nothing


def lobby(**changes: Any) -> dict[str, Any]:
    """A lobby with two tables to join; `changes` replace fields."""
    whole = {
        "tables": [
            {
                "id": TABLE_ID,
                "name": "Balcony",
                "rules": "pt",
                "phase": "lobby",
                "seats": 2,
                "free": 2,
                "compatible": True,
            },
            {
                "id": "b2" * 8,
                "name": "Attic",
                "rules": "pt",
                "phase": "lobby",
                "seats": 4,
                "free": 0,
                "compatible": True,
            },
        ],
        "rule_sets": [
            {"name": "pt", "title": "Portuguese rules", "turn_seconds": 60, "opening_min": 30, "max_seats": 4},
            {"name": "fi", "title": "Finnish rules", "turn_seconds": 120, "opening_min": 30, "max_seats": 4},
        ],
        "at": None,
        "address": "192.168.1.17:7654",
        "notice": None,
    }
    return {**whole, **changes}


def member(name: str, **changes: Any) -> dict[str, Any]:
    whole = {
        "id": name.encode().hex()[:16],
        "name": name,
        "ready": False,
        "bot": False,
        "me": False,
        "connected": True,
        "opener": False,
    }
    return {**whole, **changes}


def seated(members: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    """The table one sits at, before the game."""
    whole = {
        "id": TABLE_ID,
        "name": "Kitchen table",
        "rules": "pt",
        "rules_text": [
            "A group is three or four tiles of one number in different colours.",
            "The first play is worth 30.",
        ],
        "turn_seconds": 60,
        "members": members,
        "min": 2,
        "max": 4,
        "can_start": False,
        "why_not": "Bruno is not ready yet.",
        "bots_possible": True,
    }
    return {**whole, **changes}


class FakeDesk:
    """A `Desk`: shows `lobby` or `table`, notes every command, judges drafts, and refuses what `refusals` names."""

    def __init__(self, table: FakeTable | None = None, lobby_state: dict[str, Any] | None = None) -> None:
        self.table = table
        self.lobby = lobby() if lobby_state is None else lobby_state
        self.name = "Ana"
        self.commands: list[dict[str, Any]] = []
        self.refusals: dict[str, PageRefusal] = {}
        self.answers_drafts = True
        self._watchers: list[Callable[[], None]] = []

    def snapshot(self) -> dict[str, Any]:
        return copy.deepcopy(
            {
                "screen": "table" if self.table else "lobby",
                "me": {"id": "c3" * 16, "name": self.name},
                "lobby": self.lobby,
                "table": self.table.plain() if self.table else None,
            }
        )

    def command(self, message: dict[str, Any]) -> dict[str, Any] | None:
        self.commands.append(message)
        if message["type"] in self.refusals:
            raise self.refusals[message["type"]]
        if message["type"] == "draft" and self.table is not None:
            self.table.draft = message["melds"]
            if self.answers_drafts:
                return self.judged(message)
        if message["type"] == "rename":
            self.name = message["name"]
            self.push()
        return None

    def judged(self, message: dict[str, Any]) -> dict[str, Any]:
        """The answer to a draft."""
        assert self.table is not None
        return {"type": "judged", "draft_no": message["draft_no"], "judged": self.table.judge(message["melds"])}

    def watch(self, changed: Callable[[], None]) -> Callable[[], None]:
        self._watchers.append(changed)
        return lambda: self._watchers.remove(changed)

    def push(self) -> None:
        """Tells every page that something changed."""
        for changed in tuple(self._watchers):
            changed()

    def sent(self, kind: str) -> list[dict[str, Any]]:
        """The commands of one type that came so far."""
        return [command for command in self.commands if command["type"] == kind]

    def draft(self) -> list[list[str]]:
        """The melds of the newest draft, as faces."""
        return [[str(FACES[tile]) for tile in meld["tiles"]] for meld in self.sent("draft")[-1]["melds"]]


def face(tile: TileId | int) -> str:
    return str(FACES[tile])
