from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageChops

from display.canvas import MARGIN_X, MARGIN_Y, Canvas, Form
from display.gallery import ENLARGED, EXAMPLES, FORMS, pictures
from display.screens import clock_text, draw
from display.views import (
    ErrorView,
    PausedView,
    PlayerTiles,
    RefusalView,
    ResultView,
    ScoreLine,
    StandingsView,
    TurnView,
    View,
    WaitingView,
)
from display.words import WORDS
from tests.display.goldens import STORED, compare

GALLERY = dict(pictures())
FORM_MODES = sorted(FORMS.items(), key=lambda item: item[0].value)
forms = pytest.mark.parametrize(("form", "mode"), FORM_MODES, ids=[form.name for form, _mode in FORM_MODES])
CLOCKS = {Form.LOW: (78, 0, 128, 28), Form.TALL: (47, 20, 128, 59), Form.WIDE: (140, 0, 256, 58)}  # where digits are
PLAYERS = tuple(PlayerTiles(name, 9) for name in ("Ana", "Bo", "Cai"))


def turn(clock_s: float, name: str = "Ana") -> TurnView:
    return TurnView(name, clock_s, 60, PLAYERS, 0, 38)


def lit(picture: Image.Image) -> tuple[int, int, int, int]:
    """The box of all pixels that are not of the background's colour."""
    grey = picture.convert("L")
    paper = Image.new("L", grey.size, grey.getpixel((0, grey.height - 1)))
    box = ImageChops.difference(grey, paper).getbbox()
    assert box is not None
    return box


@pytest.mark.parametrize("name", sorted(GALLERY))
def test_each_screen_is_the_stored_picture(name: str, tmp_path: Path) -> None:
    compare(name, GALLERY[name], tmp_path)


def test_no_stored_picture_is_of_a_screen_that_is_no_more() -> None:
    assert sorted(path.name for path in STORED.glob("*.png")) == sorted(GALLERY)


def test_a_changed_screen_fails_with_both_as_text_and_as_files(tmp_path: Path) -> None:
    name = "turn-128x64.png"
    picture = GALLERY[name].copy()
    picture.paste(255, (0, 0, 8 * ENLARGED, 8 * ENLARGED))
    with pytest.raises(pytest.fail.Exception, match=r"(?s)47 pixels differ.*expected:.*got:\n⣿⣿⣿⣿.*changed:\n⣿⣿"):
        compare(name, picture, tmp_path)
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("language", WORDS)
@forms
def test_every_screen_in_every_language_keeps_its_margins(form: Form, mode: str, language: str) -> None:
    for name, view in EXAMPLES.items():
        picture = draw(view, form.value, mode, WORDS[language]).convert("L")
        width, height = picture.size
        for column in (0, width - 1):
            below_the_strip = picture.crop((column, 24, column + 1, height))
            assert len(set(below_the_strip.tobytes())) == 1, f"{name}: ink at column {column}"
        last_row = picture.crop((0, height - MARGIN_Y, width, height))
        assert len(set(last_row.tobytes())) == 1, f"{name}: ink in the last row"


@pytest.mark.parametrize("language", WORDS)
@forms
def test_no_word_of_a_language_is_cut_off(
    form: Form, mode: str, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    original = Canvas.put

    def noted(self: Canvas, text: str, *arguments: Any, **named: Any) -> None:
        written.append(text)
        original(self, text, *arguments, **named)

    monkeypatch.setattr(Canvas, "put", noted)
    words = WORDS[language]
    views: list[View] = [
        PausedView("Ana", 42),
        WaitingView("Ana", 37),
        TurnView("Ana", 0, 60),
        TurnView("Ana", 25, 60, (PlayerTiles("Ana", None), PlayerTiles("Bo", None)), 0, None, 40, True),
        RefusalView("."),
        ErrorView("."),
        StandingsView(3, (ScoreLine("Ana", 5),)),
        StandingsView(1, (ScoreLine("Ana", 5),), over=True),
        ResultView(1, (ScoreLine("Ana", 5),), ()),
        ResultView(1, (ScoreLine("Ana", 5),), (0,)),
    ]
    for view in views:
        draw(view, form.value, mode, words)
    assert [text for text in written if "…" in text] == []


@forms
def test_what_must_be_read_from_afar_is_large(form: Form, mode: str) -> None:
    """Two metres want 3 mm (five minutes of arc): on a 2.42 inch panel 7 pixels, and more where there is room."""
    digits = lit(draw(turn(47), form.value, mode).crop(CLOCKS[form]))
    assert digits[3] - digits[1] >= {Form.LOW: 22, Form.TALL: 30, Form.WIDE: 40}[form]
    name = {Form.LOW: (0, 0, 76, 17), Form.TALL: (0, 0, 90, 19), Form.WIDE: (0, 0, 90, 28)}[form]
    letters = lit(draw(turn(47, "HHH"), form.value, mode).crop(name))
    assert letters[3] - letters[1] >= {Form.LOW: 11, Form.TALL: 11, Form.WIDE: 16}[form]
    last = lit(draw(turn(7, "H"), form.value, mode).crop(CLOCKS[form]))
    assert last[3] - last[1] >= {Form.LOW: 22, Form.TALL: 30, Form.WIDE: 40}[form]


@forms
def test_a_long_name_is_shortened_and_not_made_small(form: Form, mode: str) -> None:
    size = form.value
    long = draw(turn(40, "Maximiliana Bartholomea Featherstonehaugh"), size, mode)
    assert long.tobytes() != draw(turn(40, ""), size, mode).tobytes()
    letters = lit(long.crop((0, 0, 60, 17 if form is Form.LOW else 18)))
    assert letters[3] - letters[1] >= 10


@forms
def test_the_digits_of_a_clock_stay_where_they_are(form: Form, mode: str) -> None:
    """Of 41 and 47 the first digit is the same, pixel by pixel."""
    pictures = [draw(turn(seconds), form.value, mode) for seconds in (41, 47)]
    left, top, right, bottom = lit(pictures[1].crop(CLOCKS[form]))
    x, y = CLOCKS[form][:2]
    tens = [picture.crop((x + left, y + top, x + (left + right) // 2 - 2, y + bottom)) for picture in pictures]
    assert tens[0].tobytes() == tens[1].tobytes()
    assert lit(tens[0])[2] > 8


@forms
def test_the_last_ten_seconds_are_in_inverse(form: Form, mode: str) -> None:
    before, after = (draw(turn(seconds), form.value, mode).convert("L") for seconds in (10.01, 10))
    assert (before.getpixel((0, 0)), after.getpixel((0, 0))) == (0, 255)


@forms
def test_the_bar_shrinks_as_time_passes(form: Form, mode: str) -> None:
    bars = [draw(turn(seconds), form.value, mode).convert("L") for seconds in range(60, 10, -5)]
    inked = [
        sum(level == 255 for level in bar.crop((0, form.value[1] - 2, form.value[0], form.value[1] - 1)).tobytes())
        for bar in bars
    ]
    assert inked == sorted(inked, reverse=True)
    assert inked[0] == form.value[0] - 2 * MARGIN_X
    assert len(set(inked)) == len(inked)


@forms
def test_everybody_s_tiles_and_the_pool_are_shown(form: Form, mode: str) -> None:
    view = TurnView("Ana", 40, 60, PLAYERS, 0, 38)
    drawn = draw(view, form.value, mode).tobytes()
    fewer = tuple(PlayerTiles(player.name, 8 if player.name == "Bo" else 9) for player in PLAYERS)
    others = (TurnView("Ana", 40, 60, fewer, 0, 38), TurnView("Ana", 40, 60, PLAYERS, 0, 37))
    assert drawn not in [draw(other, form.value, mode).tobytes() for other in others]


def test_a_larger_panel_shows_the_screen_in_its_middle() -> None:
    small = draw(turn(47), (128, 64), "1")
    large = draw(turn(47), (128, 128), "1")
    assert large.size == (128, 128)
    assert large.crop((0, 32, 128, 96)).tobytes() == small.tobytes()
    assert large.crop((0, 0, 128, 32)).getbbox() is None


def test_a_panel_that_is_too_small_is_refused() -> None:
    with pytest.raises(ValueError, match="96x16"):
        draw(turn(47), (96, 16), "1")


@pytest.mark.parametrize(
    ("seconds", "minutes", "text"),
    [
        (7, False, "7"),
        (59, False, "59"),
        (60, False, "1:00"),
        (7, True, "0:07"),
        (754, False, "12:34"),
        (3723, False, "1:02:03"),
    ],
)
def test_clock_text(seconds: int, minutes: bool, text: str) -> None:
    assert clock_text(seconds, minutes) == text
    assert re.fullmatch(r"[\d:]+", text)


names = st.text(max_size=40)


@settings(max_examples=60)
@given(
    view=st.one_of(
        st.builds(
            TurnView,
            names,
            st.floats(-5, 5000),
            st.sampled_from([0, 60, 3600]),
            st.lists(st.builds(PlayerTiles, names, st.integers(0, 106)), max_size=6).map(tuple),
            st.just(0),
            st.none() | st.integers(0, 106),
            st.none() | st.floats(0, 4000),
            st.booleans(),
        ),
        st.builds(RefusalView, st.text(max_size=200)),
        st.builds(ErrorView, st.text(max_size=200)),
        st.builds(WaitingView, names, st.none() | st.floats(0, 100)),
        st.builds(
            StandingsView,
            st.integers(1, 99),
            st.lists(st.builds(ScoreLine, names, st.integers(-9999, 9999)), min_size=1, max_size=6).map(tuple),
        ),
    ),
    form=st.sampled_from(FORM_MODES),
)
def test_any_names_and_numbers_can_be_drawn(view: View, form: tuple[Form, str]) -> None:
    picture = draw(view, form[0].value, form[1])
    assert (picture.size, picture.mode) == (form[0].value, form[1])
