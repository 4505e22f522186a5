"""Bytes, plain values and signed messages near right ones. Everything follows from the random source."""

from __future__ import annotations

import random
import struct
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Final

from protocol.codec import pack, unpack
from protocol.envelope import LABEL, Signer
from protocol.errors import DecodeError
from protocol.messages import BODIES

INTS: Final = (0, 1, -1, 2, 16, 17, 127, 128, 255, 256, 2**16, 2**31 - 1, 2**32, 2**53)
LIMITS: Final = (-(2**63), 2**63 - 1, 2**64 - 1)
TEXTS: Final = ("", "\0", "a" * 33, "é" * 300, "\u202e", "\U0001f600", "Draw", "Play", "ActionEntry", "shares", "none")
HEADS: Final = bytes(
    (0x80, 0x90, 0x91, 0x9F, 0xA0, 0xC0, 0xC1, 0xC2, 0xC4, 0xC6, 0xC7, 0xCA, 0xCC, 0xCF, 0xD3, 0xDD, 0xFF)
)
_SIGNATURE_BYTES: Final = 64
_ENVELOPE_FIELDS: Final = 6
_REPEATED_BYTES: Final = 10_000  # of a list that is repeated: what is far too long is all refused alike
_NESTING: Final = 0.6  # how often a message inside another is broken as such, not as bytes


def broken_bytes(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """`data` with one to three things wrong; `other` is what may be spliced in."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(len(out) + 1)
        match rng.randrange(8):
            case 0 | 1 if out:
                out[at % len(out)] ^= 1 << rng.randrange(8)
            case 2 if out:
                out[at % len(out)] = rng.choice(HEADS)
            case 3:
                out[at:at] = rng.randbytes(rng.choice((1, 2, 4, 32)))
            case 4:
                del out[at : at + rng.choice((1, 2, 4, 32))]
            case 5:
                out[at:] = other[rng.randrange(len(other) + 1) :]
            case 6:
                out[at:at] = out[at : at + rng.choice((1, 8, 64))]
            case _:
                del out[at:]
    return bytes(out)


def loose_pack(rng: random.Random, plain: Any, looseness: float = 0.03) -> bytes:
    """A msgpack form of a plain value in which some things are not said in the shortest way, or not allowed at all."""
    if rng.random() < looseness:
        return _odd_pack(rng, plain)
    if isinstance(plain, list):
        count = len(plain)
        head = bytes([0x90 | count]) if count < 16 else b"\xdc" + struct.pack(">H", count & 0xFFFF)
        return head + b"".join(loose_pack(rng, item, looseness) for item in plain)
    return pack(plain)


def _odd_pack(rng: random.Random, plain: Any) -> bytes:
    """One value in a form that is not canonical, or something that is no plain value in its place."""
    strange = (
        b"\xca\x7f\xc0\x00\x00",
        b"\x80",
        b"\x81\xa1a\x01",
        b"\xd4\x01x",
        b"\xc7\x00\x05",
        b"\xd6\xff\0\0\0\1",
        b"\xc1",
    )
    if rng.random() < 0.3:
        return rng.choice(strange)
    match plain:
        case bool() | None:
            return rng.choice(strange)
        case int() if 0 <= plain < 2**32:
            return rng.choice((b"\xce" + struct.pack(">I", plain), b"\xd3" + struct.pack(">q", plain)))
        case bytes():
            return b"\xc6" + struct.pack(">I", rng.choice((len(plain), len(plain) + 1, 2**32 - 1))) + plain
        case str():
            data = plain.encode()
            return b"\xdb" + struct.pack(">I", len(data)) + rng.choice((data, data[:-1] + b"\xff"))
        case list():
            count = rng.choice((len(plain), len(plain) + 1, 2**32 - 1))
            return b"\xdd" + struct.pack(">I", count) + b"".join(map(pack, plain))
        case _:
            return b"\xcf" + rng.randbytes(8)


class Mutator:
    """Breaks values and messages, with pieces of others that it has seen.

    `signers` sign what is broken in their name; messages inside others as well.
    """

    def __init__(self, rng: random.Random, table: bytes, signers: Sequence[Signer], seen: Iterable[Any] = ()) -> None:
        self.rng = rng
        self.table = table
        self.signers = signers
        self._bytes: dict[int, list[bytes]] = defaultdict(list)
        self._others: dict[type, list[Any]] = defaultdict(list)
        for plain in seen:
            self._learn(plain)

    def _learn(self, plain: Any) -> None:
        if isinstance(plain, bytes):
            self._bytes[len(plain)].append(plain)
            return
        self._others[type(plain)].append(plain)
        for item in plain if isinstance(plain, list) else ():
            self._learn(item)

    # Values

    def value(self, plain: Any) -> Any:
        """The plain value with something wrong in it, mostly of the same type."""
        rng = self.rng
        if isinstance(plain, list) and plain and rng.random() < 0.8:
            at = rng.randrange(len(plain))
            return [*plain[:at], self.value(plain[at]), *plain[at + 1 :]]
        if rng.random() < 0.06:
            return self._anything()
        match plain:
            case list():
                return self._list(plain)
            case bool():
                return not plain
            case int():
                return self._int(plain)
            case bytes():
                return self._some_bytes(plain)
            case str():
                return rng.choice((*TEXTS, *self._seen(str, "")))
            case _:
                return self._anything()

    def _seen(self, kind: type, otherwise: Any) -> tuple[Any, ...]:
        """A few of what was seen of a type."""
        held = self._others[kind]
        return tuple(self.rng.choice(held) for _ in range(8)) if held else (otherwise,)

    def _anything(self) -> Any:
        rng = self.rng
        nested: Any = []
        for _ in range(rng.choice((1, 15, 16, 40))):
            nested = [nested]
        by_length = self._bytes.get(32)
        digest = rng.choice(by_length) if by_length else bytes(32)
        return rng.choice(
            (None, True, False, 0, -1, b"", "", [], digest, nested, rng.choice(INTS), *LIMITS, *self._seen(list, []))
        )

    def _int(self, plain: int) -> int:
        near = (plain + 1, plain - 1, -plain, plain ^ 1, plain + 16, plain + 17)
        found = self.rng.choice(self.rng.choice((near, INTS, LIMITS, self._seen(int, 0))))
        return int(min(max(found, LIMITS[0]), LIMITS[-1]))

    def _list(self, plain: list[Any]) -> list[Any]:
        rng = self.rng
        at = rng.randrange(len(plain) + 1)
        match rng.randrange(7):
            case 0:
                return plain[:at] + plain[at + 1 :]
            case 1:
                return plain[:at] + plain[at : at + 1] + plain[at:]
            case 2:
                return rng.sample(plain, len(plain))
            case 3:
                return plain[:at]
            case 4:
                return [*plain[:at], self._anything(), *plain[at:]]
            case 5:
                return plain * rng.choice((2, 3, 50)) if len(pack(plain)) < _REPEATED_BYTES else []
            case _:
                return list(rng.choice(self._seen(list, [])))

    def _some_bytes(self, plain: bytes) -> bytes:
        rng = self.rng
        if len(plain) > 100 and rng.random() < _NESTING:
            return self._inner(plain)
        match rng.randrange(6):
            case 0 if plain:
                at = rng.randrange(len(plain))
                return plain[:at] + bytes([plain[at] ^ 1 << rng.randrange(8)]) + plain[at + 1 :]
            case 1:
                return rng.randbytes(len(plain))
            case 2:
                return rng.choice((b"", plain[:-1], plain + b"\0", plain * 2, bytes(len(plain))))
            case 3:
                return broken_bytes(rng, plain, plain)
            case _:
                same = self._bytes.get(len(plain))
                return rng.choice(same) if same else bytes(len(plain))

    def _inner(self, data: bytes) -> bytes:
        """A message or an encoded value inside another."""
        try:
            plain = unpack(data)
        except DecodeError:
            return broken_bytes(self.rng, data, data)
        if isinstance(plain, list) and len(plain) == _ENVELOPE_FIELDS and isinstance(plain[3], str):
            return self._message(plain[3], plain[4], None)
        return pack(self.value(plain))

    # Messages

    def message(self, raw: bytes, place: tuple[int, bytes] | None = None) -> bytes:
        """A right message with something wrong in it, then signed; mostly by one of `signers`, by its kind.

        `place`: height and hash of the entry before, to which it is moved half of the time.
        """
        _version, _table, _sender, kind, body, _signature = unpack(raw)
        return self._message(kind, body, place)

    def _message(self, kind: str, body: Any, place: tuple[int, bytes] | None) -> bytes:
        rng = self.rng
        for _ in range(rng.choice((0, 1, 1, 1, 2))):
            body = self.value(body)
        if place is not None and rng.random() < 0.5:
            body = moved(kind, body, place)
        if rng.random() < 0.03:
            kind = rng.choice((*BODIES, "", "body"))
        table = self.table if rng.random() < 0.98 else rng.randbytes(16)
        return sealed(rng.choice(self.signers), table, kind, body)


def sealed(signer: Signer, table: bytes, kind: str, body: Any) -> bytes:
    """What `envelope.seal` makes, of a body that need not be one."""
    head = [1, table, signer.node_id, kind, body]
    unsigned = pack([*head, bytes(_SIGNATURE_BYTES)])[: -2 - _SIGNATURE_BYTES]
    return pack([*head, signer.sign(LABEL + unsigned)])


def moved(kind: str, body: Any, place: tuple[int, bytes]) -> Any:
    """A plain body of this kind for another height; as it is if that kind has none."""
    if kind not in _PLACED or not isinstance(body, list) or len(body) < 2:
        return body
    out = [*place, *body[2:]]
    if kind == "Proposal" and len(out) > 4 and isinstance(out[4], list):
        out[4] = [*place, *out[4][2:]]
    return out


_PLACED: Final = frozenset(
    name for name, body in BODIES.items() if tuple(body.__dataclass_fields__)[:2] == ("height", "prev")
)
