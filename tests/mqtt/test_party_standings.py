"""Standings over tables: what is counted, who is ahead, and the file that keeps it."""

from __future__ import annotations

import dataclasses
import json
import logging
from collections.abc import Sequence
from pathlib import Path

import pytest

from node.mqtt.messages import state_of
from node.mqtt.party import standings
from node.mqtt.party.board import PartyBoard
from node.mqtt.party.resultsfile import read, text_of
from node.mqtt.party.standings import Player, ResultBook, Series, standings_of
from tests.mqtt.evenings import PREFIX, TableTold, tell
from tests.mqtt.games import game


def series(number: int, names: str, *scores: Sequence[int], rules: str = "pt", at: float = 0.0) -> Series:
    """Games of one table; whoever has most points wins. Bots have names that end with `*`."""
    players = [
        Player(
            name.removesuffix("*"),
            name.endswith("*"),
            sum(game[seat] == max(game) for game in scores),
            sum(game[seat] for game in scores),
        )
        for seat, name in enumerate(names.split())
    ]
    return Series(f"{number:032x}", f"Table {number}", rules, at or number, len(scores), tuple(players))


def ranking(*all_series: Series) -> list[str]:
    """Place, name, games won of those played, points."""
    return [
        f"{row.place or '-'} {row.name} {row.won}/{row.played} {sum(row.points.values())}"
        for row in standings_of(all_series).rows
    ]


def test_games_won_count_first_then_the_share_of_them_then_points() -> None:
    assert ranking(
        series(1, "Ana Bo", (9, -9), (5, -5), (-1, 1)),
        series(2, "Cy Di", (30, -30), (20, -20)),
        series(3, "Ed Flo", (40, -40)),
        series(4, "Gus Hal", (41, -41)),
    ) == [
        "1 Cy 2/2 50",
        "2 Ana 2/3 13",
        "3 Gus 1/1 41",
        "4 Ed 1/1 40",
        "5 Bo 1/3 -13",
        "6 Flo 0/1 -40",
        "7 Hal 0/1 -41",
        "8 Di 0/2 -50",
    ]


def test_points_of_different_rules_decide_nothing() -> None:
    mixed = (series(1, "Ana Bo", (9, -9)), series(2, "Cy Di", (30, -30), rules="fi"), series(3, "Ed Ana", (1, 0)))
    assert ranking(*mixed) == [
        "1 Cy 1/1 30",
        "1 Ed 1/1 1",
        "3 Ana 1/2 9",
        "4 Bo 0/1 -9",
        "4 Di 0/1 -30",
    ]
    assert standings_of(mixed).rules == ("fi", "pt")


def test_points_are_kept_apart_by_rules() -> None:
    rows = standings_of((series(1, "Ana Bo", (9, -9)), series(2, "Ana Bo", (4, 6), rules="fi"))).rows
    assert [row.points for row in rows] == [{"pt": 9, "fi": 4}, {"pt": -9, "fi": 6}]


def test_one_person_is_one_name_however_it_is_written_and_a_bot_is_another() -> None:
    assert ranking(
        series(1, "ana Bo", (9, -9)), series(2, "Straße ANA", (1, 2)), series(3, "STRASSE Ana*", (1, 7))
    ) == [
        "1 ANA 2/2 11",
        "2 STRASSE 0/2 2",
        "3 Bo 0/1 -9",
        "- Ana 1/1 7",
    ]


def test_bots_follow_the_people_and_have_no_place() -> None:
    assert ranking(series(1, "Iris* Ana", (9, -9), (8, -8)), series(2, "Otto* Bo", (1, 2))) == [
        "1 Bo 1/1 2",
        "2 Ana 0/2 -17",
        "- Iris 2/2 17",
        "- Otto 0/1 1",
    ]


def test_several_winners_of_a_game_have_all_won_it() -> None:
    assert ranking(series(1, "Ana Bo Cy", (5, 5, -10))) == ["1 Ana 1/1 5", "1 Bo 1/1 5", "3 Cy 0/1 -10"]


def test_nobody_is_ahead_before_the_first_game() -> None:
    nothing = standings_of(())
    assert (nothing.rows, nothing.games, nothing.since) == ((), 0, None)


def test_games_of_a_table_stay_when_the_next_table_has_its_name() -> None:
    board = PartyBoard(PREFIX)
    for number in range(3):
        table = TableTold("Kitchen", ("Ana", "Bo"), game("pt", 2), number, later_s=1000.0 * number)
        tell(board, table, 0)
        tell(board, table, table.last)
    stands = board.standings()
    assert (stands.games, stands.tables) == (3, 3)
    assert [(row.name, row.won, row.points) for row in stands.rows] == [("Ana", 3, {"pt": 3}), ("Bo", 0, {"pt": -3})]


def test_game_is_counted_once_however_often_it_is_told() -> None:
    board = PartyBoard(PREFIX)
    table = TableTold("Kitchen", ("Ana", "Bo"), game("pt", 2))
    for at in range(table.last - 3, table.last + 1):
        tell(board, table, at)
    version = board.standings_version
    tell(board, table, table.last)
    assert board.standings().games == 1
    assert board.standings_version == version


def test_only_more_games_of_a_table_are_news() -> None:
    table = TableTold("Kitchen", ("Ana", "Bo"), game("pt", 2))
    one = state_of(table.message(table.last, "state"))
    two = dataclasses.replace(one, games=one.games * 2)
    book = ResultBook()
    assert [book.note(state, 1e10) for state in (one, one, two, one)] == [True, False, True, False]
    assert [known.games for known in book.series.values()] == [2]


def test_of_too_many_tables_the_oldest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standings, "MAX_SERIES", 3)
    book = ResultBook()
    for number, at in ((1, 50.0), (2, 10.0), (3, 30.0), (4, 20.0)):
        book.add(series(number, "Ana Bo", (1, -1), at=at))
    assert sorted(known.at for known in book.series.values()) == [20.0, 30.0, 50.0]


# The file


def test_file_brings_back_what_was_written(tmp_path: Path) -> None:
    book = ResultBook()
    for one in (series(1, "Ana Zoë*", (1, -1), (2, -2), at=3.5), series(2, "Bo Cy Di", (0, 0, 0), rules="house rules")):
        book.add(one)
    path = tmp_path / "party.json"
    path.write_text(text_of(book), encoding="utf-8")
    assert read(path) == book
    assert read(tmp_path / "none.json") == ResultBook()


def test_file_brings_back_whatever_a_table_may_say(tmp_path: Path) -> None:
    table = TableTold("Kitchen", ("\U0001f37e" * 20, '"\\*'), game("pt", 2))
    said = table.message(table.last, "state")
    said["results"] = [{"scores": [2**31, -(2**31)], "winners": [0, 1], "ended_by": "out"}] * 2000
    book = ResultBook()
    assert book.note(state_of({**said, "at": 1e11, "rules": ""}), 1e12)
    path = tmp_path / "party.json"
    path.write_text(text_of(book), encoding="utf-8")
    assert read(path) == book


def damaged() -> list[str]:
    book = ResultBook()
    book.add(series(1, "Ana Bo", (1, -1)))
    good = json.loads(text_of(book))
    table = good["tables"][0]
    wrong = [
        {**good, "version": 2},
        {"version": 1},
        {**good, "tables": [5]},
        *(
            {**good, "tables": [{**table, key: value}]}
            for key, value in (
                ("table", "x"),
                ("games", 0),
                ("players", [{**table["players"][0], "won": 2}]),
                ("players", [{**table["players"][0], "points": 0.5}]),
                ("at", "now"),
            )
        ),
    ]
    return ["", "[]", "null", text_of(book)[:-9], "[" * 100_000, *map(json.dumps, wrong)]


@pytest.mark.parametrize("text", damaged(), ids=range(len(damaged())))
def test_file_that_cannot_be_read_is_kept_aside_and_said(
    text: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "party.json"
    path.write_text(text, encoding="utf-8")
    with caplog.at_level(logging.ERROR):
        assert read(path) == ResultBook()
    assert [entry.name for entry in tmp_path.iterdir()] == ["party-1.json"]
    assert (tmp_path / "party-1.json").read_text(encoding="utf-8") == text
    assert f"{path} cannot be read" in caplog.text
    assert "party-1.json" in caplog.text


def test_file_that_may_not_be_read_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "party.json"
    path.mkdir()
    with pytest.raises(IsADirectoryError):
        read(path)
