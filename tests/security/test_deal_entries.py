"""The deviations of docs/deal-entries.md, section 9, at tables of real sessions: what comes of each.

Those that other files try, and two versions of one message, are listed in docs/security.md.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

from engine.actions import Discard, Draw, Pass, RacksOpened, TakeDiscard
from engine.rules import apply
from engine.rulesets import ES, NO, PT, RuleSet
from engine.setup import draw_lots
from engine.state import Phase, Seat, Slot, state_hash
from engine.tiles import TileId
from node.simulation import SimulatedTable, commits
from protocol.dealing.keys import REVEAL_BYTES, lot_numbers
from protocol.dealing.open_deal import open_dealer
from protocol.dealing.secret_deal import secret_dealer
from protocol.messages import (
    ActionEntry,
    AnswersEntry,
    Body,
    Content,
    DealPart,
    Entry,
    NextGameWish,
    PartKind,
    Proposal,
    SeatAction,
    SignedAction,
    TimeoutEntry,
)
from protocol.outputs import RecordKind
from protocol.session import Session
from tests.security.liars import (
    FIRST_TURN_HEIGHT,
    RACKS_HEIGHT,
    START_HEIGHT,
    LiarsTable,
    Withheld,
    opened,
    part_of,
    secret_of,
    silent,
    with_payload,
    with_secrets,
)
from tests.security.tables import HONEST, LIAR, SMALL, at_turn_of, copy_of, draw_request, is_answers, with_messages

TIMED = replace(SMALL, turn_seconds=20)

# Shares and the entry that calls for them


def test_shares_leave_a_node_only_after_it_has_committed_what_calls_for_them() -> None:
    """In a whole game, by every node's journal: never with a vote, never before the commit."""
    table = SimulatedTable(SMALL, 3, 2, secret_dealer)
    table.run()
    shares = 0
    for node in table.nodes:
        height = 0
        for record in node.journal:
            if record.kind is RecordKind.COMMITTED:
                height = record.height + 1
            body = opened(record.data).body if record.kind is RecordKind.OWN else None
            if isinstance(body, DealPart):
                assert body.height == height
                shares += body.kind is PartKind.SHARES
    assert shares > 10


def test_the_wait_for_a_drawer_s_own_part_costs_the_next_seat_no_time() -> None:
    table = at_turn_of(LIAR, TIMED)
    height = table.game(LIAR).height
    kept = table.withhold(LIAR, part_of(PartKind.SHARES))
    table.run_to_height(height + 1)
    table.run_for(60.0)
    for node in table.nodes:
        node.player = silent
    table.release(kept)
    table.run_to_height(height + 2)
    for session in table.honest():
        assert session.remaining_s(table.now_s) == pytest.approx(20.0, abs=0.1)


def test_the_part_of_a_draw_that_was_not_agreed_is_refused_for_the_time_out() -> None:
    """Its drawer asked too late, and offers the same part again."""
    table = at_turn_of(LIAR, TIMED)
    game = table.game(LIAR)
    slots, _left = game.state.stock.take(1)
    old = game.dealer.draw_part(slots, game.context())
    table.withhold(LIAR, part_of(PartKind.SHARES))
    table.run_to_height(game.height + 1)
    table.run_for(1.0)
    height = game.height
    table.say(LIAR, DealPart(height, game.head, PartKind.SHARES, None, old))
    table.run_for(2.0)
    assert table.named(LIAR, "wrong shares: the proof does not hold")
    assert not any(table.said(seat, PartKind.SHARES, height) for seat in HONEST)


def refused(table: LiarsTable, action: SeatAction, part: bytes, proof: bytes, reason: str) -> None:
    """The liar signs this action; every honest node names it for this reason, and nothing has changed."""
    game, before = table.game(LIAR), table.states()
    table.say(LIAR, SignedAction(game.height, game.head, action, part, proof))
    table.run_for(2.0)
    assert table.named(LIAR, f"illegal action: {reason}")
    assert table.states() == before


def test_an_own_part_that_is_missing_or_of_another_size_makes_the_draw_illegal() -> None:
    table = at_turn_of(LIAR)
    game = table.game(LIAR)
    slots, _left = game.state.stock.take(2)
    for part in (b"", game.dealer.draw_part(slots, game.context())):
        refused(
            table, Draw(Seat(LIAR)), part, b"", f"own part of the draw: expected shares of 160 bytes, got {len(part)}"
        )


def test_an_own_part_where_an_open_card_is_taken_makes_the_action_illegal() -> None:
    table = at_turn_of(LIAR)
    game = table.game(LIAR)
    part = game.dealer.draw_part([game.state.discard[-1]], game.context())
    refused(table, TakeDiscard(Seat(LIAR)), part, b"", "a share where nothing is drawn")


def test_an_own_part_with_an_empty_stock_makes_the_pass_illegal() -> None:
    """Judged by the rules alone, so with open tiles. Everybody draws until nothing is left."""

    def draws(session: Session, now_s: float) -> None:
        assert session.seat is not None
        if session.state is not None and session.state.stock.left and session.may_act(now_s):
            session.act(Draw(session.seat), now_s)

    table = LiarsTable(replace(PT, hand=25, jokers=0, turn_seconds=0), 4, 1, open_dealer)
    for node in table.nodes:
        node.player = draws
    table.run_until(lambda: all(s is not None and s.phase is Phase.PLAY and not s.stock.left for s in table.states()))
    table.run_for(2.0)
    game = table.game(LIAR)
    actor = game.state.turn
    table.liars = frozenset({actor})
    before = table.states()
    table.say(actor, SignedAction(game.height, game.head, Pass(actor), b"part", b""))
    table.run_for(2.0)
    assert table.named(actor, "illegal action: a share where nothing is drawn")
    assert table.states() == before


def test_a_share_of_a_draw_that_is_withheld_costs_no_clock_anything() -> None:
    table = at_turn_of(LIAR, TIMED)
    height = table.game(LIAR).height
    kept = table.withhold(0, part_of(PartKind.SHARES))
    left_s = table.session(LIAR).remaining_s(table.now_s)
    began_s = table.now_s
    table.session(LIAR).act(Draw(Seat(LIAR)), table.now_s)
    table.run_to_height(height + 1)
    asked_s = table.now_s
    table.run_for(15.0)
    assert table.session(1).height == height + 1
    table.release(kept)
    table.run_to_height(height + 2)
    assert left_s is not None
    again_s = table.session(LIAR).remaining_s(table.now_s)
    assert again_s == pytest.approx(left_s - (asked_s - began_s), abs=0.1)


# Who proposes `Answers`, and what


def open_table(liar: int) -> LiarsTable:
    """With the same messages, but nothing to compute: for what agreement makes of them."""
    return LiarsTable(SMALL, 3, 1, open_dealer, frozenset({liar}))


def closed_after_s(table: LiarsTable, height: int) -> float:
    """When the last honest node has committed the entry of a height."""
    table.run_until(lambda: all(session.height > height for session in table.honest()))
    return table.now_s


UNKNOWN = b"unknown message".ljust(32)
LISTS: dict[str, Callable[[tuple[bytes, ...]], tuple[bytes, ...]]] = {
    "unknown": lambda messages: (*messages[:-1], UNKNOWN),
    "another order": lambda messages: messages[::-1],
    "one twice": lambda messages: (messages[0], *messages[:-1]),
    "one short": lambda messages: messages[:-1],
    "one too many": lambda messages: (*messages, messages[-1]),
    "none": lambda messages: (),
}


@pytest.mark.parametrize("name", LISTS)
def test_a_wrong_list_of_answers_is_voted_down_and_the_next_seat_proposes(name: str) -> None:
    """A wrong number of messages is seen at once; for a message nobody has, the others wait their second."""
    usual, table = open_table(0), open_table(0)
    table.run_to_height(START_HEIGHT)
    table.change(0, is_answers("start"), with_messages(LISTS[name]))
    late_s = closed_after_s(table, START_HEIGHT) - closed_after_s(usual, START_HEIGHT)
    wrong_number = name in ("one short", "one too many", "none")
    assert late_s < (0.5 if wrong_number else 1.3)
    assert table.named(0, "wrong proposal: expected 9 answers, got ") == wrong_number
    assert table.nobody_else_is_named()
    assert [commits(table.node(seat))[-1].round for seat in (1, 2)] == [1, 1]
    table.run_to_height(FIRST_TURN_HEIGHT)


@pytest.mark.parametrize("call", ["start", "racks"])
def test_when_nobody_proposes_the_answers_the_next_seat_does_within_a_second(call: str) -> None:
    height = {"start": START_HEIGHT, "racks": RACKS_HEIGHT}[call]
    usual, table = open_table(0), open_table(0)
    table.run_to_height(START_HEIGHT)
    kept = table.withhold(0, is_answers(call))
    late_s = closed_after_s(table, height) - closed_after_s(usual, height)
    assert kept.caught
    assert 0.9 < late_s < 1.3
    assert table.refusals() == []


def test_when_the_drawer_does_not_propose_the_answers_to_its_draw_the_next_seat_does() -> None:
    usual, table = (at_turn_of(LIAR, make_dealer=open_dealer) for _ in range(2))
    height = table.game(LIAR).height
    table.withhold(LIAR, is_answers("draw"))
    for each in (usual, table):
        each.session(LIAR).act(Draw(Seat(LIAR)), each.now_s)
    assert 0.9 < closed_after_s(table, height + 1) - closed_after_s(usual, height + 1) < 1.3


# Commitments and reveals


def test_two_commitments_of_one_seat_are_evidence() -> None:
    table = open_table(LIAR)
    table.run_to_height(START_HEIGHT)
    table.run_until(lambda: bool(table.said(LIAR, PartKind.KEY_COMMIT)))
    (first,) = table.said(LIAR, PartKind.KEY_COMMIT)
    assert isinstance(first.body, DealPart)
    table.say(LIAR, replace(first.body, payload=bytes(64)))
    table.run_for(1.0)
    assert table.named(LIAR, "two different key-commit for one call")


def test_a_reveal_on_other_commitments_counts_for_nothing() -> None:
    table = open_table(LIAR)
    table.run_to_height(START_HEIGHT)

    def on_others(body: Body) -> Body:
        assert isinstance(body, DealPart)
        return replace(body, names=bytes(32))

    table.change(LIAR, part_of(PartKind.KEY_REVEAL), on_others)
    table.run_for(5.0)
    assert (PartKind.KEY_REVEAL, LIAR) in table.waits_for(START_HEIGHT), "it counts for nothing"
    assert not any(table.said(seat, PartKind.SHUFFLE) for seat in HONEST)


# Something else while a call is open


def stopped_in_draw() -> LiarsTable:
    """The liar's draw is open at every node, because seat 0's share is withheld; the liar proposes first."""
    table = at_turn_of(LIAR, make_dealer=open_dealer)
    height = table.game(LIAR).height
    table.withhold(0, part_of(PartKind.SHARES))
    table.session(LIAR).act(Draw(Seat(LIAR)), table.now_s)
    table.run_to_height(height + 1)
    return table


def test_no_action_or_time_out_can_be_the_entry_while_a_call_is_open() -> None:
    """Each in a round that the liar may propose in."""
    table = stopped_in_draw()
    game, before = table.game(LIAR), table.states()
    request = table.signed(LIAR, draw_request(game, b""))
    lies: list[tuple[Content, str]] = [
        (ActionEntry(request.raw), "action while a call is open"),
        (TimeoutEntry(), "wrong proposal: the call draw is open"),
        (AnswersEntry("racks", ()), "wrong proposal: answers to a call that is not open"),
        (AnswersEntry("redeal", ()), "wrong proposal: answers to a call that is not open"),
    ]
    for turn, (content, reason) in enumerate(lies):
        entry = Entry(game.height, game.head, content, bytes(32))
        proposal = table.say(LIAR, Proposal(game.height, game.head, 3 * turn, (), entry, ()))
        table.run_for(0.5)
        said = request if isinstance(content, ActionEntry) else proposal
        assert table.refused(said, reason)
    assert table.states() == before


def test_a_wish_during_a_call_or_a_turn_is_refused() -> None:
    for table in (stopped_in_draw(), at_turn_of(LIAR, make_dealer=open_dealer)):
        game = table.game(LIAR)
        table.say(LIAR, NextGameWish(game.height, game.head, game.state.game + 1))
        table.run_for(1.0)
        assert {event.reason for event in table.refusals()} == {"wish for a next game before this one is over"}


def test_answers_without_a_call_are_refused() -> None:
    """A second list of answers, after the first was agreed."""
    table = at_turn_of(LIAR, make_dealer=open_dealer)
    game, before = table.game(LIAR), table.states()
    messages = tuple(opened(raw).digest for raw in table.session(0).log[RACKS_HEIGHT].attachments)
    entry = Entry(game.height, game.head, AnswersEntry("racks", messages), bytes(32))
    table.say(LIAR, Proposal(game.height, game.head, 0, (), entry, ()))
    table.run_for(1.0)
    assert table.named(LIAR, "wrong proposal: answers to a call that is not open")
    assert table.states() == before


# Openings


def test_openings_of_what_is_not_hidden_on_the_own_rack_are_refused() -> None:
    """One turn later: tests/security/test_pitfalls_1_5.py. Of more than four actions at a height no notice is taken."""
    table = at_turn_of(LIAR)
    table.draws(LIAR)
    game = table.game(LIAR)
    open_slot, open_tile = game.state.known[0]
    (slot, tile), (other, _tile) = list(table.session(LIAR).own_tiles().items())[:2]
    right = game.dealer.opening([(slot, tile)], game.context())
    of_other = game.dealer.opening([(other, tile)], game.context())
    lies = [
        ((open_slot, open_tile), right, "an opening proof where nothing is opened"),
        ((slot, open_tile), right, "opening: not tiles that are hidden, each once"),
        ((game.state.seats[0].rack[0], tile), right, "plays a tile that is not on the rack"),
        ((other, tile), of_other, "opening: the proof does not hold"),
    ]
    for lie, proof, reason in lies:
        refused(table, Discard(Seat(LIAR), *lie), b"", proof, reason)


# `es`: cards that are open and hidden again

TURNED_OVER = replace(ES, hand=25, max_seats=2)  # one card is left in the stock


@pytest.fixture
def turned_over() -> LiarsTable:
    """Two seats, the last hidden card drawn, and one card thrown: the next draw turns the pile over."""
    table = LiarsTable(TURNED_OVER, 2, 1, liars=frozenset())
    for node in table.nodes:
        node.player = silent
    table.run_to_height(FIRST_TURN_HEIGHT)
    return table


def throws(table: LiarsTable, seat: int) -> tuple[Slot, TileId]:
    """A seat throws the first hidden card of its rack."""
    slot, tile = next(iter(table.session(seat).own_tiles().items()))
    table.act(seat, lambda session, now_s: session.act(Discard(Seat(seat), slot, tile), now_s))
    return slot, tile


def cards_in(table: LiarsTable) -> int:
    """Cards at all public places and on all racks."""
    state = table.game(0).state
    on_board = sum(len(meld.tiles) for meld in state.board)
    return state.stock.left + len(state.discard) + on_board + sum(len(seat.rack) for seat in state.seats)


def test_turning_over_a_pile_while_there_is_stock_is_refused(turned_over: LiarsTable) -> None:
    """The liar says what the state would be if it had done so."""
    table = turned_over
    actor = table.game(0).state.turn
    table.liars = frozenset({actor})
    game = table.game(actor)
    assert game.state.stock.left == 1
    emptied = replace(game.state, stock=replace(game.state.stock, next=game.state.stock.size))
    after = replace(apply(emptied, Draw(actor)), stock=replace(game.state.stock, open=()))
    request = table.signed(actor, draw_request(game, b"", actor))
    entry = Entry(game.height, game.head, ActionEntry(request.raw), state_hash(after))
    proposal = table.say(actor, Proposal(game.height, game.head, 0, (), entry, ()))
    table.run_for(2.0)
    assert table.refused(request, "illegal action: own part of the draw: expected shares of 160 bytes, got 0")
    assert table.refused(proposal, "wrong proposal: ")
    slots, _left = game.state.stock.take(1)
    right = table.signed(actor, draw_request(game, game.dealer.draw_part(slots, game.context()), actor))
    entry = Entry(game.height, game.head, ActionEntry(right.raw), state_hash(after))
    proposal = table.say(actor, Proposal(game.height, game.head, 2, (), entry, ()))
    table.run_for(2.0)
    assert table.refused(proposal, "wrong proposal: state hash differs")
    (state,) = table.states()
    assert state is not None
    assert (state.turnovers, len(state.discard), state.stock.left) == (0, 1, 0), "the request itself was right"


def test_open_cards_are_drawn_without_shares_and_played_again_without_proof(turned_over: LiarsTable) -> None:
    table = turned_over
    first = table.game(0).state.turn
    second = 1 - first
    table.draws(first)
    slot, tile = throws(table, first)
    height = table.game(0).height + 1
    table.run_to_height(height)
    face_up = table.game(0).state.discard[0]
    assert cards_in(table) == 52

    table.liars = frozenset({second})
    game, before = table.game(second), table.states()
    part = game.dealer.draw_part([face_up], game.context())
    lie = table.say(second, draw_request(game, part, second))
    table.run_for(2.0)
    assert table.refused(lie, "illegal action: a share where nothing is drawn")
    assert table.states() == before
    table.act(second, lambda session, now_s: session.act(Draw(Seat(second)), now_s))
    table.run_to_height(height + 1)
    state = table.game(first).state
    assert state.call is None, "nobody owes anything"
    assert (state.seats[second].rack[-1], state.turnovers, state.stock.open) == (face_up, 1, (slot,))
    throws(table, second)
    table.run_to_height(height + 2)

    table.liars = frozenset({first})
    table.act(first, lambda session, now_s: session.act(Draw(Seat(first)), now_s))
    table.run_to_height(height + 3)
    game, before = table.game(first), table.states()
    assert game.state.seats[first].rack[-1] == slot
    assert slot not in table.session(first).own_tiles(), "known by the log"
    other_slot, other_tile = next(iter(table.session(first).own_tiles().items()))
    needless = game.dealer.opening([(other_slot, other_tile)], game.context())
    again = Discard(Seat(first), slot, tile)
    lie = table.say(first, SignedAction(game.height, game.head, again, b"", needless))
    table.run_for(2.0)
    assert table.refused(lie, "illegal action: an opening proof where nothing is opened")
    assert table.states() == before
    table.act(first, lambda session, now_s: session.act(again, now_s))
    table.run_to_height(height + 4)
    assert cards_in(table) == 52
    ids = [tile for _slot, tile in table.game(0).state.known]
    assert len(set(ids)) == len(ids)


# The end


@cache
def first_turn() -> LiarsTable:
    table = LiarsTable(SMALL, 3, 1)
    table.run_to_height(FIRST_TURN_HEIGHT)
    return table


def at_the_end(lie: Callable[[LiarsTable], Withheld | None]) -> tuple[LiarsTable, Withheld | None]:
    """A game that the liar has lost: everybody owes an open rack who has one, and the liar's is not as it should be."""
    table = copy_of(first_turn())
    table.keep_liars_from_winning()
    done = lie(table)
    table.run_until(lambda: all(s is not None and s.phase in (Phase.FINAL, Phase.OVER) for s in table.states()))
    table.run_for(30.0)
    assert all(s is not None and s.phase is Phase.FINAL and s.out != LIAR for s in table.states())
    return table, done


def test_a_rack_that_stays_shut_is_waited_for_and_scored_when_it_opens() -> None:
    table, kept = at_the_end(lambda table: table.withhold(LIAR, part_of(PartKind.OPEN_RACK)))
    assert table.waits_for(table.game(0).height) == {(PartKind.OPEN_RACK, LIAR)}
    assert kept is not None
    shut = table.game(0).state.hidden_slots(Seat(LIAR))
    assert shut
    table.release(kept)
    table.run_until(lambda: all(s is not None and s.phase is Phase.OVER for s in table.states()))
    (closing,) = {commits(table.node(seat))[-1].action for seat in table.honest_seats()}
    assert isinstance(closing, RacksOpened)
    assert {slot for slot, _tile in closing.opened} >= set(shut)
    assert len({state.result for state in table.states() if state is not None}) == 1


@pytest.mark.parametrize(
    ("lie", "reason"),
    [
        (lambda payload: payload[1:], "wrong open-rack: expected an open rack of "),
        (lambda payload: bytes(sorted(payload[:3])) + payload[3:], "wrong open-rack: the proof does not hold"),
        (lambda payload: payload[:1] * 2 + payload[2:], "wrong open-rack: not tiles that are hidden, each once"),
    ],
    ids=["in part", "in another order", "one twice"],
)
def test_a_rack_that_opens_in_part_or_with_other_tiles_is_refused(lie: Callable[[bytes], bytes], reason: str) -> None:
    def change(table: LiarsTable) -> None:
        table.change(LIAR, part_of(PartKind.OPEN_RACK), with_payload(lie))

    table, _none = at_the_end(change)
    assert table.named(LIAR, reason)
    assert table.nobody_else_is_named()
    assert table.waits_for(table.game(0).height) == {(PartKind.OPEN_RACK, LIAR)}


# The next game


def test_keys_of_an_earlier_game_are_refused_in_the_next() -> None:
    """The liar's dealer makes new proofs for the same x and q; the x for a q as well."""
    same = with_secrets({LIAR: secret_of(LIAR)})
    table = LiarsTable(replace(SMALL, rounds=2), 3, 1, same)
    table.run_until(lambda: all(state is not None and state.game == 1 for state in table.states()))
    height = table.game(0).height
    table.run_for(20.0)
    assert table.named(LIAR, "wrong key-reveal: ")
    assert table.game(0).height == height
    assert (PartKind.KEY_REVEAL, LIAR) in table.waits_for(height)


# The lot


@pytest.mark.parametrize("rules", [PT, replace(PT, jokers=4), NO, ES], ids=["pt", "many jokers", "no", "es"])
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_one_honest_coin_gives_every_seat_its_share_of_the_lot(rules: RuleSet, seats: int) -> None:
    """All other coins are always the same. Jokers, equal tiles and a bag that runs out: tests/engine/test_setup.py."""
    rng = random.Random(seats)
    games = 600
    for honest in (0, seats - 1):
        begun: Counter[int] = Counter()
        for _game in range(games):
            coins = {Seat(seat): bytes(REVEAL_BYTES) for seat in range(seats)}
            coins[Seat(honest)] = bytes(REVEAL_BYTES - 32) + rng.randbytes(32)
            begun[draw_lots(rules, seats, lot_numbers(coins)).starter] += 1
        chi_square = sum((begun[seat] - games / seats) ** 2 for seat in range(seats)) / (games / seats)
        assert chi_square < 17, "less than one in a thousand for three degrees of freedom"
