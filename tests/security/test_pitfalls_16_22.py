"""Pitfalls 16 to 22 of docs/dealing.md, section 6: what a hostile player may try at a table of real sessions."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise, permutations

import pytest

from engine.actions import Draw
from engine.state import Seat, Slot
from protocol.dealing import proofs
from protocol.dealing.dealer import Owed
from protocol.dealing.group import (
    BASE,
    IDENTITY,
    Point,
    Secret,
    add,
    encode_scalar,
    multiply,
    multiply_base,
    subtract,
    total,
    weighted,
)
from protocol.dealing.open_deal import open_dealer
from protocol.dealing.proofs import Dleq, Labels, Share, ShareBatch
from protocol.dealing.shuffle import Deck, deck_of
from protocol.dealing.transcript import ORDER, Nonces
from protocol.envelope import digest, open_envelope
from protocol.game import Game
from protocol.messages import ActionEntry, AnswersEntry, DealPart, PartKind, SignedAction
from protocol.outputs import RecordKind
from tests.protocol.dealing.deals import Deal
from tests.security.liars import (
    FIRST_TURN_HEIGHT,
    RACKS_HEIGHT,
    START_HEIGHT,
    LiarsTable,
    opened,
    part_of,
    secrets_of,
    with_payload,
)
from tests.security.tables import (
    HONEST,
    LIAR,
    SMALL,
    at_turn_of,
    draw_request,
    is_answers,
    payload_of,
    secret_scalars,
    with_messages,
)
from tests.test_layers import ROOT, files_of, imports_of

# 16: drawing out of turn, or another position


def next_but_one(game: Game) -> list[Slot]:
    return [Slot(0, game.state.stock.next + 1)]


def one_on_the_own_rack(game: Game) -> list[Slot]:
    return [game.state.seats[LIAR].rack[0]]


def one_on_another_s_rack(game: Game) -> list[Slot]:
    return [game.state.seats[0].rack[-1]]


def an_open_one(game: Game) -> list[Slot]:
    return [game.state.known[0][0]]


def two(game: Game) -> list[Slot]:
    slots, _stock = game.state.stock.take(2)
    return list(slots)


@pytest.mark.parametrize("slots", [next_but_one, one_on_the_own_rack, one_on_another_s_rack, an_open_one, two])
def test_16_a_request_for_another_card_than_the_next_is_answered_by_nobody(slots: Callable[[Game], list[Slot]]) -> None:
    table = at_turn_of(LIAR)
    game, before = table.game(LIAR), table.states()
    part = game.dealer.draw_part(slots(game), game.context())
    table.say(LIAR, draw_request(game, part))
    table.run_for(5.0)
    assert table.named(LIAR, "illegal action: own part of the draw: ")
    assert table.states() == before
    assert not any(table.said(seat, PartKind.SHARES, game.height + 1) for seat in HONEST)
    table.session(LIAR).act(Draw(Seat(LIAR)), table.now_s)
    table.run_to_height(game.height + 1)
    assert table.nobody_else_is_named()


def test_16_of_two_requests_at_once_one_card_comes() -> None:
    table = at_turn_of(LIAR)
    game = table.game(LIAR)
    stock, context = game.state.stock, game.context()
    slots, _left = stock.take(1)
    requests = [draw_request(game, game.dealer.draw_part(slots, context)) for _ in range(2)]
    assert requests[0] != requests[1]
    table.say(LIAR, requests[0], [0])
    table.say(LIAR, requests[1], [1])
    table.session(LIAR).act(Draw(Seat(LIAR)), table.now_s)
    table.run_to_height(game.height + 2)
    for session in table.honest():
        assert session.state is not None
        assert session.state.stock.next == stock.next + 1
        assert len(session.state.seats[LIAR].rack) == 4


def test_16_a_request_while_a_call_is_open_is_evidence() -> None:
    table = at_turn_of(LIAR)
    kept = table.withhold(0, part_of(PartKind.SHARES))
    table.session(LIAR).act(Draw(Seat(LIAR)), table.now_s)
    table.run_for(2.0)
    game, before = table.game(LIAR), table.states()
    slots, _left = game.state.stock.take(1)
    table.say(LIAR, draw_request(game, game.dealer.draw_part(slots, game.context())))
    table.run_for(2.0)
    assert table.named(LIAR, "action while a call is open")
    assert table.states() == before
    table.release(kept)
    table.run_to_height(game.height + 1)


@pytest.mark.parametrize(("seat", "reason"), [(LIAR, "action out of turn"), (0, "action in the name of another seat")])
def test_16_a_request_out_of_turn_or_for_another_is_evidence(seat: int, reason: str) -> None:
    table = at_turn_of(0)
    game, before = table.game(LIAR), table.states()
    slots, _left = game.state.stock.take(1)
    table.say(LIAR, draw_request(game, game.dealer.draw_part(slots, game.context()), seat))
    table.run_for(2.0)
    assert table.named(LIAR, reason)
    assert table.states() == before
    assert not any(table.said(honest, PartKind.SHARES, game.height + 1) for honest in HONEST)


# 17: a decryption on demand


def test_17_keys_are_used_on_dealt_cards_of_the_agreed_deck_and_on_own_rack_cards_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every point that any x or q was multiplied with in a whole game, against those that the log calls for."""
    used: dict[bytes, set[Point]] = {}
    times = Secret.times

    def watched(self: Secret, point: Point) -> Point:
        used.setdefault(self.reveal(), set()).add(point)
        return times(self, point)

    monkeypatch.setattr(Secret, "times", watched)
    table = LiarsTable(SMALL, 3, 2)
    table.run()
    state = table.states()[0]
    assert state is not None
    deck, racks = deck_and_racks(table)
    dealt_heads = {card.a for card in deck[: state.stock.next]}
    assert 0 < len(dealt_heads) < len(deck)
    for node in table.nodes:
        x, q = secret_scalars(node)
        assert used.pop(x) == dealt_heads
        seat = node.session.seat
        assert used.pop(q) == {head for owner, head in racks if owner == seat}
    assert used == {}


def deck_and_racks(table: LiarsTable) -> tuple[Deck, list[tuple[int, Point]]]:
    """From the log alone: the agreed deck, and the owner and R of every card that came to a rack."""
    deck: Deck = ()
    racks: list[tuple[int, Point]] = []
    own_part = b""
    opening_actor = 0
    for committed in table.honest()[0].log:
        content = committed.entry.content
        bodies = [open_envelope(raw).body for raw in committed.attachments]
        parts = [body.payload for body in bodies if isinstance(body, DealPart)]
        match content:
            case ActionEntry(raw):
                action = open_envelope(raw).body
                assert isinstance(action, SignedAction)
                own_part, opening_actor = action.part, action.action.seat
            case AnswersEntry("start"):
                deck = deck_of(parts[-1])
            case AnswersEntry("racks"):
                size = 64 * 3 + 96
                for seat in range(3):
                    racks += [(seat, head) for head in heads([p[seat * size :][: 64 * 3] for p in parts])]
            case AnswersEntry("draw"):
                racks += [(opening_actor, head) for head in heads([p[:64] for p in (own_part, *parts)])]
    return deck, racks


def heads(shares: Sequence[bytes]) -> list[Point]:
    """R of each card, from everybody's A', D of each card."""
    cards = range(0, len(shares[0]), 64)
    return [total(Point(share[at : at + 32]) for share in shares) for at in cards]


def test_17_a_point_that_a_message_brings_is_multiplied_by_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """The liar's own part of a draw is about a point of its own choice: no honest secret touches it."""
    table = at_turn_of(LIAR)
    foreign = multiply_base(4711)
    game = table.game(LIAR)
    slots, _left = game.state.stock.take(1)
    right = game.dealer.draw_part(slots, game.context())
    x, _q = secrets_of(table.node(LIAR))
    lie = right[:32] + multiply(x, foreign) + right[64:]
    touched: list[Point] = []
    times = Secret.times

    def watched(self: Secret, point: Point) -> Point:
        touched.append(point)
        return times(self, point)

    monkeypatch.setattr(Secret, "times", watched)
    for part in (lie, foreign + right[32:], right[:32] + foreign + right[64:]):
        table.say(LIAR, draw_request(game, part))
    table.run_for(3.0)
    assert len(table.evidence(LIAR)[0]) == 3
    assert touched == []


# 18: batched proofs


def forged(batch: ShareBatch, secret: Secret, errors: Sequence[Point], weights: Sequence[int]) -> bytes:
    """Shares that are wrong by `errors`, with the best proof there is if the weights were these."""
    factors = [100 + place for place in range(len(errors))]
    shares = [
        Share(multiply_base(k), total([secret.times(head), multiply(k, batch.rack_key), error]))
        for k, head, error in zip(factors, batch.heads, errors, strict=True)
    ]
    seed = batch._seed(shares)
    blind, nonce = 11, 12
    head = weighted(weights, batch.heads)
    challenge = batch._challenge(
        seed,
        multiply_base(nonce),
        multiply_base(blind),
        add(multiply(nonce, head), multiply(blind, batch.rack_key)),
    )
    factor = sum(z * k for z, k in zip(weights, factors, strict=True))
    answers = (challenge, secret.response(nonce, challenge), (blind + challenge * factor) % ORDER)
    return b"".join(share.a + share.d for share in shares) + b"".join(map(encode_scalar, answers))


def real_weights(batch: ShareBatch, data: bytes) -> list[int]:
    weights = proofs._weights(batch.labels, batch._seed(batch.shares(data)), len(batch.heads))
    assert weights is not None
    return weights


@pytest.mark.parametrize("labels", [proofs.SHARE, proofs.REKEY])
def test_18_errors_that_cancel_for_weights_known_before_are_refused(
    labels: Labels, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For weights 1, 1 and for those of another batch. With such weights the forgery is perfect, so it is one."""
    secret = Secret.from_number(4711)
    cards = (multiply_base(2), multiply_base(3))
    batch = ShareBatch(labels, b"ctx", secret.times_base(), multiply_base(5), cards, (b"1", b"2"))
    honest = batch.make(secret, random.Random(1).randbytes)
    assert batch.check(honest) is None
    for weights in ([1, 1], real_weights(batch, honest)):
        errors = [multiply(weights[1], BASE), multiply(-weights[0] % ORDER, BASE)]
        data = forged(batch, secret, errors, weights)
        assert batch.check(data) == "the proof does not hold"
        with monkeypatch.context() as patch:
            patch.setattr(proofs, "_weights", lambda *_about, weights=weights: weights)
            assert batch.check(data) is None
    nothing_wrong = forged(batch, secret, [IDENTITY, IDENTITY], [1, 1])
    assert batch.check(nothing_wrong) is not None, "weights 1, 1 are not those of the proof"


@pytest.mark.parametrize("labels", [proofs.OPEN, proofs.TAG, proofs.TAG_SHARE])
def test_18_images_that_cancel_for_weights_known_before_are_refused(
    labels: Labels, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, bases = Secret.from_number(4711), (multiply_base(2), multiply_base(3))
    images = [secret.times(base) for base in bases]
    wrong = (add(images[0], BASE), subtract(images[1], BASE))
    statement = Dleq(labels, b"ctx", secret.times_base(), tuple(zip(bases, wrong, strict=True)))
    assert statement.check(statement.prove(secret, random.Random(1).randbytes)) is not None
    monkeypatch.setattr(proofs, "_weights", lambda *_about: [1, 1])
    assert statement.check(statement.prove(secret, random.Random(1).randbytes)) is None


def errors_that_cancel(payload: bytes) -> bytes:
    """D of the first two cards moved in opposite directions."""
    one, other = Point(payload[32:64]), Point(payload[96:128])
    return payload[:32] + add(one, BASE) + payload[64:96] + subtract(other, BASE) + payload[128:]


def test_18_racks_with_errors_that_cancel_reach_nobody() -> None:
    table = LiarsTable(SMALL, 3, 1)
    table.change(LIAR, part_of(PartKind.SHARES), with_payload(errors_that_cancel))
    table.run_for(20.0)
    assert table.named(LIAR, "wrong shares: the proof does not hold")
    assert all(session.height == RACKS_HEIGHT and not session.own_tiles() for session in table.honest())


# 19: the last mover


def test_19_whatever_deck_the_last_shuffler_makes_the_same_seat_begins() -> None:
    """2^16 decks in place of the last, for the lot; some of them at a table, for everything public."""
    deal = Deal(SMALL, 3)
    context = deal.context()
    parts = deal.answer()
    last = Owed(PartKind.SHUFFLE, Seat(LIAR))
    coins = deal.observer.lot(context, parts)(0)
    grinding = {**parts, last: b""}
    for attempt in range(2**16):
        grinding[last] = attempt.to_bytes(2, "big") + parts[last][2:]
        assert deal.observer.lot(context, grinding)(0) == coins
    changed = {**parts, Owed(PartKind.KEY_REVEAL, Seat(0)): parts[Owed(PartKind.KEY_REVEAL, Seat(0))][:-1] + b"\0"}
    assert deal.observer.lot(context, changed)(0) != coins, "of coins it is made"


def test_19_another_last_deck_at_a_table_changes_tiles_and_nothing_that_is_public() -> None:
    """The last shuffler makes one deck after the other, and shows the last of them."""
    is_shuffle = part_of(PartKind.SHUFFLE)
    racks, states = [], set()
    for decks in (1, 2):
        table = LiarsTable(SMALL, 3, 1)
        table.run_to_height(START_HEIGHT)
        table.withhold(LIAR, is_shuffle)
        table.run_for(2.0)
        for _again in range(1, decks):
            table.rewind(LIAR, lambda record: record.kind is RecordKind.OWN and is_shuffle(opened(record.data).body))
            table.run_for(0.5)
        table.meddlers.clear()
        table.run_to_height(RACKS_HEIGHT)
        states |= set(table.states())
        table.run_to_height(FIRST_TURN_HEIGHT)
        racks.append(tuple(table.session(0).own_tiles().values()))
    assert len(set(racks)) == 2
    assert len(states) == 1, "starter and all"


def test_19_a_coin_chosen_after_those_of_the_others_is_refused() -> None:
    table = LiarsTable(SMALL, 3, 1)
    table.change(LIAR, part_of(PartKind.KEY_REVEAL), with_payload(lambda payload: payload[:-32] + bytes(32)))
    table.run_for(10.0)
    assert table.named(LIAR, "wrong key-reveal: does not match the commitment")
    assert all(session.height == START_HEIGHT for session in table.honest())


# 20: too few shufflers


def one_that_skips_seat_1(table: LiarsTable) -> DealPart:
    """The shuffle of seat 2, made on the deck of seat 0."""
    game = table.game(LIAR)
    assert game.call is not None
    (first,) = table.said(0, PartKind.SHUFFLE)
    before = {Owed(PartKind.KEY_REVEAL, Seat(seat)): payload_of(table, seat, PartKind.KEY_REVEAL) for seat in range(3)}
    before[Owed(PartKind.SHUFFLE, Seat(1))] = payload_of(table, 0, PartKind.SHUFFLE)
    made = game.dealer.part(PartKind.SHUFFLE, game.call.call, game.call.context, before)
    return DealPart(game.height, game.head, PartKind.SHUFFLE, digest(first.digest), made)


def test_20_a_shuffle_that_skips_a_seat_is_refused() -> None:
    table = LiarsTable(SMALL, 3, 1)
    table.run_to_height(START_HEIGHT)
    table.withhold(LIAR, part_of(PartKind.SHUFFLE))
    table.run_for(2.0)
    skipping = one_that_skips_seat_1(table)
    (right,) = table.said(LIAR, PartKind.SHUFFLE)
    assert isinstance(right.body, DealPart)
    table.say(LIAR, skipping)
    table.run_for(2.0)
    assert table.waits_for(START_HEIGHT) == {(PartKind.SHUFFLE, LIAR)}, (
        "what builds on something else counts for nothing"
    )
    table.say(LIAR, replace(skipping, names=right.body.names))
    table.run_for(2.0)
    assert table.named(LIAR, "wrong shuffle: the proof does not hold")
    assert table.waits_for(START_HEIGHT) == {(PartKind.SHUFFLE, LIAR)}


def test_20_a_seat_shuffles_once() -> None:
    """Its second shuffle, after that of another: in its own name, and as if it were due."""
    table = LiarsTable(SMALL, 3, 1, liars=frozenset({0, LIAR}))
    table.run_to_height(START_HEIGHT)
    table.withhold(LIAR, part_of(PartKind.SHUFFLE))
    table.run_for(2.0)
    (first,), (second,) = table.said(0, PartKind.SHUFFLE), table.said(1, PartKind.SHUFFLE)
    assert isinstance(first.body, DealPart)
    before = table.waits_for(START_HEIGHT)
    table.say(0, replace(first.body, names=digest(second.digest), payload=payload_of(table, 1, PartKind.SHUFFLE)))
    table.run_for(2.0)
    assert table.named(0, "two different shuffle for one call")
    assert table.waits_for(START_HEIGHT) == before == {(PartKind.SHUFFLE, LIAR)}


def test_20_a_shuffle_after_the_deck_was_agreed_has_no_place() -> None:
    table = LiarsTable(SMALL, 3, 1)
    table.run_to_height(START_HEIGHT)
    kept = table.withhold(0, part_of(PartKind.SHARES))
    table.run_to_height(RACKS_HEIGHT)
    game = table.game(LIAR)
    late = DealPart(game.height, game.head, PartKind.SHUFFLE, None, payload_of(table, LIAR, PartKind.SHUFFLE))
    table.say(LIAR, late)
    table.run_for(2.0)
    assert set(table.reasons(LIAR)) == {f"seat {LIAR} does not owe shuffle to this call"}
    table.release(kept)
    table.run_to_height(FIRST_TURN_HEIGHT)


def test_20_a_start_without_every_shuffle_is_not_agreed() -> None:
    """`Answers` that leaves out the last shuffle, while everybody holds it."""
    table = LiarsTable(SMALL, 3, 1, open_dealer, frozenset({0}))
    table.run_to_height(START_HEIGHT)
    table.change(0, is_answers("start"), with_messages(lambda messages: messages[:-1]))
    table.run_to_height(FIRST_TURN_HEIGHT)
    assert table.named(0, "wrong proposal: expected 9 answers, got 8")
    assert len(table.honest()[0].log[START_HEIGHT].attachments) == 9


# 21: early release


def moved(payload: bytes) -> bytes:
    return add(Point(payload[:32]), BASE) + payload[32:]


@pytest.mark.parametrize(("liar", "lie"), [(0, moved), (1, moved), (2, moved), (2, lambda payload: payload[:-1])])
def test_21_a_bad_shuffle_that_comes_last_lets_no_share_out(liar: int, lie: Callable[[bytes], bytes]) -> None:
    """Everything else is here before it: the liar's own later parts too."""
    table = LiarsTable(SMALL, 3, 1, liars=frozenset({liar}))
    table.run_to_height(START_HEIGHT)
    table.change(liar, part_of(PartKind.SHUFFLE), with_payload(lie))
    table.run_for(30.0)
    assert table.named(liar, "wrong shuffle: ")
    assert table.nobody_else_is_named()
    assert not any(table.said(seat, PartKind.SHARES) for seat in range(3))
    assert all(session.height == START_HEIGHT for session in table.honest())


# 22: the order


def unevenness_of_neighbours(shuffled: Callable[[], Sequence[int]], cards: int, tries: int) -> float:
    """How far from even it is which card lies after which, in standard deviations of chi-square."""
    counts = Counter(pair for _ in range(tries) for pair in pairwise(shuffled()))
    pairs = cards * (cards - 1)
    expected = tries / cards
    square = sum((counts[pair] - expected) ** 2 / expected for pair in permutations(range(cards), 2))
    return (square - pairs) / math.sqrt(2 * pairs)


def cut_only(rng: random.Random, cards: int) -> list[int]:
    """Every card is everywhere equally often, and yet the order is known from one of them."""
    at = rng.randrange(cards)
    return [*range(at, cards), *range(at)]


def test_22_any_card_may_come_after_any_other() -> None:
    """That any card may come anywhere: tests/protocol/dealing/test_fairness.py."""
    nonces = Nonces(bytes(31) + b"\1", bytes(32), b"statement")
    assert abs(unevenness_of_neighbours(lambda: nonces.permutation(52), 52, 1500)) < 5
    rng = random.Random(1)
    assert unevenness_of_neighbours(lambda: cut_only(rng, 52), 52, 1500) > 10


def test_22_a_source_that_is_all_zeros_gives_different_orders_to_different_seats_and_games() -> None:
    """The secrets of a sound machine and the statement still go in."""
    orders = [
        Nonces(secret, bytes(32), b"shuffle", ctx).permutation(52)
        for secret in (bytes(31) + b"\1", bytes(31) + b"\2")
        for ctx in (b"one game", b"another")
    ]
    assert len(set(map(tuple, orders))) == 4


def test_22_nothing_but_the_system_s_source_gives_randomness() -> None:
    """No module for it in the engine and the protocol, and one place in the node, which every session gets."""
    sources = {"random", "secrets", "uuid", "numpy", "os"}
    for package in ("engine", "protocol"):
        for path in files_of(package):
            assert not {name.split(".")[0] for name in imports_of(path)} & sources, path
    takers = {path.name for path in files_of("node") if {"random", "secrets", "uuid"} & imports_of(path)}
    simulated = {"simulation.py", *(path.name for path in files_of("node/faults"))}
    simulated |= {path.name for path in files_of("node/headless")}
    assert takers - simulated == {"clock.py", "players.py"}, "players.py only to look human"
    app = (ROOT / "node" / "app.py").read_text(encoding="utf-8")
    assert app.count("entropy=") == app.count("entropy=random_bytes") > 0
