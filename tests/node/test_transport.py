"""The mesh over real sockets on loopback: links come, carry, go and come back; misbehaviour costs its own link only."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
from nacl.signing import SigningKey

from node import handshake
from node.handshake import Hello, Role
from node.keystore import Identity
from node.transport import MAX_FRAME_BYTES, LinkLimits, Mesh, TransportError
from tests.node.loops import open_sockets, run, until
from tests.node.strangers import Stranger, stranger

HOST = "127.0.0.1"


def identity(number: int) -> Identity:
    return Identity(SigningKey(bytes([number]) * 32))


SMALLEST, *BY_ID = sorted((identity(number) for number in range(20)), key=lambda one: one.node_id)
FAST = LinkLimits(first_retry_s=0.02, last_retry_s=0.2, courtesy_s=0.05)


@dataclass
class Party:
    """A mesh with all that it has told."""

    own: Identity
    limits: LinkLimits = FAST
    version: int = 1
    told: list[tuple[str, bytes | str]] = field(default_factory=list)
    frames: list[tuple[bytes, bytes]] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    port: int = 0

    def __post_init__(self) -> None:
        self.mesh = Mesh(
            self.own,
            on_link=self._on_link,
            on_frame=lambda node_id, frame: self.frames.append((node_id, frame)),
            on_lost=self._on_lost,
            on_refused=lambda address, reason: self.refused.append((address, reason)),
            limits=self.limits,
            version=self.version,
        )

    def _on_link(self, node_id: bytes) -> None:
        assert node_id in self.mesh.linked()
        self.told.append(("link", node_id))

    def _on_lost(self, node_id: bytes, reason: str) -> None:
        self.told.append(("lost", node_id))
        self.lost.append(reason)

    @property
    def id(self) -> bytes:
        return self.own.node_id

    def linked(self, *others: Party) -> bool:
        return self.mesh.linked() == tuple(sorted(other.id for other in others))

    def want(self, other: Party, *addresses: str) -> None:
        self.mesh.want(other.id, addresses or [HOST], other.port)

    def balanced(self) -> bool:
        """Links and losses of every node alternate, beginning with a link."""
        nodes = {node for _, node in self.told}
        return all(
            [what for what, node in self.told if node == one]
            == (["link", "lost"] * len(self.told))[: sum(node == one for _, node in self.told)]
            for one in nodes
        )


@contextlib.asynccontextmanager
async def parties(
    count: int, limits: LinkLimits = FAST, versions: tuple[int, ...] = (1, 1, 1, 1)
) -> AsyncIterator[list[Party]]:
    """So many listening nodes, in the order of their ids."""
    all_of_them = [Party(BY_ID[n], limits, versions[n]) for n in range(count)]
    for one in all_of_them:
        one.port = await one.mesh.start(HOST)
    try:
        yield all_of_them
    finally:
        for one in all_of_them:
            await one.mesh.stop()
            assert one.mesh.linked() == ()
        assert all(one.balanced() for one in all_of_them)


def one_connection(a: Party, b: Party) -> bool:
    """Both have the same TCP connection for each other."""
    here, there = a.mesh._links[b.id].writer, b.mesh._links[a.id].writer
    return bool(here.get_extra_info("sockname") == there.get_extra_info("peername"))


# Links come


def test_nodes_that_want_each_other_form_a_full_mesh_and_frames_keep_their_order() -> None:
    async def main() -> None:
        async with parties(4) as group:
            for one in group:
                for other in group:
                    one.want(other)
            await until(lambda: all(one.linked(*(other for other in group if other is not one)) for one in group))
            frames = [bytes([n]) * size for n, size in enumerate([0, 1, 1000, MAX_FRAME_BYTES, 5])]
            for frame in frames:
                group[0].mesh.broadcast(frame, but=group[3].id)
                assert group[1].mesh.send(group[0].id, frame)
            await until(lambda: [len(one.frames) for one in group] == [5, 5, 5, 0])
            for one in (group[1], group[2]):
                assert one.frames == [(group[0].id, frame) for frame in frames]
            assert group[0].frames == [(group[1].id, frame) for frame in frames]
            assert [one.told.count(("link", other.id)) for one in group for other in group if other is not one] == (
                [1] * 12
            )

    run(main())


def test_nodes_that_dial_crosswise_keep_the_same_single_link() -> None:
    async def main() -> None:
        limits = LinkLimits(first_retry_s=0.02, last_retry_s=0.2, courtesy_s=0.0)
        for _ in range(20):
            async with parties(2, limits) as (a, b):
                a.want(b)
                b.want(a)
                await until(lambda: a.linked(b) and b.linked(a) and one_connection(a, b))
                assert a.mesh.send(b.id, b"after")
                await until(lambda: b.frames == [(a.id, b"after")])
                assert one_connection(a, b)
                assert not a.refused + b.refused

    run(main())


@pytest.mark.parametrize("first", ["smaller", "larger"])
def test_of_two_crosswise_links_the_one_dialled_by_the_smaller_id_stays(first: str) -> None:
    """The larger id's link is made while the smaller one's handshake stands still before its last step."""

    async def main() -> None:
        async with parties(1) as (middle,):
            own = BY_ID[1] if first == "smaller" else SMALLEST
            assert (middle.id < own.node_id) == (first == "smaller")

            async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                """The listener's side of the handshake in which `middle` dials; another link is made in its midst."""
                end = Stranger(reader, writer)
                mine = Hello(1, own.node_id, bytes(32))
                dialler = handshake.read_hello(await end.read(), 1)
                end.write(mine.to_bytes())
                handshake.check_proof(await end.read(), Role.DIALLER, dialler, mine)
                async with stranger(middle.port) as crossing:
                    await crossing.shake(own)
                    crossing.write(b"on the crossing link")
                    await until(lambda: middle.frames)
                    end.write(handshake.proof_to_bytes(own.sign(handshake.signed_text(Role.LISTENER, dialler, mine))))
                    end.write(b"on the link that middle dialled")
                    loser = crossing if first == "smaller" else end
                    assert await loser.closed()
                    assert middle.mesh.linked() == (own.node_id,)
                    middle.mesh.send(own.node_id, b"to the winner")
                    assert await (end if first == "smaller" else crossing).read() == b"to the winner"
                writer.close()
                done.set()

            done = asyncio.Event()
            server = await asyncio.start_server(listen, HOST, 0)
            middle.mesh.want(own.node_id, [HOST], server.sockets[0].getsockname()[1])
            await asyncio.wait_for(done.wait(), 10)
            server.close()
            await server.wait_closed()
            expected = [b"on the crossing link"]
            if first == "smaller":
                expected.append(b"on the link that middle dialled")
            assert [frame for _, frame in middle.frames] == expected

    run(main())


def test_newer_link_of_the_same_dialler_replaces_the_older() -> None:
    async def main() -> None:
        async with parties(1) as (node,), stranger(node.port) as old, stranger(node.port) as new:
            own = BY_ID[1]
            await old.shake(own)
            await until(lambda: node.told == [("link", own.node_id)])
            await new.shake(own)
            assert await old.closed()
            await until(lambda: len(node.told) == 3)
            assert node.told == [("link", own.node_id), ("lost", own.node_id), ("link", own.node_id)]
            assert node.lost == ["replaced by a newer link"]
            assert node.mesh.send(own.node_id, b"frame")
            assert await new.read() == b"frame"

    run(main())


def test_typed_address_links_whoever_is_there() -> None:
    async def main() -> None:
        async with parties(2) as (a, b):
            b.mesh.want(None, ["localhost"], a.port)
            await until(lambda: a.linked(b) and b.linked(a))
            b.want(a)  # discovery finds it too
            b.mesh.unwant(a.id)
            assert b.linked(a)
            assert not b.mesh._wants

    run(main())


def test_node_wanted_in_several_ways_gets_one_link() -> None:
    async def main() -> None:
        for _ in range(5):
            async with parties(2) as (a, b):
                b.mesh.want(None, ["127.0.0.1", "localhost"], a.port)
                b.mesh.want(None, ["localhost"], a.port)
                b.mesh.want(a.id, [HOST], a.port)
                await until(lambda: a.linked(b) and b.linked(a))
                await until(lambda: all(want.met == a.id for want in b.mesh._wants.values()))
                await until(lambda: not b.mesh._closing and not a.mesh._handshakes)
                assert a.told == [("link", b.id)]
                assert b.told == [("link", a.id)]
                assert not a.refused + b.refused

    run(main())


def test_typed_address_of_this_node_itself_is_told_and_given_up() -> None:
    async def main() -> None:
        async with parties(1) as (a,):
            a.mesh.want(None, [HOST], a.port)
            await until(lambda: a.refused)
            assert a.refused == [(f"{HOST}:{a.port}", "that is this node itself")]
            await until(lambda: not a.mesh._wants and not a.mesh._tasks)

    run(main())


def test_own_node_id_is_never_dialled() -> None:
    async def main() -> None:
        async with parties(1) as (a,):
            a.want(a)
            assert not a.mesh._wants

    run(main())


def test_where_others_say_a_node_is_counts_only_as_far_as_it_can_be_dialled() -> None:
    async def main() -> None:
        async with parties(1, LinkLimits(wants=3)) as (a,):
            for addresses, port in (([HOST], 0), ([HOST], 65536), ([HOST], -1), ([], 7), (["localhost", "a b\0"], 7)):
                a.mesh.want(BY_ID[1].node_id, addresses, port)
            assert not a.mesh._wants
            a.mesh.want(BY_ID[1].node_id, ["localhost", *(f"127.0.0.{n}" for n in range(1, 99))], 7)
            assert a.mesh._wants[BY_ID[1].node_id].addresses == tuple(f"127.0.0.{n}" for n in range(1, 9))
            for number in range(2, 10):
                a.mesh.want(BY_ID[number].node_id, [HOST], 7)
            assert len(a.mesh._wants) == 3

    run(main())


def test_name_that_is_none_is_told() -> None:
    async def main() -> None:
        async with parties(1) as (a,):
            for name in ("a..b", "x" * 70):
                a.mesh.want(None, [name], 7)
            await until(lambda: len(a.refused) == 2)
            assert {reason for _, reason in a.refused} == {"not the name of a machine"}

    run(main())


def test_another_node_at_an_announced_address_is_not_linked_and_the_next_address_is_tried() -> None:
    async def main() -> None:
        async with parties(3) as (a, b, c):
            a.mesh.want(b.id, [HOST], c.port)
            await until(lambda: a.refused)
            assert a.refused == [(f"{HOST}:{c.port}", f"expected node {b.id.hex()[:8]}, found {c.id.hex()[:8]}")]
            assert not c.told
            a.want(b)
            await until(lambda: a.linked(b))

    run(main())


def test_living_address_is_linked_although_the_one_before_never_answers() -> None:
    async def main() -> None:
        limits = LinkLimits(stagger_s=0.02, handshake_s=60, connect_s=60)
        async with parties(2, limits) as (a, b):
            with socket.create_server(("127.0.0.2", b.port)):  # accepts in the kernel and says nothing
                a.want(b, "127.0.0.2", "127.0.0.3", HOST)
                await until(lambda: a.linked(b), 2)
            assert not a.refused

    run(main())


def test_node_that_nobody_answers_for_is_told_once_and_dialled_until_it_is_there() -> None:
    async def main() -> None:
        async with parties(1) as (a,):
            with socket.create_server((HOST, 0)) as placeholder:
                port = placeholder.getsockname()[1]
            late = Party(BY_ID[1])
            a.mesh.want(late.id, [HOST], port)
            want = a.mesh._wants[late.id]
            await until(lambda: want.retry_s == FAST.last_retry_s)
            assert a.refused == [(f"{HOST}:{port}", "connection refused")]
            await late.mesh.start(HOST, port)
            await until(lambda: a.linked(late))
            await late.mesh.stop()

    run(main())


def test_other_version_is_told_on_both_sides() -> None:
    async def main() -> None:
        async with parties(2, versions=(1, 2)) as (a, b):
            a.want(b)
            await until(lambda: a.refused and b.refused)
            template = "the other side speaks version {} of the protocol, this node version {}"
            assert a.refused[0][1] == template.format(2, 1)
            assert b.refused[0] == (HOST, template.format(1, 2))
            assert not a.told + b.told

    run(main())


def test_occupied_port_is_explained() -> None:
    async def main() -> None:
        async with parties(1) as (a,):
            second = Party(BY_ID[1])
            with pytest.raises(TransportError, match="Choose another port"):
                await second.mesh.start(HOST, a.port)
            await second.mesh.stop()

    run(main())


@pytest.mark.skipif(not socket.has_ipv6, reason="needs IPv6")
def test_ipv6_loopback_is_linked() -> None:
    async def main() -> None:
        a, b = Party(BY_ID[0]), Party(BY_ID[1])
        try:
            b.port = await b.mesh.start("::1")
        except TransportError:
            pytest.skip("needs IPv6 on loopback")
        a.want(b, "::1")
        await until(lambda: a.linked(b))
        await a.mesh.stop()
        await b.mesh.stop()

    run(main())


# Strangers


@pytest.mark.parametrize("first", [b"\x00\x00\x02\x01", b"\xff\xff\xff\xff", b"GET / HTTP/1.1\r\n\r\n"])
def test_overlong_hello_closes_the_connection_before_it_is_read(first: bytes) -> None:
    async def main() -> None:
        async with parties(1) as (node,), stranger(node.port) as other:
            other.writer.write(first)
            assert await other.closed()
            await until(lambda: node.refused)
            assert "announced a frame of" in node.refused[0][1]
            assert not node.told

    run(main())


def test_silent_connection_is_closed_after_the_time_for_handshakes() -> None:
    async def main() -> None:
        async with parties(1, LinkLimits(handshake_s=0.1)) as (node,):
            async with stranger(node.port) as silent, stranger(node.port) as stopping:
                stopping.write(Hello(1, BY_ID[1].node_id, bytes(32)).to_bytes())
                assert await silent.closed()
                assert await stopping.closed()
            assert node.refused == [(HOST, "no answer in time")]
            assert not node.told

    run(main())


def test_claiming_another_s_identity_is_refused() -> None:
    async def main() -> None:
        async with parties(1) as (node,), stranger(node.port) as liar:
            mine = Hello(1, BY_ID[1].node_id, bytes(32))
            liar.write(mine.to_bytes())
            other = handshake.read_hello(await liar.read(), 1)
            signature = BY_ID[2].sign(handshake.signed_text(Role.DIALLER, mine, other))
            liar.write(handshake.proof_to_bytes(signature))
            assert await liar.closed()
            await until(lambda: node.refused)
            assert node.refused == [(HOST, "the other side does not hold the key that it named")]
            assert not node.told

    run(main())


def test_listener_that_claims_another_s_identity_is_refused() -> None:
    async def main() -> None:
        async def lie(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            end = Stranger(reader, writer)
            mine = Hello(1, BY_ID[1].node_id, bytes(32))
            dialler = handshake.read_hello(await end.read(), 1)
            end.write(mine.to_bytes())
            end.write(handshake.proof_to_bytes(BY_ID[2].sign(handshake.signed_text(Role.LISTENER, dialler, mine))))
            await end.closed()
            writer.close()
            await writer.wait_closed()

        async with parties(1) as (node,):
            server = await asyncio.start_server(lie, HOST, 0)
            port = server.sockets[0].getsockname()[1]
            node.mesh.want(BY_ID[1].node_id, [HOST], port)
            await until(lambda: node.refused)
            assert node.refused == [(f"{HOST}:{port}", "the other side does not hold the key that it named")]
            assert not node.told
            server.close()
            await server.wait_closed()

    run(main())


def test_unfinished_handshakes_are_limited_per_address_and_the_reason_is_said() -> None:
    async def main() -> None:
        async with parties(1, LinkLimits(handshakes_per_address=2)) as (node,), contextlib.AsyncExitStack() as stack:
            for _ in range(2):
                end = await stack.enter_async_context(stranger(node.port))
                await end.read()  # its hello: the handshake has begun
            one_too_many = await stack.enter_async_context(stranger(node.port))
            with pytest.raises(handshake.Refused, match="says: too many unfinished handshakes"):
                handshake.read_hello(await one_too_many.read(), 1)
            assert await one_too_many.closed()
            assert node.refused == [(HOST, "too many unfinished handshakes")]

    run(main())


def test_links_are_limited_per_address() -> None:
    async def main() -> None:
        async with parties(1, LinkLimits(links_per_address=2)) as (node,), contextlib.AsyncExitStack() as stack:
            for number in (1, 2):
                end = await stack.enter_async_context(stranger(node.port))
                await end.shake(BY_ID[number])
            one_too_many = await stack.enter_async_context(stranger(node.port))
            with pytest.raises(handshake.Refused, match="says: too many links"):
                await one_too_many.shake(BY_ID[3])
            again = await stack.enter_async_context(stranger(node.port))
            await again.shake(BY_ID[2])  # takes the place of its own older link
            node.mesh.want(BY_ID[4].node_id, ["127.0.0.9"], 9)
            member = await stack.enter_async_context(stranger(node.port))
            await member.shake(BY_ID[4])  # is looked for, so it has a place
            assert node.mesh.linked() == tuple(sorted(BY_ID[number].node_id for number in (1, 2, 4)))

    run(main())


def test_address_that_connects_too_often_gets_no_word_until_it_slows_down() -> None:
    async def main() -> None:
        limits = LinkLimits(connections_per_s=4, burst_connections=3)
        async with parties(1, limits) as (node,), contextlib.AsyncExitStack() as stack:

            async def heard(host: str = HOST) -> bytes:
                end = await stack.enter_async_context(stranger(node.port, host))
                with contextlib.suppress(ConnectionError):
                    return await end.reader.read(4)
                return b""

            assert [bool(await heard()) for _ in range(6)] == [True] * 3 + [False] * 3
            assert node.refused == [(HOST, "too many connections")]
            assert await heard("127.0.0.2")
            await asyncio.sleep(0.3)
            assert await heard()

    run(main())


# Links carry


def test_overlong_frame_costs_its_sender_the_link_at_once() -> None:
    async def main() -> None:
        async with parties(2) as (node, good), stranger(node.port) as bad:
            good.want(node)
            await bad.shake(BY_ID[2])
            await until(lambda: len(node.mesh.linked()) == 2)
            bad.writer.write((MAX_FRAME_BYTES + 1).to_bytes(4))
            assert await bad.closed()
            await until(lambda: node.lost)
            assert node.lost == ["announced a frame of 262145 bytes, at most 262144 are taken"]
            assert node.linked(good)

    run(main())


def test_slow_reader_loses_its_link_and_holds_up_nobody() -> None:
    async def main() -> None:
        async with parties(2, LinkLimits(queue_bytes=1_000_000)) as (node, good), stranger(node.port) as slow:
            good.want(node)
            await slow.shake(BY_ID[2])
            await until(lambda: len(node.mesh.linked()) == 2)
            slow.writer.transport.pause_reading()  # type: ignore[attr-defined] # a stream's transport can
            for sent in range(1, 1000):
                node.mesh.broadcast(bytes(100_000))
                await until(lambda sent=sent: len(good.frames) == sent)  # type: ignore[misc] # mypy cannot infer it
                if node.lost:
                    break
            assert node.lost[0].startswith("reads too slowly")
            assert node.linked(good)
            assert not node.mesh.send(BY_ID[2].node_id, b"")

    run(main())


def test_flooding_link_is_read_no_faster_than_the_limit() -> None:
    async def main() -> None:
        limits = LinkLimits(bytes_per_s=100_000, burst_bytes=20_000, frames_per_s=200, burst_frames=50)
        async with parties(1, limits) as (node,), stranger(node.port) as flooding:
            await flooding.shake(BY_ID[1])
            start_s = asyncio.get_running_loop().time()
            for _ in range(40):
                flooding.write(bytes(1000))
            await until(lambda: len(node.frames) == 40)
            bytes_s = asyncio.get_running_loop().time() - start_s
            assert bytes_s > (39 * 1000 - 20_000) / 100_000 * 0.95
            for _ in range(110):
                flooding.write(b"")  # has no bytes, but has to be handled
            await until(lambda: len(node.frames) == 150)
            spent_s = asyncio.get_running_loop().time() - start_s
            assert spent_s > (149 - 50) / 200 * 0.95
            assert node.mesh.linked()

    run(main())


def test_node_that_goes_on_flooding_loses_its_link_and_gets_no_new_burst_with_another() -> None:
    async def main() -> None:
        limits = LinkLimits(frames_per_s=200, burst_frames=100, overload_s=0.5)
        async with parties(1, limits) as (node,), stranger(node.port) as flooding, stranger(node.port) as again:
            await flooding.shake(BY_ID[1])
            for _ in range(100):
                flooding.write(bytes(10))
            await until(lambda: len(node.frames) == 100)
            await asyncio.sleep(1.0)  # a burst now and then is nobody's fault
            assert not node.lost
            for _ in range(1000):
                flooding.write(bytes(10))
            assert await flooding.closed()
            await until(lambda: node.lost)
            assert node.lost == ["sent more than it may for 0.5 s"]
            assert len(node.frames) < 500
            before = len(node.frames)
            await again.shake(BY_ID[1])
            for _ in range(100):
                again.write(bytes(10))
            assert await again.closed()
            assert len(node.frames) < before + 10

    run(main())


def test_queue_of_a_slow_reader_is_limited_in_frames_too() -> None:
    async def main() -> None:
        limits = LinkLimits(queue_frames=100)
        async with parties(1, limits) as (node,), stranger(node.port) as slow:
            await slow.shake(BY_ID[1])
            await until(node.mesh.linked)
            slow.writer.transport.pause_reading()  # type: ignore[attr-defined] # a stream's transport can
            while node.mesh.send(BY_ID[1].node_id, bytes(60_000)):
                if node.mesh._links[BY_ID[1].node_id].waiting_bytes:
                    break
            more = sum(node.mesh.send(BY_ID[1].node_id, b"") for _ in range(200))
            assert 90 <= more <= 100
            assert node.lost[0].startswith("reads too slowly")

    run(main())


def test_link_that_sends_much_does_not_hold_up_the_others() -> None:
    async def main() -> None:
        async with parties(2) as (node, good), stranger(node.port) as flooding:
            good.want(node)
            await flooding.shake(BY_ID[2])
            await until(lambda: len(node.mesh.linked()) == 2)
            await until(lambda: good.linked(node))
            flooding.writer.write(bytes(4) * 1000)  # frames without bytes, in one piece
            assert good.mesh.send(node.id, b"mine")  # both have arrived before either is read
            await until(lambda: (good.id, b"mine") in node.frames)
            assert node.frames.index((good.id, b"mine")) < 100

    run(main())


def test_frame_that_cannot_be_sent_is_refused() -> None:
    async def main() -> None:
        async with parties(1) as (node,):
            assert not node.mesh.send(BY_ID[1].node_id, b"frame")
            with pytest.raises(ValueError, match="at most 262144"):
                node.mesh.send(BY_ID[1].node_id, bytes(MAX_FRAME_BYTES + 1))

    run(main())


def test_links_send_small_frames_at_once_and_without_keep_alive() -> None:
    async def main() -> None:
        async with parties(2) as (a, b):
            a.want(b)
            await until(lambda: a.linked(b) and b.linked(a))
            for link in (a.mesh._links[b.id], b.mesh._links[a.id]):
                plain: socket.socket = link.writer.get_extra_info("socket")
                assert plain.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
                assert not plain.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)

    run(main())


# Links go


def test_stopped_node_is_lost_to_the_others_and_found_again_on_another_port() -> None:
    async def main() -> None:
        async with parties(2) as (a, b):
            a.want(b)
            await until(lambda: a.linked(b))
            await b.mesh.stop()
            await until(lambda: a.lost == ["closed by the other side"])
            again = Party(b.own)
            again.port = await again.mesh.start(HOST)
            a.want(again)
            await until(lambda: a.linked(again))
            await again.mesh.stop()

    run(main())


def test_lost_link_comes_back_by_itself() -> None:
    async def main() -> None:
        async with parties(2) as (a, b):
            a.want(b)
            for times in range(1, 4):
                await until(lambda times=times: b.told.count(("link", a.id)) == times)  # type: ignore[misc] # mypy cannot infer it
                b.mesh._links[a.id].writer.transport.abort()
            await until(lambda: b.told.count(("link", a.id)) == 4)

    run(main())


def test_dropped_node_still_gets_what_was_queued_before() -> None:
    async def main() -> None:
        async with parties(2) as (a, b):
            a.want(b)
            await until(lambda: a.linked(b) and b.linked(a))
            a.mesh.unwant(b.id)
            for n in range(10):
                a.mesh.send(b.id, bytes([n]) * 200_000)
            await a.mesh.drop(b.id, "sent nonsense")
            assert a.lost == ["sent nonsense"]
            assert not a.mesh.send(b.id, b"")
            await until(lambda: b.lost)
            assert b.lost == ["closed by the other side"]
            assert [frame[0] for _, frame in b.frames] == list(range(10))
            await a.mesh.drop(b.id, "again")
            assert a.lost == ["sent nonsense"]
            assert not a.mesh._wants

    run(main())


def test_frames_that_arrive_after_a_drop_are_not_handed_on() -> None:
    async def main() -> None:
        async with parties(1) as (node,), stranger(node.port) as other:
            await other.shake(BY_ID[1])
            await until(node.mesh.linked)
            dropped = []

            def drop_at_the_first(node_id: bytes, frame: bytes) -> None:
                node.frames.append((node_id, frame))
                dropped.append(asyncio.ensure_future(node.mesh.drop(node_id, "first was bad")))

            node.mesh._on_frame = drop_at_the_first
            for n in range(50):
                other.write(bytes([n]))
            assert await other.closed()
            await asyncio.wait(dropped)
            assert node.frames[-1][1] == bytes([len(node.frames) - 1])
            assert len(node.lost) == 1

    run(main())


def test_stop_in_the_midst_of_everything_leaves_nothing() -> None:
    async def main() -> None:
        before = open_sockets()
        async with parties(3) as group, stranger(group[0].port) as unfinished:
            await unfinished.read()
            for one in group:
                for other in group:
                    one.want(other, "127.0.0.9", HOST)
                one.mesh.want(None, [HOST], 9)
            await until(lambda: group[0].mesh.linked())
        await until(lambda: open_sockets() == before)

    run(main())


def test_stop_tells_of_no_losses() -> None:
    async def main() -> None:
        async with parties(2) as (a, b):
            a.want(b)
            await until(lambda: a.linked(b))
            await a.mesh.stop()
            assert not a.lost
            with pytest.raises(ValueError, match="stopped"):
                a.want(b)

    run(main())


def test_fault_in_a_callback_ends_the_link_and_reaches_the_loop_s_handler() -> None:
    async def main() -> None:
        faults: list[BaseException] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context["exception"]))
        async with parties(1) as (node,), stranger(node.port) as other:

            def fail(node_id: bytes, frame: bytes) -> None:
                raise KeyError("our bug")

            node.mesh._on_frame = fail
            await other.shake(BY_ID[1])
            other.write(b"frame")
            assert await other.closed()
            assert node.lost == ["a fault of this node"]
            assert [type(fault) for fault in faults] == [KeyError]

    run(main())
