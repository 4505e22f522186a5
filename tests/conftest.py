"""With `RUMMESH_ALL_TESTS=1` (CI) nothing may be skipped: what the tests need is installed, so a skip is a fault."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("rummesh", deadline=None, suppress_health_check=[HealthCheck.too_slow])  # on a busy machine
settings.load_profile("rummesh")

OF_THE_KERNEL = "this kernel has no"  # in the reason of a skip: nothing that is installed helps
LONGEST = ("test_hostile.py", "test_partition.py", "test_requests.py", "test_audit.py")  # first: nobody waits for them
_skipped: list[str] = []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.name not in LONGEST)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail") and OF_THE_KERNEL not in str(report.longrepr):
        _skipped.append(report.nodeid)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if os.environ.get("RUMMESH_ALL_TESTS") == "1" and _skipped and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if os.environ.get("RUMMESH_ALL_TESTS") == "1" and _skipped:
        terminalreporter.write_line(f"RUMMESH_ALL_TESTS is set, and {len(_skipped)} tests were skipped", red=True)
