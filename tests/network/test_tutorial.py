"""The tutorial's network: its runtimes, its files, and a buffers that asks about some rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from safetensors.numpy import save
from torch import nn

from tengen.features.feature_set import BASIC
from tengen.game.geometry import Size
from tengen.network.evaluator import Batch, Evaluation
from tengen.network.fake import FakeEvaluator, uniform
from tengen.network.files.errors import NetworkFileError
from tengen.network.inference_buffers import EvaluatorBuffers
from tengen.network.tutorial import TutorialArchitecture, TutorialNetwork
from tengen.network.tutorial_evaluator import TutorialEvaluator
from tengen.network.tutorial_file import load_tutorial, save_tutorial
from tengen.network.tutorial_openvino import OpenVinoTutorialEvaluator

SMALL = TutorialArchitecture(side=5, blocks=2, channels=16, value_hidden=8)


def trained_network() -> TutorialNetwork:
    """With norms that do something, as after training."""
    torch.set_num_threads(1)
    torch.manual_seed(1)
    network = TutorialNetwork(SMALL)
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            assert module.running_mean is not None
            assert module.running_var is not None
            module.running_mean.normal_(0, 0.3)
            module.running_var.uniform_(0.5, 2)
            module.weight.data.uniform_(0.5, 2)
            module.bias.data.normal_(0, 0.3)
    return network.eval()


def some_batch(rows: int) -> Batch:
    draw = np.random.default_rng(1)
    planes = (draw.random((rows, len(BASIC.planes), 5, 5)) < 0.4).astype(np.float32)
    return Batch(planes, np.zeros((rows, 0), np.float32))


def test_torch_says_what_the_network_says() -> None:
    network, batch = trained_network(), some_batch(6)
    found = TutorialEvaluator(network).submit(batch).result()
    with torch.no_grad():
        policy, value = network(torch.from_numpy(batch.planes))
    np.testing.assert_allclose(found.policy, policy, atol=1e-6)
    np.testing.assert_allclose(found.value[:, 0] - found.value[:, 1], value, atol=1e-6)
    np.testing.assert_allclose(found.value.sum(1), 1, atol=1e-6)
    assert not found.score.any()
    assert found.ownership.shape == (6, 5, 5)


def test_openvino_says_the_same_for_every_size_of_batch() -> None:
    network = trained_network()
    torch_says, openvino = TutorialEvaluator(network), OpenVinoTutorialEvaluator(network, threads=1)
    for rows in (1, 6, 3):
        batch = some_batch(rows)
        expected, found = torch_says.submit(batch).result(), openvino.submit(batch).result()
        spread = float(expected.policy.std())
        np.testing.assert_allclose(found.policy, expected.policy, atol=0.1 * spread)
        np.testing.assert_allclose(found.value, expected.value, atol=0.02)
    assert spread > 0.05  # so that the comparison says something


def test_answers_are_those_of_their_own_questions() -> None:
    openvino = OpenVinoTutorialEvaluator(trained_network(), threads=1)
    one, other = some_batch(2), Batch(1 - some_batch(2).planes, some_batch(2).globals)
    first, second = openvino.submit(one), openvino.submit(other)
    there, here = second.result(), first.result()
    np.testing.assert_array_equal(here.policy, openvino.submit(one).result().policy)
    assert abs(there.policy - here.policy).max() > 0.01


def test_a_file_gives_the_network_back(tmp_path: Path) -> None:
    network, path = trained_network(), tmp_path / "network.safetensors"
    save_tutorial(network, SMALL, path, {"run": "test"})
    loaded = load_tutorial(path)
    batch = some_batch(4)
    expected, found = (TutorialEvaluator(n).submit(batch).result() for n in (network, loaded))
    np.testing.assert_array_equal(found.policy, expected.policy)
    np.testing.assert_array_equal(found.value, expected.value)


def test_files_that_are_no_such_network_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "network.safetensors"
    with pytest.raises(NetworkFileError, match="cannot be read"):
        load_tutorial(path)
    path.write_bytes(save({"x": np.zeros(1, np.float32)}, {"format": "tengen 1"}))
    with pytest.raises(NetworkFileError, match="no network of the tutorial's"):
        load_tutorial(path)
    save_tutorial(trained_network(), SMALL, path, {})
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(NetworkFileError, match="checksum"):
        load_tutorial(path)
    path.write_bytes(whole[:-1])
    with pytest.raises(NetworkFileError, match="damaged"):
        load_tutorial(path)
    save_tutorial(trained_network(), TutorialArchitecture(side=6, channels=16), path, {})
    with pytest.raises(NetworkFileError, match="not those of its size"):
        load_tutorial(path)


def test_a_station_asks_about_some_rows_and_keeps_the_answers_of_the_others() -> None:
    asked: list[NDArray[np.float32]] = []

    def script(batch: Batch) -> Evaluation:
        asked.append(batch.planes[:, 0, 0, 0].copy())
        return uniform(batch)._replace(score=10 * batch.planes[:, 0, 0, 0])

    buffers = EvaluatorBuffers(FakeEvaluator(script, BASIC), 3, Size(5, 5))
    buffers.planes[:, 0, 0, 0] = [1, 2, 3]
    buffers.launch()
    buffers.ask_only(np.array([0, 2]))  # which must not disturb what is under way
    buffers.wait()
    assert buffers.evaluation.score.tolist() == [10, 20, 30]
    buffers.planes[:, 0, 0, 0] = [4, 5, 6]
    buffers.launch()
    buffers.wait()
    assert buffers.evaluation.score.tolist() == [40, 20, 60]
    buffers.ask_only(np.array([], np.intp))
    buffers.launch()
    buffers.wait()
    assert [list(rows) for rows in asked] == [[1, 2, 3], [4, 6]]
