"""Feeding networks, and decoding their outputs in numpy and in torch."""

from __future__ import annotations

import numba
import numpy as np
import pytest
import torch

from tengen.features.feature_set import KATAGO, RICH, FeatureSet
from tengen.game.position import Position
from tengen.network.decoding import RawOutputs
from tengen.network.decoding import decode as decode_by_numpy
from tengen.network.evaluator import encode, feeding_threads
from tengen.network.fake import FakeEvaluator
from tengen.network.network_data import Scaling
from tengen.network.torch.decoding import decode as decode_by_torch
from tengen.network.torch.decoding import unpack_inputs
from tengen.network.torch.model import Outputs


@pytest.mark.parametrize(
    ("on_processor", "processors", "threads"), [(False, 16, 16), (True, 16, 2), (True, 2, 1)]
)
def test_a_network_on_the_processor_gets_most_of_it(
    on_processor: bool, processors: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba, "get_num_threads", lambda: processors)
    assert feeding_threads(FakeEvaluator(on_processor=on_processor)) == threads


@pytest.mark.parametrize("score_outputs", [1, 2, 4, 6])
@pytest.mark.parametrize("scaling", [Scaling(), Scaling(halved_errors=False)])
def test_torch_decodes_as_numpy_does(score_outputs: int, scaling: Scaling) -> None:
    rules = ["chinese", "tromp-taylor", "japanese", "koPOSITIONALscoreTERRITORY"]
    batch = encode(KATAGO, [Position(5, name) for name in rules])
    shapes = (4, 2, 26), (4, 3), (4, score_outputs), (4, 5, 5)
    generator = np.random.default_rng(3)
    raw = RawOutputs(*(generator.normal(size=shape).astype(np.float32) for shape in shapes))
    expected = decode_by_numpy(raw, batch, scaling)
    policy, value, numbers = decode_by_torch(
        Outputs(*map(torch.from_numpy, raw)), torch.from_numpy(batch.globals), scaling
    )
    for mine, theirs in zip((policy, value, *numbers), expected[:-1], strict=True):
        np.testing.assert_allclose(mine.numpy(), theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("features", [KATAGO, RICH])
def test_torch_unpacks_inputs_as_numpy_does(features: FeatureSet) -> None:
    generator = np.random.default_rng(4)
    bits = generator.integers(0, 1 << 32, (3, 5, 7), np.uint32)
    packed = generator.normal(size=(3, features.packed_globals)).astype(np.float32)
    found = unpack_inputs(
        features, torch.from_numpy(bits.view(np.int32)), torch.from_numpy(packed), torch.float32
    )
    for mine, theirs in zip(found, features.unpacked(bits, packed), strict=True):
        np.testing.assert_array_equal(mine.numpy(), theirs)
