"""Whole games between bots, by the engine alone: no messages and no keys, the deck lies open to the dealer.

`play_on_faces` plays a tile game without tile ids, slots and states: what `rules.apply` would make of the same moves,
at a fraction of the cost. `play_by_rules` plays every game through `rules.apply` itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine import scoring
from engine.actions import Action, DrawDealt, RacksDealt, RacksOpened, StartDealt
from engine.board import Layout, difference
from engine.bots import choose
from engine.dealt import first_racks
from engine.faces import deck_codes, tiles_of
from engine.rules import apply
from engine.rulesets import RuleSet
from engine.setup import start_series
from engine.situations import Situation
from engine.state import CallName, EndedBy, PublicState, Seat
from engine.strength import Strength
from engine.tilebots import decide
from engine.tiles import TileId


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished game. By seat: `scores`, and in which of its own turns the seat opened (None: in none; 1 = first)."""

    ended_by: EndedBy
    turns: int
    out: int | None
    scores: tuple[int, ...]
    winners: tuple[int, ...]
    opened_in: tuple[int | None, ...]


def play(rules: RuleSet, deck: Sequence[TileId], starter: Seat, bots: Sequence[Strength], seed: int = 0) -> Outcome:
    """One game between the bots, by seat. `deck` holds all tile ids in the order in which they are dealt and drawn."""
    return (play_by_rules if rules.discards else play_on_faces)(rules, deck, starter, bots, seed)


def play_on_faces(
    rules: RuleSet, deck: Sequence[TileId], starter: Seat, bots: Sequence[Strength], seed: int = 0
) -> Outcome:
    """A tile game on faces."""
    codes = deck_codes(rules.deck, rules.jokers)
    faces = bytes([codes[tile] for tile in deck])
    seats, hand = len(bots), rules.hand_size(len(bots))
    racks = [bytes(sorted(faces[seat * hand : (seat + 1) * hand])) for seat in range(seats)]
    pool = faces[seats * hand :]
    board: Layout = ()
    opened_in: list[int | None] = [None] * seats
    seat, turns, passes, out = int(starter), 0, 0, None
    while out is None and passes < seats:
        others = tuple(len(rack) for rack in (*racks[seat + 1 :], *racks[:seat]))
        here = Situation(rules, board, racks[seat], opened_in[seat] is not None, others, len(pool))
        move = decide(here, bots[seat])
        if move is not None:
            board, passes = move.board, 0
            racks[seat] = difference(racks[seat], move.laid)
            opened_in[seat] = opened_in[seat] or turns // seats + 1
            out = None if racks[seat] else seat
        elif pool:
            racks[seat], pool = bytes(sorted(racks[seat] + pool[:1])), pool[1:]
        else:
            passes += 1
        turns += 1
        seat = (seat + 1) % seats
    left = [tiles_of(rack) for rack in racks]
    score = scoring.score_blocked(rules, left) if out is None else scoring.score_out(rules, left, out)
    ended_by = EndedBy.BLOCKED if out is None else EndedBy.OUT
    return Outcome(ended_by, turns, out, score.scores, score.winners, tuple(opened_in))


def play_by_rules(
    rules: RuleSet, deck: Sequence[TileId], starter: Seat, bots: Sequence[Strength], seed: int = 0
) -> Outcome:
    """Any game, every action judged by the rules."""
    opened_in: list[int | None] = [None] * len(bots)
    state = start_series(rules, len(bots))
    while state.result is None:
        seat = state.turn
        if state.call is not None:
            state = apply(state, _answer(state, deck, starter))
            continue
        rack = {slot: deck[slot.position] for slot in state.hidden_slots(seat)}
        turn = state.turn_number
        state = apply(state, choose(seat, state, rack, bots[seat], seed))
        if state.seats[seat].opened and opened_in[seat] is None:
            opened_in[seat] = turn // len(bots) + 1
    result = state.result
    winners = tuple(int(seat) for seat in result.winners)
    return Outcome(result.ended_by, state.turn_number, result.out, result.scores, winners, tuple(opened_in))


def _answer(state: PublicState, deck: Sequence[TileId], starter: Seat) -> Action:
    """What closes the open call."""
    assert state.call is not None
    match state.call.name:
        case CallName.START:
            return StartDealt(starter)
        case CallName.RACKS:
            return RacksDealt(deck[first_racks(state)[1].next] if state.rules.discards else None)
        case CallName.DRAW:
            return DrawDealt()
        case _:
            hidden = [slot for seat in range(len(state.seats)) for slot in state.hidden_slots(Seat(seat))]
            return RacksOpened(tuple((slot, deck[slot.position]) for slot in sorted(hidden)))
