"""The file of the finished games, so that a restart of the page loses nothing."""

from __future__ import annotations

import dataclasses
import json
import logging
from pathlib import Path
from typing import Final

from node.files import put_aside
from node.mqtt.party.standings import ResultBook, from_plain

VERSION: Final = 1
FILE_NAME: Final = "party.json"

_log = logging.getLogger(__name__)


def read(path: Path) -> ResultBook:
    """The games in the file, none if there is no file; one that cannot be read is put aside. Raises `OSError`."""
    book = ResultBook()
    try:
        plain = json.loads(path.read_bytes())
        if plain["version"] != VERSION:
            raise ValueError(f"it is of version {plain['version']}, and this program knows {VERSION}")
        for series in plain["tables"]:
            book.add(from_plain(series))
    except FileNotFoundError:
        return ResultBook()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        _log.error("%s cannot be read, %s: kept as %s; the standings begin anew", path, error, put_aside(path))
        return ResultBook()
    return book


def text_of(book: ResultBook) -> str:
    """What the file holds."""
    plain = {"version": VERSION, "tables": [dataclasses.asdict(series) for series in book.series.values()]}
    return json.dumps(plain, ensure_ascii=False)
