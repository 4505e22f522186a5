"""Which bytes of every message of the deal are what, and how to say something else in one place.

`LAYOUTS` gives the fields of a payload by its kind: that of a `PartKind`, or `own-part` and `opening` inside an action.
Source: docs/dealing.md, sections 3.3 to 3.8. For the bodies around the payloads `leaves` and `replaced` do the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from protocol.dealing.group import encode_scalar
from protocol.dealing.transcript import ORDER
from tests.protocol.dealing.test_group import bad_points


class What(Enum):
    """How a field is read."""

    POINT = "point"
    SCALAR = "scalar"
    BYTES = "bytes"


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a payload: its name, the index of its first byte, its length in bytes."""

    name: str
    offset: int
    size: int
    what: What

    def of(self, data: bytes) -> bytes:
        return data[self.offset : self.offset + self.size]

    def put(self, data: bytes, value: bytes) -> bytes:
        """`data` with another value here, which may also be shorter or longer."""
        return data[: self.offset] + value + data[self.offset + self.size :]

    def flipped(self, data: bytes, bit: int = 0) -> bytes:
        """`data` with one bit changed here."""
        value = bytearray(self.of(data))
        value[bit // 8 % self.size] ^= 1 << bit % 8
        return self.put(data, bytes(value))


Layout = tuple[Field, ...]
Piece = tuple[str, What, int]


def _laid_out(pieces: Sequence[Piece]) -> Layout:
    fields: list[Field] = []
    offset = 0
    for name, what, size in pieces:
        fields.append(Field(name, offset, size, what))
        offset += size
    return tuple(fields)


def _points(*names: str) -> list[Piece]:
    return [(name, What.POINT, 32) for name in names]


def _scalars(*names: str) -> list[Piece]:
    return [(name, What.SCALAR, 32) for name in names]


def _each(name: str, count: int) -> list[str]:
    return [f"{name}{place}" for place in range(count)]


def _key_commit(_counts: Sequence[int]) -> Layout:
    return _laid_out([("commitment", What.BYTES, 64)])


def _key_reveal(_counts: Sequence[int]) -> Layout:
    proofs = _scalars("c of x", "s of x", "c of q", "s of q")
    return _laid_out([*_points("Y", "Q"), *proofs, ("coin", What.BYTES, 32)])


def _shuffle(counts: Sequence[int]) -> Layout:
    (cards,) = counts
    deck = [f"{half}{place}" for place in range(cards) for half in "AB"]
    points = _points(*deck, *_each("c", cards), *_each("k", cards))
    answers = ("s1", "s2", "s3", "s4", *_each("sh", cards), *_each("s'", cards))
    return _laid_out([*points, *_scalars("c", *answers)])


def _shares(counts: Sequence[int]) -> Layout:
    pieces: list[Piece] = []
    for batch, cards in enumerate(counts):
        names = [f"{half}{batch}.{place}" for place in range(cards) for half in ("A'", "D")]
        pieces += [*_points(*names), *_scalars(f"c{batch}", f"sx{batch}", f"sk{batch}")]
    return _laid_out(pieces)


def _opening(_counts: Sequence[int]) -> Layout:
    return _laid_out(_scalars("c", "s"))


def _open_rack(counts: Sequence[int]) -> Layout:
    (slots,) = counts
    return _laid_out([*((name, What.BYTES, 1) for name in _each("id", slots)), *_scalars("c", "s")])


def _tag(counts: Sequence[int]) -> Layout:
    (cards,) = counts
    images = [f"{half}{place}" for place in range(cards) for half in "AB"]
    return _laid_out([*_points("S", *images), *_scalars("c", "s")])


def _tag_shares(counts: Sequence[int]) -> Layout:
    (cards,) = counts
    return _laid_out([*_points(*_each("xA", cards)), *_scalars("c", "s")])


LAYOUTS: Final[dict[str, Callable[[Sequence[int]], Layout]]] = {
    "key-commit": _key_commit,
    "key-reveal": _key_reveal,
    "shuffle": _shuffle,
    "shares": _shares,
    "own-part": _shares,
    "opening": _opening,
    "open-rack": _open_rack,
    "rekey": _shares,
    "tag": _tag,
    "tag-shares": _tag_shares,
}
"""Each takes the numbers of cards: one for each batch of shares, else one, or none where the length is fixed."""


def length_bytes(layout: Layout) -> int:
    return layout[-1].offset + layout[-1].size


def corners(layout: Layout) -> Layout:
    """The first, a middle and the last field of each name, numbers put aside: enough where each try costs much."""
    by_name: dict[str, list[Field]] = {}
    for one in layout:
        by_name.setdefault(one.name.rstrip("0123456789."), []).append(one)
    return tuple(row[place] for row in by_name.values() for place in sorted({0, len(row) // 2, len(row) - 1}))


# What must not pass


def wrong_points() -> list[bytes]:
    """32 bytes each that are no point of the group: small orders, torsion added, other encodings, off the curve."""
    return [point for point in bad_points() if len(point) == 32]


def wrong_scalars(right: bytes) -> list[bytes]:
    """Other forms of a scalar, and none: s + l, l, 2^255 - 1, all ones; 31 and 33 bytes."""
    scalar = int.from_bytes(right, "little")
    numbers = (scalar + ORDER, ORDER, 2**255 - 1, 2**256 - 1)
    return [*(number.to_bytes(32, "little") for number in numbers), right[:31], right + b"\0"]


def other_scalars(right: bytes) -> list[bytes]:
    """Scalars in their one form with another value."""
    scalar = int.from_bytes(right, "little")
    return [encode_scalar(other) for other in ((scalar + 1) % ORDER, -scalar % ORDER, 0) if other != scalar]


# Bodies: plain values as `protocol.codec` has them

Path = tuple[int, ...]


def leaves(plain: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every value in nested lists that is no list, and every empty list, with the way there."""
    if isinstance(plain, list) and plain:
        for place, item in enumerate(plain):
            yield from leaves(item, (*path, place))
    else:
        yield path, plain


def replaced(plain: Any, path: Path, value: Any) -> Any:
    """The same with another value at one place."""
    if not path:
        return value
    return [replaced(item, path[1:], value) if place == path[0] else item for place, item in enumerate(plain)]
