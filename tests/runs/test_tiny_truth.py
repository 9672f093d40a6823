"""From random weights to the truth about 3x3: Black owns the whole board, beginning in the centre.

So Black wins with a komi of 8.5, and White with 9.5. It takes less than a minute of one core.
"""

from __future__ import annotations

from collections.abc import Iterator

import numba
import pytest
import torch

from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.network.evaluator import Evaluation, Evaluator, encode, evaluate
from tengen.network.files.tengen_format import load_network_file
from tengen.runs.folder import RunFolder
from tengen.runs.params import RatingParams, RunConfig, RunParams
from tengen.runs.rating import network_file, network_name
from tengen.runs.run import train
from tengen.runs.selfplay_network import evaluator_on
from tengen.search.request import Limits
from tengen.selfplay.params import SelfPlayParams
from tengen.training.params import TrainingParams
from tests.search.plain_search import Search

pytestmark = pytest.mark.timeout(1200)

ITERATIONS = 12
LAST = network_name(ITERATIONS)
CONFIG = RunConfig(
    run=RunParams(
        model="b2c32",
        device="cpu",
        iterations=ITERATIONS,
        iteration_rows=1200,
        first_rows=1200,
    ),
    selfplay=SelfPlayParams(
        games=128,
        visits=48,
        fast_visits=12,
        full_share=0.5,
        board_sizes=(3,),
        komi_spread=0.5,
        wide_komi_share=0.0,
        move_limit=3.0,  # stones are taken often
    ),
    training=TrainingParams(batch=64, rate=4e-3, warm_up=50, ema=0.98),
    rating=RatingParams(every=ITERATIONS, games=16, visits=8, opponents=1),
)


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Evaluator]:
    """The network at the end of a run."""
    before = torch.get_num_threads(), numba.get_num_threads()
    torch.set_num_threads(1)
    numba.set_num_threads(1)
    path = tmp_path_factory.mktemp("tiny") / "run"
    train(path, CONFIG)
    yield evaluator_on("cpu", load_network_file(network_file(RunFolder(path), LAST)))
    torch.set_num_threads(before[0])
    numba.set_num_threads(before[1])


def seen(evaluator: Evaluator, *positions: Position) -> Evaluation:
    return evaluate(evaluator, encode(evaluator.features, positions))


def assert_opens_in_the_centre(learned: Evaluator, certainty: float) -> None:
    empty = Position(3, "tromp-taylor", 8.5)
    assert seen(learned, empty).policy.argmax() == 4
    search = Search(learned, ownership=False, leaves=1)
    search.set_position(empty)
    result = search.run(Limits(visits=50))
    assert result.move == Point(1, 1)
    assert result.winrate > certainty


def assert_knows_who_wins_by_half_a_point(learned: Evaluator, certainty: float) -> None:
    close, far = (Position(3, "tromp-taylor", komi).play("B2") for komi in (8.5, 9.5))
    value = seen(learned, close, far).value  # for White, who is to play
    assert value[0, 1] > certainty
    assert value[1, 0] > certainty


def test_it_opens_in_the_centre(learned: Evaluator) -> None:
    assert_opens_in_the_centre(learned, 0.8)


def test_it_knows_who_wins_by_half_a_point(learned: Evaluator) -> None:
    assert_knows_who_wins_by_half_a_point(learned, 0.9)


def test_it_knows_that_the_board_is_black(learned: Evaluator) -> None:
    evaluation = seen(learned, Position(3, "tromp-taylor", 8.5).play("B2"))
    assert (evaluation.ownership < -0.8).all()
    assert -evaluation.lead[0] + 8.5 == pytest.approx(9, abs=1.5)
    assert -evaluation.score[0] + 8.5 == pytest.approx(9, abs=1.5)
