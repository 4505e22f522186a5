"""Worked cases: an input and the expected verdict as plain data, judged by the very code that runs a game.

The format is that of tests/cases/README.md. A case's position is built as a public state and put through `rules`,
`scoring`, `series` and `setup`; nothing here knows a rule of the game.
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
    Pass,
    Play,
    RacksDealt,
    StartDealt,
    TakeDiscard,
    Timeout,
)
from engine.errors import IllegalMove
from engine.flow import actor_faults
from engine.judging import judge_sets
from engine.melds import read_meld
from engine.options import with_options
from engine.positions import Position, card_position, said, tile_position
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
    Slot,
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
    rack_after = case.get("rack_after")
    judged = judge_sets(
        chosen,
        said(case["before"]),
        _faces(case["rack"]),
        said(case["after"]),
        opened=case["opened"],
        rack_after=None if rack_after is None else _faces(rack_after),
        opening=said(case.get("opening", ())),
        exchanges=[
            (swap["set"], swap["pos"], parse_tile(swap["tile"]))
            for swap in case.get("swaps", ())
            if swap.get("announced", True)
        ],
    )
    codes = [fault.code for fault in judged.faults]
    return {"legal": judged.legal, "rule": codes, "opening_points": judged.opening_points, "wins": judged.wins}


def _faces(texts: Iterable[str]) -> list[Tile]:
    return [parse_tile(text) for text in texts]


def _event(chosen: RuleSet, case: Mapping[str, Any]) -> Plain:
    position = tile_position(
        chosen,
        said(case["before"]),
        _faces(case["rack"]),
        opened=case["opened"],
        seats=case.get("players", 2),
        pool=case["pool"],
        passes=case.get("passes_before", 0),
    )
    state = position.state
    if case.get("game_over"):
        state = replace(state, phase=Phase.OVER)
    elif not case.get("actor_on_turn", True):
        state = replace(state, turn=Seat(1))
    draft = position.play(said(case.get("layout", case["before"])), said(case.get("opening", ())))
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


def _after_event(position: Position, before: PublicState, after: PublicState, laid: set[Slot]) -> Plain:
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
    position = card_position(
        chosen, said(case["table"]), _faces(case["hand"]), _faces(case["stock"]), _faces(case["discard"])
    )
    state, tiles = position.state, position.tiles
    for index, told in enumerate(case["actions"]):
        try:
            state = rules.apply(state, _card_action(state, tiles, told))
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


def _card_action(state: PublicState, tiles: Mapping[Slot, TileId], told: Sequence[Any]) -> Action:
    seat = Seat(0)
    held = {tiles[slot]: slot for slot in state.seats[seat].rack}
    ids = {str(face): TileId(tile) for tile, face in reversed(list(enumerate(state.faces)))}
    board = [list(meld.tiles) for meld in state.board]
    match told:
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
            meld = [ids[card] for card in cards]
            board.append(sorted(meld, key=lambda tile: state.faces[tile].number) if "J" not in cards else meld)
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
            raise ValueError(f"no such action in a case: {told!r}")
    melds = tuple(TableMeld(tuple(meld)) for meld in board if meld)
    lying = {tile for meld in melds for tile in meld.tiles}
    return Play(seat, melds, tuple(sorted((slot, tile) for tile, slot in held.items() if tile in lying)))


def _score(chosen: RuleSet, case: Mapping[str, Any]) -> Plain:
    def faces(name: str) -> list[list[Tile]]:
        return [_faces(player.get(name, ())) for player in case["players"]]

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
        drawn = _faces(case["start_draw"])
        outcome = setup.lot_outcome(drawn)
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
