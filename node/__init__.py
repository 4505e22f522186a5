"""The outside world: asyncio, sockets, files, the page and the command line.

In reading order: `__main__` (commands), `config` (settings), `app` (builds a node), `runner` (drives one session),
`players` (who decides: a person's desk or a bot), `discovery`, `transport`, `journal`, `keystore`, `clock`, `web/` (the
player's page), `simulation` (whole tables in one process on a virtual clock), `headless/` (many games without any
table), `arbiter`, `games` and `verify` (commands that need no other node).

Never in here: rules of the game or of agreement.
"""
