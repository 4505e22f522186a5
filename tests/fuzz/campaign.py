"""Many inputs in many processes, in chunks that can be repeated one by one."""

from __future__ import annotations

import multiprocessing
import resource
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tests.fuzz.corpus import encoded, stages
from tests.fuzz.targets import TARGETS, Finding

CHUNK: Final = {"codec": 20_000, "values": 20_000, "envelopes": 10_000, "game-files": 5_000}
SESSION_CHUNK: Final = 2_000


@dataclass(frozen=True, slots=True)
class Chunk:
    """Inputs for one target that follow from a seed."""

    target: str
    seed: int
    count: int

    @property
    def repeat(self) -> str:
        """The command that feeds the same inputs again."""
        return f"python -m tests.fuzz --target {self.target} --seed {self.seed} --inputs {self.count} --jobs 1"


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a chunk: seconds of a processor, and the most that its process has ever held, in MB."""

    chunk: Chunk
    seconds: float
    peak_mb: float
    problem: str | None


def chunks(targets: Sequence[str], seed: int, inputs: int) -> Iterator[Chunk]:
    """So many inputs in all, the targets taking turns; the first chunk has the seed, each next one 1 more."""
    number = 0
    while inputs > 0:
        target = targets[number % len(targets)]
        count = min(inputs, CHUNK.get(target, SESSION_CHUNK))
        yield Chunk(target, seed + number, count)
        inputs -= count
        number += 1


def run(targets: Sequence[str], seed: int, inputs: int, jobs: int) -> Iterator[Done]:
    """Feed them all; gives each chunk when it is done."""
    prepare()
    if jobs == 1:
        yield from map(_feed, chunks(targets, seed, inputs))
        return
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        yield from pool.imap_unordered(_feed, chunks(targets, seed, inputs))


def prepare() -> None:
    """Play the tables whose messages are broken; once in a process and its children."""
    stages()
    encoded()


def _feed(chunk: Chunk) -> Done:
    began_s, problem = time.process_time(), None
    try:
        TARGETS[chunk.target](chunk.seed, chunk.count)
    except Finding as finding:
        problem = f"{chunk.target}: {finding}\n" + "".join(traceback.format_exception(finding.__cause__))
    peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Done(chunk, time.process_time() - began_s, peak_kb / 1024, problem)
