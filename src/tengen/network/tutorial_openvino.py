"""The tutorial's network on the CPU, by OpenVINO: its blocks in eight bits, the rest in bf16 where
the processor has it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import openvino
from numpy.typing import NDArray
from openvino import opset13 as op
from torch import nn

from tengen.features.feature_set import BASIC
from tengen.network.backends.openvino import openvino_core
from tengen.network.backends.openvino_int8 import calibration_batches, quantize, ranges_of
from tengen.network.evaluator import Batch, Evaluation
from tengen.network.tutorial import TutorialNetwork
from tengen.network.tutorial_evaluator import TutorialEvaluator, evaluation_of

Node: TypeAlias = Any  # openvino.Node; the package has no types
_POLICY, _VALUE = 0, 1  # the outputs


class OpenVinoTutorialEvaluator:
    """The network as it was when this was made, rounded to what it sees in games of its policy."""

    features = BASIC
    name = "tutorial"
    best_batch = 32
    parallel_batches = 1
    on_processor = True

    def __init__(self, network: TutorialNetwork, threads: int | None = None) -> None:
        """Without threads, all processors."""
        core = openvino_core()
        half = "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        self.device = "CPU, OpenVINO int8"
        settings: dict[str, Any] = {
            "INFERENCE_PRECISION_HINT": "bf16" if half else "f32",
            "NUM_STREAMS": 1,
            # Pinned threads of two programs would sit on the same cores.
            "ENABLE_CPU_PINNING": False,
        }
        if threads is not None:
            settings["INFERENCE_NUM_THREADS"] = threads
        graph = _graph(network)
        quantize(graph, ranges_of(_graph(network), _seen_in_games(network)))
        self._compiled = core.compile_model(graph, "CPU", settings)
        self._idle: list[Any] = []

    def submit(self, batch: Batch) -> _Pending:
        """Start an evaluation; the caller leaves the batch alone until it has the result."""
        request = self._idle.pop() if self._idle else self._compiled.create_infer_request()
        return _Pending(request, self._idle, batch)


class _Pending:
    """An evaluation under way."""

    def __init__(self, request: Any, idle: list[Any], batch: Batch) -> None:
        self._request, self._idle = request, idle
        self._planes = batch.planes  # to be kept until the end
        request.start_async([batch.planes], share_inputs=True)

    def result(self) -> Evaluation:
        """Wait for it."""
        self._request.wait()
        policy, value = (
            np.array(self._request.get_output_tensor(output).data) for output in (_POLICY, _VALUE)
        )
        self._idle.append(self._request)
        return evaluation_of(policy, value[:, 0])


def _seen_in_games(network: TutorialNetwork) -> Iterator[list[NDArray[np.float32]]]:
    """Planes of positions from games that the network plays: for the same weights the same."""
    games = calibration_batches(TutorialEvaluator(network), (_side(network),), games=4, every=2)
    for batch in games:
        yield [batch.planes]


def _side(network: TutorialNetwork) -> int:
    return math.isqrt(network.policy.out_features - 1)


def _graph(network: TutorialNetwork) -> openvino.Model:
    """The network's computation, its norms folded into the convolutions before them."""
    side = _side(network)
    planes = op.parameter([-1, network.conv.in_channels, side, side], np.float32, name="planes")
    x = op.relu(_conv(planes, network.conv, network.norm, "conv"))
    for k, block in enumerate(network.blocks.children()):
        assert isinstance(block.conv1, nn.Conv2d)
        assert isinstance(block.conv2, nn.Conv2d)
        inner = op.relu(_conv(x, block.conv1, block.norm1, f"blocks.{k}.conv1"))
        x = op.relu(op.add(x, _conv(inner, block.conv2, block.norm2, f"blocks.{k}.conv2")))
    policy = _flat(op.relu(_conv(x, network.policy_conv, network.policy_norm, "policy_conv")))
    value = _flat(op.relu(_conv(x, network.value_conv, network.value_norm, "value_conv")))
    value = op.relu(_linear(value, network.value_hidden))
    outputs = [_linear(policy, network.policy), op.tanh(_linear(value, network.value))]
    return openvino.Model([op.result(output) for output in outputs], [planes], "tutorial")


def _conv(x: Node, conv: nn.Conv2d, norm: Any, name: str) -> Node:
    mean, variance, scale, bias, weight = (
        _array(tensor).astype(np.float64)
        for tensor in (norm.running_mean, norm.running_var, norm.weight, norm.bias, conv.weight)
    )
    scale = scale / np.sqrt(variance + norm.eps)
    weight = (weight * scale[:, None, None, None]).astype(np.float32)
    bias = (bias - mean * scale).astype(np.float32)
    pad = [weight.shape[2] // 2] * 2
    product = op.convolution(x, weight, [1, 1], pad, pad, [1, 1], name=name)
    return op.add(product, bias[None, :, None, None])


def _linear(x: Node, layer: nn.Linear) -> Node:
    product = op.matmul(x, _array(layer.weight), transpose_a=False, transpose_b=True)
    return op.add(product, _array(layer.bias))


def _flat(x: Node) -> Node:
    return op.reshape(x, np.array([0, -1]), special_zero=True)


def _array(tensor: Any) -> NDArray[np.float32]:
    return np.array(tensor.detach().cpu().numpy())
