"""The card game `es`: draw one card, meld, add, throw one card. Source: docs/rules.md, section 3.4.

A turn is several actions. `Play` lays new melds and adds to old ones and does not end the turn; nothing on the table is
ever taken apart. `Discard` ends the turn; the last card laid or thrown ends the game.
"""

from __future__ import annotations

from dataclasses import replace

from engine.actions import Discard, Play
from engine.board import layout_of, read_layout, tiles_on
from engine.errors import Fault, IllegalMove, illegal
from engine.faces import deck_codes, text_of, texts_of
from engine.flow import actor_faults, finished, is_seat, next_turn, require_actor, to_rack, with_known, with_seat
from engine.legality import Verdict, invalid_set
from engine.plays import laid_down, malformed
from engine.state import Call, CallName, EndedBy, MeldKind, PublicState, Seat, TableMeld
from engine.tiles import TileId

_DRAW_TWICE = Fault("ES-DRAW-TWICE", "You have taken a card already, only one is allowed in a turn.")
_DRAW_FIRST = Fault("ES-ORDER", "First take a card, from the stock or from the discard pile.")
_MUST_DISCARD = Fault("ES-MUST-DISCARD", "You still have cards, so you must throw one to end your turn.")


def draw(state: PublicState, seat: Seat) -> PublicState:
    """The seat takes the next card of the stock."""
    require_actor(state, seat)
    if state.card_turn.drawn:
        raise IllegalMove((_DRAW_TWICE,))
    return _take_from_stock(state, seat, ends_turn=False)


def _take_from_stock(state: PublicState, seat: Seat, *, ends_turn: bool) -> PublicState:
    """One card from the stock. An empty stock: first the discard pile is turned over, its oldest card comes first."""
    state = replace(state, card_turn=replace(state.card_turn, drawn=True))
    if not state.stock.left and state.discard:
        if state.rules.turnovers and state.turnovers >= state.rules.turnovers:
            return finished(state, EndedBy.BLOCKED, None)
        stock = replace(state.stock, open=state.discard)
        state = replace(state, stock=stock, discard=(), turnovers=state.turnovers + 1)
    slots, stock = state.stock.take(1)
    state = replace(state, stock=stock)
    if slots and slots[0] not in state.known_tiles():
        return replace(state, call=Call(CallName.DRAW, seat, slots, ends_turn))
    state = to_rack(state, seat, slots)  # an open card, or none is left anywhere
    return next_turn(state) if ends_turn else state


def take_discard(state: PublicState, seat: Seat) -> PublicState:
    """The seat takes the top card of the discard pile."""
    require_actor(state, seat)
    if state.card_turn.drawn:
        raise IllegalMove((_DRAW_TWICE,))
    if not state.discard:
        raise illegal("ES-NO-DISCARD", "There is no card on the discard pile.")
    top = state.discard[-1]
    card_turn = replace(state.card_turn, drawn=True, taken=top)
    return to_rack(replace(state, discard=state.discard[:-1], card_turn=card_turn), seat, (top,))


def judge_cards(state: PublicState, play: Play) -> Verdict:
    """Melds and additions with all that is wrong with them, and how the melds are read."""
    wrong = actor_faults(state, play.seat)
    if not is_seat(state, play.seat):
        return Verdict(wrong, (), 0)
    if not wrong and not state.card_turn.drawn:
        wrong = (_DRAW_FIRST,)
    unfit = malformed(state, play)
    if unfit:
        return Verdict(wrong + unfit, (), 0)
    return _judge_table(state, play, list(wrong))


def _judge_table(state: PublicState, play: Play, faults: list[Fault]) -> Verdict:
    codes = deck_codes(state.rules.deck, state.rules.jokers)
    layout = layout_of(play.board, codes)
    melds = read_layout(layout, read_layout(layout_of(state.board, codes)))
    laid = {tile for _slot, tile in play.laid}
    on_table = set(tiles_on(state.board))
    for old in state.board:
        if not any(_goes_on(old, new, laid) for new in play.board):
            shown = bytes([codes[tile] for tile in old.tiles])
            sentence = f"{text_of(shown)} lies on the table: cards may be added to it, but never taken out."
            faults.append(Fault("ES-REARRANGE", sentence, (), texts_of(shown)))
    foreign = bytes([codes[tile] for tile in tiles_on(play.board) if tile not in laid and tile not in on_table])
    if foreign:
        faults.append(Fault("ES-NOT-HELD", f"{text_of(foreign)} is not in your hand.", (), texts_of(foreign)))
    for index, meld in enumerate(melds):
        if meld is None:
            faults.append(invalid_set(index, *layout[index]))
    if not laid:
        faults.append(Fault("NO-RACK-TILE", "You must lay at least one card of yours."))
    new = sum(1 for meld in play.board if laid.issuperset(meld.tiles))
    if state.rules.melds_per_turn and state.card_turn.melds + new > state.rules.melds_per_turn:
        limit = state.rules.melds_per_turn
        faults.append(Fault("ES-MELD-LIMIT", f"In one turn you may lay only {limit} new combination(s)."))
    return Verdict(tuple(faults), melds, 0)


def _goes_on(old: TableMeld, new: TableMeld, laid: set[TileId]) -> bool:
    """Whether `new` is `old` with laid cards added, and nothing in it stands for something else than before."""
    if not laid.issuperset(set(new.tiles) - set(old.tiles)) or new.kind not in (None, old.kind):
        return False
    if old.kind is MeldKind.GROUP:
        return set(old.tiles) <= set(new.tiles)
    places = range(len(new.tiles) - len(old.tiles) + 1)
    return any(new.tiles[place : place + len(old.tiles)] == old.tiles for place in places)


def play_cards(state: PublicState, play: Play, *, must_win: bool) -> PublicState:
    """Melds and additions are laid; the turn goes on unless that was the last card."""
    verdict = judge_cards(state, play)
    if verdict.faults:
        raise IllegalMove(verdict.faults)
    laid = {tile for _slot, tile in play.laid}
    new = sum(1 for meld in play.board if laid.issuperset(meld.tiles))
    card_turn = replace(state.card_turn, melds=state.card_turn.melds + new)
    state = replace(laid_down(state, play, verdict.melds), card_turn=card_turn)
    if not state.seats[play.seat].rack:
        return finished(state, EndedBy.OUT, play.seat)
    if must_win:
        raise illegal("NOT-OUT", "There are still cards in your hand.")
    return state


def discard(state: PublicState, action: Discard) -> PublicState:
    """A card is thrown, which ends the turn."""
    require_actor(state, action.seat)
    if not state.card_turn.drawn:
        raise IllegalMove((_DRAW_FIRST,))
    seat = state.seats[action.seat]
    known = state.known_tiles()
    held = action.slot in seat.rack and 0 <= action.tile < len(state.faces)
    if not held or (known[action.slot] != action.tile if action.slot in known else action.tile in known.values()):
        raise illegal("ES-NOT-HELD", "You do not have this card in your hand.")
    if action.slot == state.card_turn.taken:
        shown = str(state.faces[action.tile])
        sentence = f"You took {shown} from the discard pile in this turn, so you may not throw it back now."
        raise illegal("ES-DISCARD-SAME", sentence, shown)
    rack = tuple(slot for slot in seat.rack if slot != action.slot)
    state = with_seat(state, action.seat, replace(seat, rack=rack))
    state = with_known(replace(state, discard=(*state.discard, action.slot)), ((action.slot, action.tile),))
    return next_turn(state) if rack else finished(state, EndedBy.OUT, action.seat)


def end_without_discard(state: PublicState, seat: Seat) -> PublicState:
    """The turn ends without a card thrown: only if the one card left is the one that may not be thrown back."""
    require_actor(state, seat)
    if not state.card_turn.drawn:
        raise IllegalMove((_DRAW_FIRST,))
    if state.seats[seat].rack != (state.card_turn.taken,):
        raise IllegalMove((_MUST_DISCARD,))
    return next_turn(state)


def time_out(state: PublicState) -> PublicState:
    """Time is up: one card from the stock if none was taken, nothing is thrown, the turn passes."""
    if state.card_turn.drawn:
        return next_turn(state)
    return _take_from_stock(state, state.turn, ends_turn=True)
