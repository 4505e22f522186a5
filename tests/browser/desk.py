"""A desk for the page that plays no game: a scripted lobby or table, and a list of what the page asked for."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.melds import read_meld
from engine.observe import view_for
from engine.rulesets import PT
from engine.state import Call, CallName, MeldKind, Phase, PublicState, Seat, SeatState, Slot, Stock, TableMeld
from engine.tiles import TileId, parse_tiles
from engine.views import ResultView, TileView, to_plain
from node.draft import Draft, OwnTurn
from node.tablerules import rule_set_forms, rules_text
from node.web.server import Download, PageRefusal

FACES = PT.faces
WAIT_S = 5.0
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
    return tuple(TileView(tile, face(tile)) for tile in tiles)


def face(tile: int) -> str:
    return str(FACES[tile])


@dataclass
class FakeTable:
    """What lies on the table and who is to act, as a test wants it; the engine judges. The page's own seat is 0."""

    rack: list[int]
    board: list[list[int]] = field(default_factory=list)
    names: list[str] = field(default_factory=lambda: ["Ana", "Bruno", "Clara"])
    left: tuple[int, ...] = (11, 9)  # tiles of the other seats
    opened: list[bool] = field(default_factory=lambda: [True, True, False])
    connected: list[bool] = field(default_factory=lambda: [True, True, True])
    bots: list[bool] = field(default_factory=lambda: [False, False, True])
    turn: int = 0
    turn_number: int = 6
    phase: Phase = Phase.PLAY
    call: CallName | None = None
    talk: dict[str, Any] = field(default_factory=dict)  # what differs from a table where nothing is to settle
    deal: dict[str, Any] | None = None
    pool: int = 48
    remaining_s: float | None = 41.0
    running: bool = False  # a standing clock keeps texts and pictures the same
    log: list[str] = field(default_factory=lambda: ["Ana draws.", "Bruno lays 3 tiles.", "Clara draws."])
    notice: str | None = None
    draft: list[dict[str, Any]] | None = None
    result: ResultView | None = None
    series: dict[str, Any] = field(default_factory=dict)  # what differs from a series of one game

    def state(self) -> PublicState:
        racks = [tuple(Slot(seat, position) for position in range(count)) for seat, count in self._counts()]
        return PublicState(
            rules=PT,
            game=0,
            phase=self.phase,
            seats=tuple(SeatState(rack, opened) for rack, opened in zip(racks, self.opened, strict=True)),
            stock=Stock(9, 0, self.pool),
            turn=Seat(self.turn),
            turn_number=self.turn_number,
            board=tuple(TableMeld(as_ids(tiles), kind_of(tiles)) for tiles in self.board),
            call=None if self.call is None else Call(self.call, Seat(self.turn)),
        )

    def _counts(self) -> list[tuple[int, int]]:
        return list(enumerate((len(self.rack), *self.left)))

    def plain(self) -> dict[str, Any]:
        """The table as the page gets it."""
        mine = self.turn == 0 and self.phase is Phase.PLAY and self.call is None and self.result is None
        state = self.state()
        own = {Slot(0, position): TileId(tile) for position, tile in enumerate(self.rack)}
        view = to_plain(view_for(state, self.names, Seat(0), own))
        if self.result is not None:
            view["result"] = dataclasses.asdict(self.result)
        draft = self.draft if self.draft is not None else self.untouched()
        return {
            "table_name": "Kitchen table",
            "words": "amber fox lake drum",
            "deck": "tiles",
            "rules_text": rules_text(PT),
            "series": {**self._one_game(), **self.series},
            "view": view,
            "clock": {"remaining_s": self.remaining_s, "running": self.running},
            "connected": self.connected,
            "bots": self.bots,
            "height": 37,
            "talk": {**self._nothing_to_settle(), **self.talk},
            "deal": self.deal,
            "draft": {"melds": draft, "exchanges": [], "judged": self.judge(draft)} if mine else None,
            "log": [{"n": n, "text": text} for n, text in enumerate(self.log)],
            "notice": self.notice,
            "state_hash": "5f3c" * 16,
        }

    def untouched(self) -> list[dict[str, Any]]:
        return [{"tiles": list(tiles), "kind": kind_of(tiles).value} for tiles in self.board]

    def _nothing_to_settle(self) -> dict[str, Any]:
        left = {"pause": 3, "extend": 1, "take_back": 3}
        whys = {"take_back": "No turn can be taken back now.", "long_pause": "The game is not paused."}
        return {
            "requests": {
                command: {"left": left.get(command), "asked": False, "why_not": whys.get(command)}
                for command in ("resume", "extend", "pause", "long_pause", "take_back")
            },
            "pause": None,
            "agreeing": [],
            "leaving": False,
            "away": {"seats": [], "late": [], "without": [], "choice": None, "wishes": {}, "few": len(self.names) == 3},
            "evidence": [],
            "void": None,
            "out": None,
        }

    def _one_game(self) -> dict[str, Any]:
        done = self.result
        scores = [0] * len(self.names) if done is None else list(done.scores)
        return {
            "games": 1,
            "target": 0,
            "played": [] if done is None else [{"scores": scores, "out": done.out, "ended_by": done.ended_by}],
            "totals": scores,
            "over": done is not None,
            "winners": [] if done is None else list(done.winners),
            "standings": sorted(range(len(scores)), key=lambda seat: -scores[seat]),
            "wishes": [False] * len(scores),
            "can_wish": False,
        }

    def judge(self, melds: list[dict[str, Any]]) -> dict[str, Any]:
        """What the engine says of a draft."""
        own = {Slot(0, position): TileId(tile) for position, tile in enumerate(self.rack)}
        board = tuple(
            TableMeld(as_ids(meld["tiles"]), None if meld["kind"] is None else MeldKind(meld["kind"])) for meld in melds
        )
        return OwnTurn.of(self.state(), Seat(0), own, Draft(board)).judged()


def as_ids(tiles: Sequence[int]) -> tuple[TileId, ...]:
    return tuple(TileId(tile) for tile in tiles)


def kind_of(tiles: Sequence[int]) -> MeldKind:
    reading = read_meld([FACES[tile] for tile in tiles])
    assert reading is not None, f"{[face(tile) for tile in tiles]} is no meld"
    return reading.kind


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
        "rule_sets": rule_set_forms(),
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
        "rules_text": rules_text(PT),
        "turn_seconds": 60,
        "members": members,
        "devices": [],
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
        self.file: Download | None = None
        self.lies_about_old_drafts = False  # answers every draft with "all is well" for the one before it
        self._watchers: list[Callable[[], None]] = []
        self._came = asyncio.Event()

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
        self._came.set()
        if message["type"] in self.refusals:
            raise self.refusals[message["type"]]
        if message["type"] == "draft" and self.table is not None:
            return self._judged(self.table, message)
        if message["type"] == "rename":
            self.name = message["name"]
            self.push()
        return None

    def _judged(self, table: FakeTable, message: dict[str, Any]) -> dict[str, Any]:
        judged = table.judge(message["melds"])
        if self.lies_about_old_drafts:
            return {
                "type": "judged",
                "draft_no": message["draft_no"] - 1,
                "judged": {**judged, "faults": [], "can_end": True},
            }
        table.draft = message["melds"]
        return {"type": "judged", "draft_no": message["draft_no"], "judged": judged}

    def game_file(self) -> Download | None:
        return self.file

    def watch(self, changed: Callable[[], None]) -> Callable[[], None]:
        self._watchers.append(changed)
        return lambda: self._watchers.remove(changed)

    def push(self) -> None:
        """Tells every page that something changed."""
        for changed in tuple(self._watchers):
            changed()

    async def expect_commands(self, *commands: dict[str, Any]) -> None:
        """Waits until exactly these commands have come, drafts apart."""
        await self._until(lambda: [c for c in self.commands if c["type"] != "draft"], list(commands))

    async def expect_draft(self, *melds: str) -> None:
        """Waits until the newest draft has these melds, as faces in order."""
        await self._until(self.draft, [meld.split() for meld in melds])

    async def _until(self, what: Callable[[], Any], wanted: Any) -> None:
        try:
            async with asyncio.timeout(WAIT_S):
                while what() != wanted:
                    self._came.clear()
                    await self._came.wait()
        except TimeoutError:
            raise AssertionError(f"expected {wanted}, got {what()}") from None

    def sent(self, kind: str) -> list[dict[str, Any]]:
        """The commands of one type that came so far."""
        return [command for command in self.commands if command["type"] == kind]

    def draft(self) -> list[list[str]]:
        """The melds of the newest draft, as faces; none if none came."""
        drafts = self.sent("draft")
        return [[face(tile) for tile in meld["tiles"]] for meld in drafts[-1]["melds"]] if drafts else []
