"""How long it takes until a lost host is noticed, and until play goes on once it is back, maybe elsewhere."""

from __future__ import annotations

import signal
import time
from pathlib import Path

from protocol.session import HEARTBEAT_S, SILENT_S
from tests.network.lab import Lab, Process
from tests.network.test_game import start_bot
from tests.node.bots import height_of, until

BUSY_S = 2.0  # what a busy machine may add


def losses(bot: Process) -> int:
    return sum("lost: " in line for line in bot.lines())


def seconds_until_lost(bots: list[Process], before: list[int]) -> float:
    """Until all of these have lost a link more than before."""
    return until(lambda: all(losses(bot) > count for bot, count in zip(bots, before, strict=True)), "a lost link")


def seconds_until_play(folders: list[Path]) -> float:
    before = max(map(height_of, folders))
    return until(lambda: min(map(height_of, folders)) > before, "the next entry")


def test_lost_host_is_noticed_and_play_goes_on_soon_after_it_is_back(tmp_path: Path) -> None:
    folders = [tmp_path / str(number) for number in range(3)]
    (tmp_path / "long.toml").write_text('base = "pt"\nrounds = 50\n')
    with Lab(3) as lab:
        bots = [start_bot(lab.hosts[0], folders[0], "--open", "3", "--rules", str(tmp_path / "long.toml"))]
        bots += [start_bot(host, folder) for host, folder in zip(lab.hosts[1:], folders[1:], strict=True)]
        until(lambda: min(map(height_of, folders)) > 10, "the game")
        others = bots[:2]

        before = [losses(bot) for bot in others]
        bots[2].send(signal.SIGKILL)
        killed_s = seconds_until_lost(others, before)
        time.sleep(1.0)
        again = start_bot(lab.hosts[2], folders[2])
        again.wait_for(lambda lines: any("listens on" in line for line in lines))
        restarted_s = seconds_until_play(folders)

        before = [losses(bot) for bot in others]
        lab.cut(lab.hosts[2])
        cut_s = seconds_until_lost(others, before)
        time.sleep(3.0)
        lab.heal(lab.hosts[2])
        healed_s = seconds_until_play(folders)

        lab.readdress(lab.hosts[2], "10.77.0.103")
        time.sleep(0.5)  # what was under way has arrived
        moved_s = seconds_until_play(folders)
        print(f"killed: known after {killed_s:.2f} s, restarted: plays after {restarted_s:.2f} s")
        print(f"cut: known after {cut_s:.2f} s, healed: plays after {healed_s:.2f} s")
        print(f"another address: plays after {moved_s + 0.5:.2f} s")
    assert killed_s < BUSY_S
    assert restarted_s < 1.0 + BUSY_S
    assert cut_s < SILENT_S + HEARTBEAT_S + BUSY_S
    assert healed_s < 2.0 + BUSY_S
    assert moved_s < SILENT_S + HEARTBEAT_S + 2.0 + BUSY_S
