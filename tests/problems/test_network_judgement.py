"""What networks think of problems: a move elsewhere that does as well leaves no margin."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tengen.engine.engine import Engine
from tengen.game.position import Position
from tengen.network.files.bundled import BUNDLED
from tengen.problems.network_judgement import margin, owned_without
from tengen.problems.region import region_around
from tengen.problems.solver import Question

# Black has three points in a row in the corner and needs the middle one. Below, White's wall has a
# single liberty left, or many.
CORNER = """
. . . X O . . . .
X X X X O . . . .
O O O O O . . . .
. . . . . . . . .
. . . . . . . . .
. . . . . . . . .
. . . . . . . . .
. . . . . . . . .
. . . . . . . . .
"""
SHUT_IN = """
. . . X O X . . .
X X X X O X . . .
O O O O O X . . .
X X X X . X . . .
. . . X X X . . .
. . . . . . . . .
. . . . . . . . .
. . . . . . . . .
. . . . . . . . .
"""


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine(BUNDLED, cache_megabytes=4.0) as engine:
        yield engine


def asked(diagram: str) -> tuple[Position, Question]:
    """The position after the move that makes two eyes, and the question about Black's stones."""
    start = Position.from_diagram(diagram, "black", "chinese", 7)
    stone = start.point("D9")
    region = region_around(start, stone, lambda at: start.at(at) is not start.at(stone))
    assert region is not None
    return start.play("B9"), Question(region, frozenset(start.chain(stone)), start.to_play)


def test_the_only_move_has_a_margin(engine: Engine) -> None:
    assert margin(engine, *asked(CORNER), 30).decides


def test_capturing_the_wall_from_outside_is_another_solution(engine: Engine) -> None:
    assert owned_without(engine, *asked(SHUT_IN), 30) > 0.4
    assert owned_without(engine, *asked(CORNER), 30) < -0.4
    assert not margin(engine, *asked(SHUT_IN), 30).decides
