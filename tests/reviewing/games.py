"""A game whose mistake can be counted by hand, and networks that need no file."""

from __future__ import annotations

from typing import Any

import numpy as np

from tengen.engine.engine import Engine
from tengen.game.sgf.records import SgfGame, read_sgf
from tengen.network.evaluator import Batch, Evaluation, Evaluator
from tengen.network.fake import FakeEvaluator, uniform
from tengen.network.loaded_network import LoadedNetwork
from tengen.reviewing.review import GameReview, review_game

# Everything is settled but G1, the last liberty of six white stones. If Black takes them, Black
# has the seven columns on the left, 35 points to 10; if White connects, it is 28 to 17. So the
# move is worth 14 points, and at 18 points of komi the game. Black passes.
#
#   5  X X X X X X X O .
#   4  . X . X X X X O O
#   3  X X X X X X X O .
#   2  X X X X X X X O O
#   1  O O O O O O . O .
#      A B C D E F G H J
WORTH = 14
SIX_STONES = """(;GM[1]FF[4]SZ[9:5]KM[18]RU[tromp-taylor]PB[Ann]PW[Bo]
AB[aa][ba][ca][da][ea][fa][ga][bb][db][eb][fb][gb][ac][bc][cc][dc][ec][fc][gc]
AB[ad][bd][cd][dd][ed][fd][gd]
AW[ha][hb][ib][hc][hd][id][he][ae][be][ce][de][ee][fe]PL[B]
C[Who is ahead?]
(;B[]C[Black thinks it is over.];W[ge];B[];W[])
(;B[gb]N[never played]))"""


def only_game(text: str) -> SgfGame:
    (game,) = read_sgf(text, "game.sgf")
    return game


def _two_points_count(batch: Batch) -> Evaluation:
    """The centre is worth 10 points to who has it, the lower right corner 3; all want them.

    Nobody wants to pass, for the end of a game is counted by the rules.
    """
    evaluation = uniform(batch)
    own, other = batch.planes[:, 1], batch.planes[:, 2]
    height, width = own.shape[1:]
    centre = height // 2 * width + width // 2
    owned = (own - other).reshape(-1, height * width)
    lead = 10 * owned[:, centre] + 3 * owned[:, -1]
    win = (1 + 0.8 * np.sign(lead)) / 2
    policy = evaluation.policy.copy()
    policy[:, centre], policy[:, -2], policy[:, -1] = 7, 6, -20
    return evaluation._replace(
        policy=policy,
        value=np.stack([win, 1 - win, np.zeros_like(win)], 1).astype(np.float32),
        score=lead,
        lead=lead,
    )


def two_points_network() -> FakeEvaluator:
    """A network to which nothing but the centre and a corner matters."""
    return FakeEvaluator(_two_points_count, name="two points")


def review_by(
    network: Evaluator | LoadedNetwork, game: SgfGame, *arguments: Any, **options: Any
) -> GameReview:
    """The review of a game by a network."""
    with Engine(network, cache_megabytes=16) as engine:
        return review_game(engine, game, *arguments, **options)


# Black plays neither: White takes the centre, and Black could have the corner, 7 points behind
# in place of 7 ahead. Black leaves that, too: 13 points behind in place of 7.
BOTH_LEFT = "(;SZ[7]KM[0]RU[chinese];B[aa]C[a remark];W[dd];B[ga];W[gg];B[ag])"
FIRST_LOSS, SECOND_LOSS = 14, 6
