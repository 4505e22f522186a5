"""Jokers of the table that stay what they are: which tile each stands for, and where it lies in the new board."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product

from engine.board import Layout
from engine.faces import COLOUR_INDEXES, COLOURS_OF_A_DECK, JOKER_CODE, NUMBERS
from engine.jokers import FaceExchange
from engine.melds import read
from engine.solver.attempt import Finish
from engine.solver.rebuild import MeldDraft, meld_key
from engine.solver.search import BareNode, Node
from engine.state import MeldKind
from engine.tiles import MAX_NUMBER


@dataclass(frozen=True, slots=True)
class TableJoker:
    """A joker on the table: its meld and place there, and the faces it may stand for."""

    meld: int
    place: int
    options: tuple[int, ...]
    kind: MeldKind
    numbered: bytes  # the other tiles of the meld

    @property
    def number(self) -> int:
        return NUMBERS[self.options[0]]


def table_jokers(board: Layout) -> list[TableJoker]:
    """The jokers of a board, in table order."""
    found = []
    for index, (codes, kind) in enumerate(board):
        meld = read(codes, kind) if JOKER_CODE in codes else None
        if meld is not None:
            places = [place for place, code in enumerate(codes) if code == JOKER_CODE]
            for place, options in zip(places, meld.jokers, strict=True):
                found.append(TableJoker(index, place, options, meld.kind, meld.numbered))
    return found


Meaning = tuple[int, ...]  # the faces of some bound jokers


def meanings(jokers: Sequence[TableJoker], barred: Iterable[tuple[int, int]] = ()) -> list[Meaning]:
    """What the jokers may stand for together: within a meld different faces, and none of the barred (meld, face)."""
    barred = set(barred)
    found = []
    for faces in product(*(joker.options for joker in jokers)):
        taken = [(joker.meld, face) for joker, face in zip(jokers, faces, strict=True)]
        if len(set(taken)) == len(taken) and barred.isdisjoint(taken):
            found.append(faces)
    return found


@lru_cache(maxsize=1 << 14)
def way_of(faces: Meaning) -> tuple[int, ...]:
    """How many of the faces there are of each colour."""
    colours = [COLOUR_INDEXES[face] for face in faces]
    return tuple(colours.count(colour) for colour in range(COLOURS_OF_A_DECK))


def ways_of(found: Iterable[Meaning]) -> list[tuple[int, ...]]:
    """The ways of some meanings, each once."""
    return sorted({way_of(faces) for faces in found})


Protected = set[tuple[int, int]]  # (id of the meld, place) where a real tile has to stay


@dataclass
class BoundFinish(Finish):
    """Puts bound jokers in their places. `choices`: for each number the jokers bound to it, and their meanings."""

    board: Layout
    choices: Mapping[int, tuple[Sequence[TableJoker], Sequence[Meaning]]]
    faces: dict[tuple[int, int], int] = field(default_factory=dict)  # by meld and place of the old board
    exchanges: tuple[FaceExchange, ...] = ()

    @property
    def ways(self) -> dict[int, list[tuple[int, ...]]]:
        """For each number the ways to give its bound jokers to colours."""
        return {number: ways_of(found) for number, (_, found) in self.choices.items()}

    def before(self, path: Sequence[BareNode], board: Layout) -> Layout:
        self.faces = {}
        melds = [bytearray(codes) for codes, _kind in board]
        for node in map(Node._make, path):
            stage = node.stage
            if node.number in self.choices:
                jokers, found = self.choices[node.number]
                meaning = next(faces for faces in found if way_of(faces) == stage.bound)
                taken = list(stage.bound_taken)
                for joker, face in zip(jokers, meaning, strict=True):
                    melds[joker.meld][joker.place] = face
                    if taken[COLOUR_INDEXES[face]]:
                        taken[COLOUR_INDEXES[face]] -= 1
                    else:
                        self.faces[joker.meld, joker.place] = face
        return tuple((bytes(codes), kind) for codes, (_old, kind) in zip(melds, board, strict=True))

    def settle(self, melds: list[MeldDraft]) -> None:
        self.hide(melds, set())

    def hide(self, melds: list[MeldDraft], protected: Protected) -> None:
        """Turn tiles into the bound jokers that they are: those of a meld that is still there where they lay."""
        left = dict(self.faces)
        drafts = [draft for draft in melds if not draft.fixed]
        for index in sorted({meld for meld, _place in left}):
            codes, kind = self.board[index]
            meant = bytearray(codes)
            own = [key for key in left if key[0] == index]
            for _meld, place in own:
                meant[place] = left[index, place]
            key = meld_key(bytes(meant), kind)
            for draft in drafts:
                kept = [at for at in range(len(draft.codes)) if (id(draft), at) in protected]
                if draft.key == key and not any(draft.codes[at] in (left[place] for place in own) for at in kept):
                    drafts.remove(draft)
                    if draft.kind is MeldKind.GROUP:
                        draft.codes = list(meant)
                    for _meld, place in own:
                        draft.codes[place] = JOKER_CODE
                        draft.bound[place] = left.pop((index, place))
                    break
        for face in left.values():
            places = [
                (draft, place)
                for draft in drafts
                for place, code in enumerate(draft.codes)
                if code == face and (id(draft), place) not in protected
            ]
            if not places:  # only where a real tile has to lie: the board is no answer, and is judged so
                places = [(draft, draft.codes.index(face)) for draft in melds if face in draft.codes]
            draft, place = max(places, key=lambda found: found[0].numbered)
            draft.codes[place] = JOKER_CODE
            draft.bound[place] = face


def free_jokers_only(melds: Sequence[MeldDraft]) -> list[MeldDraft]:
    """The melds that hold no tile with a number, and so are none."""
    return [draft for draft in melds if not draft.numbered]


def code_of(colour: int, number: int) -> int:
    """The code of a tile; colours count from 0."""
    return colour * MAX_NUMBER + number
