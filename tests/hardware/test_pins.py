"""Buttons, LED and buzzer on gpiozero's pins, with its mock of them."""

from __future__ import annotations

import asyncio
import os
import random
import stat
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from gpiozero.pins.mock import MockFactory

from display.backends.base import DeviceError
from display.buttons import GpioButtons, PinOptions
from display.pins import OutputPin, pin_factory
from display.presses import Kind, Press
from display.signals import Pattern, Player
from tests.display.jumping import JumpingLoop
from tests.node.loops import until

P, T, H, B, R, S = Kind.PRESSED, Kind.TAPPED, Kind.HELD, Kind.BOTH, Kind.RELEASED, Kind.STUCK
END, WIN = 17, 27
Step = tuple[int, bool, float]  # pin, closed or open, and seconds until the next step


async def play(pins: MockFactory, *steps: Step) -> None:
    """Moves contacts to ground and away from it."""
    for pin, closed, then_s in steps:
        contact = pins.pin(pin)
        (contact.drive_low if closed else contact.drive_high)()
        await asyncio.sleep(then_s)


def run(pins: MockFactory, act: Callable[[], Awaitable[None]]) -> list[tuple[Kind, str]]:
    """What two buttons say meanwhile, on a loop whose times are exact."""
    found: list[Press] = []

    async def main() -> None:
        wired = {"end": PinOptions(END), "win": PinOptions(WIN)}
        buttons = GpioButtons(wired, found.append, pin_factory=pins)
        await act()
        await asyncio.sleep(0.1)
        buttons.close()

    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        runner.run(main())
    return [(press.kind, press.button) for press in found]


def bounce(pin: int, ends_closed: bool, chance: random.Random, lasts_s: float = 0.02) -> list[Step]:
    """A contact that opens and closes for so long before it stays."""
    times = sorted(chance.uniform(0, lasts_s) for _ in range(2 * chance.randint(1, 8)))
    waits_s = [later - earlier for earlier, later in zip([0.0, *times], [*times, lasts_s], strict=True)]
    return [(pin, ends_closed == (step % 2 == 0), wait_s) for step, wait_s in enumerate(waits_s)]


def test_presses_of_another_thread_are_told_in_the_loop_while_the_contact_is_closed(pins: MockFactory) -> None:
    told_in: list[tuple[Kind, threading.Thread]] = []

    async def main() -> None:
        def heard(press: Press) -> None:
            told_in.append((press.kind, threading.current_thread()))

        buttons = GpioButtons({"end": PinOptions(END)}, heard, pin_factory=pins)
        for kind, move in ((P, pins.pin(END).drive_low), (R, pins.pin(END).drive_high)):
            await asyncio.to_thread(move)
            await until(lambda kind=kind: kind in [heard for heard, _thread in told_in])  # type: ignore[misc] # bound now
        buttons.close()

    asyncio.run(main(), debug=True)  # then the loop refuses what is not safe from other threads
    assert {thread for _kind, thread in told_in} == {threading.current_thread()}


def test_tap_and_hold(pins: MockFactory) -> None:
    steps = ((END, True, 0.08), (END, False, 0.1), (WIN, True, 1.2), (WIN, False, 0.1))
    found = run(pins, lambda: play(pins, *steps))
    assert found == [(P, "end"), (R, "end"), (T, "end"), (P, "win"), (H, "win"), (R, "win")]


def test_bounce_at_any_phase_loses_and_doubles_nothing(pins: MockFactory) -> None:
    """300 presses, each with 20 ms of bounce when it closes and when it opens, of seeded phases."""
    chance = random.Random(5)  # phases
    taps = 300
    steps: list[Step] = []
    for _tap in range(taps):
        steps += [*bounce(END, True, chance), (END, True, 0.01), *bounce(END, False, chance), (END, False, 0.06)]
    assert run(pins, lambda: play(pins, *steps)) == [(P, "end"), (R, "end"), (T, "end")] * taps


def test_both_at_once(pins: MockFactory) -> None:
    steps = ((END, True, 0.02), (WIN, True, 1.4), (END, False, 0.06), (WIN, False, 0.06))
    found = run(pins, lambda: play(pins, *steps))
    assert found == [(P, "end"), (P, "win"), (B, "win"), (R, "end"), (R, "win")]


def test_both_at_once_with_bounce_at_any_phase(pins: MockFactory) -> None:
    chance = random.Random(6)  # phases
    times = 100
    steps: list[Step] = []
    for _time in range(times):
        for pin in (END, WIN):
            steps += bounce(pin, True, chance)
        steps.append((END, True, 0.3))
        for pin in (END, WIN):
            steps += bounce(pin, False, chance)
        steps.append((END, False, 0.2))
    found = run(pins, lambda: play(pins, *steps))
    assert found == [(P, "end"), (P, "win"), (B, "win"), (R, "end"), (R, "win")] * times


def test_a_stuck_button_does_not_stop_the_other(pins: MockFactory) -> None:
    found = run(pins, lambda: play(pins, (END, True, 30), (WIN, True, 0.06), (WIN, False, 0.1)))
    assert found == [(P, "end"), (H, "end"), (S, "end"), (P, "win"), (R, "win"), (T, "win")]


def test_a_button_that_is_down_at_the_start_was_not_pressed(pins: MockFactory) -> None:
    found: list[Press] = []

    async def main() -> None:
        pins.pin(END).drive_low()
        buttons = GpioButtons({"end": PinOptions(END, "none")}, found.append, pin_factory=pins)
        await asyncio.sleep(0.3)
        assert found == []
        pins.pin(END).drive_high()
        await until(lambda: [press.kind for press in found] == [R])
        buttons.close()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("options", "closed_level"),
    [
        (PinOptions(5, "up"), False),
        (PinOptions(5, "down"), True),
        (PinOptions(5, "none", closed_high=True), True),
        (PinOptions(5, "none"), False),
    ],
)
def test_a_button_may_be_wired_to_ground_or_to_power(
    pins: MockFactory, options: PinOptions, closed_level: bool
) -> None:
    found: list[Press] = []

    async def main() -> None:
        pins.pin(5)
        if options.pull == "none":
            (pins.pin(5).drive_low if closed_level else pins.pin(5).drive_high)()
        buttons = GpioButtons({"end": options}, found.append, pin_factory=pins)
        contact = pins.pin(5)
        (contact.drive_high if closed_level else contact.drive_low)()
        await until(lambda: [press.kind for press in found] == [P])
        buttons.close()

    asyncio.run(main())


def test_edges_after_the_loop_has_ended_hurt_nobody(pins: MockFactory) -> None:
    kept: list[GpioButtons] = []

    async def main() -> None:
        kept.append(GpioButtons({"end": PinOptions(END)}, lambda _press: None, pin_factory=pins))

    asyncio.run(main())
    pins.pin(END).drive_low()
    kept[0].close()


def test_an_edge_that_the_pin_library_lost_is_noticed(pins: MockFactory) -> None:
    async def act() -> None:
        await play(pins, (END, True, 0.5))
        pins.pin(END)._state = True  # opened, and nobody was told
        await asyncio.sleep(1)

    assert run(pins, act) == [(P, "end"), (R, "end"), (T, "end")]


def test_a_pin_used_twice_is_told_and_nothing_is_kept(pins: MockFactory) -> None:
    async def main() -> None:
        twice = {"end": PinOptions(END), "win": PinOptions(END)}
        with pytest.raises(DeviceError, match="pin 17 cannot be used"):
            GpioButtons(twice, lambda _press: None, pin_factory=pins)
        GpioButtons({"end": PinOptions(END)}, lambda _press: None, pin_factory=pins).close()

    asyncio.run(main())


def test_an_led_follows_its_pattern_and_is_off_at_the_end(pins: MockFactory) -> None:
    async def main() -> None:
        led = OutputPin(22, factory=pins)
        player = Player(led.set)
        player.play(Pattern((0.05, 0.05), times=2))
        await asyncio.sleep(0.3)
        states = [bool(event.state) for event in pins.pin(22).states]
        assert states[-4:] == [True, False, True, False]
        player.play(Pattern((60.0,), times=0))
        player.close()
        assert bool(pins.pin(22).state) is False
        led.close()

    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        runner.run(main())


def test_a_buzzer_that_is_on_at_low_is_off_at_first(pins: MockFactory) -> None:
    buzzer = OutputPin(23, active_low=True, factory=pins)
    assert bool(pins.pin(23).state) is True
    buzzer.set(True)
    assert bool(pins.pin(23).state) is False
    buzzer.close()


def test_the_pin_library_is_chosen_by_name() -> None:
    factory = pin_factory("mock")
    assert isinstance(factory, MockFactory)
    factory.close()
    with pytest.raises(ValueError, match="lgpio, rpigpio, pigpio, native, mock"):
        pin_factory("wiringpi")


@pytest.mark.skipif(Path("/dev/gpiochip0").exists(), reason="this machine has pins")
def test_without_pins_it_says_so_and_leaves_no_pipe_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LG_WD", raising=False)
    with pytest.raises(DeviceError, match=r"lgpio"):
        pin_factory("lgpio")
    assert not any(stat.S_ISFIFO(path.stat().st_mode) for path in tmp_path.iterdir())
    assert os.environ["LG_WD"]
