"""The keys of one game: committed to by all before any is shown, each with a proof that its owner knows the secret.

x is a seat's share of the deck key, q its rack key. The coin bytes for the lot travel along.
Source: docs/dealing.md, sections 3.3 and 3.7; pitfalls 1 and 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Final

from engine.state import Seat
from protocol.dealing.dealer import Entropy
from protocol.dealing.group import ELEMENT_BYTES, IDENTITY, BadElement, Point, Secret, decode_points, total
from protocol.dealing.proofs import KEY_PROOF_BYTES, check_key, prove_key
from protocol.dealing.transcript import ORDER, digest, number

COIN_BYTES: Final = 32
COMMIT_BYTES: Final = 64
REVEAL_BYTES: Final = 2 * ELEMENT_BYTES + 2 * KEY_PROOF_BYTES + COIN_BYTES
EPOCH_REVEAL_BYTES: Final = ELEMENT_BYTES + KEY_PROOF_BYTES  # of a re-deal: a new Y alone
SECRET_BYTES: Final = 2 * ELEMENT_BYTES + COIN_BYTES

_POP_X: Final = b"RK1/pop-x"
_POP_Q: Final = b"RK1/pop-q"


class OwnKeys:
    """This node's secrets of one game: x, q and the coin. No repr shows them."""

    def __init__(self, x: Secret, q: Secret, coin: bytes) -> None:
        assert len(coin) == COIN_BYTES
        self.x = x
        self.q = q
        self.coin = coin

    @classmethod
    def fresh(cls, entropy: Entropy) -> OwnKeys:
        """New secrets for a new game."""
        return cls(_fresh_scalar(entropy), _fresh_scalar(entropy), entropy(COIN_BYTES))

    @classmethod
    def restored(cls, secret: bytes) -> OwnKeys:
        """The same secrets again, from what `secret` gave. Raises `ValueError`."""
        if len(secret) != SECRET_BYTES:
            raise ValueError(f"expected secrets of {SECRET_BYTES} bytes, got {len(secret)}")
        x, q, coin = secret[:ELEMENT_BYTES], secret[ELEMENT_BYTES : 2 * ELEMENT_BYTES], secret[2 * ELEMENT_BYTES :]
        return cls(Secret(x), Secret(q), coin)

    def __repr__(self) -> str:
        return "OwnKeys()"

    def secret(self) -> bytes:
        """Everything, for the journal only."""
        return self.x.reveal() + self.q.reveal() + self.coin

    def renew(self, entropy: Entropy) -> None:
        """A fresh x for a new epoch. q stays: the racks are under it."""
        self.x.erase()
        self.x = _fresh_scalar(entropy)

    def erase(self) -> None:
        """Forget x and q: the game is over."""
        self.x.erase()
        self.q.erase()

    def reveal(self, ctx: bytes) -> bytes:
        """Y, Q, their proofs, and the coin. The same bytes whenever it is asked for one ctx."""
        y, q = self.x.times_base(), self.q.times_base()
        proofs = prove_key(_POP_X, ctx, y, self.x, self.coin) + prove_key(_POP_Q, ctx, q, self.q, self.coin)
        return y + q + proofs + self.coin

    def reveal_epoch(self, ctx: bytes) -> bytes:
        """In a re-deal: the new Y and its proof. The same bytes whenever it is asked for one ctx."""
        y = self.x.times_base()
        return y + prove_key(_POP_X, ctx, y, self.x, self.coin)


@dataclass(frozen=True, slots=True)
class PublicKeys:
    """Everybody's keys: `y` and `q` by seat, in seat order. `joint` is the deck key."""

    y: Mapping[Seat, Point]
    q: Mapping[Seat, Point]
    joint: Point

    @property
    def seats(self) -> tuple[Seat, ...]:
        return tuple(self.y)


def commitment(ctx: bytes, reveal: bytes) -> bytes:
    """What binds a seat to its reveal before it has seen another's."""
    return digest(b"RK1/key-commit", ctx, *_fields(reveal))


def check_reveal(
    reveal: bytes,
    committed: bytes,
    commit_ctx: bytes,
    ctx: bytes,
    others: Iterable[bytes],
    seats: int,
    used: Set[bytes] = frozenset(),
    *,
    epoch: bool = False,
) -> str | None:
    """Whether a reveal is what was committed to, with keys that its owner knows and that are nobody else's.

    `others` are the reveals of other seats that were checked before, `seats` how many there will be in all, `used` keys
    of earlier games and epochs. `epoch`: the reveal of a re-deal.
    """
    size = EPOCH_REVEAL_BYTES if epoch else REVEAL_BYTES
    if len(reveal) != size:
        return f"expected keys of {size} bytes, got {len(reveal)}"
    if commitment(commit_ctx, reveal) != committed:
        return "does not match the commitment"
    fields = _fields(reveal)
    try:
        own = decode_points(b"".join(_keys(fields)))
    except BadElement as bad:
        return str(bad)
    proofs = fields[len(own)]
    for place, (label, key) in enumerate(zip((_POP_X, _POP_Q), own, strict=False)):
        reason = check_key(label, ctx, key, proofs[place * KEY_PROOF_BYTES : (place + 1) * KEY_PROOF_BYTES])
        if reason is not None:
            return reason
    theirs = [_fields(other) for other in others]
    keys = [*own, *(Point(key) for other in theirs for key in _keys(other))]
    if len(set(keys)) < len(keys) or set(own) & used:
        return "a key twice"
    if len(theirs) + 1 == seats and total([own[0], *(Point(other[0]) for other in theirs)]) == IDENTITY:
        return "the deck key is the identity"
    return None


def public_keys(reveals: Mapping[Seat, bytes]) -> PublicKeys:
    """The keys in reveals that were checked, all of them."""
    fields = {seat: _fields(reveals[seat]) for seat in sorted(reveals)}
    y = {seat: Point(own[0]) for seat, own in fields.items()}
    return PublicKeys(y, {seat: Point(own[1]) for seat, own in fields.items()}, total(y.values()))


def epoch_keys(before: PublicKeys, reveals: Mapping[Seat, bytes]) -> PublicKeys:
    """The keys after a re-deal among the seats of `reveals`: new shares of the deck key, the same rack keys."""
    y = {seat: Point(_fields(reveals[seat])[0]) for seat in sorted(reveals)}
    return PublicKeys(y, {seat: before.q[seat] for seat in y}, total(y.values()))


def lot_numbers(reveals: Mapping[Seat, bytes]) -> Callable[[int], int]:
    """u_0, u_1, ... of 512 bits, from all coins. Source: docs/deal-entries.md, section 5, item 2."""
    coin = digest(b"RK1/coin", *(_fields(reveals[seat])[3] for seat in sorted(reveals)))
    return lambda draw: int.from_bytes(digest(b"RK1/coin", coin, number(draw)), "big")


def _fields(reveal: bytes) -> tuple[bytes, ...]:
    """Y, Q, proofs, coin; in a re-deal Y and proof."""
    if len(reveal) == EPOCH_REVEAL_BYTES:
        return reveal[:ELEMENT_BYTES], reveal[ELEMENT_BYTES:]
    assert len(reveal) == REVEAL_BYTES
    proofs_end = REVEAL_BYTES - COIN_BYTES
    return reveal[:32], reveal[32:64], reveal[64:proofs_end], reveal[proofs_end:]


def _keys(fields: Sequence[bytes]) -> Sequence[bytes]:
    """The keys among the fields of a reveal."""
    return fields[: len(fields) // 2]


def _fresh_scalar(entropy: Entropy) -> Secret:
    while True:
        scalar = int.from_bytes(entropy(64), "little") % ORDER
        if scalar:
            return Secret.from_number(scalar)
