"""The re-deal: when a player is lost, the others shuffle every tile that is not in their racks or on the table.

Five steps under a new deck key of those who stay, each with proofs that all can check (docs/dealing.md, section 3.8):
each seat re-encrypts its hidden rack cards under the new key (`rekey_batch`); the tiles U that are nowhere public are
shuffled (`shuffle`); each seat in turn multiplies all cards, shuffled and rekeyed, by a secret of its own (`make_tag`);
all take their key off (`make_tag_shares`), which leaves a tag s M of every card that nobody can connect with a tile;
and the shuffled cards whose tag is that of a rack card go (`left_over`). What is left, as it was shuffled, is the new
pool. Racks stay as they are, under the same rack keys.

Only x of the new epoch may be used here, and tag shares only go out when every key, rekey, shuffle and tag is found
right and the own tag is in the chain: before that they would decrypt. The tag secret is for one tag only.

Long computations, to be run as jobs: `make_tag` and `check_tag` (0.5 ms for each card), `make_tag_shares` and its check
(half of that), besides the shuffle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from protocol.dealing.group import (
    ELEMENT_BYTES,
    BadElement,
    Point,
    Secret,
    add,
    chunks,
    decode_point,
    decode_points,
    subtract,
    total,
)
from protocol.dealing.proofs import DLEQ_BYTES, REKEY, TAG, TAG_SHARE, Card, Dleq, Entropy, Share, ShareBatch
from protocol.dealing.shuffle import CARD_BYTES, Deck
from protocol.dealing.transcript import Nonces, number

_HEAD_BYTES: Final = ELEMENT_BYTES  # S, before the tagged cards


def rekey_batch(ctx: bytes, rack_key: Point, deck_key: Point, cards: Deck, about: Sequence[bytes]) -> ShareBatch:
    """What a seat's re-keying of its hidden rack cards (R, S) is about; made with its q. `about` are the slots."""
    heads = tuple(card.a for card in cards)
    rest = tuple(card.b for card in cards)
    return ShareBatch(REKEY, ctx, rack_key, deck_key, heads, (*about, *rest))


def rekeyed(cards: Deck, shares: Sequence[Share]) -> Deck:
    """The same tiles under the new deck key."""
    return tuple(Card(share.a, add(card.b, share.d)) for card, share in zip(cards, shares, strict=True))


def tag_bytes(cards: int) -> int:
    """Length of a tag of so many cards."""
    return _HEAD_BYTES + CARD_BYTES * cards + DLEQ_BYTES


def make_tag(ctx: bytes, cards: Deck, secret: bytes, entropy: Entropy) -> bytes:
    """All cards times a fresh secret, with its proof. `secret` is any secret of the node, to hedge its randomness."""
    points = [point for card in cards for point in card]
    s = Secret.from_number(Nonces(secret, entropy(32), b"tag", ctx, points).next())
    head = s.times_base()
    images = [s.times(point) for point in points]
    proof = _tag_statement(ctx, head, points, images).prove(s, entropy)
    s.erase()
    return head + b"".join(images) + proof


def check_tag(ctx: bytes, cards: Deck, data: bytes) -> str | None:
    """Whether `data` is all these cards times one secret other than zero; else the reason. Never raises."""
    if len(data) != tag_bytes(len(cards)) or not cards:
        return f"expected a tag of {tag_bytes(len(cards))} bytes, got {len(data)}"
    try:
        head = decode_point(data[:_HEAD_BYTES])
        images = decode_points(data[_HEAD_BYTES:-DLEQ_BYTES])
    except BadElement as bad:
        return str(bad)
    points = [point for card in cards for point in card]
    return _tag_statement(ctx, head, points, images).check(data[-DLEQ_BYTES:])


def tagged(data: bytes) -> Deck:
    """The cards in a tag that was checked."""
    points = [Point(chunk) for chunk in chunks(data[_HEAD_BYTES:-DLEQ_BYTES])]
    return tuple(Card(points[at], points[at + 1]) for at in range(0, len(points), 2))


def _tag_statement(ctx: bytes, head: Point, points: Sequence[Point], images: Sequence[Point]) -> Dleq:
    return Dleq(TAG, ctx, head, tuple(zip(points, images, strict=True)), (number(len(points)),))


def tag_share_bytes(cards: int) -> int:
    """Length of a seat's tag shares for so many cards."""
    return ELEMENT_BYTES * cards + DLEQ_BYTES


def make_tag_shares(ctx: bytes, key: Point, cards: Deck, secret: Secret, entropy: Entropy) -> bytes:
    """x A of every tagged card, with its proof. `secret` is x of the new epoch, `key` its Y."""
    shares = [secret.times(card.a) for card in cards]
    return b"".join(shares) + _tag_share_statement(ctx, key, cards, shares).prove(secret, entropy)


def check_tag_shares(ctx: bytes, key: Point, cards: Deck, data: bytes) -> str | None:
    """Whether `data` are the tag shares of the owner of `key` for these cards; else the reason. Never raises."""
    if len(data) != tag_share_bytes(len(cards)) or not cards:
        return f"expected tag shares of {tag_share_bytes(len(cards))} bytes, got {len(data)}"
    try:
        shares = decode_points(data[:-DLEQ_BYTES])
    except BadElement as bad:
        return str(bad)
    return _tag_share_statement(ctx, key, cards, shares).check(data[-DLEQ_BYTES:])


def _tag_share_statement(ctx: bytes, key: Point, cards: Deck, shares: Sequence[Point]) -> Dleq:
    pairs = tuple((card.a, share) for card, share in zip(cards, shares, strict=True))
    return Dleq(TAG_SHARE, ctx, key, pairs, (number(len(cards)), *(card.b for card in cards)))


def tags(cards: Deck, shares: Sequence[bytes]) -> tuple[Point, ...]:
    """s M of every tagged card, from everybody's checked tag shares."""
    by_seat = [chunks(data[:-DLEQ_BYTES]) for data in shares]
    return tuple(subtract(card.b, total(Point(seat[place]) for seat in by_seat)) for place, card in enumerate(cards))


def left_over(shuffled: Sequence[Point], racks: Sequence[Point]) -> tuple[int, ...] | str:
    """The places of the shuffled cards that are on no rack, in order: the new pool. Or why the tags are wrong.

    Source: docs/deal-entries.md, section 4.
    """
    if len(set(shuffled)) < len(shuffled):
        return "a tile twice in the shuffled deck"
    if len(set(racks)) < len(racks) or not set(racks) <= set(shuffled):
        return "not every rack card is one of the shuffled tiles, each once"
    held = set(racks)
    return tuple(place for place, tag in enumerate(shuffled) if tag not in held)
