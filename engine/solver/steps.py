"""`steps_of`: from one board to another with few movements of the hand, in an order a person can follow.

Every tile of the old board gets a place in the new one, so that tiles which lie together stay together: the largest
part that an old and a new meld have in common first. Each new meld then has at most one *home*, the old meld that stays
where it lies; all else moves, tiles with the same way together. Before tiles come to a home, what does not belong there
leaves it; where two melds wait for one another, one begins in a new place. A tile that takes the place of a joker does
so in one step, and leaves the joker lying by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from engine.board import Layout
from engine.faces import JOKER_CODE, texts_of
from engine.melds import read
from engine.solver.arrange import Said
from engine.solver.rebuild import meld_key
from engine.state import MeldKind


class StepKind(Enum):
    """What a hand does."""

    LAY = "lay"  # from the rack to a new place
    ADD = "add"  # from the rack to what lies there
    TAKE = "take"  # off a meld to a new place, where it is no meld yet
    MOVE = "move"  # from what lies there to something else, or within a meld
    SPLIT = "split"  # off a meld, as one of its own
    JOIN = "join"  # a whole meld to another
    SWAP = "swap"  # into the place of a joker, which then lies by itself


@dataclass(frozen=True, slots=True)
class Step:
    """One movement: `tiles` (codes) go from `source` to `target`, which is `result` then.

    `source` None: from the rack; `target` None: to a new place. What lies there is told as it lies at that moment, its
    kind None where it is no meld.
    """

    kind: StepKind
    tiles: bytes
    source: Said | None
    target: Said | None
    result: Said


def steps_of(before: Layout, after: Layout, laid: bytes) -> tuple[Step, ...]:
    """The movements that make `after`, of the tiles of `before` and the laid ones. Both must be legal boards."""
    steps = tuple(_Table(before, after).steps())
    used = sorted(code for step in steps if step.source is None for code in step.tiles)
    assert bytes(used) == bytes(sorted(laid)), "what is new on the board was laid"
    return steps


class _Tile(NamedTuple):
    meld: int  # of the old board; -1: from the rack
    place: int  # there; of a rack tile, its number
    code: int


_Place = tuple[int, int]  # new meld, place in it


@dataclass(slots=True, eq=False)
class _Move:
    """Tiles that go together to a new meld."""

    tiles: list[_Tile]
    target: int


@dataclass(slots=True, eq=False)
class _Pile:
    """Tiles that lie together, in order. `new`: the meld they are to be, None for what was put aside."""

    tiles: list[_Tile]
    new: int | None


class _Table:
    def __init__(self, before: Layout, after: Layout) -> None:
        self._before = [(codes, kind or _kind_of(codes)) for codes, kind in before]
        self._after = [(codes, kind or _kind_of(codes)) for codes, kind in after]
        self._goes = _share_out(self._before, self._after)
        together: dict[tuple[int, int], list[_Tile]] = {}
        for tile, (new, _place) in self._goes.items():
            together.setdefault((tile.meld, new), []).append(tile)
        self._home = _homes({key: len(tiles) for key, tiles in together.items() if key[0] >= 0})
        self._moves = [
            _Move(tiles, new) for (old, new), tiles in together.items() if old < 0 or self._home.get(new) != old
        ]
        self._moves += [_Move([tile], place[0]) for tile, place in self._goes.items() if self._shifts(tile, place)]
        staying = {old: new for new, old in self._home.items()}
        self._pile_of: dict[_Tile, _Pile] = {}
        self._pile_for: dict[int, _Pile] = {}
        for index, (codes, _kind) in enumerate(self._before):
            pile = _Pile([_Tile(index, place, code) for place, code in enumerate(codes)], staying.get(index))
            self._pile_of.update(dict.fromkeys(pile.tiles, pile))
            if pile.new is not None:
                self._pile_for[pile.new] = pile

    def _shifts(self, tile: _Tile, place: _Place) -> bool:
        """Whether a joker stays in its run, but in another place."""
        if tile.code != JOKER_CODE or tile.meld < 0 or self._home.get(place[0]) != tile.meld:
            return False
        return not _means_the_same(self._before[tile.meld], tile.place, self._after[place[0]], place[1])

    def steps(self) -> Iterator[Step]:
        for new in range(len(self._after)):
            yield from self._clear(new, ())
            own = [move for move in self._moves if move.target == new]
            for move in sorted(own, key=lambda move: (move.tiles[0].meld < 0, -len(move.tiles))):
                pile = self._pile_of.get(move.tiles[0])
                if pile is not None and pile.new != new:
                    yield from self._swap(move, pile.new)
                if move in self._moves:
                    yield from self._put(move)

    def _clear(self, new: int, waiting: tuple[int, ...]) -> Iterator[Step]:
        """Have all that does not belong there leave the home of a new meld; `waiting` melds are being cleared."""
        home = self._home.get(new)
        for move in [move for move in self._moves if move.tiles[0].meld == home and move.target != new]:
            if move in self._moves and self._pile_of[move.tiles[0]] is self._pile_for[new]:
                yield from self._swap(move, new)
                if move.target not in waiting:
                    yield from self._clear(move.target, (*waiting, new))
                elif move.target in self._home:
                    self._move_house(move.target)
                if move in self._moves:
                    yield from self._put(move)

    def _move_house(self, new: int) -> None:
        """Have a new meld begin in a new place, as its home would have to wait; what should have stayed moves."""
        pile = self._pile_for.pop(new)
        pile.new = None
        del self._home[new]
        staying = [tile for tile in pile.tiles if self._goes[tile][0] == new]
        self._moves = [move for move in self._moves if move.target != new or move.tiles[0] not in staying]
        self._moves.append(_Move(staying, new))

    def _swap(self, move: _Move, new: int | None) -> Iterator[Step]:
        """Where a single joker leaves what becomes `new`: the tile that takes its place, if there is one."""
        if new is None or len(move.tiles) > 1 or move.tiles[0].code != JOKER_CODE:
            return
        joker = move.tiles[0]
        old = self._before[joker.meld]
        for other in self._moves:
            for tile in other.tiles if other.target == new else ():
                place = self._goes[tile][1]
                if tile.code and _means_the_same(old, joker.place, self._after[new], place):
                    other.tiles.remove(tile)
                    if not other.tiles:
                        self._moves.remove(other)
                    pile = self._pile_for[new]
                    target = self._said(pile)
                    source = self._lift([tile])
                    pile.tiles[pile.tiles.index(joker)] = tile
                    self._pile_of[tile] = pile
                    self._pile_of[joker] = _Pile([joker], None)
                    self._in_order(pile)
                    yield Step(StepKind.SWAP, bytes([tile.code]), source, target, self._said(pile))
                    return

    def _in_order(self, pile: _Pile) -> None:
        """What belongs there as it will lie, the rest after it."""
        pile.tiles.sort(key=lambda tile: (self._goes[tile][0] != pile.new, self._goes[tile]))

    def _put(self, move: _Move) -> Iterator[Step]:
        self._moves.remove(move)
        lies = self._pile_of.get(move.tiles[0])
        if lies is not None and lies.new is None and lies.tiles == move.tiles and move.target not in self._pile_for:
            lies.new = move.target  # what was put aside is where it begins
            self._pile_for[move.target] = lies
            return
        tiles = sorted(move.tiles, key=lambda tile: self._goes[tile])
        pile = self._pile_for.setdefault(move.target, _Pile([], move.target))
        target = self._said(pile) if pile.tiles else None
        within = self._pile_of.get(tiles[0]) is pile
        source = self._lift(tiles)
        whole = source is not None and source[1] is not None and len(source[0]) == len(tiles)
        pile.tiles += tiles
        self._in_order(pile)
        self._pile_of.update(dict.fromkeys(tiles, pile))
        result = self._said(pile)
        if source is None:
            kind = StepKind.LAY if target is None else StepKind.ADD
        elif target is None:
            kind = StepKind.TAKE if result[1] is None else StepKind.SPLIT
        else:
            kind = StepKind.JOIN if whole and not within else StepKind.MOVE
        yield Step(kind, self._codes(tiles), source, target, result)

    def _lift(self, tiles: Sequence[_Tile]) -> Said | None:
        """Take tiles from where they lie; what lay there, None for the rack."""
        pile = self._pile_of.get(tiles[0])
        if pile is None:
            return None
        source = self._said(pile)
        pile.tiles = [tile for tile in pile.tiles if tile not in tiles]
        return source

    def _said(self, pile: _Pile) -> Said:
        """What lies there, with its kind if it is a meld."""
        codes = self._codes(pile.tiles)
        olds = {self._before[tile.meld][1] for tile in pile.tiles if tile.meld >= 0}
        kinds = [self._after[pile.new][1]] if pile.new is not None else []
        kinds += sorted(olds, key=lambda kind: kind.value)
        return codes, next((kind for kind in kinds if read(codes, kind) is not None), None)

    @staticmethod
    def _codes(tiles: Sequence[_Tile]) -> bytes:
        return bytes(tile.code for tile in tiles)


def _kind_of(codes: bytes) -> MeldKind:
    meld = read(codes)
    assert meld is not None, "only legal boards have steps between them"
    return meld.kind


# Which tile goes where

_Meld = tuple[bytes, MeldKind]


def _share_out(before: Sequence[_Meld], after: Sequence[_Meld]) -> dict[_Tile, _Place]:
    """A place in `after` for each tile, rack tiles for the places that are left."""
    old_left = {
        index: [_Tile(index, place, code) for place, code in enumerate(codes)]
        for index, (codes, _kind) in enumerate(before)
    }
    new_left = {index: [(index, place) for place in range(len(codes))] for index, (codes, _kind) in enumerate(after)}
    goes: dict[_Tile, _Place] = {}

    def assign(pairs: Sequence[tuple[_Tile, _Place]]) -> None:
        for tile, place in pairs:
            goes[tile] = place
            old_left[tile.meld].remove(tile)
            new_left[place[0]].remove(place)

    def common(old: int, new: int) -> list[tuple[_Tile, _Place]]:
        """The tiles of an old meld that find a place in a new one; jokers only where they mean the same."""
        places = list(new_left[new])
        pairs = []
        for tile in old_left[old]:
            for place in places:
                same = after[new][0][place[1]] == tile.code
                if same and (tile.code or _means_the_same(before[old], tile.place, after[new], place[1])):
                    pairs.append((tile, place))
                    places.remove(place)
                    break
        return pairs if any(tile.code for tile, _place in pairs) else []

    def worth(old: int, new: int) -> tuple[int, int]:
        """How many tiles two melds have in common, and whether nothing else is left of one of them."""
        many = len(common(old, new))
        return many, (many == len(old_left[old])) + (many == len(new_left[new]))

    for new, meld in enumerate(after):
        same = (old for old, other in enumerate(before) if old_left[old] and meld_key(*meld) == meld_key(*other))
        unchanged = next((old for old in same if len(old_left[old]) == len(before[old][0])), None)
        if unchanged is not None:
            assign(common(unchanged, new))
    while numbered := [old for old, tiles in old_left.items() if any(tile.code for tile in tiles)]:
        old, new = max(((old, new) for old in numbered for new in new_left), key=lambda pair: worth(*pair))
        assign(common(old, new))
    for tile in [tile for tiles in old_left.values() for tile in tiles]:
        free = [place for places in new_left.values() for place in places if not after[place[0]][0][place[1]]]
        beside = {place[0] for other, place in goes.items() if other.meld == tile.meld}
        assign([(tile, min(free, key=lambda place: place[0] not in beside))])
    left = [place for places in new_left.values() for place in places]
    for number, (new, place) in enumerate(left):
        goes[_Tile(-1, number, after[new][0][place])] = (new, place)
    return goes


def _means_the_same(old: _Meld, old_place: int, new: _Meld, new_place: int) -> bool:
    """Whether a place of one meld is for the same tile as one of another; in groups of one number all places are."""
    if old[1] is not new[1]:
        return False
    if old[1] is MeldKind.GROUP:
        return True
    return _first_face(old[0]) + old_place == _first_face(new[0]) + new_place


def _first_face(codes: bytes) -> int:
    numbered = codes.replace(b"\0", b"")
    return numbered[0] - codes.index(numbered[0])


def _homes(common: Mapping[tuple[int, int], int]) -> dict[int, int]:
    """For as many new melds as possible the old meld that stays there; large parts stay rather than small ones."""
    found: dict[int, int] = {}

    def find(old: int, seen: set[int]) -> bool:
        ways = sorted((key for key in common if key[0] == old), key=lambda key: -common[key])
        for _old, new in ways:
            if new not in seen:
                seen.add(new)
                if new not in found or find(found[new], seen):
                    found[new] = old
                    return True
        return False

    for old, _new in sorted(common, key=lambda key: -common[key]):
        if old not in found.values():
            find(old, set())
    return found


# In words


def sentence(step: Step) -> str:
    """What to do, for a person: `Add R6 from your rack to the run R3 R4 R5.`"""
    tiles = _listed(step.tiles)
    if step.kind is StepKind.LAY:
        return f"Lay {_named(step.result)} from your rack."
    if step.kind is StepKind.SWAP:
        assert step.target is not None
        come = "from your rack" if step.source is None else f"from {_named(step.source)}"
        return f"Put {tiles} {come} in the place of the joker in {_named(step.target)}; the joker is free now."
    if step.kind is StepKind.ADD:
        assert step.target is not None
        return f"Add {tiles} from your rack to {_named(step.target)}{_becomes(step)}."
    assert step.source is not None
    rest = "" if len(step.source[0]) == len(step.tiles) else f" from {_named(step.source)}"
    if step.target is None:
        if step.kind is StepKind.SPLIT:
            return f"Split {_named(step.result)} off {_named(step.source)}."
        return f"Take {tiles}{rest.replace(' from', ' off')} and put {_it(step.tiles)} aside."
    if step.kind is StepKind.JOIN:
        return f"Join {_named(step.source)} to {_named(step.target)}{_becomes(step)}."
    if len(step.result[0]) == len(step.target[0]):
        return f"Move {tiles} within {_named(step.target)}, so that it reads {_shown(step.result[0])}."
    return f"Move {tiles}{rest} to {_named(step.target)}{_becomes(step)}."


def _becomes(step: Step) -> str:
    """What comes of it, where the reader might not see it: something that was no meld becomes one."""
    if step.target is not None and step.target[1] is None and step.result[1] is not None:
        return f": that makes {_named(step.result)}"
    return ""


def _named(meld: Said) -> str:
    codes, kind = meld
    return _listed(codes) if kind is None else f"the {kind.value} {_shown(codes)}"


def _shown(codes: bytes) -> str:
    return " ".join(texts_of(codes))


def _it(codes: bytes) -> str:
    return "it" if len(codes) == 1 else "them"


def _listed(codes: bytes) -> str:
    """Tiles in a sentence: `R5 and R6`, `the joker`, `J R6` where it lies beside others."""
    jokers = codes.count(JOKER_CODE)
    if jokers == len(codes):
        return "the joker" if jokers == 1 else f"{jokers} jokers"
    if jokers or len(codes) == 1:
        return _shown(codes)
    *words, last = texts_of(codes)
    return f"{', '.join(words)} and {last}"
