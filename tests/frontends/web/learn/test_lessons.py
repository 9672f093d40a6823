"""Each lesson's right and wrong moves, played through the rules of the game."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from tengen.browser import STATIC
from tengen.frontends.web.learn.lessons import Lesson, lessons, lessons_view, tried_view
from tengen.frontends.web.learn.verdicts import MOVES, Board, points_to_tap, right_number
from tengen.frontends.web.limits import RefusedError
from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.problems.solver import Fate, RegionSolver
from tests.game.reference import ReferenceGame

TEN = [
    "liberties",
    "capture",
    "ko",
    "eyes",
    "counting",
    "ladders",
    "nets",
    "snapback",
    "opening",
    "ending",
]


def boards() -> Iterator[tuple[Lesson, int, Board]]:
    for lesson in lessons():
        for number, board in enumerate(lesson.boards, 1):
            yield lesson, number, board


ALL = [pytest.param(*each, id=f"{each[0].id}-{each[1]}") for each in boards()]
WITH_MOVES = [each for each in ALL if each.values[2].goals[0] in MOVES]  # type: ignore[union-attr]


def reference_of(position: Position) -> ReferenceGame:
    game = ReferenceGame(position.width, position.height, "simple", suicide=False)
    for y in range(position.height):
        for x in range(position.width):
            if (color := position.at((x, y))) is not None:
                game.stones[x, y] = int(color)
    game.to_play = int(position.to_play)
    return game


def test_there_are_ten_lessons_with_a_few_boards_each() -> None:
    assert [each.id for each in lessons()] == TEN
    assert all(2 <= len(each.boards) <= 4 for each in lessons())


@pytest.mark.parametrize(("lesson", "number", "board"), ALL)
def test_the_solution_reaches_the_goal(lesson: Lesson, number: int, board: Board) -> None:
    for tries in range(1, len(board.solution) + 1):
        found = tried_view(lesson.id, number, board.solution[:tries])
        assert found["right"], found["said"]
        assert found["done"] == (tries == len(board.solution))


@pytest.mark.parametrize(("lesson", "number", "board"), WITH_MOVES)
def test_every_other_move_is_wrong_and_is_answered(
    lesson: Lesson, number: int, board: Board
) -> None:
    """By a move that is legal; a choice among marked points is only answered at these."""
    wrong = 0
    for move in board.start.legal_moves():
        text = board.start.text(move)
        found = tried_view(lesson.id, number, [text])
        if found["right"]:
            # Two threats do for the ko; everywhere else one move alone is right.
            assert text == board.solution[0] or board.goals[0] == "threaten"
            continue
        wrong += 1
        assert not found["done"]
        assert found["said"] in ENGLISH_SAID
        if board.goals[0] == "choose" and text not in board.offered:
            assert found["said"] == "not_offered"
            continue
        reply = found["reply"]
        assert reply is not None, text
        assert board.start.play(text).is_legal(reply)
    assert wrong > 0


@pytest.mark.parametrize(("lesson", "number", "board"), ALL)
def test_what_the_rules_forbid_is_explained(lesson: Lesson, number: int, board: Board) -> None:
    if board.goals[0] not in MOVES:
        return
    start = board.start
    for y in range(start.height):
        for x in range(start.width):
            point = Point(x, y)
            if start.is_legal(point):
                continue
            found = tried_view(lesson.id, number, [start.text(point)])
            assert not found["right"]
            assert found["still"]
            said = found["said"].removeprefix("illegal.")
            assert said == (
                "ko" if point == start.ko else "occupied" if start.at(point) else "suicide"
            )


# Facts that books state, or that are counted by hand.


def test_liberties_are_those_that_are_counted_by_hand() -> None:
    found = [
        {board.start.text(each) for each in points_to_tap(board)} for board in lessons()[0].boards
    ]
    assert found == [
        {"C4", "D3", "C2", "B3"},
        {"E4", "E2", "D3"},
        {"C4", "E3", "D2", "B2"},
    ]
    for board in lessons()[0].boards:
        game, stone = reference_of(board.start), board.target
        assert points_to_tap(board) == game.chain(game.stones, (stone.x, stone.y))[1]


@pytest.mark.parametrize(("lesson", "number", "board"), ALL)
def test_numbers_are_those_of_a_board_that_counts_otherwise(
    lesson: Lesson, number: int, board: Board
) -> None:
    if board.goals[0] != "number":
        return
    lead = reference_of(board.start).area()
    stones = board.start.stones
    if board.number == "lead":
        assert right_number(board) == lead
    else:
        # All points are somebody's on this board.
        assert right_number(board) == (stones.size + lead) // 2
    assert right_number(board) in board.choices


def test_with_the_dead_stones_taken_off_no_point_is_disputed() -> None:
    """Black has four columns of five lines, White all else: 20 points and 29."""
    board = next(each for each in lessons()[4].boards if each.tap == "points")
    game = reference_of(board.start)
    assert game.area() != 20 - 29
    for dead in points_to_tap(board):
        del game.stones[dead.x, dead.y]
    assert game.area() == 20 - 29


@pytest.mark.parametrize(("lesson", "number", "board"), WITH_MOVES)
def test_eyes_are_decided_as_the_exhaustive_search_decides(
    lesson: Lesson, number: int, board: Board
) -> None:
    if board.goals[0] not in ("live", "kill"):
        return
    from tests.problems.shapes import question_about

    start = board.start
    question = question_about(start, start.text(board.target))
    solver = RegionSolver(table=1 << 16)
    first = solver.fate(question, start, start.to_play)
    second = solver.fate(question, start, start.to_play.opponent)
    assert {first, second} == {Fate.CAPTURED, Fate.SAFE}


# Texts


ENGLISH = json.loads((STATIC / "languages" / "learn.en.json").read_text("utf-8"))
ENGLISH_SAID = {key.removeprefix("said.") for key in ENGLISH if key.startswith("said.")}


@pytest.mark.parametrize(("lesson", "number", "board"), ALL)
def test_each_board_has_its_texts(lesson: Lesson, number: int, board: Board) -> None:
    keys = [f"lesson.{lesson.id}.{name}" for name in ("title", "words")]
    keys += [f"lesson.{lesson.id}.{number}.{name}" for name in ("task", "done")]
    if board.goals[0] == "choose":
        keys.append(f"lesson.{lesson.id}.{number}.wrong")
    assert set(keys) <= set(ENGLISH)
    numbered = [key for key in ENGLISH if re.match(rf"lesson\.{lesson.id}\.\d", key)]
    assert all(int(key.split(".")[2]) <= len(lesson.boards) for key in numbered)


def test_words_in_texts_are_explained() -> None:
    script = (STATIC / "js" / "lib" / "terms.js").read_text("utf-8")
    listed = re.findall(r'"(\w+)"', script[script.index("TERMS = [") : script.index("];")])
    for key, text in ENGLISH.items():
        words = text if isinstance(text, str) else " ".join(text.values())
        for term in re.findall(r"\[\[[^|\]]+\|(\w+)\]\]", words):
            assert term in listed, key


# Requests


def test_the_page_is_told_of_all_boards_before_anything_is_tried() -> None:
    content = json.loads(json.dumps(lessons_view()))
    assert [each["id"] for each in content["lessons"]] == TEN
    first = content["lessons"][0]["boards"][0]
    assert first["stones"].count("X") == 1
    assert first["marked"] == ["C3"]
    assert first["goal"] == "tap"


def test_nothing_is_tried_after_the_end_or_after_a_wrong_move() -> None:
    with pytest.raises(RefusedError, match="solved"):
        tried_view("capture", 1, ["C2", "A1"])
    with pytest.raises(RefusedError, match="wrong"):
        tried_view("capture", 1, ["A1", "C2"])


@pytest.mark.parametrize("tries", [[], ["Z9"], ["C2"] * 100, ["11"], ["\0"]])
def test_bad_tries_are_refused(tries: list[str]) -> None:
    with pytest.raises(RefusedError):
        tried_view("capture", 1, tries)


def test_unknown_lessons_are_refused() -> None:
    for lesson, number in (("none", 1), ("capture", 0), ("capture", 99)):
        with pytest.raises(RefusedError, match="no such lesson"):
            tried_view(lesson, number, ["C2"])
