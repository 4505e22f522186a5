"""Many games by the engine alone: runs, shards, statistics, files, the picture, the command."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from engine.options import with_options
from engine.rulesets import ES, PT
from engine.selfplay import Outcome
from engine.state import EndedBy
from engine.strength import Strength
from node import commands
from node.__main__ import main
from node.headless.intervals import mean, rate
from node.headless.results import as_csv, as_json
from node.headless.runs import Game, Run, play_all, play_game, shard
from node.headless.summary import summarise

BEGINNER, SOLID, STRONG = Strength
CARDS = Run(ES, (2, 4), (SOLID, BEGINNER))
QUICK = ("--engine-only", "--rules", "es", "--seats", "2-4", "--bots", "solid,beginner")


def simulate(*arguments: str) -> Result:
    return CliRunner().invoke(main, ("simulate", *arguments))


# Runs


def test_every_table_size_comes_up_and_the_bots_change_seats() -> None:
    run = Run(ES, (2, 3), (STRONG, SOLID))
    assert [run.seating(seed) for seed in range(4)] == [
        (STRONG, SOLID),
        (STRONG, SOLID, STRONG),
        (SOLID, STRONG),
        (SOLID, STRONG, SOLID),
    ]


@pytest.mark.parametrize(("games", "parts"), [(10, 3), (3, 3), (2, 5), (1000, 7)])
def test_shards_together_are_the_whole_in_order(games: int, parts: int) -> None:
    seeds = range(40, 40 + games)
    shards = [shard(seeds, part, parts) for part in range(1, parts + 1)]
    assert [seed for part in shards for seed in part] == list(seeds)
    assert max(map(len, shards)) - min(map(len, shards)) <= 1


def test_a_game_follows_from_its_seed_whoever_plays_it() -> None:
    alone = [play_game(CARDS, seed) for seed in range(20, 26)]
    assert list(play_all(CARDS, range(20, 26), 2)) == alone
    assert len({game.outcome for game in alone}) == 6
    assert {game.starter for game in alone} > {0}


# Statistics


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(8, 10, 0.4902, 0.9433), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (81, 263, 0.2553, 0.3662)],
)
def test_rates_have_wilson_s_interval(successes: int, n: int, low: float, high: float) -> None:
    found = rate(successes, n)
    assert (found.value, found.n) == (successes / n, n)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-4)
    assert found.low <= found.value <= found.high


def test_means_have_the_normal_interval() -> None:
    found = mean([1.0, 2.0, 3.0, 4.0])
    assert found.value == 2.5
    assert (found.low, found.high) == pytest.approx((2.5 - 1.2651, 2.5 + 1.2651), abs=1e-3)
    assert str(mean([3.0]).low) == "nan"
    assert str(mean([]).value) == "nan"


def game(seed: int, bots: tuple[Strength, ...], winners: tuple[int, ...], scores: tuple[int, ...], **how: Any) -> Game:
    outcome = Outcome(
        ended_by=how.get("ended_by", EndedBy.OUT),
        turns=how.get("turns", 10),
        out=winners[0] if len(winners) == 1 else None,
        scores=scores,
        winners=winners,
        opened_in=how.get("opened_in", (1,) * len(bots)),
    )
    return Game(seed, bots, how.get("starter", 0), outcome)


GAMES = (
    game(0, (SOLID, STRONG), (1,), (-20, 20), opened_in=(None, 3), starter=1),
    game(1, (SOLID, STRONG, SOLID), (0,), (50, -30, -20), turns=40, opened_in=(2, None, 4)),
    game(2, (STRONG, SOLID), (0, 1), (0, 0), ended_by=EndedBy.BLOCKED, turns=100, opened_in=(5, 7)),
)


def test_a_game_is_one_case_whatever_the_seats_and_a_shared_win_is_nobody_s() -> None:
    summary = summarise(GAMES)
    assert (summary.games, summary.turns.value) == (3, 50)
    assert (summary.blocked.value, summary.shared.value) == (1 / 3, 1 / 3)
    solid, strong = summary.bots
    assert (solid.bot, strong.bot) == (SOLID, STRONG)
    assert (solid.wins.won.value, solid.wins.won.n) == (1 / 3, 3)
    assert solid.wins.even == pytest.approx((1 / 2 + 2 / 3 + 1 / 2) / 3)
    assert solid.points.value == pytest.approx((-20 + 15 + 0) / 3)
    assert (solid.opened_in.value, solid.opened_in.n) == ((3 + 7) / 2, 2)
    assert (solid.unopened.value, strong.unopened.value) == (1 / 3, 1 / 3)
    assert [(seat.won.value, seat.won.n) for seat in summary.seats] == [(1 / 3, 3), (1 / 3, 3), (0, 1)]
    assert summary.seats[2].even == 1 / 3
    assert summary.first.won.value == 2 / 3


def test_csv_has_a_line_for_each_seat_of_each_game() -> None:
    lines = list(csv.DictReader(io.StringIO(as_csv(GAMES))))
    assert len(lines) == 7
    assert lines[0]["opened_in"] == ""
    assert [line["won"] for line in lines] == ["0", "1", "1", "0", "0", "0", "0"]
    assert [line["shared"] for line in lines] == ["0", "0", "0", "0", "0", "1", "1"]
    assert {line["seed"]: line["turns"] for line in lines} == {"0": "10", "1": "40", "2": "100"}


def test_json_is_readable_without_the_program() -> None:
    plain = json.loads(as_json(Run(PT, (2, 3), (SOLID, STRONG)), GAMES))
    assert plain["bots"] == ["solid", "strong"]
    assert plain["summary"]["games"] == len(plain["games"]) == 3
    assert plain["games"][2]["ended_by"] == "blocked"
    assert plain["games"][0]["opened_in"] == [None, 3]


# The command


def test_merged_shards_are_the_whole_run_byte_for_byte(tmp_path: Path) -> None:
    whole = tmp_path / "whole.json"
    assert simulate(*QUICK, "--games", "9", "--seed", "3", "--json", str(whole)).exit_code == 0
    parts = [tmp_path / f"{part}.json" for part in (3, 1, 2)]
    for part in parts:
        shard_of = f"{part.stem}/3"
        assert simulate(*QUICK, "--games", "9", "--seed", "3", "--shard", shard_of, "--json", str(part)).exit_code == 0
    merged = simulate("--engine-only", "--merge", *map(str, parts), "--json", "-")
    assert merged.stdout == whole.read_text(encoding="utf-8")
    assert len(json.loads(merged.stdout)["games"]) == 9


def test_what_cannot_be_merged_is_named(tmp_path: Path) -> None:
    one, other, wrong = (tmp_path / name for name in ("one.json", "other.json", "wrong.json"))
    one.write_text(as_json(CARDS, GAMES), encoding="utf-8")
    changed = Run(with_options(ES, {"out_bonus": 50}), CARDS.seats, CARDS.bots)
    other.write_text(as_json(changed, [game(7, (SOLID, BEGINNER), (0,), (1, 2))]), encoding="utf-8")
    wrong.write_text('{"games": []}', encoding="utf-8")
    for files, said in (
        ((one, one), "seed 0 is there twice"),
        ((one, other), "other.json: other rules"),
        ((wrong,), "wrong.json: not a file of"),
        ((), "needs the files"),
    ):
        result = simulate("--engine-only", "--merge", *map(str, files))
        assert result.exit_code == 2
        assert said in " ".join(result.output.split())


def test_the_table_tells_bots_and_seats(tmp_path: Path) -> None:
    result = simulate(*QUICK, "--games", "6", "--csv", str(tmp_path / "games.csv"))
    assert result.exit_code == 0
    assert result.stdout.startswith("6 games; turns ")
    assert all(word in result.stdout for word in ("beginner", "solid", "who begins", "Wilson"))
    assert len((tmp_path / "games.csv").read_text(encoding="utf-8").splitlines()) == 1 + 2 + 3 + 4 + 2 + 3 + 4


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--engine-only", "--deal", "open"), "--deal does not go with --engine-only"),
        (("--engine-only", "--rounds", "2"), "--rounds does not go"),
        (("--engine-only", "--turn-seconds", "0"), "--turn-seconds does not go"),
        (("--engine-only", "--faults", "hostile"), "--faults does not go"),
        (("--engine-only", "--seats", "2-5"), "pt is played by 2 to 4 players"),
        (("--engine-only", "--seats", "4-2"), "expected a number from 2 to 6"),
        (("--engine-only", "--seats", "x"), "expected a number from 2 to 6"),
        (("--engine-only", "--bots", "solid,clever"), "expected beginner, solid, strong"),
        (("--engine-only", "--bots", "solid,strong,solid", "--seats", "2-4"), "a table of 2 seats"),
        (("--engine-only", "--shard", "0/3"), "as in 2/8"),
        (("--engine-only", "--shard", "4/3"), "as in 2/8"),
        (("--engine-only", "--games", "2", "--shard", "1/3"), "fewer games than shards"),
        (("--engine-only", "--json", "-", "--csv", "-"), "standard output"),
        (("--engine-only", "--json", "no-such-folder/x"), "no such folder"),
        (("--engine-only", __file__), "Files are for --merge"),
        (("--engine-only", "--merge", "--games", "3", __file__), "--games does not go with --merge"),
        (("--shard", "1/2"), "--shard is for --engine-only"),
        (("--merge",), "--merge is for --engine-only"),
        (("--seats", "2-4"), "several sizes"),
        ((__file__,), "is for --engine-only"),
    ],
)
def test_options_that_do_not_go_together_are_one_clear_error(arguments: tuple[str, ...], said: str) -> None:
    result = simulate(*arguments)
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


def test_a_picture_without_matplotlib_is_refused_before_a_game_is_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    result = simulate(*QUICK, "--games", "1000000", "--plot", str(tmp_path / "wins.png"))
    assert result.exit_code == 2
    assert "pip install '.[plot]'" in result.output


def test_a_picture_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra plot")
    file = tmp_path / "wins.png"
    assert simulate(*QUICK, "--games", "6", "--plot", str(file)).exit_code == 0
    data = file.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert int.from_bytes(data[16:20]) == 1200


# Bots of `play` and `bot`


@pytest.mark.parametrize(
    ("arguments", "strength", "thinking_s"),
    [
        ((), SOLID, None),
        (("strong", "3"), STRONG, (1.5, 3.0)),
        (("beginner", "0"), BEGINNER, (0.0, 0.0)),
    ],
)
def test_bots_play_as_well_and_as_fast_as_is_said(
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    strength: Strength,
    thinking_s: tuple[float, float] | None,
) -> None:
    asked: list[Any] = []

    async def run(options: commands.PlayOptions | commands.BotOptions) -> None:
        asked.append((options.strength, options.thinking_s))

    monkeypatch.setattr("node.__main__.run_play", run)
    monkeypatch.setattr("node.__main__.run_bot", run)
    for command, options in (
        (["play"], ("--bot-strength", "--bot-thinking")),
        (["bot", "--table", "Kitchen"], ("--strength", "--thinking")),
    ):
        given = [word for pair in zip(options, arguments, strict=False) for word in pair]
        assert CliRunner().invoke(main, [*command, *given]).exit_code == 0
    assert asked == [(strength, thinking_s)] * 2
