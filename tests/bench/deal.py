"""What the secret deal costs: its steps, and from them the time that one node's calculations put into a game's path.

Times are processor time of one thread, the shortest of several; nothing waits for a network or another node here.
Counts are of one node. Source of the formulas: docs/performance.md.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from typing import Final

from engine.actions import Draw
from engine.rulesets import PT, RuleSet
from engine.state import CallName, Seat
from node.simulation import SimulatedTable
from protocol.audit.audit import audit
from protocol.dealing import redeal, shuffle
from protocol.dealing.dealer import Owed
from protocol.dealing.group import Point, Secret, generators, multiply, multiply_base, subtract, tile_points
from protocol.dealing.proofs import SHARE, Card, ShareBatch, opening
from protocol.dealing.secret_deal import SecretDealer, secret_dealer
from protocol.dealing.transcript import Nonces, digest
from protocol.gamefile import game_file_of
from protocol.messages import PartKind
from tests.bench.counting import Cost, Ops, cost
from tests.protocol.dealing.deals import Deal, Sent, dealt

_CTX: Final = digest(b"bench")
_KEY: Final = Secret.from_number(4711)
_ENTROPY: Final = random.Random(1).randbytes
NOTHING: Final = Cost(0.0, Counter())

Linear = dict[str, tuple[int, int]]
"""Operations for N cards: (a, b) stands for a N + b of a kind."""

FORMULAS: Final[dict[str, Linear]] = {
    "shuffle: prepare": {"var": (2, 0), "base": (4, 3), "add": (2, 0)},
    "shuffle: prove": {"var": (4, 1), "base": (0, 1), "add": (6, 0)},
    "shuffle: read its deck": {"valid": (2, 0)},
    "shuffle: check": {"var": (8, 7), "base": (1, 4), "add": (9, 3), "valid": (4, 0)},
    "shares of a rack: make": {"var": (3, 2), "base": (1, 2), "add": (2, 0)},
    "shares of a rack: check": {"var": (3, 5), "base": (0, 2), "add": (3, 1), "valid": (2, 0)},
    "opening: make": {"var": (1, 1), "base": (0, 1), "add": (2, -1)},
    "opening: check": {"var": (2, 3), "base": (0, 1), "add": (3, 0)},
    "tag: make": {"var": (4, 1), "base": (0, 2), "add": (2, -1)},
    "tag: check": {"var": (4, 3), "base": (0, 1), "add": (4, 0), "valid": (2, 1)},
    "tag shares: make": {"var": (2, 1), "base": (0, 1), "add": (1, -1)},
    "tag shares: check": {"var": (2, 3), "base": (0, 1), "add": (2, 0), "valid": (1, 0)},
}


@dataclass(frozen=True, slots=True)
class Step:
    """One calculation with so many cards."""

    name: str
    cards: int
    cost: Cost

    @property
    def expected(self) -> Ops:
        """The operations by the formula."""
        return Counter({kind: a * self.cards + b for kind, (a, b) in FORMULAS[self.name].items()})


def warm_up() -> None:
    """Make the tables that the program makes once."""
    generators()
    for deck, jokers in (("tiles", 2), ("cards", 0), ("cards", 2)):
        tile_points(deck, jokers)


def shuffles(cards: int, repeats: int) -> dict[str, Step]:
    """Each step of one shuffle."""
    key = _KEY.times_base()
    deck = shuffle.first_deck(key, tile_points("tiles", 4)[:cards])

    def nonces() -> Nonces:
        return Nonces(_KEY.reveal(), _ENTROPY(32), b"bench")

    def prepared() -> shuffle.Prepared:
        return shuffle.prepare(key, cards, nonces())

    made = shuffle.prove(_CTX, deck, prepared())
    return _steps(
        cards,
        {
            "shuffle: prepare": cost(lambda fresh: shuffle.prepare(key, cards, fresh), nonces, repeats),
            "shuffle: prove": cost(lambda fresh: shuffle.prove(_CTX, deck, fresh), prepared, repeats),
            "shuffle: read its deck": cost(lambda _: shuffle.unchecked_deck(made, cards), _nothing, repeats),
            "shuffle: check": cost(lambda _: shuffle.check(_CTX, key, deck, made), _nothing, repeats),
        },
    )


def rack_steps(cards: int, repeats: int) -> dict[str, Step]:
    """A seat's shares of one rack, and the opening of that rack at once."""
    key, points = _KEY.times_base(), tile_points("tiles", 2)[:cards]
    about = [b"slot"] * cards
    held = _rack(points)
    batch = ShareBatch(SHARE, _CTX, key, multiply_base(7), tuple(card.a for card in held), tuple(about))
    shares = batch.make(_KEY, _ENTROPY)
    opened = list(zip(held, points, strict=True))
    proof = opening(_CTX, key, opened, about).prove(_KEY, _ENTROPY)
    return _steps(
        cards,
        {
            "shares of a rack: make": cost(lambda _: batch.make(_KEY, _ENTROPY), _nothing, repeats),
            "shares of a rack: check": cost(lambda _: batch.check(shares), _nothing, repeats),
            "opening: make": cost(lambda _: opening(_CTX, key, opened, about).prove(_KEY, _ENTROPY), _nothing, repeats),
            "opening: check": cost(lambda _: opening(_CTX, key, opened, about).check(proof), _nothing, repeats),
        },
    )


def tag_steps(cards: int, repeats: int) -> dict[str, Step]:
    """The steps of a re-deal with all its cards, shuffled and on racks."""
    chain = _rack((generators() * 2)[:cards])
    key = _KEY.times_base()
    tag = redeal.make_tag(_CTX, chain, _KEY.reveal(), _ENTROPY)
    shares = redeal.make_tag_shares(_CTX, key, chain, _KEY, _ENTROPY)
    return _steps(
        cards,
        {
            "tag: make": cost(lambda _: redeal.make_tag(_CTX, chain, _KEY.reveal(), _ENTROPY), _nothing, repeats),
            "tag: check": cost(lambda _: redeal.check_tag(_CTX, chain, tag), _nothing, repeats),
            "tag shares: make": cost(
                lambda _: redeal.make_tag_shares(_CTX, key, chain, _KEY, _ENTROPY), _nothing, repeats
            ),
            "tag shares: check": cost(lambda _: redeal.check_tag_shares(_CTX, key, chain, shares), _nothing, repeats),
        },
    )


# Whole paths


@dataclass(frozen=True, slots=True)
class Path:
    """The calculations of one node, or of several one after the other, between a beginning and an end."""

    name: str
    cost: Cost


def start_paths(rules: RuleSet, seats: int, repeats: int) -> list[Path]:
    """From fresh keys to the own rack: each proof checked before the next shuffle, or all while others shuffle."""
    deal = dealt(rules, seats, checked=False)
    others = seats - 1
    steps = {name: step.cost for name, step in shuffles(len(rules.faces), repeats).items()}
    prepare, prove, check = (steps[f"shuffle: {what}"] for what in ("prepare", "prove", "check"))
    read = steps["shuffle: read its deck"]  # all but the last, to build on it before it is checked
    around = (
        keys_cost(deal, repeats)
        + part_cost(deal, deal.of(PartKind.SHARES, 0), (CallName.START,), repeats)
        + others * check_cost(deal, deal.of(PartKind.SHARES, 1), (CallName.START,), repeats)
        + close_cost(deal, CallName.RACKS, (CallName.START,), Seat(0), repeats)
    )
    in_turn = around + others * read + prepare + seats * prove + seats * check
    # Everybody waits for the first two shuffles, and has checks to make from then on.
    at_once = around + others * read + prepare + 2 * prove + others * check
    size = len(rules.faces)
    return [
        Path(f"start, {seats} seats, {size} cards, each checked before the next", in_turn),
        Path(f"start, {seats} seats, {size} cards, checked while others shuffle", at_once),
    ]


def draw_path(seats: int, repeats: int) -> Path:
    """One tile to the drawer's rack."""
    deal = dealt(PT, seats, checked=False)
    turn = deal.state.turn
    slots, _stock = deal.state.stock.take(1)
    context, dealt_before = deal.context(), (CallName.START, CallName.RACKS)
    part = deal.dealers[turn].draw_part(slots, context)

    def fresh() -> SecretDealer:
        return restored(deal, turn, *dealt_before)

    make = cost(lambda dealer: dealer.draw_part(slots, context), fresh, repeats)
    check = cost(lambda dealer: dealer.check_draw_part(turn, slots, part, context), fresh, repeats)
    deal.act(Draw(turn), part)
    own = {Owed(PartKind.SHARES, turn): part}
    close = close_cost(deal, CallName.DRAW, dealt_before, turn, repeats, own)
    return Path(f"draw, {seats} seats", make + (seats - 1) * check + close)


def opening_paths(tiles: int, repeats: int) -> list[Path]:
    """So many tiles played from a rack: the proof, and its check by every other node."""
    deal = dealt(PT, 2, checked=False)
    context, laid = deal.context(), tuple(deal.rack(0).items())[:tiles]
    proof = deal.dealers[0].opening(laid, context)

    def fresh() -> SecretDealer:
        return restored(deal, Seat(0), CallName.START, CallName.RACKS)

    make = cost(lambda dealer: dealer.opening(laid, context), fresh, repeats)
    check = cost(lambda dealer: dealer.check_opening(Seat(0), laid, proof, context), fresh, repeats)
    return [Path(f"opening of {tiles}: proof", make), Path(f"opening of {tiles}: check", check)]


def redeal_path(seats: int, unopened: int, held: int, repeats: int) -> Path:
    """Somebody was lost and `seats` stay, with `held` tiles each: from fresh keys to the new pool."""
    others = seats - 1
    deck = {name: step.cost for name, step in shuffles(unopened, repeats).items()}
    racks = {name: step.cost for name, step in rack_steps(held, repeats).items()}
    tags = {name: step.cost for name, step in tag_steps(unopened + seats * held, repeats).items()}
    path = keys_cost(dealt(PT, seats, checked=False), repeats)
    path += racks["shares of a rack: make"] + others * racks["shares of a rack: check"]
    path += others * deck["shuffle: read its deck"]
    path += deck["shuffle: prepare"] + seats * (deck["shuffle: prove"] + deck["shuffle: check"])
    path += seats * (tags["tag: make"] + tags["tag: check"])
    path += tags["tag shares: make"] + others * tags["tag shares: check"]
    chain = _rack((generators() * 2)[: unopened + seats * held])
    shares = [redeal.make_tag_shares(_CTX, _KEY.times_base(), chain, _KEY, _ENTROPY)] * seats
    path += cost(lambda _: redeal.tags(chain, shares), _nothing, repeats)
    return Path(f"re-deal, {seats + 1} to {seats} seats, {unopened} unopened", path)


def audit_path(seats: int, seed: int, repeats: int) -> Path:
    """A whole game, checked from its file by somebody who was not there."""
    table = SimulatedTable(PT, seats, seed, secret_dealer)
    summary = table.run()
    data = game_file_of(table.nodes[0].session.log)
    name = f"audit, {seats} seats, {summary.entries} entries, {len(data) // 1000} kB"
    return Path(name, cost(lambda _: audit(data), _nothing, repeats))


# What they are made of


def restored(deal: Deal, seat: Seat, *closed: CallName) -> SecretDealer:
    """The dealer of a seat as after a restart, when these calls were closed: it remembers no verdict."""
    dealer = SecretDealer(deal.genesis, seat, deal.dealers[seat].secret(), deal.rng.randbytes)
    for name in closed:
        some = _some(deal, name)
        dealer.close(some.call, some.context, _parts(deal, name))
    return dealer


def keys_cost(deal: Deal, repeats: int) -> Cost:
    """Own keys, committed to and revealed, and everybody else's checked."""
    kinds = (PartKind.KEY_COMMIT, PartKind.KEY_REVEAL)
    total = sum((part_cost(deal, deal.of(kind, 0), (), repeats) for kind in kinds), NOTHING)
    return total + (len(deal.dealers) - 1) * check_cost(deal, deal.of(PartKind.KEY_REVEAL, 1), (), repeats)


def part_cost(deal: Deal, sent: Sent, closed: tuple[CallName, ...], repeats: int) -> Cost:
    """Making a part."""
    return cost(
        lambda dealer: dealer.part(sent.owed.kind, sent.call, sent.context, sent.before),
        lambda: restored(deal, sent.owed.seat, *closed),
        repeats,
    )


def check_cost(deal: Deal, sent: Sent, closed: tuple[CallName, ...], repeats: int) -> Cost:
    """Checking a part, by seat 0."""
    return cost(sent.judged_by, lambda: restored(deal, Seat(0), *closed), repeats)


def close_cost(
    deal: Deal,
    name: CallName,
    closed: tuple[CallName, ...],
    seat: Seat,
    repeats: int,
    own: dict[Owed, bytes] | None = None,
) -> Cost:
    """Putting everybody's parts of a call together, own tiles read. `own`: a drawer's part out of its action."""
    some, parts = _some(deal, name), {**_parts(deal, name), **(own or {})}

    def close(dealer: SecretDealer) -> None:
        dealer.check_whole(some.call, some.context, parts)
        dealer.close(some.call, some.context, parts)

    return cost(close, lambda: restored(deal, seat, *closed), repeats)


def _some(deal: Deal, name: CallName) -> Sent:
    return next(sent for sent in deal.sent if sent.call.name is name)


def _parts(deal: Deal, name: CallName) -> dict[Owed, bytes]:
    return {sent.owed: sent.payload for sent in deal.sent if sent.call.name is name}


def _steps(cards: int, costs: dict[str, Cost]) -> dict[str, Step]:
    return {name: Step(name, cards, taken) for name, taken in costs.items()}


def _rack(points: tuple[Point, ...]) -> tuple[Card, ...]:
    """These tiles' points as cards of the rack of `_KEY`."""
    heads = [multiply(place + 2, multiply_base(3)) for place in range(len(points))]
    return tuple(Card(head, subtract(point, _KEY.times(head))) for head, point in zip(heads, points, strict=True))


def _nothing() -> None:
    """No preparation."""
