"""Each rule taken out, one at a time: a history of `scenarios` notices, and holds with the rule.

Names as in section 2 of docs/agreement.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

import protocol.consensus.round as round_module
import protocol.consensus.votes as votes_module
import protocol.dealing.redeal as redeal_module
import protocol.log as log_module
import protocol.session as session_module
from engine.state import Seat
from node.faults.referee import Violation
from node.simulation import StuckTable
from protocol.consensus.driver import HeightDriver, LockRecord
from protocol.consensus.round import CastPrevote, Lock, Seen, Standing, Verdict
from protocol.consensus.votes import Backed, RoundKey, Step, VoteBook
from protocol.dealing.call import OpenCall
from protocol.dealing.open_deal import OpenDealer
from protocol.envelope import Envelope, open_envelope
from protocol.errors import RemoteProtocolError
from protocol.game import Game
from protocol.log import entry_hash, voters_of
from protocol.messages import Body, Precommit, Prevote, Regroup
from protocol.outputs import RecordKind, Send, Store
from protocol.session import Session
from tests.simulation import scenarios
from tests.simulation.stage import table_in_draw, table_in_play

Patch = pytest.MonkeyPatch


@dataclass(frozen=True, slots=True)
class Planted:
    """A fault in one place, and the history that shows it."""

    name: str
    plant: Callable[[Patch], None]
    history: Callable[[], None]


def lock_is_forgotten(patch: Patch) -> None:
    sign = HeightDriver._sign_regroup

    def signs(self: HeightDriver, number: int, without: tuple[int, ...], now_s: float) -> None:
        sign(self, number, without, now_s)
        self._standing = replace(self._standing, lock=None)

    patch.setattr(HeightDriver, "_sign_regroup", signs)


def votes_below_until_the_certificate(patch: Patch) -> None:
    """Who has signed votes on in its old round, and in the new one has the lock that it had signed."""
    sign = HeightDriver._sign_regroup
    regroup = HeightDriver._regroup

    def signs(self: HeightDriver, number: int, without: tuple[int, ...], now_s: float) -> None:
        before = self._standing
        sign(self, number, without, now_s)
        self._standing = before

    def regroups(self: HeightDriver, now_s: float) -> None:
        own = self.game.seat
        signed = [(n, by_seat[own]) for n, by_seat in self._regroups.items() if own is not None and own in by_seat]
        for number, envelope in signed:
            assert isinstance(envelope.body, Regroup)
            key = RoundKey(number, envelope.body.without)
            if number > self.round and self._certificate(key) is not None:
                named = envelope.body.lock
                lock = None if named is None else Lock(named, envelope.body.lock_round)
                self._standing = Standing(key, lock=lock)
                return
        if not signed:
            regroup(self, now_s)

    patch.setattr(HeightDriver, "_sign_regroup", signs)
    patch.setattr(HeightDriver, "_regroup", regroups)


def old_round_is_left_running(patch: Patch) -> None:
    take = HeightDriver._take_vote

    def takes(self: HeightDriver, step: Step, seat: Seat, envelope: Envelope, body: Prevote | Precommit) -> bool:
        new = take(self, step, seat, envelope, body)
        key, own = RoundKey(body.round, body.without), self.game.seat
        choices = self._book.choices(Step.PREVOTE, key)
        all_one = len(choices) == len(self._book.voters(key)) and len(set(choices.values())) == 1
        below = key.round < self.round and step is Step.PREVOTE and own is not None
        if below and all_one and self._book.vote_of(Step.PRECOMMIT, own or Seat(0), key.round) is None:
            self._vote(Step.PRECOMMIT, Precommit(self.game.height, self.game.head, *key, body.entry))
        return new

    patch.setattr(HeightDriver, "_take_vote", takes)


def claims_are_believed(patch: Patch) -> None:
    patch.setattr(VoteBook, "proof_round", lambda self, entry: 0)


def sets_are_not_told_apart(patch: Patch) -> None:
    def all_backed(self: VoteBook, step: Step) -> Iterator[Backed]:
        for number, votes in self._votes[step].items():
            for vote in (versions[0] for versions in votes.values()):
                by_seat = {seat: v[0].envelope.raw for seat, v in votes.items() if v[0].entry == vote.entry}
                voters = voters_of(self.seats, vote.key.without)
                if vote.entry is not None and set(voters) <= set(by_seat):
                    yield Backed(vote.entry, RoundKey(number, vote.key.without), tuple(by_seat[s] for s in voters))

    patch.setattr(VoteBook, "_all_backed", all_backed)


def a_vote_pulls_into_its_round(patch: Patch) -> None:
    take = HeightDriver._take_vote

    def takes(self: HeightDriver, step: Step, seat: Seat, envelope: Envelope, body: Prevote | Precommit) -> bool:
        if body.round > self.round:
            self._standing = Standing(RoundKey(body.round, body.without), lock=self._standing.lock)
        return take(self, step, seat, envelope, body)

    patch.setattr(HeightDriver, "_take_vote", takes)


def half_is_enough(patch: Patch) -> None:
    def may_be_left_out(seats: tuple[Seat, ...], without: tuple[int, ...]) -> bool:
        return not without or 2 * (len(seats) - len(without)) >= len(seats)

    patch.setattr(log_module, "may_be_left_out", may_be_left_out)
    patch.setattr(session_module, "may_be_left_out", may_be_left_out)


def lock_is_not_stored(patch: Patch) -> None:
    def restores(self: HeightDriver, record: LockRecord, now_s: float) -> None:
        self._entries[entry_hash(record.entry)] = record.entry
        self.restore(open_envelope(record.precommit), now_s)

    patch.setattr(HeightDriver, "restore_lock", restores)


def lock_is_stored_without_its_proof(patch: Patch) -> None:
    restore = HeightDriver.restore_lock
    patch.setattr(
        HeightDriver, "restore_lock", lambda self, record, now_s: restore(self, replace(record, proof=()), now_s)
    )


def no_way_back(patch: Patch) -> None:
    may_sign = HeightDriver._may_sign
    patch.setattr(
        HeightDriver, "_may_sign", lambda self, without, now_s: bool(without) and may_sign(self, without, now_s)
    )


def locks_are_for_ever(patch: Patch) -> None:
    prevote: Any = round_module._prevote

    def prevotes(standing: Standing, seen: Seen) -> CastPrevote | None:
        other = standing.lock is not None and seen.proposal is not None and seen.proposal.entry != standing.lock.entry
        if other and seen.proposal is not None and seen.proposal.verdict is Verdict.ALLOWED:
            return CastPrevote(None, show_lock=True)
        step: CastPrevote | None = prevote(standing, seen)
        return step

    patch.setattr(round_module, "_prevote", prevotes)


def prevotes_are_enough(patch: Patch) -> None:
    backed = VoteBook.backed
    patch.setattr(VoteBook, "backed", lambda self, step: backed(self, Step.PREVOTE))


def actors_word_is_enough(patch: Patch) -> None:
    patch.setattr(HeightDriver, "_action_stands", lambda self: self._proposable_action() is not None)


def only_the_rounds_own_regroups_count(patch: Patch) -> None:
    patch.setattr(HeightDriver, "_way_to", HeightDriver._certificate)


def only_the_first_vote_is_held(patch: Patch) -> None:
    patch.setattr(votes_module, "MAX_VERSIONS", 1)


def no_vote_makes_room(patch: Patch) -> None:
    patch.setattr(VoteBook, "_makes_room", lambda self, step, seat, new: False)


def votes_are_forgotten(patch: Patch) -> None:
    patch.setattr(HeightDriver, "restore", lambda self, envelope, now_s: None)


def votes_are_stored_after_sending(patch: Patch) -> None:
    def speaks(self: HeightDriver, body: Body) -> Envelope:
        envelope = self.seal(body)
        self.outputs.append(Send(envelope.raw))
        self.outputs.append(Store(RecordKind.OWN, self.game.height, envelope.raw))
        return envelope

    patch.setattr(HeightDriver, "_speak", speaks)


def catch_up_is_believed(patch: Patch) -> None:
    patch.setattr(session_module, "check_commit_certificate", lambda committed, genesis, seats: None)


def nothing_is_forwarded(patch: Patch) -> None:
    receive = HeightDriver.receive
    patch.setattr(HeightDriver, "receive", lambda self, envelope, now_s: receive(self, envelope, now_s) and False)


def heartbeats_are_not_passed_on(patch: Patch) -> None:
    patch.setattr(Session, "_pass_on_heartbeats", lambda self, link, status, now_s: None)


def regroups_reach_no_further_than_votes(patch: Patch) -> None:
    check = HeightDriver._check_round
    patch.setattr(HeightDriver, "_check_round", lambda self, envelope, key, ahead=0: check(self, envelope, key))


def nobody_turns_back(patch: Patch) -> None:
    patch.setattr(HeightDriver, "stranded", lambda self, without, now_s, limit_s: False)


def secrets_are_kept(patch: Patch) -> None:
    patch.setattr(OpenDealer, "renew", lambda self: None)


def shares_do_not_wait(patch: Patch) -> None:
    patch.setattr(OpenCall, "_drawer_has_given", lambda self, owed: True)


def void_is_always_right(patch: Patch) -> None:
    patch.setattr(Game, "complete_answers", lambda self: None)


def wrong_versions_fill_the_place(patch: Patch) -> None:
    def refuse(versions: object, envelope: Envelope, agreed: object) -> None:
        raise RemoteProtocolError(envelope.sender, "too many different versions of one part")

    patch.setattr(OpenCall, "_make_room", staticmethod(refuse))


def tags_are_not_checked(patch: Patch) -> None:
    patch.setattr(redeal_module, "check_tag", lambda ctx, cards, data: None)


PLANTED = [
    Planted("W1", votes_below_until_the_certificate, scenarios.who_signed_without_a_lock_votes_no_more_below),
    Planted("W3", sets_are_not_told_apart, scenarios.votes_of_different_voter_sets_do_not_add_up),
    Planted("W7", old_round_is_left_running, scenarios.no_vote_is_cast_in_a_round_that_was_left),
    Planted("W8", claims_are_believed, scenarios.a_claimed_lock_counts_only_with_its_prevotes),
    Planted("W11", a_vote_pulls_into_its_round, scenarios.an_early_vote_of_a_later_round_skips_nothing),
    Planted("R13", half_is_enough, scenarios.half_of_the_seats_do_not_go_on_alone),
    Planted("R15", lock_is_not_stored, scenarios.a_lock_outlives_a_restart),
    Planted("R17", lock_is_forgotten, scenarios.a_lock_outlives_the_way_to_a_new_round),
    Planted("R18", lock_is_stored_without_its_proof, scenarios.a_lock_keeps_its_proof_over_a_restart),
    Planted("R19", no_way_back, scenarios.there_is_a_way_back),
    Planted(
        "high round",
        regroups_reach_no_further_than_votes,
        scenarios.a_high_round_of_a_liar_does_not_drive_a_regroup_out_of_reach,
    ),
    Planted("R20", locks_are_for_ever, scenarios.a_later_proof_releases_a_lock),
    Planted("O2", prevotes_are_enough, scenarios.prevotes_alone_agree_to_nothing),
    Planted("late move", actors_word_is_enough, scenarios.a_move_that_came_late_to_all_others_gives_way),
    Planted("second round", only_the_rounds_own_regroups_count, scenarios.a_second_round_without_somebody_can_agree),
    Planted("other vote", only_the_first_vote_is_held, scenarios.a_liars_other_vote_does_not_spoil_a_proof),
    Planted("many votes", no_vote_makes_room, scenarios.a_liars_many_votes_leave_room_for_a_proof),
    Planted("restart", votes_are_forgotten, scenarios.a_restarted_node_gives_no_second_vote),
    Planted("store after send", votes_are_stored_after_sending, scenarios.nothing_is_said_that_is_not_stored),
    Planted("catch-up", catch_up_is_believed, scenarios.an_entry_that_one_node_has_signed_is_not_adopted),
    Planted("forwarding", nothing_is_forwarded, scenarios.one_broken_link_stops_nothing),
    Planted("heartbeats", heartbeats_are_not_passed_on, scenarios.one_broken_link_makes_nobody_absent),
    Planted("evidence", nobody_turns_back, scenarios.who_alone_has_evidence_goes_back_to_the_others),
    Planted("fresh secrets", secrets_are_kept, scenarios.every_attempt_at_a_deck_has_fresh_secrets),
    Planted("early shares", shares_do_not_wait, scenarios.no_share_leaves_before_the_drawers_own_part),
    Planted("void draw", void_is_always_right, scenarios.a_complete_draw_is_not_declared_void),
    Planted("wrong versions", wrong_versions_fill_the_place, scenarios.a_right_part_counts_after_many_wrong_ones),
    Planted("tags", tags_are_not_checked, scenarios.a_false_tag_is_found),
]
each = pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.name)


@pytest.fixture(autouse=True, scope="module")
def _tables() -> None:
    """The tables that the histories begin at are played by the rules."""
    table_in_play(3)
    table_in_draw(3)


@each
def test_the_history_holds_with_the_rule(planted: Planted) -> None:
    planted.history()


@each
def test_a_fault_planted_in_its_place_is_found(planted: Planted, monkeypatch: Patch) -> None:
    planted.plant(monkeypatch)
    with pytest.raises((AssertionError, Violation, StuckTable)):
        planted.history()
