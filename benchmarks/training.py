"""Samples per second of training, and the share of each part of a step.

b6c96 on 9x9, then on 9x9, 13x13 and 19x19 by turns, with batches of 2,048 on CUDA, of 256 on a CPU:
`PYTHONPATH=src python benchmarks/training.py [network] [batch]`. The shares come from steps without
a part. The baseline of mixed board sizes is the points per second of a single size.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
import torch

from tengen.features.feature_set import KATAGO
from tengen.game.geometry import Size
from tengen.network.architecture_names import named_architecture
from tengen.network.weights import flop_count
from tengen.replay.rows import HORIZONS, OrderedRows, TrainingRows, new_rows
from tengen.training.heads_and_losses import loss_weights, losses_of
from tengen.training.initial_network import initial_network
from tengen.training.params import TrainingParams
from tengen.training.replay_buffer import ReplayBuffer, Ring
from tengen.training.trainer import Trainer

NINE, PLANES = Size(9, 9), len(KATAGO.planes)
ROWS = 20_000
SECONDS = 2.0
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def random_rows(size: Size) -> TrainingRows:
    draw = np.random.default_rng(1)
    points = (ROWS, size.height, size.width)
    policy = draw.random((ROWS, size.area + 1)) ** 8
    policy = (policy / policy.sum(1, keepdims=True)).astype(np.float16)
    value = draw.dirichlet((1, 1, 1), ROWS).astype(np.float32)
    scores = draw.normal(0, 10, ROWS).astype(np.float32)
    return new_rows(ROWS, KATAGO, size)._replace(
        planes=draw.integers(0, 1 << PLANES, points, np.uint32) | np.uint32(1),
        globals=draw.normal(0, 1, (ROWS, len(KATAGO.globals))).astype(np.float32),
        policy=policy,
        reply=policy,
        value=value,
        score=scores,
        short_values=np.repeat(value[:, None], HORIZONS, 1),
        short_scores=np.repeat(scores[:, None], HORIZONS, 1),
        search_value=value,
        lead=scores,
        ownership=draw.integers(-1, 2, points).astype(np.int8),
    )


def new_buffer(sizes: tuple[Size, ...]) -> ReplayBuffer:
    """As many rows of each size."""
    replay = ReplayBuffer(ROWS * len(sizes), dict.fromkeys(sizes, 1.0), KATAGO, DEVICE)
    for size in sizes:
        replay.add({size: OrderedRows(random_rows(size), np.arange(ROWS))})
    replay.set_window(replay.total)
    return replay


def wait() -> None:
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def seconds_each(call: Callable[[], object], sizes: int = 1) -> float:
    """Seconds of a call, of which so many in a row differ."""
    portion = 60 if DEVICE == "cuda" else 4 * sizes if sizes > 1 else 1
    for _ in range(sizes):
        call()
    wait()
    start, calls = time.perf_counter(), 0
    while time.perf_counter() - start < SECONDS:
        for _ in range(portion):
            call()
        wait()
        calls += portion
    return (time.perf_counter() - start) / calls


def captured(call: Callable[[], object]) -> Callable[[], object]:
    """Capture a call as a CUDA graph, to exclude launch times; on the CPU leave it as it is."""
    if DEVICE == "cpu":
        return call
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            call()

    def replay() -> None:
        with torch.cuda.stream(stream):
            graph.replay()

    return replay


def show_parts(name: str, ring: Ring, params: TrainingParams, step: float) -> None:
    """Print the times of sampling, forward and backward pass; the rest is the optimizer's."""
    network = initial_network(named_architecture(name), 1).to(DEVICE).train()
    if DEVICE == "cuda":
        network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    key, weights = torch.tensor(1, device=DEVICE), loss_weights(params).to(DEVICE)
    batch = ring.draw(params.batch, key)

    def forward(back: bool) -> None:
        network.zero_grad(set_to_none=True)
        cuda = DEVICE == "cuda"
        with torch.autocast(DEVICE, torch.bfloat16, enabled=cuda, cache_enabled=False):
            outputs, training = network(batch.planes, batch.globals)
        total = losses_of(outputs, training, batch, weights, 0.25).total
        if back:
            total.backward()  # type: ignore[no-untyped-call]

    draw = seconds_each(captured(lambda: ring.draw(params.batch, key)))
    ahead = seconds_each(captured(lambda: forward(back=False)))
    both = seconds_each(captured(lambda: forward(back=True)))
    parts = {"sampling": draw, "forward": ahead, "backward": both - ahead}
    parts["clipping, optimizer, average"] = step - draw - both
    for part, seconds in parts.items():
        print(f"    {part:30}{1e3 * seconds:9.2f} ms{seconds / step:8.0%}")


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else "b6c96"
    size_of_batch = int(sys.argv[2]) if len(sys.argv) > 2 else 2048 if DEVICE == "cuda" else 256
    params = TrainingParams(batch=size_of_batch)
    architecture = named_architecture(name)
    points_before = 0.0  # per second, with one board size
    for sizes in ((NINE,), (NINE, Size(13, 13), Size(19, 19))):
        replay = new_buffer(sizes)
        start = time.perf_counter()
        trainer = Trainer(initial_network(architecture, 1), replay, params, 1)
        wait()
        prepared = time.perf_counter() - start
        step = seconds_each(lambda trainer=trainer: trainer.step(1e-3), len(sizes))  # type: ignore[misc]
        assert trainer.metrics()["spoiled"] == 0
        points = sum(size.area for size in sizes) / len(sizes) * size_of_batch / step
        operations = sum(flop_count(architecture, *size) for size in sizes) / len(sizes)
        points_before = points_before or points
        print(
            f"{name}, {DEVICE}, batches of {size_of_batch} on {' and '.join(map(str, sizes))}: "
            f"{size_of_batch / step:,.0f} samples/s, {1e3 * step:.2f} ms a step, "
            # backward is twice forward
            f"{3 * operations * size_of_batch / step / 1e12:.2f} TFLOP/s, "
            f"{points / points_before:.2f} x the points/s of one size, ready after {prepared:.1f} s"
        )
        if len(sizes) == 1:
            show_parts(name, replay.rings[NINE], params, step)


if __name__ == "__main__":
    main()
