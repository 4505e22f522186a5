from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.faces import TILES_BY_CODE, codes_in, codes_of, deck_codes, text_of, tiles_of
from engine.rulesets import RULE_SETS
from engine.tiles import deck_faces, parse_tile, parse_tiles

faces = st.sampled_from(TILES_BY_CODE)


@given(st.lists(faces))
def test_text_of_tiles_reads_back(tiles: list[object]) -> None:
    assert parse_tiles(" ".join(str(tile) for tile in tiles)) == tuple(tiles)


@given(st.lists(faces))
def test_codes_of_tiles_read_back(tiles: list[object]) -> None:
    codes = codes_of(tiles)  # type: ignore[arg-type] # hypothesis loses the element type
    assert tiles_of(codes) == tuple(tiles)
    assert parse_tiles(text_of(codes)) == tuple(tiles)
    assert codes_in([str(tile) for tile in tiles]) == codes_in([f" {tile} ".lower() for tile in tiles]) == codes


@pytest.mark.parametrize("text", ["", "R0", "R14", "Q5", "5R", "JJ", "H11", "S1", "R 5", "R-1"])
def test_text_that_is_no_tile_is_refused_by_name(text: str) -> None:
    with pytest.raises(ValueError, match="no such tile"):
        parse_tile(text)
    with pytest.raises(ValueError, match="no such tile"):
        codes_in(["R5", text])


def test_a_bare_j_is_a_joker_and_hj_the_jack_of_hearts() -> None:
    assert parse_tile("J").is_joker
    assert str(parse_tile("HJ")) == "HJ"
    assert not parse_tile("HJ").is_joker


@pytest.mark.parametrize(("name", "size", "jokers"), [("pt", 106, 2), ("fi", 106, 2), ("no", 108, 4), ("es", 52, 0)])
def test_decks_have_the_tiles_of_the_rules(name: str, size: int, jokers: int) -> None:
    rules = RULE_SETS[name]
    assert len(rules.faces) == size
    assert sum(face.is_joker for face in rules.faces) == jokers
    copies = 1 if name == "es" else 2
    assert all(rules.faces.count(face) == copies for face in rules.faces if not face.is_joker)
    assert tiles_of(deck_codes(rules.deck, rules.jokers)) == rules.faces


def test_an_unknown_deck_is_our_own_mistake() -> None:
    with pytest.raises(ValueError, match="no such deck"):
        deck_faces("coins", 0)
