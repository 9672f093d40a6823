"""The overhead of the search: leaves/s without a network against the prototype, the share of the
time with a network, memory, and the evaluations saved by tree reuse.

Without a network: 64 games of self-play on 9x9 on one core with random policies and values, in
turns with the prototype. Ours has noise, forced playouts, tree reuse and shared evaluations, with
the `rich` inputs, which resemble the prototype's, and with KataGo's, which include ladders. The
prototype drops its tree after each move and has no noise.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tests.search.plain_search import Search

from tengen.features.feature_set import KATAGO, RICH, FeatureSet
from tengen.game.position import Position
from tengen.jit import kernel
from tengen.network.evaluator import Batch, Evaluation, Evaluator, EvaluatorWrapper, Pending
from tengen.network.fake import FakeEvaluator
from tengen.network.files.loading import load_network
from tengen.search.kernels.forest import EXPANDED, reset_tree
from tengen.search.kernels.reuse import advance, recenter_utility
from tengen.search.kernels.root import choose_move, prepare_root
from tengen.search.params import SearchParams
from tengen.search.request import Limits, RootOptions
from tengen.search.tree_batch import TreeBatch

SHARED = Path(__file__).parents[2] / "shared"
NETWORK = SHARED / "katago" / "g170-b6c96.bin.gz"
GAMES = 64
ROUNDS, SECONDS = 5, 1.0
MOVE_LIMIT = 162


@kernel
def play_due_moves(  # type: ignore[no-untyped-def]
    forest, settings, weights, forward, queue, empty
):
    """Play a move in each game whose search is done; restart finished games."""
    for g in range(forest.trees.shape[0]):
        tree = forest.trees[g]
        if forest.nodes[tree.root].status != EXPANDED:
            continue
        if not tree.prepared:
            prepare_root(forest, g, settings)
        if forest.nodes[tree.root].visits < tree.target:
            continue
        advance(forest, g, choose_move(forest, g, settings, weights), forward, queue)
        if forest.boards[g].end or forest.boards[g].ply >= MOVE_LIMIT:
            forest.boards[g] = empty[0]
            forest.histories[g, 0] = 0
            reset_tree(forest, g)
        elif forest.nodes[tree.root].visits:
            recenter_utility(forest, g, settings)


class Random:
    """A fake evaluator that draws from a table: nearly free, but gives realistic trees."""

    def __init__(self, features: FeatureSet, sharpness: float, size: int = 9) -> None:
        self.random = np.random.default_rng(1)
        shape = (8 * GAMES, size * size + 1)
        self.table = (self.random.normal(0, 1, shape) * sharpness).astype(np.float32)
        self.nothing = np.zeros(GAMES, np.float32)
        self.nobody = np.zeros((GAMES, size, size), np.float32)
        self.evaluator = FakeEvaluator(self.evaluate, features, best_batch=GAMES)
        self.seconds = 0.0

    def evaluate(self, batch: Batch) -> Evaluation:
        began = time.thread_time()
        n = len(batch.planes)
        first = int(self.random.integers(len(self.table) - n))
        win = self.random.uniform(0, 1, (n, 1)).astype(np.float32)
        value = np.concatenate([win, 1 - win, 0 * win], 1)
        none = self.nothing[:n]
        policy, nobody = self.table[first : first + n], self.nobody[:n]
        found = Evaluation(policy, value, none, none, none, none, none, none, nobody)
        self.seconds += time.thread_time() - began
        return found


class Fleet:
    """Self-play without a network, one leaf of each game at a time."""

    def __init__(self, features: FeatureSet, visits: int, sharpness: float) -> None:
        self.network = Random(features, sharpness)
        room = visits + 20
        params = SearchParams(temperature=1.0, temperature_early=1.0)
        self.driver = TreeBatch(
            self.network.evaluator, params, trees=GAMES, area=81, node_room=room, moves=200
        )
        self.forest = self.driver.forest
        self.games = np.arange(GAMES)
        start = Position(9, "tromp-taylor", 7.5, move_limit=MOVE_LIMIT)
        self.empty, _ = start.arrays(room=0)
        self.forward, self.queue = np.zeros((2, room), np.int32)
        self.weights = np.zeros(500, np.float32)
        for g in range(GAMES):
            self.driver.set_root(g, start, seed=(1, g))
            tree = self.forest.trees[g]
            tree["leaves"], tree["target"] = 1, visits
            tree["noisy"], tree["forced"] = 1, params.forced_playouts
        self.run(0.2)

    def leaves(self) -> int:
        trees = self.forest.trees
        return int(trees["evaluated"].sum() + trees["shared"].sum() + trees["terminal"].sum())

    def run(self, seconds: float) -> float:
        """Leaves per second of this thread's CPU time, without the fake network's."""
        before, spent = self.leaves(), -self.network.seconds
        began, stop = time.thread_time(), time.perf_counter() + seconds
        while time.perf_counter() < stop:
            flight = self.driver.start(self.games)
            self.driver.expand(flight, flight.pending.result() if flight.pending else None)
            play_due_moves(
                self.forest,
                self.driver.settings,
                self.weights,
                self.forward,
                self.queue,
                self.empty,
            )
        spent += self.network.seconds
        return (self.leaves() - before) / (time.thread_time() - began - spent)


def prototype_fleet(visits: int, sharpness: float) -> Callable[[float], float] | None:
    folder = SHARED / "prototype"
    if not folder.is_dir():
        return None
    sys.path.insert(0, str(folder))
    bench: Any = importlib.import_module("bench_mcts")
    worker = bench.Worker(9, GAMES, visits, 1, sharpness)
    worker.run(0.2)

    def run(seconds: float) -> float:
        before, net = worker.leaves, worker.t["net"]
        began = time.thread_time()
        worker.run(seconds)
        spent = time.thread_time() - began - (worker.t["net"] - net)
        return float((worker.leaves - before) / spent)

    return run


def without_network() -> None:
    for visits in (64, 400):
        for sharpness in (0.0, 3.0):
            runs: dict[str, Callable[[float], float]] = {
                "rich inputs": Fleet(RICH, visits, sharpness).run,
                "KataGo's inputs": Fleet(KATAGO, visits, sharpness).run,
            }
            prototype = prototype_fleet(visits, sharpness)
            if prototype is not None:
                runs["prototype"] = prototype
            rates = dict.fromkeys(runs, 0.0)
            for _ in range(ROUNDS):
                for name, run in runs.items():
                    rates[name] = max(rates[name], run(SECONDS))
            for name, rate in rates.items():
                ratio = rate / rates.get("prototype", float("nan"))
                where = f"9x9, {visits} visits, policy logits of stdev {sharpness:g}"
                print(f"{where}, {name}: {rate:,.0f} leaves/s of one core, {ratio:.2f} x prototype")


class Timed(EvaluatorWrapper):
    """An evaluator that measures the time spent in it."""

    def __init__(self, inner: Evaluator) -> None:
        super().__init__(inner)
        self.seconds = 0.0

    def submit(self, batch: Batch) -> Pending:
        began = time.perf_counter()
        pending = self._inner.submit(batch)
        self.seconds += time.perf_counter() - began
        return _TimedPending(self, pending)


class _TimedPending:
    def __init__(self, timed: Timed, pending: Pending) -> None:
        self.timed, self.pending = timed, pending

    def result(self) -> Evaluation:
        began = time.perf_counter()
        found = self.pending.result()
        self.timed.seconds += time.perf_counter() - began
        return found


def with_network(evaluator: Evaluator) -> None:
    for size, visits in ((9, 4000), (19, 1000)):
        for leaves in (1, 8):
            timed = Timed(evaluator)
            search = Search(timed, leaves=leaves)
            search.set_position(Position(size, "tromp-taylor", 7.5))
            search.run(Limits(visits=200))
            timed.seconds = 0.0
            result = search.run(Limits(playouts=visits))
            done = result.visits - result.reused
            own = 1 - timed.seconds / result.seconds
            print(
                f"{size}x{size}, {leaves} leaves in flight: {done / result.seconds:,.0f} visits/s,"
                f" {result.evaluated / result.seconds:,.0f} evaluations/s;"
                f" the search's own share of the time {own:.1%}"
            )


def memory(evaluator: Evaluator) -> None:
    for size, visits in ((9, 10_000), (19, 5_000)):
        search = Search(evaluator, ownership=True)
        search.set_position(Position(size, "tromp-taylor", 7.5))
        search.run(Limits(visits=visits))
        assert search._trees is not None
        million = search._trees.used_bytes(0) / visits
        less = size * size  # bytes of ownership for each visit
        print(
            f"{size}x{size}: {million:,.0f} MB for a million visits from the empty board,"
            f" {million - less:,.0f} without ownership"
        )


def reuse(evaluator: Evaluator, games: int = 2, visits: int = 400) -> None:
    """Evaluations in whole games with and without tree reuse."""
    counts = {}
    for kept in (True, False):
        evaluated = moves = 0
        for game in range(games):
            search = Search(evaluator, SearchParams(temperature_early=1.0), seed=game)
            position = Position(9, "tromp-taylor", 7, move_limit=120)
            while not position.is_over:
                if not kept:
                    search.forget()
                search.set_position(position, RootOptions())
                result = search.run(Limits(visits=visits))
                evaluated += result.evaluated
                moves += 1
                position = position.play(result.move)
        counts[kept] = evaluated / moves
    saved = 1 - counts[True] / counts[False]
    print(
        f"9x9, {visits} visits, {games} games: {counts[True]:.0f} evaluations a move with tree"
        f" reuse, {counts[False]:.0f} without: {saved:.0%} saved"
    )


def main() -> None:
    without_network()
    if not NETWORK.exists():
        print(f"no network at {NETWORK}: nothing measured with it")
        return
    from tengen.network.backends.openvino_evaluator import OpenVinoEvaluator

    evaluator = OpenVinoEvaluator(load_network(NETWORK))
    with_network(evaluator)
    memory(evaluator)
    reuse(evaluator)


if __name__ == "__main__":
    main()
