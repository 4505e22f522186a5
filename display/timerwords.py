"""What the stand-alone timer says besides `words`, in the same five languages. `{}` is a name or a number."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True)
class TimerWords:
    """The sentences of one language."""

    game: str
    begins: str
    paused: str
    power: str
    paused_keys: str
    rack: str
    laid: str
    hand: str
    entry_keys: str
    time_is_up: str
    nothing_laid: str
    table_right: str
    not_now: str
    nothing_to_undo: str
    no_limit: str
    extended_once: str
    not_saved: str


ENGLISH: Final = TimerWords(
    game="Game {}",
    begins="{} begins. End: start. Pause: another player.",
    paused="Paused",
    power="Power was off",
    paused_keys="End: go on. Hold Pause: skip.",
    rack="Left on the rack",
    laid="Points laid",
    hand="Left in the hand",
    entry_keys="End +10, Pause +1, hold End: ok, hold Pause: 0",
    time_is_up="Time is up.",
    nothing_laid="Nothing moved: {}.",
    table_right="Table right: {}.",
    not_now="That does nothing now.",
    nothing_to_undo="There is nothing to take back.",
    no_limit="There is no time limit.",
    extended_once="Only once in a game.",
    not_saved="The game cannot be saved: {}",
)
SPANISH: Final = TimerWords(
    game="Partida {}",
    begins="Empieza {}. End: empezar. Pause: otro jugador.",
    paused="Pausa",
    power="Sin corriente",
    paused_keys="End: seguir. Pause largo: saltar.",
    rack="Queda en el atril",
    laid="Puntos bajados",
    hand="Queda en la mano",
    entry_keys="End +10, Pause +1, End largo: bien, Pause largo: 0",
    time_is_up="Se acabó el tiempo.",
    nothing_laid="Sin mover nada: {}.",
    table_right="Mesa correcta: {}.",
    not_now="Ahora eso no hace nada.",
    nothing_to_undo="No hay nada que deshacer.",
    no_limit="No hay límite de tiempo.",
    extended_once="Solo una vez por partida.",
    not_saved="No se puede guardar: {}",
)
FINNISH: Final = TimerWords(
    game="Peli {}",
    begins="{} aloittaa. End: aloita. Pause: toinen pelaaja.",
    paused="Tauko",
    power="Virta katkesi",
    paused_keys="End: jatka. Pause pitkään: ohita.",
    rack="Jäi telineeseen",
    laid="Pöytään pelatut pisteet",
    hand="Jäi käteen",
    entry_keys="End +10, Pause +1, End pitkään: oikein, Pause pitkään: 0",
    time_is_up="Aika loppui.",
    nothing_laid="Mitään ei siirretty: {}.",
    table_right="Pöytä kunnossa: {}.",
    not_now="Se ei nyt tee mitään.",
    nothing_to_undo="Ei ole mitään peruttavaa.",
    no_limit="Aikarajaa ei ole.",
    extended_once="Vain kerran pelissä.",
    not_saved="Peliä ei voi tallentaa: {}",
)
NORWEGIAN: Final = TimerWords(
    game="Spill {}",
    begins="{} begynner. End: start. Pause: en annen spiller.",
    paused="Pause",
    power="Strømmen var borte",
    paused_keys="End: fortsett. Hold Pause: hopp over.",
    rack="Igjen på brettet",
    laid="Lagte poeng",
    hand="Igjen på hånden",
    entry_keys="End +10, Pause +1, hold End: ok, hold Pause: 0",
    time_is_up="Tiden er ute.",
    nothing_laid="Ingenting flyttet: {}.",
    table_right="Bordet i orden: {}.",
    not_now="Det gjør ingenting nå.",
    nothing_to_undo="Det er ingenting å angre.",
    no_limit="Det er ingen tidsgrense.",
    extended_once="Bare én gang i et spill.",
    not_saved="Spillet kan ikke lagres: {}",
)
PORTUGUESE: Final = TimerWords(
    game="Partida {}",
    begins="Começa {}. End: começar. Pause: outro jogador.",
    paused="Pausa",
    power="Faltou a luz",
    paused_keys="End: continuar. Pause longo: saltar.",
    rack="Restam no suporte",
    laid="Pontos baixados",
    hand="Restam na mão",
    entry_keys="End +10, Pause +1, End longo: certo, Pause longo: 0",
    time_is_up="Acabou o tempo.",
    nothing_laid="Nada movido: {}.",
    table_right="Mesa correta: {}.",
    not_now="Isso agora não faz nada.",
    nothing_to_undo="Não há nada a desfazer.",
    no_limit="Não há limite de tempo.",
    extended_once="Só uma vez por partida.",
    not_saved="Não se pode guardar: {}",
)
TIMER_WORDS: Final = MappingProxyType({"en": ENGLISH, "es": SPANISH, "fi": FINNISH, "nb": NORWEGIAN, "pt": PORTUGUESE})
