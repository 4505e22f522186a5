"""Judging a turn that is told in words: board before, rack, board after. By the code that runs a game."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.actions import DeclareRummikub
from engine.errors import Fault
from engine.faces import codes_of
from engine.jokers import FaceExchange
from engine.legality import judge_turn, turn_of_faces
from engine.plays import empties_rack
from engine.positions import Said, layout, parse_board, tile_position
from engine.rules import apply, judge
from engine.rulesets import RuleSet
from engine.state import Phase
from engine.tiles import Tile, parse_tiles


@dataclass(frozen=True, slots=True)
class Judgement:
    """Legal if `faults` is empty. `opening_points` count for an opening, 0 for who had opened; `wins`: gone out."""

    faults: tuple[Fault, ...]
    opening_points: int
    wins: bool

    @property
    def legal(self) -> bool:
        """Whether the turn may end like this."""
        return not self.faults


def judge_text(
    rules: RuleSet,
    before: str,
    rack: str,
    after: str,
    *,
    opened: bool = True,
    opening: str = "",
    exchanges: Iterable[tuple[int, int, Tile]] = (),
) -> Judgement:
    """Judge a turn of a tile game in text form, melds between bars. Raises `ValueError` for what cannot be read."""
    if rules.discards:
        raise ValueError(f"{rules.name} has no boards to compare: its turns are several actions")
    return judge_sets(
        rules,
        parse_board(before),
        parse_tiles(rack),
        parse_board(after),
        opened=opened,
        opening=parse_board(opening),
        exchanges=tuple(exchanges),
    )


def judge_sets(
    rules: RuleSet,
    before: Sequence[Said],
    rack: Sequence[Tile],
    after: Sequence[Said],
    *,
    opened: bool,
    rack_after: Sequence[Tile] | None = None,
    opening: Sequence[Said] = (),
    exchanges: Sequence[tuple[int, int, Tile]] = (),
) -> Judgement:
    """Judge a turn of a tile game. `rack_after` None: the rack without the tiles laid.

    A turn that neither loses nor borrows a tile goes through `rules`, else it is judged on faces alone.
    """
    turn = turn_of_faces(
        opened,
        layout(before),
        layout(after),
        codes_of(rack),
        None if rack_after is None else codes_of(rack_after),
        layout(opening),
        tuple(FaceExchange(meld, position, codes_of([tile])[0]) for meld, position, tile in exchanges),
    )
    if turn.lost or turn.taken or turn.foreign:
        verdict = judge_turn(rules, turn)
        return Judgement(verdict.faults, verdict.opening_points, wins=False)
    position = tile_position(rules, before, rack, opened=opened)
    play = position.play(after, opening, exchanges)
    verdict = judge(position.state, play)
    wins = not verdict.faults and empties_rack(position.state, play)
    if wins:
        wins = apply(position.state, DeclareRummikub(play)).phase is Phase.FINAL
    return Judgement(verdict.faults, verdict.opening_points, wins)
