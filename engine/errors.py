"""What the engine says when a move is against the rules: `Fault`, and `IllegalMove` which carries them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with a move.

    `code` is stable (`OPEN-MIN`, `INVALID-SET`, ...). `sentence` is for a person, names the offending tiles and is
    understood by a ten-year-old. `melds` are the indexes of the offending melds in the board that was judged,
    `tiles` the offending tiles in text form; both may be empty.
    """

    code: str
    sentence: str
    melds: tuple[int, ...] = ()
    tiles: tuple[str, ...] = ()


class IllegalMove(Exception):  # noqa: N818 - the rules' word: a slip of a player, not an error of the program
    """The move is against the rules. The state it was meant for is unchanged."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        assert faults, "an illegal move has at least one fault"
        super().__init__(f"{faults[0].code}: {faults[0].sentence}")
        self.faults = faults

    @property
    def code(self) -> str:
        """The code of the first fault."""
        return self.faults[0].code

    @property
    def sentence(self) -> str:
        """The sentence of the first fault."""
        return self.faults[0].sentence


def illegal(code: str, sentence: str, *tiles: str) -> IllegalMove:
    """An `IllegalMove` with a single fault."""
    return IllegalMove((Fault(code, sentence, (), tiles),))
