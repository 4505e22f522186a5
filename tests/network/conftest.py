"""Marks everything in this folder as `network`, and skips it with a reason where no lab can be made."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.network.lab import why_not

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    ours = [item for item in items if HERE in item.path.parents]
    reason = why_not() if ours else None
    for item in ours:
        item.add_marker("network")
        if reason is not None:
            item.add_marker(pytest.mark.skip(reason=reason))
