"""Canonical msgpack: one byte form per value, and typed dataclasses to and from it.

A *plain* value is None, a bool, an int of 64 bits, bytes, a str, or a list of plain values: no maps, no floats, no
extension types. A dataclass is the list of its fields in order; a member of a union is that list with the class name in
front. `decode` refuses whatever does not re-encode to the very same bytes, so nothing can be said in two ways.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Hashable
from enum import Enum
from functools import cache
from typing import Any, Final, TypeVar

import msgpack

from protocol.errors import DecodeError

T = TypeVar("T")

MAX_BYTES: Final = 262_144
MAX_DEPTH: Final = 16
_MIN_INT: Final = -(2**63)
_MAX_INT: Final = 2**64 - 1


@dataclasses.dataclass(frozen=True, slots=True)
class Size:
    """In `Annotated[bytes, Size(32)]`: exactly so many bytes."""

    bytes: int


Digest = typing.Annotated[bytes, Size(32)]
NodeId = typing.Annotated[bytes, Size(32)]
TableId = typing.Annotated[bytes, Size(16)]


def pack(plain: Any) -> bytes:
    """The canonical bytes of a plain value."""
    packed: bytes = msgpack.packb(plain, use_bin_type=True)
    return packed


def unpack(data: bytes, max_bytes: int = MAX_BYTES) -> Any:
    """The plain value in `data`. Raises `DecodeError` unless `data` is its canonical form."""
    if len(data) > max_bytes:
        raise DecodeError(f"expected at most {max_bytes} bytes, got {len(data)}")
    try:
        plain = msgpack.unpackb(data, raw=False, strict_map_key=True, use_list=True, max_ext_len=0, max_map_len=0)
    except (ValueError, msgpack.UnpackException, RecursionError) as error:
        raise DecodeError(f"not msgpack: {type(error).__name__}") from error
    _check_plain(plain, MAX_DEPTH)
    try:
        canonical = pack(plain) == data
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise DecodeError(f"no canonical form: {type(error).__name__}") from error
    if not canonical:
        raise DecodeError("not the canonical encoding")
    return plain


def _check_plain(value: Any, depth: int) -> None:
    if value is None or isinstance(value, (bool, int, bytes, str)):
        return
    if not isinstance(value, list):
        raise DecodeError(f"expected a plain value, got {type(value).__name__}")
    if depth == 0:
        raise DecodeError(f"expected at most {MAX_DEPTH} levels of lists, got more")
    for item in value:
        _check_plain(item, depth - 1)


def encode(value: Any, as_type: Hashable = None) -> bytes:
    """The canonical bytes of a dataclass or other typed value; `as_type` names the union it is read back as."""
    return pack(to_plain(value, as_type))


def decode(as_type: type[T], data: bytes, max_bytes: int = MAX_BYTES) -> T:
    """The value of type `as_type` in `data`. Raises `DecodeError`."""
    return from_plain(as_type, unpack(data, max_bytes))


def to_plain(value: Any, as_type: Hashable = None) -> Any:
    """The plain form of `value`, read back by `from_plain` with the same type."""
    return _writer(typing.cast(Any, type(value) if as_type is None else as_type))(value)


def from_plain(as_type: type[T], plain: Any) -> T:
    """The value of type `as_type` whose plain form is `plain`. Raises `DecodeError`."""
    reader = typing.cast(Callable[[Any], T], _reader(typing.cast(Any, as_type)))
    try:
        return reader(plain)
    except ValueError as error:  # a dataclass that refuses its fields
        raise DecodeError(str(error)) from error


# How each kind of type is read and written. Built once per type.


@cache
def _reader(as_type: Hashable) -> Callable[[Any], Any]:
    bare, size = _bare(as_type)
    if typing.get_origin(bare) in (typing.Union, types.UnionType):
        return _union_reader(typing.get_args(bare))
    if typing.get_origin(bare) is tuple:
        return _tuple_reader(typing.get_args(bare))
    if bare is type(None):
        return _read_none
    if bare is int:
        return _read_int
    if bare is bytes and size is not None:
        return _sized_bytes_reader(size)
    if bare in (bool, bytes, str):
        return _exact_reader(bare)
    if isinstance(bare, type) and issubclass(bare, Enum):
        return _enum_reader(bare)
    return _fields_reader(bare, *_fields(bare))


@cache
def _writer(as_type: Hashable) -> Callable[[Any], Any]:
    bare, _size = _bare(as_type)
    if typing.get_origin(bare) in (typing.Union, types.UnionType):
        return _union_writer(typing.get_args(bare))
    if typing.get_origin(bare) is tuple:
        return _tuple_writer(typing.get_args(bare))
    if bare in (int, bool, bytes, str, type(None)):
        return _write_same
    if isinstance(bare, type) and issubclass(bare, Enum):
        return _write_enum
    return _fields_writer(*_fields(bare))


def _bare(as_type: Any) -> tuple[Any, int | None]:
    """The type without `NewType` and `Annotated`, and the size that an annotation demands."""
    size = None
    while True:
        if typing.get_origin(as_type) is typing.Annotated:
            size = next((mark.bytes for mark in as_type.__metadata__ if isinstance(mark, Size)), size)
            as_type = as_type.__origin__
        elif isinstance(as_type, typing.NewType):
            as_type = as_type.__supertype__
        else:
            return as_type, size


def _fields(as_type: Any) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """Names and types of a dataclass's or named tuple's fields, in order."""
    hints = typing.get_type_hints(as_type, include_extras=True)
    if dataclasses.is_dataclass(as_type):
        names = tuple(field.name for field in dataclasses.fields(as_type))
    elif hasattr(as_type, "_fields"):
        names = as_type._fields
    else:
        raise TypeError(f"no plain form for {as_type!r}")
    return names, tuple(hints[name] for name in names)


def _read_none(plain: Any) -> None:
    if plain is not None:
        raise DecodeError(f"expected nothing, got {type(plain).__name__}")


def _read_int(plain: Any) -> int:
    if type(plain) is not int or not _MIN_INT <= plain <= _MAX_INT:
        raise DecodeError(f"expected int, got {type(plain).__name__}")
    return plain


def _exact_reader(as_type: type) -> Callable[[Any], Any]:
    def read(plain: Any) -> Any:
        if type(plain) is not as_type:
            raise DecodeError(f"expected {as_type.__name__}, got {type(plain).__name__}")
        return plain

    return read


def _sized_bytes_reader(size: int) -> Callable[[Any], bytes]:
    def read(plain: Any) -> bytes:
        if type(plain) is not bytes or len(plain) != size:
            raise DecodeError(f"expected {size} bytes, got {type(plain).__name__} of another size or type")
        return plain

    return read


def _enum_reader(as_type: type[Enum]) -> Callable[[Any], Enum]:
    def read(plain: Any) -> Enum:
        if type(plain) not in (int, str):
            raise DecodeError(f"expected {as_type.__name__}, got {type(plain).__name__}")
        try:
            return as_type(plain)
        except ValueError:
            raise DecodeError(f"no such {as_type.__name__}") from None

    return read


def _tuple_reader(items: tuple[Any, ...]) -> Callable[[Any], tuple[Any, ...]]:
    if len(items) == 2 and items[1] is Ellipsis:
        read_item = _reader(items[0])

        def read_all(plain: Any) -> tuple[Any, ...]:
            if type(plain) is not list:
                raise DecodeError(f"expected a list, got {type(plain).__name__}")
            return tuple([read_item(item) for item in plain])

        return read_all
    readers = tuple(_reader(item) for item in items)

    def read_fixed(plain: Any) -> tuple[Any, ...]:
        if type(plain) is not list or len(plain) != len(readers):
            raise DecodeError(f"expected a list of {len(readers)}")
        return tuple([read(item) for read, item in zip(readers, plain, strict=True)])

    return read_fixed


def _tuple_writer(items: tuple[Any, ...]) -> Callable[[Any], list[Any]]:
    if len(items) == 2 and items[1] is Ellipsis:
        write_item = _writer(items[0])
        return lambda value: [write_item(item) for item in value]
    writers = tuple(_writer(item) for item in items)
    return lambda value: [write(item) for write, item in zip(writers, value, strict=True)]


def _fields_reader(as_type: Any, names: tuple[str, ...], hints: tuple[Any, ...]) -> Callable[[Any], Any]:
    readers = tuple(_reader(hint) for hint in hints)

    def read(plain: Any) -> Any:
        if type(plain) is not list or len(plain) != len(names):
            raise DecodeError(f"expected {as_type.__name__} as a list of {len(names)}")
        return as_type(*[read(item) for read, item in zip(readers, plain, strict=True)])

    return read


def _fields_writer(names: tuple[str, ...], hints: tuple[Any, ...]) -> Callable[[Any], list[Any]]:
    writers = tuple(zip(names, (_writer(hint) for hint in hints), strict=True))
    return lambda value: [write(getattr(value, name)) for name, write in writers]


def _union_reader(members: tuple[Any, ...]) -> Callable[[Any], Any]:
    """A union is either one type or None, or several dataclasses told apart by their class name."""
    optional = type(None) in members
    others = tuple(member for member in members if member is not type(None))
    if len(others) == 1:
        read_one = _reader(others[0])
        return lambda plain: None if plain is None else read_one(plain)
    readers = {member.__name__: _reader(member) for member in others}

    def read(plain: Any) -> Any:
        if plain is None and optional:
            return None
        if type(plain) is not list or not plain or type(plain[0]) is not str or plain[0] not in readers:
            raise DecodeError(f"expected one of {', '.join(sorted(readers))}")
        return readers[plain[0]](plain[1:])

    return read


def _union_writer(members: tuple[Any, ...]) -> Callable[[Any], Any]:
    others = tuple(member for member in members if member is not type(None))
    if len(others) == 1:
        write_one = _writer(others[0])
        return lambda value: None if value is None else write_one(value)
    writers = {member: _writer(member) for member in others}
    return lambda value: None if value is None else [type(value).__name__, *writers[type(value)](value)]


def _write_same(value: Any) -> Any:
    return value


def _write_enum(value: Any) -> Any:
    return value.value
