"""`protocol.dealing.progress`: which step a call is in, who is at work, and how much is done."""

from __future__ import annotations

from itertools import groupby

import pytest

from engine.rulesets import PT
from engine.state import CallName, Phase, Seat
from node.simulation import SimulatedNode, SimulatedTable
from protocol.dealing.call import OpenCall
from protocol.dealing.dealer import Owed
from protocol.dealing.progress import DealProgress, DealStep, deal_progress, progress_of
from protocol.messages import PartKind


def call_of(node: SimulatedNode) -> OpenCall | None:
    return None if node.session.game is None else node.session.game.call


def dealt(seats: int, seed: int, node: int = 0) -> list[tuple[CallName, DealProgress]]:
    """Everything that one node saw while the first racks were dealt, each once."""
    table = SimulatedTable(PT, seats, seed)
    seen: list[tuple[CallName, DealProgress]] = []
    for _now_s in table.steps():
        state, call = table.nodes[node].session.state, call_of(table.nodes[node])
        if state is not None and state.phase is Phase.PLAY:
            break
        if call is not None and (progress := deal_progress(call)) is not None:
            seen.append((call.call.name, progress))
    return [moment for moment, _same in groupby(seen)]


def owing(kind: PartKind, *seats: int) -> tuple[Owed, ...]:
    return tuple(Owed(kind, Seat(seat)) for seat in seats)


def test_deal_goes_from_keys_over_shuffles_to_racks() -> None:
    moments = [progress for _name, progress in dealt(3, 1)]
    steps = [(step, [*group]) for step, group in groupby(moments, key=lambda progress: progress.step)]
    assert [step for step, _group in steps] == [DealStep.KEYS, DealStep.SHUFFLE, DealStep.RACKS]
    assert [{progress.total for progress in group} for _step, group in steps] == [{6}, {3}, {3}]
    for _step, group in steps:
        done = [progress.done for progress in group]
        assert done == sorted(done)


def test_shuffles_are_in_seat_order_one_seat_at_a_time() -> None:
    seen = [progress for node in range(4) for _name, progress in dealt(4, 2, node)]
    shuffles = {(progress.done, progress.at_work) for progress in seen if progress.step is DealStep.SHUFFLE}
    assert shuffles == {(0, (0,)), (1, (1,)), (2, (2,)), (3, (3,)), (4, ())}  # nobody sees its own shuffle under way


def test_share_of_a_call_only_grows_and_ends_at_one() -> None:
    moments = dealt(4, 3)
    assert max(progress.share for _name, progress in moments if progress.step is DealStep.KEYS) < 0.2
    for _name, group in groupby(moments, key=lambda moment: moment[0]):
        shares = [progress.share for _call, progress in group]
        assert shares == sorted(shares)
        assert 0 <= shares[0] < 0.3
        assert shares[-1] == 1


def test_seat_that_is_gone_is_the_one_at_work() -> None:
    table = SimulatedTable(PT, 3, 4)
    gone = table.nodes[2]
    seat: Seat | None = None
    for now_s in table.steps():
        if seat is None and call_of(gone) is not None:
            seat = gone.session.seat
            table.crash(2)
        if seat is not None and now_s > 20:
            break
    call = call_of(table.nodes[0])
    assert call is not None
    progress = deal_progress(call)
    assert progress is not None
    assert progress.at_work == (seat,)


def test_shuffles_under_check_count_as_here() -> None:
    owed = owing(PartKind.SHUFFLE, 0, 1, 2)
    progress = progress_of(CallName.START, owed, owed, owed[1:2])
    assert progress == DealProgress(DealStep.SHUFFLE, (Seat(1),), 1, 3, 0)
    progress = progress_of(CallName.START, owed, owed, ())
    assert progress == DealProgress(DealStep.SHUFFLE, (), 3, 3, 0)


@pytest.mark.parametrize(
    ("call", "kind", "step"),
    [
        (CallName.DRAW, PartKind.SHARES, DealStep.DRAW),
        (CallName.FINAL, PartKind.OPEN_RACK, DealStep.OPENING),
        (CallName.REDEAL, PartKind.REKEY, DealStep.MATCH),
        (CallName.REDEAL, PartKind.TAG_SHARES, DealStep.MATCH),
    ],
)
def test_those_who_can_send_their_part_are_at_work(call: CallName, kind: PartKind, step: DealStep) -> None:
    owed = owing(kind, 0, 1, 2, 3)
    progress = progress_of(call, owed, owed[1:], owed[2:])
    assert progress == DealProgress(step, (Seat(2), Seat(3)), 1, 4, 0.25)


def test_steps_of_a_re_deal_that_go_on_at_once_are_told_one_after_the_other() -> None:
    rekeys, shuffles, tags = (owing(kind, 0, 1) for kind in (PartKind.REKEY, PartKind.SHUFFLE, PartKind.TAG))
    owed = (*rekeys, *shuffles, *tags)
    missing = owed[1:]
    progress = progress_of(CallName.REDEAL, owed, missing, (rekeys[1], shuffles[0]))
    assert progress == DealProgress(DealStep.MATCH, (Seat(1),), 1, 4, 1 - 23 / 24)
    progress = progress_of(CallName.REDEAL, owed, missing, shuffles[:1])
    assert progress == DealProgress(DealStep.SHUFFLE, (Seat(0),), 0, 2, 1 - 23 / 24)


def test_nothing_owed_is_no_progress() -> None:
    assert progress_of(CallName.FINAL, (), (), ()) is None
