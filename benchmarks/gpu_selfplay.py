"""Self-play on one GPU: leaves/s of the fleet, against the network alone at the same batch size.

All features are on: KataGo's inputs (ladders by option), noise, forced playouts, tree reuse and
records. Networks are files or names of architectures. The latter have random weights: their flat
policies give wide trees and long games, the slowest case.

`--sizes 9 13 19` measures a fleet that plays these sizes equally often, then each size alone with
as many games at a time. A board point costs about the same on all boards, so points/s are compared:
those of each size in the mixed fleet are a share of what that size makes alone, and the sum of the
shares is 100% if nothing is lost by mixing.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numba
import torch

from tengen.features.feature_set import KATAGO, KATAGO_WITHOUT_LADDERS
from tengen.game.geometry import Size
from tengen.network.architecture_names import named_architecture
from tengen.network.backends.cuda_buffers import CudaBuffers, PlayingNetwork
from tengen.network.files.loading import load_network
from tengen.network.inference_buffers import BufferShape, InferenceBuffers
from tengen.network.network_data import Scaling
from tengen.network.torch.model import Network, network_from
from tengen.selfplay.fleet import Fleet
from tengen.selfplay.kernels.step import EVALUATED
from tengen.selfplay.params import SelfPlayParams, SelfPlaySearch


class Rates(NamedTuple):
    """What a fleet does in a second."""

    leaves: float
    points: dict[Size, float]  # of the boards evaluated
    said: str

    @property
    def all_points(self) -> float:
        return sum(self.points.values())


def network_alone(buffers: Sequence[InferenceBuffers], seconds: float) -> float:
    """Rows/s of the network without self-play."""
    for half in buffers:
        half.launch()
        half.wait()
    began, n = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        for half in buffers:
            half.launch()
            half.wait()
            n += len(half.planes)
    return n / (time.perf_counter() - began)


def network_named(name: str, features: str) -> tuple[Network, Scaling]:
    """A network from a file, or a random one of this architecture."""
    if Path(name).exists():
        data = load_network(name)
        data = replace(data, architecture=replace(data.architecture, features=features))
        return network_from(data).cuda(), data.scaling
    torch.manual_seed(1)
    architecture = replace(named_architecture(name), features=features)
    return Network(architecture).cuda(), Scaling()


def measure(
    open_buffers: Callable[[BufferShape], InferenceBuffers],
    params: SelfPlayParams,
    games: int,
    seconds: float,
) -> Rates:
    """Rates of a fleet after as many seconds of warming up: the first ones are slow."""
    began = time.perf_counter()
    shapes = params.halves(games)
    buffers = [open_buffers(shape) for shape in shapes]
    captured = time.perf_counter() - began
    fleet = Fleet(buffers, params, SelfPlaySearch(), seed=1)
    began = time.perf_counter()
    fleet.tick()
    compiled = time.perf_counter() - began
    alone = network_alone(buffers, 1.0)
    run(fleet, seconds)
    before, rows_before = fleet.counts, rows_by_half(fleet)
    took, waited = run(fleet, seconds)
    after = fleet.counts
    ticks = after.ticks - before.ticks
    leaves = (after.rows - before.rows) / took
    moves, ended = ((after.moves - before.moves) / took, (after.games - before.games) / took)
    used = (after.rows - before.rows) / ticks / (sum(shape.rows for shape in shapes) / len(shapes))
    points = dict.fromkeys(params.sizes, 0.0)
    for (size, _), new, old in zip(shapes, rows_by_half(fleet), rows_before, strict=True):
        points[size] += (new - old) * size.area / took
    sizes = ", ".join(f"{2 * rows:,} of {size}" for size, rows in shapes[: len(shapes) // 2])
    said = (
        f"{sizes}, {params.visits} visits: {leaves:,.0f} leaves/s ({used:.1%} of the rows used), "
        f"network alone {alone:,.0f} rows/s, {leaves / alone:.0%} of it; "
        f"{sum(points.values()):,.0f} points/s; {moves:,.0f} moves/s, {ended:,.0f} games/s; a tick "
        f"waits {1e3 * waited / ticks:.2f} ms and steps {1e3 * (took - waited) / ticks:.2f} ms; "
        f"start-up {captured:.0f} s for the network, {compiled:.0f} s for kernels"
    )
    return Rates(leaves, points, said)


def run(fleet: Fleet, seconds: float) -> tuple[float, float]:
    """Play for so long; returns the seconds it took, and how many of them were spent waiting."""
    waited, began = 0.0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        at = time.perf_counter()
        fleet._halves[fleet._next].buffers.wait()
        waited += time.perf_counter() - at
        fleet.tick()
        if fleet.counts.ticks % 64 == 0:
            fleet.take_games()
    return time.perf_counter() - began, waited


def rows_by_half(fleet: Fleet) -> list[int]:
    return [int(half.tally[:, EVALUATED].sum()) for half in fleet._halves]


def compare(
    open_buffers: Callable[[BufferShape], InferenceBuffers],
    params: SelfPlayParams,
    games: int,
    seconds: float,
) -> str:
    """A mixed fleet against fleets of each size alone."""
    mixed = measure(open_buffers, params, games, seconds)
    print(mixed.said, flush=True)
    share = 0.0
    for size, points in mixed.points.items():
        single = replace(params, board_sizes=(str(size),))
        alone = measure(open_buffers, single, games, seconds)
        print(alone.said, flush=True)
        share += points / alone.all_points
    return (
        f"{', '.join(map(str, mixed.points))} together: {mixed.leaves:,.0f} leaves/s, "
        f"{mixed.all_points:,.0f} points/s, {share:.1%} of what each size makes alone"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", nargs="+", default=["b6c64", "b6c96", "b10c128"])
    parser.add_argument("--sizes", nargs="+", default=["9"], help="such as 9 13 19 or 9x13")
    parser.add_argument("--rows", type=int, default=4096, help="half of the games at a time")
    parser.add_argument("--visits", type=int, default=64)
    parser.add_argument("--ladders", action="store_true")
    parser.add_argument("--seconds", type=float, default=8.0)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("nothing measured: no GPU")
        return
    print(f"{torch.cuda.get_device_name()}, {numba.get_num_threads()} threads", flush=True)
    inputs = KATAGO if options.ladders else KATAGO_WITHOUT_LADDERS
    visits, sizes = options.visits, tuple(options.sizes)
    params = SelfPlayParams(visits=visits, fast_visits=visits, board_sizes=sizes)
    for name in options.networks:
        print(f"{name}, {inputs.name}", flush=True)
        network = PlayingNetwork(*network_named(name, inputs.name))
        open_buffers = partial(CudaBuffers, network)
        if len(sizes) > 1:
            print(compare(open_buffers, params, 2 * options.rows, options.seconds), flush=True)
        else:
            print(measure(open_buffers, params, 2 * options.rows, options.seconds).said, flush=True)


if __name__ == "__main__":
    main()
