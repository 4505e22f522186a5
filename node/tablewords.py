"""The four table words as people read them."""

from __future__ import annotations

from typing import Final

from mnemonic import Mnemonic

from protocol.messages import Genesis
from protocol.roster import table_words

_WORDLIST: Final = tuple(Mnemonic("english").wordlist)


def words_of(genesis: Genesis) -> str:
    """The table words of a signed roster, in English."""
    return table_words(genesis, _WORDLIST)
