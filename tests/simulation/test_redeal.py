"""A player is lost, the others deal the rest anew and play on: with all proofs, at tables of real sessions."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engine.redeal import unplaced
from engine.rulesets import ES, PT, RuleSet
from engine.state import CallName, PublicState, Seat, Slot
from engine.tiles import TileId
from node.simulation import SimulatedTable
from protocol.audit.audit import audit
from protocol.dealing.group import Secret, subtract, tiles_by_point, total
from protocol.dealing.open_deal import open_dealer
from protocol.dealing.secret_deal import SecretDealer, secret_dealer
from protocol.game import DealerMaker
from protocol.gamefile import game_file_of
from protocol.session import Session
from tests.simulation.removal import game_of, in_call, play_on, play_until, remove, staying


def state_of(session: Session) -> PublicState:
    assert session.state is not None
    return session.state


def racks(sessions: Sequence[Session]) -> dict[Slot, TileId]:
    """The hidden tiles of all these players, as each knows its own."""
    return {slot: tile for session in sessions for slot, tile in session.own_tiles().items()}


def after_turns(table: SimulatedTable, turns: int) -> None:
    play_until(table, lambda: in_call(table, None) and state_of(staying(table)[0]).turn_number >= turns)


def redealt(table: SimulatedTable) -> None:
    play_until(table, lambda: in_call(table, None))


@pytest.mark.parametrize("make_dealer", [secret_dealer, open_dealer], ids=["secret", "open"])
@pytest.mark.parametrize(("rules", "seats"), [(PT, 4), (ES, 3)], ids=["pt", "es"])
def test_the_others_play_on_with_the_exact_complement(rules: RuleSet, seats: int, make_dealer: DealerMaker) -> None:
    table = SimulatedTable(rules, seats, 3, make_dealer)
    after_turns(table, 6)
    remove(table, (1,))
    before = racks(staying(table))
    assert {state_of(session).stock.epoch for session in staying(table)} == {1}
    redealt(table)
    sessions = staying(table)
    assert len(sessions) == seats - 1
    state = state_of(sessions[0])
    assert racks(sessions) == before, "nobody's rack has changed"
    hidden = set(unplaced(state)) - set(before.values())
    assert state.stock.size == len(hidden)
    drawn = set()
    for _now_s in play_on(table):
        drawn |= {tile for slot, tile in racks(sessions).items() if slot.epoch == 1}
    assert drawn <= hidden, "what is drawn from the new stock is what nobody held"
    assert drawn, "the game went on long enough to see it"
    assert table.refusals() == []
    report = audit(game_file_of(sessions[0].log, ()))
    assert report.redeals == 1
    assert report.checks["rekey"] == seats - 1
    assert len({session.game.head for session in sessions if session.game is not None}) == 1


def test_every_tile_of_the_new_stock_comes_out_once() -> None:
    """All of the pool is drawn: it is the complement of what is on the table and on the racks."""
    table = SimulatedTable(PT, 3, 5, secret_dealer)
    after_turns(table, 3)
    remove(table, (0,))
    redealt(table)
    sessions = staying(table)
    state = state_of(sessions[0])
    found = opened_pool(table, (1, 2))
    assert sorted(found) == sorted(set(unplaced(state)) - set(racks(sessions).values()))


def opened_pool(table: SimulatedTable, seats: Sequence[int]) -> list[int]:
    """The pool's tiles, by the secrets of all that stay together: what only a conspiracy of all can do."""
    found: list[int] = []
    first = game_of(table, seats[0]).dealer
    assert isinstance(first, SecretDealer)
    secrets = [Secret(game_of(table, seat).dealer.secret()[:32]) for seat in seats]
    by_point = tiles_by_point(PT.deck, PT.jokers)
    for card in first._deck:
        point = subtract(card.b, total(secret.times(card.a) for secret in secrets))
        found.append(by_point[point])
    return found


@pytest.mark.parametrize("name", [CallName.START, CallName.RACKS])
def test_before_the_racks_are_dealt_the_start_begins_anew(name: CallName) -> None:
    table = SimulatedTable(ES, 3, 2, secret_dealer)
    play_until(table, lambda: all(n.session.game is not None for n in table.nodes) and in_call(table, name))
    old = [game_of(table, seat).dealer.secret() for seat in (0, 2)]
    remove(table, (1,))
    assert all(new != was for new, was in zip([game_of(table, s).dealer.secret() for s in (0, 2)], old, strict=True))
    redealt(table)
    state = state_of(staying(table)[0])
    assert state.seats[1].rack == ()
    assert [len(state.seats[seat].rack) for seat in (0, 2)] == [ES.hand_size(2)] * 2
    for _now_s in play_on(table):
        pass
    assert table.refusals() == []


def test_a_void_draw_is_called_again_and_the_drawer_has_no_choice() -> None:
    table = SimulatedTable(ES, 3, 4, secret_dealer)
    play_until(table, lambda: in_call(table, CallName.DRAW))
    drawer = state_of(staying(table)[0]).call.seat  # type: ignore[union-attr] # in_call
    assert drawer is not None
    gone = next(seat for seat in range(3) if seat != drawer)
    held = len(state_of(staying(table)[0]).seats[drawer].rack)
    remove(table, (gone,))
    call = state_of(staying(table)[0]).call
    assert call is not None
    assert (call.name, call.then and call.then.seat) == (CallName.REDEAL, drawer)
    play_until(table, lambda: in_call(table, CallName.DRAW))
    assert state_of(staying(table)[0]).call.seat == drawer  # type: ignore[union-attr] # in_call
    redealt(table)
    state = state_of(staying(table)[0])
    assert len(state.seats[drawer].rack) == held + 1
    assert state.seats[drawer].rack[-1].epoch == 1


def test_a_second_removal_in_the_re_deal_begins_it_anew() -> None:
    table = SimulatedTable(ES, 5, 6, secret_dealer)
    after_turns(table, 3)
    remove(table, (4,))
    secrets = [game_of(table, seat).dealer.secret() for seat in (0, 1, 2)]
    for _now_s in table.steps():
        call = game_of(table, 0).call
        assert call is not None
        if any(owed.kind.value == "shuffle" for owed in set(call.owed) - set(call.missing())):
            break
    remove(table, (3,))
    assert {state_of(session).stock.epoch for session in staying(table)} == {2}
    renewed = [game_of(table, seat).dealer.secret() for seat in (0, 1, 2)]
    assert all(new[:32] != old[:32] and new[32:64] == old[32:64] for new, old in zip(renewed, secrets, strict=True))
    before = racks(staying(table))
    redealt(table)
    assert racks(staying(table)) == before
    for _now_s in play_on(table):
        pass
    assert table.refusals() == []


def test_complete_racks_and_draws_count_and_are_followed_by_a_re_deal() -> None:
    table = SimulatedTable(ES, 3, 8, secret_dealer)

    def answered() -> bool:
        calls = [session.game.call for session in staying(table) if session.game is not None]
        return in_call(table, CallName.RACKS) and all(call is not None and call.complete for call in calls)

    play_until(table, lambda: all(node.session.game is not None for node in table.nodes) and answered())
    call = game_of(table, 0).call
    assert call is not None
    remove(table, (2,), call.message_digests())
    assert len(racks(staying(table))) == 2 * ES.hand_size(3)
    redealt(table)
    assert len(racks(staying(table))) == 2 * ES.hand_size(3)


def test_who_was_removed_forgets_its_secrets_and_follows_as_an_observer() -> None:
    table = SimulatedTable(ES, 3, 9, secret_dealer)
    after_turns(table, 4)
    committed = remove(table, (1,))
    index = next(index for index, node in enumerate(table.nodes) if node.down)
    table.restart(index)
    gone = table.nodes[index].session
    assert gone.own_tiles(), "it does not know yet"
    play_until(table, lambda: gone.height > committed.entry.height)
    assert gone.seat is None
    assert gone.own_tiles() == {}
    assert gone.game is not None
    assert gone.game.dealer.secret() == b""
    for _now_s in play_on(table):
        pass
    play_until(table, lambda: gone.height == staying(table)[0].height)
    assert table.refusals() == []


@pytest.mark.parametrize("make_dealer", [open_dealer, secret_dealer])
def test_a_rack_that_is_out_of_the_game_is_nobodys_even_where_nothing_is_dealt_anew(make_dealer: DealerMaker) -> None:
    """As when somebody is removed while the last racks are opened: they stay as they are."""
    table = SimulatedTable(ES, 3, 9, make_dealer)
    after_turns(table, 1)
    session = table.nodes[0].session
    assert session.game is not None
    assert session.own_tiles()
    session.game.dealer.erase()
    assert session.own_tiles() == {}


def test_nodes_killed_in_the_re_deal_come_back_to_it() -> None:
    table = SimulatedTable(ES, 3, 11, secret_dealer)
    after_turns(table, 3)
    remove(table, (2,))
    before = racks(staying(table))
    crashes = 0
    for count, _now_s in enumerate(table.steps()):
        if in_call(table, None):
            break
        sessions = staying(table)
        if count % 7 == 6 and crashes < 12 and len(sessions) == 2:
            index = next(i for i, node in enumerate(table.nodes) if node.session is sessions[crashes % 2])
            table.crash(index)
            table.restart(index)
            crashes += 1
    assert crashes >= 4
    assert racks(staying(table)) == before
    for _now_s in play_on(table):
        pass
    assert table.refusals() == []


def test_all_seats_agree_on_who_is_in() -> None:
    table = SimulatedTable(PT, 4, 12)
    after_turns(table, 2)
    remove(table, (0,))
    for session in staying(table):
        assert session.game is not None
        assert session.game.seats_in_game() == (Seat(1), Seat(2), Seat(3))
