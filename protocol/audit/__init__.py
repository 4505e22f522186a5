"""Checking a finished game from its file alone, by whoever holds it.

In reading order: `report` (what comes out), `audit` (replays a file and checks everything in it), `tally` (counts what
the dealer checked), `accusations` (what the evidence in a file proves), `second_opinion` (all proofs again in plain
Python, from the text of docs/dealing.md, over the group in `curve`).
"""
