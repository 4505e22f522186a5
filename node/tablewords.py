"""The names and the four words of a table as people read them."""

from __future__ import annotations

from typing import Final

from mnemonic import Mnemonic

from protocol.messages import Genesis
from protocol.roster import clean_name, table_words

_WORDLIST: Final = tuple(Mnemonic("english").wordlist)


def words_of(genesis: Genesis) -> str:
    """The table words of a signed roster, in English."""
    return table_words(genesis, _WORDLIST)


def names_of(genesis: Genesis) -> list[str]:
    """The players' names by seat; equal ones are told apart by their seat."""
    names = [clean_name(member.name) or f"Player {seat + 1}" for seat, member in enumerate(genesis.members)]
    return [name if names.count(name) == 1 else f"{name} ({seat + 1})" for seat, name in enumerate(names)]
