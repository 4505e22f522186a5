"""Who publishes: decisions of single candidates, and many candidates on a broker that puts messages into one order."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from node.mqtt.election import (
    ANSWER_S,
    ONLINE_S,
    SETTLE_S,
    STEP_S,
    Candidate,
    Claim,
    Election,
    Step,
    read_candidate,
    read_claim,
)

A, B, C = (Candidate("t", node) for node in "abc")
OTHER = Candidate("u", "o")


def settled(me: Candidate, *others: Candidate) -> Election:
    election = Election(me, 0.0)
    for other in (me, *others):
        election.heard_standby(other.node, other)
    return election


def test_the_first_in_rank_claims_as_soon_as_all_that_is_retained_has_come() -> None:
    election = settled(A, B)
    assert election.decide(0.0, 1).step is Step.WAIT
    assert election.decide(SETTLE_S, 1).step is Step.CLAIM


def test_the_next_in_rank_waits_a_step() -> None:
    election = settled(B, A)
    decision = election.decide(SETTLE_S, 1)
    assert (decision.step, decision.again_s) == (Step.WAIT, SETTLE_S + STEP_S)
    assert election.decide(SETTLE_S + STEP_S, 1).step is Step.CLAIM


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Candidate("t", "z", commands=True), Candidate("t", "a", seat=0)),
        (Candidate("t", "z", seat=0), Candidate("t", "a", seat=1)),
        (Candidate("t", "z", seat=5), Candidate("t", "a")),
        (Candidate("t", "a"), Candidate("t", "z")),
    ],
)
def test_rank_is_commands_then_seat_then_key(first: Candidate, second: Candidate) -> None:
    assert settled(first, second).decide(SETTLE_S, 1).step is Step.CLAIM
    assert settled(second, first).decide(SETTLE_S, 1).step is Step.WAIT


def test_a_claim_is_made_once_and_publishing_begins_when_it_comes_back() -> None:
    election = settled(A)
    claim = election.next_claim(SETTLE_S)
    assert election.decide(SETTLE_S, 1).step is Step.WAIT
    election.heard_claim(claim, SETTLE_S, retained=False)
    assert election.decide(SETTLE_S, 1).step is Step.PUBLISH


def test_whose_claim_comes_second_has_lost_and_gives_the_winner_time() -> None:
    election = settled(A, B)
    own = election.next_claim(SETTLE_S)
    election.heard_claim(Claim("t", "b", own.term), 1.0, retained=False)
    election.heard_claim(own, 1.0, retained=False)
    assert election.decide(1.0, 1).step is Step.WAIT
    assert election.decide(1.0 + ONLINE_S, 1).step is Step.CLAIM, "the winner did not go online"


def test_nobody_claims_while_the_publisher_is_there() -> None:
    election = settled(A)
    election.heard_claim(Claim("t", "b", 3), 0.0, retained=True)
    election.heard_availability(True, 0.0)
    assert election.decide(SETTLE_S, 1).step is Step.ASK
    election.heard_claim(Claim("t", "b", 3), 0.5, retained=False)
    assert election.decide(100.0, 1).step is Step.WAIT
    election.heard_availability(False, 100.0)
    assert election.decide(100.0, 1).step is Step.CLAIM
    assert election.next_claim(100.0).term == 4


def test_a_publisher_that_does_not_answer_is_gone() -> None:
    election = settled(A)
    election.heard_claim(Claim("t", "b", 3), 0.0, retained=True)
    election.heard_availability(True, 0.0)
    assert election.decide(SETTLE_S, 1).step is Step.ASK
    assert election.decide(SETTLE_S + ANSWER_S - 0.01, 1).step is Step.WAIT
    assert election.decide(SETTLE_S + ANSWER_S, 1).step is Step.CLAIM


def test_who_lags_behind_what_was_published_does_not_claim() -> None:
    election = settled(A)
    election.heard_state("t", 7)
    election.heard_state("t", 6)
    assert election.decide(1.0, 6).step is Step.WAIT
    assert election.decide(1.0, 7).step is Step.CLAIM
    election.heard_state("another", 900)
    assert election.decide(1.0, 0).step is Step.CLAIM


def test_the_table_that_was_published_goes_before_another_of_its_name() -> None:
    old, new = settled(A, OTHER), settled(OTHER, A)
    for election in (old, new):
        election.heard_claim(Claim("t", "b", 1), 0.0, retained=True)
        election.heard_availability(False, 1.0)
    assert old.decide(1.0, 1).step is Step.CLAIM
    assert new.decide(1.0, 1).step is Step.WAIT
    assert new.decide(1.0 + STEP_S, 1).step is Step.CLAIM


def test_only_who_takes_no_commands_gives_way_and_only_to_one_that_does() -> None:
    takes = Candidate("t", "z", commands=True)
    assert settled(A, takes).gives_way()
    assert not settled(A, B).gives_way()
    assert not settled(takes, A, Candidate("t", "y", commands=True)).gives_way()
    assert not settled(A, Candidate("u", "z", commands=True)).gives_way()


def test_so_many_candidates_are_remembered_and_no_more() -> None:
    election = settled(A)
    for number in range(1000):
        election.heard_standby(f"0{number}", Candidate("t", f"0{number}"))
    assert len(election.standing_by) < 100


@pytest.mark.parametrize("plain", [None, [], {}, {"table": "t", "node": "a", "term": "1", "commands": False}, 7])
def test_what_is_no_claim_or_candidate_is_nothing(plain: object) -> None:
    assert read_claim(plain) is None
    assert read_candidate(plain) is None


def test_claims_and_candidates_come_back_as_they_were() -> None:
    claim, candidate = Claim("t", "a", 4, True), Candidate("t", "a", True, 2)
    assert read_claim(claim.plain()) == claim
    assert read_candidate(candidate.plain()) == candidate


# Many at once


@dataclass
class Line:
    """A candidate at the broker: its messages take a while to come, in the broker's order."""

    election: Election
    inbox: list[tuple[float, object]] = field(default_factory=list)
    publishes: bool = False
    alive: bool = True
    behind_s: float = 0.0


class Bench:
    """A broker with candidates whose connections delay each message by chance. At most one may ever be online."""

    def __init__(self, seed: int, count: int) -> None:
        self.random = random.Random(seed)
        self.now_s = 0.0
        self.online: str | None = None
        self.retained: Claim | None = None
        self.takeovers: list[float] = []
        self.lines: dict[str, Line] = {}
        for index in range(count):
            self.add(Candidate("t", f"n{index}"))

    def add(self, me: Candidate) -> None:
        line = Line(Election(me, self.now_s))
        for other in self.lines.values():
            if other.alive and not other.publishes:
                line.election.heard_standby(other.election.me.node, other.election.me)
        if self.retained is not None:
            line.election.heard_claim(self.retained, self.now_s, retained=True)
        line.election.heard_availability(self.online is not None, self.now_s)
        self.lines[me.node] = line
        self.tell(me)

    def tell(self, what: object) -> None:
        """The broker passes something on to everybody, in order."""
        for line in self.lines.values():
            line.behind_s = max(line.behind_s, self.now_s + self.random.uniform(0.0, 0.2))
            line.inbox.append((line.behind_s, what))

    def kill(self, node: str) -> None:
        line = self.lines.pop(node)
        if line.publishes:
            self.online = None
            self.tell(False)
        else:
            self.tell(node)

    def run(self, seconds: float) -> None:
        end_s = self.now_s + seconds
        while self.now_s < end_s:
            self.now_s += 0.02
            for line in list(self.lines.values()):
                self.hear(line)
                if not line.publishes:
                    self.step(line)

    def hear(self, line: Line) -> None:
        while line.inbox and line.inbox[0][0] <= self.now_s:
            match line.inbox.pop(0)[1]:
                case bool(online):
                    line.election.heard_availability(online, self.now_s)
                case Claim() as claim:
                    line.election.heard_claim(claim, self.now_s, retained=False)
                case Candidate() as candidate:
                    line.election.heard_standby(candidate.node, candidate)
                case str(node):
                    line.election.heard_standby(node, None)
                case None if line.publishes:
                    assert line.election.claim is not None
                    self.tell(line.election.claim)

    def step(self, line: Line) -> None:
        match line.election.decide(self.now_s, 1).step:
            case Step.CLAIM:
                self.retained = line.election.next_claim(self.now_s)
                self.tell(self.retained)
            case Step.ASK:
                self.tell(None)
            case Step.PUBLISH:
                assert self.online is None, f"{self.online} is online, {line.election.me.node} goes online too"
                line.publishes, self.online = True, line.election.me.node
                self.takeovers.append(self.now_s)
                self.tell(line.election.me.node)
                self.tell(True)
                self.retained = line.election.claim
                self.tell(line.election.claim)
            case Step.WAIT:
                pass


@pytest.mark.parametrize("seed", range(10))
def test_one_publishes_at_a_time_and_each_that_dies_is_followed_soon(seed: int) -> None:
    bench = Bench(seed, 4)
    bench.run(5.0)
    assert bench.online is not None
    for death in range(6):
        publisher = bench.online
        assert publisher is not None
        taken = len(bench.takeovers)
        bench.kill(publisher)
        died_s = bench.now_s
        bench.run(bench.random.uniform(0.0, 0.5))
        bench.add(Candidate("t", f"again{death}"))
        bench.run(4.5)
        assert len(bench.takeovers) == taken + 1, "one takes over, and stays"
        assert bench.takeovers[-1] - died_s < 4.0


@pytest.mark.parametrize("seed", range(10))
def test_who_comes_while_one_publishes_changes_nothing(seed: int) -> None:
    bench = Bench(seed, 3)
    bench.run(5.0)
    publisher = bench.online
    for index in range(4):
        bench.add(Candidate("t", f"a{index}"))  # before all in rank
        bench.run(3.0)
    assert bench.online == publisher
    assert len(bench.takeovers) == 1
