"""A second opinion on every proof of the secret deal: checked again in plain Python, from the text of docs/dealing.md.

Nothing here is shared with the dealer at the table: not the library, not the group, not a hash, not a check. What is
spelled out twice is so on purpose; a mistake would have to be made twice to go unseen. About ten times slower.

Points and scalars stay the bytes they came as; `_point` and `_scalars` refuse what is none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import cast

from engine.dealt import first_racks
from engine.redeal import unplaced
from engine.state import Call, CallName, PublicState, Seat, Slot
from engine.tiles import TileId
from protocol.audit import curve
from protocol.audit.curve import Extended
from protocol.codec import encode
from protocol.dealing.dealer import CannotBuild, Context, Dealer, Entropy, Owed
from protocol.errors import RemoteProtocolError
from protocol.messages import Genesis, PartKind

Card = tuple[bytes, bytes]  # (A, B)

_G = curve.encode(curve.BASE)


class BadBytes(ValueError):  # noqa: N818 - named for what was found
    """Bytes that are no point of the group, or no scalar."""


# Section 3.1: hashes and encodings


def hashed(*fields: bytes | Sequence[bytes]) -> bytes:
    """SHA-512, every field with its length in front, a list as the fields in it."""
    hasher = hashlib.sha512()
    for item in fields:
        whole = item if isinstance(item, bytes) else b"".join(len(part).to_bytes(8, "big") + part for part in item)
        hasher.update(len(whole).to_bytes(8, "big"))
        hasher.update(whole)
    return hasher.digest()


def scalar(*fields: bytes | Sequence[bytes]) -> int:
    """The same hash as a scalar."""
    return int.from_bytes(hashed(*fields), "little") % curve.L


def count(number: int) -> bytes:
    """A number as a field."""
    return number.to_bytes(8, "big")


def _weights(label: bytes, seed: bytes, number: int) -> list[int]:
    return [1] if number == 1 else [scalar(label, seed, count(place)) for place in range(number)]


def _seed(*fields: bytes | Sequence[bytes]) -> bytes:
    return scalar(*fields).to_bytes(32, "little")


def _split(data: bytes) -> list[bytes]:
    return [data[at : at + 32] for at in range(0, len(data), 32)]


@lru_cache(maxsize=65536)
def _point(data: bytes) -> Extended:
    decoded = curve.decode(data)
    if decoded is None or not curve.in_group(decoded):
        raise BadBytes("not a point of the group")
    return decoded


def _points(data: Sequence[bytes]) -> list[Extended]:
    return [_point(item) for item in data]


def _scalars(data: bytes) -> list[int]:
    found = [int.from_bytes(item, "little") for item in _split(data)]
    if any(number >= curve.L for number in found):
        raise BadBytes("a scalar not below the order")
    return found


def _sum(*terms: tuple[int, Extended]) -> bytes:
    return curve.encode(curve.combination(terms))


def _weighted(weights: Sequence[int], points: Sequence[Extended]) -> Extended:
    return curve.combination(zip(weights, points, strict=True))


@cache
def _generator(index: int) -> Extended:
    return _point(curve.hash_to_point(b"RK1/gen", b"", index))


@cache
def _tiles(deck: str, jokers: int, size: int) -> tuple[bytes, ...]:
    return tuple(curve.hash_to_point(b"RK1/tile", f"{deck}/{jokers}".encode(), index) for index in range(size))


# The proofs; each says whether it holds, or raises `BadBytes`


def key_holds(label: bytes, ctx: bytes, key: bytes, proof: bytes) -> bool:
    """Section 3.3: whoever made the proof knows the secret of `key`."""
    if len(proof) != 64:
        return False
    challenge, response = _scalars(proof)
    commitment = _sum((response, curve.BASE), (-challenge, _point(key)))
    return challenge == scalar(label, ctx, _G, key, commitment)


def shuffle_holds(ctx: bytes, key: bytes, before: Sequence[Card], data: bytes) -> bool:
    """Section 3.4: `data` is the deck `before` under `key` in another order, with its proof."""
    size = len(before)
    if len(data) != 32 * (6 * size + 5):
        return False
    raw = _split(data[: 128 * size])
    raw_out, raw_c, raw_k = raw[: 2 * size], raw[2 * size : 3 * size], raw[3 * size :]
    challenge, s1, s2, s3, s4, *rest = _scalars(data[128 * size :])
    s_hat, s_out = rest[:size], rest[size:]
    a_out, b_out = _points(raw_out[::2]), _points(raw_out[1::2])
    c, k = _points(raw_c), _points(raw_k)
    if len(set(zip(raw_out[::2], raw_out[1::2], strict=True))) < size:
        return False
    a, b = _points([card[0] for card in before]), _points([card[1] for card in before])
    h = [_generator(index) for index in range(size + 1)]
    seed = hashed(b"RK1/tw-u", ctx, _G, key, [part for card in before for part in card], raw_out, raw_c)
    u = [scalar(b"RK1/tw-ui", seed, count(place)) for place in range(size)]
    product = 1
    for weight in u:
        product = product * weight % curve.L
    c_bar = _weighted([1] * size + [-1] * size, [*c, *h[1:]])
    t = [
        _sum((s1, curve.BASE), (-challenge, c_bar)),
        _sum((s2, curve.BASE), (-challenge, k[-1]), (challenge * product, h[0])),
        _sum((s3, curve.BASE), *zip(s_out, h[1:], strict=True), (-challenge, _weighted(u, c))),
    ]
    t4 = [
        _sum(*zip(s_out, b_out, strict=True), (-challenge, _weighted(u, b)), (-s4, _point(key))),
        _sum(*zip(s_out, a_out, strict=True), (-challenge, _weighted(u, a)), (-s4, curve.BASE)),
    ]
    chain = [h[0], *k]
    t_hat = [
        _sum((s_hat[place], curve.BASE), (s_out[place], chain[place]), (-challenge, chain[place + 1]))
        for place in range(size)
    ]
    return challenge == scalar(b"RK1/tw-c", seed, raw_k, t, t4, t_hat)


def shares_hold(
    name: bytes, ctx: bytes, key: bytes, rack_key: bytes, heads: Sequence[bytes], about: Sequence[bytes], data: bytes
) -> bool:
    """Section 3.5: shares of the owner of `key` for cards with these A, re-encrypted under `rack_key`.

    `name` is `share` or `rekey` (section 3.8), `about` what else the proof is bound to.
    """
    size = len(heads)
    if len(data) != 64 * size + 96:
        return False
    raw = _split(data[: 64 * size])
    challenge, of_secret, of_factor = _scalars(data[64 * size :])
    a, d = _points(raw[::2]), _points(raw[1::2])
    label = b"RK1/" + name
    seed = _seed(label + b"-z", ctx, about, _G, key, rack_key, heads, raw)
    z = _weights(label + b"-zi", seed, size)
    t = [
        _sum((of_secret, curve.BASE), (-challenge, _point(key))),
        _sum((of_factor, curve.BASE), (-challenge, _weighted(z, a))),
        _sum(
            (of_secret, _weighted(z, _points(heads))),
            (of_factor, _point(rack_key)),
            (-challenge, _weighted(z, d)),
        ),
    ]
    return challenge == scalar(label + b"-c", seed, *t)


def one_secret_holds(
    name: bytes, ctx: bytes, key: bytes, pairs: Sequence[Card], about: Sequence[bytes], proof: bytes
) -> bool:
    """That one x has key = x G and second = x first in every pair. `name` is `open`, `tag` or `tagdec`."""
    if len(proof) != 64 or not pairs:
        return False
    challenge, response = _scalars(proof)
    label = b"RK1/" + name
    seed = _seed(label + b"-z", ctx, about, _G, key, [part for pair in pairs for part in pair])
    z = _weights(label + b"-zi", seed, len(pairs))
    base, image = (_weighted(z, [_any_point(pair[half]) for pair in pairs]) for half in (0, 1))
    t = [_sum((response, curve.BASE), (-challenge, _point(key))), _sum((response, base), (-challenge, image))]
    return challenge == scalar(label + b"-c", seed, *t)


def _any_point(data: bytes) -> Extended:
    """A computed point, which may be the identity."""
    return curve.ZERO if data == curve.encode(curve.ZERO) else _point(data)


def opening_holds(
    ctx: bytes, rack_key: bytes, cards: Sequence[Card], tiles: Sequence[bytes], about: Sequence[bytes], proof: bytes
) -> bool:
    """Section 3.6: M - S = q R for all of these rack cards (R, S) and tiles M."""
    images = [_sum((1, _point(tile)), (-1, _any_point(card[1]))) for card, tile in zip(cards, tiles, strict=True)]
    pairs = [(card[0], image) for card, image in zip(cards, images, strict=True)]
    return one_secret_holds(b"open", ctx, rack_key, pairs, [*about, *(card[1] for card in cards)], proof)


def rekey_holds(
    ctx: bytes, rack_key: bytes, deck_key: bytes, cards: Sequence[Card], about: Sequence[bytes], data: bytes
) -> bool:
    """Section 3.8, step 2: the owner of `rack_key` re-encrypted its hidden rack cards under the new deck key."""
    heads = [card[0] for card in cards]
    return shares_hold(b"rekey", ctx, rack_key, deck_key, heads, [*about, *(card[1] for card in cards)], data)


def tag_holds(ctx: bytes, cards: Sequence[Card], data: bytes) -> bool:
    """Section 3.8, step 4: S, all cards times one secret, and the proof."""
    points = [part for card in cards for part in card]
    if len(data) != 32 * (1 + len(points)) + 64:
        return False
    head, *images = _split(data[:-64])
    _points(images)
    pairs = list(zip(points, images, strict=True))
    return one_secret_holds(b"tag", ctx, head, pairs, [count(len(points))], data[-64:])


def tag_shares_hold(ctx: bytes, key: bytes, cards: Sequence[Card], data: bytes) -> bool:
    """Section 3.8, step 5: x A of every tagged card, and the proof."""
    if len(data) != 32 * len(cards) + 64:
        return False
    shares = _split(data[:-64])
    _points(shares)
    pairs = [(card[0], share) for card, share in zip(cards, shares, strict=True)]
    about = [count(len(cards)), *(card[1] for card in cards)]
    return one_secret_holds(b"tagdec", ctx, key, pairs, about, data[-64:])


# A whole game


class PlainDealer:
    """What a dealer without a seat checks and knows, in plain Python. It makes no parts."""

    def __init__(self, genesis: Genesis) -> None:
        rules = genesis.rules
        self._members = [member.node for member in genesis.members]
        self._rules_hash = hashed(b"RK1/rules", encode(rules))
        self._tiles = _tiles(rules.deck, rules.jokers, len(rules.faces))
        self._y: dict[Seat, bytes] = {}  # of the seats of the epoch
        self._q: dict[Seat, bytes] = {}
        self._deck: list[Card] = []
        self._racks: dict[Slot, Card] = {}

    def check_part(
        self, kind: PartKind, seat: Seat, payload: bytes, call: Call, context: Context, before: Mapping[Owed, bytes]
    ) -> str | None:
        ctx = self._ctx(kind.value, seat, context)
        match kind:
            case PartKind.KEY_COMMIT:
                return _reason(lambda: len(payload) == 64)
            case PartKind.KEY_REVEAL:
                committed = before[Owed(PartKind.KEY_COMMIT, seat)]
                others = {other: reveal for other, reveal in _reveals_in(before).items() if other != seat}
                commit_ctx = self._ctx(PartKind.KEY_COMMIT.value, seat, context)
                return _reason(lambda: _reveal_holds(ctx, payload, commit_ctx, committed, others, call, context))
            case PartKind.REKEY:
                slots, cards = self._hidden(seat, context.state)
                joint = _joint(_reveals_in(before))
                return _reason(lambda: rekey_holds(ctx, self._q[seat], joint, cards, _slot_fields(slots), payload))
            case PartKind.SHUFFLE:
                joint, deck = _joint(_reveals_in(before)), self._deck_before(seat, call, context.state, before)
                return _reason(lambda: shuffle_holds(ctx, joint, deck, payload))
            case PartKind.TAG:
                return _reason(lambda: tag_holds(ctx, self._cards_before(seat, context.state, before), payload))
            case PartKind.TAG_SHARES:
                y, cards = _key(_reveals_in(before)[seat], 0), _tagged(_last_of(PartKind.TAG, before))
                return _reason(lambda: tag_shares_hold(ctx, y, cards, payload))
            case PartKind.SHARES:
                batches = self._batches(call, context.state)
                return _reason(lambda: self._batches_hold(seat, ctx, batches, payload))
            case PartKind.OPEN_RACK:
                slots = context.state.hidden_slots(seat)
                laid = [(slot, TileId(tile)) for slot, tile in zip(slots, payload, strict=False)]
                return _reason(
                    lambda: (
                        len(laid) == len(slots)
                        and self._laid_holds(ctx, seat, laid, payload[len(slots) :], context.state)
                    )
                )

    def check_draw_part(self, seat: Seat, slots: Sequence[Slot], payload: bytes, context: Context) -> str | None:
        ctx = self._ctx("own-part", seat, context)
        return _reason(lambda: self._batches_hold(seat, ctx, [(self._q[seat], slots)], payload))

    def check_opening(
        self, seat: Seat, laid: Sequence[tuple[Slot, TileId]], proof: bytes, context: Context
    ) -> str | None:
        ctx = self._ctx("opening", seat, context)
        return _reason(lambda: self._laid_holds(ctx, seat, laid, proof, context.state))

    def close(self, call: Call, context: Context, parts: Mapping[Owed, bytes]) -> None:
        match call.name:
            case CallName.START:
                reveals = _reveals_in(parts)
                self._y = {seat: _key(reveal, 0) for seat, reveal in reveals.items()}
                self._q = {seat: _key(reveal, 1) for seat, reveal in reveals.items()}
                self._deck = _deck_in(_last_of(PartKind.SHUFFLE, parts), len(self._tiles))
            case CallName.RACKS | CallName.DRAW:
                for place, (_rack_key, slots) in enumerate(self._batches(call, context.state)):
                    for at, slot in enumerate(slots):
                        self._racks[slot] = self._for_rack(slot, self._shares_of(place, at, call, context.state, parts))
            case CallName.FINAL:
                pass
            case CallName.REDEAL:
                self._deck = self._left_over(context.state, parts)
                if parts:
                    self._y = {seat: _key(reveal, 0) for seat, reveal in _reveals_in(parts).items()}

    def prepare(self, kind: PartKind, call: Call, context: Context, before: Mapping[Owed, bytes]) -> None:
        """It makes no parts."""

    def check_whole(self, call: Call, context: Context, parts: Mapping[Owed, bytes]) -> None:
        """What only all parts show is found when the call is closed."""

    def renew(self) -> None:
        """It has no secrets."""

    def erase(self) -> None:
        """It has no secrets."""

    def secret(self) -> bytes:
        return b""

    def public_keys(self) -> frozenset[bytes]:
        return frozenset((*self._y.values(), *self._q.values()))

    def lot(self, context: Context, parts: Mapping[Owed, bytes]) -> Callable[[int], int]:
        reveals = _reveals_in(parts)
        coin = hashed(b"RK1/coin", *(reveals[seat][192:] for seat in sorted(reveals)))
        return lambda draw: int.from_bytes(hashed(b"RK1/coin", coin, count(draw)), "big")

    def opened_rack(self, seat: Seat, payload: bytes, call: Call, context: Context) -> tuple[tuple[Slot, TileId], ...]:
        slots = context.state.hidden_slots(seat)
        return tuple((slot, TileId(tile)) for slot, tile in zip(slots, payload, strict=False))

    def face_up(self, call: Call, context: Context, parts: Mapping[Owed, bytes]) -> TileId | None:
        if not context.state.rules.discards:
            return None
        batches = self._batches(call, context.state)
        (slot,) = batches[-1][1]
        card = self._for_rack(slot, self._shares_of(len(batches) - 1, 0, call, context.state, parts))
        found = _sum((1, _any_point(card[0])), (1, _any_point(card[1])))  # the rack key is G, so q is 1
        return TileId(self._tiles.index(found)) if found in self._tiles else None

    # Parts of it

    def _ctx(self, kind: str, seat: Seat, context: Context) -> bytes:
        seats = _seats(context.state)
        return hashed(
            b"RK1/ctx",
            b"RK1-ED25519-SHA512",
            context.gid,
            count(len(seats)),
            count(len(self._tiles)),
            self._rules_hash,
            [field for other in seats for field in (count(other), self._members[other])],
            count(context.state.stock.epoch),
            count(context.height),
            kind.encode(),
            count(seat),
            context.view,
        )

    def _deck_before(self, seat: Seat, call: Call, state: PublicState, before: Mapping[Owed, bytes]) -> list[Card]:
        tiles = [self._tiles[tile] for tile in unplaced(state)] if call.name is CallName.REDEAL else self._tiles
        reveals = _reveals_in(before)
        earlier = [other for other in reveals if other < seat]
        if earlier:
            return _unchecked_deck(before[Owed(PartKind.SHUFFLE, max(earlier))], len(tiles))
        joint = _any_point(_joint(reveals))
        return [(_G, _sum((1, _point(tile)), (1, joint))) for tile in tiles]

    def _hidden(self, seat: Seat, state: PublicState) -> tuple[tuple[Slot, ...], list[Card]]:
        """The hidden cards of a rack."""
        slots = state.hidden_slots(seat)
        return slots, [self._racks[slot] for slot in slots]

    def _cards_before(self, seat: Seat, state: PublicState, before: Mapping[Owed, bytes]) -> list[Card]:
        """Section 3.8, step 4: what a seat tags."""
        earlier = [Seat(other) for other in _seats(state) if other < seat]
        if earlier:
            return _tagged(before[Owed(PartKind.TAG, max(earlier))])
        cards = _deck_in(_last_of(PartKind.SHUFFLE, before), len(unplaced(state)))
        for holder in map(Seat, _seats(state)):
            shares = _split(before.get(Owed(PartKind.REKEY, holder), b"")[:-96])
            for card, a, d in zip(self._hidden(holder, state)[1], shares[::2], shares[1::2], strict=True):
                cards.append((a, _sum((1, _any_point(card[1])), (1, _point(d)))))
        return cards

    def _left_over(self, state: PublicState, parts: Mapping[Owed, bytes]) -> list[Card]:
        """Section 3.8, step 6: the shuffled cards whose tag is that of no rack card."""
        if not parts:
            return []
        shuffled = _deck_in(_last_of(PartKind.SHUFFLE, parts), len(unplaced(state)))
        shares = [_split(parts[Owed(PartKind.TAG_SHARES, Seat(seat))][:-64]) for seat in _seats(state)]
        tags = [
            _sum((1, _point(card[1])), *((-1, _point(seat[place])) for seat in shares))
            for place, card in enumerate(_tagged(_last_of(PartKind.TAG, parts)))
        ]
        pool, racks = tags[: len(shuffled)], set(tags[len(shuffled) :])
        if len(set(pool)) < len(pool) or len(racks) < len(tags) - len(pool) or not racks <= set(pool):
            raise RemoteProtocolError(None, "the tags of the re-deal are not those of the tiles")
        return [card for card, tag in zip(shuffled, pool, strict=True) if tag not in racks]

    def _batches(self, call: Call, state: PublicState) -> list[tuple[bytes, Sequence[Slot]]]:
        """Rack key and slots of every batch of shares, in order."""
        if call.name is CallName.DRAW:
            assert call.seat is not None
            return [(self._q[call.seat], call.slots)]
        racks, stock = first_racks(state)
        batches: list[tuple[bytes, Sequence[Slot]]] = [(self._q[seat], racks[seat]) for seat in sorted(self._y)]
        if state.rules.discards:
            slots, _left = stock.take(1)
            batches.append((_G, slots))
        return batches

    def _batches_hold(
        self, seat: Seat, ctx: bytes, batches: Sequence[tuple[bytes, Sequence[Slot]]], payload: bytes
    ) -> bool:
        if len(payload) != sum(64 * len(slots) + 96 for _key, slots in batches):
            return False
        start = 0
        for place, (rack_key, slots) in enumerate(batches):
            data = payload[start : start + 64 * len(slots) + 96]
            start += len(data)
            heads = [self._deck[slot.position][0] for slot in slots]
            about = [count(place), *_slot_fields(slots)]
            if not shares_hold(b"share", ctx, self._y[seat], rack_key, heads, about, data):
                return False
        return True

    def _shares_of(
        self, place: int, at: int, call: Call, state: PublicState, parts: Mapping[Owed, bytes]
    ) -> list[bytes]:
        """Everybody's share (A', D) of one card of one batch."""
        start = sum(64 * len(slots) + 96 for _rack_key, slots in self._batches(call, state)[:place]) + 64 * at
        return [parts[Owed(PartKind.SHARES, seat)][start : start + 64] for seat in sorted(self._y)]

    def _for_rack(self, slot: Slot, shares: Sequence[bytes]) -> Card:
        """(R, S) = (sum A', B - sum D)."""
        first = _sum(*((1, _point(share[:32])) for share in shares))
        second = _sum((1, _point(self._deck[slot.position][1])), *((-1, _point(share[32:])) for share in shares))
        return first, second

    def _laid_holds(
        self, ctx: bytes, seat: Seat, laid: Sequence[tuple[Slot, TileId]], proof: bytes, state: PublicState
    ) -> bool:
        slots, tiles = [slot for slot, _tile in laid], [tile for _slot, tile in laid]
        hidden = set(range(len(self._tiles))) - set(state.known_tiles().values())
        if len(set(slots)) < len(slots) or not set(slots) <= set(state.hidden_slots(seat)):
            return False
        if len(set(tiles)) < len(tiles) or not set(tiles) <= hidden:
            return False
        about = [*_slot_fields(slots), *(count(tile) for tile in tiles)]
        cards = [self._racks[slot] for slot in slots]
        points = [self._tiles[tile] for tile in tiles]
        return opening_holds(ctx, self._q[seat], cards, points, about, proof)


def plain_dealer(genesis: Genesis, seat: Seat | None, secret: bytes | None, entropy: Entropy) -> Dealer:
    """A `DealerMaker` for the audit of a secret game. It has no seat and makes no parts."""
    assert seat is None, "a second opinion has no seat"
    return cast(Dealer, PlainDealer(genesis))


def _reason(holds: Callable[[], bool]) -> str | None:
    """None if it holds, else why not."""
    try:
        return None if holds() else "the second opinion does not agree"
    except BadBytes as bad:
        return str(bad)


def _reveal_holds(
    ctx: bytes,
    reveal: bytes,
    commit_ctx: bytes,
    committed: bytes,
    others: Mapping[Seat, bytes],
    call: Call,
    context: Context,
) -> bool:
    """Section 3.3: keys that were committed to, known to their owner, and nobody else's; in a re-deal Y alone."""
    labels = (b"RK1/pop-x",) if call.name is CallName.REDEAL else (b"RK1/pop-x", b"RK1/pop-q")
    coin_bytes = 0 if call.name is CallName.REDEAL else 32
    size = len(labels)
    if len(reveal) != 96 * size + coin_bytes:
        return False
    own = _split(reveal[: 32 * size])
    proofs, coin = reveal[32 * size : 96 * size], reveal[96 * size :]
    if committed != hashed(b"RK1/key-commit", commit_ctx, *own, proofs, *([coin] if coin_bytes else [])):
        return False
    keys = [*own, *(key for other in others.values() for key in _split(other[: 32 * size]))]
    if len(set(keys)) < len(keys) or set(own) & context.used_keys:
        return False
    for place, label in enumerate(labels):
        if not key_holds(label, ctx, own[place], proofs[64 * place : 64 * place + 64]):
            return False
    everybody = {**others, Seat(len(context.state.seats)): reveal}
    return len(everybody) < len(_seats(context.state)) or _joint(everybody) != curve.encode(curve.ZERO)


def _last_of(kind: PartKind, parts: Mapping[Owed, bytes]) -> bytes:
    """The part of a kind by the last seat."""
    return parts[Owed(kind, max(owed.seat for owed in parts if owed.kind is kind))]


def _tagged(tag: bytes) -> list[Card]:
    """The cards in a tag: after S, before the proof."""
    raw = _split(tag[32:-64])
    return list(zip(raw[::2], raw[1::2], strict=True))


def _reveals_in(parts: Mapping[Owed, bytes]) -> dict[Seat, bytes]:
    return {owed.seat: payload for owed, payload in parts.items() if owed.kind is PartKind.KEY_REVEAL}


def _key(reveal: bytes, which: int) -> bytes:
    """Y (0) or Q (1) in a reveal."""
    return reveal[32 * which : 32 * which + 32]


def _joint(reveals: Mapping[Seat, bytes]) -> bytes:
    return _sum(*((1, _point(_key(reveal, 0))) for reveal in reveals.values()))


def _deck_in(shuffle: bytes, size: int) -> list[Card]:
    raw = _split(shuffle[: 64 * size])
    return list(zip(raw[::2], raw[1::2], strict=True))


def _unchecked_deck(shuffle: bytes, size: int) -> list[Card]:
    """The deck in a shuffle whose proof may still be under check. Raises `CannotBuild`."""
    try:
        _points(_split(shuffle[: 64 * size].ljust(64 * size, b"\0")))
    except BadBytes as bad:
        raise CannotBuild(str(bad)) from bad
    return _deck_in(shuffle, size)


def _slot_fields(slots: Sequence[Slot]) -> list[bytes]:
    return [count(part) for slot in slots for part in (slot.epoch, slot.position)]


def _seats(state: PublicState) -> list[int]:
    return [index for index, seat in enumerate(state.seats) if seat.in_game]
