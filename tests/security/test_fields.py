"""Every field of every message of the deal, spoilt in turn: pitfalls 3 and 6 to 9 of docs/dealing.md, section 6.

The messages are those of a real deal; whoever judges them would take the right one. What a table makes of a refusal,
and that it names the sender: `test_pitfalls_1_15`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pytest

from engine.actions import Draw
from engine.rulesets import ES
from engine.state import CallName, Seat
from protocol.dealing.dealer import Owed
from protocol.dealing.group import IDENTITY, Secret
from protocol.dealing.keys import COIN_BYTES, REVEAL_BYTES, commitment
from protocol.dealing.redeal import (
    check_tag,
    check_tag_shares,
    make_tag,
    make_tag_shares,
    rekey_batch,
    rekeyed,
    tagged,
)
from protocol.dealing.shuffle import deck_of
from protocol.messages import PartKind
from tests.protocol.dealing.deals import Deal, Sent, dealt
from tests.security.layouts import (
    LAYOUTS,
    Field,
    Layout,
    What,
    corners,
    length_bytes,
    other_scalars,
    wrong_points,
    wrong_scalars,
)
from tests.security.liars import context_of

SMALL = replace(ES, name="small", hand=3)  # 52 cards, 3 a seat
CARDS = 52
NO_POINT = "not a point of the group"
NO_SCALAR = "a scalar not below the order"
Judge = Callable[[bytes], str | None]


@dataclass(frozen=True)
class Message:
    """A right payload, where its fields are, and who says what is wrong with other bytes; None: nothing.

    `costly`: a look at its proof takes tens of milliseconds.
    """

    payload: bytes
    layout: Layout
    judge: Judge
    costly: bool = False

    def of(self, what: What) -> list[Field]:
        return [field for field in self.layout if field.what is what]


def message(kind: str, payload: bytes, counts: Sequence[int], judge: Judge, *, costly: bool = False) -> Message:
    return Message(payload, LAYOUTS[kind](counts), judge, costly)


def sent_message(deal: Deal, kind: PartKind, seat: int, *counts: int) -> Message:
    sent = deal.of(kind, seat)
    costly = kind is PartKind.SHUFFLE
    return message(kind.value, sent.payload, counts, lambda data: sent.judged_by(deal.observer, data), costly=costly)


def key_reveal(deal: Deal) -> Message:
    """The keys of seat 1, which had committed to whatever keys it reveals; not to another coin with the same keys."""
    sent = deal.of(PartKind.KEY_REVEAL, 1)
    commit = Owed(PartKind.KEY_COMMIT, Seat(1))
    ctx = context_of(deal.genesis, sent.context, commit.kind.value, 1)

    def judge(data: bytes) -> str | None:
        other_keys = len(data) == REVEAL_BYTES and data[:-COIN_BYTES] != sent.payload[:-COIN_BYTES]
        committed = commitment(ctx, data) if other_keys else sent.before[commit]
        return replace(sent, before={**sent.before, commit: committed}).judged_by(deal.observer, data)

    return message("key-reveal", sent.payload, [], judge)


def key_commit(deal: Deal) -> Message:
    """The commitment of seat 1: what is said of its keys then."""
    sent, reveal = deal.of(PartKind.KEY_COMMIT, 1), deal.of(PartKind.KEY_REVEAL, 1)

    def judge(data: bytes) -> str | None:
        then = replace(reveal, before={**reveal.before, sent.owed: data})
        return sent.judged_by(deal.observer, data) or then.judged_by(deal.observer)

    return message("key-commit", sent.payload, [], judge)


def draw_and_play(deal: Deal) -> dict[str, Message]:
    """The messages of the turn that is on: own part, the shares of another, an opening."""
    turn, context = deal.state.turn, deal.context()
    slots, _stock = deal.state.stock.take(1)
    own_part = deal.dealers[turn].draw_part(slots, context)
    laid = tuple(deal.rack(turn).items())[:2]
    proof = deal.dealers[turn].opening(laid, context)
    deal.act(Draw(turn), own_part)
    observer = deal.observer
    return {
        "own-part": message(
            "own-part", own_part, [1], lambda data: observer.check_draw_part(turn, slots, data, context)
        ),
        "opening": message("opening", proof, [], lambda data: observer.check_opening(turn, laid, data, context)),
        "shares of a draw": sent_message(deal, PartKind.SHARES, (turn + 1) % 3, 1),
    }


def open_rack(deal: Deal) -> Message:
    context = deal.context()
    call = replace(deal.of(PartKind.SHARES, 0).call, name=CallName.FINAL)
    payload = deal.dealers[2].part(PartKind.OPEN_RACK, call, context, {})
    sent = Sent(Owed(PartKind.OPEN_RACK, Seat(2)), payload, call, context, {})
    slots = len(deal.state.hidden_slots(Seat(2)))
    return message("open-rack", payload, [slots], lambda data: sent.judged_by(deal.observer, data))


def redeal_messages(deal: Deal) -> dict[str, Message]:
    """A re-deal of three cards of the deck, two of them on a rack."""
    entropy = random.Random(5).randbytes
    q = Secret(deal.dealers[0].secret()[32:64])
    x = Secret.from_number(4711)
    deck = deck_of(deal.of(PartKind.SHUFFLE, 2).payload)
    rekey = rekey_batch(b"rekey", q.times_base(), x.times_base(), deck[:2], (b"0", b"1"))
    rekey_made = rekey.make(q, entropy)
    cards = (*rekeyed(deck[:2], rekey.shares(rekey_made)), deck[2])
    tag = make_tag(b"tag", cards, x.reveal(), entropy)
    chain = tagged(tag)
    tag_shares = make_tag_shares(b"tag-shares", x.times_base(), chain, x, entropy)
    return {
        "rekey": message("rekey", rekey_made, [2], rekey.check),
        "tag": message("tag", tag, [3], lambda data: check_tag(b"tag", cards, data)),
        "tag-shares": message(
            "tag-shares", tag_shares, [3], lambda data: check_tag_shares(b"tag-shares", x.times_base(), chain, data)
        ),
    }


NAMES = (
    "key-commit",
    "key-reveal",
    "shuffle",
    "shares",
    "own-part",
    "opening",
    "shares of a draw",
    "open-rack",
    "rekey",
    "tag",
    "tag-shares",
)
every_message = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(scope="module")
def messages() -> dict[str, Message]:
    deal = dealt(SMALL, 3)
    return {
        "key-commit": key_commit(deal),
        "key-reveal": key_reveal(deal),
        "shuffle": sent_message(deal, PartKind.SHUFFLE, 1, CARDS),
        "shares": sent_message(deal, PartKind.SHARES, 1, 3, 3, 3, 1),
        **redeal_messages(deal),
        **draw_and_play(deal),
        "open-rack": open_rack(deal),
    }


def test_every_kind_of_message_has_a_layout_and_is_tried() -> None:
    assert {kind.value for kind in PartKind} <= set(LAYOUTS)
    assert set(LAYOUTS) <= set(NAMES)


@every_message
def test_the_layout_is_that_of_the_right_message_which_passes(name: str, messages: dict[str, Message]) -> None:
    one = messages[name]
    assert length_bytes(one.layout) == len(one.payload)
    assert one.judge(one.payload) is None


@every_message
def test_a_bit_changed_in_any_field_is_refused(name: str, messages: dict[str, Message]) -> None:
    """Pitfall 3. In a shuffle of 52 cards: at the corners; in one of 4 everywhere, in `test_shuffle.py`."""
    one = messages[name]
    rng = random.Random(name)
    for field in corners(one.layout) if one.costly else one.layout:
        bits = [rng.randrange(8 * field.size)] if one.costly else [0, 8 * field.size - 1, rng.randrange(8 * field.size)]
        for bit in bits:
            assert one.judge(field.flipped(one.payload, bit)) is not None, (field.name, bit)


@every_message
def test_another_scalar_in_any_field_is_refused(name: str, messages: dict[str, Message]) -> None:
    """Pitfalls 3 and 7: one more, the opposite, zero."""
    one = messages[name]
    for field in one.of(What.SCALAR):
        others = other_scalars(field.of(one.payload))
        if one.costly and field not in corners(one.layout):
            continue
        for other in others[:1] if one.costly else others:
            assert one.judge(field.put(one.payload, other)) is not None, field.name


@every_message
def test_what_is_no_point_is_refused_in_every_field(name: str, messages: dict[str, Message]) -> None:
    """Pitfall 6. In a shuffle each field meets one of the wrong points in turn."""
    one = messages[name]
    wrong = wrong_points()
    for place, field in enumerate(one.of(What.POINT)):
        for point in [wrong[place % len(wrong)]] if one.costly else wrong:
            assert one.judge(field.put(one.payload, point)) == NO_POINT, (field.name, point.hex())


@every_message
def test_the_identity_is_refused_in_every_field(name: str, messages: dict[str, Message]) -> None:
    """Pitfall 7. In a shuffle of 52 cards: at the corners; in one of 4 everywhere, in `test_shuffle.py`."""
    one = messages[name]
    for field in corners(tuple(one.of(What.POINT))) if one.costly else one.of(What.POINT):
        assert one.judge(field.put(one.payload, IDENTITY)) == NO_POINT, field.name


@every_message
def test_a_proof_of_zeros_is_refused(name: str, messages: dict[str, Message]) -> None:
    """Pitfall 7: without an exception where a sum or a product is nothing."""
    one = messages[name]
    nothing = one.payload
    for field in one.of(What.SCALAR) or one.layout:
        nothing = field.put(nothing, bytes(field.size))
    assert one.judge(nothing) is not None


@every_message
def test_a_scalar_has_one_form_in_every_field(name: str, messages: dict[str, Message]) -> None:
    """Pitfall 8: s + l, l, 2^255 - 1, and 31 or 33 bytes."""
    one = messages[name]
    for field in one.of(What.SCALAR):
        for scalar in wrong_scalars(field.of(one.payload)):
            reason = one.judge(field.put(one.payload, scalar))
            assert reason is not None
            assert len(scalar) != 32 or reason == NO_SCALAR, (field.name, scalar.hex())


@every_message
def test_another_length_is_refused_before_anything_is_read(name: str, messages: dict[str, Message]) -> None:
    """Pitfall 9."""
    one = messages[name]
    size = len(one.payload)
    for length in {0, 1, 31, 32, 33, size - 64, size - 32, size - 1, size + 1, size + 32, size + 64, 2 * size} - {size}:
        data = one.payload[: max(length, 0)].ljust(length, b"\0")
        assert (one.judge(data) or "").startswith("expected "), length
