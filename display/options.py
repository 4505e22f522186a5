"""What a table device is made of, as one frozen value, and how it is read from the tables of a TOML file."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from display.backends.opening import PanelOptions
from display.buttons import PinOptions
from display.care import CareOptions
from display.pins import FACTORIES
from display.presses import PressTimes
from display.words import WORDS

BUTTONS: Final = ("end", "rummikub", "pause")
_Options = TypeVar("_Options")


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """The pin (BCM number) of an LED or an active buzzer. `active_low`: it is on while the pin is at 0 V."""

    pin: int
    active_low: bool = False


@dataclass(frozen=True, slots=True)
class DeviceOptions:
    """Panel, buttons, LED and buzzer of a device, each where it is.

    `buttons`: pins by name, of `BUTTONS`. `pins`: the pin library, one of `FACTORIES`. `keys`: the keys of the terminal
    are buttons as well, if there is one. `script`: a file of presses (`buttons.parse_script`). `language`: of `WORDS`.
    """

    panel: PanelOptions = field(default_factory=PanelOptions)
    care: CareOptions = field(default_factory=CareOptions)
    times: PressTimes = field(default_factory=PressTimes)
    buttons: Mapping[str, PinOptions] = field(default_factory=dict)
    led: OutputOptions | None = None
    buzzer: OutputOptions | None = None
    pins: str = "lgpio"
    keys: bool = True
    script: Path | None = None
    language: str = "en"

    def __post_init__(self) -> None:
        if self.pins not in FACTORIES:
            raise ValueError(f"expected a pin library of {', '.join(FACTORIES)}, got {self.pins}")
        if self.language not in WORDS:
            raise ValueError(f"expected a language of {', '.join(WORDS)}, got {self.language}")
        for name in self.buttons:
            if name not in BUTTONS:
                raise ValueError(f"expected buttons of {', '.join(BUTTONS)}, got {name}")


def device_options(plain: Mapping[str, Any]) -> DeviceOptions:
    """The options that the tables of a TOML file hold. ValueError says which entry is wrong, and why."""
    return _read(DeviceOptions, plain, "")


def _read(kind: type[_Options], plain: object, where: str) -> _Options:
    """A dataclass of options from a table; what the table does not name is as usual."""
    if not isinstance(plain, Mapping):
        raise ValueError(f"{where}expected a table, got {plain!r}")
    hints = typing.get_type_hints(kind)
    unknown = [name for name in plain if name not in hints]
    if unknown:
        raise ValueError(f"{where}there is no {unknown[0]}; there are {', '.join(hints)}")
    values = {name: _value(hints[name], value, f"{where}{name}: ") for name, value in plain.items()}
    try:
        return kind(**values)
    except TypeError as error:  # one without a usual value is missing
        missing = [
            item.name
            for item in dataclasses.fields(kind)  # type: ignore[arg-type]  # all kinds here are dataclasses
            if item.default is item.default_factory is dataclasses.MISSING and item.name not in values
        ]
        raise ValueError(f"{where}there must be {', '.join(missing)}") from error
    except ValueError as error:
        raise ValueError(f"{where}{error}") from error


def _value(hint: Any, value: object, where: str) -> object:
    if isinstance(hint, types.UnionType):  # of something and None, which TOML cannot say
        hint = next(part for part in hint.__args__ if part is not type(None))
    if dataclasses.is_dataclass(hint):
        return _read(hint, value, where)  # type: ignore[arg-type]  # the type of a dataclass, and not one of its values
    if typing.get_origin(hint) is Mapping:
        if not isinstance(value, Mapping):
            raise ValueError(f"{where}expected a table, got {value!r}")
        return {name: _read(PinOptions, item, f"{where}{name}: ") for name, item in value.items()}
    if typing.get_origin(hint) is tuple:
        if isinstance(value, list) and len(value) == 2 and all(type(item) is int for item in value):
            return tuple(value)
        raise ValueError(f"{where}expected two whole numbers, got {value!r}")
    if hint is Path and isinstance(value, str):
        return Path(value)
    if type(value) is hint or (hint is float and type(value) is int):
        return value
    raise ValueError(f"{where}expected {_EXPECTED[hint]}, got {value!r}")


_EXPECTED: Final = types.MappingProxyType(
    {str: "a text", int: "a whole number", float: "a number", bool: "true or false", Path: "a path"}
)
