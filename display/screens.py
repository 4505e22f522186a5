"""`draw`: from a view to a picture. Pure: no clock, no file but the fonts; the same view gives the same pixels.

What must be read across a table is the name and the seconds; the rest is for those who bend forward.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from types import MappingProxyType
from typing import Final, assert_never

from PIL import Image

from display.canvas import Box, Canvas, Form, form_of, name_forms
from display.fonts import printable
from display.lists import Row, draw_lobby, draw_result, draw_rows, draw_standings
from display.views import (
    LAST_SECONDS,
    ErrorView,
    LobbyView,
    NoticeView,
    PausedView,
    PenaltyView,
    RefusalView,
    ResultView,
    StandingsView,
    TurnView,
    View,
    WaitingView,
    is_ending,
    shown_seconds,
)
from display.words import ENGLISH, Words

_HUGE: Final = 96  # more than any panel holds: as large as the box allows
_LOW_PLAYERS: Final = 4  # with more of them there is no room for the pool in a low form
_NAME: Final = MappingProxyType({Form.LOW: 16, Form.TALL: 16, Form.WIDE: 22})  # smaller ones cannot be read from afar


def draw(view: View, size: tuple[int, int], mode: str, words: Words = ENGLISH) -> Image.Image:
    """The picture of a view. `mode`: `1` black and white, `L` grey. A larger panel shows it in its middle."""
    canvas = Canvas(form_of(size), mode, inverse=is_ending(view))
    match view:
        case LobbyView():
            draw_lobby(canvas, view)
        case TurnView():
            _draw_ending(canvas, view, words) if is_ending(view) else _draw_turn(canvas, view, words)
        case PausedView():
            by = words.paused_by.format(view.by) if view.by else ""
            _draw_headline(canvas, view, by, words.paused, pause_sign=True)
        case WaitingView():
            _draw_headline(canvas, view, words.waiting, view.name)
        case RefusalView():
            _draw_message(canvas, words.refused, view.reason, _cross)
        case PenaltyView():
            _draw_penalty(canvas, view, words)
        case ResultView():
            draw_result(canvas, view, words)
        case StandingsView():
            draw_standings(canvas, view, words)
        case NoticeView():
            _draw_notice(canvas, view)
        case ErrorView():
            _draw_message(canvas, words.error, view.text, _triangle)
        case _:
            assert_never(view)
    return _centred(canvas.image(), size, canvas.paper)


def _centred(picture: Image.Image, size: tuple[int, int], paper: int) -> Image.Image:
    if picture.size == size:
        return picture
    whole = Image.new(picture.mode, size, paper)
    whole.paste(picture, ((size[0] - picture.width) // 2, (size[1] - picture.height) // 2))
    return whole


def clock_text(seconds: int, minutes: bool = False) -> str:
    """`47`, `1:47` or `1:02:03`; with `minutes` always at least those: `0:47`."""
    if seconds < 60 and not minutes:
        return str(seconds)
    hours, rest = divmod(seconds, 3600)
    if hours:
        return f"{hours}:{rest // 60:02}:{rest % 60:02}"
    return f"{rest // 60}:{rest % 60:02}"


def _draw_turn(canvas: Canvas, view: TurnView, words: Words) -> None:
    area = canvas.area
    seconds = shown_seconds(view)
    assert seconds is not None
    match canvas.form:
        case Form.LOW:
            upper, bar = area.split_y(29)
            left, clock = upper.split_x(76, 3)
            name, rows = left.split_y(17, 1)
            tag, clock = rows, clock._replace(bottom=28)
        case Form.TALL:
            upper, bar = area.split_y(60)
            name, lower = upper.split_y(18, 3)
            rows, clock = lower._replace(bottom=58).split_x(45, 2)
            tag = name
        case Form.WIDE:
            upper, bar = area.split_y(59)
            left, clock = upper._replace(bottom=57).split_x(136, 4)
            name, rows = left.split_y(27, 3)
            tag = name
    tag = tag._replace(right=tag.right - _draw_tag(canvas, tag, view, words))
    name, rows = (name, tag) if canvas.form is Form.LOW else (tag, rows)
    canvas.line(name, view.name, 28, easy=_NAME[canvas.form])
    _draw_clock(canvas, clock, clock_text(seconds, minutes=not view.turn_s), "r")
    _draw_players(canvas, rows, view, words)
    if view.turn_s:
        canvas.bar(bar, view.clock_s / view.turn_s)


def _draw_clock(canvas: Canvas, box: Box, text: str, align: str) -> None:
    """Digits as large as any of the same number would be, so that they neither grow nor move."""
    canvas.line(box, text, _HUGE, align=align, like=re.sub(r"\d", "8", text))


def _draw_tag(canvas: Canvas, box: Box, view: TurnView, words: Words) -> int:
    """The tiles of the pool or the time besides, at the right end of the box; gives the columns it takes."""
    size = 12 if canvas.form is Form.LOW else 14
    style = canvas.face(size)
    if view.on_bank or view.bank_s is not None:
        text = words.bank if view.on_bank else f"+{clock_text(max(0, int(view.bank_s or 0)), minutes=True)}"
        width = style.width(text) + 4
        spot = Box(box.right - width, box.top + 1, box.right, min(box.bottom, box.top + 15))
        if view.on_bank:
            canvas.fill(spot)
        canvas.line(
            spot._replace(left=spot.left + 2, right=spot.right - 2),
            text,
            size,
            colour=canvas.paper if view.on_bank else None,
        )
        return width + 3
    if view.pool is None or (canvas.form is Form.LOW and len(view.players) > _LOW_PLAYERS):
        return 0
    text = str(view.pool)
    width = style.width(text)
    spot = Box(box.right - width, box.top, box.right, min(box.bottom, box.top + 15))
    canvas.line(spot, text, size, align="r")
    _pile(canvas, spot.left - 12, spot.top, 9 if canvas.form is Form.LOW else 12)
    return width + 16


def _draw_players(canvas: Canvas, box: Box, view: TurnView, words: Words) -> None:
    """Everybody's tiles; where nobody counts them, whose turn is next."""
    if not view.players:
        return None
    if any(player.tiles is None for player in view.players):
        name = view.players[(view.turn + 1) % len(view.players)].name
        template = "\u203a {}" if canvas.form is Form.LOW else words.next_player
        return canvas.paragraph(box, template.format(printable(name)), 16, bold=False)
    count = len(view.players)
    columns = {Form.LOW: count, Form.TALL: 1 if count <= 4 else 2, Form.WIDE: 2}[canvas.form]
    rows = [Row(player.name, str(player.tiles), place == view.turn) for place, player in enumerate(view.players)]
    draw_rows(canvas, box, rows, columns, 16)
    return None


def _draw_ending(canvas: Canvas, view: TurnView, words: Words) -> None:
    """The last seconds: all in inverse, nothing but who and how many."""
    area = canvas.area
    seconds = shown_seconds(view)
    match canvas.form:
        case Form.LOW:
            upper, bar = area.split_y(29)
            name, clock = upper._replace(bottom=28).split_x(72, 4)
        case Form.TALL:
            upper, bar = area.split_y(60)
            name, clock = upper._replace(bottom=59).split_y(18, 2)
        case Form.WIDE:
            upper, bar = area.split_y(59)
            name, clock = upper._replace(bottom=58).split_x(142, 6)
    canvas.line(name, view.name, 36, easy=_NAME[canvas.form], align="m" if canvas.form is Form.TALL else "l")
    align = "m" if canvas.form is Form.TALL else "r"
    if seconds:
        _draw_clock(canvas, clock, str(seconds), align)
    else:
        canvas.line(clock, words.time_up, _HUGE, align=align)
    canvas.bar(bar, view.clock_s / min(LAST_SECONDS, view.turn_s))


def _draw_headline(
    canvas: Canvas, view: PausedView | WaitingView, label: str, title: str, *, pause_sign: bool = False
) -> None:
    """A small line, a large one, and what is left."""
    area = canvas.area
    seconds = shown_seconds(view)
    easy = _NAME[canvas.form] if isinstance(view, WaitingView) else 10
    if seconds is not None:
        if canvas.form is Form.TALL:
            area, clock = area.split_y(42, 3)
        else:
            area, clock = area.split_x(canvas.form.value[0] * 21 // 32, 4)
        _draw_clock(canvas, clock, clock_text(seconds, minutes=True), "r")
    if label:
        above, area = area.split_y(area.top + {Form.LOW: 11, Form.TALL: 14, Form.WIDE: 20}[canvas.form], 1)
        canvas.line(above, label, 20, bold=False, colour=canvas.dim)
    if pause_sign:
        wide = min(8, area.height // 4)
        for left in (area.left + 1, area.left + 1 + wide * 2):
            canvas.fill(Box(left, area.top + area.height // 8, left + wide, area.bottom - area.height // 8))
        area = area._replace(left=area.left + wide * 4)
    canvas.line(area, title, 44, easy=easy)


def _draw_notice(canvas: Canvas, view: NoticeView) -> None:
    if not view.text:
        return canvas.paragraph(canvas.area, view.title, 34, align="m")
    edge = {Form.LOW: 15, Form.TALL: 24, Form.WIDE: 28}[canvas.form]
    head, body = canvas.area.split_y(edge, 1)
    canvas.line(head, view.title, 30)
    return canvas.paragraph(body, view.text, 18, bold=False)


def _draw_message(canvas: Canvas, title: str, text: str, sign: Callable[[Canvas, Box], None]) -> None:
    """A sign or a title, and a sentence in as many lines as it needs."""
    if canvas.form is Form.LOW:
        mark, body = canvas.area.split_x(25, 4)
        sign(canvas, mark._replace(top=4, bottom=28))
    else:
        head, body = canvas.area.split_y(17, 2)
        canvas.strip(head, title)
    canvas.paragraph(body, text, 24)


def _draw_penalty(canvas: Canvas, view: PenaltyView, words: Words) -> None:
    area = canvas.area
    if canvas.form is Form.LOW:
        count, right = area.split_x(44, 5)
        head, body = right.split_y(12) if view.reason else (right, right)
        canvas.line(head, view.name, 20)
    else:
        head, lower = area.split_y(19, 3)
        told = name_forms(f"{{}} {words.draws.format(view.tiles)}", view.name)
        canvas.strip(head, told[0], told[1:])
        count, body = lower.split_x(70 if canvas.form is Form.TALL else 100, 6) if view.reason else (lower, lower)
    canvas.line(count, f"+{view.tiles}", 60, align="m")
    if view.reason:
        canvas.paragraph(body, view.reason, 20, bold=False)


def _pile(canvas: Canvas, left: int, top: int, tall: int) -> None:
    """A sign for the pool: tiles on each other."""
    canvas.draw.line([(left + 3, top), (left + 9, top), (left + 9, top + tall - 4)], canvas.dim)
    canvas.draw.rectangle((left, top + 2, left + 7, top + tall - 1), canvas.paper, canvas.ink)


def _cross(canvas: Canvas, box: Box) -> None:
    """A sign for no."""
    side = min(box.width, box.height) - 1
    left, top = box.left + (box.width - side) // 2, box.top + (box.height - side) // 2
    canvas.draw.ellipse((left, top, left + side, top + side), fill=canvas.ink)
    inset = side * 3 // 10
    for start, end in ((left + inset, left + side - inset), (left + side - inset, left + inset)):
        canvas.draw.line([(start, top + inset), (end, top + side - inset)], canvas.paper, width=3)


def _triangle(canvas: Canvas, box: Box) -> None:
    """A sign for something wrong."""
    middle = (box.left + box.right - 1) // 2
    canvas.draw.polygon(
        [(middle, box.top), (box.right - 1, box.bottom - 1), (box.left, box.bottom - 1)], fill=canvas.ink
    )
    canvas.fill(Box(middle - 1, box.top + 9, middle + 2, box.bottom - 8), canvas.paper)
    canvas.fill(Box(middle - 1, box.bottom - 6, middle + 2, box.bottom - 3), canvas.paper)
