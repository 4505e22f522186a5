"""Discovery on loopback only: nodes find each other, hear of changes and goodbyes, and ignore nonsense."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nacl.signing import SigningKey
from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

from node.discovery import (
    LOOPBACK,
    SERVICE,
    Discovery,
    MalformedRecord,
    Peer,
    Record,
    instance_name,
    read_peer,
)
from protocol.envelope import VERSION
from tests.node.loops import run, until

ROOT = Path(__file__).parent.parent.parent


SALT = os.environ.setdefault("RUMMESH_TEST_SALT", os.urandom(8).hex())  # the started processes have it too


def record(number: int, **changes: object) -> Record:
    """The record of a node whose key is another one in each run: other runs may share the loopback interface."""
    seed = hashlib.blake2b(f"{SALT}/{number}".encode(), digest_size=32).digest()
    node_id = bytes(SigningKey(seed).verify_key)
    plain = Record(VERSION, node_id, f"Node {number}", bytes(16), "Kitchen", "pt", "lobby", 4, 2)
    return replace(plain, **changes)  # type: ignore[arg-type] # the names are the record's


OURS = {record(number).node_id for number in range(1, 10)}


def as_heard(txt: dict[str, str]) -> dict[bytes, bytes | None]:
    return {key.encode(): value.encode() for key, value in txt.items()}


def txt_bytes(txt: dict[str, str]) -> int:
    return sum(1 + len(key.encode()) + 1 + len(value.encode()) for key, value in txt.items())


@dataclass
class Ear:
    """A discovery with all that it has told about the nodes of this run."""

    record: Record
    port: int = 4242
    refresh_s: float = 60.0
    peers: list[Peer] = field(default_factory=list)
    gone: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.discovery = Discovery(
            self.record,
            self.port,
            on_peer=self._heard,
            on_gone=self._gone,
            interfaces=LOOPBACK,
            refresh_s=self.refresh_s,
        )

    def _heard(self, peer: Peer) -> None:
        if peer.record.node_id in OURS:
            self.peers.append(peer)

    def _gone(self, node_id: bytes) -> None:
        if node_id in OURS:
            self.gone.append(node_id)

    def latest(self) -> dict[bytes, Record]:
        return {peer.record.node_id: peer.record for peer in self.peers}


# Records


@pytest.mark.parametrize(
    "one",
    [
        record(1),
        record(2, table=None, table_name="", rules="", phase="hall", seats=0, free=0),
        record(3, name="Žofia 🀄", table=b"\xff" * 16, seats=6, free=0),
        record(4, name="", table_name="a=b; c"),
    ],
)
def test_record_comes_back_from_its_txt(one: Record) -> None:
    assert Record.from_txt(as_heard(one.to_txt("0123abcd"))) == one


@given(st.text(), st.text(), st.text(), st.text())
def test_txt_is_small_whatever_the_names_and_reads_the_same_again(
    name: str, table: str, rules: str, phase: str
) -> None:
    txt = record(1, name=name, table_name=table, rules=rules, phase=phase, seats=99, free=99).to_txt("0" * 8)
    assert txt_bytes(txt) < 400
    assert all(len(f"{key}={value}".encode()) <= 255 for key, value in txt.items())
    again = Record.from_txt(as_heard(txt))
    assert Record.from_txt(as_heard(again.to_txt("0" * 8))) == again


def test_long_name_is_cut_between_characters() -> None:
    name = Record.from_txt(as_heard(record(1, name="x" + "é" * 100).to_txt("0"))).name
    assert name == "x" + "é" * 23  # 47 bytes: a 24th would end at 49


@pytest.mark.parametrize(
    "changes",
    [
        {"v": "one"},
        {"v": ""},
        {"v": "-1"},
        {"v": "99999"},
        {"v": "١"},
        {"id": ""},
        {"id": "A" * 42},
        {"id": "!" * 43},
        {"t": "AAAA"},
        {"s": "100"},
        {"s": ""},
        {"f": "2.5"},
    ],
)
def test_malformed_txt_is_refused(changes: dict[str, str]) -> None:
    with pytest.raises(MalformedRecord):
        Record.from_txt(as_heard({**record(1).to_txt("0"), **changes}))


def test_txt_that_is_not_text_or_lacks_keys_is_refused() -> None:
    whole = as_heard(record(1).to_txt("0"))
    with pytest.raises(MalformedRecord):
        Record.from_txt({**whole, b"n": b"\xff\xfe"})
    for key in (b"v", b"id", b"s", b"f"):
        with pytest.raises(MalformedRecord):
            Record.from_txt({**whole, key: None})
        with pytest.raises(MalformedRecord):
            Record.from_txt({other: value for other, value in whole.items() if other != key})


def test_name_from_others_has_no_control_characters() -> None:
    whole = as_heard(record(1).to_txt("0"))
    assert Record.from_txt({**whole, b"n": b"A\x1b[2J\nna"}).name == "A[2J na"


def test_other_version_is_read_as_far_as_it_is_sure_to_mean_the_same() -> None:
    txt = {**record(1).to_txt("0"), "v": str(VERSION + 1), "s": "many", "t": "elsewhere"}
    expected = Record(VERSION + 1, record(1).node_id, "Node 1", None, "", "", "", 0, 0)
    assert Record.from_txt(as_heard(txt)) == expected


# Peers


@dataclass
class Info:
    """A resolved service."""

    txt: dict[str, str]
    addresses: Sequence[str]
    port: int | None = 7

    @property
    def properties(self) -> dict[bytes, bytes | None]:
        return as_heard(self.txt)

    def parsed_scoped_addresses(self) -> list[str]:
        return list(self.addresses)


ONE = record(1)
NAME = f"{instance_name(ONE.node_id)}.{SERVICE}"


def test_peer_s_addresses_are_sorted_the_likeliest_first_and_limited() -> None:
    found = read_peer(NAME, Info(ONE.to_txt("0"), ["fe80::1%3", "fd00::2", "10.0.0.9", "10.0.0.9"]), loopback=False)
    assert found == Peer(ONE, ("10.0.0.9", "fd00::2", "fe80::1%3"), 7)
    many = read_peer(NAME, Info(ONE.to_txt("0"), [f"10.0.0.{n}" for n in range(1, 100)]), loopback=False)
    assert len(many.addresses) == 8


def test_peer_on_loopback_counts_only_for_a_node_on_loopback() -> None:
    info = Info(ONE.to_txt("0"), ["127.0.0.1"])
    assert read_peer(NAME, info, loopback=True).addresses == ("127.0.0.1",)
    with pytest.raises(MalformedRecord, match="no usable address"):
        read_peer(NAME, info, loopback=False)


@pytest.mark.parametrize(
    ("name", "info"),
    [
        (f"{instance_name(record(2).node_id)}.{SERVICE}", Info(ONE.to_txt("0"), ["10.0.0.1"])),
        (f"Ana.{SERVICE}", Info(ONE.to_txt("0"), ["10.0.0.1"])),
        (NAME, Info(ONE.to_txt("0"), ["10.0.0.1"], port=None)),
        (NAME, Info(ONE.to_txt("0"), ["10.0.0.1"], port=0)),
        (NAME, Info(ONE.to_txt("0"), [])),
        (NAME, Info(ONE.to_txt("0"), ["0.0.0.0", "224.0.0.1", "::", "ff02::1%1", "::1", "::ffff:127.0.0.1", "x"])),
        (NAME, Info({}, ["10.0.0.1"])),
    ],
    ids=["another's name", "foreign name", "no port", "port 0", "no address", "no usable address", "no record"],
)
def test_service_that_is_no_peer_is_refused(name: str, info: Info) -> None:
    with pytest.raises(MalformedRecord):
        read_peer(name, info, loopback=False)


def test_name_in_mdns_is_one_label_and_different_for_every_key() -> None:
    names = {instance_name(record(number).node_id) for number in range(50)}
    assert len(names) == 50
    assert all(len(name) <= 63 for name in names)


# On loopback


def test_nodes_on_one_machine_find_each_other_and_hear_changes_and_goodbyes() -> None:
    async def main() -> None:
        ears = [Ear(record(number), 4000 + number) for number in (1, 2, 3)]
        for ear in ears:
            await ear.discovery.start()
            assert ear.discovery.trouble is None
            assert ear.discovery.addresses == LOOPBACK
        await until(lambda: all(len(ear.latest()) == 2 for ear in ears))
        for ear in ears:
            for peer in ear.peers:
                number = next(other.port for other in ears if other.record == peer.record)
                assert peer == Peer(peer.record, LOOPBACK, number)
        changed = replace(ears[0].record, free=0, phase="play")
        await ears[0].discovery.update(replace(changed, free=1))
        await ears[0].discovery.update(changed)
        await until(lambda: all(ear.latest()[changed.node_id] == changed for ear in ears[1:]))
        await ears[0].discovery.stop()
        await until(lambda: all(ear.gone == [changed.node_id] for ear in ears[1:]))
        await ears[1].discovery.stop()
        await ears[2].discovery.stop()

    run(main())


def test_older_record_is_not_repeated_over_a_newer_one() -> None:
    async def main() -> None:
        ear, other = Ear(record(1)), Ear(record(2))
        await ear.discovery.start()
        await other.discovery.start()
        for free in (1, 0, 3):
            await other.discovery.update(replace(other.record, free=free))
            await until(lambda free=free: [peer.record.free for peer in ear.peers][-1:] == [free])  # type: ignore[misc] # mypy cannot infer it
        await until(lambda: other.discovery._announcing is not None and other.discovery._announcing.done())
        await until(lambda: not ear.discovery._resolving)
        assert [peer.record.free for peer in ear.peers][-3:] == [1, 0, 3]
        await ear.discovery.stop()
        await other.discovery.stop()

    run(main())


def test_asking_again_tells_nothing_twice_and_finds_who_was_not_heard() -> None:
    async def main() -> None:
        ear, other = Ear(record(1), refresh_s=0.05), Ear(record(2))
        await other.discovery.start()
        await ear.discovery.start()
        await until(lambda: ear.peers)
        first = ear.discovery._browser
        await until(lambda: ear.discovery._browser is not first)
        second = ear.discovery._browser
        await until(lambda: ear.discovery._browser is not second)
        assert len(ear.peers) == 1
        ear.discovery._known.clear()
        await until(lambda: len(ear.peers) == 2)
        ear.discovery.alone = False
        assert not ear.discovery.alone
        ear.discovery._known.clear()
        kept = ear.discovery._browser
        await other.discovery.update(replace(other.record, free=1))
        await until(lambda: ear.latest()[other.record.node_id].free == 1)
        assert ear.discovery._browser is kept
        await ear.discovery.stop()
        await other.discovery.stop()
        assert not ear.gone

    run(main())


ANNOUNCER = """
import asyncio
from node.discovery import LOOPBACK, Discovery, Record
from tests.node.test_discovery import record

async def main():
    discovery = Discovery(record(9), 4009, on_peer=print, on_gone=print, interfaces=LOOPBACK)
    await discovery.start()
    await asyncio.Event().wait()

asyncio.run(main())
"""


@contextlib.contextmanager
def killed_announcer() -> Iterator[None]:
    """A process that announces node 9 and is killed at the end."""
    with subprocess.Popen([sys.executable, "-c", ANNOUNCER], cwd=ROOT) as announcer:
        try:
            yield
        finally:
            announcer.send_signal(signal.SIGKILL)


def test_killed_node_that_is_back_with_the_same_record_is_told_again() -> None:
    async def main() -> None:
        ear = Ear(record(1))
        await ear.discovery.start()
        for times in (1, 2):
            with killed_announcer():
                await until(lambda times=times: len(ear.peers) == times)  # type: ignore[misc] # mypy cannot infer it
        assert ear.peers[0] == ear.peers[1]
        assert not ear.gone
        await ear.discovery.stop()

    run(main())


def test_nonsense_from_others_is_ignored() -> None:
    async def main() -> None:
        other = AsyncZeroconf(interfaces=list(LOOPBACK))
        good, bad = record(1), record(2)
        announced = []
        for name, properties, port in (
            (instance_name(bad.node_id), {"v": "x"}, 7),
            (instance_name(bad.node_id)[:-1], bad.to_txt("0"), 7),
            ("Žofia's nonsense", {"v": b"\xff" * 200, "id": b"\0" * 200}, 0),
            (instance_name(record(3).node_id), {}, 7),
            (instance_name(good.node_id), good.to_txt("0"), 7),
        ):
            info = AsyncServiceInfo(
                SERVICE,
                f"{name}.{SERVICE}",
                port=port,
                properties=properties,
                server=f"{name.encode().hex()[:40]}.local.",
                parsed_addresses=list(LOOPBACK),
            )
            announced.append(await other.async_register_service(info, cooperating_responders=True))
        await asyncio.gather(*announced)
        ear = Ear(record(4))
        await ear.discovery.start()
        await until(lambda: ear.peers)
        await until(lambda: not ear.discovery._resolving)
        assert [peer.record for peer in ear.peers] == [good]
        await ear.discovery.stop()
        await other.async_close()

    run(main())


def test_address_that_is_not_ours_is_trouble_and_stops_cleanly() -> None:
    async def main() -> None:
        discovery = Discovery(record(1), 4001, on_peer=print, on_gone=print, interfaces=["192.0.2.77"], refresh_s=0.01)
        await discovery.start()
        assert discovery.trouble is not None
        assert "--peer" in discovery.trouble
        await discovery.update(record(1, free=0))
        await until(lambda: not discovery._changed.is_set())
        await discovery.stop()

    run(main())
