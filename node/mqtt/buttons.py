"""The table device that stands for a broker: its presses are the commands that come in there.

It is a node of its own beside the player's, in the roster like every table device, and the players may refuse it in the
lobby. So a command can do no more than a button on the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from node.app import Node
from node.config import NodeSettings
from node.device.table import TableDevice
from node.mqtt.commands import Moment
from protocol.messages import Button
from protocol.roster import device_of

NAME: Final = "MQTT buttons"


class BrokerButtons:
    """The device beside `owner`, whose table it is always at. Implements `roles.Buttons`."""

    def __init__(self, owner: Node) -> None:
        self._owner = owner
        settings: NodeSettings = replace(
            owner.settings,
            name=NAME,
            data=owner.settings.data / "mqtt-buttons",
            port=0,
            bot=False,
            device=True,
            rejoin=True,  # it has signed nothing that it must not contradict
        )
        self.node = Node(settings)
        self._device = TableDevice(self.node, only=self._is_there)

    async def start(self) -> None:
        """Find the owner, which has started, and its table."""
        await self.node.start()
        self.node.add_peer("127.0.0.1", self._owner.port)

    async def stop(self) -> None:
        """No more presses."""
        self._device.stop()
        await self.node.stop()

    def moment(self) -> Moment | None:
        session = self.node.session
        if session is None or session.game is None or session.game.over or not self._is_there(session.table):
            return None
        if device_of(session.game.genesis, self.node.node_id) is None:
            return None
        return Moment(session.table.hex(), session.game.state.game + 1, session.height)

    def counts(self) -> bool:
        session = self._owner.session
        if session is None or session.genesis is not None:
            return self.moment() is not None
        return any(device.node == self.node.node_id and not device.refused_by for device in session.lobby.devices())

    def click(self, button: Button, told: Callable[[str | None], None]) -> None:
        self._device.click(button, told)

    def _is_there(self, table: bytes) -> bool:
        session = self._owner.session
        return session is not None and session.table == table
