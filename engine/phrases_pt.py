"""The sentences of the rulebook in European Portuguese; names and `{...}` as in `phrases`."""

from __future__ import annotations

from typing import Final

PORTUGUESE: Final[dict[str, str]] = {
    "title-pt": "Rummikub português online",
    "title-fi": "Rummikub finlandês de bolso",
    "title-no": "Rummikub norueguês com cartas",
    "title-es": "Rummy espanhol com cartas",
    "head-aim": "O objetivo",
    "head-start": "O início",
    "head-melds": "Grupos e sequências",
    "head-turn": "A tua jogada",
    "head-opening": "As tuas primeiras combinações",
    "head-table": "Mexer no que está na mesa",
    "head-jokers": "Jokers na mesa",
    "head-time": "O tempo",
    "head-end": "O fim",
    "head-series": "Várias partidas",
    "head-house": "Regras da casa nesta mesa",
    "aim": "Ser o primeiro a pôr na mesa todas as peças do seu suporte, em grupos e sequências.",
    "aim-called": "Quando o teu suporte ficar vazio, tens de carregar em «Rummikub» para ganhar; «End turn» não chega.",
    "aim-automatic": "Quando o teu suporte ficar vazio, ganhaste.",
    "deck": "Há {tiles} peças com números de 1 a 13 em quatro cores, cada uma em duplicado, e {jokers} jokers.",
    "deck-one": "Há {tiles} peças com números de 1 a 13 em quatro cores, cada uma em duplicado, e {jokers} joker.",
    "deck-plain": "Há {tiles} peças com números de 1 a 13 em quatro cores, cada uma em duplicado. Não há jokers.",
    "players": "De {low} a {high} jogadores.",
    "players-exactly": "{count} jogadores.",
    "hand": "Cada jogador recebe {count} peças. As restantes formam o monte.",
    "hand-one": "Cada jogador recebe uma peça. As restantes formam o monte.",
    "start-highest": (
        "Cada jogador tira uma peça e começa quem tiver o número mais alto. Quem tirar um joker tira outra vez, tal "
        "como quem empatar no número mais alto. Estas peças voltam ao monte antes da distribuição."
    ),
    "start-lot": "Quem começa é escolhido por sorteio.",
    "clockwise": "Depois de ti joga o jogador seguinte, no sentido dos ponteiros do relógio.",
    "start-later": "Em cada nova partida começa o jogador seguinte, no sentido dos ponteiros do relógio.",
    "group": "Um grupo são três ou quatro peças com o mesmo número, todas de cores diferentes.",
    "run": (
        "Uma sequência são três ou mais peças da mesma cor com números seguidos. O 1 é o mais baixo e o 13 o mais "
        "alto: depois do 13 não vem mais nada."
    ),
    "joker-stands": (
        "Um joker pode representar qualquer peça. Numa sequência, é o lugar que diz qual; nunca representa 0 nem 14. "
        "Vale o mesmo que a peça que representa."
    ),
    "joker-open-colour": "Num grupo, um joker representa qualquer cor que ainda lá não esteja.",
    "joker-both-ways": (
        "Uma peça com dois jokers pode ser um grupo ou uma sequência: dizes qual, e assim fica. Se não disseres nada, "
        "é o que valer mais e, se ambos valerem o mesmo, é um grupo."
    ),
    "joker-not-alone": "Uma combinação pode ter qualquer número de jokers, mas pelo menos uma peça tem de ter número.",
    "turn": (
        "Põe na mesa pelo menos uma peça do teu suporte: novos grupos e sequências, ou peças que encaixem nos que já "
        "lá estão."
    ),
    "turn-end": (
        "O aspeto da mesa a meio da jogada não interessa. Quando terminares a jogada, todas as peças têm de estar num "
        "grupo ou numa sequência, e nada pode ter saído da mesa."
    ),
    "turn-draw": (
        "Se não puderes ou não quiseres pôr nada na mesa, tira uma peça do monte. A tua jogada acaba aí; podes usar "
        "essa peça na próxima."
    ),
    "turn-not-both": (
        "Pões peças ou tiras uma, nunca as duas coisas: para tirar, recolhe primeiro o que puseste na mesa."
    ),
    "illegal-refused": "Se a mesa não estiver certa, não podes terminar a jogada: continuas, ou recolhes tudo.",
    "illegal-costs": "Se terminares a jogada e a mesa não estiver certa, tudo volta atrás e tiras {count} peças.",
    "illegal-costs-one": "Se terminares a jogada e a mesa não estiver certa, tudo volta atrás e tiras uma peça.",
    "stock-empty": (
        "Quando o monte acaba, quem não põe nada na mesa passa. Ninguém pode passar enquanto houver peças para tirar."
    ),
    "opening": (
        "A primeira vez que pões peças na mesa, as tuas combinações têm de valer, em conjunto, pelo menos {points} "
        "pontos, tudo na mesma jogada."
    ),
    "opening-one": (
        "A primeira vez que pões peças na mesa, as tuas combinações têm de valer, em conjunto, pelo menos um ponto, "
        "tudo na mesma jogada."
    ),
    "opening-none": "Podes usar as peças da mesa logo a partir da tua primeira jogada.",
    "opening-own": "Para isso só contam as peças do teu suporte. Não podes acrescentar nada ao que está na mesa.",
    "opening-same-turn": (
        "Assim que esses pontos estiverem na mesa, podes mexer nas outras peças da mesa ainda nessa jogada."
    ),
    "opening-later": "Nessa jogada, a mesa fica como está. Podes mexer nela a partir da tua próxima jogada.",
    "rearrange": (
        "Depois das tuas primeiras combinações, podes usar todas as peças da mesa: acrescentar a combinações, "
        "dividi-las, tirar peças e formar novas combinações, desde que no fim tudo esteja certo."
    ),
    "never-back": "Uma peça da mesa nunca vai para um suporte.",
    "no-idle": (
        "Só podes mexer nas combinações para pôr na mesa uma peça tua. O que mudares tem de estar relacionado com uma "
        "peça que pões."
    ),
    "joker-replaced": (
        "Um joker continua a representar a mesma peça até que uma peça verdadeira igual lhe tome o lugar. Num grupo "
        "serve qualquer cor que ele possa representar, e basta uma. Até lá, pode ser movido como a peça que "
        "representa."
    ),
    "joker-replaced-where": (
        "A peça verdadeira pode vir do teu suporte ou da mesa. Tem de ficar no que resta da combinação do joker."
    ),
    "freed-anywhere": "Um joker libertado tem de ser usado na mesma jogada, onde quiseres.",
    "freed-new": (
        "Um joker libertado tem de ser usado na mesma jogada, numa combinação nova: esta não pode conter, inteira, uma "
        "combinação que já estivesse na mesa."
    ),
    "joker-never-kept": "Um joker da mesa nunca vai para um suporte.",
    "joker-same-number": (
        "Um joker pode ser tirado de uma combinação e usado noutro lugar com o mesmo número. A cor é livre."
    ),
    "joker-exchange": (
        "Ou então podes trocá-lo: anuncia primeiro a troca e depois põe no lugar dele uma peça do teu suporte com o "
        "número e uma cor que o joker represente. O joker pode então ser qualquer peça na mesma jogada."
    ),
    "joker-free": "Um joker que esteja na mesa pode ser tirado e usado como qualquer outra peça.",
    "no-limit": "Não há limite de tempo.",
    "limit": "Uma jogada dura no máximo {seconds} segundos.",
    "time-finished": "Se a mesa estiver certa quando o tempo acabar, a tua jogada vale e não custa nada.",
    "time-finished-costs": (
        "Se a mesa estiver certa quando o tempo acabar, a tua jogada vale, mas tiras {count} peças, a não ser que "
        "tenhas ganho."
    ),
    "time-finished-costs-one": (
        "Se a mesa estiver certa quando o tempo acabar, a tua jogada vale, mas tiras uma peça, a não ser que tenhas "
        "ganho."
    ),
    "time-keeps-part": (
        "Se não estiver, as peças que puseste e que não estão em nenhum grupo ou sequência voltam ao teu suporte. Se o "
        "resto estiver certo, fica na mesa."
    ),
    "time-unfinished": "Caso contrário, a mesa volta a ser o que era e tiras {count} peças.",
    "time-unfinished-one": "Caso contrário, a mesa volta a ser o que era e tiras uma peça.",
    "time-unfinished-free": "Caso contrário, a mesa volta a ser o que era.",
    "time-idle": "Se não mexeste em nada, tiras só uma peça.",
    "score": "Os outros perdem a soma dos números que têm no suporte. O vencedor ganha a soma de tudo isso.",
    "joker-costs": "Um joker no suporte custa {points} pontos.",
    "joker-costs-one": "Um joker no suporte custa um ponto.",
    "blocked": (
        "Se todos os jogadores passarem uns a seguir aos outros, a partida acaba. Ganha quem tiver menos pontos no "
        "suporte; cada um dos outros perde a diferença para ele, e o vencedor ganha a soma dessas diferenças."
    ),
    "blocked-tie": (
        "Se vários tiverem o valor mais baixo, ganha quem tiver menos peças. Se também aí houver empate, partilham a "
        "vitória e fazem 0 pontos."
    ),
    "rounds": "Jogam-se {count} partidas e somam-se os pontos.",
    "rounds-one": "Joga-se uma partida.",
    "target": "A série acaba quando alguém tem {points} pontos ou mais.",
    "target-one": "A série acaba quando alguém tem um ponto ou mais.",
    "series-win": "Ganha quem tiver o total mais alto.",
    "tie-shared": "Quem empatar no total partilha a vitória.",
    "tie-most-wins": (
        "Em caso de empate no total, ganha quem tiver mais Rummikubs; depois, quem tiver a maior soma de pontuações "
        "positivas; por fim, quem tiver feito o primeiro Rummikub. Uma partida bloqueada não conta como Rummikub."
    ),
    "house": "{name}: {value}",
    "card-aim": "Ser o primeiro a ficar sem cartas, em grupos e sequências na mesa ou com o último descarte.",
    "card-deck": "Um baralho de {cards} cartas.",
    "card-jokers": "Mais {count} jokers.",
    "card-jokers-one": "Mais um joker.",
    "card-hand": (
        "Cada jogador recebe {count} cartas. A carta seguinte fica virada para cima e inicia a pilha de descarte; as "
        "restantes formam o monte."
    ),
    "card-hand-one": (
        "Cada jogador recebe uma carta. A carta seguinte fica virada para cima e inicia a pilha de descarte; as "
        "restantes formam o monte."
    ),
    "card-hand-by-players": (
        "Com dois jogadores, cada um recebe 10 cartas; com três ou quatro, 7; com cinco ou seis, 6. A carta seguinte "
        "fica virada para cima e inicia a pilha de descarte; as restantes formam o monte."
    ),
    "card-start": "Quem dá as cartas é escolhido por sorteio, e começa o jogador a seguir.",
    "card-group": "Um grupo são três ou quatro cartas do mesmo valor.",
    "card-run": (
        "Uma sequência são três ou mais cartas seguidas do mesmo naipe. O ás é a carta mais baixa: A-2-3 é uma "
        "sequência, Q-K-A não é."
    ),
    "card-joker-stands": (
        "Um joker pode representar qualquer carta. Numa sequência, é o lugar que diz qual; nada vem antes do ás nem "
        "depois do rei."
    ),
    "card-draw": "Primeiro tira uma carta: a próxima do monte ou a de cima da pilha de descarte.",
    "card-meld": "Depois podes baixar grupos e sequências.",
    "card-meld-limit": "Depois podes baixar até {count} novos grupos ou sequências.",
    "card-meld-limit-one": "Depois podes baixar um novo grupo ou uma nova sequência.",
    "card-add": "Podes acrescentar quantas cartas quiseres a qualquer grupo ou sequência da mesa, seja de quem for.",
    "card-no-rearranging": "Nunca se tira nada do que está na mesa.",
    "card-discard": "No fim, põe uma carta na pilha de descarte. A tua jogada acaba aí.",
    "card-not-same": (
        "A carta que tiraste da pilha de descarte não pode voltar para lá na mesma jogada. Se for a única que te "
        "resta, a jogada acaba sem descarte."
    ),
    "card-turnover": (
        "Quando o monte está vazio e alguém tira dele, a pilha de descarte é virada, sem baralhar, e passa a ser o "
        "novo monte."
    ),
    "card-turnover-limit": (
        "Quando o monte está vazio e alguém tira dele, a pilha de descarte é virada, sem baralhar, e passa a ser o "
        "novo monte: no máximo {count} vezes. Depois disso a partida acaba sem que ninguém tenha ficado sem cartas."
    ),
    "card-turnover-limit-one": (
        "Quando o monte está vazio e alguém tira dele, a pilha de descarte é virada, sem baralhar, e passa a ser o "
        "novo monte, mas só uma vez. Depois disso a partida acaba sem que ninguém tenha ficado sem cartas."
    ),
    "card-out": "A partida acaba assim que alguém ficar sem cartas.",
    "card-score": (
        "Cada jogador ganha os pontos das cartas que pôs na mesa, mesmo nas combinações dos outros, e perde os pontos "
        "das cartas que tem na mão."
    ),
    "card-values": "Pontos de cada carta: valete, dama e rei {court}, ás {ace}, as outras o seu número.",
    "card-values-number": "Pontos de cada carta: valete 11, dama 12, rei 13, ás {ace}, as outras o seu número.",
    "card-bonus": "Quem ficar sem cartas ganha mais {points} pontos.",
    "card-bonus-one": "Quem ficar sem cartas ganha mais um ponto.",
    "card-time-up": (
        "Quando o tempo acaba, recebes uma carta do monte se ainda não tiraste nenhuma, não descartas nada e a vez "
        "passa."
    ),
    "joker-worth": "Um joker vale {points} pontos.",
    "joker-worth-one": "Um joker vale um ponto.",
    "yes": "sim",
    "no": "não",
    "option-jokers": "Número de jokers",
    "option-hand": "Peças ou cartas dadas a cada jogador",
    "option-min_seats": "Mínimo de jogadores",
    "option-max_seats": "Máximo de jogadores",
    "option-start_by": "Quem começa",
    "option-opening_min": "Pontos necessários para as primeiras combinações",
    "option-open_and_rearrange_same_turn": "Mexer na mesa logo na jogada das primeiras combinações",
    "option-idle_rearrange_allowed": "Mexer em combinações sem relação com as peças postas",
    "option-joker_move": "Quando um joker da mesa pode mudar de peça",
    "option-freed_joker_place": "Onde se usa um joker libertado",
    "option-turn_seconds": "Segundos por jogada (0 = sem limite)",
    "option-timeout_draw": "Peças tiradas se o tempo acabar a meio da jogada",
    "option-timeout_play_draw": "Peças tiradas se o tempo acabar com a mesa certa",
    "option-timeout_idle_draw": "Peças tiradas se o tempo acabar sem nada mexido",
    "option-timeout_keeps_legal_part": "O que estiver certo fica na mesa quando o tempo acaba",
    "option-illegal_draw": "Peças tiradas por terminar com a mesa errada (0 = não se pode)",
    "option-rummikub_call": "É preciso anunciar a vitória",
    "option-joker_penalty": "Pontos de um joker no fim",
    "option-series_tie": "Empate no total da série",
    "option-rounds": "Partidas da série (0 = até alguém ter os pontos)",
    "option-target": "Pontos que acabam a série (0 = nenhuns)",
    "option-melds_per_turn": "Novas combinações por jogada (0 = sem limite)",
    "option-turnovers": "Vezes que a pilha de descarte volta a ser monte (0 = sem limite)",
    "option-ace_points": "Pontos de um ás",
    "option-court_points": "Pontos de valete, dama e rei (0 = o seu número)",
    "option-out_bonus": "Pontos extra para quem fica sem cartas",
    "choice-replaced": "quando a sua peça lhe toma o lugar",
    "choice-same-number": "com o mesmo número, ou qualquer peça depois de uma troca anunciada",
    "choice-free": "sempre",
    "choice-anywhere": "em qualquer lugar",
    "choice-new-set": "numa combinação nova",
    "choice-highest-tile": "quem tirar o número mais alto",
    "choice-lot": "por sorteio",
    "choice-dealer-lot": "o jogador a seguir a quem dá, escolhido por sorteio",
    "choice-shared": "a vitória é partilhada",
    "choice-most-wins": "decide quem ganhou mais partidas",
}
