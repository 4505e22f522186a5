"""The audit of a game file: everything in it is replayed and checked, by the code that judged it at the table.

Checked are the genesis with its signatures and seat order, the chain of hashes, every certificate, every signed action
and wish, every part of every deal with its proofs, the rules, the hash of every state, and with them lot, scores and
standing; at last what the evidence shows. It ends at the first fault. No I/O, no secrets: an observer without a seat.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

from engine.state import CallName, Phase, Seat
from protocol.audit.accusations import contradiction, moment, refusal, wrong_at
from protocol.audit.report import Fault, Finding, PlayedGame, Player, Report
from protocol.audit.tally import Tally, counting
from protocol.dealing.open_deal import open_dealer
from protocol.dealing.secret_deal import secret_dealer
from protocol.envelope import Envelope, digest, open_envelope
from protocol.errors import LocalProtocolError, RemoteProtocolError
from protocol.game import DealerMaker, Game, genesis_committed, series_standing
from protocol.gamefile import Accusation, Deal, GameFile, deal_of, read_game_file
from protocol.log import Committed, check_commit_certificate, content_kind
from protocol.messages import (
    ActionEntry,
    AnswersEntry,
    Content,
    Entry,
    Genesis,
    GenesisEntry,
    NextGameEntry,
    RemoveEntry,
    RequestEntry,
)
from protocol.roster import check_genesis, seat_of

DEALERS: Final[Mapping[Deal, DealerMaker]] = {
    Deal.SECRET: secret_dealer,
    Deal.OPEN: open_dealer,
    Deal.NONE: secret_dealer,  # nothing is dealt
}

Progress = Callable[[int, int], None]
"""Told how many entries are checked, and how many there are."""


def audit(data: bytes, make_dealer: DealerMaker | None = None, progress: Progress | None = None) -> Report:
    """All that the game file in `data` says, after everything in it was checked.

    `make_dealer` None: the dealer that the file names. Raises `Fault`, `GameFileError` or `UnsafeLibrary`.
    """
    file = read_game_file(data)
    return _Audit(file, make_dealer or DEALERS[file.deal]).run(progress)


class _Audit:
    """One audit under way."""

    def __init__(self, file: GameFile, make_dealer: DealerMaker) -> None:
        self.file = file
        self.genesis = self._genesis(file.log[0])
        self.tally = Tally()
        self.game = Game(self.genesis, None, counting(make_dealer, self.genesis, self.tally))
        self.entries: Counter[str] = Counter()
        self.signatures = 0
        self.redeals = 0
        self.removed: dict[int, int] = {}  # the height by seat
        self.games: dict[int, PlayedGame] = {}
        self.accusations = [self._opened(item) for item in file.accusations]
        self.proven: dict[int, str] = {}  # by the place of the accusation

    def run(self, progress: Progress | None) -> Report:
        if self.file.deal is not deal_of(self.file.log):
            raise Fault(None, None, None, f"the file says the deal was {self.file.deal.value}, its parts say otherwise")
        self._count(self.file.log[0])
        for height, committed in enumerate(self.file.log[1:], start=1):
            if progress is not None:
                progress(height, len(self.file.log))
            self._judge_accusations()
            self._entry(committed)
        self._judge_accusations()
        return self._report()

    # Entries

    def _genesis(self, committed: Committed) -> Genesis:
        content = committed.entry.content
        if not isinstance(content, GenesisEntry):
            raise Fault(0, None, None, "the log does not begin with a genesis")
        try:
            check_genesis(content.genesis)
            check_commit_certificate(committed, content.genesis, ())
        except RemoteProtocolError as error:
            raise Fault(0, None, None, error.reason) from error
        if committed != genesis_committed(content.genesis, committed.certificate):
            raise Fault(0, None, None, "genesis entry with another place, state or attachments")
        return content.genesis

    def _entry(self, committed: Committed) -> None:
        """Check and apply the next entry. Raises `Fault`."""
        game, content = self.game, committed.entry.content
        if game.over:
            raise self._fault(None, "an entry after the end of the series")
        height, seats = game.height, game.seats_in_game()
        try:
            game.replay(committed)
        except RemoteProtocolError as error:
            raise self._refused(committed.entry, error) from error
        except LocalProtocolError as error:  # right proofs led to something impossible
            raise self._fault(None, str(error)) from error
        if isinstance(content, AnswersEntry) and content.call == CallName.REDEAL.value:
            self.redeals += 1
        if isinstance(content, RemoveEntry):
            self.removed.update(dict.fromkeys(content.seats, height))
        try:
            check_commit_certificate(committed, self.genesis, seats)
        except RemoteProtocolError as error:
            raise Fault(height, None, None, error.reason) from error
        if tuple(digest(raw) for raw in committed.attachments) != _named_by(content):
            raise Fault(height, None, None, "other messages are attached than the entry names")
        self._count(committed)
        if game.state.phase is Phase.OVER:
            self._note_game()

    def _refused(self, entry: Entry, error: RemoteProtocolError) -> Fault:
        """The fault in an entry that does not replay. Named is only who signed what must not be signed here."""
        call = self.game.call
        if call is not None and call.faults:
            return self._fault(call.faults[0].node, call.faults[0].reason)
        node = error.node if error.evidence else None
        if isinstance(entry.content, ActionEntry):
            node = self._wrong_actor(entry.content)
        return self._fault(node, error.reason.removeprefix(f"entry at height {entry.height}: "))

    def _wrong_actor(self, content: ActionEntry) -> bytes | None:
        """The actor, if it is its action that cannot be an entry here."""
        try:
            signed = open_envelope(content.envelope)
        except RemoteProtocolError:
            return None
        here = moment(signed) == (self.game.height, self.game.head) and signed.table == self.genesis.table
        return signed.sender if here and refusal(self.game, content) is not None else None

    def _fault(self, node: bytes | None, reason: str) -> Fault:
        """A fault in the next entry."""
        seat = None if node is None else seat_of(self.genesis, node)
        return Fault(self.game.height, node, None if seat is None else self.genesis.members[seat].name, reason)

    def _note_game(self) -> None:
        """Write down how the present game stands."""
        state = self.game.state
        shut = tuple(Seat(seat) for seat in range(len(state.seats)) if state.hidden_slots(Seat(seat)))
        over = state.phase is Phase.OVER
        self.games[state.game] = PlayedGame(state.starter, state.turn_number, state.result, shut if over else ())

    # Evidence

    def _opened(self, item: Accusation) -> tuple[Envelope, ...]:
        """The messages of an accusation, opened. Raises `Fault` unless genuine, the first by the accused."""
        try:
            messages = tuple(open_envelope(raw) for raw in item.messages)
        except RemoteProtocolError as error:
            raise Fault(None, None, None, f"evidence: {error.reason}") from error
        if not messages or messages[0].sender != item.node:
            raise Fault(None, None, None, "evidence that does not begin with a message of the accused")
        if any(seat_of(self.genesis, each.sender) is None or each.table != self.genesis.table for each in messages):
            raise Fault(None, None, None, "evidence with a message of another table, or of nobody at this one")
        self.signatures += len(messages)
        return messages

    def _judge_accusations(self) -> None:
        """Judge what belongs to this moment."""
        here = self.game.height, self.game.head
        self.tally.paused = True
        for place, messages in enumerate(self.accusations):
            if moment(messages[0]) == here:
                wrong = wrong_at(self.game, messages)
                if wrong is not None:
                    self.proven[place] = f"{wrong}, at height {here[0]}"
        self.tally.paused = False

    def _finding(self, place: int, messages: tuple[Envelope, ...]) -> Finding:
        text = contradiction(messages) or self.proven.get(place)
        kinds = ", ".join(sorted({message.kind for message in messages}))
        said = text or f"genuine messages ({kinds}) that prove nothing by themselves"
        seat = seat_of(self.genesis, messages[0].sender)
        assert seat is not None
        return Finding(messages[0].sender, self.genesis.members[seat].name, said, text is not None)

    # What comes out

    def _count(self, committed: Committed) -> None:
        content = committed.entry.content
        self.entries[content_kind(content)] += 1
        self.signatures += len(committed.certificate) + len(committed.regroup) + len(committed.attachments)
        match content:
            case ActionEntry():
                self.signatures += 1
            case NextGameEntry(_, inside) | RequestEntry(inside):
                self.signatures += len(inside)

    def _report(self) -> Report:
        state = self.game.state
        if state.phase is not Phase.OVER:
            self._note_game()
        return Report(
            genesis=self.genesis,
            deal=self.file.deal,
            players=tuple(
                Player(member.name, member.node, member.bot, self.removed.get(seat))
                for seat, member in enumerate(self.genesis.members)
            ),
            entries=dict(self.entries),
            signatures=self.signatures,
            checks=self.tally.counts(),
            redeals=self.redeals,
            games=tuple(self.games[number] for number in sorted(self.games)),
            standing=series_standing(state),
            waiting=None if state.call is None else state.call.name,
            findings=tuple(self._finding(place, messages) for place, messages in enumerate(self.accusations)),
        )


def _named_by(content: Content) -> tuple[bytes, ...]:
    """The digests of the messages that an entry names."""
    match content:
        case AnswersEntry(_, messages):
            return messages
        case RemoveEntry(_, _, answers):
            return answers or ()
        case _:
            return ()
