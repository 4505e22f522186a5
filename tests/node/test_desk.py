"""`node.desk`: what the page is shown and what its commands come to, with a real game and no page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from engine.positions import card_position, parse_board, tile_position
from engine.rulesets import ES, FI, NO, PT, RuleSet
from engine.state import Phase, Seat
from engine.tiles import parse_tiles
from node.app import Node
from node.desk import NodeDesk
from node.files import game_file_name
from node.simulation import SimulatedNode, SimulatedTable
from node.tablerules import rules_text, table_rules
from node.web.commands import PageRefusal
from protocol.dealing.open_deal import open_dealer
from protocol.dealing.secret_deal import secret_dealer
from protocol.events import EvidenceFound
from protocol.game import DealerMaker, Game
from protocol.gamefile import Accusation, read_game_file
from protocol.messages import GenesisEntry
from protocol.outputs import RecordKind
from tests.browser.tabletop import TableTop


def tiles(rules: RuleSet, board: str, rack: str) -> TableTop:
    return TableTop(tile_position(rules, parse_board(board), parse_tiles(rack)))


def cards(hand: str, rules: RuleSet = ES) -> TableTop:
    position = card_position(rules, parse_board("H4 H5 H6"), parse_tiles(hand), parse_tiles("D9 CJ"), parse_tiles("C9"))
    return TableTop(position)


def draft(top: TableTop, *melds: str) -> dict[str, Any]:
    named = [{"tiles": [top.tile(face) for face in meld.split()], "kind": None} for meld in melds]
    answer = top.desk.command({"type": "draft", "draft_no": 4, "melds": named})
    assert answer is not None
    assert answer["draft_no"] == 4
    return dict(answer["judged"])


def refused(top: TableTop, kind: str, **fields: object) -> PageRefusal:
    with pytest.raises(PageRefusal) as refusal:
        top.desk.command({"type": kind, **fields})
    return refusal.value


def shown(top: TableTop) -> dict[str, Any]:
    state = top.desk.snapshot()
    json.dumps(state)  # plain data only
    return dict(state["table"])


def test_lobby_says_what_keeps_nodes_apart() -> None:
    top = TableTop()
    assert top.desk.snapshot()["lobby"]["notice"] is None
    top.trouble = "No link with 10.0.0.7:7654: another version of the program."
    assert top.desk.snapshot()["lobby"]["notice"] == top.trouble
    top.notice = "The last game could not be taken up."
    assert top.desk.snapshot()["lobby"]["notice"] == f"{top.notice} {top.trouble}"


def test_table_is_opened_with_house_rules_or_refused_by_field() -> None:
    top = TableTop()
    top.desk.command(
        {"type": "open_table", "name": "Den", "rules": "fi", "turn_seconds": None, "options": {"rounds": 4}}
    )
    assert top.opened == [("Den", table_rules("fi", None, {"rounds": 4}))]
    refusal = refused(top, "open_table", name="Den", rules="fi", options={"rounds": 400})
    assert refusal.code == "OPTION-RANGE"
    assert refusal.fields.keys() == {"rounds"}


def test_table_tells_its_rules_and_its_series() -> None:
    table = shown(tiles(NO, "R5 J R7", "R6"))
    assert table["rules_text"] == rules_text(NO)
    assert table["deck"] == "tiles"
    assert table["series"] == {
        "games": 1,
        "target": 0,
        "played": [],
        "totals": [0, 0],
        "over": False,
        "winners": [],
        "standings": [0, 1],
        "wishes": [False, False],
        "can_wish": False,
    }
    assert table["draft"]["exchanges"] == []


def test_illegal_end_is_paid_only_by_who_was_asked() -> None:
    top = tiles(FI, "R5 R6 R7", "B9 K9 Y1")
    assert draft(top, "R5 R6 R7", "B9 K9")["illegal_costs"] == 3
    refusal = refused(top, "end_turn")
    assert (refusal.code, refusal.sentence) == (
        "ILLEGAL-COSTS",
        "B9 K9: a group or a run needs at least three tiles.",
    )
    assert len(top.own_faces()) == 3
    top.desk.command({"type": "end_turn", "anyway": True})
    assert len(top.own_faces()) == 6


def test_draft_is_gone_once_its_cards_are_laid() -> None:
    top = cards("S7 D7 C7 SK")
    top.desk.command({"type": "draw"})
    assert draft(top, "H4 H5 H6", "S7 D7 C7")["can_end"] is True
    top.desk.command({"type": "lay"})
    table = shown(top)
    assert len(table["draft"]["melds"]) == 2
    assert table["draft"]["judged"]["laid"] == 0
    assert table["draft"]["judged"]["can_end"] is False
    assert refused(top, "lay").code == "NO-RACK-TILE"
    top.desk.command({"type": "discard", "tile": top.tile("SK")})
    assert shown(top)["draft"] is None
    assert refused(top, "discard", tile=0).code == "ES-TURN-OVER"
    assert [line["text"] for line in shown(top)["log"]] == [
        "Ana draws from the stock.",
        "Ana lays 3 cards.",
        "Ana discards SK.",
    ]


def test_draft_stays_while_a_card_is_drawn() -> None:
    top = cards("S7 D7 C7 SK")
    draft(top, "H4 H5 H6", "S7 D7 C7")
    top.holds_draws = True
    top.desk.command({"type": "draw"})
    assert shown(top)["draft"] is None
    assert shown(top)["view"]["waiting_for"] == "draw"
    top.close_call()
    assert shown(top)["draft"]["judged"]["laid"] == 3


def test_next_game_is_wished_between_games_only() -> None:
    top = cards("SK", table_rules("es", None, {"rounds": 2}))
    assert refused(top, "next_game").code == "NOT-NOW"
    assert shown(top)["series"]["can_wish"] is False


def test_series_counts_games_and_wishes() -> None:
    top = cards("S7 D7 C7", table_rules("es", None, {"rounds": 2}))
    top.desk.command({"type": "draw"})
    draft(top, "H4 H5 H6", "S7 D7 C7")
    top.desk.command({"type": "lay"})
    top.desk.command({"type": "discard", "tile": top.tile("D9")})
    series = shown(top)["series"]
    assert (series["over"], series["can_wish"], series["wishes"]) == (False, True, [False, False])
    assert series["played"] == [{"scores": series["totals"], "out": 0, "ended_by": "out"}]
    top.desk.command({"type": "next_game"})
    assert shown(top)["series"]["wishes"] == [True, False]
    assert shown(top)["series"]["can_wish"] is False
    top.wish_next_game(0.0, Seat(1))
    assert shown(top)["view"]["game"] == 1
    assert shown(top)["series"]["played"] == series["played"]


# A table of several nodes


def table_until(reached: Callable[[SimulatedNode], bool], make_dealer: DealerMaker = open_dealer) -> SimulatedTable:
    """A table of three, stopped when its first node has come so far."""
    table = SimulatedTable(PT, 3, 6, make_dealer)
    for _now_s in table.steps():
        if reached(table.nodes[0]):
            return table
    raise AssertionError("the game never came so far")


def phase_of(node: SimulatedNode) -> Phase | None:
    return None if node.session.state is None else node.session.state.phase


def desk_of(table: SimulatedTable, index: int = 0) -> NodeDesk:
    """The desk of a simulated node that has a link to every other."""
    session = table.nodes[index].session
    others = tuple(node.session.signer.node_id for node in table.nodes if node.session is not session)
    node = SimpleNamespace(
        node_id=session.signer.node_id,
        name=f"Bot {index + 1}",
        session=session,
        table_notice=None,
        linked=lambda: others,
        listen=lambda _told: None,
    )
    return NodeDesk(cast(Node, node))


def test_deal_is_shown_step_by_step_and_then_no_more() -> None:
    table = table_until(lambda node: node.session.game is not None)
    seen: list[dict[str, Any]] = []
    for _now_s in table.steps():
        shown_ = desk_of(table).snapshot()["table"]
        assert shown_["talk"]["away"]["seats"] == []
        if phase_of(table.nodes[0]) is Phase.PLAY:
            assert shown_["deal"] is None
            break
        seen.append(shown_["deal"])
    steps = [(deal["step"], deal["done"], deal["total"]) for deal in seen]
    assert steps[0] == ("keys", 1, 6)
    assert ("shuffle", 1, 3) in steps
    assert steps[-1] == ("racks", 3, 3)
    assert {tuple(deal["at_work"]) for deal in seen if deal["step"] == "shuffle" and deal["done"] == 1} == {(1,)}


def test_in_the_lobby_there_is_no_game_file() -> None:
    assert TableTop().desk.game_file() is None


def test_game_file_holds_the_log_of_the_running_game_and_who_broke_the_rules() -> None:
    table = table_until(lambda node: node.session.height == 12)
    liar = table.nodes[1].session.signer.node_id
    table.nodes[0].session.evidence.append(EvidenceFound(liar, "two votes", (b"one", b"two")))
    file = desk_of(table).game_file()
    assert file is not None
    assert re.fullmatch(r"seed-6-\d{4}-\d\d-\d\d\.rummesh", file.name)
    held = read_game_file(file.data)
    assert held.log == tuple(table.nodes[0].session.log)
    assert held.accusations == (Accusation(liar, (b"one", b"two")),)
    assert len(table.nodes[0].session.log) == 12


def test_game_file_of_a_running_game_tells_nobody_a_hidden_tile() -> None:
    table = table_until(lambda node: phase_of(node) is Phase.PLAY and node.session.height > 6, secret_dealer)
    node = table.nodes[0]
    file = desk_of(table).game_file()
    assert file is not None
    secrets = [record.data for record in node.journal if record.kind is RecordKind.SECRET]
    assert len(secrets) == 1
    assert secrets[0][:32] not in file.data
    assert secrets[0][32:64] not in file.data
    # Whoever has the file and nothing else ends up with the public state, in which no rack is known.
    log = read_game_file(file.data).log
    assert isinstance(log[0].entry.content, GenesisEntry)
    genesis = log[0].entry.content.genesis
    reader = Game(genesis, None, lambda _seat: secret_dealer(genesis, None, None, lambda count: bytes(count)))
    for committed in log[1:]:
        reader.replay(committed)
    assert reader.state == node.session.state
    assert reader.dealer.own_tiles(reader.state) == {}
    own = node.session.own_tiles()
    assert own
    assert not own.keys() & reader.state.known_tiles().keys()


@pytest.mark.parametrize(
    ("table", "name"),
    [
        ("Kitchen", "Kitchen-2026-01-31.rummesh"),
        ("Ana’s köök", "Anas-köök-2026-01-31.rummesh"),
        ("../../etc/passwd", "etcpasswd-2026-01-31.rummesh"),
        ('a"; b\r\nX: y', "a-b-X-y-2026-01-31.rummesh"),
        ("♥♥♥", "table-2026-01-31.rummesh"),
    ],
)
def test_name_of_a_game_file_is_one_for_every_system(table: str, name: str) -> None:
    assert game_file_name(table, "2026-01-31") == name
