"""Kernels: the boards of recorded games, and what each point of the last board is worth."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.features.kernels.katago import own_komi
from tengen.game.color import BLACK, EMPTY, WHITE
from tengen.game.kernels.board import (
    AGREED,
    TAX_ON_GROUPS,
    neighbours,
    opponent,
    point_of,
    remove_chain,
)
from tengen.game.kernels.moves import set_to_play, start_game
from tengen.game.kernels.scoring import settled_area
from tengen.jit import kernel
from tengen.replay.kernels.encode import play_turn

GROUP_TAX = 2  # points


class GameBoards(NamedTuple):
    """The boards of games with T turns in all: after 0, 1, ... turns of each game, in order.

    Points are 1 for Black, -1 for White, else 0; points outside of smaller boards are 0.
    """

    stones: NDArray[np.int8]  # [T + games, side, side]
    bonus: NDArray[np.float32]  # [T + games] points beyond komi that White has got already
    area: NDArray[np.int8]  # [games, side, side] at the end, as if there were no tax
    # [games, side, side] what each point is worth at the end, from -1 to 1
    scoring: NDArray[np.float32]


@kernel
def replay_boards(played, index, board, history, life, boards):
    """Fill the boards of all games, whose records must be sound."""
    at = np.int64(0)
    for g in range(played.games.shape[0]):
        game = played.games[g]
        start_game(board, history, game.width, game.height, index.terms[g])
        for t in range(index.turns[g], index.turns[g + 1] + 1):
            for y in range(game.height):
                for x in range(game.width):
                    boards.stones[at, y, x] = _sign(board.color[point_of(board, x, y)])
            set_to_play(board, WHITE)
            boards.bonus[at] = own_komi(board) - board.komi
            at += 1
            if t < index.turns[g + 1]:
                set_to_play(board, played.turns[t].color)
                play_turn(board, history, played.turns[t].move)
        if not game.no_result:
            _judge_points(board, played.ownership, index.points[g], life, boards, g)


@kernel
def _judge_points(board, ownership, first, life, boards, g):
    """Fill `area` and `scoring` of game g from its last board and the owners of its points."""
    if board.territory == AGREED:
        for k in range(board.width * board.height):
            p = point_of(board, k % board.width, k // board.width)
            if board.color[p] and ownership[first + k] == _sign(opponent(board.color[p])):
                remove_chain(board, board.head[p])
    settled_area(board, life)
    for k in range(board.width * board.height):
        x, y = k % board.width, k // board.width
        p = point_of(board, x, y)
        boards.area[g, y, x] = _sign(life.owner[p])
        boards.scoring[g, y, x] = ownership[first + k]
        owner = ownership[first + k]
        life.owner[p] = BLACK if owner > 0 else WHITE if owner < 0 else EMPTY
        life.region[p] = 0
    if board.tax == TAX_ON_GROUPS:
        for y in range(board.height):
            for x in range(board.width):
                p = point_of(board, x, y)
                if life.owner[p] != EMPTY and life.region[p] == 0:
                    _tax_group(board, p, life, boards.scoring[g])


@kernel
def _tax_group(board, start, life, scoring):
    """Take the tax of one group from its territory, each point of which pays the same share."""
    owner, region, stack = life.owner, life.region, life.stack
    color, n, done, territory = owner[start], 1, 0, 0
    stack[0] = start
    region[start] = 1
    while done < n:
        p = stack[done]
        done += 1
        territory += board.color[p] != color
        for q in neighbours(board, p):
            if owner[q] == color and region[q] == 0:
                region[q] = 1
                stack[n] = q
                n += 1
    worth = max(0, territory - GROUP_TAX) / max(territory, 1)
    for k in range(n):
        p = np.int64(stack[k])
        if board.color[p] != color:
            scoring[p // board.stride - 1, p % board.stride - 1] *= worth


@kernel(inline=True)
def _sign(color):
    return np.int8(1 if color == BLACK else -1 if color == WHITE else 0)
