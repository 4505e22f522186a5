"""Pitfalls 23 to 30 of docs/dealing.md, section 6: what leaks without a lie, keys, epochs, the library."""

from __future__ import annotations

import ast
import base64
import copy
import ctypes
import gc
import math
import pickle
import random
import statistics
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from mnemonic import Mnemonic

from engine.actions import Discard
from engine.rulesets import PT, RULE_SETS, RuleSet
from engine.state import Seat, Slot
from engine.tiles import TileId
from node.simulation import SimulatedTable
from protocol.codec import encode
from protocol.dealing import shuffle
from protocol.dealing.group import BASE, Point, Secret, add, encode_scalar, multiply_base, subtract
from protocol.dealing.keys import OwnKeys
from protocol.dealing.open_deal import open_dealer
from protocol.dealing.proofs import REKEY, SHARE, Card, ShareBatch
from protocol.dealing.redeal import (
    check_tag,
    check_tag_shares,
    left_over,
    make_tag,
    make_tag_shares,
    rekey_batch,
    tagged,
)
from protocol.dealing.secret_deal import secret_dealer
from protocol.dealing.transcript import ORDER, Nonces, context_hash
from protocol.envelope import seal
from protocol.errors import LocalProtocolError
from protocol.messages import DealPart, NextGameWish, PartKind, SignedAction
from protocol.outputs import RecordKind, Store
from protocol.roster import table_words
from protocol.session import Record, Session
from tests.node.loops import run
from tests.node.test_runner import say, watched
from tests.protocol.keys import Key
from tests.security.liars import RACKS_HEIGHT, START_HEIGHT, LiarsTable, opened, part_of, silent
from tests.security.tables import LIAR, SMALL, at_turn_of, draw_request, secret_scalars
from tests.test_layers import ROOT, files_of, imports_of

ENTROPY = random.Random(23).randbytes
TWO_GAMES = replace(SMALL, rounds=2)

# 23: the time that secrets take

Work = Callable[[Secret], object]
SUSPICIOUS = 8.0  # of Welch's t; dudect calls 4.5 suspicious and 10 certain
SAMPLES = 1200
HEADS = (multiply_base(7),)


def timing_t(work: Work, fixed: int) -> float:
    """Welch's t of the CPU time for one fixed secret against that for random ones, in random order.

    The slowest fifth is left out. All secrets are made alike before the first is timed: what lies in which cache would
    show else.
    """
    rng = random.Random(fixed)
    classes = [rng.random() < 0.5 for _ in range(SAMPLES)]
    secrets = [Secret.from_number(fixed if is_fixed else rng.randrange(1, ORDER)) for is_fixed in classes]
    taken: list[int] = []
    gc.disable()
    try:
        for secret in secrets:
            since = time.thread_time_ns()
            work(secret)
            taken.append(time.thread_time_ns() - since)
    finally:
        gc.enable()
    longest = sorted(taken)[SAMPLES * 4 // 5]
    kept = [(is_fixed, ns) for is_fixed, ns in zip(classes, taken, strict=True) if ns <= longest]
    one, other = ([ns for is_fixed, ns in kept if is_fixed is which] for which in (True, False))
    spread = sum(statistics.variance(times) / len(times) for times in (one, other))
    return abs(statistics.fmean(one) - statistics.fmean(other)) / math.sqrt(spread)


def make_share(secret: Secret) -> object:
    return ShareBatch(SHARE, b"ctx", BASE, BASE, HEADS, (b"1",)).make(secret, ENTROPY)


def with_one_addition_more_for_odd_secrets(secret: Secret) -> object:
    if secret.reveal()[0] & 1:
        add(BASE, BASE)
    return secret.times(HEADS[0])


def doubling_and_adding(secret: Secret) -> object:
    result = 0
    for bit in bin(int.from_bytes(secret.reveal(), "little"))[2:]:
        result = result * 2 % ORDER
        if bit == "1":
            result = (result + 7) % ORDER
    return result


@pytest.mark.parametrize("fixed", [1, ORDER - 1])
@pytest.mark.parametrize(
    "work",
    [make_share, lambda secret: secret.times(HEADS[0]), Secret.times_base, lambda secret: secret.response(5, 7)],
    ids=["share", "times", "key", "response"],
)
def test_23_the_time_of_a_share_says_nothing_about_the_key(work: Work, fixed: int) -> None:
    """On a busy machine chance may strike once, but not three times."""
    assert any(timing_t(work, fixed) < SUSPICIOUS for _try in range(3))


@pytest.mark.parametrize("leaky", [with_one_addition_more_for_odd_secrets, doubling_and_adding])
def test_23_a_leak_of_one_addition_would_be_noticed(leaky: Work) -> None:
    assert any(timing_t(leaky, 1) > SUSPICIOUS for _try in range(3))


DEALING = sorted((ROOT / "protocol" / "dealing").glob("*.py"))
OWN_KEYS = {f"{owner}.{key}" for owner in ("own", "self._own", "self") for key in ("x", "q")}
CONSTANT_TIME = {"times", "times_base", "response", "reveal", "erase"}
TAKE_SECRETS = {"prove", "make", "prove_key", "make_tag_shares"}


def parents_of(tree: ast.AST) -> dict[ast.AST, ast.AST]:
    return {child: parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)}


def name_of(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else ast.unparse(function)


def shown_secrets(source: str) -> Iterator[tuple[str, str]]:
    """Where the bytes of a secret are taken out: the function around it, and what they are handed to."""
    tree = ast.parse(source)
    parents = parents_of(tree)
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and name_of(node.func) == "reveal" and not node.args):
            continue
        taker, around = parents[node], node
        while not isinstance(around, ast.FunctionDef):
            around = parents[around]  # type: ignore[assignment]  # ends at the function
        yield around.name, name_of(taker.func) if isinstance(taker, ast.Call) else ast.unparse(taker)


def test_23_the_bytes_of_a_secret_go_into_the_library_and_into_nonces_only() -> None:
    """And into the journal. No integer is made of them, nothing is compared or branched on them."""
    into_nonces = {"Nonces", "make_tag"}
    allowed = {
        ("times", "crypto_scalarmult_ed25519_noclamp"),
        ("times_base", "crypto_scalarmult_ed25519_base_noclamp"),
        ("response", "crypto_core_ed25519_scalar_mul"),
        ("secret", "self.x.reveal() + self.q.reveal()"),
    }
    found = {use for path in DEALING for use in shown_secrets(path.read_text(encoding="utf-8"))}
    assert {use for use in found if use[1] not in into_nonces} == allowed
    wrong = "def f(x):\n    return int.from_bytes(x.reveal(), 'little') if x.reveal() > b'' else g(x.reveal()[0])"
    assert [taker for _name, taker in shown_secrets(wrong)] == ["x.reveal() > b''", "from_bytes", "x.reveal()[0]"]


def misused_keys(source: str) -> list[str]:
    """Where x or q of `OwnKeys` is used for anything but the constant-time functions, or to be handed on whole."""
    tree = ast.parse(source)
    parents = parents_of(tree)
    found = []
    for node in ast.walk(tree):
        owned = isinstance(node, ast.Attribute) and ast.unparse(node) in OWN_KEYS and isinstance(node.ctx, ast.Load)
        if owned:
            use = parents[node]
            handed_on = isinstance(use, ast.Call) and name_of(use.func) in TAKE_SECRETS
            if not handed_on and not (isinstance(use, ast.Attribute) and use.attr in CONSTANT_TIME):
                found.append(ast.unparse(use))
    return found


def test_23_x_and_q_are_used_through_the_constant_time_functions_only() -> None:
    found = {path.name: misused_keys(path.read_text(encoding="utf-8")) for path in DEALING}
    assert not any(found.values()), found
    assert misused_keys("if own.x: f(own.q)\nown.x.times(p)\nbatch.make(own.x, e)") == [
        "if own.x:\n    f(own.q)",
        "f(own.q)",
    ]


def test_23_nothing_but_a_secret_itself_sees_its_scalar() -> None:
    for path in DEALING:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        inside = {
            node
            for secret in ast.walk(tree)
            if isinstance(secret, ast.ClassDef) and secret.name == "Secret"
            for node in ast.walk(secret)
        }
        uses = {node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "_scalar"}
        assert uses <= inside, path.name
        assert bool(uses) == (path.name == "group.py")


# 24: what lengths and times show


@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=RULE_SETS)
def test_24_every_tile_makes_a_message_of_the_same_length(rules: RuleSet) -> None:
    size = len(rules.faces)
    lengths = {
        len(encode(SignedAction(9, bytes(32), Discard(Seat(0), Slot(0, place), TileId(tile)), b"", bytes(64))))
        for place in (0, size - 1)
        for tile in range(size)
    }
    assert len(lengths) == 1


def test_24_parts_of_a_draw_have_one_length_and_come_at_once_whatever_the_tile() -> None:
    """In a whole game: the histograms of the lengths, and of the times from the draw to the answer, have one bar."""
    table = SimulatedTable(SMALL, 2, 2, secret_dealer)
    table.run()
    lengths: Counter[int] = Counter()
    waited_s: Counter[float] = Counter()
    for node in table.nodes:
        began_s = 0.0
        for record in node.journal:
            if record.kind is RecordKind.COMMITTED:
                began_s = record.when_s
            body = opened(record.data).body if record.kind is RecordKind.OWN else None
            if isinstance(body, DealPart) and body.kind is PartKind.SHARES and body.height > RACKS_HEIGHT:
                lengths[len(record.data) - len(encode(body.height))] += 1
                waited_s[round(record.when_s - began_s, 6)] += 1
    assert len(lengths) == len(waited_s) == 1
    assert lengths.total() > 5


@pytest.mark.parametrize("seed", range(3))
def test_24_who_does_nothing_is_silent_to_the_end_of_its_time_whatever_it_holds(seed: int) -> None:
    """No pass or draw by itself because no move is possible: that would tell of the rack."""
    table = SimulatedTable(replace(PT, turn_seconds=20), 2, seed)
    for node in table.nodes:
        node.player = silent
    waited_s: Counter[float] = Counter()
    for now_s in table.steps():
        if now_s > 200:
            break
    for node in table.nodes:
        began_s = 0.0
        for record in node.journal:
            if record.kind is RecordKind.COMMITTED:
                began_s = record.when_s
            if record.kind is RecordKind.OWN and isinstance(opened(record.data).body, SignedAction):
                waited_s[round(record.when_s - began_s, 3)] += 1
    assert set(waited_s) == {19.5}
    assert waited_s.total() > 5


# 25: keys of another game


@pytest.fixture(scope="module")
def two_games() -> SimulatedTable:
    """A series of two, played to its end."""
    table = SimulatedTable(TWO_GAMES, 2, 1, secret_dealer)
    table.run()
    return table


def test_25_every_game_has_new_keys_and_coins(two_games: SimulatedTable) -> None:
    shown, secrets = [], []
    for node in two_games.nodes:
        own = [opened(record.data).body for record in node.journal if record.kind is RecordKind.OWN]
        reveals = [body.payload for body in own if isinstance(body, DealPart) and body.kind is PartKind.KEY_REVEAL]
        assert len(reveals) == 2
        shown += [reveal[part] for reveal in reveals for part in (slice(32), slice(32, 64), slice(-32, None))]
        secrets += secret_scalars(node)
    assert len(set(shown)) == len(shown) == 12
    assert len(set(secrets)) == len(secrets) == 8


def test_25_secrets_are_erased_from_the_files_at_the_end(two_games: SimulatedTable, tmp_path: Path) -> None:
    """From the database, and from its log: of an old game when the next begins, of the last when it is scored."""
    node = two_games.nodes[0]
    secrets = secret_scalars(node)
    seen = set()

    def found() -> set[bytes]:
        files = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        return {secret for secret in secrets if secret in files}

    async def main() -> None:
        runner, _done, _journal = watched(tmp_path)
        for record in node.journal:
            runner.do(say(Store(record.kind, record.height, record.data)))  # type: ignore[arg-type]  # an input
            if record.kind is RecordKind.SECRET:
                assert found() == {secret for secret in secrets if secret in record.data}
                seen.update(found())
        assert seen == set(secrets)
        assert found() == set()
        runner.stop()
        assert found() == set()

    run(main())


# 26: the wrong peer


def test_26_a_message_of_another_key_or_changed_on_the_way_does_nothing() -> None:
    """Somebody between the players signs with a key of its own, or changes what another has signed."""
    table = at_turn_of(LIAR)
    game, before = table.game(LIAR), table.states()
    slots, _left = game.state.stock.take(1)
    request = draw_request(game, game.dealer.draw_part(slots, game.context()))
    stranger = seal(Key(99), table.session(0).table, request).raw
    table.send(LIAR, stranger)
    table.run_for(1.0)
    strangers = {event.reason for event in table.refusals()}
    assert strangers == {"SignedAction of a node without a seat"}
    right = table.signed(LIAR, request).raw
    at = right.index(request.part) + 5
    table.send(LIAR, right[:at] + bytes([right[at] ^ 1]) + right[at + 1 :])
    table.run_for(1.0)
    assert set(table.reasons(LIAR)) == {"bad frame: wrong signature"}
    assert all(table.key(LIAR) in table.node(seat).dropped for seat in (0, 1)), "such a link is closed"
    assert table.states() == before


def test_26_who_comes_with_another_key_between_two_games_is_a_stranger() -> None:
    table = LiarsTable(TWO_GAMES, 3, 1, open_dealer)
    table.run_until(lambda: all(node.session.may_wish() for node in table.nodes))
    kept = table.withhold(LIAR, lambda body: isinstance(body, NextGameWish))
    game = table.game(LIAR)
    table.send(LIAR, seal(Key(99), table.session(0).table, game.wish()).raw)
    table.run_for(5.0)
    assert {event.reason for event in table.refusals()} == {"NextGameWish of a node without a seat"}
    assert all(session.next_game_wishes() == {0, 1} for session in table.honest())
    table.release(kept)
    table.run_to_height(game.height + 1)


def test_26_a_journal_is_of_no_use_to_another_key() -> None:
    """Not even with all records: the seat is the key's, so the session has none."""
    table = at_turn_of(LIAR)
    session = Session.resume(
        Key(99),
        table.session(LIAR).table,
        table.node(LIAR).journal,
        entropy=ENTROPY,
        make_dealer=secret_dealer,
        now_s=table.now_s,
    )
    assert session is not None
    assert session.seat is None
    assert session.own_tiles() == {}
    with pytest.raises(LocalProtocolError):
        session.act(draw_request(table.game(LIAR), b"").action, table.now_s)


def test_26_who_plays_both_sides_of_a_table_shows_them_different_words() -> None:
    """Between Ana and Ben somebody is Ben to Ana and Ana to Ben: two rosters, and ctx holds the keys."""
    genesis = at_turn_of(0).session(0).genesis
    assert genesis is not None
    words = Mnemonic("english").wordlist
    ana, ben, cai = genesis.members
    between = replace(ben, node=Key(99).node_id)
    tables = [replace(genesis, members=members) for members in ((ana, ben, cai), (ana, between, cai))]
    assert len({table_words(table, words) for table in tables}) == 2
    contexts = {ctx_of(seats=[(seat, member.node) for seat, member in enumerate(table.members)]) for table in tables}
    assert len(contexts) == 2


def ctx_of(**changed: object) -> bytes:
    """A ctx that differs in some fields from all others made here."""
    fields: dict[str, object] = {
        "gid": bytes(64),
        "rules": bytes(64),
        "deck_size": 52,
        "seats": [(0, b"a" * 32), (1, b"b" * 32)],
        "epoch": 0,
        "height": 9,
        "kind": "tag",
        "acting_seat": 0,
        "view": bytes(32),
    }
    return context_hash(**{**fields, **changed})  # type: ignore[arg-type]  # one field after the other


# 27: secrets where they do not belong


def forms(secret: bytes) -> set[str]:
    """All the ways in which a program shows 32 bytes."""
    return {
        secret.hex(),
        repr(secret)[2:-1],
        str(int.from_bytes(secret, "little")),
        str(int.from_bytes(secret, "big")),
        base64.b64encode(secret).decode()[:40],
        " ".join(map(str, secret)),
        ", ".join(map(str, secret)),
    }


def reachable(start: object) -> list[object]:
    """Everything that hangs on an object, without modules, classes and functions."""
    seen: dict[int, object] = {}
    waiting = [start]
    while waiting:
        item = waiting.pop()
        if id(item) in seen or isinstance(item, (type, type(ast), type(reachable))):
            continue
        seen[id(item)] = item
        waiting += gc.get_referents(item)
    return list(seen.values())


def test_27_nothing_of_a_running_game_shows_a_secret_when_printed() -> None:
    table = at_turn_of(LIAR)
    for node in table.nodes:
        secrets = secret_scalars(node)
        found = reachable(node.session)
        assert all(secret in found for secret in secrets), "the walk comes to where they are"
        ours = [item for item in found if type(item).__module__.split(".")[0] in ("protocol", "engine", "node")]
        assert {"SecretDealer", "OwnKeys", "Secret"} <= {type(item).__name__ for item in ours}
        shown = "\n".join([*map(repr, ours), *map(str, ours), *map(repr, node.journal), *map(repr, node.events)])
        assert not any(form in shown for secret in secrets for form in forms(secret))


def test_27_no_error_shows_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """Damaged secrets, a session that cannot go on, and a bug in the midst of a proof."""
    table = at_turn_of(LIAR)
    node = table.node(LIAR)
    x, q = secret_scalars(node)
    damaged = [
        replace(record, data=record.data[:32] + b"\xff" * 32 + record.data[64:])
        if record.kind is RecordKind.SECRET
        else record
        for record in node.journal
    ]

    def resumed(records: list[Record]) -> object:
        session = table.session(LIAR)
        return Session.resume(
            session.signer, session.table, records, entropy=ENTROPY, make_dealer=secret_dealer, now_s=0.0
        )

    def broken() -> object:
        def bug(*_about: object) -> list[int]:
            raise ZeroDivisionError("a bug")

        monkeypatch.setattr("protocol.dealing.proofs._weights", bug)
        game = table.game(LIAR)
        slots, _left = game.state.stock.take(2)
        return game.dealer.draw_part(slots, game.context())

    def fail(attempt: Callable[[], object]) -> str:
        with pytest.raises((ValueError, TypeError, LocalProtocolError, ZeroDivisionError)) as caught:
            attempt()
        return "".join(traceback.format_exception(caught.value)) + repr(caught.value)

    shown = [
        fail(lambda: resumed(damaged)),
        fail(lambda: OwnKeys.restored(x + q)),
        fail(lambda: Secret(x + q)),
        fail(lambda: pickle.dumps(Secret(x))),
        fail(lambda: copy.deepcopy(Secret(x))),
        fail(lambda: copy.copy(Secret(q))),
        fail(broken),
    ]
    assert not any(form in text for text in shown for secret in (x, q) for form in forms(secret))


def test_27_a_log_with_everything_in_it_holds_no_secret(
    two_games: SimulatedTable, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    node = two_games.nodes[0]
    with caplog.at_level("DEBUG"):

        async def main() -> None:
            runner, _done, journal = watched(tmp_path)
            journal.full = True
            runner.do(say(*(Store(record.kind, record.height, record.data) for record in node.journal)))  # type: ignore[arg-type]
            runner.stop()

        run(main())
    assert "the journal failed" in caplog.text
    assert not any(form in caplog.text for secret in secret_scalars(node) for form in forms(secret))


def test_27_what_is_kept_of_a_game_holds_its_coins_and_none_of_its_keys(two_games: SimulatedTable) -> None:
    """Once the secrets are erased; the coins were shown to all, so the search would find a key."""
    kept = b"".join(
        record.data for node in two_games.nodes for record in node.journal if record.kind is not RecordKind.SECRET
    )
    for node in two_games.nodes:
        assert not any(secret in kept for secret in secret_scalars(node))
        coins = [record.data[64:] for record in node.journal if record.kind is RecordKind.SECRET]
        assert all(coin in kept for coin in coins)


# 28: epochs mixed up


def of_another_epoch(table: LiarsTable, kind: PartKind) -> DealPart:
    """A part for the open call, its proof made for the same moment of epoch 1."""
    game = table.game(LIAR)
    assert game.call is not None
    context = game.call.context
    state = replace(context.state, stock=replace(context.state.stock, epoch=1))
    payload = game.dealer.part(kind, game.call.call, replace(context, state=state), {})
    return DealPart(game.height, game.head, kind, None, payload)


def test_28_shares_of_another_epoch_are_refused() -> None:
    table = LiarsTable(SMALL, 3, 1)
    table.run_to_height(START_HEIGHT)
    table.withhold(LIAR, part_of(PartKind.SHARES))
    table.run_to_height(RACKS_HEIGHT)
    table.run_for(1.0)
    table.say(LIAR, of_another_epoch(table, PartKind.SHARES))
    table.run_for(2.0)
    assert table.named(LIAR, "wrong shares: the proof does not hold")
    assert table.waits_for(RACKS_HEIGHT) == {(PartKind.SHARES, LIAR)}


def test_28_a_request_made_in_another_epoch_is_refused() -> None:
    table = at_turn_of(LIAR)
    game, before = table.game(LIAR), table.states()
    slots, _left = game.state.stock.take(1)
    context = game.context()
    state = replace(context.state, stock=replace(context.state.stock, epoch=1))
    table.say(LIAR, draw_request(game, game.dealer.draw_part(slots, replace(context, state=state))))
    table.run_for(2.0)
    assert table.named(LIAR, "illegal action: own part of the draw: the proof does not hold")
    assert table.states() == before


X, Q = Secret.from_number(4711), Secret.from_number(815)
DECK_KEY = X.times_base()


def cards_of(count: int) -> shuffle.Deck:
    return tuple(Card(multiply_base(n + 3), multiply_base(n + 30)) for n in range(count))


def rekey_of(ctx: bytes, cards: shuffle.Deck, deck_key: Point = DECK_KEY) -> ShareBatch:
    return rekey_batch(ctx, Q.times_base(), deck_key, cards, [b"slot"] * len(cards))


def test_28_no_message_of_a_re_deal_passes_in_the_next_epoch() -> None:
    """Everything else is alike: game, seats, height, place; even the secrets."""
    old, new = ctx_of(epoch=1), ctx_of(epoch=2)
    cards = cards_of(3)
    made = {
        "rekey": rekey_of(old, cards).make(Q, ENTROPY),
        "shuffle": shuffle.prove(old, cards, shuffle.prepare(DECK_KEY, 3, Nonces(bytes(32), bytes(32)))),
        "tag": make_tag(old, cards, encode_scalar(5), ENTROPY),
        "tag shares": make_tag_shares(old, DECK_KEY, cards, X, ENTROPY),
    }
    verdicts = {
        ctx: {
            "rekey": rekey_of(ctx, cards).check(made["rekey"]),
            "shuffle": shuffle.check(ctx, DECK_KEY, cards, made["shuffle"]),
            "tag": check_tag(ctx, cards, made["tag"]),
            "tag shares": check_tag_shares(ctx, DECK_KEY, cards, made["tag shares"]),
        }
        for ctx in (old, new)
    }
    assert verdicts[old] == dict.fromkeys(made)
    assert verdicts[new] == dict.fromkeys(made, "the proof does not hold")


def test_28_keys_of_the_old_epoch_are_of_no_use_in_the_new() -> None:
    ctx, cards = ctx_of(epoch=2), cards_of(3)
    new_key = Secret.from_number(99).times_base()
    assert rekey_of(ctx, cards, new_key).check(rekey_of(ctx, cards).make(Q, ENTROPY)) is not None
    old_shuffle = shuffle.prove(ctx, cards, shuffle.prepare(DECK_KEY, 3, Nonces(bytes(32), bytes(32))))
    assert shuffle.check(ctx, new_key, cards, old_shuffle) is not None
    assert check_tag_shares(ctx, new_key, cards, make_tag_shares(ctx, DECK_KEY, cards, X, ENTROPY)) is not None


def test_28_an_erased_key_is_gone() -> None:
    own = OwnKeys.fresh(ENTROPY)
    own.erase()
    for use in (own.x.times_base, own.q.times_base, own.secret, lambda: own.x.response(1, 1)):
        with pytest.raises(AssertionError, match="erased"):
            use()


# 29: a re-deal that loses or doubles a tile


def put(deck: shuffle.Deck, place: int, card: Card) -> shuffle.Deck:
    return (*deck[:place], card, *deck[place + 1 :])


@pytest.mark.parametrize("place", range(5))
def test_29_one_card_with_another_exponent_or_that_of_another_card_is_refused(place: int) -> None:
    """Three of the deck and two of a rack: both halves, or one."""
    ctx, cards = ctx_of(), cards_of(5)
    right = make_tag(ctx, cards, encode_scalar(5), ENTROPY)
    other = make_tag(ctx, cards, encode_scalar(6), ENTROPY)
    assert check_tag(ctx, cards, right) is None
    images, others = tagged(right), tagged(other)
    neighbour = images[(place + 1) % 5]
    for wrong in (
        others[place],
        Card(images[place].a, others[place].b),
        Card(others[place].a, images[place].b),
        neighbour,
        Card(images[place].a, neighbour.b),
    ):
        points = b"".join(point for card in put(images, place, wrong) for point in card)
        assert check_tag(ctx, cards, right[:32] + points + right[-64:]) == "the proof does not hold"


def test_29_exponents_that_cancel_are_refused() -> None:
    """One card up, another down by the same: the plain sums are right."""
    ctx, cards = ctx_of(), cards_of(2)
    right = make_tag(ctx, cards, encode_scalar(5), ENTROPY)
    (one, other) = tagged(right)
    wrong = (Card(add(one.a, BASE), one.b), Card(subtract(other.a, BASE), other.b))
    points = b"".join(point for card in wrong for point in card)
    assert check_tag(ctx, cards, right[:32] + points + right[-64:]) == "the proof does not hold"


def test_29_a_rack_card_left_out_or_added_is_refused() -> None:
    ctx, cards = ctx_of(), cards_of(5)
    for wrong in (cards[:-1], cards[1:], (*cards, cards[0])):
        made = make_tag(ctx, wrong, encode_scalar(5), ENTROPY)
        assert check_tag(ctx, wrong, made) is None
        assert "expected a tag of" in (check_tag(ctx, cards, made) or "")
    rekey = rekey_of(ctx, cards[3:])
    assert "expected shares of" in (rekey.check(rekey_of(ctx, cards[3:4]).make(Q, ENTROPY)) or "")


def test_29_the_new_pool_is_exactly_what_is_on_no_rack() -> None:
    """Each rack tag is met once, all tags differ: pool = deck - racks, in number too."""
    deck = [multiply_base(n + 2) for n in range(6)]
    pool = left_over(deck, [deck[4], deck[1]])
    assert pool == (0, 2, 3, 5)
    for tags, racks in (
        ([*deck[:5], deck[0]], [deck[1]]),
        (deck, [deck[1], deck[1]]),
        (deck, [deck[1], multiply_base(99)]),
        (deck[:1], [deck[1]]),
    ):
        assert isinstance(left_over(tags, racks), str)


def test_29_a_card_swapped_while_it_is_rekeyed_is_refused() -> None:
    """Its owner would hold another tile after the re-deal; or, with a foreign R, read out q R' by it (pitfall 17)."""
    ctx, cards = ctx_of(), cards_of(2)
    right = rekey_of(ctx, cards)
    for injected in (Card(multiply_base(4711), cards[0].b), Card(cards[1].a, cards[0].b), Card(cards[0].a, BASE)):
        made = rekey_of(ctx, put(cards, 0, injected)).make(Q, ENTROPY)
        assert right.check(made) == "the proof does not hold"


def test_29_a_share_is_no_rekey_and_a_rekey_no_share() -> None:
    """The same statement in all but the label; and a rekey with Y in place of Q is of another secret."""
    ctx, cards = ctx_of(), cards_of(2)
    rekey = rekey_of(ctx, cards)
    share = replace(rekey, labels=SHARE)
    assert rekey.labels == REKEY
    assert share.check(share.make(Q, ENTROPY)) is None
    assert share.check(rekey.make(Q, ENTROPY)) == "the proof does not hold"
    assert rekey.check(share.make(Q, ENTROPY)) == "the proof does not hold"
    with_deck_key = replace(rekey, key=X.times_base())
    assert rekey.check(with_deck_key.make(X, ENTROPY)) == "the proof does not hold"


# 30: a planted library

_WHAT_IS_LOADED = """
import sys
from protocol.dealing.group import self_test
self_test()
print("\\n".join(sorted({line.split()[-1] for line in open("/proc/self/maps") if "/" in line})))
"""


def test_30_a_library_in_the_working_directory_is_not_loaded(tmp_path: Path) -> None:
    """Not even where the system's loader is told to look there: the library is inside PyNaCl's own module."""
    names = ("libsodium.so", "libsodium.so.23", "libsodium.so.26", "_sodium.so", "_sodium.abi3.so")
    for name in names:
        (tmp_path / name).write_bytes(b"planted")
        with pytest.raises(OSError, match=r"too short|invalid ELF"):
            ctypes.CDLL(str(tmp_path / name))
    done = subprocess.run(
        [sys.executable, "-P", "-c", _WHAT_IS_LOADED],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "LD_LIBRARY_PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    loaded = [Path(line) for line in done.stdout.splitlines()]
    sodium = [path for path in loaded if "sodium" in path.name]
    assert sodium, "PyNaCl's module"
    assert all(path.resolve().is_relative_to(Path(sys.prefix).resolve()) for path in sodium)
    assert not any(path.is_relative_to(tmp_path) for path in loaded)


def test_30_nothing_of_ours_loads_a_library_by_name() -> None:
    for package in ("engine", "protocol", "node", "display"):
        for path in files_of(package):
            assert not {name.split(".")[0] for name in imports_of(path)} & {"ctypes", "cffi", "imp"}, path
