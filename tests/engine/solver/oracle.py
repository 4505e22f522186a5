"""Brute force: all boards that a turn may leave, each put to the engine's own judge. For a dozen tiles.

Nothing here knows a rule for jokers on the board: `judge_turn` says what is legal. What is enumerated is every way to
form melds of all tiles of the board and some of the rack, each board once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, permutations, product

from engine.board import Layout, read_layout
from engine.faces import JOKER_CODE, NUMBERS
from engine.jokers import FaceExchange
from engine.legality import Turn, judge_turn
from engine.melds import read
from engine.rulesets import JokerMove, RuleSet
from engine.state import MeldKind
from engine.tiles import MAX_NUMBER

MOST_BOARDS = 6_000
_LAST_CODE = 4 * MAX_NUMBER


class TooManyError(Exception):
    """More boards than the caller wants to look at."""


def boards_of(board: Layout, rack: bytes, at_most: int = MOST_BOARDS) -> dict[bytes, list[Layout]]:
    """All boards of legal melds with all tiles of `board` and some of `rack`, by those laid. Raises `TooManyError`."""
    must = Counter(code for codes, _kind in board for code in codes)
    there = must + Counter(rack)
    found: dict[bytes, list[Layout]] = defaultdict(list)
    for number, melds in enumerate(_boards(must, there)):
        if number >= at_most:
            raise TooManyError
        laid = Counter(code for codes, _kind in melds for code in codes) - must
        found[bytes(sorted(laid.elements()))].append(tuple(melds))
    return dict(found)


def _boards(must: Counter[int], there: Counter[int]) -> Iterator[list[tuple[bytes, MeldKind | None]]]:
    """Each board once: its melds by their lowest numbered face, those with the same one in the order of `melds_of`."""
    lowest_of: dict[int, list[tuple[bytes, MeldKind, Counter[int]]]] = defaultdict(list)
    for codes, kind in melds_of(there):
        lowest_of[min(code for code in codes if code != JOKER_CODE)].append((codes, kind, Counter(codes)))
    left, owed = Counter(there), Counter(must)
    lying: list[tuple[bytes, MeldKind | None]] = []

    def from_face(face: int, first: int) -> Iterator[list[tuple[bytes, MeldKind | None]]]:
        if face > _LAST_CODE:
            if owed[JOKER_CODE] <= 0:
                yield list(lying)
            return
        if left[face]:
            for index in range(first, len(lowest_of[face])):
                codes, kind, need = lowest_of[face][index]
                if all(left[code] >= count for code, count in need.items()):
                    left.subtract(need)
                    owed.subtract(need)
                    lying.append((codes, kind))
                    yield from from_face(face, index)
                    lying.pop()
                    left.update(need)
                    owed.update(need)
        if owed[face] <= 0:
            kept, left[face] = left[face], 0
            yield from from_face(face + 1, 0)
            left[face] = kept

    yield from from_face(1, 0)


def melds_of(there: Counter[int]) -> Iterator[tuple[bytes, MeldKind]]:
    """Every meld that these tiles can form: runs with each joker in its place, groups with the jokers last."""
    for colour in range(4):
        for first in range(1, MAX_NUMBER - 1):
            for size in range(3, MAX_NUMBER - first + 2):
                lowest = colour * MAX_NUMBER + first
                yield from _runs(range(lowest, lowest + size), there)
    for number in range(1, MAX_NUMBER + 1):
        for size in (3, 4):
            for numbered in range(1, size + 1):
                for colours in combinations(range(4), numbered):
                    faces = [colour * MAX_NUMBER + number for colour in colours]
                    if size - numbered <= there[JOKER_CODE] and all(there[face] for face in faces):
                        yield bytes(faces + [JOKER_CODE] * (size - numbered)), MeldKind.GROUP


def _runs(faces: Sequence[int], there: Counter[int]) -> Iterator[tuple[bytes, MeldKind]]:
    for codes in product(*((face, JOKER_CODE) if there[face] else (JOKER_CODE,) for face in faces)):
        if codes.count(JOKER_CODE) <= min(there[JOKER_CODE], len(codes) - 1):
            yield bytes(codes), MeldKind.RUN


def legal_turn(rules: RuleSet, board: Layout, after: Layout, laid: bytes) -> bool:
    """Whether the judge takes this board, with some announcement of exchanges where the rules have them."""
    turn = Turn(opened=True, before=board, after=after, laid=laid)
    if rules.joker_move is not JokerMove.SAME_NUMBER:
        return not judge_turn(rules, turn).faults
    return any(
        not judge_turn(rules, replace(turn, exchanges=exchanges)).faults for exchanges in announcements(board, laid)
    )


def announcements(board: Layout, laid: bytes) -> Iterator[tuple[FaceExchange, ...]]:
    """Every set of exchanges of jokers on the board for laid tiles that could be announced."""
    choices: list[list[FaceExchange | None]] = []
    for index, meld in enumerate(read_layout(board)):
        assert meld is not None
        places = [place for place, code in enumerate(meld.codes) if code == JOKER_CODE]
        for place, options in zip(places, meld.jokers, strict=True):
            choices.append([None, *(FaceExchange(index, place, tile) for tile in options if tile in laid)])
    for chosen in product(*choices):
        yield tuple(exchange for exchange in chosen if exchange is not None)


def playable(rules: RuleSet, board: Layout, rack: bytes, at_most: int = MOST_BOARDS) -> dict[bytes, Layout]:
    """What may be laid in one turn by a seat that has opened, each with a legal board; nothing is the old one.

    Raises `TooManyError`.
    """
    found = {b"": board}
    for laid, boards in boards_of(board, rack, at_most).items():
        if laid:
            legal = next((after for after in boards if legal_turn(rules, board, after, laid)), None)
            if legal is not None:
                found[laid] = legal
    return found


def most_joints(rules: RuleSet, board: Layout, rack: bytes, at_most: int = MOST_BOARDS) -> int:
    """The most joints of `board` that a turn of the most tiles can leave as they are. Raises `TooManyError`."""
    by_laid = boards_of(board, rack, at_most)
    for size in range(len(rack), 0, -1):
        kept = [
            joints_kept(board, after)
            for laid, boards in by_laid.items()
            if len(laid) == size
            for after in boards
            if legal_turn(rules, board, after, laid)
        ]
        if kept:
            return max(kept)
    return joints_kept(board, board)


def joints_kept(before: Layout, after: Layout) -> int:
    """How many neighbours on the board still lie together, equal tiles told apart in the most favourable way.

    A run joins each two neighbouring faces, a group of so many all but one. Of groups, each old one is taken to be at
    most one new one. For boards without jokers.
    """
    olds, news = _run_joints(before), _run_joints(after)
    kept = (olds & news).total()
    for number in range(1, MAX_NUMBER + 1):
        few, many = sorted((_groups_at(before, number), _groups_at(after, number)), key=len)
        kept += max(
            sum(max(0, len(one & other) - 1) for one, other in zip(few, chosen, strict=True))
            for chosen in permutations(many, len(few))
        )
    return kept


def _run_joints(board: Layout) -> Counter[int]:
    """How often each face is joined to the next one of its colour."""
    return Counter(code for codes, kind in board if kind is MeldKind.RUN for code in codes[:-1])


def _groups_at(board: Layout, number: int) -> list[frozenset[int]]:
    return [frozenset(codes) for codes, kind in board if kind is MeldKind.GROUP and NUMBERS[codes[0]] == number]


def openings(rack: bytes, at_most: int = MOST_BOARDS) -> set[tuple[int, int]]:
    """How many tiles and how many points together a rack may open with. Raises `TooManyError`."""
    found = set()
    for laid, boards in boards_of((), rack, at_most).items():
        for melds in boards:
            points = 0
            for codes, kind in melds:
                meld = read(codes, kind)
                assert meld is not None
                points += meld.points
            found.add((len(laid), points))
    return found


def value_of(laid: Iterable[int]) -> int:
    """The sum of the numbers, a joker 0."""
    return sum(NUMBERS[code] for code in laid)
