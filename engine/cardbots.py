"""Bots for the card game `es`: what to take, what to lay, what to throw. Source: docs/rules.md, section 3.4.

Laid cards count for who laid them and cards in hand count against it, so nothing is held back: `best_lay` searches
every way of laying in one turn. What tells the bots apart otherwise is how they throw. A hand is worth its *outs*:
cards that nobody has seen yet and that would make a meld of two cards in hand, or reach a meld on the table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, combinations, islice

from engine.actions import Discard, Draw, Pass, SeatAction, TakeDiscard
from engine.board import Layout, difference, fits, layout_of
from engine.faces import COLOUR_INDEXES, COLOURS_OF_A_DECK, JOKER_CODE, NUMBERS, TILES_BY_CODE, deck_codes
from engine.flow import seat_after
from engine.melds import Meld, read
from engine.rackmelds import Extension, candidate_melds, extension, extension_play, find_melds
from engine.rulesets import RuleSet
from engine.scoring import tile_points
from engine.state import PublicState, Seat, Slot
from engine.strength import Strength
from engine.tiles import MAX_NUMBER, TileId

_PATIENCE = 2  # turnovers of the discard pile after which, every other time, any card is thrown, lest it never ends
_STRIDE = 40503  # spreads turn numbers over the cards
_FACES = COLOURS_OF_A_DECK * MAX_NUMBER
_MOST_SETS = 300  # of melds to try in one turn
_FEW = 2  # cards from which one is thrown, so that one is kept

# Found by playing thousands of games with other values.
_OUT = 10.0  # points that it is worth to have one card more that makes a meld
_COST = 3.0  # by which the points of a hand count against it
_TAKING = 2.0  # by how much a card must raise what a hand may gain, to be taken without being laid: a draw is lost
_GIFT = 75.0  # points that it costs to throw a card if the next seat has a pair for it
_HELD = 0.3  # how likely it holds a card that nobody has seen


@dataclass(frozen=True, slots=True)
class CardSituation:
    """What the seat whose turn it is may look at, on faces. `taken` is the card that it took from the discard pile.

    `next_hand` holds those cards of the next seat that everybody has seen; `melds` may still be laid in this turn.
    """

    rules: RuleSet
    table: Layout
    hand: bytes  # ascending
    pile: bytes  # top card last
    taken: int | None
    melds: int
    next_hand: bytes
    turnovers: int
    turn: int

    def with_top_taken(self) -> CardSituation:
        """The same with the top card of the discard pile in hand."""
        top = self.pile[-1]
        hand = bytes(sorted((*self.hand, top)))
        return CardSituation(
            self.rules, self.table, hand, self.pile[:-1], top, self.melds, self.next_hand, self.turnovers, self.turn
        )


def card_situation(state: PublicState, seat: Seat, tiles: Mapping[Slot, TileId]) -> CardSituation:
    """The situation of the seat whose turn it is; `tiles` are those of its whole hand."""
    codes = deck_codes(state.rules.deck, state.rules.jokers)
    known = state.known_tiles()
    taken = state.card_turn.taken
    limit = state.rules.melds_per_turn
    return CardSituation(
        rules=state.rules,
        table=layout_of(state.board, codes),
        hand=bytes(sorted(codes[tile] for tile in tiles.values())),
        pile=bytes([codes[known[slot]] for slot in state.discard]),
        taken=None if taken is None else codes[known[taken]],
        melds=limit - state.card_turn.melds if limit else len(tiles),
        next_hand=bytes([codes[known[slot]] for slot in state.seats[seat_after(state, seat)].rack if slot in known]),
        turnovers=state.turnovers,
        turn=state.turn_number,
    )


def choose_card(
    seat: Seat, state: PublicState, tiles: Mapping[Slot, TileId], strength: Strength, seed: int
) -> SeatAction:
    """The next action of the seat whose turn it is; `tiles` are those of its whole hand."""
    here = card_situation(state, seat, tiles)
    if not state.card_turn.drawn:
        return TakeDiscard(seat) if wants_discard(here, strength) else Draw(seat)
    lay = _lay(here, strength)
    if lay is not None:
        return extension_play(state, seat, tiles, lay.board)
    free = {slot: tile for slot, tile in tiles.items() if slot != state.card_turn.taken}
    if not free:
        return Pass(seat)
    codes = deck_codes(state.rules.deck, state.rules.jokers)
    worths = _worths(here, strength)
    order = sorted(free, key=lambda slot: (worths[codes[free[slot]]], free[slot]))
    restless = here.turnovers > _PATIENCE and here.turnovers % 2
    slot = order[((here.turn + seed) * _STRIDE >> 8) % len(order) if restless else 0]
    return Discard(seat, slot, free[slot])


def wants_discard(here: CardSituation, strength: Strength) -> bool:
    """Whether the top card of the discard pile could be laid at once; the strong bot also takes much promise."""
    if not here.pile:
        return False
    top = here.with_top_taken()
    lay = _lay(top, strength)
    if lay is not None and here.pile[-1] in difference(top.hand, lay.left):
        return True
    if strength is not Strength.STRONG:
        return False
    view = _view(here)
    after = max(sum(view.gains(difference(top.hand, bytes([thrown]))).values()) for thrown in here.hand)
    return after > _TAKING * sum(view.gains(here.hand).values())


def _lay(here: CardSituation, strength: Strength) -> Extension | None:
    return simple_lay(here) if strength is Strength.BEGINNER else best_lay(here)


def simple_lay(here: CardSituation) -> Extension | None:
    """Melds and additions as they come."""
    lay = extension(here.table, here.hand, find_melds(Counter(here.hand))[: here.melds])
    return lay if _goes_on(here, lay) else None


def best_lay(here: CardSituation) -> Extension | None:
    """The lay of most points in one turn, one that goes out before all others; None if nothing can be laid.

    All sets of new melds are tried; if the hand is large, only so many. Additions need no search: without jokers a card
    fits at most one run and one group, a group takes no other card then, and at the run it may make room for its
    neighbour.
    """
    best: tuple[tuple[bool, int, int], Extension] | None = None
    counts = Counter(here.hand)
    likely = tuple(find_melds(counts)[: here.melds]) if here.melds > 1 else ()
    sets = islice(_meld_sets(list(candidate_melds(counts)), here.hand, here.melds), _MOST_SETS)
    for melds in chain((likely,), sets):
        lay = extension(here.table, here.hand, melds, runs_first=True)
        if not _goes_on(here, lay):
            continue
        rank = (len(lay.left) < _FEW, _points(here.rules, here.hand) - _points(here.rules, lay.left), -len(melds))
        if best is None or rank > best[0]:
            best = (rank, lay)
    return None if best is None else best[1]


def _meld_sets(candidates: Sequence[Meld], hand: bytes, limit: int) -> Iterator[tuple[Meld, ...]]:
    """Every set of up to `limit` melds that a hand has cards for, the empty one first."""
    yield ()
    if limit > 0:
        for index, meld in enumerate(candidates):
            if fits(meld.codes, hand):
                rest = difference(hand, meld.codes)
                for others in _meld_sets(candidates[index + 1 :], rest, limit - 1):
                    yield (meld, *others)


def _goes_on(here: CardSituation, lay: Extension) -> bool:
    """Whether something is laid, and that goes out or leaves a hand that can: not with the one card that must be kept.

    Who keeps a single card never melds again, and goes out only by adding: so something must be left to add to, or a
    game in which everybody keeps one card has no end.
    """
    if lay.left == here.hand or (here.taken is not None and lay.left == bytes([here.taken])):
        return False
    return len(lay.left) != _FEW or _is_open(here.rules, lay.board)


def _is_open(rules: RuleSet, table: Layout) -> bool:
    """Whether a card that is not on the table can be added to a meld."""
    cards = difference(deck_codes(rules.deck, rules.jokers), b"".join(codes for codes, _kind in table))
    tiles = [bytes([code]) for code in sorted(set(cards))]
    longer = ((new, kind) for codes, kind in table for tile in tiles for new in (codes + tile, tile + codes))
    return any(read(codes, kind) is not None for codes, kind in longer)


def _points(rules: RuleSet, codes: bytes) -> int:
    points = points_by_code(rules)
    return sum(points[code] for code in codes)


@lru_cache(maxsize=64)
def points_by_code(rules: RuleSet) -> tuple[int, ...]:
    """What every card is worth."""
    return tuple(tile_points(rules, face) for face in TILES_BY_CODE)


# Taking and throwing


def _worths(here: CardSituation, strength: Strength) -> dict[int, tuple[float, int]]:
    """For each card in hand what it is worth to keep it; the least is thrown, of equal ones the dearest."""
    if strength is Strength.BEGINNER:
        counts = Counter(here.hand)
        return {code: (_company(code, counts), -_points(here.rules, bytes([code]))) for code in counts}
    view = _view(here)
    worths = {code: -view.promise(difference(here.hand, bytes([code]))) for code in here.hand}
    if strength is Strength.STRONG:
        worths = {code: worth + _GIFT * view.danger(code) for code, worth in worths.items()}
    return {code: (worth, -view.points[code]) for code, worth in worths.items()}


def _company(code: int, counts: Mapping[int, int]) -> int:
    """How many other cards in hand might form a meld with this one."""
    same = sum(count for other, count in counts.items() if NUMBERS[other] == NUMBERS[code] and other != code)
    near = sum(
        counts.get(other, 0)
        for other in range(code - 2, code + 3)
        if other != code and COLOUR_INDEXES[max(1, min(other, len(COLOUR_INDEXES) - 1))] == COLOUR_INDEXES[code]
    )
    return same + near


@dataclass(frozen=True, slots=True)
class _View:
    """Where the cards are, as far as the seat knows: `hidden` are those that nobody has seen."""

    hidden: frozenset[int]
    next_hand: frozenset[int]
    points: Sequence[int]  # by code

    def gains(self, hand: bytes) -> dict[int, int]:
        """For each hidden card that would make a meld of two of the hand, the points of the dearest such meld."""
        gains: dict[int, int] = {}
        for first, second in combinations(hand, 2):
            for out in self.hidden & completing(first, second):
                gain = self.points[first] + self.points[second] + self.points[out]
                gains[out] = max(gain, gains.get(out, 0))
        return gains

    def promise(self, hand: bytes) -> float:
        """What a hand is worth, in no unit: what the next card may bring, less what the hand costs."""
        gains = self.gains(hand)
        return sum(gains.values()) + _OUT * len(gains) - _COST * sum(self.points[code] for code in hand)

    def danger(self, code: int) -> float:
        """How many pairs the next seat may be expected to hold that make a meld with this card."""
        return sum(self._held(first) * self._held(second) for first, second in _pairs(code))

    def _held(self, code: int) -> float:
        return 1.0 if code in self.next_hand else _HELD if code in self.hidden else 0.0


def _view(here: CardSituation) -> _View:
    deck = set(deck_codes(here.rules.deck, here.rules.jokers))
    seen = b"".join((here.pile, here.hand, here.next_hand, *(codes for codes, _kind in here.table)))
    return _View(frozenset(deck.difference(seen)), frozenset(here.next_hand), points_by_code(here.rules))


@cache
def completing(first: int, second: int) -> frozenset[int]:
    """The cards that form a meld with these two; none with a joker."""
    if JOKER_CODE in (first, second):
        return frozenset()
    cards = (bytes(sorted((first, second, third))) for third in _deck_of(first))
    return frozenset(sum(three) - first - second for three in cards if read(three) is not None)


@cache
def _pairs(code: int) -> tuple[tuple[int, int], ...]:
    """The pairs that form a meld with this card."""
    firsts = _deck_of(code) if code != JOKER_CODE else range(0)
    return tuple((first, second) for first in firsts for second in completing(code, first) if first < second)


def _deck_of(code: int) -> range:
    """All faces of the deck of a face that is no joker."""
    first = code - (code - 1) % _FACES
    return range(first, first + _FACES)
