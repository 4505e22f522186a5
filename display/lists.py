"""Screens that list players: the lobby, the result of a game, the standings of a series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from display.canvas import Box, Canvas, Form, name_forms, told_apart
from display.fonts import printable
from display.views import LobbyView, ResultView, StandingsView
from display.words import Words

_MINUS: Final = "\u2212"
_EASY: Final = 12  # names are shortened rather than drawn smaller than this


class Row(NamedTuple):
    """A line of a list; a marked one is shown in inverse."""

    label: str
    value: str
    marked: bool = False
    rank: str = ""


def draw_rows(canvas: Canvas, box: Box, rows: Sequence[Row], columns: int, largest: int) -> None:
    """Rows in columns, values to the right; where a column is too narrow for labels, only the values."""
    deep = -(-len(rows) // columns)
    cells = box.grid(columns, deep)
    width = cells[0].width
    texts = [f"{row.rank} {printable(row.label)} {row.value}" for row in rows]
    size = canvas.largest_for(texts, width - 4, cells[0].height - 3, largest)
    if size < _EASY:
        size = canvas.largest_for([row.value for row in rows], width - 2, cells[0].height - 3, _EASY)
    style = canvas.face(size)
    tall = style.cap_height
    ranks = max(style.width(row.rank) + 3 if row.rank else 0 for row in rows)
    room = width - max(style.width(row.value) for row in rows) - ranks - 4
    labels = told_apart([row.label for row in rows], room, style) if room >= tall else [""] * len(rows)
    for label, row, cell in zip(labels, rows, cells, strict=False):
        baseline = cell.top + (cell.height + tall) // 2
        if row.marked:
            canvas.fill(Box(cell.left, baseline - tall - 1, cell.right, baseline + 1))
        colour = canvas.paper if row.marked else canvas.ink
        if label:
            less = colour if row.marked else canvas.dim
            canvas.put(row.rank, style, cell.left + 1, baseline, less)
            canvas.put(label, style, cell.left + 1 + ranks, baseline, less)
            canvas.put(row.value, style, cell.right - 1, baseline, colour, "r")
        else:
            canvas.put(row.value, style, (cell.left + cell.right) // 2, baseline, colour, "m")


def draw_lobby(canvas: Canvas, view: LobbyView) -> None:
    """The table words as large as they go; the table's name above, the players below."""
    area = canvas.area
    names = ", ".join(printable(name) for name in view.players)
    match canvas.form:
        case Form.LOW:
            title, middle, foot = area._replace(bottom=area.top + 15), area, area._replace(top=19)
            if view.words:
                return _grid_of_words(canvas, middle, view.words)
            canvas.line(title, view.table, 18)
            return canvas.line(foot, names, 12, colour=canvas.dim)
        case Form.TALL:
            title, middle = area.split_y(14)
            middle, foot = middle.split_y(52, 1)
        case Form.WIDE:
            left, middle = area.split_x(104, 8)
            title, foot = left.split_y(26, 4)
    if not view.words:
        canvas.line(title._replace(right=area.right, bottom=max(title.bottom, 30)), view.table, 30)
        return canvas.paragraph(area._replace(top=max(title.bottom, 33)), names, 16, bold=False)
    if canvas.form is Form.TALL:
        canvas.strip(title, view.table)
    else:
        canvas.line(title, view.table, 22)
    _grid_of_words(canvas, middle, view.words)
    if canvas.form is Form.TALL:
        return canvas.line(foot, names, 12, bold=False)
    return canvas.paragraph(foot, names, 14, bold=False)


def _grid_of_words(canvas: Canvas, box: Box, words: Sequence[str]) -> None:
    cells = box.grid(2, -(-len(words) // 2), gap=4)
    words = [printable(word) for word in words]
    style = canvas.face(canvas.largest_for(words, cells[0].width, cells[0].height - 4, 26))
    ordered = [cells[place % 2 * (len(cells) // 2) + place // 2] for place in range(len(words))]
    for word, cell in zip(words, ordered, strict=True):
        canvas.put(word, style, cell.left, cell.top + (cell.height + style.cap_height) // 2)


def draw_result(canvas: Canvas, view: ResultView, words: Words) -> None:
    """Who won this game, and the points of everybody."""
    titles = _won(words.wins, [view.scores[seat].name for seat in view.winners]) or [words.draw_game]
    best_first = sorted(range(len(view.scores)), key=lambda seat: -view.scores[seat].points)
    lines = [(view.scores[seat], seat in view.winners) for seat in best_first]
    _titled_rows(canvas, titles, [Row(line.name, signed(line.points), won) for line, won in lines])


def draw_standings(canvas: Canvas, view: StandingsView, words: Words) -> None:
    """The totals of the series, best first."""
    leaders = view.totals[: view.leaders]
    after = words.after_game if view.games == 1 else words.after_games
    titles = [after.format(view.games)]
    if view.over:
        titles = _won(words.series_won, [line.name for line in leaders])
    rows = [
        Row(line.name, signed(line.points), place < view.leaders, str(_rank(view, place)))
        for place, line in enumerate(view.totals)
    ]
    _titled_rows(canvas, titles, rows)


def _won(template: str, names: Sequence[str]) -> list[str]:
    """The title that names the winners, longest first; several are only joined."""
    return name_forms(template, names[0]) if len(names) == 1 else [template.format(" + ".join(names))] if names else []


def _rank(view: StandingsView, place: int) -> int:
    """Equal totals share a rank; those of the first place may be parted by other rules, so they are told."""
    if place < view.leaders:
        return 1
    same = next(index for index, line in enumerate(view.totals) if line.points == view.totals[place].points)
    return max(same, view.leaders) + 1


def _titled_rows(canvas: Canvas, titles: Sequence[str], rows: Sequence[Row]) -> None:
    edge, columns, largest = {
        Form.LOW: (11, -(-len(rows) // 2), 12),
        Form.TALL: (17, 1 if len(rows) <= 4 else 2, 16),
        Form.WIDE: (21, 1 if len(rows) <= 2 else 2, 20),
    }[canvas.form]
    head, body = canvas.area.split_y(edge, 1)
    canvas.strip(head, titles[0], titles[1:])
    if rows:
        draw_rows(canvas, body, rows, columns, largest)


def signed(points: int) -> str:
    """Points with their sign, 0 without."""
    return f"{'+' if points > 0 else _MINUS if points < 0 else ''}{abs(points)}"
