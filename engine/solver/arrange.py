"""The board after a solution: melds that stay keep their place, and none changes for nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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
        codes = bytes(meld.codes)
        left.setdefault(meld_key(codes, meld.kind), []).append((codes, meld.kind))
    stays, gone = [], []
    for index, old in enumerate(before):
        same = left.get(meld_key(*old))
        if same:
            same.pop()
            stays.append(index)
        else:
            gone.append(index)
    changed: list[Said] = []
    for olds, news in _clusters(before, gone, [meld for same in left.values() for meld in same]):
        if sum([len(before[index][0]) for index in olds]) == sum([len(codes) for codes, _kind in news]):
            stays += olds
        else:
            changed += news
    return tuple([before[index] for index in sorted(stays)] + sorted(changed, key=_place))


def _clusters(before: Layout, gone: Sequence[int], news: Sequence[Said]) -> list[tuple[list[int], list[Said]]]:
    """Melds that hang together by the faces they share: those of the board before by their index, and new ones."""
    clusters: list[tuple[set[int], list[int], list[Said]]] = []
    single: list[tuple[set[int], list[int], list[Said]]] = [(set(before[index][0]), [index], []) for index in gone]
    single += [(set(meld[0]), [], [meld]) for meld in news]
    for faces, olds, added in single:
        apart = []
        for cluster in clusters:
            if faces.isdisjoint(cluster[0]):
                apart.append(cluster)
            else:
                faces |= cluster[0]
                olds += cluster[1]
                added += cluster[2]
        clusters = [*apart, (faces, olds, added)]
    return [(olds, added) for _faces, olds, added in clusters]


def _place(meld: Said) -> tuple[bool, bytes]:
    codes, kind = meld
    return kind is MeldKind.GROUP, codes.replace(b"\0", b"")
