"""`apply` for the tile games: who may act, what a draw, a pass, the clock and the end of the game do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.actions import (
    Action,
    DeclareRummikub,
    Discard,
    Draw,
    DrawDealt,
    DrawReason,
    Exchange,
    NextGame,
    Pass,
    Play,
    RacksDealt,
    RacksOpened,
    StartDealt,
    TakeDiscard,
    Timeout,
)
from engine.errors import IllegalMove
from engine.options import with_options
from engine.positions import Position, parse_board, tile_position
from engine.rules import apply, at_time_up, drawing_faults, end_turn, faults, judge
from engine.rulesets import FI, NO, PT, RuleSet
from engine.setup import start_series
from engine.state import Call, CallName, EndedBy, MeldKind, Phase, PublicState, Seat, SeatState, Slot, Stock, TableMeld
from engine.tiles import TileId, parse_tiles


def position(
    rules: RuleSet, before: str, rack: str, *, opened: bool = True, pool: int = 20, seats: int = 2, passes: int = 0
) -> Position:
    return tile_position(
        rules, parse_board(before), parse_tiles(rack), opened=opened, pool=pool, seats=seats, passes=passes
    )


def play(place: Position, after: str) -> Play:
    return place.play(parse_board(after))


def refused(state: PublicState, action: Action) -> list[str]:
    with pytest.raises(IllegalMove) as caught:
        apply(state, action)
    assert all(fault.sentence.endswith(".") for fault in caught.value.faults)
    return [fault.code for fault in caught.value.faults]


# From the lot to the first turn


def test_a_game_starts_with_shuffle_deal_and_the_starter_s_turn() -> None:
    state = start_series(PT, 3)
    assert (state.phase, state.call) == (Phase.START, Call(CallName.START))
    state = apply(state, StartDealt(Seat(2)))
    assert (state.phase, state.call, state.stock) == (Phase.DEAL, Call(CallName.RACKS), Stock(0, 0, 106))
    state = apply(state, RacksDealt())
    assert (state.phase, state.call, state.turn) == (Phase.PLAY, None, 2)
    assert [seat.rack[0].position for seat in state.seats] == [0, 14, 28]
    assert (state.stock.left, state.stock.next) == (64, 42)


@pytest.mark.parametrize("starter", [None, Seat(3), Seat(-1)])
def test_the_lot_must_name_a_seat(starter: Seat | None) -> None:
    assert refused(start_series(PT, 3), StartDealt(starter)) == ["NO-STARTER"]


def test_a_tile_game_has_no_open_first_tile() -> None:
    state = apply(start_series(PT, 2), StartDealt(Seat(0)))
    assert refused(state, RacksDealt(TileId(3))) == ["WRONG-FACE-UP"]


# Who may act when


def test_nobody_acts_out_of_turn_during_a_call_or_after_the_end() -> None:
    place = position(PT, "R4 R5 R6", "R7 K1")
    state = place.state
    actions: list[Action] = [Draw(Seat(0)), Pass(Seat(0)), play(place, "R4 R5 R6 R7"), Timeout()]
    for action in actions:
        assert refused(replace(state, call=Call(CallName.DRAW, Seat(1), (Slot(0, 0),))), action) == ["CALL-OPEN"]
        assert refused(replace(state, phase=Phase.OVER), action) == ["GAME-OVER"]
        if not isinstance(action, Timeout):
            assert refused(replace(state, turn=Seat(1)), action) == ["NOT-YOUR-TURN"]
    assert refused(state, Draw(Seat(9))) == ["NOT-YOUR-TURN"]
    assert refused(state, DrawDealt()) == ["NO-CALL"]
    assert refused(state, RacksOpened(())) == ["NO-CALL"]
    assert refused(state, NextGame(1)) == ["GAME-RUNNING"]


def test_cards_actions_belong_to_another_game() -> None:
    state = position(PT, "", "R1").state
    assert refused(state, TakeDiscard(Seat(0))) == ["OTHER-GAME"]
    assert refused(state, Discard(Seat(0), Slot(0, 0), TileId(0))) == ["OTHER-GAME"]


# Plays


def test_a_play_moves_tiles_proves_slots_opens_the_seat_and_passes_the_turn() -> None:
    place = position(PT, "R4 R5 R6", "R10 B10 K10 Y2", opened=False, passes=0)
    state = place.state
    action = play(place, "R4 R5 R6 | R10 B10 K10")
    after = apply(state, action)
    assert [str(after.faces[tile]) for tile in after.board[1].tiles] == ["R10", "B10", "K10"]
    assert [meld.kind for meld in after.board] == [MeldKind.RUN, MeldKind.GROUP]
    assert dict(after.known) == {**state.known_tiles(), **dict(action.laid)}
    assert len(after.seats[0].rack) == 1
    assert after.seats[0].opened
    assert (after.turn, after.turn_number, after.call) == (1, 1, None)


def test_a_declared_kind_is_kept_on_the_table() -> None:
    place = position(PT, "", "R5 J J K1")
    after = apply(place.state, play(place, "group: R5 J J"))
    assert after.board[0].kind is MeldKind.GROUP
    next_place = Position(replace(after, turn=Seat(0)), place.rack, place.tiles)
    again = judge(next_place.state, Play(Seat(0), (TableMeld(after.board[0].tiles),), ()))
    assert [meld and meld.kind for meld in again.melds] == [MeldKind.GROUP]


def test_malformed_plays_are_refused_and_name_nothing_hidden() -> None:
    place = position(PT, "R4 R5 R6", "R7 K1")
    state, good = place.state, play(place, "R4 R5 R6 R7")
    (slot, seven), table = good.laid[0], state.board[0]
    other = next(slot for slot, tile in place.rack.items() if tile != seven)
    wrong = {
        "no such tile": replace(good, board=(TableMeld((*table.tiles, TileId(999))),)),
        "negative tile": replace(good, board=(TableMeld((*table.tiles, TileId(-1))),)),
        "twice on the board": replace(good, board=(*good.board, table)),
        "slot twice": replace(good, laid=(*good.laid, (slot, table.tiles[0]))),
        "laid but not there": replace(good, board=state.board),
        "slot of another seat": replace(good, laid=((Slot(0, 3001), seven),)),
        "slot in the stock": replace(good, laid=((Slot(0, 0), seven),)),
        "claims a tile that is public": replace(good, laid=((slot, table.tiles[0]),)),
        "exchange of no tile": replace(good, exchanges=(Exchange(0, 0, TileId(5000)),)),
        "opening of no tile": replace(good, opening=(TableMeld((TileId(-7),)),)),
        "not laid": replace(good, laid=()),
    }
    for name, action in wrong.items():
        assert set(refused(state, action)) <= {"MALFORMED", "TILE-NOT-HELD", "NO-RACK-TILE"}, name
        assert faults(state, action), name
    known = replace(state, known=(*state.known, (slot, TileId(0))))
    assert refused(known, good) == ["TILE-NOT-HELD"]
    assert apply(state, replace(good, laid=((other, seven),))).phase is Phase.PLAY, (
        "what a hidden slot is, is proven elsewhere"
    )


def test_an_open_slot_of_the_rack_is_played_as_what_it_is() -> None:
    place = position(PT, "R4 R5 R6", "R7 K1")
    action = play(place, "R4 R5 R6 R7")
    opened = replace(place.state, known=tuple(sorted((*place.state.known, *action.laid))))
    assert apply(opened, action).turn == 1


def test_a_tile_taken_off_the_table_is_on_the_rack() -> None:
    place = position(PT, "R4 R5 R6 R7 | J B2 B3 B4", "K4 Y4 K9 K10")
    assert refused(place.state, play(place, "R5 R6 R7 | J B2 B3 B4"))[0] == "TILE-TO-RACK"
    assert refused(place.state, play(place, "R4 R5 R6 R7 | B2 B3 B4"))[0] == "JOKER-TO-RACK"


def test_faults_are_empty_exactly_if_the_play_is_accepted_the_call_aside() -> None:
    place = position(PT, "R4 R5 R6", "R7")
    winning = play(place, "R4 R5 R6 R7")
    assert faults(place.state, winning) == ()
    assert refused(place.state, winning) == ["CALL-RUMMIKUB"]
    assert apply(place.state, DeclareRummikub(winning)).out == 0
    assert apply(place.state, replace(winning, time_up=True)).out == 0


# Drawing


def test_a_draw_takes_the_next_slot_and_ends_the_turn_when_it_is_dealt() -> None:
    state = position(PT, "R4 R5 R6", "R7 K1").state
    drawing = apply(state, Draw(Seat(0)))
    assert drawing.call == Call(CallName.DRAW, Seat(0), (Slot(0, 0),))
    assert (drawing.turn, drawing.stock.left) == (0, 19)
    after = apply(drawing, DrawDealt())
    assert after.seats[0].rack[-1] == Slot(0, 0)
    assert (after.turn, after.call) == (1, None)


def test_drawing_from_an_empty_stock_is_refused_and_passing_from_a_full_one() -> None:
    assert refused(position(PT, "", "R7", pool=0).state, Draw(Seat(0))) == ["STOCK-EMPTY"]
    assert refused(position(PT, "", "R7", pool=1).state, Pass(Seat(0))) == ["MUST-DRAW"]


@pytest.mark.parametrize(("pool", "drawn"), [(20, 3), (3, 3), (2, 2), (0, 0)])
def test_an_illegal_end_of_turn_in_fi_costs_what_the_stock_has(pool: int, drawn: int) -> None:
    state = position(FI, "R4 R5 R6", "R8 K9", pool=pool).state
    after = apply(state, Draw(Seat(0), DrawReason.ILLEGAL))
    assert (len(after.call.slots) if after.call else 0) == drawn
    assert after.board == state.board
    assert after.passes == (0 if drawn else 1)


def test_there_is_no_such_penalty_in_pt_and_no() -> None:
    for rules in (PT, NO):
        assert refused(position(rules, "", "R7").state, Draw(Seat(0), DrawReason.ILLEGAL)) == ["NO-PENALTY"]


@pytest.mark.parametrize(("rules", "drawn"), [(PT, 3), (FI, 1), (NO, 1)])
def test_the_clock_restores_and_draws(rules: RuleSet, drawn: int) -> None:
    state = position(rules, "R4 R5 R6", "R8 K9").state
    after = apply(state, Timeout())
    assert after.call is not None
    assert len(after.call.slots) == drawn
    assert after.board == state.board


def test_without_a_time_limit_there_is_no_time_out() -> None:
    state = position(with_options(PT, {"turn_seconds": 0}), "", "R8").state
    assert refused(state, Timeout()) == ["NO-TIME-LIMIT"]


def test_a_finished_play_when_time_is_up_costs_a_tile_in_fi_unless_it_wins() -> None:
    place = position(FI, "R4 R5 R6", "R7 K9")
    after = apply(place.state, replace(play(place, "R4 R5 R6 R7"), time_up=True))
    assert after.call == Call(CallName.DRAW, Seat(0), (Slot(0, 0),))
    assert apply(after, DrawDealt()).turn == 1
    winning = position(FI, "R4 R5 R6", "R7")
    after = apply(winning.state, replace(play(winning, "R4 R5 R6 R7"), time_up=True))
    assert after.call == Call(CallName.FINAL)


# An empty stock, and the end


def test_after_everybody_passed_in_a_row_the_game_is_blocked() -> None:
    state = position(PT, "", "R7", pool=0, seats=3).state
    for seat in range(3):
        assert state.phase is Phase.PLAY
        state = apply(state, Pass(Seat(seat)))
    assert (state.phase, state.ended_by, state.out, state.call) == (
        Phase.FINAL,
        EndedBy.BLOCKED,
        None,
        Call(CallName.FINAL),
    )


def test_a_play_begins_the_count_of_passes_anew_and_the_clock_counts_as_a_pass() -> None:
    place = position(PT, "R4 R5 R6", "R7 K1", pool=0, seats=2, passes=1)
    assert apply(place.state, play(place, "R4 R5 R6 R7")).passes == 0
    assert apply(place.state, Timeout()).ended_by is EndedBy.BLOCKED


def test_a_play_at_the_end_of_the_time_is_no_pass_even_if_the_stock_is_empty() -> None:
    place = position(FI, "R4 R5 R6", "R7 K9", pool=0, passes=1)
    after = apply(place.state, replace(play(place, "R4 R5 R6 R7"), time_up=True))
    assert (after.phase, after.passes, after.turn) == (Phase.PLAY, 0, 1)


def test_a_time_out_that_costs_nothing_is_a_pass_only_if_the_stock_is_empty() -> None:
    rules = with_options(PT, {"timeout_draw": 0})
    assert apply(position(rules, "", "R7", pool=5, passes=0).state, Timeout()).passes == 0
    assert apply(position(rules, "", "R7", pool=0, passes=1).state, Timeout()).ended_by is EndedBy.BLOCKED


def test_seats_that_left_are_skipped_and_not_waited_for() -> None:
    state = position(PT, "", "R7", pool=0, seats=3).state
    gone = replace(state, seats=(state.seats[0], replace(state.seats[1], in_game=False), state.seats[2]))
    after = apply(gone, Pass(Seat(0)))
    assert after.turn == 2
    assert apply(after, Pass(Seat(2))).ended_by is EndedBy.BLOCKED


def test_racks_are_opened_and_scored_and_what_stays_closed_counts_as_the_dearest() -> None:
    place = position(PT, "R4 R5 R6", "R7", seats=3)
    state = place.state
    hidden = SeatState(rack=(Slot(0, 50), Slot(0, 51)))
    state = replace(state, seats=(state.seats[0], hidden, SeatState(rack=(Slot(0, 60),))))
    final = apply(state, DeclareRummikub(play(place, "R4 R5 R6 R7")))
    nine = next(TileId(tile) for tile, face in enumerate(final.faces) if str(face) == "Y9")
    over = apply(final, RacksOpened(((Slot(0, 60), nine),)))
    assert over.phase is Phase.OVER
    assert over.result is not None
    assert (over.result.scores, over.result.winners) == ((69, -60, -9), (0,))  # two jokers at 30
    assert refused(final, RacksOpened(((Slot(0, 61), nine),))) == ["NOT-A-RACK"]
    assert refused(final, RacksOpened(((Slot(0, 60), final.board[0].tiles[0]),))) == ["NOT-HIDDEN"]
    assert refused(final, RacksOpened(((Slot(0, 50), nine), (Slot(0, 60), nine)))) == ["NOT-HIDDEN"]
    assert refused(final, RacksOpened(((Slot(0, 60), TileId(400)),))) == ["NOT-HIDDEN"]


def test_the_last_seat_in_the_game_wins_the_racks_of_those_who_left() -> None:
    state = position(PT, "", "R7 B7", seats=2).state
    left = replace(state.seats[1], in_game=False)
    state = replace(state, seats=(state.seats[0], left), phase=Phase.FINAL, ended_by=EndedBy.LAST_SEAT)
    over = apply(replace(state, call=Call(CallName.FINAL)), RacksOpened(()))
    assert over.result is not None
    assert (over.result.scores, over.result.winners, over.result.out) == ((30, -30), (0,), None)


# Buttons and drafts


def test_end_turn_costs_three_tiles_in_fi_only_if_something_was_moved() -> None:
    place = position(FI, "R4 R5 R6", "R8 K9")
    assert end_turn(place.state, play(place, "R4 R5 R6 R8")) == Draw(Seat(0), DrawReason.ILLEGAL)
    with pytest.raises(IllegalMove, match="NO-RACK-TILE"):
        end_turn(place.state, play(place, "R4 R5 R6"))
    with pytest.raises(IllegalMove, match="NOT-YOUR-TURN"):
        end_turn(replace(place.state, turn=Seat(1)), play(place, "R4 R5 R6 R8"))


def test_an_illegal_opening_costs_three_tiles_in_fi() -> None:
    place = position(FI, "", "R4 R5 R6 K9", opened=False)
    assert end_turn(place.state, play(place, "R4 R5 R6")) == Draw(Seat(0), DrawReason.ILLEGAL)


def test_the_rummikub_button_never_costs_anything() -> None:
    place = position(FI, "R4 R5 R6", "R8")
    assert refused(place.state, DeclareRummikub(play(place, "R4 R5 R6 R8"))) == ["INVALID-SET"]
    place = position(FI, "R4 R5 R6", "R7 K9")
    assert refused(place.state, DeclareRummikub(play(place, "R4 R5 R6 R7"))) == ["NOT-OUT"]


def test_drawing_waits_until_everything_lies_as_before() -> None:
    place = position(PT, "R4 R5 R6 | B1 B2 B3", "R7 K9")
    assert [fault.code for fault in drawing_faults(place.state, play(place, "R4 R5 R6 R7 | B1 B2 B3"))] == [
        "DRAFT-OPEN"
    ]
    assert [fault.code for fault in drawing_faults(place.state, play(place, "R4 R5 | R6 | B1 B2 B3"))] == ["DRAFT-OPEN"]
    assert drawing_faults(place.state, play(place, "B1 B2 B3 | R4 R5 R6")) == ()
    place = position(PT, "R4 B4 K4 | B1 B2 B3", "R7 K9")
    assert drawing_faults(place.state, play(place, "B4 R4 K4 | B1 B2 B3")) == (), "the order of a group does not matter"
    assert drawing_faults(place.state, play(place, "R4 B4 K4 | B2 B1 B3")) != ()


@pytest.mark.parametrize("rules", [PT, FI, NO])
def test_time_up_with_nothing_moved_draws_or_passes(rules: RuleSet) -> None:
    place = position(rules, "R4 R5 R6", "R8 K9")
    assert at_time_up(place.state, None) == Draw(Seat(0))
    assert at_time_up(place.state, play(place, "R4 R5 R6")) == Draw(Seat(0))
    assert at_time_up(position(rules, "R4 R5 R6", "R8", pool=0).state, None) == Pass(Seat(0))


def test_time_up_on_a_finished_table_plays_and_wins_with_the_call() -> None:
    place = position(PT, "R4 R5 R6", "R7 K9")
    action = at_time_up(place.state, play(place, "R4 R5 R6 R7"))
    assert action == replace(play(place, "R4 R5 R6 R7"), time_up=True)
    place = position(PT, "R4 R5 R6", "R7")
    action = at_time_up(place.state, play(place, "R4 R5 R6 R7"))
    assert isinstance(action, DeclareRummikub)
    assert apply(place.state, action).out == 0


def test_time_up_on_an_unfinished_table_leaves_it_to_the_clock() -> None:
    for rules in (PT, FI):
        place = position(rules, "R4 R5 R6", "R8 K9")
        assert at_time_up(place.state, play(place, "R4 R5 R6 R8")) is None
    place = position(PT, "R4 R5 R6", "R8 K9")
    assert at_time_up(replace(place.state, turn=Seat(1)), play(place, "R4 R5 R6 R8")) is None


@pytest.mark.parametrize(
    ("before", "rack", "draft", "stays"),
    [
        ("R4 R5 R6", "R7 B2 K9", "R4 R5 R6 R7 | B2", "R4 R5 R6 R7"),
        ("R4 R5 R6", "R7 B2 K9", "R4 R5 R6 R7 B2", None),  # nothing stays of what was laid
        ("R4 R5 R6", "B6 K9", "R4 R5 | R6 B6", None),
        ("R4 R5 R6", "K1 K2 K3 Y9 Y10", "R4 R5 R6 Y9 | K1 K2 K3 | Y10", "R4 R5 R6 | K1 K2 K3"),
        # the blue 5 from the table lies alone, its twin from the hand in a set: the twin goes back
        ("B5 R5 K5 Y5", "B4 B5 B6 K9", "R5 K5 Y5 | B4 B6 B5 | B5", None),
        ("B5 R5 K5 Y5", "B4 B5 B6 K9", "R5 K5 Y5 | B5 | B4 B5 B6 ", "R5 K5 Y5 | B4 B5 B6"),
        ("R4 B4 K4", "", "R4 | B4 K4", None),
    ],
)
def test_time_up_in_no_takes_back_the_loose_cards_only(before: str, rack: str, draft: str, stays: str | None) -> None:
    place = position(NO, before, rack)
    action = at_time_up(place.state, play(place, draft))
    if stays is None:
        assert action is None
        assert apply(place.state, Timeout()).call == Call(CallName.DRAW, Seat(0), (Slot(0, 0),))
    else:
        assert isinstance(action, Play)
        assert action.time_up
        assert place.texts(action.board) == [part.split() for part in stays.split(" | ")]
        assert apply(place.state, action).call is None, "no penalty"


def test_time_up_in_no_swaps_twins_so_that_the_table_keeps_its_own() -> None:
    place = position(NO, "B5 R5 K5 Y5", "B4 B5 B6 K9")
    blue_table = place.state.board[0].tiles[0]
    draft = play(place, "R5 K5 Y5 | B4 B5 B6 | B5")
    by_face = {str(place.state.faces[tile]): tile for tile in place.rack.values()}
    lying = (draft.board[0], TableMeld((by_face["B4"], by_face["B5"], by_face["B6"])), TableMeld((blue_table,)))
    action = at_time_up(place.state, replace(draft, board=lying))
    assert isinstance(action, Play)
    assert action.board[1].tiles == (by_face["B4"], blue_table, by_face["B6"])
    assert by_face["B5"] not in [tile for _slot, tile in action.laid]
