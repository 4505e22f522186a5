"""The sentences of the rulebook in Finnish; names and `{...}` as in `phrases`."""

from __future__ import annotations

from typing import Final

FINNISH: Final[dict[str, str]] = {
    "title-pt": "Portugalilainen netti-Rummikub",
    "title-fi": "Suomalainen tasku-Rummikub",
    "title-no": "Norjalainen kortti-Rummikub",
    "title-es": "Espanjalainen korttirommi",
    "head-aim": "Tavoite",
    "head-start": "Pelin alku",
    "head-melds": "Ryhmät ja suorat",
    "head-turn": "Oma vuorosi",
    "head-opening": "Ensimmäiset yhdistelmäsi",
    "head-table": "Pöydällä olevien laattojen järjestely",
    "head-jokers": "Jokerit pöydällä",
    "head-time": "Aika",
    "head-end": "Pelin loppu",
    "head-series": "Useita pelejä",
    "head-house": "Tämän pöydän omat säännöt",
    "aim": "Yritä saada ensimmäisenä kaikki telineesi laatat pöydälle ryhminä ja suorina.",
    "aim-called": "Kun telineesi on tyhjä, voitat vasta painamalla ”Rummikub”; pelkkä ”End turn” ei riitä.",
    "aim-automatic": "Kun telineesi on tyhjä, olet voittanut.",
    "deck": "Numerolaattoja on {tiles}: numerot 1–13 neljässä värissä, kukin kahdesti. Lisäksi on {jokers} jokeria.",
    "deck-one": "Numerolaattoja on {tiles}: numerot 1–13 neljässä värissä, kukin kahdesti. Lisäksi on {jokers} jokeri.",
    "deck-plain": "Numerolaattoja on {tiles}: numerot 1–13 neljässä värissä, kukin kahdesti. Jokereita ei ole.",
    "players": "{low}–{high} pelaajaa.",
    "players-exactly": "{count} pelaajaa.",
    "hand": "Jokainen saa {count} laattaa. Loput jäävät nostopinoon.",
    "hand-one": "Jokainen saa yhden laatan. Loput jäävät nostopinoon.",
    "start-highest": (
        "Jokainen nostaa laatan, ja suurimman numeron saanut aloittaa. Jokerin nostanut nostaa uudelleen, samoin ne, "
        "joilla on sama suurin numero. Nämä laatat palautetaan pinoon ennen jakoa."
    ),
    "start-lot": "Aloittaja arvotaan.",
    "clockwise": "Sinun jälkeesi vuoro siirtyy seuraavalle pelaajalle myötäpäivään.",
    "start-later": "Jokaisen seuraavan pelin aloittaa seuraava pelaaja myötäpäivään.",
    "group": "Ryhmässä on kolme tai neljä laattaa, joissa on sama numero mutta kaikissa eri väri.",
    "run": (
        "Suorassa on vähintään kolme samanväristä laattaa, joiden numerot ovat peräkkäisiä. 1 on pienin ja 13 suurin: "
        "13:n jälkeen ei tule mitään."
    ),
    "joker-stands": (
        "Jokeri korvaa minkä tahansa laatan. Suorassa sen paikka kertoo, minkä; numeroa 0 tai 14 se ei korvaa koskaan. "
        "Jokeri on samanarvoinen kuin laatta, jonka se korvaa."
    ),
    "joker-open-colour": "Ryhmässä jokeri korvaa minkä tahansa värin, joka siitä vielä puuttuu.",
    "joker-both-ways": (
        "Yksi laatta ja kaksi jokeria voi olla ryhmä tai suora: sinä sanot kumpi, ja sellaisena se pysyy. Jos et sano "
        "mitään, se on kahdesta arvokkaampi, ja jos arvot ovat samat, se on ryhmä."
    ),
    "joker-not-alone": (
        "Yhdistelmässä saa olla kuinka monta jokeria tahansa, mutta vähintään yhdessä laatassa on oltava numero."
    ),
    "turn": (
        "Pelaa telineestäsi vähintään yksi laatta: uusia ryhmiä ja suoria tai laattoja, jotka sopivat pöydällä oleviin."
    ),
    "turn-end": (
        "Vuoron aikana pöytä saa olla kesken. Kun päätät vuorosi, jokaisen laatan on oltava ryhmässä tai suorassa, "
        "eikä pöydältä saa puuttua mitään."
    ),
    "turn-draw": (
        "Jos et voi tai halua pelata laattoja, nosta yksi laatta. Siihen vuorosi päättyy; nostetun laatan saat pelata "
        "seuraavalla vuorollasi."
    ),
    "turn-not-both": "Pelaa tai nosta, älä molempia: ennen nostamista ota pelaamasi laatat takaisin.",
    "illegal-refused": "Jos pöytä ei ole kunnossa, et voi päättää vuoroasi: jatka tai ota kaikki takaisin.",
    "illegal-costs": "Jos päätät vuorosi eikä pöytä ole kunnossa, kaikki perutaan ja nostat {count} laattaa.",
    "illegal-costs-one": "Jos päätät vuorosi eikä pöytä ole kunnossa, kaikki perutaan ja nostat yhden laatan.",
    "stock-empty": (
        "Kun nostopino on tyhjä, se, joka ei pelaa mitään, passaa. Kukaan ei saa passata niin kauan kuin pinossa on "
        "laattoja."
    ),
    "opening": (
        "Kun pelaat laattoja ensimmäisen kerran, yhdistelmiesi on oltava yhteensä vähintään {points} pisteen arvoiset, "
        "kaikki samalla vuorolla."
    ),
    "opening-one": (
        "Kun pelaat laattoja ensimmäisen kerran, yhdistelmiesi on oltava yhteensä vähintään yhden pisteen arvoiset, "
        "kaikki samalla vuorolla."
    ),
    "opening-none": "Saat käyttää pöydän laattoja heti ensimmäisestä vuorostasi alkaen.",
    "opening-own": "Vain oman telineesi laatat lasketaan. Pöydällä oleviin yhdistelmiin ei saa lisätä mitään.",
    "opening-same-turn": "Kun nämä pisteet ovat pöydällä, saat samalla vuorolla käyttää myös muita pöydän laattoja.",
    "opening-later": "Sillä vuorolla pöytä pysyy ennallaan. Saat käyttää sen laattoja seuraavasta vuorostasi alkaen.",
    "rearrange": (
        "Ensimmäisten yhdistelmiesi jälkeen saat käyttää kaikkia pöydän laattoja: lisätä yhdistelmiin, jakaa niitä, "
        "ottaa niistä laattoja ja muodostaa uusia yhdistelmiä, kunhan lopuksi kaikki on kunnossa."
    ),
    "never-back": "Pöydältä ei koskaan oteta laattaa telineeseen.",
    "no-idle": "Yhdistelmiä saa muuttaa vain oman laatan pelaamiseksi. Muutoksen on liityttävä laattaan, jonka pelaat.",
    "joker-replaced": (
        "Jokeri korvaa aina saman laatan, kunnes samanlainen oikea laatta tulee sen paikalle. Ryhmässä käy mikä "
        "tahansa väri, jonka jokeri voi korvata, ja yksi laatta riittää. Siihen asti jokeria saa siirtää kuten "
        "laattaa, jonka se korvaa."
    ),
    "joker-replaced-where": (
        "Oikea laatta voi tulla telineestäsi tai pöydältä. Sen on päädyttävä siihen, mitä jokerin yhdistelmästä on "
        "jäljellä."
    ),
    "freed-anywhere": "Vapautunut jokeri on käytettävä samalla vuorolla, missä tahansa.",
    "freed-new": (
        "Vapautunut jokeri on käytettävä samalla vuorolla uudessa yhdistelmässä: siihen ei saa sisältyä kokonaisena "
        "mitään yhdistelmää, joka oli jo pöydällä."
    ),
    "joker-never-kept": "Pöydällä olevaa jokeria ei koskaan oteta telineeseen.",
    "joker-same-number": "Jokerin saa ottaa yhdistelmästä ja käyttää muualla samana numerona. Väri on vapaa.",
    "joker-exchange": (
        "Tai vaihda se: ilmoita vaihdosta ensin ja pane sitten jokerin paikalle telineestäsi laatta, jossa on jokerin "
        "korvaama numero ja jokin väri, jonka jokeri voi korvata. Sen jälkeen jokeri voi samalla vuorolla olla mikä "
        "tahansa laatta."
    ),
    "joker-free": "Pöydällä olevan jokerin saa ottaa ja käyttää minä tahansa laattana.",
    "no-limit": "Aikarajaa ei ole.",
    "limit": "Vuoro kestää enintään {seconds} sekuntia.",
    "time-finished": "Jos pöytä on kunnossa ajan loppuessa, siirtosi jää voimaan eikä maksa mitään.",
    "time-finished-costs": (
        "Jos pöytä on kunnossa ajan loppuessa, siirtosi jää voimaan, mutta nostat {count} laattaa, ellet ole voittanut."
    ),
    "time-finished-costs-one": (
        "Jos pöytä on kunnossa ajan loppuessa, siirtosi jää voimaan, mutta nostat yhden laatan, ellet ole voittanut."
    ),
    "time-keeps-part": (
        "Jos ei ole, pelaamasi laatat, jotka eivät kuulu mihinkään ryhmään tai suoraan, palaavat telineeseesi. Jos "
        "loput ovat kunnossa, ne jäävät pöydälle."
    ),
    "time-unfinished": "Muuten pöytä palautetaan ennalleen ja nostat {count} laattaa.",
    "time-unfinished-one": "Muuten pöytä palautetaan ennalleen ja nostat yhden laatan.",
    "time-unfinished-free": "Muuten pöytä palautetaan ennalleen.",
    "time-idle": "Jos et siirtänyt mitään, nostat vain yhden laatan.",
    "score": "Muut menettävät telineensä numeroiden summan. Voittaja saa nämä kaikki yhteensä.",
    "joker-costs": "Telineeseen jäänyt jokeri maksaa {points} pistettä.",
    "joker-costs-one": "Telineeseen jäänyt jokeri maksaa yhden pisteen.",
    "blocked": (
        "Jos kaikki pelaajat passaavat peräkkäin, peli päättyy. Voittaja on se, jonka telineessä on vähiten pisteitä; "
        "muut menettävät kukin erotuksen voittajaan, ja voittaja saa erotusten summan."
    ),
    "blocked-tie": (
        "Jos vähiten pisteitä on usealla, heistä voittaa se, jolla on vähemmän laattoja. Jos nekin ovat tasan, he "
        "jakavat voiton ja saavat 0 pistettä."
    ),
    "rounds": "Pelataan {count} peliä ja lasketaan pisteet yhteen.",
    "rounds-one": "Pelataan yksi peli.",
    "target": "Sarja päättyy, kun jollakulla on vähintään {points} pistettä.",
    "target-one": "Sarja päättyy, kun jollakulla on vähintään yksi piste.",
    "series-win": "Se, jolla on eniten pisteitä yhteensä, voittaa.",
    "tie-shared": "Jos yhteispisteet ovat tasan, voitto jaetaan.",
    "tie-most-wins": (
        "Jos yhteispisteet ovat tasan, ratkaisee Rummikubien määrä, sitten plussapisteiden summa ja lopuksi "
        "ensimmäinen Rummikub. Jumiin jäänyt peli ei ole Rummikub."
    ),
    "house": "{name}: {value}",
    "card-aim": (
        "Yritä päästä ensimmäisenä eroon kaikista korteistasi: ryhminä ja suorina pöydälle tai viimeisellä poistolla."
    ),
    "card-deck": "Yksi {cards} kortin pakka.",
    "card-jokers": "Lisäksi {count} jokeria.",
    "card-jokers-one": "Lisäksi yksi jokeri.",
    "card-hand": (
        "Jokainen saa {count} korttia. Seuraava kortti käännetään poistopakan ensimmäiseksi; loput ovat nostopakka."
    ),
    "card-hand-one": (
        "Jokainen saa yhden kortin. Seuraava kortti käännetään poistopakan ensimmäiseksi; loput ovat nostopakka."
    ),
    "card-hand-by-players": (
        "Kahden pelaajan pelissä jokainen saa 10 korttia, kolmen tai neljän 7 ja viiden tai kuuden 6. Seuraava kortti "
        "käännetään poistopakan ensimmäiseksi; loput ovat nostopakka."
    ),
    "card-start": "Jakaja arvotaan, ja häntä seuraava pelaaja aloittaa.",
    "card-group": "Ryhmässä on kolme tai neljä samanarvoista korttia.",
    "card-run": (
        "Suorassa on vähintään kolme peräkkäistä saman maan korttia. Ässä on pienin: A-2-3 on suora, Q-K-A ei ole."
    ),
    "card-joker-stands": (
        "Jokeri korvaa minkä tahansa kortin. Suorassa sen paikka kertoo, minkä; ennen ässää ja kuninkaan jälkeen ei "
        "tule mitään."
    ),
    "card-draw": "Ota ensin yksi kortti: nostopakan seuraava tai poistopakan päällimmäinen.",
    "card-meld": "Sen jälkeen saat pöydätä ryhmiä ja suoria.",
    "card-meld-limit": "Sen jälkeen saat pöydätä enintään {count} uutta ryhmää tai suoraa.",
    "card-meld-limit-one": "Sen jälkeen saat pöydätä yhden uuden ryhmän tai suoran.",
    "card-add": (
        "Saat lisätä kortteja mihin tahansa pöydällä olevaan ryhmään tai suoraan, niin omiin kuin muiden, niin monta "
        "kuin haluat."
    ),
    "card-no-rearranging": "Pöydällä olevista yhdistelmistä ei koskaan oteta mitään pois.",
    "card-discard": "Pane lopuksi yksi kortti poistopakkaan. Siihen vuorosi päättyy.",
    "card-not-same": (
        "Poistopakasta ottamaasi korttia ei saa panna takaisin samalla vuorolla. Jos se on ainoa korttisi, vuorosi "
        "päättyy ilman poistoa."
    ),
    "card-turnover": (
        "Kun nostopakka on tyhjä ja siitä nostetaan, poistopakka käännetään sekoittamatta uudeksi nostopakaksi."
    ),
    "card-turnover-limit": (
        "Kun nostopakka on tyhjä ja siitä nostetaan, poistopakka käännetään sekoittamatta uudeksi nostopakaksi, "
        "enintään {count} kertaa. Sen jälkeen peli päättyy, eikä kukaan ole päässyt eroon korteistaan."
    ),
    "card-turnover-limit-one": (
        "Kun nostopakka on tyhjä ja siitä nostetaan, poistopakka käännetään sekoittamatta uudeksi nostopakaksi, mutta "
        "vain kerran. Sen jälkeen peli päättyy, eikä kukaan ole päässyt eroon korteistaan."
    ),
    "card-out": "Peli päättyy heti, kun jollakulla ei ole enää kortteja.",
    "card-score": (
        "Jokainen saa pöytäämiensä korttien pisteet, myös muiden yhdistelmiin lisäämiensä, ja menettää käteensä "
        "jääneiden korttien pisteet."
    ),
    "card-values": "Korttien pisteet: jätkä, kuningatar ja kuningas {court}, ässä {ace}, muut numeronsa mukaan.",
    "card-values-number": "Korttien pisteet: jätkä 11, kuningatar 12, kuningas 13, ässä {ace}, muut numeronsa mukaan.",
    "card-bonus": "Korteistaan eroon päässyt saa lisäksi {points} pistettä.",
    "card-bonus-one": "Korteistaan eroon päässyt saa lisäksi yhden pisteen.",
    "card-time-up": (
        "Kun aika loppuu, saat nostopakasta yhden kortin, jos et ole vielä ottanut korttia. Mitään ei poisteta, ja "
        "vuoro siirtyy."
    ),
    "joker-worth": "Jokeri on {points} pisteen arvoinen.",
    "joker-worth-one": "Jokeri on yhden pisteen arvoinen.",
    "yes": "kyllä",
    "no": "ei",
    "option-jokers": "Jokerien määrä",
    "option-hand": "Laattoja tai kortteja pelaajalle jaossa",
    "option-min_seats": "Pelaajia vähintään",
    "option-max_seats": "Pelaajia enintään",
    "option-start_by": "Kuka aloittaa",
    "option-opening_min": "Ensimmäisten yhdistelmien vähimmäispisteet",
    "option-open_and_rearrange_same_turn": "Pöydän laattoja saa käyttää jo ensimmäisten yhdistelmien vuorolla",
    "option-idle_rearrange_allowed": "Yhdistelmiä saa muuttaa ilman yhteyttä pelattuihin laattoihin",
    "option-joker_move": "Milloin pöydällä oleva jokeri voi vaihtua toiseksi laataksi",
    "option-freed_joker_place": "Missä vapautunut jokeri käytetään",
    "option-turn_seconds": "Vuoron kesto sekunteina (0 = ei rajaa)",
    "option-timeout_draw": "Nostettavia laattoja, kun aika loppuu kesken",
    "option-timeout_play_draw": "Nostettavia laattoja, kun aika loppuu ja pöytä on kunnossa",
    "option-timeout_idle_draw": "Nostettavia laattoja, kun aika loppuu eikä mitään ole siirretty",
    "option-timeout_keeps_legal_part": "Kunnossa olevat yhdistelmät jäävät pöydälle ajan loppuessa",
    "option-illegal_draw": "Nostettavia laattoja, kun vuoro päätetään virheellisesti (0 = ei voi päättää)",
    "option-rummikub_call": "Voitto on ilmoitettava",
    "option-joker_penalty": "Jokerin pisteet pelin lopussa",
    "option-series_tie": "Tasapisteet sarjan lopussa",
    "option-rounds": "Sarjan pelien määrä (0 = kunnes pisteraja täyttyy)",
    "option-target": "Pisteraja, johon sarja päättyy (0 = ei rajaa)",
    "option-melds_per_turn": "Uusia yhdistelmiä vuorolla (0 = ei rajaa)",
    "option-turnovers": "Kuinka monesti poistopakasta tehdään nostopakka (0 = ei rajaa)",
    "option-ace_points": "Ässän pisteet",
    "option-court_points": "Jätkän, kuningattaren ja kuninkaan pisteet (0 = numeron mukaan)",
    "option-out_bonus": "Lisäpisteet korteista eroon päässeelle",
    "choice-replaced": "kun oikea laatta tulee sen paikalle",
    "choice-same-number": "samana numerona, ilmoitetun vaihdon jälkeen mikä tahansa laatta",
    "choice-free": "milloin tahansa",
    "choice-anywhere": "missä tahansa",
    "choice-new-set": "uudessa yhdistelmässä",
    "choice-highest-tile": "suurimman numeron nostanut",
    "choice-lot": "arvotaan",
    "choice-dealer-lot": "arvottua jakajaa seuraava pelaaja",
    "choice-shared": "voitto jaetaan",
    "choice-most-wins": "eniten pelejä voittanut ratkaisee",
}
