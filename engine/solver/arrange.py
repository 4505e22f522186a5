"""The board after a solution: melds that stay keep their place, and none changes for nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from engine.board import Layout
from engine.solver.rebuild import MeldDraft, meld_key
from engine.state import MeldKind

Said = tuple[bytes, MeldKind | None]  # a meld of a layout


def layout_after(melds: Iterable[MeldDraft], before: Layout) -> Layout:
    """The melds as a board: those of `before` that stay first, as and where they lay, then the others.

    Melds that would change without any laid tile among them stay too. Source: docs/rules.md, section 2.6.
    """
    left: dict[bytes, list[Said]] = {}
    for meld in melds:
        left.setdefault(meld.key, []).append((bytes(meld.codes), meld.kind))
    stays, gone = [], []
    for index, old in enumerate(before):
        same = left.get(meld_key(*old))
        if same:
            same.pop()
            stays.append(index)
        else:
            gone.append((old, index))
    changed: list[Said] = []
    for cluster in _clusters(gone, list(chain.from_iterable(left.values()))):
        if sum(len(before[index][0]) for index in cluster.olds) == sum(len(codes) for codes, _kind in cluster.news):
            stays += cluster.olds
        else:
            changed += cluster.news
    return tuple([before[index] for index in sorted(stays)] + sorted(changed, key=_place))


@dataclass(slots=True)
class _Cluster:
    """Melds that hang together by the faces they share: those of the board before by their index, and new ones."""

    faces: set[int]
    olds: list[int]
    news: list[Said]


def _clusters(olds: Sequence[tuple[Said, int]], news: Sequence[Said]) -> list[_Cluster]:
    single = [_Cluster(set(codes), [index], []) for (codes, _kind), index in olds]
    single += [_Cluster(set(meld[0]), [], [meld]) for meld in news]
    clusters: list[_Cluster] = []
    for merged in single:
        apart = []
        for cluster in clusters:
            if cluster.faces.isdisjoint(merged.faces):
                apart.append(cluster)
            else:
                merged.faces |= cluster.faces
                merged.olds += cluster.olds
                merged.news += cluster.news
        clusters = [*apart, merged]
    return clusters


def _place(meld: Said) -> tuple[bool, int]:
    codes, kind = meld
    return kind is MeldKind.GROUP, codes.replace(b"\0", b"")[0]
