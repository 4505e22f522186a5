"""The JSON schemas of docs/mqtt.md, as whoever builds on them reads them there."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any, Final

from jsonschema import Draft202012Validator

PAGE: Final = Path(__file__).parents[2] / "docs" / "mqtt.md"


@functools.cache
def schemas() -> dict[str, Any]:
    """By the level of the topic below the table, such as `state`."""
    found = {}
    for section in PAGE.read_text(encoding="utf-8").split("\n### ")[1:]:
        before, fence, after = section.partition("```json\n")
        if fence:
            found[before.split()[0]] = json.loads(after.partition("\n```")[0])
    for schema in found.values():
        assert schema["$schema"] == Draft202012Validator.META_SCHEMA["$schema"]
        Draft202012Validator.check_schema(schema)
    return found


@functools.cache
def validator(kind: str) -> Draft202012Validator:
    """Of one kind of message. Its `validate` raises `jsonschema.ValidationError`."""
    return Draft202012Validator(schemas()[kind])


def check(rest: str, payload: bytes) -> None:
    """Fails if what was published on PREFIX/TABLE/`rest` is not what docs/mqtt.md says. Empty payloads remove."""
    kind = rest.partition("/")[0]
    if rest == "publisher/ask" or not payload:
        return
    if kind == "availability":
        assert payload in (b"online", b"offline"), payload
    else:
        validator(kind).validate(json.loads(payload))
