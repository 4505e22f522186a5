"""What the presses of a display's buttons mean."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from display.presses import Kind, Press
from protocol.messages import Button

BUTTONS: Final = ("end", "rummikub", "pause")
KEYS: Final = MappingProxyType({"e": "end", "r": "rummikub", "p": "pause"})  # of a terminal
HOLD_S: Final = 2.0
NAMES: Final = MappingProxyType({"end": "End turn", "rummikub": "Rummikub", "pause": "Pause"})
_TAPS: Final = MappingProxyType(
    {"end": Button.END_TURN, "rummikub": Button.RUMMIKUB, "pause": Button.PAUSE},
)


def meaning(press: Press) -> Button | str | None:
    """The button that is meant, or in a sentence why none is; None where there is nothing to say."""
    match press.kind:
        case Kind.TAPPED:
            return _TAPS[press.button]
        case Kind.HELD:
            if press.button == "rummikub":
                return "Rummikub was held, not pressed: nothing was done."
            return Button.PAUSE
        case Kind.BOTH:
            return "Two buttons at once: nothing was done."
        case Kind.STUCK:
            return f"The button {NAMES[press.button]} is stuck. The others work."
        case Kind.PRESSED | Kind.RELEASED:
            return None
