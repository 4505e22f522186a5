"""Everything that is wrong with a turn of a tile game, on faces. Source: docs/rules.md, sections 2.2 to 2.6.

Judged is the table as it would be left, never the way there. Tiles with the same face are interchangeable, so nothing
here asks which of two equal tiles lies where: a turn is legal if it is legal for one way of telling them apart.
The order of the faults is the order of the checks in section 2.2. A joker that changes what it stands for is judged in
`jokers`; the other rules are here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from engine.board import Layout, changed, difference, fits, read_layout
from engine.errors import Fault
from engine.faces import JOKER_CODE, NUMBERS, text_of, texts_of
from engine.jokers import FaceExchange, joker_faults
from engine.melds import MIN_SIZE, Meld, why_no_meld
from engine.rulesets import NO, RuleSet
from engine.state import MeldKind
from engine.tiles import MAX_NUMBER


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn as its seat would leave it, on faces. All byte strings hold codes, see `faces`.

    `laid` came from the rack. `lost` and `taken` were on the board before and are now nowhere, or on the rack;
    `foreign` came from neither the board nor the rack. `opening` holds the melds laid first as the opening; empty =
    all melds of `after` that are made of laid tiles.
    """

    opened: bool
    before: Layout
    after: Layout
    laid: bytes
    opening: Layout = ()
    exchanges: tuple[FaceExchange, ...] = ()
    lost: bytes = b""
    taken: bytes = b""
    foreign: bytes = b""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What `judge_turn` found. `melds` are those of the turn's `after`, as read; `opening_points` 0 once opened."""

    faults: tuple[Fault, ...]
    melds: tuple[Meld | None, ...]
    opening_points: int


def turn_of_faces(
    opened: bool,
    before: Layout,
    after: Layout,
    rack: bytes,
    rack_after: bytes | None = None,
    opening: Layout = (),
    exchanges: tuple[FaceExchange, ...] = (),
) -> Turn:
    """A turn told by its boards and racks alone. `rack_after` None: the rack without the laid tiles."""
    lay_before = b"".join(codes for codes, _kind in before)
    lay_after = b"".join(codes for codes, _kind in after)
    more = difference(lay_after, lay_before)
    foreign = difference(more, rack)
    laid = difference(more, foreign)
    gone = difference(lay_before, lay_after)
    kept = difference(rack, laid)
    on_rack = b"" if rack_after is None else difference(rack_after, kept)
    lost = difference(gone, on_rack)
    return Turn(opened, before, after, laid, opening, exchanges, lost, difference(gone, lost), foreign)


def judge_turn(rules: RuleSet, turn: Turn) -> Verdict:
    """All that is wrong with the turn, and how its melds are read. No faults: it is legal."""
    before = read_layout(turn.before)
    after = read_layout(turn.after, before)
    faults = _conservation(turn)
    conserved = not faults
    faults += _invalid_sets(rules, turn, after)
    legal_table = not faults
    if not turn.laid:
        faults.append(Fault("NO-RACK-TILE", "You must lay at least one tile from your rack, or draw one."))
    points = 0
    if not turn.opened and rules.opening_min:
        opening = _opening_faults(rules, turn, before, after)
        points = opening[1]
        if conserved and turn.laid:
            faults += opening[0]
    if legal_table:
        faults += joker_faults(rules, before, after, turn.laid, turn.exchanges)
        if not rules.idle_rearrange_allowed and turn.laid:
            faults += _idle_rearranging(turn, before, after)
    return Verdict(tuple(faults), after, points)


def _conservation(turn: Turn) -> list[Fault]:
    """Rules 1 and 2 of section 2.2."""
    faults = []
    if turn.lost:
        sentence = f"{text_of(turn.lost)} lay on the table and must still be there at the end of your turn."
        faults.append(Fault("TILE-MISSING", sentence, (), texts_of(turn.lost)))
    jokers = turn.taken.count(JOKER_CODE)
    numbered = turn.taken.replace(b"\0", b"")
    if jokers:
        sentence = "A joker from the table may not go to your rack, you must use it again in this turn."
        faults.append(Fault("JOKER-TO-RACK", sentence, (), ("J",) * jokers))
    if numbered:
        sentence = f"{text_of(numbered)} lay on the table and may not go to your rack."
        faults.append(Fault("TILE-TO-RACK", sentence, (), texts_of(numbered)))
    if turn.foreign:
        sentence = f"{text_of(turn.foreign)}: you do not have this on your rack."
        if len(turn.foreign) > 1:
            sentence = f"{text_of(turn.foreign)}: you do not have these on your rack."
        faults.append(Fault("TILE-NOT-HELD", sentence, (), texts_of(turn.foreign)))
    return faults


def _invalid_sets(rules: RuleSet, turn: Turn, after: Sequence[Meld | None]) -> list[Fault]:
    """Rule 3 of section 2.2."""
    faults = []
    for index, ((codes, declared), meld) in enumerate(zip(turn.after, after, strict=True)):
        if meld is not None:
            continue
        faults.append(invalid_set(index, codes, declared))
        if rules.name == NO.name and _is_remnant(codes, turn.before):
            sentence = f"{text_of(codes)}: this is left over. Use up the whole combination, or leave three in it."
            faults.append(Fault("REMNANT", sentence, (index,), texts_of(codes)))
    return faults


def invalid_set(index: int, codes: bytes, declared: MeldKind | None) -> Fault:
    """Meld `index` of the judged board is none."""
    return Fault("INVALID-SET", why_no_meld(codes, declared), (index,), texts_of(codes))


def _is_remnant(codes: bytes, before: Layout) -> bool:
    return 0 < len(codes) < MIN_SIZE and any(fits(codes, old) for old, _kind in before)


def _opening_faults(
    rules: RuleSet, turn: Turn, before: Sequence[Meld | None], after: Sequence[Meld | None]
) -> tuple[list[Fault], int]:
    """What is wrong with the opening, and the points that count for it. Source: docs/rules.md, section 2.3."""
    faults = []
    if turn.opening:
        melds = read_layout(turn.opening)
        for (codes, declared), meld in zip(turn.opening, melds, strict=True):
            if meld is None:
                faults.append(Fault("INVALID-SET", why_no_meld(codes, declared), (), texts_of(codes)))
        needed = b"".join(codes for codes, _kind in turn.opening)
        borrowed = difference(needed, turn.laid)
        if borrowed:
            sentence = f"Your first melds must be made of your own tiles only; {text_of(borrowed)} is not yours."
            faults.append(Fault("OPEN-RACK-ONLY", sentence, (), texts_of(borrowed)))
        points = _own_points(melds, turn.laid)
    else:
        points = _own_points(after, turn.laid)
    gone, _new = changed(before, after)
    if points < rules.opening_min:
        sentence = f"Your first melds must be worth at least {rules.opening_min} points; these are worth {points}."
        faults.append(Fault("OPEN-MIN", sentence))
        if gone:
            sentence = "Before you have laid your first melds you may not touch what lies on the table."
            faults.append(Fault("OPEN-FIRST", sentence))
    elif gone and not rules.open_and_rearrange_same_turn:
        sentence = "In the turn of your first melds you may not change what lies on the table, only later."
        faults.append(Fault("OPEN-SAME-TURN", sentence))
    return faults, points


def _own_points(melds: Sequence[Meld | None], laid: bytes) -> int:
    """The points of those melds that are made of laid tiles.

    Two melds may need the same laid tile (when its twin lies on the table): then the dearest choice counts.
    """
    own: list[Meld] = []
    for meld in melds:
        if meld is not None and fits(meld.codes, laid):
            twins = sum(1 for other in own if other.key == meld.key)
            if fits(meld.codes * (twins + 1), laid):
                own.append(meld)
    all_needed = b"".join(meld.codes for meld in own)
    if fits(all_needed, laid):
        return sum(meld.points for meld in own)
    return _dearest_choice(sorted(own, key=lambda meld: -meld.points), laid)


def _dearest_choice(melds: list[Meld], laid: bytes) -> int:
    best = 0

    def choose(index: int, points: int, left: bytes) -> None:
        nonlocal best
        best = max(best, points)
        bound = sum(NUMBERS[code] or MAX_NUMBER for code in left)
        if index == len(melds) or points + bound <= best:
            return
        meld = melds[index]
        if fits(meld.codes, left):
            choose(index + 1, points + meld.points, difference(left, meld.codes))
        choose(index + 1, points, left)

    choose(0, 0, laid)
    return best


def _idle_rearranging(turn: Turn, before: Sequence[Meld | None], after: Sequence[Meld | None]) -> list[Fault]:
    """Clusters of changed melds without a laid tile. Source: docs/rules.md, section 2.6.

    Changed melds that share a face are one cluster. All tiles of a face are then in one cluster, so a cluster holds
    a laid tile exactly if its new melds have more tiles than its old ones.
    """
    gone, new = changed(before, after)
    olds = [turn.before[index][0] for index in gone]
    news = [turn.after[index][0] for index in new]
    leaders: dict[int, int] = {}  # face -> a face of its cluster (union-find)

    def find(code: int) -> int:
        while leaders.setdefault(code, code) != code:
            leaders[code] = leaders[leaders[code]]
            code = leaders[code]
        return code

    for codes in (*olds, *news):
        for code in codes[1:]:
            leaders[find(code)] = find(codes[0])
    surplus: Counter[int] = Counter()
    for sign, melds in ((-1, olds), (1, news)):
        for codes in melds:
            surplus[find(codes[0])] += sign * len(codes)
    faults = []
    for leader, count in surplus.items():
        if count <= 0:
            idle = [index for index in new if find(turn.after[index][0][0]) == leader]
            shown = ", ".join(text_of(turn.after[index][0]) for index in idle)
            sentence = f"You may change melds on the table only to lay a tile of yours: {shown} has none."
            faults.append(Fault("IDLE-REARRANGE", sentence, tuple(idle)))
    return faults
