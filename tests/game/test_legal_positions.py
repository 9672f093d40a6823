"""Known numbers of Go: legal positions of small boards (Tromp) and games under superko."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from tengen.game.color import BLACK, EMPTY, WALL, WHITE
from tengen.game.geometry import Point
from tengen.game.kernel_rules import terms_of
from tengen.game.kernels.board import (
    copy_board,
    is_suicide,
    n_points,
    new_boards,
    point_of,
    put_stone,
)
from tengen.game.kernels.moves import new_history, play, start_game
from tengen.game.position import Position
from tengen.game.rules import parse_rules
from tengen.jit import kernel

pytestmark = pytest.mark.kernel

LEGAL_POSITIONS = {
    (1, 1): 1,
    (2, 1): 5,
    (1, 3): 15,
    (2, 2): 57,
    (3, 2): 489,
    (3, 3): 12_675,
    (3, 4): 321_689,
    (4, 4): 24_318_165,
}
TERMS = terms_of(parse_rules("chinese"), 0)
SMALL_ENOUGH = 100 if numba.config.DISABLE_JIT else 400_000
QUICK = [(size, count) for size, count in LEGAL_POSITIONS.items() if count <= SMALL_ENOUGH]


@kernel
def set_position(board, history, width, height, terms, code):  # type: ignore[no-untyped-def]
    """Set up the position whose stones are the digits of `code` in base 3."""
    start_game(board, history, width, height, terms)
    for y in range(height):
        for x in range(width):
            if code % 3 != EMPTY:
                put_stone(board, point_of(board, x, y), code % 3)
            code //= 3


@kernel
def code_of(board):  # type: ignore[no-untyped-def]
    code = 0
    for y in range(board.height - 1, -1, -1):
        for x in range(board.width - 1, -1, -1):
            code = 3 * code + board.color[point_of(board, x, y)]
    return code


@kernel
def all_chains_have_liberties(board):  # type: ignore[no-untyped-def]
    for p in range(n_points(board)):
        c = board.color[p]
        if c != EMPTY and c != WALL and board.libs[board.head[p]] == 0:
            return False
    return True


@kernel
def count_legal(board, history, width, height, terms):  # type: ignore[no-untyped-def]
    count = 0
    for code in range(3 ** (width * height)):
        set_position(board, history, width, height, terms, code)
        count += all_chains_have_liberties(board)
    return count


@kernel
def count_reachable(boards, history, width, height, terms, reached, queue):  # type: ignore[no-untyped-def]
    """Positions that play can reach if either side may move at each turn."""
    position, trial = boards[0], boards[1]
    n, done = 1, 0
    reached[0] = 1
    queue[0] = 0
    while done < n:
        set_position(position, history, width, height, terms, queue[done])
        done += 1
        for color in (BLACK, WHITE):
            position.to_play = color
            for i in range(position.n_empty):
                p = position.empties[i]
                if not is_suicide(position, p):
                    copy_board(trial, position)
                    play(trial, history, p)
                    code = code_of(trial)
                    if not reached[code]:
                        reached[code] = 1
                        queue[n] = code
                        n += 1
    return n


def legal(size: tuple[int, int]) -> int:
    return int(count_legal(new_boards(1)[0], new_history(4), *size, TERMS))


@pytest.mark.parametrize(("size", "count"), QUICK)
def test_as_many_positions_are_legal_as_tromp_counted(size: tuple[int, int], count: int) -> None:
    assert legal(size) == count


@pytest.mark.long
def test_as_many_4x4_positions_are_legal_as_tromp_counted() -> None:
    assert legal((4, 4)) == LEGAL_POSITIONS[4, 4]


@pytest.mark.parametrize(("size", "count"), QUICK)
def test_play_reaches_every_legal_position(size: tuple[int, int], count: int) -> None:
    codes = 3 ** (size[0] * size[1])
    reached, queue = np.zeros(codes, np.uint8), np.zeros(codes, np.int32)
    assert count_reachable(new_boards(2), new_history(4), *size, TERMS, reached, queue) == count


@pytest.mark.parametrize(("size", "games"), [((1, 1), 1), ((2, 1), 9), ((1, 3), 907)])
def test_as_many_games_exist_under_positional_superko_as_tromp_counted(
    size: tuple[int, int], games: int
) -> None:
    """Either side may move at each turn; the empty game counts."""

    points = [Point(x, y) for y in range(size[1]) for x in range(size[0])]

    def count(position: Position) -> int:
        return 1 + sum(
            count(position.play(point, color))
            for color in ("black", "white")
            for point in points
            if position.is_legal(point, color)
        )

    assert count(Position(size, "tromp-taylor")) == games
