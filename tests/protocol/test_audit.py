"""Audits of game files: good ones say what was played, and whatever is changed in one is found.

The forgeries are signed by everybody where it takes that: what all agree to can still be against the rules.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, cast

import pytest

from engine.actions import Pass
from engine.rulesets import ES, FI, NO, PT, RuleSet
from engine.state import Call, CallName, Phase, Seat, Slot
from engine.tiles import TileId
from node.simulation import SimulatedTable
from protocol.audit.audit import audit
from protocol.audit.report import Fault, Report, fingerprint
from protocol.audit.second_opinion import plain_dealer
from protocol.codec import encode
from protocol.dealing.dealer import Context, Dealer, Entropy, Owed
from protocol.dealing.open_deal import open_dealer
from protocol.dealing.secret_deal import secret_dealer
from protocol.envelope import Signer, digest, open_envelope, seal
from protocol.events import EvidenceFound
from protocol.game import DealerMaker, genesis_committed
from protocol.gamefile import Deal, GameFileError, game_file_of, read_game_file
from protocol.log import Committed, entry_hash, genesis_hash
from protocol.messages import (
    ActionEntry,
    AnswersEntry,
    DealPart,
    Entry,
    Genesis,
    GenesisEntry,
    GenesisSignature,
    PartKind,
    Precommit,
    Prevote,
    Proposal,
    RemoveEntry,
    SignedAction,
    TimeoutEntry,
)
from protocol.roster import seat_order
from tests.simulation.removal import in_call, play_on, play_until, remove, staying


@cache
def played(rules: RuleSet, seats: int, seed: int, secret: bool = True) -> SimulatedTable:
    """A table that has played to the end."""
    table = SimulatedTable(rules, seats, seed, secret_dealer if secret else open_dealer)
    table.run()
    return table


def log_of(table: SimulatedTable) -> list[Committed]:
    return list(table.nodes[0].session.log)


def signers(table: SimulatedTable) -> list[Signer]:
    """The keys by seat."""
    by_node = {node.session.signer.node_id: node.session.signer for node in table.nodes}
    return [by_node[member.node] for member in genesis_of(table).members]


def genesis_of(table: SimulatedTable) -> Genesis:
    genesis = table.nodes[0].session.genesis
    assert genesis is not None
    return genesis


def agreed(table: SimulatedTable, entry: Entry, attachments: tuple[bytes, ...] = ()) -> Committed:
    """An entry as if everybody had voted for it."""
    vote = Precommit(entry.height, entry.prev, 0, (), entry_hash(entry))
    votes = tuple(seal(signer, genesis_of(table).table, vote).raw for signer in signers(table))
    return Committed(entry, votes, attachments)


def place_of(log: Sequence[Committed], content: type, call: CallName | None = None) -> int:
    """The height of the first entry of a kind, an answer to this call."""
    return next(
        height
        for height, committed in enumerate(log)
        if isinstance(found := committed.entry.content, content)
        and (call is None or (isinstance(found, AnswersEntry) and found.call == call.value))
    )


def fault_of(log: Sequence[Committed], evidence: Sequence[EvidenceFound] = ()) -> Fault:
    with pytest.raises(Fault) as caught:
        audit(game_file_of(log, evidence))
    return caught.value


SMALL = replace(ES, hand=3)  # a short game, with seed 1 of 25 entries
GOOD = [  # large hands make short games
    (replace(PT, rounds=2, hand=26, max_seats=3), 3, 1, False),
    (replace(FI, hand=30, max_seats=2), 2, 1, False),
    (replace(NO, hand=26, max_seats=3), 3, 3, False),
    (replace(ES, rounds=2), 5, 3, False),
    (replace(ES, target=40, rounds=0), 2, 8, False),
    (replace(PT, hand=24), 4, 1, True),
    (replace(FI, hand=30, max_seats=2), 2, 1, True),
    (replace(NO, hand=26, max_seats=3), 3, 3, True),
    (replace(ES, rounds=2), 2, 1, True),
    (SMALL, 6, 4, True),
]


@pytest.mark.parametrize(("rules", "seats", "seed", "secret"), GOOD)
def test_a_good_file_says_what_was_played(rules: RuleSet, seats: int, seed: int, secret: bool) -> None:
    table = played(rules, seats, seed, secret)
    log, summary = log_of(table), table.summary()
    report = audit(game_file_of(log))
    assert report.rules == rules
    assert report.deal is (Deal.SECRET if secret else Deal.OPEN)
    assert [player.node for player in report.players] == [member.node for member in genesis_of(table).members]
    results = [game.result for game in report.games if game.result is not None]
    assert [(result.scores, tuple(result.winners), result.out, result.ended_by.value) for result in results] == [
        (game.scores, game.winners, game.out, game.ended_by) for game in summary.results
    ]
    assert sum(game.turns for game in report.games) == summary.turns
    assert (report.games[0].starter, report.standing.over) == (summary.starter, True)
    assert (report.standing.totals, tuple(report.standing.winners)) == (summary.totals, summary.winners)
    assert (report.waiting, report.findings, report.redeals) == (None, (), 0)
    assert all(game.shut == () for game in report.games)
    _counts_are_right(report, log, seats)


def _counts_are_right(report: Report, log: Sequence[Committed], seats: int) -> None:
    """By another way of counting: what kinds of messages lie in the log."""
    assert sum(report.entries.values()) == len(log) == report.height + 1
    parts = [cast(DealPart, open_envelope(raw).body) for committed in log for raw in committed.attachments]
    for kind in PartKind:
        assert report.checks.get(kind.value, 0) == sum(part.kind is kind for part in parts)
    actions = [open_envelope(c.entry.content.envelope).body for c in log if isinstance(c.entry.content, ActionEntry)]
    bodies = [body for body in actions if isinstance(body, SignedAction)]
    assert len(bodies) == report.entries["action"]
    if report.deal is Deal.SECRET:
        assert report.checks.get("draw-part", 0) == sum(bool(body.part) for body in bodies)
        assert report.checks.get("opening", 0) == sum(bool(body.proof) for body in bodies)
    wishes = seats * report.entries.get("nextgame", 0)
    assert report.signatures == seats * len(log) + len(parts) + len(bodies) + wishes


def test_a_log_that_is_not_finished_is_checked_as_far_as_it_goes() -> None:
    log = log_of(played(SMALL, 2, 1, secret=False))
    start = place_of(log, AnswersEntry, CallName.START)
    reports = [audit(game_file_of(log[:size])) for size in range(1, len(log))]
    assert [report.height for report in reports] == list(range(len(log) - 1))
    assert not any(report.standing.over or report.games[-1].result for report in reports)
    assert [reports[at].waiting for at in (0, start, start + 1)] == [CallName.START, CallName.RACKS, None]
    assert [reports[at].deal for at in (0, start)] == [Deal.NONE, Deal.OPEN]


def test_the_second_opinion_finds_the_same() -> None:
    data = game_file_of(log_of(played(SMALL, 2, 1)))
    assert audit(data, plain_dealer) == audit(data)


def test_the_second_opinion_refuses_a_wrong_proof() -> None:
    table = played(SMALL, 2, 1)
    for kind in (PartKind.KEY_REVEAL, PartKind.SHUFFLE, PartKind.SHARES, PartKind.OPEN_RACK):
        with pytest.raises(Fault, match=f"wrong {kind.value}"):
            audit(game_file_of(_with_a_wrong_part(table, kind)[0]), plain_dealer)


def test_progress_is_told_for_every_entry() -> None:
    log = log_of(played(SMALL, 2, 1, secret=False))
    told: list[tuple[int, int]] = []
    audit(game_file_of(log), progress=lambda done, total: told.append((done, total)))
    assert told == [(height, len(log)) for height in range(1, len(log))]


# Bytes


class Remembering:
    """A dealer that keeps verdicts from one audit to the next: a moment and its bytes are always judged alike."""

    verdicts: dict[tuple[Any, ...], str | None] = {}  # noqa: RUF012 - shared by all on purpose

    def __init__(self, inner: Dealer) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def check_part(
        self, kind: PartKind, seat: Seat, payload: bytes, call: Call, context: Context, before: Mapping[Owed, bytes]
    ) -> str | None:
        named = (kind, seat, payload, tuple(before.items()))
        return self._once(named, context, lambda: self._inner.check_part(kind, seat, payload, call, context, before))

    def check_draw_part(self, seat: Seat, slots: Sequence[Slot], payload: bytes, context: Context) -> str | None:
        named = (seat, tuple(slots), payload)
        return self._once(named, context, lambda: self._inner.check_draw_part(seat, slots, payload, context))

    def check_opening(
        self, seat: Seat, laid: Sequence[tuple[Slot, TileId]], proof: bytes, context: Context
    ) -> str | None:
        named = (seat, tuple(laid), proof)
        return self._once(named, context, lambda: self._inner.check_opening(seat, laid, proof, context))

    def _once(self, named: tuple[Any, ...], context: Context, check: Callable[[], str | None]) -> str | None:
        key = (*named, context.gid, context.height, context.view)  # the view fixes the state
        if key not in self.verdicts:
            self.verdicts[key] = check()
        return self.verdicts[key]


def remembering(genesis: Genesis, seat: Seat | None, secret: bytes | None, entropy: Entropy) -> Dealer:
    return cast(Dealer, Remembering(secret_dealer(genesis, seat, secret, entropy)))


REMEMBERING: DealerMaker = remembering


def test_any_changed_byte_is_found() -> None:
    table = played(SMALL, 2, 3)
    data = game_file_of(log_of(table), [_two_prevotes(table, 0)])
    assert audit(data, REMEMBERING) == audit(data)
    rng = random.Random(20)
    for place in sorted(rng.sample(range(len(data)), 500)):
        changed = bytearray(data)
        changed[place] ^= rng.randrange(1, 256)
        try:
            audit(bytes(changed), REMEMBERING)
        except (Fault, GameFileError):
            continue
        pytest.fail(f"the byte at {place} may be {changed[place]} instead of {data[place]}")


@pytest.mark.parametrize("left", [0.0, 0.3, 0.999])
def test_a_truncated_file_is_damaged(left: float) -> None:
    data = game_file_of(log_of(played(SMALL, 2, 1)))
    with pytest.raises(GameFileError):
        audit(data[: int(len(data) * left)])


def test_a_file_that_lies_about_the_deal_is_refused() -> None:
    file = read_game_file(game_file_of(log_of(played(SMALL, 2, 1, secret=False))))
    for deal in (Deal.SECRET, Deal.NONE):
        with pytest.raises(Fault, match="its parts say otherwise"):
            audit(encode(replace(file, deal=deal)))


# Entries


def test_an_entry_removed_swapped_doubled_or_of_another_game_is_found() -> None:
    log, other = log_of(played(SMALL, 2, 1, secret=False)), log_of(played(SMALL, 2, 5, secret=False))
    middle = len(log) // 2
    wrong = {
        middle: [*log[:middle], *log[middle + 1 :]],
        middle + 1: [*log[:middle], log[middle + 1], log[middle], *log[middle + 2 :]],
        middle + 2: [*log[: middle + 1], log[middle], *log[middle + 1 :]],
        middle + 3: [*log[:middle], other[middle], *log[middle + 1 :]],
    }
    for changed in wrong.values():
        fault = fault_of(changed)
        assert fault.height in (middle, middle + 1)
        assert (fault.node, "another place" in fault.reason) == (None, True)
    assert "does not begin" in fault_of(log[1:]).reason
    assert fault_of([*log, log[-1]]).reason == "an entry after the end of the series"
    assert fault_of([other[0], *log[1:]]).height == 1


def test_a_genesis_with_another_seat_order_signature_or_state_is_refused() -> None:
    table = played(SMALL, 2, 1, secret=False)
    genesis, log = genesis_of(table), log_of(table)

    def signed(changed: Genesis, keys: Sequence[Signer]) -> tuple[bytes, ...]:
        return tuple(seal(key, changed.table, GenesisSignature(genesis_hash(changed))).raw for key in keys)

    keys = signers(table)
    turned = replace(genesis, members=genesis.members[::-1])
    assert seat_order(turned.members) == genesis.members
    renamed = replace(genesis, table_name="another")
    wrong = [
        genesis_committed(turned, signed(turned, keys[::-1])),
        genesis_committed(genesis, signed(genesis, keys[:1])),
        genesis_committed(genesis, signed(genesis, [keys[0], keys[0]])),
        genesis_committed(genesis, signed(renamed, keys)),
        replace(log[0], entry=replace(log[0].entry, state_hash=bytes(32))),
        replace(log[0], attachments=log[2].attachments[:1]),
        replace(log[0], entry=replace(log[0].entry, content=GenesisEntry(replace(genesis, table=bytes(16))))),
    ]
    for changed in wrong:
        fault = fault_of([changed])
        assert (fault.height, fault.node) == (0, None)


def test_a_forged_certificate_is_found() -> None:
    table = played(SMALL, 3, 2, secret=False)
    log = log_of(table)
    height = place_of(log, ActionEntry)
    right = log[height].certificate
    entry = log[height].entry
    keys = signers(table)

    def vote(signer: Signer, **changes: Any) -> bytes:
        precommit = Precommit(height, entry.prev, 0, (), entry_hash(entry))
        return seal(signer, genesis_of(table).table, replace(precommit, **changes)).raw

    honest = tuple(vote(key) for key in keys)
    audit(game_file_of([*log[:height], replace(log[height], certificate=honest)]))
    forged = {
        "not of all voters": [right[:2], (*right, right[0]), (right[1], right[0], right[2])],
        "another vote": [(vote(keys[0], entry=None), *honest[1:]), (vote(keys[0], height=1), *honest[1:])],
        "of one round": [(vote(keys[0], round=1), *honest[1:]), ()],
        "too few": [tuple(vote(key, without=(0, 1)) for key in keys[2:])],
        "regroup": [tuple(vote(key, without=(0,)) for key in keys[1:])],
        "wrong signature": [(right[0][:-1] + bytes([right[0][-1] ^ 1]), *right[1:])],
        "expected a Precommit": [
            (seal(keys[0], bytes(16), Precommit(height, entry.prev, 0, (), entry_hash(entry))).raw, *honest[1:]),
            (seal(keys[0], genesis_of(table).table, Prevote(height, entry.prev, 0, (), None, ())).raw, *honest[1:]),
        ],
    }
    for said, certificates in forged.items():
        for certificate in certificates:
            fault = fault_of([*log[:height], replace(log[height], certificate=tuple(certificate))])
            assert (fault.height, fault.node) == (height, None)
            assert said in fault.reason


def _with_a_wrong_part(table: SimulatedTable, kind: PartKind) -> tuple[list[Committed], bytes]:
    """The log up to an entry in which one seat's part has another last byte, signed by that seat, agreed to by all."""
    log = log_of(table)
    height, place = next(
        (height, place)
        for height, committed in enumerate(log)
        for place, raw in enumerate(committed.attachments)
        if isinstance(part := open_envelope(raw).body, DealPart) and part.kind is kind
    )
    parts = list(log[height].attachments)
    envelope = open_envelope(parts[place])
    part = cast(DealPart, envelope.body)
    cheat = next(signer for signer in signers(table) if signer.node_id == envelope.sender)
    payload = part.payload[:-1] + bytes([part.payload[-1] ^ 1]) if part.payload else b"?"
    parts[place] = seal(cheat, envelope.table, replace(part, payload=payload)).raw
    content = cast(AnswersEntry, log[height].entry.content)
    named = replace(content, messages=tuple(digest(raw) for raw in parts))
    entry = replace(log[height].entry, content=named)
    return [*log[:height], agreed(table, entry, tuple(parts))], cheat.node_id


@pytest.mark.parametrize("secret", [True, False])
@pytest.mark.parametrize("kind", [PartKind.KEY_REVEAL, PartKind.SHUFFLE, PartKind.SHARES, PartKind.OPEN_RACK])
def test_a_wrong_part_names_its_node_though_all_agreed_to_it(kind: PartKind, secret: bool) -> None:
    table = played(SMALL, 2, 1, secret)
    log, cheat = _with_a_wrong_part(table, kind)
    fault = fault_of(log)
    assert (fault.height, fault.node) == (len(log) - 1, cheat)
    assert fault.reason.startswith(f"wrong {kind.value}: ")
    assert fault.name == next(member.name for member in genesis_of(table).members if member.node == cheat)
    uncertified = replace(log[-1], certificate=log_of(table)[len(log) - 1].certificate)
    assert fault_of([*log[:-1], uncertified]).node == cheat


def test_messages_that_the_entry_does_not_name_are_found() -> None:
    log = log_of(played(SMALL, 2, 1))
    answers, action = place_of(log, AnswersEntry, CallName.RACKS), place_of(log, ActionEntry)
    parts = log[answers].attachments
    for height, attached in (
        (answers, (*parts, parts[0])),
        (answers, parts[::-1]),
        (answers, parts[:1]),
        (answers, ()),
        (answers, (*parts[:1], log[answers - 1].attachments[0])),
        (action, parts[:1]),
    ):
        fault = fault_of([*log[:height], replace(log[height], attachments=attached)])
        assert (fault.height, fault.node) == (height, None)


def test_another_score_is_found_though_all_agreed_to_it() -> None:
    """The score is in the hash of the last state only."""
    table = played(SMALL, 2, 1, secret=False)
    log = log_of(table)
    state = table.nodes[0].session.state
    assert state is not None
    assert state.phase is Phase.OVER
    entry = replace(log[-1].entry, state_hash=digest(b"another score"))
    fault = fault_of([*log[:-1], agreed(table, entry, log[-1].attachments)])
    assert (fault.height, fault.node, fault.reason) == (len(log) - 1, None, "state hash differs")


def test_an_illegal_action_names_its_actor_though_all_agreed_to_it() -> None:
    table = played(SMALL, 2, 1, secret=False)
    log = log_of(table)
    height = place_of(log, ActionEntry)
    action = open_envelope(cast(ActionEntry, log[height].entry.content).envelope)
    actor = next(signer for signer in signers(table) if signer.node_id == action.sender)
    seat = cast(SignedAction, action.body).action.seat
    passed = SignedAction(height, log[height].entry.prev, Pass(seat), b"", b"")
    entry = replace(log[height].entry, content=ActionEntry(seal(actor, action.table, passed).raw))
    fault = fault_of([*log[:height], agreed(table, entry)])
    assert (fault.height, fault.node) == (height, actor.node_id)
    elsewhere = replace(log[height].entry, content=log[height + 2].entry.content)
    assert isinstance(elsewhere.content, ActionEntry | AnswersEntry)
    assert fault_of([*log[:height], agreed(table, elsewhere)]).node is None, "genuine, but of another moment"


# Evidence


def _two_prevotes(table: SimulatedTable, seat: int) -> EvidenceFound:
    prev = log_of(table)[3].entry.prev
    key, name = signers(table)[seat], genesis_of(table).table
    votes = tuple(seal(key, name, Prevote(3, prev, 0, (), digest(text), ())).raw for text in (b"one", b"two"))
    return EvidenceFound(key.node_id, "two different prevotes in round 0", votes)


def evidence(table: SimulatedTable, seat: int, *bodies: Any, then: Sequence[bytes] = ()) -> EvidenceFound:
    key = signers(table)[seat]
    said = tuple(seal(key, genesis_of(table).table, body).raw for body in bodies)
    return EvidenceFound(key.node_id, "", (*said, *then))


def test_what_evidence_proves_is_said() -> None:
    table = played(SMALL, 2, 1)
    log = log_of(table)
    start, racks = place_of(log, AnswersEntry, CallName.START), place_of(log, AnswersEntry, CallName.RACKS)
    act = place_of(log, ActionEntry)
    actor = cast(SignedAction, open_envelope(cast(ActionEntry, log[act].entry.content).envelope).body).action.seat
    prevs = [committed.entry.prev for committed in log]
    shuffles = log[start].attachments[4:]
    second = cast(DealPart, open_envelope(shuffles[1]).body)
    assert second.kind is PartKind.SHUFFLE
    wrong_shuffle = replace(second, payload=second.payload[:-1] + bytes([second.payload[-1] ^ 1]))
    timeout = Entry(act, prevs[act], TimeoutEntry(), bytes(32))
    commit = DealPart(start, prevs[start], PartKind.KEY_COMMIT, None, b"short")
    proven = {
        "two prevotes in round 0 of height 3": _two_prevotes(table, 1),
        "two parts of kind key-commit": evidence(table, 0, commit, replace(commit, payload=b"other")),
        "wrong key-commit: expected 64 bytes": evidence(table, 0, commit),
        "wrong shares": evidence(table, 0, DealPart(racks, prevs[racks], PartKind.SHARES, None, b"no shares")),
        "wrong shuffle": evidence(table, 1, wrong_shuffle, then=log[start].attachments[4::-1]),
        "does not name what it builds on": evidence(
            table, 0, DealPart(start, prevs[start], PartKind.KEY_REVEAL, None, b"no commits")
        ),
        "that was not owed": evidence(table, 0, DealPart(act, prevs[act], PartKind.SHARES, None, b"")),
        "NOT-YOUR-TURN": evidence(table, 1 - actor, SignedAction(act, prevs[act], Pass(Seat(1 - actor)), b"", b"")),
        "while the call racks was open": evidence(table, 0, SignedAction(racks, prevs[racks], Pass(Seat(0)), b"", b"")),
        "wrong proposal: NO-TIME-LIMIT": evidence(table, 0, Proposal(act, prevs[act], 0, (), timeout, ())),
    }
    findings = audit(game_file_of(log, list(proven.values()))).findings
    assert len(findings) == len(proven)
    for said, accusation in proven.items():
        (finding,) = (finding for finding in findings if said in finding.text)
        assert (finding.node, finding.proven) == (accusation.node, True)


def test_genuine_messages_that_prove_nothing_are_told_apart() -> None:
    table = played(SMALL, 2, 1)
    log = log_of(table)
    start, act = place_of(log, AnswersEntry, CallName.START), place_of(log, ActionEntry)
    prev = log[start].entry.prev
    action = open_envelope(cast(ActionEntry, log[act].entry.content).envelope)
    shuffle = open_envelope(log[start].attachments[4])
    seats = {signer.node_id: seat for seat, signer in enumerate(signers(table))}
    vote = Prevote(3, log[3].entry.prev, 0, (), digest(b"one"), ())
    harmless = [
        EvidenceFound(action.sender, "", (action.raw,)),
        EvidenceFound(shuffle.sender, "", (shuffle.raw,)),  # without what it builds on
        EvidenceFound(shuffle.sender, "", (shuffle.raw, *log[start].attachments[2:4])),
        evidence(table, 0, vote, replace(vote, round=1)),
        evidence(table, 0, vote, vote),
        evidence(table, 0, vote, then=evidence(table, 1, replace(vote, entry=None)).evidence),  # another's
        evidence(table, 0, vote),
        evidence(table, 0, DealPart(start, prev, PartKind.KEY_REVEAL, digest(b"?"), b"other commits")),
        evidence(table, 0, DealPart(start, digest(b"branch"), PartKind.KEY_COMMIT, None, b"another branch")),
    ]
    assert seats[shuffle.sender] == 0
    before, report = audit(game_file_of(log)), audit(game_file_of(log, harmless))
    assert [(finding.proven, "prove nothing" in finding.text) for finding in report.findings] == [(False, True)] * 9
    assert report.checks == before.checks
    assert report.signatures == before.signatures + sum(len(accusation.evidence) for accusation in harmless)


def test_evidence_at_the_end_of_an_unfinished_log_is_judged() -> None:
    table = played(SMALL, 2, 1)
    log = log_of(table)[:1]
    commit = DealPart(1, entry_hash(log[0].entry), PartKind.KEY_COMMIT, None, b"short")
    right = open_envelope(log_of(table)[1].attachments[0])
    accusations = [evidence(table, 0, commit), EvidenceFound(right.sender, "", (right.raw,))]
    report = audit(game_file_of(log, accusations))
    assert sorted((finding.proven, finding.text[-12:]) for finding in report.findings) == [
        (False, "by themselves"[-12:]),
        (True, " at height 1"),
    ]
    assert report.checks == {}, "what evidence holds is not part of the game"


def test_evidence_that_is_not_genuine_is_refused() -> None:
    table = played(SMALL, 2, 1)
    right = _two_prevotes(table, 0)
    stranger = played(SMALL, 2, 5, secret=False)
    votes = right.evidence
    broken = votes[0][:-1] + bytes([votes[0][-1] ^ 1])
    wrong = {
        "does not begin with a message of the accused": [
            replace(right, node=signers(table)[1].node_id),
            replace(right, evidence=()),
        ],
        "wrong signature": [replace(right, evidence=(votes[0], broken))],
        "another table": [
            _two_prevotes(stranger, 0),
            replace(right, evidence=(*votes, log_of(stranger)[1].certificate[0])),
        ],
    }
    for said, accusations in wrong.items():
        for accusation in accusations:
            fault = fault_of(log_of(table), [accusation])
            assert (fault.height, fault.node) == (None, None)
            assert said in fault.reason


# Removals


@cache
def interrupted() -> list[Committed]:
    """The log of a game in which a player was lost."""
    table = SimulatedTable(SMALL, 3, 2, secret_dealer)  # a seed with which rack cards lie among those drawn later
    play_until(table, lambda: in_call(table, None))
    remove(table, (1,))
    for _now_s in play_on(table):
        pass
    return list(staying(table)[0].log)


def test_a_removal_and_the_re_deal_after_it_are_checked() -> None:
    log = interrupted()
    gone = place_of(log, RemoveEntry)
    report = audit(game_file_of(log))
    assert [player.removed_at for player in report.players] == [None, gone, None]
    assert (report.redeals, report.entries["remove"], report.standing.over) == (1, 1, True)
    assert {kind: report.checks[kind] for kind in ("rekey", "tag", "tag-shares")} == {
        "rekey": 2,
        "tag": 2,
        "tag-shares": 2,
    }
    votes = sum(len(committed.certificate) + len(committed.regroup) for committed in log)
    assert len(log[gone].regroup) == 2
    assert report.signatures == votes + sum(len(c.attachments) for c in log) + report.entries["action"]
    assert audit(game_file_of(log), plain_dealer) == report


def test_a_removal_needs_the_consent_of_all_who_stay() -> None:
    log = interrupted()
    gone = place_of(log, RemoveEntry)
    right = log[gone].regroup
    for regroup in ((), right[:1], right[::-1], (*right, right[0]), (right[0], log[gone].certificate[1])):
        fault = fault_of([*log[:gone], replace(log[gone], regroup=regroup)])
        assert (fault.height, fault.node) == (gone, None)
    before = replace(log[gone - 1], regroup=right)
    assert "does not need" in fault_of([*log[: gone - 1], before]).reason


@pytest.mark.parametrize("kind", [PartKind.REKEY, PartKind.TAG, PartKind.TAG_SHARES])
def test_a_wrong_part_of_a_re_deal_names_its_node(kind: PartKind) -> None:
    log = interrupted()
    height = place_of(log, AnswersEntry, CallName.REDEAL)
    parts = list(log[height].attachments)
    place = next(place for place, raw in enumerate(parts) if cast(DealPart, open_envelope(raw).body).kind is kind)
    right = open_envelope(parts[place])
    part = cast(DealPart, right.body)
    cheat = next(key for key in _keys_of_seed(3, 2) if key.node_id == right.sender)
    parts[place] = seal(cheat, right.table, replace(part, payload=bytes(len(part.payload)))).raw
    content = replace(cast(AnswersEntry, log[height].entry.content), messages=tuple(digest(raw) for raw in parts))
    changed = replace(log[height], entry=replace(log[height].entry, content=content), attachments=tuple(parts))
    for make_dealer in (secret_dealer, plain_dealer):
        with pytest.raises(Fault, match=f"wrong {kind.value}") as caught:
            audit(game_file_of([*log[:height], changed]), make_dealer)
        assert (caught.value.height, caught.value.node) == (height, cheat.node_id)


def _keys_of_seed(seats: int, seed: int) -> list[Signer]:
    return [node.session.signer for node in SimulatedTable(SMALL, seats, seed).nodes]


def test_a_key_is_shown_in_groups_of_four() -> None:
    assert fingerprint(bytes(range(32))) == "0001-0203-0405-0607"
