"""The secret deal: each tile is known to its owner alone, the order of the pool to nobody, and everything is proven.

A `SecretDealer` is one node's view of one game. The deck is shuffled by every seat in turn under the joint key; a card
goes to a rack by everybody's decryption shares, re-encrypted under the rack key of its owner, so that all can check
them and only the owner can read the tile. Which messages there are and when: docs/deal-entries.md. What is in them:
docs/dealing.md, section 3. x is used on cards of the agreed deck only, q on own rack cards only; a message holds
positions, never a point that somebody wants decrypted.

Long computations, to be run as jobs: `shuffle.prepare`, `shuffle.prove` and `shuffle.check`, and `ShareBatch.make` and
`.check` for the racks. Everything else is below a few milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Final

from engine.dealt import first_racks
from engine.state import Call, CallName, PublicState, Seat, Slot
from engine.tiles import TileId
from protocol.codec import encode
from protocol.dealing import shuffle
from protocol.dealing.dealer import Context, Entropy, Owed
from protocol.dealing.group import BASE, Point, add, self_test, tile_points, tiles_by_point
from protocol.dealing.keys import (
    COMMIT_BYTES,
    OwnKeys,
    PublicKeys,
    check_reveal,
    commitment,
    lot_numbers,
    public_keys,
)
from protocol.dealing.proofs import DLEQ_BYTES, SHARE, Card, Dleq, Share, ShareBatch, for_rack, opening
from protocol.dealing.transcript import Nonces, context_hash, digest, number
from protocol.errors import LocalProtocolError
from protocol.messages import Genesis, PartKind

OWN_PART: Final = "own-part"  # the step of a drawer's part inside an action
OPENING: Final = "opening"  # the step of an opening inside an action
_REMEMBERED: Final = 64  # verdicts


class SecretDealer:
    """A `Dealer`. `secret` is what `secret()` gave, None for a new game; an observer (`seat` None) has none."""

    def __init__(self, genesis: Genesis, seat: Seat | None, secret: bytes | None, entropy: Entropy) -> None:
        rules = genesis.rules
        self._seat = seat
        self._entropy = entropy
        self._members = tuple((index, member.node) for index, member in enumerate(genesis.members))
        self._rules_hash = digest(b"RK1/rules", encode(rules))
        self._tiles = tile_points(rules.deck, rules.jokers)
        self._by_point = tiles_by_point(rules.deck, rules.jokers)
        self._own: OwnKeys | None = None
        if seat is not None:
            self._own = OwnKeys.fresh(entropy) if secret is None else OwnKeys.restored(secret)
        self._keys: PublicKeys | None = None
        self._deck: shuffle.Deck = ()
        self._racks: dict[Slot, Card] = {}  # the cards on racks and once there, under their owner's rack key
        self._own_tiles: dict[Slot, TileId] = {}
        self._verdicts: dict[bytes, str | None] = {}

    def __repr__(self) -> str:
        return f"SecretDealer(seat={self._seat})"

    def secret(self) -> bytes:
        return b"" if self._own is None else self._own.secret()

    def erase(self) -> None:
        """Forget all secrets: the game is over for this node."""
        if self._own is not None:
            self._own.erase()
            self._own = None
        self._own_tiles.clear()

    # Parts of calls

    def part(self, kind: PartKind, call: Call, context: Context, before: Mapping[Owed, bytes]) -> bytes:
        own, seat = self._own_keys()
        ctx = self._ctx(kind.value, seat, context)
        match kind:
            case PartKind.KEY_COMMIT:
                return commitment(ctx, own.reveal(self._ctx(PartKind.KEY_REVEAL.value, seat, context)))
            case PartKind.KEY_REVEAL:
                return own.reveal(ctx)
            case PartKind.SHUFFLE:
                keys, deck = self._before_shuffle(seat, before)
                made = self._shuffled(ctx, keys.joint, deck, own)
                self._remember(None, ctx, made, *_names(deck))
                return made
            case PartKind.SHARES:
                made = b"".join(batch.make(own.x, self._entropy) for batch in self._batches(seat, ctx, call, context))
                self._remember(None, ctx, made)
                return made
            case PartKind.OPEN_RACK:
                slots = context.state.hidden_slots(seat)
                laid = tuple((slot, self._own_tiles[slot]) for slot in slots)
                return bytes(tile for _slot, tile in laid) + self._opening(ctx, seat, laid).prove(own.q, self._entropy)

    def check_part(
        self, kind: PartKind, seat: Seat, payload: bytes, call: Call, context: Context, before: Mapping[Owed, bytes]
    ) -> str | None:
        ctx = self._ctx(kind.value, seat, context)
        match kind:
            case PartKind.KEY_COMMIT:
                return None if len(payload) == COMMIT_BYTES else f"expected {COMMIT_BYTES} bytes, got {len(payload)}"
            case PartKind.KEY_REVEAL:
                commit_ctx = self._ctx(PartKind.KEY_COMMIT.value, seat, context)
                committed = before[Owed(PartKind.KEY_COMMIT, seat)]
                others = [reveal for other, reveal in _reveals(before).items() if other != seat]
                return check_reveal(payload, committed, commit_ctx, ctx, others, len(_seats(context.state)))
            case PartKind.SHUFFLE:
                keys, deck = self._before_shuffle(seat, before)
                return self._once(lambda: shuffle.check(ctx, keys.joint, deck, payload), ctx, payload, *_names(deck))
            case PartKind.SHARES:
                batches = self._batches(seat, ctx, call, context)
                return self._once(lambda: _check_batches(batches, payload), ctx, payload)
            case PartKind.OPEN_RACK:
                slots = context.state.hidden_slots(seat)
                if len(payload) != len(slots) + DLEQ_BYTES:
                    return f"expected an open rack of {len(slots) + DLEQ_BYTES} bytes, got {len(payload)}"
                laid = tuple((slot, TileId(tile)) for slot, tile in zip(slots, payload[: len(slots)], strict=True))
                return self._check_laid(ctx, seat, laid, payload[len(slots) :], context.state)

    def close(self, call: Call, context: Context, parts: Mapping[Owed, bytes]) -> None:
        match call.name:
            case CallName.START:
                self._keys = public_keys(_reveals(parts))
                last = parts[Owed(PartKind.SHUFFLE, self._keys.seats[-1])]
                self._deck = shuffle.deck_of(last)
            case CallName.RACKS:
                racks, _stock = first_racks(context.state)
                for place, seat in enumerate(self._public().seats):
                    self._to_rack(seat, racks[seat], self._shares_of(place, call, context, parts))
            case CallName.DRAW:
                assert call.seat is not None
                self._to_rack(call.seat, call.slots, self._shares_of(0, call, context, parts))
            case CallName.FINAL:
                self.erase()
            case CallName.REDEAL:
                raise ValueError("no re-deal without a removal")
        self._verdicts.clear()

    def lot(self, context: Context, parts: Mapping[Owed, bytes]) -> Callable[[int], int]:
        return lot_numbers(_reveals(parts))

    def face_up(self, call: Call, context: Context, parts: Mapping[Owed, bytes]) -> TileId | None:
        if not context.state.rules.discards:
            return None
        _racks, stock = first_racks(context.state)
        (slot,), _left = stock.take(1)
        shares = self._shares_of(len(self._public().seats), call, context, parts)
        card = for_rack(self._deck[slot.position], shares[0])
        return self._tile(add(card.b, card.a))

    # Actions

    def draw_part(self, slots: Sequence[Slot], context: Context) -> bytes:
        own, seat = self._own_keys()
        ctx = self._ctx(OWN_PART, seat, context)
        made = self._batch(seat, ctx, 0, self._public().q[seat], slots).make(own.x, self._entropy)
        self._remember(None, ctx, made, *_slots(slots))
        return made

    def check_draw_part(self, seat: Seat, slots: Sequence[Slot], payload: bytes, context: Context) -> str | None:
        ctx = self._ctx(OWN_PART, seat, context)
        batch = self._batch(seat, ctx, 0, self._public().q[seat], slots)
        return self._once(lambda: batch.check(payload), ctx, payload, *_slots(slots))

    def opening(self, laid: Sequence[tuple[Slot, TileId]], context: Context) -> bytes:
        own, seat = self._own_keys()
        return self._opening(self._ctx(OPENING, seat, context), seat, laid).prove(own.q, self._entropy)

    def check_opening(
        self, seat: Seat, laid: Sequence[tuple[Slot, TileId]], proof: bytes, context: Context
    ) -> str | None:
        return self._check_laid(self._ctx(OPENING, seat, context), seat, laid, proof, context.state)

    def opened_rack(self, seat: Seat, payload: bytes, call: Call, context: Context) -> tuple[tuple[Slot, TileId], ...]:
        slots = context.state.hidden_slots(seat)
        return tuple((slot, TileId(tile)) for slot, tile in zip(slots, payload[: len(slots)], strict=True))

    def own_tiles(self, state: PublicState) -> Mapping[Slot, TileId]:
        if self._seat is None or not self._own_tiles:
            return {}
        return {slot: self._own_tiles[slot] for slot in state.hidden_slots(self._seat)}

    # The shuffle

    def _before_shuffle(self, seat: Seat, before: Mapping[Owed, bytes]) -> tuple[PublicKeys, shuffle.Deck]:
        """The keys, and the deck that `seat` has to shuffle: its predecessor's, the first's is the one all know."""
        keys = public_keys(_reveals(before))
        place = keys.seats.index(seat)
        if place == 0:
            return keys, shuffle.first_deck(keys.joint, self._tiles)
        return keys, shuffle.deck_of(before[Owed(PartKind.SHUFFLE, keys.seats[place - 1])])

    def _shuffled(self, ctx: bytes, key: Point, deck: shuffle.Deck, own: OwnKeys) -> bytes:
        nonces = Nonces(own.x.reveal(), self._entropy(32), b"shuffle", ctx, key, *_names(deck))
        return shuffle.prove(ctx, deck, shuffle.prepare(key, len(deck), nonces))

    # Shares

    def _batches(self, sender: Seat, ctx: bytes, call: Call, context: Context) -> list[ShareBatch]:
        """What a seat's shares for the call are about: a batch for every rack, and one for a card that all shall see.

        Source: docs/deal-entries.md, section 3.
        """
        keys = self._public()
        if call.name is CallName.DRAW:
            assert call.seat is not None
            return [self._batch(sender, ctx, 0, keys.q[call.seat], call.slots)]
        racks, stock = first_racks(context.state)
        batches = [self._batch(sender, ctx, place, keys.q[seat], racks[seat]) for place, seat in enumerate(keys.seats)]
        if context.state.rules.discards:
            slots, _left = stock.take(1)
            batches.append(self._batch(sender, ctx, len(batches), BASE, slots))
        return batches

    def _batch(self, sender: Seat, ctx: bytes, place: int, rack_key: Point, slots: Sequence[Slot]) -> ShareBatch:
        heads = tuple(self._deck[slot.position].a for slot in slots)
        return ShareBatch(SHARE, ctx, self._public().y[sender], rack_key, heads, (number(place), *_slots(slots)))

    def _shares_of(
        self, place: int, call: Call, context: Context, parts: Mapping[Owed, bytes]
    ) -> list[tuple[Share, ...]]:
        """For each card of one batch, everybody's shares."""
        by_seat = []
        for seat in self._public().seats:
            batches = self._batches(seat, b"", call, context)
            start = sum(batch.size_bytes for batch in batches[:place])
            by_seat.append(batches[place].shares(parts[Owed(PartKind.SHARES, seat)][start:]))
        return list(zip(*by_seat, strict=True))

    def _to_rack(self, seat: Seat, slots: Sequence[Slot], shares: Sequence[Sequence[Share]]) -> None:
        for slot, parts in zip(slots, shares, strict=True):
            card = for_rack(self._deck[slot.position], parts)
            self._racks[slot] = card
            if seat == self._seat and self._own is not None:
                tile = self._tile(add(card.b, self._own.q.times(card.a)))
                if tile is None:
                    raise LocalProtocolError("a drawn card is no tile: a wrong proof was taken for right; keep the log")
                self._own_tiles[slot] = tile

    def _tile(self, point: Point) -> TileId | None:
        tile = self._by_point.get(point)
        return None if tile is None else TileId(tile)

    # Openings

    def _opening(self, ctx: bytes, seat: Seat, laid: Sequence[tuple[Slot, TileId]]) -> Dleq:
        about = [*_slots([slot for slot, _tile in laid]), *(number(tile) for _slot, tile in laid)]
        cards = [(self._racks[slot], self._tiles[tile]) for slot, tile in laid]
        return opening(ctx, self._public().q[seat], cards, about)

    def _check_laid(
        self, ctx: bytes, seat: Seat, laid: Sequence[tuple[Slot, TileId]], proof: bytes, state: PublicState
    ) -> str | None:
        """Whether hidden slots of a rack are proven to hold tiles that are hidden."""
        slots, tiles = [slot for slot, _tile in laid], [tile for _slot, tile in laid]
        public = set(state.known_tiles().values())
        if not laid or len(set(slots)) < len(slots) or not set(slots) <= set(state.hidden_slots(seat)):
            return "not hidden slots of that rack, each once"
        if not all(0 <= tile < len(self._tiles) for tile in tiles):
            return "no such tile"
        if len(set(tiles)) < len(tiles) or public & set(tiles):
            return "not tiles that are hidden, each once"
        statement = self._opening(ctx, seat, laid)
        named = [*_slots(slots), *(number(tile) for tile in tiles)]
        return self._once(lambda: statement.check(proof), ctx, proof, *named)

    # Small things

    def _ctx(self, kind: str, seat: Seat, context: Context) -> bytes:
        seats = _seats(context.state)
        return context_hash(
            gid=context.gid,
            rules=self._rules_hash,
            deck_size=len(self._tiles),
            seats=[self._members[index] for index in seats],
            epoch=context.state.stock.epoch,
            height=context.height,
            kind=kind,
            acting_seat=seat,
            view=context.view,
        )

    def _own_keys(self) -> tuple[OwnKeys, Seat]:
        assert self._own is not None, "an observer, or the game is over"
        assert self._seat is not None
        return self._own, self._seat

    def _public(self) -> PublicKeys:
        assert self._keys is not None, "shares before the deck is agreed"
        return self._keys

    def _once(self, check: Callable[[], str | None], *about: bytes) -> str | None:
        """The verdict, computed once for each moment and bytes: entries are judged several times."""
        named = digest(b"verdict", about)
        if named not in self._verdicts:
            self._remember(check(), *about)
        return self._verdicts[named]

    def _remember(self, verdict: str | None, *about: bytes) -> None:
        if len(self._verdicts) >= _REMEMBERED:
            self._verdicts.clear()
        self._verdicts[digest(b"verdict", about)] = verdict


def secret_dealer(genesis: Genesis, seat: Seat | None, secret: bytes | None, entropy: Entropy) -> SecretDealer:
    """A dealer for one game of a table: a `DealerMaker`. Raises `UnsafeLibrary`."""
    _try_library()
    return SecretDealer(genesis, seat, secret, entropy)


@cache
def _try_library() -> None:
    """The start-up test, once for a process."""
    self_test()


def _seats(state: PublicState) -> tuple[Seat, ...]:
    """The seats of the epoch, in seat order."""
    return tuple(Seat(index) for index, seat in enumerate(state.seats) if seat.in_game)


def _reveals(parts: Mapping[Owed, bytes]) -> dict[Seat, bytes]:
    return {owed.seat: payload for owed, payload in parts.items() if owed.kind is PartKind.KEY_REVEAL}


def _slots(slots: Sequence[Slot]) -> list[bytes]:
    """Slots as fields of a hash."""
    return [number(part) for slot in slots for part in slot]


def _names(deck: shuffle.Deck) -> list[bytes]:
    """A deck as fields of a hash."""
    return [point for card in deck for point in card]


def _check_batches(batches: Sequence[ShareBatch], payload: bytes) -> str | None:
    expected = sum(batch.size_bytes for batch in batches)
    if len(payload) != expected:
        return f"expected shares of {expected} bytes, got {len(payload)}"
    start = 0
    for batch in batches:
        reason = batch.check(payload[start : start + batch.size_bytes])
        if reason is not None:
            return reason
        start += batch.size_bytes
    return None
