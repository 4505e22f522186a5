"""Groups of one number: which tiles make some, with how many jokers, and how they are best shared out.

A use of the colours is a tuple: how many tiles of each colour go to groups. A group is a bit mask of colours. The tiles
of a colour go to different groups, so with `m` groups no colour has more than `m`; dealt out evenly they need
3 m - tiles jokers.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import permutations
from typing import Final

from engine.faces import COLOURS_OF_A_DECK
from engine.melds import MAX_GROUP, MIN_SIZE

MOST: Final = 4  # groups of a number: eight tiles and four jokers
_ALL_COLOURS: Final = (1 << COLOURS_OF_A_DECK) - 1
BASE: Final = MOST + 1  # two colours' use as one number: base * first + second

Use = tuple[int, ...]
Together = tuple[tuple[int, int], ...]  # (colour, mask): a group must hold this colour and one of the mask


def joker_counts(use: Use, jokers: int, *, spend: bool = False) -> list[int]:
    """With how many of `jokers` the tiles make groups; the fewest only, unless `spend`."""
    tiles = sum(use)
    if not tiles:
        return [0]
    least = max(0, MIN_SIZE * max(use) - tiles)
    if not spend:
        return [least] if least <= jokers else []
    counts = {
        count
        for many in range(max(use), min(tiles, MOST) + 1)
        for count in range(MIN_SIZE * many - tiles, MAX_GROUP * many - tiles + 1)
    }
    return sorted(count for count in counts if 0 <= count <= jokers)


class LazyPartners(dict[int, "_PartnersOf"]):
    """Which uses of the first two and of the other colours make groups: `[use][other]` are pairs of jokers and cost.

    With `olds`, the groups that lie there, the cost is the joints of them that break.
    """

    def __init__(self, jokers: int, spend: bool, olds: tuple[int, ...], together: Together) -> None:
        self.terms = jokers, spend, olds, together

    def __missing__(self, use: int) -> _PartnersOf:
        partners = self[use] = _PartnersOf(self, use)
        return partners


class _PartnersOf(dict[int, tuple[tuple[int, int], ...]]):
    def __init__(self, partners: LazyPartners, use: int) -> None:
        self._partners = partners
        self._use = use

    def __missing__(self, other: int) -> tuple[tuple[int, int], ...]:
        jokers, spend, olds, together = self._partners.terms
        use = (*divmod(self._use, BASE), *divmod(other, BASE))
        needed = joker_counts(use, jokers, spend=spend)
        costs = [broken_joints(use, count, olds, together) if olds or together else 0 for count in needed]
        found = tuple((count, cost) for count, cost in zip(needed, costs, strict=True) if cost is not None)
        self[other] = found
        return found


@cache
def partners(
    jokers: int, spend: bool = False, olds: tuple[int, ...] = (), together: Together = ()
) -> LazyPartners | PlainPartners:
    """The partners under these terms, kept as long as the process lives; see `LazyPartners`."""
    lazy = LazyPartners(jokers, spend, olds, together)
    if olds or together:
        return lazy
    return tuple(tuple(lazy[use][other] for other in range(BASE * BASE)) for use in range(BASE * BASE))


PlainPartners = tuple[tuple[tuple[tuple[int, int], ...], ...], ...]
Partners = LazyPartners | PlainPartners


def broken_joints(use: Use, jokers: int, olds: tuple[int, ...], together: Together) -> int | None:
    """The joints of old groups that have to break; None if no way to share out the tiles keeps `together`."""
    best = shared_out(use, jokers, olds, together)
    return None if best is None else sum(old.bit_count() - 1 for old in olds) - _kept_joints(best, olds)


@lru_cache(maxsize=1 << 14)
def shared_out(use: Use, jokers: int, olds: tuple[int, ...] = (), together: Together = ()) -> tuple[int, ...] | None:
    """The groups, as masks, that the tiles and all `jokers` make: those that keep the most joints of the old ones.

    None if there is no way to have in one group what has to be `together`.
    """
    found = [
        groups
        for groups in _ways(use, jokers)
        if all(any(mask >> colour & 1 and mask & others for mask in groups) for colour, others in together)
    ]
    return max(found, key=lambda groups: _kept_joints(groups, olds), default=None)


def _ways(use: Use, jokers: int) -> Iterator[tuple[int, ...]]:
    """All ways to share out the tiles and all jokers."""
    tiles = sum(use)
    for many in range(max(use), min(tiles, MOST) + 1):
        if MIN_SIZE * many <= tiles + jokers <= MAX_GROUP * many:
            for groups in _dealt(use, many):
                if sum(max(0, MIN_SIZE - mask.bit_count()) for mask in groups) <= jokers:
                    yield groups


@cache
def _dealt(use: Use, many: int, highest: int = _ALL_COLOURS) -> tuple[tuple[int, ...], ...]:
    """All ways to make so many groups of just these tiles, none greater than `highest`, jokers aside."""
    if not many:
        return () if any(use) else ((),)
    if max(use) > many:
        return ()
    found = []
    for mask in range(min(highest, _ALL_COLOURS), 0, -1):
        left = tuple(count - (mask >> colour & 1) for colour, count in enumerate(use))
        if min(left) >= 0:
            found += [(mask, *rest) for rest in _dealt(left, many - 1, mask)]
    return tuple(found)


def _kept_joints(groups: tuple[int, ...], olds: tuple[int, ...]) -> int:
    if not olds:
        return 0
    few, many = sorted((groups, olds), key=len)
    return max(
        sum(max(0, (one & other).bit_count() - 1) for one, other in zip(few, chosen, strict=True))
        for chosen in permutations(many, len(few))
    )


def joker_shares(groups: tuple[int, ...], jokers: int) -> list[int]:
    """How many of all `jokers` each group gets."""
    shares = [max(0, MIN_SIZE - mask.bit_count()) for mask in groups]
    for index, mask in enumerate(groups):
        more = min(MAX_GROUP - mask.bit_count() - shares[index], jokers - sum(shares))
        shares[index] += more
    assert sum(shares) == jokers, "the groups have room for all of them"
    return shares
