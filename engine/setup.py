"""The start of a game: who may sit down, who begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.errors import Fault, IllegalMove, illegal
from engine.rulesets import RuleSet, StartBy
from engine.series import series_over
from engine.state import Call, CallName, Phase, PublicState, Seat, SeatState, Stock
from engine.tiles import Tile, TileId


@dataclass(frozen=True, slots=True)
class LotResult:
    """Who begins. `rounds` are the tiles drawn for it, to be shown: (seat, tile) in the order they were drawn."""

    starter: Seat
    rounds: tuple[tuple[tuple[Seat, TileId], ...], ...] = ()


def seats_fault(rules: RuleSet, seats: int) -> Fault | None:
    """Why a game cannot be played by so many, None if it can."""
    if rules.min_seats <= seats <= rules.max_seats:
        return None
    sentence = f"This game is for {rules.min_seats} to {rules.max_seats} players, not for {seats}."
    return Fault("SEAT-COUNT", sentence)


def start_series(rules: RuleSet, seats: int) -> PublicState:
    """The first game of a series, its deck still to be shuffled. Raises `IllegalMove` for a wrong number of seats."""
    fault = seats_fault(rules, seats)
    if fault is not None:
        raise IllegalMove((fault,))
    return PublicState(
        rules=rules,
        game=0,
        phase=Phase.START,
        seats=(SeatState(),) * seats,
        stock=Stock(0, 0, 0),
        call=Call(CallName.START),
    )


def next_game(state: PublicState, game: int, seats: tuple[Seat, ...]) -> PublicState:
    """The next game of the series, its deck still to be shuffled. Raises `IllegalMove`.

    Who begins moves one seat clockwise (`es`: so does the dealer). Source: docs/rules.md, section 2.9.
    """
    if state.phase is not Phase.OVER or state.result is None or state.starter is None:
        raise illegal("GAME-RUNNING", "First this game must come to its end.")
    if series_over(state):
        raise illegal("SERIES-OVER", "The series is over.")
    if game != state.game + 1:
        raise illegal("WRONG-GAME", f"The next game is number {state.game + 2}.")
    playing = seats or tuple(Seat(seat) for seat, own in enumerate(state.seats) if own.in_game)
    if list(playing) != sorted(set(playing)) or not 0 <= playing[0] <= playing[-1] < len(state.seats):
        raise illegal("WRONG-SEATS", "These are not seats of this table, each once and in order.")
    fault = seats_fault(state.rules, len(playing))
    if fault is not None:
        raise IllegalMove((fault,))
    later = [seat for seat in playing if seat > state.starter]
    return PublicState(
        rules=state.rules,
        game=game,
        phase=Phase.START,
        seats=tuple(SeatState(in_game=seat in playing) for seat in range(len(state.seats))),
        stock=Stock(0, 0, 0),
        starter=later[0] if later else playing[0],
        call=Call(CallName.START),
        results=(*state.results, state.result),
    )


def lot_outcome(drawn: Sequence[Tile]) -> tuple[int, ...]:
    """Indexes of those that draw again, or of the only one that begins. Source: docs/rules.md, section 2.9.

    Who drew a joker draws again; then the highest number begins, and equal highest draw again.
    """
    jokers = tuple(index for index, tile in enumerate(drawn) if tile.is_joker)
    if jokers:
        return jokers
    highest = max(tile.number for tile in drawn)
    return tuple(index for index, tile in enumerate(drawn) if tile.number == highest)


def draw_lots(rules: RuleSet, seats: int, number: Callable[[int], int]) -> LotResult:
    """Who begins the first game; `number(t)` is the t-th random number. Source: docs/deal-entries.md, section 5."""
    if rules.start_by is StartBy.LOT:
        return LotResult(Seat(number(0) % seats))
    if rules.start_by is StartBy.DEALER_LOT:
        return LotResult(Seat((number(0) + 1) % seats))
    return _draw_tiles(rules, seats, number)


def _draw_tiles(rules: RuleSet, seats: int, number: Callable[[int], int]) -> LotResult:
    faces = rules.faces
    bag: list[TileId] = []
    contenders = [Seat(seat) for seat in range(seats)]
    rounds = []
    drawn = 0
    while len(contenders) > 1:
        if len(bag) < len(contenders) + rules.jokers:
            bag = [TileId(tile) for tile in range(len(faces))]
        draws = []
        kept = []
        for seat in contenders:
            while True:
                tile = bag.pop(number(drawn) % len(bag))
                drawn += 1
                draws.append((seat, tile))
                if not faces[tile].is_joker:
                    break
            kept.append(faces[tile])
        rounds.append(tuple(draws))
        contenders = [contenders[index] for index in lot_outcome(kept)]
    return LotResult(contenders[0], tuple(rounds))
