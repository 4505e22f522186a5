"""Whole games of the engine alone: a dealer that knows the deck, and a player for every seat."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from engine.actions import Action, DrawDealt, NextGame, RacksDealt, RacksOpened, StartDealt, Timeout
from engine.bots import choose
from engine.errors import IllegalMove
from engine.rules import apply
from engine.rulesets import RuleSet
from engine.series import standing
from engine.setup import draw_lots, start_series
from engine.state import CallName, Phase, PublicState, Seat, Slot
from engine.tiles import TileId

Player = Callable[["Dealing", PublicState], Action]


@dataclass
class Dealing:
    """A shuffled deck and its owner's random numbers."""

    rules: RuleSet
    rng: random.Random
    deck: list[TileId]

    def rack(self, state: PublicState, seat: Seat) -> dict[Slot, TileId]:
        return {slot: self.deck[slot.position] for slot in state.hidden_slots(seat)}

    def shuffle(self) -> None:
        self.rng.shuffle(self.deck)

    def answer(self, state: PublicState) -> Action:
        """The action that closes the open call."""
        assert state.call is not None
        match state.call.name:
            case CallName.START:
                self.shuffle()
                lot = draw_lots(self.rules, len(state.seats), lambda _draw: self.rng.getrandbits(512))
                return StartDealt(None if state.game else lot.starter)
            case CallName.RACKS:
                dealt = self.rules.hand_size(len(state.seats)) * len(state.seats)
                return RacksDealt(self.deck[dealt] if self.rules.discards else None)
            case CallName.DRAW:
                return DrawDealt()
            case _:
                racks = [self.rack(state, Seat(seat)) for seat in range(len(state.seats))]
                return RacksOpened(tuple(pair for rack in racks for pair in rack.items()))


def new_dealing(rules: RuleSet, seed: int) -> Dealing:
    return Dealing(rules, random.Random(seed), [TileId(tile) for tile in range(len(rules.faces))])


def bot(dealing: Dealing, state: PublicState) -> Action:
    return choose(state.turn, state, dealing.rack(state, state.turn))


def steps(
    rules: RuleSet, seats: int, seed: int, player: Player = bot, limit: int = 3000
) -> Iterator[tuple[PublicState, Action, PublicState]]:
    """Every (state, action, state after) of a series. A refused action is answered by the clock or by the bot."""
    dealing = new_dealing(rules, seed)
    state = start_series(rules, seats)
    for _step in range(limit):
        if state.phase is Phase.OVER:
            if standing(rules, (*state.results, *([state.result] if state.result else [])), seats).over:
                return
            action: Action = NextGame(state.game + 1)
        elif state.call is not None:
            action = dealing.answer(state)
        else:
            action = player(dealing, state)
            if not accepted(state, action):
                action = Timeout() if rules.turn_seconds and dealing.rng.random() < 0.3 else bot(dealing, state)
        after = apply(state, action)
        yield state, action, after
        state = after
    raise AssertionError(f"no end after {limit} steps, seed {seed}")


def accepted(state: PublicState, action: Action) -> bool:
    try:
        apply(state, action)
    except IllegalMove:
        return False
    return True


def final_state(rules: RuleSet, seats: int, seed: int, player: Player = bot) -> PublicState:
    state = start_series(rules, seats)
    for _before, _action, after in steps(rules, seats, seed, player):
        state = after
    return state
