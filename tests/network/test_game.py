"""Three hosts find each other by mDNS alone and play a game of bots to its end."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from protocol.messages import AnswersEntry, Entry
from tests.network.lab import Host, Lab, Process
from tests.node.journals import entries_in, journal_of

LIMIT_S = 90.0
SHORT = 'base = "pt"\nhand = 24\nopening_min = 0\n'  # most tiles are on racks, so a game of four has 65 turns at most
PATIENT = ("--strength", "beginner")  # others would be out in the first turns


def start_bot(host: Host, data: Path, *options: str, thinking_s: float = 0.02) -> Process:
    command = [sys.executable, "-m", "node", "--verbose", "bot", "--table", "Kitchen", "--name", f"Bot {host.number}"]
    return host.start([*command, "--thinking", str(thinking_s), "--once", "--data", str(data), *options])


def is_whole(entries: Sequence[Entry]) -> bool:
    """Whether the racks are opened at its end, so the game is over."""
    last = entries[-1].content
    return isinstance(last, AnswersEntry) and last.call == "final"


def has_ended(lines: list[str]) -> bool:
    return any(line.startswith("log ") for line in lines)


def log_hash(lines: list[str]) -> str:
    found = [match.group(1) for line in lines if (match := re.search(r"^log \d+ entries, hash ([0-9a-f]{64})$", line))]
    assert len(found) == 1
    return found[0]


def test_a_host_cut_off_for_a_while_comes_back_and_the_game_goes_on(tmp_path: Path) -> None:
    folders = [tmp_path / str(number) for number in range(3)]
    with Lab(3) as lab:
        bots = [start_bot(lab.hosts[0], folders[0], "--open", "3")]
        bots += [start_bot(host, folder) for host, folder in zip(lab.hosts[1:], folders[1:], strict=True)]
        for bot in bots:
            bot.wait_for(lambda lines: any("begins" in line for line in lines), LIMIT_S)
        lab.cut(lab.hosts[2])
        bots[0].wait_for(lambda lines: sum("silent for" in line for line in lines) > 0, LIMIT_S)
        lab.heal(lab.hosts[2])
        for bot in bots:
            bot.wait_for(has_ended, LIMIT_S)
        assert len({log_hash(bot.lines()) for bot in bots}) == 1
        for bot in bots:
            assert bot.ended() == 0


def test_three_hosts_play_a_game_to_its_end_with_identical_logs(tmp_path: Path) -> None:
    folders = [tmp_path / str(number) for number in range(3)]
    with Lab(3) as lab:
        bots = [start_bot(lab.hosts[0], folders[0], "--open", "3")]
        bots += [start_bot(host, folder) for host, folder in zip(lab.hosts[1:], folders[1:], strict=True)]
        for bot in bots:
            bot.wait_for(has_ended, LIMIT_S)
        hashes = {log_hash(bot.lines()) for bot in bots}
        for bot in bots:
            assert bot.ended() == 0
            assert not [line for line in bot.lines() if "Traceback" in line or "ERROR" in line], bot.lines()
    assert len(hashes) == 1
    logs = [entries_in(journal_of(folder)) for folder in folders]
    assert logs[0] == logs[1] == logs[2]
    assert is_whole(logs[0])
