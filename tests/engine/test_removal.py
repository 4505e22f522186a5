"""Seats that go while a game runs: every cell of docs/deal-entries.md, section 6, and what it costs who goes."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from engine.actions import (
    Action,
    DeclareRummikub,
    Discard,
    Draw,
    DrawDealt,
    DrawReason,
    Leave,
    NextGame,
    Pass,
    RacksDealt,
    RacksOpened,
    Redealt,
    Remove,
    TakeDiscard,
    Timeout,
)
from engine.board import tiles_on
from engine.dealt import final_racks
from engine.errors import IllegalMove
from engine.observe import view_for
from engine.options import with_options
from engine.positions import card_position, parse_board, tile_position
from engine.redeal import pool_size, unplaced
from engine.rules import apply
from engine.rulesets import ES, FI, PT, RuleSet
from engine.scoring import dearest, rack_points
from engine.series import series_over, standing
from engine.setup import start_series
from engine.state import (
    Call,
    CallName,
    CardTurn,
    EndedBy,
    GameResult,
    PendingDraw,
    Phase,
    PublicState,
    Seat,
    SeatState,
    Slot,
    Stock,
)
from engine.tiles import TileId, parse_tiles
from tests.engine.games import Dealing, bot, new_dealing, seats_in_game
from tests.engine.test_games import PLAYABLE, check_places, check_state

ANA, BO, CEM, DAN = map(Seat, range(4))
every_game = pytest.mark.parametrize("rules", PLAYABLE.values(), ids=PLAYABLE)


def begun(rules: RuleSet, seats: int = 4, seed: int = 1) -> tuple[Dealing, PublicState]:
    """A game whose first turn begins."""
    dealing = new_dealing(rules, seed)
    return dealing, dealt(dealing, start_series(rules, seats))


def dealt(dealing: Dealing, state: PublicState) -> PublicState:
    """The state once no call is open."""
    while state.call is not None:
        state = apply(state, dealing.answer(state))
    return state


def played(dealing: Dealing, state: PublicState, actions: int) -> PublicState:
    """The state after so many actions of bots."""
    for _action in range(actions):
        state = dealt(dealing, apply(state, bot(dealing, state)))
    return state


def turn_of(dealing: Dealing, state: PublicState, seat: Seat) -> PublicState:
    """The state when the next turn of `seat` begins."""
    while state.turn != seat:
        state = played(dealing, state, 1)
    return state


def to_the_end(dealing: Dealing, state: PublicState) -> GameResult:
    while state.phase is not Phase.OVER:
        state = dealt(dealing, state)
        if state.phase is Phase.PLAY:
            state = apply(state, bot(dealing, state))
    assert state.result is not None
    return state.result


def over(rules: RuleSet, seats: int) -> PublicState:
    """A series of two games after the first, in which Ana began."""
    _dealing, state = begun(with_options(rules, {"rounds": 2}), seats)
    return replace(state, phase=Phase.OVER, starter=ANA, result=GameResult(EndedBy.OUT, (0,) * seats, (ANA,), ANA))


def refused(state: PublicState, action: Action) -> str:
    with pytest.raises(IllegalMove) as caught:
        apply(state, action)
    assert caught.value.sentence.endswith(".")
    return caught.value.code


# No call open


@every_game
def test_the_turn_runs_on_when_another_seat_is_removed(rules: RuleSet) -> None:
    dealing, state = begun(rules)
    before = played(dealing, turn_of(dealing, played(dealing, state, 6), ANA), 0)
    after = apply(before, Remove((BO, DAN)))
    assert after.call == Call(CallName.REDEAL)
    assert after.stock == Stock(1, 0, 0, before.stock.open)
    for seat in (BO, DAN):
        own = before.seats[seat]
        assert after.seats[seat] == replace(own, rack=(), in_game=False, lost=len(own.rack))
    check_state(after)
    check_places(dealing, after)
    again = dealt(dealing, after)
    left = (before.stock.left, *(len(before.seats[seat].rack) for seat in (BO, DAN)))
    assert again.stock.left == sum(left)
    assert [view_for(state, "abcd", None, {}).pool for state in (after, again)] == [sum(left), sum(left)]
    assert (again.call, again.turn, again.turn_number, again.card_turn) == (
        None,
        before.turn,
        before.turn_number,
        before.card_turn,
    )
    assert [again.seats[seat] for seat in (ANA, CEM)] == [before.seats[seat] for seat in (ANA, CEM)]
    assert (again.board, again.discard) == (before.board, before.discard)
    check_places(dealing, again)


@every_game
def test_the_next_seat_s_turn_begins_when_the_actor_is_removed(rules: RuleSet) -> None:
    dealing, state = begun(rules)
    before = turn_of(dealing, state, CEM)
    after = apply(before, Remove((CEM, DAN)))
    assert (after.turn, after.turn_number, after.card_turn) == (ANA, before.turn_number + 1, CardTurn())
    assert to_the_end(dealing, after).scores


# Start and racks


@every_game
def test_a_start_begins_anew_without_who_was_removed_and_who_has_no_part_in_the_game(rules: RuleSet) -> None:
    dealing = new_dealing(rules, 3)
    after = apply(start_series(rules, 4), Remove((ANA,)))
    assert after == replace(start_series(rules, 4), seats=(SeatState(in_game=False), *(SeatState(),) * 3))
    state = dealt(dealing, after)
    assert state.starter != ANA
    assert [len(own.rack) for own in state.seats] == [0, *(rules.hand_size(3),) * 3]
    result = to_the_end(dealing, state)
    assert result.scores[ANA] == 0
    assert ANA not in result.winners


def test_in_a_later_game_the_next_seat_begins_for_a_starter_that_was_removed() -> None:
    start = apply(over(PT, 4), NextGame(1))
    assert start.starter == BO
    assert apply(start, Remove((CEM,))).starter == BO
    assert apply(start, Remove((BO,))).starter == CEM
    assert apply(start, Remove((BO, CEM))).starter == DAN
    anew = apply(start, Remove((BO,)))
    assert (anew.phase, anew.call, anew.game, anew.results) == (
        Phase.START,
        Call(CallName.START),
        1,
        start.results,
    )


def dealing_racks(rules: RuleSet, seats: int) -> tuple[Dealing, PublicState]:
    dealing = new_dealing(rules, 5)
    start = start_series(rules, seats)
    return dealing, apply(start, dealing.answer(start))


@every_game
def test_racks_that_all_answered_are_dealt_before_a_removal(rules: RuleSet) -> None:
    dealing, state = dealing_racks(rules, 4)
    racks = dealing.answer(state)
    assert isinstance(racks, RacksDealt)
    after = apply(state, Remove((DAN,), racks))
    size = rules.hand_size(4)
    assert (after.phase, after.call) == (Phase.PLAY, Call(CallName.REDEAL))
    assert [len(own.rack) for own in after.seats] == [size, size, size, 0]
    assert after.seats[DAN].lost == size
    check_state(after)
    assert dealt(dealing, after).stock.left == len(rules.faces) - 3 * size - len(after.discard)


@every_game
def test_void_racks_are_dealt_anew_to_the_others_and_who_was_removed_has_lost(rules: RuleSet) -> None:
    dealing, state = dealing_racks(rules, 3)
    after = apply(state, Remove((CEM,)))
    assert (after.phase, after.call, after.starter, after.stock) == (
        Phase.START,
        Call(CallName.START),
        None,
        Stock(0, 0, 0),
    )
    lost = SeatState(in_game=False, lost=rules.hand_size(3))
    assert after.seats == (SeatState(), SeatState(), lost)
    begun_anew = dealt(dealing, after)
    assert [len(own.rack) for own in begun_anew.seats] == [rules.hand_size(2), rules.hand_size(2), 0]
    result = to_the_end(dealing, begun_anew)
    assert result.scores[CEM] < 0
    assert CEM not in result.winners


def test_a_loss_by_void_racks_stays_when_the_new_start_loses_a_seat_too() -> None:
    _dealing, state = dealing_racks(PT, 4)
    after = apply(apply(state, Remove((DAN,))), Remove((ANA,)))
    assert [own.lost for own in after.seats] == [None, None, None, 14]
    assert [own.in_game for own in after.seats] == [False, True, True, False]


# Draws


@every_game
def test_a_draw_that_all_answered_is_the_drawer_s_before_a_removal(rules: RuleSet) -> None:
    dealing, state = begun(rules)
    before = turn_of(dealing, state, BO)
    drawing = apply(before, Draw(BO))
    after = apply(drawing, Remove((DAN,), DrawDealt()))
    assert len(after.seats[BO].rack) == len(before.seats[BO].rack) + 1
    assert after.call == Call(CallName.REDEAL)
    assert after.turn == (BO if rules.discards else CEM)
    assert after.card_turn == CardTurn(drawn=rules.discards)
    check_places(dealing, dealt(dealing, after))


@every_game
def test_a_drawer_removed_after_all_answered_gives_the_drawn_tile_back_too(rules: RuleSet) -> None:
    dealing, state = begun(rules)
    before = turn_of(dealing, state, BO)
    after = apply(apply(before, Draw(BO)), Remove((BO,), DrawDealt()))
    assert after.seats[BO].lost == len(before.seats[BO].rack) + 1
    assert (after.turn, after.turn_number, after.card_turn) == (CEM, before.turn_number + 1, CardTurn())
    assert dealt(dealing, after).stock.left == before.stock.left + len(before.seats[BO].rack)


@every_game
def test_a_void_draw_is_called_again_after_the_redeal_and_nothing_else_is_possible(rules: RuleSet) -> None:
    dealing, state = begun(rules)
    before = turn_of(dealing, state, BO)
    after = apply(apply(before, Draw(BO)), Remove((DAN,)))
    ends_turn = not rules.discards
    assert after.call == Call(CallName.REDEAL, then=PendingDraw(BO, 1, ends_turn))
    assert (after.turn, after.card_turn) == (BO, CardTurn(drawn=rules.discards))
    assert after.seats[BO].rack == before.seats[BO].rack
    again = apply(after, dealing.answer(after))
    assert again.call == Call(CallName.DRAW, BO, (Slot(1, 0),), ends_turn)
    assert refused(again, bot(dealing, before)) == "CALL-OPEN"
    assert refused(again, Leave(BO)) == "CALL-OPEN"
    check_places(dealing, again)
    done = apply(again, DrawDealt())
    assert done.seats[BO].rack == (*before.seats[BO].rack, Slot(1, 0))
    assert done.turn == (CEM if ends_turn else BO)


@every_game
def test_a_drawer_removed_with_a_void_draw_draws_nothing(rules: RuleSet) -> None:
    dealing, state = begun(rules)
    before = turn_of(dealing, state, BO)
    after = apply(apply(before, Draw(BO)), Remove((BO,)))
    assert after.call == Call(CallName.REDEAL)
    assert (after.turn, after.turn_number, after.card_turn) == (CEM, before.turn_number + 1, CardTurn())
    assert after.seats[BO].lost == len(before.seats[BO].rack)
    assert dealt(dealing, after).turn == CEM


def test_a_void_draw_of_several_tiles_is_called_again_in_full() -> None:
    dealing, state = begun(FI)
    before = turn_of(dealing, state, ANA)
    after = apply(apply(before, Draw(ANA, DrawReason.ILLEGAL)), Remove((CEM,)))
    again = apply(after, dealing.answer(after))
    assert again.call == Call(CallName.DRAW, ANA, tuple(Slot(1, place) for place in range(3)))


def test_a_void_draw_of_a_short_stock_asks_for_what_it_had_called() -> None:
    short = tile_position(FI, (), parse_tiles("R7 K9"), pool=2, seats=3).state
    after = apply(apply(short, Timeout()), Remove((CEM,)))
    assert after.call == Call(CallName.REDEAL, then=PendingDraw(ANA, 1, True))
    penalty = apply(apply(short, Draw(ANA, DrawReason.ILLEGAL)), Remove((CEM,)))
    assert penalty.call == Call(CallName.REDEAL, then=PendingDraw(ANA, 2, True))


def test_in_es_a_void_draw_of_who_ran_out_of_time_ends_the_turn() -> None:
    dealing, state = begun(with_options(ES, {"turn_seconds": 30}))
    before = turn_of(dealing, state, BO)
    after = apply(apply(before, Timeout()), Remove((DAN,)))
    assert after.call == Call(CallName.REDEAL, then=PendingDraw(BO, 1, True))
    assert dealt(dealing, after).turn == CEM


# While tiles are mixed


@every_game
def test_a_removal_during_a_redeal_begins_it_anew_and_the_void_draw_is_remembered(rules: RuleSet) -> None:
    dealing, state = begun(rules)
    before = turn_of(dealing, state, BO)
    first = apply(apply(before, Draw(BO)), Remove((DAN,)))
    second = apply(first, Remove((CEM,)))
    assert second.call == first.call
    assert second.stock == Stock(2, 0, 0)
    assert pool_size(second) == pool_size(first) + len(before.seats[CEM].rack)
    again = apply(second, dealing.answer(second))
    assert again.call is not None
    assert (again.call.seat, again.call.slots) == (BO, (Slot(2, 0),))
    check_places(dealing, again)


@every_game
def test_a_drawer_removed_during_the_redeal_draws_nothing(rules: RuleSet) -> None:
    dealing, state = begun(rules)
    before = turn_of(dealing, state, BO)
    after = apply(apply(apply(before, Draw(BO)), Remove((DAN,))), Remove((BO,)))
    assert after.call == Call(CallName.REDEAL)
    assert (after.turn, after.turn_number) == (CEM, before.turn_number + 1)
    check_places(dealing, dealt(dealing, after))


def test_a_removal_after_a_leave_takes_the_place_of_its_redeal() -> None:
    dealing, state = begun(PT)
    after = apply(apply(state, Leave(ANA)), Remove((BO,)))
    assert (after.stock.epoch, seats_in_game(after)) == (2, (CEM, DAN))
    check_places(dealing, dealt(dealing, after))


@pytest.mark.parametrize("wrong", [-1, 1])
def test_a_pool_of_another_size_is_refused(wrong: int) -> None:
    state = apply(begun(PT)[1], Remove((BO,)))
    assert pool_size(state) == 106 - 3 * 14
    assert refused(state, Redealt(pool_size(state) + wrong)) == "WRONG-POOL"
    assert refused(apply(state, Redealt(pool_size(state))), Redealt(0)) == "NO-CALL"


def test_slots_of_all_epochs_lie_side_by_side() -> None:
    dealing, state = begun(PT)
    for epoch, seat in ((1, DAN), (2, CEM)):
        state = dealt(dealing, apply(state, Remove((seat,))))
        actor = state.turn
        state = dealt(dealing, apply(state, Draw(actor)))
        assert state.seats[actor].rack[-1] == Slot(epoch, 0)
        check_places(dealing, state)
    assert to_the_end(dealing, state).ended_by in (EndedBy.OUT, EndedBy.BLOCKED)


# What is never named, and who cannot go


@every_game
def test_only_the_open_call_can_be_closed_by_a_removal(rules: RuleSet) -> None:
    dealing = new_dealing(rules, 2)
    state = start_series(rules, 4)
    racks = RacksDealt(TileId(0) if rules.discards else None)
    seen = set()
    for _action in range(600):
        call = None if state.call is None else state.call.name
        if (call, state.phase) not in seen and state.phase is not Phase.OVER:
            seen.add((call, state.phase))
            if call is not CallName.RACKS:
                assert refused(state, Remove((BO,), racks)) == "NO-CALL"
            if call is not CallName.DRAW:
                assert refused(state, Remove((BO,), DrawDealt())) == "NO-CALL"
            if call is None:
                mixing = apply(state, Remove((BO,)))
                assert refused(mixing, Remove((CEM,), DrawDealt())) == "NO-CALL"
                assert refused(mixing, Remove((CEM,), racks)) == "NO-CALL"
        if state.phase is Phase.OVER:
            break
        state = apply(state, dealing.answer(state) if state.call is not None else bot(dealing, state))
    assert {call for call, _phase in seen} == {None, *CallName} - {CallName.REDEAL}


@pytest.mark.parametrize(
    ("seats", "code"),
    [
        ((), "WRONG-SEATS"),
        ((BO, ANA), "WRONG-SEATS"),
        ((ANA, ANA), "WRONG-SEATS"),
        ((Seat(-1),), "WRONG-SEATS"),
        ((Seat(4),), "WRONG-SEATS"),
        ((DAN,), "WRONG-SEATS"),  # is out already
        ((ANA, BO), "TOO-FEW-STAY"),
    ],
)
def test_a_removal_that_cannot_be(seats: tuple[Seat, ...], code: str) -> None:
    dealing, state = begun(PT)
    state = dealt(dealing, apply(state, Remove((DAN,))))
    assert refused(state, Remove(seats)) == code


@every_game
def test_nobody_leaves_while_a_call_is_open(rules: RuleSet) -> None:
    dealing = new_dealing(rules, 2)
    state = start_series(rules, 4)
    seen = set()
    while state.phase is not Phase.OVER:
        if state.call is None:
            seen.add(CallName.REDEAL)
            assert refused(apply(state, Leave(BO)), Leave(CEM)) == "CALL-OPEN"
            state = apply(state, bot(dealing, state))
        else:
            seen.add(state.call.name)
            assert refused(state, Leave(BO)) == "CALL-OPEN"
            state = apply(state, dealing.answer(state))
    assert seen == set(CallName)
    assert refused(state, Leave(BO)) == refused(state, Remove((BO,))) == "SERIES-OVER"


def test_no_seat_leaves_twice_and_none_that_is_not_there() -> None:
    dealing, state = begun(PT)
    after = dealt(dealing, apply(state, Leave(BO)))
    assert refused(after, Leave(BO)) == refused(after, Leave(Seat(4))) == refused(after, Leave(Seat(-1)))


# Leaving


@every_game
def test_a_leave_is_followed_by_a_redeal_like_a_removal(rules: RuleSet) -> None:
    _dealing, state = begun(rules)
    for seat in (ANA, BO, CEM, DAN):
        assert apply(state, Leave(seat)) == apply(state, Remove((seat,)))


@every_game
def test_who_is_left_alone_has_won_and_the_leaver_s_rack_counts(rules: RuleSet) -> None:
    dealing, state = begun(rules, seats=2)
    before = played(dealing, state, 2)
    final = apply(before, Leave(ANA))
    assert (final.phase, final.call, final.ended_by, final.out) == (
        Phase.FINAL,
        Call(CallName.FINAL),
        EndedBy.LAST_SEAT,
        None,
    )
    assert final.seats[ANA].rack == before.seats[ANA].rack
    racks = [dealing.rack(final, seat) for seat in (ANA, BO)]
    shown = [final.faces[tile] for tile in racks[ANA].values()]
    opened = apply(final, RacksOpened(tuple((racks[ANA] | racks[BO]).items()))).result
    kept_shut = apply(final, RacksOpened(tuple(racks[BO].items()))).result
    assert opened is not None
    assert kept_shut is not None
    assert opened.winners == kept_shut.winners == (BO,)
    hidden = [final.faces[tile] for tile in unplaced(final) if tile not in racks[BO].values()]
    laid = rack_points(rules, (final.faces[tile] for tile in final.seats[ANA].laid))
    assert opened.scores[ANA] == laid - rack_points(rules, shown)
    assert kept_shut.scores[ANA] == laid - rack_points(rules, dearest(rules, hidden, len(shown)))
    if not rules.discards:
        assert sum(opened.scores) == sum(kept_shut.scores) == 0


def test_between_two_games_a_seat_leaves_or_is_removed_without_a_call() -> None:
    state = over(PT, 3)
    gone = apply(state, Leave(BO))
    assert gone == replace(state, seats=(state.seats[ANA], replace(state.seats[BO], in_game=False), state.seats[CEM]))
    assert apply(state, Remove((BO,))) == gone
    assert refused(gone, Remove((ANA,))) == "TOO-FEW-STAY"
    alone = apply(gone, Leave(ANA))
    assert refused(alone, Leave(CEM)) == "TOO-FEW-STAY"


def test_who_went_may_sit_down_again_for_the_next_game() -> None:
    dealing, state = begun(with_options(PT, {"rounds": 2}), seats=3)
    state = dealt(dealing, apply(state, Leave(BO)))
    while state.phase is not Phase.OVER:
        state = dealt(dealing, apply(state, bot(dealing, state)))
    assert state.seats[BO].lost == 14
    without = apply(state, NextGame(1))
    assert [own.in_game for own in without.seats] == [True, False, True]
    again = apply(state, NextGame(1, (ANA, BO, CEM)))
    assert again.seats == (SeatState(),) * 3
    assert state.result is not None
    assert standing(again.rules, again.results, 3).totals == state.result.scores


# The end of a game is on its way


def test_who_is_removed_after_going_out_has_won_all_the_same() -> None:
    place = tile_position(PT, parse_board("R4 R5 R6"), parse_tiles("R7"), seats=3)
    final = apply(place.state, DeclareRummikub(place.play(parse_board("R4 R5 R6 R7"))))
    after = apply(final, Remove((ANA,)))
    assert after == replace(final, seats=(replace(final.seats[ANA], in_game=False), *final.seats[1:]))
    result = apply(after, RacksOpened(())).result
    assert result is not None
    assert (result.scores, result.winners) == ((60, -30, -30), (ANA,))


def test_who_is_removed_before_its_rack_is_open_may_still_show_it() -> None:
    blocked = tile_position(PT, (), parse_tiles("R7"), pool=0, seats=3, passes=2)
    final = apply(blocked.state, Pass(ANA))
    after = apply(final, Remove((BO,)))
    assert (after.call, after.seats[BO].rack) == (Call(CallName.FINAL), final.seats[BO].rack)
    tiles = {str(face): TileId(tile) for tile, face in enumerate(final.faces)}
    racks = [(own.rack[0], tiles[text]) for own, text in zip(final.seats, ("R7", "B2", "K9"), strict=True)]
    shown = apply(after, RacksOpened(tuple(racks))).result
    shut = apply(after, RacksOpened((racks[ANA], racks[CEM]))).result
    assert shown is not None
    assert shut is not None
    assert (shown.scores, shown.winners) == ((-5, 12, -7), (BO,))
    assert (shut.scores, shut.winners) == ((25, -23, -2), (ANA,))  # a joker


# `es`


def test_an_open_card_of_who_goes_is_hidden_again_and_may_be_drawn() -> None:
    dealing, state = begun(ES)
    before = turn_of(dealing, state, BO)
    taken = before.discard[-1]
    card = before.known_tiles()[taken]
    holding = apply(before, TakeDiscard(BO))
    assert card not in unplaced(holding)
    after = apply(holding, Remove((BO,)))
    assert card in unplaced(after)
    assert taken not in after.known_tiles()
    assert after.card_turn == CardTurn()
    check_state(after)
    state = dealt(dealing, after)
    assert card in dealing.pools[1]
    check_places(dealing, state)


def test_in_es_who_is_removed_after_going_out_has_won_all_the_same() -> None:
    place = card_position(ES, (), parse_tiles("S2"), parse_tiles("D4"), parse_tiles("C5"))
    third = SeatState(rack=(Slot(0, 60),))
    state = replace(place.state, seats=(*place.state.seats, third), card_turn=CardTurn(drawn=True))
    ((slot, tile),) = place.rack.items()
    after = apply(apply(state, Discard(ANA, slot, tile)), Remove((ANA,)))
    result = apply(after, RacksOpened(())).result
    assert result is not None
    assert (result.winners, result.out) == ((ANA,), ANA)


def test_an_open_card_is_at_no_public_place_any_more_when_its_owner_has_left_the_last_seat_alone() -> None:
    dealing, state = begun(ES, seats=2)
    holding = apply(turn_of(dealing, state, BO), TakeDiscard(BO))
    card = dealing.tile(holding.seats[BO].rack[-1])
    assert set(unplaced(apply(holding, Leave(BO)))) - set(unplaced(holding)) == {card}


def test_an_open_card_of_who_stays_stays_open_and_may_not_be_thrown_back() -> None:
    dealing, state = begun(ES)
    holding = apply(turn_of(dealing, state, BO), TakeDiscard(BO))
    after = dealt(dealing, apply(holding, Remove((CEM,))))
    taken = holding.card_turn.taken
    assert taken is not None
    assert (after.known, after.card_turn) == (holding.known, holding.card_turn)
    assert refused(after, Discard(BO, taken, holding.known_tiles()[taken])) == "ES-DISCARD-SAME"


def test_cards_that_were_turned_over_lie_before_the_new_pool() -> None:
    dealing, state = begun(PLAYABLE["es"], seats=4, seed=1)
    while not state.stock.open or state.card_turn.drawn:
        state = played(dealing, state, 1)
        assert state.phase is Phase.PLAY, "the pile is turned over in this game"
    gone = next(seat for seat in seats_in_game(state) if seat != state.turn)
    after = apply(state, Remove((gone,)))
    assert after.stock == Stock(1, 0, 0, state.stock.open)
    assert after.turnovers == state.turnovers == 1
    again = dealt(dealing, after)
    check_places(dealing, again)
    drawn = apply(again, Draw(again.turn))
    assert (drawn.call, drawn.seats[again.turn].rack[-1]) == (None, state.stock.open[0])
    slots, _left = again.stock.take(again.stock.left)
    assert slots[: len(again.stock.open)] == state.stock.open
    assert {slot.epoch for slot in slots[len(again.stock.open) :]} == {1}


@pytest.mark.parametrize("size", [0, 1])
def test_a_redeal_of_no_tile_or_one(size: int) -> None:
    """All cards lie open but what Cem holds. With no tile the call is opened all the same."""
    slots = tuple(Slot(0, place) for place in range(52))
    state = PublicState(
        rules=ES,
        game=0,
        phase=Phase.PLAY,
        seats=(SeatState(slots[:2]), SeatState(slots[2:4]), SeatState(slots[4 : 4 + size])),
        stock=Stock(0, 52, 52),
        starter=ANA,
        discard=slots[4 + size :],
        known=tuple((slot, TileId(slot.position)) for slot in slots),
    )
    after = apply(state, Remove((CEM,)))
    assert (after.call, len(unplaced(after)), pool_size(after)) == (Call(CallName.REDEAL), size, size)
    again = apply(after, Redealt(size))
    assert (again.call, again.stock) == (None, Stock(1, 0, size))
    assert len(again.known) == 52 - size


# Empty stocks and scores


def test_a_removal_fills_an_empty_stock_and_the_passes_before_it_do_not_count() -> None:
    state = tile_position(PT, (), parse_tiles("R7"), pool=0, seats=4, passes=3).state
    after = apply(state, Remove((CEM,)))
    state = apply(after, Redealt(pool_size(after)))
    assert (state.passes, state.turn) == (0, ANA)
    assert refused(state, Pass(ANA)) == "MUST-DRAW"
    empty = replace(state, stock=replace(state.stock, next=state.stock.size))
    for seat in (ANA, BO):
        empty = apply(empty, Pass(seat))
        assert empty.phase is Phase.PLAY
    assert apply(empty, Pass(DAN)).ended_by is EndedBy.BLOCKED


def removed_and_out(racks: dict[Seat, str]) -> GameResult:
    """Cem holds three tiles and is removed; Ana goes out; the others open these racks."""
    place = tile_position(PT, parse_board("R4 R5 R6"), parse_tiles("R7"), seats=4)
    cem = SeatState(rack=(Slot(0, 60), Slot(0, 61), Slot(0, 62)))
    state = replace(place.state, seats=(*place.state.seats[:2], cem, place.state.seats[DAN]))
    mixing = apply(state, Remove((CEM,)))
    state = apply(mixing, Redealt(pool_size(mixing)))
    final = apply(state, DeclareRummikub(place.play(parse_board("R4 R5 R6 R7"))))
    tiles = {str(face): TileId(tile) for tile, face in enumerate(final.faces)}
    opened = tuple((final.seats[seat].rack[0], tiles[text]) for seat, text in racks.items())
    result = apply(final, RacksOpened(opened)).result
    assert result is not None
    return result


@pytest.mark.parametrize(
    ("racks", "scores"),
    [
        ({BO: "B2", DAN: "K9"}, (84, -2, -73, -9)),  # two jokers and a 13
        ({BO: "J", DAN: "K9"}, (95, -30, -56, -9)),  # one joker was on an opened rack
        ({BO: "B2"}, (105, -2, -73, -30)),  # who keeps its rack shut may have held the same joker
    ],
)
def test_who_was_removed_loses_the_dearest_tiles_that_no_opened_rack_held(
    racks: dict[Seat, str], scores: tuple[int, ...]
) -> None:
    result = removed_and_out(racks)
    assert (result.scores, result.winners, sum(result.scores)) == (scores, (ANA,), 0)


@pytest.mark.parametrize(("lost", "points"), [(0, 0), (1, 13), (2, 23), (3, 33), (9, 33)])
def test_where_too_few_tiles_are_hidden_the_opened_racks_make_up_for_them(lost: int, points: int) -> None:
    """Hidden is only one 13, on the only rack are two tens: no more than three tiles can count."""
    state = tile_position(PT, (), parse_tiles("B10 Y10"), pool=0, seats=3).state
    faces = [str(face) for face in state.faces]
    king, others = TileId(faces.index("K13")), [TileId(faces.index(text)) for text in ("B10", "Y10")]
    rest = [TileId(tile) for tile in range(len(faces)) if tile not in (king, *others)]
    known = dict(zip(state.seats[ANA].rack, others, strict=True)) | {Slot(9, tile): tile for tile in rest}
    seats = (state.seats[ANA], SeatState(), SeatState(in_game=False, lost=lost))
    racks = final_racks(replace(state, seats=seats, known=tuple(sorted(known.items()))))
    assert rack_points(PT, racks[CEM]) == points
    assert rack_points(PT, racks[ANA]) == 20


def blocked_without_cem(lost: int | None, racks: tuple[str, str]) -> GameResult:
    state = tile_position(PT, (), parse_tiles("R7"), pool=0, seats=3, passes=1).state
    state = replace(state, seats=(*state.seats[:2], SeatState(in_game=False, lost=lost)))
    final = apply(state, Pass(ANA))
    tiles = {str(face): TileId(tile) for tile, face in enumerate(final.faces)}
    opened = tuple((final.seats[seat].rack[0], tiles[text]) for seat, text in zip((ANA, BO), racks, strict=True))
    result = apply(final, RacksOpened(opened)).result
    assert result is not None
    return result


def test_a_blocked_game_is_not_won_by_who_was_removed_or_had_no_part() -> None:
    result = blocked_without_cem(None, ("R7", "B9"))
    assert (result.scores, result.winners) == ((2, -2, 0), (ANA,))
    result = blocked_without_cem(0, ("R7", "B9"))
    assert (result.scores, result.winners) == ((2, -2, 0), (ANA,))


def test_a_blocked_game_costs_who_was_removed_the_difference_to_the_lowest_rack() -> None:
    result = blocked_without_cem(2, ("R7", "B9"))
    assert (result.scores, result.winners) == ((55, -2, -53), (ANA,))


def test_in_es_laid_cards_count_for_who_was_removed_but_do_not_win() -> None:
    dealing, state = begun(ES, seats=3)
    laid = tuple(TileId(tile) for tile, face in enumerate(state.faces) if face.number > 10)
    state = replace(state, seats=(*state.seats[:2], SeatState(in_game=False, laid=laid, lost=2)))
    final = replace(state, phase=Phase.FINAL, call=Call(CallName.FINAL), ended_by=EndedBy.OUT, out=ANA)
    result = apply(final, dealing.answer(final)).result
    assert result is not None
    assert result.scores[CEM] == 10 * len(laid) - 20 == max(result.scores)
    assert result.winners == (ANA,)


# Whole games


def going(rng: random.Random, dealing: Dealing, state: PublicState) -> Remove | Leave | None:
    """Somebody goes, if enough stay."""
    inside = seats_in_game(state)
    if state.phase is Phase.OVER or len(inside) < 2:
        return None
    if state.call is None and rng.random() < 0.5:
        return Leave(rng.choice(inside))
    if len(inside) < 3:
        return None
    seats = tuple(sorted(rng.sample(inside, rng.randint(1, min(2, len(inside) - 2)))))
    answer = dealing.answer(state) if state.call is not None and rng.random() < 0.5 else None
    return Remove(seats, answer if isinstance(answer, (RacksDealt, DrawDealt)) else None)


def cell_of(state: PublicState, gone: Remove | Leave) -> tuple[str, str]:
    """The open call, and what becomes of it."""
    call = "none" if state.call is None else state.call.name.value
    if isinstance(gone, Leave):
        return call, "leave"
    return call, "void" if gone.closing is None else "complete"


@every_game
def test_whole_games_that_seats_go_from_at_any_time_keep_every_tile_and_end(rules: RuleSet) -> None:
    """Two games each time; those who went sit down again for the second. What was seen twice becomes rare."""
    rules = with_options(rules, {"rounds": 2})
    seen: Counter[tuple[str, str]] = Counter()
    for seed in range(8):
        dealing, rng = new_dealing(rules, seed), random.Random(seed)
        state = start_series(rules, rules.max_seats)
        while state.phase is not Phase.OVER or not series_over(state):
            before, gone = state, going(rng, dealing, state)
            if gone is not None and rng.random() < (0.4 if seen[cell_of(state, gone)] < 2 else 0.005):
                seen[cell_of(state, gone)] += 1
                state = apply(state, gone)
            elif state.phase is Phase.OVER:
                state = apply(state, NextGame(1, tuple(Seat(seat) for seat in range(rules.max_seats))))
            else:
                state = apply(state, bot(dealing, state) if state.call is None else dealing.answer(state))
            check_state(state)
            if state.phase is Phase.PLAY:
                check_places(dealing, state)
                assert set(tiles_on(before.board)) <= set(tiles_on(state.board))
            if state.result is not None:
                assert all(state.seats[seat].lost is None for seat in state.result.winners)
    complete = {("racks", "complete"), ("draw", "complete")}
    assert set(seen) == {(name.value, "void") for name in CallName} | complete | {("none", "void"), ("none", "leave")}
