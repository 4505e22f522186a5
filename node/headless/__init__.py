"""`rummesh simulate --engine-only`: many games between bots by the engine alone, and what can be learned from them.

In reading order: `runs` (which games, and playing them), `intervals` and `summary` (rates and means with confidence
intervals), `results` (files), `plot` (a picture), `command` (options, progress, tables).

Never in here: rules of the game, messages.
"""
