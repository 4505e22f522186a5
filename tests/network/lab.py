"""Hosts that are network namespaces on one virtual switch, and processes in them.

    with Lab(3) as lab:
        node = lab.hosts[0].start([sys.executable, "-m", ...])
        node.wait_for(lambda lines: "ready" in lines)
        lab.cut(lab.hosts[0])

Everything is in namespaces of its own: no address or packet is seen by the machine's own interfaces. The names hold
this process's id, and a lab deletes what labs of dead processes have left behind.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).parent.parent.parent
LIMIT_S = 20.0
_NAME = re.compile(r"rummesh-(\d+)-\d+-\w+")
_labs = itertools.count()


def why_not() -> str | None:
    """Why there can be no lab here, None if there can."""
    if os.geteuid() != 0:
        return "needs root, for network namespaces"
    for tool, package in (("ip", "iproute2"), ("nft", "nftables")):
        if shutil.which(tool) is None:
            return f"needs {tool}: apt-get install {package}"
    try:
        with Lab(1):
            return None
    except LabError as error:
        return f"cannot make network namespaces: {error}"


class LabError(Exception):
    """A tool did not do what was asked of it."""


class Process:
    """A running program whose output is collected line by line."""

    def __init__(self, popen: subprocess.Popen[str]) -> None:
        self._popen = popen
        self._lines: list[str] = []
        self._grown = threading.Condition()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self._popen.stdout is not None
        for line in self._popen.stdout:
            with self._grown:
                self._lines.append(line.rstrip("\n"))
                self._grown.notify_all()

    def lines(self) -> list[str]:
        """What it has written so far, on standard output or standard error."""
        with self._grown:
            return list(self._lines)

    def wait_for(self, condition: Callable[[list[str]], object], limit_s: float = LIMIT_S) -> float:
        """Wait until its lines fulfil `condition`; returns the seconds that took. Fails after the limit."""
        start_s = time.monotonic()
        with self._grown:
            if not self._grown.wait_for(lambda: condition(self._lines), limit_s):
                raise AssertionError("not in time; its output was:\n" + "\n".join(self._lines))
        return time.monotonic() - start_s

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        self._popen.send_signal(number)

    @property
    def pid(self) -> int:
        return self._popen.pid

    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self._popen.poll() is None

    def ended(self, limit_s: float = LIMIT_S) -> int:
        """Wait until it has ended by itself; returns its exit status. Fails after the limit."""
        self._popen.wait(limit_s)
        return self.kill()

    def stop(self, limit_s: float = LIMIT_S) -> int:
        """Ask it to end (SIGTERM), then make it; returns its exit status."""
        self._popen.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(limit_s)
        return self.kill()

    def kill(self) -> int:
        """End it at once (SIGKILL), if it has not ended; returns its exit status."""
        self._popen.kill()
        status = self._popen.wait()
        self._reader.join()
        assert self._popen.stdout is not None
        self._popen.stdout.close()
        return status


class Host:
    """One host. `address` is its IPv4 address; in a lab without IPv4 its IPv6 one, link-local."""

    def __init__(self, lab: Lab, number: int, address: str) -> None:
        self._lab = lab
        self.number = number
        self.namespace = lab.name(f"h{number}")
        self.address = address

    def start(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> Process:
        """Start a program on this host; it ends with the lab."""
        popen = subprocess.Popen(
            ["ip", "netns", "exec", self.namespace, *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **(environment or {})},
        )
        process = Process(popen)
        self._lab.processes.append(process)
        return process

    def ip(self, *arguments: str) -> None:
        """Run the `ip` tool on this host."""
        _run("ip", "-n", self.namespace, *arguments)


@dataclass(frozen=True)
class Weather:
    """How bad the network is: each frame is lost with this probability, or late by `delay_s`, give or take."""

    loss: float
    delay_s: float
    jitter_s: float
    seed: int = 1


class Lab:
    """A switch with `size` hosts. `plugged` False: they begin with all interfaces down, loopback too.

    With a `weather` the switch is `bad_switch`; there are no cuts then.
    """

    def __init__(
        self, size: int, *, ipv6_only: bool = False, plugged: bool = True, weather: Weather | None = None
    ) -> None:
        self._number = next(_labs)
        self._weather = weather
        self._ipv6_only = ipv6_only
        self._plugged = plugged
        self._cut: set[tuple[int, int | None]] = set()
        self._made: list[str] = []
        self._switch: Process | None = None
        self.processes: list[Process] = []
        self.hosts = tuple(Host(self, number, self._address(number)) for number in range(1, size + 1))

    def name(self, part: str) -> str:
        """The namespace of a part of this lab."""
        return f"rummesh-{os.getpid()}-{self._number}-{part}"

    def _address(self, number: int) -> str:
        return f"fe80::{number}" if self._ipv6_only else f"10.77.0.{number}"

    def __enter__(self) -> Lab:
        delete_stale()
        try:
            self._make()
        except BaseException:
            self._unmake()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self.processes:
            process.send(signal.SIGTERM)
        for process in self.processes:
            process.stop()
        self._unmake()

    def _make(self) -> None:
        for host in self.hosts:
            self._add_namespace(host.namespace)
        if self._weather is None:
            self._make_switch()
        else:
            self._make_bad_switch(self._weather)
        if self._plugged:
            for host in self.hosts:
                self.plug(host)

    def _make_bad_switch(self, weather: Weather) -> None:
        numbers = (weather.loss, weather.delay_s, weather.jitter_s, weather.seed)
        command = [sys.executable, "-m", "tests.network.bad_switch", *map(str, numbers)]
        popen = subprocess.Popen(
            [*command, *(host.namespace for host in self.hosts)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=ROOT,
        )
        self._switch = Process(popen)
        self._switch.wait_for(lambda lines: "ready" in lines)

    def _make_switch(self) -> None:
        switch = self.name("sw")
        self._add_namespace(switch)
        _run("ip", "-n", switch, "link", "add", "br0", "type", "bridge")
        _run("ip", "-n", switch, "link", "set", "br0", "up")
        for host in self.hosts:
            port = f"p{host.number}"
            _run(
                *("ip", "link", "add", "eth0", "netns", host.namespace),
                *("type", "veth", "peer", "name", port, "netns", switch),
            )
            host.ip("link", "set", "eth0", "addrgenmode", "none")  # no address comes by itself
            _run("ip", "-n", switch, "link", "set", port, "master", "br0", "up")

    def _add_namespace(self, name: str) -> None:
        _run("ip", "netns", "add", name)
        self._made.append(name)

    def _unmake(self) -> None:
        if self._switch is not None:
            self._switch.kill()
        for name in self._made:
            _run("ip", "netns", "delete", name)
        self._made.clear()

    # Cables

    def plug(self, host: Host) -> None:
        """Bring the host's interfaces up, with its address."""
        host.ip("link", "set", "lo", "up")
        host.ip("link", "set", "eth0", "up")
        if self._ipv6_only:
            host.ip("addr", "replace", f"{host.address}/64", "dev", "eth0", "nodad")
        else:
            host.ip("addr", "replace", f"{host.address}/24", "dev", "eth0")

    def readdress(self, host: Host, address: str) -> None:
        """Give the host another IPv4 address, as a DHCP server does; the old one is gone."""
        host.ip("addr", "flush", "dev", "eth0")
        host.address = address
        self.plug(host)

    def unplug(self, host: Host) -> None:
        """Take the host's interface down, so that it knows."""
        host.ip("addr", "flush", "dev", "eth0")
        host.ip("link", "set", "eth0", "down")

    def cut(self, host: Host, other: Host | None = None) -> None:
        """Lose all frames of `host`, or only those between the two, without anybody being told."""
        self._cut.add((host.number, None if other is None else other.number))
        self._filter()

    def heal(self, host: Host, other: Host | None = None) -> None:
        """Undo `cut` with the same hosts."""
        self._cut.remove((host.number, None if other is None else other.number))
        self._filter()

    def _filter(self) -> None:
        rules = []
        for one, two in sorted(self._cut, key=str):
            if two is None:
                rules += [f"iifname p{one} drop", f"oifname p{one} drop"]
            else:
                rules += [f"iifname p{one} oifname p{two} drop", f"iifname p{two} oifname p{one} drop"]
        chain = "; ".join(["type filter hook forward priority 0", "policy accept", *rules])
        table = f"table bridge cuts {{ chain forward {{ {chain}; }}; }}"
        # One transaction: between two cuts nothing slips through.
        _run("ip", "netns", "exec", self.name("sw"), "nft", f"add table bridge cuts; delete table bridge cuts; {table}")


def delete_stale() -> None:
    """Delete the namespaces of labs whose process is gone."""
    for line in _run("ip", "netns", "list").splitlines():
        name = line.split()[0] if line.split() else ""
        match = _NAME.fullmatch(name)
        if match and not Path(f"/proc/{match[1]}").exists():
            with contextlib.suppress(LabError):  # another run may be deleting it too
                _run("ip", "netns", "delete", name)


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LabError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout
