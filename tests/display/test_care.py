from __future__ import annotations

import itertools

import pytest
from PIL import Image, ImageChops

from display.canvas import MARGIN_X, MARGIN_Y, Form
from display.care import Care, CareOptions, shifted
from display.gallery import EXAMPLES, FORMS
from display.screens import draw
from display.views import LobbyView, NoticeView, TurnView

OPTIONS = CareOptions(contrast=160, dim_contrast=16, dim_after_s=100, blank_after_s=500, shift_every_s=60)
LOBBY = LobbyView("Kitchen", (), ("Ana",))
NOON = 12


def test_a_panel_where_nothing_happens_is_dim_and_then_dark() -> None:
    care = Care(OPTIONS, 0)
    looks = [care.look(LOBBY, now_s, NOON)[:2] for now_s in (0, 99, 100, 499, 500, 5000)]
    assert looks == [(160, True), (160, True), (16, True), (16, True), (16, False), (16, False)]


def test_a_press_or_something_new_makes_it_bright_again() -> None:
    care = Care(OPTIONS, 0)
    care.look(LOBBY, 0, NOON)
    assert care.look(LOBBY, 600, NOON).lit is False
    care.touched(1200)
    assert care.look(LOBBY, 1201, NOON)[:2] == (160, True)
    assert care.look(LOBBY, 1301, NOON)[:2] == (16, True)
    assert care.look(NoticeView("new"), 1302, NOON)[:2] == (160, True)


def test_time_alone_is_nothing_that_happens_but_a_running_clock_is_never_dark() -> None:
    care = Care(OPTIONS, 0)
    care.look(TurnView("Ana", 3000, 3000), 0, NOON)
    assert care.look(TurnView("Ana", 2400, 3000), 600, NOON)[:2] == (16, True)
    assert care.look(TurnView("Ana", 0, 3000), 3000, NOON).lit is False
    counting_up = Care(OPTIONS, 0)
    counting_up.look(TurnView("Ana", 0, 0), 0, NOON)
    assert counting_up.look(TurnView("Ana", 600, 0), 600, NOON).lit is False


@pytest.mark.parametrize(("hour", "contrast"), [(21, 160), (22, 40), (3, 40), (6, 40), (7, 160)])
def test_at_night_it_is_less_bright(hour: int, contrast: int) -> None:
    care = Care(CareOptions(night_from_h=22, night_to_h=7, night_contrast=40), 0)
    assert care.look(LOBBY, 1, hour).contrast == contrast


def test_the_look_stays_until_it_is_said_to_change() -> None:
    care = Care(OPTIONS, 0)
    now_s = 0.0
    changes = []
    while now_s < 700:
        look = care.look(LOBBY, now_s, NOON)
        due_s = care.next_change_s(now_s)
        assert due_s is not None
        assert care.look(LOBBY, due_s - 0.01, NOON) == look
        now_s = due_s
        changes.append(due_s)
    assert changes == sorted({*range(60, 781, 60), 100, 500})[: len(changes)]


def test_with_everything_switched_off_nothing_is_due() -> None:
    care = Care(CareOptions(dim_after_s=0, blank_after_s=0, shift_every_s=0), 0)
    assert care.look(LOBBY, 1e6, NOON) == (160, True, (0, 0))
    assert care.next_change_s(1e6) is None


def test_the_picture_moves_by_a_pixel_at_a_time_and_comes_back() -> None:
    care = Care(OPTIONS, 0)
    shifts = [care.look(LOBBY, 60.0 * step, NOON).shift for step in range(15)]
    assert shifts[14] == shifts[0] == (0, 0)
    assert len(set(shifts)) == 14
    steps = [abs(one[0] - two[0]) + abs(one[1] - two[1]) for one, two in itertools.pairwise(shifts)]
    assert max(steps[:-1]) == 1


@pytest.mark.parametrize("shift", [(2, 1), (-2, -1), (1, 0), (0, -1)])
@pytest.mark.parametrize("form", FORMS)
def test_a_moved_picture_is_whole(shift: tuple[int, int], form: Form) -> None:
    """All but the margins is there, further to the right and down, and at the edges no letter is drawn longer."""
    width, height = form.value
    dx, dy = shift
    inside = (MARGIN_X, MARGIN_Y, width - MARGIN_X, height - MARGIN_Y)
    for name, view in EXAMPLES.items():
        picture = draw(view, form.value, FORMS[form])
        moved = shifted(picture, shift)
        there = moved.crop((inside[0] + dx, inside[1] + dy, inside[2] + dx, inside[3] + dy))
        assert there.tobytes() == picture.crop(inside).tobytes(), name
        if dy < 0:
            freed = moved.crop((0, height - MARGIN_Y + dy, width, height)).convert("L")
            assert len(set(freed.tobytes())) == 1, name


def test_what_gets_free_has_the_colour_of_the_edge() -> None:
    inverse = draw(TurnView("Ana", 5, 60), (128, 64), "1")
    moved = shifted(inverse, (2, 1)).convert("L")
    assert {moved.getpixel((0, y)) for y in range(64)} == {255}
    expected = ImageChops.offset(inverse, 2, 1).crop((2, 1, 128, 64))
    assert moved.crop((2, 1, 128, 64)).tobytes() == expected.convert("L").tobytes()
    assert isinstance(moved, Image.Image)


def test_wrong_options_are_refused() -> None:
    with pytest.raises(ValueError, match="255"):
        CareOptions(contrast=300)
    with pytest.raises(ValueError, match="24"):
        CareOptions(night_from_h=25)
