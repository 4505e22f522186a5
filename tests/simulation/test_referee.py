"""The referee of hostile tables sees what must not be, each in a table where it was made to happen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

from engine.actions import Draw, TakeDiscard
from engine.rulesets import ES
from engine.state import PublicState, Seat, Slot
from engine.tiles import TileId
from node.faults.campaign import short
from node.faults.profiles import PROFILES
from node.faults.referee import Violation, check_places
from node.faults.table import Death, HostileTable
from protocol.dealing.open_deal import OpenDealer, open_dealer
from protocol.dealing.secret_deal import SecretDealer, secret_dealer
from protocol.errors import RemoteProtocolError
from protocol.game import DealerMaker
from tests.simulation.removal import in_call, play_until, staying


def table_in_play(make_dealer: DealerMaker = open_dealer) -> HostileTable:
    table = HostileTable(short(ES, 2), 2, 3, PROFILES["none"], make_dealer=make_dealer)
    play_until(table, lambda: len(staying(table)) == 2 and in_call(table, None))
    return table


@cache
def state_in_play() -> PublicState:
    state = table_in_play().nodes[0].session.state
    assert state is not None
    return state


def rack(state: PublicState, seat: int, change: Callable[[tuple[Slot, ...]], tuple[Slot, ...]]) -> PublicState:
    seats = list(state.seats)
    seats[seat] = replace(seats[seat], rack=change(seats[seat].rack))
    return replace(state, seats=tuple(seats))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda state: rack(state, 0, lambda slots: slots[1:]), "tiles at turn"),
        (lambda state: rack(state, 0, lambda slots: (*slots[1:], state.seats[1].rack[0])), "slot at two places"),
        (lambda state: replace(state, stock=replace(state.stock, size=state.stock.size + 1)), "tiles at turn"),
        (
            lambda state: replace(state, known=(*state.known, (state.seats[0].rack[0], state.known[0][1]))),
            "known tile at two places",
        ),
    ],
    ids=["lost", "twice", "more", "known twice"],
)
def test_every_tile_is_at_one_place(change: Callable[[PublicState], PublicState], reason: str) -> None:
    check_places(state_in_play())
    with pytest.raises(Violation, match=reason):
        check_places(change(state_in_play()))


def plays_on(table: HostileTable) -> None:
    until_s = table.now_s + 20
    play_until(table, lambda: table.now_s > until_s)


def test_a_rack_that_others_know_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_in_play()
    monkeypatch.setattr(
        OpenDealer,
        "own_tiles",
        lambda self, state: {slot: self._tile(slot) for seat in (0, 1) for slot in state.hidden_slots(Seat(seat))},
    )
    with pytest.raises(Violation, match="other tiles than those of its rack"):
        plays_on(table)


def test_a_tile_that_changes_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_in_play()
    own_tiles = OpenDealer.own_tiles

    def other_tiles(self: OpenDealer, state: PublicState) -> dict[Slot, TileId]:
        tiles = own_tiles(self, state)
        return dict(zip(tiles, reversed(list(tiles.values())), strict=True))

    monkeypatch.setattr(OpenDealer, "own_tiles", other_tiles)
    with pytest.raises(Violation, match="has changed"):
        plays_on(table)


def test_blame_of_an_honest_node_is_seen() -> None:
    table = table_in_play()
    one, other = (node.session for node in table.nodes)
    one._report(RemoteProtocolError(other.signer.node_id, "nothing", (b"proof",)))
    with pytest.raises(Violation, match="blames an honest one: nothing"):
        plays_on(table)


def test_a_secret_on_the_wire_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_in_play(secret_dealer)
    part = SecretDealer.part
    monkeypatch.setattr(SecretDealer, "part", lambda self, *about: part(self, *about) + self.secret()[:32])
    with pytest.raises(Violation, match="sends a secret"):
        plays_on(table)


def test_a_restarted_node_that_says_something_else_is_seen() -> None:
    """Killed after its action was sent, and started from a journal that has lost it."""
    table = table_in_play()
    index = next(i for i, node in enumerate(table.nodes) if node.session.may_act(table.now_s))
    node = table.nodes[index]
    seat = node.session.seat
    assert seat is not None
    node.session.act(Draw(seat), table.now_s)
    table.carry_out(index)
    table.die(index, Death.POWER)
    node.journal = [record for record in node.journal if record.height < node.session.height]
    table.restart(index)
    node.session.act(TakeDiscard(seat), table.now_s)
    with pytest.raises(Violation, match="says two things as SignedAction"):
        table.carry_out(index)
