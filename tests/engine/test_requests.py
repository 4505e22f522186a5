"""Pauses, more time, turns taken back: what each does to the public state, and how often."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.actions import (
    Action,
    Discard,
    Draw,
    Extend,
    Leave,
    LongPause,
    Pause,
    Play,
    Remove,
    Resume,
    TakeBack,
    TakeDiscard,
    Timeout,
)
from engine.errors import IllegalMove
from engine.requests import PAUSES, TAKE_BACKS
from engine.rules import apply
from engine.rulesets import ES, PT, RuleSet
from engine.state import Call, CallName, Paused, Phase, PublicState, Seat, Slot, Used
from tests.engine.games import steps

ANA, BO, CEM = Seat(0), Seat(1), Seat(2)


def refused(state: PublicState, action: Action) -> str:
    with pytest.raises(IllegalMove) as caught:
        apply(state, action)
    return caught.value.code


def at_turn(rules: RuleSet = PT, seed: int = 1) -> PublicState:
    """A running game of three with somebody to act."""
    return next(
        after for _before, _action, after in steps(rules, 3, seed) if after.phase is Phase.PLAY and not after.call
    )


def after_a_play(rules: RuleSet = PT, kind: type[Action] = Play) -> tuple[PublicState, PublicState, Action]:
    """The states before and after an action that ended a turn without a draw, and the action."""
    for before, action, after in steps(rules, 3, 2):
        if isinstance(action, kind) and after.phase is Phase.PLAY and after.turn_number > before.turn_number:
            return before, after, action
    raise AssertionError("nobody played")


def test_while_the_game_is_paused_nobody_acts_and_no_time_runs_out() -> None:
    state = apply(at_turn(), Pause(BO))
    assert state.paused is Paused.MINUTE
    assert state.seats[BO].used == Used(pauses=1)
    for action in (Draw(state.turn), Timeout(), Extend(state.turn)):
        assert refused(state, action) == "PAUSED"
    assert refused(state, Pause(CEM)) == "PAUSED-ALREADY"


@pytest.mark.parametrize("by", [ANA, CEM, None])
def test_anybody_ends_a_pause_and_so_does_its_minute(by: Seat | None) -> None:
    before = at_turn()
    state = apply(apply(before, Pause(BO)), Resume(by))
    assert state == replace(before, seats=state.seats)
    assert refused(state, Resume(by)) == "NOT-PAUSED"


def test_a_long_pause_ends_when_somebody_wants_it_and_not_by_itself() -> None:
    state = apply(apply(at_turn(), Pause(BO)), LongPause())
    assert refused(state, Resume(None)) == "NOT-PAUSED"
    assert refused(state, LongPause()) == "NOT-PAUSED"
    assert apply(state, Resume(CEM)).paused is None


def test_each_seat_has_so_many_pauses_in_a_game() -> None:
    state = at_turn()
    for _pause in range(PAUSES):
        state = apply(apply(state, Pause(BO)), Resume(None))
    assert refused(state, Pause(BO)) == "NO-PAUSE-LEFT"
    assert apply(state, Pause(CEM)).paused is Paused.MINUTE


def test_more_time_is_for_the_own_turn_and_once_in_a_game() -> None:
    before = at_turn()
    state = apply(before, Extend(before.turn))
    assert (state.turn, state.turn_number) == (before.turn, before.turn_number)
    assert refused(state, Extend(before.turn)) == "NO-EXTENSION-LEFT"
    assert refused(before, Extend(Seat((before.turn + 1) % 3))) == "NOT-YOUR-TURN"
    assert refused(replace(before, rules=replace(PT, turn_seconds=0)), Extend(before.turn)) == "NO-TIME-LIMIT"


@pytest.mark.parametrize(("rules", "kind"), [(PT, Play), (ES, Discard)])
def test_a_turn_taken_back_goes_on_as_it_lay_and_what_was_shown_stays_known(rules: RuleSet, kind: type[Action]) -> None:
    before, after, action = after_a_play(rules, kind)
    state = apply(after, TakeBack())
    assert (state.turn, state.turn_number, state.board) == (before.turn, before.turn_number, before.board)
    assert state.discard == before.discard
    assert state.card_turn == before.card_turn
    assert state.seats[before.turn].rack == before.seats[before.turn].rack
    assert state.known == after.known
    assert len(state.known) > len(before.known)
    assert state.seats[before.turn].used == Used(take_backs=1)
    again = apply(state, action)
    assert replace(again, seats=after.seats, undo=None) == replace(after, undo=None)
    assert [seat.rack for seat in again.seats] == [seat.rack for seat in after.seats]
    assert refused(state, TakeBack()) == "NOTHING-TO-TAKE-BACK"


def test_what_was_asked_for_in_between_stays_used_when_a_turn_is_taken_back() -> None:
    before, state, _action = after_a_play()
    for action in (Pause(BO), LongPause(), TakeBack()):
        state = apply(state, action)
    assert state.turn == before.turn
    assert state.seats[BO].used.pauses == 1
    assert state.paused is Paused.LONG, "the pause goes on"


def test_so_many_turns_of_a_seat_are_taken_back() -> None:
    before, state, action = after_a_play()
    for _time in range(TAKE_BACKS):
        state = apply(apply(state, TakeBack()), action)
    assert refused(state, TakeBack()) == "NO-TAKE-BACK-LEFT"
    assert before.turn != state.turn


@pytest.mark.parametrize("rules", [PT, ES])
def test_only_the_last_entry_is_taken_back_and_never_one_that_opened_a_call(rules: RuleSet) -> None:
    kept = 0
    for before, action, after in steps(rules, 3, 3):
        ended = after.turn_number == before.turn_number + 1 and after.phase is Phase.PLAY and after.call is None
        by_hand = not isinstance(action, (Draw, Timeout, TakeDiscard)) and before.call is None
        assert (after.undo is not None) == (ended and by_hand)
        if after.undo is not None:
            assert after.undo == replace(before, undo=None)
            kept += 1
    assert kept > 3


def test_who_goes_takes_pause_and_take_back_along() -> None:
    _before, state, _action = after_a_play()
    paused = apply(state, Pause(BO))
    for action in (Leave(CEM), Remove((CEM,))):
        gone = apply(paused, action)
        assert (gone.paused, gone.undo) == (None, None)
        assert gone.call is not None
        assert gone.call.name is CallName.REDEAL


def test_while_a_call_is_open_or_after_the_end_nothing_is_asked_for() -> None:
    state = at_turn()
    drawing = replace(state, call=Call(CallName.DRAW, ANA, (Slot(0, 50),)))
    over = replace(state, phase=Phase.OVER)
    for action in (Pause(BO), TakeBack()):
        assert refused(drawing, action) == "CALL-OPEN"
        assert refused(over, action) == "GAME-OVER"


def test_tiles_taken_back_are_open_slots_of_the_rack() -> None:
    before, after, action = after_a_play()
    assert isinstance(action, Play)
    state = apply(after, TakeBack())
    held = {slot for slot, _tile in action.laid}
    assert held <= set(state.seats[before.turn].rack)
    assert held.isdisjoint(state.hidden_slots(before.turn))
