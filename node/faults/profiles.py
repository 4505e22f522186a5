"""What may happen at a hostile table, and how often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Profile:
    """Rates of faults. Times are virtual seconds, `None` for never.

    `loss`: the share of frames whose first copy is lost. TCP sends it again after a while, and what was sent after it
    over the same link waits. `stall_every_s`, `cut_every_s`, `crash_every_s`: mean time between two stalls of a link,
    two partitions, two crashes, at the whole table. `liars`: how many nodes lie.
    """

    name: str
    delay_s: tuple[float, float] = (0.001, 0.020)
    loss: float = 0.0
    stall_every_s: float | None = None
    cut_every_s: float | None = None
    crash_every_s: float | None = None
    liars: int = 0


PROFILES: Final[dict[str, Profile]] = {
    profile.name: profile
    for profile in (
        Profile("none"),
        Profile("lan", delay_s=(0.0005, 0.010), loss=0.01),
        Profile("bad-wifi", delay_s=(0.002, 0.200), loss=0.10, stall_every_s=6.0),
        Profile("partitions", cut_every_s=25.0),
        Profile("crashes", crash_every_s=12.0),
        Profile("liars", liars=1),
        Profile(
            "hostile", (0.001, 0.080), loss=0.03, stall_every_s=25.0, cut_every_s=45.0, crash_every_s=30.0, liars=1
        ),
    )
}

RETRANSMIT_S: Final = 0.2  # TCP's least wait before it sends again; it doubles each time
STALL_S: Final = 2.0
CUT_S: Final = (1.0, 120.0)
FAULTY_S: Final = 120.0  # so long after the start of a game faults happen; then all heals
STUCK_S: Final = 200.0  # no new entry for so long after that: the table is stuck. A removal takes 60 to 70 s
