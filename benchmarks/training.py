"""Samples per second of training, and the share of each part of a step.

b6c96 on 9x9 with batches of 2,048 on CUDA, of 256 on a CPU: `PYTHONPATH=src python
benchmarks/training.py [network] [batch]`. The shares come from steps without a part. The baseline
of mixed board sizes is a single size.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
import torch

from tengen.features.feature_set import KATAGO
from tengen.network.architecture import flop_count, named_architecture
from tengen.network.torch.blocks import Norm
from tengen.replay.rows import HORIZONS, TrainingRows, new_rows
from tengen.training.heads_and_losses import loss_weights, losses_of
from tengen.training.initial import initial_network
from tengen.training.params import TrainingParams
from tengen.training.replay_buffer import ReplayBuffer
from tengen.training.trainer import Trainer

SIDE, PLANES = 9, len(KATAGO.planes)
ROWS = 20_000
SECONDS = 2.0
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def random_rows(sides: tuple[int, ...]) -> TrainingRows:
    draw = np.random.default_rng(1)
    sizes = draw.choice(sides, ROWS)
    line = np.arange(SIDE) < sizes[:, None]
    on_board = line[:, :, None] & line[:, None]
    policy = draw.random((ROWS, SIDE * SIDE + 1)) ** 8
    policy[:, :-1] *= on_board.reshape(ROWS, -1)
    policy = (policy / policy.sum(1, keepdims=True)).astype(np.float16)
    value = draw.dirichlet((1, 1, 1), ROWS).astype(np.float32)
    points = draw.normal(0, 10, ROWS).astype(np.float32)
    bits = draw.integers(0, 1 << PLANES, on_board.shape, np.uint32) | np.uint32(1)
    return new_rows(ROWS, KATAGO, SIDE)._replace(
        planes=bits * on_board.astype(np.uint32),
        globals=draw.normal(0, 1, (ROWS, len(KATAGO.globals))).astype(np.float32),
        policy=policy,
        reply=policy,
        value=value,
        score=points,
        short_values=np.repeat(value[:, None], HORIZONS, 1),
        short_scores=np.repeat(points[:, None], HORIZONS, 1),
        search_value=value,
        lead=points,
        ownership=(draw.integers(-1, 2, on_board.shape) * on_board).astype(np.int8),
        size=np.repeat(sizes[:, None], 2, 1).astype(np.uint8),
    )


def new_buffer(sides: tuple[int, ...]) -> ReplayBuffer:
    replay = ReplayBuffer(ROWS, SIDE, KATAGO, DEVICE, one_size=sides == (SIDE,))
    replay.add(random_rows(sides))
    replay.set_window(ROWS)
    return replay


def wait() -> None:
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def seconds_each(call: Callable[[], object]) -> float:
    call()
    wait()
    start, calls = time.perf_counter(), 0
    while time.perf_counter() - start < SECONDS:
        for _ in range(50 if DEVICE == "cuda" else 1):
            call()
        wait()
        calls += 50 if DEVICE == "cuda" else 1
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


def show_parts(name: str, replay: ReplayBuffer, params: TrainingParams, step: float) -> None:
    """Print the times of sampling, forward and backward pass; the rest is the optimizer's."""
    network = initial_network(named_architecture(name), 1).to(DEVICE).train()
    if DEVICE == "cuda":
        network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    for module in network.modules():
        if isinstance(module, Norm):
            module.prepare_to_learn(replay.one_size)
    key, weights = torch.tensor(1, device=DEVICE), loss_weights(params).to(DEVICE)
    batch = replay.draw(params.batch, key)

    def forward(back: bool) -> None:
        network.zero_grad(set_to_none=True)
        cuda = DEVICE == "cuda"
        with torch.autocast(DEVICE, torch.bfloat16, enabled=cuda, cache_enabled=False):
            outputs, training = network(batch.planes, batch.globals)
        total = losses_of(outputs, training, batch, weights, 0.25).total
        if back:
            total.backward()  # type: ignore[no-untyped-call]

    draw = seconds_each(captured(lambda: replay.draw(params.batch, key)))
    ahead = seconds_each(captured(lambda: forward(back=False)))
    both = seconds_each(captured(lambda: forward(back=True)))
    parts = {"sampling": draw, "forward": ahead, "backward": both - ahead}
    parts["clipping, optimizer, average"] = step - draw - both
    for part, seconds in parts.items():
        print(f"    {part:30}{1e3 * seconds:9.2f} ms{seconds / step:8.0%}")


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else "b6c96"
    size = int(sys.argv[2]) if len(sys.argv) > 2 else 2048 if DEVICE == "cuda" else 256
    params = TrainingParams(batch=size)
    architecture = named_architecture(name)
    operations = 3 * flop_count(architecture, SIDE, SIDE) * size  # backward is twice forward
    one_size = 0.0  # seconds of a step with one board size
    for sides in ((SIDE,), (7, SIDE)):
        replay = new_buffer(sides)
        start = time.perf_counter()
        trainer = Trainer(initial_network(architecture, 1), replay, params, 1)
        wait()
        prepared = time.perf_counter() - start
        step = seconds_each(lambda trainer=trainer: trainer.step(1e-3))  # type: ignore[misc]
        one_size = one_size or step
        assert trainer.metrics()["spoiled"] == 0
        print(
            f"{name}, {DEVICE}, {size} boards of {' and '.join(map(str, sides))}: "
            f"{size / step:,.0f} samples/s, {1e3 * step:.2f} ms a step, "
            f"{operations / step / 1e12:.2f} TFLOP/s, {one_size / step:.2f} x one board size, "
            f"ready after {prepared:.1f} s"
        )
        show_parts(name, replay, params, step)


if __name__ == "__main__":
    main()
