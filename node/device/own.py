"""The display of one player, at that player's own node: its buttons are the player's own, and nobody else's."""

from __future__ import annotations

from display.presses import Press
from display.views import NoticeView, View
from node.app import Node
from node.desk import NodeDesk
from node.device.buttons import meaning
from node.device.screen import TableScreen
from protocol.messages import Button


class OwnDisplay:
    """Shows the table of a player's node; `press` does what the player's click would."""

    def __init__(self, node: Node, desk: NodeDesk) -> None:
        self._desk = desk
        self.screen = TableScreen(node, _elsewhere)

    def press(self, press: Press) -> None:
        """The display's buttons do something."""
        meant = meaning(press)
        refused = self._desk.press(meant) if isinstance(meant, Button) else meant
        if refused is not None:
            self.screen.refuse(refused)
        elif isinstance(meant, Button):
            self.screen.accept()

    def stop(self) -> None:
        """No more."""
        self.screen.stop()


def _elsewhere() -> View:
    return NoticeView("Rummesh", "Choose a table on your page.")
