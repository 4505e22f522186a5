"""Every seat killed before, while and after it says each of its words, and started again: the same bytes once more.

From the first message of a game to the end of a turn with a draw in it. Source: docs/deal-entries.md, section 9.
"""

from __future__ import annotations

from collections import defaultdict

import pytest

from node.simulation import SimulatedTable
from protocol.dealing.open_deal import open_dealer
from protocol.dealing.secret_deal import secret_dealer
from protocol.game import DealerMaker
from protocol.messages import Body, DealPart, Precommit, Prevote, Proposal, SignedAction
from tests.security.liars import opened
from tests.security.tables import SMALL

WORDS = (SignedAction, Proposal, Prevote, Precommit, DealPart)
END_HEIGHT = 6


class KilledTable(SimulatedTable):
    """Kills nodes at their words, each at a word once, and starts them again, from when all have begun the game.

    A node dies when so many peers have its word as `heard_by` says; at -1 the word is not on its disk either. `only`
    names one node and one of its words, counted from 0; without it every node dies at every word.
    """

    def __init__(
        self, seats: int, make_dealer: DealerMaker, heard_by: int, only: tuple[int, int] | None = None
    ) -> None:
        self.heard_by = heard_by
        self.only = only
        self.deaths = 0
        self.said: list[dict[bytes, int]] = [{} for _ in range(seats)]  # by node: each word, and how many have it
        self._dead: set[tuple[int, bytes]] = set()
        self._dying: set[int] = set()
        self._sent_after = [0] * seats  # so many records were on the disk when the last frame left
        super().__init__(SMALL, seats, 3, make_dealer)

    def deliver(self, index: int, other: int, frame: bytes) -> None:
        if index in self._dying:
            return
        node, said = self.nodes[index], self.said[index]
        envelope = opened(frame)
        word = envelope.sender == node.session.signer.node_id and isinstance(envelope.body, WORDS)
        if word:
            said.setdefault(frame, 0)
        dies = word and (index, frame) not in self._dead and self._is_its_time(index, frame)
        dies = dies and all(node.session.game is not None for node in self.nodes)
        if not (dies and self.heard_by <= 0):
            super().deliver(index, other, frame)
            self._sent_after[index] = len(node.journal)
            if word:
                said[frame] += 1
        if dies and said[frame] >= self.heard_by:
            self._die(index, frame)

    def _is_its_time(self, index: int, frame: bytes) -> bool:
        return self.only is None or self.only == (index, list(self.said[index]).index(frame))

    def _die(self, index: int, frame: bytes) -> None:
        node = self.nodes[index]
        on_disk = self._sent_after[index] if self.heard_by < 0 else len(node.journal)
        self.deaths += 1
        self._dead.add((index, frame))
        self._dying.add(index)

        def crash() -> None:
            self.crash(index)
            node.journal = node.journal[:on_disk]
            self._dying.remove(index)
            self.restart(index)

        self.at(self.now_s, crash)

    def play(self) -> None:
        """To the end of a turn; then nobody has said two things in one place, and all agree."""
        for now_s in self.steps():
            assert now_s < 600, "the table stands still"
            if all(node.session.height >= END_HEIGHT for node in self.nodes):
                break
        for said in self.said:
            places = defaultdict(set)
            for frame, heard in said.items():
                if heard:
                    places[place(opened(frame).body)].add(frame)
            assert all(len(frames) == 1 for frames in places.values())
        assert self.refusals() == []
        logs = [[committed.entry for committed in node.session.log[:END_HEIGHT]] for node in self.nodes]
        assert all(log == logs[0] for log in logs)


def place(body: Body) -> tuple[object, ...]:
    """Where a node may say one thing only."""
    match body:
        case DealPart(height, _prev, kind):
            return body.__class__, height, kind
        case Proposal() | Prevote() | Precommit():
            return body.__class__, body.height, body.round
        case SignedAction():
            return body.__class__, body.height
    raise AssertionError("no word of a game")


@pytest.mark.parametrize("heard_by", [-1, 0, 1])
@pytest.mark.parametrize("victim", [0, 1])
def test_one_death_at_any_word_changes_nothing(victim: int, heard_by: int) -> None:
    """With open tiles: the same messages, but nothing to compute."""
    undisturbed = KilledTable(2, open_dealer, heard_by, (victim, 1000))
    undisturbed.play()
    words = len(undisturbed.said[victim])
    deaths = 0
    for word in range(1, words):
        table = KilledTable(2, open_dealer, heard_by, (victim, word))
        table.play()
        deaths += table.deaths
    assert deaths == words - 1 > 12


@pytest.mark.parametrize(("seats", "heard_by"), [(2, 0), (2, 1), (3, 1)])
def test_all_who_die_at_every_word_still_say_the_same(seats: int, heard_by: int) -> None:
    """With all proofs, which are made with fresh randomness: so they must be stored before they are sent."""
    table = KilledTable(seats, secret_dealer, heard_by)
    table.play()
    assert table.deaths > 12 * seats
