"""Buttons, LED and buzzer on gpiozero's pins, with its mock of them: real threads, real time."""

from __future__ import annotations

import asyncio
import os
import random
import stat
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from gpiozero.pins.mock import MockFactory

from display.backends.base import DeviceError
from display.buttons import GpioButtons, PinOptions
from display.pins import OutputPin, pin_factory
from display.presses import Kind, Press, PressTimes
from display.signals import Pattern, Player
from tests.node.loops import until

P, T, H, B, R, S = Kind.PRESSED, Kind.TAPPED, Kind.HELD, Kind.BOTH, Kind.RELEASED, Kind.STUCK
QUICK = PressTimes(hold_s=0.25, stuck_s=0.6)
END, WIN = 17, 27


class Finger:
    """Moves the contacts of two buttons to ground, in a thread of its own as the pin libraries do."""

    def __init__(self, pins: MockFactory) -> None:
        self._pins = pins

    async def do(self, *steps: tuple[int, bool, float]) -> None:
        """Pin, closed or open, and seconds until the next step."""
        await asyncio.to_thread(self._do, steps)

    def _do(self, steps: tuple[tuple[int, bool, float], ...]) -> None:
        for pin, closed, then_s in steps:
            contact = self._pins.pin(pin)
            (contact.drive_low if closed else contact.drive_high)()
            time.sleep(then_s)


Play = Callable[[Finger], Awaitable[None]]


def run(pins: MockFactory, play: Play, times: PressTimes = QUICK) -> list[tuple[Kind, str]]:
    """What two buttons say while `play` moves their contacts; no thread is left."""
    found: list[Press] = []
    loop_thread = threading.current_thread()

    def heard(press: Press) -> None:
        assert threading.current_thread() is loop_thread
        found.append(press)

    async def main() -> None:
        buttons = GpioButtons({"end": PinOptions(END), "win": PinOptions(WIN)}, heard, times, pin_factory=pins)
        await play(Finger(pins))
        await asyncio.sleep(0.1)
        buttons.close()

    asyncio.run(main())
    return [(press.kind, press.button) for press in found]


def bounce(pin: int, ends_closed: bool, chance: random.Random, lasts_s: float = 0.02) -> list[tuple[int, bool, float]]:
    """A contact that opens and closes for so long before it stays."""
    times = sorted(chance.uniform(0, lasts_s) for _ in range(2 * chance.randint(1, 8)))
    waits_s = [later - earlier for earlier, later in zip([0.0, *times], [*times, lasts_s], strict=True)]
    return [(pin, ends_closed == (step % 2 == 0), wait_s) for step, wait_s in enumerate(waits_s)]


def test_a_press_is_told_while_the_contact_is_closed(pins: MockFactory) -> None:
    async def play(finger: Finger) -> None:
        await finger.do((END, True, 0.08))

    assert run(pins, play) == [(P, "end")]


def test_tap_and_hold(pins: MockFactory) -> None:
    async def play(finger: Finger) -> None:
        await finger.do((END, True, 0.08), (END, False, 0.1), (WIN, True, 0.4), (WIN, False, 0.1))

    assert run(pins, play) == [(P, "end"), (R, "end"), (T, "end"), (P, "win"), (H, "win"), (R, "win")]


def test_bounce_at_any_phase_loses_and_doubles_nothing(pins: MockFactory) -> None:
    """30 presses, each with 20 ms of bounce when it closes and when it opens, of seeded phases."""
    chance = random.Random(5)  # phases
    taps = 30

    async def play(finger: Finger) -> None:
        for _tap in range(taps):
            await finger.do(*bounce(END, True, chance), (END, True, 0.01))
            await finger.do(*bounce(END, False, chance), (END, False, 0.06))

    # a machine that stalls for longer than the bounce makes real pauses of it; a hold needs a stall of a quarter second
    assert run(pins, play) == [(P, "end"), (R, "end"), (T, "end")] * taps


def test_both_at_once(pins: MockFactory) -> None:
    async def play(finger: Finger) -> None:
        await finger.do((END, True, 0.02), (WIN, True, 0.4), (END, False, 0.06), (WIN, False, 0.06))

    assert run(pins, play) == [(P, "end"), (P, "win"), (B, "win"), (R, "end"), (R, "win")]


def test_a_stuck_button_does_not_stop_the_other(pins: MockFactory) -> None:
    async def play(finger: Finger) -> None:
        await finger.do((END, True, 0.75), (WIN, True, 0.06), (WIN, False, 0.1))

    assert run(pins, play) == [(P, "end"), (H, "end"), (S, "end"), (P, "win"), (R, "win"), (T, "win")]


def test_a_button_that_is_down_at_the_start_was_not_pressed(pins: MockFactory) -> None:
    found: list[Press] = []

    async def main() -> None:
        pins.pin(END).drive_low()
        buttons = GpioButtons({"end": PinOptions(END, "none")}, found.append, QUICK, pin_factory=pins)
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
        buttons = GpioButtons({"end": options}, found.append, QUICK, pin_factory=pins)
        contact = pins.pin(5)
        (contact.drive_high if closed_level else contact.drive_low)()
        await until(lambda: [press.kind for press in found] == [P])
        buttons.close()

    asyncio.run(main())


def test_edges_after_the_loop_has_ended_hurt_nobody(pins: MockFactory) -> None:
    kept: list[GpioButtons] = []

    async def main() -> None:
        kept.append(GpioButtons({"end": PinOptions(END)}, lambda _press: None, QUICK, pin_factory=pins))

    asyncio.run(main())
    pins.pin(END).drive_low()
    kept[0].close()


def test_an_edge_that_the_pin_library_lost_is_noticed(pins: MockFactory) -> None:
    async def play(finger: Finger) -> None:
        await finger.do((END, True, 0.05))
        contact = pins.pin(END)
        contact._state = True  # opened, and nobody was told
        await asyncio.sleep(0.4)

    assert run(pins, play) == [(P, "end"), (R, "end"), (T, "end")]


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
        player.close()
        led.close()
        assert states[-4:] == [True, False, True, False]

    asyncio.run(main())


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
