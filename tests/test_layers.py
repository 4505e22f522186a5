"""The direction of imports: docs/architecture.md, "Folders"."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("engine", "protocol", "display", "node")
MAY_IMPORT = {
    "engine": {"engine"},
    "protocol": {"protocol", "engine"},
    "display": {"display", "engine.views", "engine.rulesets", "engine.scoring"},
    "node": {"node", "protocol", "engine", "display"},
}
OUTSIDE_WORLD = {
    "asyncio",
    "socket",
    "threading",
    "time",
    "datetime",
    "random",
    "secrets",
    "os",
    "pathlib",
    "logging",
    "sqlite3",
    "subprocess",
}
MAY_TOUCH_THE_WORLD = {"display", "node"}
CLOCK_READERS = {"time", "secrets", "datetime"}


def imports_of(path: Path) -> set[str]:
    """The full names of all modules that a file imports, also inside functions."""
    found: set[str] = set()
    for item in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(item, ast.Import):
            found.update(alias.name for alias in item.names)
        elif isinstance(item, ast.ImportFrom):
            assert item.level == 0, f"{path}: relative import"
            assert item.module is not None
            found.add(item.module)
    return found


def files_of(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_go_one_way(package: str) -> None:
    allowed = MAY_IMPORT[package]
    for path in files_of(package):
        for name in imports_of(path):
            if name.split(".")[0] not in PACKAGES:
                continue
            fits = any(name == prefix or name.startswith(prefix + ".") for prefix in allowed)
            assert fits, f"{path.relative_to(ROOT)} imports {name}"


@pytest.mark.parametrize("package", [name for name in PACKAGES if name not in MAY_TOUCH_THE_WORLD])
def test_engine_and_protocol_do_no_io(package: str) -> None:
    assert files_of(package)
    for path in files_of(package):
        touched = {name.split(".")[0] for name in imports_of(path)} & OUTSIDE_WORLD
        assert not touched, f"{path.relative_to(ROOT)} imports {touched}"


def test_only_clock_reads_the_clock_and_the_system_s_randomness() -> None:
    for path in files_of("node"):
        if path.name != "clock.py":
            touched = {name.split(".")[0] for name in imports_of(path)} & CLOCK_READERS
            assert not touched, f"{path.relative_to(ROOT)} imports {touched}, use node.clock"


def test_package_docstrings_stand_alone() -> None:
    """Or with names that a package lifts from its own files."""
    for package in PACKAGES:
        for path in files_of(package):
            if path.name == "__init__.py":
                tree = ast.parse(path.read_text(encoding="utf-8"))
                assert ast.get_docstring(tree), f"{path.relative_to(ROOT)} says nothing"
                own = ".".join(path.parent.relative_to(ROOT).parts) + "."
                rest = [item for item in tree.body[1:] if not isinstance(item, ast.ImportFrom)]
                assert not rest, f"{path.relative_to(ROOT)} holds more than its docstring"
                assert all(name.startswith(own) for name in imports_of(path)), (
                    f"{path.relative_to(ROOT)} imports others"
                )
