"""Dealing: how slots get tiles, and how everybody comes to agree that it went right.

In reading order: `dealer` (the interface between the table and one way of dealing), `call` (who owes which part, and
when), `progress` (how far a call is, for people), `open_deal` (all tiles known to all, for simulation and for tests of
everything else).

A dealer decides bytes; which entries and messages there are, and in what order, is the same for every dealer.
"""
