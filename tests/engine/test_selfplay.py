"""Bots among themselves: whole games, on faces and through the rules."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from engine.options import with_options
from engine.rulesets import ES, NO, PT, RULE_SETS, RuleSet
from engine.selfplay import Outcome, play, play_by_rules, play_on_faces
from engine.situations import Situation
from engine.solver import Solution
from engine.state import EndedBy, Seat
from engine.strength import Strength
from engine.tilebots import decide
from engine.tiles import TileId

BEGINNER, SOLID, STRONG = Strength


def deal(rules: RuleSet, seed: int) -> tuple[list[TileId], random.Random]:
    rng = random.Random(seed)
    deck = [TileId(tile) for tile in range(len(rules.faces))]
    rng.shuffle(deck)
    return deck, rng


def games(rules: RuleSet, bots: Sequence[Strength], seeds: range) -> list[tuple[Outcome, tuple[Strength, ...]]]:
    """Each deal once for every way to sit down that keeps the circle, the same seat beginning."""
    played = []
    for seed in seeds:
        deck, rng = deal(rules, seed)
        starter = Seat(rng.randrange(len(bots)))
        for turn in range(len(bots)):
            seated = (*bots[turn:], *bots[:turn])
            played.append((play(rules, deck, starter, seated, seed), seated))
    return played


def won(results: Sequence[tuple[Outcome, tuple[Strength, ...]]], bot: Strength) -> int:
    return sum({seated[winner] for winner in outcome.winners} == {bot} for outcome, seated in results)


@pytest.mark.parametrize("rules", [rules for rules in RULE_SETS.values() if not rules.discards], ids=lambda r: r.name)
def test_a_game_on_faces_is_the_game_by_the_rules(rules: RuleSet, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Situation] = []

    def noted(here: Situation, strength: Strength) -> Solution | None:
        asked.append(here)
        return decide(here, strength)

    monkeypatch.setattr("engine.selfplay.decide", noted)
    monkeypatch.setattr("engine.bots.decide", noted)
    for seed in range(3):
        deck, rng = deal(rules, seed)
        bots = [rng.choice(list(Strength)) for _seat in range(2 + seed % 3)]
        starter = Seat(rng.randrange(len(bots)))
        on_faces, seen = play_on_faces(rules, deck, starter, bots), asked.copy()
        asked.clear()
        assert play_by_rules(rules, deck, starter, bots) == on_faces
        assert seen == asked
        asked.clear()


def test_a_game_without_an_end_for_anybody_is_blocked_on_faces_and_by_the_rules() -> None:
    rules = with_options(PT, {"opening_min": 200})
    deck, _rng = deal(rules, 1)
    bots = [SOLID, STRONG, BEGINNER, SOLID]
    outcome = play_on_faces(rules, deck, Seat(1), bots)
    assert outcome == play_by_rules(rules, deck, Seat(1), bots)
    assert (outcome.ended_by, outcome.out, outcome.opened_in) == (EndedBy.BLOCKED, None, (None,) * 4)
    assert outcome.turns == len(rules.faces) - 4 * rules.hand + 4


@pytest.mark.parametrize("seats", [2, 4, 6])
def test_cards_come_to_an_end_though_the_pile_is_turned_over_without_limit(seats: int) -> None:
    assert not ES.turnovers
    results = games(ES, [BEGINNER, SOLID, STRONG, SOLID, STRONG, BEGINNER][:seats], range(5))
    assert {outcome.ended_by for outcome, _seated in results} == {EndedBy.OUT}
    assert max(outcome.turns for outcome, _seated in results) < 500


def test_large_hands_and_any_number_of_melds_in_a_turn_take_no_longer() -> None:
    rules = with_options(ES, {"hand": 20, "max_seats": 2, "melds_per_turn": 0, "jokers": 4})
    results = games(rules, [SOLID, STRONG], range(2))
    assert {outcome.ended_by for outcome, _seated in results} == {EndedBy.OUT}


def test_solid_beats_a_beginner() -> None:
    results = games(PT, [SOLID, BEGINNER], range(4))
    assert won(results, SOLID) >= 7


def test_strong_beats_solid() -> None:
    results = games(NO, [STRONG, SOLID], range(16))
    assert won(results, STRONG) > won(results, SOLID)
