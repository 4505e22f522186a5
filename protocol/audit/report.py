"""What an audit finds: a report of all that was checked, or the first fault."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.rulesets import RuleSet
from engine.series import Standing
from engine.state import CallName, GameResult, Seat
from protocol.gamefile import Deal
from protocol.messages import Genesis


class Fault(Exception):  # noqa: N818 - a finding
    """A file does not hold a game played by the rules: the first thing that is wrong.

    `height` is that of the entry where it shows, None for what belongs to none. `node` and `name` tell who signed what
    must not be signed, None where nothing proves who it was. `reason` is in lower case.
    """

    def __init__(self, height: int | None, node: bytes | None, name: str | None, reason: str) -> None:
        super().__init__(reason)
        self.height = height
        self.node = node
        self.name = name
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Player:
    """A seat. `node` is its key, `bot` what it says of itself, `removed_at` the height of the entry that removed it."""

    name: str
    node: bytes
    bot: bool
    removed_at: int | None


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """One game of the series. `result` None: it is not over. `shut` are the seats that did not open their racks."""

    starter: Seat | None
    turns: int
    result: GameResult | None
    shut: tuple[Seat, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """What the signed messages of one accusation show. `proven` False: they are genuine, but prove nothing alone."""

    node: bytes
    name: str
    text: str
    proven: bool


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that a file without a fault says.

    `entries` counts them by kind; `checks` what the dealers checked: parts by their kind, `draw-part` (the drawer's own
    part inside its action) and `opening`. Every entry has its certificate; `signatures` are all that were verified, in
    them too. `waiting`: the call that was open at the end of the log.
    """

    genesis: Genesis
    deal: Deal
    players: tuple[Player, ...]
    entries: Mapping[str, int]
    signatures: int
    checks: Mapping[str, int]
    redeals: int
    games: tuple[PlayedGame, ...]
    standing: Standing
    waiting: CallName | None
    findings: tuple[Finding, ...]

    @property
    def rules(self) -> RuleSet:
        """What was played."""
        return self.genesis.rules

    @property
    def height(self) -> int:
        """The height of the last entry."""
        return sum(self.entries.values()) - 1


def fingerprint(node: bytes) -> str:
    """A key as people compare it: its first 64 bits in groups of four."""
    text = node.hex()[:16]
    return "-".join(text[at : at + 4] for at in range(0, 16, 4))
