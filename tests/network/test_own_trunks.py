"""Torch modules of one's own in training, in files and in search."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tengen.engine.engine import Engine
from tengen.game.position import Position
from tengen.network import own_trunks
from tengen.network.architecture import Architecture
from tengen.network.architecture_names import named_architecture
from tengen.network.backends.registry import open_evaluator, open_reference
from tengen.network.evaluator import encode, evaluate
from tengen.network.files.errors import NetworkFileError
from tengen.network.files.katago_export import to_katago
from tengen.network.files.tengen_format import load_network_file, save_network
from tengen.network.network_data import NetworkData
from tengen.network.own_trunks import load_module, own_trunk
from tengen.network.torch.blocks import Boards
from tengen.training.continued_network import continued_network
from tengen.training.initial_network import initial_network
from tengen.training.trainer import Trainer
from tests.training.test_trainer import SMALL, new_buffer

EXAMPLE = "examples/own_trunk.py"


class Plain(nn.Module):
    """With torch's own norm, which counts its batches in whole numbers."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        self.conv = nn.Conv2d(architecture.planes, 16, 3, padding=1)
        self.norm = nn.BatchNorm2d(16)
        self.rules = nn.Linear(architecture.globals, 16)

    def forward(self, planes: Tensor, globals_: Tensor, boards: Boards) -> Tensor:
        x: Tensor = self.norm(self.conv(planes)) + self.rules(globals_)[:, :, None, None]
        return x * boards.mask


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.set_num_threads(1)
    monkeypatch.setattr(own_trunks, "_TRUNKS", {})
    monkeypatch.setattr(own_trunks, "_FILES", [])
    own_trunk("plain", channels=16)(Plain)


def new_network(seed: int = 1) -> NetworkData:
    network = initial_network(named_architecture("plain"), seed).network
    weights = {name: tensor.float().numpy() for name, tensor in network.state_dict().items()}
    return NetworkData("mine", network.architecture, weights)


def test_a_trunk_of_ones_own_learns_and_its_counters_count() -> None:
    replay = new_buffer(64, symmetries=False)
    trainer = Trainer(initial_network(named_architecture("plain"), 1), replay, SMALL, 1)
    for _ in range(10):
        trainer.step(0.0)
    first = trainer.metrics()
    for _ in range(100):
        trainer.step(2e-3)
    trainer.metrics()
    for _ in range(20):
        trainer.step(2e-3)
    last = trainer.metrics()
    for name in ("policy", "value", "ownership"):
        assert last[name] < 0.97 * first[name], name
    own = trainer.ema_data("mine", {}).weights
    assert own["own.norm.num_batches_tracked"] == 130
    assert own["own.norm.running_mean"].any()


def test_a_resumed_trainer_goes_on_alike() -> None:
    trainers = []
    for cut in (False, True):
        replay = new_buffer(64, symmetries=False)
        trainer = Trainer(initial_network(named_architecture("plain"), 1), replay, SMALL, 1)
        for _ in range(5):
            trainer.step(1e-3)
        if cut:
            state = trainer.state()
            trainer = Trainer(initial_network(named_architecture("plain"), 9), replay, SMALL, 1)
            trainer.load_state(state)
        for _ in range(5):
            trainer.step(1e-3)
        trainers.append(trainer.ema_data("mine", {}).weights)
    for name, values in trainers[0].items():
        np.testing.assert_array_equal(values, trainers[1][name], name)


def test_weights_begin_as_the_seed_says() -> None:
    one, same, other = (new_network(seed).weights["own.conv.weight"] for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()
    before = torch.initial_seed()
    new_network(5)
    assert torch.initial_seed() == before


def test_a_file_keeps_it_and_it_plays(tmp_path: Path) -> None:
    path = tmp_path / "mine.safetensors"
    data = new_network()
    save_network(data, path)
    again = load_network_file(path)
    assert again.architecture == data.architecture
    assert again.architecture.trunk == "plain"
    positions = [Position(5), Position(7).play("D4")]
    one, other = (
        evaluate(open_evaluator(each), encode(open_evaluator(each).features, positions))
        for each in (data, again)
    )
    np.testing.assert_allclose(one.policy, other.policy, atol=1e-5)
    np.testing.assert_allclose(one.ownership, other.ownership, atol=1e-5)
    with Engine(str(path)) as engine:
        result = engine.search(Position(5), visits=20)
    assert result.visits >= 20


def test_torch_runs_it_and_other_libraries_are_refused_by_name() -> None:
    assert "torch" in open_evaluator(new_network()).device
    assert "torch" in open_reference(new_network()).device
    with pytest.raises(ValueError, match="a trunk of its own, 'plain', which torch alone runs"):
        open_evaluator(new_network(), "onnxruntime")
    with pytest.raises(NetworkFileError, match="its trunk, 'plain', is a torch module"):
        to_katago(new_network())


def test_where_it_is_not_registered_the_option_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_network(new_network(), tmp_path / "mine.safetensors")
    monkeypatch.setattr(own_trunks, "_TRUNKS", {})
    with pytest.raises(ValueError, match=r"'plain', which is not known here.*--module FILE"):
        open_evaluator(load_network_file(tmp_path / "mine.safetensors"))
    with pytest.raises(ValueError, match=r"no architecture is called 'plain'.*--module"):
        named_architecture("plain")


def test_other_networks_files_do_not_speak_of_trunks() -> None:
    assert "trunk" not in named_architecture("b2c32").to_json()
    assert Architecture.from_json(named_architecture("plain").to_json()).trunk == "plain"


def test_it_learns_on_from_its_own_file() -> None:
    data = new_network()
    continued = continued_network(data, 7)
    own = continued.network.network.state_dict()["own.conv.weight"].numpy()
    np.testing.assert_array_equal(own, data.weights["own.conv.weight"])


@pytest.mark.parametrize("name", ["b6c96", "b2c32nbt", "", "two words", "1x", "a" * 80])
def test_names_that_would_mislead_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no name for a trunk"):
        own_trunk(name, channels=16)


def test_a_file_registers_its_trunk(tmp_path: Path) -> None:
    load_module(EXAMPLE)
    assert named_architecture("lines").trunk == "lines"
    assert own_trunks.loaded_modules() == (str(Path(EXAMPLE).resolve()),)
    bad = tmp_path / "bad.py"
    for text, complaint in (
        ("x = 1", "registers no trunk"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("def", "SyntaxError"),
        ("import nothing_like_it", "ModuleNotFoundError"),
    ):
        bad.write_text(text)
        with pytest.raises(ValueError, match=complaint):
            load_module(str(bad))
    with pytest.raises(ValueError, match="there is no such file"):
        load_module(str(tmp_path / "missing.py"))
