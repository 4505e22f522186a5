"""The options that the commands with a panel and buttons share: a settings file, and what overrules it.

Keys of the file are the names of the options; what has no option is in tables as `display.options` reads them. What the
extra `display` brings is imported only when a command with a panel runs.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.util
import tomllib
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import click

from display.words import WORDS

if TYPE_CHECKING:
    from display.options import DeviceOptions

_Command = Callable[..., None]
_FILE: Final = click.Path(dir_okay=False, exists=True, path_type=Path)
_PIN: Final = click.IntRange(0, 27)
_INSTALL: Final = "pip install 'rummesh[display]', on a Raspberry Pi 'rummesh[pi]'"
_PLACES: Final = MappingProxyType(
    {
        "backend": ("panel", "kind"),
        "size": ("panel", "size"),
        "folder": ("panel", "folder"),
        "lang": ("language",),
        "led": ("led", "pin"),
        "buzzer": ("buzzer", "pin"),
    }
)


class PanelType(click.ParamType[str]):
    """A kind of panel, real or simulated."""

    name = "KIND"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            from display.backends.opening import KINDS
        except ImportError as error:
            raise _not_installed(error.name) from error
        if value not in KINDS:
            self.fail(f"{value!r} is not one of {', '.join(KINDS)}.", param, ctx)
        return str(value)


class SizeType(click.ParamType[list[int]]):
    """A panel's pixels, such as `128x64`."""

    name = "SIZE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[int]:
        width, _, height = str(value).partition("x")
        if not (width.isdecimal() and height.isdecimal()):
            self.fail(f"{value!r} is no size. Write it as 128x64.", param, ctx)
        return [int(width), int(height)]


def with_device_options(
    usual_panel: str,
    buttons: Sequence[str] = ("end", "pause"),
    *,
    hold_s: float | None = None,
    flag: str | None = None,
    settles: bool = False,
) -> Callable[[_Command], _Command]:
    """Gives a command the shared options; it gets `device`, a `DeviceOptions`, and `settings`, the rest of the file.

    `usual_panel`, `hold_s` are those where neither the file nor an option says one. `buttons` have options for their
    pins. With a `flag`, such as `--display`, `device` is None where it is not set. `settles`: the rest of the file are
    the command's other options where these are not given, and it gets no `settings`.
    """
    short = {
        **_OPTIONS,
        **{f"button_{name}": _pin_option(f"--button-{name}", f"Pin of the button {name}.") for name in buttons},
    }

    def decorate(command: _Command) -> _Command:
        @functools.wraps(command)
        def wrapped(*, config: Path | None, **others: Any) -> None:
            given = {name: value for name in short if (value := others.pop(name)) is not None}
            if flag is not None and not others.pop(_parameter(flag)):
                if config is not None or given:
                    raise click.UsageError(f"Options of panel and buttons need {flag}.")
                command(device=None, **({} if settles else {"settings": {}}), **others)
                return
            settings = _read(config, short)
            usual = {"panel": {"kind": usual_panel}, "times": {} if hold_s is None else {"hold_s": hold_s}}
            device = _device(usual, settings, _tables(given), config)
            rest = settled(settings) if settles else {"settings": settings}
            command(device=device, **{**others, **rest})

        options = [_CONFIG, *short.values()]
        if flag is not None:
            options.insert(0, click.option(flag, is_flag=True, help="With a panel and buttons; they have options too."))
        result: _Command = wrapped
        for option in reversed(options):
            result = option(result)
        return result

    return decorate


def settled(settings: dict[str, Any]) -> dict[str, Any]:
    """What the file says for the other options of the command that runs, where these are not given, by parameter."""
    context = click.get_current_context()
    options = {_parameter(max(own.opts, key=len)): own for own in context.command.params}
    found = {}
    for key, value in settings.items():
        name = key.replace("-", "_")
        if name not in options:
            tables = ", ".join(sorted(_device_keys()))
            raise click.UsageError(f"There is no setting {key}. There are {', '.join(options)}; and {tables}.")
        option = options[name]
        assert option.name is not None
        if context.get_parameter_source(option.name) is not click.core.ParameterSource.COMMANDLINE:
            try:
                found[option.name] = option.process_value(context, value)
            except click.BadParameter as error:
                raise click.UsageError(f"The setting {key}: {error.message}") from error
    return found


def _device(usual: dict[str, Any], settings: dict[str, Any], given: dict[str, Any], config: Path | None) -> Any:
    """The options of the device, whose part of the file is taken out of `settings`."""
    try:
        from display.options import device_options
    except ImportError as error:
        raise _not_installed(error.name) from error
    of_file = {name: settings.pop(name) for name in _device_keys() & settings.keys()}
    try:
        device = device_options(_merged(_merged(usual, of_file), given))
    except ValueError as error:
        raise click.UsageError(f"{config or 'The options'}: {error}.") from error
    _check_installed(device)
    return device


def _check_installed(device: DeviceOptions) -> None:
    from display.backends.oled import DRIVERS

    needed = [(device.panel.kind in DRIVERS, "luma"), (bool(device.buttons or device.led or device.buzzer), "gpiozero")]
    for is_needed, module in needed:
        if is_needed and importlib.util.find_spec(module) is None:
            raise _not_installed(module)


def _not_installed(module: str | None) -> click.UsageError:
    simulated = " Or see the screens without a panel: --backend terminal." if module == "luma" else ""
    return click.UsageError(f"{module} is not installed: {_INSTALL}.{simulated}")


def _device_keys() -> set[str]:
    """The names of the tables of a file that make the device."""
    from display.options import DeviceOptions

    return {item.name for item in dataclasses.fields(DeviceOptions)}


def _pin_option(name: str, what: str) -> Callable[[_Command], _Command]:
    return click.option(name, type=_PIN, default=None, metavar="PIN", help=f"{what} A BCM number.")


_CONFIG: Final[Callable[[_Command], _Command]] = click.option(
    "--config", type=_FILE, default=None, metavar="FILE", help="Settings in a TOML file; options overrule them."
)
_OPTIONS: Final[MappingProxyType[str, Callable[[_Command], _Command]]] = MappingProxyType(
    {
        "backend": click.option(
            "--backend", "--panel", "backend", type=PanelType(), default=None, help="The panel, real or simulated."
        ),
        "size": click.option("--size", type=SizeType(), default=None, help="Its pixels. Default: those of its kind."),
        "folder": click.option(
            "--folder",
            type=click.Path(file_okay=False),
            default=None,
            metavar="DIR",
            help="Where the panel `files` writes its pictures.",
        ),
        "led": _pin_option("--led", "Pin of the LED."),
        "buzzer": _pin_option("--buzzer", "Pin of the buzzer."),
        "script": click.option(
            "--script",
            type=click.Path(dir_okay=False, exists=True),
            default=None,
            metavar="FILE",
            help="Press buttons as the file says.",
        ),
        "lang": click.option(
            "--lang", type=click.Choice(sorted(WORDS)), default=None, help="Language of the screens.  [default: en]"
        ),
    }
)


def _parameter(option: str) -> str:
    return option.lstrip("-").replace("-", "_")


def _read(config: Path | None, short: Collection[str]) -> dict[str, Any]:
    """The settings of the file, those of the short options in their tables."""
    if config is None:
        return {}
    try:
        plain = tomllib.loads(config.read_text(encoding="utf-8"))
    except OSError as error:
        raise click.UsageError(f"{config} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{config} is not TOML: {error}.") from error
    of_options = {
        name: key for key in plain if (name := key.replace("-", "_")) in short and not isinstance(plain[key], dict)
    }
    values = {name: plain.pop(key) for name, key in of_options.items()}
    if isinstance(values.get("size"), str):
        try:
            values["size"] = SizeType()(values["size"])
        except click.BadParameter as error:
            raise click.UsageError(f"{config}: size: {error.message}") from error
    return _merged(plain, _tables(values))


def _tables(short: dict[str, Any]) -> dict[str, Any]:
    """Values by short name as `display.options` has them: in tables."""
    tables: dict[str, Any] = {}
    for name, value in short.items():
        button = name.removeprefix("button_")
        place = _PLACES.get(name, (name,)) if button == name else ("buttons", button, "pin")
        for part in reversed(place):
            value = {part: value}
        tables = _merged(tables, value)
    return tables


def _merged(under: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """Both, tables within tables; where both have a value, that of `over`."""
    both = {**under, **over}
    for name in under.keys() & over.keys():
        if isinstance(under[name], dict) and isinstance(over[name], dict):
            both[name] = _merged(under[name], over[name])
    return both
