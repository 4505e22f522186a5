"""Worked cases: an input and the expected verdict as plain data, judged by the very code that runs a game.

The format is that of tests/cases/README.md. A case's position is built as a public state, its events are put through
`rules`, `scoring`, `series` and `setup`; nothing here knows a rule of the game.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from engine import rules, scoring, setup
from engine.actions import (
    Action,
    DeclareRummikub,
    Discard,
    Draw,
    DrawDealt,
    Exchange,
    Pass,
    Play,
    RacksDealt,
    StartDealt,
    TakeDiscard,
    Timeout,
)
from engine.board import Layout, draft_play, tiles_on
from engine.errors import IllegalMove
from engine.faces import codes_of
from engine.flow import actor_faults
from engine.jokers import FaceExchange
from engine.legality import judge_turn, turn_of_faces
from engine.melds import read_meld
from engine.options import with_options
from engine.plays import empties_rack
from engine.rulesets import RULE_SETS, RuleSet
from engine.series import standing
from engine.state import (
    CallName,
    EndedBy,
    GameResult,
    MeldKind,
    Phase,
    PublicState,
    Seat,
    SeatState,
    Slot,
    Stock,
    TableMeld,
)
from engine.tiles import Tile, TileId, parse_tile

Plain = dict[str, Any]


@dataclass(frozen=True, slots=True)
class CaseResult:
    """How a case went. `got` has the fields of `expected`; `rule` in it holds all codes that were found."""

    id: str
    passed: bool
    expected: Plain
    got: Plain


def run_case(case: Mapping[str, Any]) -> CaseResult:
    """Judge one case. Raises `KeyError` or `ValueError` if it is not well formed."""
    base = RULE_SETS[case["rules"]]
    chosen = with_options(base, case.get("options", {}))
    expected = dict(case["expect"])
    got = _RUNNERS[case["kind"]](chosen, case)
    shown = {name: got.get(name) for name in expected}
    return CaseResult(
        case["id"], all(_agrees(name, expected[name], got.get(name)) for name in expected), expected, shown
    )


def _agrees(name: str, expected: Any, got: Any) -> bool:
    if name == "rule":
        return bool(set(expected) & set(got or ()))
    if name == "table":
        return got is not None and _table_key(expected) == _table_key(got)
    if name in ("rack_kept", "hand_after"):
        return got is not None and sorted(expected) == sorted(got)
    if name == "winners":
        return sorted(expected) == sorted(got or ())
    return bool(expected == got)


def _table_key(table: Iterable[Sequence[str]]) -> list[tuple[str, Sequence[str]]]:
    """Equal for tables that differ in the order of their sets, or within a group, only."""
    key = []
    for texts in table:
        meld = read_meld([parse_tile(text) for text in texts])
        ordered = meld is not None and meld.kind is MeldKind.RUN
        key.append(("run", list(texts)) if ordered else ("other", sorted(texts)))
    return sorted(key, key=str)


# Positions


class _Deck:
    """Gives out the tile ids of a deck by face, each once."""

    def __init__(self, chosen: RuleSet) -> None:
        self._free: dict[Tile, list[TileId]] = {}
        for tile, face in enumerate(chosen.faces):
            self._free.setdefault(face, []).append(TileId(tile))

    def take(self, text: str) -> TileId:
        face = parse_tile(text)
        if not self._free.get(face):
            raise ValueError(f"the deck has no more {text}")
        return self._free[face].pop(0)


@dataclass(frozen=True, slots=True)
class _Position:
    """A state in which seat 0 is to act, and the tiles behind its slots."""

    state: PublicState
    rack: dict[Slot, TileId]

    def place(self, sets: Sequence[Sequence[str]]) -> tuple[TableMeld, ...]:
        """Melds on the table as ids: tiles of the table first, then of the rack, then ones from nowhere."""
        faces = self.state.faces
        on_table = [tile for meld in self.state.board for tile in meld.tiles]
        supply = [*on_table, *self.rack.values()]
        supply += [TileId(tile) for tile in range(len(faces)) if tile not in supply]
        melds = []
        for texts in sets:
            tiles = []
            for text in texts:
                tile = next((tile for tile in supply if faces[tile] == parse_tile(text)), None)
                if tile is None:
                    raise ValueError(f"the deck has no more {text}")
                supply.remove(tile)
                tiles.append(tile)
            melds.append(TableMeld(tuple(tiles)))
        return tuple(melds)

    def texts(self, board: Iterable[TableMeld]) -> list[list[str]]:
        return [[str(self.state.faces[tile]) for tile in meld.tiles] for meld in board]


def _position(chosen: RuleSet, case: Mapping[str, Any], seats: int, pool: int) -> _Position:
    deck = _Deck(chosen)
    board = _board(chosen, deck, case["before"])
    on_board = {Slot(0, 200 + index): tile for index, tile in enumerate(tiles_on(board))}
    rack = {Slot(0, 100 + index): deck.take(text) for index, text in enumerate(case["rack"])}
    own = SeatState(rack=tuple(rack), opened=case["opened"])
    others = tuple(SeatState(rack=(Slot(0, 300 + seat),)) for seat in range(1, seats))
    state = PublicState(
        rules=chosen,
        game=0,
        phase=Phase.PLAY,
        seats=(own, *others),
        stock=Stock(0, 0, pool),
        starter=Seat(0),
        board=board,
        known=tuple(sorted(on_board.items())),
        passes=case.get("passes_before", 0),
    )
    return _Position(state, rack)


def _board(chosen: RuleSet, deck: _Deck, sets: Iterable[Sequence[str]]) -> tuple[TableMeld, ...]:
    """A table as it lies: each meld with the reading that it has if nothing was said."""
    board = []
    for texts in sets:
        meld = read_meld([parse_tile(text) for text in texts])
        board.append(TableMeld(tuple(deck.take(text) for text in texts), None if meld is None else meld.kind))
    return tuple(board)


def _layout(sets: Iterable[Sequence[str]]) -> Layout:
    return tuple((codes_of(parse_tile(text) for text in texts), None) for texts in sets)


# The kinds of cases


def _set(chosen: RuleSet, case: Mapping[str, Any]) -> Plain:
    try:
        tiles = [parse_tile(text) for text in case["tiles"]]
    except ValueError:
        return {"valid": False}
    meld = read_meld(tiles, MeldKind(case["as"]) if "as" in case else None)
    if meld is None:
        return {"valid": False}
    stands_for = [[str(tile) for tile in options] for options in meld.stands_for]
    return {"valid": True, "type": meld.kind.value, "points": meld.points, "stands_for": stands_for}


def _turn(chosen: RuleSet, case: Mapping[str, Any]) -> Plain:
    """Judged on faces; a turn that loses or borrows no tile also goes through `apply`."""
    exchanges = [swap for swap in case.get("swaps", ()) if swap.get("announced", True)]
    rack_after = case.get("rack_after")
    turn = turn_of_faces(
        case["opened"],
        _layout(case["before"]),
        _layout(case["after"]),
        codes_of(parse_tile(text) for text in case["rack"]),
        None if rack_after is None else codes_of(parse_tile(text) for text in rack_after),
        _layout(case.get("opening", ())),
        tuple(FaceExchange(swap["set"], swap["pos"], *codes_of([parse_tile(swap["tile"])])) for swap in exchanges),
    )
    verdict = judge_turn(chosen, turn)
    faults, points, wins = verdict.faults, verdict.opening_points, False
    if not (turn.lost or turn.taken or turn.foreign):
        position = _position(chosen, case, seats=2, pool=10)
        play = _play(position, case["after"], case, exchanges)
        judged = rules.judge(position.state, play)
        faults, points = judged.faults, judged.opening_points
        if not faults and empties_rack(position.state, play):
            wins = rules.apply(position.state, DeclareRummikub(play)).phase is Phase.FINAL
    return {"legal": not faults, "rule": [fault.code for fault in faults], "opening_points": points, "wins": wins}


def _play(
    position: _Position, sets: Sequence[Sequence[str]], case: Mapping[str, Any], swaps: Iterable[Mapping[str, Any]] = ()
) -> Play:
    board = position.place(sets)
    lying = [tile for meld in board for tile in meld.tiles]
    own = [tile for tile in position.rack.values() if tile in lying]
    exchanges = []
    for swap in swaps:
        face = parse_tile(swap["tile"])
        found = (tile for tile in (*own, *lying) if position.state.faces[tile] == face)
        exchanges.append(Exchange(swap["set"], swap["pos"], next(found, TileId(0))))
    opening = []
    spare = list(own)
    for texts in case.get("opening", ()):
        tiles = []
        for text in texts:
            tile = next((tile for tile in (*spare, *lying) if position.state.faces[tile] == parse_tile(text)), None)
            if tile is None:
                raise ValueError(f"the opening holds {text}, which was not laid")
            if tile in spare:
                spare.remove(tile)
            tiles.append(tile)
        opening.append(TableMeld(tuple(tiles)))
    return draft_play(Seat(0), position.rack, board, opening, exchanges)


def _event(chosen: RuleSet, case: Mapping[str, Any]) -> Plain:
    position = _position(chosen, case, case.get("players", 2), case["pool"])
    state = position.state
    if case.get("game_over"):
        state = replace(state, phase=Phase.OVER)
    elif not case.get("actor_on_turn", True):
        state = replace(state, turn=Seat(1))
    layout = case.get("layout", case["before"])
    draft = _play(position, layout, case)
    on_turn = not actor_faults(state, Seat(0))
    try:
        action = _pressed(state, draft, case["event"])
        after = state if action is None else rules.apply(state, action)
    except IllegalMove as move:
        codes = [fault.code for fault in move.faults]
        table = position.texts(draft.board if on_turn else state.board)
        laid = {slot for slot, _tile in draft.laid} if on_turn else set()
        return _after_event(position, state, state, laid) | {"accepted": False, "rule": codes, "table": table}
    accepted = not (case["event"] == "commit" and isinstance(action, Draw))
    laid = {slot for slot, _tile in position.rack.items() if slot not in after.seats[0].rack}
    return _after_event(position, state, after, laid) | {"accepted": accepted}


def _pressed(state: PublicState, draft: Play, event: str) -> Action | None:
    """What the button pressed, or the clock, makes of the draft; None: the draft is taken back, nothing else."""
    if event in ("draw", "pass"):
        wrong = rules.drawing_faults(state, draft)
        if wrong:
            raise IllegalMove(wrong)
        return Draw(Seat(0)) if event == "draw" else Pass(Seat(0))
    if event == "commit":
        return rules.end_turn(state, draft)
    if event == "rummikub":
        return DeclareRummikub(draft)
    wrong = actor_faults(state, Seat(0))
    if wrong:
        raise IllegalMove(wrong)
    return (rules.at_time_up(state, draft) or Timeout()) if event == "time_out" else None


def _after_event(position: _Position, before: PublicState, after: PublicState, laid: set[Slot]) -> Plain:
    drawing = after.call is not None and after.call.name is CallName.DRAW
    drawn = len(after.call.slots) if after.call is not None and drawing else 0
    over = after.phase in (Phase.FINAL, Phase.OVER)
    done = rules.apply(after, DrawDealt()) if drawing else after
    return {
        "drawn": drawn,
        "table": position.texts(after.board),
        "rack_kept": [str(after.faces[tile]) for slot, tile in position.rack.items() if slot not in laid],
        "next_player": not over and done.turn != before.turn,
        "opened": after.seats[0].opened,
        "game_over": over,
    }


def _card_turn(chosen: RuleSet, case: Mapping[str, Any]) -> Plain:
    position, order = _card_position(chosen, case)
    state = position.state
    tiles = {**position.rack, **order}
    for index, said in enumerate(case["actions"]):
        try:
            state = rules.apply(state, _card_action(state, tiles, said))
        except IllegalMove as move:
            codes = [fault.code for fault in move.faults]
            return {"legal": False, "at": index, "rule": [*codes, *_OVER.get(codes[0], ())]}
        if state.call is not None and state.call.name is CallName.DRAW:
            state = rules.apply(state, DrawDealt())

    def texts(slots: Iterable[Slot]) -> list[str]:
        return [str(state.faces[tiles[slot]]) for slot in slots]

    stock, _rest = state.stock.take(state.stock.left)
    return {
        "legal": True,
        "out": state.phase is Phase.FINAL,
        "hand_after": texts(state.seats[0].rack),
        "stock_after": texts(stock),
        "discard_after": texts(state.discard),
    }


_OVER: Final = {"GAME-OVER": ("ES-TURN-OVER",)}  # after the last card nothing more may be done in the turn either


def _card_position(chosen: RuleSet, case: Mapping[str, Any]) -> tuple[_Position, dict[Slot, TileId]]:
    """The position, and the tiles behind the slots of stock and discard pile."""
    deck = _Deck(chosen)
    board = _board(chosen, deck, case["table"])
    rack = {Slot(0, 100 + index): deck.take(text) for index, text in enumerate(case["hand"])}
    pile = {Slot(0, 200 + index): deck.take(text) for index, text in enumerate(case["discard"])}
    stock = {Slot(0, index): deck.take(text) for index, text in enumerate(case["stock"])}
    on_table = {Slot(0, 300 + index): tile for index, tile in enumerate(tiles_on(board))}
    state = PublicState(
        rules=chosen,
        game=0,
        phase=Phase.PLAY,
        seats=(SeatState(rack=tuple(rack)), SeatState(rack=(Slot(0, 400),))),
        stock=Stock(0, 0, len(stock)),
        starter=Seat(0),
        board=board,
        discard=tuple(pile),
        known=tuple(sorted({**pile, **on_table}.items())),
    )
    return _Position(state, rack), {**pile, **stock}


def _card_action(state: PublicState, tiles: Mapping[Slot, TileId], said: Sequence[Any]) -> Action:
    seat = Seat(0)
    held = {tiles[slot]: slot for slot in state.seats[seat].rack}
    ids = {str(face): TileId(tile) for tile, face in reversed(list(enumerate(state.faces)))}
    board = [list(meld.tiles) for meld in state.board]
    match said:
        case ["draw", "stock"]:
            return Draw(seat)
        case ["draw", "discard"]:
            return TakeDiscard(seat)
        case ["discard", card]:
            tile = ids[card]
            return Discard(seat, held.get(tile, Slot(0, -1)), tile)
        case ["end"]:
            return Pass(seat)
        case ["meld", cards]:
            board.append([ids[card] for card in cards])
        case ["add", index, cards]:
            kind = state.board[index].kind
            board[index] += [ids[card] for card in cards]
            if kind is MeldKind.RUN:
                board[index].sort(key=lambda tile: state.faces[tile].number)
        case ["move", index, card, target]:
            board[index].remove(ids[card])
            if target is not None:
                board[target].append(ids[card])
        case _:
            raise ValueError(f"no such action in a case: {said!r}")
    melds = tuple(TableMeld(tuple(meld)) for meld in board if meld)
    lying = {tile for meld in melds for tile in meld.tiles}
    return Play(seat, melds, tuple(sorted((slot, tile) for tile, slot in held.items() if tile in lying)))


def _score(chosen: RuleSet, case: Mapping[str, Any]) -> Plain:
    def faces(name: str) -> list[list[Tile]]:
        return [[parse_tile(text) for text in player.get(name, ())] for player in case["players"]]

    if chosen.discards:
        out = next((seat for seat, player in enumerate(case["players"]) if player.get("out")), None)
        score = scoring.score_cards(chosen, faces("table"), faces("hand"), out)
    elif case["ended_by"] == "blocked":
        score = scoring.score_blocked(chosen, faces("rack"))
    else:
        racks = faces("rack")
        score = scoring.score_out(chosen, racks, next(seat for seat, rack in enumerate(racks) if not rack))
    winners = list(score.winners)
    return {"scores": list(score.scores), "winner": winners[0] if len(winners) == 1 else winners, "winners": winners}


def _series(chosen: RuleSet, case: Mapping[str, Any]) -> Plain:
    results = [
        GameResult(
            EndedBy.BLOCKED if game["out"] is None else EndedBy.OUT,
            tuple(game["scores"]),
            (),
            None if game["out"] is None else Seat(game["out"]),
        )
        for game in case["rounds"]
    ]
    stands = standing(chosen, results, len(case["rounds"][0]["scores"]))
    return {
        "totals": list(stands.totals),
        "over": stands.over,
        "winners": list(stands.winners),
        "standings": list(stands.standings),
    }


def _setup(chosen: RuleSet, case: Mapping[str, Any]) -> Plain:
    if "start_draw" in case:
        outcome = setup.lot_outcome([parse_tile(text) for text in case["start_draw"]])
        drawn = [parse_tile(text) for text in case["start_draw"]]
        again = len(outcome) > 1 or drawn[outcome[0]].is_joker
        return {"redraw": list(outcome)} if again else {"starter": outcome[0]}
    try:
        state = setup.start_series(chosen, case["players"])
    except IllegalMove as move:
        return {"valid": False, "rule": [move.code]}
    state = rules.apply(state, StartDealt(Seat(0)))
    state = rules.apply(state, RacksDealt(TileId(0) if chosen.discards else None))
    return {
        "valid": True,
        "deck": len(chosen.faces),
        "jokers": sum(face.is_joker for face in chosen.faces),
        "hand": len(state.seats[0].rack),
        "stock": state.stock.left,
        "discard": len(state.discard),
    }


_RUNNERS: Final[dict[str, Callable[[RuleSet, Mapping[str, Any]], Plain]]] = {
    "set": _set,
    "turn": _turn,
    "event": _event,
    "card_turn": _card_turn,
    "score": _score,
    "series": _series,
    "setup": _setup,
}
