"""The player's desk: what the page shows of a node, and what it may ask of it. Implements `web.server.Desk`.

The draft lives here, not in the page: it survives a reload, and the end of the turn's time finds it where it lies.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mnemonic import Mnemonic

from engine.actions import DeclareRummikub, Draw, Pass, Play, SeatAction
from engine.errors import IllegalMove
from engine.melds import Meld
from engine.observe import view_for
from engine.rules import drawing_faults, empties_rack, end_turn, is_untouched, judge
from engine.rulesets import RULE_SETS
from engine.state import CallName, MeldKind, Phase, Seat, Slot, TableMeld, state_hash
from engine.tiles import TileId
from engine.views import to_plain
from node.app import Node, NodeError, rule_set
from node.clock import monotonic_s
from node.config import ConfigError, parse_address
from node.happenings import sentence
from node.web.server import PageRefusal
from protocol.errors import LocalProtocolError
from protocol.events import EntryCommitted, Event, EvidenceFound, GameStarted, MessageRefused
from protocol.roster import clean_name, table_words
from protocol.session import Session

HAPPENINGS_KEPT: Final = 50
_WORDLIST: Final = tuple(Mnemonic("english").wordlist)


@dataclass(frozen=True, slots=True)
class _Draft:
    """The board as it lies in front of the player, unfinished; `turn` is the turn it belongs to."""

    turn: tuple[int, int]
    melds: tuple[TableMeld, ...]


class NodeDesk:
    """The desk of the player of `node`. `add_bot` brings one more bot to the own table, None where there are none."""

    def __init__(self, node: Node, add_bot: Callable[[], None] | None = None) -> None:
        self._node = node
        self._add_bot = add_bot
        self._draft: _Draft | None = None
        self._happenings: deque[tuple[int, str]] = deque(maxlen=HAPPENINGS_KEPT)
        self._told = 0
        node.listen(self._hear)

    # web.server.Desk

    def watch(self, changed: Callable[[], None]) -> Callable[[], None]:
        return self._node.watch(changed)

    def snapshot(self) -> dict[str, Any]:
        session = self._node.session
        playing = session is not None and session.game is not None
        return {
            "screen": "table" if playing else "lobby",
            "me": {"id": self._node.node_id.hex(), "name": self._node.name},
            "lobby": None if playing else self._lobby(session),
            "table": self._table(session) if session is not None and playing else None,
        }

    def command(self, message: dict[str, Any]) -> dict[str, Any] | None:
        try:
            return self._command(message)
        except IllegalMove as move:
            raise PageRefusal(move.code, " ".join(fault.sentence for fault in move.faults)) from move
        except NodeError as error:
            raise PageRefusal("NOT-NOW", str(error)) from error
        except LocalProtocolError as error:
            raise PageRefusal("NOT-NOW", f"That is not possible now: {error}.") from error

    def _command(self, message: dict[str, Any]) -> dict[str, Any] | None:
        match message["type"]:
            case "open_table":
                name = clean_name(message["name"]) or f"{self._node.name}'s table"
                self._node.open_table(name, rule_set(message["rules"], message.get("turn_seconds")))
            case "join":
                self._node.join(bytes.fromhex(message["table"]))
            case "leave" | "new_lobby":
                self._node.leave()
                self._happenings.clear()
            case "ready":
                ready = bool(message["ready"])
                self._node.do(lambda session, _now_s: session.lobby.change(ready=ready))
            case "start":
                self._node.do(_press_start)
            case "add_bot":
                if self._add_bot is None:
                    raise NodeError("This node has no bots.")
                self._add_bot()
            case "add_peer":
                try:
                    self._node.add_peer(*parse_address(message["address"]))
                except ConfigError as error:
                    raise PageRefusal("BAD-ADDRESS", str(error)) from error
            case "rename":
                self._node.rename(clean_name(message["name"]) or self._node.name)
            case "draft":
                return self._take_draft(message)
            case "draw":
                self._act(Draw)
            case "pass":
                self._act(Pass)
            case "end_turn":
                self._end_turn()
            case "rummikub":
                self._call_rummikub()
            case other:
                raise PageRefusal("UNKNOWN", f"This program does not know the command {other}.")
        return None

    # The own turn

    def _session(self) -> Session:
        session = self._node.session
        if session is None or session.game is None or session.seat is None:
            raise NodeError("You are not in a game.")
        return session

    def _act(self, action: Callable[[Seat], SeatAction]) -> None:
        session = self._session()
        assert session.seat is not None
        assert session.state is not None
        own = action(session.seat)
        wrong = drawing_faults(session.state, self._as_play(session))
        if wrong:
            raise IllegalMove(wrong)
        self._node.do(lambda table, now_s: table.act(own, now_s))

    def _end_turn(self) -> None:
        session = self._session()
        assert session.state is not None
        action = end_turn(session.state, self._as_play(session))
        self._node.do(lambda table, now_s: table.act(action, now_s))

    def _call_rummikub(self) -> None:
        session = self._session()
        play = self._as_play(session)
        self._node.do(lambda table, now_s: table.act(DeclareRummikub(play), now_s))

    def _take_draft(self, message: dict[str, Any]) -> dict[str, Any]:
        session = self._session()
        state = session.state
        assert state is not None
        if state.turn != session.seat or state.phase is not Phase.PLAY:
            raise NodeError("It is not your turn.")
        on_board = {tile for meld in state.board for tile in meld.tiles}
        own = set(self._own_slots(session))
        melds = []
        for meld in message["melds"]:
            tiles = tuple(TileId(tile) for tile in meld["tiles"])
            if any(tile not in on_board and tile not in own for tile in tiles):
                raise NodeError("One of these tiles is neither on the board nor on your rack.")
            melds.append(TableMeld(tiles, None if meld.get("kind") is None else MeldKind(meld["kind"])))
        self._draft = _Draft((state.game, state.turn_number), tuple(melds))
        session.draft = self._as_play(session)
        return {"type": "judged", "draft_no": message["draft_no"], "judged": self._judged(session)}

    def _own_slots(self, session: Session) -> dict[TileId, Slot]:
        """The slot of every tile of the own rack."""
        state, seat = session.state, session.seat
        assert state is not None
        assert seat is not None
        known = state.known_tiles()
        slots = {tile: slot for slot, tile in session.own_tiles().items()}
        return slots | {known[slot]: slot for slot in state.seats[seat].rack if slot in known}

    def _melds(self, session: Session) -> tuple[TableMeld, ...]:
        """The draft of this turn, or the board where there is none."""
        state = session.state
        assert state is not None
        if self._draft is not None and self._draft.turn == (state.game, state.turn_number):
            return self._draft.melds
        return state.board

    def _laid(self, session: Session) -> tuple[tuple[Slot, TileId], ...]:
        own = self._own_slots(session)
        return tuple((own[tile], tile) for meld in self._melds(session) for tile in meld.tiles if tile in own)

    def _as_play(self, session: Session) -> Play:
        assert session.seat is not None
        return Play(session.seat, self._melds(session), self._laid(session))

    def _judged(self, session: Session) -> dict[str, Any]:
        state, seat = session.state, session.seat
        assert state is not None
        assert seat is not None
        play = self._as_play(session)
        verdict = judge(state, play)
        melds = verdict.melds or (None,) * len(play.board)
        untouched = is_untouched(state, play)
        found = () if untouched else verdict.faults
        legal = not untouched and not found
        opened = state.seats[seat].opened
        return {
            "faults": [
                {"code": f.code, "sentence": f.sentence, "melds": list(f.melds), "tiles": list(f.tiles)} for f in found
            ],
            "melds": [_read(meld, table_meld) for meld, table_meld in zip(melds, play.board, strict=True)],
            "opening_points": verdict.opening_points,
            "opening_needed": 0 if opened else state.rules.opening_min,
            "laid": len(play.laid),
            "can_end": legal,
            "can_rummikub": legal and empties_rack(state, play),
            "can_draw": untouched,
        }

    # What the page shows

    def _lobby(self, session: Session | None) -> dict[str, Any]:
        tables = [
            {
                "id": seen.table.hex(),
                "name": clean_name(seen.name),
                "rules": seen.rules,
                "phase": seen.phase,
                "seats": seen.seats,
                "free": seen.free,
                "compatible": seen.rules in RULE_SETS,
            }
            for seen in self._node.hall.tables()
        ]
        return {
            "tables": tables,
            "rule_sets": [
                {
                    "name": rules.name,
                    "title": rules.name,
                    "turn_seconds": rules.turn_seconds,
                    "opening_min": rules.opening_min,
                    "max_seats": rules.max_seats,
                }
                for rules in RULE_SETS.values()
            ],
            "at": None if session is None else self._at(session),
            "address": f"port {self._node.port}",
            "notice": self._node.notice,
        }

    def _at(self, session: Session) -> dict[str, Any]:
        lobby, card = session.lobby, session.lobby.table_card
        rules = None if card is None else card.rules
        why_not = lobby.why_not_start(but_for=self._node.node_id)
        return {
            "id": session.table.hex(),
            "name": "" if card is None else clean_name(card.name),
            "rules": "" if rules is None else rules.name,
            "rules_text": [],
            "turn_seconds": 0 if rules is None else rules.turn_seconds,
            "members": [
                {
                    "id": member.node.hex(),
                    "name": clean_name(member.name),
                    "ready": member.ready,
                    "bot": member.bot,
                    "me": member.node == self._node.node_id,
                    "connected": member.connected,
                    "opener": member.opener,
                }
                for member in lobby.members()
            ],
            "min": 2 if rules is None else rules.min_seats,
            "max": 4 if rules is None else rules.max_seats,
            "can_start": why_not is None,
            "why_not": why_not,
            "bots_possible": self._add_bot is not None,
        }

    def _table(self, session: Session) -> dict[str, Any]:
        genesis, state = session.genesis, session.state
        assert genesis is not None
        assert state is not None
        linked = self._node.linked()
        names = self._names(session)
        view = view_for(state, names, session.seat, session.own_tiles())
        own_turn = state.phase is Phase.PLAY and state.call is None and state.turn == session.seat
        draft = None
        if own_turn:
            draft = {
                "melds": [
                    {"tiles": list(meld.tiles), "kind": None if meld.kind is None else meld.kind.value}
                    for meld in self._melds(session)
                ],
                "judged": self._judged(session),
            }
        return {
            "table_name": clean_name(genesis.table_name),
            "words": table_words(genesis, _WORDLIST),
            "view": to_plain(view),
            "clock": {
                "remaining_s": session.remaining_s(monotonic_s()),
                "running": session.clock.end_s is not None,
            },
            "connected": [member.node == self._node.node_id or member.node in linked for member in genesis.members],
            "bots": [member.bot for member in genesis.members],
            "height": session.height,
            "waiting": self._waiting(session, names, linked),
            "draft": draft,
            "log": [{"n": number, "text": text} for number, text in self._happenings],
            "notice": None if self._node.runner is None else self._node.runner.failure,
            "state_hash": state_hash(state).hex(),
        }

    def _waiting(self, session: Session, names: Sequence[str], linked: Sequence[bytes]) -> str | None:
        """Whom the table waits for: who is out of reach first, else who owes something to the open call."""
        genesis, state = session.genesis, session.state
        assert genesis is not None
        assert state is not None
        if state.phase is Phase.OVER:
            return None
        away = [
            names[seat]
            for seat, member in enumerate(genesis.members)
            if member.node != self._node.node_id and member.node not in linked
        ]
        if away:
            return f"Waiting for {' and '.join(away)}, who cannot be reached."
        if state.call is None:
            return None
        doing = {
            CallName.START: "The tiles are being shuffled.",
            CallName.RACKS: "The tiles are being dealt.",
            CallName.FINAL: "The racks are being opened.",
        }
        return doing.get(state.call.name)

    def _names(self, session: Session) -> list[str]:
        """The players' names by seat; equal ones are told apart by their seat."""
        assert session.genesis is not None
        names = [clean_name(member.name) or f"Player {seat + 1}" for seat, member in enumerate(session.genesis.members)]
        return [name if names.count(name) == 1 else f"{name} ({seat + 1})" for seat, name in enumerate(names)]

    # What happens

    def _hear(self, event: Event) -> None:
        session = self._node.session
        text: str | None = None
        match event:
            case GameStarted():
                self._happenings.clear()
                self._draft = None
                text = "The game begins."
            case EntryCommitted() if session is not None and session.state is not None:
                text = sentence(event, session.state, self._names(session))
            case EvidenceFound(node=node, reason=reason):
                text = f"{self._name_of(node)} broke the rules of the table: {reason}."
            case MessageRefused(node=node, reason=reason) if node is not None:
                text = f"A message of {self._name_of(node)} was refused: {reason}."
            case _:
                return
        if text is not None:
            self._told += 1
            self._happenings.append((self._told, text))

    def _name_of(self, node: bytes) -> str:
        session = self._node.session
        if session is not None and session.genesis is not None:
            for seat, member in enumerate(session.genesis.members):
                if member.node == node:
                    return self._names(session)[seat]
        return f"node {node.hex()[:8]}"


def _press_start(session: Session, _now_s: float) -> None:
    session.lobby.change(ready=True, start=True)


def _read(reading: Meld | None, meld: TableMeld) -> dict[str, Any]:
    """How a meld of the draft reads: kind and points, or nothing if it is none."""
    if reading is None:
        return {"kind": None, "points": 0, "stands_for": [[] for _tile in meld.tiles]}
    return {
        "kind": reading.kind.value,
        "points": reading.points,
        "stands_for": [[str(tile) for tile in faces] for faces in reading.by_place],
    }
