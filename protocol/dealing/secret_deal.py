"""The secret deal: each tile is known to its owner alone, the order of the pool to nobody, and everything is proven.

A `SecretDealer` is one node's view of one game. The deck is shuffled by every seat in turn under the joint key; a card
goes to a rack by everybody's decryption shares, re-encrypted under the rack key of its owner, so that all can check
them and only the owner can read the tile. Which messages there are and when: docs/deal-entries.md. What is in them:
docs/dealing.md, section 3. x is used on cards of the agreed deck only, q on own rack cards only; a message holds
positions, never a point that somebody wants decrypted.

When a player is lost, the others deal the hidden tiles anew under a new deck key: `redeal`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from engine.dealt import first_racks
from engine.redeal import unplaced
from engine.state import Call, CallName, PublicState, Seat, Slot
from engine.tiles import TileId
from protocol.codec import encode
from protocol.dealing import redeal, shuffle
from protocol.dealing.dealer import CannotBuild, Context, Entropy, Owed
from protocol.dealing.group import BASE, BadElement, Point, add, self_test, tile_points, tiles_by_point
from protocol.dealing.keys import (
    COMMIT_BYTES,
    OwnKeys,
    PublicKeys,
    check_reveal,
    commitment,
    epoch_keys,
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
_KEEP: Final = "keep the game file and report it"


@dataclass(slots=True, repr=False)
class _Outcome:
    """What the answers to a call make of the deck, or bring to the racks."""

    deck: shuffle.Deck = ()
    cards: dict[Slot, Card] = field(default_factory=dict)
    owners: dict[Slot, Seat] = field(default_factory=dict)
    own_tiles: dict[Slot, TileId] = field(default_factory=dict)


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
        self._owners: dict[Slot, Seat] = {}
        self._own_tiles: dict[Slot, TileId] = {}
        self._outcome: tuple[dict[Owed, bytes], _Outcome] | None = None
        self._verdicts: dict[bytes, str | None] = {}
        self._prepared: dict[bytes, shuffle.Prepared] = {}  # by ctx
        self._unchecked: dict[bytes, shuffle.Deck] = {}

    def __repr__(self) -> str:
        return f"SecretDealer(seat={self._seat})"

    def secret(self) -> bytes:
        return b"" if self._own is None else self._own.secret()

    def erase(self) -> None:
        if self._own is not None:
            self._own.erase()
            self._own = None
        self._own_tiles.clear()
        self._forget_prepared()

    def renew(self) -> None:
        self._forget_prepared()
        if self._own is not None:
            self._own.renew(self._entropy)

    def restore(self, seat: Seat, secret: bytes) -> None:
        self._seat = seat
        self._own = OwnKeys.restored(secret)
        if self._keys is not None and self._own.q.times_base() == self._keys.q.get(seat):
            mine = {slot: card for slot, card in self._racks.items() if self._owners[slot] == seat}
            self._own_tiles = self._read_own(seat, mine)

    def public_keys(self) -> frozenset[bytes]:
        keys = self._keys
        return frozenset() if keys is None else frozenset((*keys.y.values(), *keys.q.values()))

    # Parts of calls

    def part(self, kind: PartKind, call: Call, context: Context, before: Mapping[Owed, bytes]) -> bytes:
        own, seat = self._own_keys()
        ctx = self._ctx(kind.value, seat, context)
        match kind:
            case PartKind.KEY_COMMIT:
                return commitment(ctx, self._reveal(own, call, self._ctx(PartKind.KEY_REVEAL.value, seat, context)))
            case PartKind.KEY_REVEAL:
                return self._reveal(own, call, ctx)
            case PartKind.REKEY:
                return self._rekey_batch(seat, call, context, before).make(own.q, self._entropy)
            case PartKind.SHUFFLE:
                keys, deck = self._before_shuffle(seat, call, context, before)
                return shuffle.prove(ctx, deck, self._prepared_shuffle(ctx, keys.joint, deck, own))
            case PartKind.TAG:
                return redeal.make_tag(
                    ctx, self._before_tag(seat, call, context, before), own.x.reveal(), self._entropy
                )
            case PartKind.TAG_SHARES:
                keys = self._call_keys(call, before)
                cards = redeal.tagged(before[Owed(PartKind.TAG, keys.seats[-1])])
                return redeal.make_tag_shares(ctx, keys.y[seat], cards, own.x, self._entropy)
            case PartKind.SHARES:
                return b"".join(batch.make(own.x, self._entropy) for batch in self._batches(seat, ctx, call, context))
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
                count, epoch = len(_seats(context.state)), call.name is CallName.REDEAL
                return check_reveal(payload, committed, commit_ctx, ctx, others, count, context.used_keys, epoch=epoch)
            case PartKind.REKEY:
                return self._rekey_batch(seat, call, context, before).check(payload)
            case PartKind.SHUFFLE:
                keys, deck = self._before_shuffle(seat, call, context, before)
                return shuffle.check(ctx, keys.joint, deck, payload)
            case PartKind.TAG:
                return redeal.check_tag(ctx, self._before_tag(seat, call, context, before), payload)
            case PartKind.TAG_SHARES:
                keys = self._call_keys(call, before)
                cards = redeal.tagged(before[Owed(PartKind.TAG, keys.seats[-1])])
                return redeal.check_tag_shares(ctx, keys.y[seat], cards, payload)
            case PartKind.SHARES:
                return _check_batches(self._batches(seat, ctx, call, context), payload)
            case PartKind.OPEN_RACK:
                slots = context.state.hidden_slots(seat)
                if len(payload) != len(slots) + DLEQ_BYTES:
                    return f"expected an open rack of {len(slots) + DLEQ_BYTES} bytes, got {len(payload)}"
                laid = tuple((slot, TileId(tile)) for slot, tile in zip(slots, payload[: len(slots)], strict=True))
                return self._check_laid(ctx, seat, laid, payload[len(slots) :], context.state)

    def prepare(self, kind: PartKind, call: Call, context: Context, before: Mapping[Owed, bytes]) -> None:
        """For the own shuffle: its secrets follow from x, fresh bytes and the moment, but not from the deck.

        So it must not happen twice in one moment: not after a restart (docs/dealing.md, pitfall 12).
        """
        own, seat = self._own_keys()
        assert kind is PartKind.SHUFFLE
        ctx = self._ctx(kind.value, seat, context)
        key = self._call_keys(call, before).joint
        nonces = Nonces(own.x.reveal(), self._entropy(32), b"prepared", ctx, key)
        self._prepared[ctx] = shuffle.prepare(key, len(self._call_tiles(call, context)), nonces)

    def check_whole(self, call: Call, context: Context, parts: Mapping[Owed, bytes]) -> None:
        self._outcome_of(call, context, parts)

    def close(self, call: Call, context: Context, parts: Mapping[Owed, bytes]) -> None:
        outcome = self._outcome_of(call, context, parts)
        match call.name:
            case CallName.START:
                self._keys = public_keys(_reveals(parts))
                self._deck = outcome.deck
            case CallName.RACKS | CallName.DRAW:
                self._racks.update(outcome.cards)
                self._owners.update(outcome.owners)
                self._own_tiles.update(outcome.own_tiles)
            case CallName.REDEAL:
                self._deck = outcome.deck
                if parts:
                    self._keys = self._call_keys(call, parts)
            case CallName.FINAL:
                self.erase()
        self._outcome = None
        self._verdicts.clear()
        self._unchecked.clear()
        self._forget_prepared()

    def _outcome_of(self, call: Call, context: Context, parts: Mapping[Owed, bytes]) -> _Outcome:
        """What the parts of a call amount to, computed once. Raises `LocalProtocolError` if it is impossible."""
        if self._outcome is not None and self._outcome[0] == parts:
            return self._outcome[1]
        outcome = _Outcome()
        match call.name:
            case CallName.START:
                outcome.deck = shuffle.deck_of(parts[Owed(PartKind.SHUFFLE, _seats(context.state)[-1])])
            case CallName.RACKS | CallName.DRAW:
                for seat, slots, shares in self._dealt(call, context, parts):
                    cards = self._rack_cards(slots, shares)
                    outcome.cards.update(cards)
                    outcome.owners.update(dict.fromkeys(cards, seat))
                    outcome.own_tiles.update(self._read_own(seat, cards))
            case CallName.REDEAL:
                outcome.deck = self._left_over(call, context, parts)
            case CallName.FINAL:
                pass
        self._outcome = (dict(parts), outcome)
        return outcome

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

    # The keys and the shuffle, at the start and in a re-deal

    def _reveal(self, own: OwnKeys, call: Call, ctx: bytes) -> bytes:
        return own.reveal_epoch(ctx) if call.name is CallName.REDEAL else own.reveal(ctx)

    def _call_keys(self, call: Call, before: Mapping[Owed, bytes]) -> PublicKeys:
        """The keys that the reveals of a call amount to."""
        reveals = _reveals(before)
        return epoch_keys(self._public(), reveals) if call.name is CallName.REDEAL else public_keys(reveals)

    def _call_tiles(self, call: Call, context: Context) -> Sequence[Point]:
        """The tiles that are shuffled: all, or those that are at no public place (U)."""
        if call.name is CallName.REDEAL:
            return [self._tiles[tile] for tile in unplaced(context.state)]
        return self._tiles

    def _before_shuffle(
        self, seat: Seat, call: Call, context: Context, before: Mapping[Owed, bytes]
    ) -> tuple[PublicKeys, shuffle.Deck]:
        """The keys, and the deck that `seat` has to shuffle: its predecessor's, the first's is the one all know."""
        keys, tiles = self._call_keys(call, before), self._call_tiles(call, context)
        place = keys.seats.index(seat)
        if place == 0:
            return keys, shuffle.first_deck(keys.joint, tiles)
        return keys, self._unchecked_deck(before[Owed(PartKind.SHUFFLE, keys.seats[place - 1])], len(tiles))

    def _unchecked_deck(self, data: bytes, cards: int) -> shuffle.Deck:
        """A deck whose proof may still be under check, read once. Raises `CannotBuild`."""
        deck = self._unchecked.get(data)
        if deck is None:
            try:
                deck = shuffle.unchecked_deck(data, cards)
            except BadElement as bad:
                raise CannotBuild(str(bad)) from bad
            self._unchecked[data] = deck
        return deck

    def _prepared_shuffle(self, ctx: bytes, key: Point, deck: shuffle.Deck, own: OwnKeys) -> shuffle.Prepared:
        prepared = self._prepared.pop(ctx, None)
        if prepared is not None:
            return prepared
        points = [point for card in deck for point in card]
        nonces = Nonces(own.x.reveal(), self._entropy(32), b"shuffle", ctx, key, points)
        return shuffle.prepare(key, len(deck), nonces)

    def _forget_prepared(self) -> None:
        while self._prepared:
            self._prepared.popitem()[1].erase()

    # The re-deal

    def _rekey_batch(self, seat: Seat, call: Call, context: Context, before: Mapping[Owed, bytes]) -> ShareBatch:
        slots = context.state.hidden_slots(seat)
        cards = tuple(self._racks[slot] for slot in slots)
        ctx = self._ctx(PartKind.REKEY.value, seat, context)
        return redeal.rekey_batch(
            ctx, self._public().q[seat], self._call_keys(call, before).joint, cards, _slots(slots)
        )

    def _before_tag(self, seat: Seat, call: Call, context: Context, before: Mapping[Owed, bytes]) -> shuffle.Deck:
        """The cards that `seat` has to tag: its predecessor's, for the first the shuffled ones and then the racks."""
        seats = _seats(context.state)
        place = seats.index(seat)
        if place > 0:
            return redeal.tagged(before[Owed(PartKind.TAG, seats[place - 1])])
        cards = shuffle.deck_of(before[Owed(PartKind.SHUFFLE, seats[-1])])
        for holder in seats:
            slots = context.state.hidden_slots(holder)
            if slots:
                batch = self._rekey_batch(holder, call, context, before)
                shares = batch.shares(before[Owed(PartKind.REKEY, holder)])
                cards += redeal.rekeyed(tuple(self._racks[slot] for slot in slots), shares)
        return cards

    def _left_over(self, call: Call, context: Context, parts: Mapping[Owed, bytes]) -> shuffle.Deck:
        """The new pool. Raises `LocalProtocolError` if the tags are impossible."""
        if not parts:
            return ()
        seats = _seats(context.state)
        shuffled = shuffle.deck_of(parts[Owed(PartKind.SHUFFLE, seats[-1])])
        cards = redeal.tagged(parts[Owed(PartKind.TAG, seats[-1])])
        found = redeal.tags(cards, [parts[Owed(PartKind.TAG_SHARES, seat)] for seat in seats])
        left = redeal.left_over(found[: len(shuffled)], found[len(shuffled) :])
        if isinstance(left, str):
            raise LocalProtocolError(f"the re-deal is impossible ({left}): a wrong proof was taken for right; {_KEEP}")
        return tuple(shuffled[place] for place in left)

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

    def _dealt(
        self, call: Call, context: Context, parts: Mapping[Owed, bytes]
    ) -> list[tuple[Seat, tuple[Slot, ...], list[tuple[Share, ...]]]]:
        """For each rack that gets cards: whose it is, the slots, and for each of them everybody's shares."""
        if call.name is CallName.DRAW:
            assert call.seat is not None
            return [(call.seat, call.slots, self._shares_of(0, call, context, parts))]
        racks, _stock = first_racks(context.state)
        return [
            (seat, racks[seat], self._shares_of(place, call, context, parts))
            for place, seat in enumerate(self._public().seats)
        ]

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

    def _rack_cards(self, slots: Sequence[Slot], shares: Sequence[Sequence[Share]]) -> dict[Slot, Card]:
        """The cards under the rack key of their owner."""
        return {slot: for_rack(self._deck[slot.position], parts) for slot, parts in zip(slots, shares, strict=True)}

    def _read_own(self, seat: Seat, cards: Mapping[Slot, Card]) -> dict[Slot, TileId]:
        """The tiles of own cards. Raises `LocalProtocolError` if one is no tile."""
        if seat != self._seat or self._own is None:
            return {}
        read = {slot: self._tile(add(card.b, self._own.q.times(card.a))) for slot, card in cards.items()}
        if None in read.values():
            raise LocalProtocolError(f"a drawn card is no tile: a wrong proof was taken for right; {_KEEP}")
        return {slot: tile for slot, tile in read.items() if tile is not None}

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
