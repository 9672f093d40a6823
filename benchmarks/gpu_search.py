"""GPU utilisation of a search: one leaf at a time (the baseline), many leaves, many trees.

Utilisation is the share of the time in which a kernel ran, by torch's profiler, without copies.
The many trees are those of self-play. Also measures random networks of larger sizes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch
from tests.search.plain_search import Search
from torch._C._autograd import DeviceType
from torch.profiler import ProfilerActivity, profile

from tengen.game.position import Position
from tengen.network.architecture_names import named_architecture
from tengen.network.backends.cuda_buffers import CudaBuffers, PlayingNetwork
from tengen.network.backends.torch_evaluator import TorchEvaluator
from tengen.network.files.loading import load_network
from tengen.network.network_data import NetworkData
from tengen.network.torch.model import Network, network_from
from tengen.search.request import Limits
from tengen.selfplay.fleet import Fleet
from tengen.selfplay.params import SelfPlayParams, SelfPlaySearch

NETWORK = Path(__file__).parents[2] / "shared" / "katago" / "g170-b6c96.bin.gz"
RANDOM = ("b10c128",)
SECONDS = 1.0
VISITS = 64


class Work(NamedTuple):
    """Something to measure."""

    prepare: Callable[[], object]
    run: Callable[[], int]  # returns the visits made


def busy(work: Work) -> tuple[float, float]:
    """The utilisation of the GPU, and visits/s; a first run captures the graphs."""
    work.prepare()
    work.run()
    work.prepare()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as watched:
        began = time.perf_counter()
        visits = work.run()
        torch.cuda.synchronize()
        seconds = time.perf_counter() - began
    spans = [
        (event.time_range.start, event.time_range.end)
        for event in watched.events() or ()
        if event.device_type == DeviceType.CUDA and not event.name.startswith(("Mem", "mem"))
    ]
    return _covered(spans) / 1e6 / seconds, visits / seconds


def _covered(spans: list[tuple[float, float]]) -> float:
    """The length of the union of time spans."""
    covered, until = 0.0, float("-inf")
    for start, end in sorted(spans):
        covered += max(0.0, end - max(start, until))
        until = max(until, end)
    return covered


def one_tree(evaluator: TorchEvaluator, leaves: int) -> Work:
    search = Search(evaluator, leaves=leaves, ownership=False)

    def prepare() -> None:
        search.set_position(Position(9, "tromp-taylor", 7).play("A1"))  # drops the tree
        search.set_position(Position(9, "tromp-taylor", 7))
        search.run(Limits(visits=24 * leaves))  # needed for all leaves in flight

    def run() -> int:
        return search.run(Limits(playouts=10**9, seconds=SECONDS)).visits - 24 * leaves

    return Work(prepare, run)


def many_trees(data: NetworkData, trees: int) -> Work:
    """The self-play fleet: one half descends its trees while the other is evaluated."""
    network = PlayingNetwork(network_from(data).cuda(), data.scaling)
    network.publish(network_from(data).cuda())
    params = SelfPlayParams(visits=VISITS, fast_visits=VISITS)
    buffers = [CudaBuffers(network, half) for half in params.halves(trees)]
    fleet = Fleet(buffers, params, SelfPlaySearch(), 1)

    def run() -> int:
        before, stop = fleet.counts, time.perf_counter() + SECONDS
        while time.perf_counter() < stop:
            fleet.tick()
        fleet.take_games()
        return fleet.counts.rows - before.rows

    return Work(run, run)


def random_network(name: str) -> NetworkData:
    network = Network(named_architecture(name))
    weights = {name: value.numpy() for name, value in network.state_dict().items()}
    return NetworkData(f"random {name}", network.architecture, weights)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--network", default=str(NETWORK))
    options = parser.parse_args()
    if not torch.cuda.is_available() or not Path(options.network).exists():
        print("nothing measured: no GPU or no network file")
        return
    torch.manual_seed(1)
    for data in (load_network(options.network), *map(random_network, RANDOM)):
        evaluator = TorchEvaluator(data, "cuda")
        cases = {
            "one tree, one leaf at a time": one_tree(evaluator, 1),
            "one tree, 256 leaves in flight": one_tree(evaluator, 256),
            "8,192 trees": many_trees(data, 8192),
        }
        baseline = 0.0  # visits/s of the first case
        for name, work in cases.items():
            share, rate = busy(work)
            baseline = baseline or rate
            print(
                f"{data.name}, {name}: GPU busy {share:.0%}, {rate:,.0f} visits/s,"
                f" {rate / baseline:.1f} x one leaf at a time",
                flush=True,
            )


if __name__ == "__main__":
    main()
