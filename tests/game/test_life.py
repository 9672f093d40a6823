"""Pass-alive stones: diagrams, and a slow reference implementation of the definition."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from tengen.game.color import BLACK, WHITE, Color
from tengen.game.diagram import write_diagram
from tengen.game.kernel_rules import terms_of
from tengen.game.kernels.board import new_boards
from tengen.game.kernels.life import new_life_scratch
from tengen.game.kernels.moves import new_history, start_game
from tengen.game.kernels.scoring import settled_area
from tengen.game.position import Position
from tengen.game.rules import parse_rules
from tengen.game.scoring import on_board
from tests.game.pictures import pictures
from tests.game.playouts import play_out
from tests.game.reference import PlainBoard

pytestmark = pytest.mark.kernel

NO_SUICIDE, SUICIDE = "chinese-ogs", "tromp-taylor"


def alive_picture(position: Position) -> str:
    """The points pass-alive for Black (X) and for White (O)."""
    alive = [position.pass_alive(color).astype(np.int8) for color in Color]
    assert not (alive[0] & alive[1]).any()
    return write_diagram(alive[0] * BLACK + alive[1] * WHITE)


# A board, and what is pass-alive on it

LIVES = {
    "nothing on an empty board": """
        . . .   . . .
        . . .   . . .
    """,
    "nothing on a board of one point": """
        .   .
    """,
    "not a stone without eyes": """
        . . .   . . .
        . X .   . . .
        . . .   . . .
    """,
    "not a chain with one eye and much room": """
        . X . . .   . . . . .
        X X . . .   . . . . .
        . . . . .   . . . . .
        . . . . .   . . . . .
    """,
    "two eyes, but not the wide land outside": """
        . X . X .   X X X X .
        X X X X .   X X X X .
        . . . . .   . . . . .
        . . . . .   . . . . .
    """,
    "two eyes and land too narrow for two white eyes": """
        . X . X .   X X X X X
        X X X X .   X X X X X
        . . . . .   X X X X X
    """,
    "a wall whose two sides are its eyes": """
        . X .   X X X
        . X .   X X X
        . X .   X X X
    """,
    "not a wall with one side two lines wide": """
        . X . .   . . . .
        . X . .   . . . .
        . X . .   . . . .
    """,
    "dead white stones in an eye": """
        . O X . X .   X X X X X .
        X X X X X .   X X X X X .
        . . . . . .   . . . . . .
        . . . . . .   . . . . . .
    """,
    "a dead black stone in White's land": """
        . O . O .   O O O O O
        O O O O X   O O O O O
        . . . . .   O O O O O
    """,
    "not stones around a false eye": """
        . X . X O   . . . . .
        X O X O .   . . . . .
        O . O . .   . . . . .
        . . . . .   . . . . .
    """,
    "two chains by two eyes that they share": """
        . X X .   X X X .
        X . X .   X X X .
        X X . .   X X . .
        . . . .   . . . .
    """,
    "a row of chains, each by an eye to its left and one to its right": """
        . X . X . X .   X X X X X X X
    """,
    "not a row of chains of which the last has one eye": """
        . X . X . X O .   . . . . . . . .
    """,
    "both sides": """
        . X . X O . O .   X X X X O O O O
        X X X X O O O O   X X X X O O O O
    """,
    "one side": """
        . X . X O . . .   X X X X . . . .
        X X X X O O . .   X X X X . . . .
        O O O O . . . .   . . . . . . . .
    """,
}


@pytest.mark.parametrize("rules", [NO_SUICIDE, SUICIDE])
@pytest.mark.parametrize("boards", LIVES.values(), ids=LIVES)
def test_pass_alive_is_exactly(boards: str, rules: str) -> None:
    board, alive = pictures(boards)
    assert alive_picture(Position.from_diagram(board, rules=rules)) == alive


def test_where_suicide_is_allowed_a_stone_out_of_reach_spoils_an_eye() -> None:
    board, alive = pictures("""
        . X X . X   X X X X X
        O . X X X   X X X X X
        . X X X X   X X X X X
    """)
    assert alive_picture(Position.from_diagram(board, rules=NO_SUICIDE)) == alive
    spoiled = Position.from_diagram(board, rules=SUICIDE)
    assert not spoiled.pass_alive("black").any()


def test_settled_area_is_that_of_pass_alive_chains_then_of_borders() -> None:
    board, owners = pictures("""
        . X . X . O . .   X X X X . O O O
        X X X X . O . .   X X X X . O O O
        X . O X . O O O   X X X X . O O O
        X . . X . O X .   X X X X . O X .
        X X X X . O . .   X X X X . O . .
    """)
    assert write_diagram(settled_owners(Position.from_diagram(board, rules=NO_SUICIDE))) == owners


# The definition, with sets


def settled_owners(position: Position) -> NDArray[np.int8]:
    boards, _ = position.arrays(0)
    scratch = new_life_scratch(1)[0]
    difference = settled_area(boards[0], scratch)
    owners = on_board(scratch["owner"], position.width, position.height)
    assert difference == np.count_nonzero(owners == BLACK) - np.count_nonzero(owners == WHITE)
    return owners


def random_stones(seed: int, count: int) -> Iterator[NDArray[np.int8]]:
    """The stones of random games on small boards, some unfinished and some finished."""
    choice = np.random.default_rng(seed)
    boards, history = new_boards(1), new_history(80)
    rng = np.array([seed], np.uint64)
    for _ in range(count):
        width, height = (int(side) for side in choice.choice([(4, 4), (5, 4), (6, 3), (9, 2)]))
        start_game(boards[0], history, width, height, terms_of(parse_rules("chinese"), 0))
        play_out(boards[0], history, rng, int(choice.integers(8, 80)))
        yield on_board(boards[0]["color"], width, height)


@pytest.mark.parametrize("rules", [NO_SUICIDE, SUICIDE])
def test_kernels_agree_with_the_definition_on_random_boards(rules: str) -> None:
    count = 40 if "NUMBA_DISABLE_JIT" in os.environ else 1500
    living = 0
    for stones in random_stones(1, count):
        height, width = stones.shape
        points = {
            color: [(int(x), int(y)) for y, x in np.argwhere(stones == color)] for color in Color
        }
        position = Position((width, height), rules).set_up(points[Color.BLACK], points[Color.WHITE])
        plain = PlainBoard(stones, position.rules.suicide)
        for color in Color:
            alive = {(int(x), int(y)) for y, x in np.argwhere(position.pass_alive(color))}
            assert alive == plain.pass_alive(color), position.diagram()
            living += bool(alive)
        owners = settled_owners(position)
        assert {(x, y): int(owners[y, x]) for x, y in plain.color} == plain.settled()
    assert living > count / 10
