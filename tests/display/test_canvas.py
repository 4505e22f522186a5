from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from display.canvas import Box, Canvas, Form, name_forms, shortened, told_apart, wrapped
from display.fonts import face

STYLE = face(12, "1")


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (200, "María Fernanda Gutiérrez"),
        (100, "María Fernanda G."),
        (60, "María F."),
        (32, "María"),
        (22, "Ma…"),
        (8, "M"),
        (0, ""),
    ],
)
def test_a_long_name_loses_its_end_before_its_beginning(width: int, shown: str) -> None:
    assert shortened("María Fernanda Gutiérrez", width, STYLE) == shown


def test_names_that_would_look_the_same_are_numbered() -> None:
    names = ["Maximilian", "Maximiliane", "Bo", "Maximus"]
    short = told_apart(names, 30, STYLE)
    assert len(set(short)) == len(names)
    assert short[2] == "Bo"
    assert [name[-1] for name in (short[0], short[1])] == ["1", "2"]


@given(
    names=st.lists(st.text("abcABC \u00c5", min_size=1, max_size=30), min_size=2, max_size=6), width=st.integers(12, 80)
)
def test_shortened_names_fit_and_are_not_two_alike(names: list[str], width: int) -> None:
    short = told_apart(names, width, STYLE)
    assert all(STYLE.width(name) <= width for name in short if name)
    assert len(set(short)) == len(short) or "" in short or width < 20


def test_lines_are_broken_between_words() -> None:
    lines = wrapped("Only the player whose turn it is can end it", 60, STYLE)
    assert " ".join(lines) == "Only the player whose turn it is can end it"
    assert len(lines) > 2
    assert all(STYLE.width(line) <= 60 for line in lines)


def test_a_title_knows_its_shorter_forms() -> None:
    assert name_forms("{} wins!", "Ana Silva")[:3] == ["Ana Silva wins!", "Ana S. wins!", "Ana wins!"]


@settings(max_examples=60)
@given(
    text=st.text("abgÅç xyzWM", max_size=60),
    box=st.tuples(st.integers(2, 60), st.integers(2, 30), st.integers(20, 60), st.integers(12, 30)),
    largest=st.integers(10, 60),
)
def test_ink_of_a_line_and_of_a_paragraph_stays_in_its_columns(
    text: str, box: tuple[int, int, int, int], largest: int
) -> None:
    left, top, width, height = box
    for method in ("line", "paragraph"):
        canvas = Canvas(Form.TALL, "1")
        getattr(canvas, method)(Box(left, top, left + width, top + height), text, largest)
        inked = canvas.image().getbbox()
        if inked is not None:
            assert left <= inked[0]
            assert inked[2] <= left + width


def test_a_grid_fills_its_box_column_by_column() -> None:
    cells = Box(0, 0, 100, 30).grid(2, 3, gap=4)
    assert cells[0] == Box(0, 0, 48, 10)
    assert cells[2] == Box(0, 20, 48, 30)
    assert cells[3] == Box(52, 0, 100, 10)
