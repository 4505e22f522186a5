"""What the signed messages of an accusation prove, at the moment of the game that they belong to.

Proven is only what follows from the accused's own signed words and the agreed log. Two messages where one is allowed
prove themselves; a wrong part, action or proposal is judged by the same code that judges the log.
"""

from __future__ import annotations

from collections.abc import Collection

from nacl.exceptions import CryptoError

from protocol.dealing.dealer import Owed
from protocol.envelope import Envelope, digest
from protocol.game import Game
from protocol.messages import (
    ActionEntry,
    AnswersEntry,
    Body,
    DealPart,
    Entry,
    NextGameEntry,
    PartKind,
    Precommit,
    Prevote,
    Proposal,
    RequestEntry,
    SignedAction,
    TimeoutEntry,
)
from protocol.roster import seat_of

_WORDS = {Prevote: "prevotes", Precommit: "precommits", Proposal: "proposals"}


def contradiction(messages: tuple[Envelope, ...]) -> str | None:
    """Two different messages of one sender where one is allowed (rules 1 and 2), in words; else None."""
    if len(messages) != 2 or messages[0].sender != messages[1].sender or messages[0].raw == messages[1].raw:
        return None
    place = _place(messages[0].body)
    return place if place == _place(messages[1].body) else None


def _place(body: Body) -> str | None:
    """The place of a message of which a node may sign only one."""
    match body:
        case Prevote() | Precommit() | Proposal():
            return f"two {_WORDS[type(body)]} in round {body.round} of height {body.height} after {body.prev.hex()[:8]}"
        case DealPart():
            return f"two parts of kind {body.kind.value} for height {body.height} after {body.prev.hex()[:8]}"
        case _:
            return None


def moment(message: Envelope) -> tuple[int, bytes] | None:
    """Height and last entry that a message was signed for, by which the moment to judge it is found."""
    body = message.body
    if isinstance(body, (DealPart, SignedAction, Proposal)):
        return body.height, body.prev
    return None


def wrong_at(game: Game, messages: tuple[Envelope, ...], agreed: Collection[bytes]) -> str | None:
    """What is wrong with the first message at its moment, None if that is not proven.

    The others are what it builds on. `agreed` are the digests of the messages that the entry of this height names.
    """
    body = messages[0].body
    match body:
        case DealPart():
            return _wrong_part(game, messages, body, agreed)
        case SignedAction():
            if game.call is not None:
                return f"an action while the call {game.call.call.name.value} was open"
            return _prefixed("a wrong action", refusal(game, ActionEntry(messages[0].raw)))
        case Proposal():
            if not isinstance(
                body.entry.content, (ActionEntry, TimeoutEntry, RequestEntry, NextGameEntry, AnswersEntry)
            ):
                return None
            judged = game.judge(body.entry)
            return None if judged.waiting or judged.after is not None else f"a wrong proposal: {judged.reason}"
        case _:
            return None


def refusal(game: Game, content: ActionEntry) -> str | None:
    """Why the next entry cannot have this content, None if it can."""
    if game.entry(content) is not None:
        return None
    return game.judge(Entry(game.height, game.head, content, bytes(32))).reason


def _wrong_part(game: Game, messages: tuple[Envelope, ...], part: DealPart, agreed: Collection[bytes]) -> str | None:
    seat = seat_of(game.genesis, messages[0].sender)
    assert seat is not None
    if game.call is None or Owed(part.kind, seat) not in game.call.owed:
        return f"a part of kind {part.kind.value} that was not owed"
    before = {}
    for message in messages[1:]:
        other = seat_of(game.genesis, message.sender)
        if other is None or not isinstance(message.body, DealPart) or moment(message) != moment(messages[0]):
            return None
        before[Owed(message.body.kind, other)] = message.body.payload
    if not _names_them(part, [message.digest for message in messages[1:]], agreed):
        return None
    call = game.call
    try:
        reason = call.dealer.check_part(part.kind, seat, part.payload, call.call, call.context, before)
    except (
        KeyError,
        ValueError,
        AssertionError,
        CryptoError,
    ):  # what it builds on is missing or wrong itself
        return None
    return _prefixed(f"wrong {part.kind.value}", reason)


def _names_them(part: DealPart, others: list[bytes], agreed: Collection[bytes]) -> bool:
    """Whether a part builds on just these messages: by what its sender signed, or with the log's help."""
    if part.kind is PartKind.SHARES or not others:
        return part.names is None
    if part.names == digest(b"".join(others)):
        return True
    return part.names == digest(others[-1]) and set(others) <= set(agreed)


def _prefixed(what: str, reason: str | None) -> str | None:
    return None if reason is None else f"{what}: {reason}"
