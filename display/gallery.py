"""`python -m display.gallery docs/img/oled`: one picture of each screen in each size, made by the program itself."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Final

from PIL import Image

from display.canvas import Form
from display.screens import draw
from display.views import (
    ErrorView,
    LobbyView,
    NoticeView,
    PausedView,
    PenaltyView,
    PlayerTiles,
    RefusalView,
    ResultView,
    ScoreLine,
    StandingsView,
    TurnView,
    View,
    WaitingView,
)

ENLARGED: Final = 3  # pixels of a picture for one of the panel
FORMS: Final = MappingProxyType({Form.TALL: "1", Form.LOW: "1", Form.WIDE: "L"})
_PLAYERS: Final = tuple(
    PlayerTiles(name, tiles) for name, tiles in (("Ana", 14), ("Åse", 7), ("José", 12), ("Väinö", 3))
)
_SIX: Final = (
    PlayerTiles("María Fernanda Gutiérrez", 14),
    *_PLAYERS[1:],
    PlayerTiles("Begoña", 5),
    PlayerTiles("João", 6),
)
_NAMES: Final = tuple(player.name for player in _PLAYERS)
EXAMPLES: Final[MappingProxyType[str, View]] = MappingProxyType(
    {
        "lobby": LobbyView("Kitchen", ("ladder", "orbit", "velvet", "camel"), _NAMES),
        "lobby-open": LobbyView("Kitchen", (), _NAMES[:2]),
        "turn": TurnView("Åse", 46.3, 60, _PLAYERS, 1, 38),
        "turn-minutes": TurnView("Väinö", 107, 120, _PLAYERS, 3, 9),
        "turn-six": TurnView("María Fernanda Gutiérrez", 33, 60, _SIX, 0, 12),
        "turn-no-limit": TurnView("José", 192, 0, _PLAYERS, 2, 21),
        "turn-bank": TurnView("Ana", 25, 60, tuple(PlayerTiles(name, None) for name in _NAMES), 0, None, 150),
        "turn-on-bank": TurnView(
            "Ana", 134, 150, tuple(PlayerTiles(name, None) for name in _NAMES), 0, None, 134, True
        ),
        "last-seconds": TurnView("Åse", 6.5, 60, _PLAYERS, 1, 38),
        "time-up": TurnView("Åse", 0, 60, _PLAYERS, 1, 38),
        "paused": PausedView("Ana", 42),
        "waiting": WaitingView("Väinö", 37),
        "refusal": RefusalView("It is Åse's turn: only she can end it."),
        "penalty": PenaltyView("José", 3, "The time was up, the table not right."),
        "result": ResultView(
            2, tuple(ScoreLine(name, points) for name, points in zip(_NAMES, (-31, 74, -12, -31), strict=True)), (1,)
        ),
        "standings": StandingsView(
            3, tuple(ScoreLine(name, points) for name, points in zip(_NAMES, (112, 58, -7, -163), strict=True))
        ),
        "series": StandingsView(
            5,
            tuple(
                ScoreLine(player.name, points)
                for player, points in zip(_SIX, (208, 141, 12, -36, -90, -235), strict=True)
            ),
            over=True,
        ),
        "notice": NoticeView("Dealing", "Everybody shuffles; 3 of 4 are done."),
        "error": ErrorView("No node on this machine. Is rummesh running?"),
    }
)


def pictures() -> Iterator[tuple[str, Image.Image]]:
    """File name and enlarged picture of each screen in each form."""
    for form, mode in FORMS.items():
        width, height = form.value
        for name, view in EXAMPLES.items():
            picture = draw(view, form.value, mode)
            yield f"{name}-{width}x{height}.png", picture.resize((width * ENLARGED, height * ENLARGED), 0)


def main(folder: Path) -> int:
    """Writes all pictures, and removes those of screens that are no more; gives their number."""
    folder.mkdir(parents=True, exist_ok=True)
    made = dict(pictures())
    for name, picture in made.items():
        picture.save(folder / name, optimize=True)
    for path in folder.glob("*-*x*.png"):
        if path.name not in made:
            path.unlink()
    return len(made)


if __name__ == "__main__":
    print(f"{main(Path(sys.argv[1]))} pictures in {sys.argv[1]}")
