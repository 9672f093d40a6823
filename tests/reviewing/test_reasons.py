"""Why a move is better: what happens to stones and groups in the two lines, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tengen.engine.engine import Engine
from tengen.game.color import Color
from tengen.game.position import Position
from tengen.reviewing.reasons import MoveReason, Outlook, outlook, reason
from tengen.search.request import Limits, SearchRequest, Wanted

SHARE = {"X": 0.9, "O": -0.9, ".": 0.0}


def expected(position: Position, line: str, lead: float, owners: str) -> Outlook:
    """An outlook by hand: who owns which point at the end, as a diagram."""
    rows = [[SHARE[owner] for owner in row.replace(" ", "")] for row in owners.split("\n") if row]
    moves = [None if each == "pass" else position.point(each) for each in line.split()]
    return Outlook(position, tuple(moves), lead, np.array(rows, np.float32))


def told(position: Position, found: MoveReason) -> tuple[str, int, set[str]]:
    points = {position.text(each) for each in (found.at, found.other) if each is not None}
    return found.kind, found.stones, points


ATARI = """
    . . . . .
    . O O . .
    O X X . .
    . O O . .
    . . . . .
    """


def test_stones_that_live_by_one_move_and_die_by_the_other_are_saved() -> None:
    position = Position.from_diagram(ATARI, komi=0)
    escape = expected(position, "D3", 3, ". . . . .\n.OO..\nOXXXX\n.OO..\n.....")
    tenuki = expected(position, "E5 D3", -12, "OOOOO\nOOOOO\nOOOOO\nOOOOO\nOOOOO")
    assert told(position, reason(escape, tenuki, Color.BLACK)) == ("saves", 2, {"B3"})
    found = reason(tenuki, escape, Color.WHITE)
    assert told(position, found) == ("captures", 2, {"B3"})  # D3 takes them off the board
    assert found.gain == 15


def test_stones_that_are_lost_without_being_taken_off_are_taken() -> None:
    position = Position.from_diagram(ATARI, komi=0)
    escape = expected(position, "D3", 3, ".....\n.OO..\nOXXXX\n.OO..\n.....")
    tenuki = expected(position, "E5", -12, "OOOOO\nOOOOO\nOOOOO\nOOOOO\nOOOOO")  # no line after it
    assert told(position, reason(tenuki, escape, Color.WHITE)) == ("takes", 2, {"B3"})


def test_few_stones_are_no_reason_for_many_points() -> None:
    position = Position.from_diagram(ATARI, komi=0)
    escape = expected(position, "D3", 20, ".....\n.OO..\nOXXXX\n.OO..\n.....")
    tenuki = expected(position, "E5", -12, "O....\nOOO..\nOOOO.\nOOO..\nO....")
    assert reason(escape, tenuki, Color.BLACK).kind not in ("saves", "captures", "takes")


CUT = """
    . . . . . . .
    . . . X . . .
    . . O . O . .
    . . . . . . .
    . X . . . X .
    . . . . . . .
    . . . . . . .
    """
NOBODYS = "\n".join(["......."] * 7)


def test_a_move_between_two_groups_cuts_them_where_the_other_line_joins_them() -> None:
    position = Position.from_diagram(CUT, komi=0)
    cut = expected(position, "D5 B2 D4", 4, NOBODYS)
    elsewhere = expected(position, "D3 D5", -2, NOBODYS)
    found = reason(cut, elsewhere, Color.BLACK)
    assert told(position, found) == ("cuts", 1, {"C5", "E5"})
    # White's view of the same: its answer joins them.
    found = reason(elsewhere, cut, Color.WHITE)
    assert told(position, found) == ("connects", 1, {"C5", "E5"})


def test_a_line_that_ends_before_the_groups_are_joined_proves_no_cut() -> None:
    position = Position.from_diagram(CUT, komi=0)
    cut = expected(position, "D5", 4, NOBODYS)
    elsewhere = expected(position, "D3", -2, NOBODYS)
    assert reason(cut, elsewhere, Color.BLACK) == MoveReason("points", 6)


def test_groups_that_one_more_stone_would_join_are_not_cut() -> None:
    position = Position.from_diagram(CUT.replace(". . . X . . .", ". . . . . . ."), komi=0)
    position = position.set_up(white=["C6", "E6"])
    cut = expected(position, "D5 D4", 4, NOBODYS)  # D6 is open
    elsewhere = expected(position, "D3 D5", -2, NOBODYS)
    assert reason(cut, elsewhere, Color.BLACK).kind == "points"


def test_groups_joined_another_way_are_not_cut() -> None:
    position = Position.from_diagram(CUT, komi=0)
    round_it = expected(position, "D5 C4 B2 D4 B1 E4", 4, NOBODYS)
    elsewhere = expected(position, "D3 D5", -2, NOBODYS)
    assert reason(round_it, elsewhere, Color.BLACK).kind == "points"


def test_where_nothing_else_is_sure_the_place_of_the_points_is_told() -> None:
    position = Position.from_diagram(CUT, komi=0)
    corner = expected(
        position, "F2", 9, ".......\n.......\n.......\n.......\n....XXX\n....XXX\n....XXX"
    )
    other = expected(position, "B2", 0, NOBODYS)
    assert told(position, reason(corner, other, Color.BLACK)) == ("area", 0, {"E3"})
    everywhere = expected(position, "F2", 9, "\n".join(["X.X.X.X"] * 7))
    assert reason(everywhere, other, Color.BLACK) == MoveReason("points", 9)


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine("tengen-9x9") as engine:
        yield engine


@pytest.mark.parametrize("mover", list(Color))
def test_the_search_finds_stones_that_can_be_saved(engine: Engine, mover: Color) -> None:
    """Six stones in atari with a way out, told to both sides, whatever their colours."""
    text = """
    . . . . . . . . .
    . . O O O . . . .
    . O X X X O . . .
    . O X X X O . . .
    O O O . O O O O O
    X X X X X X X X X
    . . . . . . . . .
    . . . . . . . . .
    . . . . . . . . .
    """
    if mover is Color.WHITE:
        text = text.translate(str.maketrans("XO", "OX"))
    position = Position.from_diagram(text, mover, "chinese", 7)
    save, elsewhere = (position.point(each) for each in ("D5", "E2"))
    wanted, limits = Wanted(ownership=True, pv_length=10), Limits(visits=100)
    looks = []
    for move in (save, elsewhere):
        found = engine.search(SearchRequest(position.play(move), limits, wanted=wanted))
        looks.append(outlook(position, move, found))
    why = reason(looks[0], looks[1], mover)
    assert (why.kind, why.stones) == ("saves", 6)
    assert why.gain > 8
    refuted = reason(looks[1], looks[0], mover.opponent)
    assert (refuted.kind, refuted.stones) == ("captures", 6)
    assert refuted.gain == pytest.approx(why.gain)
