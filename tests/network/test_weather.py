"""A whole game over a bad network."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.network.lab import Lab, Weather
from tests.network.test_game import PATIENT, SHORT, has_ended, is_whole, log_hash, start_bot
from tests.node.bots import height_of
from tests.node.journals import entries_in, journal_of

LIMIT_S = 100.0
BAD = Weather(loss=0.05, delay_s=0.05, jitter_s=0.03)


def has_tap() -> bool:
    """Whether the kernel gives TAP devices."""
    try:
        os.close(os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK))
    except OSError:
        return False
    return True


needs_tap = pytest.mark.skipif(not has_tap(), reason="this kernel has no TAP devices (/dev/net/tun)")


@needs_tap
@pytest.mark.timeout(200)
def test_four_hosts_play_a_game_to_its_end_with_loss_and_jitter(tmp_path: Path) -> None:
    folders = [tmp_path / str(number) for number in range(4)]
    (tmp_path / "short.toml").write_text(SHORT)
    with Lab(4, weather=BAD) as lab:
        bots = [start_bot(lab.hosts[0], folders[0], "--open", "4", "--rules", str(tmp_path / "short.toml"), *PATIENT)]
        bots += [start_bot(host, folder, *PATIENT) for host, folder in zip(lab.hosts[1:], folders[1:], strict=True)]
        started_s = time.monotonic()
        for bot in bots:
            bot.wait_for(has_ended, LIMIT_S)
        entries = height_of(folders[0])
        print(f"{entries} entries in {time.monotonic() - started_s:.1f} s")
        assert len({log_hash(bot.lines()) for bot in bots}) == 1
        assert is_whole(entries_in(journal_of(folders[0])))
        for bot in bots:
            assert bot.ended() == 0
            assert not [line for line in bot.lines() if "Traceback" in line or "ERROR" in line], bot.lines()
