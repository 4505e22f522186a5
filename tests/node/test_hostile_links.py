"""A table of real processes goes on, about as quickly and in as much memory, whatever strangers do to its port."""

from __future__ import annotations

import asyncio
import contextlib
import re
import statistics
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
from nacl.signing import SigningKey

from node.keystore import Identity
from protocol.envelope import seal
from protocol.messages import Status
from tests.network.lab import Process
from tests.node.bots import height_of, latencies_s, same_logs, table_of, until
from tests.node.journals import journal_of
from tests.node.strangers import Stranger, stranger

ATTACK_S = 3.0
STRANGER = "127.0.0.66"
MEMORY_MB = 24.0  # a full queue, a full burst and all connections, with room
NOISE_S = 0.1  # of a busy machine

Attack = Callable[[int, bytes], Coroutine[Any, Any, None]]


def port_of(bot: Process) -> int:
    bot.wait_for(lambda lines: any("listens on port" in line for line in lines))
    return next(int(found[1]) for line in bot.lines() if (found := re.search(r"listens on port (\d+)", line)))


def memory_mb(bot: Process) -> float:
    """What the process occupies now."""
    status = Path(f"/proc/{bot.pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) / 1024


async def until_refused(end: Stranger) -> None:
    """Reads whatever comes."""
    with contextlib.suppress(ConnectionError):
        while await end.reader.read(65536):
            pass


async def garbage(port: int, _table: bytes) -> None:
    """200 connections at once that say nonsense and stay."""
    async with contextlib.AsyncExitStack() as stack:
        for number in range(200):
            with contextlib.suppress(ConnectionError):
                end = await stack.enter_async_context(stranger(port, f"127.0.1.{number % 20 + 1}"))
                end.writer.write(bytes([number]) * 3000)
        await asyncio.sleep(ATTACK_S)


async def flood(port: int, table: bytes) -> None:
    """A linked stranger that sends 1,000 well-formed messages a second, for as long as it is let."""
    own = Identity(SigningKey(bytes([66]) * 32))
    frames = [seal(own, table, Status(bytes(8), beat, 1, bytes(32), bytes(8), ())).raw for beat in range(5000)]
    async with stranger(port, STRANGER) as end:
        await end.shake(own)
        reading = asyncio.ensure_future(until_refused(end))
        with contextlib.suppress(ConnectionError, TimeoutError):
            async with asyncio.timeout(ATTACK_S):
                for number in range(0, len(frames), 10):
                    for frame in frames[number : number + 10]:
                        end.write(frame)
                    await end.writer.drain()
                    await asyncio.sleep(0.01)
        reading.cancel()


async def never_reading(port: int, _table: bytes) -> None:
    """Sixteen links of one address on which nothing is ever read."""
    async with contextlib.AsyncExitStack() as stack:
        for number in range(16):
            end = await stack.enter_async_context(stranger(port, STRANGER))
            await end.shake(Identity(SigningKey(bytes([number]) * 32)))
            end.writer.transport.pause_reading()  # type: ignore[attr-defined] # a stream's transport can
        await asyncio.sleep(ATTACK_S)


async def trickle(port: int, _table: bytes) -> None:
    """Handshakes byte by byte, from as many addresses as there may be handshakes at all."""

    async def one(host: str) -> None:
        async with stranger(port, host) as end:
            with contextlib.suppress(ConnectionError):
                for _ in range(int(ATTACK_S / 0.2)):
                    end.writer.write(b"\0")
                    await asyncio.sleep(0.2)

    await asyncio.gather(*(one(f"127.0.2.{number % 8 + 1}") for number in range(64)))


async def connect_and_go(port: int, _table: bytes) -> None:
    """One address that connects again and again, each time with a whole handshake if it is let."""
    loop = asyncio.get_running_loop()
    end_s = loop.time() + ATTACK_S
    own = Identity(SigningKey(bytes([67]) * 32))
    while loop.time() < end_s:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            async with stranger(port, STRANGER) as end:
                await end.shake(own)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[list[Path], list[Process]]]:
    folder = tmp_path_factory.mktemp("hostile")
    rules = folder / "long.toml"
    rules.write_text('base = "pt"\nrounds = 50\n')
    with table_of(folder, 2, "--thinking", "0.1", "--rules", str(rules)) as playing:
        yield playing


def latency_s(data: Path, meanwhile: Callable[[], object]) -> float:
    """The median of an entry's latency while something happens."""
    first = height_of(data)
    meanwhile()
    found = latencies_s(data, first)
    assert len(found) >= 8, "the game goes on"
    return statistics.median(found)


@pytest.mark.slow
@pytest.mark.parametrize("attack", [garbage, flood, never_reading, trickle, connect_and_go])
def test_game_goes_on_under(attack: Attack, table: tuple[list[Path], list[Process]]) -> None:
    folders, bots = table
    port, data = port_of(bots[0]), folders[0]
    before = height_of(data)
    calm_s = latency_s(data, lambda: until(lambda: height_of(data) >= before + 16, "a calm game"))
    calm_mb = memory_mb(bots[0])
    under_s = latency_s(data, lambda: asyncio.run(attack(port, bytes.fromhex(journal_of(data).stem))))
    more_mb = memory_mb(bots[0]) - calm_mb
    print(f"{attack.__name__}: {calm_s * 1000:.1f} ms calm, {under_s * 1000:.1f} ms under it, {more_mb:.1f} MB more")
    assert under_s < 2 * calm_s + NOISE_S
    assert more_mb < MEMORY_MB
    assert not [line for bot in bots for line in bot.lines() if "Traceback" in line or "ERROR" in line]
    same_logs(folders)
