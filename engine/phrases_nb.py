"""The sentences of the rulebook in Norwegian Bokmål; names and `{...}` as in `phrases`."""

from __future__ import annotations

from typing import Final

NORWEGIAN: Final[dict[str, str]] = {
    "title-pt": "Portugisisk Rummikub på nett",
    "title-fi": "Finsk Rummikub i lommeformat",
    "title-no": "Norsk Rummikub med kort",
    "title-es": "Spansk rummy med kort",
    "head-aim": "Målet",
    "head-start": "Starten",
    "head-melds": "Grupper og rekker",
    "head-turn": "Din tur",
    "head-opening": "De første kombinasjonene dine",
    "head-table": "Å endre det som ligger på bordet",
    "head-jokers": "Jokere på bordet",
    "head-time": "Tiden",
    "head-end": "Slutten",
    "head-series": "Flere spill",
    "head-house": "Husregler ved dette bordet",
    "aim": "Bli den første som får lagt alle brikkene fra stativet sitt på bordet, i grupper og rekker.",
    "aim-called": "Når stativet ditt er tomt, må du trykke på «Rummikub» for å vinne; «End turn» er ikke nok.",
    "aim-automatic": "Når stativet ditt er tomt, har du vunnet.",
    "deck": "Det er {tiles} brikker med tall, fra 1 til 13 i fire farger og to av hver, og {jokers} jokere.",
    "deck-one": "Det er {tiles} brikker med tall, fra 1 til 13 i fire farger og to av hver, og {jokers} joker.",
    "deck-plain": "Det er {tiles} brikker med tall, fra 1 til 13 i fire farger og to av hver. Det er ingen jokere.",
    "players": "{low} til {high} spillere.",
    "players-exactly": "{count} spillere.",
    "hand": "Alle får {count} brikker. Resten er bunken.",
    "hand-one": "Alle får én brikke. Resten er bunken.",
    "start-highest": (
        "Alle trekker en brikke, og den som får det høyeste tallet, begynner. Den som trekker en joker, trekker på "
        "nytt, og det samme gjør de som har det høyeste tallet likt. Disse brikkene legges tilbake før utdelingen."
    ),
    "start-lot": "Det trekkes lodd om hvem som begynner.",
    "clockwise": "Etter deg går turen til neste spiller med klokken.",
    "start-later": "I hvert nytt spill begynner neste spiller med klokken.",
    "group": "En gruppe er tre eller fire brikker med samme tall, alle i forskjellig farge.",
    "run": (
        "En rekke er tre eller flere brikker i samme farge med tall som følger etter hverandre. 1 er lavest og 13 "
        "høyest: Etter 13 kommer ingenting."
    ),
    "joker-stands": (
        "En joker kan stå for hvilken som helst brikke. I en rekke viser plassen hvilken; den står aldri for 0 eller "
        "14. Den er verdt det samme som brikken den står for."
    ),
    "joker-open-colour": "I en gruppe står en joker for hvilken som helst farge som ikke er der fra før.",
    "joker-both-ways": (
        "Én brikke og to jokere kan være en gruppe eller en rekke: Du sier hvilken, og slik blir det. Sier du "
        "ingenting, gjelder det som er verdt mest, og er de verdt like mye, er det en gruppe."
    ),
    "joker-not-alone": "En kombinasjon kan ha så mange jokere det skal være, men minst én brikke må ha et tall.",
    "turn": (
        "Legg ut minst én brikke fra stativet ditt: nye grupper og rekker, eller brikker som passer til dem på bordet."
    ),
    "turn-end": (
        "Underveis spiller det ingen rolle hvordan bordet ser ut. Når du avslutter turen, må alle brikker ligge i en "
        "gruppe eller en rekke, og ingenting kan være tatt bort fra bordet."
    ),
    "turn-draw": (
        "Kan eller vil du ikke legge ut noe, trekker du en brikke. Da er turen din over; du kan bruke brikken neste "
        "gang."
    ),
    "turn-not-both": "Legg ut eller trekk, ikke begge deler: Vil du trekke, må du først ta tilbake det du har lagt ut.",
    "illegal-refused": "Er ikke bordet i orden, kan du ikke avslutte turen: Du spiller videre eller tar alt tilbake.",
    "illegal-costs": (
        "Avslutter du turen uten at bordet er i orden, blir alt tatt tilbake, og du trekker {count} brikker."
    ),
    "illegal-costs-one": (
        "Avslutter du turen uten at bordet er i orden, blir alt tatt tilbake, og du trekker én brikke."
    ),
    "stock-empty": (
        "Når bunken er tom, må den som ikke legger ut noe, stå over. Ingen kan stå over så lenge det er brikker å "
        "trekke."
    ),
    "opening": (
        "Første gang du legger ut, må kombinasjonene dine til sammen være verdt minst {points} poeng, alt i samme tur."
    ),
    "opening-one": (
        "Første gang du legger ut, må kombinasjonene dine til sammen være verdt minst ett poeng, alt i samme tur."
    ),
    "opening-none": "Du kan bruke brikkene på bordet fra og med den første turen din.",
    "opening-own": "Bare brikker fra ditt eget stativ teller med. Du kan ikke legge noe til det som ligger på bordet.",
    "opening-same-turn": "Så snart disse poengene er lagt ut, kan du bruke de andre brikkene på bordet i samme tur.",
    "opening-later": "I den turen blir bordet liggende som det er. Du kan bruke det fra og med neste tur.",
    "rearrange": (
        "Etter de første kombinasjonene dine kan du bruke alle brikkene på bordet: bygge på kombinasjoner, dele dem, "
        "ta ut brikker og lage nye kombinasjoner, så lenge alt stemmer til slutt."
    ),
    "never-back": "En brikke på bordet tas aldri opp på et stativ.",
    "no-idle": (
        "Du kan bare endre kombinasjoner for å få lagt ut en brikke fra stativet ditt. Det du endrer, må ha sammenheng "
        "med en brikke du legger ut."
    ),
    "joker-replaced": (
        "En joker står for den samme brikken helt til en ekte brikke av samme slag tar plassen. I en gruppe duger alle "
        "farger jokeren kan stå for, og én brikke er nok. Inntil da kan jokeren flyttes som brikken den står for."
    ),
    "joker-replaced-where": (
        "Den ekte brikken kan komme fra stativet ditt eller fra bordet. Den må havne i det som er igjen av "
        "kombinasjonen til jokeren."
    ),
    "freed-anywhere": "En joker som er frigjort, må brukes i samme tur, hvor du vil.",
    "freed-new": (
        "En joker som er frigjort, må brukes i samme tur, i en ny kombinasjon: Ingen hel kombinasjon som allerede lå "
        "på bordet, kan inngå i den."
    ),
    "joker-never-kept": "En joker på bordet tas aldri opp på et stativ.",
    "joker-same-number": "En joker kan tas ut av en kombinasjon og brukes et annet sted som samme tall. Fargen er fri.",
    "joker-exchange": (
        "Eller du kan bytte den: Si fra først, og legg så på plassen en brikke fra stativet ditt med det tallet og en "
        "farge som jokeren står for. Da kan jokeren være hvilken som helst brikke i samme tur."
    ),
    "joker-free": "En joker på bordet kan tas og brukes som hvilken som helst annen brikke.",
    "no-limit": "Det er ingen tidsgrense.",
    "limit": "En tur varer i høyst {seconds} sekunder.",
    "time-finished": "Er bordet i orden når tiden er ute, blir trekket ditt stående og koster ingenting.",
    "time-finished-costs": (
        "Er bordet i orden når tiden er ute, blir trekket ditt stående, men du trekker {count} brikker hvis du ikke "
        "har vunnet."
    ),
    "time-finished-costs-one": (
        "Er bordet i orden når tiden er ute, blir trekket ditt stående, men du trekker én brikke hvis du ikke har "
        "vunnet."
    ),
    "time-keeps-part": (
        "Er det ikke i orden, går de brikkene du la ut som ikke er med i noen gruppe eller rekke, tilbake til stativet "
        "ditt. Er resten i orden, blir det liggende."
    ),
    "time-unfinished": "Ellers blir bordet lagt tilbake som det var, og du trekker {count} brikker.",
    "time-unfinished-one": "Ellers blir bordet lagt tilbake som det var, og du trekker én brikke.",
    "time-unfinished-free": "Ellers blir bordet lagt tilbake som det var.",
    "time-idle": "Har du ikke flyttet noe, trekker du bare én brikke.",
    "score": "De andre taper summen av tallene på stativene sine. Vinneren får summen av alt dette.",
    "joker-costs": "En joker på stativet koster {points} poeng.",
    "joker-costs-one": "En joker på stativet koster ett poeng.",
    "blocked": (
        "Står alle spillerne over etter tur, er spillet slutt. Den som har minst på stativet, vinner; hver av de andre "
        "taper differansen til vinneren, og vinneren får summen av differansene."
    ),
    "blocked-tie": (
        "Har flere like lite, vinner den av dem som har færrest brikker. Er det også likt, deler de seieren og får 0 "
        "poeng."
    ),
    "rounds": "Dere spiller {count} spill og legger sammen poengene.",
    "rounds-one": "Dere spiller ett spill.",
    "target": "Serien er slutt når noen har {points} poeng eller mer.",
    "target-one": "Serien er slutt når noen har ett poeng eller mer.",
    "series-win": "Den som har flest poeng til sammen, vinner.",
    "tie-shared": "Spillere med lik poengsum deler seieren.",
    "tie-most-wins": (
        "Ved lik poengsum vinner den som har flest Rummikub, deretter den som har størst sum av plusspoeng, og til "
        "sist den som fikk den første Rummikub. Et låst spill er ingen Rummikub."
    ),
    "house": "{name}: {value}",
    "card-aim": (
        "Bli den første som er kvitt alle kortene sine, i grupper og rekker på bordet eller med det siste kastet."
    ),
    "card-deck": "Én kortstokk på {cards} kort.",
    "card-jokers": "Og {count} jokere.",
    "card-jokers-one": "Og én joker.",
    "card-hand": "Alle får {count} kort. Det neste kortet snus og blir starten på kastehaugen; resten er bunken.",
    "card-hand-one": "Alle får ett kort. Det neste kortet snus og blir starten på kastehaugen; resten er bunken.",
    "card-hand-by-players": (
        "Er det to spillere, får hver 10 kort; tre eller fire får 7 hver, fem eller seks får 6. Det neste kortet snus "
        "og blir starten på kastehaugen; resten er bunken."
    ),
    "card-start": "Det trekkes lodd om hvem som er giver, og spilleren etter giveren begynner.",
    "card-group": "En gruppe er tre eller fire kort med samme verdi.",
    "card-run": (
        "En rekke er tre eller flere kort i samme sort som følger etter hverandre. Ess er lavest: A-2-3 er en rekke, "
        "Q-K-A er det ikke."
    ),
    "card-joker-stands": (
        "En joker kan stå for hvilket som helst kort. I en rekke viser plassen hvilket; ingenting kommer før esset "
        "eller etter kongen."
    ),
    "card-draw": "Ta først ett kort: det neste i bunken eller det øverste i kastehaugen.",
    "card-meld": "Deretter kan du legge ut grupper og rekker.",
    "card-meld-limit": "Deretter kan du legge ut opptil {count} nye grupper eller rekker.",
    "card-meld-limit-one": "Deretter kan du legge ut én ny gruppe eller rekke.",
    "card-add": (
        "Du kan bygge på alle grupper og rekker på bordet, uansett hvem som la dem ut, med så mange kort du vil."
    ),
    "card-no-rearranging": "Ingenting blir noen gang tatt ut av det som ligger på bordet.",
    "card-discard": "Til slutt legger du ett kort i kastehaugen. Da er turen din over.",
    "card-not-same": (
        "Kortet du tok fra kastehaugen, kan ikke kastes igjen i samme tur. Er det det eneste kortet du har igjen, "
        "slutter turen uten kast."
    ),
    "card-turnover": (
        "Når bunken er tom og noen trekker fra den, snus kastehaugen uten å stokkes og blir den nye bunken."
    ),
    "card-turnover-limit": (
        "Når bunken er tom og noen trekker fra den, snus kastehaugen uten å stokkes og blir den nye bunken, høyst "
        "{count} ganger. Deretter er spillet slutt uten at noen har gått ut."
    ),
    "card-turnover-limit-one": (
        "Når bunken er tom og noen trekker fra den, snus kastehaugen uten å stokkes og blir den nye bunken, men bare "
        "én gang. Deretter er spillet slutt uten at noen har gått ut."
    ),
    "card-out": "Spillet er slutt med en gang noen ikke har flere kort.",
    "card-score": (
        "Alle får poengene for kortene de har lagt ut, også på andres kombinasjoner, og taper poengene for kortene de "
        "har på hånden."
    ),
    "card-values": "Knekt, dame og konge er verdt {court}, ess {ace}, de andre kortene tallet sitt.",
    "card-values-number": "Knekt er verdt 11, dame 12, konge 13, ess {ace}, de andre kortene tallet sitt.",
    "card-bonus": "Den som gikk ut, får {points} poeng ekstra.",
    "card-bonus-one": "Den som gikk ut, får ett poeng ekstra.",
    "card-time-up": (
        "Når tiden er ute, får du ett kort fra bunken hvis du ikke har tatt noe, du kaster ingenting, og turen går "
        "videre."
    ),
    "joker-worth": "En joker er verdt {points} poeng.",
    "joker-worth-one": "En joker er verdt ett poeng.",
    "yes": "ja",
    "no": "nei",
    "option-jokers": "Antall jokere",
    "option-hand": "Brikker eller kort til hver spiller",
    "option-min_seats": "Spillere, minst",
    "option-max_seats": "Spillere, høyst",
    "option-start_by": "Hvem som begynner",
    "option-opening_min": "Poeng som kreves for de første kombinasjonene",
    "option-open_and_rearrange_same_turn": "Bordet kan brukes i samme tur som de første kombinasjonene",
    "option-idle_rearrange_allowed": "Kombinasjoner kan endres uten sammenheng med brikker som legges ut",
    "option-joker_move": "Når en joker på bordet kan bli en annen brikke",
    "option-freed_joker_place": "Hvor en frigjort joker må brukes",
    "option-turn_seconds": "Sekunder per tur (0 = ingen grense)",
    "option-timeout_draw": "Brikker å trekke når tiden er ute midt i et trekk",
    "option-timeout_play_draw": "Brikker å trekke når tiden er ute og bordet er i orden",
    "option-timeout_idle_draw": "Brikker å trekke når tiden er ute og ingenting er flyttet",
    "option-timeout_keeps_legal_part": "Det som er i orden, blir liggende når tiden er ute",
    "option-illegal_draw": "Brikker å trekke for å avslutte uten at bordet er i orden (0 = det går ikke)",
    "option-rummikub_call": "Seieren må meldes",
    "option-joker_penalty": "Poeng for en joker til slutt",
    "option-series_tie": "Lik poengsum etter serien",
    "option-rounds": "Spill i serien (0 = til poenggrensen er nådd)",
    "option-target": "Poenggrense som avslutter serien (0 = ingen)",
    "option-melds_per_turn": "Nye kombinasjoner per tur (0 = ingen grense)",
    "option-turnovers": "Hvor mange ganger kastehaugen blir ny bunke (0 = ingen grense)",
    "option-ace_points": "Poeng for et ess",
    "option-court_points": "Poeng for knekt, dame og konge (0 = tallet deres)",
    "option-out_bonus": "Ekstra poeng for å gå ut",
    "choice-replaced": "når den ekte brikken tar plassen",
    "choice-same-number": "som samme tall, eller hva som helst etter et meldt bytte",
    "choice-free": "når som helst",
    "choice-anywhere": "hvor som helst",
    "choice-new-set": "i en ny kombinasjon",
    "choice-highest-tile": "den som trekker det høyeste tallet",
    "choice-lot": "loddtrekning",
    "choice-dealer-lot": "spilleren etter en giver som er trukket ut",
    "choice-shared": "seieren deles",
    "choice-most-wins": "flest vunne spill avgjør",
}
