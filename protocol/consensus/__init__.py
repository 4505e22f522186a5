"""Agreement on one height after another: docs/agreement.md, rules 1 to 11.

In reading order: `votes` (who voted what, proofs, certificates), `round` (rules 4 to 7 as one pure function), `clock`
(the turn's clock), `driver` (one height: messages in, votes out, what may be proposed).

Never in here: what makes an entry valid (`protocol.game`), sockets, clock reads.
"""
