"""Four hosts whose network falls apart: in two halves nobody goes on, three go on without the fourth."""

from __future__ import annotations

import itertools
import time
from pathlib import Path

import pytest

from protocol.messages import RemoveEntry
from tests.network.lab import Lab, Process
from tests.network.test_game import LIMIT_S, PATIENT, SHORT, has_ended, log_hash, start_bot
from tests.node.journals import entries_in, journal_of

COUNTDOWN_LIMIT_S = 110.0


def four_bots(lab: Lab, folders: list[Path]) -> list[Process]:
    """Bots at one table whose game has begun: of 6 to 65 turns, each of half a second and more."""
    rules = folders[0].with_name("short.toml")
    rules.write_text(SHORT)
    bots = [start_bot(lab.hosts[0], folders[0], "--open", "4", "--rules", str(rules), *PATIENT, thinking_s=0.5)]
    for host, folder in zip(lab.hosts[1:], folders[1:], strict=True):
        bots.append(start_bot(host, folder, *PATIENT, thinking_s=0.5))
    for bot in bots:
        bot.wait_for(lambda lines: any("begins" in line for line in lines), LIMIT_S)
    return bots


def all_end_alike(bots: list[Process]) -> None:
    for bot in bots:
        bot.wait_for(has_ended, LIMIT_S)
    assert len({log_hash(bot.lines()) for bot in bots}) == 1
    for bot in bots:
        assert bot.ended() == 0


def test_two_halves_stand_still_until_they_meet_again(tmp_path: Path) -> None:
    folders = [tmp_path / str(number) for number in range(4)]
    with Lab(4) as lab:
        bots = four_bots(lab, folders)
        halves = list(itertools.product(lab.hosts[:2], lab.hosts[2:]))
        for one, other in halves:
            lab.cut(one, other)
        time.sleep(2)
        before = [len(entries_in(journal_of(folder))) for folder in folders]
        assert max(before) - min(before) <= 1
        time.sleep(4)
        assert [len(entries_in(journal_of(folder))) for folder in folders] == before, "neither half has all seats"
        for one, other in halves:
            lab.heal(one, other)
        all_end_alike(bots)


@pytest.mark.timeout(300)
def test_three_go_on_without_the_fourth_which_is_told_when_it_returns(tmp_path: Path) -> None:
    folders = [tmp_path / str(number) for number in range(4)]

    def removed_in(folder: Path) -> bool:
        return any(isinstance(entry.content, RemoveEntry) for entry in entries_in(journal_of(folder)))

    with Lab(4) as lab:
        bots = four_bots(lab, folders)
        for host in lab.hosts[:3]:
            lab.cut(host, lab.hosts[3])
        ends_s = time.monotonic() + COUNTDOWN_LIMIT_S
        while not removed_in(folders[0]):
            assert time.monotonic() < ends_s, bots[0].lines()
            time.sleep(1)
        assert not removed_in(folders[3])
        for host in lab.hosts[:3]:
            lab.heal(host, lab.hosts[3])
        all_end_alike(bots)
        assert removed_in(folders[3])
