from __future__ import annotations

import json
from dataclasses import replace

from engine.actions import DeclareRummikub, RacksOpened
from engine.observe import view_for
from engine.positions import parse_board, tile_position
from engine.rules import apply
from engine.rulesets import ES, NO, PT
from engine.state import Call, CallName, Phase, Seat, Slot
from engine.tiles import TileId, parse_tile, parse_tiles
from engine.views import to_plain
from tests.engine.games import steps

NAMES = ("Ana", "Bo", "Cem")


def test_a_seat_sees_its_own_rack_and_only_the_number_of_the_others() -> None:
    place = tile_position(PT, parse_board("R4 J R6 | R7 B7 J"), parse_tiles("R9 K1"), seats=3)
    view = view_for(place.state, NAMES, Seat(0), place.rack)
    assert [tile.text for tile in view.rack] == ["R9", "K1"]
    assert [player.tiles_left for player in view.players] == [2, 1, 1]
    assert [player.name for player in view.players] == list(NAMES)
    run, group = view.board
    assert (run.kind, run.points, run.stands_for) == ("run", 15, ((), ("R5",), ()))
    assert (group.kind, group.points, group.stands_for) == ("group", 21, ((), (), ("K7", "Y7")))
    assert (view.pool, view.turn, view.phase, view.can_pass, view.call_required) == (20, 0, "play", False, True)


def test_an_observer_sees_no_rack() -> None:
    place = tile_position(PT, (), parse_tiles("R9 K1"))
    assert view_for(place.state, NAMES[:2], None, {}).rack == ()


def test_a_slot_without_a_tile_yet_is_left_out() -> None:
    place = tile_position(PT, (), parse_tiles("R9 K1"))
    first = next(iter(place.rack))
    view = view_for(place.state, NAMES[:2], Seat(0), {first: place.rack[first]})
    assert [tile.text for tile in view.rack] == ["R9"]
    assert view.players[0].tiles_left == 2


def test_nothing_hidden_is_in_anybody_else_s_view() -> None:
    """Over a whole game: what an observer sees does not change if all hidden tiles are others."""
    for rules in (NO, ES):
        for state, _action, _after in steps(rules, 3, seed=3):
            observer = json.dumps(to_plain(view_for(state, NAMES, None, {})))
            own = view_for(state, NAMES, Seat(1), dict.fromkeys(state.hidden_slots(Seat(1)), TileId(0)))
            assert json.dumps(to_plain(replace(own, seat=None, rack=()))) == observer


def test_a_draw_shows_who_draws_and_an_empty_stock_that_passing_is_possible() -> None:
    place = tile_position(PT, (), parse_tiles("R9"), pool=0)
    assert view_for(place.state, NAMES[:2], None, {}).can_pass
    drawing = replace(place.state, call=Call(CallName.DRAW, Seat(1), (Slot(0, 0),)))
    view = view_for(drawing, NAMES[:2], None, {})
    assert (view.waiting_for, view.drawing) == ("draw", 1)


def test_after_the_end_racks_are_open_and_totals_counted() -> None:
    place = tile_position(PT, parse_board("R4 R5 R6"), parse_tiles("R7"))
    final = apply(place.state, DeclareRummikub(place.play(parse_board("R4 R5 R6 R7"))))
    nine = TileId(PT.faces.index(parse_tile("K9")))
    over = apply(final, RacksOpened(((final.seats[1].rack[0], nine),)))
    view = view_for(over, NAMES[:2], Seat(0), {})
    assert over.phase is Phase.OVER
    assert view.result is not None
    assert [[tile.text for tile in rack] for rack in view.result.racks] == [[], ["K9"]]
    assert [player.total for player in view.players] == [9, -9]
    assert view.result.winners == (0,)


def test_plain_views_are_plain_json() -> None:
    seen: set[str] = set()
    for state, _action, _after in steps(ES, 2, seed=1):
        plain = to_plain(view_for(state, NAMES[:2], Seat(0), {}))
        assert json.loads(json.dumps(plain)) == plain
        seen.add(plain["phase"])
    assert seen >= {"start", "deal", "play", "final"}
