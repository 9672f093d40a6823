"""The interface of Position: moves, illegal moves, history, set-up, conversions, copies."""

from __future__ import annotations

import copy
import pickle
import random
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

from tengen.game.color import Color
from tengen.game.geometry import Point, Symmetry
from tengen.game.illegal_moves import (
    GameOverError,
    IllegalMoveError,
    KoError,
    NotAMoveError,
    OccupiedError,
    OffBoardError,
    SuicideError,
    SuperkoError,
)
from tengen.game.kernels.life import new_life_scratch
from tengen.game.kernels.scoring import final_score
from tengen.game.outcome import Reason
from tengen.game.position import Move, Position

pytestmark = pytest.mark.kernel

KO = """
    . X O .
    X . X O
    . X O .
    . . . .
"""


def random_position(seed: int, size: int | tuple[int, int] = 7, rules: str = "aga") -> Position:
    choice = random.Random(seed)
    position = Position(size, rules)
    for _ in range(40):
        if position.is_over:
            break
        moves = position.legal_moves()
        position = position.play(choice.choice(moves) if moves else None)
    return position


def test_playing_returns_a_new_position_and_leaves_the_old_one() -> None:
    empty = Position(9)
    after = empty.play("E5")
    assert after.at("E5") is Color.BLACK
    assert after.to_play is Color.WHITE
    assert empty.at("E5") is None
    assert empty.to_play is Color.BLACK
    branch = after.play("C3")
    assert after.play("D4").at("C3") is None
    assert branch.at("C3") is Color.WHITE


def test_text_points_and_passes_name_moves() -> None:
    position = Position(9)
    assert position.play("D4") == position.play("d4 ") == position.play((3, 5))
    assert position.play("pass") == position.play("PASS") == position.play(None) == position.pass_()
    assert position.play_all("D4 pass E5") == position.play("D4").pass_().play("E5")


@pytest.mark.parametrize(
    ("move", "error", "part"),
    [
        ("B3", KoError, "ko"),
        ("B4", OccupiedError, "occupied"),
        ("E1", OffBoardError, "off the board"),
        ((0, 4), OffBoardError, "off the board"),
        ((-1, 0), OffBoardError, "off the board"),
        ("hello", NotAMoveError, "not a move"),
        (3.5, NotAMoveError, "not a move"),
        ("A4", SuicideError, "suicide"),
    ],
)
def test_an_illegal_move_says_why(move: str, error: type[IllegalMoveError], part: str) -> None:
    position = Position.from_diagram(KO, to_play="white").play("B3").play("D1")
    position = position.play("A1").play("C3")
    assert position.ko == (1, 1)
    assert position.to_play is Color.WHITE
    with pytest.raises(error, match=part) as caught:
        position.play(move)
    assert caught.value.color is Color.WHITE
    assert caught.value.move_number == 5
    assert str(caught.value).startswith("move 5, white ")
    assert not position.is_legal(move)
    assert isinstance(caught.value, ValueError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_after_the_end_no_move_is_legal_but_a_record_may_go_on() -> None:
    over = Position(5).pass_().pass_()
    assert over.is_over
    assert not over.legal_mask().any()
    with pytest.raises(GameOverError, match="the game is over"):
        over.play("C3")
    with pytest.raises(GameOverError):
        over.resign()
    resumed = over.play("C3", strict=False)
    assert not resumed.is_over
    assert not resumed.pass_().is_over
    assert resumed.pass_().pass_().is_over


def test_what_is_not_strict_plays_ko_and_suicide_but_not_on_stones() -> None:
    ko = Position.from_diagram(KO, to_play="white", rules="chinese").play("B3")
    assert ko.at("C3") is None
    with pytest.raises(KoError):
        ko.play("C3")
    assert ko.play("C3", strict=False).at("B3") is None
    with pytest.raises(OccupiedError):
        ko.play("B3", strict=False)


def test_either_colour_may_be_told_to_move() -> None:
    position = Position(9).play("C3", "white").play("D3", "white")
    assert position.moves == [Move(Color.WHITE, Point(2, 6)), Move(Color.WHITE, Point(3, 6))]
    assert position.to_play is Color.BLACK
    # A ko ban holds for the side whose stone was taken, not for the taker.
    ko = Position.from_diagram(KO, to_play="white").play("B3")
    assert not ko.is_legal("C3", "black")
    assert ko.is_legal("C3", "white")


def test_history_is_told_and_undone() -> None:
    position = Position(9).play_all("C3 D4 pass")
    assert position.move_number == 3
    assert position.last_move == Move(Color.BLACK, None)
    assert [position.text(move) for move in position.moves] == ["C3", "D4", "pass"]
    assert position.undo() == Position(9).play_all("C3 D4")
    assert [p.move_number for p in position.line()] == [0, 1, 2, 3]
    assert all(later.previous is earlier for earlier, later in pairwise(position.line()))
    with pytest.raises(ValueError, match="no move to undo"):
        Position(9).undo()


def test_a_pass_lifts_the_ko_ban_but_not_superko() -> None:
    for rules, refused in [("chinese", False), ("tromp-taylor", True), ("aga", True)]:
        taken = Position.from_diagram(KO, to_play="white", rules=rules).play("B3")
        passed = taken.pass_()
        assert passed.is_legal("C3", "black") != refused
        if refused:
            with pytest.raises(SuperkoError, match="repeat"):
                passed.play("C3", "black")


def test_legal_moves_are_those_that_can_be_played() -> None:
    for seed in range(20):
        position = random_position(seed)
        points = [Point(x, y) for y in range(7) for x in range(7)]
        assert position.legal_moves() == [point for point in points if position.is_legal(point)]
        assert position.legal_mask()[-1] == (not position.is_over)


def test_chains_and_liberties() -> None:
    position = Position.from_diagram("X X .\nO X .\n. . .")
    assert position.chain("A3") == [(0, 0), (1, 0), (1, 1)]
    assert position.liberties("A3") == 3
    assert position.liberties("A2") == 1
    assert position.chain("C1") == []
    assert position.liberties("C1") == 0


def test_set_up_stones_start_a_new_history() -> None:
    position = Position(5, "aga").play("C3").set_up(["A1"], ["E5", (1, 1)], ["C3"], "white")
    assert position.diagram() == ". . . . O\n. O . . .\n. . . . .\n. . . . .\nX . . . ."
    assert position.to_play is Color.WHITE
    assert position.moves == []
    assert position.handicap == 0
    assert position.undo() == Position(5, "aga").play("C3")
    assert position.set_up().to_play is Color.WHITE


def test_set_up_stones_need_liberties() -> None:
    with pytest.raises(ValueError, match="around A3 would have no liberty"):
        Position(3).set_up(black=["A3"], white=["A2", "B3"])
    with pytest.raises(ValueError, match="off the 3x3 board"):
        Position(3).set_up(black=["D4"])


def test_handicap_stones() -> None:
    position = Position(9, "chinese", 0.5).with_handicap(4)
    assert position.handicap == 4
    assert position.to_play is Color.WHITE
    assert np.count_nonzero(position.stones == Color.BLACK) == 4
    # Four stones and the rest of the board are Black's; White gets komi and a point per stone.
    assert position.score().margin == 81 - 0.5 - 4
    assert Position(9).with_handicap(["E5", "C3"]).handicap == 2
    for wrong in (1, 10, ["E5", "e5"]):
        with pytest.raises(ValueError, match="handicap"):
            Position(9).with_handicap(wrong)
    with pytest.raises(ValueError, match="empty board"):
        Position(9).play("E5").with_handicap(2)


def test_resignation_and_move_limit_end_the_game() -> None:
    resigned = Position(9).play("E5").resign()
    outcome = resigned.outcome()
    assert outcome is not None
    assert (outcome.winner, outcome.reason, str(outcome)) == (
        Color.BLACK,
        Reason.RESIGNATION,
        "B+R",
    )
    assert resigned.undo() == Position(9).play("E5")
    assert str(Position(9).resign("white").outcome()) == "B+R"
    limited = Position(5, "tromp-taylor", 0.5, move_limit=2).play("C3")
    assert limited.outcome() is None
    limited = limited.play("pass")
    assert limited.is_over
    assert limited.outcome() == limited.score().outcome(Reason.MOVE_LIMIT)
    assert str(limited.outcome()) == "B+24.5"


@pytest.mark.parametrize("rules", ["tromp-taylor", "japanese", "stone-scoring", "aga-button"])
def test_the_score_that_search_will_use_is_the_score_people_read(rules: str) -> None:
    for seed in range(10):
        position = random_position(seed, 6, rules)
        boards, _ = position.arrays(room=0)
        assert final_score(boards[0], new_life_scratch(1)[0]) == position.score().margin


@pytest.mark.parametrize("symmetry", Symmetry)
def test_a_turned_game_is_the_game_of_turned_moves(symmetry: Symmetry) -> None:
    position = random_position(int(symmetry), (6, 4)).set_up(black=["A1"]).play("pass")
    turned = position.transformed(symmetry)
    assert turned.transformed(symmetry.inverse) == position
    assert turned.size == symmetry.size(position.size)
    assert len(turned.legal_moves()) == len(position.legal_moves())
    for y in range(4):
        for x in range(6):
            assert turned.at(symmetry.point((x, y), position.size)) == position.at((x, y))


@pytest.mark.parametrize("size", [1, 2, 9, 19, (7, 3), (1, 19)])
def test_diagrams_can_be_read_back(size: int | tuple[int, int]) -> None:
    position = random_position(1, size)
    plain = Position.from_diagram(position.diagram())
    assert plain.diagram() == position.diagram()
    with_coordinates = str(position).rpartition("\n")[0]
    assert Position.from_diagram(with_coordinates).diagram() == position.diagram()


@pytest.mark.parametrize(
    ("diagram", "complaint"),
    [("", "no rows"), ("..\n...", "line 2"), (". ?\n. .", "line 1"), ("." * 20, "board sides")],
)
def test_what_is_no_diagram_is_refused(diagram: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Position.from_diagram(diagram)


def test_the_text_form_shows_coordinates_and_the_last_move() -> None:
    lines = str(Position(9).play("C3").play("G7")).splitlines()
    assert lines[0] == lines[10] == "   A B C D E F G H J"
    assert lines[3] == " 7 . . + . + .(O). . 7"
    assert lines[7] == " 3 . . X . + . + . . 3"
    assert lines[11] == "move 2, black to play, tromp-taylor, komi 7.5"


def test_a_notebook_shows_a_picture() -> None:
    svg = ElementTree.fromstring(Position((5, 4)).play("C3").play("D2")._repr_svg_())
    stones = [e for e in svg if e.tag.endswith("circle") and e.get("stroke") == "#222"]
    assert [stone.get("fill") for stone in stones] == ["#111", "#fafafa"]


def test_equality_is_of_what_lies_on_the_board() -> None:
    one, other = Position(9).play_all("C3 D4 E5"), Position(9).play_all("E5 D4 C3")
    assert one == other
    assert hash(one) == hash(other)
    assert one != one.pass_().pass_()
    assert one != Position(9, komi=5).play_all("C3 D4 E5")
    assert one != Position(9, "japanese", 7.5).play_all("C3 D4 E5")
    assert one != "C3"
    assert len({one, other, one.pass_()}) == 2


def test_pickles_and_copies_are_equal_and_go_on_the_same_way() -> None:
    for seed in range(5):
        position = random_position(seed, 5, "chinese-ogs").set_up().play("pass", "white")
        again = pickle.loads(pickle.dumps(position))
        assert again == position
        assert again.moves == position.moves
        assert again.legal_moves() == position.legal_moves()
        assert again.undo().undo() == position.undo().undo()
    assert copy.deepcopy(position) is position
    resigned = pickle.loads(pickle.dumps(Position(9).resign()))
    assert resigned.is_over
    assert resigned.undo() == Position(9)


def test_a_game_of_two_thousand_moves_can_be_pickled() -> None:
    long = Position(3, "tromp-taylor")
    for _ in range(2000):
        long = long.play("pass", strict=False)
    assert pickle.loads(pickle.dumps(long)) == long


@pytest.mark.parametrize(
    "arguments",
    [
        {"size": 20},
        {"size": (0, 5)},
        {"rules": "calvinball"},
        {"komi": 400.5},
        {"komi": 6.3},
    ],
)
def test_a_position_that_cannot_be_is_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        Position(**arguments)  # type: ignore[arg-type]


def test_komi_follows_the_rules_unless_it_is_given() -> None:
    assert Position(9, "japanese").komi == 6.5
    assert Position(9, "chinese").komi == 7.5
    assert Position(9, "chinese", 5).komi == 5
