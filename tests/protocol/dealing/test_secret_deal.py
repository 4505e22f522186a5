"""The secret deal between dealers: right tiles for their owners, nothing for others, and no wrong part passes."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pytest

from engine.actions import Draw, TakeDiscard, Timeout
from engine.rulesets import ES, NO, PT, RuleSet
from engine.state import CallName, Seat, Slot
from engine.tiles import TileId
from protocol.dealing.dealer import Owed
from protocol.dealing.group import BASE, Point, Secret, add, encode_scalar, subtract, tile_points, tiles_by_point, total
from protocol.dealing.secret_deal import SecretDealer, secret_dealer
from protocol.dealing.shuffle import deck_of
from protocol.dealing.transcript import ORDER
from protocol.messages import PartKind
from tests.protocol.dealing.deals import Deal, Sent, dealt
from tests.protocol.dealing.test_group import bad_points

KINDS = (PartKind.KEY_COMMIT, PartKind.KEY_REVEAL, PartKind.SHUFFLE, PartKind.SHARES)
SMALL = replace(ES, name="small", hand=3)  # 52 cards, 3 a seat


@pytest.fixture(scope="module")
def small() -> Deal:
    """Three seats whose racks are dealt. Nothing done to it may change it."""
    return dealt(SMALL, 3)


def drawn_by_turn(deal: Deal) -> bytes:
    """The own part of the seat whose turn is on, for one tile."""
    slots, _stock = deal.state.stock.take(1)
    return deal.dealers[deal.state.turn].draw_part(slots, deal.context())


# A right deal


@pytest.mark.parametrize(("rules", "seats"), [(PT, 2), (NO, 3), (ES, 6)])
def test_every_tile_is_dealt_to_one_owner(rules: RuleSet, seats: int) -> None:
    deal = dealt(rules, seats)
    racks = [deal.rack(seat) for seat in range(seats)]
    tiles = [tile for rack in racks for tile in rack.values()]
    tiles += [tile for _slot, tile in deal.state.known]
    assert len(set(tiles)) == len(tiles) == seats * deal.state.rules.hand_size(seats) + deal.state.rules.discards
    assert deal.observer.own_tiles(deal.state) == {}


def test_two_seeds_give_two_decks() -> None:
    assert list(dealt(SMALL, 2, seed=1).rack(0).values()) != list(dealt(SMALL, 2, seed=2).rack(0).values())


def test_tiles_are_drawn_by_action_and_by_time_out() -> None:
    rules = replace(PT, timeout_draw=3)
    deal = dealt(rules, 2)
    first = deal.state.turn
    deal.act(Draw(first), drawn_by_turn(deal))
    assert len(deal.rack(first)) == 15
    second = deal.state.turn
    assert second != first
    deal.act(Timeout())
    assert len(deal.rack(second)) == 17
    tiles = [*deal.rack(0).values(), *deal.rack(1).values()]
    assert len(set(tiles)) == 32


def test_an_opening_shows_hidden_tiles_of_the_own_rack(small: Deal) -> None:
    context = small.context()
    laid = tuple(small.rack(1).items())[:2]
    proof = small.dealers[1].opening(laid, context)
    assert len(proof) == 64
    assert [dealer.check_opening(Seat(1), laid, proof, context) for dealer in small.everybody()] == [None] * 4


def test_a_card_for_all_is_the_same_for_all(small: Deal) -> None:
    ((slot, tile),) = small.state.known
    assert slot == Slot(0, 9)
    racks = [small.of(PartKind.SHARES, seat) for seat in range(3)]
    parts = {sent.owed: sent.payload for sent in racks}
    shown = {dealer.face_up(racks[0].call, racks[0].context, parts) for dealer in small.everybody()}
    assert shown == {tile}


def test_racks_are_opened_at_the_end_and_secrets_forgotten() -> None:
    deal = dealt(SMALL, 3)
    rack = deal.rack(2)
    call = replace(deal.of(PartKind.SHARES, 0).call, name=CallName.FINAL)
    context = deal.context()
    parts = {}
    for seat in range(3):
        owed = Owed(PartKind.OPEN_RACK, Seat(seat))
        payload = deal.dealers[seat].part(PartKind.OPEN_RACK, call, context, {})
        assert len(payload) == 3 + 64
        sent = Sent(owed, payload, call, context, {})
        assert [sent.judged_by(dealer) for dealer in deal.everybody()] == [None] * 4
        wrong = bytes([payload[1], payload[0]]) + payload[2:]
        bad = (wrong, payload[:2] + b"\xff" + payload[3:], payload[:-1], b"", payload[:3] + bytes(64))
        assert all(sent.judged_by(deal.observer, other) is not None for other in bad)
        parts[owed] = payload
    assert dict(deal.observer.opened_rack(Seat(2), parts[Owed(PartKind.OPEN_RACK, Seat(2))], call, context)) == rack
    for dealer in deal.everybody():
        dealer.close(call, context, parts)
    assert deal.rack(2) == {}
    assert deal.dealers[2].secret() == b""


def test_a_restored_dealer_says_the_same_of_its_keys_and_opens_its_rack(small: Deal) -> None:
    old = small.dealers[1]
    again = SecretDealer(small.genesis, Seat(1), old.secret(), random.Random(99).randbytes)
    for kind in (PartKind.KEY_COMMIT, PartKind.KEY_REVEAL):
        sent = small.of(kind, 1)
        assert again.part(kind, sent.call, sent.context, sent.before) == sent.payload
    for name in (CallName.START, CallName.RACKS):
        parts = {sent.owed: sent.payload for sent in small.sent if sent.call.name is name}
        some = next(sent for sent in small.sent if sent.call.name is name)
        again.close(some.call, some.context, parts)
    assert again.own_tiles(small.state) == small.rack(1) != {}


def test_dealers_show_no_secret(small: Deal) -> None:
    dealer = secret_dealer(small.genesis, Seat(0), None, random.Random(5).randbytes)
    assert repr(dealer) == "SecretDealer(seat=0)"
    assert len(dealer.secret()) == 96
    assert small.observer.secret() == b""


# Wrong parts


@pytest.mark.parametrize("kind", KINDS)
def test_a_part_of_another_game_or_moment_is_refused(kind: PartKind, small: Deal) -> None:
    """Pitfall 4. A commitment shows nothing, so it is its reveal that fails."""
    sent = small.of(kind, 1)
    moments = [
        replace(sent.context, gid=bytes(32)),
        replace(sent.context, height=sent.context.height + 1),
        replace(sent.context, view=bytes(32)),
        replace(sent.context, state=replace(sent.context.state, stock=replace(sent.context.state.stock, epoch=1))),
    ]
    for context in moments:
        reason = replace(sent, context=context).judged_by(small.observer)
        assert (reason is None) == (kind is PartKind.KEY_COMMIT)


@pytest.mark.parametrize("kind", KINDS)
def test_a_part_under_another_seat_is_refused(kind: PartKind, small: Deal) -> None:
    """Pitfall 4."""
    sent = small.of(kind, 1)
    for seat in (0, 2):
        moved = replace(sent, owed=Owed(kind, Seat(seat)), before=small.of(kind, 2).before)
        assert (moved.judged_by(small.observer) is None) == (kind is PartKind.KEY_COMMIT)


def test_every_message_of_a_game_is_refused_in_the_next(small: Deal) -> None:
    """Pitfall 4: the same seats, the same heights, even the same secrets."""
    other = dealt(SMALL, 3, game=b"another")
    for old, new in zip(small.sent, other.sent, strict=True):
        reason = new.judged_by(other.observer, old.payload)
        assert (reason is None) == (old.owed.kind is PartKind.KEY_COMMIT)


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_bytes_come_nothing_is_raised(kind: PartKind, small: Deal) -> None:
    """Pitfalls 3 and 9: other lengths, noise, and single bits of the right bytes."""
    sent = small.of(kind, 1)
    rng = random.Random(kind.value)
    size = len(sent.payload)
    noise = [rng.randbytes(length) for length in (0, 1, 31, 32, 33, size - 32, size - 1, size + 1, size + 32, 2 * size)]
    assert all(sent.judged_by(small.observer, data) is not None for data in noise)
    same_size = [rng.randbytes(size), bytes(size), b"\xff" * size]
    for _ in range(12):
        at = rng.randrange(size)
        same_size.append(sent.payload[:at] + bytes([sent.payload[at] ^ 1 << rng.randrange(8)]) + sent.payload[at + 1 :])
    if kind is not PartKind.KEY_COMMIT:
        assert all(sent.judged_by(small.observer, data) is not None for data in same_size)


def test_what_is_no_point_is_refused_in_every_place_of_the_shares(small: Deal) -> None:
    """Pitfalls 6 and 7."""
    sent = small.of(PartKind.SHARES, 1)
    places = [start + 32 * at for start in (0, 288, 576) for at in range(6)] + [864, 896]
    wrong = [point for point in bad_points() if len(point) == 32]
    for at in places:
        for point in wrong:
            data = sent.payload[:at] + point + sent.payload[at + 32 :]
            assert sent.judged_by(small.observer, data) == "not a point of the group"


def test_a_scalar_in_another_form_is_refused_in_every_place_of_the_shares(small: Deal) -> None:
    """Pitfall 8: the same proof in other bytes would be another message."""
    sent = small.of(PartKind.SHARES, 1)
    for end in (288, 576, 864, 1024):
        for at in (end - 96, end - 64, end - 32):
            scalar = int.from_bytes(sent.payload[at : at + 32], "little")
            data = sent.payload[:at] + (scalar + ORDER).to_bytes(32, "little") + sent.payload[at + 32 :]
            assert sent.judged_by(small.observer, data) == "a scalar not below the order"


def test_shares_for_one_rack_do_not_pass_for_another(small: Deal) -> None:
    sent = small.of(PartKind.SHARES, 1)
    swapped = sent.payload[288:576] + sent.payload[:288] + sent.payload[576:]
    assert sent.judged_by(small.observer, swapped) is not None


def test_every_seat_shuffles_once_in_its_turn(small: Deal) -> None:
    """Pitfall 20."""
    first, second, third = (small.of(PartKind.SHUFFLE, seat) for seat in range(3))
    skipped = {**third.before, Owed(PartKind.SHUFFLE, Seat(1)): first.payload}
    assert replace(third, before=skipped).judged_by(small.observer) is not None
    again = {**third.before, Owed(PartKind.SHUFFLE, Seat(1)): third.payload}
    assert replace(third, before=again).judged_by(small.observer) is not None
    assert second.judged_by(small.observer, first.payload) is not None
    assert replace(first, context=small.context()).judged_by(small.observer) is not None, "after the deck was agreed"
    owed = [sent.owed.seat for sent in small.sent if sent.owed.kind is PartKind.SHUFFLE]
    assert owed == [0, 1, 2]


def test_a_rogue_shuffle_that_is_right_for_another_key_is_refused(small: Deal) -> None:
    other = dealt(SMALL, 3, seed=2)
    sent, theirs = small.of(PartKind.SHUFFLE, 0), other.of(PartKind.SHUFFLE, 0)
    assert sent.context == theirs.context, "the moment is the same, the keys are not"
    assert sent.judged_by(small.observer, theirs.payload) is not None


# Wrong draws and openings


def test_a_part_for_other_slots_than_the_next_is_refused(small: Deal) -> None:
    """Pitfall 16."""
    context = small.context()
    turn = small.state.turn
    (next_slot,), _rest = small.state.stock.take(1)
    made = small.dealers[turn].draw_part([next_slot], context)
    assert small.observer.check_draw_part(turn, [next_slot], made, context) is None
    later = Slot(0, next_slot.position + 1)
    for slots in ([later], [Slot(0, 0)], [next_slot, later], [later, next_slot]):
        wrong = small.dealers[turn].draw_part(slots, context)
        assert small.observer.check_draw_part(turn, [next_slot], wrong, context) is not None
    other = Seat((turn + 1) % 3)
    not_theirs = small.dealers[other].draw_part([next_slot], context)
    assert small.observer.check_draw_part(turn, [next_slot], not_theirs, context) is not None
    assert small.observer.check_draw_part(other, [next_slot], made, context) is not None
    one_later = replace(context, height=context.height + 1)
    assert small.observer.check_draw_part(turn, [next_slot], made, one_later) is not None


def test_shares_answer_the_call_only() -> None:
    """Pitfalls 16 and 17: what a seat decrypts is what the log calls for, under the drawer's key."""
    deal = dealt(SMALL, 3)
    turn = deal.state.turn
    deal.act(Draw(turn), drawn_by_turn(deal))
    answering = next(seat for seat in range(3) if seat != turn)
    sent = deal.of(PartKind.SHARES, answering)
    assert sent.call.name is CallName.DRAW
    for call in (
        replace(sent.call, seat=Seat(answering)),
        replace(sent.call, slots=(Slot(0, sent.call.slots[0].position + 1),)),
        replace(sent.call, slots=(Slot(0, 0),)),
    ):
        dealer = SecretDealer(deal.genesis, None, None, random.Random(1).randbytes)
        start = {part.owed: part.payload for part in deal.sent if part.call.name is CallName.START}
        some = deal.sent[0]
        dealer.close(some.call, some.context, start)
        assert sent.judged_by(dealer) is None
        dealer.close(some.call, some.context, start)  # forget the verdict
        assert replace(sent, call=call).judged_by(dealer) is not None


def test_a_wrong_opening_is_refused(small: Deal) -> None:
    """Pitfalls 4, 7, 8, 10: another tile, slot, seat or turn; twice; a tile that is public; other bytes."""
    context = small.context()
    (one, other, third) = small.rack(1).items()
    proof = small.dealers[1].opening([one, other], context)

    def judged(seat: int, laid: list[tuple[Slot, TileId]], proof: bytes = proof) -> str | None:
        return small.observer.check_opening(Seat(seat), laid, proof, context)

    assert judged(1, [one, other]) is None
    absent = next(tile for tile in range(52) if tile not in dict(small.rack(1)).values())
    ((open_slot, open_tile),) = small.state.known
    wrong = [
        [one],
        [other, one],
        [one, third],
        [(one[0], other[1]), (other[0], one[1])],
        [one, (other[0], TileId(absent))],
        [one, one],
        [one, (other[0], one[1])],
        [one, (other[0], open_tile)],
        [one, (other[0], TileId(-1))],
        [one, (other[0], TileId(52))],
        [one, (open_slot, open_tile)],
        [one, (Slot(0, 51), other[1])],
        [one, (Slot(-1, -1), other[1])],
        [],
    ]
    assert all(judged(1, laid) is not None for laid in wrong)
    assert judged(0, [one, other]) is not None
    assert small.observer.check_opening(Seat(1), [one, other], proof, replace(context, height=99)) is not None
    later = replace(context, view=bytes(32))
    assert small.observer.check_opening(Seat(1), [one, other], proof, later) is not None
    scalar = int.from_bytes(proof[32:], "little")
    for bad in (b"", bytes(64), proof[:-1], proof + b"\0", proof[:32] + (scalar + ORDER).to_bytes(32, "little")):
        assert judged(1, [one, other], bad) is not None


def test_an_open_card_needs_no_proof_and_no_draw(small: Deal) -> None:
    deal = dealt(SMALL, 3)
    turn = deal.state.turn
    deal.act(TakeDiscard(turn))
    assert deal.state.call is None
    assert len(deal.state.seats[turn].rack) == 4
    assert len(deal.rack(turn)) == 3


# Secrecy


def opened_with(deal: Deal, x: dict[int, Secret], q: list[Secret]) -> set[TileId]:
    """Every tile that can be read from all messages with these secrets: of the whole deck, and of all racks.

    Whoever holds some x takes them off the deck's cards, directly and with the other seats' shares added; whoever holds
    rack keys tries them on every card on a rack.
    """
    table = tiles_by_point(deal.state.rules.deck, deal.state.rules.jokers)
    points: list[Point] = []
    deck = deck_of(deal.of(PartKind.SHUFFLE, len(deal.dealers) - 1).payload)
    for card in deck:
        points.append(subtract(card.b, total(secret.times(card.a) for secret in x.values())))
        points.append(card.b)
    racks = deal.observer._racks
    for slot, card in racks.items():
        head = deck[slot.position]
        own = total(secret.times(head.a) for secret in x.values())
        points += [card.b, add(card.b, card.a), subtract(card.b, card.a), subtract(head.b, own)]
        points += [add(card.b, secret.times(card.a)) for secret in q]
        points += [add(subtract(head.b, own), secret.times(card.a)) for secret in q]
    return {TileId(table[point]) for point in points if point in table}


def test_all_others_together_cannot_read_the_last_one_s_tiles() -> None:
    """Not its rack, and not the pool. The same procedure with its keys reads everything, so it would find them."""
    deal = dealt(PT, 3, checked=False)
    for _ in range(3):
        deal.act(Draw(deal.state.turn), drawn_by_turn(deal))
    secrets = [dealer.secret() for dealer in deal.dealers]
    x = {seat: Secret(secret[:32]) for seat, secret in enumerate(secrets)}
    q = [Secret(secret[32:64]) for secret in secrets]
    for victim in range(3):
        others = {seat: secret for seat, secret in x.items() if seat != victim}
        read = opened_with(deal, others, q[:victim] + q[victim + 1 :])
        theirs = {tile for seat in others for tile in deal.rack(seat).values()}
        assert read == theirs, "their own racks and no tile more"
        assert opened_with(deal, others, q) == theirs | set(deal.rack(victim).values())
    assert opened_with(deal, x, []) == set(range(106))


def test_neighbouring_tiles_have_no_known_relation() -> None:
    """Pitfall 11: no tile's point is a small multiple of another, nor a small step away."""
    points = tile_points("tiles", 2)
    steps = {subtract(other, point) for point, other in itertools.pairwise(points)}
    assert len(steps) == len(points) - 1
    assert not steps & set(points)
    assert not {add(point, point) for point in points} & set(points)
    assert not {Secret(encode_scalar(n)).times_base() for n in range(1, 110)} & {*points, *steps}
    assert BASE not in points


def test_a_shuffle_leaves_no_card_where_it_can_be_followed(small: Deal) -> None:
    decks = [deck_of(small.of(PartKind.SHUFFLE, seat).payload) for seat in range(3)]
    parts = [{point for card in deck for point in card} for deck in decks]
    assert not parts[0] & parts[1]
    assert not parts[1] & parts[2]


def test_the_part_of_a_draw_that_was_not_agreed_does_not_serve_for_the_time_out() -> None:
    """docs/deal-entries.md, section 5, item 4: it is void, the next one is made anew."""
    deal = dealt(PT, 2, checked=False)
    turn = deal.state.turn
    old = drawn_by_turn(deal)
    deal.act(Timeout())
    sent = next(sent for sent in deal.sent if sent.call.name is CallName.DRAW and sent.owed.seat == turn)
    one = replace(sent, call=replace(sent.call, slots=sent.call.slots[:1]))
    assert one.judged_by(deal.observer, old) == "the proof does not hold"
