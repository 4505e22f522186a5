"""The exact best move: most tiles, most points, or least disruption, under the joker rule of each tile game.

Theory of operation. No meld is ever listed. The search goes through the numbers 1 to 13, as the dynamic programs of van
Rijn, Takes and Vis do ("The Complexity of Rummikub Problems", BNAIC 2015), but best first. What it answers is what den
Hertog and Hulshof ask of a whole-number program ("Solving Rummikub Problems by Integer Linear Programming", The
Computer Journal 49(6), 2006).

- *State* after a number: of each colour the open runs of one, of two, and of three or more tiles, and how many jokers
  are in use. The cost is the weight of the rack tiles left out so far.
- *Step*: at each number some tiles of each colour go to groups, and the rest of a colour to runs. How many go to runs
  says all: the short runs must go on, then the long ones do, then new ones begin.
- *Dominance*: a long run can do whatever a shorter one can, so a tile always goes on with a long run rather than to
  begin a new one, and groups take as few jokers as they need.
- *Look-ahead*: a state whose short runs need more tiles of the next two numbers than there are jokers for is dead.
- *Order*: the cheapest first, and of equally cheap states the latest: where the whole rack can be laid, that takes
  little more than thirteen steps. A node is first expanded by what costs no tile and no joker; it waits for the rest.
- *Jokers*: one goes to a run only where a tile of the next number follows, to finish a short run, or before a 12 or 13.
  Any other joker is put where there is room when the search is done. There is none only where one joker is left beside
  groups of four that are far apart; then the search is made again with every place for a joker.
- *Tables*: the options of a colour depend on a few small counts. Equal ones are kept once and shared by all positions.

Jokers on the table are bound by the rules. A joker that stays what it is, is one more tile that must be used. All
choices which of them stay are searched, with bounds; the rules judge what comes out (`choices`).

In reading order: `solution`, `patience`, `groups`, `tables`, `search`, `problem`, `rebuild`, `arrange`, `attempt`,
`best`; `opening`; jokers on the table: `bound`, `choices`, `numbered` (`no`), `replaced` (`pt`, `fi`), `witnesses`,
`planned`; `play` (as a play on tile ids), `steps` (as movements of the hand, in words).

Never in here: a clock. Who wants an answer in time passes `stop`.
"""

from engine.solver.best import solve as solve
from engine.solver.opening import solve_opening as solve_opening
from engine.solver.play import play_of as play_of
from engine.solver.solution import Objective as Objective
from engine.solver.solution import Solution as Solution
from engine.solver.solution import Stop as Stop
from engine.solver.steps import Step as Step
from engine.solver.steps import StepKind as StepKind
from engine.solver.steps import sentence as sentence
from engine.solver.steps import steps_of as steps_of
