"""A simple bot: sees the public state and its own rack, always finds a legal action, and always the same one.

It lays all melds that it finds on its rack, adds tiles to melds on the table, and draws if it can do neither. It never
moves what lies on the table, so its plays are legal under every tile rule set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from engine.actions import DeclareRummikub, Discard, Draw, Pass, Play, SeatAction, TakeDiscard
from engine.board import layout_of, read_layout
from engine.faces import COLOUR_INDEXES, COLOURS_OF_A_DECK, JOKER_CODE, NUMBERS, deck_codes
from engine.flow import to_rack
from engine.melds import MAX_GROUP, MIN_SIZE, Meld, read
from engine.plays import empties_rack
from engine.rules import faults
from engine.scoring import tile_points
from engine.state import CardTurn, MeldKind, PublicState, Seat, Slot, TableMeld
from engine.tiles import MAX_NUMBER, TileId

_MAX_STEPS = 4000  # of a search for melds; keeps a choice far below 50 ms
_PATIENCE = (
    2  # turnovers of the discard pile after which, every other time, it throws just any card, lest it never ends
)
_STRIDE = 40503  # spreads turn numbers over the cards
_LONGEST_RUN = 5  # longer runs are made of shorter ones


def choose(seat: Seat, state: PublicState, rack: Mapping[Slot, TileId]) -> SeatAction:
    """What the bot does in its turn. `rack` holds its own hidden slots and their tiles."""
    known = state.known_tiles()
    tiles = {slot: known[slot] if slot in known else rack[slot] for slot in state.seats[seat].rack}
    if state.rules.discards:
        return _choose_card(seat, state, tiles)
    for play in _plays(seat, state, tiles):
        if not faults(state, play):
            return DeclareRummikub(play) if empties_rack(state, play) else play
    return Draw(seat) if state.stock.left else Pass(seat)


def _plays(seat: Seat, state: PublicState, tiles: Mapping[Slot, TileId]) -> Iterator[Play]:
    """Plays worth trying, the best first. Jokers are kept unless they win, or the stock is empty."""
    minimum = 0 if state.seats[seat].opened else state.rules.opening_min
    keeping = _draft(state, tiles, jokers=False, minimum=minimum)
    spending = _draft(state, tiles, jokers=True, minimum=minimum)
    order = (keeping, spending) if spending.left and state.stock.left else (spending, keeping)
    return (draft.play(seat) for draft in order)


@dataclass(slots=True)
class _Draft:
    """A board in the making and what is left of the rack."""

    codes: bytes
    melds: list[tuple[list[TileId], MeldKind]]
    left: dict[Slot, TileId]
    laid: list[tuple[Slot, TileId]] = field(default_factory=list)

    def play(self, seat: Seat) -> Play:
        board = tuple(TableMeld(tuple(tiles), kind) for tiles, kind in self.melds)
        return Play(seat, board, tuple(sorted(self.laid)))

    def take(self, code: int) -> TileId:
        """Take a tile of this face off the rack."""
        slot = min(slot for slot, tile in self.left.items() if self.codes[tile] == code)
        tile = self.left.pop(slot)
        self.laid.append((slot, tile))
        return tile

    def lay(self, meld: Meld) -> None:
        self.melds.append(([self.take(code) for code in meld.codes], meld.kind))

    def counts(self) -> Counter[int]:
        return Counter(self.codes[tile] for tile in self.left.values())


def _draft(
    state: PublicState, tiles: Mapping[Slot, TileId], *, jokers: bool, minimum: int, melds: int | None = None
) -> _Draft:
    """The board with all own melds (or no more than `melds`), and lay-offs where the rules allow them now."""
    codes = deck_codes(state.rules.deck, state.rules.jokers)
    before = zip(state.board, read_layout(layout_of(state.board, codes)), strict=True)
    lying = [(list(old.tiles), meld.kind) for old, meld in before if meld is not None]
    draft = _Draft(codes, lying, dict(tiles))
    counts = draft.counts()
    if not jokers:
        del counts[JOKER_CODE]
    for meld in find_melds(counts, minimum)[:melds]:
        draft.lay(meld)
    if not minimum or state.rules.open_and_rearrange_same_turn:
        _lay_off(draft, jokers)
    return draft


def _lay_off(draft: _Draft, jokers: bool) -> None:
    """Add single tiles to melds as long as one fits; jokers only if nothing else is left."""
    while _lay_off_one(draft, [code for code in sorted(draft.counts()) if code != JOKER_CODE]):
        pass
    while jokers and set(draft.counts()) == {JOKER_CODE} and _lay_off_one(draft, [JOKER_CODE]):
        pass


def _lay_off_one(draft: _Draft, wanted: Sequence[int]) -> bool:
    for tiles, kind in draft.melds:
        faces = bytes([draft.codes[tile] for tile in tiles])
        for code in wanted:
            if read(faces + bytes([code]), kind) is not None:
                tiles.append(draft.take(code))
                return True
            if kind is MeldKind.RUN and read(bytes([code]) + faces, kind) is not None:
                tiles.insert(0, draft.take(code))
                return True
    return False


# Cards (`es`)


def _choose_card(seat: Seat, state: PublicState, tiles: Mapping[Slot, TileId]) -> SeatAction:
    if not state.card_turn.drawn:
        return TakeDiscard(seat) if _wants_discard(seat, state, tiles) else Draw(seat)
    play = _card_play(seat, state, tiles)
    if play is not None:
        return play
    codes = deck_codes(state.rules.deck, state.rules.jokers)
    counts = Counter(codes[tile] for tile in tiles.values())
    free = [(slot, tile) for slot, tile in tiles.items() if slot != state.card_turn.taken]
    if not free:
        return Pass(seat)
    free.sort(key=lambda pair: (_company(codes[pair[1]], counts), -_points(state, pair[1]), pair[1]))
    restless = state.turnovers > _PATIENCE and state.turnovers % 2
    slot, tile = free[(state.turn_number * _STRIDE >> 8) % len(free) if restless else 0]
    return Discard(seat, slot, tile)


def _wants_discard(seat: Seat, state: PublicState, tiles: Mapping[Slot, TileId]) -> bool:
    """Whether the top card of the discard pile could be laid at once."""
    if not state.discard:
        return False
    top = state.discard[-1]
    taken = replace(state, card_turn=CardTurn(drawn=True, taken=top), discard=state.discard[:-1])
    play = _card_play(seat, to_rack(taken, seat, (top,)), {**tiles, top: state.known_tiles()[top]})
    return play is not None and any(slot == top for slot, _tile in play.laid)


def _card_play(seat: Seat, state: PublicState, tiles: Mapping[Slot, TileId]) -> Play | None:
    """Melds and additions, but never so many that the card that may not be thrown back is the only one left."""
    limit = state.rules.melds_per_turn
    melds = limit - state.card_turn.melds if limit else len(tiles)
    draft = _draft(state, tiles, jokers=True, minimum=0, melds=melds)
    if set(draft.left) != {state.card_turn.taken}:
        play = draft.play(seat)
        return None if faults(state, play) else play
    return None


def _points(state: PublicState, tile: TileId) -> int:
    return tile_points(state.rules, state.faces[tile])


def _company(code: int, counts: Mapping[int, int]) -> int:
    """How many other cards in hand might form a meld with this one."""
    same = sum(count for other, count in counts.items() if NUMBERS[other] == NUMBERS[code] and other != code)
    near = sum(
        counts.get(other, 0)
        for other in range(code - 2, code + 3)
        if other != code and COLOUR_INDEXES[max(1, min(other, len(COLOUR_INDEXES) - 1))] == COLOUR_INDEXES[code]
    )
    return same + near


# Finding melds on a rack


def find_melds(counts: Mapping[int, int], minimum: int = 0) -> list[Meld]:
    """Melds that can lie side by side, made of `counts` of each face: many tiles, worth at least `minimum`.

    The search goes through the faces in order and tries each meld that uses the next one, or leaves it. It is exact on
    ordinary racks and gives up after a fixed number of steps on very large ones. Empty if `minimum` is out of reach.
    """
    candidates: dict[int, list[Meld]] = {}
    for meld in candidate_melds(counts):
        candidates.setdefault(min(meld.numbered), []).append(meld)
    for melds in candidates.values():
        melds.sort(key=lambda meld: (-len(meld.numbered), len(meld.jokers), -meld.points, meld.codes))
    faces = sorted(candidates)
    best: tuple[int, int, list[Meld]] = (0, 0, [])
    steps = 0

    def search(index: int, left: Counter[int], chosen: list[Meld], laid: int, points: int) -> None:
        nonlocal best, steps
        steps += 1
        if points >= minimum and (laid, points) > best[:2]:
            best = (laid, points, list(chosen))
        if index == len(faces) or steps > _MAX_STEPS:
            return
        if left[faces[index]]:
            for meld in candidates[faces[index]]:
                need = Counter(meld.codes)
                if all(left[code] >= count for code, count in need.items()):
                    left.subtract(need)
                    chosen.append(meld)
                    search(index, left, chosen, laid + len(meld.numbered), points + meld.points)
                    chosen.pop()
                    left.update(need)
        search(index + 1, left, chosen, laid, points)

    search(0, Counter(counts), [], 0, 0)
    return best[2]


def candidate_melds(counts: Mapping[int, int]) -> Iterator[Meld]:
    """Every group, and every run of 3 to 5 tiles, that can be made of `counts` of each face."""
    jokers = counts.get(JOKER_CODE, 0)
    held = sorted(code for code, count in counts.items() if count and code != JOKER_CODE)
    for number in range(1, MAX_NUMBER + 1):
        same = [code for code in held if NUMBERS[code] == number]
        for size in range(1, COLOURS_OF_A_DECK + 1):
            for chosen in combinations(same, size):
                for extra in range(max(0, MIN_SIZE - size), min(jokers, MAX_GROUP - size) + 1):
                    yield from _meld(bytes(chosen) + bytes(extra), MeldKind.GROUP)
    for colour in sorted({COLOUR_INDEXES[code] for code in held}):
        for size in range(MIN_SIZE, _LONGEST_RUN + 1):
            for lowest in range(1, MAX_NUMBER - size + 2):
                first = colour * MAX_NUMBER + lowest
                codes = bytes([code if counts.get(code) else JOKER_CODE for code in range(first, first + size)])
                if codes.count(JOKER_CODE) <= jokers:
                    yield from _meld(codes, MeldKind.RUN)


def _meld(codes: bytes, kind: MeldKind) -> Iterator[Meld]:
    meld = read(codes, kind)
    if meld is not None:
        yield meld
