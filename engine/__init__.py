"""The game itself: pure functions on frozen values. No I/O, no clock, no randomness of its own, no logging.

In reading order:

- what there is: `tiles`, `faces` (tiles as small numbers), `rulesets` (every option as data), `state`, `actions`,
  `errors`
- what may lie on the table: `melds` (reading one), `board` (many), `legality` (all that is wrong with a turn), `jokers`
- how a game goes: `rules` (`apply`, `faults`), `plays`, `loose` (time up in `no`), `rummy` (the card game), `dealt`
  (the dealer's actions), `redeal` (seats that go), `requests` (pauses, more time, turns taken back), `flow` (turns and
  ends), `setup`, `scoring`, `series`
- bots: `bots` (the door), `strength`, `situations` (all that one looks at), `rackmelds`, `tilebots`, `cardbots`,
  `selfplay` (whole games between them)
- the best move there is: the package `solver`
- around it: `options` (house rules), `rulebook` and `phrases` (the rules in words, `phrases_es` … `phrases_pt` in other
  languages), `views` and `observe` (the only road from state to screen), `positions`, `judging` and `cases`
  (turns and worked cases told in text)

Never in here: messages, keys, sockets, files, time.
"""
