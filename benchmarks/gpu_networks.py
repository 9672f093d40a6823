"""Evaluations per second on a GPU, eager and compiled, as shares of its measured bf16 peak.

Needs CUDA: `PYTHONPATH=src python benchmarks/gpu_networks.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from torch import Tensor, nn

from tengen.network.architecture_names import named_architecture
from tengen.network.backends.torch_evaluator import prepared
from tengen.network.torch.model import Network, Outputs

NETWORKS = ("b6c64", "b6c96", "b10c128")
BATCHES = (256, 1024, 4096, 8192)
SIDE = 9
SECONDS = 0.7


def measured_peak() -> float:
    """bf16 FLOP/s of a large matrix product."""
    a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    rate = calls_per_second(lambda: a @ b)
    return rate * 2 * 8192**3


def calls_per_second(call: Callable[[], object]) -> float:
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    start, calls = time.perf_counter(), 0
    while time.perf_counter() - start < SECONDS:
        for _ in range(5):
            call()
        calls += 5
        torch.cuda.synchronize()
    return calls / (time.perf_counter() - start)


def flops(network: Network) -> float:
    """FLOPs of the convolutions and matrix products of one evaluation, counted by hooks."""
    counted = 0

    def count(module: nn.Module, _: object, output: Tensor) -> None:
        nonlocal counted
        if isinstance(module, nn.Conv2d):
            counted += 2 * output.numel() * module.in_channels * module.kernel_size[0] ** 2
        elif isinstance(module, nn.Linear):
            counted += 2 * output.numel() * module.in_features

    hooks = [module.register_forward_hook(count) for module in network.modules()]
    planes = torch.ones(1, network.architecture.planes, SIDE, SIDE)
    with torch.inference_mode():
        network(planes, torch.zeros(1, network.architecture.globals))
    for hook in hooks:
        hook.remove()
    return counted


def captured(run: Callable[[], Outputs]) -> Callable[[], None]:
    """Capture a call as a CUDA graph."""
    stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()  # type: ignore[no-untyped-call]
    with torch.cuda.stream(stream):
        for _ in range(3):
            run()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        run()
    return graph.replay


def main() -> None:
    if not torch.cuda.is_available():
        print("nothing measured: no GPU")
        return
    torch.backends.cudnn.benchmark = True
    torch.set_float32_matmul_precision("high")
    peak = measured_peak()
    print(f"{torch.cuda.get_device_name()}: bf16 peak {peak / 1e12:.0f} TFLOP/s", flush=True)
    with torch.inference_mode():
        for name in NETWORKS:
            network = Network(named_architecture(name))
            cost = flops(network)
            network = prepared(network, torch.device("cuda"))
            torch.compiler.reset()  # else the limit on recompilations is reached
            compiled = torch.compile(network, dynamic=False)
            for batch in BATCHES:
                planes = torch.ones(batch, 22, SIDE, SIDE, device="cuda", dtype=torch.bfloat16)
                planes = planes.to(memory_format=torch.channels_last)
                globals_ = torch.zeros(batch, 19, device="cuda", dtype=torch.bfloat16)
                plain = calls_per_second(captured(lambda: network(planes, globals_)))  # noqa: B023
                fused = calls_per_second(captured(lambda: compiled(planes, globals_)))  # noqa: B023
                shares = [rate * batch * cost / peak for rate in (plain, fused)]
                print(
                    f"{name:8} batch {batch:5}: {plain * batch:12,.0f} evals/s ({shares[0]:.0%})"
                    f"   compiled {fused * batch:12,.0f} ({shares[1]:.0%})",
                    flush=True,
                )


if __name__ == "__main__":
    main()
