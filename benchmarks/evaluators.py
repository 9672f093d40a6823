"""Evaluations per second of one network on the CPU: torch, ONNX Runtime and OpenVINO in turns.

All use as many threads as there are processors, and all are asked for finished evaluations: raw
outputs decoded into chances and points. The machine should be quiet: torch's threads wait for each
other, so that a busy neighbour slows it down far more than it does the others.
"""

from __future__ import annotations

import gzip
import importlib.util
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from tengen.features.feature_set import KATAGO
from tengen.game.position import Position
from tengen.network.data import NetworkData
from tengen.network.evaluator import Batch, Evaluation, RawOutputs, decode, encode, evaluate
from tengen.network.katago_format import Reader
from tengen.network.katago_import import from_katago
from tengen.network.openvino import OpenVinoEvaluator, Precision
from tengen.network.quantize import calibration_batches, quantization_error

NETWORK = "g170-b6c96"
PATH = Path(__file__).parents[2] / "shared" / "katago" / f"{NETWORK}.bin.gz"
BATCHES = (1, 8, 16, 32)
ROUNDS = 10
SECONDS = 0.25  # of one contender in one round
THREADS = os.cpu_count() or 1
BASELINE = "torch float32"
Contender: TypeAlias = Callable[[Batch], Evaluation]


def by_torch(data: NetworkData) -> Contender:
    import torch

    from tengen.network.model import network_from

    torch.set_num_threads(THREADS)
    network = network_from(data)

    def run(batch: Batch) -> Evaluation:
        with torch.inference_mode():
            outputs = network(*map(torch.from_numpy, batch))
        return decode(RawOutputs(*(o.numpy() for o in outputs)), batch, data.scaling)

    return run


def by_onnx_runtime(data: NetworkData, size: int) -> Contender:
    import onnxruntime  # type: ignore[import-not-found, unused-ignore]
    import torch

    from tengen.network.model import network_from

    example = tuple(map(torch.from_numpy, encode(KATAGO, [Position(size)] * 2)))
    names = ["planes", "globals"]
    axes = {name: {0: "batch"} for name in names}
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "network.onnx")
        torch.onnx.export(
            network_from(data), example, path, input_names=names, dynamic_axes=axes, dynamo=False
        )
        model = Path(path).read_bytes()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def run(batch: Batch) -> Evaluation:
        outputs = session.run(None, dict(zip(names, batch, strict=True)))
        return decode(RawOutputs(*outputs), batch, data.scaling)

    return run


def by_openvino(data: NetworkData, precision: Precision) -> Contender | None:
    evaluator = OpenVinoEvaluator(data, precision, threads=THREADS)
    if evaluator.precision is not precision:
        return None
    return lambda batch: evaluate(evaluator, batch)


def contenders(data: NetworkData, size: int) -> dict[str, Contender]:
    """All that can be measured here, by name."""
    found: dict[str, Contender] = {}
    if importlib.util.find_spec("torch") is None:
        print("torch not installed: left out, and no ratios")
    else:
        found[BASELINE] = by_torch(data)
        if importlib.util.find_spec("onnxruntime") is None:
            print("onnxruntime not installed: left out")
        else:
            found["ONNX Runtime float32"] = by_onnx_runtime(data, size)
    for precision in Precision:
        run = by_openvino(data, precision)
        if run is not None:
            found[f"OpenVINO {precision}"] = run
    return found


def rate(run: Contender, batch: Batch) -> float:
    """Evaluations per second."""
    count, start = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < SECONDS:
        run(batch)
        count += len(batch.globals)
    return count / elapsed


def measure(data: NetworkData, size: int) -> None:
    runs = contenders(data, size)
    for length in BATCHES:
        batch = encode(KATAGO, [Position(size).play_all("C3 D4")] * length)
        for run in runs.values():
            for _ in range(3):
                run(batch)  # compile
        rates = dict.fromkeys(runs, 0.0)
        for _ in range(ROUNDS):  # in turns, so that a slow moment of the machine hits all alike
            for name, run in runs.items():
                rates[name] = max(rates[name], rate(run, batch))
        for name, best in rates.items():
            ratio = f"{best / rates[BASELINE]:6.2f} x torch" if BASELINE in rates else ""
            print(
                f"{f'{size}x{size}':>5}  batch {length:2}  {name:22} {best:7,.0f} evals/s {ratio}"
            )


def measure_errors(data: NetworkData) -> None:
    """What fewer bits cost, over positions of the network's own games on all sizes."""
    exact = OpenVinoEvaluator(data, Precision.FLOAT32)
    batches = list(calibration_batches(exact, games=8, every=3, seed=1))
    for precision in (Precision.BF16, Precision.INT8):
        rounded = OpenVinoEvaluator(data, precision)
        if rounded.precision is precision:
            error = quantization_error(exact, rounded, batches)
            print(
                f"{precision} against float32, means over {error.positions:,} positions: "
                f"policy {error.policy:.5f} nats, win {error.win:.4f}, "
                f"lead {error.lead:.3f} points, ownership {error.ownership:.4f}"
            )


def main() -> None:
    if not PATH.exists():
        sys.exit(f"the network is not at hand: {PATH}")
    data = from_katago(Reader(gzip.decompress(PATH.read_bytes()), NETWORK).model())
    print(f"{NETWORK}, {THREADS} threads, best of {ROUNDS} rounds")
    for size in (9, 19):
        measure(data, size)
    measure_errors(data)


if __name__ == "__main__":
    main()
