from __future__ import annotations

import asyncio
import os
import pty
import termios
from collections.abc import Callable

import pytest

from display.backends.base import DeviceError
from display.buttons import KeyboardButtons, ScriptButtons, ScriptLine, parse_script
from display.presses import Kind, Press, PressTimes
from tests.display.jumping import JumpingLoop
from tests.node.loops import until

CALM = PressTimes(hold_s=0.6)  # on the wall's clock
QUICK = PressTimes(hold_s=0.2, together_s=0.1)


Make = Callable[[Callable[[Press], None]], KeyboardButtons | ScriptButtons]


def play(
    make: Make, done: Callable[[list[Press]], bool], loop: Callable[[], asyncio.AbstractEventLoop] = JumpingLoop
) -> list[tuple[Kind, str]]:
    """Runs a source of presses until what it has given is enough."""

    async def main() -> list[Press]:
        found: list[Press] = []
        source = make(found.append)
        try:
            await until(lambda: done(found))
        finally:
            source.close()
        return found

    with asyncio.Runner(loop_factory=loop) as runner:
        return [(event.kind, event.button) for event in runner.run(main())]


def released(times: int) -> Callable[[list[Press]], bool]:
    return lambda found: sum(event.kind is Kind.RELEASED for event in found) == times


def test_a_script_presses_buttons_at_its_times() -> None:
    lines = ("0.00 end tap  # first", "", "0.15 win hold", "0.6 end down", "0.62 win down", "0.7 end up", "0.7 win up")
    script = parse_script("\n".join(lines), ("end", "win"))
    found = play(lambda heard: ScriptButtons(script, ("end", "win"), heard, QUICK), released(4))
    assert [kind for kind, name in found if name == "end"].count(Kind.TAPPED) == 1
    assert [kind for kind, name in found if name == "win"][:3] == [Kind.PRESSED, Kind.HELD, Kind.RELEASED]
    assert [kind for kind, _name in found].count(Kind.BOTH) == 1


def test_a_script_is_read_line_by_line() -> None:
    assert parse_script("# nothing\n 1.5 end hold", ("end",)) == [ScriptLine(1.5, "end", "hold")]


@pytest.mark.parametrize("line", ["soon end tap", "1 stop tap", "1 end twice", "1 end", "-1 end tap", "1 end tap now"])
def test_a_wrong_line_of_a_script_is_named(line: str) -> None:
    with pytest.raises(ValueError, match=r"line 2: expected 'SECONDS BUTTON ACTION'"):
        parse_script(f"0 end tap\n{line}", ("end", "win"))


def test_keys_tap_hold_and_press_both_and_the_terminal_is_given_back() -> None:
    outside, inside = pty.openpty()
    before = termios.tcgetattr(inside)
    others: list[str] = []
    try:

        def make(heard: Callable[[Press], None]) -> KeyboardButtons:
            keys = KeyboardButtons({"e": "end", "w": "win"}, heard, CALM, others=others.append, descriptor=inside)
            assert termios.tcgetattr(inside) != before
            loop = asyncio.get_running_loop()
            for at_s, key in ((0, b"e"), (0.9, b"W"), (2.3, b"b"), (3.3, b"?")):
                loop.call_later(at_s, os.write, outside, key)
            return keys

        found = play(make, lambda presses: bool(others), asyncio.SelectorEventLoop)
        assert termios.tcgetattr(inside) == before
    finally:
        os.close(outside)
        os.close(inside)
    assert found[:3] == [(Kind.PRESSED, "end"), (Kind.RELEASED, "end"), (Kind.TAPPED, "end")]
    assert found[3:6] == [(Kind.PRESSED, "win"), (Kind.HELD, "win"), (Kind.RELEASED, "win")]
    assert [kind for kind, _name in found[6:]] == [Kind.PRESSED, Kind.PRESSED, Kind.BOTH, Kind.RELEASED, Kind.RELEASED]
    assert others == ["?"]


def test_without_a_terminal_there_are_no_keys() -> None:
    reader, writer = os.pipe()
    try:
        with pytest.raises(DeviceError, match="no terminal"):
            play(lambda heard: KeyboardButtons({"e": "end"}, heard, descriptor=reader), lambda _found: True)
    finally:
        os.close(reader)
        os.close(writer)
