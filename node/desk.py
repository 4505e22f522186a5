"""The player's desk: what the page shows of a node, and what it may ask of it. Implements `web.server.Desk`.

The draft lives here, not in the page: it survives a reload, and the end of the turn's time finds it where it lies.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from engine.actions import DeclareRummikub, Draw
from engine.errors import IllegalMove
from engine.observe import view_for
from engine.plays import is_untouched
from engine.rulesets import RULE_SETS
from engine.series import standing
from engine.state import PublicState, Seat, TableMeld, state_hash
from engine.views import to_plain
from node.app import Node, NodeError, together
from node.clock import local_date, monotonic_s, stop_after
from node.config import ConfigError, parse_address
from node.draft import Draft, NotADraft, OwnTurn, may_draft
from node.files import game_file_name
from node.happenings import sentence
from node.hints import hint
from node.presses import PressHandler, refusal_of, request_of
from node.tablerules import BadTable, rule_set_forms, rules_text, table_rules
from node.tabletalk import COMMANDS as REQUESTS
from node.tabletalk import table_talk
from node.tablewords import names_of, words_of
from node.web.commands import PageRefusal
from node.web.server import Download
from protocol.dealing.progress import deal_progress
from protocol.errors import LocalProtocolError
from protocol.events import (
    EntryCommitted,
    Event,
    EvidenceFound,
    GameStarted,
    MessageRefused,
    PressAnswered,
    Pressed,
)
from protocol.gamefile import game_file_of
from protocol.messages import Button
from protocol.roster import clean_name
from protocol.session import Session

HAPPENINGS_KEPT: Final = 50
HINT_S: Final = 0.5  # how long a hint may be looked for


@dataclass(frozen=True, slots=True)
class _KeptDraft:
    """A draft and the moment it belongs to: a game, a turn, and the board as it lay."""

    moment: tuple[int, int, tuple[TableMeld, ...]]
    draft: Draft


class NodeDesk:
    """The desk of the player of `node`. `add_bot` brings one more bot to the own table, None where there are none."""

    def __init__(self, node: Node, add_bot: Callable[[], None] | None = None) -> None:
        self._node = node
        self._add_bot = add_bot
        self._kept: _KeptDraft | None = None
        self._happenings: deque[tuple[int, str]] = deque(maxlen=HAPPENINGS_KEPT)
        self._told = 0
        self._warned: tuple[int, int, tuple[TableMeld, ...]] | None = None  # when a press was told what it costs
        node.listen(self._hear)
        PressHandler(node, self._pressed)

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

    def game_file(self) -> Download | None:
        session = self._node.session
        if session is None or session.genesis is None:
            return None
        name = game_file_name(clean_name(session.genesis.table_name), local_date())
        return Download(name, game_file_of(session.log, session.evidence))

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
                try:
                    rules = table_rules(message["rules"], message.get("turn_seconds"), message.get("options") or {})
                except BadTable as bad:
                    raise PageRefusal(bad.code, str(bad), bad.fields) from bad
                self._node.open_table(name, rules)
            case "join":
                self._node.join(bytes.fromhex(message["table"]))
            case "leave" | "new_lobby":
                self._node.leave()
            case "ready":
                ready = bool(message["ready"])
                self._node.do(lambda session, _now_s: session.lobby.change(ready=ready))
            case "start":
                self._node.do(_press_start)
            case "refuse_device":
                device, refused = bytes.fromhex(message["device"]), bool(message["refused"])
                self._node.do(lambda session, _now_s: session.lobby.refuse_device(device, refused=refused))
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
            case "hint":
                return self._hint()
            case "draw" | "pass" | "take_discard" | "discard" | "lay":
                self._act(message["type"], message.get("tile"))
            case "end_turn":
                self._end_turn(bool(message.get("anyway")))
            case "next_game":
                self._node.do(lambda table, now_s: table.wish_next_game(now_s))
            case "rummikub":
                self._call_rummikub()
            case "go_on_without":
                seats = [Seat(seat) for seat in message["seats"]]
                self._node.do(lambda table, now_s: table.go_on_without(seats, now_s))
            case "keep_waiting":
                self._node.do(lambda table, now_s: table.keep_waiting(now_s))
            case "close_game":
                self._node.close()
            case kind if kind in REQUESTS:
                self._node.do(lambda table, now_s: table.ask(REQUESTS[kind], now_s))
            case other:
                raise PageRefusal("UNKNOWN", f"This program does not know the command {other}.")
        return None

    # The own turn

    def _session(self) -> Session:
        session = self._node.session
        if session is None or session.game is None or session.seat is None:
            raise NodeError("You are not in a game.")
        return session

    def _act(self, command: str, tile: int | None = None) -> None:
        action = self._own_turn(self._session()).action(command, tile)
        self._node.do(lambda table, now_s: table.act(action, now_s))

    def _end_turn(self, anyway: bool) -> None:
        """`anyway`: even if that costs tiles. Nobody pays without having been asked."""
        turn = self._own_turn(self._session())
        action = turn.action("end_turn")
        if isinstance(action, Draw) and not anyway:
            reasons = " ".join(fault["sentence"] for fault in turn.judged()["faults"])
            raise PageRefusal("ILLEGAL-COSTS", reasons)
        self._node.do(lambda table, now_s: table.act(action, now_s))

    def press(self, button: Button) -> str | None:
        """A button of this player's own display was pressed. None if it was done, else why not, in a sentence."""
        return refusal_of(lambda: self._do_press(button))

    def _pressed(self, pressed: Pressed) -> None:
        """A press of the table device in the own turn. Raises as the clicks do."""
        self._do_press(pressed.button)

    def _do_press(self, button: Button) -> None:
        session = self._session()
        state = session.state
        assert state is not None
        asked = request_of(button, paused=state.paused is not None)
        if asked is not None:
            self._node.do(lambda table, now_s: table.ask(asked, now_s))
        elif button is Button.RUMMIKUB:
            self._call_rummikub()
        else:
            self._end_turn_by_press(session, state)

    def _end_turn_by_press(self, session: Session, state: PublicState) -> None:
        """The draft as it lies; a draw where nothing has moved. What costs tiles is done at the second press."""
        turn = self._own_turn(session)
        if is_untouched(state, turn.play):
            if state.rules.discards:
                raise PageRefusal("NO-CARD", "Choose on your own screen which card to throw.")
            self._act("draw" if state.stock.left else "pass")
            return
        moment = _moment(state)
        try:
            self._end_turn(anyway=self._warned == moment)
        except PageRefusal as refusal:
            if refusal.code != "ILLEGAL-COSTS":
                raise
            self._warned = moment
            cost = state.rules.illegal_draw
            raise PageRefusal(refusal.code, f"Costs {cost} tiles: press again. {refusal.sentence}") from refusal

    def _call_rummikub(self) -> None:
        play = self._own_turn(self._session()).play
        self._node.do(lambda table, now_s: table.act(DeclareRummikub(play), now_s))

    def _take_draft(self, message: dict[str, Any]) -> dict[str, Any]:
        session = self._session()
        state, seat = session.state, session.seat
        assert state is not None
        assert seat is not None
        if not may_draft(state, seat):
            raise NodeError("It is not your turn.")
        try:
            draft = self._own_turn(session).read_draft(message)
        except NotADraft as error:
            raise NodeError(str(error)) from error
        self._kept = _KeptDraft(_moment(state), draft)
        turn = self._own_turn(session)
        session.draft = turn.play
        return {"type": "judged", "draft_no": message["draft_no"], "judged": turn.judged()}

    def _hint(self) -> dict[str, Any]:
        """What could be done, as the board lies at the start of the turn. For the player's own page only."""
        session = self._session()
        state, seat = session.state, session.seat
        assert state is not None
        assert seat is not None
        if not may_draft(state, seat) or state.call is not None:
            raise NodeError("It is not your turn.")
        with stop_after(HINT_S) as stop:
            found = hint(state, seat, session.own_tiles(), stop)
        return {"type": "hint", "say": found.say, "tiles": found.tiles, "steps": found.steps, **found.draft.plain()}

    def _own_turn(self, session: Session) -> OwnTurn:
        """The own seat with the draft of this turn, or with the board as it is where there is none."""
        state, seat = session.state, session.seat
        assert state is not None
        assert seat is not None
        kept = self._kept.draft if self._kept is not None and self._kept.moment == _moment(state) else None
        return OwnTurn.of(state, seat, session.own_tiles(), kept)

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
            "rule_sets": rule_set_forms(),
            "at": None if session is None else self._at(session),
            "address": self._node.address,
            "notice": together(self._node.notice, self._node.trouble),
        }

    def _at(self, session: Session) -> dict[str, Any]:
        lobby, card = session.lobby, session.lobby.table_card
        rules = None if card is None else card.rules
        why_not = lobby.why_not_start(but_for=self._node.node_id)
        return {
            "id": session.table.hex(),
            "name": "" if card is None else clean_name(card.name),
            "rules": "" if rules is None else rules.name,
            "rules_text": [] if rules is None else rules_text(rules),
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
            "devices": [
                {
                    "id": device.node.hex(),
                    "name": device.name,
                    "refused": device.node in lobby.own.refused,
                    "refused_by": list(device.refused_by),
                }
                for device in lobby.devices()
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
        names = self._names(session)
        away = {absence.seat for absence in session.absences()}
        view = view_for(state, names, session.seat, session.own_tiles())
        draft = None
        if session.seat is not None and may_draft(state, session.seat) and state.call is None:
            turn = self._own_turn(session)
            draft = {**turn.draft.plain(), "judged": turn.judged()}
        return {
            "table_name": clean_name(genesis.table_name),
            "words": words_of(genesis),
            "deck": genesis.rules.deck,
            "rules_text": rules_text(genesis.rules),
            "series": self._series(session, state),
            "view": to_plain(view),
            "clock": {
                "remaining_s": session.remaining_s(monotonic_s()),
                "running": session.clock.end_s is not None,
            },
            "connected": [seat not in away for seat in range(len(genesis.members))],
            "bots": [member.bot for member in genesis.members],
            "height": session.height,
            "talk": table_talk(session, names, monotonic_s()),
            "deal": self._deal(session),
            "draft": draft,
            "log": [{"n": number, "text": text} for number, text in self._happenings],
            "notice": self._node.table_notice,
            "state_hash": state_hash(state).hex(),
        }

    def _series(self, session: Session, state: PublicState) -> dict[str, Any]:
        """The games played so far, where the series stands, and who wishes the next game."""
        played = (*state.results, *(() if state.result is None else (state.result,)))
        stands = standing(state.rules, played, len(state.seats))
        wishes = session.next_game_wishes()
        return {
            "games": state.rules.rounds,
            "target": state.rules.target,
            "played": [
                {"scores": list(game.scores), "out": game.out, "ended_by": game.ended_by.value} for game in played
            ],
            "totals": list(stands.totals),
            "over": stands.over,
            "winners": list(stands.winners),
            "standings": list(stands.standings),
            "wishes": [Seat(seat) in wishes for seat in range(len(state.seats))],
            "can_wish": session.may_wish(),
        }

    def _deal(self, session: Session) -> dict[str, Any] | None:
        """How far the open call is; None while nothing is owed."""
        call = None if session.game is None else session.game.call
        progress = None if call is None else deal_progress(call)
        if progress is None:
            return None
        return {
            "step": progress.step.value,
            "at_work": list(progress.at_work),
            "done": progress.done,
            "total": progress.total,
            "share": round(progress.share, 3),
        }

    def _names(self, session: Session) -> list[str]:
        assert session.genesis is not None
        return names_of(session.genesis)

    # What happens

    def _hear(self, event: Event) -> None:
        session = self._node.session
        text: str | None = None
        match event:
            case GameStarted():
                self._happenings.clear()
                self._kept = None
                text = "The game begins."
            case EntryCommitted() if session is not None and session.state is not None:
                text = sentence(event, session.state, self._names(session))
            case EvidenceFound(node=node, reason=reason):
                text = f"{self._name_of(node)} broke the rules of the table: {reason}."
            case MessageRefused(node=node, reason=reason) if node is not None:
                text = f"A message of {self._name_of(node)} was refused: {reason}."
            case PressAnswered(device=device, refused=str(refused)):
                text = f"The button of {clean_name(device)} did nothing. {refused}"
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


def _moment(state: PublicState) -> tuple[int, int, tuple[TableMeld, ...]]:
    """What a draft belongs to: with cards the board changes within a turn, and a draft of before is of no use."""
    return state.game, state.turn_number, state.board
