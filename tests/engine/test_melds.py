"""Reading melds. The oracle is written from the words of the rules and enumerates what each joker could be."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement, product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.faces import NUMBERS, codes_of, tiles_of
from engine.melds import Meld, read, read_meld, why_no_meld
from engine.state import MeldKind
from engine.tiles import JOKER, TILE_COLOURS, Tile, parse_tile, parse_tiles

NUMBERED = [Tile(colour, number) for colour in TILE_COLOURS for number in range(1, 14)]
RUNS = {
    tuple(Tile(colour, number) for number in range(low, high + 1))
    for colour in TILE_COLOURS
    for low in range(1, 12)
    for high in range(low + 2, 14)
}
GROUPS = {
    frozenset(Tile(colour, number) for colour in colours)
    for number in range(1, 14)
    for size in (3, 4)
    for colours in combinations(TILE_COLOURS, size)
}


def test_there_are_65_groups_and_264_runs() -> None:
    assert (len(GROUPS), len(RUNS)) == (65, 264)
    found_groups = {
        frozenset(tiles)
        for size in (3, 4, 5)
        for number in range(1, 14)
        for tiles in combinations_with_replacement([tile for tile in NUMBERED if tile.number == number], size)
        if (meld := read_meld(tiles)) is not None and meld.kind is MeldKind.GROUP
    }
    assert found_groups == GROUPS
    rising = [
        tuple(NUMBERED[first : first + size]) for size in range(1, 15) for first in range(len(NUMBERED) - size + 1)
    ]
    found_runs = {tiles for tiles in rising if (meld := read_meld(tiles)) and meld.kind is MeldKind.RUN}
    assert found_runs == RUNS


def oracle(tiles: tuple[Tile, ...], kind: MeldKind) -> list[tuple[Tile, ...]]:
    """Every way to put tiles for the jokers so that a group or run comes out, none if all are jokers."""
    if all(tile.is_joker for tile in tiles) or len(tiles) > 13:
        return []
    found = []
    if kind is MeldKind.RUN:
        for run in RUNS:
            if len(run) == len(tiles) and all(tile in (JOKER, real) for tile, real in zip(tiles, run, strict=True)):
                found.append(run)
        return found
    number = next(tile.number for tile in tiles if not tile.is_joker)
    choices = [[tile] if not tile.is_joker else [Tile(colour, number) for colour in TILE_COLOURS] for tile in tiles]
    if len(tiles) > 4:
        return []
    return [way for way in product(*choices) if len(set(way)) == len(way) and frozenset(way) in GROUPS]


def small_faces() -> st.SearchStrategy[Tile]:
    near = st.sampled_from([tile for tile in NUMBERED if tile.number in (1, 2, 3, 4, 11, 12, 13)])
    return st.one_of(near, st.just(JOKER))


@st.composite
def almost_melds(draw: st.DrawFn) -> tuple[Tile, ...]:
    """Tiles that often form a meld: a real one with jokers put in and perhaps one tile spoilt."""
    if draw(st.booleans()):
        tiles = list(draw(st.sampled_from(sorted(RUNS, key=str))))
    else:
        tiles = sorted(draw(st.sampled_from(sorted(GROUPS, key=str))), key=str)
        tiles = draw(st.permutations(tiles))
    for place in draw(st.lists(st.integers(0, len(tiles) - 1), max_size=4)):
        tiles[place] = JOKER
    if draw(st.booleans()):
        tiles[draw(st.integers(0, len(tiles) - 1))] = draw(small_faces())
    return tuple(tiles)


any_tiles = st.one_of(almost_melds(), st.lists(small_faces(), max_size=5).map(tuple))


@given(any_tiles)
@example(parse_tiles("R5 J J"))
@example(parse_tiles("J J R7 J"))
@example(parse_tiles("R12 J J"))
@example(parse_tiles("J J J"))
def test_reading_agrees_with_trying_every_tile_for_every_joker(tiles: tuple[Tile, ...]) -> None:
    for kind in MeldKind:
        ways = oracle(tiles, kind)
        meld = read_meld(tiles, kind)
        assert (meld is not None) == bool(ways)
        if meld is None:
            continue
        assert meld.kind is kind
        assert {sum(tile.number for tile in way) for way in ways} == {meld.points}
        places = [place for place, tile in enumerate(tiles) if tile.is_joker]
        for place, options in zip(places, meld.stands_for, strict=True):
            assert set(options) == {way[place] for way in ways}
            assert meld.by_place[place] == options


@given(any_tiles)
def test_undeclared_melds_take_the_only_reading_or_the_dearer_or_the_group(tiles: tuple[Tile, ...]) -> None:
    group, run, meld = read_meld(tiles, MeldKind.GROUP), read_meld(tiles, MeldKind.RUN), read_meld(tiles)
    if group is None or run is None:
        assert meld == (group or run)
    else:
        assert meld == (run if run.points > group.points else group)


@given(any_tiles)
def test_what_is_no_meld_has_a_reason_that_names_its_tiles(tiles: tuple[Tile, ...]) -> None:
    for declared in (None, *MeldKind):
        codes = codes_of(tiles)
        if read(codes, declared) is None:
            assert all(str(tile) in why_no_meld(codes, declared) for tile in tiles)


def test_every_meld_with_jokers_is_counted_as_by_hand() -> None:
    """Runs of 3 to 5 and groups, with 0 to 2 jokers in place: den Hertog and Hulshof's 1173 sets, by brute force."""
    short_runs = [run for run in RUNS if len(run) <= 5]
    keys: set[tuple[MeldKind, bytes]] = set()
    for tiles in (*short_runs, *(tuple(sorted(group, key=str)) for group in GROUPS)):
        for jokers in range(3):
            for places in combinations(range(len(tiles)), jokers):
                shown = tuple(JOKER if place in places else tile for place, tile in enumerate(tiles))
                for kind in MeldKind:
                    meld = read_meld(shown, kind)
                    if meld is not None:
                        keys.add((kind, meld.key[1:]))
    by_shape = {shape(kind, codes) for kind, codes in keys}
    assert len(by_shape) == 1173


def shape(kind: MeldKind, codes: bytes) -> tuple[MeldKind, int, tuple[int, ...], int]:
    """What the published count tells apart: the numbered tiles and the number of jokers, not where these lie."""
    numbered = tuple(sorted(codes.replace(b"\0", b"")))
    single_group = kind is MeldKind.GROUP or len(numbered) > 1
    return (kind if single_group else MeldKind.GROUP, len(codes), numbered, codes.count(0))


@pytest.mark.parametrize(
    ("text", "declared", "kind", "points", "stands_for"),
    [
        ("J R5 J", MeldKind.RUN, MeldKind.RUN, 15, ["R4", "R6"]),
        ("J R5 J", None, MeldKind.GROUP, 15, ["B5 K5 Y5", "B5 K5 Y5"]),
        ("R7 B7 J", None, MeldKind.GROUP, 21, ["K7 Y7"]),
        ("R7 B7 J K7", None, MeldKind.GROUP, 28, ["Y7"]),
        ("K10 J J", None, MeldKind.RUN, 33, ["K11", "K12"]),
        ("R12 J J", None, MeldKind.GROUP, 36, ["B12 K12 Y12", "B12 K12 Y12"]),
        ("S9 HJ D9", None, None, 0, []),
        ("SA S2 S3", None, MeldKind.RUN, 6, []),
        ("HJ HQ HK", None, MeldKind.RUN, 36, []),
    ],
)
def test_examples(
    text: str, declared: MeldKind | None, kind: MeldKind | None, points: int, stands_for: list[str]
) -> None:
    meld = read_meld(parse_tiles(text), declared)
    assert (None if meld is None else meld.kind) == kind
    if meld is not None:
        assert meld.points == points
        assert [set(options) for options in meld.stands_for] == [set(parse_tiles(texts)) for texts in stands_for]


def test_melds_that_differ_only_in_the_order_of_a_group_have_one_key() -> None:
    def key(text: str) -> object:
        meld = read_meld(parse_tiles(text))
        assert isinstance(meld, Meld)
        return meld.key

    assert key("R7 B7 J") == key("J B7 R7")
    assert key("R7 B7 J") != key("K7 B7 J")
    assert key("J R7 R8") != key("R7 R8 J")


def test_codes_of_one_colour_are_neighbours() -> None:
    assert all(NUMBERS[code] == tile.number for code, tile in zip(codes_of(NUMBERED), NUMBERED, strict=True))
    assert tiles_of(codes_of([parse_tile("J")])) == (JOKER,)
