"""Random positions for the solver: a board of legal melds and a rack, out of one deck.

Small ones are dense, few faces that all fit together, so that brute force finds many boards. Large ones look like late
games. Adversarial ones are what a search likes least: twins, nothing but groups of four, few numbers, jokers in heaps.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from engine.board import Layout
from engine.faces import JOKER_CODE, codes_of, deck_codes, text_of
from engine.melds import read
from engine.positions import layout, parse_board
from engine.rulesets import RULE_SETS, JokerMove, RuleSet
from engine.state import MeldKind
from engine.tiles import MAX_NUMBER, parse_tiles

COLOURS = range(4)


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A position of a seat that has opened. The kind of every meld of `board` is told."""

    rules: RuleSet
    board: Layout
    rack: bytes

    @property
    def jokers(self) -> int:
        """How many are in play."""
        return self.rack.count(JOKER_CODE) + sum(codes.count(JOKER_CODE) for codes, _kind in self.board)

    def __str__(self) -> str:
        """The position in text form; `puzzle_of` reads it again."""
        melds = " | ".join(f"{kind.value}: {text_of(codes)}" for codes, kind in self.board if kind is not None)
        name = "free" if self.rules.joker_move is JokerMove.FREE else self.rules.name
        return f"{name}-{self.rules.jokers} / {melds} / {text_of(self.rack)}"


def rules_named(name: str, jokers: int) -> RuleSet:
    """A rule set with so many jokers in its deck; `free`: `pt` without any rule for jokers."""
    base = replace(RULE_SETS["pt"], joker_move=JokerMove.FREE) if name == "free" else RULE_SETS[name]
    return replace(base, jokers=jokers)


def puzzle_of(text: str) -> Puzzle:
    """The position that was written as this text. Raises `ValueError`."""
    rules, board, rack = text.split("/")
    name, jokers = rules.strip().split("-")
    return Puzzle(rules_named(name, int(jokers)), layout(parse_board(board)), codes_of(parse_tiles(rack)))


class _Builder:
    """Takes melds and racks out of one deck, of the faces that `wanted` names."""

    def __init__(self, rng: random.Random, rules: RuleSet, wanted: Callable[[int, int], bool]) -> None:
        self.rng, self.rules = rng, rules
        self.left = Counter(
            code
            for code in deck_codes(rules.deck, rules.jokers)
            if code == JOKER_CODE or wanted((code - 1) // MAX_NUMBER, (code - 1) % MAX_NUMBER + 1)
        )
        self.board: list[tuple[bytes, MeldKind]] = []

    def size(self) -> int:
        """Tiles on the board."""
        return sum(len(codes) for codes, _kind in self.board)

    def lay(self, codes: bytes, kind: MeldKind, jokers: int = 0) -> bool:
        """Lay a meld, so many of its tiles at random replaced by jokers, if the deck still has it."""
        places = list(range(len(codes)))
        self.rng.shuffle(places)
        shown = bytearray(codes)
        for place in places[: min(jokers, self.left[JOKER_CODE], len(codes) - 1)]:
            shown[place] = JOKER_CODE
        need = Counter(shown)
        if any(self.left[code] < count for code, count in need.items()):
            return False
        self.left -= need
        meld = bytes(shown) if kind is MeldKind.RUN else bytes(sorted(shown, key=lambda code: (code == 0, code)))
        assert read(meld, kind) is not None
        self.board.append((meld, kind))
        return True

    def some_meld(self, jokers: int = 0, *, group: bool | None = None) -> bool:
        """Try to lay a random meld."""
        if group if group is not None else self.rng.random() < 0.45:
            number = self.rng.randint(1, MAX_NUMBER)
            colours = self.rng.sample(COLOURS, self.rng.choice((3, 3, 4)))
            return self.lay(group_of(number, colours), MeldKind.GROUP, jokers)
        size = self.rng.choice((3, 3, 3, 4, 4, 5, 6, 8))
        first = self.rng.randint(1, MAX_NUMBER - size + 1)
        return self.lay(run_of(self.rng.choice(COLOURS), first, size), MeldKind.RUN, jokers)

    def lay_until(self, size: int, joker_share: float, *, group: bool | None = None) -> None:
        """Lay random melds until the board has at least so many tiles, or nothing fits any more."""
        for _ in range(60 * (1 + size // 3)):
            if self.size() >= size:
                return
            self.some_meld(self._some_jokers(joker_share), group=group)

    def lay_partition(self, size: int, joker_share: float) -> None:
        """Lay melds of a random division of the whole deck into melds, until there are so many tiles."""
        melds = [*self._one_pack(), *self._one_pack()]
        self.rng.shuffle(melds)
        for codes, kind in melds:
            if self.size() + len(codes) <= size:
                self.lay(codes, kind, self._some_jokers(joker_share))

    def _some_jokers(self, share: float) -> int:
        return self.rng.choice((1, 1, 2, 3)) if self.rng.random() < share else 0

    def _one_pack(self) -> Iterator[tuple[bytes, MeldKind]]:
        """All 52 faces, once: blocks of numbers, each of runs or of groups."""
        first = 1
        while first <= MAX_NUMBER:
            left = MAX_NUMBER - first + 1
            size = left if left < 6 else self.rng.randint(3, min(left - 3, 7))
            if size < 3 or self.rng.random() < 0.4:
                for number in range(first, first + size):
                    yield group_of(number, list(COLOURS)), MeldKind.GROUP
            else:
                for colour in COLOURS:
                    yield run_of(colour, first, size), MeldKind.RUN
            first += size

    def deal(self, size: int, jokers: int) -> bytes:
        """A rack of the tiles that are left, with so many of the jokers that are left."""
        dealt = [JOKER_CODE] * min(size, jokers, self.left[JOKER_CODE])
        rest = [code for code in self.left.elements() if code != JOKER_CODE]
        self.rng.shuffle(rest)
        return bytes(sorted(dealt + rest[: size - len(dealt)]))

    def puzzle(self, rack: bytes) -> Puzzle:
        self.rng.shuffle(self.board)
        return Puzzle(self.rules, tuple(self.board), rack)


def group_of(number: int, colours: list[int]) -> bytes:
    """The codes of a group."""
    return bytes(sorted(colour * MAX_NUMBER + number for colour in colours))


def run_of(colour: int, first: int, size: int) -> bytes:
    """The codes of a run."""
    return bytes(range(colour * MAX_NUMBER + first, colour * MAX_NUMBER + first + size))


def small(rng: random.Random, rules: RuleSet, *, board: int = 12, rack: int = 5) -> Puzzle:
    """Up to about `board` tiles on the board and `rack` on the rack, of few neighbouring numbers and colours."""
    lowest = rng.randint(1, MAX_NUMBER - 4)
    highest = lowest + rng.choice((3, 4, 4, 5, 7))
    colours = rng.sample(COLOURS, rng.choice((2, 3, 3, 4)))
    builder = _Builder(rng, rules, lambda colour, number: colour in colours and lowest <= number <= highest)
    target = rng.randint(3, board - 2)
    joker_share = rng.choice((0.0, 0.4, 0.7)) if rules.jokers else 0.0
    for _ in range(400):
        if builder.size() >= target:
            break
        jokers = rng.choice((1, 1, 2)) if rng.random() < joker_share else 0
        if rng.random() < 0.45 and len(colours) > 2:
            number = rng.randint(lowest, min(highest, MAX_NUMBER))
            codes = group_of(number, rng.sample(colours, rng.randint(3, len(colours))))
            kind = MeldKind.GROUP
        else:
            size = rng.choice((3, 3, 3, 4, 4, 5))
            first = rng.randint(lowest, max(lowest, min(highest, MAX_NUMBER) - size + 1))
            if first + size - 1 > MAX_NUMBER:
                continue
            codes, kind = run_of(rng.choice(colours), first, size), MeldKind.RUN
        if builder.size() + len(codes) <= board:
            builder.lay(codes, kind, jokers)
    return builder.puzzle(builder.deal(rng.randint(1, rack), rng.choice((0, 0, 0, 1, 1, 2))))


def large(rng: random.Random, rules: RuleSet, *, board: int = 100, rack: int = 40) -> Puzzle:
    """A board of up to `board` tiles as late in a game and a rack of up to `rack`."""
    builder = _Builder(rng, rules, _all)
    target = rng.randint(0, board)
    joker_share = rng.choice((0.0, 0.1, 0.3)) if rules.jokers else 0.0
    if rng.random() < 0.5 or target > 60:
        builder.lay_partition(target, joker_share)
    else:
        builder.lay_until(target, joker_share)
    return builder.puzzle(builder.deal(rng.randint(1, rack), rng.randint(0, rules.jokers)))


def adversarial(rng: random.Random, rules: RuleSet, *, board: int = 80, rack: int = 40) -> Puzzle:
    """One of the shapes that a search likes least."""
    shape = rng.choice(_SHAPES)
    builder = shape(rng, rules, rng.randint(board // 4, board))
    return builder.puzzle(builder.deal(rng.randint(rack // 2, rack), rng.randint(0, rules.jokers)))


def _all(_colour: int, _number: int) -> bool:
    return True


def _groups_of_four(rng: random.Random, rules: RuleSet, size: int) -> _Builder:
    """No room for a joker anywhere."""
    builder = _Builder(rng, rules, _all)
    numbers = [number for number in range(1, MAX_NUMBER + 1) for _ in range(2)]
    rng.shuffle(numbers)
    for number in numbers[: size // 4]:
        builder.lay(group_of(number, list(COLOURS)), MeldKind.GROUP, rng.choice((0, 0, 0, 1)))
    return builder


def _twins(rng: random.Random, rules: RuleSet, size: int) -> _Builder:
    """Every meld twice."""
    builder = _Builder(rng, rules, _all)
    for _ in range(200):
        if builder.size() >= size:
            break
        if builder.some_meld():
            builder.lay(*builder.board[-1])
    builder.some_meld(2)
    return builder


def _few_numbers(rng: random.Random, rules: RuleSet, size: int) -> _Builder:
    """Groups and short runs of a window of numbers, everything fits everywhere; the rack is of it too."""
    lowest = rng.randint(1, MAX_NUMBER - 5)
    builder = _Builder(rng, rules, lambda _colour, number: lowest <= number <= lowest + 5)
    builder.lay_until(min(size, 30), 0.3)
    return builder


def _two_colours(rng: random.Random, rules: RuleSet, size: int) -> _Builder:
    """Nothing but runs."""
    colours = rng.sample(COLOURS, 2)
    builder = _Builder(rng, rules, lambda colour, _number: colour in colours)
    builder.lay_until(min(size, 36), 0.3, group=False)
    return builder


def _long_runs(rng: random.Random, rules: RuleSet, size: int) -> _Builder:
    """Runs of a whole colour, some with holes that jokers fill."""
    builder = _Builder(rng, rules, _all)
    for _ in range(max(1, size // MAX_NUMBER)):
        length = rng.randint(8, MAX_NUMBER)
        first = rng.randint(1, MAX_NUMBER - length + 1)
        builder.lay(run_of(rng.choice(COLOURS), first, length), MeldKind.RUN, rng.choice((0, 0, 1, 2)))
    return builder


def _heaps_of_jokers(rng: random.Random, rules: RuleSet, size: int) -> _Builder:
    """As many jokers on the board as there are, several in one meld."""
    builder = _Builder(rng, rules, _all)
    while builder.left[JOKER_CODE]:
        builder.some_meld(rng.choice((1, 2, 3)))
    builder.lay_until(size, 0.0)
    return builder


_SHAPES = (_groups_of_four, _twins, _few_numbers, _two_colours, _long_runs, _heaps_of_jokers)
