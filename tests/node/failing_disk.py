"""A node whose disk can be made to fail: `python -m tests.node.failing_disk CALL ERROR ...` in place of `node`.

When it gets SIGUSR1 the kernel refuses its system calls of that kind from then on, by a seccomp filter.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import signal
import sys
from typing import Final

from node.__main__ import main

CALLS: Final = {
    "x86_64": {"sync": (74, 75), "write": (18, 20)},  # fsync, fdatasync; pwrite64, writev
    "aarch64": {"sync": (82, 83), "write": (68, 66)},
}
_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 38, 22, 2
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte), ("k", ctypes.c_uint))


class _Program(ctypes.Structure):
    _fields_ = (("len", ctypes.c_ushort), ("filter", ctypes.POINTER(_Instruction)))


def refuse(kind: str, error: int) -> None:
    """From now on these calls fail with `error` in this thread. Raises `OSError` if the kernel cannot do that."""
    first, second = CALLS[platform.machine()][kind]
    instructions = (_Instruction * 5)(
        _Instruction(_LOAD, 0, 0, 0),
        _Instruction(_EQUAL, 1, 0, first),
        _Instruction(_EQUAL, 0, 1, second),
        _Instruction(_RETURN, 0, 0, _ERRNO | error),
        _Instruction(_RETURN, 0, 0, _ALLOW),
    )
    program = _Program(len(instructions), instructions)
    libc = ctypes.CDLL(None, use_errno=True)
    for arguments in ((_NO_NEW_PRIVILEGES, 1, 0, 0, 0), (_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0)):
        if libc.prctl(*arguments) != 0:
            raise OSError(ctypes.get_errno(), "no seccomp filter")


if __name__ == "__main__":
    call, name, *command = sys.argv[1:]
    signal.signal(signal.SIGUSR1, lambda _number, _frame: refuse(call, getattr(errno, name)))
    main(command)
