"""Nodes in one process, over loopback: lobby, peers without multicast, one folder for one node, a late restart."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from engine.rulesets import PT
from node.app import Node, NodeError
from node.config import NodeSettings
from node.discovery import Peer
from tests.node.loops import run

LOOPBACK = "127.0.0.1"
LIMIT_S = 20.0


def settings(folder: Path, name: str, **more: object) -> NodeSettings:
    return NodeSettings(name=name, data=folder, host=LOOPBACK, interfaces=(LOOPBACK,), **more)  # type: ignore[arg-type] # as the test says


async def until(nodes: list[Node], reached: Callable[[], bool]) -> None:
    changed = asyncio.Event()
    unwatch = [node.watch(changed.set) for node in nodes]
    async with asyncio.timeout(LIMIT_S):
        while not reached():
            await changed.wait()
            changed.clear()
    for stop in unwatch:
        stop()


def with_nodes(*all_settings: NodeSettings, test: Callable[[list[Node]], Awaitable[None]]) -> None:
    async def main() -> None:
        nodes = [Node(one) for one in all_settings]
        try:
            for node in nodes:
                await node.start()
            await test(nodes)
        finally:
            for node in nodes:
                await node.stop()

    run(main())


def is_playing(node: Node) -> bool:
    return node.session is not None and node.session.game is not None


async def start_a_game(nodes: list[Node]) -> None:
    table = nodes[0].open_table("Kitchen", PT)
    await until(nodes, lambda: all(node.hall.at_table(table) for node in nodes[1:]))
    for node in nodes[1:]:
        node.join(table)
    await until(nodes, lambda: all(len(node.session.lobby.members()) == len(nodes) for node in nodes if node.session))
    for node in nodes:
        node.do(lambda session, _now_s: session.lobby.change(ready=True, start=True))
    await until(nodes, lambda: all(is_playing(node) for node in nodes))


def test_nodes_find_a_table_join_and_start(tmp_path: Path) -> None:
    async def test(nodes: list[Node]) -> None:
        await start_a_game(nodes)
        heads = {node.session.log[0].entry for node in nodes if node.session is not None}
        assert len(heads) == 1
        with pytest.raises(NodeError, match="Leave this table first"):
            nodes[0].open_table("Another", PT)

    with_nodes(*(settings(tmp_path / name, name) for name in ("Ana", "Ben", "Cid")), test=test)


class DeafNode(Node):
    """A node in a network that loses all multicast."""

    def _on_peer(self, peer: Peer) -> None:
        """Never hears anybody."""


def test_a_typed_address_is_enough_without_multicast(tmp_path: Path) -> None:
    """Neither hears the other over mDNS; one address leads to everybody at the table."""

    async def main() -> None:
        ana = DeafNode(settings(tmp_path / "ana", "Ana"))
        await ana.start()
        ben = DeafNode(settings(tmp_path / "ben", "Ben", peers=((LOOPBACK, ana.port),)))
        cid = DeafNode(settings(tmp_path / "cid", "Cid", peers=((LOOPBACK, ana.port),)))
        nodes: list[Node] = [ana, ben, cid]
        try:
            await ben.start()
            await cid.start()
            await start_a_game(nodes)
            await until(nodes, lambda: all(len(node.linked()) == 2 for node in nodes))
        finally:
            for node in nodes:
                await node.stop()

    run(main())


def test_one_folder_is_for_one_node(tmp_path: Path) -> None:
    async def test(nodes: list[Node]) -> None:
        with pytest.raises(NodeError, match="Another Rummesh is running"):
            Node(settings(tmp_path / "ana", "Twin"))

    with_nodes(settings(tmp_path / "ana", "Ana"), test=test)
    with_nodes(settings(tmp_path / "ana", "Ana again"), test=_nothing)


async def _nothing(_nodes: list[Node]) -> None:
    """Starting and stopping is all there is to it."""


def test_a_running_game_is_taken_up_and_a_left_one_is_not(tmp_path: Path) -> None:
    both = [settings(tmp_path / name, name) for name in ("Ana", "Ben")]

    async def leave(nodes: list[Node]) -> None:
        await start_a_game(nodes)
        nodes[1].leave()

    async def look(nodes: list[Node]) -> None:
        assert is_playing(nodes[0])
        assert nodes[1].session is None

    with_nodes(*both, test=leave)
    with_nodes(*both, test=look)


def test_who_leaves_is_out_of_the_game_for_the_others_too_and_goes(tmp_path: Path) -> None:
    async def test(nodes: list[Node]) -> None:
        ana, ben, cid = nodes
        await start_a_game(nodes)
        await until(nodes, lambda: all(node.session is not None and node.session.height > 2 for node in nodes))
        ben.leave()
        assert ben.session is not None, "not before the others know"
        await until(nodes, lambda: ben.session is None)
        assert ben.notice is None
        for node in (ana, cid):
            assert node.session is not None
            assert node.session.game is not None
            assert len(node.session.game.seats_in_game()) == 2

    with_nodes(*(settings(tmp_path / name, name) for name in ("Ana", "Ben", "Cid")), test=test)


def test_who_leaves_when_the_others_are_out_of_reach_goes_all_the_same_and_is_told(tmp_path: Path) -> None:
    async def test(nodes: list[Node]) -> None:
        ana, ben = nodes
        await start_a_game(nodes)
        assert ana.runner is not None
        ana.runner.stop()
        ben.leave()
        await until(nodes, lambda: ben.session is None)
        assert ben.notice is not None
        assert "not everybody could be told" in ben.notice

    with_nodes(*(settings(tmp_path / name, name) for name in ("Ana", "Ben")), test=test)


def test_one_that_was_killed_after_signing_sits_down_again_and_is_told_that_the_game_runs(tmp_path: Path) -> None:
    both = [settings(tmp_path / name, name) for name in ("Ana", "Ben")]

    async def begin(nodes: list[Node]) -> None:
        ana, ben = nodes

        def die_once_signed() -> None:
            runner = ben.runner
            if runner is not None and runner.session.lobby.signed and runner.session.game is None:
                runner.stop()

        ben.watch(die_once_signed)
        table = ana.open_table("Kitchen", PT)
        await until(nodes, lambda: bool(ben.hall.at_table(table)))
        ben.join(table)
        await until(nodes, lambda: ana.session is not None and len(ana.session.lobby.members()) == 2)
        await until(nodes, lambda: ben.session is not None and len(ben.session.lobby.members()) == 2)
        for node in nodes:
            node.do(lambda session, _now_s: session.lobby.change(ready=True, start=True))
        await until(nodes, lambda: is_playing(ana))
        assert not is_playing(ben)

    with_nodes(*both, test=begin)

    async def back(nodes: list[Node]) -> None:
        await until(nodes, lambda: is_playing(nodes[1]))
        assert nodes[1].session is not None
        assert nodes[1].session.seat is not None

    with_nodes(*both, test=back)


def test_a_damaged_journal_is_told_and_stops_nothing(tmp_path: Path) -> None:
    both = [settings(tmp_path / name, name) for name in ("Ana", "Ben")]
    with_nodes(*both, test=start_a_game)
    path = next(both[0].tables.glob("*.journal"))
    path.write_bytes(b"not a database at all" * 100)

    async def look(nodes: list[Node]) -> None:
        assert nodes[0].session is None
        assert nodes[0].notice is not None
        assert "could not be taken up" in nodes[0].notice
        assert "--rejoin" in nodes[0].notice

    with_nodes(both[0], test=look)


@pytest.mark.parametrize("damage", ["file", "record"])
def test_a_damaged_journal_is_put_aside_and_its_game_watched(tmp_path: Path, damage: str) -> None:
    ana, ben = settings(tmp_path / "Ana", "Ana", rejoin=True), settings(tmp_path / "Ben", "Ben", rejoin=True)
    with_nodes(ana, ben, test=start_a_game)
    path = next(ana.tables.glob("*.journal"))
    whole = path.read_bytes()
    name = b"Ana" if damage == "record" else b"SQLite"
    path.write_bytes(whole.replace(name, name[::-1]))
    broken = path.read_bytes()
    assert broken != whole

    async def watch(nodes: list[Node]) -> None:
        await until(nodes, lambda: is_playing(nodes[0]))
        session, other = nodes[0].session, nodes[1].session
        assert session is not None
        assert other is not None
        assert session.silent
        assert session.seat is None
        assert session.log[0] == other.log[0]
        assert other.seat is not None, "its own journal is whole, so it has its seat"
        assert nodes[0].table_notice is not None
        assert "You watch this game" in nodes[0].table_notice
        assert nodes[1].table_notice is None
        assert path.with_name(path.name + ".damaged-1").read_bytes() == broken

    with_nodes(ana, ben, test=watch)
    with_nodes(ana, ben, test=watch)


def test_a_journal_that_was_taken_away_gives_no_second_voice(tmp_path: Path) -> None:
    both = [settings(tmp_path / name, name) for name in ("Ana", "Ben")]
    with_nodes(*both, test=start_a_game)
    for path in both[0].tables.iterdir():
        path.unlink()

    async def join_again(nodes: list[Node]) -> None:
        other = nodes[1].session
        assert other is not None
        await until(nodes, lambda: bool(nodes[0].hall.at_table(other.table)))
        nodes[0].join(other.table)
        await until(nodes, lambda: is_playing(nodes[0]))
        assert nodes[0].session is not None
        assert nodes[0].session.silent

    with_nodes(*both, test=join_again)
