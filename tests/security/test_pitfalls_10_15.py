"""Pitfalls 10 to 15 of docs/dealing.md, section 6, at tables of real sessions: tiles, nonces, two stories, silence."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from engine.actions import Discard, Draw
from engine.rulesets import PT
from engine.state import CallName, Phase, Seat
from engine.tiles import TileId
from protocol.dealing.dealer import Entropy
from protocol.dealing.group import (
    BASE,
    Point,
    Secret,
    add,
    multiply_base,
    subtract,
    tile_points,
)
from protocol.dealing.proofs import Card
from protocol.dealing.redeal import make_tag, make_tag_shares, tagged, tags
from protocol.dealing.secret_deal import secret_dealer
from protocol.dealing.transcript import ORDER
from protocol.envelope import Envelope, digest
from protocol.messages import (
    ActionEntry,
    Body,
    CatchUp,
    DealPart,
    PartKind,
    Precommit,
    Prevote,
    Proposal,
    SignedAction,
)
from protocol.outputs import RecordKind
from protocol.session import Record
from tests.protocol.dealing.deals import dealt
from tests.security.layouts import LAYOUTS
from tests.security.liars import (
    FIRST_TURN_HEIGHT,
    RACKS_HEIGHT,
    SETTLED_S,
    START_HEIGHT,
    LiarsTable,
    Match,
    Passing,
    never_lays,
    of_draws,
    opened,
    part_of,
    secret_of,
    silent,
    with_payload,
)
from tests.security.tables import LIAR, SMALL, at_turn_of, is_turn_of

CARDS = 52
EVERY_PART = [
    (PartKind.KEY_COMMIT, part_of(PartKind.KEY_COMMIT), PartKind.KEY_REVEAL),
    (PartKind.KEY_REVEAL, part_of(PartKind.KEY_REVEAL), PartKind.SHUFFLE),
    (PartKind.SHUFFLE, part_of(PartKind.SHUFFLE), PartKind.SHARES),
    (PartKind.SHARES, part_of(PartKind.SHARES, RACKS_HEIGHT), None),
    (PartKind.SHARES, of_draws(PartKind.SHARES), None),
    (PartKind.OPEN_RACK, part_of(PartKind.OPEN_RACK), None),
]
"""Each part that a seat owes in a game, and the kind that builds on it."""


# 10 and 11. Tiles


def test_a_tile_is_opened_once_and_only_if_there_is_one() -> None:
    """Pitfalls 10 and 11: ids that are public or in no deck, of a card on the rack."""
    table = at_turn_of(LIAR)
    table.draws(LIAR)
    slot, tile = next(iter(table.session(LIAR).own_tiles().items()))
    right, before = table.game(LIAR).sign_action(Discard(Seat(LIAR), slot, tile)), table.states()
    public = next(iter(table.game(0).state.known_tiles().values()))
    for other in (public, TileId(CARDS), TileId(-1)):
        told = table.say(LIAR, replace(right, action=Discard(Seat(LIAR), slot, other)))
        table.run_for(0.5)
        assert table.refused(told, "illegal action: "), other
    assert table.states() == before
    table.act(LIAR, lambda session, now_s: session.act(right.action, now_s))
    table.run_until(lambda: all(session.height > right.height for session in table.honest()))


def test_tags_of_neighbouring_ids_say_nothing_of_the_ids() -> None:
    """Pitfall 11: with M = i G the tags of i and i + 1 would differ by the same for every i, and give the ids away."""

    def gives_ids_away(tiles: Sequence[Point]) -> bool:
        """Whether the tags s M stand in relations that only ids in order could have."""
        cards = tuple(Card(BASE, add(tile, key)) for tile in tiles)
        tag = tagged(make_tag(b"tag", cards, secret.reveal(), random.Random(1).randbytes))
        found = tags(tag, [make_tag_shares(b"share", key, tag, secret, random.Random(2).randbytes)])
        steps = {subtract(after, before) for before, after in itertools.pairwise(found)}
        return len(steps) < len(found) - 1 or not steps.isdisjoint(found)

    secret = Secret.from_number(4711)
    key = secret.times_base()
    assert not gives_ids_away(tile_points("cards", 0)[:8])
    assert gives_ids_away([multiply_base(place + 1) for place in range(8)])


def test_a_message_of_a_table_with_other_rules_is_refused() -> None:
    """Pitfall 11: the same seats, secrets and moment; another option of the rules."""
    one, other = dealt(SMALL, 2), dealt(replace(SMALL, out_bonus=SMALL.out_bonus + 1), 2)
    for kind in (PartKind.KEY_REVEAL, PartKind.SHUFFLE, PartKind.SHARES):
        mine, theirs = one.of(kind, 1), other.of(kind, 1)
        assert mine.judged_by(one.observer) is None
        assert mine.judged_by(one.observer, theirs.payload) is not None
    decks = [set(tile_points(*deck)) for deck in (("cards", 0), ("tiles", 2), ("tiles", 4))]
    assert len(set.union(*decks)) == sum(map(len, decks)), "no tile of one deck is a tile of another"


# 12. Nonces


def stuck_at_a_constant(genesis: Any, seat: Seat | None, _secret: bytes | None, _entropy: Entropy) -> Any:
    """Dealers with known secrets whose source of randomness always gives the same."""
    assert seat is not None
    return secret_dealer(genesis, seat, secret_of(seat), bytes)


def nonce(challenge: bytes, response: bytes, secret: int) -> int:
    """What was added to challenge times secret."""
    c, s = int.from_bytes(challenge, "little"), int.from_bytes(response, "little")
    return (s - c * secret) % ORDER


def test_a_source_of_randomness_stuck_at_a_constant_repeats_no_nonce() -> None:
    """Pitfall 12: in a whole game of such nodes no two proofs with one secret share a nonce, no two shares a factor."""
    table = LiarsTable(seats=2, make_dealer=stuck_at_a_constant, liars=frozenset())
    table.run()
    nonces: list[int] = []
    factors: list[bytes] = []
    for seat in range(2):
        x, q = 1000 + seat, 2000 + seat
        own = [opened(record.data).body for record in table.node(seat).journal if record.kind is RecordKind.OWN]
        for body in own:
            if isinstance(body, SignedAction) and body.proof:
                nonces.append(nonce(body.proof[:32], body.proof[32:], q))
            if isinstance(body, SignedAction) and body.part:
                factors.append(body.part[:32])
                nonces.append(nonce(body.part[64:96], body.part[96:128], x))
            if not isinstance(body, DealPart):
                continue
            data = body.payload
            if body.kind is PartKind.KEY_REVEAL:
                nonces += [nonce(data[64:96], data[96:128], x), nonce(data[128:160], data[160:192], q)]
            elif body.kind is PartKind.OPEN_RACK:
                nonces.append(nonce(data[-64:-32], data[-32:], q))
            elif body.kind is PartKind.SHUFFLE:
                factors += [data[at : at + 32] for at in range(0, 128 * CARDS, 32)]
            elif body.kind is PartKind.SHARES:
                layout = LAYOUTS["shares"]([10, 10, 1] if body.height == RACKS_HEIGHT else [1])
                places = [field.offset for field in layout if field.name.startswith("c")]
                nonces += [nonce(data[at : at + 32], data[at + 32 : at + 64], x) for at in places]
                factors += [field.of(data) for field in layout if field.name.startswith("A'")]
    assert len(nonces) > 50
    assert len(set(nonces)) == len(nonces)
    assert len(factors) > 4 * CARDS
    assert len(set(factors)) == len(factors)


# 12 and 13. Two versions of one message


def forgets(match: Match) -> Callable[[Record], bool]:
    """What a node must forget to say something anew."""
    return lambda record: record.kind is RecordKind.OWN and match(opened(record.data).body)


def test_two_right_versions_of_a_part_prove_who_told_them() -> None:
    """Pitfalls 12 and 13: put back to an earlier state a node says it anew, and each of two peers hears one version."""
    table = LiarsTable(SMALL)
    table.keep_liars_from_winning()
    for (kind, match, _next), withheld in [(one, table.withhold(LIAR, one[1])) for one in EVERY_PART[2:]]:
        first = table.kept_back(withheld)
        height = table.session(0).height
        table.rewind(LIAR, forgets(match))
        table.run_for(SETTLED_S)
        second = withheld.envelopes[-1]
        two_stories_are_found_out(table, kind, first, second)
        a, b = (body.payload[-64:-32] for body in (first.body, second.body) if isinstance(body, DealPart))
        assert a != b, "made with another nonce, so no secret follows from the two"
        table.release(withheld)
        table.run_until(lambda height=height: all(s.height > height for s in table.honest()), within_s=10)  # type: ignore[misc]


def test_two_commitments_prove_who_made_them() -> None:
    """Pitfall 13: the node was given other secrets in between."""
    table = LiarsTable(SMALL)
    withheld, first = table.holds_back(LIAR, part_of(PartKind.KEY_COMMIT))
    table.rewind(LIAR, forgets(part_of(PartKind.KEY_COMMIT)), secret_of(LIAR))
    table.run_for(SETTLED_S)
    two_stories_are_found_out(table, PartKind.KEY_COMMIT, first, withheld.envelopes[-1])


def two_stories_are_found_out(table: LiarsTable, kind: PartKind, first: Envelope, second: Envelope) -> None:
    """Both honest nodes have both versions as evidence, whichever they heard first; nobody else is to blame."""
    assert first.raw != second.raw
    tell_two_stories(table, LIAR, first, second)
    for evidence in table.evidence(LIAR).values():
        both = [set(found.evidence) for found in evidence if found.reason == f"two different {kind.value} for one call"]
        assert {first.raw, second.raw} in both
    assert table.nobody_else_is_named()
    assert len(set(map(repr, table.states()))) == 1


def tell_two_stories(table: LiarsTable, seat: int, first: Envelope, second: Envelope) -> None:
    """Seat 0 hears the first and only then the second, seat 1 the second and only then the first."""

    def forwards_nothing(passing: Passing) -> list[Envelope]:
        copied = passing.envelope.sender == table.key(seat) and passing.source != table.index(seat)
        return [] if copied else [passing.envelope]

    table.meddlers.append(forwards_nothing)
    table.send(seat, first.raw, to_seats=[0])
    table.send(seat, second.raw, to_seats=[1])
    table.run_for(0.1)
    table.send(seat, first.raw, to_seats=[1])
    table.send(seat, second.raw, to_seats=[0])
    table.run_for(0.5)


def test_two_different_keys_for_one_commitment_are_told_apart() -> None:
    """Pitfall 13, for the part that has only one right version: who hears the other refuses it."""
    table = LiarsTable(SMALL)
    withheld, right = table.holds_back(LIAR, part_of(PartKind.KEY_REVEAL))
    wrong = table.signed(LIAR, with_payload(lambda payload: payload[:-1] + b"\0")(right.body))
    table.send(LIAR, right.raw, to_seats=[0])
    table.send(LIAR, wrong.raw, to_seats=[1])
    table.run_for(1)
    assert table.refused(wrong, "")
    assert table.nobody_else_is_named()
    table.release(withheld)
    table.run_to_height(FIRST_TURN_HEIGHT)


def votes(table: LiarsTable, seat: int) -> dict[str, tuple[Body, Body]]:
    """Two votes and two proposals for one round, of which one contradicts the other."""
    game = table.game(seat)
    place = (game.height, game.head, 0, ())
    entries = [game.entry(ActionEntry(table.signed(seat, game.sign_action(Draw(Seat(seat)))).raw)) for _ in range(2)]
    assert entries[0] is not None
    assert entries[1] is not None
    return {
        "two proposals": (Proposal(*place, entries[0], ()), Proposal(*place, entries[1], ())),
        "two different precommits": (Precommit(*place, None), Precommit(*place, bytes(32))),
        "two different prevotes": (Prevote(*place, None, ()), Prevote(*place, bytes(32), ())),
    }


@pytest.mark.parametrize("reason", ["two proposals", "two different prevotes", "two different precommits"])
def test_two_votes_for_two_peers_prove_who_cast_them(reason: str) -> None:
    """Pitfall 13: in agreement as in the deal."""
    table = at_turn_of(LIAR)
    first, second = (table.signed(LIAR, body) for body in votes(table, LIAR)[reason])
    tell_two_stories(table, LIAR, first, second)
    for evidence in table.evidence(LIAR).values():
        assert any(f.reason.startswith(reason) and set(f.evidence) == {first.raw, second.raw} for f in evidence)
    assert table.nobody_else_is_named()


# 14. What is withheld

WITHHELD_S = 8.0


def test_a_withheld_part_is_waited_for_by_name_and_taken_late() -> None:
    """Pitfall 14, through a whole game: nobody says what builds on it, nothing changes until it comes."""
    table = LiarsTable(SMALL)
    table.keep_liars_from_winning()
    for (kind, _match, next_kind), withheld in [(one, table.withhold(LIAR, one[1])) for one in EVERY_PART]:
        table.kept_back(withheld)
        before, height = table.states(), table.session(0).height
        table.run_for(WITHHELD_S)
        assert table.missing(height)[0] == (kind, LIAR)
        assert table.states() == before
        assert next_kind is None or table.nobody_said(next_kind)
        assert height > RACKS_HEIGHT or not any(session.own_tiles() for session in table.honest())
        table.release(withheld)
        if kind not in (PartKind.KEY_COMMIT, PartKind.KEY_REVEAL):
            table.run_until(lambda height=height: all(n.session.height > height for n in table.nodes), within_s=5)  # type: ignore[misc]
    assert table.refusals() == []


def test_a_part_withheld_from_one_comes_by_way_of_another() -> None:
    """Pitfall 14: nobody can stall a single opponent."""
    table = LiarsTable(SMALL, seed=2)
    table.keep_liars_from_winning()
    for withheld in [table.withhold(LIAR, match, from_seats=[0]) for _kind, match, _next in EVERY_PART]:
        table.run_until(lambda withheld=withheld: bool(withheld.caught))  # type: ignore[misc]
        height = table.session(LIAR).height
        if height > START_HEIGHT:
            table.run_until(lambda height=height: all(n.session.height > height for n in table.nodes), within_s=0.9)  # type: ignore[misc]
    assert table.refusals() == []


def test_shuffles_that_come_before_the_keys_under_them_wait_for_these() -> None:
    """Pitfall 14: one link is slow; the deck has gone on from hand to hand meanwhile."""
    table = LiarsTable(SMALL, 4, liars=frozenset())

    def slow(passing: Passing) -> list[Envelope]:
        keys = part_of(PartKind.KEY_REVEAL)(passing.envelope.body) and passing.envelope.sender == table.key(2)
        return [] if keys and passing.target == table.index(3) else [passing.envelope]

    table.meddlers.append(slow)
    table.run_until(lambda: bool(table.nodes[0].session.game) and bool(table.said(2, PartKind.SHUFFLE)))
    table.run_for(SETTLED_S)
    assert not table.said(3, PartKind.SHUFFLE)
    table.meddlers.clear()
    table.run_to_height(RACKS_HEIGHT)
    assert table.refusals() == []


def test_a_shuffle_on_keys_that_nobody_knows_stops_no_node() -> None:
    """Pitfall 9: the first seat names keys that are not there, its friend goes on from that."""
    table = LiarsTable(SMALL, liars=frozenset({0, 1}))
    withheld, right = table.holds_back(0, part_of(PartKind.SHUFFLE))
    assert isinstance(right.body, DealPart)
    first = table.say(0, replace(right.body, names=bytes(32)))
    table.say(1, replace(right.body, names=digest(first.digest)))
    table.run_for(SETTLED_S)
    assert table.nobody_said(PartKind.SHUFFLE)
    table.release(withheld)
    table.run_for(SETTLED_S)
    assert table.missing(START_HEIGHT)[0] == (PartKind.SHUFFLE, 1)


def test_withheld_words_of_agreement_stop_the_table_until_they_come() -> None:
    """Pitfall 14: without them no state changes, and no tile is drawn."""
    table = at_turn_of(LIAR)
    for seat in table.honest_seats():
        table.node(seat).player = never_lays
    for kinds in ((SignedAction, Proposal), (Proposal,), (Prevote,), (Precommit, CatchUp)):
        table.run_until(lambda: all(is_turn_of(node.session, LIAR) for node in table.nodes))
        withheld = table.withhold(LIAR, lambda body, kinds=kinds: isinstance(body, kinds))  # type: ignore[misc]
        height, before = table.session(LIAR).height, table.states()
        table.act(LIAR, lambda session, now_s: session.act(Draw(Seat(LIAR)), now_s))
        table.run_for(WITHHELD_S)
        assert table.states() == before, kinds
        assert table.nobody_said(PartKind.SHARES, height + 1)
        table.release(withheld)
        table.run_to_height(height + 2)
        table.act(LIAR, never_lays)
        table.run_to_height(height + 3)


def test_after_a_time_out_nobody_helps_a_drawer_who_keeps_its_own_part_back() -> None:
    """Pitfall 14: no free look, and with the part the draw goes on."""
    rules = replace(PT, turn_seconds=20, timeout_idle_draw=3)
    table = LiarsTable(rules, 2)
    for node in table.nodes:
        node.player = silent
    table.run_until(
        lambda: all(n.session.state is not None and n.session.state.phase is Phase.PLAY for n in table.nodes)
    )
    turn = int(table.game(0).state.turn)
    other = 1 - turn
    table.liars = frozenset({turn})
    withheld, _part = table.holds_back(turn, of_draws(PartKind.SHARES))
    call = table.game(other).call
    assert call is not None
    assert (call.call.name, call.call.seat) == (CallName.DRAW, turn)
    height = table.session(other).height
    table.run_for(WITHHELD_S)
    assert table.missing(height)[0] == (PartKind.SHARES, turn)
    assert table.nobody_said(PartKind.SHARES, height)
    table.release(withheld)
    table.run_until(lambda: all(node.session.height > height for node in table.nodes), within_s=5)
    assert table.said(other, PartKind.SHARES, height)


# 15. Look, then repeat


def test_who_crashes_after_showing_its_share_to_a_friend_alone_gets_it_no_second_draw() -> None:
    """Pitfall 15: the look cannot be prevented; the draw stays open, and when it is back it is the same tile."""
    drawer, accomplice, victim = LIAR, 0, 1
    table = at_turn_of(drawer)
    table.liars = frozenset({drawer, accomplice})
    height, held = table.session(drawer).height + 1, len(table.game(victim).state.seats[drawer].rack)

    def only_to_the_drawer(passing: Passing) -> list[Envelope]:
        told = passing.envelope
        share = told.sender == table.key(accomplice) and part_of(PartKind.SHARES, height)(told.body)
        return [] if share and passing.target == table.index(victim) else [told]

    table.meddlers.append(only_to_the_drawer)
    table.act(drawer, lambda session, now_s: session.act(Draw(Seat(drawer)), now_s))
    table.run_for(SETTLED_S)
    seen = table.game(drawer).call
    assert seen is not None
    assert seen.complete, "the drawer holds all that it takes to read its tile"
    (share,) = table.said(accomplice, PartKind.SHARES, height)
    table.crash(table.index(accomplice))
    before = table.states()
    table.run_for(WITHHELD_S)
    assert table.missing(height) == ((PartKind.SHARES, accomplice),)
    game = table.game(victim)
    slot, tile = next(iter(table.session(drawer).own_tiles().items()))
    for other in (Draw(Seat(drawer)), Discard(Seat(drawer), slot, tile)):
        told = table.say(drawer, SignedAction(game.height, game.head, other, b"", b""), to_seats=[victim])
        table.run_for(0.5)
        assert table.refused(told, "action while a call is open")
    assert table.states() == before
    table.meddlers.clear()
    table.restart(table.index(accomplice))
    table.run_until(lambda: table.session(victim).height > height, within_s=10)
    assert table.said(accomplice, PartKind.SHARES, height) == [share], "the same bytes: no other tile"
    assert len(table.game(victim).state.seats[drawer].rack) == held + 1
