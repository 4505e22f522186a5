"""Which table of a broker a display shows, and what it says where there is none. No broker, no clock of the machine."""

from __future__ import annotations

from typing import Any, Final

import pytest

from display.views import LobbyView, NoticeView, ResultView, TurnView, View
from node.mqtt.messages import MessageError
from node.mqtt.payloads import packed
from node.mqtt.remotetables import MAX_TABLES, OFFLINE_S, SETTLE_S, RemoteTables
from tests.mqtt.test_remote_messages import CLOCK, STATE

RESULT: Final[dict[str, Any]] = {"phase": "over", "turn": None, "series_over": True}


class Heard:
    """A display's tables, at `now_s`, all that is retained having come."""

    def __init__(self, name: str | None = None) -> None:
        self.tables = RemoteTables(name)
        self.tables.subscribed(0.0)
        self.now_s = SETTLE_S + 1.0

    def hear(self, table: str, what: str, payload: bytes, *, retained: bool = False) -> None:
        self.tables.hear(table, what, payload, self.now_s, retained=retained)

    def online(self, table: str, name: str, *, running: bool = True, **changes: Any) -> None:
        """A table is there."""
        stamp = {"table": table.encode().hex(), "height": changes.get("height", STATE["height"])}
        self.hear(table, "availability", b"online")
        self.hear(table, "clock", packed({**CLOCK, **stamp, "running": running}))
        self.hear(table, "state", packed({**STATE, "name": name, **changes, **stamp}))

    def view(self, later_s: float = 0.0) -> View:
        return self.tables.view(self.now_s + later_s, 0.0)

    def at(self) -> str | None:
        shown = self.tables.shown(self.now_s)
        return None if shown is None else shown[0]


def test_a_table_is_found_by_its_name_as_it_is_in_topics() -> None:
    heard = Heard(" Åse & Bo\n")
    assert heard.tables.topic == "ase-bo"
    heard.online("ase-bo", "Åse & Bo")
    assert isinstance(heard.view(), TurnView)
    assert heard.at() == "ase-bo"


def test_without_a_table_it_says_for_which_it_waits() -> None:
    assert Heard("Kitchen").view() == NoticeView("No table", "Waiting for Kitchen.")
    assert Heard().view() == NoticeView("No table", "Waiting for a table.")


def test_what_the_broker_kept_of_an_evening_that_is_over_is_not_shown() -> None:
    heard = Heard("kitchen")
    heard.hear("kitchen", "availability", b"offline", retained=True)
    heard.hear("kitchen", "clock", packed(CLOCK), retained=True)
    heard.hear("kitchen", "state", packed(STATE), retained=True)
    assert heard.view() == NoticeView("No table", "Waiting for kitchen.")
    assert Heard(None).view() == NoticeView("No table", "Waiting for a table.")


def test_the_only_table_that_is_online_is_shown_once_all_have_been_heard() -> None:
    heard = Heard()
    heard.now_s = SETTLE_S / 2
    heard.online("kitchen", "Kitchen")
    assert heard.view() == NoticeView("No table", "Waiting for a table.")
    heard.now_s = SETTLE_S
    assert isinstance(heard.view(), TurnView)


def test_of_several_tables_none_is_shown_but_all_are_named() -> None:
    heard = Heard()
    heard.online("kitchen", "Kitchen")
    heard.online("garden", "Garden")
    assert heard.view() == NoticeView("Which table?", "Kitchen, Garden: say which with --table.")
    assert heard.at() is None


def test_a_table_that_is_over_is_not_meant_where_another_plays() -> None:
    heard = Heard()
    heard.online("kitchen", "Kitchen", **RESULT)
    heard.online("garden", "Garden")
    assert heard.at() == "garden"


def test_it_stays_at_its_table_until_that_is_over_and_another_is_there() -> None:
    heard = Heard()
    heard.online("kitchen", "Kitchen")
    assert heard.at() == "kitchen"
    heard.online("garden", "Garden")
    assert heard.at() == "kitchen"
    heard.online("kitchen", "Kitchen", **RESULT)
    assert heard.at() == "garden"
    heard.hear("kitchen", "state", b"")
    heard.online("garden", "Garden", **RESULT)
    assert heard.at() == "garden"
    assert isinstance(heard.view(), ResultView)


def test_another_node_has_time_to_publish_instead() -> None:
    heard = Heard()
    heard.online("kitchen", "Kitchen")
    assert heard.at() == "kitchen"
    heard.hear("kitchen", "availability", b"offline")
    heard.hear("kitchen", "availability", b"offline", retained=True)
    assert isinstance(heard.view(OFFLINE_S - 0.1), TurnView)
    assert heard.view(OFFLINE_S) == NoticeView("Kitchen", "Nobody at this table can be reached.")
    heard.hear("kitchen", "availability", b"online")
    assert isinstance(heard.view(OFFLINE_S), TurnView)


def test_a_result_stays_when_everybody_has_gone() -> None:
    heard = Heard()
    heard.online("kitchen", "Kitchen", **RESULT)
    assert isinstance(heard.view(), ResultView)
    heard.hear("kitchen", "availability", b"offline")
    heard.now_s += OFFLINE_S
    assert isinstance(heard.view(), ResultView)
    heard.online("garden", "Garden")
    assert heard.at() == "garden"


def test_when_the_table_has_gone_and_two_others_are_there_it_asks_again() -> None:
    heard = Heard()
    heard.online("kitchen", "Kitchen")
    assert heard.at() == "kitchen"
    heard.hear("kitchen", "availability", b"")
    heard.now_s += OFFLINE_S
    assert heard.at() == "kitchen"
    heard.online("garden", "Garden")
    heard.online("hall", "Hall")
    assert heard.view() == NoticeView("Which table?", "Garden, Hall: say which with --table.")


def test_a_table_that_never_became_a_game_leaves_nothing_behind() -> None:
    heard = Heard("Kitchen")
    heard.online("kitchen", "Kitchen", phase="lobby", turn=None, game=0, height=0)
    assert isinstance(heard.view(), LobbyView)
    heard.hear("kitchen", "state", b"")
    heard.hear("kitchen", "clock", b"")
    assert heard.view() == NoticeView("No table", "Waiting for Kitchen.")


def test_a_broker_that_ends_says_of_everybody_that_they_are_gone_which_means_nothing() -> None:
    heard = Heard("Kitchen")
    heard.online("kitchen", "Kitchen")
    heard.hear("kitchen", "availability", b"offline")
    heard.now_s += 0.1
    heard.tables.lost(heard.now_s)
    assert isinstance(heard.view(10 * OFFLINE_S), TurnView)
    heard.now_s += 10 * OFFLINE_S
    heard.tables.subscribed(heard.now_s)
    assert isinstance(heard.view(OFFLINE_S - 0.1), TurnView)
    assert isinstance(heard.view(OFFLINE_S), NoticeView)


def test_the_clock_runs_while_a_turn_counts_down() -> None:
    heard = Heard("Kitchen")
    assert not heard.tables.clock_runs(heard.now_s, 0.0)
    heard.online("kitchen", "Kitchen")
    assert heard.tables.clock_runs(heard.now_s + CLOCK["remaining_s"] - 0.1, 0.0)
    assert not heard.tables.clock_runs(heard.now_s + CLOCK["remaining_s"], 0.0)
    heard.online("kitchen", "Kitchen", height=45, running=False)
    assert not heard.tables.clock_runs(heard.now_s, 0.0)


@pytest.mark.parametrize(("what", "payload"), [("availability", b"perhaps"), ("state", b"{}"), ("clock", b"[]")])
def test_what_is_no_message_is_refused_and_changes_nothing(what: str, payload: bytes) -> None:
    heard = Heard("Kitchen")
    heard.online("kitchen", "Kitchen")
    before = heard.view()
    with pytest.raises(MessageError):
        heard.hear("kitchen", what, payload)
    assert heard.view() == before


def test_more_tables_than_anybody_has_cost_no_memory_and_hide_none_that_is_online() -> None:
    heard = Heard()
    heard.online("kitchen", "Kitchen")
    for number in range(10 * MAX_TABLES):
        heard.hear(f"junk-{number}", "state", packed({**STATE, "name": f"Junk {number}"}))
    assert len(heard.tables._tables) <= MAX_TABLES
    assert heard.at() == "kitchen"
    for number in range(2 * MAX_TABLES):
        heard.online(f"busy-{number}", f"Busy {number}")
    assert len(heard.tables._tables) <= MAX_TABLES
    assert heard.at() == "kitchen"
    assert isinstance(heard.view(), TurnView)
