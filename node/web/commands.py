"""What a page may say to its node, checked field by field: `parse_command`.

A page is the player's own, but its text still comes in over a socket. Whoever implements `Desk` can rely on the
types, ranges and lengths checked here, and on nothing more: ids may name nothing, and a draft may be nonsense.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn

MAX_NAME_CHARS: Final = 64
MAX_ADDRESS_CHARS: Final = 300
MAX_MELDS: Final = 120
MAX_TILES: Final = 120
MAX_TILE_ID: Final = 999
MAX_OPTIONS: Final = 40
MAX_SEATS: Final = 6
MAX_OPTION_CHARS: Final = 40
MAX_EXCHANGES: Final = 8
_MAX_INT: Final = 2**53 - 1  # the largest whole number a page can hold exactly
_HEX: Final = re.compile(r"[0-9a-f]{1,128}")
_WORD: Final = re.compile(r"[a-z0-9_-]{1,32}")


class PageRefusal(Exception):  # noqa: N818 - the word of the page: the command is refused, nothing is broken
    """The node does not do what the page asked. `code` is stable, `sentence` is for the person at the page.

    `fields`: the sentence for each field of a form that is wrong by itself.
    """

    def __init__(self, code: str, sentence: str, fields: Mapping[str, str] | None = None) -> None:
        super().__init__(f"{code}: {sentence}")
        self.code = code
        self.sentence = sentence
        self.fields = dict(fields or {})


def parse_command(text: str) -> dict[str, Any]:
    """The command in `text`: `type` and only fields that this type has, each of its type and within limits.

    `turn_seconds`, `options`, `exchanges` and `anyway` may be missing or null.
    Raises `PageRefusal` with code `BAD-MESSAGE` for anything else; it names the field.
    """
    try:
        message = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise PageRefusal("BAD-MESSAGE", "The page sent something that is not JSON.") from None
    if not isinstance(message, dict):
        raise PageRefusal("BAD-MESSAGE", "The page sent something that is not a command.")
    fields = COMMANDS.get(kind) if isinstance(kind := message.get("type"), str) else None
    if fields is None:
        raise PageRefusal("BAD-MESSAGE", "The page sent a command that this program does not know.")
    for field in sorted(message.keys() - fields.keys() - {"type"}):
        raise PageRefusal("BAD-MESSAGE", f"The command {kind} has no field {field[:40]!r}.")
    for field, holds in fields.items():
        if not holds(message.get(field)):
            raise PageRefusal("BAD-MESSAGE", f"The command {kind} came without a usable {field}.")
    return message


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _is_int(value: Any, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _is_text(most_chars: int) -> Callable[[Any], bool]:
    # A lone surrogate is legal in JSON but cannot be written as UTF-8: it must not get any further.
    def holds(value: Any) -> bool:
        return isinstance(value, str) and 0 < len(value) <= most_chars and not re.search("[\ud800-\udfff]", value)

    return holds


def _is_hex(value: Any) -> bool:
    return isinstance(value, str) and _HEX.fullmatch(value) is not None


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and _WORD.fullmatch(value) is not None


def _is_turn_seconds(value: Any) -> bool:
    return value is None or _is_int(value, -_MAX_INT, _MAX_INT)  # the engine has a sentence for what does not fit


def _is_draft_no(value: Any) -> bool:
    return _is_int(value, 0, _MAX_INT)


def _is_draft_meld(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() <= {"tiles", "kind"}
        and value.get("kind") in (None, "group", "run")
        and isinstance(tiles := value.get("tiles"), list)
        and 0 < len(tiles) <= MAX_TILES
        and all(_is_int(tile, 0, MAX_TILE_ID) for tile in tiles)
    )


def _are_melds(value: Any) -> bool:
    if not isinstance(value, list) or len(value) > MAX_MELDS or not all(map(_is_draft_meld, value)):
        return False
    tiles = [tile for meld in value for tile in meld["tiles"]]
    return len(tiles) <= MAX_TILES and len(set(tiles)) == len(tiles)


def _are_exchanges(value: Any) -> bool:
    if value is None:
        return True
    return isinstance(value, list) and len(value) <= MAX_EXCHANGES and all(map(_is_exchange, value))


def _is_exchange(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == {"meld", "position", "tile"}
        and _is_int(value["meld"], 0, MAX_MELDS)
        and _is_int(value["position"], 0, MAX_TILES)
        and _is_int(value["tile"], 0, MAX_TILE_ID)
    )


def _are_seats(value: Any) -> bool:
    return (
        isinstance(value, list) and 0 < len(value) <= MAX_SEATS and all(_is_int(seat, 0, MAX_SEATS) for seat in value)
    )


def _are_options(value: Any) -> bool:
    """House rules by name; whether they exist and fit is the engine's business."""
    if value is None:
        return True
    return isinstance(value, dict) and len(value) <= MAX_OPTIONS and all(map(_is_option, value.keys(), value.values()))


def _is_option(name: str, value: Any) -> bool:
    return _is_word(name) and (
        isinstance(value, bool) or _is_int(value, -_MAX_INT, _MAX_INT) or _is_text(MAX_OPTION_CHARS)(value)
    )


COMMANDS: Final[Mapping[str, Mapping[str, Callable[[Any], bool]]]] = {
    "open_table": {
        "name": _is_text(MAX_NAME_CHARS),
        "rules": _is_word,
        "turn_seconds": _is_turn_seconds,
        "options": _are_options,
    },
    "join": {"table": _is_hex},
    "leave": {},
    "ready": {"ready": lambda value: isinstance(value, bool)},
    "start": {},
    "refuse_device": {"device": _is_hex, "refused": lambda value: isinstance(value, bool)},
    "add_bot": {},
    "add_peer": {"address": _is_text(MAX_ADDRESS_CHARS)},
    "rename": {"name": _is_text(MAX_NAME_CHARS)},
    "draft": {"draft_no": _is_draft_no, "melds": _are_melds, "exchanges": _are_exchanges},
    "hint": {},
    "end_turn": {"anyway": lambda value: value is None or isinstance(value, bool)},
    "draw": {},
    "pass": {},
    "rummikub": {},
    "take_discard": {},
    "lay": {},
    "discard": {"tile": lambda value: _is_int(value, 0, MAX_TILE_ID)},
    "next_game": {},
    "pause": {},
    "long_pause": {},
    "resume": {},
    "extend": {},
    "take_back": {},
    "go_on_without": {"seats": _are_seats},
    "keep_waiting": {},
    "close_game": {},
    "new_lobby": {},
}
