"""The hostile simulator: simulated tables to which everything happens that a network, a machine or a liar can do.

In reading order: `profiles` (what may happen, how often), `ledger` (counts what happens, and ends it after so many),
`network` (links as TCP gives them), `liars` (attacks), `referee` (what must hold after every event), `table` (one
table), `campaign` (many tables, in processes, and the shortest run of faults that fails).
"""
