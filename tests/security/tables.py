"""Small tables with the secret deal at a moment of the test's choice, and what a liar at them may say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Final

from engine.actions import Draw
from engine.rulesets import ES, RuleSet
from engine.state import Phase, Seat
from node.simulation import SimulatedNode
from protocol.dealing.secret_deal import secret_dealer
from protocol.game import DealerMaker, Game
from protocol.messages import AnswersEntry, Body, DealPart, PartKind, Proposal, SignedAction
from protocol.outputs import RecordKind
from protocol.session import Session
from tests.security.liars import LiarsTable, Lie, Match, silent

SMALL: Final = replace(ES, hand=3)  # 52 cards, 3 a seat
LIAR: Final = 2
HONEST: Final = (0, 1)


def copy_of(table: LiarsTable) -> LiarsTable:
    """Another table that stands where this one does, its nodes started from the same journals."""
    genesis = table.nodes[0].session.genesis
    assert genesis is not None
    copy = LiarsTable(genesis.rules, len(table.nodes), table.seed, table.make_dealer, table.liars)
    for index in range(len(copy.nodes)):
        copy.crash(index)
    for _now_s in copy.steps():
        pass  # nothing is left of its own beginning
    copy.now_s = table.now_s
    for index, (node, played) in enumerate(zip(copy.nodes, table.nodes, strict=True)):
        node.journal = list(played.journal)
        node.player = played.player
        copy.restart(index)
    copy.run_for(0.1)  # until all are linked
    return copy


def at_turn_of(seat: int, rules: RuleSet = SMALL, make_dealer: DealerMaker = secret_dealer) -> LiarsTable:
    """A table of three that stands at the first turn of a seat, whose own player does nothing."""
    return copy_of(_at_turn_of(seat, rules, make_dealer))


@cache
def _at_turn_of(seat: int, rules: RuleSet, make_dealer: DealerMaker) -> LiarsTable:
    table = LiarsTable(rules, 3, 1, make_dealer)
    table.run_to_height(1)
    table.node(seat).player = silent
    table.run_until(lambda: all(is_turn_of(node.session, seat) for node in table.nodes))
    return table


def is_turn_of(session: Session, seat: int) -> bool:
    """Whether a seat may act, as that session sees it."""
    state = session.state
    return state is not None and state.phase is Phase.PLAY and state.call is None and state.turn == seat


def draw_request(game: Game, part: bytes, seat: int = LIAR) -> SignedAction:
    """A draw with this own part."""
    return SignedAction(game.height, game.head, Draw(Seat(seat)), part, b"")


def payload_of(table: LiarsTable, seat: int, kind: PartKind) -> bytes:
    """What a seat has said of this kind, once in the game."""
    (envelope,) = table.said(seat, kind)
    assert isinstance(envelope.body, DealPart)
    return envelope.body.payload


def secret_scalars(node: SimulatedNode) -> list[bytes]:
    """x and q of every game and epoch of a node, each once: its journal before anything is erased."""
    found = [record.data for record in node.journal if record.kind is RecordKind.SECRET and record.data]
    return list(dict.fromkeys(secret[at : at + 32] for secret in found for at in (0, 32)))


def is_answers(call: str) -> Match:
    """Matches proposals to close a call."""
    return lambda body: (
        isinstance(body, Proposal) and isinstance(body.entry.content, AnswersEntry) and body.entry.content.call == call
    )


def with_messages(change: Callable[[tuple[bytes, ...]], tuple[bytes, ...]]) -> Lie:
    """A proposal to close a call that names other messages."""

    def lie(body: Body) -> Body:
        assert isinstance(body, Proposal)
        assert isinstance(body.entry.content, AnswersEntry)
        content = replace(body.entry.content, messages=change(body.entry.content.messages))
        return replace(body, entry=replace(body.entry, content=content))

    return lie
