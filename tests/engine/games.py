"""Whole games of the engine alone: a dealer that knows the deck, and a player for every seat."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from engine.actions import Action, DrawDealt, NextGame, RacksDealt, RacksOpened, Redealt, StartDealt, Timeout
from engine.bots import choose
from engine.dealt import first_racks
from engine.errors import IllegalMove
from engine.redeal import unplaced
from engine.rules import apply
from engine.rulesets import RuleSet
from engine.series import standing
from engine.setup import draw_lots, start_series
from engine.state import CallName, Phase, PublicState, Seat, Slot
from engine.tiles import TileId

Player = Callable[["Dealing", PublicState], Action]


@dataclass
class Dealing:
    """A shuffled deck and its owner's random numbers. `pools` are the decks of later epochs, by epoch."""

    rules: RuleSet
    rng: random.Random
    deck: list[TileId]
    pools: dict[int, list[TileId]] = field(default_factory=dict)

    def tile(self, slot: Slot) -> TileId:
        return (self.pools[slot.epoch] if slot.epoch else self.deck)[slot.position]

    def rack(self, state: PublicState, seat: Seat) -> dict[Slot, TileId]:
        return {slot: self.tile(slot) for slot in state.hidden_slots(seat)}

    def shuffle(self) -> None:
        self.rng.shuffle(self.deck)
        self.pools.clear()

    def redeal(self, state: PublicState) -> Redealt:
        held = {tile for seat in seats_in_game(state) for tile in self.rack(state, seat).values()}
        pool = [tile for tile in unplaced(state) if tile not in held]
        self.rng.shuffle(pool)
        self.pools[state.stock.epoch] = pool
        return Redealt(len(pool))

    def answer(self, state: PublicState) -> Action:
        """The action that closes the open call."""
        assert state.call is not None
        match state.call.name:
            case CallName.START:
                self.shuffle()
                seats = seats_in_game(state)
                lot = draw_lots(self.rules, len(seats), lambda _draw: self.rng.getrandbits(512))
                return StartDealt(None if state.game else seats[lot.starter])
            case CallName.RACKS:
                _racks, stock = first_racks(state)
                return RacksDealt(self.deck[stock.next] if self.rules.discards else None)
            case CallName.DRAW:
                return DrawDealt()
            case CallName.REDEAL:
                return self.redeal(state)
            case CallName.FINAL:
                racks = [self.rack(state, Seat(seat)) for seat in range(len(state.seats))]
                return RacksOpened(tuple(pair for rack in racks for pair in rack.items()))


def seats_in_game(state: PublicState) -> tuple[Seat, ...]:
    return tuple(Seat(seat) for seat, own in enumerate(state.seats) if own.in_game)


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
