"""Jokers that lay on the table: may each stand for what it stands for now? Source: docs/rules.md, sections 2.4 and 2.5.

Theory of operation. All jokers look alike, so it is not known which joker of the new table is which of the old one.
Every way of telling them apart is tried (there are at most four) and for each way the most favourable reason why a
joker may lie where it lies:

- *kept*: it still stands for the same tile (`no`: for the same number). Jokers of one group stand for different
  colours, so the colours must be shared out among them without a clash.
- *freed*: a real tile took its place. That is a tile of a face the joker may stand for, in a meld of the new table that
  also holds a numbered tile of the joker's old meld. One such tile frees one joker, and a numbered tile of the old meld
  lies in one place only; which of two equal tiles it is, is chosen here too.

If no way satisfies every joker, the way with the fewest wrong jokers gives the faults.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

from engine.board import changed, difference, fits
from engine.errors import Fault
from engine.faces import JOKER_CODE, NUMBERS, text_of, texts_of
from engine.melds import Meld
from engine.rulesets import FreedJokerPlace, JokerMove, RuleSet


@dataclass(frozen=True, slots=True)
class FaceExchange:
    """An announced exchange: the joker at `position` of meld `meld` of the old table gives way to a laid `tile`."""

    meld: int
    position: int
    tile: int  # code


@dataclass(frozen=True, slots=True)
class _Place:
    """A joker on a table: its meld's index, its position there, and the codes of what it may stand for."""

    meld: int
    position: int
    options: tuple[int, ...]


_Melds = Sequence[Meld | None]
_Witness = tuple[int, int, int, int]  # old meld, face of the real tile, new meld, numbered face of the old meld there


def joker_faults(
    rules: RuleSet, before: _Melds, after: _Melds, laid: bytes, exchanges: Sequence[FaceExchange]
) -> list[Fault]:
    """What is wrong with the jokers of the old table. `after` must be legal melds and hold all tiles of `before`."""
    if rules.joker_move is JokerMove.FREE:
        return []
    if rules.joker_move is JokerMove.SAME_NUMBER:
        return _same_number_faults(before, after, laid, exchanges)
    gone, _new = changed(before, after)
    if not any(before[index] is not None and before[index].jokers for index in gone):  # type: ignore[union-attr] # tested
        return []
    return _replaced_faults(rules, before, after, laid, exchanges)


def _places(melds: _Melds) -> list[_Place]:
    places = []
    for index, meld in enumerate(melds):
        if meld is not None and meld.jokers:
            positions = [position for position, code in enumerate(meld.codes) if code == JOKER_CODE]
            places += [_Place(index, *pair) for pair in zip(positions, meld.jokers, strict=True)]
    return places


# A joker gives way only to the tile it stands for (`pt`, `fi`).


def _replaced_faults(
    rules: RuleSet, before: _Melds, after: _Melds, laid: bytes, exchanges: Sequence[FaceExchange]
) -> list[Fault]:
    olds = _places(before)
    news = _places(after)
    fresh = _fresh_melds(rules, before, after, news)
    best: list[tuple[_Place, str]] | None = None
    for chosen in permutations(news, len(olds)):
        wrong = _wrong_jokers(before, after, olds, chosen, fresh)
        if not wrong:
            return []
        if best is None or _badness(wrong) < _badness(best):
            best = wrong
    assert best is not None, "the new table holds all jokers of the old one"
    return [_replaced_fault(before, place, code, laid, exchanges) for place, code in best]


def _wrong_jokers(
    before: _Melds, after: _Melds, olds: Sequence[_Place], chosen: Sequence[_Place], fresh: frozenset[int]
) -> list[tuple[_Place, str]]:
    """The fewest jokers that lie wrong, each with its code, if the old jokers lie at the chosen new places."""
    best = [(old, "JOKER-LOCKED") for old in olds]

    def choose(
        index: int,
        wrong: list[tuple[_Place, str]],
        colours: frozenset[tuple[str, int, int]],  # colours already taken in an old or new meld
        witnesses: tuple[_Witness, ...],
    ) -> None:
        nonlocal best
        if _badness(wrong) >= _badness(best):
            return
        if index == len(olds):
            best = wrong
            return
        old, new = olds[index], chosen[index]
        for code in old.options:  # kept
            taken = {("old", old.meld, code), ("new", new.meld, code)}
            if code in new.options and not taken & colours:
                choose(index + 1, wrong, colours | taken, witnesses)
        for witness in _witnesses(before, after, old):  # freed
            taken = {("old", old.meld, witness[1])}
            if not taken & colours and _agree(witness, witnesses):
                if new.meld in fresh:
                    choose(index + 1, wrong, colours | taken, (*witnesses, witness))
                else:
                    choose(index + 1, [*wrong, (old, "JOKER-NEW-SET")], colours | taken, (*witnesses, witness))
        choose(index + 1, [*wrong, (old, "JOKER-LOCKED")], colours, witnesses)

    choose(0, [], frozenset(), ())
    return best


def _badness(wrong: Sequence[tuple[_Place, str]]) -> tuple[int, int]:
    """Fewer wrong jokers are better; of equally many, those that were at least freed."""
    return len(wrong), sum(code == "JOKER-LOCKED" for _place, code in wrong)


def _witnesses(before: _Melds, after: _Melds, old: _Place) -> Iterator[_Witness]:
    """Every real tile that may have taken the joker's place, with a numbered tile of the old meld beside it."""
    origin = before[old.meld]
    assert origin is not None
    for index, meld in enumerate(after):
        if meld is None:
            continue
        for code in old.options:
            if code in meld.codes:
                yield from ((old.meld, code, index, beside) for beside in origin.numbered if beside in meld.codes)


def _agree(witness: _Witness, others: Sequence[_Witness]) -> bool:
    """Whether one way of telling equal tiles apart serves all: no tile in two places, no place filled twice."""
    origin, tile, meld, beside = witness
    for other_origin, other_tile, other_meld, other_beside in others:
        if (tile, meld) == (other_tile, other_meld):
            return False
        if beside == other_beside and (origin == other_origin) != (meld == other_meld):
            return False
    return True


def _fresh_melds(rules: RuleSet, before: _Melds, after: _Melds, news: Sequence[_Place]) -> frozenset[int]:
    """Those melds with a joker, of the new table, in which a freed joker may lie.

    Where only a new set will do, a meld is none if a meld of the old table lies complete inside it. A meld that lies
    complete in another place as well is taken to lie there.
    """
    candidates = frozenset(place.meld for place in news)
    if rules.freed_joker_place is FreedJokerPlace.ANYWHERE:
        return candidates
    olds = [meld.codes for meld in before if meld is not None]
    lying = [meld.codes if meld is not None else b"" for meld in after]
    fresh = []
    for index in candidates:
        inside = [codes for codes in olds if fits(codes, lying[index])]
        elsewhere = [*lying[:index], *lying[index + 1 :]]
        if all(sum(fits(codes, other) for other in elsewhere) >= _copies(codes, olds) for codes in inside):
            fresh.append(index)
    return frozenset(fresh)


def _copies(codes: bytes, olds: Sequence[bytes]) -> int:
    """How many melds have these very faces."""
    return sum(sorted(codes) == sorted(other) for other in olds)


def _replaced_fault(before: _Melds, old: _Place, code: str, laid: bytes, exchanges: Sequence[FaceExchange]) -> Fault:
    meld = before[old.meld]
    assert meld is not None
    shown, meant = text_of(meld.codes), " or ".join(texts_of(old.options))
    for exchange in exchanges:
        if (exchange.meld, exchange.position) == (old.meld, old.position) and exchange.tile not in old.options:
            return _mismatch(shown, meant, exchange.tile)
    if code == "JOKER-NEW-SET":
        sentence = f"The joker that you took from {shown} must go to a new meld, not to one that lay on the table."
        return Fault(code, sentence, (), ("J",))
    sentence = f"The joker in {shown} stands for {meant} and stays so until {meant} takes its place there."
    return Fault(code, sentence, (), ("J",))


def _mismatch(shown: str, meant: str, tile: int) -> Fault:
    wrong = text_of((tile,))
    sentence = f"The joker in {shown} stands for {meant}, so {wrong} cannot take its place."
    return Fault("JOKER-SWAP-MISMATCH", sentence, (), (wrong,))


# A joker keeps its number unless it was exchanged with notice (`no`).


def _same_number_faults(before: _Melds, after: _Melds, laid: bytes, exchanges: Sequence[FaceExchange]) -> list[Fault]:
    olds = _places(before)
    faults = []
    exchanged = set()
    used: list[int] = []
    for exchange in exchanges:
        old = next(
            (place for place in olds if (place.meld, place.position) == (exchange.meld, exchange.position)), None
        )
        if old is None or (old.meld, old.position) in exchanged:
            faults.append(Fault("JOKER-SWAP-MISMATCH", "There is no joker to exchange at that place."))
            continue
        if exchange.tile not in old.options:
            shown = text_of(_codes(before, old))
            faults.append(_mismatch(shown, " or ".join(texts_of(old.options)), exchange.tile))
            continue
        used.append(exchange.tile)
        if not fits(bytes(used), laid):
            sentence = f"{text_of((exchange.tile,))} must come from your hand to be exchanged for a joker."
            faults.append(Fault("JOKER-SWAP-MISMATCH", sentence, (), texts_of((exchange.tile,))))
            continue
        exchanged.add((old.meld, old.position))
    bound = [place for place in olds if (place.meld, place.position) not in exchanged]
    left = [NUMBERS[place.options[0]] for place in _places(after)]
    for place in sorted(bound, key=lambda place: NUMBERS[place.options[0]]):
        number = NUMBERS[place.options[0]]
        if number in left:
            left.remove(number)
        else:
            faults.append(_other_number(before, after, place, difference(laid, used)))
    return faults


def _other_number(before: _Melds, after: _Melds, place: _Place, laid: bytes) -> Fault:
    shown, number = text_of(_codes(before, place)), NUMBERS[place.options[0]]
    if any(witness[1] in laid for witness in _witnesses(before, after, place)):
        sentence = f"You exchanged the joker in {shown} without saying so first: announce the exchange."
        return Fault("JOKER-NOTICE", sentence, (), ("J",))
    sentence = f"The joker in {shown} is a {number} and may be used only as a {number}."
    return Fault("JOKER-VALUE", sentence, (), ("J",))


def _codes(melds: _Melds, place: _Place) -> bytes:
    meld = melds[place.meld]
    assert meld is not None
    return meld.codes
