"""Real nodes in the midst of a simulated game, with the keys and journals that it left: the same tiles each time."""

from __future__ import annotations

import functools
from pathlib import Path

from engine.rulesets import RuleSet
from node.clock import unix_s
from node.journal import Journal, JournalRecord
from node.keystore import FILE_NAME
from node.simulation import SimulatedTable
from protocol.dealing.secret_deal import secret_dealer
from protocol.session import Session


def nothing(_session: Session, _now_s: float) -> None:
    """A player who waits."""


@functools.cache
def dealt(rules: RuleSet, seats: int, seed: int, devices: int = 1) -> SimulatedTable:
    """A table at its first turn, all nodes alike."""
    table = SimulatedTable(rules, seats, seed, secret_dealer, devices)
    for node in table.nodes:
        node.player = nothing
    steps = table.steps()
    while not all(node.session._turn_is_on() for node in table.nodes):
        next(steps)
    return table


def laid_down(table: SimulatedTable, folder: Path) -> list[Path]:
    """The data folders of all nodes of the table, to be taken up by real ones."""
    folders, now_unix_s = [], unix_s()
    for number, node in enumerate(table.nodes):
        data = folder / str(number)
        (data / "tables").mkdir(mode=0o700, parents=True)
        data.chmod(0o700)
        key = data / FILE_NAME
        key.write_bytes(bytes(node.session.signer._key))  # type: ignore[attr-defined] # an Identity
        key.chmod(0o600)
        journal = Journal.open(data / "tables" / f"{node.session.table.hex()}.journal")
        journal.append([JournalRecord(one.kind.value, one.height, one.data, now_unix_s) for one in node.journal])
        journal.close()
        folders.append(data)
    return folders
