"""Networks in eight bits: quantized OpenVINO graphs and their calibration.

The convolutions within the blocks are computed with quantized inputs and weights. Everything else
is not: the first convolution and the heads would lose more than they gain, and the linear layers
of attention get no faster. The ranges of inputs are calibrated on positions of games that the
network plays against itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import openvino
from numpy.typing import NDArray
from openvino import opset13 as op

from tengen.atomic_files import replace_file
from tengen.game.geometry import policy_point
from tengen.game.position import Position
from tengen.network.backends.openvino import openvino_core
from tengen.network.backends.openvino_graph import build_graph
from tengen.network.best_precision import weights_digest
from tengen.network.evaluator import Batch, Evaluator, batch_for, encode, evaluate, network_inputs
from tengen.network.network_data import NetworkData
from tengen.user_folders import user_cache
from tengen.user_messages import say

SIZES = (9, 13, 19)
RULES = ("tromp-taylor", "japanese", "chinese", "aga")
_STEPS = 255  # from the lowest to the highest of 256 values


class Range(NamedTuple):
    """The range that the inputs of a layer are quantized in."""

    low: float
    high: float


Ranges: TypeAlias = dict[str, Range]  # by the name of the layer


# Positions


def calibration_batches(
    evaluator: Evaluator,
    sizes: Iterable[int] = SIZES,
    games: int = 2,
    every: int = 4,
    seed: int = 0,
) -> Iterator[Batch]:
    """Play games by policy alone, `games` at a time on each size, and yield every so many turns.

    Rules and komi differ from game to game. Each size gets as many turns as two thirds of its
    points; a game that ends before is followed by a new one.
    """
    choice = np.random.default_rng(seed)
    for size in sizes:
        positions = [_new_game(size, choice) for _ in range(games)]
        for turn in range(size * size * 2 // 3):
            batch = encode(evaluator.features, positions)
            if turn % every == 0:
                yield batch
            policy = evaluate(evaluator, batch).policy
            for i, position in enumerate(positions):
                after = _play_on(position, policy[i], choice)
                positions[i] = _new_game(size, choice) if after.is_over else after


def _new_game(size: int, choice: np.random.Generator) -> Position:
    return Position(size, RULES[choice.integers(len(RULES))], round(choice.normal(7, 4)) + 0.5)


def _play_on(
    position: Position, logits: NDArray[np.float32], choice: np.random.Generator
) -> Position:
    """Play a legal move drawn from the policy."""
    legal = position.legal_mask()
    chances = np.exp(log_softmax(np.where(legal, logits, -np.inf)))
    move = int(choice.choice(len(chances), p=chances))
    return position.play(policy_point(move, position.size))


# Quantization


def calibrate(data: NetworkData, batches: Iterable[Batch]) -> Ranges:
    """The ranges of the layers' inputs for these batches, whose boards must fill them."""
    inputs = (network_inputs(batch_for(batch, data.name, data.architecture)) for batch in batches)
    return ranges_of(build_graph(data, masked=False), inputs)


def ranges_of(graph: openvino.Model, inputs: Iterable[Sequence[NDArray[np.float32]]]) -> Ranges:
    """The ranges of the layers' inputs for these inputs of a graph; changes the graph."""
    layers = _layers(graph)
    for layer in layers:
        layer.input_value(0).add_names({layer.friendly_name})
    graph.add_outputs([layer.input_value(0) for layer in layers])
    settings = {"INFERENCE_PRECISION_HINT": "f32", "ENABLE_CPU_PINNING": False}
    network = openvino_core().compile_model(graph, "CPU", settings)
    names = [layer.friendly_name for layer in layers]
    lowest, highest = dict.fromkeys(names, 0.0), dict.fromkeys(names, 0.0)
    for each in inputs:
        found = network(list(each))
        for name in names:
            lowest[name] = min(lowest[name], float(found[name].min()))
            highest[name] = max(highest[name], float(found[name].max()))
    return {name: _with_zero(lowest[name], highest[name]) for name in names}


def _with_zero(low: float, high: float) -> Range:
    """The range around these values in which zero, the padding of boards, is one of the steps."""
    step = max(high - low, 1e-6) / (_STEPS - 1)
    below = int(np.ceil(-low / step))
    return Range(-below * step, (_STEPS - below) * step)


def quantize(graph: openvino.Model, ranges: Ranges) -> None:
    """Quantize, in place, the inputs and weights of the layers that have a range."""
    rounded: dict[str, Any] = {}
    for layer in _layers(graph):
        bounds = ranges.get(layer.friendly_name)
        if bounds is None:
            continue
        source, weights = layer.input_value(0), layer.input_value(1)
        where = source.get_node().get_name()  # layers with the same input share one node
        if where not in rounded:
            low, high = np.float32(bounds.low), np.float32(bounds.high)
            rounded[where] = op.fake_quantize(source, low, high, low, high, _STEPS + 1)
        values = weights.get_node().data
        highest = np.maximum(np.abs(values).max((1, 2, 3), keepdims=True), 1e-12)
        kernel = op.fake_quantize(weights, -highest, highest, -highest, highest, _STEPS)
        layer.input(0).replace_source_output(rounded[where].output(0))
        layer.input(1).replace_source_output(kernel.output(0))


def _layers(graph: openvino.Model) -> list[Any]:
    """The layers that are quantized.

    Not those whose output is used twice, such as the first one of a bottleneck: OpenVINO 2026.4
    applies the scale of the output twice for one of the uses.
    """
    return [
        node
        for node in graph.get_ordered_ops()
        if node.get_type_name() == "Convolution"
        and node.friendly_name.startswith("blocks.")
        and len(node.output(0).get_target_inputs()) == 1
    ]


def cached_ranges(data: NetworkData, make: Callable[[], Ranges]) -> Ranges:
    """The ranges of a network from the user's cache, or else made and cached there."""
    path = user_cache() / "ranges" / f"{_fingerprint(data)}.json"
    try:
        cached = json.loads(path.read_text(encoding="utf-8"))
        return {name: Range(float(low), float(high)) for name, (low, high) in cached.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        pass  # not cached, or damaged
    ranges = make()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, json.dumps(ranges).encode())
    except OSError as error:
        say(f"cannot write {path} ({error.strerror}); int8 ranges are not cached")
    return ranges


def _fingerprint(data: NetworkData) -> str:
    """A digest of the network and of this module's code."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    digest.update(weights_digest(data).encode())
    return digest.hexdigest()[:32]


def log_softmax(logits: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Log-probabilities over the last axis."""
    logits = logits.astype(np.float64)
    logits = logits - logits.max(-1, keepdims=True)
    return np.asarray(logits - np.log(np.exp(logits).sum(-1, keepdims=True)))
