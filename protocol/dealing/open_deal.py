"""The open deal: all tiles known to all, from a jointly chosen seed. For simulation and for tests of everything else.

It answers every call with the same messages as a secret deal, so agreement, log and recovery are exercised alike. The
seed is committed and revealed by all, so nobody chooses it; but everybody can compute every tile. No table of people
may rely on it for secrecy.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from engine.dealt import first_racks
from engine.redeal import unplaced
from engine.rulesets import RuleSet
from engine.state import Call, CallName, PublicState, Seat, Slot
from engine.tiles import TileId
from protocol.codec import decode, encode
from protocol.dealing.dealer import Context, Entropy, Owed
from protocol.errors import DecodeError
from protocol.messages import Genesis, PartKind

COIN_BYTES: Final = 32
_Ids = tuple[TileId, ...]


class OpenDealer:
    """A `Dealer` whose deck is a function of everybody's coins. `coin` are this node's 32 random bytes."""

    def __init__(self, rules: RuleSet, seat: Seat | None, coin: bytes, entropy: Entropy) -> None:
        assert len(coin) == COIN_BYTES
        self._rules = rules
        self._seat = seat
        self._coin = coin
        self._entropy = entropy
        self._decks: dict[int, tuple[TileId, ...]] = {}  # by epoch

    def __repr__(self) -> str:
        return f"OpenDealer(seat={self._seat})"

    def secret(self) -> bytes:
        return self._coin

    def part(self, kind: PartKind, call: Call, context: Context, before: Mapping[Owed, bytes]) -> bytes:
        match kind:
            case PartKind.KEY_COMMIT:
                return _commitment(context.gid, self._coin)
            case PartKind.KEY_REVEAL:
                return self._coin
            case PartKind.OPEN_RACK:
                assert self._seat is not None
                return encode(self._rack_ids(context.state, self._seat), _Ids)
            case _:
                return b""

    def check_part(
        self, kind: PartKind, seat: Seat, payload: bytes, call: Call, context: Context, before: Mapping[Owed, bytes]
    ) -> str | None:
        match kind:
            case PartKind.KEY_COMMIT:
                return None if len(payload) == 32 else f"expected 32 bytes, got {len(payload)}"
            case PartKind.KEY_REVEAL:
                mine = _commitment(context.gid, payload)
                return None if before[Owed(PartKind.KEY_COMMIT, seat)] == mine else "does not match the commitment"
            case PartKind.OPEN_RACK:
                right = encode(self._rack_ids(context.state, seat), _Ids)
                return None if payload == right else "not the tiles of the rack"
            case _:
                return None if payload == b"" else "expected nothing"

    def prepare(self, kind: PartKind, call: Call, context: Context, before: Mapping[Owed, bytes]) -> None:
        """Nothing takes long here."""

    def check_whole(self, call: Call, context: Context, parts: Mapping[Owed, bytes]) -> None:
        """Nothing can be impossible here."""

    def renew(self) -> None:
        self._coin = self._entropy(COIN_BYTES)

    def restore(self, seat: Seat, secret: bytes) -> None:
        self._seat = seat
        self._coin = secret

    def erase(self) -> None:
        self._seat = None  # nothing is secret here, but a rack that is out of the game is nobody's

    def public_keys(self) -> frozenset[bytes]:
        return frozenset()

    def close(self, call: Call, context: Context, parts: Mapping[Owed, bytes]) -> None:
        tiles: Sequence[TileId]
        if call.name is CallName.START:
            tiles = [TileId(tile) for tile in range(len(self._rules.faces))]
        elif call.name is CallName.REDEAL:
            held = {self._tile(slot) for seat in _seats(context.state) for slot in context.state.hidden_slots(seat)}
            tiles = [tile for tile in unplaced(context.state) if tile not in held]
        else:
            return
        seed = _joint_coin(parts) if parts else b""
        self._decks[context.state.stock.epoch] = _shuffled(tiles, seed)

    def lot(self, context: Context, parts: Mapping[Owed, bytes]) -> Callable[[int], int]:
        coin = _joint_coin(parts)
        return lambda draw: int.from_bytes(_hash(b"RK1/coin", coin, draw.to_bytes(8, "big")), "big")

    def draw_part(self, slots: Sequence[Slot], context: Context) -> bytes:
        return b""

    def check_draw_part(self, seat: Seat, slots: Sequence[Slot], payload: bytes, context: Context) -> str | None:
        return None if payload == b"" else "expected nothing"

    def opening(self, laid: Sequence[tuple[Slot, TileId]], context: Context) -> bytes:
        return b""

    def check_opening(
        self, seat: Seat, laid: Sequence[tuple[Slot, TileId]], proof: bytes, context: Context
    ) -> str | None:
        if proof != b"":
            return "expected nothing"
        return None if all(self._tile(slot) == tile for slot, tile in laid) else "not the tile of that slot"

    def opened_rack(self, seat: Seat, payload: bytes, call: Call, context: Context) -> tuple[tuple[Slot, TileId], ...]:
        try:
            ids = decode(_Ids, payload)
        except DecodeError as error:
            raise ValueError("the part was not checked") from error
        return tuple(zip(context.state.hidden_slots(seat), ids, strict=True))

    def face_up(self, call: Call, context: Context, parts: Mapping[Owed, bytes]) -> TileId | None:
        if not self._rules.discards:
            return None
        _racks, stock = first_racks(context.state)
        (slot,), _left = stock.take(1)
        return self._tile(slot)

    def own_tiles(self, state: PublicState) -> Mapping[Slot, TileId]:
        if self._seat is None or not self._decks:
            return {}
        return {slot: self._tile(slot) for slot in state.hidden_slots(self._seat)}

    def _tile(self, slot: Slot) -> TileId:
        return self._decks[slot.epoch][slot.position]

    def _rack_ids(self, state: PublicState, seat: Seat) -> _Ids:
        return tuple(self._tile(slot) for slot in state.hidden_slots(seat))


def open_dealer(genesis: Genesis, seat: Seat | None, secret: bytes | None, entropy: Entropy) -> OpenDealer:
    """A dealer for one game of a table; `secret` are this node's 32 random bytes, None for new ones."""
    return OpenDealer(genesis.rules, seat, entropy(COIN_BYTES) if secret is None else secret, entropy)


def _hash(*fields: bytes) -> bytes:
    """SHA-512 over the fields, each with its 8-byte length in front (docs/dealing.md, section 3.1)."""
    state = hashlib.sha512()
    for item in fields:
        state.update(len(item).to_bytes(8, "big") + item)
    return state.digest()


def _commitment(gid: bytes, coin: bytes) -> bytes:
    return _hash(b"RK1/key-commit", gid, coin)[:32]


def _joint_coin(parts: Mapping[Owed, bytes]) -> bytes:
    """The hash of all coins in seat order."""
    reveals = sorted((owed.seat, payload) for owed, payload in parts.items() if owed.kind is PartKind.KEY_REVEAL)
    return _hash(b"RK1/coin", *(payload for _seat, payload in reveals))


def _shuffled(tiles: Sequence[TileId], seed: bytes) -> tuple[TileId, ...]:
    """Fisher-Yates, each choice from 512 bits, so its bias is below 2^-500."""
    deck = list(tiles)
    for last in range(len(deck) - 1, 0, -1):
        pick = int.from_bytes(_hash(b"rummesh/open-deck", seed, last.to_bytes(8, "big")), "big") % (last + 1)
        deck[last], deck[pick] = deck[pick], deck[last]
    return tuple(deck)


def _seats(state: PublicState) -> tuple[Seat, ...]:
    return tuple(Seat(index) for index, seat in enumerate(state.seats) if seat.in_game)
