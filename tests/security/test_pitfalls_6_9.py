"""Pitfalls 3 and 6 to 9 of docs/dealing.md, section 6, at tables of real sessions: wrong bytes of every sort.

Field by field: `test_fields`; what each hash must cover: `test_fiat_shamir`.
"""

from __future__ import annotations

import random
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from engine.actions import Discard, Draw
from engine.state import Phase, Seat
from protocol.codec import pack, to_plain
from protocol.dealing.group import (
    IDENTITY,
    Point,
    subtract,
)
from protocol.dealing.proofs import DLEQ_BYTES
from protocol.dealing.transcript import ORDER
from protocol.envelope import LABEL, VERSION, Envelope, open_envelope
from protocol.errors import RemoteProtocolError
from protocol.messages import (
    BODIES,
    DealPart,
    PartKind,
    SignedAction,
)
from protocol.session import Session
from tests.security.layouts import LAYOUTS, Layout, What, leaves, replaced, wrong_points
from tests.security.liars import (
    FIRST_TURN_HEIGHT,
    RACKS_HEIGHT,
    LiarsTable,
    Match,
    of_draws,
    part_of,
    silent,
    with_payload,
)
from tests.security.tables import LIAR, SMALL, at_turn_of

LIES = {
    "bits, torsion, other forms": ("a bit", "P + T", "s + l"),
    "nothing, zeros, the identity": ("empty", "zeros", "the identity"),
    "lengths, off the curve": ("one byte less", "one byte more", "off the curve"),
}
"""Three at a time: more versions of one message are not looked at."""


# 3 and 6 to 9. Wrong bytes


def lie_about(payload: bytes, layout: Layout, lie: str) -> bytes:
    """Another payload, wrong in this way in its first fitting field; a bit where nothing fits."""
    point = next((field for field in layout if field.what is What.POINT), None)
    scalar = next((field for field in layout if field.what is What.SCALAR), layout[-1])
    more = int.from_bytes(scalar.of(payload), "little") + ORDER
    lies = {
        "a bit": layout[-1].flipped(payload, 3),
        "s + l": scalar.put(payload, more.to_bytes(33, "little")[: scalar.size]),
        "empty": b"",
        "zeros": bytes(len(payload)),
        "one byte less": payload[:-1],
        "one byte more": payload + b"\0",
    }
    points = {"P + T": WRONG_POINTS[8], "the identity": IDENTITY, "off the curve": WRONG_POINTS[-1]}
    if lie in points:
        return point.put(payload, points[lie]) if point is not None else layout[0].flipped(payload, 7)
    return lies[lie]


WRONG_POINTS = wrong_points()
RACK = SMALL.hand
every_lie = pytest.mark.parametrize("lies", LIES)


PARTS: tuple[tuple[PartKind, Match, list[int]], ...] = (
    (PartKind.KEY_REVEAL, part_of(PartKind.KEY_REVEAL), []),
    (PartKind.SHUFFLE, part_of(PartKind.SHUFFLE), [52]),
    (PartKind.SHARES, part_of(PartKind.SHARES, RACKS_HEIGHT), [RACK, RACK, RACK, 1]),
    (PartKind.SHARES, of_draws(PartKind.SHARES), [1]),
    (PartKind.OPEN_RACK, part_of(PartKind.OPEN_RACK), [0]),
)


@every_lie
def test_lie_after_lie_is_refused_and_then_the_right_part_is_taken(lies: str) -> None:
    """Pitfalls 3 and 6 to 9, through a whole game: every node names the liar, and the call waits as before."""
    table = LiarsTable(SMALL)
    table.keep_liars_from_winning()
    for (kind, _match, counts), withheld in [(one, table.withhold(LIAR, one[1])) for one in PARTS]:
        right = table.kept_back(withheld)
        assert isinstance(right.body, DealPart)
        payload, height, before = right.body.payload, table.session(0).height, table.states()
        layout = LAYOUTS[kind.value](counts if counts != [0] else [len(payload) - DLEQ_BYTES])
        for lie in LIES[lies]:
            told = table.say(LIAR, replace(right.body, payload=lie_about(payload, layout, lie)))
            table.run_for(0.5)
            assert table.refused(told, f"wrong {kind.value}: "), (kind, lie)
        assert table.missing(height)[0] == (kind, LIAR)
        assert table.states() == before
        assert table.nobody_else_is_named()
        assert height > RACKS_HEIGHT or not any(session.own_tiles() for session in table.honest())
        table.release(withheld)
        if kind is not PartKind.KEY_REVEAL:
            table.run_until(lambda height=height: all(s.height > height for s in table.honest()), within_s=10)  # type: ignore[misc]


@every_lie
def test_an_action_with_a_wrong_proof_is_refused_and_then_the_right_one_is_taken(lies: str) -> None:
    """Pitfalls 3 and 6 to 9: the own part of a draw, the opening of a discard."""
    table = at_turn_of(LIAR)

    def lies_in(right: SignedAction) -> None:
        before = table.states()
        for lie in LIES[lies]:
            part = lie_about(right.part, LAYOUTS["own-part"]([1]), lie) if right.part else b""
            proof = lie_about(right.proof, LAYOUTS["opening"]([]), lie) if right.proof else b""
            told = table.say(LIAR, replace(right, part=part, proof=proof))
            table.run_for(0.5)
            assert table.refused(told, "illegal action: "), lie
        assert table.states() == before
        assert table.nobody_else_is_named()

    lies_in(table.game(LIAR).sign_action(Draw(Seat(LIAR))))
    table.draws(LIAR)
    discard = Discard(Seat(LIAR), *next(iter(table.session(LIAR).own_tiles().items())))
    lies_in(table.game(LIAR).sign_action(discard))
    height = table.session(LIAR).height
    table.act(LIAR, lambda session, now_s: session.act(discard, now_s))
    table.run_until(lambda: all(session.height > height for session in table.honest()))


# 3 and 9. Frames

SAMPLES_SEED = 5
NOT_MET: dict[str, list[Any]] = {
    "Announce": ["Ann", None, "", "", "", 0, 0, [], 0, []],
    "Regroup": [0, b"", 0, [1], None, -1, [], [], ""],
    "GoOnWish": [0, b"", 0, [1], 0],
    "Request": [0, b"", "pause"],
    "DeviceHere": [0, True, "Clock"],
    "Press": [0, b"", 0, "end-turn", 0],
    "PressAnswer": [bytes(32), None],
}
"""Kinds that no quiet game shows, as plain bodies."""


def frames_of_every_kind() -> tuple[LiarsTable, dict[str, Envelope]]:
    """A table that stands at somebody's turn, and a message of each kind that came up on the way there."""
    table = LiarsTable(replace(SMALL, rounds=2), 2, SAMPLES_SEED)
    samples: dict[str, Envelope] = {}
    table.listen(lambda passing: samples.update({passing.envelope.kind: passing.envelope}))
    table.run_until(lambda: "NextGameWish" in samples)
    table.crash(1)
    table.run_for(5)
    table.restart(1)
    table.run_until(lambda: all(is_first_turn_of_game(table, seat, 1) for seat in range(2)))
    for node in table.nodes:
        node.player = silent
    table.run_for(3)
    assert "CatchUp" in samples
    table.meddlers.clear()
    return table, samples


def is_first_turn_of_game(table: LiarsTable, seat: int, game: int) -> bool:
    state = table.game(seat).state
    return state.game == game and state.phase is Phase.PLAY and state.call is None


@pytest.fixture(scope="module")
def standing() -> tuple[LiarsTable, dict[str, Envelope]]:
    """For tests that change nothing at the table, because everything they send is refused."""
    return frames_of_every_kind()


def test_a_bit_changed_anywhere_in_a_frame_is_refused(standing: tuple[LiarsTable, dict[str, Envelope]]) -> None:
    """Pitfall 3: every field of the envelope is signed, and the signature has one form."""
    _table, samples = standing
    assert set(samples) == set(BODIES) - set(NOT_MET)
    rng = random.Random(3)
    for envelope in samples.values():
        raw = envelope.raw
        places = {*range(min(len(raw), 70)), *range(len(raw) - 66, len(raw)), *rng.sample(range(len(raw)), 30)}
        for place in places:
            changed = raw[:place] + bytes([raw[place] ^ 1 << rng.randrange(8)]) + raw[place + 1 :]
            with pytest.raises(RemoteProtocolError):
                open_envelope(changed)


def signed_plain(session: Session, kind: str, body: Any) -> bytes:
    """A frame with any plain value for a body, well signed."""
    head = [VERSION, session.table, session.signer.node_id, kind, body]
    signed = LABEL + pack([*head, bytes(64)])[:-66]
    return pack([*head, session.signer.sign(signed)])


ODD_VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 2**31, 2**63, 2**64 - 1, b"", b"x", bytes(32), "", "x", [], [[]], [[[[[[[[b""]]]]]]]],
)  # fmt: skip


def for_now(table: LiarsTable, plain: Any, kind: str) -> Any:
    """The body of an older message as one of this very moment, so that it is looked into."""
    game = table.game(0)
    if {"height", "prev"} <= {field.name for field in fields(BODIES[kind])} and kind != "Status":
        return [game.height, game.head, *plain[2:]]
    return plain


@pytest.mark.parametrize("kind", sorted(BODIES))
def test_any_value_in_any_field_of_a_well_signed_message_does_no_harm(
    kind: str, standing: tuple[LiarsTable, dict[str, Envelope]]
) -> None:
    """Pitfall 9: no exception, nothing changed, and nobody but the sender is to blame."""
    table, samples = standing
    before = table.states()
    right = NOT_MET[kind] if kind in NOT_MET else to_plain(samples[kind].body)
    plain = for_now(table, right, kind)
    places = list(leaves(plain))
    for path, _value in places[:12] + places[12::5]:
        for odd in ODD_VALUES:
            table.send(1, signed_plain(table.session(1), kind, replaced(plain, path, odd)))
        table.run_for(0.1)
    assert table.states() == before
    assert table.nobody_else_is_named()


@pytest.mark.parametrize("kind", ["TableCard", "Sitting", "DeviceHere", "GenesisDraft", "GenesisSignature"])
def test_any_value_in_any_field_of_a_lobby_message_does_no_harm(
    kind: str, standing: tuple[LiarsTable, dict[str, Envelope]]
) -> None:
    """Pitfall 9: before the game begins. Who muddles its own place can keep itself out, and only that."""
    _table, samples = standing
    lobby = LiarsTable(SMALL, 2)
    lobby.run_for(0.5)
    liar = lobby.nodes[1].session
    plain = NOT_MET[kind] if kind in NOT_MET else to_plain(samples[kind].body)
    if kind == "GenesisDraft":
        plain = replaced(plain, (1, 0), liar.table)
    places = list(leaves(plain))
    for path, _value in places[:12] + places[12::5]:
        for odd in ODD_VALUES:
            lobby.deliver(1, 0, signed_plain(liar, kind, replaced(plain, path, odd)))
    lobby.run_for(0.2)
    if kind != "Sitting":
        lobby.run_until(lambda: all(node.session.game is not None for node in lobby.nodes), within_s=5)
    assert not any(found.node == lobby.nodes[0].session.signer.node_id for found in lobby.refusals())


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"\x96",
        b"\xc6" + (2**31).to_bytes(4, "big"),
        b"\xc6" + (2**31).to_bytes(4, "big") + bytes(1000),
        b"\xdd" + (2**31).to_bytes(4, "big"),
        b"\xdd" + (2**32 - 1).to_bytes(4, "big") + bytes(1000),
        b"\x91" * 100_000,
        b"\x91" * 200_000 + b"\xc0",
        b"\x81" * 50_000,
        bytes(262_145),
    ],
    ids=lambda frame: f"{len(frame)}-{frame[:5].hex()}",
)
def test_lengths_and_depths_that_no_message_has_cost_the_link_alone(
    frame: bytes, standing: tuple[LiarsTable, dict[str, Envelope]]
) -> None:
    """Pitfall 9: 2^31 bytes or items announced, lists nested without end."""
    table, _samples = standing
    before = table.states()
    table.node(0).dropped.clear()
    table.send(1, frame)
    table.run_for(0.1)
    assert table.node(0).dropped == {table.key(1)}
    assert table.states() == before


# 6. A library that lets points through

OLD_LIBRARY = """
import nacl.bindings
right = nacl.bindings.{name}
nacl.bindings.{name} = lambda *given: {lie}
from node.__main__ import main
main(["bot", "--table", "x", "--open", "2", "--loopback", "--data", {data!r}])
"""


@pytest.mark.parametrize(
    ("name", "lie"),
    [
        ("crypto_core_ed25519_is_valid_point", "True"),
        ("crypto_scalarmult_ed25519_noclamp", "given[1]"),
    ],
)
def test_with_a_library_that_takes_any_point_the_program_does_not_start(name: str, lie: str, tmp_path: Path) -> None:
    """Pitfall 6: whatever version it says it is."""
    program = OLD_LIBRARY.format(name=name, lie=lie, data=str(tmp_path / "data"))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    assert "point outside the group" in done.stderr
    assert "PyNaCl" in done.stderr


def test_a_share_that_takes_away_another_s_is_refused() -> None:
    """Pitfall 7: A' = -A' of the other, so that their sum is the identity; its factor nobody knows."""
    table = LiarsTable(SMALL, 2)
    liar = 1
    withheld, right = table.holds_back(liar, part_of(PartKind.SHARES, RACKS_HEIGHT))
    (theirs,) = table.said(0, PartKind.SHARES, RACKS_HEIGHT)
    assert isinstance(theirs.body, DealPart)
    away = subtract(IDENTITY, Point(theirs.body.payload[:32]))
    told = table.say(liar, with_payload(lambda payload: away + payload[32:])(right.body))
    table.run_for(1)
    assert table.refused(told, "wrong shares: the proof does not hold")
    table.release(withheld)
    table.run_to_height(FIRST_TURN_HEIGHT)
