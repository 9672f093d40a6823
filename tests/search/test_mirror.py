"""Against opponents who mirror every move. Visits and win rates are those of KataGo 1.17.2.

They are of `katago analysis -override-config numAnalysisThreads=1,nnRandomize=false,
numSearchThreadsPerAnalysisThread=1`, with antiMirror, without graph search and wideRootNoise.
"""

from __future__ import annotations

import pytest

from tengen.engine.engine import Engine
from tengen.engine.katago_params import PLAYING
from tengen.game.position import Position
from tengen.network.backends.openvino_evaluator import OpenVinoEvaluator, Precision
from tengen.network.fake import FakeEvaluator
from tengen.network.files.loading import load_network
from tengen.search.mirror_play import (
    mirror_advantage,
    mirror_asymmetry,
    mirror_image,
    opponent_mirrors,
    params_at,
)
from tengen.search.params import SearchParams
from tengen.search.request import Limits, SearchRequest
from tests.katago_data import needs_katago_data, network_path
from tests.search.plain_search import Search

AGAINST = SearchParams(**PLAYING, anti_mirror=True)
MOVES = {
    9: "C3 D7 G6 C6 B4 H3 H2 E2 D3 C2 D4 D2 B5 C5",
    19: "Q16 D17 C6 F17 R13 D10 K17 O4 H16 E3 R11 G4 C8 Q8 R6 O6",
}
CENTRE = {9: "E5", 19: "K10"}


def mirrored(size: int, komi: float, centre: bool, moves: str = "", **rules: str) -> Position:
    """A game in which White mirrors, or Black after a first move at the centre."""
    position = Position(size, rules.get("rules", "tromp-taylor"), komi)
    if centre:
        position = position.play(CENTRE[size])
    for text in (moves or MOVES[size]).split():
        position = position.play(text)
        assert position.last_move is not None
        position = position.play(mirror_image(position, position.last_move.point))
    return position


# Network, board size, does Black hold the centre and mirror, komi; KataGo's moves of 100 visits
# that have two or more, how many have one, and what the evaluation of the root is for Black.
FOUND = [
    (
        *("conv-relu-v7", 9, False, 7),
        {"E5": 32, "A7": 14, "J3": 10, "E4": 7}
        | dict.fromkeys(("A8", "J7", "J4", "A2", "E6", "D5", "D6", "F4", "F5"), 4),
        0,
        0.34760,
    ),
    (
        *("conv-relu-v7", 9, True, 7),
        {"A7": 28, "A8": 14, "F4": 10, "J4": 4}
        | dict.fromkeys(("A2", "J3", "E4", "F5", "D5", "D6", "E6"), 6),
        1,
        0.64133,
    ),
    ("conv-relu-v7", 9, True, 0.5, {"D5": 73, "E4": 8, "F5": 5, "E6": 2}, 11, 0.53249),
    ("conv-relu-v9", 9, True, 0.5, {"D5": 88, "E4": 11}, 0, 0.63273),
    ("g170-b6c96", 9, False, 3, {"E5": 54, "D8": 23, "C8": 9, "F2": 6}, 7, 0.57368),
    (
        *("g170-b6c96", 9, True, 0.5),
        {"D8": 61, "F2": 15, "C8": 10, "E4": 3, "E6": 2, "D5": 2, "F5": 2},
        4,
        0.69170,
    ),
    ("g170-b6c96", 19, False, 3, {"K10": 67, "D7": 9, "Q12": 4, "Q13": 4, "D8": 3}, 12, 0.62657),
    (
        *("g170-b6c96", 19, True, 0.5),
        {"D7": 30, "J10": 22, "K9": 9, "B7": 8, "Q12": 7, "D8": 4, "Q13": 4, "L10": 4, "K11": 4},
        7,
        0.70120,
    ),
]


@pytest.mark.parametrize(
    ("network", "size", "centre", "komi", "visits", "once", "winrate"),
    [pytest.param(*case, marks=[needs_katago_data] if "g170" in case[0] else []) for case in FOUND],
)
def test_katago_s_search_against_a_mirror(
    network: str,
    size: int,
    centre: bool,
    komi: float,
    visits: dict[str, int],
    once: int,
    winrate: float,
) -> None:
    position = mirrored(size, komi, centre)
    evaluator = OpenVinoEvaluator(load_network(network_path(network)), Precision.FLOAT32)
    search = Search(evaluator, params_at(AGAINST, position), ownership=False, leaves=1)
    search.set_position(position)
    sign = -1 if centre else 1
    first = search.run(Limits(visits=1))
    assert sign * (first.winrate - 0.5) + 0.5 == pytest.approx(winrate, abs=2e-5)
    found = {position.text(each.move): each.visits for each in search.run(Limits(visits=100)).moves}
    assert {move: count for move, count in found.items() if count > 1} == visits
    assert sum(count == 1 for count in found.values()) == once


def test_an_opponent_mirrors_who_did_so_often_lately_and_with_the_last_move() -> None:
    game = mirrored(9, 7, False)
    assert opponent_mirrors(game)
    assert not opponent_mirrors(game.undo())  # the other side does not
    earlier = game
    for _ in range(2):
        earlier = earlier.undo()
    assert not opponent_mirrors(earlier)  # 13 times are too few: 7 and half of the moves
    assert not opponent_mirrors(game.play("A1").play("A9"))
    assert opponent_mirrors(game.pass_().pass_())


def test_points_and_symmetry_are_katago_s() -> None:
    game = mirrored(9, 7, False)
    assert mirror_advantage(game) == 7 - 1  # Black has the last move of an odd number of points
    assert mirror_advantage(mirrored(9, 0.5, True)) == 1 - 0.5
    assert mirror_advantage(mirrored(9, 6.5, True, rules="japanese")) == -6.5
    assert mirror_asymmetry(game) == 0
    # A stone that the opponent has not mirrored, then with one of his alone.
    assert mirror_asymmetry(game.play("E6").pass_()) == 1
    alone = game.play("E6").play("F5").pass_().pass_()
    assert mirror_asymmetry(alone) == pytest.approx(0.5 * 1.2 * 2.2)
    assert mirror_asymmetry(Position(6)) == 1e10


def test_searches_differ_only_where_the_opponent_mirrors() -> None:
    plain = SearchParams(**PLAYING)
    assert params_at(plain, mirrored(9, 7, False)) == plain
    assert params_at(AGAINST, Position(9)) == plain
    against = params_at(AGAINST, mirrored(9, 7, False))
    assert against.anti_mirror
    assert (against.noise_pruning, against.value_bias, against.value_weight) == (False, 0.0, 0.0)


def test_a_tree_is_kept_as_long_as_the_opponent_goes_on_mirroring() -> None:
    game = mirrored(9, 7, False)
    with Engine(FakeEvaluator(), params=AGAINST) as engine:

        def reused(position: Position) -> bool:
            return engine.search(SearchRequest(position, Limits(visits=40))).reused > 0

        move = engine.search(SearchRequest(game, Limits(visits=400))).move
        after = game.play(move)
        other = next(point for point in after.legal_moves() if point != mirror_image(after, move))
        assert reused(after.play(mirror_image(after, move)))
        engine.search(SearchRequest(game, Limits(visits=400)))
        assert not reused(after.play(other))
