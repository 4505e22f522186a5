"""What a campaign of broken messages has found, or the search for what such messages can make grow (`tests/fuzz`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from engine.rulesets import ES
from protocol.codec import encode
from protocol.consensus.driver import MAX_ROUNDS_COUNTED
from protocol.consensus.votes import RoundKey
from protocol.envelope import Envelope, open_envelope, seal
from protocol.events import EvidenceFound, MessageRefused
from protocol.messages import (
    ActionEntry,
    Body,
    CatchUp,
    Entry,
    GenesisDraft,
    GoOnWish,
    Precommit,
    Prevote,
    Proposal,
    Regroup,
    SignedAction,
    Status,
)
from protocol.outputs import RecordKind, Send, Tell
from protocol.session import MAX_EARLY, MAX_EVIDENCE, MAX_EVIDENCE_BYTES, MAX_LIVES, Session
from tests.simulation.attack import AttackedTable

NODE = bytes(32)


class Attack:
    """A liar at a table of three, the victim that hears it, and the other honest node, which has acted before."""

    def __init__(self, reached: Callable[[Session], bool]) -> None:
        self.table = AttackedTable(3, 3, replace(ES, hand=3))
        self.victim, self.other = self.table.honest()
        self.table.play_until(lambda: bool(self.actions()) and self.victim.height > 6 and reached(self.victim))
        self.victim.take_outputs()
        assert self.victim.game is not None
        self.place = self.victim.game.height, self.victim.game.head

    def actions(self) -> list[Envelope]:
        """What the other honest node has played so far."""
        own = [record.data for record in self.table.nodes[1].journal if record.kind is RecordKind.OWN]
        return [envelope for envelope in map(open_envelope, own) if isinstance(envelope.body, SignedAction)]

    def say(self, body: Body, of: Session | None = None) -> list[object]:
        """What the victim tells and sends when the liar sends this, or another's message."""
        liar = self.table.nodes[self.table.liar].session.signer
        signer = liar if of is None else of.signer
        self.victim.receive(liar.node_id, seal(signer, self.victim.table, body).raw, self.table.now_s)
        outputs = self.victim.take_outputs()
        return [output.event if isinstance(output, Tell) else output for output in outputs]

    def reasons(self, body: Body) -> list[str]:
        """Why the victim refuses what the liar says."""
        return [event.reason for event in self.say(body) if isinstance(event, (MessageRefused, EvidenceFound))]


def in_a_call(session: Session) -> bool:
    return session.game is not None and session.game.call is not None


def in_a_turn(session: Session) -> bool:
    return session.game is not None and session.game.call is None


def test_an_old_action_inside_a_liars_proposal_is_no_evidence_against_who_acted() -> None:
    attack = Attack(in_a_call)
    driver, liar = attack.victim._driver, attack.table.liar_seat()
    assert driver is not None
    number = next(number for number in range(3) if driver.proposer(RoundKey(number, ())) == liar)
    entry = Entry(*attack.place, ActionEntry(attack.actions()[0].raw), bytes(32))
    assert attack.reasons(Proposal(*attack.place, number, (), entry, ())) == ["action for another moment"]
    assert attack.victim.evidence == []


LAST = 2 * MAX_ROUNDS_COUNTED - 1  # that a wish may name


@pytest.mark.parametrize("number", [LAST + 1, 2**64 - 1])
def test_a_wish_of_a_round_that_no_regroup_can_follow_is_refused(number: int) -> None:
    attack = Attack(in_a_turn)
    assert attack.reasons(GoOnWish(*attack.place, 0, (), number)) == [f"round {number + 1} is too far ahead"]
    assert attack.victim.go_on_wishes() == {}
    assert attack.reasons(GoOnWish(*attack.place, 0, (), LAST)) == []


def test_endless_evidence_is_kept_up_to_a_limit_for_each_node() -> None:
    attack = Attack(in_a_turn)
    told = [
        event
        for number in range(3 * MAX_EVIDENCE)
        for event in attack.say(Prevote(*attack.place, 0, (), number.to_bytes(32, "big"), ()))
        if isinstance(event, EvidenceFound)
    ]
    assert told == attack.victim.evidence
    assert len(told) == MAX_EVIDENCE


def test_evidence_is_limited_in_bytes_too_but_for_the_first() -> None:
    attack = Attack(in_a_turn)
    for number in range(MAX_EVIDENCE):
        attack.say(Regroup(*attack.place, 1, (), None, -1, (), (), f"{number}" * 100_000))
    held = sum(len(raw) for found in attack.victim.evidence for raw in found.evidence)
    assert 0 < held <= MAX_EVIDENCE_BYTES


def test_a_heartbeat_that_misses_a_seat_often_is_answered_once() -> None:
    attack = Attack(in_a_turn)
    attack.say(Status(b"one life", 1, *attack.place, bytes(8), ()), of=attack.other)
    beat = Status(b"liars' 1", 1, *attack.place, bytes(8), tuple(range(3)) * 1000)
    assert len([output for output in attack.say(beat) if isinstance(output, Send)]) <= 3


def test_lives_that_a_node_uses_up_do_not_silence_another() -> None:
    attack = Attack(in_a_turn)
    for number in range(2 * MAX_LIVES):
        attack.say(Status(number.to_bytes(8, "big"), 1, *attack.place, bytes(8), ()))
    attack.say(Status(b"restart!", 1, *attack.place, bytes(8), ()), of=attack.other)
    assert attack.victim._lives[attack.other.signer.node_id] == (b"restart!", 1)
    assert sum(map(len, attack.victim._past_lives.values())) <= 2 * MAX_LIVES
    before = dict(attack.victim._lives)
    attack.say(Status((2 * MAX_LIVES - 2).to_bytes(8, "big"), 9, *attack.place, bytes(8), ()))
    assert attack.victim._lives == before, "a life that is over"


def test_early_messages_of_a_liar_leave_room_for_the_others() -> None:
    attack = Attack(in_a_turn)
    place = attack.place[0] + 1, NODE
    for number in range(10 * MAX_EARLY):
        attack.say(Precommit(*place, number, (), None))
    attack.say(Precommit(*place, 0, (), None), of=attack.other)
    senders = [envelope.sender for envelope in attack.victim._early]
    assert len(senders) == MAX_EARLY + 1
    assert senders[-1] == attack.other.signer.node_id
    attack.say(Precommit(attack.place[0] + 2, NODE, 0, (), None), of=attack.other)
    assert len(attack.victim._early) == len(senders)


def test_a_proof_or_answers_of_more_than_there_can_be_are_not_opened() -> None:
    attack = Attack(in_a_turn)
    many = (b"not even a message",) * 4
    assert attack.reasons(Regroup(*attack.place, 1, (), None, -1, many, (), "")) == [
        "a proof of more prevotes than there are voters"
    ]
    assert attack.reasons(Regroup(*attack.place, 1, (), None, -1, (), many[:1], "")) == [
        "a regroup with more answers than are owed"
    ]


def test_an_entry_with_more_messages_than_it_needs_is_not_taken_over() -> None:
    attack = Attack(in_a_turn)
    height = attack.victim.height
    attack.table.play_until(lambda: attack.other.height == attack.victim.height == height + 1)
    behind = Attack(in_a_turn)
    committed = attack.other.log[height]
    long = replace(committed, certificate=(*committed.certificate, committed.certificate[0], b"never opened"))
    assert behind.reasons(CatchUp((encode(long),))) == [
        f"certificate of height {height} is not of all voters of one round"
    ]
    more = replace(committed, attachments=(*committed.attachments, b"junk"))
    assert behind.reasons(CatchUp((encode(more),))) == [f"entry at height {height}: other messages than it names"]
    assert behind.victim.height == height
    assert behind.reasons(CatchUp((encode(committed),))) == []
    assert behind.victim.height == height + 1


def test_the_result_of_a_computation_that_nobody_wants_any_more_is_passed_over() -> None:
    attack = Attack(in_a_turn)
    attack.victim.computed(999, None, attack.table.now_s)
    assert attack.victim.take_outputs() == ()


def test_in_the_lobby_nothing_is_kept_as_evidence() -> None:
    table = AttackedTable(3, 3)
    victim, signer = table.nodes[0].session, table.nodes[2].session.signer
    table.play_until(lambda: victim.lobby.signed)
    assert victim.lobby._signed is not None
    draft = GenesisDraft(1, replace(victim.lobby._signed.genesis, table=bytes(16)))
    victim.receive(signer.node_id, seal(signer, victim.table, draft).raw, 0.0)
    assert victim.evidence == []
