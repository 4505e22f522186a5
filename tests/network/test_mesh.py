"""Discovery and transport together, between hosts: found by mDNS alone, cut, healed, killed, late."""

from __future__ import annotations

import itertools
import json
import signal
import sys
import time
from typing import Any

import pytest

from tests.network.lab import Host, Lab, Process

DEAF_S = 15.0  # zeroconf asks for the last time 14 s after the start


def start(host: Host, number: int) -> Process:
    return host.start([sys.executable, "-m", "tests.network.small_node", str(number)])


def told(lines: list[str], event: str) -> list[dict[str, Any]]:
    events = [json.loads(line) for line in lines if line.startswith("{")]
    return [one for one in events if one["event"] == event]


def linked(lines: list[str]) -> set[int]:
    """Whom the process that wrote `lines` is linked with now."""
    now: set[int] = set()
    for line in lines:
        if line.startswith("{"):
            one = json.loads(line)
            if one["event"] == "link":
                now.add(one["node"])
            elif one["event"] == "lost":
                now.discard(one["node"])
    return now


def wait_for_links(nodes: dict[int, Process], limit_s: float = 20.0, but: set[int] = frozenset()) -> None:  # type: ignore[assignment] # only read
    """Until each is linked with all others, except that those in `but` are linked with nobody."""
    for number, node in nodes.items():
        expected = set() if number in but else set(nodes) - but - {number}
        node.wait_for(lambda lines, expected=expected: linked(lines) == expected, limit_s)  # type: ignore[misc] # mypy cannot infer it


def no_faults(nodes: dict[int, Process]) -> None:
    """Stop all; each has said goodbye and nothing went wrong in any."""
    for node in nodes.values():
        assert node.stop() == 0
        lines = node.lines()
        assert told(lines, "stopped"), lines
        assert not [line for line in lines if "Traceback" in line or "ERROR" in line], lines


def test_hosts_find_each_other_by_mdns_alone_and_a_cut_one_comes_back() -> None:
    with Lab(3) as lab:
        nodes = {host.number: start(host, host.number) for host in lab.hosts}
        wait_for_links(nodes)
        for host, node in zip(lab.hosts, nodes.values(), strict=True):
            assert told(node.lines(), "ready")[0]["addresses"] == [host.address]
        for number, node in nodes.items():
            others = set(nodes) - {number}
            node.wait_for(lambda lines, others=others: {one["node"] for one in told(lines, "peer")} == others)  # type: ignore[misc] # mypy cannot infer it
        lab.cut(lab.hosts[0])
        wait_for_links(nodes, but={1})
        lab.heal(lab.hosts[0])
        wait_for_links(nodes)
        lab.cut(lab.hosts[0], lab.hosts[1])
        nodes[1].wait_for(lambda lines: linked(lines) == {3})
        nodes[2].wait_for(lambda lines: linked(lines) == {3})
        assert linked(nodes[3].lines()) == {1, 2}
        lab.heal(lab.hosts[0], lab.hosts[1])
        wait_for_links(nodes)
        no_faults({1: nodes.pop(1)})
        for node in nodes.values():
            node.wait_for(lambda lines: [one["node"] for one in told(lines, "gone")] == [1])
        no_faults(nodes)


def test_killed_node_comes_back_on_another_port() -> None:
    with Lab(2) as lab:
        nodes = {host.number: start(host, host.number) for host in lab.hosts}
        wait_for_links(nodes)
        nodes[1].send(signal.SIGKILL)
        nodes[2].wait_for(lambda lines: not linked(lines))
        nodes[1] = start(lab.hosts[0], 1)
        wait_for_links(nodes)
        no_faults(nodes)


def test_hosts_with_link_local_ipv6_addresses_only_form_a_mesh() -> None:
    with Lab(3, ipv6_only=True) as lab:
        nodes = {host.number: start(host, host.number) for host in lab.hosts}
        wait_for_links(nodes)
        peers = told(nodes[1].lines(), "peer")
        assert peers
        assert all("%" in address for one in peers for address in one["addresses"])
        no_faults(nodes)


def test_nodes_on_one_host_with_a_network_find_each_other_and_the_others() -> None:
    with Lab(2) as lab:
        nodes = {number: start(lab.hosts[0], number) for number in (1, 2, 3)}
        nodes[4] = start(lab.hosts[1], 4)
        wait_for_links(nodes)
        no_faults(nodes)


def test_nodes_on_a_host_without_a_network_find_each_other_and_say_so() -> None:
    with Lab(1, plugged=False) as lab:
        lab.hosts[0].ip("link", "set", "lo", "up")
        nodes = {number: start(lab.hosts[0], number) for number in (1, 2)}
        wait_for_links(nodes)
        nodes[1].wait_for(lambda lines: told(lines, "trouble"))
        assert "no network" in told(nodes[1].lines(), "trouble")[0]["text"]
        no_faults(nodes)


@pytest.mark.parametrize("loopback", [True, False])
def test_node_that_was_started_before_its_network_is_found_later(loopback: bool) -> None:
    with Lab(2, plugged=False) as lab:
        early, other = lab.hosts
        lab.plug(other)
        if loopback:
            early.ip("link", "set", "lo", "up")
        nodes = {1: start(early, 1), 2: start(other, 2)}
        for node in nodes.values():
            node.wait_for(lambda lines: told(lines, "ready"))
        nodes[1].wait_for(lambda lines: told(lines, "trouble"))
        lab.plug(early)
        wait_for_links(nodes)
        nodes[1].wait_for(lambda lines: told(lines, "trouble")[-1]["text"] is None)
        no_faults(nodes)


def test_nodes_that_were_deaf_while_both_asked_meet_after_healing() -> None:
    with Lab(2) as lab:
        lab.cut(lab.hosts[0])
        nodes = {host.number: start(host, host.number) for host in lab.hosts}
        for node in nodes.values():
            node.wait_for(lambda lines: told(lines, "ready"))
        time.sleep(DEAF_S)
        assert not any(told(node.lines(), "peer") for node in nodes.values())
        lab.heal(lab.hosts[0])
        wait_for_links(nodes, 10.0)
        no_faults(nodes)


def test_unplugged_host_comes_back() -> None:
    with Lab(3) as lab:
        nodes = {host.number: start(host, host.number) for host in lab.hosts}
        wait_for_links(nodes)
        for _ in itertools.repeat(None, 2):
            lab.unplug(lab.hosts[2])
            wait_for_links(nodes, but={3})
            lab.plug(lab.hosts[2])
            wait_for_links(nodes)
        no_faults(nodes)
