"""What a press of the table device does at the node of the player whose turn it is: the same as its own click."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from engine.errors import IllegalMove
from node.app import Node, NodeError
from node.web.commands import PageRefusal
from protocol.errors import LocalProtocolError
from protocol.events import Event, Pressed
from protocol.messages import Button, RequestKind


class PressHandler:
    """Lets `click` do what each press asks for, and tells the device what has become of it.

    `click` refuses by an exception with a sentence for the player: `IllegalMove`, `PageRefusal`, `NodeError`, or
    `LocalProtocolError`.
    """

    def __init__(self, node: Node, click: Callable[[Pressed], None]) -> None:
        self._node = node
        self._click = click
        node.listen(self._hear)

    def _hear(self, event: Event) -> None:
        if isinstance(event, Pressed):  # in the midst of an input: what follows from it is an input of its own
            asyncio.get_running_loop().call_soon(self._do, event)

    def _do(self, pressed: Pressed) -> None:
        refused = refusal_of(lambda: self._click(pressed))
        if self._node.session is not None:
            self._node.do(lambda session, _now_s: session.answer_press(pressed.press, refused))


def request_of(button: Button, *, paused: bool) -> RequestKind | None:
    """What a press asks of the whole table, None if it is about the turn: a pause, or in a pause the way out of it."""
    if button is Button.PAUSE:
        return RequestKind.PAUSE
    return RequestKind.RESUME if paused and button is Button.END_TURN else None


def refusal_of(click: Callable[[], None]) -> str | None:
    """Does what a click does; None if it was done, else why not, in a sentence for the player."""
    try:
        click()
    except IllegalMove as move:
        return " ".join(fault.sentence for fault in move.faults)
    except PageRefusal as refusal:
        return refusal.sentence
    except NodeError as error:
        return str(error)
    except LocalProtocolError as error:
        return f"That is not possible now: {error}."
    return None
