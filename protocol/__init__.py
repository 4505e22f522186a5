"""The table without sockets: signed messages, agreement, dealing and the log, as one state machine.

In reading order: `codec` (one byte form per value), `envelope` (sign and open), `messages` (every body), `roster`
(members, genesis, table words), `log` (committed entries and their certificates), `consensus/` (votes, the round, what
may be proposed), `dealing/` (calls, parts, the dealers), `game` (judges and applies entries), `lobby` (until the
genesis is signed), `session` (the one door), `events` and `outputs` (what a session reports and wants done), `gamefile`
(the log as one file), `audit/` (checks such a file).

Never in here: sockets, asyncio, files, clock reads, randomness of its own.
"""
