"""How well a bot plays."""

from __future__ import annotations

from enum import Enum


class Strength(Enum):
    """Bots by name, the weakest first; `description` says in plain words how each plays."""

    BEGINNER = "beginner"
    SOLID = "solid"
    STRONG = "strong"

    @property
    def description(self) -> str:
        """One sentence for a person."""
        return _DESCRIPTIONS[self]


_DESCRIPTIONS = {
    Strength.BEGINNER: "lays the melds on its rack and adds single tiles to the table, but never moves what lies there",
    Strength.SOLID: "lays as many tiles as can be laid, rearranging the table at will",
    Strength.STRONG: "sees the same moves, but keeps jokers and tiles for the turn in which it goes out",
}
