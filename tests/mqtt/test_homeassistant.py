"""What Home Assistant is told of a table: as its documentation has it, and with templates that read our messages.

No Home Assistant runs here. The keys are those of its documentation (home-assistant.io, `mqtt.markdown`,
`sensor.mqtt.markdown`, `button.mqtt.markdown`), templates are rendered by Jinja as it does, values judged as its
MQTT sensor does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
from jinja2 import StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from engine.options import RANGES
from node.mqtt.broker import connected
from node.mqtt.commands import BUTTONS, Command, CommandBook, Moment, access_of
from node.mqtt.homeassistant import MAX_SEATS, discovery_message, discovery_topic, status_topic
from node.mqtt.payloads import packed
from node.mqtt.publisher import TablePublisher
from node.mqtt.roles import Publishing
from node.mqtt.topics import Topics
from protocol.events import Event
from protocol.session import Session
from tests.mqtt import games
from tests.mqtt.mosquitto import Collected, Heard, Mosquitto, collect
from tests.node.loops import run

TOPICS: Final = Topics("rummesh", "kitchen")
CAPTURED: Final = Path(__file__).with_name("homeassistant.json")

AVAILABILITY: Final = "availability availability_mode availability_template availability_topic"
PAYLOADS: Final = "payload_available payload_not_available"
ENTITY: Final = (
    f"{AVAILABILITY} {PAYLOADS} default_entity_id device device_class enabled_by_default encoding entity_category "
    "entity_picture icon json_attributes_template json_attributes_topic name qos"
)
DOCUMENTED: Final = {  # keys that are required, and the others
    "message": ("device origin components", f"{AVAILABILITY} {PAYLOADS} state_topic command_topic qos encoding"),
    "device": (
        "identifiers name",
        "configuration_url connections hw_version manufacturer model model_id serial_number suggested_area sw_version "
        "via_device",
    ),
    "origin": ("name", "sw_version support_url"),
    "availability": ("topic", f"{PAYLOADS} value_template"),
    "sensor": (
        "platform unique_id state_topic",
        f"{ENTITY} expire_after force_update last_reset_value_template options state_class "
        "suggested_display_precision unit_of_measurement value_template",
    ),
    "button": ("platform unique_id command_topic", f"{ENTITY} command_template payload_press retain"),
}


def state_at_play(name: str = "pt") -> dict[str, Any]:
    return next(moment.messages.state for moment in games.game(name) if moment.messages.state["turn_number"] == 5)


def message(state: dict[str, Any] | None = None, user: str | None = "homeassistant") -> dict[str, Any]:
    return discovery_message("homeassistant", TOPICS, state or state_at_play(), user)[1]


def components(user: str | None = "homeassistant") -> dict[str, dict[str, Any]]:
    """Those that are not removed."""
    return {what: component for what, component in message(user=user)["components"].items() if len(component) > 1}


# The form


def check_keys(kind: str, found: dict[str, Any]) -> None:
    required, others = (set(keys.split()) for keys in DOCUMENTED[kind])
    assert required <= found.keys() <= required | others, kind


def check_availability(found: dict[str, Any]) -> None:
    assert not {"availability", "availability_topic"} <= found.keys(), "they exclude each other"
    for item in found.get("availability", ()):
        check_keys("availability", item)
    assert found.get("availability_mode", "latest") in ("all", "any", "latest")


def check_message(found: dict[str, Any]) -> None:
    """As the documentation wants a device discovery payload."""
    check_keys("message", found)
    check_keys("device", found["device"])
    check_keys("origin", found["origin"])
    check_availability(found)
    for what, component in found["components"].items():
        assert re.fullmatch(r"[a-zA-Z0-9_-]+", what)
        if component.keys() == {"platform"}:
            continue
        check_keys(component["platform"], component)
        check_availability(component)
        assert "availability_topic" not in found, "a component with a list of its own would then have both"
        if "options" in component:
            assert component["device_class"] == "enum"
            assert not {"state_class", "unit_of_measurement"} & component.keys()
    ids = [component["unique_id"] for component in found["components"].values() if "unique_id" in component]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("user", ["homeassistant", None])
@pytest.mark.parametrize("name", ["pt", "es"])
def test_the_message_has_the_documented_keys_and_those_that_are_required(name: str, user: str | None) -> None:
    for moment in games.game(name):
        check_message(message(moment.messages.state, user))


@pytest.mark.parametrize(
    ("where", "key", "value"),
    [
        ((), "origin", None),
        (("device",), "ids", []),
        ((), "availability_topic", "x"),
        (("components", "turn"), "unique_id", None),
        (("components", "turn"), "unit", "s"),
        (("components", "phase"), "device_class", "duration"),
        (("components", "pause"), "command_topic", None),
        (("components", "pause"), "unique_id", "rummesh_kitchen_turn"),
        (("components", "pause"), "availability_mode", "some"),
    ],
)
def test_a_message_that_is_not_as_documented_is_found(where: tuple[str, ...], key: str, value: Any) -> None:
    wrong = message()
    place = wrong
    for level in where:
        place = place[level]
    if value is None:
        del place[key]
    else:
        place[key] = value
    with pytest.raises(AssertionError):
        check_message(wrong)


@pytest.mark.parametrize(
    ("prefix", "device"), [("rummesh", "rummesh_kitchen"), ("home/spiele.1", "home_spiele_1_kitchen")]
)
def test_topic_and_ids_have_only_the_characters_that_are_allowed(prefix: str, device: str) -> None:
    topics = Topics(prefix, "kitchen")
    topic, found = discovery_message("homeassistant", topics, state_at_play(), "ha")
    assert topic == discovery_topic("homeassistant", topics) == f"homeassistant/device/{device}/config"
    assert found["device"]["identifiers"] == [device]
    for what, component in found["components"].items():
        if len(component) > 1:
            assert component["unique_id"] == f"{device}_{what}"
    assert found["components"]["seat_1"]["default_entity_id"] == f"sensor.{device}_seat_1"
    assert status_topic("ha") == "ha/status"


def test_empty_seats_and_buttons_that_nobody_may_press_are_removed() -> None:
    three = {what for what in components() if what.startswith("seat_")}
    assert three == {"seat_1", "seat_2", "seat_3"}
    found = message(user=None)["components"]
    assert [found[f"seat_{number}"] for number in (4, 5, 6)] == [{"platform": "sensor"}] * 3
    assert [found[what] for what in BUTTONS] == [{"platform": "button"}] * 3
    assert RANGES["max_seats"][1] == MAX_SEATS


def test_only_a_change_of_names_changes_the_message() -> None:
    """It is published anew only when it differs."""
    moments = [moment for moment in games.game("pt") if moment.state is not None]
    assert len({packed(message(moment.messages.state)) for moment in moments}) == 1
    seats = [dict(seat) for seat in state_at_play()["seats"]]
    seats[1]["name"] = "Åse"
    assert message({**state_at_play(), "seats": seats})["components"]["seat_2"]["name"] == "Seat 2 Åse"


# What the templates make of our messages


def timestamp_utc(value: float) -> str:
    """As the filter of that name is documented, and in its source: ISO 8601 with its zone."""
    return datetime.fromtimestamp(value, tz=UTC).isoformat()


def rendered(template: str, payload: bytes) -> str:
    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined)
    environment.filters["timestamp_utc"] = timestamp_utc
    return environment.from_string(template).render(value=payload.decode(), value_json=json.loads(payload)).strip()


def value_of(component: dict[str, Any], payload: bytes) -> Any:
    """The state of the sensor after this message, None for unknown. Fails where it would warn and ignore it."""
    text = rendered(component["value_template"], payload)
    if text == "None":
        return None
    kind = component.get("device_class")
    if kind == "timestamp":
        assert "T" in text
        moment = datetime.fromisoformat(text)
        assert moment.tzinfo is not None
        return moment.timestamp()
    if kind == "enum":
        assert text in component["options"]
        return text
    return float(text) if "unit_of_measurement" in component else text


@pytest.mark.parametrize("name", ["pt", "es"])
def test_the_sensors_show_what_the_messages_say_at_every_moment(name: str) -> None:
    sensors = components()
    shown: dict[str, set[Any]] = {what: set() for what in sensors}
    for moment in games.game(name):
        state, clock = moment.messages.state, moment.messages.clock
        payloads = {TOPICS.state: packed(state), TOPICS.clock: packed(clock)}
        values = {
            what: value_of(sensor, payloads[sensor["state_topic"]])
            for what, sensor in sensors.items()
            if sensor["platform"] == "sensor"
        }
        seats = {f"seat_{seat['seat'] + 1}": seat for seat in state["seats"]}
        ends = clock["deadline"]
        assert values == {
            "turn": state["turn_name"],
            "turn_ends": None if ends is None else pytest.approx(ends, abs=1e-3),
            "time_left": clock["remaining_s"],
            "phase": "paused" if state["paused"] else state["phase"],
            "pool": state["pool"],
            **{what: seats[what]["tiles"] if what in seats else None for what in ("seat_1", "seat_2", "seat_3")},
        }
        for number in (1, 2, 3):
            template = sensors[f"seat_{number}"]["json_attributes_template"]
            assert json.loads(rendered(template, payloads[TOPICS.state])) == seats.get(f"seat_{number}", {})
        for what, value in values.items():
            shown[what].add(value)
    assert {"lobby", "play", "paused", "over"} <= shown["phase"]
    assert None in shown["turn_ends"]
    assert all(len(shown[what]) > 2 for what in ("turn", "turn_ends", "time_left", "pool", "seat_1", "seat_3"))


def test_a_button_sends_what_is_taken_from_that_user_and_is_gray_while_presses_do_not_count() -> None:
    commands = CommandBook(access_of(None, "homeassistant"))
    found = components()
    for what in BUTTONS:
        button = found[what]
        assert not button.get("retain", False)
        rest = button["command_topic"].removeprefix(TOPICS.command(""))
        taken = commands.take(rest, button["payload_press"].encode(), Moment("ab" * 16, 1, 7))
        assert taken == Command(BUTTONS[what], what, "")
        assert button["availability_mode"] == "all"
        there, counts = button["availability"]
        assert there == {"topic": TOPICS.availability}
        assert counts["topic"] == TOPICS.state
        for commands_on, payload in ((True, "online"), (False, "offline")):
            state = packed({**state_at_play(), "commands": commands_on})
            assert rendered(counts["value_template"], state) == payload


# On a broker


def test_the_captured_message_is_what_a_broker_gets(mosquitto: Mosquitto) -> None:
    topic, sent = discovery_message("homeassistant", TOPICS, state_at_play(), "homeassistant")

    async def main() -> None:
        async with connected(mosquitto.broker()) as client:
            await client.publish(topic, packed(sent), qos=1, retain=True)
        async with collect(mosquitto.broker(), "homeassistant/device/+/config") as heard:
            await heard.until(lambda messages: messages)
        (got,) = heard.messages
        assert got.retain
        captured = json.loads(CAPTURED.read_text(encoding="utf-8"))
        found = {"topic": got.topic, "message": got.json}
        for each in (captured, found):
            for place in ("device", "origin"):
                assert re.fullmatch(r"[\w.+]+", each["message"][place].pop("sw_version"))
        assert found == captured

    run(main())


class ShownTable:
    """A table at which nothing happens."""

    def __init__(self) -> None:
        self.session: Session | None = games.session_in_play()
        self.node_id = self.session.signer.node_id

    def watch(self, _changed: Callable[[], None]) -> Callable[[], None]:
        return lambda: None

    def listen(self, _told: Callable[[Event], None]) -> None:
        return


@pytest.mark.parametrize("discovery", ["homeassistant", None])
def test_the_table_is_told_again_when_home_assistant_has_started(discovery: str | None, mosquitto: Mosquitto) -> None:
    broker = replace(mosquitto.broker(), prefix=f"told-{discovery}")
    topics = Topics(broker.prefix, "seed-3")

    async def main() -> None:
        publisher = TablePublisher(ShownTable(), Publishing(broker, discovery))
        async with collect(broker, topics.state, "homeassistant/device/+/config") as heard:
            publisher.start()
            try:
                await heard.until(lambda _messages: heard.on(topics.state))
                for told in (1, 2, 3) if discovery else ():
                    await heard.until(lambda _messages, told=told: len(told_of(topics, heard)) == told)  # type: ignore[misc]
                    check_message(told_of(topics, heard)[-1].json)
                    async with connected(broker) as client:
                        await client.publish(status_topic("homeassistant"), b"offline", qos=1)
                        await client.publish(status_topic("homeassistant"), b"online", qos=1)
            finally:
                await publisher.stop()
        assert len(heard.on(topics.state)) == 1, "what is retained is there for Home Assistant"
        assert discovery or not told_of(topics, heard)

    run(main())


def told_of(topics: Topics, heard: Collected) -> list[Heard]:
    return heard.on(discovery_topic("homeassistant", topics))


def test_the_captured_message_is_as_documented() -> None:
    check_message(json.loads(CAPTURED.read_text(encoding="utf-8"))["message"])
