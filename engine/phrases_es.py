"""The sentences of the rulebook in Spanish; names and `{...}` as in `phrases`."""

from __future__ import annotations

from typing import Final

SPANISH: Final[dict[str, str]] = {
    "title-pt": "Rummikub portugués en línea",
    "title-fi": "Rummikub finlandés de bolsillo",
    "title-no": "Rummikub noruego con cartas",
    "title-es": "Rummy español con cartas",
    "head-aim": "El objetivo",
    "head-start": "El comienzo",
    "head-melds": "Grupos y escaleras",
    "head-turn": "Tu turno",
    "head-opening": "Tus primeras combinaciones",
    "head-table": "Cambiar lo que hay en la mesa",
    "head-jokers": "Comodines en la mesa",
    "head-time": "El tiempo",
    "head-end": "El final",
    "head-series": "Varias partidas",
    "head-house": "Reglas de la casa en esta mesa",
    "aim": "Ser el primero en poner en la mesa todas las fichas de su soporte, en grupos y escaleras.",
    "aim-called": "Cuando tu soporte quede vacío, tienes que pulsar «Rummikub» para ganar; no basta con «End turn».",
    "aim-automatic": "Cuando tu soporte queda vacío, has ganado.",
    "deck": (
        "Hay {tiles} fichas con números del 1 al 13 en cuatro colores, cada una por duplicado, y {jokers} comodines."
    ),
    "deck-one": (
        "Hay {tiles} fichas con números del 1 al 13 en cuatro colores, cada una por duplicado, y {jokers} comodín."
    ),
    "deck-plain": (
        "Hay {tiles} fichas con números del 1 al 13 en cuatro colores, cada una por duplicado. No hay comodines."
    ),
    "players": "De {low} a {high} jugadores.",
    "players-exactly": "{count} jugadores.",
    "hand": "Cada jugador recibe {count} fichas. Las demás forman el montón.",
    "hand-one": "Cada jugador recibe una ficha. Las demás forman el montón.",
    "start-highest": (
        "Cada jugador roba una ficha y empieza quien saque el número más alto. Quien saque un comodín roba otra vez, "
        "igual que quienes empaten con el número más alto. Estas fichas vuelven al montón antes del reparto."
    ),
    "start-lot": "Quién empieza se decide por sorteo.",
    "clockwise": "Después de ti le toca al jugador siguiente en el sentido de las agujas del reloj.",
    "start-later": "En cada nueva partida empieza el jugador siguiente en el sentido de las agujas del reloj.",
    "group": "Un grupo son tres o cuatro fichas con el mismo número, todas de distinto color.",
    "run": (
        "Una escalera son tres o más fichas del mismo color con números seguidos. El 1 es el más bajo y el 13 el más "
        "alto: después del 13 no va nada."
    ),
    "joker-stands": (
        "Un comodín puede representar cualquier ficha. En una escalera, su lugar indica cuál; nunca representa un 0 ni "
        "un 14. Vale lo mismo que la ficha que representa."
    ),
    "joker-open-colour": "En un grupo, un comodín representa cualquier color que todavía no esté.",
    "joker-both-ways": (
        "Una ficha con dos comodines puede ser un grupo o una escalera: tú dices cuál, y así se queda. Si no dices "
        "nada, es lo que valga más y, si valen lo mismo, un grupo."
    ),
    "joker-not-alone": (
        "Una combinación puede tener cualquier cantidad de comodines, pero al menos una ficha debe llevar número."
    ),
    "turn": (
        "Pon en la mesa al menos una ficha de tu soporte: grupos y escaleras nuevos, o fichas que encajen con los que "
        "ya están."
    ),
    "turn-end": (
        "Mientras juegas, no importa cómo quede la mesa. Cuando termines tu turno, todas las fichas deben estar en un "
        "grupo o en una escalera, y nada puede haber salido de la mesa."
    ),
    "turn-draw": (
        "Si no puedes o no quieres poner nada, roba una ficha. Con eso acaba tu turno; podrás jugarla en el siguiente."
    ),
    "turn-not-both": "O pones fichas o robas, no las dos cosas: para robar, recoge antes lo que hayas puesto.",
    "illegal-refused": "Si la mesa no está bien, no puedes terminar tu turno: sigues jugando o lo recoges todo.",
    "illegal-costs": "Si terminas tu turno y la mesa no está bien, todo vuelve a como estaba y robas {count} fichas.",
    "illegal-costs-one": "Si terminas tu turno y la mesa no está bien, todo vuelve a como estaba y robas una ficha.",
    "stock-empty": (
        "Cuando se acaba el montón, quien no pone nada pasa. Nadie puede pasar mientras queden fichas por robar."
    ),
    "opening": (
        "La primera vez que pones fichas, tus combinaciones deben valer en total al menos {points} puntos, todo en un "
        "mismo turno."
    ),
    "opening-one": (
        "La primera vez que pones fichas, tus combinaciones deben valer en total al menos un punto, todo en un mismo "
        "turno."
    ),
    "opening-none": "Puedes usar las fichas de la mesa desde tu primer turno.",
    "opening-own": "Para eso solo cuentan las fichas de tu soporte. No puedes añadir nada a lo que hay en la mesa.",
    "opening-same-turn": (
        "En cuanto hayas puesto esos puntos, puedes usar las demás fichas de la mesa en el mismo turno."
    ),
    "opening-later": "En ese turno la mesa se queda como está. Podrás usarla a partir de tu siguiente turno.",
    "rearrange": (
        "Después de tus primeras combinaciones puedes usar todas las fichas de la mesa: añadir a las combinaciones, "
        "dividirlas, sacar fichas y formar otras nuevas, siempre que al final todo esté bien."
    ),
    "never-back": "Una ficha de la mesa nunca va a un soporte.",
    "no-idle": (
        "Solo puedes cambiar combinaciones para poner una ficha tuya. Lo que cambies debe tener que ver con una ficha "
        "que pongas."
    ),
    "joker-replaced": (
        "Un comodín sigue representando la misma ficha hasta que una ficha real igual ocupe su lugar. En un grupo "
        "sirve cualquier color que el comodín pueda representar, y basta con una. Hasta entonces puede moverse como la "
        "ficha que representa."
    ),
    "joker-replaced-where": (
        "La ficha real puede venir de tu soporte o de la mesa. Debe acabar en lo que quede de la combinación del "
        "comodín."
    ),
    "freed-anywhere": "Un comodín liberado debe usarse en el mismo turno, donde quieras.",
    "freed-new": (
        "Un comodín liberado debe usarse en el mismo turno, en una combinación nueva: no puede contener entera ninguna "
        "combinación que ya estuviera en la mesa."
    ),
    "joker-never-kept": "Un comodín de la mesa nunca va a un soporte.",
    "joker-same-number": (
        "Se puede sacar un comodín de una combinación y usarlo en otra parte con el mismo número. El color es libre."
    ),
    "joker-exchange": (
        "O lo cambias: primero anuncia el cambio y después pon en su lugar una ficha de tu soporte con el número y un "
        "color que el comodín represente. El comodín puede ser entonces cualquier ficha en ese mismo turno."
    ),
    "joker-free": "Un comodín que esté en la mesa se puede coger y usar como cualquier otra ficha.",
    "no-limit": "No hay límite de tiempo.",
    "limit": "Un turno dura como máximo {seconds} segundos.",
    "time-finished": "Si la mesa está bien cuando se acaba el tiempo, tu jugada vale y no cuesta nada.",
    "time-finished-costs": (
        "Si la mesa está bien cuando se acaba el tiempo, tu jugada vale, pero robas {count} fichas, a no ser que hayas "
        "ganado."
    ),
    "time-finished-costs-one": (
        "Si la mesa está bien cuando se acaba el tiempo, tu jugada vale, pero robas una ficha, a no ser que hayas "
        "ganado."
    ),
    "time-keeps-part": (
        "Si no lo está, las fichas que pusiste y que no forman parte de un grupo o una escalera vuelven a tu soporte. "
        "Si lo demás está bien, se queda en la mesa."
    ),
    "time-unfinished": "En otro caso, la mesa vuelve a como estaba y robas {count} fichas.",
    "time-unfinished-one": "En otro caso, la mesa vuelve a como estaba y robas una ficha.",
    "time-unfinished-free": "En otro caso, la mesa vuelve a como estaba.",
    "time-idle": "Si no moviste nada, robas solo una ficha.",
    "score": "Los demás pierden la suma de los números de su soporte. El ganador se lleva la suma de todo eso.",
    "joker-costs": "Un comodín en el soporte cuesta {points} puntos.",
    "joker-costs-one": "Un comodín en el soporte cuesta un punto.",
    "blocked": (
        "Si todos los jugadores pasan uno tras otro, la partida termina. Gana quien tenga menos puntos en el soporte; "
        "cada uno de los demás pierde la diferencia con él, y el ganador se lleva la suma de esas diferencias."
    ),
    "blocked-tie": (
        "Si varios tienen la suma más baja, gana quien tenga menos fichas. Si también en eso empatan, comparten la "
        "victoria y se apuntan 0 puntos."
    ),
    "rounds": "Se juegan {count} partidas y se suman los puntos.",
    "rounds-one": "Se juega una partida.",
    "target": "La serie termina cuando alguien tiene {points} puntos o más.",
    "target-one": "La serie termina cuando alguien tiene un punto o más.",
    "series-win": "Gana quien tenga el total más alto.",
    "tie-shared": "Quienes empaten en el total comparten la victoria.",
    "tie-most-wins": (
        "En caso de empate en el total, gana quien tenga más Rummikubs; después, quien tenga la mayor suma de "
        "puntuaciones positivas; por último, quien hiciera el primer Rummikub. Una partida bloqueada no cuenta como "
        "Rummikub."
    ),
    "house": "{name}: {value}",
    "card-aim": "Ser el primero en quedarse sin cartas, con grupos y escaleras en la mesa o con el último descarte.",
    "card-deck": "Una baraja de {cards} cartas.",
    "card-jokers": "Más {count} comodines.",
    "card-jokers-one": "Más un comodín.",
    "card-hand": (
        "Cada jugador recibe {count} cartas. La siguiente se pone boca arriba y empieza la pila de descartes; las "
        "demás forman el mazo."
    ),
    "card-hand-one": (
        "Cada jugador recibe una carta. La siguiente se pone boca arriba y empieza la pila de descartes; las demás "
        "forman el mazo."
    ),
    "card-hand-by-players": (
        "Con dos jugadores, cada uno recibe 10 cartas; con tres o cuatro, 7; con cinco o seis, 6. La siguiente se pone "
        "boca arriba y empieza la pila de descartes; las demás forman el mazo."
    ),
    "card-start": "Quién reparte se decide por sorteo, y empieza el jugador que va después.",
    "card-group": "Un grupo son tres o cuatro cartas del mismo valor.",
    "card-run": (
        "Una escalera son tres o más cartas seguidas del mismo palo. El as es la más baja: A-2-3 es una escalera, "
        "Q-K-A no lo es."
    ),
    "card-joker-stands": (
        "Un comodín puede representar cualquier carta. En una escalera, su lugar indica cuál; nada va antes del as ni "
        "después del rey."
    ),
    "card-draw": "Primero coge una carta: la siguiente del mazo o la de encima de la pila de descartes.",
    "card-meld": "Después puedes bajar grupos y escaleras.",
    "card-meld-limit": "Después puedes bajar hasta {count} grupos o escaleras nuevos.",
    "card-meld-limit-one": "Después puedes bajar un grupo nuevo o una escalera nueva.",
    "card-add": "Puedes añadir cuantas cartas quieras a cualquier grupo o escalera de la mesa, sea de quien sea.",
    "card-no-rearranging": "Nunca se saca nada de lo que hay en la mesa.",
    "card-discard": "Al final, pon una carta en la pila de descartes. Con eso acaba tu turno.",
    "card-not-same": (
        "La carta que cogiste de la pila de descartes no puede volver a ella en el mismo turno. Si es la única que te "
        "queda, tu turno acaba sin descarte."
    ),
    "card-turnover": (
        "Cuando el mazo está vacío y alguien roba de él, se da la vuelta a la pila de descartes, sin barajar, y pasa a "
        "ser el nuevo mazo."
    ),
    "card-turnover-limit": (
        "Cuando el mazo está vacío y alguien roba de él, se da la vuelta a la pila de descartes, sin barajar, y pasa a "
        "ser el nuevo mazo: {count} veces como máximo. Después la partida termina sin que nadie se haya quedado sin "
        "cartas."
    ),
    "card-turnover-limit-one": (
        "Cuando el mazo está vacío y alguien roba de él, se da la vuelta a la pila de descartes, sin barajar, y pasa a "
        "ser el nuevo mazo, pero solo una vez. Después la partida termina sin que nadie se haya quedado sin cartas."
    ),
    "card-out": "La partida termina en cuanto alguien se queda sin cartas.",
    "card-score": (
        "Cada jugador gana los puntos de las cartas que ha puesto en la mesa, también en combinaciones de otros, y "
        "pierde los de las cartas que tiene en la mano."
    ),
    "card-values": "Puntos de cada carta: J, Q y K {court}, el as {ace}, las demás su número.",
    "card-values-number": "Puntos de cada carta: J 11, Q 12, K 13, el as {ace}, las demás su número.",
    "card-bonus": "Quien se queda sin cartas gana {points} puntos más.",
    "card-bonus-one": "Quien se queda sin cartas gana un punto más.",
    "card-time-up": (
        "Cuando se acaba el tiempo, recibes una carta del mazo si no has cogido ninguna, no descartas nada y pasa el "
        "turno."
    ),
    "joker-worth": "Un comodín vale {points} puntos.",
    "joker-worth-one": "Un comodín vale un punto.",
    "yes": "sí",
    "no": "no",
    "option-jokers": "Número de comodines",
    "option-hand": "Fichas o cartas para cada jugador",
    "option-min_seats": "Mínimo de jugadores",
    "option-max_seats": "Máximo de jugadores",
    "option-start_by": "Quién empieza",
    "option-opening_min": "Puntos necesarios para las primeras combinaciones",
    "option-open_and_rearrange_same_turn": "Usar la mesa ya en el turno de las primeras combinaciones",
    "option-idle_rearrange_allowed": "Cambiar combinaciones sin relación con las fichas puestas",
    "option-joker_move": "Cuándo puede un comodín de la mesa pasar a ser otra ficha",
    "option-freed_joker_place": "Dónde se usa un comodín liberado",
    "option-turn_seconds": "Segundos por turno (0 = sin límite)",
    "option-timeout_draw": "Fichas robadas si se acaba el tiempo a media jugada",
    "option-timeout_play_draw": "Fichas robadas si se acaba el tiempo con la mesa bien",
    "option-timeout_idle_draw": "Fichas robadas si se acaba el tiempo sin mover nada",
    "option-timeout_keeps_legal_part": "Lo que está bien se queda en la mesa al acabarse el tiempo",
    "option-illegal_draw": "Fichas robadas por terminar con la mesa mal (0 = no se puede)",
    "option-rummikub_call": "Hay que anunciar la victoria",
    "option-joker_penalty": "Puntos de un comodín al final",
    "option-series_tie": "Empate en el total de la serie",
    "option-rounds": "Partidas de la serie (0 = hasta que alguien tenga los puntos)",
    "option-target": "Puntos que terminan la serie (0 = ninguno)",
    "option-melds_per_turn": "Combinaciones nuevas por turno (0 = sin límite)",
    "option-turnovers": "Veces que la pila de descartes vuelve a ser mazo (0 = sin límite)",
    "option-ace_points": "Puntos de un as",
    "option-court_points": "Puntos de J, Q y K (0 = su número)",
    "option-out_bonus": "Puntos extra por quedarse sin cartas",
    "choice-replaced": "cuando su ficha ocupa su lugar",
    "choice-same-number": "con el mismo número, o cualquier ficha tras un cambio anunciado",
    "choice-free": "siempre",
    "choice-anywhere": "en cualquier lugar",
    "choice-new-set": "en una combinación nueva",
    "choice-highest-tile": "quien saque el número más alto",
    "choice-lot": "por sorteo",
    "choice-dealer-lot": "el jugador que va después de quien reparte, elegido por sorteo",
    "choice-shared": "se comparte la victoria",
    "choice-most-wins": "decide quién ganó más partidas",
}
