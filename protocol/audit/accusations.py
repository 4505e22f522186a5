"""What the signed messages of an accusation prove, at the moment of the game that they belong to.

Proven is only what follows from the accused's own signed words and the agreed log. Two messages where one is allowed
prove themselves; a wrong part, action or proposal is judged by the same code that judges the log.
"""

from __future__ import annotations

from protocol.dealing.call import OpenCall
from protocol.dealing.dealer import Owed
from protocol.envelope import Envelope
from protocol.errors import RemoteProtocolError
from protocol.game import Game
from protocol.messages import (
    ActionEntry,
    AnswersEntry,
    Body,
    DealPart,
    Entry,
    NextGameEntry,
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


def wrong_at(game: Game, messages: tuple[Envelope, ...]) -> str | None:
    """What is wrong with the first message at its moment, None if that is not proven. The others are what it builds on.

    `game` stands at that moment.
    """
    body = messages[0].body
    match body:
        case DealPart():
            return _wrong_part(game, messages, body)
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


def _wrong_part(game: Game, messages: tuple[Envelope, ...], part: DealPart) -> str | None:
    """The call is answered anew with these messages alone, the accused's last: each names what it builds on."""
    call, accused = game.call, seat_of(game.genesis, messages[0].sender)
    assert accused is not None
    if call is None or Owed(part.kind, accused) not in call.owed:
        return f"a part of kind {part.kind.value} that was not owed"
    again = OpenCall(call.call, call.context, call.owed, call.dealer, call.first_proposer, None, call.draw_part)
    for message in reversed(messages):
        seat = seat_of(game.genesis, message.sender)
        if seat is None or not isinstance(message.body, DealPart):
            return None
        try:
            again.add(seat, message)
        except RemoteProtocolError:
            return None
    again.check_now()
    return next((fault.reason for fault in again.faults if fault.evidence[0] == messages[0].raw), None)


def _prefixed(what: str, reason: str | None) -> str | None:
    return None if reason is None else f"{what}: {reason}"
