from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from node.__main__ import main
from node.commands import run_bot, run_display, run_play
from node.tabletimer import TableTimer

ROOT = Path(__file__).parents[2]
UNITS = sorted((ROOT / "systemd").glob("*.service"))
LENT = ("pip", "hatchling", "packaging", "pathspec", "pluggy", "trove_classifiers")
LARGEST_EXPOSURE = 20  # tenths
SERVICES = ("rummesh-display.service", "rummesh-node.service", "rummesh-node@.service", "rummesh-timer.service")
SAMPLES = ("display.toml", "rummesh-node.env", "timer.toml")
CONFIG = Path("etc/rummesh")
SYSTEMD_S_OWN = Path("/usr/lib/systemd/system")

needs_systemd_analyze = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is missing: apt-get install systemd"
)
needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is missing: apt-get install make")


def analyze(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["systemd-analyze", "--no-pager", *arguments], capture_output=True, text=True, timeout=30, check=False
    )


@needs_systemd_analyze
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_the_exposure_of_each_unit_is_small(unit: Path) -> None:
    result = analyze("security", "--offline=true", f"--threshold={LARGEST_EXPOSURE}", str(unit))
    assert result.returncode == 0, result.stdout + result.stderr
    exposure = re.search(r"Overall exposure level for \S+: ([\d.]+)", result.stdout)
    assert exposure is not None
    assert float(exposure[1]) <= LARGEST_EXPOSURE / 10


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_each_unit_has_only_the_devices_and_networks_that_it_needs(unit: Path) -> None:
    text = unit.read_text(encoding="utf-8")
    devices = re.findall(r"^DeviceAllow=(\S+)", text, re.M)
    families = re.findall(r"^RestrictAddressFamilies=(.*)$", text, re.M)
    has_panel, has_network = "node" not in unit.name, "timer" not in unit.name
    assert devices == (["/dev/i2c-1", "/dev/spidev0.0", "char-gpiochip"] if has_panel else [])
    assert "DevicePolicy=closed" in text
    assert ("PrivateNetwork=yes" in text) is not has_network
    assert families == ["AF_UNIX AF_INET AF_INET6 AF_NETLINK" if has_network else "AF_UNIX"]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_each_unit_waits_for_its_program_and_starts_it_anew(unit: Path) -> None:
    text = unit.read_text(encoding="utf-8")
    for line in ("Type=notify", "WatchdogSec=30", "Restart=on-failure", "DynamicUser=yes"):
        assert line in text.splitlines()
    for works in (run_bot, run_display, run_play, TableTimer.run):
        assert "notify" in works.__code__.co_names  # or systemd would wait for ever


@pytest.fixture
def make(tmp_path: Path) -> Callable[[str], None]:
    """Runs a target of the Makefile on the root `root`, with no network: what it would fetch is lent from here."""
    lent = tmp_path / "lent"
    lent.mkdir()
    for name in LENT:
        (lent / name).symlink_to(Path(sysconfig.get_path("purelib"), name))
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "PIP_", "PYTHON"))}
    environment |= {
        "PYTHONPATH": str(lent),
        "PIP_NO_INDEX": "1",
        "PIP_NO_DEPS": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # which means: without
        "PIP_NO_COMPILE": "1",
    }

    def run(target: str) -> None:
        command = ["make", target, f"DESTDIR={tmp_path / 'root'}", f"PYTHON={sys.executable}", "PI_VENV=--without-pip"]
        result = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=100, check=False
        )
        assert result.returncode == 0, result.stdout + result.stderr

    return run


def installed(root: Path) -> list[str]:
    """All files but those of the program's environment."""
    return sorted(
        str(path.relative_to(root))
        for path in root.rglob("*")
        if path.is_file() and not path.is_relative_to(root / "opt" / "rummesh")
    )


@needs_make
@needs_systemd_analyze
def test_pi_install_may_be_repeated_and_pi_uninstall_leaves_the_settings(
    tmp_path: Path, make: Callable[[str], None]
) -> None:
    root = tmp_path / "root"
    program = root / "opt" / "rummesh"
    make("pi-install")
    units = [f"etc/systemd/system/{name}" for name in SERVICES]
    files = sorted([*units, *(str(CONFIG / name) for name in SAMPLES)])
    assert installed(root) == files
    assert (program / "bin" / "rummesh").read_text(encoding="utf-8").startswith("#!/opt/rummesh/bin/python")
    shutil.copytree(SYSTEMD_S_OWN, root / "usr/lib/systemd/system", symlinks=True)
    verdict = analyze("verify", f"--root={root}", *SERVICES[:2], "rummesh-node@kitchen.service", SERVICES[3])
    shutil.rmtree(root / "usr")
    assert (verdict.returncode, verdict.stderr) == (0, "")

    (root / CONFIG / "timer.toml").write_text('names = ["Åse", "José"]\n', encoding="utf-8")
    (program / "lib" / "stale").write_text("")
    make("pi-install")
    assert installed(root) == files
    assert "José" in (root / CONFIG / "timer.toml").read_text(encoding="utf-8")
    where = subprocess.run(
        [program / "bin" / "python", "-c", "import display.timerstate, node; print(node.__file__)"],
        capture_output=True,
        text=True,
        cwd=root,
        timeout=60,
        check=False,
    )
    assert where.stderr == ""
    assert Path(where.stdout.strip()).is_relative_to(program)

    make("pi-uninstall")
    assert installed(root) == sorted(str(CONFIG / name) for name in SAMPLES)
    assert not program.exists()
    make("pi-uninstall")


@pytest.mark.parametrize(
    ("arguments", "runs"),
    [
        (["timer", "--config", "systemd/timer.toml", "--file", "timer.json"], "node.tabletimer.run_timer"),
        (["display", "--config", "systemd/display.toml"], "node.__main__.run_display"),
        (["of", "rummesh-node.env"], "node.__main__.run_bot"),
    ],
    ids=["timer", "display", "node"],
)
def test_the_sample_settings_are_what_the_commands_take(
    arguments: list[str], runs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    async def run(options: object) -> None:
        asked.append(options)

    monkeypatch.setattr(runs, run)
    monkeypatch.chdir(ROOT)
    if arguments[0] == "of":
        [line] = re.findall(r"^RUMMESH=(.*)$", (ROOT / "systemd" / arguments[1]).read_text(encoding="utf-8"), re.M)
        arguments = line.split()
    result = CliRunner().invoke(main, arguments)
    assert (result.exit_code, len(asked)) == (0, 1), result.output
