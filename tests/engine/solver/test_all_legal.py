"""A whole board on codes: `all_legal` says of each meld what `read` says."""

from __future__ import annotations

import random

from engine.faces import codes_of
from engine.melds import all_legal, read
from engine.tiles import parse_tiles
from tests.engine.solver.puzzles_on_file import puzzles_on_file


def test_a_board_is_legal_if_each_meld_can_be_read() -> None:
    rng = random.Random(7)
    verdicts = {True: 0, False: 0}
    while sum(verdicts.values()) < 20_000:
        first = rng.randint(1, 50)
        near = [first, first + 1, first + 2, first + 3, (first + 12) % 52 + 1, (first + 25) % 52 + 1, 0]
        chosen = sorted(rng.choices(near, k=rng.randint(1, 6)))
        codes = bytes(chosen if rng.random() < 0.5 else [*chosen[1:], chosen[0]])
        legal = read(codes) is not None and max(codes) <= 52 and codes.count(0) <= 4
        assert all_legal([codes]) == legal, codes
        verdicts[legal] += 1
    assert min(verdicts.values()) > 500


def test_one_wrong_meld_spoils_the_board() -> None:
    for puzzle in puzzles_on_file():
        melds = [codes for codes, _kind in puzzle.board]
        assert all_legal(melds)
        assert not all_legal([*melds, codes_of(parse_tiles("R1 R2"))])
