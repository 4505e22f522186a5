"""When to give up: one place that all parts of the solver ask."""

from __future__ import annotations

from typing import Final

from engine.solver.solution import Stop

_STEPS: Final = 8  # of work between two looks at `stop`


class Patience:
    """Looks at `stop` once in so many steps of work, each some microseconds, from the first one on.

    Once it has ended it stays so, and `stop` is not asked again.
    """

    def __init__(self, stop: Stop | None) -> None:
        self.ended = False
        self.endless = stop is None
        self._stop = stop
        self._steps = 0

    def ends(self) -> bool:
        """Whether to do no further step."""
        if self._stop is not None and not self.ended:
            if self._steps % _STEPS == 0:
                self.ended = self._stop()
            self._steps += 1
        return self.ended
