"""A seat that tells two right versions of one part: everybody can prove it, and the table goes on with one of them.

Source: docs/deal-entries.md, sections 3 and 9. That the two are evidence: tests/security/test_pitfalls_10_15.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest

from engine.actions import Draw
from engine.state import Phase, Seat
from protocol.dealing.call import MAX_VERSIONS
from protocol.dealing.open_deal import open_dealer
from protocol.envelope import Envelope
from protocol.errors import RemoteProtocolError
from protocol.game import Game
from protocol.messages import DealPart, PartKind
from protocol.outputs import RecordKind
from tests.security.liars import RACKS_HEIGHT, START_HEIGHT, LiarsTable, Match, opened, part_of
from tests.security.tables import LIAR, SMALL, at_turn_of, copy_of
from tests.simulation.removal import in_call, remove, staying


class TwoVersions:
    """What a seat would say, and what it says after it has forgotten that; nobody hears either until `tell`."""

    def __init__(self, table: LiarsTable, liar: int, told: Match) -> None:
        self.table = table
        self.liar = liar
        self._told = told
        self._kept = table.withhold(liar, told)
        self._meddler = table.meddlers[-1]

    def tell(self) -> tuple[Envelope, Envelope]:
        """One honest seat hears one version, all others the other."""
        table, kept = self.table, self._kept
        table.run_until(lambda: bool(kept.caught))
        table.run_for(1.0)
        table.rewind(self.liar, lambda record: record.kind is RecordKind.OWN and self._told(opened(record.data).body))
        table.run_until(lambda: len(kept.envelopes) > 1)
        table.meddlers.remove(self._meddler)
        first, second = kept.envelopes
        one, *others = table.honest_seats()
        table.send(self.liar, first.raw, [one])
        table.send(self.liar, second.raw, others)
        return first, second


def named_digests(table: LiarsTable, seat: int, height: int) -> list[bytes]:
    return [opened(raw).digest for raw in table.session(seat).log[height].attachments]


@pytest.mark.parametrize("liar", range(3))
@pytest.mark.parametrize(("kind", "height"), [(PartKind.SHUFFLE, START_HEIGHT), (PartKind.SHARES, RACKS_HEIGHT)])
def test_the_table_goes_on_with_one_of_two_right_versions(kind: PartKind, height: int, liar: int) -> None:
    """Whatever the liar's place in the order: those after it build on what they have heard."""
    table = LiarsTable(SMALL, 3, 1, liars=frozenset({liar}))
    first, second = TwoVersions(table, liar, part_of(kind, height)).tell()
    table.run_until(lambda: all(session.height > height for session in table.honest()), within_s=10)
    assert table.named(liar, f"two different {kind.value} for one call")
    assert table.nobody_else_is_named()
    one, other = (named_digests(table, seat, height) for seat in table.honest_seats())
    assert one == other
    assert len({first.digest, second.digest} & set(one)) == 1
    table.run_to_height(height + 4)
    assert_racks_fit(table)


def assert_racks_fit(table: LiarsTable) -> None:
    """Everybody can read its rack and no tile is there twice: (R, S) of every card is the same everywhere."""
    sessions = staying(table)
    table.run_until(lambda: len({session.state for session in sessions}) == 1)
    state = sessions[0].state
    assert state is not None
    tiles = [tile for session in sessions for tile in session.own_tiles().values()]
    held = [slot for session in sessions if session.seat is not None for slot in state.hidden_slots(session.seat)]
    assert len(set(tiles)) == len(tiles) == len(held)


def test_of_two_right_shares_for_a_draw_one_counts() -> None:
    table = at_turn_of(LIAR)
    table.liars = frozenset({0})
    height = table.game(0).height + 1
    table.act(LIAR, lambda session, now_s: session.act(Draw(Seat(LIAR)), now_s))
    TwoVersions(table, 0, part_of(PartKind.SHARES, height)).tell()
    table.run_to_height(height + 1)
    assert table.named(0, "two different shares for one call")
    assert table.nobody_else_is_named()
    assert_racks_fit(table)


def test_of_two_right_openings_of_a_rack_one_counts() -> None:
    table = LiarsTable(SMALL, 3, 1)
    TwoVersions(table, LIAR, part_of(PartKind.OPEN_RACK)).tell()
    table.run_until(lambda: all(state is not None and state.phase is Phase.OVER for state in table.states()))
    assert table.named(LIAR, "two different open-rack for one call")
    assert len({state.result for state in table.states() if state is not None}) == 1


RE_DEAL = (PartKind.REKEY, PartKind.SHUFFLE, PartKind.TAG, PartKind.TAG_SHARES)


@cache
def table_of_four() -> LiarsTable:
    table = LiarsTable(SMALL, 4, 1)
    table.run_until(lambda: all(node.session.height > RACKS_HEIGHT for node in table.nodes))
    table.run_until(lambda: in_call(table, None))
    return table


def re_deal(liar: int, kinds: Sequence[PartKind]) -> tuple[LiarsTable, int]:
    """Seat 3 is lost, and of each kind the liar tells two versions; the table, and the height of the answers."""
    table = copy_of(table_of_four())
    table.liars = frozenset({liar, 3})
    height = remove(table, (3,)).entry.height + 1
    for versions in [TwoVersions(table, liar, part_of(kind, height)) for kind in kinds]:
        versions.tell()
    return table, height


@pytest.mark.parametrize("liar", [0, 1])
def test_a_re_deal_goes_on_with_one_of_two_right_versions_of_each_part(liar: int) -> None:
    table, height = re_deal(liar, RE_DEAL)
    table.run_until(lambda: all(session.height > height for session in table.honest()), within_s=10)
    for kind in RE_DEAL:
        assert table.named(liar, f"two different {kind.value} for one call")
    assert table.nobody_else_is_named()
    one, other = (named_digests(table, seat, height) for seat in table.honest_seats())
    assert one == other
    assert_racks_fit(table)


def test_two_last_tags_stop_the_re_deal_until_their_maker_is_removed() -> None:
    """The others have built on different ones, which they will not take back; without the liar it begins anew."""
    table, height = re_deal(2, [PartKind.TAG])
    table.run_for(10.0)
    assert all(session.height == height for session in table.honest())
    assert table.named(2, "two different tag for one call")
    assert table.nobody_else_is_named()
    remove(table, (2,))
    table.run_until(lambda: in_call(table, None))
    assert all(state is not None and state.stock.epoch == 2 for state in table.states())
    assert_racks_fit(table)


def test_more_versions_than_anybody_keeps_stop_the_call_and_wear_nobody_out() -> None:
    """Four are kept. Each peer is told four of its own: they have none in common, so the seat must go."""
    table = LiarsTable(SMALL, 3, 1, open_dealer)
    told = part_of(PartKind.SHARES, RACKS_HEIGHT)
    kept = table.withhold(LIAR, told)
    table.run_to_height(RACKS_HEIGHT)
    table.run_for(1.0)
    (envelope,) = kept.envelopes
    assert isinstance(envelope.body, DealPart)
    for version in range(8):
        table.say(LIAR, replace(envelope.body, names=bytes([version]) * 32), [version // 4])
    table.run_for(20.0)
    assert table.named(LIAR, "two different shares for one call")
    assert table.nobody_else_is_named()
    assert all(session.height == RACKS_HEIGHT and session.round < 20 for session in table.honest())
    assert all(len(session.evidence) < 20 for session in table.honest())


def test_what_all_have_agreed_finds_room_however_many_versions_a_seat_was_shown() -> None:
    """As after a restart: it had voted for one, and was then shown so many others that it keeps no more."""
    table = LiarsTable(SMALL, 3, 1, open_dealer)
    kept = table.withhold(LIAR, part_of(PartKind.SHARES, RACKS_HEIGHT))
    table.run_to_height(RACKS_HEIGHT)
    table.run_for(1.0)
    (envelope,) = kept.envelopes
    assert isinstance(envelope.body, DealPart)
    genesis = table.game(0).genesis
    behind = Game(genesis, None, lambda seat: open_dealer(genesis, seat, None, bytes))
    behind.replay(table.session(0).log[START_HEIGHT])
    for version in range(MAX_VERSIONS):
        behind.add_part(table.signed(LIAR, replace(envelope.body, names=bytes([version]) * 32)))
    with pytest.raises(RemoteProtocolError, match="too many"):
        behind.add_part(envelope)
    table.release(kept)
    table.run_to_height(RACKS_HEIGHT + 1)
    behind.replay(table.session(0).log[RACKS_HEIGHT])
    assert behind.height == RACKS_HEIGHT + 1
    assert behind.head == table.game(0).head
