"""The options that the commands with a panel and buttons share: a settings file, and what overrules it."""

from __future__ import annotations

import dataclasses
import functools
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click

from display.backends.opening import KINDS
from display.options import DeviceOptions, device_options
from display.words import WORDS

DEVICE_KEYS: Final = frozenset(item.name for item in dataclasses.fields(DeviceOptions))
_Command = Callable[..., None]
_FILE: Final = click.Path(dir_okay=False, exists=True, path_type=Path)


class SizeType(click.ParamType[tuple[int, int]]):
    """A panel's pixels, such as `128x64`."""

    name = "SIZE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        width, _, height = str(value).partition("x")
        if not (width.isdecimal() and height.isdecimal()):
            self.fail(f"{value!r} is no size. Write it as 128x64.", param, ctx)
        return int(width), int(height)


def with_device_options(usual_panel: str) -> Callable[[_Command], _Command]:
    """Gives a command the shared options; it gets `device`, a `DeviceOptions`, and `settings`, the rest of the file.

    `usual_panel` is the kind of panel where neither the file nor an option says one.
    """

    def decorate(command: _Command) -> _Command:
        @functools.wraps(command)
        def wrapped(
            *,
            config: Path | None,
            panel: str | None,
            size: tuple[int, int] | None,
            folder: Path | None,
            script: Path | None,
            lang: str | None,
            **others: Any,
        ) -> None:
            settings = _read(config)
            device = {name: settings.pop(name) for name in DEVICE_KEYS & settings.keys()}
            table = device.get("panel", {})
            if isinstance(table, dict):
                device["panel"] = _merged(
                    {"kind": usual_panel} | table,
                    kind=panel,
                    size=None if size is None else list(size),
                    folder=None if folder is None else str(folder),
                )
            device = _merged(device, script=None if script is None else str(script), language=lang)
            try:
                chosen = device_options(device)
            except ValueError as error:
                raise click.UsageError(f"{config or 'The options'}: {error}.") from error
            command(device=chosen, settings=settings, **others)

        for option in reversed(_OPTIONS):
            wrapped = option(wrapped)
        return wrapped

    return decorate


_OPTIONS: Final = (
    click.option(
        "--config", type=_FILE, default=None, metavar="FILE", help="Settings in a TOML file; options overrule them."
    ),
    click.option("--panel", type=click.Choice(KINDS), default=None, help="The panel, a real or a simulated one."),
    click.option("--size", type=SizeType(), default=None, help="Its pixels. Default: the usual ones of its kind."),
    click.option(
        "--folder",
        type=click.Path(file_okay=False, path_type=Path),
        default=None,
        metavar="DIR",
        help="Where the panel `files` writes its pictures.",
    ),
    click.option("--script", type=_FILE, default=None, metavar="FILE", help="Press buttons as the file says."),
    click.option("--lang", type=click.Choice(sorted(WORDS)), default=None, help="Language of the screens."),
)


def _read(config: Path | None) -> dict[str, Any]:
    if config is None:
        return {}
    try:
        return tomllib.loads(config.read_text(encoding="utf-8"))
    except OSError as error:
        raise click.UsageError(f"{config} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{config} is not TOML: {error}.") from error


def _merged(table: dict[str, Any], **overruling: Any) -> dict[str, Any]:
    return table | {name: value for name, value in overruling.items() if value is not None}
