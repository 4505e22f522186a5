"""The game itself: pure functions on frozen values. No I/O, no clock, no randomness of its own, no logging.

In reading order: `tiles`, `melds`, `board` (what lies on the table), `rulesets` (every option as data), `state`,
`actions`, `legality` (what is wrong with a turn), `rules` (`apply` and `faults`), `setup`, `scoring`, `bots`,
`views` and `observe` (the only road from state to screen).

Never in here: messages, keys, sockets, files, time.
"""
