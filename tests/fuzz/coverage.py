"""`python -m tests.fuzz.coverage`: atheris searches for bytes that `decode` answers with anything but its one error.

Needs `pip install atheris`. Options are libFuzzer's, such as `-runs=1000000`, and folders with inputs to begin with;
without a folder it begins with encoded values of every kind. The first byte of an input says as what the rest is read.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any


def search() -> None:
    """Search until libFuzzer ends the process."""
    try:
        atheris: Any = importlib.import_module("atheris")
    except ImportError:
        sys.exit("Atheris is missing. Install it with: .venv/bin/pip install atheris")
    with atheris.instrument_imports(include=["protocol"]):
        targets = importlib.import_module("tests.fuzz.targets")
    types = [as_type for _name, as_type in sorted(targets.TYPES.items())]

    def one(data: bytes) -> None:
        if data:
            targets.decoded(types[data[0] % len(types)], data[1:])

    atheris.Setup(sys.argv, one)
    atheris.Fuzz()


def search_from_samples() -> int:
    """The same, in another process, from a folder of samples that is gone afterwards."""
    from tests.fuzz.corpus import encoded
    from tests.fuzz.targets import TYPES

    with tempfile.TemporaryDirectory() as folder:
        for place, name in enumerate(sorted(TYPES)):
            for number, data in enumerate(encoded()[name][:5]):
                (Path(folder) / f"{name}-{number}").write_bytes(bytes([place]) + data)
        return subprocess.run(
            [sys.executable, "-m", "tests.fuzz.coverage", *sys.argv[1:], folder], check=False
        ).returncode


if __name__ == "__main__":
    if any(not argument.startswith("-") for argument in sys.argv[1:]):
        search()
    else:
        sys.exit(search_from_samples())
