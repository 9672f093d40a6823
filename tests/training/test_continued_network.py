"""Networks that learn on: KataGo's keep what they know, and what they lack begins at random."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tengen.features.feature_set import FEATURE_SETS
from tengen.game.geometry import Size
from tengen.network.backends.torch_evaluator import TorchEvaluator
from tengen.network.evaluator import Evaluation, encode, evaluate
from tengen.network.files.loading import load_network
from tengen.network.network_data import NetworkData
from tengen.network.torch.blocks import Norm
from tengen.training.continued_network import continued_network
from tengen.training.params import TrainingParams
from tengen.training.replay_buffer import ReplayBuffer
from tengen.training.trainer import Trainer
from tests.katago_data import SMALL_NETWORKS, network_path
from tests.training.samples import positions_of_random_games, rows_of

POSITIONS = positions_of_random_games(3, 30, (7,))
TRAINED = [name for name in SMALL_NETWORKS if not name.startswith("human")]


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def said_by(data: NetworkData) -> Evaluation:
    features = FEATURE_SETS[data.architecture.features]
    return evaluate(TorchEvaluator(data, "cpu"), encode(features, POSITIONS))


def new_trainer(data: NetworkData, seed: int = 1) -> Trainer:
    features = FEATURE_SETS[data.architecture.features]
    replay = ReplayBuffer(200, {Size(7, 7): 1.0}, features, symmetries=False)
    replay.add(rows_of(positions_of_random_games(2, 200, (7,)), 1))
    replay.set_window(200)
    continued = continued_network(data, seed)
    params = TrainingParams(batch=32, warm_up=1)
    measure = continued.needs_statistics
    return Trainer(continued.network, replay, params, seed, measure_norms=measure)


@pytest.mark.parametrize("name", TRAINED)
def test_a_network_of_katagos_says_the_same_before_it_learns(name: str) -> None:
    data = load_network(network_path(name))
    before = said_by(data)
    trainer = new_trainer(data)
    trainer.step(0.0)  # which measures the norms first
    after = said_by(trainer.ema_data("later", {}))
    np.testing.assert_allclose(after.policy, before.policy, atol=2e-3)
    for field in ("value", "lead", "score", "ownership"):
        one, other = getattr(after, field), getattr(before, field)
        np.testing.assert_allclose(one, other, atol=2e-3, rtol=2e-3, err_msg=field)


def test_norms_have_the_statistics_of_what_they_are_given() -> None:
    trainer = new_trainer(load_network(network_path("conv-relu-v9")))
    norms = [each for each in trainer._network.modules() if isinstance(each, Norm)]
    assert not any(norm.mean.any() for norm in norms)
    trainer.step(0.0)
    seen: list[torch.Tensor] = []
    hooks = [
        norm.register_forward_pre_hook(lambda _, given: seen.append(given[0])) for norm in norms
    ]
    ring = next(iter(trainer.replay.rings.values()))
    rows = torch.arange(200)
    batch = ring.gathered(rows, torch.zeros_like(rows))
    with torch.no_grad():
        trainer._network.eval()(batch.planes, batch.globals)
    for hook in hooks:
        hook.remove()
    for norm, given in zip(norms, seen, strict=True):
        mean, deviation = given.mean((0, 2, 3)), given.std((0, 2, 3))
        # The sample was drawn with replacement and turned, and a step has moved them a little.
        scale = deviation.clamp_min(1e-3)
        assert ((norm.mean - mean).abs() / scale).max() < 0.5
        torch.testing.assert_close(norm.variance.sqrt(), deviation, rtol=0.5, atol=1e-2)


def policy_loss(name: str, *, measured: bool) -> float:
    """Of a step that learns nothing, on targets that the network itself has set."""
    data = load_network(network_path(name))
    trainer = new_trainer(data)
    if not measured:
        trainer._measure_norms = False
    ring = next(iter(trainer.replay.rings.values()))
    rows = torch.arange(200)
    batch = ring.gathered(rows, torch.zeros_like(rows))
    with torch.no_grad():
        policy = trainer.ema(batch.planes, batch.globals).policy[:, 0].softmax(1)
    ring.rows.policy.copy_(policy)
    entropy = -(policy * policy.clamp_min(1e-30).log()).sum(1).mean()
    for _ in range(10):
        trainer.step(0.0)
    return float(trainer.metrics()["policy"] - entropy)


@pytest.mark.parametrize("name", ["conv-relu-v9", "nbt-mish-fson-rvgl-bnh-v15"])
def test_in_training_it_thinks_as_it_plays_once_norms_are_measured(name: str) -> None:
    measured, plain = (policy_loss(name, measured=each) for each in (True, False))
    assert measured < 0.2 * plain


def test_what_is_missing_begins_at_random_and_is_named() -> None:
    data = load_network(network_path("conv-relu-v7"))  # four score outputs
    first, second = (continued_network(data, seed) for seed in (1, 2))
    assert any("the error of values, the error of scores" in each for each in first.remarks)
    one, other = (each.network.network.value.score.weight for each in (first, second))
    assert torch.equal(one[:4], other[:4])
    assert not torch.equal(one[4:], other[4:])
    assert one[4:].any()


def test_other_policies_are_left_out_with_a_word() -> None:
    continued = continued_network(load_network(network_path("conv-mish-v16-q")), 1)
    assert continued.network.network.architecture.policy_outputs == 1
    assert any("plain policy" in each for each in continued.remarks)


def test_a_network_that_imitates_people_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="imitates people, and such networks are not trained"):
        continued_network(load_network(network_path("human-nbt-mish-v15")), 1)


def test_a_network_of_ours_needs_nothing() -> None:
    continued = continued_network(load_network("tengen-9x9"), 1)
    assert continued.remarks == []
    assert not continued.needs_statistics


def test_it_learns_on() -> None:
    trainer = new_trainer(load_network(network_path("nbt-mish-fson-rvgl-bnh-v15")))
    for _ in range(10):
        trainer.step(0.0)
    first = trainer.metrics()
    for _ in range(100):
        trainer.step(1e-3)
    trainer.metrics()
    for _ in range(10):
        trainer.step(1e-3)
    last = trainer.metrics()
    for name in ("policy", "value", "ownership"):
        assert last[name] < 0.97 * first[name], name
