"""`rummesh timer`: the clock for a table with real tiles, without any network."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from display.timerstate import Setup
from engine.rulesets import RULE_SETS
from node.arbiter import RulesType
from node.config import ConfigError, default_data_folder
from node.deviceoptions import with_device_options
from node.houserules import with_turn_seconds
from node.timerfile import Stored, StoredError, read
from protocol.roster import clean_name

if TYPE_CHECKING:
    from display.options import DeviceOptions

BUTTONS: Final = ("end", "pause", "rummikub")


@click.command()
@click.argument("names", nargs=-1)
@click.option("--rules", type=RulesType(), default=None, help="Rule set. Default: pt.")
@click.option(
    "--turn-seconds", type=int, default=None, metavar="S", help="Turn limit; 0 for none. Default: as the rules say."
)
@click.option("--bank", type=click.IntRange(0, 36_000), default=None, metavar="S", help="Seconds besides, for a game.")
@click.option(
    "--increment", type=click.IntRange(0, 600), default=None, metavar="S", help="Added to them after a turn in time."
)
@click.option(
    "--file",
    type=click.Path(dir_okay=False, path_type=Path),
    default=None,
    help="Where the game and the series are kept. Default: timer.json in the user's data folder.",
)
@with_device_options("terminal", BUTTONS, settles=True)
def timer(device: DeviceOptions, **given: Any) -> None:
    """A clock for NAMES at a table with real tiles, in the order of their turns; no network.

    Two buttons do everything; in the terminal e is End and p is Pause, as capitals held, b is both at once. More keys:
    x extension, s skip, u take back, r Rummikub, k nobody can go on, q quit, digits and Enter for points. Without NAMES
    the last game goes on.
    """
    asked = {name: value for name, value in given.items() if value not in (None, ())}
    path = asked.get("file") or default_data_folder() / "timer.json"
    try:
        setup = _setup(asked, path)
        from node.tabletimer import TimerOptions, run_timer  # brings in Pillow, which other commands do without

        asyncio.run(run_timer(TimerOptions(setup, device, path)))
    except ConfigError as error:
        raise click.UsageError(str(error)) from error
    except OSError as error:
        raise click.UsageError(f"{error.filename or path}: {error.strerror}.") from error
    except KeyboardInterrupt:
        return


def _setup(asked: dict[str, Any], path: Path) -> Setup:
    """Raises `ConfigError` for anything that no game can be played with."""
    names, rules = asked.get("names"), asked.get("rules")
    if names is None:
        stored = _stored(path)
        if stored is None:
            raise ConfigError("Say who plays: rummesh timer Ana José")
        names, rules = stored.names, rules or stored.rules
    cleaned = tuple(filter(None, map(clean_name, names)))
    chosen = with_turn_seconds(rules or RULE_SETS["pt"], asked.get("turn_seconds"))
    if len(set(cleaned)) != len(cleaned) or not chosen.min_seats <= len(cleaned) <= chosen.max_seats:
        seats = f"{chosen.min_seats} to {chosen.max_seats}"
        raise ConfigError(f"{chosen.name} is played by {seats} players of different names.")
    bank_s, increment_s = asked.get("bank", 0), asked.get("increment", 0)
    if increment_s and not (bank_s or chosen.turn_seconds):
        raise ConfigError("An increment needs a turn limit or a bank.")
    return Setup(cleaned, chosen, chosen.turn_seconds, bank_s, increment_s)


def _stored(path: Path) -> Stored | None:
    try:
        return read(path)
    except StoredError:
        return None
