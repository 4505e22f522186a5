"""Pitfalls 1, 2, 4 and 5 of docs/dealing.md, section 6, and the shuffles of 10, at tables of real sessions.

Each lie is refused, its teller named by everybody honest with bytes that it signed, and nothing has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from engine.actions import Discard
from engine.state import Seat
from protocol.dealing import shuffle
from protocol.dealing.group import (
    BASE,
    IDENTITY,
    Point,
    Secret,
    add,
    generators,
    multiply,
    multiply_base,
    subtract,
    tile_points,
    total,
)
from protocol.dealing.keys import OwnKeys, commitment, lot_numbers
from protocol.dealing.proofs import Card
from protocol.dealing.shuffle import Deck, deck_of, first_deck
from protocol.dealing.transcript import Nonces
from protocol.envelope import Envelope, digest
from protocol.messages import (
    Body,
    DealPart,
    PartKind,
)
from protocol.outputs import RecordKind
from protocol.session import Session
from tests.security.layouts import wrong_points
from tests.security.liars import (
    FIRST_TURN_HEIGHT,
    RACKS_HEIGHT,
    SETTLED_S,
    START_HEIGHT,
    LiarsTable,
    Match,
    context_of,
    part_of,
    secret_of,
    with_payload,
    with_secrets,
)
from tests.security.tables import LIAR, SMALL, at_turn_of, is_turn_of

CARDS = 52


def keys_of(seat: int) -> OwnKeys:
    return OwnKeys.restored(secret_of(seat))


# 1. Rogue keys

Keys = Callable[[LiarsTable], bytes]


def tell_keys(table: LiarsTable, seat: int, keys: Keys, committed: Keys | None = None) -> None:
    """Let a seat reveal other keys than its session's, and commit to them, or to something else."""

    def commit(body: Body) -> Body:
        game = table.game(seat)
        ctx = context_of(game.genesis, game.context(), "key-commit", seat)
        told = commitment(ctx, keys(table)) if committed is None else committed(table)
        return with_payload(lambda _right: told)(body)

    def show(body: Body) -> Body:
        call = table.game(seat).call
        assert call is not None
        assert isinstance(body, DealPart)
        commits = [envelope for envelope in call.envelopes() if part_of(PartKind.KEY_COMMIT)(envelope.body)]
        told = [table.signed(seat, commit(e.body)) if e.sender == table.key(seat) else e for e in commits]
        return replace(body, names=digest(b"".join(e.digest for e in told)), payload=keys(table))

    table.change(seat, part_of(PartKind.KEY_COMMIT), commit)
    table.change(seat, part_of(PartKind.KEY_REVEAL), show)


def shown_by(table: LiarsTable, seat: int, keys: OwnKeys) -> bytes:
    """Keys with the proofs that whoever knows them can make for that seat of this table."""
    game = table.game(LIAR)
    return keys.reveal(context_of(game.genesis, game.context(), "key-reveal", seat))


def rogue(table: LiarsTable) -> bytes:
    """Y = z G - the others' Y, with the best proof there is: that of z."""
    z = OwnKeys.restored(secret_of(LIAR, x=4711))
    others = total(keys_of(seat).x.times_base() for seat in range(LIAR))
    return subtract(z.x.times_base(), others) + shown_by(table, LIAR, z)[32:]


def with_y(y: bytes) -> Keys:
    return lambda table: y + shown_by(table, LIAR, keys_of(LIAR))[32:]


def copied(table: LiarsTable) -> bytes:
    return shown_by(table, 0, keys_of(0))


def one_key_for_both(table: LiarsTable) -> bytes:
    return shown_by(table, LIAR, OwnKeys(keys_of(LIAR).x, keys_of(LIAR).x, bytes(32)))


def its_own(table: LiarsTable) -> bytes:
    return shown_by(table, LIAR, keys_of(LIAR))


def commitment_of_seat_0(table: LiarsTable) -> bytes:
    game = table.game(LIAR)
    return commitment(context_of(game.genesis, game.context(), "key-commit", 0), copied(table))


@pytest.mark.parametrize(
    ("keys", "committed", "reason"),
    [
        (rogue, None, "a proof of another key"),
        (copied, None, "a proof of another key"),
        (copied, commitment_of_seat_0, "does not match the commitment"),
        (with_y(IDENTITY), None, "not a point of the group"),
        (with_y(wrong_points()[8]), None, "not a point of the group"),
        (one_key_for_both, None, "a key twice"),
        (its_own, commitment_of_seat_0, "does not match the commitment"),
    ],
)
def test_keys_that_their_owner_cannot_prove_are_refused(keys: Keys, committed: Keys | None, reason: str) -> None:
    """Pitfalls 1, 6 and 7: where not said otherwise the liar has committed to just these keys."""
    table = LiarsTable(SMALL, make_dealer=with_secrets({seat: secret_of(seat) for seat in range(3)}))
    tell_keys(table, LIAR, keys, committed)
    table.run_for(8)
    assert table.named(LIAR, f"wrong key-reveal: {reason}")
    assert table.nobody_else_is_named()
    assert table.missing(START_HEIGHT)[0] == (PartKind.KEY_REVEAL, LIAR)
    assert table.nobody_said(PartKind.SHUFFLE)


def test_the_same_lie_about_right_keys_passes() -> None:
    """What the test above rests on: told like this, keys with right proofs are taken by the others."""
    table = LiarsTable(SMALL, make_dealer=with_secrets({seat: secret_of(seat) for seat in range(3)}))
    tell_keys(table, LIAR, lambda told: shown_by(told, LIAR, OwnKeys.restored(secret_of(LIAR, x=4711))))
    table.run_for(8)
    assert not any(reason.startswith("wrong key") for reason in table.reasons(LIAR))
    assert all(table.said(seat, PartKind.SHUFFLE) for seat in range(2)), "nobody shuffles before all keys are right"


def test_a_commitment_stays_when_the_others_have_shown_their_keys() -> None:
    """Pitfall 1: neither another commitment nor other keys come through; the right keys still do."""
    table = LiarsTable(SMALL)
    withheld, right = table.holds_back(LIAR, part_of(PartKind.KEY_REVEAL))
    assert all(table.said(seat, PartKind.KEY_REVEAL) for seat in range(2))
    (commit,) = table.said(LIAR, PartKind.KEY_COMMIT)
    again = table.say(LIAR, with_payload(lambda _right: bytes(64))(commit.body))
    table.run_for(1)
    assert table.refused(again, "two different key-commit for one call")
    other = table.say(LIAR, with_payload(lambda payload: payload[:-1] + b"\0")(right.body))
    table.run_for(1)
    assert table.refused(other, "wrong key-reveal: does not match the commitment")
    table.release(withheld)
    table.run_to_height(FIRST_TURN_HEIGHT)


def test_two_friends_with_one_key_are_refused() -> None:
    """Pitfall 1: both know its secret, so the proofs are right."""
    table = LiarsTable(SMALL, make_dealer=with_secrets({1: secret_of(1), 2: secret_of(1)}), liars=frozenset({1, 2}))
    table.run_for(8)
    (honest,) = table.honest()
    assert {found.reason for found in honest.evidence} == {"wrong key-reveal: a key twice"}
    assert {found.node for found in honest.evidence} <= {table.key(1), table.key(2)}
    assert table.nobody_said(PartKind.SHUFFLE)


# 2. Biased keys


def test_starting_again_gives_nobody_another_choice_of_keys() -> None:
    """Pitfall 2: killed n times after all others have shown theirs, a node says the same; one that forgot is named."""
    table = LiarsTable(SMALL)
    withheld, right = table.holds_back(LIAR, part_of(PartKind.KEY_REVEAL))
    for _attempt in range(3):
        table.rewind(LIAR, lambda _record: False)
        table.run_for(SETTLED_S)
    assert withheld.envelopes == [right], "the same bytes each time"
    assert table.evidence(LIAR) == {0: [], 1: []}
    table.rewind(LIAR, lambda record: record.kind is RecordKind.OWN, secret_of(LIAR))
    table.run_for(SETTLED_S)
    assert table.named(LIAR, "two different key-commit for one call")
    assert table.nobody_else_is_named()
    assert table.missing(START_HEIGHT)[0] == (PartKind.KEY_REVEAL, LIAR)
    assert table.nobody_said(PartKind.SHUFFLE)


def test_nothing_public_follows_from_the_keys() -> None:
    """Pitfall 2: the lot is the same whatever the keys, and another with another coin."""

    def drawn(x: int, coin: bytes) -> list[int]:
        own = OwnKeys(Secret.from_number(x), Secret.from_number(x + 1), coin)
        numbers = lot_numbers({Seat(0): own.reveal(b"ctx"), Seat(1): keys_of(1).reveal(b"ctx")})
        return [numbers(draw) for draw in range(4)]

    assert drawn(5, bytes(32)) == drawn(50, bytes(32))
    assert drawn(5, bytes(32)) != drawn(5, bytes(31) + b"\1")


# 4. Messages that were said before


def test_messages_of_one_game_are_worth_nothing_in_the_next() -> None:
    """Pitfall 4: not as they were, and not said again for this moment."""
    table = LiarsTable(replace(SMALL, rounds=2), 2)
    liar = 1
    said: dict[bytes, Envelope] = {}
    table.listen(lambda passing: said.update({passing.envelope.raw: passing.envelope}))
    table.run_until(lambda: all(n.session.game is not None and n.session.game.between_games for n in table.nodes))
    table.meddlers.clear()
    old = [envelope for envelope in said.values() if envelope.sender == table.key(liar)]

    def begun(kind: PartKind) -> Match:
        return lambda body: part_of(kind)(body) and table.game(liar).state.game == 1

    for kind in (PartKind.KEY_REVEAL, PartKind.SHUFFLE, PartKind.SHARES):
        withheld, right = table.holds_back(liar, begun(kind))
        before = table.states()
        for envelope in old:
            table.send(liar, envelope.raw)
        table.run_for(1)
        payload = next(e.body.payload for e in old if isinstance(e.body, DealPart) and e.body.kind is kind)
        assert isinstance(right.body, DealPart)
        assert len(payload) == len(right.body.payload)
        told = table.say(liar, replace(right.body, payload=payload))
        table.run_for(1)
        assert table.refused(told, f"wrong {kind.value}: ")
        assert table.states() == before
        table.release(withheld)
    table.run()
    assert {found.evidence[0] for found in table.session(0).evidence}.isdisjoint(said), "the old frames are no fault"


def test_what_another_seat_has_said_is_refused_under_the_own_name() -> None:
    """Pitfall 4."""
    table = LiarsTable(SMALL)
    for kind, height in ((PartKind.SHUFFLE, START_HEIGHT), (PartKind.SHARES, RACKS_HEIGHT)):
        withheld, right = table.holds_back(LIAR, part_of(kind, height))
        for other in range(2):
            (theirs,) = table.said(other, kind, height)
            assert isinstance(theirs.body, DealPart)
            assert isinstance(right.body, DealPart)
            told = table.say(LIAR, replace(right.body, payload=theirs.body.payload))
            table.run_for(1)
            assert table.refused(told, f"wrong {kind.value}: the proof does not hold")
        table.release(withheld)
    table.run_to_height(FIRST_TURN_HEIGHT)


def test_an_opening_is_worth_nothing_one_turn_later() -> None:
    """Pitfall 4: the same card, the same seat, the proof of a turn that was played otherwise."""
    table = at_turn_of(LIAR, replace(SMALL, hand=6))  # nobody is out before the next turn
    table.draws(LIAR)
    (slot, tile), other, *_rest = table.session(LIAR).own_tiles().items()
    old = table.game(LIAR).sign_action(Discard(Seat(LIAR), slot, tile))
    table.act(LIAR, lambda session, now_s: session.act(Discard(Seat(LIAR), *other), now_s))
    turn = table.game(LIAR).state.turn_number
    table.run_until(lambda: all(is_turn_of(n.session, LIAR) and turn_of(n.session) > turn for n in table.nodes))
    table.draws(LIAR)
    game, before = table.game(LIAR), table.states()
    told = table.say(LIAR, replace(old, height=game.height, prev=game.head))
    table.run_for(1)
    assert table.refused(told, "illegal action: opening: the proof does not hold")
    assert table.states() == before
    table.act(LIAR, lambda session, now_s: session.act(Discard(Seat(LIAR), slot, tile), now_s))
    table.run_until(lambda: all(session.height > game.height - 1 for session in table.honest()))


def turn_of(session: Session) -> int:
    """How many turns are over."""
    assert session.state is not None
    return session.state.turn_number


# 5 and 10. Shuffles that are none

Shuffler = Callable[[bytes, Point, Deck], bytes]
TILES = tile_points("cards", 0)


def told_shuffle(table: LiarsTable, seat: int, shuffler: Shuffler) -> bytes:
    """What a seat makes of the deck that it has to shuffle now; not the first seat."""
    game = table.game(seat)
    assert game.call is not None
    parts = {(e.body.kind, e.sender): e.body.payload for e in game.call.envelopes() if isinstance(e.body, DealPart)}
    key = total(Point(payload[:32]) for (kind, _sender), payload in parts.items() if kind is PartKind.KEY_REVEAL)
    ctx = context_of(game.genesis, game.context(), "shuffle", seat)
    return shuffler(ctx, key, deck_of(parts[PartKind.SHUFFLE, table.key(seat - 1)]))


def by_the_book(
    ctx: bytes, key: Point, deck: Deck, order: Sequence[int] | None = None, h: Sequence[Point] | None = None
) -> bytes:
    """The prover of section 3.4, with an order and generators of its own choice."""
    h = generators() if h is None else tuple(h)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shuffle, "generators", lambda: h)
        prepared = shuffle.prepare(key, len(deck), Nonces(bytes(31) + b"\1", bytes(32), b"test"))
        if order is not None:
            prepared.order = list(order)
            for place, source in enumerate(order):
                prepared.c[source] = add(multiply_base(prepared.r[source]), h[place + 1])
        return shuffle.prove(ctx, deck, prepared)


def a_tile_twice(ctx: bytes, key: Point, deck: Deck) -> bytes:
    again = Card(add(deck[0].a, multiply_base(5)), add(deck[0].b, multiply(5, key)))
    return by_the_book(ctx, key, (deck[0], again, *deck[2:]))


def a_tile_twice_by_the_order(ctx: bytes, key: Point, deck: Deck) -> bytes:
    return by_the_book(ctx, key, deck, [0, 0, *range(2, CARDS)])


def a_card_twice(ctx: bytes, key: Point, deck: Deck) -> bytes:
    right = by_the_book(ctx, key, deck)
    return right[:64] * 2 + right[128:]


def another_tile(ctx: bytes, key: Point, deck: Deck) -> bytes:
    return by_the_book(ctx, key, (Card(BASE, add(TILES[0], key)), *deck[1:]))


def exchanged_after_the_proof(ctx: bytes, key: Point, deck: Deck) -> bytes:
    right = by_the_book(ctx, key, deck)
    return right[64:128] + right[:64] + right[128:]


def the_first_deck(ctx: bytes, key: Point, _deck: Deck) -> bytes:
    return by_the_book(ctx, key, first_deck(key, TILES))


def known_generators() -> list[Point]:
    """The same number of them, but their teller knows the logarithms."""
    return [multiply_base(100 + place) for place in range(len(generators()))]


def own_generators(ctx: bytes, key: Point, deck: Deck) -> bytes:
    return by_the_book(ctx, key, deck, h=known_generators())


def one_generator_altered(ctx: bytes, key: Point, deck: Deck) -> bytes:
    h = list(generators())
    h[7] = multiply_base(7)
    return by_the_book(ctx, key, deck, h=h)


def two_equal_generators(ctx: bytes, key: Point, deck: Deck) -> bytes:
    h = list(generators())
    h[2] = h[1]
    return by_the_book(ctx, key, deck, h=h)


@pytest.mark.parametrize(
    "lies",
    [
        (a_tile_twice, another_tile, the_first_deck),
        (a_tile_twice_by_the_order, a_card_twice, exchanged_after_the_proof),
        (own_generators, one_generator_altered, two_equal_generators),
    ],
    ids=["another deck", "doubled or exchanged", "other generators"],
)
def test_shuffles_that_are_none_are_refused_and_then_the_right_one_is_taken(lies: tuple[Shuffler, ...]) -> None:
    """Pitfalls 5 and 10."""
    table = LiarsTable(SMALL)
    withheld, right = table.holds_back(LIAR, part_of(PartKind.SHUFFLE))
    before = table.states()
    for lie in lies:
        assert isinstance(right.body, DealPart)
        told = table.say(LIAR, replace(right.body, payload=told_shuffle(table, LIAR, lie)))
        reason = (
            "the same card twice" if lie in (a_card_twice, a_tile_twice_by_the_order) else "the proof does not hold"
        )
        table.run_for(1)
        assert table.refused(told, f"wrong shuffle: {reason}"), lie
    assert table.states() == before
    assert table.nobody_said(PartKind.SHARES)
    table.release(withheld)
    table.run_to_height(RACKS_HEIGHT)


def test_the_prover_of_these_tests_is_right_where_it_is_not_told_to_lie() -> None:
    table = LiarsTable(SMALL)
    _withheld, right = table.holds_back(LIAR, part_of(PartKind.SHUFFLE))
    assert isinstance(right.body, DealPart)
    told = table.say(LIAR, replace(right.body, payload=told_shuffle(table, LIAR, by_the_book)))
    table.run_for(1)
    assert table.reasons(LIAR) == []
    assert not table.refused(told, "")
