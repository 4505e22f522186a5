"""From a session to what its display shows. Pure: time and what the session does not remember are arguments.

The pictures themselves are made of what a display far away knows as well: `node/mqtt/remoteviews.py` shows the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from engine.series import Standing, standing
from engine.state import CallName, GameResult, Phase, PublicState, Seat
from node.tablewords import names_of, words_of
from protocol.consensus.absence import Absence, Cause
from protocol.dealing.progress import DealStep, deal_progress
from protocol.events import EntryCommitted
from protocol.messages import Genesis
from protocol.roster import clean_name
from protocol.session import Session

WORDS_S: Final = 6.0  # so long at least the table words are shown when a game begins
RESULT_S: Final = 12.0  # then the standings of the series
VOID: Final = ErrorView("This game is void: two different courses of it were signed.")

_STEPS: Final = {
    DealStep.KEYS: "Everybody makes keys",
    DealStep.SHUFFLE: "Everybody shuffles",
    DealStep.RACKS: "The tiles are dealt",
    DealStep.DRAW: "A tile is drawn",
    DealStep.MATCH: "The racks are matched",
    DealStep.OPENING: "The racks are opened",
}


TURN_CALLS: Final = (None, CallName.DRAW)  # the open calls in which somebody's turn is on
Turn = tuple[int, int, Phase]  # the game of the series, the turn in it, the phase


@dataclass(frozen=True, slots=True)
class Moments:
    """What a view needs besides the session, all in seconds of the node's clock.

    `table_s`: when the table's first game began; `turn_s`: when this turn did, put off by the pauses in it; `over_s`:
    when this game was over. None: before anybody looked. `unsure`: this turn began before this node could know it, so
    its own clock of the turn says nothing. `paused_by`: who asked for the pause. `turn`, `paused_s`: which turn it is,
    and since when it is paused.
    """

    table_s: float | None = None
    turn_s: float | None = None
    over_s: float | None = None
    unsure: bool = False
    paused_by: Seat | None = None
    turn: Turn | None = None
    paused_s: float | None = None

    def at(self, turn: Turn, now_s: float, *, paused: bool, unsure: bool) -> Moments:
        """The moments now that it is this turn; `unsure` counts if it was another one before.

        The time of a turn without a limit stands in a pause.
        """
        now = self
        if turn != self.turn:
            over_s = now_s if turn[2] is Phase.OVER else None
            now = replace(self, turn=turn, turn_s=now_s, over_s=over_s, unsure=unsure)
        if paused:
            return now if now.paused_s is not None else replace(now, paused_s=now_s)
        if now.paused_s is None:
            return now
        stood_s = now_s - now.paused_s
        return replace(now, paused_s=None, turn_s=None if now.turn_s is None else min(now_s, now.turn_s + stood_s))


def table_view(session: Session, moments: Moments, now_s: float) -> View:
    """What is shown of a table, whether one sits at it or only looks on."""
    genesis, state = session.genesis, session.state
    if genesis is None or state is None:
        return _lobby(session)
    names = names_of(genesis)
    if session.void is not None:
        return VOID
    if state.phase is Phase.OVER:
        assert state.result is not None
        games = (*state.results, state.result)
        stands = standing(state.rules, games, len(state.seats))
        return after_view(names, games, stands, moments, now_s, single=state.rules.rounds == 1)
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
    call = None if state.call is None else state.call.name
    if state.phase is Phase.PLAY and call in TURN_CALLS:
        racks = [
            PlayerTiles(name, len(own.rack)) if own.in_game else None
            for name, own in zip(names, state.seats, strict=True)
        ]
        limit_s, left_s = float(state.rules.turn_seconds), session.remaining_s(now_s)
        return turn_view(racks, state.turn, state.stock.left, limit_s, left_s, moments, now_s)
    return dealing_view(state.phase, call, _progress(session))


def turn_view(
    racks: Sequence[PlayerTiles | None],
    turn: int,
    pool: int,
    limit_s: float,
    left_s: float | None,
    moments: Moments,
    now_s: float,
) -> View:
    """The clock of the turn of seat `turn`. `racks` by seat, None for who is not in the game."""
    actor = racks[turn]
    assert actor is not None, "whose turn it is is in the game"
    if moments.unsure:
        return NoticeView(f"{actor.name}'s turn", "The clock starts next turn.")
    if limit_s:
        clock_s = limit_s if left_s is None else left_s
    else:
        clock_s = 0.0 if moments.turn_s is None else max(0.0, now_s - moments.turn_s)
    players = tuple(rack for rack in racks if rack is not None)
    place = sum(rack is not None for rack in racks[:turn])
    return TurnView(actor.name, clock_s, limit_s, players, place, pool)


def dealing_view(phase: Phase, call: CallName | None, progress: str = "") -> View:
    """What is shown while nobody's turn is on."""
    if phase is Phase.FINAL:
        return NoticeView("The end", "The racks are opened.")
    return NoticeView("Mixing" if call is CallName.REDEAL else "Dealing", progress)


def after_view(
    names: Sequence[str],
    games: Sequence[GameResult],
    stands: Standing,
    moments: Moments,
    now_s: float,
    *,
    single: bool,
) -> View:
    """The result of the last of `games`, and a while later the standings; never of a `single` game."""
    over_s = 0.0 if moments.over_s is None else now_s - moments.over_s
    if single or over_s < RESULT_S:
        scores = tuple(ScoreLine(name, points) for name, points in zip(names, games[-1].scores, strict=True))
        return ResultView(len(games), scores, tuple(games[-1].winners))
    totals = tuple(ScoreLine(names[seat], stands.totals[seat]) for seat in stands.standings)
    first = sum(line.points == totals[0].points for line in totals)
    return StandingsView(len(games), totals, len(stands.winners) if stands.over else first, stands.over)


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


def _progress(session: Session) -> str:
    game = session.game
    progress = None if game is None or game.call is None else deal_progress(game.call)
    return "" if progress is None else f"{_STEPS[progress.step]}: {progress.done} of {progress.total}."
