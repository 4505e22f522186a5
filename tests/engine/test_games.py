"""Whole games, engine only: what holds after every action, whoever plays how badly."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.actions import (
    Action,
    DeclareRummikub,
    Discard,
    Draw,
    DrawDealt,
    DrawReason,
    Exchange,
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
    StartDealt,
    TakeBack,
    TakeDiscard,
    Timeout,
)
from engine.board import tiles_on
from engine.bots import choose
from engine.errors import IllegalMove
from engine.faces import codes_of
from engine.melds import read
from engine.options import with_options
from engine.redeal import pool_size, unplaced
from engine.rules import apply, at_time_up, end_turn, faults
from engine.rulesets import RULE_SETS
from engine.setup import start_series
from engine.state import CallName, EndedBy, MeldKind, Phase, PublicState, Seat, Slot, TableMeld, state_hash
from engine.tiles import TileId
from tests.engine.games import Dealing, bot, final_state, seats_in_game, steps

TILE_GAMES = ("pt", "fi", "no")
ALL_GAMES = (*TILE_GAMES, "es")
PLAYABLE = {**RULE_SETS, "es": with_options(RULE_SETS["es"], {"turnovers": 3})}  # so that every game ends
few = settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
seeds = st.integers(0, 2**32 - 1)


def clumsy(dealing: Dealing, state: PublicState) -> Action:
    """A player that often tries something else than the bot's move: spoilt plays, other seats, other games' actions."""
    rng = dealing.rng
    action = bot(dealing, state)
    if rng.random() < 0.5:
        return action
    rack = dealing.rack(state, state.turn)
    if isinstance(action, (Play, DeclareRummikub)):
        play = spoilt(rng, action.play if isinstance(action, DeclareRummikub) else action)
        choice = rng.random()
        if choice < 0.3:
            return at_time_up(state, play) or Timeout()
        try:
            return end_turn(state, play) if choice < 0.6 else play
        except IllegalMove:
            return play
    others: list[Action] = [
        Draw(state.turn, DrawReason.ILLEGAL),
        Pass(state.turn),
        Timeout(),
        TakeDiscard(state.turn),
        Draw(Seat(state.turn + 1)),
        NextGame(state.game + 1),
        DrawDealt(),
    ]
    others += [Discard(state.turn, slot, tile) for slot, tile in rack.items()]
    return rng.choice(others)


def spoilt(rng: random.Random, play: Play) -> Play:
    """The play with a tile moved, dropped or doubled, a meld lost, or its laid tiles muddled."""
    board = [list(meld.tiles) for meld in play.board]
    laid = list(play.laid)
    source = rng.choice(board)
    match rng.randrange(5):
        case 0:
            rng.choice(board).append(source.pop(rng.randrange(len(source))))
        case 1:
            source.pop(rng.randrange(len(source)))
        case 2:
            source.append(source[0])
        case 3:
            board.remove(source)
        case _:
            laid.pop(rng.randrange(len(laid)))
    return Play(
        play.seat, tuple(TableMeld(tuple(meld)) for meld in board if meld), tuple(laid), time_up=rng.random() < 0.2
    )


def check_state(state: PublicState) -> None:
    """No slot lost or doubled, no tile public twice, every meld on the board legal, nothing hidden shown."""
    if state.phase is Phase.START:
        assert (state.known, state.board, state.discard, state.stock.left) == ((), (), (), 0)
        return
    on_racks = Counter(slot for seat in state.seats for slot in seat.rack)
    drawing = Counter(state.call.slots if state.call else ())
    known = state.known_tiles()
    on_board = Counter(tiles_on(state.board))
    slots = on_racks + drawing + Counter(state.discard) + Counter(state.stock.open)
    assert max(slots.values(), default=1) == 1
    assert max(on_board.values(), default=1) == 1
    mixing = state.call is not None and state.call.name is CallName.REDEAL
    pool = pool_size(state) if mixing else state.stock.size - state.stock.next
    assert sum(slots.values()) + len(on_board) + pool == len(state.faces)
    assert len(set(known.values())) == len(known)
    assert set(on_board) <= set(known.values())
    assert list(state.known) == sorted(state.known)
    for meld in state.board:
        read_as = read(codes_of(state.faces[tile] for tile in meld.tiles), meld.kind)
        assert read_as is not None
        assert read_as.kind is meld.kind
    if state.phase in (Phase.DEAL, Phase.PLAY):
        public_places = set(state.discard) | set(state.stock.open)
        for slot in known:
            shown = known[slot] in on_board or slot in public_places or slot in on_racks or slot in drawing
            assert shown, "only a tile that lay open is known"
    if state.result is not None:
        shared = len(state.result.winners) > 1
        if not state.rules.discards and not shared:
            assert sum(state.result.scores) == 0


def check_places(dealing: Dealing, state: PublicState) -> None:
    """In a running game: the tiles without a public place are exactly those of hidden racks, of a draw and of the pool.

    While they are mixed the pool is whatever is on no rack.
    """
    assert state.phase is Phase.PLAY
    hidden = [tile for seat in seats_in_game(state) for tile in dealing.rack(state, seat).values()]
    on_racks = len(hidden)
    if state.call is not None and state.call.name is CallName.REDEAL:
        assert state.stock.size == 0
        assert len(set(hidden)) == len(hidden)
        assert set(hidden) <= set(unplaced(state))
        assert pool_size(state) == len(unplaced(state)) - on_racks
        return
    hidden += [dealing.tile(slot) for slot in (() if state.call is None else state.call.slots)]
    hidden += [dealing.tile(Slot(state.stock.epoch, place)) for place in range(state.stock.next, state.stock.size)]
    assert sorted(hidden) == list(unplaced(state))
    for own in state.seats:
        assert own.in_game or own.rack == ()


@pytest.mark.parametrize("name", ALL_GAMES)
@few
@given(seeds, st.integers(2, 4))
def test_whole_games_of_clumsy_players_keep_every_tile(name: str, seed: int, seats: int) -> None:
    for before, action, after in steps(PLAYABLE[name], seats, seed, clumsy):
        check_state(after)
        digest = state_hash(before)
        assert apply(before, action) == after
        assert state_hash(before) == digest, "apply changed the state it was given"
        assert (state_hash(after) == digest) == (after == before)


@pytest.mark.parametrize("name", ALL_GAMES)
@few
@given(seeds, st.integers(2, 4))
def test_bots_never_try_an_illegal_action(name: str, seed: int, seats: int) -> None:
    def checked(dealing: Dealing, state: PublicState) -> Action:
        rack = dealing.rack(state, state.turn)
        action = choose(state.turn, state, rack)
        apply(state, action)  # raises if it is illegal
        assert choose(state.turn, state, dict(reversed(rack.items()))) == action, "not deterministic"
        return action

    state = final_state(PLAYABLE[name], seats, seed, checked)
    assert state.phase is Phase.OVER


@pytest.mark.parametrize("name", ALL_GAMES)
@few
@given(seeds, st.integers(2, 4), st.data())
def test_apply_raises_only_illegal_move_and_faults_agree(name: str, seed: int, seats: int, data: st.DataObject) -> None:
    """Any well-typed action on any state of a game."""
    history = [before for before, _action, _after in steps(PLAYABLE[name], seats, seed)]
    for _try in range(12):
        state = data.draw(st.sampled_from(history))
        action = data.draw(actions(state))
        refusal = refusal_of(state, action)
        if refusal is not None:
            assert all(fault.code and fault.sentence for fault in refusal.faults)
        if isinstance(action, Play):
            must_call = False
            if not faults(state, action) and refusal is not None:
                must_call = apply(state, DeclareRummikub(action)).out == action.seat
            assert (refusal is None) == (not faults(state, action)) or must_call


def refusal_of(state: PublicState, action: Action) -> IllegalMove | None:
    try:
        apply(state, action)
    except IllegalMove as move:
        return move
    return None


def actions(state: PublicState) -> st.SearchStrategy[Action]:
    """Well-typed actions: mostly with tiles and slots of this state, sometimes with ones that do not exist."""
    seats = st.one_of(st.just(state.turn), st.integers(-2, 5).map(Seat))
    numbers = st.one_of(st.integers(0, len(state.faces) - 1), st.integers(-3, 200)).map(TileId)
    slots: st.SearchStrategy[Slot] = st.builds(Slot, st.integers(-1, 1), st.integers(-1, 120))
    rack = state.seats[state.turn].rack
    if rack:
        slots = st.one_of(st.sampled_from(rack), slots)
    melds = st.builds(TableMeld, st.lists(numbers, max_size=5).map(tuple), st.sampled_from([None, *MeldKind]))
    if state.board:
        melds = st.one_of(st.sampled_from(state.board), melds)
    boards = st.one_of(
        st.lists(melds, max_size=4).map(tuple), st.lists(melds, max_size=2).map(lambda more: (*state.board, *more))
    )
    laid = st.lists(st.tuples(slots, numbers), max_size=4).map(tuple)
    exchanges = st.lists(st.builds(Exchange, st.integers(-2, 9), st.integers(-2, 9), numbers), max_size=2).map(tuple)
    opening = st.lists(melds, max_size=2).map(tuple)
    plays = st.builds(Play, seats, boards, laid, opening, exchanges, st.booleans())
    return st.one_of(
        plays,
        plays.map(DeclareRummikub),
        st.builds(Draw, seats, st.sampled_from(list(DrawReason))),
        st.builds(Pass, seats),
        st.builds(TakeDiscard, seats),
        st.builds(Discard, seats, slots, numbers),
        st.just(Timeout()),
        st.builds(NextGame, st.integers(-1, 3), st.lists(seats, max_size=4).map(tuple)),
        st.builds(StartDealt, st.one_of(st.none(), seats)),
        st.builds(RacksDealt, st.one_of(st.none(), numbers)),
        st.just(DrawDealt()),
        st.builds(RacksOpened, laid),
        st.builds(Redealt, st.one_of(st.just(pool_size(state)), st.integers(-1, 110))),
        st.builds(Leave, seats),
        st.builds(Pause, seats),
        st.just(LongPause()),
        st.builds(Resume, st.one_of(st.none(), seats)),
        st.builds(Extend, seats),
        st.just(TakeBack()),
        st.builds(Remove, st.lists(seats, max_size=3).map(tuple), st.sampled_from([None, RacksDealt(), DrawDealt()])),
    )


@pytest.mark.parametrize("name", TILE_GAMES)
def test_games_of_many_seeds_end_in_every_way(name: str) -> None:
    ends = Counter(
        result.ended_by
        for seed in range(25)
        if (result := final_state(PLAYABLE[name], 2 + seed % 3, seed).result) is not None
    )
    assert sum(ends.values()) == 25
    assert set(ends) <= {EndedBy.OUT, EndedBy.BLOCKED}


@pytest.mark.parametrize("seats", [2, 5, 6])
def test_es_is_played_by_two_to_six(seats: int) -> None:
    assert final_state(PLAYABLE["es"], seats, seed=seats).phase is Phase.OVER


@pytest.mark.parametrize(("name", "seats"), [("pt", 1), ("pt", 5), ("es", 7), ("no", 0)])
def test_a_wrong_number_of_seats_is_refused(name: str, seats: int) -> None:
    with pytest.raises(IllegalMove, match="SEAT-COUNT"):
        start_series(PLAYABLE[name], seats)
