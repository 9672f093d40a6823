"""The trainer: learning, resuming exactly, going back from what is not finite."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tengen.features.feature_set import KATAGO, KATAGO_WITHOUT_LADDERS
from tengen.game.geometry import Size
from tengen.network.architecture_names import named_architecture
from tengen.network.backends.torch_evaluator import TorchEvaluator
from tengen.network.evaluator import encode, evaluate
from tengen.network.files.tengen_format import load_network_file, save_network
from tengen.training import trainer as trainer_module
from tengen.training.heads_and_losses import LOSSES
from tengen.training.initial_network import initial_network
from tengen.training.params import TrainingParams, rate_at
from tengen.training.replay_buffer import ReplayBuffer, TrainingBatch
from tengen.training.trainer import DivergedError, Trainer
from tests.training.samples import positions_of_random_games, rows_of

SIDE = 5
FIVE = Size(SIDE, SIDE)
SMALL = TrainingParams(batch=32, warm_up=5)
OTHER_HEADS: dict[str, Any] = {
    f"{name}_weight": 0.0 for name in LOSSES if name not in ("policy", "value")
}
needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA here")


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def new_buffer(
    count: int = 200, sides: tuple[int, ...] = (SIDE,), symmetries: bool = True, device: str = "cpu"
) -> ReplayBuffer:
    sizes = {Size(side, side): 1.0 for side in sides}
    replay = ReplayBuffer(count, sizes, KATAGO, device, symmetries)
    replay.add(rows_of(positions_of_random_games(1, count, sides), 1))
    replay.set_window(count)
    return replay


def new_trainer(
    replay: ReplayBuffer, params: TrainingParams = SMALL, name: str = "b2c16", seed: int = 1
) -> Trainer:
    return Trainer(initial_network(named_architecture(name), seed), replay, params, seed)


def test_two_thousand_positions_are_learned_by_heart() -> None:
    replay = new_buffer(2000, (4,), symmetries=False)
    params = TrainingParams(batch=250, rate=0.012, warm_up=20, decay=0.0, ema=0.9, **OTHER_HEADS)
    architecture = replace(named_architecture("b1c64"), policy_mid=64)
    trainer = Trainer(initial_network(architecture, 1), replay, params, 1)
    steps = 550
    for step in range(steps):
        trainer.step(rate_at(params, step, 0.5 + 0.5 * step / steps))
    batch = replay.rings[Size(4, 4)].gathered(
        torch.arange(2000), torch.zeros(2000, dtype=torch.int64)
    )
    with torch.no_grad():
        said = trainer.ema(batch.planes, batch.globals)
    target = batch.policy / batch.policy.sum(1, keepdim=True)
    policy_loss = -(target * said.policy[:, 0].log_softmax(1)).sum(1).mean()
    entropy = -(target * target.clamp_min(1e-30).log()).sum(1).mean()
    value_loss = -(batch.value * said.value.log_softmax(1)).sum(1).mean()
    assert policy_loss < entropy + 0.05
    assert value_loss < 0.01


@pytest.mark.parametrize("sides", [(SIDE,), (3, SIDE)])
@pytest.mark.parametrize("renorm_steps", [(500, 2000), (10, 30)])
def test_every_loss_falls(
    sides: tuple[int, ...], renorm_steps: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trainer_module, "RENORM_STEPS", renorm_steps)
    trainer = new_trainer(new_buffer(64, sides, symmetries=False))
    for _ in range(10):
        trainer.step(0.0)
    first = trainer.metrics()
    for _ in range(150):
        trainer.step(SMALL.rate)
    trainer.metrics()
    for _ in range(20):
        trainer.step(SMALL.rate)
    last = trainer.metrics()
    assert last["steps"] == 20
    # What foretells errors of others that are being learned has a test of its own.
    moving = {"spread", "value_error", "score_error"}
    assert [name for name in LOSSES if last[name] >= first[name] and name not in moving] == []
    by_size = {f"{side}x{side}/{name}" for side in sides for name in ("policy", "value")}
    assert {name for name in last if "/" in name} == (by_size if len(sides) > 1 else set())
    assert [name for name in by_size & last.keys() if last[name] >= first[name]] == []


def test_losses_of_sizes_add_up_to_those_of_all() -> None:
    replay = new_buffer(200, (3, SIDE))
    trainer = new_trainer(replay)
    drawn = Counter(replay.size_at(step) for step in range(30))
    assert min(drawn.values()) > 5
    for _ in range(30):
        trainer.step(1e-3)
    found = trainer.metrics()
    for name in ("policy", "value"):
        total = sum(count * found[f"{size}/{name}"] for size, count in drawn.items())
        assert found[name] == pytest.approx(total / 30, rel=1e-5)


def policy_loss(network: Any, batch: TrainingBatch) -> float:
    with torch.no_grad():
        said = network(batch.planes, batch.globals).policy[:, 0]
    return float(-(batch.policy * said.log_softmax(1)).sum(1).mean())


def test_what_is_learned_on_alternating_sizes_is_known_in_play(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Play normalises all sizes alike, so learning must, too."""
    monkeypatch.setattr(trainer_module, "RENORM_STEPS", (20, 60))
    replay = new_buffer(100, (2, 7), symmetries=False)
    trainer = new_trainer(replay, replace(SMALL, ema=0.5, ema_share=0.0))
    for _ in range(200):
        trainer.step(2e-3)
    trainer.metrics()
    for _ in range(50):
        trainer.step(0.0)  # the average catches up
    learned = trainer.metrics()
    for size, ring in replay.rings.items():
        batch = ring.gathered(torch.arange(ring.window), torch.zeros(ring.window, dtype=torch.long))
        in_play = policy_loss(trainer.ema, batch)
        # By batch norm alone the difference is 0.3 to 0.8.
        assert in_play == pytest.approx(learned[f"{size}/policy"], abs=0.1)


@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
def test_a_resumed_trainer_goes_on_bit_for_bit(optimizer: str) -> None:
    replay = new_buffer(100, (4, SIDE))
    params = TrainingParams(batch=32, optimizer=optimizer)
    whole, first = new_trainer(replay, params), new_trainer(replay, params)
    for trainer in (whole, first):
        for _ in range(10):
            trainer.step(1e-3)
        trainer.rate_factor = 0.5  # as after a roll-back
    second = new_trainer(replay, params, seed=99)
    second.load_state(first.state())
    assert second.steps == 10
    for trainer in (whole, second):
        for _ in range(10):
            trainer.step(1e-3)
    one, other = whole.state(), second.state()
    assert one.keys() == other.keys()
    assert [name for name in one if not torch.equal(one[name], other[name])] == []


def test_a_state_of_another_network_is_refused_by_name() -> None:
    replay = new_buffer(10)
    state = new_trainer(replay).state()
    with pytest.raises(ValueError, match=r"another network or optimizer: .*conv"):
        new_trainer(replay, name="b2c32").load_state(state)
    del state["steps"]
    with pytest.raises(ValueError, match="steps"):
        new_trainer(replay).load_state(state)


def test_the_average_follows_weights_and_statistics_of_norms() -> None:
    params = TrainingParams(batch=32, ema=0.75)
    trainer = new_trainer(new_buffer(), params)
    names = ("conv.weight", "tip.mean", "tip.variance", "tip.scale")
    expected = {name: trainer.state()[f"network.network.{name}"] for name in names}
    for _ in range(4):
        trainer.step(1e-3)
        state = trainer.state()
        for name in names:
            expected[name] = 0.75 * expected[name] + 0.25 * state[f"network.network.{name}"]
            torch.testing.assert_close(state[f"ema.{name}"], expected[name])


def test_the_network_that_plays_can_be_saved_and_run(tmp_path: Path) -> None:
    trainer = new_trainer(new_buffer())
    for _ in range(5):
        trainer.step(1e-3)
    data = trainer.ema_data("five steps", {"steps": "5"})
    save_network(data, tmp_path / "network.safetensors")
    loaded = load_network_file(tmp_path / "network.safetensors")
    assert loaded.provenance == {"steps": "5"}
    batch = encode(TorchEvaluator(loaded, "cpu").features, positions_of_random_games(9, 4, (SIDE,)))
    evaluation = evaluate(TorchEvaluator(loaded, "cpu"), batch)
    with torch.no_grad():
        raw = trainer.ema(*map(torch.from_numpy, (batch.planes, batch.globals)))
    np.testing.assert_allclose(evaluation.policy, raw.policy[:, 0].numpy(), atol=1e-5)


def test_a_network_given_out_stays_as_it_was() -> None:
    trainer = new_trainer(new_buffer())
    data = trainer.ema_data("before", {})
    before = {name: values.copy() for name, values in data.weights.items()}
    trainer.step(1e-2)
    for name, values in before.items():
        np.testing.assert_array_equal(data.weights[name], values)
    after = trainer.ema_data("after", {}).weights
    assert any((after[name] != values).any() for name, values in before.items())


def test_a_row_that_is_no_number_is_survived_and_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trainer_module, "SNAPSHOT_STEPS", 10)
    replay = new_buffer(100)
    trainer = new_trainer(replay)
    for _ in range(12):
        trainer.step(1e-3)
    assert trainer.metrics()["spoiled"] == 0
    good = trainer.state()
    replay.rings[FIVE].rows.score[:50] = torch.nan  # as if the device's memory had gone bad
    for _ in range(3):
        trainer.step(1e-3)
    metrics = trainer.metrics()
    assert metrics["spoiled"] == 3
    assert "policy" not in metrics
    assert trainer.rate_factor == 0.5
    said = capsys.readouterr().err
    assert "step 12" in said
    assert "0.5 of the rate" in said
    back = trainer.state()
    back_to = [n for n in good if n not in ("key", "steps", "rate_factor")]
    assert [name for name in back_to if not torch.equal(good[name], back[name])] == []
    replay.set_window(40)  # the bad rows have left it
    for _ in range(10):
        trainer.step(1e-3)
    metrics = trainer.metrics()
    assert (metrics["steps"], metrics["spoiled"]) == (10, 0)
    assert np.isfinite(list(metrics.values())).all()


def test_spoiled_weights_are_never_published() -> None:
    replay = new_buffer(50)
    trainer = new_trainer(replay)
    replay.rings[FIVE].rows.value[:] = torch.nan
    trainer.step(1e-3)
    weights = trainer.ema_data("network", {}).weights
    assert all(np.isfinite(values).all() for values in weights.values())


def test_training_that_cannot_go_on_gives_up() -> None:
    replay = new_buffer(50)
    trainer = new_trainer(replay)
    replay.rings[FIVE].rows.value[:] = torch.nan

    def go_on() -> None:
        for _ in range(20):
            trainer.step(1e-3)
            trainer.check()

    with pytest.raises(DivergedError, match="not finite"):
        go_on()


def test_nothing_is_learned_from_no_rows() -> None:
    trainer = new_trainer(ReplayBuffer(10, {FIVE: 1}, KATAGO))
    with pytest.raises(ValueError, match="add rows"):
        trainer.step(1e-3)


def test_unused_planes_keep_weights_of_zero() -> None:
    unused = [14, 15, 16, 17]
    architecture = replace(named_architecture("b2c16"), features=KATAGO_WITHOUT_LADDERS.name)
    network = initial_network(architecture, 1)
    replay = new_buffer(50)
    for plane in unused:
        replay.rings[FIVE].rows.planes.bitwise_and_(~(1 << plane))
    trainer = Trainer(network, replay, SMALL, 1)
    for _ in range(5):
        trainer.step(1e-3)
    weights = trainer.ema_data("network", {}).weights["conv.weight"]
    assert not weights[:, unused].any()
    assert weights[:, 1].any()


@pytest.mark.parametrize("name", ["b6c96", "b2c32nbt", "b2c32h2tf"])
def test_a_new_network_is_calm(name: str) -> None:
    network = initial_network(named_architecture(name), 3)
    batch = new_buffer(64).rings[FIVE].draw(64, torch.tensor(1))
    with torch.no_grad():
        x, _ = network.network.trunk(batch.planes, batch.globals)
        outputs, _ = network(batch.planes, batch.globals)
    assert 0.1 < x.std() < 3
    assert outputs.policy.std() < 1.5
    assert outputs.value.std() < 1.5


@needs_cuda
@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
@pytest.mark.parametrize("sides", [(SIDE,), (4, SIDE)])
def test_a_captured_step_learns_as_the_cpu_does(optimizer: str, sides: tuple[int, ...]) -> None:
    params = TrainingParams(batch=128, optimizer=optimizer)
    curves = []
    for device in ("cpu", "cuda"):
        trainer = new_trainer(new_buffer(200, sides, device=device), params)
        curve = []
        for _ in range(5):
            for _ in range(10):
                trainer.step(1e-3)
            curve.append(trainer.metrics())
        assert trainer.ready()
        curves.append([metrics["policy"] + metrics["value"] for metrics in curve])
    np.testing.assert_allclose(curves[0], curves[1], rtol=0.02)


@needs_cuda
def test_a_captured_trainer_resumes_and_rolls_back() -> None:
    replay = new_buffer(100, device="cuda")
    first, second = new_trainer(replay), new_trainer(replay, seed=7)
    for _ in range(10):
        first.step(1e-3)
    second.load_state(first.state())
    for trainer in (first, second):
        for _ in range(10):
            trainer.step(1e-3)
    one, other = first.state(), second.state()
    for name in one:
        torch.testing.assert_close(one[name], other[name], rtol=0.05, atol=1e-3)
    replay.rings[FIVE].rows.score[:] = torch.nan
    torch.cuda.synchronize()
    first.step(1e-3)
    assert not first.check()
    assert first.rate_factor == 0.5
