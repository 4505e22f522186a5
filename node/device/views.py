"""From a session to what its display shows. Pure: time and what the session does not remember are arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from display.views import (
    ErrorView,
    LobbyView,
    NoticeView,
    PausedView,
    PenaltyView,
    PlayerTiles,
    ResultView,
    ScoreLine,
    StandingsView,
    TurnView,
    View,
    WaitingView,
)
from engine.actions import Draw, DrawReason, Play, Timeout
from engine.series import standing
from engine.state import CallName, Phase, PublicState, Seat
from node.tablewords import names_of, words_of
from protocol.consensus.absence import Absence, Cause
from protocol.dealing.progress import DealStep, deal_progress
from protocol.events import EntryCommitted
from protocol.messages import Genesis
from protocol.roster import clean_name
from protocol.session import Session

WORDS_S: Final = 6.0  # so long at least the table words are shown when a game begins
RESULT_S: Final = 12.0  # then the standings of the series

_STEPS: Final = {
    DealStep.KEYS: "Everybody makes keys",
    DealStep.SHUFFLE: "Everybody shuffles",
    DealStep.RACKS: "The tiles are dealt",
    DealStep.DRAW: "A tile is drawn",
    DealStep.MATCH: "The racks are matched",
    DealStep.OPENING: "The racks are opened",
}


@dataclass(frozen=True, slots=True)
class Moments:
    """What a view needs besides the session, all in seconds of the node's clock.

    `table_s`: when the table's first game began; `turn_s`: when this turn did, put off by the pauses in it; `over_s`:
    when this game was over. None: before anybody looked. `unsure`: this turn began before this node could know it, so
    its own clock of the turn says nothing. `paused_by`: who asked for the pause.
    """

    table_s: float | None = None
    turn_s: float | None = None
    over_s: float | None = None
    unsure: bool = False
    paused_by: Seat | None = None


def table_view(session: Session, moments: Moments, now_s: float) -> View:
    """What is shown of a table, whether one sits at it or only looks on."""
    genesis, state = session.genesis, session.state
    if genesis is None or state is None:
        return _lobby(session)
    names = names_of(genesis)
    if session.void is not None:
        return ErrorView("This game is void: two different courses of it were signed.")
    if state.phase is Phase.OVER:
        return _after(state, names, moments, now_s)
    absences = session.absences()
    if absences:
        return _absent(absences, names, now_s)
    if state.paused is not None:
        end_s = session.clock.pause_end_s
        by = "" if moments.paused_by is None else names[moments.paused_by]
        return PausedView(by, None if end_s is None else max(0.0, end_s - now_s))
    if state.call is not None and (late := session.late(now_s)):
        return WaitingView(names[late[0]])
    if _shows_words(state, moments, now_s):
        return LobbyView(clean_name(genesis.table_name), tuple(words_of(genesis).split()), tuple(names))
    if state.phase is Phase.PLAY and (state.call is None or state.call.name is CallName.DRAW):
        return _turn(session, state, names, moments, now_s)
    return _dealing(session, state)


def penalty_of(event: EntryCommitted, genesis: Genesis, state: PublicState) -> PenaltyView | None:
    """What an entry makes its actor draw as a penalty, if anything. `state` is the state after it."""
    call = state.call
    if event.actor is None or call is None or call.name is not CallName.DRAW or not call.slots:
        return None
    match event.action:
        case Draw(reason=DrawReason.ILLEGAL):
            reason = "The table was not right."
        case Timeout() | Play(time_up=True):
            reason = "The time was up."
        case _:
            return None
    return PenaltyView(names_of(genesis)[event.actor], len(call.slots), reason)


def _lobby(session: Session) -> View:
    card = session.lobby.table_card
    if card is None:
        return NoticeView("Joining", "Waiting to hear what is played at the table.")
    own = next((device for device in session.lobby.devices() if device.node == session.signer.node_id), None)
    if own is not None and own.refused_by:
        who = " and ".join(own.refused_by)
        return NoticeView("Not wanted", f"{who} {'does' if len(own.refused_by) == 1 else 'do'} not want this device.")
    return LobbyView(clean_name(card.name), (), tuple(clean_name(member.name) for member in session.lobby.members()))


def _absent(absences: Sequence[Absence], names: Sequence[str], now_s: float) -> View:
    """Whoever is waited for longest."""
    longest = max(absences, key=lambda absence: absence.until_s)
    name = names[longest.seat]
    if longest.cause is Cause.FAULT:
        return ErrorView(f"{name} broke the rules of the table.")
    return WaitingView(name, max(0.0, longest.until_s - now_s))


def _shows_words(state: PublicState, moments: Moments, now_s: float) -> bool:
    if state.game or state.turn_number:
        return False
    early = moments.table_s is not None and now_s - moments.table_s < WORDS_S
    return state.phase in (Phase.START, Phase.DEAL) or (early and not moments.unsure)


def _turn(session: Session, state: PublicState, names: Sequence[str], moments: Moments, now_s: float) -> View:
    limit_s = float(state.rules.turn_seconds)
    left_s = session.remaining_s(now_s)
    if moments.unsure:
        return NoticeView(f"{names[state.turn]}'s turn", "The clock starts next turn.")
    if limit_s:
        clock_s = limit_s if left_s is None else left_s
    else:
        clock_s = 0.0 if moments.turn_s is None else max(0.0, now_s - moments.turn_s)
    seats = [seat for seat, own in enumerate(state.seats) if own.in_game]
    players = tuple(PlayerTiles(names[seat], len(state.seats[seat].rack)) for seat in seats)
    return TurnView(names[state.turn], clock_s, limit_s, players, seats.index(state.turn), state.stock.left)


def _dealing(session: Session, state: PublicState) -> View:
    game = session.game
    progress = None if game is None or game.call is None else deal_progress(game.call)
    if state.phase is Phase.FINAL:
        return NoticeView("The end", "The racks are opened.")
    title = "Mixing" if state.call is not None and state.call.name is CallName.REDEAL else "Dealing"
    text = "" if progress is None else f"{_STEPS[progress.step]}: {progress.done} of {progress.total}."
    return NoticeView(title, text)


def _after(state: PublicState, names: Sequence[str], moments: Moments, now_s: float) -> View:
    """The result, and a while later the standings of a series."""
    assert state.result is not None
    over_s = 0.0 if moments.over_s is None else now_s - moments.over_s
    games = (*state.results, state.result)
    if state.rules.rounds == 1 or over_s < RESULT_S:
        scores = tuple(ScoreLine(name, points) for name, points in zip(names, state.result.scores, strict=True))
        return ResultView(len(games), scores, tuple(state.result.winners))
    stands = standing(state.rules, games, len(state.seats))
    totals = tuple(ScoreLine(names[seat], stands.totals[seat]) for seat in stands.standings)
    first = sum(line.points == totals[0].points for line in totals)
    return StandingsView(len(games), totals, len(stands.winners) if stands.over else first, stands.over)
