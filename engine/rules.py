"""The game as a state machine: `apply` says what an action makes of the public state, or why it is refused.

`apply` is pure and total: it returns a new state or raises `IllegalMove`, whatever well-typed action it gets.
`faults` lists all that is wrong with a play, for the page. What may lie on the table is `legality`'s business, points
are `scoring`'s. Source: docs/rules.md, sections 2.7 to 2.9; docs/deal-entries.md, section 5.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from engine import dealt, redeal, requests, rummy
from engine.actions import (
    Action,
    DeclareRummikub,
    Discard,
    Draw,
    DrawDealt,
    DrawReason,
    Extend,
    Leave,
    LongPause,
    NextGame,
    Pass,
    Pause,
    Play,
    RacksDealt,
    RacksOpened,
    Redealt,
    Remove,
    Resume,
    SeatAction,
    StartDealt,
    TakeBack,
    TakeDiscard,
    Timeout,
)
from engine.board import layout_of, tiles_on
from engine.errors import Fault, IllegalMove, illegal
from engine.faces import deck_codes
from engine.flow import NO_PENALTY, actor_faults, drawing, finished, is_seat, laid_nothing, next_turn, require_actor
from engine.jokers import FaceExchange
from engine.legality import Turn, Verdict, judge_turn
from engine.loose import without_loose
from engine.plays import empties_rack as empties_rack
from engine.plays import is_untouched as is_untouched
from engine.plays import laid_down, malformed
from engine.setup import next_game
from engine.state import EndedBy, PublicState, Seat


def apply(state: PublicState, action: Action) -> PublicState:
    """The state after the action. Raises `IllegalMove` if the rules refuse it; `state` itself never changes."""
    after = _apply(state, action)
    return replace(after, undo=requests.undo_after(state, action, after))


def _apply(state: PublicState, action: Action) -> PublicState:
    cards = state.rules.discards
    match action:
        case Play():
            return rummy.play_cards(state, action, must_win=False) if cards else _play(state, action)
        case DeclareRummikub(play):
            return rummy.play_cards(state, play, must_win=True) if cards else _declare(state, play)
        case Draw():
            return _draw(state, action)
        case Pass(seat):
            return rummy.end_without_discard(state, seat) if cards else _pass(state, seat)
        case TakeDiscard(seat):
            _require_discards(state, seat)
            return rummy.take_discard(state, seat)
        case Discard(seat):
            _require_discards(state, seat)
            return rummy.discard(state, action)
        case Timeout():
            return _time_out(state)
        case NextGame(game, seats):
            return next_game(state, game, seats)
        case Leave(seat):
            return redeal.leave(state, seat)
        case Remove():
            return redeal.remove(state, action)
        case Pause(seat):
            return requests.pause(state, seat)
        case LongPause():
            return requests.long_pause(state)
        case Resume(by):
            return requests.resume(state, by)
        case Extend(seat):
            return requests.extend(state, seat)
        case TakeBack():
            return requests.take_back(state)
        case StartDealt(starter):
            return dealt.start_dealt(state, starter)
        case RacksDealt(face_up):
            return dealt.racks_dealt(state, face_up)
        case DrawDealt():
            return dealt.draw_dealt(state)
        case RacksOpened(opened):
            return dealt.racks_opened(state, opened)
        case Redealt(pool):
            return redeal.redealt(state, pool)
        case _:
            assert_never(action)


def faults(state: PublicState, play: Play) -> tuple[Fault, ...]:
    """All that is wrong with a play; empty exactly if `apply` accepts it as a `Play` or a `DeclareRummikub`."""
    return judge(state, play).faults


def judge(state: PublicState, play: Play) -> Verdict:
    """A play with all its faults, how its melds are read, and the points that count for an opening."""
    if state.rules.discards:
        return rummy.judge_cards(state, play)
    wrong = actor_faults(state, play.seat)
    if not is_seat(state, play.seat):
        return Verdict(wrong, (), 0)
    unfit = malformed(state, play)
    if unfit:
        return Verdict(wrong + unfit, (), 0)
    verdict = judge_turn(state.rules, _turn(state, play))
    return replace(verdict, faults=wrong + verdict.faults) if wrong else verdict


def _turn(state: PublicState, play: Play) -> Turn:
    """A play on faces. A tile that left the board has nowhere to be but the player's rack."""
    codes = deck_codes(state.rules.deck, state.rules.jokers)
    before = set(tiles_on(state.board))
    after = set(tiles_on(play.board))
    laid = {tile for _slot, tile in play.laid}
    return Turn(
        opened=state.seats[play.seat].opened,
        before=layout_of(state.board, codes),
        after=layout_of(play.board, codes),
        laid=bytes([codes[tile] for tile in sorted(laid)]),
        opening=layout_of(play.opening, codes),
        exchanges=tuple(FaceExchange(item.meld, item.position, codes[item.tile]) for item in play.exchanges),
        taken=bytes([codes[tile] for tile in sorted(before - after)]),
        foreign=bytes([codes[tile] for tile in sorted(after - before - laid)]),
    )


def drawing_faults(state: PublicState, draft: Play) -> tuple[Fault, ...]:
    """Why the seat may not draw or pass while the table lies as in the draft. Source: docs/rules.md, section 2.7."""
    wrong = actor_faults(state, draft.seat)
    if not wrong and not is_untouched(state, draft):
        wrong = (Fault("DRAFT-OPEN", "Lay or draw, not both: first put everything back as it was."),)
    return wrong


# What a button, or the end of the time, makes of a draft


def end_turn(state: PublicState, draft: Play) -> SeatAction:
    """What pressing End turn does with a draft: the play, or what an illegal one costs. Raises `IllegalMove`."""
    found = faults(state, draft)
    if not found:
        if _must_call(state, draft):
            raise IllegalMove((_CALL_RUMMIKUB,))
        return draft
    if actor_faults(state, draft.seat) or not state.rules.illegal_draw or is_untouched(state, draft):
        raise IllegalMove(found)
    return Draw(draft.seat, DrawReason.ILLEGAL)


def at_time_up(state: PublicState, draft: Play | None) -> SeatAction | None:
    """What the actor's own node does just before its time is up, None = nothing (then the clock's `Timeout` rules).

    A finished play stands; who moved nothing draws or passes. Source: docs/rules.md, section 2.7.
    """
    if state.rules.discards or actor_faults(state, state.turn if draft is None else draft.seat):
        return None
    if draft is None or is_untouched(state, draft):
        return _idle(state)
    play = draft if not faults(state, draft) else None
    if state.rules.timeout_keeps_legal_part and play is None:
        play = _legal_part(state, draft)
    if play is None:
        return None
    stands = replace(play, time_up=True)
    return DeclareRummikub(stands) if state.rules.rummikub_call and empties_rack(state, play) else stands


def _idle(state: PublicState) -> SeatAction | None:
    """Nothing was laid: one tile is drawn. Other counts are the clock's business."""
    if state.rules.timeout_idle_draw != 1:
        return None
    return Draw(state.turn) if state.stock.left else Pass(state.turn)


def _legal_part(state: PublicState, draft: Play) -> Play | None:
    """`no`: the draft without the cards that are in no legal set, if that is a legal play."""
    if malformed(state, draft):
        return None
    return next((play for play in without_loose(state, draft) if not faults(state, play)), None)


# A seat's own actions


_CALL_RUMMIKUB = Fault("CALL-RUMMIKUB", "Your rack is empty: press Rummikub to win.")
_NO_DISCARDS = Fault("OTHER-GAME", "There is no discard pile in this game.")


def _play(state: PublicState, play: Play) -> PublicState:
    verdict = judge(state, play)
    if verdict.faults:
        raise IllegalMove(verdict.faults)
    if _must_call(state, play):
        raise IllegalMove((_CALL_RUMMIKUB,))
    return _played(state, play, verdict)


def _must_call(state: PublicState, play: Play) -> bool:
    """Whether the play wins but must be a called one. When time is up it need not."""
    return state.rules.rummikub_call and not play.time_up and empties_rack(state, play)


def _declare(state: PublicState, play: Play) -> PublicState:
    verdict = judge(state, play)
    if verdict.faults:
        raise IllegalMove(verdict.faults)
    if not empties_rack(state, play):
        raise illegal("NOT-OUT", "There are still tiles on your rack.")
    return _played(state, play, verdict)


def _played(state: PublicState, play: Play, verdict: Verdict) -> PublicState:
    after = laid_down(state, play, verdict.melds)
    if not after.seats[play.seat].rack:
        return finished(after, EndedBy.OUT, play.seat)
    if play.time_up:
        return drawing(after, play.seat, state.rules.timeout_play_draw, laid=True)
    return next_turn(after)


def _draw(state: PublicState, draw: Draw) -> PublicState:
    require_actor(state, draw.seat)
    if draw.reason is DrawReason.ILLEGAL:
        if not state.rules.illegal_draw:
            raise IllegalMove((NO_PENALTY,))
        return drawing(state, draw.seat, state.rules.illegal_draw)
    if state.rules.discards:
        return rummy.draw(state, draw.seat)
    if not state.stock.left:
        raise illegal("STOCK-EMPTY", "There is nothing left to draw: lay a tile or pass.")
    return drawing(state, draw.seat, 1)


def _pass(state: PublicState, seat: Seat) -> PublicState:
    require_actor(state, seat)
    if state.stock.left:
        raise illegal("MUST-DRAW", "You may pass only when there is nothing left to draw.")
    return laid_nothing(state)


def _require_discards(state: PublicState, seat: Seat) -> None:
    require_actor(state, seat)
    if not state.rules.discards:
        raise IllegalMove((_NO_DISCARDS,))


def _time_out(state: PublicState) -> PublicState:
    require_actor(state, state.turn)
    if not state.rules.turn_seconds:
        raise illegal("NO-TIME-LIMIT", "There is no time limit in this game.")
    if state.rules.discards:
        return rummy.time_out(state)
    return drawing(state, state.turn, state.rules.timeout_draw)
