"""Seats removed from a simulated table by a test, with the certificates that those who stay would sign."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from engine.state import CallName, Phase
from node.simulation import SimulatedTable, finished
from protocol.codec import encode
from protocol.envelope import seal
from protocol.game import Game
from protocol.log import Committed, entry_hash
from protocol.messages import Body, CatchUp, Precommit, Regroup, RemoveEntry
from protocol.session import Session


def seat_node(table: SimulatedTable, seat: int) -> int:
    """The index of the node that sits on a seat."""
    return next(
        index
        for index, node in enumerate(table.nodes)
        if node.session.game is not None and node.session.game.own_seat == seat
    )


def game_of(table: SimulatedTable, seat: int) -> Game:
    game = table.nodes[seat_node(table, seat)].session.game
    assert game is not None
    return game


def staying(table: SimulatedTable) -> list[Session]:
    """The sessions of those who run and are in the game, in seat order."""
    sessions = [node.session for node in table.nodes if not node.down and node.session.seat is not None]
    return sorted(sessions, key=lambda session: session.seat or 0)


def play_until(table: SimulatedTable, reached: Callable[[], bool]) -> None:
    """Do events until something is so; fails if it never is."""
    for _now_s in table.steps():
        if reached():
            return
    raise AssertionError(f"never reached, heights {[node.session.height for node in table.nodes]}")


def calm(table: SimulatedTable) -> bool:
    """All that run stand at one height and nobody has voted there."""
    sessions = staying(table)
    heights = {session.height for session in sessions}
    return len(heights) == 1 and all(session.round == 0 for session in sessions)


def in_call(table: SimulatedTable, name: CallName | None) -> bool:
    """All that run have this call open, None: their turns are on."""
    if not calm(table):
        return False
    states = [session.state for session in staying(table)]
    if name is None:
        return all(state is not None and state.call is None and state.phase is Phase.PLAY for state in states)
    return all(state is not None and state.call is not None and state.call.name is name for state in states)


def remove(table: SimulatedTable, seats: Sequence[int], answers: tuple[bytes, ...] | None = None) -> Committed:
    """Crash the seats' nodes and let the others commit their removal. Gives the entry with its certificate."""
    for seat in seats:
        index = seat_node(table, seat)
        if not table.nodes[index].down:
            table.crash(index)
    sessions = staying(table)
    committed = removal(sessions, tuple(seats), answers)
    for session in sessions:
        other = next(other for other in sessions if other is not session)
        body = CatchUp((encode(committed),))
        session.receive(other.signer.node_id, seal(other.signer, session.table, body).raw, table.now_s)
        assert session.height == committed.entry.height + 1, "the removal was refused"
        table.carry_out(next(index for index, node in enumerate(table.nodes) if node.session is session))
    return committed


def removal(sessions: Sequence[Session], seats: tuple[int, ...], answers: tuple[bytes, ...] | None) -> Committed:
    """The certified entry, signed by all of `sessions`."""
    game = sessions[0].game
    assert game is not None
    entry = game.entry(RemoveEntry(seats, "test", answers))
    assert entry is not None, "no valid removal here"
    place = (game.height, game.head, 1, seats)

    def signed(body: Body) -> tuple[bytes, ...]:
        return tuple(seal(session.signer, session.table, body).raw for session in sessions)

    regroup = signed(Regroup(*place, None, -1, (), (), "test"))
    precommits = signed(Precommit(*place, entry_hash(entry)))
    return Committed(entry, precommits, game.attachments(entry), regroup)


def play_on(table: SimulatedTable) -> Iterator[float]:
    """Events until all that stay have scored the last game."""
    for now_s in table.steps():
        yield now_s
        if all(finished(session) for session in staying(table)):
            return
    raise AssertionError(f"stuck at {[session.height for session in staying(table)]}")
