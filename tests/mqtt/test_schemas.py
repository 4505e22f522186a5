"""What is published is what docs/mqtt.md says, at every moment of whole games, and gives no tile away."""

from __future__ import annotations

import copy
import functools
import hashlib
import hmac
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, get_args

import pytest
from jsonschema import ValidationError

from engine.actions import Action
from engine.rulesets import RULE_SETS
from engine.state import CallName, EndedBy, Phase
from engine.tiles import parse_tile
from node.mqtt import payloads
from node.mqtt.broker import connected
from node.mqtt.commands import BUTTONS, Moment, Refusal, command_message
from node.mqtt.election import Candidate, Claim
from node.mqtt.homeassistant import discovery_topic
from node.mqtt.topics import Topics
from protocol.events import GameVoid
from tests.mqtt import games
from tests.mqtt.mosquitto import Heard, Mosquitto, collect
from tests.mqtt.schemas import PAGE, check, schemas, validator
from tests.node.loops import run

RULES = [*RULE_SETS]
PLAYED = [*RULES, "series"]
TOPICS = Topics("rummesh", "kitchen")


def played(name: str) -> tuple[games.Moment, ...]:
    return games.series() if name == "series" else games.game(name)


def values_of(schema: dict[str, Any], field: str) -> set[Any]:
    found = schema["properties"][field]["enum"]
    assert isinstance(found, list)
    return set(found)


# Schemas


def test_every_topic_has_its_schema() -> None:
    assert sorted(schemas()) == sorted(
        ["state", "clock", "board", "event", "publisher", "standby", "command", "answer", "commands"]
    )


@pytest.mark.parametrize("name", PLAYED)
def test_every_message_of_a_game_is_as_described(name: str) -> None:
    seen = Counter[str]()
    for moment in played(name):
        for kind, message in moment.all():
            check(kind, payloads.packed(message))
            seen[kind] += 1
        seen[moment.messages.state["phase"]] += 1
        seen["paused"] += moment.messages.state["paused"]
        seen["away"] += any(seat["away"] for seat in moment.messages.state["seats"])
        seen["timed"] += moment.messages.clock["running"]
    for what in ("lobby", "start", "deal", "play", "final", "over", "paused", "away", "timed", "event"):
        assert seen[what], f"no {what} in this game"


def test_a_game_that_is_void_is_as_described() -> None:
    session = games.session_in_play()
    session.void = GameVoid(3, ())
    messages = payloads.messages_of(session, 50.0, games.MORNING_S, commands=False)
    assert messages is not None
    assert messages.state["phase"] == "void"
    for kind, message in (("state", messages.state), ("clock", messages.clock), ("board", messages.board)):
        check(kind, payloads.packed(message))


@pytest.mark.parametrize("kind", ["state", "clock", "board", "event"])
def test_a_schema_refuses_what_is_more_less_or_other(kind: str) -> None:
    message = next(message for moment in played("pt") for found, message in moment.all() if found == kind)
    validator(kind).validate(message)
    for key in message:
        less = {other: value for other, value in message.items() if other != key}
        for wrong in (less, {**message, "rack": ["R1"]}, {**message, key: {"R1": 1}}):
            with pytest.raises(ValidationError):
                validator(kind).validate(wrong)


def test_the_values_a_message_may_have_are_those_of_the_program() -> None:
    state, clock = schemas()["state"], schemas()["event"]
    assert values_of(state, "phase") == {"lobby", "void", *(phase.value for phase in Phase)}
    assert values_of(state, "waiting_for") == {None, *(call.value for call in CallName)}
    ends = state["properties"]["results"]["items"]["properties"]["ended_by"]["enum"]
    assert set(ends) == {end.value for end in EndedBy}
    kinds = {payloads._kind(action.__name__) for action in get_args(Action)}
    assert values_of(clock, "kind") == kinds - {"draw-dealt"}, "it is nothing to tell"
    refused = schemas()["commands"]["properties"]["refused"]["propertyNames"]["enum"]
    assert set(refused) == {refusal.value for refusal in Refusal}


def test_who_publishes_and_who_could_are_as_described() -> None:
    table, node = "ab" * 16, "cd" * 32
    check("publisher", payloads.packed(Claim(table, node, 3, True).plain()))
    for seat in (None, 5):
        check(f"standby/{node}", payloads.packed(Candidate(table, node, False, seat).plain()))


@pytest.mark.parametrize("name", BUTTONS)
def test_a_command_is_as_described_with_and_without_a_key(name: str) -> None:
    for key in (b"a key of sixteen", None):
        check(f"command/{name}", payloads.packed(command_message(key, name, Moment("ab" * 16, 1, 7), "k3f9")))


def test_the_worked_example_of_a_command_is_right() -> None:
    found = re.search(r"^```mac\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert found is not None
    example = dict(line.split(maxsplit=1) for line in found[1].splitlines())
    assert hmac.new(example["key"].encode(), example["text"].encode(), hashlib.sha256).hexdigest() == example["mac"]
    said = json.loads(example["payload"])
    moment = Moment(said["table"], said["game"], said["height"])
    assert said == command_message(example["key"].encode(), "end_turn", moment, said["once"])
    assert said["mac"] == example["mac"]
    assert example["topic"] == TOPICS.command("end_turn")
    check("command/end_turn", example["payload"].encode())


def test_the_topics_told_are_those_of_the_program() -> None:
    table = [line.split("`")[1] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `rumm")]
    commands = [TOPICS.command("COMMAND"), TOPICS.command("COMMAND/USER")]
    topics = [getattr(TOPICS, name) for name, kind in vars(Topics).items() if isinstance(kind, property)]
    assert sorted(table) == sorted([*topics, *commands, TOPICS.standby("NODE")])


# Secrecy


def tiles_in(value: Any, path: str = "") -> Iterator[str]:
    """Every face that a message names, in lists, in sentences, wherever; but for what people call themselves."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key not in ("name", "turn_name", "table", "state_hash"):
                yield from tiles_in(item, f"{path}.{key}")
    elif isinstance(value, list):
        for item in value:
            yield from tiles_in(item, path)
    elif isinstance(value, str):
        for word in re.findall(r"[A-Z0-9]+", value):
            try:
                yield str(parse_tile(word))
            except ValueError:
                continue


def given_away(messages: Iterable[tuple[str, dict[str, Any]]], moment: games.Moment) -> Counter[str]:
    """The tiles that messages name and that do not lie on the table; a joker may be told with what it stands for."""
    if moment.state is None or moment.state.phase in (Phase.FINAL, Phase.OVER):
        return Counter()
    public = {str(moment.state.faces[tile]) for tile in moment.state.known_tiles().values()}
    found = Counter[str]()
    for kind, message in messages:
        if kind == "board":
            message = copy.deepcopy(message)
            for meld in message["melds"]:
                for tile, faces in zip(meld["tiles"], meld["stands_for"], strict=True):
                    assert tile == "J" or not faces
                del meld["stands_for"]
        found.update(tile for tile in tiles_in(message) if tile not in public)
    return found


@pytest.mark.parametrize("name", PLAYED)
def test_no_message_names_a_tile_that_does_not_lie_on_the_table(name: str) -> None:
    secrets = 0
    for moment in played(name):
        assert not given_away(moment.all(), moment)
        hidden_only = set(moment.hidden) - set(tiles_in(moment.messages.board))
        secrets += bool(hidden_only)
    assert secrets > 20, "there was much to give away"


@pytest.mark.parametrize("name", PLAYED)
def test_every_seat_s_node_says_the_same_so_nothing_depends_on_a_rack(name: str) -> None:
    compared = 0
    for moment in played(name):
        for other in moment.by_seat:
            if moment.state is not None:
                assert public_part(other.state) == public_part(moment.messages.state)
                assert other.board == moment.messages.board
                compared += 1
    assert compared > 30


def public_part(state: dict[str, Any]) -> dict[str, Any]:
    """Without what each node sees for itself: who is in reach, whether it takes presses."""
    seats = [{key: value for key, value in seat.items() if key != "away"} for seat in state["seats"]]
    return {**state, "seats": seats, "commands": None}


@pytest.mark.parametrize("kind", ["state", "clock", "board", "event"])
def test_the_search_finds_a_tile_of_a_rack_wherever_it_is(kind: str) -> None:
    """Shows that the tests above can fail."""
    moment = next(moment for moment in played("pt") if moment.events and moment.state is not None and moment.hidden)
    face = next(face for face in moment.hidden if face not in set(tiles_in(moment.messages.board)))
    messages = [(found, copy.deepcopy(message)) for found, message in moment.all()]
    leaking = next(message for found, message in messages if found == kind)
    leaking["seats" if kind == "state" else "text"] = [{"more": f"holds {face}, J."}]
    assert given_away(messages, moment)[face] == 1


# The broker of docs/mqtt.md


def test_the_access_rules_told_keep_everybody_from_pressing_as_another(
    own_mosquitto: Callable[..., Mosquitto],
) -> None:
    found = re.search(r"^```acl\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert found is not None
    server = own_mosquitto(users={user: user for user in ("players", "homeassistant", "displays")}, acl=found[1])
    properties = [getattr(TOPICS, name) for name, kind in vars(Topics).items() if isinstance(kind, property)]
    discovery = discovery_topic("homeassistant", TOPICS)
    press = TOPICS.command("end_turn/homeassistant")
    may = {
        "players": {*properties, TOPICS.standby("ab"), discovery},
        "homeassistant": {press, discovery, "homeassistant/status"},
        "displays": {TOPICS.command("end_turn")},
    }
    tried = sorted(set.union(*may.values()))

    async def main() -> None:
        reader = server.broker("homeassistant")
        async with collect(reader, "#") as heard:
            for user in may:
                async with connected(server.broker(user)) as client:
                    for topic in tried:
                        await client.publish(topic, user.encode(), qos=1)
                    await client.publish(TOPICS.command(f"end/{user}"), b"last", qos=1)
                await heard.until(functools.partial(is_there, TOPICS.command(f"end/{user}")))
            for user, topics in may.items():
                assert {one.topic for one in heard.messages if one.payload == user.encode()} == topics

    run(main())


def is_there(topic: str, messages: list[Heard]) -> bool:
    return any(message.topic == topic for message in messages)
