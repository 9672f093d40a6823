"""The main line of a record, whatever is wrong with it."""

from __future__ import annotations

import pytest

from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.sgf.records import SgfError
from tengen.reviewing.review import MainLine, main_line
from tests.reviewing.games import only_game

BLACK, WHITE = Color


def line(moves: str, header: str = "SZ[9]RU[chinese]") -> MainLine:
    return main_line(only_game(f"(;{header}{moves})"))


def test_each_move_stands_between_its_positions() -> None:
    turns = line(";B[aa];C[no move];W[bb];B[]").turns
    assert [(turn.number, turn.node) for turn in turns] == [(1, 1), (2, 3), (3, 4)]
    assert [turn.color for turn in turns] == [BLACK, WHITE, BLACK]
    assert [turn.move for turn in turns] == [Point(0, 0), Point(1, 1), None]
    assert turns[0].before.stones.sum() == 0
    assert turns[0].after is turns[1].before


@pytest.mark.parametrize(
    ("moves", "complaint"),
    [
        (";B[aa];W[bb];B[aa];W[cc]", "move 3, black A9: the point is occupied"),
        (";B[aa];W[bb];B[zz];W[cc]", "move 3: 'zz' is off the 9x9 board"),
        (";B[aa];W[bb];B[a1b];W[cc]", "move 3: not a point: 'a1b'"),
        (";B[];W[];B[cc];W[dd]", "move 3, black C7: the game is over"),
    ],
)
def test_a_line_ends_before_a_move_that_cannot_be(moves: str, complaint: str) -> None:
    found = line(moves)
    assert len(found.turns) == 2
    assert found.broken_off == complaint


def test_a_ko_taken_back_at_once_ends_the_line() -> None:
    ko = ";AB[ba][ab][bc]AW[ca][db][cc][bb]PL[B];B[cb];W[bb];B[dd]"
    found = line(ko)
    assert len(found.turns) == 1
    assert found.broken_off == "move 2, white B8: the ko may not be retaken yet"


def test_passes_after_the_end_are_no_moves() -> None:
    found = line(";B[aa];W[];B[];W[];B[]")
    assert (len(found.turns), found.broken_off) == (3, "")


def test_a_side_that_moves_twice_is_to_play_each_time() -> None:
    turns = line(";B[aa];B[bb];W[cc]").turns
    assert [turn.before.to_play for turn in turns] == [BLACK, BLACK, WHITE]
    assert turns[1].before.at("A9") is BLACK


def test_stones_set_up_on_the_way_are_there() -> None:
    turns = line(";B[aa];AW[bb]AE[aa];W[cc]").turns
    assert turns[1].before.at("A9") is None
    assert turns[1].before.at("B8") is WHITE


def test_a_point_that_was_cleared_before_may_be_played() -> None:
    found = line(";B[aa];AE[aa];W[aa]")
    assert (len(found.turns), found.broken_off) == (2, "")


@pytest.mark.parametrize("text", ["(;SZ[9])", "(;SZ[25];B[aa])", "(;SZ[9];B[zz])"])
def test_what_has_no_move_to_review_is_refused(text: str) -> None:
    with pytest.raises(SgfError, match=r"game\.sgf"):
        main_line(only_game(text))
