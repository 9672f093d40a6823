"""The basic and the rich planes are what their names say, point by point, in plain Python."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tengen.features.feature_set import BASIC, RICH, FeatureSet
from tengen.features.scratch import new_feature_scratch
from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.game.rules import KoRule, Scoring
from tests.features.samples import WITHOUT_COMPILER, encoded, marked, random_positions

pytestmark = pytest.mark.kernel


def stone(position: Position, point: Point, name: str) -> float:
    """Planes that both sets share."""
    own = position.at(point) is position.to_play
    return {
        "own stone": own,
        "opponent's stone": position.at(point) is not None and not own,
        "empty point": position.at(point) is None,
        "Black to play": position.to_play is Color.BLACK,
    }[name]


def played(position: Position, point: Point, turns_ago: int) -> float:
    moves = position.moves
    return len(moves) >= turns_ago and moves[-turns_ago].point == point


def basic(position: Position, point: Point, name: str) -> float:
    if name == "last move":
        return played(position, point, 1)
    if name == "move before the last":
        return played(position, point, 2)
    if name == "legal move":
        return position.is_legal(point)
    return stone(position, point, name)


def rich(position: Position, point: Point, name: str) -> float:
    words = name.split()
    if name.endswith("turns ago"):
        return played(position, point, int(words[1]))
    if name.endswith("liberties or more"):
        return position.liberties(point) >= int(words[2])
    if name.endswith("liberties"):
        return position.liberties(point) == int(words[2])
    if name == "ko ban":
        return point == position.ko
    if name == "territory scoring":
        return position.rules.scoring is Scoring.TERRITORY
    if name == "superko":
        return position.rules.ko is not KoRule.SIMPLE
    if name == "own komi":
        bonus = position.rules.white_handicap_bonus.points(position.handicap)
        white = (position.komi + bonus) / 15
        return white if position.to_play is Color.WHITE else -white
    return stone(position, point, name)


@pytest.mark.parametrize(
    ("features", "slow", "seed"), [(BASIC, basic, 5), (RICH, rich, 6)], ids=["basic", "rich"]
)
def test_every_point_of_every_plane_agrees(
    features: FeatureSet, slow: Callable[[Position, Point, str], float], seed: int
) -> None:
    scratch = new_feature_scratch()
    seen = np.zeros(len(features.planes))
    for position in random_positions(seed, 90):
        planes = encoded(features, position, scratch=scratch).planes
        points = [Point(x, y) for y in range(position.height) for x in range(position.width)]
        for name, plane in zip(features.planes, planes, strict=True):
            expected = np.array([slow(position, point, name) for point in points], np.float32)
            np.testing.assert_allclose(plane.ravel(), expected, err_msg=f"{name}\n{position}")
        seen += planes.any((1, 2))
    assert WITHOUT_COMPILER or seen.min() > 0


def test_white_s_bonus_for_handicap_is_part_of_the_rich_komi() -> None:
    position = Position(9, "chinese", 0.5).with_handicap(4)  # White to play, 4.5 points ahead
    komi = RICH.planes.index("own komi")
    np.testing.assert_allclose(encoded(RICH, position).planes[komi], 4.5 / 15)
    np.testing.assert_allclose(encoded(RICH, position.play("A1")).planes[komi], -4.5 / 15)


def test_a_pass_takes_its_turn_in_the_history_and_marks_nothing() -> None:
    position = Position(5).play_all("A1 B2 C3 pass D4")
    assert [marked(RICH, position, f"move {turn} turns ago") for turn in range(1, 9)] == [
        {"D4"},
        set(),
        {"C3"},
        {"B2"},
        {"A1"},
        set(),
        set(),
        set(),
    ]
    assert marked(BASIC, position, "last move") == {"D4"}
    assert marked(BASIC, position, "move before the last") == set()


def test_stones_put_down_by_hand_are_no_moves() -> None:
    position = Position(5).play("A1").set_up(black=["C3"])
    assert marked(BASIC, position, "last move") == set()
    assert marked(RICH, position, "move 1 turns ago") == set()


def test_a_ko_is_banned_and_not_legal() -> None:
    position = Position.from_diagram("""
        . X O .
        X O . O
        . X O .
    """).play("C2")
    assert marked(RICH, position, "ko ban") == {"B2"}
    assert marked(BASIC, position, "legal move") == {"D1", "D3"}  # elsewhere White has no liberty
