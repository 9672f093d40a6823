"""How the network sees a root: with less optimism than other positions, by several symmetries."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tengen.features.feature_set import KATAGO
from tengen.game.color import Color
from tengen.game.geometry import Symmetry
from tengen.game.position import Position
from tengen.network.evaluator import Batch, Evaluation, optimism_of
from tengen.network.fake import FakeEvaluator, uniform
from tengen.search.params import SearchParams
from tengen.search.request import Limits, RootOptions
from tests.search.plain_search import Search

POINTS = 26  # of 5x5, and the pass
KOMI, UNEQUAL, ADVANTAGE = (
    KATAGO.globals.index(name) for name in ("own komi", "unequal playouts", "advantage in playouts")
)


class Recorder:
    """A network whose policy depends on the optimism asked for, and what it was asked."""

    def __init__(self) -> None:
        random = np.random.default_rng(5)
        self.plain, self.hope = random.normal(0, 1, (2, POINTS)).astype(np.float32)
        self.batches: list[Batch] = []

    def logits(self, optimism: float) -> NDArray[np.float32]:
        mixed = self.plain + np.float32(optimism) * (self.hope - self.plain)
        return np.asarray(mixed, np.float32)

    def __call__(self, batch: Batch) -> Evaluation:
        self.batches.append(Batch._make(None if a is None else a.copy() for a in batch))
        policy = np.stack([self.logits(each) for each in optimism_of(batch)])
        return uniform(batch)._replace(policy=policy)


def search_with(
    network: Recorder,
    *,
    has_optimism: bool = True,
    root: RootOptions | None = None,
    komi: float = 7,
) -> Search:
    evaluator = FakeEvaluator(network, has_optimism=has_optimism)
    search = Search(evaluator, SearchParams(megabytes=4, value_bias=0), leaves=1)
    search.set_position(Position(5, komi=komi), root or RootOptions())
    return search


def legal_softmax(logits: NDArray[np.float32], position: Position) -> NDArray[np.float64]:
    shares = np.where(position.legal_mask(), np.exp(logits.astype(float)), 0)
    return np.asarray(shares / shares.sum())


def test_the_root_is_seen_with_less_optimism_than_positions_below() -> None:
    network = Recorder()
    result = search_with(network).run(Limits(visits=40))
    asked = np.concatenate([optimism_of(batch) for batch in network.batches])
    assert asked[0] == np.float32(0.2)
    assert set(asked[1:].tolist()) == {1.0}
    expected = legal_softmax(network.logits(0.2), Position(5))
    assert result.policy == pytest.approx(expected, abs=1e-4)


def test_a_kept_root_is_evaluated_again_as_a_root() -> None:
    network = Recorder()
    search = search_with(network)
    position = Position(5, komi=7)
    move = search.run(Limits(visits=80)).move
    network.batches.clear()
    after = position.play(move)
    search.set_position(after)
    kept = search.result().visits
    assert kept > 5
    result = search.run(Limits(visits=kept + 20))
    assert optimism_of(network.batches[0]).tolist() == [np.float32(0.2)]
    assert result.visits == kept + 20
    assert result.policy == pytest.approx(legal_softmax(network.logits(0.2), after), abs=1e-3)
    priors = {each.move: each.prior for each in result.moves}
    for each, prior in priors.items():
        place = POINTS - 1 if each is None else each.y * 5 + each.x
        assert prior == pytest.approx(result.policy[place], rel=1e-3)


def test_a_network_without_optimism_is_not_asked_for_it_and_not_asked_again() -> None:
    network = Recorder()
    search = search_with(network, has_optimism=False)
    move = search.run(Limits(visits=80)).move
    assert not np.concatenate([optimism_of(batch) for batch in network.batches]).any()
    network.batches.clear()
    search.set_position(Position(5, komi=7).play(move))
    kept = search.result().visits
    assert kept > 5
    search.run(Limits(visits=kept + 1))
    assert len(network.batches) <= 1  # the new leaf


def test_a_root_is_averaged_over_symmetries() -> None:
    """The mean over all eight of a network that always prefers one corner has no preference."""
    network = Recorder()
    search = search_with(network, has_optimism=False, root=RootOptions(symmetries=8))
    policy = search.run(Limits(visits=1)).policy
    board = policy[:-1].reshape(5, 5)
    for image in (board[::-1], board[:, ::-1], board.T):
        assert image == pytest.approx(board, abs=1e-6)
    shares = legal_softmax(network.plain, Position(5))
    corners = [0, 4, 20, 24]
    assert board[0, 0] == pytest.approx(shares[corners].mean(), rel=1e-4)
    assert policy[-1] == pytest.approx(shares[-1], rel=1e-4)
    assert sum(len(batch.planes) for batch in network.batches) == len(Symmetry)


def test_draws_that_are_no_half_win_shift_the_komi_that_the_network_sees() -> None:
    network = Recorder()
    search = search_with(network)
    search.set_params(SearchParams(megabytes=4, white_draw_wins=0.9))
    for komi, shift in ((7.0, 0.4), (7.5, 0.0)):
        network.batches.clear()
        search.set_position(Position(5, komi=komi))
        search.run(Limits(visits=1))
        assert network.batches[0].globals[0, KOMI] == pytest.approx(-(komi + shift) / 20)


@pytest.mark.parametrize("side", [None, Color.BLACK, Color.WHITE])
def test_the_network_is_told_of_an_advantage_in_playouts(side: Color | None) -> None:
    network = Recorder()
    root = RootOptions(playout_advantage=1.5, advantage_of=side)
    search_with(network, root=root).run(Limits(visits=30))
    told = np.concatenate([batch.globals for batch in network.batches])
    assert (told[:, UNEQUAL] == 1).all()
    black = -0.75 if side is Color.WHITE else 0.75
    assert told[0, ADVANTAGE] == black
    assert set(told[:, ADVANTAGE].tolist()) == {black, -black}
