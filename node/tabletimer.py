"""The stand-alone timer at work: its device, its clock, its file. Needs what the extra `display` brings."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from display.device import Device
from display.options import DeviceOptions
from display.presses import Press
from display.timer import Refused, Timer
from display.timerstate import Phase, Record, Setup
from display.timerwords import TIMER_WORDS
from display.views import ErrorView, RefusalView, TurnView
from node import notify
from node.clock import monotonic_s
from node.commands import until_stopped
from node.config import ConfigError
from node.files import put_aside, take_lock
from node.tasks import end
from node.timerfile import StoredError, read, standings_of, write

_log = logging.getLogger(__name__)
SAVE_EVERY_S: Final = 5.0  # while a clock runs: a power cut gives the player back no more than this
_REFUSAL_S: Final = 1.5
_ERROR_S: Final = 4.0


@dataclass(frozen=True, slots=True)
class TimerOptions:
    """What `rummesh timer` was asked for."""

    setup: Setup
    device: DeviceOptions
    file: Path


class TableTimer:
    """A timer with its device and its file. What a press has changed is on the disk before it is shown."""

    def __init__(self, options: TimerOptions, stop: Callable[[], None]) -> None:
        """Takes up the game in the file if it is of the same players and rules, else puts the file aside.

        Raises `ConfigError` for a script that cannot be played, `OSError`.
        """
        self._options = options
        self._stop = stop
        self._words = TIMER_WORDS[options.device.language]
        setup = options.setup
        record = taken_up(options.file, setup)
        self._timer = Timer(setup, standings_of(setup), monotonic_s(), record, self._words)
        try:
            self._device = Device(
                options.device, self._timer.view, self._on_press, on_key=self._on_key, clock=monotonic_s
            )
        except ValueError as error:
            raise ConfigError(f"{options.device.script}: {error}.") from error
        self._woken = asyncio.Event()
        self._saved_s = 0.0
        self._trouble = ""

    async def run(self) -> None:
        """Until it is cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._device.run())
            await asyncio.sleep(0)  # the device opens
            self._save()
            try:
                async with notify.service(self._status()):
                    await self._attend()
            finally:
                self._save()

    async def _attend(self) -> None:
        """Wakes the device when the time does something, and saves the clock now and then."""
        while True:
            self._woken.clear()
            now_s = monotonic_s()
            position = self._timer.record(now_s).position
            waits_s = []
            change_s = self._timer.next_change_s(now_s)
            if change_s is not None:
                waits_s.append(change_s - now_s + 0.005)
            if position.phase is Phase.TURN:
                waits_s.append(max(0.0, self._saved_s + SAVE_EVERY_S - now_s))
            try:
                async with asyncio.timeout(min(waits_s, default=None)):
                    await self._woken.wait()
            except TimeoutError:
                if change_s is None or monotonic_s() < change_s:
                    self._save()
                else:
                    self._happened()

    def _happened(self) -> None:
        self._save()
        self._device.changed()
        notify.status(self._status())
        self._woken.set()

    def _on_press(self, press: Press) -> None:
        self._do(lambda now_s: self._timer.press(press, now_s))

    def _on_key(self, key: str) -> None:
        if key == "q":
            self._stop()
        else:
            self._do(lambda now_s: self._timer.key(key, now_s))

    def _do(self, change: Callable[[float], bool]) -> None:
        try:
            changed = change(monotonic_s())
        except Refused as refused:
            self._device.flash(RefusalView(str(refused)), _REFUSAL_S)
            return
        if changed:
            self._happened()

    def _save(self) -> None:
        """The game goes on if it cannot be saved, but the players are told."""
        self._saved_s = monotonic_s()
        try:
            write(self._options.file, self._options.setup, self._timer.record(self._saved_s))
        except OSError as error:
            told = self._words.not_saved.format(error.strerror)
            self._device.flash(ErrorView(told), _ERROR_S)
            if told != self._trouble:
                _log.warning("%s: %s", self._options.file, told)
            self._trouble = told
        else:
            self._trouble = ""

    def _status(self) -> str:
        now_s = monotonic_s()
        view = self._timer.view(now_s)
        phase = self._timer.record(now_s).position.phase.value
        return f"{phase}: {view.name}" if isinstance(view, TurnView) else phase


def taken_up(path: Path, setup: Setup) -> Record | None:
    """The game of this setup that the file holds. Any other game, and what is no game, is put aside."""
    try:
        stored = read(path)
    except StoredError as error:
        _log.warning("%s cannot be read, %s: kept as %s", path, error, put_aside(path))
        return None
    if stored is None:
        return None
    if not stored.fits(setup):
        _log.warning("%s held a game of others or by other rules: kept as %s", path, put_aside(path))
        return None
    return stored.record


async def run_timer(options: TimerOptions) -> None:
    """The timer until Ctrl-C, SIGTERM or the key q. Raises `ConfigError` if another one has the file, `OSError`."""
    try:
        lock = take_lock(options.file.with_name(options.file.name + ".lock"))
    except BlockingIOError:
        raise ConfigError(f"Another timer is using {options.file}: give this one a file of its own.") from None
    try:
        async with until_stopped() as stopped:
            running = asyncio.create_task(TableTimer(options, stopped.set).run())
            ended = asyncio.create_task(stopped.wait())
            await asyncio.wait((running, ended), return_when=asyncio.FIRST_COMPLETED)
            await end((running, ended))
            if not running.cancelled():
                running.result()
    finally:
        os.close(lock)
