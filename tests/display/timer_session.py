"""A scripted session of three players at the stand-alone timer, as in the README.

`python -m tests.display.timer_session docs/img/timer.gif` makes its picture: the real timer, file and panel, presses
from the edges of contacts, on a clock of its own. The power cut is what a power cut is: only the file is left.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Final

from PIL import Image

from display.backends.files import FilesPanel
from display.buttons import ScriptLine, parse_script
from display.presses import Debouncer, PressTimes
from display.screens import draw
from display.timer import Timer
from display.timerstate import Setup
from display.views import View, changes_in_s
from engine.rulesets import PT
from node.houserules import with_turn_seconds
from node.timerfile import read, standings_of, write

SETUP: Final = Setup(("Ana", "Åse", "José"), with_turn_seconds(PT, 15), 15, bank_s=4)
BUTTONS: Final = ("end", "pause")
CUT_S: Final = 21.0
BEFORE_THE_CUT: Final = """
 2.0 end tap     # Ana begins
 5.0 end tap
 6.0 end tap     # by accident
 7.0 end hold    # taken back: it is Åse's turn again
10.0 pause tap
12.0 pause tap
14.0 end tap
15.5 pause hold  # José has one more turn limit, once in a game
19.0 end tap
"""
AFTER_THE_CUT: Final = """
25.0 end tap     # Ana goes on with what she had
27.5 end tap
29.0 pause tap
30.5 pause hold  # Åse is skipped; José thinks for too long
56.0 end tap
59.0 end down    # both at once: Ana calls Rummikub
59.05 pause down
59.2 end up
59.2 pause up
"""
POINTS: Final = (57, 31)
ENDS_S: Final = 76.0
SCORES: Final = (88, -57, -31)


def entering(points: tuple[int, ...], from_s: float, step_s: float = 0.4) -> str:
    """The presses that enter points, tens and ones and then a hold; at the end the next screen."""
    lines = []
    for number in points:
        for button in ["end"] * (number // 10) + ["pause"] * (number % 10):
            lines.append(f"{from_s:.2f} {button} tap")
            from_s += step_s
        lines.append(f"{from_s:.2f} end hold")
        from_s += 2.0
    return "\n".join([*lines, f"{from_s + 1:.2f} end tap"])


class Stage:
    """One life of the timer, from power on to power off."""

    def __init__(self, file: Path, panel: FilesPanel, clock: list[float]) -> None:
        stored = read(file)
        self._file = file
        self._panel = panel
        self._clock = clock
        self._timer = Timer(SETUP, standings_of(SETUP), clock[0], None if stored is None else stored.record)
        self._debouncer = Debouncer([(name, False) for name in BUTTONS], clock[0])
        self._shown: View | None = None

    def play(self, script: list[ScriptLine], until_s: float) -> None:
        """Presses and shows; after each press the file is written."""
        edges = sorted(edge for line in script for edge in _edges(line))
        self._show()
        while (now_s := min(until_s, self._next_s(edges))) < until_s:
            self._clock[0] = now_s
            while edges and edges[0][0] <= now_s:
                _at_s, name, closed = edges.pop(0)
                self._debouncer.edge(name, closed, now_s)
            for press in self._debouncer.advance(now_s):
                if self._timer.press(press, now_s):
                    write(self._file, SETUP, self._timer.record(now_s))
            self._show()
        self._clock[0] = until_s

    def _next_s(self, edges: list[tuple[float, str, bool]]) -> float:
        now_s = self._clock[0]
        step_s = changes_in_s(self._timer.view(now_s))
        times_s = [self._debouncer.next_deadline_s(), self._timer.next_change_s(now_s)]
        times_s += [edges[0][0] if edges else None, None if step_s is None else now_s + step_s + 1e-6]
        return min((time_s for time_s in times_s if time_s is not None), default=1e9)

    def _show(self) -> None:
        view = self._timer.view(self._clock[0])
        picture = draw(view, self._panel.size, self._panel.mode)
        if not self._panel.pictures or picture.tobytes() != self._panel.pictures[-1].tobytes():
            self._panel.show(picture)


def _edges(line: ScriptLine) -> list[tuple[float, str, bool]]:
    closing, opening = (line.at_s, line.button, True), (line.at_s, line.button, False)
    after_s = PressTimes().hold_s + 0.1 if line.action == "hold" else 0.08
    return {"down": [closing], "up": [opening]}.get(line.action, [closing, (line.at_s + after_s, line.button, False)])


def run(folder: Path) -> Path:
    """Plays the session with its files in `folder`; gives the GIF. `timer.json` beside it has the scores."""
    clock = [0.0]
    panel = FilesPanel(folder / "pictures", enlarged=3, clock=lambda: clock[0])
    file = folder / "timer.json"
    Stage(file, panel, clock).play(parse_script(BEFORE_THE_CUT, BUTTONS), CUT_S)
    panel.show(Image.new(panel.mode, panel.size))
    clock[0] += 1.5
    Stage(file, panel, clock).play(parse_script(AFTER_THE_CUT + entering(POINTS, 61.0), BUTTONS), ENDS_S)
    panel.close()
    return folder / "pictures" / "display.gif"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        Path(sys.argv[1]).write_bytes(run(Path(made)).read_bytes())
