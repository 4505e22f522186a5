"""Comparison of a screen with its stored picture, with a failure that can be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image, ImageChops, features

from display.backends.terminal import braille
from display.gallery import ENLARGED

STORED = Path(__file__).parents[2] / "docs" / "img" / "oled"
AGAIN = "if the new one is right: python -m display.gallery docs/img/oled"


def reduced(picture: Image.Image) -> Image.Image:
    """The panel's own pixels of an enlarged picture."""
    size = (picture.width // ENLARGED, picture.height // ENLARGED)
    return picture.convert("L").resize(size, Image.Resampling.NEAREST)


def as_text(title: str, picture: Image.Image) -> str:
    return "\n".join([f"{title}:", *braille(picture)])


def compare(name: str, picture: Image.Image, folder: Path, stored: Path = STORED) -> None:
    """Fails unless `picture` is the stored one, pixel by pixel; shows both and leaves files in `folder`."""
    path = stored / name
    got = reduced(picture)
    expected = reduced(Image.open(path)) if path.exists() else Image.new("L", got.size)
    if expected.size == got.size and expected.tobytes() == got.tobytes():
        return
    change = ImageChops.difference(expected.resize(got.size), got)
    for part, image in (("expected", expected), ("got", got), ("change", change)):
        image.save(folder / f"{part}-{name}")
    parts = [
        as_text("expected", expected),
        as_text("got", got),
        as_text("changed", change.point(lambda level: 255 * (level > 0))),
    ]
    changed = sum(level > 0 for level in change.tobytes())
    told = f"{name}: {changed} pixels differ (FreeType {features.version('freetype2')}), see {folder}; {AGAIN}"
    pytest.fail("\n".join([told, *parts]), pytrace=False)
