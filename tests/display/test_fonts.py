from __future__ import annotations

import pytest

from display.fonts import face, has_glyph, printable

# of English, Spanish, Finnish, Norwegian (bokmål) and Portuguese, each with its capitals
LETTERS = {
    "en": "abcdefghijklmnopqrstuvwxyz",
    "es": "áéíóúüñ",
    "fi": "åäöšž",
    "nb": "æøåéèêóòâôü",
    "pt": "áâãàçéêíóôõúü",
}


@pytest.mark.parametrize("language", LETTERS)
def test_all_letters_of_a_language_can_be_shown(language: str) -> None:
    letters = LETTERS[language] + LETTERS[language].upper()
    assert [letter for letter in letters if not has_glyph(letter)] == []


def test_signs_that_screens_use_can_be_shown() -> None:
    assert [sign for sign in "0123456789+\u2212…:;.,!?¡¿'\u203a-()%" if not has_glyph(sign)] == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Zoë", "Zoë"),
        ("Zoe\u0308", "Zoë"),  # composed
        ("Ana\n\tMaria ", "Ana Maria"),
        ("a\u202ebc\x07d", "abcd"),  # no direction marks, no control characters
        ("李 Wei", "? Wei"),
        ("Ⓐna", "Ana"),
        ("\U0001f600", "?"),
    ],
)
def test_a_name_is_shown_as_well_as_can_be(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_letters_of_a_black_and_white_panel_are_measured_as_they_are_drawn() -> None:
    """They are fitted to whole pixels, and so wider or narrower than those of a grey one."""
    widths = {mode: [face(size, mode).width("José draws 3") for size in range(10, 20)] for mode in ("1", "L")}
    assert widths["1"] != widths["L"]
