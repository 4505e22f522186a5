"""TCP sockets to listen on and to dial with, and words for what goes wrong with them."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import os
import socket
from collections.abc import Iterator
from typing import Any


def listening_socket(host: str | None, port: int) -> socket.socket:
    """A socket that listens. For `host` None one for both families, since two would get two different ports."""
    if host is not None:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server(address, family=family)
    if socket.has_dualstack_ipv6():
        with contextlib.suppress(OSError):  # IPv6 is compiled in but switched off; an occupied port fails again below
            return socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True)
    return socket.create_server(("0.0.0.0", port))  # noqa: S104 - friends on the LAN are to reach it


async def connect(address: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to `address`: a name, or an IPv4 or IPv6 address, scoped (`fe80::1%eth0`) where it is link-local."""
    last: OSError | None = None
    for family, kind, proto, resolved in await _resolve(address, port):
        connecting = socket.socket(family, kind, proto)
        try:
            connecting.setblocking(False)
            await asyncio.get_running_loop().sock_connect(connecting, resolved)
            if connecting.getsockname() == connecting.getpeername():  # TCP connects to itself on a free local port
                raise ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
            return await asyncio.open_connection(sock=connecting)
        except OSError as error:
            connecting.close()
            last = error
        except BaseException:
            connecting.close()
            raise
    raise last or OSError("the name has no address")


def no_delay(writer: asyncio.StreamWriter) -> None:
    """Send small frames at once. asyncio does so by itself for dialled connections, not for accepted ones."""
    with contextlib.suppress(OSError):  # closed meanwhile
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


async def _resolve(address: str, port: int) -> Iterator[tuple[int, int, int, Any]]:
    try:  # an address needs no look-up, and so no thread
        found = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except socket.gaierror:
        found = await asyncio.get_running_loop().getaddrinfo(address, port, type=socket.SOCK_STREAM)
    except ValueError as error:  # a null, or too long for a name
        raise OSError("not the name of a machine") from error
    return ((family, kind, proto, resolved) for family, kind, proto, _, resolved in found)


def is_address(text: str) -> bool:
    """Whether this is an IPv4 or IPv6 address, which can be dialled without asking a name server."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def plain_host(host: str) -> str:
    """An IPv4 address that came in over an IPv6 socket as IPv4; others as they are."""
    with contextlib.suppress(ValueError):
        mapped = getattr(ipaddress.ip_address(host), "ipv4_mapped", None)
        if mapped is not None:
            return str(mapped)
    return host


def shown(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def why(error: BaseException) -> str:
    """In words what ended a connection."""
    match error:
        case asyncio.IncompleteReadError() | EOFError():
            return "closed by the other side"
        case TimeoutError():
            return "no answer in time"
        case OSError(errno=int(number)) if number > 0:  # asyncio has words of its own, with the address again
            return os.strerror(number).lower()
        case OSError():
            return (error.strerror or str(error)).lower()
        case _:
            return str(error)
