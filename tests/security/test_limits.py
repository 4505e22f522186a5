"""Parts that are kept back or come late: whom the table waits for, how long, and what follows."""

from __future__ import annotations

from dataclasses import replace

from engine.rulesets import PT
from engine.state import CallName
from node.autoplay import act_by_bot
from protocol.consensus.absence import COUNTDOWN_S, Cause
from protocol.dealing.open_deal import open_dealer
from protocol.messages import Body, DealPart, PartKind
from protocol.session import LIMIT_S
from tests.security.liars import LiarsTable, silent


def in_a_draw_of_another(table: LiarsTable) -> bool:
    """A draw of an honest seat is open at all honest nodes."""
    calls = [session.game.call for session in table.honest() if session.game is not None]
    return bool(calls) and all(
        call is not None and call.call.name is CallName.DRAW and call.call.seat not in table.liars for call in calls
    )


def impatient(table: LiarsTable) -> None:
    """All go on without who is gone, as bots do."""
    for node in table.nodes:
        node.player = act_by_bot


def share_of_a_draw(body: Body) -> bool:
    return isinstance(body, DealPart) and body.kind is PartKind.SHARES and body.height > 3


def test_who_keeps_its_share_back_is_named_counted_down_and_removed() -> None:
    table = LiarsTable(seats=4)
    impatient(table)
    table.withhold(3, share_of_a_draw)
    table.run_until(lambda: in_a_draw_of_another(table))
    began_s = table.now_s
    table.run_until(lambda: all(session.absences() for session in table.honest()))
    assert LIMIT_S <= table.now_s - began_s < LIMIT_S + 2
    found = {(absence.seat, absence.cause) for session in table.honest() for absence in session.absences()}
    assert found == {(3, Cause.OWES)}
    clocks = [session.remaining_s(table.now_s) for session in table.honest()]
    table.run_for(10)
    assert [session.remaining_s(table.now_s) for session in table.honest()] == clocks, "nobody's time runs"
    table.run_until(lambda: all(session.game.seats_in_game() == (0, 1, 2) for session in table.honest()))  # type: ignore[union-attr]
    assert COUNTDOWN_S < table.now_s - began_s < COUNTDOWN_S + LIMIT_S + 20
    assert table.nobody_else_is_named()
    height = table.honest()[0].height
    table.run_until(lambda: all(session.height > height + 6 for session in table.honest()))


def test_a_share_just_within_the_limit_costs_nothing() -> None:
    table = LiarsTable(seats=3)
    for _draw in range(3):
        withheld = table.withhold(2, share_of_a_draw)
        table.run_until(lambda: in_a_draw_of_another(table) and bool(withheld.caught))  # noqa: B023 - called at once
        height = table.honest()[0].height
        table.run_for(LIMIT_S - 1)
        assert not any(session.absences() for session in table.honest())
        table.release(withheld)
        table.run_until(lambda: all(session.height > height for session in table.honest()))  # noqa: B023
    assert table.nobody_else_is_named()


def test_who_keeps_its_own_part_of_a_forced_draw_back_is_removed_with_its_draw() -> None:
    """After a time-out nobody helps it before, and its draw ends with its seat."""
    table = LiarsTable(replace(PT, turn_seconds=20, timeout_idle_draw=3), seats=3, make_dealer=open_dealer)
    impatient(table)

    def own_draw_is_open() -> bool:
        calls = [session.game.call for session in table.honest() if session.game is not None]
        return bool(calls) and all(call is not None and call.call.seat == 2 for call in calls)

    def own_part(body: Body) -> bool:
        call = table.game(2).call
        return share_of_a_draw(body) and call is not None and call.call.seat == 2

    table.withhold(2, own_part)
    table.run_to_height(1)
    table.node(2).player = silent
    table.run_until(own_draw_is_open)
    height = table.honest()[0].height
    table.run_until(lambda: all(session.game.seats_in_game() == (0, 1) for session in table.honest()))  # type: ignore[union-attr]
    assert not table.said(0, PartKind.SHARES, height)
    assert not table.said(1, PartKind.SHARES, height), "no free look"
    state = table.honest()[0].state
    assert state is not None
    assert state.call is None or state.call.then is None, "nobody else draws for it"
    assert table.nobody_else_is_named()
