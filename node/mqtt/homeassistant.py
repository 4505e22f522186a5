"""How Home Assistant finds a table: one message that describes it as a device with sensors and, perhaps, buttons.

Source: the documentation of Home Assistant, "MQTT", section "Device discovery payload", and "MQTT Sensor" and "MQTT
Button". A null of ours renders as `None`, which makes a sensor unknown.
"""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Collection
from typing import Any, Final

from engine.state import Phase
from node.mqtt.payloads import OFFLINE, ONLINE
from node.mqtt.topics import Topics

MAX_SEATS: Final = 6
PHASES: Final = ("lobby", *(phase.value for phase in Phase), "paused", "void")
BUTTONS: Final = {  # by command: name and icon
    "end_turn": ("End turn", "mdi:skip-next"),
    "rummikub": ("Rummikub", "mdi:trophy"),
    "pause": ("Pause", "mdi:pause"),
}


def status_topic(discovery: str) -> str:
    """Where Home Assistant says `online` when it has started; then it wants to be told again."""
    return f"{discovery}/status"


def user_of_buttons(users: Collection[str]) -> str | None:
    """Of the users whose presses count the one for whom the buttons are: `homeassistant` if it is one of them."""
    return "homeassistant" if "homeassistant" in users else min(users, default=None)


def discovery_topic(discovery: str, topics: Topics) -> str:
    """Where the message goes, retained. An empty one makes Home Assistant forget the table."""
    return f"{discovery}/device/{_device_id(topics)}/config"


def discovery_message(
    discovery: str, topics: Topics, state: dict[str, Any], user: str | None
) -> tuple[str, dict[str, Any]]:
    """Topic and message for a table that shows `state`, a message of its state topic.

    `user`: the broker's user whose presses count, as which Home Assistant must be connected; None for no buttons. What
    has no use now, such as an empty seat, is named by its platform alone: so Home Assistant removes what another
    publisher may have told it of.
    """
    device, version = _device_id(topics), importlib.metadata.version("rummesh")
    components = {**_sensors(topics), **_seats(topics, device, state["seats"]), **_buttons(topics, user)}
    for what, component in components.items():
        if len(component) > 1:
            component["unique_id"] = f"{device}_{what}"
    message = {
        "device": {
            "identifiers": [device],
            "name": f"Rummesh {state['name']}",
            "manufacturer": "Rummesh",
            "model": "Table",
            "sw_version": version,
        },
        "origin": {"name": "Rummesh", "sw_version": version},
        "availability": [{"topic": topics.availability}],
        "qos": 1,
        "components": components,
    }
    return discovery_topic(discovery, topics), message


def _device_id(topics: Topics) -> str:
    return re.sub(r"[^a-zA-Z0-9_-]", "_", f"{topics.prefix}_{topics.table}")


def _sensor(name: str, icon: str, topic: str, value: str, **more: Any) -> dict[str, Any]:
    template = f"{{{{ {value} }}}}"
    return {
        "platform": "sensor",
        "name": name,
        "icon": icon,
        "state_topic": topic,
        "value_template": template,
        **more,
    }


def _sensors(topics: Topics) -> dict[str, dict[str, Any]]:
    """A value is rendered when a message comes and not every second, so what counts down is the end of the turn."""
    state, clock = topics.state, topics.clock
    phase = "'paused' if value_json.paused else value_json.phase"
    ends = "value_json.deadline | timestamp_utc if value_json.deadline is not none else none"
    return {
        "turn": _sensor("Turn", "mdi:account-clock", state, "value_json.turn_name"),
        "turn_ends": _sensor("Turn ends", "mdi:timer-sand", clock, ends, device_class="timestamp"),
        "time_left": _sensor(
            "Time left at the last change",
            "mdi:timer-outline",
            clock,
            "value_json.remaining_s",
            device_class="duration",
            unit_of_measurement="s",
            suggested_display_precision=0,
        ),
        "phase": _sensor("Phase", "mdi:state-machine", state, phase, device_class="enum", options=list(PHASES)),
        "pool": _sensor("Pool", "mdi:archive", state, "value_json.pool", unit_of_measurement="tiles"),
    }


def _seats(topics: Topics, device: str, seats: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """What each player still holds; the rest of what is known of a seat as attributes."""
    found: dict[str, dict[str, Any]] = {f"seat_{number}": {"platform": "sensor"} for number in range(1, MAX_SEATS + 1)}
    for index, seat in enumerate(seats[:MAX_SEATS]):
        what, there = f"seat_{index + 1}", f"value_json.seats | length > {index}"
        found[what] = _sensor(
            f"Seat {index + 1} {seat['name']}",
            "mdi:cards",
            topics.state,
            f"value_json.seats[{index}].tiles if {there} else none",
            unit_of_measurement="tiles",
            json_attributes_topic=topics.state,
            json_attributes_template=f"{{{{ (value_json.seats[{index}] if {there} else {{}}) | tojson }}}}",
            default_entity_id=f"sensor.{device.lower().replace('-', '_')}_{what}",  # players come and go
        )
    return found


def _buttons(topics: Topics, user: str | None) -> dict[str, dict[str, Any]]:
    """They can be pressed while presses count."""
    if user is None:
        return {what: {"platform": "button"} for what in BUTTONS}
    counts = f"{{{{ '{ONLINE}' if value_json.commands else '{OFFLINE}' }}}}"
    return {
        what: {
            "platform": "button",
            "name": name,
            "icon": icon,
            "command_topic": topics.command(f"{what}/{user}"),
            "payload_press": "PRESS",
            "availability": [{"topic": topics.availability}, {"topic": topics.state, "value_template": counts}],
            "availability_mode": "all",
        }
        for what, (name, icon) in BUTTONS.items()
    }
