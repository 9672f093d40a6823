"""Evaluations per second of one network on the CPU: ONNX Runtime and OpenVINO against torch.

All return decoded evaluations (probabilities and points). The machine should be idle: other
programs slow torch down far more than the others.
"""

from __future__ import annotations

import importlib.util
import time
from pathlib import Path

from tengen.features.feature_set import KATAGO
from tengen.game.position import Position
from tengen.network.backends.openvino_evaluator import OpenVinoEvaluator, Precision
from tengen.network.evaluator import Batch, Evaluator, encode, evaluate
from tengen.network.files.loading import load_network
from tengen.network.network_data import NetworkData

PATH = Path(__file__).parents[2] / "shared" / "katago" / "g170-b6c96.bin.gz"
BATCHES = (1, 8, 16, 32)
ROUNDS = 10
SECONDS = 0.25  # for one contender in one round
BASELINE = "torch float32"


def contenders(data: NetworkData) -> dict[str, Evaluator]:
    """The evaluators that are installed, by name."""
    found: dict[str, Evaluator] = {}
    if importlib.util.find_spec("torch") is None:
        print("torch is not installed: skipped, no ratios")
    else:
        from tengen.network.backends.torch_evaluator import TorchEvaluator

        found[BASELINE] = TorchEvaluator(data, "cpu")
        if importlib.util.find_spec("onnxruntime") is None:
            print("onnxruntime is not installed: skipped")
        else:
            found["ONNX Runtime float32"] = by_onnx_runtime(data)
    for precision in Precision:
        evaluator = OpenVinoEvaluator(data, precision)
        if evaluator.precision is precision:
            found[f"OpenVINO {precision}"] = evaluator
    return found


def by_onnx_runtime(data: NetworkData) -> Evaluator:
    from tengen.network.backends.onnxruntime_evaluator import OnnxEvaluator

    return OnnxEvaluator(data)


def rate(evaluator: Evaluator, batch: Batch) -> float:
    """Evaluations per second."""
    count, start = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < SECONDS:
        evaluate(evaluator, batch)
        count += len(batch.globals)
    return count / elapsed


def measure(data: NetworkData, size: int) -> None:
    runs = contenders(data)
    for length in BATCHES:
        batch = encode(KATAGO, [Position(size).play_all("C3 D4")] * length)
        for run in runs.values():
            for _ in range(3):
                evaluate(run, batch)  # compile
        rates = dict.fromkeys(runs, 0.0)
        for _ in range(ROUNDS):  # in turns, so that a slow moment of the machine affects all alike
            for name, run in runs.items():
                rates[name] = max(rates[name], rate(run, batch))
        for name, best in rates.items():
            ratio = f"{best / rates[BASELINE]:6.2f} x torch" if BASELINE in rates else ""
            print(
                f"{f'{size}x{size}':>5}  batch {length:2}  {name:22} {best:7,.0f} evals/s {ratio}"
            )


def main() -> None:
    if not PATH.exists():
        print(f"nothing measured: no network at {PATH}")
        return
    data = load_network(PATH)
    print(f"{data.name}, best of {ROUNDS} rounds")
    for size in (9, 19):
        measure(data, size)


if __name__ == "__main__":
    main()
