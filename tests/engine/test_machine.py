"""Stateful properties: games of all rule sets under random house rules, played well, badly and out of order."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from engine.actions import Action, DeclareRummikub, NextGame, Play, Timeout
from engine.options import BadOption, from_plain, to_plain, with_options
from engine.rules import apply, faults
from engine.rulesets import RULE_SETS, FreedJokerPlace, JokerMove, RuleSet
from engine.series import standing
from engine.setup import start_series
from engine.state import Phase, PublicState, state_hash
from engine.tiles import parse_tile
from tests.engine.games import Dealing, accepted, bot, new_dealing
from tests.engine.test_games import actions, check_state, clumsy, refusal_of

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

    @initialize(rules=house_rules(), seats=st.integers(2, 4), seed=st.integers(0, 2**32 - 1))
    def sit_down(self, rules: RuleSet, seats: int, seed: int) -> None:
        assert from_plain(to_plain(rules)) == rules
        self.dealing = new_dealing(rules, seed)
        self.state = start_series(rules, seats)

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

    @precondition(lambda self: self.state.call is not None)
    @rule()
    def deal(self) -> None:
        assert self.do(self.dealing.answer(self.state))

    @precondition(lambda self: self.state.call is None and self.state.phase is Phase.PLAY)
    @rule(turns=st.integers(1, 12))
    def play_well(self, turns: int) -> None:
        for _turn in range(turns):
            if self.state.phase is not Phase.PLAY:
                return
            action = self.dealing.answer(self.state) if self.state.call is not None else bot(self.dealing, self.state)
            assert self.do(action), "a bot's move is legal"

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
        assert self.do(Timeout()) == bool(self.state.rules.turn_seconds)

    @rule(data=st.data())
    def try_anything(self, data: st.DataObject) -> None:
        self.do(data.draw(actions(self.state)))

    @precondition(lambda self: self.state.phase is Phase.OVER)
    @rule()
    def next_game(self) -> None:
        results = (*self.state.results, *([self.state.result] if self.state.result else []))
        over = standing(self.state.rules, results, len(self.state.seats)).over
        assert self.do(NextGame(self.state.game + 1)) == (not over)

    @invariant()
    def nothing_is_lost(self) -> None:
        if hasattr(self, "state"):
            check_state(self.state)
            for meld in self.state.board:
                for tile in meld.tiles:
                    face = self.state.faces[tile]
                    assert parse_tile(str(face)) == face


GameMachine.TestCase.settings = settings(
    max_examples=40, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
TestGameMachine = GameMachine.TestCase
