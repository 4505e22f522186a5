"""The game as a state machine: `apply` says what an action makes of the public state, or why it is refused.

`apply` is pure and total: it returns a new state or raises `IllegalMove`, whatever well-typed action it gets.
`faults` lists all that is wrong with a play, for the page. What may lie on the table is `legality`'s business, points
are `scoring`'s. Source: docs/rules.md, sections 2.7 to 2.9; docs/deal-entries.md, section 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from engine import scoring
from engine.actions import (
    Action,
    DeclareRummikub,
    Discard,
    Draw,
    DrawDealt,
    DrawReason,
    Pass,
    Play,
    RacksDealt,
    RacksOpened,
    SeatAction,
    StartDealt,
    TakeDiscard,
    Timeout,
)
from engine.board import layout_of, tiles_on
from engine.errors import Fault, IllegalMove, illegal
from engine.faces import deck_codes, text_of, texts_of
from engine.jokers import FaceExchange
from engine.legality import Turn, Verdict, judge_turn
from engine.melds import Meld
from engine.setup import dealt_tiles
from engine.state import (
    Call,
    CallName,
    EndedBy,
    GameResult,
    Phase,
    PublicState,
    Seat,
    SeatState,
    Slot,
    Stock,
    TableMeld,
)
from engine.tiles import Tile, TileId


def apply(state: PublicState, action: Action) -> PublicState:
    """The state after the action. Raises `IllegalMove` if the rules refuse it; `state` itself never changes."""
    match action:
        case Play():
            return _play(state, action)
        case DeclareRummikub(play):
            return _declare(state, play)
        case Draw():
            return _draw(state, action)
        case Pass(seat):
            return _pass(state, seat)
        case TakeDiscard(seat) | Discard(seat):
            raise IllegalMove(_actor_faults(state, seat) or _NO_DISCARDS)
        case Timeout():
            return _time_out(state)
        case StartDealt(starter):
            return _start_dealt(state, starter)
        case RacksDealt(face_up):
            return _racks_dealt(state, face_up)
        case DrawDealt():
            return _draw_dealt(state)
        case RacksOpened(opened):
            return _racks_opened(state, opened)
        case _:
            assert_never(action)


def faults(state: PublicState, play: Play) -> tuple[Fault, ...]:
    """All that is wrong with a play; empty exactly if `apply` accepts it as a `Play` or a `DeclareRummikub`."""
    return judge(state, play).faults


def judge(state: PublicState, play: Play) -> Verdict:
    """A play with all its faults, how its melds are read, and the points that count for an opening."""
    wrong = _actor_faults(state, play.seat)
    if not _is_seat(state, play.seat):
        return Verdict(wrong, (), 0)
    malformed = _malformed(state, play)
    if malformed:
        return Verdict(wrong + malformed, (), 0)
    codes = deck_codes(state.rules.deck, state.rules.jokers)
    before = set(tiles_on(state.board))
    after = set(tiles_on(play.board))
    laid = {tile for _slot, tile in play.laid}
    turn = Turn(
        opened=state.seats[play.seat].opened,
        before=layout_of(state.board, codes),
        after=layout_of(play.board, codes),
        laid=bytes([codes[tile] for tile in sorted(laid)]),
        opening=layout_of(play.opening, codes),
        exchanges=tuple(FaceExchange(item.meld, item.position, codes[item.tile]) for item in play.exchanges),
        taken=bytes([codes[tile] for tile in sorted(before - after)]),
        foreign=bytes([codes[tile] for tile in sorted(after - before - laid)]),
    )
    verdict = judge_turn(state.rules, turn)
    return Verdict(wrong + verdict.faults, verdict.melds, verdict.opening_points) if wrong else verdict


def empties_rack(state: PublicState, play: Play) -> bool:
    """Whether nothing is left on the seat's rack after the play."""
    return _is_seat(state, play.seat) and len(play.laid) == len(state.seats[play.seat].rack)


def drawing_faults(state: PublicState, draft: Play) -> tuple[Fault, ...]:
    """Why the seat may not draw or pass while the table lies as in the draft. Source: docs/rules.md, section 2.7."""
    wrong = _actor_faults(state, draft.seat)
    if not wrong and not is_untouched(state, draft):
        wrong = (Fault("DRAFT-OPEN", "Lay or draw, not both: first put everything back as it was."),)
    return wrong


def is_untouched(state: PublicState, draft: Play) -> bool:
    """Whether nothing was laid and every meld of the draft lies as it lay when the turn began."""
    melds = sorted(tuple(meld.tiles) for meld in state.board)
    return not draft.laid and sorted(tuple(meld.tiles) for meld in draft.board) == melds


def end_turn(state: PublicState, draft: Play) -> SeatAction:
    """What pressing End turn does with a draft: the play, or what an illegal one costs. Raises `IllegalMove`."""
    found = faults(state, draft)
    if not found:
        if _must_call(state, draft):
            raise IllegalMove((_CALL_RUMMIKUB,))
        return draft
    actor = _actor_faults(state, draft.seat)
    if actor or not state.rules.illegal_draw or is_untouched(state, draft):
        raise IllegalMove(found)
    return Draw(draft.seat, DrawReason.ILLEGAL)


def at_time_up(state: PublicState, draft: Play | None) -> SeatAction | None:
    """What the actor's own node does just before its time is up, None = nothing (then the clock's `Timeout` rules).

    A finished play stands; who moved nothing draws or passes. Source: docs/rules.md, section 2.7.
    """
    if _actor_faults(state, state.turn if draft is None else draft.seat):
        return None
    if draft is None or is_untouched(state, draft):
        if state.rules.timeout_idle_draw != 1:
            return None
        return Draw(state.turn) if state.stock.left else Pass(state.turn)
    stands = _standing_play(state, draft)
    if stands is None:
        return None
    play = replace(stands, time_up=True)
    return DeclareRummikub(play) if _must_call(state, replace(play, time_up=False)) else play


def _standing_play(state: PublicState, draft: Play) -> Play | None:
    """What of a draft stands when time is up: all of it, a part (`no`), or nothing."""
    if not faults(state, draft):
        return draft
    return None


# A seat's own actions


_NO_DISCARDS = (Fault("OTHER-GAME", "There is no discard pile in this game."),)
_CALL_RUMMIKUB = Fault("CALL-RUMMIKUB", "Your rack is empty: press Rummikub to win.")
_GAME_OVER = Fault("GAME-OVER", "The game is over.")
_CALL_OPEN = Fault("CALL-OPEN", "Tiles are being dealt, please wait a moment.")


def _is_seat(state: PublicState, seat: int) -> bool:
    return 0 <= seat < len(state.seats)


def _actor_faults(state: PublicState, seat: Seat) -> tuple[Fault, ...]:
    """Why the seat may do nothing now."""
    if state.phase in (Phase.FINAL, Phase.OVER):
        return (_GAME_OVER,)
    if state.call is not None or state.phase is not Phase.PLAY:
        return (_CALL_OPEN,)
    if seat != state.turn:
        return (Fault("NOT-YOUR-TURN", "It is not your turn."),)
    return ()


def _require_actor(state: PublicState, seat: Seat) -> None:
    wrong = _actor_faults(state, seat)
    if wrong:
        raise IllegalMove(wrong)


def _malformed(state: PublicState, play: Play) -> tuple[Fault, ...]:
    """What no page can produce: tiles that do not exist or lie twice, slots of others. Nothing hidden is named."""
    size = len(state.faces)
    named = [*tiles_on(play.board), *tiles_on(play.opening), *(item.tile for item in play.exchanges)]
    named += [tile for _slot, tile in play.laid]
    if not all(0 <= tile < size for tile in named):
        return (Fault("MALFORMED", "There is no such tile."),)
    on_board = tiles_on(play.board)
    if len(set(on_board)) < len(on_board):
        codes = deck_codes(state.rules.deck, state.rules.jokers)
        twice = sorted({tile for tile in on_board if on_board.count(tile) > 1})
        shown = bytes([codes[tile] for tile in twice])
        return (Fault("TILE-TWICE", f"{text_of(shown)} lies in two places at once.", (), texts_of(shown)),)
    slots = [slot for slot, _tile in play.laid]
    tiles = [tile for _slot, tile in play.laid]
    if len(set(slots)) < len(slots) or len(set(tiles)) < len(tiles) or not set(tiles) <= set(on_board):
        return (Fault("MALFORMED", "The laid tiles do not match the table."),)
    rack = set(state.seats[play.seat].rack)
    known = state.known_tiles()
    public = set(known.values())
    for slot, tile in play.laid:
        if slot not in rack or (known[slot] != tile if slot in known else tile in public):
            shown = deck_codes(state.rules.deck, state.rules.jokers)[tile : tile + 1]
            sentence = f"{text_of(shown)}: you do not have this on your rack."
            return (Fault("TILE-NOT-HELD", sentence, (), texts_of(shown)),)
    return ()


def _play(state: PublicState, play: Play) -> PublicState:
    verdict = judge(state, play)
    if verdict.faults:
        raise IllegalMove(verdict.faults)
    if _must_call(state, play):
        raise IllegalMove((_CALL_RUMMIKUB,))
    return _played(state, play, verdict)


def _must_call(state: PublicState, play: Play) -> bool:
    return state.rules.rummikub_call and not play.time_up and empties_rack(state, play)


def _declare(state: PublicState, play: Play) -> PublicState:
    verdict = judge(state, play)
    if verdict.faults:
        raise IllegalMove(verdict.faults)
    if not empties_rack(state, play):
        raise illegal("NOT-OUT", "There are still tiles on your rack.")
    return _played(state, play, verdict)


def _played(state: PublicState, play: Play, verdict: Verdict) -> PublicState:
    """The state after a legal play: the board, the rack, and whose turn it is then."""
    gone = {slot for slot, _tile in play.laid}
    seat = state.seats[play.seat]
    rack = tuple(slot for slot in seat.rack if slot not in gone)
    after = replace(
        _with_seat(state, play.seat, replace(seat, rack=rack, opened=True)),
        board=_resolved(play.board, verdict.melds),
        known=_with_known(state, play.laid),
        passes=0,
    )
    if not rack:
        return _finished(after, EndedBy.OUT, play.seat)
    if play.time_up:
        return _drawing(after, play.seat, state.rules.timeout_play_draw)
    return _next_turn(after)


def _resolved(board: tuple[TableMeld, ...], melds: tuple[Meld | None, ...]) -> tuple[TableMeld, ...]:
    resolved = []
    for table_meld, meld in zip(board, melds, strict=True):
        assert meld is not None, "only a legal board is committed"
        resolved.append(table_meld if table_meld.kind is meld.kind else replace(table_meld, kind=meld.kind))
    return tuple(resolved)


def _draw(state: PublicState, draw: Draw) -> PublicState:
    _require_actor(state, draw.seat)
    if draw.reason is DrawReason.ILLEGAL:
        if not state.rules.illegal_draw:
            raise illegal("NO-PENALTY", "In this game an illegal table costs nothing: put it right, or draw one.")
        return _drawing(state, draw.seat, state.rules.illegal_draw)
    if not state.stock.left:
        raise illegal("STOCK-EMPTY", "There is nothing left to draw: lay a tile or pass.")
    return _drawing(state, draw.seat, 1)


def _pass(state: PublicState, seat: Seat) -> PublicState:
    _require_actor(state, seat)
    if state.stock.left:
        raise illegal("MUST-DRAW", "You may pass only when there is nothing left to draw.")
    return _laid_nothing(state)


# The clock


def _time_out(state: PublicState) -> PublicState:
    _require_actor(state, state.turn)
    if not state.rules.turn_seconds:
        raise illegal("NO-TIME-LIMIT", "There is no time limit in this game.")
    return _drawing(state, state.turn, state.rules.timeout_draw)


# Turns


def _drawing(state: PublicState, seat: Seat, count: int) -> PublicState:
    """The turn ends with a draw of `count` tiles, fewer if fewer are left. Without any, the turn just ends."""
    slots, stock = state.stock.take(count)
    if slots:
        return replace(state, stock=stock, passes=0, call=Call(CallName.DRAW, seat, slots))
    return _laid_nothing(state) if count else _next_turn(state)


def _laid_nothing(state: PublicState) -> PublicState:
    """The turn ends with nothing laid and nothing drawn; after all seats in a row the game is blocked."""
    passes = state.passes + 1
    if passes >= sum(seat.in_game for seat in state.seats):
        return _finished(replace(state, passes=passes), EndedBy.BLOCKED, None)
    return _next_turn(replace(state, passes=passes))


def _next_turn(state: PublicState) -> PublicState:
    return replace(state, turn=seat_after(state, state.turn), turn_number=state.turn_number + 1)


def seat_after(state: PublicState, seat: Seat) -> Seat:
    """The next seat clockwise that is still in the game."""
    count = len(state.seats)
    others = (Seat((seat + step) % count) for step in range(1, count + 1))
    return next((other for other in others if state.seats[other].in_game), seat)


def _finished(state: PublicState, ended_by: EndedBy, out: Seat | None) -> PublicState:
    return replace(
        state,
        phase=Phase.FINAL,
        turn_number=state.turn_number + 1,
        call=Call(CallName.FINAL),
        ended_by=ended_by,
        out=out,
    )


def _with_seat(state: PublicState, seat: Seat, changed: SeatState) -> PublicState:
    return replace(state, seats=(*state.seats[:seat], changed, *state.seats[seat + 1 :]))


def _with_known(state: PublicState, proven: tuple[tuple[Slot, TileId], ...]) -> tuple[tuple[Slot, TileId], ...]:
    return tuple(sorted({**state.known_tiles(), **dict(proven)}.items()))


# The dealer


def _require_call(state: PublicState, name: CallName) -> Call:
    if state.call is None or state.call.name is not name:
        raise illegal("NO-CALL", "Nobody is waiting for tiles to be dealt now.")
    return state.call


def _start_dealt(state: PublicState, starter: Seat | None) -> PublicState:
    _require_call(state, CallName.START)
    if state.starter is None:
        if starter is None or not _is_seat(state, starter):
            raise illegal("NO-STARTER", "It is not known who begins.")
        state = replace(state, starter=starter)
    elif starter is not None:
        raise illegal("NO-LOT", "Who begins is known already.")
    return replace(state, phase=Phase.DEAL, stock=Stock(0, 0, len(state.faces)), call=Call(CallName.RACKS))


def _racks_dealt(state: PublicState, face_up: TileId | None) -> PublicState:
    _require_call(state, CallName.RACKS)
    assert state.starter is not None
    if state.rules.discards:
        if face_up is None or not 0 <= face_up < len(state.faces):
            raise illegal("NO-FACE-UP", "The first card of the discard pile is missing.")
    elif face_up is not None:
        raise IllegalMove(_NO_DISCARDS)
    playing = [seat.in_game for seat in state.seats]
    size = state.rules.hand_size(sum(playing))
    assert dealt_tiles(state.rules, sum(playing)) <= state.stock.left
    stock = state.stock
    seats = []
    for seat in state.seats:
        rack, stock = stock.take(size if seat.in_game else 0)
        seats.append(replace(seat, rack=rack))
    state = replace(state, phase=Phase.PLAY, seats=tuple(seats), stock=stock, turn=state.starter, call=None)
    if face_up is None:
        return state
    discard, stock = stock.take(1)
    return replace(state, stock=stock, discard=discard, known=_with_known(state, ((discard[0], face_up),)))


def _draw_dealt(state: PublicState) -> PublicState:
    call = _require_call(state, CallName.DRAW)
    assert call.seat is not None
    seat = state.seats[call.seat]
    state = replace(_with_seat(state, call.seat, replace(seat, rack=seat.rack + call.slots)), call=None)
    return _next_turn(state) if call.ends_turn else state


def _racks_opened(state: PublicState, opened: tuple[tuple[Slot, TileId], ...]) -> PublicState:
    _require_call(state, CallName.FINAL)
    hidden = {slot for seat in range(len(state.seats)) for slot in state.hidden_slots(Seat(seat))}
    public = set(state.known_tiles().values())
    size = len(state.faces)
    slots = [slot for slot, _tile in opened]
    tiles = [tile for _slot, tile in opened]
    if len(set(slots)) < len(slots) or not set(slots) <= hidden:
        raise illegal("NOT-A-RACK", "Only tiles that are still on a rack are opened, each once.")
    if len(set(tiles)) < len(tiles) or any(not 0 <= tile < size or tile in public for tile in tiles):
        raise illegal("NOT-HIDDEN", "Only tiles that were hidden can be opened, each once.")
    state = replace(state, known=_with_known(state, opened))
    return replace(state, phase=Phase.OVER, call=None, result=_result(state))


# The end


def _result(state: PublicState) -> GameResult:
    racks = final_racks(state)
    assert state.ended_by is not None
    if state.ended_by is EndedBy.BLOCKED:
        score = scoring.score_blocked(state.rules, racks)
    else:
        winner = state.out if state.out is not None else seat_after(state, state.turn)
        score = scoring.score_out(state.rules, racks, winner)
    return GameResult(state.ended_by, score.scores, tuple(Seat(seat) for seat in score.winners), state.out)


def final_racks(state: PublicState) -> tuple[tuple[Tile, ...], ...]:
    """By seat, the tiles that count at the end. Slots that were not opened count as the dearest tiles still hidden.

    Source: docs/deal-entries.md, section 5, item 10.
    """
    known: Mapping[Slot, TileId] = state.known_tiles()
    public = set(known.values())
    hidden = [face for tile, face in enumerate(state.faces) if tile not in public]
    racks = []
    for seat in state.seats:
        shown = tuple(state.faces[known[slot]] for slot in seat.rack if slot in known)
        racks.append(shown + scoring.dearest(state.rules, hidden, len(seat.rack) - len(shown)))
    return tuple(racks)
