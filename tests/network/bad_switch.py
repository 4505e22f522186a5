"""A switch between hosts that loses and delays frames, as bad Wi-Fi does: one TAP device in each host's namespace.

Started as `python -m tests.network.bad_switch LOSS DELAY_S JITTER_S SEED NAMESPACE ...`; writes "ready" when all hosts
have their `eth0`. Each frame is lost with the probability LOSS, or arrives after DELAY_S, give or take JITTER_S, so
that frames overtake each other. The devices vanish with the process.
"""

from __future__ import annotations

import asyncio
import ctypes
import fcntl
import os
import random
import struct
import sys
from collections.abc import Iterator

_NEW_NETWORK = 0x40000000
_SET_INTERFACE = 0x400454CA
_TAP_WITHOUT_HEAD = 0x0002 | 0x1000
_FRAME_BYTES = 65_536


def tap_in(namespace: str) -> int:
    """A TAP device `eth0` in the namespace; what is read from it the host has sent."""
    libc = ctypes.CDLL(None, use_errno=True)
    here = os.open("/proc/self/ns/net", os.O_RDONLY)
    there = os.open(f"/var/run/netns/{namespace}", os.O_RDONLY)
    try:
        if libc.setns(there, _NEW_NETWORK) != 0:
            raise OSError(ctypes.get_errno(), f"cannot enter {namespace}")
        device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(device, _SET_INTERFACE, struct.pack("16sH22x", b"eth0", _TAP_WITHOUT_HEAD))
        return device
    finally:
        libc.setns(here, _NEW_NETWORK)
        os.close(here)
        os.close(there)


class BadSwitch:
    """Learns which host has which address; what is for all, or for nobody known, goes to all others."""

    def __init__(self, ports: list[int], loss: float, delay_s: float, jitter_s: float, seed: int) -> None:
        self._ports = ports
        self._loss = loss
        self._delay_s = delay_s
        self._jitter_s = jitter_s
        self._rng = random.Random(seed)
        self._known: dict[bytes, int] = {}

    def start(self) -> None:
        for port in self._ports:
            asyncio.get_running_loop().add_reader(port, self._read, port)

    def _read(self, port: int) -> None:
        for frame in _frames(port):
            destination, source = frame[:6], frame[6:12]
            self._known[source] = port
            known = None if destination[0] & 1 else self._known.get(destination)
            for other in [known] if known is not None else [other for other in self._ports if other != port]:
                self._forward(other, frame)

    def _forward(self, port: int, frame: bytes) -> None:
        if self._rng.random() >= self._loss:
            delay_s = self._delay_s + self._rng.uniform(-self._jitter_s, self._jitter_s)
            asyncio.get_running_loop().call_later(delay_s, _write, port, frame)


def _frames(port: int) -> Iterator[bytes]:
    while True:
        try:
            yield os.read(port, _FRAME_BYTES)
        except OSError:  # nothing more for now, or the host is down
            return


def _write(port: int, frame: bytes) -> None:
    try:
        os.write(port, frame)
    except OSError:
        return  # a host that is down hears nothing


async def main() -> None:
    loss, delay_s, jitter_s, seed, *namespaces = sys.argv[1:]
    ports = [tap_in(namespace) for namespace in namespaces]
    BadSwitch(ports, float(loss), float(delay_s), float(jitter_s), int(seed)).start()
    print("ready", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
