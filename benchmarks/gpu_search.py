"""How busy a search keeps the GPU: one leaf at a time, many leaves of one tree, many trees.

Busy is the share of the time in which a kernel ran, by torch's profiler. Takes a network file;
random networks of larger sizes are measured beside it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numba
import torch
from torch.profiler import ProfilerActivity, profile

from tengen.evaluation.lockstep import openings
from tengen.game.position import Position
from tengen.network.architecture import named_architecture
from tengen.network.data import NetworkData
from tengen.network.files import load_network
from tengen.network.model import Network
from tengen.network.torch_evaluator import TorchEvaluator
from tengen.search.driver import Driver, forest_for
from tengen.search.params import Limits, SearchParams
from tengen.search.search import Search

NETWORK = Path(__file__).parents[2] / "shared" / "katago" / "g170-b6c96.bin.gz"
RANDOM = ("b10c128",)
SECONDS = 1.0
VISITS = 400


class Work(NamedTuple):
    prepare: Callable[[], None]
    run: Callable[[], int]  # returns the visits made


def busy(work: Work) -> tuple[float, float]:
    """The share of the time that the GPU works, and visits/s; a first run captures the graphs."""
    work.prepare()
    work.run()
    work.prepare()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as watched:
        began = time.perf_counter()
        visits = work.run()
        torch.cuda.synchronize()
        seconds = time.perf_counter() - began
    on_device = sum(event.self_device_time_total for event in watched.key_averages())
    return on_device / 1e6 / seconds, visits / seconds


def one_tree(evaluator: TorchEvaluator, leaves: int) -> Work:
    search = Search(evaluator, leaves=leaves, ownership=False)

    def prepare() -> None:
        search.set_position(Position(9, "tromp-taylor", 7).play("A1"))  # and so drop the tree
        search.set_position(Position(9, "tromp-taylor", 7))
        search.run(Limits(visits=24 * leaves))  # as many as all leaves in flight need

    def run() -> int:
        return search.run(Limits(playouts=10**9, seconds=SECONDS)).visits - 24 * leaves

    return Work(prepare, run)


def many_trees(evaluator: TorchEvaluator, trees: int) -> Work:
    """Two halves of a forest take turns: one looks for leaves while the other is evaluated."""
    forest = forest_for(evaluator, trees, 81, node_room=VISITS + 32, moves=200, ownership=False)
    driver = Driver(evaluator, SearchParams(), forest, 1, numba.get_num_threads())
    starts = openings(evaluator, Position(9, "tromp-taylor", 7, move_limit=162), 6, 64, seed=1)

    def prepare() -> None:
        for g in range(trees):
            driver.place(g, starts[g % len(starts)], seed=g)
            forest.trees[g]["leaves"], forest.trees[g]["target"] = 1, VISITS

    def run() -> int:
        stop = time.perf_counter() + SECONDS
        half = trees // 2
        flight = driver.tick(0, half)
        turn = 0
        while time.perf_counter() < stop:
            turn = 1 - turn
            following = driver.tick(turn * half, turn * half + half)
            driver.absorb(flight)
            flight = following
        driver.absorb(flight)
        return int(forest.nodes[forest.trees["root"]]["visits"].sum())

    return Work(prepare, run)


def random_network(name: str) -> NetworkData:
    network = Network(named_architecture(name))
    weights = {name: value.numpy() for name, value in network.state_dict().items()}
    return NetworkData(f"random {name}", network.architecture, weights)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--network", default=str(NETWORK))
    options = parser.parse_args()
    if not torch.cuda.is_available() or not Path(options.network).exists():
        print("no GPU or no network at hand: nothing measured")
        return
    torch.manual_seed(1)
    for data in (load_network(options.network), *map(random_network, RANDOM)):
        evaluator = TorchEvaluator(data, "cuda")
        cases = {
            "one tree, one leaf at a time": one_tree(evaluator, 1),
            "one tree, 256 leaves in flight": one_tree(evaluator, 256),
            "4,096 trees": many_trees(evaluator, 4096),
        }
        for name, work in cases.items():
            share, rate = busy(work)
            print(f"{data.name}, {name}: GPU busy {share:.0%}, {rate:,.0f} visits/s", flush=True)


if __name__ == "__main__":
    main()
