"""Self-play on one GPU: leaves/s of the fleet, against the network alone at the same batch size.

All features are on: KataGo's inputs (ladders by option), noise, forced playouts, tree reuse and
records. Networks are files or names of architectures. The latter have random weights: their flat
policies give wide trees and long games, the slowest case.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path

import numba
import torch

from tengen.features.feature_set import KATAGO, KATAGO_WITHOUT_LADDERS
from tengen.game.geometry import Size
from tengen.network.architecture import named_architecture
from tengen.network.backends.cuda_buffers import CudaBuffers, PlayingNetwork
from tengen.network.data import Scaling
from tengen.network.files.loading import load_network
from tengen.network.torch.model import Network, network_from
from tengen.selfplay.fleet import Fleet
from tengen.selfplay.params import SelfPlayParams, SelfPlaySearch

# Some seconds: the first ones are slow, perhaps while torch starts its compile workers.
WARM_UP_TICKS = 3000


def network_alone(buffers: CudaBuffers, seconds: float) -> float:
    """Rows/s of the network without self-play."""
    buffers.launch()
    buffers.wait()
    began, n = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        buffers.launch()
        buffers.wait()
        n += 1
    return n * len(buffers.planes) / (time.perf_counter() - began)


def network_named(name: str, features: str) -> tuple[Network, Scaling]:
    """A network from a file, or a random one of this architecture."""
    if Path(name).exists():
        data = load_network(name)
        data = replace(data, architecture=replace(data.architecture, features=features))
        return network_from(data).cuda(), data.scaling
    torch.manual_seed(1)
    architecture = replace(named_architecture(name), features=features)
    return Network(architecture).cuda(), Scaling()


def measure(name: str, rows: int, visits: int, features: str, seconds: float) -> None:
    began = time.perf_counter()
    network = PlayingNetwork(*network_named(name, features))
    buffers = [CudaBuffers(network, rows, Size(9, 9)) for _ in range(2)]
    captured = time.perf_counter() - began
    params = SelfPlayParams(visits=visits, fast_visits=visits)
    fleet = Fleet(buffers, params, SelfPlaySearch(), seed=1)
    began = time.perf_counter()
    fleet.tick()
    compiled = time.perf_counter() - began
    alone = network_alone(buffers[0], 1.0)
    for _ in range(WARM_UP_TICKS):
        fleet.tick()
        fleet.take_games()
    waited = stepped = 0.0
    before, began = fleet.counts, time.perf_counter()
    while time.perf_counter() - began < seconds:
        half = fleet._halves[fleet._next]
        t0 = time.perf_counter()
        half.buffers.wait()
        t1 = time.perf_counter()
        fleet.tick()
        t2 = time.perf_counter()
        waited += t1 - t0
        stepped += t2 - t1
        if fleet.counts.ticks % 64 == 0:
            fleet.take_games()
    took = time.perf_counter() - began
    after = fleet.counts
    ticks = after.ticks - before.ticks
    leaves = (after.rows - before.rows) / took
    moves, games = ((after.moves - before.moves) / took, (after.games - before.games) / took)
    used = (after.rows - before.rows) / ticks / rows
    print(
        f"{name}, {features}, 2 x {rows:,} games, {visits} visits: {leaves:,.0f} leaves/s "
        f"({used:.1%} of the rows used), network alone {alone:,.0f} rows/s, {leaves / alone:.0%} "
        f"of it; {moves:,.0f} moves/s, {games:,.0f} games/s; a tick waits "
        f"{1e3 * waited / ticks:.2f} ms and steps {1e3 * stepped / ticks:.2f} ms; start-up "
        f"{captured:.0f} s for the network, {compiled:.0f} s for kernels",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", nargs="+", default=["b6c64", "b6c96", "b10c128"])
    parser.add_argument("--rows", type=int, default=4096)
    parser.add_argument("--visits", type=int, default=64)
    parser.add_argument("--ladders", action="store_true")
    parser.add_argument("--seconds", type=float, default=8.0)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("nothing measured: no GPU")
        return
    print(f"{torch.cuda.get_device_name()}, {numba.get_num_threads()} threads", flush=True)
    inputs = KATAGO if options.ladders else KATAGO_WITHOUT_LADDERS
    for network in options.networks:
        measure(network, options.rows, options.visits, inputs.name, options.seconds)


if __name__ == "__main__":
    main()
