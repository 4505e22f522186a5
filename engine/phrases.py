"""The sentences of the rulebook in English, by name. Another language is another table with the same names.

`{...}` are numbers and names filled in by `rulebook`. A name that ends in `-one` is taken where a number is 1. Options
and choices are called `option-` and `choice-` with the name that they have in `RuleSet`. The buttons of the page are
English in every language.
"""

from __future__ import annotations

from typing import Final

from engine.phrases_es import SPANISH
from engine.phrases_fi import FINNISH
from engine.phrases_nb import NORWEGIAN
from engine.phrases_pt import PORTUGUESE

ENGLISH: Final[dict[str, str]] = {
    "title-pt": "Portuguese online Rummikub",
    "title-fi": "Finnish pocket Rummikub",
    "title-no": "Norwegian card Rummikub",
    "title-es": "Spanish rummy with cards",
    "head-aim": "The aim",
    "head-start": "The start",
    "head-melds": "Groups and runs",
    "head-turn": "Your turn",
    "head-opening": "Your first melds",
    "head-table": "Changing what lies on the table",
    "head-jokers": "Jokers on the table",
    "head-time": "The clock",
    "head-end": "The end",
    "head-series": "Several games",
    "head-house": "House rules of this table",
    "aim": "Be the first to lay all the tiles of your rack on the table, in groups and runs.",
    "aim-called": "When your rack is empty you must press Rummikub to win; End turn is not enough.",
    "aim-automatic": "When your rack is empty you have won.",
    "deck": "There are {tiles} tiles with numbers, 1 to 13 in four colours, each of them twice, and {jokers} jokers.",
    "deck-one": (
        "There are {tiles} tiles with numbers, 1 to 13 in four colours, each of them twice, and {jokers} joker."
    ),
    "deck-plain": (
        "There are {tiles} tiles with numbers, 1 to 13 in four colours, each of them twice. There are no jokers."
    ),
    "players": "{low} to {high} players.",
    "players-exactly": "{count} players.",
    "hand": "Everybody gets {count} tiles. The others are the stock.",
    "hand-one": "Everybody gets one tile. The others are the stock.",
    "start-highest": (
        "Everybody draws a tile, and the highest number begins. Who draws a joker draws again, and so do those with "
        "equal highest numbers. These tiles go back before the deal."
    ),
    "start-lot": "Who begins is drawn by lot.",
    "clockwise": "After you it is the turn of the next player clockwise.",
    "start-later": "In each later game the next player clockwise begins.",
    "group": "A group is three or four tiles of one number, all of different colours.",
    "run": (
        "A run is three or more tiles of one colour with numbers in a row. 1 is the lowest and 13 the highest: after "
        "13 nothing follows."
    ),
    "joker-stands": (
        "A joker stands for any tile. In a run its place says which; it never stands for 0 or 14. It counts as the "
        "tile it stands for."
    ),
    "joker-open-colour": "In a group a joker stands for any colour that is not there yet.",
    "joker-both-ways": (
        "One tile with two jokers may be a group or a run: you say which, and so it stays. If you say nothing it is "
        "what is worth more, and a group if both are worth the same."
    ),
    "joker-not-alone": "Any number of jokers may be in a meld, but at least one tile must have a number.",
    "turn": "Lay at least one tile of your rack: new groups and runs, or tiles that go with those on the table.",
    "turn-end": (
        "What lies on the table in between does not matter. When you end your turn every tile must be in a group or a"
        " run, and nothing may have left the table."
    ),
    "turn-draw": "If you cannot or do not want to lay, draw one tile. That ends your turn; you may play it next time.",
    "turn-not-both": "Lay or draw, not both: to draw, first take back what you have laid.",
    "illegal-refused": "If the table is not right you cannot end your turn: you go on, or take everything back.",
    "illegal-costs": (
        "If you end your turn and the table is not right, everything is taken back and you draw {count} tiles."
    ),
    "illegal-costs-one": (
        "If you end your turn and the table is not right, everything is taken back and you draw one tile."
    ),
    "stock-empty": "When the stock is empty, who lays nothing passes. Nobody may pass while there are tiles to draw.",
    "opening": "The first time you lay, your melds must be worth at least {points} points together, all in one turn.",
    "opening-one": "The first time you lay, your melds must be worth at least one point together, all in one turn.",
    "opening-none": "You may use the table from your first turn on.",
    "opening-own": "Only tiles of your own rack count for that. Nothing may be added to what lies on the table.",
    "opening-same-turn": "Once these points are laid you may use the table in the same turn.",
    "opening-later": "In that turn the table stays as it is. You may use it from your next turn on.",
    "rearrange": (
        "After your first melds you may use all tiles on the table: add to melds, divide them, take tiles out and "
        "form new melds, as long as all is right at the end."
    ),
    "never-back": "A tile from the table never goes to a rack.",
    "no-idle": (
        "You may change melds only to lay a tile of yours. What you change must have to do with a tile you lay."
    ),
    "joker-replaced": (
        "A joker keeps standing for its tile until a real tile like that takes its place. In a group any colour it "
        "may stand for will do, and one is enough. Until then it may be moved like the tile it stands for."
    ),
    "joker-replaced-where": (
        "The real tile may come from your rack or from the table. It must end in what is left of the joker's meld."
    ),
    "freed-anywhere": "A joker that was freed must be used in the same turn, anywhere you like.",
    "freed-new": (
        "A joker that was freed must be used in the same turn, in a new meld: no meld that lay on the table may be "
        "complete inside it."
    ),
    "joker-never-kept": "A joker from the table never goes to a rack.",
    "joker-same-number": (
        "A joker may be taken out of a meld and used elsewhere as the same number. The colour is free."
    ),
    "joker-exchange": (
        "Or you exchange it: say so first, then put a tile of your rack in its place that has the number and a colour"
        " the joker stands for. Then the joker may be any tile in the same turn."
    ),
    "joker-free": "A joker on the table may be taken and used as any other tile.",
    "no-limit": "There is no time limit.",
    "limit": "A turn lasts {seconds} seconds.",
    "time-finished": "If the table is right when the time is up, your play stands and costs nothing.",
    "time-finished-costs": (
        "If the table is right when the time is up, your play stands, but you draw {count} tiles unless you have won."
    ),
    "time-finished-costs-one": (
        "If the table is right when the time is up, your play stands, but you draw one tile unless you have won."
    ),
    "time-keeps-part": (
        "If not, the tiles you laid that are in no group or run go back to your rack. If the rest is right, it stands."
    ),
    "time-unfinished": "Otherwise the table goes back to how it was and you draw {count} tiles.",
    "time-unfinished-one": "Otherwise the table goes back to how it was and you draw one tile.",
    "time-unfinished-free": "Otherwise the table goes back to how it was.",
    "time-idle": "If you moved nothing you draw only one tile.",
    "score": "The others lose the sum of the numbers on their racks. The winner gets the sum of all that.",
    "joker-costs": "A joker on a rack costs {points} points.",
    "joker-costs-one": "A joker on a rack costs one point.",
    "blocked": (
        "If all players pass one after the other the game ends. The lowest rack wins; each of the others loses the "
        "difference to it, and the winner gets the sum of that."
    ),
    "blocked-tie": (
        "If several have the lowest rack, who has fewer tiles wins. If that is equal too, they share the win and "
        "score 0."
    ),
    "rounds": "You play {count} games and add up the points.",
    "rounds-one": "You play one game.",
    "target": "The series ends when somebody has {points} points or more.",
    "target-one": "The series ends when somebody has one point or more.",
    "series-win": "Who has the highest total wins.",
    "tie-shared": "Equal totals share the win.",
    "tie-most-wins": (
        "If totals are equal, most Rummikubs win, then the largest sum of positive scores, then the first Rummikub. A"
        " blocked game is no Rummikub."
    ),
    "house": "{name}: {value}",
    "card-aim": "Be the first to get rid of all your cards, in groups and runs on the table or by your last throw.",
    "card-deck": "One pack of {cards} cards.",
    "card-jokers": "And {count} jokers.",
    "card-jokers-one": "And one joker.",
    "card-hand": (
        "Everybody gets {count} cards. The next card lies open and begins the discard pile; the others are the stock."
    ),
    "card-hand-one": (
        "Everybody gets one card. The next card lies open and begins the discard pile; the others are the stock."
    ),
    "card-hand-by-players": (
        "Two players get 10 cards each, three or four get 7, five or six get 6. The next card lies open and begins "
        "the discard pile; the others are the stock."
    ),
    "card-start": "The dealer is drawn by lot, and the player after the dealer begins.",
    "card-group": "A group is three or four cards of one rank.",
    "card-run": "A run is three or more cards of one suit in a row. The ace is low: A-2-3 is a run, Q-K-A is none.",
    "card-joker-stands": (
        "A joker stands for any card. In a run its place says which; nothing comes before the ace or after the king."
    ),
    "card-draw": "First take one card: the next of the stock, or the top of the discard pile.",
    "card-meld": "Then you may lay groups and runs.",
    "card-meld-limit": "Then you may lay up to {count} new groups or runs.",
    "card-meld-limit-one": "Then you may lay one new group or run.",
    "card-add": "You may add cards to any group or run on the table, whoever laid it, as many as you like.",
    "card-no-rearranging": "Nothing is ever taken out of what lies on the table.",
    "card-discard": "At the end throw one card on the discard pile. That ends your turn.",
    "card-not-same": (
        "The card that you took from the discard pile may not be thrown back in the same turn. If it is the only card"
        " you have left, your turn ends without a throw."
    ),
    "card-turnover": (
        "When the stock is empty and you draw from it, the discard pile is turned over, not shuffled, and is the new "
        "stock."
    ),
    "card-turnover-limit": (
        "When the stock is empty and you draw from it, the discard pile is turned over, not shuffled, and is the new "
        "stock: {count} times at most. Then the game ends, and nobody has gone out."
    ),
    "card-turnover-limit-one": (
        "When the stock is empty and you draw from it, the discard pile is turned over, not shuffled, and is the new "
        "stock, but only once. Then the game ends, and nobody has gone out."
    ),
    "card-out": "The game ends at once when somebody has no card left.",
    "card-score": (
        "Everybody gets the points of the cards that they laid, also on the melds of others, and loses the points of "
        "the cards in their hand."
    ),
    "card-values": "Jack, queen and king are worth {court}, an ace {ace}, the others their number.",
    "card-values-number": "A jack is worth 11, a queen 12, a king 13, an ace {ace}, the others their number.",
    "card-bonus": "Who went out gets {points} points more.",
    "card-bonus-one": "Who went out gets one point more.",
    "card-time-up": (
        "When the time is up you get one card from the stock if you took none, throw nothing, and the turn passes."
    ),
    "joker-worth": "A joker is worth {points} points.",
    "joker-worth-one": "A joker is worth one point.",
    "yes": "yes",
    "no": "no",
    "option-jokers": "Number of jokers",
    "option-hand": "Tiles or cards dealt to each player",
    "option-min_seats": "Players, at least",
    "option-max_seats": "Players, at most",
    "option-start_by": "Who begins",
    "option-opening_min": "Points needed for the first melds",
    "option-open_and_rearrange_same_turn": "The table may be used in the turn of the first melds",
    "option-idle_rearrange_allowed": "Melds may be changed that have nothing to do with the tiles laid",
    "option-joker_move": "When a joker on the table may become another tile",
    "option-freed_joker_place": "Where a freed joker must be used",
    "option-turn_seconds": "Seconds in a turn (0 = no limit)",
    "option-timeout_draw": "Tiles drawn when time runs out on an unfinished play",
    "option-timeout_play_draw": "Tiles drawn when time runs out on a finished play",
    "option-timeout_idle_draw": "Tiles drawn when time runs out and nothing was moved",
    "option-timeout_keeps_legal_part": "When time runs out, what is right stays",
    "option-illegal_draw": "Tiles drawn for an illegal end of turn (0 = it is refused)",
    "option-rummikub_call": "The win must be called",
    "option-joker_penalty": "Points of a joker at the end",
    "option-series_tie": "Equal totals at the end of a series",
    "option-rounds": "Games in the series (0 = until somebody has the points)",
    "option-target": "Points that end the series (0 = none)",
    "option-melds_per_turn": "New melds in a turn (0 = any number)",
    "option-turnovers": "How often the discard pile becomes the stock (0 = any number)",
    "option-ace_points": "Points of an ace",
    "option-court_points": "Points of jack, queen and king (0 = their number)",
    "option-out_bonus": "Bonus for going out",
    "choice-replaced": "when its tile takes its place",
    "choice-same-number": "as the same number, or any tile after an announced exchange",
    "choice-free": "at any time",
    "choice-anywhere": "anywhere",
    "choice-new-set": "in a new meld",
    "choice-highest-tile": "who draws the highest number",
    "choice-lot": "drawn by lot",
    "choice-dealer-lot": "the player after a dealer drawn by lot",
    "choice-shared": "the win is shared",
    "choice-most-wins": "most games won decide",
}

LANGUAGES: Final[dict[str, dict[str, str]]] = {
    "en": ENGLISH,
    "es": SPANISH,
    "fi": FINNISH,
    "nb": NORWEGIAN,
    "pt": PORTUGUESE,
}
