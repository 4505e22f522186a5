"""Histories in which one rule of docs/agreement.md decides whether a table stays one: each fails if the rule is broken.

A is seat 0 of the stage, the actor; B is 1, C is 2. Names as in section 2 of docs/agreement.md. Where B lies, its
driver is not used and the test speaks with its key.
"""

from __future__ import annotations

from dataclasses import replace

from engine.rulesets import ES
from node.autoplay import act_by_bot
from node.faults.campaign import short
from node.faults.profiles import PROFILES
from node.faults.table import Death, HostileTable
from node.simulation import SimulatedTable
from protocol.codec import encode
from protocol.consensus.driver import MAX_ROUNDS_AHEAD
from protocol.dealing.open_deal import open_dealer
from protocol.envelope import Envelope, seal
from protocol.errors import RemoteProtocolError
from protocol.log import Committed, entry_hash
from protocol.messages import (
    CatchUp,
    DealPart,
    Entry,
    GoOnWish,
    PartKind,
    Precommit,
    Prevote,
    Proposal,
    Regroup,
    RemoveEntry,
    TimeoutEntry,
)
from tests.security.liars import RACKS_HEIGHT, LiarsTable, part_of, silent, with_payload
from tests.security.tables import LIAR, SMALL, at_turn_of
from tests.simulation.removal import in_call, play_until, remove, seat_node, staying
from tests.simulation.stage import CLOCK_S, Stage, table_in_draw

A, B, C = 0, 1, 2


def regroup(
    stage: Stage, number: int, round_number: int, without: tuple[int, ...], lock: Entry | None = None
) -> Envelope:
    """A seat's consent, without proof of the lock it claims."""
    named, lock_round = (None, -1) if lock is None else (entry_hash(lock), 0)
    body = Regroup(*stage.place, round_number, stage.without(without), named, lock_round, (), (), "absent")
    return stage.signed(number, body)


def wish(stage: Stage, number: int, without: tuple[int, ...]) -> Envelope:
    return stage.signed(number, GoOnWish(*stage.place, 0, stage.without(without), 0))


def proposal(stage: Stage, number: int, entry: Entry, round_number: int, without: tuple[int, ...]) -> Envelope:
    return stage.signed(number, Proposal(*stage.place, round_number, stage.without(without), entry, ()))


def c_alone_agrees(stage: Stage) -> Entry:
    """All lock the actor's move, but only C gets every precommit."""
    moved = stage.act()
    stage.pass_on(unless=lambda e: isinstance(e.body, Precommit) and e.sender == stage.signers[C].node_id)
    assert stage.committed(C) == moved
    assert stage.committed(A) is None
    return moved


def b_tries_to_go_on_without_c(stage: Stage, entry: Entry, lock: Entry | None = None) -> None:
    """B signs with A to leave C out, and proposes `entry` there without any proof."""
    stage.give(A, wish(stage, B, (C,)))
    stage.wish((C,), A)
    stage.give(A, regroup(stage, B, 1, (C,), lock), proposal(stage, B, entry, 1, (C,)))
    stage.give(A, stage.prevote(B, entry, 1, (C,)), stage.precommit(B, entry, 1, (C,)))


def a_lock_outlives_the_way_to_a_new_round() -> None:
    """R17: A has locked what C has agreed to."""
    stage = Stage()
    c_alone_agrees(stage)
    b_tries_to_go_on_without_c(stage, stage.removal(C))
    stage.do_not_differ()


def who_signed_without_a_lock_votes_no_more_below() -> None:
    """W1: A signs unlocked, then sees C's late prevote."""
    stage = Stage()
    moved = stage.act()
    stage.give(C, *stage.said[A])
    stage.give(A, stage.prevote(B, moved), wish(stage, B, (C,)))
    stage.wish((C,), A)
    stage.give(A, *stage.votes(C, Prevote))
    stage.give(C, stage.prevote(B, moved), stage.precommit(B, moved), *stage.said[A])
    b_tries_to_go_on_without_c(stage, stage.removal(C))
    stage.do_not_differ()


def no_vote_is_cast_in_a_round_that_was_left() -> None:
    """W7: A and B have gone on when C's late prevote completes the round they left."""
    stage = Stage()
    stage.act()
    stage.give(B, *stage.said[A])
    stage.give(C, *stage.said[A], *stage.said[B])
    late = stage.votes(C, Prevote)[0]
    stage.wish((C,), A, B)
    stage.pass_on(A, B, unless=lambda e: isinstance(e.body, Prevote) and e.body.round == 1)
    stage.give(A, late)
    stage.give(B, late)
    stage.give(C, *stage.votes(A, Precommit), *stage.votes(B, Precommit))
    stage.pass_on(A, B)
    stage.at(5.0, A, B)
    stage.pass_on(A, B)
    stage.do_not_differ()
    assert stage.committed(A) is not None


def a_claimed_lock_counts_only_with_its_prevotes() -> None:
    """W8: B claims a lock on a Timeout to draw A away from what C has agreed to."""
    stage = Stage()
    c_alone_agrees(stage)
    b_tries_to_go_on_without_c(stage, stage.timeout(), lock=stage.timeout())
    stage.do_not_differ()


def votes_of_different_voter_sets_do_not_add_up() -> None:
    """W3: one number, two sets."""
    stage = Stage()
    moved = stage.act()
    stage.give(C, *stage.said[A])
    stage.give(C, regroup(stage, A, 1, (C,)), regroup(stage, B, 1, (C,)))
    stage.give(C, stage.precommit(A, moved, 1), stage.precommit(B, moved, 1, (C,)))
    assert stage.committed(C) is None


def an_early_vote_of_a_later_round_skips_nothing() -> None:
    """W11: B shows a vote of round 1 while A thinks; A's move is agreed to in round 0."""
    stage = Stage()
    stage.give(A, stage.prevote(B, None, 1))
    moved = stage.act()
    stage.pass_on()
    assert stage.agreed() == moved


def a_lock_outlives_a_restart() -> None:
    """R15: A is killed after its precommit."""
    stage = Stage()
    c_alone_agrees(stage)
    stage.restart(A)
    b_tries_to_go_on_without_c(stage, stage.removal(C))
    stage.do_not_differ()


def a_lock_keeps_its_proof_over_a_restart() -> None:
    """R18: C, who alone could send its prevote again, is gone."""
    stage = Stage()
    moved = c_alone_agrees(stage)
    stage.restart(A)
    stage.restart(B)
    stage.wish((C,), A, B)
    go_on(stage, A, B)
    assert stage.agreed() == moved


def go_on(stage: Stage, *numbers: int) -> None:
    """Time passes for some seats, who hear each other."""
    for _beat in range(12):
        stage.at(stage.now_s + 1.0, *numbers)
        stage.pass_on(*numbers)


def a_high_round_of_a_liar_does_not_drive_a_regroup_out_of_reach() -> None:
    """Rules 8 and 15: A has seen C's vote in the highest round that it may be for, B has not."""
    stage = Stage()
    stage.give(B, regroup(stage, A, MAX_ROUNDS_AHEAD + 1, (C,)))
    assert stage.faults[B] == []


def there_is_a_way_back() -> None:
    """R19: A has signed to leave C out, B has not, and C is here again."""
    stage = Stage()
    moved = stage.act()
    stage.wish((C,), B)
    stage.give(A, *stage.said[B])
    stage.wish((C,), A)
    assert stage.votes(A, Regroup, 1)
    stage.wish((), A, B, C)
    stage.pass_on()
    go_on(stage, A, B, C)
    assert stage.agreed() == moved


def a_later_proof_releases_a_lock() -> None:
    """R20: A alone has locked its move, C has locked A's removal with B, and B is gone."""
    stage = Stage()
    stage.act()
    for number in (B, C):
        stage.give(number, *stage.said[A])
        stage.give(A, *stage.said[number])
    assert stage.vote(A, Precommit).entry is not None
    stage.wish((A,), B, C)
    stage.pass_on(B, C, unless=_not_for_c)
    stage.at(3.0, B, C)
    stage.pass_on(B, C, unless=_not_for_c)
    assert stage.vote(C, Precommit, 1).entry is not None
    assert stage.committed(C) is None
    stage.wish((B,), A, C)
    go_on(stage, A, C)
    assert isinstance(stage.agreed(A, C).content, RemoveEntry)


def _not_for_c(envelope: Envelope) -> bool:
    """No precommits, and no prevotes of round 0."""
    return isinstance(envelope.body, Precommit) or (isinstance(envelope.body, Prevote) and envelope.body.round == 0)


def prevotes_alone_agree_to_nothing() -> None:
    """O2: B tells C that it is for A's move, and A that it is against it."""
    stage = Stage()
    moved = stage.act()
    stage.give(C, *stage.said[A], stage.prevote(B, moved))
    stage.give(A, stage.prevote(B, None), *stage.votes(C, Prevote))
    b_tries_to_go_on_without_c(stage, stage.removal(C))
    stage.do_not_differ()


# What the campaigns have found


def a_move_that_came_late_to_all_others_gives_way() -> None:
    """Section 3, item 9: that the actor alone holds its move for timely does not hold the table up."""
    stage = Stage()
    stage.at(CLOCK_S - 0.1, A)
    stage.act()
    stage.at(CLOCK_S + 0.1)
    stage.pass_on()
    go_on(stage, A, B, C)
    assert isinstance(stage.agreed().content, TimeoutEntry)


def a_second_round_without_somebody_can_agree() -> None:
    """Rules 6 and 7: B refuses C's removal once, then agrees."""
    stage = Stage()
    stage.give(A, wish(stage, B, (C,)))
    stage.wish((C,), A)
    stage.give(A, regroup(stage, B, 1, (C,)), stage.prevote(B, None, 1, (C,)))
    stage.at(10.0, A)
    stage.give(A, stage.precommit(B, None, 1, (C,)))
    entry = stage.vote(A, Proposal, 2).entry
    stage.give(A, stage.prevote(B, entry, 2, (C,)), stage.precommit(B, entry, 2, (C,)))
    assert stage.committed(A) == entry


def a_liars_other_vote_does_not_spoil_a_proof() -> None:
    """Rule 4: C has shown A one prevote and B another; A's lock stands, and B must see why."""
    stage = Stage()
    moved = stage.act()
    stage.give(B, *stage.said[A], stage.prevote(C, None))
    stage.give(A, *stage.votes(B, Prevote), stage.prevote(C, moved))
    assert stage.vote(A, Precommit).entry == entry_hash(moved)
    stage.wish((C,), A, B)
    go_on(stage, A, B)
    assert stage.agreed(A, B) == moved


def a_liars_many_votes_leave_room_for_a_proof() -> None:
    """Rule 4: as before, but B has first been shown as many other prevotes of C as are held."""
    stage = Stage()
    moved = stage.act()
    others = [stage.prevote(C, None), *(stage.prevote(C, replace(moved, state_hash=bytes([n]) * 32)) for n in range(6))]
    stage.give(B, *stage.said[A], *others)
    stage.give(A, *stage.votes(B, Prevote), stage.prevote(C, moved))
    assert stage.vote(A, Precommit).entry == entry_hash(moved)
    stage.wish((C,), A, B)
    go_on(stage, A, B)
    assert stage.agreed(A, B) == moved


# Journal


def a_restarted_node_gives_no_second_vote() -> None:
    """Rule 2: B precommitted nil over C's first prevote; after a restart it sees C's other one."""
    stage = Stage()
    moved = stage.act()
    stage.give(B, *stage.said[A], stage.prevote(C, None))
    stage.restart(B)
    stage.give(B, *stage.said[A], stage.prevote(C, moved))
    assert len({envelope.raw for envelope in stage.votes(B, Precommit)}) == 1


def nothing_is_said_that_is_not_stored() -> None:
    """Rule 2, on a whole table."""
    HostileTable(short(ES, 2), 2, 1, PROFILES["none"]).play()


# Catching up, and hearing each other


def an_entry_that_one_node_has_signed_is_not_adopted() -> None:
    """Rule 7: a false catch-up."""
    table = SimulatedTable(replace(ES, turn_seconds=60), 3, 4)
    play_until(table, lambda: len(staying(table)) == 3 and in_call(table, None))
    session, liar = (table.nodes[index].session for index in (0, 2))
    assert session.game is not None
    entry = session.game.entry(TimeoutEntry())
    assert entry is not None
    body = Precommit(entry.height, entry.prev, 0, (), entry_hash(entry))
    vote = seal(liar.signer, liar.table, body).raw
    forged = CatchUp((encode(Committed(entry, (vote, vote, vote), ())),))
    session.receive(liar.signer.node_id, seal(liar.signer, liar.table, forged).raw, table.now_s)
    assert session.height == entry.height


def hostile_table(seats: int, cut: frozenset[tuple[int, int]]) -> HostileTable:
    """A table at play, on which some pairs have just been cut off from each other."""
    table = HostileTable(short(ES, seats), seats, 5, PROFILES["none"])
    play_until(table, lambda: len(staying(table)) == seats and in_call(table, None))
    table.network.separate(cut)
    return table


def one_broken_link_stops_nothing() -> None:
    """Rule 8: what two cannot tell each other the third passes on."""
    table = hostile_table(3, frozenset([(0, 1)]))
    before, since_s = table.nodes[0].session.height, table.now_s
    play_until(table, lambda: table.now_s > since_s + 30)
    assert table.nodes[0].session.height > before + 8


def one_broken_link_makes_nobody_absent() -> None:
    """Rule 12: a heartbeat counts by any path."""
    table = hostile_table(3, frozenset([(0, 1)]))
    since_s = table.now_s
    while table.now_s < since_s + 20:
        next(table.steps())
        assert not any(node.session.absences() for node in table.nodes)


def who_alone_has_evidence_goes_back_to_the_others() -> None:
    """Rule 17: D has signed to go on without A and can prove a fault; C, who had wished it too, has not and waits."""
    table = hostile_table(4, frozenset([(0, 1), (0, 2), (0, 3)]))
    for node in table.nodes[1:]:
        node.player = silent
    sessions = [node.session for node in table.nodes]
    gone = sessions[0].seat
    assert gone is not None
    play_until(table, lambda: all(session.may_go_on_without(table.now_s) for session in sessions[1:]))
    for index in (1, 2, 3):
        play_until(table, lambda until_s=table.now_s + 0.3: table.now_s > until_s)  # type: ignore[misc]
        sessions[index].go_on_without((gone,), table.now_s)
        table.carry_out(index)
    sessions[2].keep_waiting(table.now_s)
    table.carry_out(2)
    sessions[3]._report(RemoteProtocolError(sessions[0].signer.node_id, "a fault", (b"proof",)))
    table.referee.honest -= {0}
    table.network.separate(frozenset())
    for node in table.nodes[1:]:
        node.player = act_by_bot
    before, since_s = sessions[1].height, table.now_s
    play_until(table, lambda: table.now_s > since_s + 60)
    assert sessions[1].height > before + 8


def half_of_the_seats_do_not_go_on_alone() -> None:
    """R13: two and two."""
    table = hostile_table(4, frozenset([(0, 2), (0, 3), (1, 2), (1, 3)]))
    since_s = table.now_s
    play_until(table, lambda: table.now_s > since_s + 100)
    assert all(len(session.game.seats_in_game()) == 4 for session in staying(table) if session.game is not None)


# Dealing


def every_attempt_at_a_deck_has_fresh_secrets() -> None:
    """Rules 20 and 22: one node dies, the others deal anew."""
    table = hostile_table(3, frozenset())
    table.die(2, Death.KILLED)
    since_s = table.now_s
    play_until(table, lambda: table.now_s > since_s + 80)
    state = table.nodes[0].session.state
    assert state is not None
    assert state.stock.epoch == 1


def no_share_leaves_before_the_drawers_own_part() -> None:
    """docs/deal-entries.md, section 5, item 5: the time of a liar runs out, and it keeps its part back."""
    table = at_turn_of(LIAR, replace(SMALL, turn_seconds=10), open_dealer)
    table.withhold(LIAR, part_of(PartKind.SHARES))
    height = table.session(0).height + 1
    table.run_until(lambda: all(session.height == height for session in table.honest()))
    table.run_for(3.0)
    assert not any(table.said(seat, PartKind.SHARES, height) for seat in (0, 1))


def a_complete_draw_is_not_declared_void() -> None:
    """Rule 13: A holds all answers to its draw when B proposes to remove C and forget the draw."""
    stage = Stage(3, table_in_draw(3))
    b_tries_to_go_on_without_c(stage, stage.removal(C))
    assert stage.committed(A) is None


def a_false_tag_is_found() -> None:
    """docs/deal-entries.md, section 4: in the re-deal one of two multiplies the cards by nothing that it can show."""
    table = at_turn_of(LIAR)
    remove(table, (1,))
    table.change(LIAR, part_of(PartKind.TAG), with_payload(lambda payload: payload[:32] + payload[:32] + payload[64:]))
    honest, until_s = table.nodes[seat_node(table, 0)].session, table.now_s + 30
    play_until(table, lambda: bool(honest.evidence) or table.now_s > until_s)
    assert honest.evidence


def a_right_part_counts_after_many_wrong_ones() -> None:
    """docs/deal-entries.md, section 3: one seat is shown four wrong versions before the one that the others hold."""
    table = LiarsTable(SMALL, 3, 1, open_dealer)
    withheld = table.withhold(LIAR, part_of(PartKind.SHARES, RACKS_HEIGHT))
    table.run_to_height(RACKS_HEIGHT)
    for number in range(4):
        part = DealPart(RACKS_HEIGHT, table.game(0).head, PartKind.SHARES, None, b"wrong %d" % number)
        table.say(LIAR, part, [0])
    table.run_for(0.5)
    table.release(withheld)
    table.run_to_height(RACKS_HEIGHT + 1)
