"""Jokers on the table. The oracle tells all tiles apart: it tries every way to say which old tile lies where."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product

import pytest

from engine.board import difference, fits
from engine.faces import JOKER_CODE, NUMBERS, codes_of, text_of
from engine.jokers import FaceExchange, joker_faults
from engine.judging import judge_text
from engine.melds import Meld, read
from engine.options import with_options
from engine.rackmelds import candidate_melds
from engine.rulesets import FI, NO, PT
from engine.state import MeldKind
from engine.tiles import parse_tile, parse_tiles


@dataclass(frozen=True)
class Place:
    """A place on a table: which meld, which code lies there."""

    meld: int
    index: int
    code: int


def places(melds: Sequence[Meld]) -> list[Place]:
    return [Place(number, index, code) for number, meld in enumerate(melds) for index, code in enumerate(meld.codes)]


def meanings(melds: Sequence[Meld]) -> Iterator[dict[Place, int]]:
    """Every way to say what each joker stands for, different colours within a group."""
    jokers = [place for place in places(melds) if place.code == JOKER_CODE]
    options = []
    for place in jokers:
        meld = melds[place.meld]
        options.append(meld.jokers[meld.codes[: place.index].count(JOKER_CODE)])
    for chosen in product(*options):
        meaning = dict(zip(jokers, chosen, strict=True))
        groups = [(place.meld, code) for place, code in meaning.items()]
        if len(set(groups)) == len(groups):
            yield meaning


def ways_to_tell_apart(before: Sequence[Meld], after: Sequence[Meld]) -> Iterator[dict[Place, Place]]:
    """Every map of the old places to new ones with the same face."""
    olds, news = places(before), places(after)
    by_code: dict[int, list[Place]] = {}
    for place in olds:
        by_code.setdefault(place.code, []).append(place)
    choices = [
        list(permutations([new for new in news if new.code == code], len(same))) for code, same in by_code.items()
    ]
    for chosen in product(*choices):
        yield {
            old: new
            for same, targets in zip(by_code.values(), chosen, strict=True)
            for old, new in zip(same, targets, strict=True)
        }


def legal_by_trying_everything(before: Sequence[Meld], after: Sequence[Meld]) -> bool:
    """`pt`: some way of telling tiles apart in which every joker kept its tile or was replaced by a real one."""
    new_meanings = list(meanings(after))
    for way in ways_to_tell_apart(before, after):
        for old_meaning, new_meaning in product(meanings(before), new_meanings):
            moved = [joker for joker, code in old_meaning.items() if new_meaning[way[joker]] != code]
            if replaced(before, after, way, {joker: old_meaning[joker] for joker in moved}):
                return True
    return False


def replaced(before: Sequence[Meld], after: Sequence[Meld], way: dict[Place, Place], moved: dict[Place, int]) -> bool:
    """Whether each moved joker has a real tile of its own in what remains of its meld."""
    candidates = []
    for joker, code in moved.items():
        remains = {way[place].meld for place in way if place.meld == joker.meld and place.code != JOKER_CODE}
        candidates.append([place for place in places(after) if place.code == code and place.meld in remains])
    return any(len(set(chosen)) == len(chosen) for chosen in product(*candidates))


def random_tables(rng: random.Random) -> tuple[list[Meld], list[Meld]]:
    """Two small legal tables, the second holding all tiles of the first; jokers and twins are frequent."""
    colours, top = rng.choice([(2, 6), (3, 5), (4, 4)])
    counts = {colour * 13 + number: 2 for colour in range(colours) for number in range(1, top + 1)}
    after = random_melds(rng, {**counts, JOKER_CODE: 2}, rng.randint(2, 3))
    lying = b"".join(meld.codes for meld in after)
    before = random_melds(rng, {code: lying.count(code) for code in set(lying)}, rng.randint(1, 2))
    return before, after


def random_melds(rng: random.Random, counts: dict[int, int], wanted: int) -> list[Meld]:
    melds: list[Meld] = []
    left = dict(counts)
    for _meld in range(wanted):
        found = [meld for meld in candidate_melds(left) if len(meld.codes) <= 4]
        if not found:
            break
        with_joker = [meld for meld in found if meld.jokers]
        meld = rng.choice(with_joker if with_joker and rng.random() < 0.7 else found)
        melds.append(meld)
        for code in meld.codes:
            left[code] -= 1
    return melds


def test_judging_jokers_agrees_with_telling_all_tiles_apart() -> None:
    rng = random.Random(20240101)
    verdicts = {True: 0, False: 0}
    while sum(verdicts.values()) < 1500:
        before, after = random_tables(rng)
        if not any(meld.jokers for meld in before):
            continue
        laid = difference(b"".join(meld.codes for meld in after), b"".join(meld.codes for meld in before))
        faults = joker_faults(PT, before, after, laid, ())
        shown = " | ".join(text_of(m.codes) for m in before) + " -> " + " | ".join(text_of(m.codes) for m in after)
        legal = legal_by_trying_everything(before, after)
        assert (not faults) == legal, shown
        assert {fault.code for fault in faults} <= {"JOKER-LOCKED"}
        verdicts[legal] += 1
    assert min(verdicts.values()) > 100, verdicts


def test_numbers_of_jokers_agree_with_trying_every_place() -> None:
    rng = random.Random(7)
    verdicts = {True: 0, False: 0}
    while sum(verdicts.values()) < 1500:
        before, after = random_tables(rng)
        olds = [NUMBERS[options[0]] for meld in before for options in meld.jokers]
        news = [NUMBERS[options[0]] for meld in after for options in meld.jokers]
        if olds:
            legal = any(list(chosen) == olds for chosen in permutations(news, len(olds)))
            assert (not joker_faults(NO, before, after, b"", ())) == legal
            verdicts[legal] += 1
    assert min(verdicts.values()) > 100, verdicts


# Examples in words: rule set, board before, rack, board after, codes (any of them must be found; none = legal)


@pytest.mark.parametrize(
    ("before", "rack", "after", "code"),
    [
        # two equal melds with a joker: one real tile frees one joker only
        ("R3 R4 J R6 | R3 R4 J R6", "R5 B1 B2", "R3 R4 R5 R6 | R3 R4 J R6 | B1 B2 J", None),
        ("R3 R4 J R6 | R3 R4 J R6", "R5 B1 B2 K1 K2", "R3 R4 R5 R6 | R3 R4 R6 | B1 B2 J | K1 K2 J", "INVALID-SET"),
        # a joker of a group may leave as either colour, and go on in a run as that tile
        ("R7 B7 J | K8 K9 K10", "Y7 K1", "R7 B7 Y7 | J K8 K9 K10", None),
        ("R7 B7 J | K8 K9 K10 | R8 R9 R10 | B8 B9 B10", "Y1 Y2 Y3",
         "J K8 K9 K10 | R7 R8 R9 R10 | B7 B8 B9 B10 | Y1 Y2 Y3", "IDLE-REARRANGE"),
        # the real tile comes from another meld on the table
        ("R3 R4 J R6 | R5 B5 K5 Y5", "K1 K2", "R3 R4 R5 R6 | B5 K5 Y5 | K1 K2 J", None),
        # it must end in what remains of the joker's meld
        ("R3 R4 J", "R5 B5 K5 Y9 K9 R2", "R2 R3 R4 | R5 B5 K5 | Y9 K9 J", "JOKER-LOCKED"),
        # one real tile of two possible colours is enough
        ("R7 B7 J", "K7 R1 R2", "R7 B7 K7 | R1 R2 J", None),
        ("R7 B7 J", "R8 R9 B8 B9 K1 K2", "R7 R8 R9 | B7 B8 B9 | K1 K2 J", "JOKER-LOCKED"),
        # two jokers of one group stand for different colours
        ("R7 B7 J J", "K7 K5 K6", "R7 B7 K7 J | K5 K6 J", None),
        ("R7 B7 J J | K8 K9 K10 | Y8 Y9 Y10", "R8 R9 B8 B9", "R7 R8 R9 | B7 B8 B9 | J K8 K9 K10 | J Y8 Y9 Y10", None),
        ("R7 B7 J J | K8 K9 K10 | K8 K9 K10", "R8 R9 B8 B9", "R7 R8 R9 | B7 B8 B9 | J K8 K9 K10 | J K8 K9 K10",
         "JOKER-LOCKED"),
        # a joker that was laid this turn is not bound
        ("R5 R6 R7", "J R8", "R5 R6 R7 R8 J", None),
        # a joker stays what it was declared
        ("run: R5 J J", "R8", "R5 J J R8", None),
        ("run: R5 J J", "B5", "R5 J J B5", "JOKER-LOCKED"),
        ("group: R5 J J", "B5", "R5 J J B5", None),
        ("group: R5 J J", "K1 K2 K3", "R5 J J | K1 K2 K3", None),
        ("group: R5 J J", "K1 K2 K3", "run: R5 J J | K1 K2 K3", "JOKER-LOCKED"),
    ],
)  # fmt: skip
def test_pt(before: str, rack: str, after: str, code: str | None) -> None:
    expect(judge_text(PT, before, rack, after).faults, code)


@pytest.mark.parametrize(
    ("before", "rack", "after", "code"),
    [
        ("R3 R4 J R6", "R5 K5 K6", "R3 R4 R5 R6 | J K5 K6", None),
        ("J R6 R7", "R5 K1", "J R5 R6 R7", "JOKER-NEW-SET"),  # its own old meld lies complete in the new one
        ("J R6 R7 R8", "R5 R9 R10 K1", "J R5 R6 R7 | R8 R9 R10", None),
        ("R3 R4 J R6 | B1 B2 B3", "R5", "R3 R4 R5 R6 | B1 B2 B3 J", "JOKER-NEW-SET"),
        ("R3 R4 J R6 | B1 B2 B3 B4", "R5 B5 B6 B7", "R3 R4 R5 R6 | B1 B2 B3 J | B4 B5 B6 B7", None),
        # an equal meld beside it is the one that lay there
        ("R3 R4 J R6 | B1 B2 B3", "R5 B1 B2 B3", "R3 R4 R5 R6 | B1 B2 B3 | B1 B2 B3 J", None),
        ("R4 R5 R6 J", "Y9 B9 K1", "R4 R5 R6 | J Y9 B9", "JOKER-LOCKED"),
        ("R3 R4 J R6 R7", "R8 K1", "R3 R4 J | R6 R7 R8", None),
    ],
)
def test_fi(before: str, rack: str, after: str, code: str | None) -> None:
    expect(judge_text(FI, before, rack, after).faults, code)


@pytest.mark.parametrize(
    ("before", "rack", "after", "exchanges", "code"),
    [
        ("R7 B7 J", "Y7 K1 K2", "R7 B7 Y7 | K1 K2 J", [(0, 2, "Y7")], None),
        ("R7 B7 J", "Y7 K1 K2", "R7 B7 Y7 | K1 K2 J", [], "JOKER-NOTICE"),
        ("R7 B7 J", "R6 R8 K1 K2 B6 B8", "R6 R7 R8 | B6 B7 B8 | K1 K2 J", [], "JOKER-VALUE"),
        ("R7 B7 J", "Y7 K1 K2", "R7 B7 Y7 | K1 K2 J", [(0, 2, "K1")], "JOKER-SWAP-MISMATCH"),
        ("R7 B7 J", "Y7 K1 K2", "R7 B7 Y7 | K1 K2 J", [(0, 1, "Y7")], "JOKER-SWAP-MISMATCH"),
        ("R7 B7 J", "Y7 K1 K2", "R7 B7 Y7 | K1 K2 J", [(5, 2, "Y7")], "JOKER-SWAP-MISMATCH"),
        ("R7 B7 J | Y5 Y6 Y7", "Y8 K1 K2 Y4", "R7 B7 Y7 | Y4 Y5 Y6 | K1 K2 J | Y8", [(0, 2, "Y7")], "INVALID-SET"),
        ("R7 B7 J | Y5 Y6 Y7", "K1 K2 Y4", "R7 B7 Y7 | Y4 Y5 Y6 | K1 K2 J", [(0, 2, "Y7")], "JOKER-SWAP-MISMATCH"),
        # after an exchange the joker may be anything, its twin may not
        ("R7 B7 J J", "Y7 K1 K2", "R7 B7 Y7 J | K1 K2 J", [(0, 2, "Y7")], None),
        ("R7 B7 J J", "Y7 K1 K2", "R7 B7 Y7 | K1 K2 J J", [(0, 2, "Y7")], "JOKER-VALUE"),
        ("R7 B7 J J", "Y7 K7 K1 K2", "R7 B7 Y7 K7 | K1 K2 J J", [(0, 2, "Y7"), (0, 3, "K7")], None),
        ("R7 B7 J J", "Y7 K7 K1 K2", "R7 B7 Y7 K7 | K1 K2 J J", [(0, 2, "Y7"), (0, 2, "K7")], "JOKER-SWAP-MISMATCH"),
        # the colour is free
        ("R4 R5 R6 J", "K8 K9 K1", "R4 R5 R6 | J K8 K9", [], None),
    ],
)
def test_no(before: str, rack: str, after: str, exchanges: list[tuple[int, int, str]], code: str | None) -> None:
    given = [(meld, position, parse_tile(tile)) for meld, position, tile in exchanges]
    expect(judge_text(NO, before, rack, after, exchanges=given).faults, code)


def expect(faults: Sequence[object], code: str | None) -> None:
    codes = [getattr(fault, "code", None) for fault in faults]
    assert codes == [] if code is None else code in codes, codes


def test_a_joker_may_be_free_by_house_rule() -> None:
    free = with_options(PT, {"joker_move": "free"})
    turn = ("R4 R5 R6 J", "Y9 B9 K1", "R4 R5 R6 | J Y9 B9")
    expect(judge_text(PT, *turn).faults, "JOKER-LOCKED")
    expect(judge_text(free, *turn).faults, None)


def test_the_sentence_names_the_meld_and_what_the_joker_stands_for() -> None:
    (fault,) = judge_text(PT, "R7 B7 J", "R8 R9 B8 B9 K1 K2", "R7 R8 R9 | B7 B8 B9 | K1 K2 J").faults
    assert (
        fault.sentence == "The joker in R7 B7 J stands for K7 or Y7 and stays so until K7 or Y7 takes its place there."
    )


def test_a_wrongly_announced_exchange_names_the_wrong_tile() -> None:
    before = [read(codes_of(parse_tiles("R3 R4 J R6")), MeldKind.RUN)]
    after = [read(codes_of(parse_tiles("R2 R3 R4"))), read(codes_of(parse_tiles("R6 B6 J")))]
    laid = codes_of(parse_tiles("R2 B6"))
    assert fits(laid, b"".join(meld.codes for meld in after if meld is not None))
    (fault,) = joker_faults(PT, before, after, laid, (FaceExchange(0, 2, codes_of(parse_tiles("R2"))[0]),))
    assert (fault.code, fault.tiles) == ("JOKER-SWAP-MISMATCH", ("R2",))
