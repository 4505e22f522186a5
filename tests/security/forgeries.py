"""Forgeries of every proof of the deal: each passes once one certain input is left out of one certain hash.

The provers go by the book (docs/dealing.md, sections 3.3 to 3.8) and know a secret, but say something false: they fix
a part of the statement only when the challenge, or the weights of a batch, are known to them. `FORGERIES` has them by
label and input; `test_fiat_shamir` tries them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from protocol.dealing import group, transcript
from protocol.dealing.group import (
    BASE,
    Point,
    Secret,
    add,
    encode_scalar,
    generators,
    hash_to_point,
    multiply,
    multiply_base,
    subtract,
    total,
    weighted,
)
from protocol.dealing.keys import OwnKeys, commitment
from protocol.dealing.proofs import (
    OPEN,
    REKEY,
    SHARE,
    TAG,
    TAG_SHARE,
    Card,
    Dleq,
    Labels,
    ShareBatch,
    check_key,
    prove_key,
)
from protocol.dealing.shuffle import Deck, check, first_deck
from protocol.dealing.transcript import ORDER, context_hash, number, to_scalar

Forgery = Callable[[], bool]
"""Tells whether it passes."""

CTX, OTHER_CTX = b"a" * 64, b"b" * 64
X, OTHER_X = Secret.from_number(7001), Secret.from_number(7002)
Y = X.times_base()
STRANGER = hash_to_point(b"nobody", b"", 0)  # nobody knows its logarithm
ERROR = multiply_base(4711)


def inverse(scalar: int) -> int:
    return pow(scalar, -1, ORDER)


def entropy(count: int) -> bytes:
    return bytes(count)


def scalars(*values: int) -> bytes:
    return b"".join(encode_scalar(value % ORDER) for value in values)


def weights_of(label: bytes, seed: bytes, count: int) -> list[int]:
    return [to_scalar(label, seed, number(place)) for place in range(count)]


def bent(points: Sequence[Point], z: Sequence[int]) -> list[Point]:
    """Other points with the same weighted sum."""
    first, second = points[:2]
    return [add(first, multiply(z[1], ERROR)), subtract(second, multiply(z[0], ERROR)), *points[2:]]


# Possession of a key


def key_forgeries(label: bytes, other_label: bytes) -> dict[str, Forgery]:
    right = prove_key(label, CTX, Y, X, bytes(32))

    def key_last() -> bool:
        challenge = to_scalar(label, CTX, BASE, STRANGER, multiply_base(5))
        key = multiply(inverse(challenge), subtract(multiply_base(9), multiply_base(5)))
        return check_key(label, CTX, key, scalars(challenge, 9)) is None

    def commitment_last() -> bool:
        challenge = to_scalar(label, CTX, BASE, STRANGER, b"")
        return check_key(label, CTX, STRANGER, scalars(challenge, 9)) is None

    def made_anew() -> bytes:
        return prove_key(label, CTX, Y, X, bytes(32))

    assert check_key(label, CTX, Y, right) is None
    return {
        "label": lambda: check_key(other_label, CTX, Y, made_anew()) is None,
        "ctx": lambda: check_key(label, OTHER_CTX, Y, made_anew()) is None,
        "key": key_last,
        "commitment": commitment_last,
    }


# One secret behind many pairs


def dleq(labels: Labels, secret: Secret = X, count: int = 2) -> Dleq:
    bases = [multiply_base(100 + place) for place in range(count)]
    pairs = tuple((base, secret.times(base)) for base in bases)
    return Dleq(labels, CTX, Y, pairs, (b"here",))


def dleq_seed(right: Dleq) -> bytes:
    points = [point for pair in right.pairs for point in pair]
    return encode_scalar(to_scalar(right.labels.seed, right.ctx, right.about, BASE, right.key, points))


def told(right: Dleq, secret: Secret, shift: int = 0, *, blank: int | None = None) -> tuple[int, int]:
    """Challenge and response by the book; the commitment to the key is off by `shift`, or one is left blank."""
    seed = dleq_seed(right)
    base = weighted(weights_of(right.labels.weight, seed, len(right.pairs)), [pair[0] for pair in right.pairs])
    commitments: list[bytes] = [multiply_base(5 + shift), multiply(5, base)]
    if blank is not None:
        commitments[blank] = b""
    challenge = to_scalar(right.labels.challenge, seed, *commitments)
    return challenge, secret.response(5, challenge)


def with_images(right: Dleq, z: Sequence[int]) -> Dleq:
    """The same with wrong images of the same weighted sum."""
    images = bent([image for _base, image in right.pairs], z)
    return replace(right, pairs=tuple((base, image) for (base, _), image in zip(right.pairs, images, strict=True)))


def dleq_forgeries(labels: Labels, others: Labels) -> dict[tuple[bytes, str], Forgery]:
    right, single = dleq(labels), dleq(labels, count=1)

    def moved(**changed: Any) -> bool:
        return replace(right, **changed).check(right.prove(X, entropy)) is None

    def key_last() -> bool:
        challenge, response = told(right, X, shift=3)
        key = subtract(Y, multiply_base(3 * inverse(challenge) % ORDER))
        return replace(right, key=key).check(scalars(challenge, response)) is None

    def points_last() -> bool:
        wrong = with_images(right, weights_of(labels.weight, dleq_seed(right), 2))
        return wrong.check(right.prove(X, entropy)) is None

    def weights_first(z: Sequence[int]) -> bool:
        wrong = with_images(right, z)
        return wrong.check(wrong.prove(X, entropy)) is None

    def blank(wrong: Dleq, secret: Secret, place: int) -> bool:
        return wrong.check(scalars(*told(wrong, secret, blank=place))) is None

    return {
        (labels.seed, "label"): lambda: moved(labels=replace(labels, seed=others.seed)),
        (labels.seed, "ctx"): lambda: moved(ctx=OTHER_CTX),
        (labels.seed, "about"): lambda: moved(about=(b"elsewhere",)),
        (labels.seed, "key"): key_last,
        (labels.seed, "points"): points_last,
        (labels.weight, "label"): lambda: moved(labels=replace(labels, weight=others.weight)),
        (labels.weight, "seed"): lambda: weights_first(weights_of(labels.weight, b"", 2)),
        (labels.weight, "index"): lambda: weights_first([1, 1]),
        (labels.challenge, "label"): lambda: moved(labels=replace(labels, challenge=others.challenge)),
        (labels.challenge, "seed"): lambda: replace(single, ctx=OTHER_CTX).check(single.prove(X, entropy)) is None,
        (labels.challenge, "of key"): lambda: blank(dleq(labels, OTHER_X), OTHER_X, 0),
        (labels.challenge, "of pairs"): lambda: blank(with_images(right, [1, 2]), X, 1),
    }


# Shares

Q = multiply_base(8001)
FACTORS = (31, 32)
Shares = list[tuple[Point, Point]]


def batch(labels: Labels, count: int = 2) -> ShareBatch:
    heads = tuple(multiply_base(200 + place) for place in range(count))
    return ShareBatch(labels, CTX, Y, Q, heads, (b"here",))


def shares_by(secret: Secret, right: ShareBatch) -> Shares:
    return [
        (multiply_base(k), add(secret.times(head), multiply(k, Q)))
        for k, head in zip(FACTORS, right.heads, strict=True)
    ]


def with_d(shares: Shares, z: Sequence[int]) -> Shares:
    return list(zip([a for a, _d in shares], bent([d for _a, d in shares], z), strict=True))


def shares_seed(right: ShareBatch, shares: Shares) -> bytes:
    points = [point for share in shares for point in share]
    statement = (right.ctx, right.about, BASE, right.key, right.rack_key, right.heads, points)
    return encode_scalar(to_scalar(right.labels.seed, *statement))


def told_shares(
    right: ShareBatch, shares: Shares, secret: Secret = X, *, shift: tuple[int, int] = (0, 0), blank: int | None = None
) -> tuple[int, int, int]:
    """Challenge and responses by the book; commitments to key and shares are off, or one is left blank."""
    seed = shares_seed(right, shares)
    z = weights_of(right.labels.weight, seed, len(shares))
    of_shares = total([multiply(5, weighted(z, right.heads)), multiply(6, Q), multiply_base(shift[1])])
    commitments: list[bytes] = [multiply_base(5 + shift[0]), multiply_base(6), of_shares]
    if blank is not None:
        commitments[blank] = b""
    challenge = to_scalar(right.labels.challenge, seed, *commitments)
    factor = sum(weight * k for weight, k in zip(z, FACTORS, strict=True))
    return challenge, secret.response(5, challenge), (6 + challenge * factor) % ORDER


def message(shares: Shares, answers: Sequence[int]) -> bytes:
    return b"".join(a + d for a, d in shares) + scalars(*answers)


def share_forgeries(labels: Labels, others: Labels) -> dict[tuple[bytes, str], Forgery]:
    right, single = batch(labels), batch(labels, 1)
    shares = shares_by(X, right)

    def moved(**changed: Any) -> bool:
        return replace(right, **changed).check(right.make(X, entropy)) is None

    def key_last() -> bool:
        answers = told_shares(right, shares, shift=(3, 0))
        key = subtract(Y, multiply_base(3 * inverse(answers[0]) % ORDER))
        return replace(right, key=key).check(message(shares, answers)) is None

    def rack_key_last() -> bool:
        answers = told_shares(right, shares, shift=(0, 3))
        rack_key = add(Q, multiply_base(3 * inverse(answers[2]) % ORDER))
        return replace(right, rack_key=rack_key).check(message(shares, answers)) is None

    def z() -> list[int]:
        return weights_of(labels.weight, shares_seed(right, shares), 2)

    def heads_last() -> bool:
        wrong = replace(right, heads=tuple(bent(right.heads, z())))
        return wrong.check(message(shares, told_shares(right, shares))) is None

    def points_last() -> bool:
        return right.check(message(with_d(shares, z()), told_shares(right, shares))) is None

    def said(wrong: Shares, secret: Secret = X, blank: int | None = None) -> bool:
        return right.check(message(wrong, told_shares(right, wrong, secret, blank=blank))) is None

    other_factor = [(add(shares[0][0], ERROR), shares[0][1]), shares[1]]
    return {
        (labels.seed, "label"): lambda: moved(labels=replace(labels, seed=others.seed)),
        (labels.seed, "ctx"): lambda: moved(ctx=OTHER_CTX),
        (labels.seed, "about"): lambda: moved(about=(b"elsewhere",)),
        (labels.seed, "key"): key_last,
        (labels.seed, "rack key"): rack_key_last,
        (labels.seed, "heads"): heads_last,
        (labels.seed, "points"): points_last,
        (labels.weight, "label"): lambda: moved(labels=replace(labels, weight=others.weight)),
        (labels.weight, "seed"): lambda: said(with_d(shares, weights_of(labels.weight, b"", 2))),
        (labels.weight, "index"): lambda: said(with_d(shares, [1, 1])),
        (labels.challenge, "label"): lambda: moved(labels=replace(labels, challenge=others.challenge)),
        (labels.challenge, "seed"): lambda: replace(single, ctx=OTHER_CTX).check(single.make(X, entropy)) is None,
        (labels.challenge, "of key"): lambda: said(shares_by(OTHER_X, right), OTHER_X, blank=0),
        (labels.challenge, "of factors"): lambda: said(other_factor, blank=1),
        (labels.challenge, "of shares"): lambda: said(with_d(shares, [1, 2]), blank=2),
    }


# The shuffle

PK = multiply_base(9001)
TILES = group.tile_points("cards", 0)
DECK = first_deck(PK, TILES[:3])
Matrix = Sequence[Sequence[int]]
SAME: Matrix = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
MIXED: Matrix = ((2, 1, 0), (-1, 0, 0), (0, 0, 1))  # columns add up to 1, and yet it is no permutation
RHO = (51, 52, 53)  # the re-encryption of each output


def combined(*terms: tuple[int, Card]) -> Card:
    """A sum of cards, each so many times."""
    return Card(*(total(multiply(factor % ORDER, card[half]) for factor, card in terms) for half in (0, 1)))


def encrypted(cards: Sequence[Card]) -> Deck:
    return tuple(combined((1, card), (rho, Card(BASE, PK))) for rho, card in zip(RHO, cards, strict=True))


def shuffle_seed(ctx: bytes, deck: Deck, out: Deck, c: Sequence[Point]) -> bytes:
    points = [[point for card in cards for point in card] for cards in (deck, out)]
    return transcript.digest(b"RK1/tw-u", ctx, BASE, PK, *points, c)


def forged(
    out: Deck,
    *,
    u_out: Callable[[list[int]], list[int]] = lambda u: u,
    matrix: Matrix = SAME,
    late_matrix: Callable[[list[int]], Matrix] | None = None,
    altered: Callable[[Deck, list[int]], Deck] = lambda out, _u_out: out,
    shift: int = 0,
    blank: int | None = None,
    chained: bool = True,
) -> tuple[bytes, int, list[int]]:
    """A shuffle of `DECK` by the book of section 3.4, but for what the arguments bend; with s4 and the weights u.

    `out` and `matrix` (what c commits to) are hashed for the weights; `altered` and `late_matrix` may replace them
    when the weights are known. `blank`: which input of the challenge is left empty.
    """
    h, size = generators(), len(DECK)
    r, rh, wh, w2 = [11, 12, 13], [21, 22, 23], [61, 62, 63], [71, 72, 73]
    w = [81, 82, 83, 84]

    def committed(rows: Matrix) -> list[Point]:
        return [
            add(multiply_base(x), weighted([m % ORDER for m in row], h[1 : size + 1]))
            for x, row in zip(r, rows, strict=True)
        ]

    c = committed(matrix)
    u = weights_of(b"RK1/tw-ui", shuffle_seed(CTX, DECK, out, c), size)
    u2 = [value % ORDER for value in u_out(u)]
    if late_matrix is not None:
        c = committed(late_matrix(u))
    out = altered(out, u2)
    k, before, so_far = [], h[0], 0
    th = []
    for place in range(size):
        th.append(add(multiply_base(wh[place]), multiply(w2[place], before)))
        before = add(multiply_base(rh[place]), multiply(u2[place], before))
        so_far = (rh[place] + u2[place] * so_far) % ORDER
        k.append(before)
    if not chained:
        product = u[0] * u[1] * u[2] % ORDER
        so_far, k[-1] = 99, add(multiply_base(99), multiply(product, h[0]))
    t = [multiply_base(w[0]), multiply_base(w[1]), add(multiply_base(w[2]), weighted(w2, h[1 : size + 1]))]
    b, a = (
        subtract(weighted(w2, [card[half] for card in out]), multiply(w[3], key)) for half, key in ((1, PK), (0, BASE))
    )
    inputs: list[Any] = [shuffle_seed(CTX, DECK, out, c), k, t, [add(b, multiply_base(shift)), a], th]
    if blank is not None:
        inputs[blank] = b""
    challenge = to_scalar(b"RK1/tw-c", *inputs)
    s4 = (w[3] + challenge * sum(x * y for x, y in zip(RHO, u2, strict=True))) % ORDER
    answers = [
        challenge,
        w[0] + challenge * sum(r),
        w[1] + challenge * so_far,
        w[2] + challenge * sum(x * y for x, y in zip(r, u, strict=True)),
        s4,
        *(x + challenge * y for x, y in zip(wh, rh, strict=True)),
        *(x + challenge * y for x, y in zip(w2, u2, strict=True)),
    ]
    return b"".join([*(point for card in out for point in card), *c, *k]) + scalars(*answers), s4, u


def passes(data: bytes, ctx: bytes = CTX, key: Point = PK, deck: Deck = DECK) -> bool:
    return check(ctx, key, deck, data) is None


def bent_deck(deck: Deck, z: Sequence[int]) -> Deck:
    b = bent([card.b for card in deck], z)
    return tuple(Card(card.a, other) for card, other in zip(deck, b, strict=True))


def shuffle_forgeries() -> dict[tuple[bytes, str], Forgery]:
    out = encrypted(DECK)

    def key_last() -> bool:
        data, s4, _u = forged(out, shift=3)
        return passes(data, key=subtract(PK, multiply_base(3 * inverse(s4) % ORDER)))

    def deck_last() -> bool:
        data, _s4, u = forged(out)
        return passes(data, deck=bent_deck(DECK, u))

    def c_last() -> bool:
        """Twice a tile and half of another, committed to by a matrix that is made when the weights are known."""
        half = inverse(2)
        wrong = encrypted([combined((2, DECK[0])), combined((half, DECK[1])), DECK[2]])

        def fitting(u: list[int]) -> Matrix:
            away = inverse(u[0] - u[1])
            one, other = (u[0] * half - u[1]) * away, (2 * u[1] - u[1]) * away
            return ((one, other, 0), (1 - one, 1 - other, 0), (0, 0, 1))

        data, _s4, _u = forged(wrong, u_out=lambda u: [u[0] * half, 2 * u[1], u[2]], late_matrix=fitting)
        return passes(data)

    def out_last() -> bool:
        return passes(forged(out, altered=bent_deck)[0])

    def equal_weights() -> bool:
        return passes(forged(bent_deck(out, [1, 1]))[0])

    def twice_a_tile() -> bool:
        wrong = encrypted([combined((2, DECK[0])), *DECK[1:]])
        return passes(forged(wrong, u_out=lambda u: [u[0] * inverse(2), *u[1:]], blank=2)[0])

    def another_deck() -> bool:
        return passes(forged(encrypted(first_deck(PK, TILES[10:13])), blank=3)[0])

    def no_permutation() -> bool:
        mixed = encrypted([combined((-1, DECK[1])), combined((1, DECK[0]), (2, DECK[1])), DECK[2]])
        u_out = lambda u: [2 * u[0] - u[1], u[0], u[2]]  # noqa: E731
        return passes(forged(mixed, u_out=u_out, matrix=MIXED, chained=False, blank=4)[0])

    return {
        (b"RK1/tw-u", "ctx"): lambda: passes(forged(out)[0], ctx=OTHER_CTX),
        (b"RK1/tw-u", "key"): key_last,
        (b"RK1/tw-u", "deck"): deck_last,
        (b"RK1/tw-u", "out"): out_last,
        (b"RK1/tw-u", "c"): c_last,
        (b"RK1/tw-ui", "seed"): out_last,
        (b"RK1/tw-ui", "index"): equal_weights,
        (b"RK1/tw-c", "t"): twice_a_tile,
        (b"RK1/tw-c", "t4"): another_deck,
        (b"RK1/tw-c", "th"): no_permutation,
    }


# Contexts, commitments, points

MOMENT: dict[str, Any] = {
    "gid": b"g" * 64,
    "rules": b"r" * 64,
    "deck_size": 52,
    "seats": [(0, b"a" * 32), (1, b"b" * 32)],
    "epoch": 0,
    "height": 3,
    "kind": "shares",
    "acting_seat": 1,
    "view": b"v" * 32,
}
ANOTHER: dict[str, Any] = {
    "gid": b"h" * 64,
    "rules": b"s" * 64,
    "deck_size": 53,
    "seats": [(0, b"a" * 32), (2, b"b" * 32)],
    "epoch": 1,
    "height": 4,
    "kind": "shuffle",
    "acting_seat": 0,
    "view": b"w" * 32,
}


def replayed(name: str) -> bool:
    """A proof made at one moment passes at another that differs in this alone."""
    then, now = context_hash(**MOMENT), context_hash(**{**MOMENT, name: ANOTHER[name]})
    return check_key(b"RK1/pop-x", now, Y, prove_key(b"RK1/pop-x", then, Y, X, bytes(32))) is None


def opens_two_ways(start: int) -> bool:
    """A commitment fits keys that differ in the field that begins there."""
    reveal = OwnKeys(X, OTHER_X, bytes(32)).reveal(CTX)
    other = reveal[:start] + bytes([reveal[start] ^ 1]) + reveal[start + 1 :]
    return commitment(CTX, reveal) == commitment(CTX, other)


def same_points(one: tuple[bytes, bytes, int], other: tuple[bytes, bytes, int]) -> bool:
    return hash_to_point(*one) == hash_to_point(*other)


FORGERIES: dict[tuple[bytes, str], Forgery] = {
    **{(b"RK1/pop-x", name): made for name, made in key_forgeries(b"RK1/pop-x", b"RK1/pop-q").items()},
    **{(b"RK1/pop-q", name): made for name, made in key_forgeries(b"RK1/pop-q", b"RK1/pop-x").items()},
    **dleq_forgeries(OPEN, TAG),
    **dleq_forgeries(TAG, TAG_SHARE),
    **dleq_forgeries(TAG_SHARE, OPEN),
    **share_forgeries(SHARE, REKEY),
    **share_forgeries(REKEY, SHARE),
    **shuffle_forgeries(),
    **{(b"RK1/ctx", name.replace("_", " ")): partial(replayed, name) for name in MOMENT},
    (b"RK1/key-commit", "ctx"): lambda: (
        commitment(CTX, OwnKeys(X, X, bytes(32)).reveal(CTX))
        == commitment(OTHER_CTX, OwnKeys(X, X, bytes(32)).reveal(CTX))
    ),
    **{
        (b"RK1/key-commit", name): partial(opens_two_ways, start)
        for name, start in (("Y", 0), ("Q", 32), ("proofs", 64), ("coin", 192))
    },
    (b"RK1/gen", "label"): lambda: same_points((b"RK1/gen", b"", 1), (b"RK1/tile", b"", 1)),
    (b"RK1/tile", "label"): lambda: same_points((b"RK1/tile", b"", 1), (b"RK1/gen", b"", 1)),
    (b"RK1/tile", "variant"): lambda: same_points((b"RK1/tile", b"tiles/2", 1), (b"RK1/tile", b"tiles/4", 1)),
    (b"RK1/gen", "index"): lambda: same_points((b"RK1/gen", b"", 1), (b"RK1/gen", b"", 2)),
    (b"RK1/tile", "index"): lambda: same_points((b"RK1/tile", b"tiles/2", 1), (b"RK1/tile", b"tiles/2", 2)),
}
