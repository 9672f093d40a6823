"""Outputs of the kept networks of a run: policy on the empty board, ownership in games."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tengen.closeable import Closeable
from tengen.frontends.web.runs.metrics import short
from tengen.frontends.web.runs.run_state import RunFacts, Stamp, network_files, stamp_of
from tengen.game.color import Color
from tengen.game.position import Position
from tengen.network.backends.registry import CPU, open_evaluator
from tengen.network.evaluator import Evaluator, encode, evaluate
from tengen.network.files.tengen_format import load_network_file
from tengen.runs.folder import RunFolder

MOST_NETWORKS = 128  # that are shown
KEPT_GAMES = 32  # whose ownership is cached
BATCH = 32


class Ownership(NamedTuple):
    """The ownership of each point in each position of a game."""

    network: int  # its iteration
    points: list[list[int]]  # [positions][points] tenths; 10: surely Black's


class NetworkOutputs(Closeable):
    """Evaluates one network at a time in a thread of its own, on the CPU, only when asked.

    Close it.
    """

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="network outputs")
        self._under_way: Future[None] | None = None
        self._known: dict[tuple[int, Stamp], dict[str, Any] | None] = {}
        self._asked: RunFacts | None = None  # the board of `_known`
        self._latest: tuple[int, Stamp, Evaluator] | None = None
        self._games: OrderedDict[tuple[int, int], Ownership] = OrderedDict()

    def close(self) -> None:
        """End the thread after the network that it evaluates."""
        self._worker.shutdown(cancel_futures=True)

    def on_empty_board(self, facts: RunFacts) -> list[dict[str, Any]]:
        """The outputs computed so far, by iteration; the others are computed in the background."""
        if self._asked is None or _board(self._asked) != _board(facts):
            self._asked, self._known = facts, {}
        wanted = self._wanted()
        known = dict(self._known)
        if any(each not in known for each in wanted) and not self._is_working():
            self._compute_next(facts)
        found = [known.get(each) for each in sorted(wanted)]
        return [output for output in found if output is not None]

    def ownership(self, number: int, positions: Sequence[Position]) -> Ownership | None:
        """The latest network's ownership, for Black; None without a usable network. Waits."""
        with suppress(RuntimeError, CancelledError):  # it is closed
            return self._worker.submit(self._ownership, number, positions).result()
        return None

    def _is_working(self) -> bool:
        return self._under_way is not None and not self._under_way.done()

    def _wanted(self) -> dict[tuple[int, Stamp], Path]:
        """The networks to evaluate, by (iteration, stamp): the last, the first, the middle ..."""
        files = list(network_files(self._folder).items())
        stride = 1
        while len(files) > MOST_NETWORKS * stride:
            stride *= 2
        places = range(0, len(files), stride)
        order = sorted(places, key=lambda place: -(place & -place) if place else -len(files))
        chosen = [files[place] for place in [len(files) - 1, *order]] if files else []
        stamps = {number: stamp_of(path) for number, path in chosen}
        return {(number, stamp): path for number, path in chosen if (stamp := stamps[number])}

    def _compute_next(self, facts: RunFacts) -> None:
        with suppress(RuntimeError):  # it is closed, or the program is exiting
            self._under_way = self._worker.submit(self._compute_one, facts)

    def _compute_one(self, facts: RunFacts) -> None:
        """Evaluate one network, then queue the next: requests for games come in between."""
        wanted, known = self._wanted(), self._known
        fresh = next((each for each in wanted if each not in known), None)
        if fresh is None or self._asked is not facts:
            for gone in known.keys() - wanted.keys():
                del known[gone]
            return
        known[fresh] = self._of_empty_board(fresh[0], wanted[fresh], facts)
        self._compute_next(facts)

    def _of_empty_board(self, number: int, path: Path, facts: RunFacts) -> dict[str, Any] | None:
        try:
            evaluator = open_evaluator(load_network_file(path), CPU)
            empty = Position((facts.width, facts.height), facts.rules, facts.komi)
            opinion = evaluate(evaluator, encode(evaluator.features, [empty]))
        except Exception:  # a file from elsewhere fails in many ways, and none may end the thread
            return None
        chances = np.exp(opinion.policy[0] - opinion.policy[0].max(), dtype=np.float64)
        chances /= chances.sum()
        win, _, no_result = opinion.value[0]
        return {
            "step": number,
            "policy": [round(float(chance), 4) for chance in chances[:-1]],
            "pass": round(float(chances[-1]), 4),
            "winrate": short(float(win + no_result / 2)),  # of Black
            "lead": short(float(opinion.lead[0])),
        }

    def _ownership(self, number: int, positions: Sequence[Position]) -> Ownership | None:
        found = max(self._wanted().items(), default=None)
        if found is None:
            return None
        (network, stamp), path = found
        if (number, network) in self._games:
            self._games.move_to_end((number, network))
            return self._games[number, network]
        try:
            evaluator = self._opened(network, stamp, path)
            points = [
                owned
                for first in range(0, len(positions), BATCH)
                for owned in _owned(evaluator, positions[first : first + BATCH])
            ]
        except Exception:  # as above
            return None
        self._games[number, network] = Ownership(network, points)
        while len(self._games) > KEPT_GAMES:
            self._games.popitem(last=False)
        return self._games[number, network]

    def _opened(self, number: int, stamp: Stamp, path: Path) -> Evaluator:
        """The latest network; it stays open until there is a later one."""
        if self._latest is None or self._latest[:2] != (number, stamp):
            evaluator = open_evaluator(load_network_file(path), CPU)
            self._latest = number, stamp, evaluator
        return self._latest[2]


def _owned(evaluator: Evaluator, positions: Sequence[Position]) -> list[list[int]]:
    """Tenths for Black, row by row."""
    opinion = evaluate(evaluator, encode(evaluator.features, positions))
    signs = [1 if position.to_play is Color.BLACK else -1 for position in positions]
    tenths = np.rint(10 * opinion.ownership * np.array(signs)[:, None, None]).astype(int)
    owned: list[list[int]] = tenths.reshape(len(positions), -1).tolist()
    return owned


def _board(facts: RunFacts) -> tuple[int, int, str, float]:
    return facts.width, facts.height, facts.rules, facts.komi
