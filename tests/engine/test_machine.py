"""Stateful properties: games of all rule sets under random house rules, played well, badly and out of order."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from engine.actions import (
    Action,
    DeclareRummikub,
    Discard,
    DrawDealt,
    Extend,
    Leave,
    LongPause,
    NextGame,
    Pause,
    Play,
    RacksDealt,
    RacksOpened,
    Redealt,
    Remove,
    Resume,
    StartDealt,
    TakeBack,
    Timeout,
)
from engine.options import BadOption, from_plain, to_plain, with_options
from engine.requests import EXTENSIONS, PAUSES, TAKE_BACKS
from engine.rules import apply, faults
from engine.rulesets import RULE_SETS, FreedJokerPlace, JokerMove, RuleSet
from engine.series import series_over
from engine.setup import start_series
from engine.state import CallName, Paused, Phase, PublicState, Seat, state_hash
from engine.tiles import parse_tile
from tests.engine.games import Dealing, accepted, bot, new_dealing, seats_in_game
from tests.engine.test_games import actions, check_places, check_state, clumsy, refusal_of

TILE_OPTIONS: dict[str, st.SearchStrategy[Any]] = {
    "opening_min": st.integers(0, 60),
    "open_and_rearrange_same_turn": st.booleans(),
    "idle_rearrange_allowed": st.booleans(),
    "joker_move": st.sampled_from([move.value for move in JokerMove]),
    "freed_joker_place": st.sampled_from([place.value for place in FreedJokerPlace]),
    "turn_seconds": st.sampled_from([0, 15, 60, 120]),
    "timeout_draw": st.integers(0, 4),
    "illegal_draw": st.integers(0, 4),
    "rummikub_call": st.booleans(),
    "joker_penalty": st.integers(0, 50),
    "rounds": st.integers(1, 3),
}
CARD_OPTIONS: dict[str, st.SearchStrategy[Any]] = {
    "melds_per_turn": st.integers(0, 3),
    "ace_points": st.sampled_from([1, 15]),
    "out_bonus": st.integers(0, 100),
    "turn_seconds": st.sampled_from([0, 30]),
    "rounds": st.integers(1, 2),
    "turnovers": st.integers(1, 4),
}


@st.composite
def house_rules(draw: st.DrawFn) -> RuleSet:
    """A rule set with some options changed; a contradiction is left as the plain rule set."""
    base = RULE_SETS[draw(st.sampled_from(sorted(RULE_SETS)))]
    options = CARD_OPTIONS if base.discards else TILE_OPTIONS
    names = draw(st.lists(st.sampled_from(sorted(options)), unique=True))
    try:
        return with_options(base, {name: draw(options[name]) for name in names})
    except BadOption:
        return base


class GameMachine(RuleBasedStateMachine):
    """One table under house rules. Every rule is one action; what is refused must change nothing."""

    dealing: Dealing
    state: PublicState

    @initialize(rules=house_rules(), seats=st.integers(2, 6), seed=st.integers(0, 2**32 - 1), ahead=st.integers(0, 100))
    def sit_down(self, rules: RuleSet, seats: int, seed: int, ahead: int) -> None:
        assert from_plain(to_plain(rules)) == rules
        self.dealing = new_dealing(rules, seed)
        self.state = start_series(rules, min(seats, rules.max_seats))
        for _action in range(ahead):
            self.go_on()

    def do(self, action: Action) -> bool:
        """Apply an action; True if it was accepted. The state it was given stays as it was."""
        before, digest = self.state, state_hash(self.state)
        refusal = refusal_of(before, action)
        if refusal is None:
            self.state = apply(before, action)
        else:
            assert all(fault.code and fault.sentence.strip() for fault in refusal.faults)
        assert state_hash(before) == digest
        return refusal is None

    def go_on(self) -> None:
        """What comes next when all do as they should, until the game is over."""
        if self.state.paused is not None:
            short = self.state.paused is Paused.MINUTE
            assert self.do(Resume(None if short else self.state.turn))
        if self.state.phase is not Phase.OVER:
            action = self.dealing.answer(self.state) if self.state.call is not None else bot(self.dealing, self.state)
            assert self.do(action), "a bot's move is legal"

    @precondition(lambda self: self.state.call is not None)
    @rule()
    def deal(self) -> None:
        assert self.do(self.dealing.answer(self.state))

    @precondition(lambda self: self.state.call is None and self.state.phase is Phase.PLAY)
    @rule(turns=st.integers(1, 12))
    def play_well(self, turns: int) -> None:
        for _turn in range(turns):
            if self.state.phase is Phase.PLAY:
                self.go_on()

    @precondition(lambda self: self.state.call is None and self.state.phase is Phase.PLAY)
    @rule()
    def play_badly(self) -> None:
        action = clumsy(self.dealing, self.state)
        if isinstance(action, Play):
            wrong = faults(self.state, action)
            must_call = not wrong and not accepted(self.state, action)
            taken = self.do(action)
            assert taken == (not wrong and not must_call)
            if must_call:
                assert self.do(DeclareRummikub(action)), "only the call was missing"
        else:
            self.do(action)

    @precondition(lambda self: self.state.call is None and self.state.phase is Phase.PLAY)
    @rule()
    def run_out_of_time(self) -> None:
        expected = bool(self.state.rules.turn_seconds) and self.state.paused is None
        assert self.do(Timeout()) == expected

    @rule(data=st.data())
    def try_anything(self, data: st.DataObject) -> None:
        action = data.draw(actions(self.state))
        if self.proven(action):
            self.do(action)
        else:
            refusal_of(self.state, action)

    def proven(self, action: Action) -> bool:
        """Whether what the action makes known is true, as far as it is not the dealer's to say."""
        match action:
            case DeclareRummikub(play):
                return self.proven(play)
            case Play(seat=seat, laid=laid):
                if not 0 <= seat < len(self.state.seats):
                    return True
                tiles = self.state.known_tiles() | self.dealing.rack(self.state, seat)
                return all(tiles.get(slot) == tile for slot, tile in laid)
            case Discard(seat, slot, tile):
                return self.proven(Play(seat, (), ((slot, tile),)))
            case StartDealt() | RacksDealt() | RacksOpened() | Redealt():
                return False
            case _:
                return True

    @precondition(lambda self: self.state.phase is not Phase.OVER or not series_over(self.state))
    @rule(data=st.data(), complete=st.booleans())
    def remove(self, data: st.DataObject, complete: bool) -> None:
        inside = seats_in_game(self.state)
        seats = tuple(sorted(data.draw(st.sets(st.sampled_from(inside), min_size=1, max_size=2))))
        call = None if self.state.call is None else self.state.call.name
        closing = self.dealing.answer(self.state) if complete and call in (CallName.RACKS, CallName.DRAW) else None
        assert closing is None or isinstance(closing, (RacksDealt, DrawDealt))
        assert self.do(Remove(seats, closing)) == (len(inside) - len(seats) >= 2)

    @precondition(lambda self: self.state.call is None)
    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        seat = data.draw(st.integers(0, len(self.state.seats) - 1).map(Seat))
        stay = [other for other in seats_in_game(self.state) if other != seat]
        over = self.state.phase is Phase.OVER and series_over(self.state)
        expected = self.state.seats[seat].in_game and bool(stay) and not over
        assert self.do(Leave(seat)) == expected

    @precondition(lambda self: self.state.call is None)
    @rule(data=st.data(), long=st.booleans())
    def pause(self, data: st.DataObject, long: bool) -> None:
        seat = data.draw(st.sampled_from(seats_in_game(self.state)))
        running = self.state.phase is Phase.PLAY and self.state.paused is None
        expected = running and self.state.seats[seat].used.pauses < PAUSES
        assert self.do(Pause(seat)) == expected
        if long:
            short = self.state.paused is Paused.MINUTE
            assert self.do(LongPause()) == short

    @precondition(lambda self: self.state.call is None and self.state.phase is Phase.PLAY)
    @rule()
    def take_more_time(self) -> None:
        used, playing = self.state.seats[self.state.turn].used, self.state.paused is None
        expected = playing and bool(self.state.rules.turn_seconds) and used.extensions < EXTENSIONS
        assert self.do(Extend(self.state.turn)) == expected

    @precondition(lambda self: self.state.call is None)
    @rule()
    def take_back(self) -> None:
        before = self.state
        if not self.do(TakeBack()):
            assert before.undo is None or before.seats[before.undo.turn].used.take_backs == TAKE_BACKS
            return
        assert before.undo is not None
        taken = self.state
        assert (taken.board, taken.discard, taken.turn) == (before.undo.board, before.undo.discard, before.undo.turn)
        assert [seat.rack for seat in taken.seats] == [seat.rack for seat in before.undo.seats]
        assert taken.known == before.known, "what was shown stays known"

    @precondition(lambda self: self.state.phase is Phase.OVER)
    @rule(back=st.booleans())
    def next_game(self, back: bool) -> None:
        seats = tuple(Seat(seat) for seat in range(len(self.state.seats))) if back else ()
        enough = len(seats or seats_in_game(self.state)) >= self.state.rules.min_seats
        expected = enough and not series_over(self.state)
        assert self.do(NextGame(self.state.game + 1, seats)) == expected

    @invariant()
    def nothing_is_lost(self) -> None:
        if hasattr(self, "state"):
            check_state(self.state)
            if self.state.phase is Phase.PLAY:
                check_places(self.dealing, self.state)
            for meld in self.state.board:
                for tile in meld.tiles:
                    face = self.state.faces[tile]
                    assert parse_tile(str(face)) == face


GameMachine.TestCase.settings = settings(
    max_examples=40, stateful_step_count=40, suppress_health_check=list(HealthCheck)
)
TestGameMachine = GameMachine.TestCase
