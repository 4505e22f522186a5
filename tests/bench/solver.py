"""How fast the exact best move is found, beside other solvers in the same run, and where it takes longest.

*Steady*: every pass is a process of its own that has solved a few hundred other positions first, as a program that has
run for a while. Of each position the shortest of all passes counts. Other solvers get the shortest of as many calls in
one process. Ours starts from the words for the tiles; others from numbers, and their own state is built in the time.
A time is the lesser of wall and processor time: other work on the machine hardly shows, and threads cost nobody.
"""

from __future__ import annotations

import multiprocessing
import random
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Final

from rich.table import Table

from engine.board import Layout
from engine.faces import JOKER_CODE, codes_in, texts_of
from engine.melds import all_legal
from engine.rulesets import PT, JokerMove
from engine.solver import Objective, Stop, solve, solve_opening
from engine.state import MeldKind
from node.garbage import no_collection
from tests.engine.solver.puzzles import Puzzle, adversarial, large, rules_named
from tests.engine.solver.puzzles_on_file import OnFile, puzzles_on_file

FREE: Final = replace(PT, joker_move=JokerMove.FREE)
_WARM_UP: Final = 400  # other positions
_SLOW_S: Final = 0.5  # who takes longer is asked fewer times
_LIMITS_MS: Final = (1, 5, 20)


@dataclass(frozen=True, slots=True)
class Position:
    """A position in words and in codes; `most` tiles can be laid with free jokers, where that is known."""

    board_words: tuple[tuple[tuple[str, ...], MeldKind | None], ...]
    rack_words: tuple[str, ...]
    board: Layout
    rack: bytes
    most: int = -1

    @property
    def jokers_on_board(self) -> int:
        """How many lie there."""
        return sum(codes.count(JOKER_CODE) for codes, _kind in self.board)

    @property
    def jokers(self) -> int:
        """How many are in play."""
        return self.jokers_on_board + self.rack.count(JOKER_CODE)


def position_of(puzzle: Puzzle | OnFile) -> Position:
    """The position in both forms."""
    words = tuple((texts_of(codes), kind) for codes, kind in puzzle.board)
    most = puzzle.optimal["max_tiles"] if isinstance(puzzle, OnFile) else -1
    return Position(words, texts_of(puzzle.rack), puzzle.board, puzzle.rack, most)


@cache
def on_file() -> tuple[Position, ...]:
    """The 60 positions on file."""
    return tuple(map(position_of, puzzles_on_file()))


Times = list[float]  # seconds, one for each position
Work = Callable[[Position], object]


def _figure(number: float) -> str:
    """Three digits that count."""
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


def _spread(times: Sequence[float]) -> tuple[str, str, str]:
    """Median, 95th of 100, and longest, in ms."""
    cuts = statistics.quantiles(times, n=20, method="inclusive")
    return _figure(1000 * statistics.median(times)), _figure(1000 * cuts[18]), _figure(1000 * max(times))


# Ours


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of the solver about each position."""

    objective: Objective = Objective.TILES
    free: bool = True
    opening: int | None = None

    def __call__(self, position: Position) -> object:
        rack = codes_in(position.rack_words)
        if self.opening is not None:
            return solve_opening(PT, rack, self.opening, self.objective)
        board = tuple((codes_in(words), kind) for words, kind in position.board_words)
        return solve(PT, board, rack, self.objective, free_jokers=self.free)


def _timed(work: Work, positions: Iterable[Position]) -> Times:
    times = []
    for position in positions:
        began_s, used_s = time.perf_counter(), time.process_time()
        work(position)
        times.append(min(time.perf_counter() - began_s, time.process_time() - used_s))
    return times


def _one_pass(asked: Asked, positions: tuple[Position, ...], warm_up: int, seed: int) -> Times:
    most = max(position.jokers for position in positions)
    for jokers in range(most + 1) if warm_up else ():
        for position in _with_all_jokers(large, "free", jokers, 20, warm_up // (most + 1), seed + 1):
            asked(position)
    if warm_up:
        return _timed(asked, positions)
    return _timed(asked, positions[seed % len(positions) :][:1])


def _shortest(passes: Iterable[Times]) -> Times:
    return [min(times) for times in zip(*passes, strict=True)]


def steady(asked: Asked, positions: tuple[Position, ...], passes: int, warm_up: int = _WARM_UP) -> Times:
    """Each position's shortest time in processes that have solved others before."""
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        return _shortest(pool.imap(partial(_one_pass, asked, positions, warm_up), range(passes)))


def first_calls(asked: Asked, positions: tuple[Position, ...]) -> Times:
    """Each position's time as the first one of a process."""
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        alone = pool.imap(partial(_one_pass, asked, positions, 0), range(len(positions)))
        return [times[0] for times in alone]


# Others


def _flow(position: Position) -> int:
    from tests.engine.solver.oracle_flow import Weights, best_turn

    found = best_turn(FREE, position.board, position.rack, Weights(1, 0))
    assert found is not None
    return found[0]


def _peers() -> Iterator[tuple[str, Callable[[Position], int | None], Callable[[Position], object] | None]]:
    """Name, tiles laid, and a search for an opening, of each other solver that is installed."""
    try:
        import highspy  # noqa: F401
    except ImportError:
        pass
    else:
        yield "flow program, HiGHS", _flow, None
    try:
        from rummikub_solver import MILPSolver, RuleSet, SolverMode
    except ImportError:
        return

    def ask(rules: Any, mode: Any, position: Position) -> int:
        state = rules.new_game()
        if mode is SolverMode.TILE_COUNT:
            state.add_table(*(code or 53 for codes, _kind in position.board for code in codes))
        state.add_rack(*(code or 53 for code in position.rack))
        found = rules.solve(state, mode)
        return 0 if found is None else len(found.tiles)

    for name in ("GLPK_MI", "HIGHS", "SCIPY", "SCIP"):
        backend = MILPSolver[name]
        if backend in MILPSolver.supported():
            rules = RuleSet(solver_backend=backend)
            shown = f"`rummikub-solver` 1.0.0, {name}"
            yield shown, partial(ask, rules, SolverMode.TILE_COUNT), partial(ask, rules, SolverMode.INITIAL)


def _calls(work: Work, positions: Sequence[Position], passes: int) -> Times:
    """The shortest of so many calls for each position; who is slow is asked three times."""
    best = [float("inf")] * len(positions)
    for index, position in enumerate(positions):
        for number in range(passes):
            best[index] = min(best[index], _timed(work, [position])[0])
            if number >= 2 and best[index] > _SLOW_S:
                break
    return best


def side_by_side(passes: int) -> list[Table]:
    """All methods on the positions on file, most tiles with free jokers."""
    positions = on_file()
    ours = steady(Asked(), positions, passes)
    rows: list[tuple[str, Times, int, Times]] = [("ours, steady", ours, _wrong(_tiles_of_ours, positions), ours)]
    rows.append(("ours, the same position again", _calls(Asked(), positions, passes), 0, ours))
    rows.append(("ours, first call of a process", first_calls(Asked(), positions), 0, ours))
    openings = steady(Asked(opening=30), positions, passes)
    opening_rows: list[tuple[str, Times, int, Times]] = [("ours, opening of 30, steady", openings, 0, openings)]
    for name, work, opening in _peers():
        work(positions[0])
        rows.append((name, _calls(work, positions, passes), _wrong(work, positions), ours))
        if opening is not None:
            opening_rows.append((f"{name}, INITIAL", _calls(opening, positions, passes), 0, openings))
    return [
        _beside("Most tiles, 60 positions", rows, wrong=True),
        _by_jokers(rows),
        _beside("Opening, the rack alone", opening_rows, wrong=False),
    ]


def _tiles_of_ours(position: Position) -> int:
    return len(solve(PT, position.board, position.rack, free_jokers=True).laid)


def _wrong(tiles: Callable[[Position], int | None], positions: Iterable[Position]) -> int:
    return sum(tiles(position) != position.most for position in positions)


def _beside(title: str, rows: Sequence[tuple[str, Times, int, Times]], *, wrong: bool) -> Table:
    heads = ("median ms", "p95", "max", "all, s", *(("wrong",) if wrong else ()), "x ours: median", "total", "least")
    shown = Table(title, *heads)
    for name, times, misses, ours in rows:
        ratios = [one / other for one, other in zip(times, ours, strict=True)]
        total = sum(times) / sum(ours)
        counts = (str(misses),) if wrong else ()
        ratio_cells = (_figure(statistics.median(ratios)), _figure(total), _figure(min(ratios)))
        shown.add_row(name, *_spread(times), f"{sum(times):.3g}", *counts, *ratio_cells)
    return shown


def _by_jokers(rows: Sequence[tuple[str, Times, int, Times]]) -> Table:
    positions = on_file()
    there = [position.jokers for position in positions]
    heads = [f"{count} jokers ({there.count(count)})" for count in range(3)]
    shown = Table("Median / p95 ms by jokers in play", *heads)
    for name, times, _misses, _ours in rows:
        cells = []
        for count in range(3):
            median, p95, _longest = _spread([one for one, jokers in zip(times, there, strict=True) if jokers == count])
            cells.append(f"{median} / {p95}")
        shown.add_row(name, *cells)
    return shown


# What else is asked


def objectives(passes: int) -> Table:
    """Every objective, openings, and jokers that are bound, on the positions on file."""
    positions = on_file()
    shown = Table("Ours, steady, the same positions", "positions", "median ms", "p95", "max")
    for objective in Objective:
        times = steady(Asked(objective), positions, passes)
        shown.add_row(f"{objective.value}, free jokers", str(len(positions)), *_spread(times))
    for objective in (Objective.VALUE, Objective.TILES):
        times = steady(Asked(objective, opening=30), positions, passes)
        shown.add_row(f"opening of 30: {objective.value}", str(len(positions)), *_spread(times))
    for count in (1, 2):
        chosen = tuple(position for position in positions if position.jokers_on_board == count)
        times = steady(Asked(free=False), chosen, passes)
        name = f"tiles, {count} joker{'s' * (count > 1)} on the table as in pt"
        shown.add_row(name, str(len(chosen)), *_spread(times))
    return shown


def legality(seconds: float) -> Table:
    """A whole table on codes."""
    rng = random.Random(4)
    boards: list[list[bytes]] = []
    while len(boards) < 50:
        melds = [codes for codes, _kind in large(rng, rules_named("free", 2)).board]
        if len(melds) >= 25:
            boards.append(melds[:25])
    shortest_s = float("inf")
    ends_s = time.perf_counter() + seconds
    while time.perf_counter() < ends_s:
        began_s = time.perf_counter()
        for melds in boards:
            all_legal(melds)
        shortest_s = min(shortest_s, (time.perf_counter() - began_s) / len(boards))
    shown = Table("Is a table legal", "µs")
    shown.add_row("25 sets, jokers among them", f"{shortest_s * 1e6:.2f}")
    return shown


# Where it takes longest


def _with_all_jokers(
    make: Callable[..., Puzzle], name: str, jokers: int, rack: int, count: int, seed: int = 0
) -> tuple[Position, ...]:
    """Positions that have all their jokers in play, and more than half of such a rack."""
    rng = random.Random(f"{name} {jokers} {rack} {seed}")
    found: list[Position] = []
    while len(found) < count:
        position = position_of(make(rng, rules_named(name, jokers), rack=rack))
        if len(position.rack) > rack // 2 and position.jokers == jokers:
            found.append(position)
    return tuple(found)


def stress(count: int) -> Table:
    """Random and adversarial positions, each solved once after a warm-up."""
    shown = Table(f"Ours, {count} positions each, one call each", "rack up to", "jokers", "median ms", "p95", "max")
    for make, kind in ((large, "random"), (adversarial, "adversarial")):
        for rack, jokers in ((14, 2), (14, 4), (40, 2), (40, 3), (40, 4)):
            times = steady(Asked(), _with_all_jokers(make, "free", jokers, rack, count), 1)
            shown.add_row(f"{kind}, free jokers", str(rack), str(jokers), *_spread(times))
        for rack in (14, 40):
            bound = tuple(
                position for position in _with_all_jokers(make, "pt", 2, rack, count) if position.jokers_on_board
            )
            times = steady(Asked(free=False), bound, 1)
            shown.add_row(f"{kind}, bound as in pt", str(rack), "1 or 2 on the table", *_spread(times))
    return shown


def limits(count: int) -> Table:
    """What a limit of time costs: how long after it the answer comes, and how much of the best it holds."""
    positions = [*_with_all_jokers(adversarial, "free", 4, 40, count), *_with_all_jokers(large, "free", 4, 40, count)]
    best = [len(_solved(position).laid) for position in positions]
    shown = Table(
        "Limit, four jokers, racks up to 40", "stopped", "answer after it: median ms", "p95", "max", "tiles of the best"
    )
    for limit_ms in _LIMITS_MS:
        late, got, wanted = [], 0, 0
        for position, most in zip(positions, best, strict=True):
            ends_s = time.process_time() + limit_ms / 1000
            with no_collection():
                found = _solved(position, stop=lambda ends_s=ends_s: time.process_time() >= ends_s)  # type: ignore[misc]
                late_s = time.process_time() - ends_s
            if not found.proven:
                late.append(late_s)
                got += len(found.laid)
                wanted += most
        share = f"{100 * got / wanted:.0f} %" if wanted else "–"
        spread = _spread(late) if len(late) > 1 else ("–", "–", "–")
        shown.add_row(f"{limit_ms} ms", f"{len(late)} of {len(positions)}", *spread, share)
    return shown


def _solved(position: Position, stop: Stop | None = None) -> Any:
    return solve(PT, position.board, position.rack, free_jokers=True, stop=stop)


def tables(seconds: float, passes: int, count: int) -> Iterator[Table | str]:
    """Everything above, in order."""
    names = [name for name, _work, _opening in _peers()]
    if not any("rummikub" in name for name in names):
        yield "No other solver is installed: pip install -e '.[peers]' in a virtual environment of its own brings them."
    yield from side_by_side(passes)
    yield objectives(passes)
    yield legality(seconds)
    yield stress(count)
    yield limits(count)
