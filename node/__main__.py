"""The command line: `rummesh play` and the other commands."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from engine.options import BadOption, with_options
from engine.rulesets import RuleSet
from engine.strength import Strength
from node.app import NodeError
from node.arbiter import RulesType, check, judge
from node.arbiter import rules as tell_rules
from node.commands import BotOptions, DisplayOptions, PlayOptions, run_bot, run_display, run_play, tables_seen
from node.config import ConfigError, default_data_folder, parse_address
from node.device.buttons import BUTTONS, HOLD_S
from node.deviceoptions import with_device_options
from node.faults.campaign import Case
from node.faults.profiles import PROFILES
from node.faults.report import campaign, tell
from node.faults.report import plain as as_plain
from node.games import games as stored_games
from node.headless.command import (
    HeadlessOptions,
    SeatsType,
    headless_options,
    refuse_headless_options,
    simulate_headless,
)
from node.houserules import with_turn_seconds
from node.journal import JournalError
from node.keystore import KeystoreError
from node.mqtt.options import with_broker_options, with_command_key
from node.mqtt.publishing import with_publishing_options
from node.simulation import SimulatedTable, StuckTable, TableSummary
from node.solve import solve_file
from node.timer import timer
from node.verify import verify
from protocol.audit.audit import DEALERS
from protocol.gamefile import SUFFIX, Deal, game_file_of

if TYPE_CHECKING:
    from display.options import DeviceOptions
    from node.mqtt.broker import Broker
    from node.mqtt.publishing import MqttOptions

EXIT_USAGE = 2


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="rummesh")
@click.option("--verbose", is_flag=True, help="Tell more about links and discovery on standard error.")
def main(verbose: bool) -> None:
    """Rummikub and its family over the LAN: no server, no host, no trust."""
    level = logging.INFO if verbose else logging.WARNING
    logging.basicConfig(level=level, format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    logging.getLogger("zeroconf").setLevel(logging.ERROR)


def _addresses(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> tuple[Any, ...]:
    try:
        return tuple(parse_address(value) for value in values)
    except ConfigError as error:
        raise click.BadParameter(str(error)) from error


_data = click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    default=None,
    help="Folder for the key and the journals. Default: the user's data folder.",
)
_peer = click.option(
    "--peer", "peers", multiple=True, callback=_addresses, metavar="HOST:PORT", help="Also look there for players."
)
_port = click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Port for the other players' nodes. Default: any free one."
)
_loopback = click.option("--loopback", is_flag=True, help="Stay on this machine: other computers see nothing.")
_rejoin = click.option(
    "--rejoin", is_flag=True, help="If the journal of the last game is damaged: put it aside and watch that game."
)
_turn_seconds = click.option(
    "--turn-seconds", type=int, default=None, metavar="S", help="Turn limit; 0 for none. Default: as the rules say."
)


def _thinking(_context: click.Context, _option: click.Parameter, value: float | None) -> tuple[float, float] | None:
    """At least and at most so many seconds; None: as a person."""
    return None if value is None else (value / 2, value)


_strengths = click.Choice([strength.value for strength in Strength])
_strength_help = "; ".join(f"{strength.value} {strength.description}" for strength in Strength)


@main.command()
@click.option("--name", default=None, help="How the others see you. Default: your user name.")
@click.option("--rules", type=RulesType(), default="pt", show_default=True, help="Rule set of a table opened here.")
@click.option("--bots", type=click.IntRange(0, 5), default=0, help="Bots on this machine that join your tables.")
@click.option(
    "--bot-strength",
    type=_strengths,
    default=Strength.SOLID.value,
    show_default=True,
    help=f"How well they play: {_strength_help}.",
)
@click.option(
    "--bot-thinking",
    type=click.FloatRange(0, 60),
    default=None,
    callback=_thinking,
    metavar="S",
    help="Seconds that a bot takes for a turn, at most. Default: as long as a person.",
)
@_turn_seconds
@click.option("--table", default=None, metavar="NAME", help="Open a table of this name, or join it if it is there.")
@_port
@_peer
@click.option("--page-port", type=click.IntRange(0, 65535), default=0, help="Port of the page. Default: any free one.")
@click.option("--no-browser", is_flag=True, help="Only print the page's address.")
@_loopback
@_data
@_rejoin
@with_device_options("ssd1306", BUTTONS, hold_s=HOLD_S, flag="--display", settles=True)
@with_publishing_options
def play(
    device: DeviceOptions | None,
    mqtt: MqttOptions | None,
    name: str | None,
    rules: RuleSet,
    bots: int,
    bot_strength: str,
    bot_thinking: tuple[float, float] | None,
    turn_seconds: int | None,
    table: str | None,
    port: int,
    peers: tuple[tuple[str, int], ...],
    page_port: int,
    no_browser: bool,
    loopback: bool,
    data: Path | None,
    rejoin: bool,
) -> None:
    """Play in the browser: finds tables on the LAN, opens one, brings bots.

    With --display a panel and buttons of your own, which show your table and press your buttons.
    """
    chosen = _checked_rules(rules, turn_seconds)
    options = PlayOptions(
        name=name,
        rules=chosen,
        bots=bots,
        table=table,
        port=port,
        peers=peers,
        page_port=page_port,
        browser=not no_browser,
        loopback=loopback,
        data=data or default_data_folder(),
        strength=Strength(bot_strength),
        thinking_s=bot_thinking,
        rejoin=rejoin,
        display=device,
        mqtt=mqtt,
    )
    _run(run_play(options))


@main.command()
@click.option("--table", required=True, metavar="NAME", help="The table to join.")
@click.option("--name", default="Bot", show_default=True, help="How the others see it.")
@click.option(
    "--open",
    "seats",
    type=click.IntRange(2, 6),
    default=None,
    metavar="SEATS",
    help="Open the table, and start once so many sit.",
)
@click.option("--rules", type=RulesType(), default="pt", show_default=True, help="Rule set, with --open.")
@_turn_seconds
@click.option(
    "--strength",
    type=_strengths,
    default=Strength.SOLID.value,
    show_default=True,
    help=f"How well it plays: {_strength_help}.",
)
@click.option(
    "--thinking",
    type=click.FloatRange(0, 60),
    default=None,
    callback=_thinking,
    metavar="S",
    help="Seconds that it takes for a turn, at most. Default: as long as a person.",
)
@click.option("--once", is_flag=True, help="End when the game is over.")
@click.option(
    "--by-button", is_flag=True, help="Without a time limit: only the button of the table's display ends its turns."
)
@_port
@_peer
@_loopback
@_data
@_rejoin
@with_publishing_options
def bot(
    mqtt: MqttOptions | None,
    table: str,
    name: str,
    seats: int | None,
    rules: RuleSet,
    turn_seconds: int | None,
    strength: str,
    thinking: tuple[float, float] | None,
    once: bool,
    by_button: bool,
    port: int,
    peers: tuple[tuple[str, int], ...],
    loopback: bool,
    data: Path | None,
    rejoin: bool,
) -> None:
    """A headless node that joins a table and plays. Ends with Ctrl-C; a running game is taken up at the next start."""
    options = BotOptions(
        table=table,
        name=name,
        seats=seats,
        rules=_checked_rules(rules, turn_seconds),
        strength=Strength(strength),
        thinking_s=thinking,
        once=once,
        port=port,
        peers=peers,
        loopback=loopback,
        data=data or default_data_folder() / "bot",
        rejoin=rejoin,
        by_button=by_button,
        mqtt=mqtt,
    )
    _run(run_bot(options))


@main.command()
@click.option("--table", default=None, metavar="NAME", help="Its table. Default: the only one there is.")
@click.option("--name", default="Clock", show_default=True, help="How the players see it.")
@_port
@_peer
@_loopback
@_data
@with_device_options("ssd1306", BUTTONS, hold_s=HOLD_S, settles=True)
@with_broker_options()
@with_command_key("Buttons press over the broker")
def display(
    device: DeviceOptions,
    broker: Broker | None,
    command_key: str | None,
    table: str | None,
    name: str,
    port: int,
    peers: tuple[tuple[str, int], ...],
    loopback: bool,
    data: Path | None,
) -> None:
    """The clock on the table: its buttons count as the click of whoever's turn it is.

    End turn: the draft as it lies. Held for two seconds: a pause. Rummikub: calls the win. With --mqtt it follows a
    table on a broker, from another network.
    """
    if broker is not None and (port or peers or loopback or data):
        raise click.UsageError(
            "With --mqtt the table comes from the broker: there is no --port, --peer, --loopback, --data."
        )
    folder = data or default_data_folder() / "display"
    _run(run_display(DisplayOptions(table, name, device, port, peers, loopback, folder, broker, command_key)))


@main.command()
@click.option("--json", "as_json", is_flag=True, help="As JSON on standard output.")
@click.option("--seconds", type=click.FloatRange(0.5, 60), default=2.5, show_default=True, help="How long to listen.")
@_loopback
def tables(as_json: bool, seconds: float, loopback: bool) -> None:
    """What tables are on the LAN."""
    found = _run(tables_seen(seconds, loopback=loopback))
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return
    if not found:
        click.echo("No tables found.")
        return
    shown = Table("Table", "Rules", "Phase", "Players", "Free seats")
    for seen in found:
        shown.add_row(seen["name"], seen["rules"], seen["phase"], str(seen["seats"]), str(seen["free"]))
    Console().print(shown)


@main.command()
@with_broker_options(required=True)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Address of this machine for the page; 0.0.0.0 for all: then phones can look.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port of the page. Default: any free one.")
@click.option("--no-browser", is_flag=True, help="Only print the page's address.")
@click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    default=None,
    help="Folder for the results, one for each party. Default: `party` in the user's data folder.",
)
def party(broker: Broker, host: str, port: int, no_browser: bool, data: Path | None) -> None:
    """One page with all tables of a broker, live, and standings over them: for a projector and for phones.

    Everybody who reaches the page may look; nobody can do anything there.
    """
    from node.mqtt.party.run import PartyOptions, run_party

    _run(run_party(PartyOptions(broker, host, port, not no_browser, data or default_data_folder() / "party")))


@main.command()
@click.option("--games", type=click.IntRange(1), default=10, show_default=True, help="How many games.")
@click.option(
    "--seats",
    type=SeatsType(),
    default="4",
    show_default=True,
    help="Players at each table; with --engine-only also LO-HI, every size in turn.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the first game; each next one adds 1."
)
@click.option("--rules", type=RulesType(), default="pt", show_default=True)
@_turn_seconds
@click.option("--rounds", type=click.IntRange(1), default=None, help="Games of a series. Default: as the rules say.")
@click.option(
    "--json",
    "json_file",
    type=click.Path(dir_okay=False, path_type=Path),
    default=None,
    metavar="FILE",
    help="Write every game's summary and log hash; - for standard output.",
)
@click.option(
    "--deal",
    type=click.Choice([Deal.SECRET.value, Deal.OPEN.value]),
    default=Deal.OPEN.value,
    show_default=True,
    help="Deal with all proofs, as people do, or openly, which is quicker.",
)
@click.option(
    "--save",
    type=click.Path(file_okay=False, path_type=Path),
    default=None,
    metavar="DIR",
    help="Write every table's game file there, over one of the same name.",
)
@click.option(
    "--faults",
    type=click.Choice(sorted(PROFILES)),
    default=None,
    help="Short games to which such faults happen, watched by a referee; see docs/reliability.md.",
)
@click.option(
    "--fault-limit", type=click.IntRange(0), default=None, metavar="K", help="With --faults: only the first K happen."
)
@click.option(
    "--jobs",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="With --faults or --engine-only: processes.",
)
@headless_options
def simulate(
    headless: HeadlessOptions,
    games: int,
    seats: tuple[int, int],
    seed: int,
    rules: RuleSet,
    turn_seconds: int | None,
    rounds: int | None,
    json_file: Path | None,
    deal: str,
    save: Path | None,
    faults: str | None,
    fault_limit: int | None,
    jobs: int,
) -> None:
    """Whole games between real sessions in one process, on a virtual clock and a simulated network.

    With --rounds each of the --games is a series at one table. With --engine-only there are no sessions: many games a
    second, and statistics of the bots; with --merge the FILES that its shards wrote are put together.
    """
    if headless.engine_only:
        simulate_headless(headless, rules, games, seats, seed, jobs, json_file)
        return
    refuse_headless_options()
    table_seats, most = seats
    if table_seats != most:
        raise click.UsageError("Tables of several sizes are for --engine-only.")
    if faults is not None:
        if rounds is not None or turn_seconds is not None or save is not None:
            raise click.UsageError("With --faults there is no --rounds, --turn-seconds or --save.")
        cases = [Case(rules, table_seats, seed + game, faults, Deal(deal), fault_limit) for game in range(games)]
        _simulate_hostile(cases, jobs, json_file)
        return
    chosen = _checked_rules(rules, turn_seconds)
    if rounds is not None:
        chosen = _with_option(chosen, "rounds", rounds)
    if not chosen.min_seats <= table_seats <= chosen.max_seats:
        raise click.UsageError(f"{rules.name} is played by {chosen.min_seats} to {chosen.max_seats} players.")
    summaries: list[TableSummary] = []
    console = Console(stderr=True)
    try:
        with Progress(console=console, disable=not console.is_terminal) as progress:
            task = progress.add_task("Playing", total=games)
            for game in range(games):
                table = SimulatedTable(chosen, table_seats, seed + game, DEALERS[Deal(deal)])
                summaries.append(table.run())
                if save is not None:
                    _save(table, save / f"{chosen.name}-{table_seats}-seats-{deal}-{seed + game}{SUFFIX}")
                progress.advance(task)
    except StuckTable as error:
        click.echo(
            f"{error}\nRepeat with: rummesh simulate --games 1 --seats {table_seats} --rules {rules.name} "
            f"--seed {seed + len(summaries)}",
            err=True,
        )
        sys.exit(1)
    plain = {
        "rules": rules.name,
        "seats": table_seats,
        "seed": seed,
        "games": [dataclasses.asdict(summary) for summary in summaries],
    }
    if not _write_json(plain, json_file):
        _print_summary(summaries, table_seats)


def _simulate_hostile(cases: list[Case], jobs: int, json_file: Path | None) -> None:
    summaries, failures = campaign(cases, jobs)
    if not _write_json(as_plain(summaries, failures), json_file):
        tell(summaries, failures)
    if failures:
        sys.exit(1)


def _write_json(plain: dict[str, Any], json_file: Path | None) -> bool:
    """Write it where it is wanted; whether that is standard output."""
    text = json.dumps(plain, indent=2)
    if json_file is None:
        return False
    if str(json_file) == "-":
        click.echo(text)
        return True
    try:
        json_file.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise click.FileError(str(json_file), error.strerror or "cannot be written") from error
    return False


def _save(table: SimulatedTable, path: Path) -> None:
    """Write the game file of a table that has played."""
    session = table.nodes[0].session
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(game_file_of(session.log, session.evidence))
    except OSError as error:
        raise click.FileError(str(path), error.strerror or "cannot be written") from error


def _print_summary(summaries: list[TableSummary], seats: int) -> None:
    games = sum(len(summary.results) for summary in summaries)
    turns = sum(summary.turns for summary in summaries)
    click.echo(f"{games} games at {len(summaries)} tables, {turns} turns, {turns / games:.1f} turns a game")
    shown = Table("Seat", "Games won", "Series won", "Points")
    for seat in range(seats):
        won = sum(1 for summary in summaries for game in summary.results if seat in game.winners)
        series = sum(1 for summary in summaries if seat in summary.winners)
        shown.add_row(str(seat + 1), str(won), str(series), str(sum(summary.totals[seat] for summary in summaries)))
    Console().print(shown)


main.add_command(check)
main.add_command(judge)
main.add_command(solve_file)
main.add_command(tell_rules)
main.add_command(verify)
main.add_command(stored_games)
main.add_command(timer)


def _with_option(rules: RuleSet, option: str, value: int) -> RuleSet:
    try:
        return with_options(rules, {option: value})
    except BadOption as bad:
        raise click.UsageError(" ".join(fault.sentence for fault in bad.faults)) from bad


def _checked_rules(rules: RuleSet, turn_seconds: int | None) -> RuleSet:
    try:
        return with_turn_seconds(rules, turn_seconds)
    except ConfigError as error:
        raise click.UsageError(str(error)) from error


def _run(coroutine: Any) -> Any:
    """Run to the end. What the person can mend is one clear sentence and exit code 2."""
    try:
        return asyncio.run(coroutine)
    except (KeystoreError, JournalError, NodeError, ConfigError) as error:
        click.echo(f"rummesh: {error}", err=True)
        sys.exit(EXIT_USAGE)
    except OSError as error:
        click.echo(f"rummesh: {error.strerror or error}", err=True)
        sys.exit(EXIT_USAGE)
    except KeyboardInterrupt:
        return None


if __name__ == "__main__":
    main()
