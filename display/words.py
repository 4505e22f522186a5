"""What the screens say, in the five languages of the rulebook. `{}` is a name or a number."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one language."""

    time_up: str
    bank: str
    paused: str
    paused_by: str
    waiting: str
    refused: str
    error: str
    wins: str
    draw_game: str
    after_game: str
    after_games: str
    series_won: str
    draws: str
    next_player: str


ENGLISH: Final = Words(
    time_up="Time!",
    bank="extra",
    paused="Paused",
    paused_by="by {}",
    waiting="Waiting for",
    refused="Not now",
    error="Error",
    wins="{} wins",
    draw_game="Nobody wins",
    after_game="After {} game",
    after_games="After {} games",
    series_won="{} wins!",
    draws="draws {}",
    next_player="next: {}",
)
SPANISH: Final = Words(
    time_up="¡Tiempo!",
    bank="extra",
    paused="Pausa",
    paused_by="de {}",
    waiting="Esperamos a",
    refused="Ahora no",
    error="Error",
    wins="Gana {}",
    draw_game="Nadie gana",
    after_game="Tras {} partida",
    after_games="Tras {} partidas",
    series_won="¡Gana {}!",
    draws="roba {}",
    next_player="sigue: {}",
)
FINNISH: Final = Words(
    time_up="Aika!",
    bank="lisäaika",
    paused="Tauko",
    paused_by="pyysi {}",
    waiting="Odotetaan:",
    refused="Ei nyt",
    error="Virhe",
    wins="Voittaja {}",
    draw_game="Ei voittajaa",
    after_game="{} pelin jälkeen",
    after_games="{} pelin jälkeen",
    series_won="Voittaja {}!",
    draws="nostaa {}",
    next_player="seuraava: {}",
)
NORWEGIAN: Final = Words(
    time_up="Tid!",
    bank="ekstra",
    paused="Pause",
    paused_by="av {}",
    waiting="Venter på",
    refused="Ikke nå",
    error="Feil",
    wins="{} vinner",
    draw_game="Ingen vinner",
    after_game="Etter {} spill",
    after_games="Etter {} spill",
    series_won="{} vinner!",
    draws="trekker {}",
    next_player="neste: {}",
)
PORTUGUESE: Final = Words(
    time_up="Tempo!",
    bank="extra",
    paused="Pausa",
    paused_by="de {}",
    waiting="À espera de",
    refused="Agora não",
    error="Erro",
    wins="Ganha {}",
    draw_game="Ninguém ganha",
    after_game="Após {} partida",
    after_games="Após {} partidas",
    series_won="Ganha {}!",
    draws="tira {}",
    next_player="segue: {}",
)
WORDS: Final = MappingProxyType({"en": ENGLISH, "es": SPANISH, "fi": FINNISH, "nb": NORWEGIAN, "pt": PORTUGUESE})
