"""Real nodes in the midst of a simulated game, with the keys and journals that it left, and tiles as a test wants them.

The seats of the simulated table shuffle as the test says, and prove it: for everybody else it is a game as any other.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

from engine.rulesets import RuleSet
from engine.tiles import TileId
from node.clock import unix_s
from node.journal import Journal, JournalRecord
from node.keystore import FILE_NAME
from node.simulation import SimulatedNode, SimulatedTable
from protocol.dealing.secret_deal import secret_dealer
from protocol.dealing.transcript import Nonces
from protocol.session import Session

_SEED = os.getpid()  # so that no other run on this machine has nodes with the same keys
TABLE = f"seed {_SEED}"


def nothing(_session: Session, _now_s: float) -> None:
    """A player who waits."""


@functools.cache
def dealt(rules: RuleSet, seats: int, first: str = "") -> SimulatedTable:
    """A table of so many seats and a device at its first turn, all nodes alike.

    `first`: the first tiles of the deck, seat 0's rack, seat 1's and so on, then what is drawn.
    """
    orders = [_deck(rules, first.split())]

    def order(_nonces: Nonces, size: int) -> list[int]:
        return list(orders.pop()) if orders else list(range(size))

    with patch.object(Nonces, "permutation", order):
        table = SimulatedTable(rules, seats, _SEED, secret_dealer, devices=1)
        for node in table.nodes:
            node.player = nothing
        steps = table.steps()
        while not all(node.session._turn_is_on() for node in table.nodes):
            next(steps)
    return table


def _deck(rules: RuleSet, first: Sequence[str]) -> list[TileId]:
    rest = [TileId(tile) for tile in range(len(rules.faces))]
    front = []
    for face in first:
        front.append(next(tile for tile in rest if str(rules.faces[tile]) == face))
        rest.remove(front[-1])
    return front + rest


def laid_down(table: SimulatedTable, folder: Path) -> list[Path]:
    """The data folders of all nodes of the table, to be taken up by real ones: by seat, then the device's."""
    nodes = sorted(table.nodes, key=lambda node: len(table.nodes) if node.session.seat is None else node.session.seat)
    now_unix_s = unix_s()
    return [_put(node, folder / str(number), now_unix_s) for number, node in enumerate(nodes)]


def _put(node: SimulatedNode, data: Path, now_unix_s: float) -> Path:
    (data / "tables").mkdir(mode=0o700, parents=True)
    data.chmod(0o700)
    key = data / FILE_NAME
    key.write_bytes(bytes(node.session.signer._key))  # type: ignore[attr-defined] # an Identity
    key.chmod(0o600)
    journal = Journal.open(data / "tables" / f"{node.session.table.hex()}.journal")
    journal.append([JournalRecord(one.kind.value, one.height, one.data, now_unix_s) for one in node.journal])
    journal.close()
    return data
