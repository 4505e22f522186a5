"""Brokers for the tests. Where no mosquitto is installed, what needs one is skipped with a reason."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.mqtt.mosquitto import Mosquitto, why_not


@pytest.fixture(scope="session")
def installed() -> None:
    reason = why_not()
    if reason is not None:
        pytest.skip(reason)


@pytest.fixture(scope="module")
def mosquitto(installed: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mosquitto]:
    """A broker for everybody, the same for all tests of a module: what is retained stays."""
    with Mosquitto(tmp_path_factory.mktemp("mosquitto")) as broker:
        yield broker


@pytest.fixture
def own_mosquitto(installed: None, tmp_path: Path) -> Iterator[Callable[..., Mosquitto]]:
    """Starts a broker for one test, with the options of `Mosquitto`."""
    with contextlib.ExitStack() as stack:

        def started(**options: object) -> Mosquitto:
            folder = tmp_path / f"mosquitto-{len(list(tmp_path.glob('mosquitto-*')))}"
            return stack.enter_context(Mosquitto(folder, **options))  # type: ignore[arg-type]  # those of Mosquitto

        yield started
