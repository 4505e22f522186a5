"""Lies in a re-deal, and what is left of the epoch before it. Pitfalls 17, 21, 28 and 29.

Source: docs/dealing.md, sections 3.8 and 6; docs/deal-entries.md, sections 6 and 9.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

from engine.actions import Discard, Draw
from engine.redeal import unplaced
from engine.rulesets import ES
from engine.state import CallName, PublicState, Seat, Slot
from protocol.dealing.group import BASE, Point, Secret, add
from protocol.messages import DealPart, PartKind, Precommit, Prevote, SignedAction
from protocol.outputs import RecordKind
from protocol.session import Session
from tests.security.liars import LiarsTable, opened, part_of, silent, with_payload
from tests.security.tables import SMALL, copy_of, draw_request, secret_scalars
from tests.simulation.removal import in_call, play_on, remove, staying

LOST = 2
SECOND = 1  # the last of those who stay
CARD_BYTES = 64
LONGER = replace(SMALL, hand=6)  # nobody is out in the first turns


def before_re_deal() -> LiarsTable:
    """Three seats after the first turns; `remove` loses the last of them, the one before lies."""
    return copy_of(_before_re_deal())


@cache
def _before_re_deal() -> LiarsTable:
    table = LiarsTable(LONGER, 3, 1, liars=frozenset({SECOND, LOST}))
    table.run_until(lambda: started(table) and in_call(table, None) and state_of(table).turn_number > 1)
    return table


def started(table: LiarsTable) -> bool:
    return all(node.session.game is not None for node in table.nodes)


def state_of(table: LiarsTable) -> PublicState:
    state = table.states()[0]
    assert state is not None
    return state


def moved(payload: bytes) -> bytes:
    return add(Point(payload[:32]), BASE) + payload[32:]


def one_card_like_another(payload: bytes) -> bytes:
    """In a tag: the first card's images for those of the second."""
    return payload[:32] + payload[32 + CARD_BYTES :][:CARD_BYTES] + payload[32 + CARD_BYTES :]


def without_the_last_card(payload: bytes) -> bytes:
    return payload[: -64 - CARD_BYTES] + payload[-64:]


@pytest.mark.parametrize(
    ("kind", "lie"),
    [
        (PartKind.REKEY, moved),
        (PartKind.REKEY, lambda payload: payload[CARD_BYTES : 2 * CARD_BYTES] * 2 + payload[2 * CARD_BYTES :]),
        (PartKind.SHUFFLE, moved),
        (PartKind.TAG, moved),
        (PartKind.TAG, one_card_like_another),
        (PartKind.TAG, without_the_last_card),
    ],
    ids=["rekey", "a rack card twice", "shuffle", "tag key", "a tag twice", "a rack card left out"],
)
def test_a_bad_proof_that_comes_last_lets_no_tag_share_out(kind: PartKind, lie: Callable[[bytes], bytes]) -> None:
    table = before_re_deal()
    table.change(SECOND, part_of(kind), with_payload(lie))
    height = remove(table, (LOST,)).entry.height + 1
    before = table.states()
    table.run_for(10.0)
    assert table.named(SECOND, f"wrong {kind.value}: ")
    assert table.nobody_else_is_named()
    assert table.nobody_said(PartKind.TAG_SHARES)
    assert table.missing(height)[0] == (kind, SECOND)
    assert table.states() == before


def test_wrong_tag_shares_are_refused_and_there_is_no_new_stock() -> None:
    table = before_re_deal()
    table.change(SECOND, part_of(PartKind.TAG_SHARES), with_payload(moved))
    height = remove(table, (LOST,)).entry.height + 1
    table.run_for(10.0)
    assert table.named(SECOND, "wrong tag-shares: the proof does not hold")
    assert table.missing(height) == ((PartKind.TAG_SHARES, SECOND),)


def test_tag_shares_before_the_own_tag_is_in_the_chain_never_leave_a_node() -> None:
    """By every node's journal; and the liar, whose tag is the last, gets none for a chain without it."""
    table = before_re_deal()
    table.withhold(SECOND, part_of(PartKind.TAG))
    height = remove(table, (LOST,)).entry.height + 1
    table.run_for(10.0)
    assert table.nobody_said(PartKind.TAG_SHARES)
    assert table.missing(height)[0] == (PartKind.TAG, SECOND)
    table.meddlers.clear()
    table.run_until(lambda: in_call(table, None))
    for seat in (0, 1):
        said = [part.kind for part in own_parts(table, seat, height)]
        assert said.index(PartKind.TAG_SHARES) > said.index(PartKind.TAG)


def own_parts(table: LiarsTable, seat: int, height: int) -> list[DealPart]:
    """What a seat has said in a call, in order."""
    own = [opened(record.data).body for record in table.node(seat).journal if record.kind is RecordKind.OWN]
    return [body for body in own if isinstance(body, DealPart) and body.height == height]


def test_what_was_made_in_the_old_epoch_is_refused_in_the_new() -> None:
    """A request and an opening whose proofs say epoch 0, made with the keys of now."""
    table = before_re_deal()
    for node in table.nodes:
        node.player = silent
    table.run_for(3.0)
    while state_of(table).card_turn.drawn:  # a turn that was under way is ended
        table.act(int(state_of(table).turn))
        table.run_for(3.0)
    old_stock = state_of(table).stock
    remove(table, (LOST,))
    table.run_until(lambda: in_call(table, None))
    actor = int(state_of(table).turn)
    table.liars = frozenset({actor, LOST})
    game, before = table.game(actor), table.states()
    old = replace(game.context(), state=replace(game.state, stock=old_stock))
    slots, _left = game.state.stock.take(1)
    lie = table.say(actor, draw_request(game, game.dealer.draw_part(slots, old), actor))
    table.run_for(2.0)
    assert table.refused(lie, "illegal action: own part of the draw: the proof does not hold")
    assert table.states() == before
    drawn = game.height + 2
    table.act(actor, lambda session, now_s: session.act(Draw(Seat(actor)), now_s))
    table.run_until(lambda: all(session.height == drawn for session in staying(table)))
    slot, tile = next(iter(table.session(actor).own_tiles().items()))
    opening = game.dealer.opening([(slot, tile)], replace(game.context(), state=replace(game.state, stock=old_stock)))
    throw = SignedAction(game.height, game.head, Discard(Seat(actor), slot, tile), b"", opening)
    before = table.states()
    lie = table.say(actor, throw)
    table.run_for(2.0)
    assert table.refused(lie, "illegal action: opening: the proof does not hold")
    assert table.states() == before


def test_what_a_removed_seat_says_counts_for_nothing() -> None:
    """Its words of before, its vote, a request, an opening, and its part for the re-deal of the others."""
    table = before_re_deal()
    table.liars = frozenset({LOST})
    gone = table.session(LOST)
    words = [record.data for record in table.node(LOST).journal if record.kind is RecordKind.OWN]
    lost_dealer, lost_context = table.game(LOST).dealer, table.game(LOST).context()
    slot, tile = next(iter(gone.own_tiles().items()))
    opening = lost_dealer.opening([(slot, tile)], lost_context)
    remove(table, (LOST,))
    index = table.index(LOST)

    def hears(frame: bytes) -> None:
        for seat in (0, 1):
            table.nodes[table.index(seat)].session.receive(gone.signer.node_id, frame, table.now_s)

    for word in words:
        hears(word)
    for _round in range(2):
        game = table.game(0)
        for body in (
            draw_request(game, b"", LOST),
            SignedAction(game.height, game.head, Discard(Seat(LOST), slot, tile), b"", opening),
            Prevote(game.height, game.head, 0, (), None, ()),
            Precommit(game.height, game.head, 0, (), None),
            DealPart(game.height, game.head, PartKind.KEY_COMMIT, None, bytes(64)),
            DealPart(game.height, game.head, PartKind.OPEN_RACK, None, bytes([tile]) + opening),
        ):
            hears(table.signed(LOST, body).raw)
        table.run_until(lambda: in_call(table, None))
    assert table.nodes[index].down
    assert table.nobody_else_is_named()
    for _now_s in play_on(table):
        pass
    assert len({session.state for session in staying(table)}) == 1


def test_the_drawer_of_a_void_draw_cannot_play_instead() -> None:
    """Neither while the rest is dealt anew, nor while its draw is called again."""
    table = LiarsTable(SMALL, 3, 4)
    table.run_until(lambda: started(table) and in_call(table, CallName.DRAW))
    drawer = int(state_of(table).turn)
    gone = next(seat for seat in range(3) if seat != drawer)
    table.liars = frozenset({drawer, gone})
    slot, tile = next(iter(table.session(drawer).own_tiles().items()))
    remove(table, (gone,))
    for name in (CallName.REDEAL, CallName.DRAW):
        table.run_until(lambda name=name: in_call(table, name))  # type: ignore[misc]
        game = table.game(drawer)
        opening = game.dealer.opening([(slot, tile)], game.context())
        lie = table.say(drawer, SignedAction(game.height, game.head, Discard(Seat(drawer), slot, tile), b"", opening))
        table.run_for(0.03)
        assert table.refused(lie, "action while a call is open")
    table.run_until(lambda: in_call(table, None))
    assert len(state_of(table).seats[drawer].rack) == 4


def test_no_key_of_any_epoch_is_ever_on_the_wire() -> None:
    """In a whole game with a removal; the keys shown for them are, so the search would find one."""
    said: list[bytes] = []
    table = before_re_deal()
    table.listen(lambda passing: said.append(passing.envelope.raw))
    remove(table, (LOST,))
    for _now_s in play_on(table):
        pass
    for node in table.nodes:
        said += [record.data for record in node.journal if record.kind is not RecordKind.SECRET]
    everything = b"".join(said)
    for seat in (0, 1):
        secrets = secret_scalars(table.node(seat))
        assert len(secrets) == 3, "x of two epochs, and one q"
        assert not any(secret in everything for secret in secrets)
        assert all(bytes(Secret(secret).times_base()) in everything for secret in secrets)


@pytest.mark.parametrize("seed", [1, 2])
def test_no_card_is_lost_or_doubled_when_a_seat_with_open_cards_goes(seed: int) -> None:
    """`es`, the pile turned over before: open cards in the stock, on racks, and on that of who goes."""
    table = LiarsTable(replace(ES, hand=16, max_seats=3), 3, seed)
    for node in table.nodes:
        node.player = takes_and_throws
    table.run_until(
        lambda: started(table) and in_call(table, None) and state_of(table).turnovers == 1 and open_on_rack(table) > 0
    )
    remove(table, (LOST,))
    table.run_until(lambda: in_call(table, None))
    state, sessions = state_of(table), staying(table)
    known = dict(state.known)
    public = [known[slot] for slot in (*state.discard, *state.stock.open) if slot in known]
    public += [known[slot] for session in sessions for slot in rack_of(state, session) if slot in known]
    hidden = [tile for session in sessions for tile in session.own_tiles().values()]
    pool = set(unplaced(state)) - set(hidden)
    assert state.stock.size - state.stock.next == len(pool)
    assert sorted([*public, *hidden, *pool]) == list(range(52))


def takes_and_throws(session: Session, now_s: float) -> None:
    """Draws, and throws its newest card: so open cards stay in the game."""
    state, seat = session.state, session.seat
    if state is None or seat is None or not session.may_act(now_s):
        return
    if not state.card_turn.drawn:
        session.act(Draw(seat), now_s)
        return
    slot, tile = next(iter(session.own_tiles().items()))
    session.act(Discard(seat, slot, tile), now_s)


def open_on_rack(table: LiarsTable) -> int:
    """How many open cards who will go holds."""
    state = state_of(table)
    return len(state.seats[LOST].rack) - len(state.hidden_slots(Seat(LOST)))


def rack_of(state: PublicState, session: Session) -> tuple[Slot, ...]:
    assert session.seat is not None
    return state.seats[session.seat].rack
